// SPDX-License-Identifier: GPL-2.0
/*
 * ADD, QUERY and REMOVE for a group of keys: hash a burst and prefetch it, again
 * and again; then look at all of them without a lock; then change what is left.
 *
 * Hashing between two prefetches leaves few page walks in flight, hence bursts.
 * Locks are only for keys that were not found, so that a stream of keys already
 * seen writes no shared line at all.
 */
#include <linux/log2.h>
#include <linux/rcupdate.h>

#include "filter.h"

struct group {
	u64 at[BLOOM_GROUP];
	u64 out_of_range;
};

static const u8 *hash_siphash(const struct bloom_keys *keys, const u64 *seed,
			      u64 *at, u32 n)
{
	const u8 *p = keys->bytes;
	u32 i, len;

	for (i = 0; i < n; i++, p += len) {
		len = keys->lens ? keys->lens[i] : keys->len;
		at[i] = bloom_hash_siphash(p, len, seed);
	}
	return p;
}

/* Short integers gain by a length that the compiler knows. */
static const u8 *hash_jhash(const struct bloom_keys *keys, const u64 *seed,
			    u64 *at, u32 n)
{
	const u8 *p = keys->bytes;

	if (keys->lens)
		return bloom_hash_jhash_lens(p, keys->lens, seed, at, n);
	if (keys->len == 4)
		return bloom_hash_jhash_fixed(p, 4, seed, at, n);
	if (keys->len == 8)
		return bloom_hash_jhash_fixed(p, 8, seed, at, n);
	return bloom_hash_jhash_fixed(p, keys->len, seed, at, n);
}

static void hash_burst(const struct bloom_filter *filter,
		       struct bloom_keys *keys, u64 *at, u32 n)
{
	const u64 *seed = filter->params.seed;

	if (filter->params.hash == BLOOM_HASH_SIPHASH)
		keys->bytes = hash_siphash(keys, seed, at, n);
	else
		keys->bytes = hash_jhash(keys, seed, at, n);
	if (keys->lens)
		keys->lens += n;
}

/* A bitmap's keys are integers: their place is their distance from base. */
static void place_integers(const struct bloom_filter *filter,
			   struct bloom_keys *keys, struct group *g, u32 n)
{
	u64 at;
	u32 i;

	for (i = 0; i < n; i++) {
		memcpy(&at, keys->bytes, sizeof(at));
		keys->bytes += sizeof(at);
		at -= filter->params.base;
		g->at[i] = at;
		if (at >= filter->params.slots)
			g->out_of_range |= 1ULL << i;
	}
}

/* Where are the next @n keys? Their first cache lines are on their way after. */
static void place(const struct bloom_filter *filter,
		  const struct bloom_layer *layer, struct bloom_keys *keys,
		  struct group *g, u32 n)
{
	u32 i, burst;

	g->out_of_range = 0;
	if (filter->params.kind == BLOOM_KIND_BITMAP) {
		place_integers(filter, keys, g, n);
		bloom_layer_prefetch(layer, g->at, n);
		return;
	}
	for (i = 0; i < n; i += burst) {
		burst = min(n - i, filter->burst);
		hash_burst(filter, keys, g->at + i, burst);
		bloom_layer_prefetch(layer, g->at + i, burst);
	}
}

/* Which of @want are in any live layer? */
static u64 test(const struct bloom_filter *filter, const struct bloom_set *set,
		u32 newest, const u64 *at, u32 n, u64 want)
{
	u32 j, count = bloom_live_count(filter, set);
	const struct bloom_layer *layer;
	u64 present = 0;

	for (j = 0; j < count && want; j++) {
		layer = bloom_live_layer(set, newest, j);
		if (j && n > 1)
			bloom_layer_prefetch(layer, at, n);
		present |= bloom_layer_test(layer, at, want);
		want &= ~present;
	}
	return present;
}

/* Does an ADD renew a key that an older generation holds? */
static bool renews(const struct bloom_filter *filter)
{
	return bloom_is_window(filter) &&
	       !(filter->params.flags & BLOOM_CREATE_ONCE);
}

/*
 * Past its share a stripe tells the worker at 1, 2, 4, 8 ... keys more: often
 * enough for the state, never often.
 */
static bool is_notable(const struct bloom_layer *layer, u64 keys)
{
	return keys > layer->share && is_power_of_2(keys - layer->share);
}

/* The layer that takes this stripe's new keys. The stripe's lock is held. */
static struct bloom_layer *target_layer(struct bloom_filter *filter,
					const struct bloom_set *set, u32 newest,
					struct bloom_stripe *stripe, u32 index)
{
	struct bloom_layer *layer;

	if (filter->params.growth != BLOOM_GROWTH_SCALING)
		return set->layers[newest];

	if (stripe->epoch != set->epoch) {
		stripe->epoch = set->epoch;
		stripe->target = 0;
	}
	layer = set->layers[stripe->target];
	while (layer->tally[index].keys >= layer->share &&
	       stripe->target + 1 < set->count)
		layer = set->layers[++stripe->target];
	return layer;
}

