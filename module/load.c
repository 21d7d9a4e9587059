// SPDX-License-Identifier: GPL-2.0
/*
 * LOAD: OR bytes into a layer. What restore and merge are made of.
 *
 * A chunk is copied from user memory first, then applied under the control
 * mutex, so that the layer stays the one that was meant: a rotation or CLEAR in
 * between ends the call with -EAGAIN.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "account.h"
#include "filter.h"

#define CHUNK_WORDS	2048U

/* More than any layer can be made for, and far from wrapping a sum. */
#define LOAD_KEYS_MAX	(1ULL << 56)

/* Which layer, and what tells that it still is it. */
struct target {
	struct bloom_layer *layer;
	u64 born_ns;
	u32 epoch;
};

/* The first bits (counters) of a word that may be used: all, or up to the end. */
static u64 usable(const struct bloom_layer *layer, u64 word)
{
	u64 per_word = layer->geo.kind == BLOOM_KIND_COUNTING ? 16 : 64;
	u64 bits = 64 / per_word, left;

	if (layer->geo.slots / per_word > word)
		return ~0ULL;
	if (layer->geo.slots <= word * per_word)
		return 0;
	left = (layer->geo.slots - word * per_word) * bits;
	return (1ULL << left) - 1;
}

static u32 stripe_of_word(const struct bloom_layer *layer, u64 word)
{
	switch (layer->geo.kind) {
	case BLOOM_KIND_BLOCKED:
		return word / BLOOM_BLOCK_WORDS /
		       (layer->blocks / layer->stripes);
	case BLOOM_KIND_COUNTING:
		return word / BLOOM_COUNTER_WORDS /
		       (layer->blocks / layer->stripes);
	case BLOOM_KIND_BITMAP:
		return bloom_stripe_of(BLOOM_KIND_BITMAP, word * 64,
				       layer->stripes);
	default:
		return 0;	/* classic: any stripe may count them */
	}
}

/* OR one word in; the stripe's lock is held. Return: slots that became set. */
static u32 merge_word(struct bloom_layer *layer, u64 index, u64 data)
{
	__le64 *word = &layer->words[index];
	u64 old = bloom_word(word), sum;

	switch (layer->geo.kind) {
	case BLOOM_KIND_CLASSIC:
		old = le64_to_cpu((__force __le64)
				  bloom_fetch_or(word, cpu_to_le64(data)));
		return hweight64(data & ~old);
	case BLOOM_KIND_COUNTING:
		sum = bloom_counters_add(old, data);
		WRITE_ONCE(*word, cpu_to_le64(sum));
		return bloom_counters_nonzero(sum) -
		       bloom_counters_nonzero(old);
	default:
		WRITE_ONCE(*word, cpu_to_le64(old | data));
		return hweight64(data & ~old);
	}
}

static void merge_words(struct bloom_filter *filter, struct bloom_layer *layer,
			u64 first, const __le64 *data, u32 n)
{
	bool bitmap = layer->geo.kind == BLOOM_KIND_BITMAP;
	struct bloom_stripe *stripe;
	struct bloom_tally *tally;
	u32 i, index, set;

	for (i = 0; i < n; i++) {
		if (!data[i])
			continue;
		index = stripe_of_word(layer, first + i);
		stripe = &filter->stripes[index];
		tally = &layer->tally[index];
		raw_spin_lock_irq(&stripe->lock);
		set = merge_word(layer, first + i, le64_to_cpu(data[i]));
		WRITE_ONCE(tally->set, tally->set + set);
		/* Each of a bitmap's bits is a key. */
		if (bitmap)
			WRITE_ONCE(tally->keys, tally->keys + set);
		raw_spin_unlock_irq(&stripe->lock);
	}
}

/* Count @keys keys, as many in each stripe. */
static void count_keys(struct bloom_filter *filter, struct bloom_layer *layer,
		       u64 keys)
{
	u64 each = keys / layer->stripes, rest = keys % layer->stripes;
	u32 i;

	for (i = 0; i < layer->stripes; i++) {
		struct bloom_tally *tally = &layer->tally[i];

		raw_spin_lock_irq(&filter->stripes[i].lock);
		WRITE_ONCE(tally->keys, tally->keys + each + (i < rest));
		raw_spin_unlock_irq(&filter->stripes[i].lock);
	}
}

/* A scaling filter's next layer, as the caller says or as it would grow. */
static int grow(struct bloom_filter *filter, const struct bloom_load *load)
{
	struct bloom_layer *layer;
	int err;

	lockdep_assert_held(&filter->control);
	if (filter->params.growth != BLOOM_GROWTH_SCALING)
		return -EINVAL;
	if (load->layer >= BLOOM_LAYERS_MAX)
		return -ENOSPC;
	layer = bloom_set_layer_create(filter, load->layer, load->slots,
				       load->probes);
	if (IS_ERR(layer))
		return PTR_ERR(layer);
	err = bloom_set_grow(filter, layer);
	if (err)
		bloom_layer_put(layer);
	return err;
}

