// SPDX-License-Identifier: GPL-2.0
/* Calls into the module as the test asks for them. */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kfuncs.h"

extern int bloom_bpf_query(__u32 id, const void *key, __u32 key__sz) __ksym;
extern int bloom_bpf_add(__u32 id, const void *key, __u32 key__sz) __ksym;
extern int bloom_bpf_try_add(__u32 id, const void *key, __u32 key__sz) __ksym;

struct call call;

/* burst: BURST keys from @first on are added */
__u32 burst_id;
__u64 burst_first;

/* nested: what the program inside an ADD was told */
__u32 nested_id;
__u32 nested_runs;
__u64 nested_key;
__s32 nested_answer;
__s32 nested_query;

static __always_inline int one_call(void)
{
	__u32 len = call.len;

	if (len > KEY_ROOM)
		len = KEY_ROOM;
	switch (call.what) {
	case DO_QUERY:
		return bloom_bpf_query(call.id, call.key, len);
	case DO_ADD:
		return bloom_bpf_add(call.id, call.key, len);
	default:
		return bloom_bpf_try_add(call.id, call.key, len);
	}
}

SEC("xdp")
int on_xdp(struct xdp_md *ctx)
{
	call.answer = one_call();
	return XDP_PASS;
}

SEC("tc")
int on_tc(struct __sk_buff *skb)
{
	call.answer = one_call();
	return 0;
}

SEC("syscall")
int on_syscall(void *ctx)
{
	call.answer = one_call();
	return 0;
}

/* The key is in the packet itself. Return: the answer. */
SEC("xdp")
int on_packet(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;

	if (data + 16 > (void *)(long)ctx->data_end)
		return 100;
	return bloom_bpf_add(call.id, data, 16);
}

/* Return: how many of the burst were new. */
SEC("xdp")
int on_burst(struct xdp_md *ctx)
{
	__u32 i, fresh = 0;

	for (i = 0; i < BURST; i++) {
		__u64 key = burst_first + i;

		fresh += bloom_bpf_add(burst_id, &key, sizeof(key)) == 0;
	}
	return fresh;
}

/* In the middle of an ADD, with the lock held. */
SEC("fentry/bloom_layer_add")
int BPF_PROG(in_add)
{
	__u64 key = nested_key;

	if (!nested_id)
		return 0;
	nested_runs++;
	nested_answer = bloom_bpf_try_add(nested_id, &key, sizeof(key));
	nested_query = bloom_bpf_query(nested_id, &key, sizeof(key));
	return 0;
}

/* The verifier must refuse this one. */
SEC("?fentry/bloom_layer_add")
int BPF_PROG(locking_in_add)
{
	__u64 key = 0;

	bloom_bpf_add(nested_id, &key, sizeof(key));
	return 0;
}

char _license[] SEC("license") = "GPL";