/* A scaling filter's stripe got a key: is it time for a layer more? */
static bool look_ahead(struct bloom_filter *filter, const struct bloom_set *set,
		       const struct bloom_stripe *stripe,
		       const struct bloom_layer *layer, u64 keys)
{
	if (stripe->target + 1 < set->count)
		return false;
	if (keys >= layer->share && !READ_ONCE(filter->starved))
		WRITE_ONCE(filter->starved, true);
	/* Once at three quarters, and once more each time it gets worse. */
	return keys == layer->share - layer->share / 4 ||
	       keys == layer->share;
}

/* One layer for ever, in which a key is there if setting its bits changes none. */
static bool is_plain(const struct bloom_filter *filter)
{
	return filter->params.growth == BLOOM_GROWTH_FIXED &&
	       (filter->params.kind == BLOOM_KIND_BLOCKED ||
		filter->params.kind == BLOOM_KIND_CLASSIC);
}

/*
 * Count a key that has set @flipped slots. The stripe's lock is held. Return: how
 * many the stripe has in this layer now.
 */
static __always_inline u64 count_key(struct bloom_layer *layer, u32 index,
				     u32 flipped)
{
	struct bloom_tally *tally = &layer->tally[index];
	u64 keys = tally->keys + 1;

	WRITE_ONCE(tally->set, tally->set + flipped);
	WRITE_ONCE(tally->keys, keys);
	return keys;
}

/*
 * Add to such the keys of @todo: the words themselves tell who came first. Return:
 * which were present.
 */
static u64 add_plain(struct bloom_filter *filter, const u64 *at, u64 todo)
{
	const u32 stripes = filter->stripe_count;
	struct bloom_stripe *stripe;
	struct bloom_layer *layer;
	u32 i, index, flipped;
	unsigned long flags;
	u64 present = 0;

	local_irq_save(flags);
	for (; todo; todo &= todo - 1) {
		i = __ffs(todo);
		index = bloom_range(at[i], stripes);
		stripe = &filter->stripes[index];
		raw_spin_lock(&stripe->lock);
		layer = rcu_dereference(filter->set)->layers[0];
		if (layer->geo.kind == BLOOM_KIND_BLOCKED)
			flipped = bloom_block_set(bloom_layer_block(layer, at[i]),
						  at[i], layer->geo.probes);
		else
			flipped = bloom_layer_add(layer, at[i]);
		if (!flipped)
			present |= 1ULL << i;
		else if (unlikely(is_notable(layer, count_key(layer, index,
							      flipped))))
			irq_work_queue(&filter->notice);
		raw_spin_unlock(&stripe->lock);
	}
	local_irq_restore(flags);
	return present;
}

/*
 * Add one key. The stripe's lock is held, so what every earlier ADD of this key
 * did is seen here. Return: was it present?
 */
static bool add_locked(struct bloom_filter *filter, struct bloom_stripe *stripe,
		       u32 index, u64 at)
{
	const struct bloom_set *set = rcu_dereference(filter->set);
	u32 newest = bloom_newest(filter, set);
	bool counting = filter->params.kind == BLOOM_KIND_COUNTING;
	bool seen, notable;
	struct bloom_layer *layer;
	u64 keys;

	lockdep_assert_held(&stripe->lock);
	seen = test(filter, set, newest, &at, 1, 1);
	if (seen && !counting &&
	    !(renews(filter) &&
	      !bloom_layer_test(set->layers[newest], &at, 1)))
		return true;

	layer = target_layer(filter, set, newest, stripe, index);
	keys = count_key(layer, index, bloom_layer_add(layer, at));
	notable = is_notable(layer, keys);
	if (filter->params.growth == BLOOM_GROWTH_SCALING)
		notable |= look_ahead(filter, set, stripe, layer, keys);
	if (unlikely(notable))
		irq_work_queue(&filter->notice);
	return seen;
}

static bool remove_locked(struct bloom_filter *filter,
			  struct bloom_stripe *stripe, u32 index, u64 at)
{
	const struct bloom_set *set = rcu_dereference(filter->set);
	struct bloom_layer *layer = set->layers[0];
	struct bloom_tally *tally = &layer->tally[index];

	lockdep_assert_held(&stripe->lock);
	if (!bloom_layer_test(layer, &at, 1))
		return false;
	WRITE_ONCE(tally->set, tally->set - bloom_layer_remove(layer, at));
	/* A key that was never added may have been removed before. */
	if (tally->keys)
		WRITE_ONCE(tally->keys, tally->keys - 1);
	return true;
}

/*
 * Add to any filter, or remove, the keys of @todo one after the other. Return:
 * which were present; and in @busy those whose stripe TRY_ADD did not get.
 */
