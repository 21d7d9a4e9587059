/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who pays for memory, and how much anyone may have.
 *
 * A filter has one payer; each of its layers holds a reference to it, also after
 * the filter has dropped the layer, while a mapping keeps it. So memory counts
 * against the caps until it is really given back, and CLEAR beside a mapping is
 * no way around them.
 *
 * Three caps, in bytes of layers: a filter, a user, all together. The memory is
 * charged to the creator's memory cgroup as well, also where a worker allocates.
 */
#ifndef BLOOM_ACCOUNT_H
#define BLOOM_ACCOUNT_H

#include <linux/gfp.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/*
 * For all that a caller makes the kernel allocate: charged to the caller and, at
 * the limit of its memory cgroup, refused rather than had by killing a member.
 */
#define BLOOM_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL)

struct bloom_payer;
struct mem_cgroup;

/* A payer for the calling task's user and memory cgroup; ERR_PTR. May sleep. */
struct bloom_payer *bloom_payer_create(void);
struct bloom_payer *bloom_payer_get(struct bloom_payer *payer);
/* Process context. */
void bloom_payer_put(struct bloom_payer *payer);

/* -ENOSPC if @bytes more would exceed a cap. Process context, no lock. */
int __must_check bloom_charge(struct bloom_payer *payer, u64 bytes);
void bloom_uncharge(struct bloom_payer *payer, u64 bytes);

/*
 * Between begin and end, allocations with __GFP_ACCOUNT are charged to the
 * payer's memory cgroup rather than to the running task's.
 */
struct mem_cgroup *bloom_charge_begin(struct bloom_payer *payer);
void bloom_charge_end(struct mem_cgroup *old);

#endif /* BLOOM_ACCOUNT_H */