static struct bloom_layer *layer_of(struct bloom_filter *filter, u32 layer)
{
	struct bloom_set *set = bloom_set_locked(filter);

	if (bloom_is_window(filter))
		return bloom_live_layer(set, set->current_layer, layer);
	return set->layers[layer];
}

static int find_target(struct bloom_filter *filter,
		       const struct bloom_load *load, struct target *target)
{
	struct bloom_set *set = bloom_set_locked(filter);
	u32 count = bloom_live_count(filter, set);
	struct bloom_layer *layer;
	int err;

	if (load->layer > count || (load->layer < count &&
				    (load->slots || load->probes)))
		return -EINVAL;
	if (load->layer == count) {
		err = grow(filter, load);
		if (err)
			return err;
		set = bloom_set_locked(filter);
	}
	layer = layer_of(filter, load->layer);
	if (load->offset > layer->geo.bytes ||
	    load->length > layer->geo.bytes - load->offset)
		return -EINVAL;
	*target = (struct target){ layer, layer->born_ns, set->epoch };
	return 0;
}

static bool still_there(struct bloom_filter *filter, u32 layer,
			const struct target *target)
{
	struct bloom_set *set = bloom_set_locked(filter);

	return set->epoch == target->epoch &&
	       layer_of(filter, layer) == target->layer &&
	       target->layer->born_ns == target->born_ns;
}

/* The next words are in @buffer: apply them. */
static int apply(struct bloom_filter *filter, const struct bloom_load *load,
		 const struct target *target, const __le64 *buffer, u32 n)
{
	u64 first = (load->offset + load->done) / sizeof(u64);
	int err = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (le64_to_cpu(buffer[i]) & ~usable(target->layer, first + i))
			return -EINVAL;
	}
	mutex_lock(&filter->control);
	if (still_there(filter, load->layer, target))
		merge_words(filter, target->layer, first, buffer, n);
	else
		err = -EAGAIN;
	mutex_unlock(&filter->control);
	return err;
}

/* All is in: the counts and the age. */
static int finish(struct bloom_filter *filter, const struct bloom_load *load,
		  const struct target *target)
{
	int err = 0;

	mutex_lock(&filter->control);
	if (!still_there(filter, load->layer, target)) {
		err = -EAGAIN;
	} else {
		if (filter->params.kind != BLOOM_KIND_BITMAP)
			count_keys(filter, target->layer, load->keys);
		if (load->age_ns)
			target->layer->born_ns = ktime_get_ns() - load->age_ns;
	}
	mutex_unlock(&filter->control);
	return err;
}

static int check_load(const struct bloom_filter *filter,
		      const struct bloom_load *load)
{
	if (load->flags)
		return -EOPNOTSUPP;
	if (load->offset % sizeof(u64) || load->length % sizeof(u64))
		return -EINVAL;
	if (!load->slots != !load->probes || load->keys > LOAD_KEYS_MAX)
		return -EINVAL;
	if (load->age_ns && !bloom_is_window(filter))
		return -EINVAL;
	return 0;
}

/* @load->done is set also on error. */
int bloom_filter_load(struct bloom_filter *filter, struct bloom_load *load)
{
	const u8 __user *data = u64_to_user_ptr(load->data);
	struct target target;
	__le64 *buffer;
	int err;

	load->done = 0;
	err = check_load(filter, load);
	if (err)
		return err;
	buffer = kmalloc_array(CHUNK_WORDS, sizeof(u64), BLOOM_GFP);
	if (!buffer)
		return -ENOMEM;

	mutex_lock(&filter->control);
	err = find_target(filter, load, &target);
	/* Not freed while it is written to, whatever CLEAR does. */
	if (!err)
		bloom_layer_get(target.layer);
	mutex_unlock(&filter->control);
	if (err)
		goto out;

	while (load->done < load->length) {
		u32 step = min_t(u64, load->length - load->done,
				 CHUNK_WORDS * sizeof(u64));

		err = -EFAULT;
		if (copy_from_user(buffer, data + load->done, step))
			break;
		err = apply(filter, load, &target, buffer, step / sizeof(u64));
		if (err)
			break;
		load->done += step;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	if (load->done == load->length)
		err = finish(filter, load, &target);
	else if (load->done)
		err = 0;
	bloom_layer_put(target.layer);
	bloom_filter_look(filter);
out:
	kfree(buffer);
	return err;
}
