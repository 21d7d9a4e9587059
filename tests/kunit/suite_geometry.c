// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes: what the design says a key costs, never less than a promise needs, and
 * an error where there is no such filter. Whether the promise then holds is for
 * the rate suite and, for small rates, the host tests of the core.
 */
#include <linux/slab.h>

#include "bloom_test.h"

/* Thousandths of a slot a key, from the formulas by an independent program. */
struct cost {
	u64 inverse_rate;
	u32 blocked;
	u32 classic;
};

static const struct cost costs[] = {
	{ 10, 4838, 4811 },
	{ 100, 9919, 9594 },
	{ 1000, 15546, 14378 },
	{ 10000, 22070, 19174 },
	{ 100000, 29672, 23974 },
	{ 1000000, 38827, 28776 },
};

static const u32 kinds[] = {
	BLOOM_KIND_BLOCKED, BLOOM_KIND_CLASSIC, BLOOM_KIND_COUNTING
};

static void cost_desc(const struct cost *cost, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "one in %llu",
		 cost->inverse_rate);
}

KUNIT_ARRAY_PARAM(cost, costs, cost_desc);

static void expect_sound(struct kunit *test, const struct bloom_geometry *geo,
			 u32 kind)
{
	u64 bits = geo->slots * (kind == BLOOM_KIND_COUNTING ? 4 : 1);

	KUNIT_EXPECT_EQ(test, geo->kind, kind);
	KUNIT_EXPECT_GE(test, geo->probes, 1U);
	KUNIT_EXPECT_LE(test, geo->probes, (u32)BLOOM_PROBES_MAX);
	KUNIT_EXPECT_LE(test, geo->slots, BLOOM_SLOTS_MAX);
	KUNIT_EXPECT_GE(test, geo->bytes, bits / 8 + !!(bits % 8));
	KUNIT_EXPECT_LT(test, geo->bytes, bits / 8 + 1 + BLOOM_BYTES_UNIT);
	KUNIT_EXPECT_EQ(test, geo->bytes % BLOOM_BYTES_UNIT, 0ULL);
	if (kind == BLOOM_KIND_BLOCKED || kind == BLOOM_KIND_COUNTING)
		KUNIT_EXPECT_EQ(test, geo->slots % BLOOM_SLOTS_UNIT, 0ULL);
}

static void grid(struct kunit *test)
{
	const struct cost *cost = test->param_value;
	u64 rate = BLOOM_ONE_IN(cost->inverse_rate), n, ideal;
	struct bloom_geometry geo;
	u32 i, milli;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		milli = kinds[i] == BLOOM_KIND_CLASSIC ? cost->classic :
							 cost->blocked;
		for (n = 1; n <= 100000000; n *= 10) {
			KUNIT_ASSERT_EQ(test, 0, bloom_geometry_size(kinds[i], n,
								     rate,
								     &geo));
			expect_sound(test, &geo, kinds[i]);
			ideal = div_u64(n * milli, 1000);
			KUNIT_EXPECT_GE(test, geo.slots, ideal - ideal / 2000);
			/* 2 % and a page. */
			KUNIT_EXPECT_LE(test, geo.slots,
					ideal + ideal / 50 + BLOOM_SLOTS_UNIT);
		}
	}
}

/* More keys or a smaller error never get a smaller filter. */
static void monotonous(struct kunit *test)
{
	const struct cost *cost = test->param_value;
	u64 rate = BLOOM_ONE_IN(cost->inverse_rate), n, last;
	struct bloom_geometry geo;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		last = 0;
		for (n = 1; n < 1ULL << 40; n += n / 7 + 1) {
			if (bloom_geometry_size(kinds[i], n, rate, &geo))
				break;
			KUNIT_EXPECT_GE(test, geo.slots, last);
			last = geo.slots;
		}
		KUNIT_EXPECT_GT(test, n, 100000000ULL);

		last = 0;
		for (j = 0; j < 200; j++) {
			KUNIT_ASSERT_EQ(test, 0,
					bloom_geometry_size(kinds[i], 1000000,
							    rate - rate / 300 * j,
							    &geo));
			/* Another number of probes may save up to 0.3 %. */
			KUNIT_EXPECT_GE(test,
					geo.slots + last / 300 + BLOOM_SLOTS_UNIT,
					last);
			last = geo.slots;
		}
	}
}

