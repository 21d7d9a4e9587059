// SPDX-License-Identifier: LGPL-2.1
/*
 * From options to what CREATE takes. Everything that can be known to be wrong
 * without the kernel is refused here, in words, with the kernel's error number.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "internal.h"
#include "core_geometry.h"

/* 2^64, exactly. */
#define FIXED_ONE	0x1p64

int bloomdev_rate_to_fixed(double rate, uint64_t *fixed)
{
	/* Written so that NaN fails too. */
	if (!(rate > 0.0 && rate < 1.0))
		return bloomdev_fail(EINVAL, "false-positive rate %g is not between 0 and 1",
				     rate);
	/* The largest double below 1 gives 2^64 - 2^11: no overflow. */
	*fixed = (uint64_t)(rate * FIXED_ONE);
	if (!*fixed)
		return bloomdev_fail(EINVAL,
				     "false-positive rate %g is below 2^-64, the smallest there is",
				     rate);
	return 0;
}

double bloomdev_rate_from_fixed(uint64_t fixed)
{
	return (double)fixed / FIXED_ONE;
}

static int check_words(const struct bloomdev_options *o)
{
	if (o->size < sizeof(*o))
		return bloomdev_fail(EINVAL,
				     "options of %zu bytes; this library's have %zu (use BLOOMDEV_OPTIONS_INIT)",
				     o->size, sizeof(*o));
	if (o->flags & ~(BLOOMDEV_SEED | BLOOMDEV_ONCE | BLOOMDEV_BPF))
		return bloomdev_fail(EOPNOTSUPP, "flags %#x: unknown", o->flags);
	if (o->kind > BLOOMDEV_KIND_BITMAP)
		return bloomdev_fail(EOPNOTSUPP, "kind %u: unknown", o->kind);
	if (o->growth > BLOOMDEV_GROWTH_WINDOW)
		return bloomdev_fail(EOPNOTSUPP, "growth %u: unknown", o->growth);
	if (o->hash > BLOOMDEV_HASH_SIPHASH)
		return bloomdev_fail(EOPNOTSUPP, "hash %u: unknown", o->hash);
	if (o->growth != BLOOMDEV_GROWTH_FIXED &&
	    o->kind != BLOOMDEV_KIND_BLOCKED && o->kind != BLOOMDEV_KIND_CLASSIC)
		return bloomdev_fail(EOPNOTSUPP, "a %s filter can't be %s",
				     bloomdev_kind_name(o->kind),
				     bloomdev_growth_name(o->growth));
	return 0;
}

static int check_window(const struct bloomdev_options *o)
{
	if (o->growth != BLOOMDEV_GROWTH_WINDOW) {
		if (o->generations || o->period_ns || o->flags & BLOOMDEV_ONCE)
			return bloomdev_fail(EINVAL,
					     "only a window has generations, a period or 'once'"
				);
		return 0;
	}
	if (o->generations < BLOOM_GENERATIONS_MIN ||
	    o->generations > BLOOM_GENERATIONS_MAX)
		return bloomdev_fail(EINVAL, "%u generations; a window has %d to %d",
				     o->generations, BLOOM_GENERATIONS_MIN,
				     BLOOM_GENERATIONS_MAX);
	if (o->period_ns && o->period_ns < BLOOM_PERIOD_MIN_NS)
		return bloomdev_fail(EINVAL, "a period of %llu ns is shorter than %llu ns",
				     (unsigned long long)o->period_ns,
				     (unsigned long long)BLOOM_PERIOD_MIN_NS);
	if (o->period_ns > BLOOM_PERIOD_MAX_NS)
		return bloomdev_fail(EINVAL, "a period of %llu ns is longer than %llu ns",
				     (unsigned long long)o->period_ns,
				     (unsigned long long)BLOOM_PERIOD_MAX_NS);
	return 0;
}

static int check_bitmap(const struct bloomdev_options *o,
			struct bloom_geometry *geo)
{
	if (!o->slots)
		return bloomdev_fail(EINVAL, "a bitmap needs a number of bits");
	if (o->slots - 1 > UINT64_MAX - o->base)
		return bloomdev_fail(EINVAL, "%llu integers from %llu on go beyond 2^64",
				     (unsigned long long)o->slots,
				     (unsigned long long)o->base);
	if (o->hash || o->flags & BLOOMDEV_SEED)
		return bloomdev_fail(EINVAL, "a bitmap has no hash and no seed");
	if (o->probes > 1)
		return bloomdev_fail(EINVAL, "%u probes; a bitmap has one",
				     o->probes);
	if (bloom_geometry_exact(o->kind, o->slots, 1, geo))
		return bloomdev_fail(EOVERFLOW,
				     "%llu bits are more than %llu, the most there can be",
				     (unsigned long long)o->slots,
				     (unsigned long long)BLOOM_SLOTS_MAX);
	return 0;
}

