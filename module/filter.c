// SPDX-License-Identifier: GPL-2.0
/*
 * The filter as an object: made, looked at, cleared, freed.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/poll.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "account.h"
#include "filter.h"
#include "registry.h"

#define CREATE_FLAGS	(BLOOM_CREATE_SEED | BLOOM_CREATE_ONCE | \
			 BLOOM_CREATE_BPF)

/*
 * Stripes: enough that 64 CPUs rarely meet; fewer for a small filter, whose
 * locks would otherwise outweigh its bits.
 */
#define STRIPES_MAX	64U
#define STRIPES_SMALL	16U
#define SMALL_BYTES	65536U

/*
 * Keys hashed between two bursts of prefetches. Long bursts keep more page walks
 * in flight, which counts where TLBs miss; short ones overlap hashing with the
 * last burst's misses.
 */
#define BURST_SHORT	8U
#define BURST_LONG	32U
#define LONG_FROM_BYTES	(256ULL << 20)

static int check_kind(const struct bloom_create *p)
{
	if (p->flags & ~CREATE_FLAGS || p->kind > BLOOM_KIND_BITMAP ||
	    p->growth > BLOOM_GROWTH_WINDOW || p->hash > BLOOM_HASH_SIPHASH)
		return -EOPNOTSUPP;
	if (p->growth != BLOOM_GROWTH_FIXED &&
	    p->kind != BLOOM_KIND_BLOCKED && p->kind != BLOOM_KIND_CLASSIC)
		return -EOPNOTSUPP;
	if (p->flags & BLOOM_CREATE_ONCE && p->growth != BLOOM_GROWTH_WINDOW)
		return -EOPNOTSUPP;
	if (!(p->flags & BLOOM_CREATE_SEED) && (p->seed[0] || p->seed[1]))
		return -EINVAL;
	return p->reserved ? -EINVAL : 0;
}

static int check_window(const struct bloom_create *p)
{
	if (p->growth != BLOOM_GROWTH_WINDOW)
		return p->generations || p->period_ns ? -EINVAL : 0;
	if (p->generations < BLOOM_GENERATIONS_MIN ||
	    p->generations > BLOOM_GENERATIONS_MAX)
		return -EINVAL;
	if (p->period_ns && (p->period_ns < BLOOM_PERIOD_MIN_NS ||
			     p->period_ns > BLOOM_PERIOD_MAX_NS))
		return -EINVAL;
	return 0;
}

static int check_bitmap(const struct bloom_create *p)
{
	if (p->hash || p->probes > 1 || p->capacity || p->fp_rate ||
	    p->flags & BLOOM_CREATE_SEED)
		return -EINVAL;
	if (!p->slots || p->base + (p->slots - 1) < p->base)
		return -EINVAL;
	return 0;
}

static int check_size(const struct bloom_create *p)
{
	if (p->kind == BLOOM_KIND_BITMAP)
		return check_bitmap(p);
	if (p->base)
		return -EINVAL;
	if (p->slots && (!p->probes || p->probes > BLOOM_PROBES_MAX))
		return -EINVAL;
	if (!p->slots && p->probes)
		return -EINVAL;
	if ((!p->slots || p->growth != BLOOM_GROWTH_FIXED) &&
	    (!p->capacity || !p->fp_rate))
		return -EINVAL;
	/* The share of the last layer there can be must be one of a layer. */
	if (p->growth == BLOOM_GROWTH_SCALING &&
	    p->fp_rate / (BLOOM_LAYERS_MAX * (BLOOM_LAYERS_MAX + 1)) <
	    bloom_geometry_min_rate(p->kind))
		return -EINVAL;
	return 0;
}

static int check_params(const struct bloom_create *p)
{
	return check_kind(p) ?: check_window(p) ?: check_size(p);
}

/* The first layer's shape: what the number of stripes depends on. */
static int first_geometry(const struct bloom_create *p,
			  struct bloom_geometry *geo)
{
	u64 capacity, fp_rate;
	int err;

