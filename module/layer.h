/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A layer: one vmalloc'd array of one geometry, and the counts that go with it.
 *
 * Lifetime: a refcount, held by the set of layers that a filter publishes and by
 * every mapping. The last reference may be dropped in any context in which
 * queue_work() may be called; memory is freed by a worker after a grace period
 * (not in the RCU callback, where vfree() would write a list pointer into an
 * array that a mapping may still show).
 *
 * Locking: the filter is divided into stripes by the hash (or, for a bitmap, by
 * the block), each with a lock. A block belongs to one stripe, since the number
 * of blocks is a multiple of the number of stripes and both are taken from the
 * same high bits. Every writer of a block, LOAD too, holds the block's stripe;
 * then its words are plain READ_ONCE/WRITE_ONCE. A classic array has no blocks:
 * its words are shared, and every write is an atomic OR. Readers hold nothing
 * but rcu_read_lock (or a reference).
 */
#ifndef BLOOM_LAYER_H
#define BLOOM_LAYER_H

#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core_geometry.h"
#include "core_probe.h"

struct bloom_payer;

/* Keys that are handled at a time: a bit each in a 64-bit mask. */
#define BLOOM_GROUP	64

/**
 * struct bloom_tally - one stripe's counts in one layer
 * @keys: keys added that were not present (counting: ADDs less REMOVEs)
 * @set: slots set (counters that are not zero)
 *
 * Written with the stripe's lock held, read without it.
 */
struct bloom_tally {
	u64 keys;
	u64 set;
};

/**
 * struct bloom_layer
 * @geo: its shape; constant, like all that follow unless noted
 * @blocks: geo.slots / BLOOM_BLOCK_SLOTS, rounded up
 * @words: the array
 * @capacity: keys it is made for, 0: not known
 * @fp_rate: its share of the error, 0.64, 0: not known
 * @share: keys of one stripe at capacity; U64_MAX: not known
 * @map_offset: where mmap() finds it; set before it is published
 * @born_ns: window: CLOCK_MONOTONIC when it became current; control mutex
 * @stripes: entries of @tally, a power of two
 * @charged: bytes charged to @payer
 * @payer: who pays
 * @refs: sets and mappings
 * @free_work: frees it
 * @tally: counts a stripe
 */
struct bloom_layer {
	struct bloom_geometry geo;
	u64 blocks;
	__le64 *words;
	u64 capacity;
	u64 fp_rate;
	u64 share;
	u64 map_offset;
	u64 born_ns;
	u32 stripes;
	u64 charged;
	struct bloom_payer *payer;
	refcount_t refs;
	struct rcu_work free_work;
	struct bloom_tally tally[];
};

/*
 * A zeroed layer, charged to @payer. ERR_PTR: -ENOSPC (a cap), -ENOMEM.
 * Process context.
 */
struct bloom_layer *bloom_layer_create(struct bloom_payer *payer,
				       const struct bloom_geometry *geo,
				       u32 stripes, u64 capacity, u64 fp_rate);
void bloom_layer_put(struct bloom_layer *layer);

static inline void bloom_layer_get(struct bloom_layer *layer)
{
	refcount_inc(&layer->refs);
}

/* The stripe that the key at @at belongs to, of @stripes. */
static inline u32 bloom_stripe_of(u32 kind, u64 at, u32 stripes)
{
	if (kind == BLOOM_KIND_BITMAP)
		return (at >> BLOOM_BLOCK_SHIFT) & (stripes - 1);
	return bloom_range(at, stripes);
}

/*
 * Where a key lies: its 64-bit hash or, for a bitmap, its distance from base.
 * The functions below take an array of these and a mask of those they are to
 * look at.
 */

/* The block of a key; for BLOOM_KIND_BLOCKED only. */
static __always_inline __le64 *bloom_layer_block(const struct bloom_layer *layer,
						 u64 at)
{
	return layer->words +
	       bloom_range(at, layer->blocks) * BLOOM_BLOCK_WORDS;
}

/* Bring the first lines of these keys near. */
void bloom_layer_prefetch(const struct bloom_layer *layer, const u64 *at, u32 n);
/* And the others of those in @want, which test or ADD are going to need. */
void bloom_layer_prefetch_rest(const struct bloom_layer *layer, const u64 *at,
			       u64 want);
/* Which of the keys in @want are present? */
u64 bloom_layer_test(const struct bloom_layer *layer, const u64 *at, u64 want);
/* Add one. The stripe's lock is held. Return: slots that became set. */
u32 bloom_layer_add(struct bloom_layer *layer, u64 at);
/* Remove one that is present. The stripe's lock is held. Return: slots freed. */
u32 bloom_layer_remove(struct bloom_layer *layer, u64 at);

/* Zero the array and the counts; nobody may be writing. May sleep. */
void bloom_layer_zero(struct bloom_layer *layer);

/* Sums over the stripes. */
u64 bloom_layer_keys(const struct bloom_layer *layer);
u64 bloom_layer_slots_set(const struct bloom_layer *layer);

/*
 * Memory that nobody refers to any more is still charged until a worker has
 * freed it. Who is refused by a cap, or by a memory cgroup, may wait for that:
 * true if there was any. No lock held; not from the workqueues.
 */
bool bloom_frees_wait(void);

/* Refused with @err: is it worth asking once more? Waits. */
static inline bool bloom_frees_help(long err)
{
	return (err == -ENOSPC || err == -ENOMEM) && bloom_frees_wait();
}

extern atomic_t bloom_frees_pending;

/* The workqueues: before the first filter, after the last. */
int bloom_layer_init(void);
void bloom_layer_exit(void);

extern struct workqueue_struct *bloom_wq;
/* For zeroing, which works on the other queue wait for. */
extern struct workqueue_struct *bloom_zero_wq;

#endif /* BLOOM_LAYER_H */