static int check_slots(const struct bloomdev_options *o,
		       struct bloom_geometry *geo)
{
	if (!o->probes || o->probes > BLOOM_PROBES_MAX)
		return bloomdev_fail(EINVAL, "%u probes; with a number of bits, 1 to %d are needed",
				     o->probes, BLOOM_PROBES_MAX);
	if (bloom_geometry_exact(o->kind, o->slots, o->probes, geo))
		return bloomdev_fail(EOVERFLOW,
				     "%llu bits are more than %llu, the most there can be",
				     (unsigned long long)o->slots,
				     (unsigned long long)BLOOM_SLOTS_MAX);
	return 0;
}

/* Every layer's share has to be a rate that a layer can have, the last one's too. */
static int check_rate(const struct bloomdev_options *o, u64 rate)
{
	u64 least = bloom_geometry_min_rate(o->kind);

	if (o->growth == BLOOMDEV_GROWTH_SCALING)
		least *= BLOOM_LAYERS_MAX * (BLOOM_LAYERS_MAX + 1);
	else if (o->slots)
		return 0;	/* who gives the size is promised nothing */
	else if (o->growth == BLOOMDEV_GROWTH_WINDOW)
		least *= o->generations;
	if (rate < least)
		return bloomdev_fail(EINVAL,
				     "false-positive rate %g is below %g, the smallest of a %s %s filter",
				     o->fp_rate, bloomdev_rate_from_fixed(least),
				     bloomdev_growth_name(o->growth),
				     bloomdev_kind_name(o->kind));
	return 0;
}

/* The first layer, from what is asked of the whole. */
static int check_promise(const struct bloomdev_options *o, u64 rate,
			 struct bloom_geometry *geo)
{
	u64 capacity = o->capacity;
	int ret;

	if (o->probes)
		return bloomdev_fail(EINVAL,
				     "%u probes without a number of bits; they follow from the rate",
				     o->probes);
	if (!capacity)
		return bloomdev_fail(EINVAL, "capacity 0: a filter holds at least one key");

	ret = bloom_geometry_layer(o->growth, o->generations, 0, &capacity,
				   &rate);
	if (!ret)
		ret = bloom_geometry_size(o->kind, capacity, rate, geo);
	if (ret == -EOVERFLOW)
		return bloomdev_fail(EOVERFLOW,
				     "capacity %llu at false-positive rate %g needs more than %llu bits, the most there can be",
				     (unsigned long long)o->capacity, o->fp_rate,
				     (unsigned long long)BLOOM_SLOTS_MAX);
	if (ret)
		return bloomdev_fail_sys(EINVAL, "capacity %llu at false-positive rate %g",
					 (unsigned long long)o->capacity, o->fp_rate);
	return 0;
}

int bloomdev_options_check(const struct bloomdev_options *opts,
			   struct bloom_create *create,
			   struct bloom_geometry *geo)
{
	const struct bloomdev_options *o = opts;
	uint64_t rate = 0;
	int ret;

	ret = check_words(o);
	if (!ret)
		ret = check_window(o);
	if (ret)
		return ret;

	/* 0 stands for "not given", where a size in bits makes that possible. */
	if (o->fp_rate != 0.0 || o->growth != BLOOMDEV_GROWTH_FIXED ||
	    (!o->slots && o->kind != BLOOMDEV_KIND_BITMAP)) {
		ret = bloomdev_rate_to_fixed(o->fp_rate, &rate);
		if (ret)
			return ret;
	}
	if (o->growth != BLOOMDEV_GROWTH_FIXED && !o->capacity)
		return bloomdev_fail(EINVAL, "capacity 0: a filter holds at least one key");
	if (o->base && o->kind != BLOOMDEV_KIND_BITMAP)
		return bloomdev_fail(EINVAL, "base %llu: only a bitmap has one",
				     (unsigned long long)o->base);

	ret = check_rate(o, rate);
	if (ret)
		return ret;
	if (o->kind == BLOOMDEV_KIND_BITMAP)
		ret = check_bitmap(o, geo);
	else if (o->slots)
		ret = check_slots(o, geo);
	else
		ret = check_promise(o, rate, geo);
	if (ret)
		return ret;

	*create = (struct bloom_create) {
		.size = sizeof(*create),
		.flags = o->flags,
		.kind = o->kind,
		.growth = o->growth,
		.hash = o->hash,
		.probes = o->probes,
		.capacity = o->capacity,
		.fp_rate = rate,
		.slots = o->slots,
		.base = o->base,
		.period_ns = o->period_ns,
		.generations = o->generations,
	};
	if (o->flags & BLOOMDEV_SEED)
		memcpy(create->seed, o->seed, sizeof(create->seed));
	return 0;
}