	if (p->slots)
		return bloom_geometry_exact(p->kind, p->slots, p->probes ?: 1,
					    geo);
	err = bloom_set_promise(p, 0, &capacity, &fp_rate);
	return err ?: bloom_geometry_size(p->kind, capacity, fp_rate, geo);
}

/* From any context to a worker. */
static void notice(struct irq_work *work)
{
	struct bloom_filter *filter = container_of(work, struct bloom_filter,
						   notice);

	queue_work(bloom_wq, &filter->look);
}

static void look_work(struct work_struct *work)
{
	bloom_filter_look(container_of(work, struct bloom_filter, look));
}

static void free_filter(struct bloom_filter *filter)
{
	struct bloom_set *set = rcu_dereference_protected(filter->set, 1);

	irq_work_sync(&filter->notice);
	cancel_work_sync(&filter->look);
	bloom_window_destroy(filter);
	if (set)
		bloom_set_free(set);
	if (filter->head)
		free_page((unsigned long)filter->head);
	free_percpu(filter->stats);
	bloom_payer_put(filter->payer);
	mutex_destroy(&filter->control);
	kfree(filter);
}

static void free_work(struct work_struct *work)
{
	free_filter(container_of(to_rcu_work(work), struct bloom_filter, free));
	atomic_dec(&bloom_frees_pending);
}

static void release_work(struct work_struct *work)
{
	struct bloom_filter *filter = container_of(work, struct bloom_filter,
						   release);

	bloom_registry_forget(filter);
	queue_rcu_work(bloom_wq, &filter->free);
}

static struct bloom_filter *filter_alloc(const struct bloom_create *p,
					 u32 stripes)
{
	struct bloom_filter *filter;
	u32 i;

	filter = kzalloc(struct_size(filter, stripes, stripes),
			 BLOOM_GFP);
	if (!filter)
		return ERR_PTR(-ENOMEM);
	filter->payer = bloom_payer_create();
	if (IS_ERR(filter->payer)) {
		kfree(filter);
		return ERR_PTR(-ENOMEM);
	}
	filter->params = *p;
	filter->params.probes = p->kind == BLOOM_KIND_BITMAP ? 1 : p->probes;
	filter->generations = p->generations;
	filter->stripe_count = stripes;
	filter->uid = current_fsuid();
	filter->born_ns = ktime_get_ns();
	filter->map_next = PAGE_SIZE;
	filter->retry_at = jiffies;
	mutex_init(&filter->control);
	init_irq_work(&filter->notice, notice);
	INIT_WORK(&filter->look, look_work);
	init_waitqueue_head(&filter->poll);
	refcount_set(&filter->refs, 1);
	INIT_WORK(&filter->release, release_work);
	INIT_RCU_WORK(&filter->free, free_work);
	for (i = 0; i < stripes; i++)
		raw_spin_lock_init(&filter->stripes[i].lock);
	return filter;
}

static struct bloom_filter *create_once(const struct bloom_create *params)
{
	struct bloom_filter *filter;
	struct bloom_geometry geo;
	struct bloom_set *set;
	int err;

	err = check_params(params) ?: first_geometry(params, &geo);
	if (err)
		return ERR_PTR(err);
	filter = filter_alloc(params, geo.bytes <= SMALL_BYTES ? STRIPES_SMALL :
							       STRIPES_MAX);
	if (IS_ERR(filter))
		return filter;
	filter->burst = geo.bytes < LONG_FROM_BYTES ? BURST_SHORT : BURST_LONG;
	if (!(params->flags & BLOOM_CREATE_SEED) &&
	    params->kind != BLOOM_KIND_BITMAP)
		get_random_bytes(filter->params.seed,
				 sizeof(filter->params.seed));

	err = -ENOMEM;
	filter->stats = alloc_percpu_gfp(struct bloom_stats, BLOOM_GFP);
	if (!filter->stats)
		goto free;
	if (bloom_is_window(filter)) {
		err = bloom_window_create(filter);
		if (err)
			goto free;
	}
	set = bloom_set_create(filter);
	if (IS_ERR(set)) {
		err = PTR_ERR(set);
		goto free;
	}
	mutex_lock(&filter->control);
	bloom_set_publish(filter, set, false);
	mutex_unlock(&filter->control);

