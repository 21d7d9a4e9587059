// SPDX-License-Identifier: GPL-2.0
/*
 * KCOV's buffer of each thread, and the two sets that all threads fill.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "kcov.h"

#define KCOV_PATH	"/sys/kernel/debug/kcov"
#define TRACE_WORDS	65536UL

/* Open addressing, without a lock; 0 is no member. Far larger than the module. */
#define SET_SLOTS	(1U << 17)

struct set {
	u64 members[SET_SLOTS];
	u64 count;
};

static struct set blocks, edges;

static void set_add(struct set *set, u64 member)
{
	u32 i = key_of(member) % SET_SLOTS;
	u64 there;

	for (;; i = (i + 1) % SET_SLOTS) {
		there = __atomic_load_n(&set->members[i], __ATOMIC_RELAXED);
		if (there == member)
			return;
		if (there)
			continue;
		if (__atomic_compare_exchange_n(&set->members[i], &there, member,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			__atomic_fetch_add(&set->count, 1, __ATOMIC_RELAXED);
			return;
		}
		if (there == member)
			return;
	}
}

int trace_open(struct trace *trace)
{
	trace->fd = open(KCOV_PATH, O_RDWR | O_CLOEXEC);
	if (trace->fd < 0 || ioctl(trace->fd, KCOV_INIT_TRACE, TRACE_WORDS))
		return -errno;
	trace->pcs = mmap(NULL, TRACE_WORDS * sizeof(*trace->pcs),
			  PROT_READ | PROT_WRITE, MAP_SHARED, trace->fd, 0);
	if (trace->pcs == MAP_FAILED ||
	    ioctl(trace->fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return -errno;
	return 0;
}

void trace_begin(struct trace *trace)
{
	__atomic_store_n(&trace->pcs[0], 0, __ATOMIC_RELAXED);
}

void trace_end(struct trace *trace)
{
	u64 i, pc, before = 0, n = __atomic_load_n(&trace->pcs[0], __ATOMIC_RELAXED);

	for (i = 1; i <= n && i < TRACE_WORDS; i++) {
		pc = trace->pcs[i];
		set_add(&blocks, pc);
		set_add(&edges, key_of(before) ^ pc);
		before = pc;
	}
}

u64 covered_blocks(void)
{
	return __atomic_load_n(&blocks.count, __ATOMIC_RELAXED);
}

u64 covered_edges(void)
{
	return __atomic_load_n(&edges.count, __ATOMIC_RELAXED);
}
