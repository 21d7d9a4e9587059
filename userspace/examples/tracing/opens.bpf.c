// SPDX-License-Identifier: GPL-2.0
/*
 * Report each (process, file) that is opened once a window. A hash map would
 * have to remember every pair; the filter has the size it was given.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "opens.h"

/* A tracing program may interrupt an ADD; it has only the one that never waits. */
extern int bloom_bpf_try_add(__u32 id, const void *key, __u32 key__sz) __ksym;

/* As much of the kernel's types as is needed; libbpf finds the true offsets. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct super_block {
	__u32 s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct path {
	void *mnt;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

#pragma clang attribute pop

const volatile __u32 filter;
const volatile __u32 self;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct opens_counters);
} counters SEC(".maps");

SEC("fentry/security_file_open")
int BPF_PROG(on_open, struct file *file)
{
	struct { __u64 inode; __u32 dev; __u32 pid; } key;
	struct opens_counters *count;
	struct opens_event *event;
	__u32 zero = 0;
	int verdict;

	key.pid = bpf_get_current_pid_tgid() >> 32;
	count = bpf_map_lookup_elem(&counters, &zero);
	if (!count || key.pid == self)
		return 0;
	key.inode = file->f_inode->i_ino;
	key.dev = file->f_inode->i_sb->s_dev;
	count->opened++;
	verdict = bloom_bpf_try_add(filter, &key, sizeof(key));
	if (verdict == 1)
		return 0;
	/* Not known to be old: an event too many is better than one too few. */
	if (verdict < 0)
		count->busy++;

	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count->lost++;
		return 0;
	}
	event->pid = key.pid;
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	if (bpf_d_path(&file->f_path, event->path, sizeof(event->path)) < 0)
		event->path[0] = 0;
	bpf_ringbuf_submit(event, 0);
	count->reported++;
	return 0;
}

char _license[] SEC("license") = "GPL";
