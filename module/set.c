// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of layers: making one for a filter, and putting it in place of another.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "account.h"
#include "filter.h"

static struct bloom_set *set_alloc(u32 count)
{
	struct bloom_set *set;

	set = kzalloc(struct_size(set, layers, count), BLOOM_GFP);
	if (set)
		set->count = count;
	return set;
}

void bloom_set_free(struct bloom_set *set)
{
	u32 i;

	for (i = 0; i < set->count; i++) {
		if (set->layers[i])
			bloom_layer_put(set->layers[i]);
	}
	kfree(set);
}

/*
 * The first layer of a scaling filter holds at least so many keys: less is not
 * worth a page, and would come to BLOOM_LAYERS_MAX too soon.
 */
#define SCALING_CAPACITY_MIN	1024U

/* How many keys is layer @i to hold with what error? 0: nothing was said. */
int bloom_set_promise(const struct bloom_create *p, u32 i, u64 *capacity,
		      u64 *fp_rate)
{
	*capacity = p->capacity;
	*fp_rate = p->fp_rate;
	if (!*capacity || !*fp_rate)
		return 0;
	if (p->growth == BLOOM_GROWTH_SCALING && !p->slots)
		*capacity = max_t(u64, *capacity, SCALING_CAPACITY_MIN);
	return bloom_geometry_layer(p->growth, p->generations, i, capacity,
				    fp_rate);
}

/*
 * Layer @i of the filter. With @slots that many, and @probes; otherwise as large
 * as the policy says.
 */
struct bloom_layer *bloom_set_layer_create(struct bloom_filter *filter, u32 i,
					   u64 slots, u32 probes)
{
	const struct bloom_create *p = &filter->params;
	u64 capacity, fp_rate;
	struct bloom_geometry geo;
	int err;

	err = bloom_set_promise(p, i, &capacity, &fp_rate);
	if (!err && slots)
		err = bloom_geometry_exact(p->kind, slots, probes, &geo);
	else if (!err)
		err = bloom_geometry_size(p->kind, capacity, fp_rate, &geo);
	if (err)
		return ERR_PTR(err);
	return bloom_layer_create(filter->payer, &geo, filter->stripe_count,
				  capacity, fp_rate);
}

/* What a new or cleared filter has. */
struct bloom_set *bloom_set_create(struct bloom_filter *filter)
{
	const struct bloom_create *p = &filter->params;
	struct bloom_layer *layer;
	u64 now = ktime_get_ns();
	struct bloom_set *set;
	u32 i;

	set = set_alloc(bloom_is_window(filter) ? filter->generations + 1 : 1);
	if (!set)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < set->count; i++) {
		layer = bloom_set_layer_create(filter, 0, p->slots, p->probes);
		if (IS_ERR(layer)) {
			bloom_set_free(set);
			return ERR_CAST(layer);
		}
		layer->born_ns = now;
		set->layers[i] = layer;
	}
	return set;
}

/*
 * A mapped reader takes the seq before it looks and compares after; odd means
 * that a change is under way. The barriers pair with the reader's acquire and
 * read barrier.
 */
void bloom_seq_begin(struct bloom_filter *filter)
{
	lockdep_assert_held(&filter->control);
	filter->seq++;
	if (filter->head) {
		WRITE_ONCE(filter->head->seq, filter->seq);
		smp_wmb();	/* odd before any of the change */
	}
}

void bloom_seq_end(struct bloom_filter *filter)
{
	lockdep_assert_held(&filter->control);
	filter->seq++;
	if (!filter->head)
		return;
	/* Even after all of the change; pairs with the reader's acquire. */
	smp_store_release(&filter->head->seq, filter->seq);
}

/* Publish @set. The old one goes, and with @drop_layers its layers too. */
void bloom_set_publish(struct bloom_filter *filter, struct bloom_set *set,
		       bool drop_layers)
{
	struct bloom_set *old = bloom_set_locked(filter);
	u32 i;

	for (i = 0; i < set->count; i++) {
		if (set->layers[i]->map_offset)
			continue;
		set->layers[i]->map_offset = filter->map_next;
		filter->map_next += set->layers[i]->geo.bytes;
	}

	bloom_seq_begin(filter);
	rcu_assign_pointer(filter->set, set);
	bloom_seq_end(filter);

	if (!old)
		return;
	/* Layers wait for a grace period of their own. */
	for (i = 0; drop_layers && i < old->count; i++)
		bloom_layer_put(old->layers[i]);
	kfree_rcu(old, rcu);
}

/* Publish the same set with one more layer, whose reference it takes over. */
int bloom_set_grow(struct bloom_filter *filter, struct bloom_layer *layer)
{
	struct bloom_set *old = bloom_set_locked(filter);
	struct bloom_set *set = set_alloc(old->count + 1);

	if (!set)
		return -ENOMEM;
	memcpy(set->layers, old->layers, array_size(old->count,
						    sizeof(old->layers[0])));
	set->epoch = old->epoch;
	set->layers[old->count] = layer;
	bloom_set_publish(filter, set, false);
	return 0;
}
