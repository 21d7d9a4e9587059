// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sizes. core_table.h has the numbers and core_table.py says where they come
 * from; here they are only looked up, in integers and rounded up throughout, so
 * that a filter is never smaller than its promise needs.
 */
#include "core_geometry.h"
#include "core_table.h"

/* L = -log2(rate) has so many fraction bits, and so have slots a key. */
#define FRACTION_BITS	16
#define STEP_LENGTH	((1U << FRACTION_BITS) / SIZE_STEPS)

struct size_table {
	const struct size_step *steps;
	u32 count;
};

static const struct size_table blocked_table = {
	blocked_steps, ARRAY_SIZE(blocked_steps)
};

static const struct size_table classic_table = {
	classic_steps, ARRAY_SIZE(classic_steps)
};

static const struct size_table *table_of(u32 kind)
{
	switch (kind) {
	case BLOOM_KIND_BLOCKED:
	case BLOOM_KIND_COUNTING:
		return &blocked_table;
	case BLOOM_KIND_CLASSIC:
		return &classic_table;
	default:
		return NULL;
	}
}

/*
 * -log2(rate / 2^64), rounded up to FRACTION_BITS bits: at least 1, since no
 * rate is 1. A bit of the logarithm is had by squaring the mantissa, 1.63 fixed
 * point in [1, 2), and looking whether it passed 2. What squaring truncates
 * makes log2 smaller and L larger, by less than 2^-46.
 */
static u32 minus_log2(u64 rate)
{
	u32 i, log2 = bloom_fls64(rate) - 1;
	u64 mantissa = rate << (63 - log2);

	for (i = 0; i < FRACTION_BITS; i++) {
		mantissa = bloom_mul_high(mantissa, mantissa);
		log2 = log2 << 1 | mantissa >> 63;
		if (!(mantissa >> 63))
			mantissa <<= 1;
	}
	return (64U << FRACTION_BITS) - log2;
}

static u64 round_up_to(u64 x, u64 power_of_two)
{
	return (x + power_of_two - 1) & ~(power_of_two - 1);
}

/* Where the table ends. */
static u64 last_rate(const struct size_table *table)
{
	return 1ULL << (64 - table->count / SIZE_STEPS);
}

/* Half of it may have to go to the hash. */
u64 bloom_geometry_min_rate(u32 kind)
{
	const struct size_table *table = table_of(kind);

	return table ? 2 * last_rate(table) : 0;
}

int bloom_geometry_exact(u32 kind, u64 slots, u32 probes,
			 struct bloom_geometry *geo)
{
	u32 slot_bits = kind == BLOOM_KIND_COUNTING ? 4 : 1;

	if (!slots || !probes || probes > BLOOM_PROBES_MAX)
		return -EINVAL;
	if (kind > BLOOM_KIND_BITMAP)
		return -EINVAL;
	if (kind == BLOOM_KIND_BITMAP && probes != 1)
		return -EINVAL;
	if (slots > BLOOM_SLOTS_MAX)
		return -EOVERFLOW;

	if (kind == BLOOM_KIND_BLOCKED || kind == BLOOM_KIND_COUNTING)
		slots = round_up_to(slots, BLOOM_SLOTS_UNIT);
	geo->slots = slots;
	geo->bytes = round_up_to((slots * slot_bits + 7) / 8, BLOOM_BYTES_UNIT);
	geo->probes = probes;
	geo->kind = kind;
	return 0;
}

int bloom_geometry_size(u32 kind, u64 capacity, u64 fp_rate,
			struct bloom_geometry *geo)
{
	const struct size_table *table = table_of(kind);
	const struct size_step *step;
	u64 per_key, product;
	u32 length, along;

	if (!table || !capacity || fp_rate < bloom_geometry_min_rate(kind))
		return -EINVAL;

	/*
	 * Two keys can have the same 64 bits of hash, and then all their slots
	 * are the same: an error of capacity / 2^64, which in 0.64 is just the
	 * capacity. The slots have what is left of the rate.
	 */
	if (capacity > fp_rate - last_rate(table))
		return -EOVERFLOW;
	length = minus_log2(fp_rate - capacity);

	/* A step is open below and closed above: its last point is @count's. */
	step = &table->steps[(length - 1) / STEP_LENGTH];
	along = (length - 1) % STEP_LENGTH + 1;
	per_key = step->lower +
		  ((u64)(step->upper - step->lower) * along + STEP_LENGTH - 1) /
		  STEP_LENGTH;

	/* A product over 64 bits would be over 2^48 slots. */
	if (check_mul_overflow(capacity, per_key, &product))
		return -EOVERFLOW;
	product = (product >> FRACTION_BITS) + 1;
	if (product > BLOOM_SLOTS_MAX)
		return -EOVERFLOW;
	return bloom_geometry_exact(kind, round_up_to(product, BLOOM_SLOTS_UNIT),
				    step->probes, geo);
}

int bloom_geometry_layer(u32 growth, u32 generations, u32 i, u64 *capacity,
			 u64 *fp_rate)
{
	u64 share = 1;

	switch (growth) {
	case BLOOM_GROWTH_FIXED:
		break;
	case BLOOM_GROWTH_SCALING:
		if (i >= BLOOM_LAYERS_MAX)
			return -EINVAL;
		if (*capacity > (~0ULL >> i))
			return -EOVERFLOW;
		*capacity <<= i;
		share = (u64)(i + 1) * (i + 2);
		break;
	case BLOOM_GROWTH_WINDOW:
		if (!generations)
			return -EINVAL;
		share = generations;
		break;
	default:
		return -EINVAL;
	}

	*fp_rate /= share;
	return *fp_rate ? 0 : -EINVAL;
}