static u64 change(struct bloom_filter *filter, enum bloom_op op, const u64 *at,
		  u64 todo, u64 *busy)
{
	struct bloom_stripe *stripe;
	unsigned long flags;
	u64 present = 0;
	u32 i, index;
	bool seen;

	local_irq_save(flags);
	for (; todo; todo &= todo - 1) {
		i = __ffs(todo);
		index = bloom_stripe_of(filter->params.kind, at[i],
					filter->stripe_count);
		stripe = &filter->stripes[index];
		if (op != BLOOM_OP_TRY_ADD) {
			raw_spin_lock(&stripe->lock);
		} else if (!raw_spin_trylock(&stripe->lock)) {
			*busy |= 1ULL << i;
			continue;
		}
		if (op == BLOOM_OP_REMOVE)
			seen = remove_locked(filter, stripe, index, at[i]);
		else
			seen = add_locked(filter, stripe, index, at[i]);
		raw_spin_unlock(&stripe->lock);
		present |= (u64)seen << i;
	}
	local_irq_restore(flags);
	return present;
}

/* The locked look at what is not in the newest generation goes through them all. */
static void prefetch_older(const struct bloom_filter *filter,
			   const struct bloom_set *set, u32 newest,
			   const u64 *at, u32 n)
{
	u32 j;

	for (j = 1; n > 1 && j < bloom_live_count(filter, set); j++)
		bloom_layer_prefetch(bloom_live_layer(set, newest, j), at, n);
}

/*
 * Add or remove those of @want that need it. Return: which were present; and in
 * @busy which BLOOM_OP_TRY_ADD could not do.
 */
static u64 change_group(struct bloom_filter *filter, enum bloom_op op,
			const struct bloom_set *set, u32 newest, const u64 *at,
			u32 n, u64 want, u64 *busy)
{
	u64 present = 0;

	/* An ADD of what is present is done, where it would change nothing. */
	if (op != BLOOM_OP_REMOVE && renews(filter))
		present = bloom_layer_test(set->layers[newest], at, want);
	else if (op != BLOOM_OP_REMOVE &&
		 filter->params.kind != BLOOM_KIND_COUNTING)
		present = test(filter, set, newest, at, n, want);
	want &= ~present;
	if (!want)
		return present;
	if (renews(filter))
		prefetch_older(filter, set, newest, at, n);
	else if (n > 1)
		bloom_layer_prefetch_rest(set->layers[newest], at, want);
	if (op == BLOOM_OP_ADD && is_plain(filter))
		return present | add_plain(filter, at, want);
	return present | change(filter, op, at, want, busy);
}

void bloom_filter_group(struct bloom_filter *filter, enum bloom_op op,
			struct bloom_keys *keys, u32 n,
			struct bloom_answer *answer)
{
	const struct bloom_set *set;
	struct group g;
	u32 newest;
	u64 want;

	rcu_read_lock();
	set = rcu_dereference(filter->set);
	newest = bloom_newest(filter, set);
	place(filter, set->layers[newest], keys, &g, n);
	want = (n < 64 ? (1ULL << n) - 1 : ~0ULL) & ~g.out_of_range;

	answer->out_of_range = g.out_of_range;
	answer->busy = 0;

	if (op == BLOOM_OP_QUERY)
		answer->present = test(filter, set, newest, g.at, n, want);
	else
		answer->present = change_group(filter, op, set, newest, g.at, n,
					       want, &answer->busy);
	rcu_read_unlock();
}

int bloom_filter_one(struct bloom_filter *filter, enum bloom_op op,
		     const void *key, u32 len)
{
	const struct bloom_set *set;
	u64 at, busy = 0, present;
	u32 newest;

	if (filter->params.kind == BLOOM_KIND_BITMAP) {
		memcpy(&at, key, sizeof(at));
		at -= filter->params.base;
		if (at >= filter->params.slots)
			return BLOOM_OUT_OF_RANGE;
	} else if (filter->params.hash == BLOOM_HASH_SIPHASH) {
		at = bloom_hash_siphash(key, len, filter->params.seed);
	} else {
		at = bloom_hash_jhash(key, len, filter->params.seed);
	}

	rcu_read_lock();
	set = rcu_dereference(filter->set);
	newest = bloom_newest(filter, set);
	if (op == BLOOM_OP_QUERY)
		present = test(filter, set, newest, &at, 1, 1);
	else
		present = change_group(filter, op, set, newest, &at, 1, 1,
				       &busy);
	rcu_read_unlock();
	if (busy)
		return -EBUSY;
	return present ? BLOOM_PRESENT : BLOOM_ABSENT;
}

void bloom_filter_count(struct bloom_filter *filter, enum bloom_op op, u64 keys,
			u64 present)
{
	switch (op) {
	case BLOOM_OP_ADD:
	case BLOOM_OP_TRY_ADD:
		this_cpu_add(filter->stats->adds, keys);
		this_cpu_add(filter->stats->adds_present, present);
		break;
	case BLOOM_OP_QUERY:
		this_cpu_add(filter->stats->queries, keys);
		this_cpu_add(filter->stats->queries_present, present);
		break;
	case BLOOM_OP_REMOVE:
		this_cpu_add(filter->stats->removes, present);
		break;
	}
}