static void large(struct kunit *test)
{
	static const u64 capacities[] = { 1ULL << 32, 10000000000ULL };
	struct bloom_geometry geo;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (j = 0; j < ARRAY_SIZE(capacities); j++) {
			u64 n = capacities[j];

			KUNIT_ASSERT_EQ(test, 0,
					bloom_geometry_size(kinds[i], n,
							    BLOOM_ONE_IN(100),
							    &geo));
			expect_sound(test, &geo, kinds[i]);
			KUNIT_EXPECT_GT(test, geo.slots, n * 9);
			KUNIT_EXPECT_LT(test, geo.slots, n * 10);
		}
		KUNIT_ASSERT_EQ(test, 0, bloom_geometry_size(kinds[i], 1, ~0ULL,
							     &geo));
		expect_sound(test, &geo, kinds[i]);
	}
}

/* Too large is an error, at every size above as well: nothing wraps. */
static void overflow(struct kunit *test)
{
	const struct cost *cost = test->param_value;
	u64 rate = BLOOM_ONE_IN(cost->inverse_rate), n;
	struct bloom_geometry geo;
	u32 i, shift;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool over = false;

		for (shift = 0; shift < 64; shift++) {
			int err;

			n = (1ULL << shift) + (shift & 1 ? 12345 : 0);
			err = bloom_geometry_size(kinds[i], n, rate, &geo);
			if (over || err) {
				KUNIT_EXPECT_EQ(test, err, -EOVERFLOW);
				over = true;
			} else {
				KUNIT_EXPECT_GT(test, geo.slots, n * 4);
			}
		}
		KUNIT_EXPECT_TRUE(test, over);
		KUNIT_EXPECT_EQ(test, -EOVERFLOW,
				bloom_geometry_size(kinds[i], ~0ULL, rate,
						    &geo));
		KUNIT_EXPECT_EQ(test, -EOVERFLOW,
				bloom_geometry_size(kinds[i], ~0ULL, ~0ULL,
						    &geo));
	}
}

static void refused_sizes(struct kunit *test)
{
	struct bloom_geometry geo;
	u64 min;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		min = bloom_geometry_min_rate(kinds[i]);
		KUNIT_EXPECT_EQ(test, 0, bloom_geometry_size(kinds[i], 1, min,
							     &geo));
		expect_sound(test, &geo, kinds[i]);
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_geometry_size(kinds[i], 1, min - 1, &geo));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_geometry_size(kinds[i], 1, 0, &geo));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_geometry_size(kinds[i], 0,
						    BLOOM_ONE_IN(10), &geo));
		/* More keys than 64 bits tell apart at that rate. */
		KUNIT_EXPECT_EQ(test, -EOVERFLOW,
				bloom_geometry_size(kinds[i], min, min, &geo));
	}
	KUNIT_EXPECT_EQ(test, bloom_geometry_min_rate(BLOOM_KIND_BLOCKED),
			1ULL << (64 - 39));
	KUNIT_EXPECT_EQ(test, bloom_geometry_min_rate(BLOOM_KIND_CLASSIC),
			1ULL << (64 - 47));
	KUNIT_EXPECT_EQ(test, bloom_geometry_min_rate(BLOOM_KIND_BITMAP), 0ULL);
	KUNIT_EXPECT_EQ(test, bloom_geometry_min_rate(7), 0ULL);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			bloom_geometry_size(BLOOM_KIND_BITMAP, 1, ~0ULL, &geo));
	KUNIT_EXPECT_EQ(test, -EINVAL, bloom_geometry_size(7, 1, ~0ULL, &geo));
}

static void exact(struct kunit *test)
{
	static const u64 slots[] = {
		1, 63, 64, 65, 511, 512, 513, 32767, 32768, 32769, 5000000000ULL,
		BLOOM_SLOTS_MAX - 1, BLOOM_SLOTS_MAX
	};
	struct bloom_geometry geo;
	u32 i, kind, probes;

	for (kind = BLOOM_KIND_BLOCKED; kind <= BLOOM_KIND_BITMAP; kind++) {
		bool bitmap = kind == BLOOM_KIND_BITMAP;

		probes = bitmap ? 1 : BLOOM_PROBES_MAX;
		for (i = 0; i < ARRAY_SIZE(slots); i++) {
			KUNIT_ASSERT_EQ(test, 0,
					bloom_geometry_exact(kind, slots[i],
							     probes, &geo));
			expect_sound(test, &geo, kind);
			KUNIT_EXPECT_EQ(test, geo.probes, probes);
			if (bitmap || kind == BLOOM_KIND_CLASSIC)
				KUNIT_EXPECT_EQ(test, geo.slots, slots[i]);
			else
				KUNIT_EXPECT_EQ(test, geo.slots,
						ALIGN(slots[i],
						      BLOOM_SLOTS_UNIT));
		}
		KUNIT_EXPECT_EQ(test, -EOVERFLOW,
				bloom_geometry_exact(kind, BLOOM_SLOTS_MAX + 1,
						     probes, &geo));
		KUNIT_EXPECT_EQ(test, -EOVERFLOW,
				bloom_geometry_exact(kind, ~0ULL, probes, &geo));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_geometry_exact(kind, 0, probes, &geo));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_geometry_exact(kind, 512, 0, &geo));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_geometry_exact(kind, 512, 65, &geo));
	}
	KUNIT_EXPECT_EQ(test, -EINVAL,
			bloom_geometry_exact(BLOOM_KIND_BITMAP, 512, 2, &geo));
	KUNIT_EXPECT_EQ(test, -EINVAL, bloom_geometry_exact(4, 512, 1, &geo));
}

