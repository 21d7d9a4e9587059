// SPDX-License-Identifier: GPL-2.0
/*
 * The same small program with three memories: what does a packet cost? The key
 * is 16 bytes of the packet, a counter among them, so that each run of the same
 * packet can be a new one.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "cost.h"

extern int bloom_bpf_add(__u32 id, const void *key, __u32 key__sz) __ksym;

struct key {
	__u64 a;
	__u64 b;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CAPACITY);
	__type(key, struct key);
	__type(value, __u64);
} lru SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, CAPACITY);
	__uint(map_extra, 10);		/* hash functions: about 0.1 % */
	__type(value, struct key);
} bloom_map SEC(".maps");

__u32 filter;
__u64 mask;		/* of the counter: few keys or many */
__u64 counter;

static __always_inline int get_key(struct xdp_md *ctx, struct key *key)
{
	__u64 *data = (void *)(long)ctx->data;

	if ((void *)(data + 2) > (void *)(long)ctx->data_end)
		return 0;
	key->a = data[0];
	key->b = data[1] + (counter++ & mask);
	return 1;
}

SEC("xdp")
int with_nothing(struct xdp_md *ctx)
{
	struct key key;

	if (!get_key(ctx, &key))
		return XDP_ABORTED;
	return key.b ? XDP_PASS : XDP_DROP;
}

SEC("xdp")
int with_filter(struct xdp_md *ctx)
{
	struct key key;

	if (!get_key(ctx, &key))
		return XDP_ABORTED;
	return bloom_bpf_add(filter, &key, sizeof(key)) == 1 ? XDP_DROP : XDP_PASS;
}

/* A window needs the time; and two CPUs may both find that a key is new. */
SEC("xdp")
int with_lru(struct xdp_md *ctx)
{
	__u64 *last, now = bpf_ktime_get_ns();
	struct key key;
	int old;

	if (!get_key(ctx, &key))
		return XDP_ABORTED;
	last = bpf_map_lookup_elem(&lru, &key);
	if (last) {
		old = now - *last < WINDOW_NS;
		*last = now;
		return old ? XDP_DROP : XDP_PASS;
	}
	bpf_map_update_elem(&lru, &key, &now, BPF_ANY);
	return XDP_PASS;
}

/* No window, no clear, and two CPUs may both find that a key is new. */
SEC("xdp")
int with_bloom_map(struct xdp_md *ctx)
{
	struct key key;

	if (!get_key(ctx, &key))
		return XDP_ABORTED;
	if (!bpf_map_peek_elem(&bloom_map, &key))
		return XDP_DROP;
	bpf_map_push_elem(&bloom_map, &key, BPF_ANY);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
