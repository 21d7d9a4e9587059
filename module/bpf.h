/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What BPF programs may call. They name a filter by its id (INFO, LIST and
 * bloom_filter_id() tell it); only one made with BLOOM_CREATE_BPF can be
 * reached. There is no handle: a program can neither keep a filter alive nor be
 * left with one that is gone.
 *
 * A BPF program declares them so:
 *
 *	extern int bloom_bpf_add(__u32 id, const void *key, __u32 key__sz) __ksym;
 */
#ifndef BLOOM_BPF_H
#define BLOOM_BPF_H

#include <linux/types.h>

/**
 * bloom_bpf_query() - is a key in the filter?
 * @id: the filter's id
 * @key: the key: memory that the program may read and write (stack, map value,
 *	packet), as the verifier of 6.1 asks for both
 * @key__sz: its length; at most BLOOM_KEY_MAX, 8 for a bitmap
 *
 * For programs of every type that can call any of these.
 * Return: BLOOM_ABSENT, BLOOM_PRESENT or BLOOM_OUT_OF_RANGE; -ENOENT: no such
 * filter, or none that is open to BPF; -EINVAL (@key__sz).
 */
int bloom_bpf_query(u32 id, const void *key, u32 key__sz);

/**
 * bloom_bpf_add() - add a key and tell whether it was there
 * @id: the filter's id
 * @key: as for bloom_bpf_query()
 * @key__sz: as for bloom_bpf_query()
 *
 * Of all concurrent ADDs of a key, wherever they come from, exactly one is told
 * BLOOM_ABSENT (or none, if it is a false positive).
 *
 * For XDP, tc and other programs that see packets, and for syscall programs:
 * those that can't run where a filter's lock is held.
 * Return: as bloom_bpf_query().
 */
int bloom_bpf_add(u32 id, const void *key, u32 key__sz);

/**
 * bloom_bpf_try_add() - bloom_bpf_add() that never waits for a lock
 * @id: the filter's id
 * @key: as for bloom_bpf_query()
 * @key__sz: as for bloom_bpf_query()
 *
 * For programs of every type, tracing programs included.
 * Return: as bloom_bpf_add(); -EBUSY: another ADD is at work nearby, nothing was
 * added.
 */
int bloom_bpf_try_add(u32 id, const void *key, u32 key__sz);

/* Offer them, where kernel and module can. Never fails. */
void bloom_bpf_init(void);

#endif /* BLOOM_BPF_H */
