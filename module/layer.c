// SPDX-License-Identifier: GPL-2.0
/*
 * One array and its counts.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "account.h"
#include "layer.h"

/*
 * From this size on huge pages are tried: vmalloc_huge() rounds up to 2 MiB,
 * which is much for a small array and nothing for a large one.
 */
#define HUGE_FROM	(16UL << 20)

/* Zeroing yields after so many bytes. */
#define ZERO_STEP	(1UL << 20)

struct workqueue_struct *bloom_wq;
struct workqueue_struct *bloom_zero_wq;
atomic_t bloom_frees_pending = ATOMIC_INIT(0);

static void *array_alloc(u64 bytes)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	void *array = NULL;

	if (bytes > SIZE_MAX)
		return NULL;
	if (bytes >= HUGE_FROM)
		array = vmalloc_huge(bytes, gfp | __GFP_NORETRY);
	if (!array)
		array = __vmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
	return array;
}

static void layer_free(struct work_struct *work)
{
	struct bloom_layer *layer = container_of(to_rcu_work(work),
						 struct bloom_layer, free_work);

	vfree(layer->words);
	bloom_uncharge(layer->payer, layer->charged);
	bloom_payer_put(layer->payer);
	kfree(layer);
	atomic_dec(&bloom_frees_pending);
}

/*
 * Filters are released, then after a grace period freed, which lets go of layers,
 * which after another are freed: three rounds see to all of it.
 */
bool bloom_frees_wait(void)
{
	bool any = atomic_read(&bloom_frees_pending);
	int round;

	for (round = 0; round < 3 && atomic_read(&bloom_frees_pending);
	     round++) {
		flush_workqueue(bloom_wq);
		rcu_barrier();
		flush_workqueue(bloom_wq);
	}
	return any;
}

struct bloom_layer *bloom_layer_create(struct bloom_payer *payer,
				       const struct bloom_geometry *geo,
				       u32 stripes, u64 capacity, u64 fp_rate)
{
	u64 bytes = PAGE_ALIGN(geo->bytes);
	struct mem_cgroup *old;
	struct bloom_layer *layer;
	int err;

	old = bloom_charge_begin(payer);
	layer = kzalloc(struct_size(layer, tally, stripes), BLOOM_GFP);
	if (!layer) {
		err = -ENOMEM;
		goto out;
	}
	layer->charged = bytes >= HUGE_FROM ? ALIGN(bytes, PMD_SIZE) : bytes;
	err = bloom_charge(payer, layer->charged);
	if (err)
		goto free;
	layer->words = array_alloc(bytes);
	if (!layer->words) {
		err = -ENOMEM;
		goto uncharge;
	}
	bloom_charge_end(old);

	layer->geo = *geo;
	layer->geo.bytes = bytes;
	layer->blocks = DIV_ROUND_UP(geo->slots, BLOOM_BLOCK_SLOTS);
	layer->capacity = capacity;
	layer->fp_rate = fp_rate;
	layer->share = capacity ? max_t(u64, capacity / stripes, 1) : U64_MAX;
	layer->stripes = stripes;
	layer->payer = bloom_payer_get(payer);
	refcount_set(&layer->refs, 1);
	INIT_RCU_WORK(&layer->free_work, layer_free);
	return layer;

uncharge:
	bloom_uncharge(payer, layer->charged);
free:
	kfree(layer);
out:
	bloom_charge_end(old);
	return ERR_PTR(err);
}

void bloom_layer_put(struct bloom_layer *layer)
{
	if (!refcount_dec_and_test(&layer->refs))
		return;
	atomic_inc(&bloom_frees_pending);
	queue_rcu_work(bloom_wq, &layer->free_work);
}

static __always_inline __le64 *counters_of(const struct bloom_layer *layer,
					   u64 at)
{
	return layer->words +
	       bloom_range(at, layer->blocks) * BLOOM_COUNTER_WORDS;
}

/* Most absent keys end at the first probe of a classic array or the second. */
#define CLASSIC_FIRST	2U

static __always_inline void prefetch_classic(const struct bloom_layer *layer,
					     u64 at, u32 from, u32 to)
{
	u64 slot;
	u32 i;

	for (i = from; i < to; i++) {
		slot = bloom_classic_slot(at, i, layer->geo.slots);
		prefetch(&layer->words[slot >> 6]);
	}
}

void bloom_layer_prefetch(const struct bloom_layer *layer, const u64 *at, u32 n)
{
	u32 i;

	switch (layer->geo.kind) {
	case BLOOM_KIND_BLOCKED:
		for (i = 0; i < n; i++)
			prefetch(bloom_layer_block(layer, at[i]));
		break;
	case BLOOM_KIND_COUNTING:
		for (i = 0; i < n; i++) {
			__le64 *block = counters_of(layer, at[i]);

			prefetch(block);
			prefetch(block + BLOOM_BLOCK_WORDS);
			prefetch(block + 2 * BLOOM_BLOCK_WORDS);
			prefetch(block + 3 * BLOOM_BLOCK_WORDS);
		}
		break;
	case BLOOM_KIND_CLASSIC:
		for (i = 0; i < n; i++)
			prefetch_classic(layer, at[i], 0, CLASSIC_FIRST);
		break;
	case BLOOM_KIND_BITMAP:
		for (i = 0; i < n; i++) {
			if (at[i] < layer->geo.slots)
				prefetch(&layer->words[at[i] >> 6]);
		}
		break;
	}
}

