// SPDX-License-Identifier: GPL-2.0
/*
 * Drop (or mark, or count) packets that were seen within the filter's window.
 * Whatever goes wrong, the packet passes.
 */
#include "packet.bpf.h"

#include <linux/pkt_cls.h>

extern int bloom_bpf_add(__u32 id, const void *key, __u32 key__sz) __ksym;

const volatile struct dedup_config config;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dedup_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* How much of a frame to copy; the mask is for the verifier to see 1..16384. */
static __always_inline __u64 copied(__u32 len)
{
	__u64 n = (len < config.bytes ? len : config.bytes) - 1ULL;

	barrier_var(n);
	n &= BYTES_MAX;
	return n + 1;
}

static __always_inline int is_duplicate(struct scratch *s, __u32 n, __u32 len,
					__u64 tag, struct dedup_counters *count)
{
	struct key key = make_key(s, n, tag, config.ignore, count);
	__u64 start = key.start, bytes = key.len;
	int verdict;

	/* Both are within bounds; this is for the verifier to see. */
	barrier_var(start);
	start &= START_MASK;
	barrier_var(bytes);
	bytes &= BYTES_MAX;
	verdict = bloom_bpf_add(config.filter, (__u8 *)s + start, bytes);

	count->packets++;
	count->bytes += len;
	if (len > n)
		count->cut++;
	if (verdict < 0)
		count->errors++;
	if (verdict != 1)
		return 0;
	count->duplicates++;
	count->duplicate_bytes += len;
	return !config.dry_run;
}

SEC("xdp.frags")
int dedup_xdp(struct xdp_md *ctx)
{
	__u32 zero = 0, len = bpf_xdp_get_buff_len(ctx);
	struct dedup_counters *count = bpf_map_lookup_elem(&counters, &zero);
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);
	__u64 n = copied(len);

	if (!count || !s)
		return XDP_PASS;
	if (bpf_xdp_load_bytes(ctx, 0, s->frame, n)) {
		count->errors++;
		return XDP_PASS;
	}
	return is_duplicate(s, n, len, 0, count) ? XDP_DROP : XDP_PASS;
}

SEC("tc")
int dedup_tc(struct __sk_buff *skb)
{
	struct dedup_counters *count;
	__u64 n = copied(skb->len);
	struct scratch *s;
	__u32 zero = 0;
	__u64 tag = 0;

	count = bpf_map_lookup_elem(&counters, &zero);
	s = bpf_map_lookup_elem(&scratches, &zero);
	if (!count || !s)
		return TC_ACT_OK;
	if (bpf_skb_load_bytes(skb, 0, s->frame, n)) {
		count->errors++;
		return TC_ACT_OK;
	}
	/* By now the kernel has taken the outer tag out of the frame. */
	if (skb->vlan_present)
		tag = (__u16)skb->vlan_proto |
		      (__u64)bpf_htons(skb->vlan_tci) << 16 | 1ULL << 32;
	if (!is_duplicate(s, n, skb->len, tag, count))
		return TC_ACT_OK;
	if (!config.mark)
		return TC_ACT_SHOT;
	skb->mark = config.mark;
	return TC_ACT_OK;
}

char _license[] SEC("license") = "GPL";