	err = bloom_registry_number(filter);
	if (err)
		goto free;
	if (bloom_is_window(filter)) {
		mutex_lock(&filter->control);
		bloom_window_start(filter);
		mutex_unlock(&filter->control);
	}
	return filter;

free:
	free_filter(filter);
	return ERR_PTR(err);
}

/* Return: the filter with one reference; see struct bloom_create for errors. */
struct bloom_filter *bloom_filter_create(const struct bloom_create *params)
{
	struct bloom_filter *filter = create_once(params);

	if (IS_ERR(filter) && bloom_frees_help(PTR_ERR(filter)))
		filter = create_once(params);
	return filter;
}

void bloom_filter_get(struct bloom_filter *filter)
{
	refcount_inc(&filter->refs);
}

/* For who found it under rcu_read_lock or the registry's lock. */
bool bloom_filter_get_live(struct bloom_filter *filter)
{
	return refcount_inc_not_zero(&filter->refs);
}

void bloom_filter_put(struct bloom_filter *filter)
{
	if (!refcount_dec_and_test(&filter->refs))
		return;
	atomic_inc(&bloom_frees_pending);
	queue_work(bloom_wq, &filter->release);
}

/*
 * Has any live layer more keys than it is made for? A scaling filter's layer may
 * get a few more while the next is being made, which is within the promise, as
 * the shares of all layers that can be sum to less than the rate.
 */
static bool is_saturated(struct bloom_filter *filter, const struct bloom_set *set)
{
	u32 j, newest = bloom_newest(filter, set);
	const struct bloom_layer *layer;
	u64 limit;

	for (j = 0; j < bloom_live_count(filter, set); j++) {
		layer = bloom_live_layer(set, newest, j);
		limit = layer->capacity;
		if (filter->params.growth == BLOOM_GROWTH_SCALING)
			limit += limit / 16;
		if (limit && bloom_layer_keys(layer) > limit)
			return true;
	}
	return false;
}

/*
 * See to growth and to the state. Return: the state. Process context, without
 * the control mutex.
 */
u32 bloom_filter_look(struct bloom_filter *filter)
{
	u32 state, old;

	if (filter->params.growth == BLOOM_GROWTH_SCALING)
		bloom_scaling_grow(filter);

	mutex_lock(&filter->control);
	old = filter->state;
	state = old & ~BLOOM_STATE_SATURATED;
	if (is_saturated(filter, bloom_set_locked(filter)))
		state |= BLOOM_STATE_SATURATED;
	WRITE_ONCE(filter->state, state);
	if (filter->head)
		WRITE_ONCE(filter->head->state, state);
	mutex_unlock(&filter->control);
	if (state & ~old)
		wake_up_interruptible_poll(&filter->poll, EPOLLPRI);
	return state;
}

static int clear_once(struct bloom_filter *filter)
{
	struct bloom_set *set, *old;

	if (mutex_lock_killable(&filter->control))
		return -EINTR;
	set = bloom_set_create(filter);
	if (IS_ERR(set)) {
		mutex_unlock(&filter->control);
		return PTR_ERR(set);
	}
	if (bloom_is_window(filter))
		bloom_window_settle(filter);
	old = bloom_set_locked(filter);
	set->epoch = old->epoch + 1;
	bloom_set_publish(filter, set, true);
	if (bloom_is_window(filter))
		bloom_window_start(filter);
	WRITE_ONCE(filter->state, 0);
	WRITE_ONCE(filter->starved, false);
	mutex_unlock(&filter->control);
	bloom_filter_look(filter);
	return 0;
}

/* Forget every key; on failure nothing has changed. */
int bloom_filter_clear(struct bloom_filter *filter)
{
	int err = clear_once(filter);

	if (bloom_frees_help(err))
		err = clear_once(filter);
	return err;
}

