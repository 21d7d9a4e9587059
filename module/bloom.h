/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bloom filters for other modules.
 *
 * A filter that a module makes or finds here is the very object that user space
 * sees through /dev/bloom: both can add to it and query it at once. All symbols
 * are GPL-only; a module that uses one keeps bloom.ko loaded.
 *
 * Keys are 0..BLOOM_KEY_MAX bytes of kernel memory; a bitmap's are a u64 in the
 * machine's byte order. A verdict orders no other memory.
 */
#ifndef _BLOOM_H
#define _BLOOM_H

#include <linux/bloom.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct bloom_filter;

/**
 * bloom_create() - make a filter without a name
 * @params: as for BLOOM_IOC_CREATE; @size is ignored
 *
 * It belongs to the current task's user and is charged to its memory cgroup.
 * A rate p is ~0ULL / 1000 and the like, see struct bloom_create.
 *
 * Context: process; may sleep.
 * Return: the filter, with a reference for the caller, or an ERR_PTR: -EINVAL,
 * -EOPNOTSUPP, -ENOMEM, -ENOSPC, -EOVERFLOW.
 */
struct bloom_filter *bloom_create(const struct bloom_create *params);

/**
 * bloom_get() - find a filter by its name
 * @name: the name; no permission is asked for
 *
 * The filter stays the same while the reference is held, also when the name
 * passes to another.
 *
 * Context: process; may sleep.
 * Return: the filter, with a reference for the caller, or ERR_PTR(-ENOENT).
 */
struct bloom_filter *bloom_get(const char *name);

/**
 * bloom_put() - give a reference back
 * @filter: from bloom_create() or bloom_get(), or NULL or an ERR_PTR
 *
 * Context: any but NMI. The filter is freed by a worker.
 */
void bloom_put(struct bloom_filter *filter);

/**
 * bloom_query() - is a key in the filter?
 * @filter: a filter to which a reference is held
 * @key: the key
 * @len: its length; at most BLOOM_KEY_MAX
 *
 * Takes no lock. Context: any.
 * Return: BLOOM_ABSENT, BLOOM_PRESENT or BLOOM_OUT_OF_RANGE; -EINVAL (@len).
 */
int bloom_query(struct bloom_filter *filter, const void *key, size_t len);

/**
 * bloom_add() - add a key and tell whether it was there
 * @filter: a filter to which a reference is held
 * @key: the key
 * @len: its length; at most BLOOM_KEY_MAX
 *
 * Of all concurrent ADDs of a key, wherever they come from, exactly one is told
 * BLOOM_ABSENT (or none, if it is a false positive).
 *
 * Context: process, softirq, hardirq. Takes a raw spinlock, with interrupts
 * disabled, if the key is not present. Not NMI, nor a tracing program.
 * Return: as bloom_query().
 */
int bloom_add(struct bloom_filter *filter, const void *key, size_t len);

/**
 * bloom_try_add() - bloom_add() that never waits for a lock
 * @filter: a filter to which a reference is held
 * @key: the key
 * @len: its length; at most BLOOM_KEY_MAX
 *
 * Context: any.
 * Return: as bloom_add(); -EBUSY: another ADD is at work nearby, nothing was
 * added.
 */
int bloom_try_add(struct bloom_filter *filter, const void *key, size_t len);

/**
 * bloom_remove() - remove a key of a counting filter or a bitmap
 * @filter: a filter to which a reference is held
 * @key: the key
 * @len: its length; at most BLOOM_KEY_MAX
 *
 * Context: as bloom_add().
 * Return: as bloom_query(), BLOOM_ABSENT: nothing was removed; -EOPNOTSUPP.
 */
int bloom_remove(struct bloom_filter *filter, const void *key, size_t len);

/**
 * bloom_add_batch(), bloom_query_batch() - many keys of one length
 * @filter: a filter to which a reference is held
 * @keys: @count keys of @len bytes, one after the other
 * @len: length of each
 * @count: how many
 * @verdicts: room for @count answers, or NULL
 *
 * Several times faster than one by one on large filters: hashing and memory
 * are overlapped.
 *
 * Context: as bloom_add(), bloom_query(); interrupts are disabled for up to 64
 * keys at a time. With many keys in process context the caller sees to
 * cond_resched().
 * Return: how many were BLOOM_PRESENT; -EINVAL (@len).
 */
long bloom_add_batch(struct bloom_filter *filter, const void *keys, size_t len,
		     size_t count, u8 *verdicts);
long bloom_query_batch(struct bloom_filter *filter, const void *keys,
		       size_t len, size_t count, u8 *verdicts);

/**
 * bloom_filter_id() - the number by which INFO, LIST and BPF know it
 * @filter: a filter to which a reference is held
 *
 * Context: any.
 */
u32 bloom_filter_id(const struct bloom_filter *filter);

#endif /* _BLOOM_H */