/* What the layers are allowed to err together is what was asked for. */
static void shares(struct kunit *test)
{
	const struct cost *cost = test->param_value;
	u64 asked = BLOOM_ONE_IN(cost->inverse_rate), sum = 0, capacity, rate;
	u32 i;

	for (i = 0; i < BLOOM_LAYERS_MAX; i++) {
		capacity = 1000;
		rate = asked;
		KUNIT_ASSERT_EQ(test, 0,
				bloom_geometry_layer(BLOOM_GROWTH_SCALING, 0, i,
						     &capacity, &rate));
		KUNIT_EXPECT_EQ(test, capacity, 1000ULL << i);
		sum += rate;
		KUNIT_EXPECT_LE(test, sum, asked);
	}
	/* 1 - 1/33 of it is used, so nothing much is wasted. */
	KUNIT_EXPECT_GT(test, sum, asked - asked / 32);

	for (i = BLOOM_GENERATIONS_MIN; i <= BLOOM_GENERATIONS_MAX; i++) {
		capacity = 1000;
		rate = asked;
		KUNIT_ASSERT_EQ(test, 0,
				bloom_geometry_layer(BLOOM_GROWTH_WINDOW, i, 0,
						     &capacity, &rate));
		KUNIT_EXPECT_EQ(test, capacity, 1000ULL);
		KUNIT_EXPECT_LE(test, rate * i, asked);
		KUNIT_EXPECT_GT(test, rate * i, asked - i);
	}

	capacity = 1000;
	rate = asked;
	KUNIT_ASSERT_EQ(test, 0, bloom_geometry_layer(BLOOM_GROWTH_FIXED, 0, 0,
						      &capacity, &rate));
	KUNIT_EXPECT_EQ(test, capacity, 1000ULL);
	KUNIT_EXPECT_EQ(test, rate, asked);
}

static void refused_layers(struct kunit *test)
{
	static const struct {
		u32 growth, generations, i;
		u64 capacity, rate;
		int err;
	} rows[] = {
		{ BLOOM_GROWTH_SCALING, 0, 32, 1, ~0ULL, -EINVAL },
		{ BLOOM_GROWTH_SCALING, 0, 31, 1ULL << 32, ~0ULL, 0 },
		{ BLOOM_GROWTH_SCALING, 0, 31, 1ULL << 33, ~0ULL, -EOVERFLOW },
		{ BLOOM_GROWTH_SCALING, 0, 1, 1ULL << 63, ~0ULL, -EOVERFLOW },
		{ BLOOM_GROWTH_SCALING, 0, 0, 1, 1, -EINVAL },
		{ BLOOM_GROWTH_WINDOW, 0, 0, 1, ~0ULL, -EINVAL },
		{ BLOOM_GROWTH_WINDOW, 2, 0, 1, 1, -EINVAL },
		{ 3, 2, 0, 1, ~0ULL, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 capacity = rows[i].capacity, rate = rows[i].rate;

		KUNIT_EXPECT_EQ_MSG(test, rows[i].err,
				    bloom_geometry_layer(rows[i].growth,
							 rows[i].generations,
							 rows[i].i, &capacity,
							 &rate),
				    "row %u", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(grid, cost_gen_params),
	KUNIT_CASE_PARAM(monotonous, cost_gen_params),
	KUNIT_CASE_PARAM(overflow, cost_gen_params),
	KUNIT_CASE_PARAM(shares, cost_gen_params),
	KUNIT_CASE(large),
	KUNIT_CASE(refused_sizes),
	KUNIT_CASE(exact),
	KUNIT_CASE(refused_layers),
	{}
};

BLOOM_SUITE(geometry, cases);
