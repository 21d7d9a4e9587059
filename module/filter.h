/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filter: a published set of layers, a growth policy, locks, counts.
 *
 * Lifetime. A refcount, held by each descriptor, by a name, by a module that
 * asked for it. When the last reference goes, a worker takes the id away, and
 * after a grace period another frees the filter; so whoever found it by id under
 * rcu_read_lock may use it until he unlocks.
 *
 * Reading (QUERY, the first look of ADD): rcu_read_lock, dereference the set,
 * test its live layers. No lock, no write to shared memory.
 *
 * Writing (ADD, REMOVE, LOAD): under rcu_read_lock, with the lock of the key's
 * stripe held, dereference the set *again* and look again: what another writer of
 * this stripe did is then seen, and of several ADDs of one key exactly one finds
 * it absent.
 *
 * Changing the set (growth, rotation, CLEAR): the control mutex. A new set is
 * published whole; the old one goes after a grace period. A rotation only moves
 * set->current. Each change is bracketed by bloom_seq_begin() and bloom_seq_end()
 * for those who look through a mapping.
 *
 * Lock order: registry lock, control mutex, stripe lock. The stripe locks are
 * raw and taken with interrupts disabled, one at a time.
 */
#ifndef BLOOM_FILTER_H
#define BLOOM_FILTER_H

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "bloom.h"
#include "layer.h"

/**
 * struct bloom_stripe - a part of the hash space
 * @lock: held by every writer of the stripe's blocks and tallies
 * @epoch: the set->epoch that @target belongs to
 * @target: scaling: the layer that takes this stripe's new keys
 */
struct bloom_stripe {
	raw_spinlock_t lock;
	u32 epoch;		/* __guarded_by(lock) */
	u32 target;		/* __guarded_by(lock) */
} ____cacheline_aligned_in_smp;

/**
 * struct bloom_set - the layers of a filter at one time
 * @rcu: frees it
 * @epoch: how often the filter was cleared
 * @count: layers, a window's spare among them
 * @current_layer: window: the layer of the current generation; the one after it, in
 *	the ring of @count, is the spare. Written under the control mutex with
 *	release, read with acquire.
 * @layers: scaling: from the first made on
 */
struct bloom_set {
	struct rcu_head rcu;
	u32 epoch;
	u32 count;
	u32 current_layer;
	struct bloom_layer *layers[];
};

/* Keys dealt with; a copy a CPU. */
struct bloom_stats {
	u64 adds;
	u64 adds_present;
	u64 queries;
	u64 queries_present;
	u64 removes;
};

/**
 * struct bloom_window - what only a window filter has
 * @rotate: rotates at the end of a period
 * @zero: empties the generation that left
 * @leaving: what @zero is to empty; control mutex, or @zero itself
 * @period_ns: 0: by hand; control mutex
 * @next_ns: CLOCK_MONOTONIC of the next rotation; control mutex
 * @rotations: how many so far; control mutex
 * @late: how many had to wait for the spare; control mutex
 */
struct bloom_window {
	struct delayed_work rotate;
	struct work_struct zero;
	struct bloom_layer *leaving;
	u64 period_ns;
	u64 next_ns;
	u64 rotations;
	u64 late;
	struct bloom_filter *filter;
};

/**
 * struct bloom_filter
 * @params: as asked for; constant
 * @id: unique among living filters; constant
 * @generations: live generations of a window; constant
 * @stripe_count: a power of two; constant
 * @burst: keys that are hashed between two bursts of prefetching; constant
 * @uid: who made it; constant
 * @born_ns: when, CLOCK_MONOTONIC; constant
 * @payer: who pays for memory; constant
 * @stats: a copy a CPU
 * @set: the layers; RCU, written under @control
 * @control: serialises every change of @set, @seq and the window
 * @seq: odd while a change is under way; control mutex
 * @head: the page that mappings see, from the first mmap() on; control mutex
 * @map_next: the next layer's map_offset; control mutex
 * @state: BLOOM_STATE_*; written by bloom_filter_look(), read anywhere
 * @starved: a stripe is full and there is no next layer yet
 * @retry_at: jiffies before which memory for a layer is not asked for again
 * @window: only in a window filter
 * @notice: from any context to @look
 * @look: sees to growth and state
 * @poll: who polls
 * @refs: see above
 * @release: takes the id away
 * @free: frees it
 * @name: guarded by the registry's lock
 * @names_lost: how often it lost a name it had; the registry's lock
 * @stripes: @stripe_count
 */
struct bloom_filter {
	struct bloom_create params;
	u32 id;
	u32 generations;
	u32 stripe_count;
	u32 burst;
	kuid_t uid;
	u64 born_ns;
	struct bloom_payer *payer;
	struct bloom_stats __percpu *stats;
	struct bloom_set __rcu *set;

	struct mutex control;	/* of set, seq, head, map_next, window */
	u64 seq;
	struct bloom_head *head;
	u64 map_next;
	u32 state;
	bool starved;
	unsigned long retry_at;
	struct bloom_window *window;

	struct irq_work notice;
	struct work_struct look;
	wait_queue_head_t poll;

	refcount_t refs;
	struct work_struct release;
	struct rcu_work free;

	struct bloom_name *name;
	u32 names_lost;

	struct bloom_stripe stripes[];
};