/* The lowest key of a mask, taken out of it. */
static __always_inline u32 next_key(u64 *mask)
{
	u32 i = __ffs(*mask);

	*mask &= *mask - 1;
	return i;
}

void bloom_layer_prefetch_rest(const struct bloom_layer *layer, const u64 *at,
			       u64 want)
{
	while (layer->geo.kind == BLOOM_KIND_CLASSIC && want)
		prefetch_classic(layer, at[next_key(&want)], CLASSIC_FIRST,
				 layer->geo.probes);
}

/* The first probes of all; then the others of those that are left. */
static u64 test_classic(const struct bloom_layer *layer, const u64 *at, u64 want)
{
	const u32 probes = layer->geo.probes, first = min(probes, CLASSIC_FIRST);
	const u64 slots = layer->geo.slots;
	u64 maybe = 0, present = 0;
	u32 i;

	while (want) {
		i = next_key(&want);
		maybe |= (u64)bloom_classic_test_some(layer->words, slots,
						      at[i], 0, first) << i;
	}
	/* A single key's lines come as fast without. */
	if (maybe & (maybe - 1))
		bloom_layer_prefetch_rest(layer, at, maybe);
	while (maybe) {
		i = next_key(&maybe);
		present |= (u64)bloom_classic_test_some(layer->words, slots,
							at[i], first,
							probes) << i;
	}
	return present;
}

u64 bloom_layer_test(const struct bloom_layer *layer, const u64 *at, u64 want)
{
	const u32 probes = layer->geo.probes;
	const __le64 *block;
	u64 present = 0;
	u32 i;

	switch (layer->geo.kind) {
	case BLOOM_KIND_BLOCKED:
		while (want) {
			i = next_key(&want);
			block = bloom_layer_block(layer, at[i]);
			present |= (u64)bloom_block_test(block, at[i],
							 probes) << i;
		}
		break;
	case BLOOM_KIND_CLASSIC:
		return test_classic(layer, at, want);
	case BLOOM_KIND_COUNTING:
		while (want) {
			i = next_key(&want);
			block = counters_of(layer, at[i]);
			present |= (u64)bloom_counters_test(block, at[i],
							    probes) << i;
		}
		break;
	case BLOOM_KIND_BITMAP:
		while (want) {
			i = next_key(&want);
			present |= (bloom_word(&layer->words[at[i] >> 6]) >>
				    (at[i] & 63) & 1) << i;
		}
		break;
	}
	return present;
}

u32 bloom_layer_add(struct bloom_layer *layer, u64 at)
{
	const u32 probes = layer->geo.probes;
	__le64 *word;

	switch (layer->geo.kind) {
	case BLOOM_KIND_BLOCKED:
		return bloom_block_set(bloom_layer_block(layer, at), at, probes);
	case BLOOM_KIND_CLASSIC:
		return bloom_classic_set(layer->words, layer->geo.slots, at,
					 probes);
	case BLOOM_KIND_COUNTING:
		return bloom_counters_change(counters_of(layer, at), at, probes,
					     true);
	default:
		word = &layer->words[at >> 6];
		WRITE_ONCE(*word, *word | cpu_to_le64(1ULL << (at & 63)));
		return 1;
	}
}

u32 bloom_layer_remove(struct bloom_layer *layer, u64 at)
{
	__le64 *word;

	if (layer->geo.kind == BLOOM_KIND_COUNTING)
		return bloom_counters_change(counters_of(layer, at), at,
					     layer->geo.probes, false);
	word = &layer->words[at >> 6];
	WRITE_ONCE(*word, *word & ~cpu_to_le64(1ULL << (at & 63)));
	return 1;
}

void bloom_layer_zero(struct bloom_layer *layer)
{
	u8 *p = (u8 *)layer->words;
	u64 left = layer->geo.bytes;

	while (left) {
		size_t step = min_t(u64, left, ZERO_STEP);

		/* A mapping may be looking; it finds out by the head's seq. */
		memset(p, 0, step);
		p += step;
		left -= step;
		cond_resched();
	}
	memset(layer->tally, 0, array_size(layer->stripes,
					   sizeof(layer->tally[0])));
}

u64 bloom_layer_keys(const struct bloom_layer *layer)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < layer->stripes; i++)
		sum += READ_ONCE(layer->tally[i].keys);
	return sum;
}

u64 bloom_layer_slots_set(const struct bloom_layer *layer)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < layer->stripes; i++)
		sum += READ_ONCE(layer->tally[i].set);
	return sum;
}

int bloom_layer_init(void)
{
	bloom_wq = alloc_workqueue("bloom", WQ_UNBOUND, 0);
	bloom_zero_wq = alloc_workqueue("bloom_zero", WQ_UNBOUND, 0);
	if (bloom_wq && bloom_zero_wq)
		return 0;
	bloom_layer_exit();
	return -ENOMEM;
}

void bloom_layer_exit(void)
{
	if (bloom_zero_wq)
		destroy_workqueue(bloom_zero_wq);
	if (bloom_wq)
		destroy_workqueue(bloom_wq);
}