/* Sum over the live layers. Any context. */
u64 bloom_filter_keys(struct bloom_filter *filter)
{
	const struct bloom_set *set;
	u32 j, newest;
	u64 keys = 0;

	rcu_read_lock();
	set = rcu_dereference(filter->set);
	newest = bloom_newest(filter, set);
	for (j = 0; j < bloom_live_count(filter, set); j++)
		keys += bloom_layer_keys(bloom_live_layer(set, newest, j));
	rcu_read_unlock();
	return keys;
}

/* Memory of all its layers. Any context. */
u64 bloom_filter_bytes(struct bloom_filter *filter)
{
	const struct bloom_set *set;
	u64 bytes = 0;
	u32 i;

	rcu_read_lock();
	set = rcu_dereference(filter->set);
	for (i = 0; i < set->count; i++)
		bytes += set->layers[i]->geo.bytes;
	rcu_read_unlock();
	return bytes;
}

static void info_params(struct bloom_filter *filter, struct bloom_info *info)
{
	const struct bloom_create *p = &filter->params;

	info->flags = p->flags & ~BLOOM_CREATE_SEED;
	info->id = filter->id;
	info->kind = p->kind;
	info->growth = p->growth;
	info->hash = p->hash;
	info->stripes = filter->stripe_count;
	info->capacity = p->capacity;
	info->fp_rate = p->fp_rate;
	info->base = p->base;
	info->seed[0] = p->seed[0];
	info->seed[1] = p->seed[1];
	info->generations = filter->generations;
	info->age_ns = ktime_get_ns() - filter->born_ns;
	info->uid = from_kuid_munged(current_user_ns(), filter->uid);
}

static void info_stats(struct bloom_filter *filter, struct bloom_info *info)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct bloom_stats *s = per_cpu_ptr(filter->stats, cpu);

		info->adds += READ_ONCE(s->adds);
		info->adds_present += READ_ONCE(s->adds_present);
		info->queries += READ_ONCE(s->queries);
		info->queries_present += READ_ONCE(s->queries_present);
		info->removes += READ_ONCE(s->removes);
	}
}

static void info_layer(const struct bloom_layer *layer,
		       struct bloom_layer_info *row, u64 now, bool window)
{
	*row = (struct bloom_layer_info){
		.slots = layer->geo.slots,
		.bytes = layer->geo.bytes,
		.map_offset = layer->map_offset,
		.capacity = layer->capacity,
		.fp_rate = layer->fp_rate,
		.keys = bloom_layer_keys(layer),
		.slots_set = bloom_layer_slots_set(layer),
		.age_ns = window ? now - layer->born_ns : 0,
		.probes = layer->geo.probes,
	};
}

/*
 * All of @info but its name, owner's group and mode, and the fields that say
 * where the rows go; up to @room @rows.
 */
int bloom_filter_info(struct bloom_filter *filter, struct bloom_info *info,
		      struct bloom_layer_info *rows, u32 room)
{
	bool window = bloom_is_window(filter);
	const struct bloom_layer *layer;
	struct bloom_layer_info row;
	const struct bloom_set *set;
	u64 now;
	u32 i;

	info->state = bloom_filter_look(filter);
	info_params(filter, info);
	info_stats(filter, info);

	if (mutex_lock_killable(&filter->control))
		return -EINTR;
	now = ktime_get_ns();
	set = bloom_set_locked(filter);
	info->layer_count = bloom_live_count(filter, set);
	for (i = 0; i < info->layer_count; i++) {
		layer = window ? bloom_live_layer(set, set->current_layer, i) :
				 set->layers[i];
		info_layer(layer, &row, now, window);
		info->keys += row.keys;
		info->slots_set += row.slots_set;
		if (i < room)
			rows[i] = row;
	}
	for (i = 0; i < set->count; i++)
		info->bytes += set->layers[i]->geo.bytes;
	if (window) {
		info->period_ns = filter->window->period_ns;
		info->next_ns = bloom_window_left(filter);
		info->rotations = filter->window->rotations;
		info->rotations_late = filter->window->late;
	}
	mutex_unlock(&filter->control);
	return 0;
}
