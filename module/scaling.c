// SPDX-License-Identifier: GPL-2.0
/*
 * Growth: a full layer is followed by one of twice the capacity.
 *
 * The next layer is made when a stripe has filled three quarters of its share of
 * the last one, by a worker, since ADD may be in softirq. ADD in process context
 * that finds its stripe full and no next layer makes it itself, so that a
 * fast producer can't run past the promise. Where memory is refused the last
 * layer takes on more keys than it is made for, the state says so, and it is
 * tried again every second.
 */
#include <linux/err.h>
#include <linux/jiffies.h>

#include "filter.h"

#define RETRY_AFTER	HZ

/* Has any stripe filled three quarters of its share? */
bool bloom_scaling_wants_layer(const struct bloom_layer *last)
{
	u32 i;

	for (i = 0; i < last->stripes; i++) {
		if (READ_ONCE(last->tally[i].keys) >=
		    last->share - last->share / 4)
			return true;
	}
	return false;
}

static int add_layer(struct bloom_filter *filter, u32 i)
{
	struct bloom_layer *layer;
	int err;

	if (i >= BLOOM_LAYERS_MAX)
		return -ENOSPC;
	layer = bloom_set_layer_create(filter, i, 0, 0);
	if (IS_ERR(layer))
		return PTR_ERR(layer);
	err = bloom_set_grow(filter, layer);
	if (err)
		bloom_layer_put(layer);
	return err;
}

void bloom_scaling_grow(struct bloom_filter *filter)
{
	struct bloom_set *set;

	if (time_before(jiffies, READ_ONCE(filter->retry_at)))
		return;

	mutex_lock(&filter->control);
	set = bloom_set_locked(filter);
	if (!bloom_scaling_wants_layer(set->layers[set->count - 1])) {
		WRITE_ONCE(filter->starved, false);
	} else if (!add_layer(filter, set->count)) {
		WRITE_ONCE(filter->starved, false);
		WRITE_ONCE(filter->state, filter->state & ~BLOOM_STATE_REFUSED);
	} else {
		WRITE_ONCE(filter->state, filter->state | BLOOM_STATE_REFUSED);
		WRITE_ONCE(filter->retry_at, jiffies + RETRY_AFTER);
	}
	mutex_unlock(&filter->control);
}