/* Keys in kernel memory, one after the other. */
struct bloom_keys {
	const u8 *bytes;
	const u32 *lens;	/* NULL: all are @len long */
	u32 len;
};

enum bloom_op { BLOOM_OP_ADD, BLOOM_OP_TRY_ADD, BLOOM_OP_QUERY, BLOOM_OP_REMOVE };

/* The answers for up to BLOOM_GROUP keys: a bit each. */
struct bloom_answer {
	u64 present;
	u64 out_of_range;
	u64 busy;		/* BLOOM_OP_TRY_ADD only */
};

/*
 * Deal with the next @n keys, at most BLOOM_GROUP, and move @keys past them.
 * A bitmap's keys are all 8 bytes long; the caller has checked.
 * Context: any (QUERY, TRY_ADD), any but NMI (ADD, REMOVE).
 */
void bloom_filter_group(struct bloom_filter *filter, enum bloom_op op,
			struct bloom_keys *keys, u32 n,
			struct bloom_answer *answer);

/*
 * Deal with one key. The same as a group of one, in fewer instructions.
 * Return: BLOOM_ABSENT, BLOOM_PRESENT, BLOOM_OUT_OF_RANGE; -EBUSY from TRY_ADD.
 */
int bloom_filter_one(struct bloom_filter *filter, enum bloom_op op,
		     const void *key, u32 len);

/* Count what was done; once a batch. */
void bloom_filter_count(struct bloom_filter *filter, enum bloom_op op, u64 keys,
			u64 present);

/* Is this a length that keys of this filter can have? */
static inline bool bloom_key_len_ok(const struct bloom_filter *filter, u64 len)
{
	return filter->params.kind == BLOOM_KIND_BITMAP ? len == sizeof(u64) :
	       len <= BLOOM_KEY_MAX;
}

static inline bool bloom_can_remove(const struct bloom_filter *filter)
{
	return filter->params.kind == BLOOM_KIND_COUNTING ||
	       filter->params.kind == BLOOM_KIND_BITMAP;
}

static inline bool bloom_is_window(const struct bloom_filter *filter)
{
	return filter->params.growth == BLOOM_GROWTH_WINDOW;
}

/* How many layers of a set are looked at, and the @j-th, the newest first. */
static inline u32 bloom_live_count(const struct bloom_filter *filter,
				   const struct bloom_set *set)
{
	return bloom_is_window(filter) ? filter->generations : set->count;
}

static inline struct bloom_layer *bloom_live_layer(const struct bloom_set *set,
						   u32 newest, u32 j)
{
	return set->layers[newest >= j ? newest - j : newest + set->count - j];
}

/* The newest layer's place in the set. */
static inline u32 bloom_newest(const struct bloom_filter *filter,
			       const struct bloom_set *set)
{
	/* Pairs with the release of a rotation. */
	return bloom_is_window(filter) ? smp_load_acquire(&set->current_layer) :
	       set->count - 1;
}

/* The set, for who holds the control mutex. */
#define bloom_set_locked(filter)					\
	rcu_dereference_protected((filter)->set,			\
				  lockdep_is_held(&(filter)->control))

/* filter.c: making and unmaking; process context unless noted. */
struct bloom_filter *bloom_filter_create(const struct bloom_create *params);
void bloom_filter_get(struct bloom_filter *filter);
bool __must_check bloom_filter_get_live(struct bloom_filter *filter);
void bloom_filter_put(struct bloom_filter *filter);	/* any but NMI */
int bloom_filter_clear(struct bloom_filter *filter);
u32 bloom_filter_look(struct bloom_filter *filter);
u64 bloom_filter_keys(struct bloom_filter *filter);
u64 bloom_filter_bytes(struct bloom_filter *filter);
int bloom_filter_info(struct bloom_filter *filter, struct bloom_info *info,
		      struct bloom_layer_info *rows, u32 room);

/* set.c: sets of layers and their publication. */
int bloom_set_promise(const struct bloom_create *p, u32 i, u64 *capacity,
		      u64 *fp_rate);
struct bloom_set *bloom_set_create(struct bloom_filter *filter);
struct bloom_layer *bloom_set_layer_create(struct bloom_filter *filter, u32 i,
					   u64 slots, u32 probes);
void bloom_set_free(struct bloom_set *set);
void bloom_set_publish(struct bloom_filter *filter, struct bloom_set *set,
		       bool drop_layers);
int bloom_set_grow(struct bloom_filter *filter, struct bloom_layer *layer);
void bloom_seq_begin(struct bloom_filter *filter);
void bloom_seq_end(struct bloom_filter *filter);

/* scaling.c */
/* See that there is room ahead; process context, no lock held. */
void bloom_scaling_grow(struct bloom_filter *filter);
bool bloom_scaling_wants_layer(const struct bloom_layer *last);

/* window.c */
int bloom_window_create(struct bloom_filter *filter);
void bloom_window_destroy(struct bloom_filter *filter);
void bloom_window_start(struct bloom_filter *filter);
int bloom_window_rotate(struct bloom_filter *filter);
int bloom_window_set_period(struct bloom_filter *filter, u64 period_ns,
			    u64 next_ns);
void bloom_window_settle(struct bloom_filter *filter);
u64 bloom_window_left(const struct bloom_filter *filter);

/* load.c */
int bloom_filter_load(struct bloom_filter *filter, struct bloom_load *load);

#endif /* BLOOM_FILTER_H */
