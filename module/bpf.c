// SPDX-License-Identifier: GPL-2.0
/*
 * Functions for BPF programs (kfuncs), by the filter's id.
 *
 * The verifier checks that the key is memory, of the length that is told. All
 * else may be wrong: the id is looked up under RCU, in every call, and a filter
 * that is on its way out is one that is not there.
 *
 * A tracing program may run where a stripe's lock is held by this very CPU: in
 * the middle of an ADD. It is therefore offered no function that waits for one.
 * What is registered can't be taken back; it goes with the module's BTF, and a
 * loaded program holds the module.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "bpf.h"
#include "compat.h"
#include "filter.h"
#include "registry.h"

typedef int (*bloom_call)(struct bloom_filter *filter, const void *key,
			  size_t len);

static __always_inline int with_filter(u32 id, const void *key, u32 len,
				       bloom_call call)
{
	struct bloom_filter *filter;
	int ret = -ENOENT;

	rcu_read_lock();
	filter = bloom_registry_by_id(id);
	/* Without a reference it only waits for a worker to take its id away. */
	if (filter && refcount_read(&filter->refs))
		ret = call(filter, key, len);
	rcu_read_unlock();
	return ret;
}

__bpf_kfunc int bloom_bpf_query(u32 id, const void *key, u32 key__sz)
{
	return with_filter(id, key, key__sz, bloom_query);
}

__bpf_kfunc int bloom_bpf_add(u32 id, const void *key, u32 key__sz)
{
	return with_filter(id, key, key__sz, bloom_add);
}

__bpf_kfunc int bloom_bpf_try_add(u32 id, const void *key, u32 key__sz)
{
	return with_filter(id, key, key__sz, bloom_try_add);
}

BTF_KFUNCS_START(packet_ids)
BTF_ID_FLAGS(func, bloom_bpf_query)
BTF_ID_FLAGS(func, bloom_bpf_add)
BTF_ID_FLAGS(func, bloom_bpf_try_add)
BTF_KFUNCS_END(packet_ids)

BTF_KFUNCS_START(anywhere_ids)
BTF_ID_FLAGS(func, bloom_bpf_query)
BTF_ID_FLAGS(func, bloom_bpf_try_add)
BTF_KFUNCS_END(anywhere_ids)

static const struct btf_kfunc_id_set packet_set = {
	.owner	= THIS_MODULE,
	.set	= &packet_ids,
};

static const struct btf_kfunc_id_set anywhere_set = {
	.owner	= THIS_MODULE,
	.set	= &anywhere_ids,
};

/*
 * One type for each hook that the kernel has: a second one, or one without a
 * hook, is a fault there. BPF_PROG_TYPE_TRACING stands for LSM too, and later for
 * kprobes, tracepoints and perf events.
 */
static const struct {
	enum bpf_prog_type type;
	const struct btf_kfunc_id_set *set;
} hooks[] = {
	{ BPF_PROG_TYPE_XDP, &packet_set },
	{ BPF_PROG_TYPE_SCHED_CLS, &packet_set },
	{ BPF_PROG_TYPE_SYSCALL, &packet_set },
	{ BPF_PROG_TYPE_TRACING, &anywhere_set },
	{ BPF_PROG_TYPE_STRUCT_OPS, &anywhere_set },
#ifdef BLOOM_HAVE_MORE_BPF_HOOKS
	{ BPF_PROG_TYPE_SCHED_ACT, &packet_set },
	{ BPF_PROG_TYPE_CGROUP_SKB, &packet_set },
	{ BPF_PROG_TYPE_SK_SKB, &packet_set },
	{ BPF_PROG_TYPE_SOCKET_FILTER, &packet_set },
	{ BPF_PROG_TYPE_LWT_IN, &packet_set },
	{ BPF_PROG_TYPE_NETFILTER, &packet_set },
#endif
};

void __init bloom_bpf_init(void)
{
	int i, err;

	if (!bloom_module_has_btf()) {
		pr_info("not for BPF programs: kernel or module is without BTF\n");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = register_btf_kfunc_id_set(hooks[i].type, hooks[i].set);
		if (err) {
			pr_warn("not for BPF programs of type %d: error %d\n",
				hooks[i].type, err);
			return;
		}
	}
}
