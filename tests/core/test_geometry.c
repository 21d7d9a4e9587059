// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sizes: as many slots as the promise needs, hardly more, and an error where
 * there is no such filter. What is needed is computed here once more, from the
 * model and not from the table.
 */
#include <math.h>

#include "check.h"

#define PAGE		BLOOM_BYTES_UNIT
#define THROWS		3500	/* most keys in a block times probes */

static const u32 sized[] = {
	BLOOM_KIND_BLOCKED, BLOOM_KIND_CLASSIC, BLOOM_KIND_COUNTING
};

/* occupied[t][d]: the probability that t throws hit d of 512 slots. */
static double (*occupied)[BLOOM_BLOCK_SLOTS + 1];

static int occupancy(void **state)
{
	double stay;
	u32 t, d;

	(void)state;
	occupied = calloc(THROWS + 1, sizeof(*occupied));
	if (!occupied)
		return -1;
	occupied[0][0] = 1;
	for (t = 0; t < THROWS; t++) {
		for (d = 0; d <= BLOOM_BLOCK_SLOTS; d++) {
			stay = (double)d / BLOOM_BLOCK_SLOTS;
			occupied[t + 1][d] += occupied[t][d] * stay;
			if (d < BLOOM_BLOCK_SLOTS)
				occupied[t + 1][d + 1] += occupied[t][d] *
							  (1 - stay);
		}
	}
	return 0;
}

static int occupancy_free(void **state)
{
	(void)state;
	free(occupied);
	return 0;
}

/* The error of a block at @slots a key; blocks too full to follow are full. */
static double blocked_rate(double slots, u32 probes)
{
	double mean = BLOOM_BLOCK_SLOTS / slots, weight = exp(-mean);
	double rate = 0, left = 1 - weight, all_set;
	u32 i, d;

	for (i = 1; i * probes <= THROWS && left > 1e-17; i++) {
		weight *= mean / i;
		left -= weight;
		all_set = 0;
		for (d = 1; d <= BLOOM_BLOCK_SLOTS; d++) {
			if (occupied[i * probes][d] > 0)
				all_set += occupied[i * probes][d] *
					   pow(d / 512.0, probes);
		}
		rate += weight * all_set;
	}
	return i * probes > THROWS ? rate + fmax(left, 0) : rate;
}

static double classic_rate(double slots, u32 probes)
{
	return pow(-expm1(-(double)probes / slots), probes);
}

static double model_rate(u32 kind, double slots, u32 probes)
{
	return kind == BLOOM_KIND_CLASSIC ? classic_rate(slots, probes) :
					    blocked_rate(slots, probes);
}

static void check_shape(const struct bloom_geometry *geo, u32 kind)
{
	u64 bits = geo->slots * (kind == BLOOM_KIND_COUNTING ? 4 : 1);

	assert_int_equal(geo->kind, kind);
	assert_in_range(geo->probes, 1, BLOOM_PROBES_MAX);
	assert_in_range(geo->slots, 1, BLOOM_SLOTS_MAX);
	assert_int_equal(geo->bytes % PAGE, 0);
	assert_true(geo->bytes >= (bits + 7) / 8);
	assert_true(geo->bytes < (bits + 7) / 8 + PAGE);
}

/*
 * Rates at, just above and inside the steps of the table: the promise holds, to
 * a millionth (which is for the rounding of this computation), and 1 % fewer
 * slots would not do. So many keys that rounding up to whole units is nothing.
 */
static void keeps_its_promise(void **state)
{
	static const double inside[] = { 0, 0.001, 0.3, 0.5, 0.77 };
	const u64 keys = 1ULL << 26;
	struct bloom_geometry geo;
	double bits, rate, slots;
	u32 k, i, step, last;

	(void)state;
	for (k = 0; k < 2; k++) {
		last = (sized[k] == BLOOM_KIND_CLASSIC ? 30 : 36) * 4;
		for (step = 2; step < last; step++) {
			/* The model of blocks is slow. */
			if (k == 0 && step % 3)
				continue;
			for (i = 0; i < ARRAY_SIZE(inside); i++) {
				bits = (step + inside[i]) / 4;
				rate = exp2(-bits);
				assert_int_equal(bloom_geometry_size(sized[k], keys,
								     RATE(rate),
								     &geo), 0);
				check_shape(&geo, sized[k]);
				/* What the hash takes of the rate. */
				rate -= ldexp(keys, -64);
				slots = (double)geo.slots / keys;
				if (model_rate(sized[k], slots, geo.probes) >
				    rate * 1.000001)
					fail_msg("kind %u: 2^-%.4f is not held",
						 sized[k], bits);
				if (step > 4 &&
				    model_rate(sized[k], slots * 0.99,
					       geo.probes) < rate)
					fail_msg("kind %u: 2^-%.4f: too large",
						 sized[k], bits);
			}
		}
	}
}

/*
 * Rates near 1, where what a key needs is no convex function; so many keys that
 * a hundred-thousandth of a slot a key shows.
 */
static void large_rates(void **state)
{
	const u64 keys = 1ULL << 38;
	struct bloom_geometry geo;
	double rate;
	u32 i;

	(void)state;
	for (i = 1; i < 10000; i++) {
		rate = i / 10000.0;
		assert_int_equal(bloom_geometry_size(BLOOM_KIND_CLASSIC, keys,
						     RATE(rate), &geo), 0);
		if (classic_rate((double)geo.slots / keys, geo.probes) > rate)
			fail_msg("%.4f is not held", rate);
	}
}

/* The tails: rates that only few keys can have, by the same model. */
static void smallest_rates(void **state)
{
	struct bloom_geometry geo;
	double slots, bits;
	u64 rate;
	u32 k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sized); k++) {
		rate = bloom_geometry_min_rate(sized[k]);
		bits = 64 - log2(rate);
		assert_true(bits == (sized[k] == BLOOM_KIND_CLASSIC ? 47 : 39));
		assert_int_equal(bloom_geometry_size(sized[k], 1, rate - 1, &geo),
				 -EINVAL);
		assert_int_equal(bloom_geometry_size(sized[k], 1, rate, &geo), 0);
		assert_int_equal(geo.slots, BLOOM_SLOTS_UNIT);
		assert_int_equal(bloom_geometry_size(sized[k], rate / 2, rate,
						     &geo), 0);
		slots = (double)geo.slots / (rate / 2);
		assert_true(model_rate(sized[k], slots, geo.probes) <=
			    ldexp(rate / 2, -64) * 1.000001);
		/* One more, and the hash takes more than half of the rate. */
		assert_int_equal(bloom_geometry_size(sized[k], rate / 2 + 1, rate,
						     &geo), -EOVERFLOW);
	}
	assert_int_equal(bloom_geometry_min_rate(BLOOM_KIND_BITMAP), 0);
}

/* Slots a key that the literature's formulas need at their best k. */
static void grid(void **state)
{
	static const struct {
		double rate, blocked, classic;
	} need[] = {
		{ 1e-1, 4.84, 4.81 }, { 1e-2, 9.92, 9.59 },
		{ 1e-3, 15.55, 14.38 }, { 1e-4, 22.03, 19.17 },
		{ 1e-5, 29.67, 23.96 }, { 1e-6, 38.83, 28.76 },
	};
	static const u64 capacities[] = {
		1, 2, 100, 1000, 10000, 1000000, 100000000, 1ULL << 32,
		10000000000ULL
	};
	struct bloom_geometry geo;
	double bits, want;
	u32 k, i, j;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sized); k++) {
		for (i = 0; i < ARRAY_SIZE(need); i++) {
			for (j = 0; j < ARRAY_SIZE(capacities); j++) {
				assert_int_equal(bloom_geometry_size(sized[k],
								     capacities[j],
								     RATE(need[i].rate),
								     &geo), 0);
				check_shape(&geo, sized[k]);
				assert_int_equal(geo.slots % BLOOM_SLOTS_UNIT, 0);
				bits = capacities[j];
				if (sized[k] == BLOOM_KIND_CLASSIC)
					bits *= need[i].classic;
				else
					bits *= need[i].blocked;
				if (sized[k] == BLOOM_KIND_COUNTING)
					bits *= 4;
				want = bits / 8;
				/* The table above has two decimals. */
				assert_true(geo.bytes >= want * 0.997);
				assert_true(geo.bytes <= want * 1.02 + 4 * PAGE);
				if (sized[k] != BLOOM_KIND_COUNTING)
					assert_true(geo.bytes <=
						    want * 1.02 + PAGE);
			}
		}
	}
}

/* More keys never get fewer slots; a smaller rate at most 0.3 % fewer. */
static void monotonic(void **state)
{
	struct bloom_geometry geo, last;
	u64 keys, rate;
	u32 k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sized); k++) {
		last.slots = 0;
		for (keys = 1; keys < 1ULL << 36; keys += keys / 7 + 1) {
			assert_int_equal(bloom_geometry_size(sized[k], keys,
							     RATE(1e-5), &geo), 0);
			assert_true(geo.slots >= last.slots);
			last = geo;
		}
		last.slots = 0;
		for (rate = ~0ULL; rate > RATE(1e-9); rate -= rate / 1000) {
			assert_int_equal(bloom_geometry_size(sized[k], 1 << 28,
							     rate, &geo), 0);
			assert_true(geo.slots >= last.slots * 0.995);
			assert_true(geo.probes >= last.probes || !last.slots);
			last = geo;
		}
	}
}

static void size_refuses(void **state)
{
	struct bloom_geometry geo;
	u64 rate = RATE(0.01), most, keys;
	u32 k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sized); k++) {
		assert_int_equal(bloom_geometry_size(sized[k], 0, rate, &geo),
				 -EINVAL);
		assert_int_equal(bloom_geometry_size(sized[k], 1, 0, &geo),
				 -EINVAL);
		assert_int_equal(bloom_geometry_size(sized[k], ~0ULL, rate, &geo),
				 -EOVERFLOW);
		assert_int_equal(bloom_geometry_size(sized[k], ~0ULL, ~0ULL, &geo),
				 -EOVERFLOW);
		/* Over the last slot, over 64 bits, over what a hash can do. */
		for (keys = 1ULL << 44; keys; keys <<= 1)
			assert_int_equal(bloom_geometry_size(sized[k], keys, rate,
							     &geo), -EOVERFLOW);
		assert_int_equal(bloom_geometry_size(sized[k], 1, ~0ULL, &geo), 0);

		/* The most keys that fit, found by halving; then one more. */
		most = 0;
		for (keys = 1ULL << 46; keys; keys >>= 1) {
			if (!bloom_geometry_size(sized[k], most + keys, rate, &geo))
				most += keys;
		}
		assert_true(most > BLOOM_SLOTS_MAX / 10);
		assert_int_equal(bloom_geometry_size(sized[k], most, rate, &geo), 0);
		assert_int_equal(geo.slots, BLOOM_SLOTS_MAX);
		check_shape(&geo, sized[k]);
		assert_int_equal(bloom_geometry_size(sized[k], most + 1, rate, &geo),
				 -EOVERFLOW);
	}
	assert_int_equal(bloom_geometry_size(BLOOM_KIND_BITMAP, 1, rate, &geo),
			 -EINVAL);
	assert_int_equal(bloom_geometry_size(4, 1, rate, &geo), -EINVAL);
	assert_int_equal(bloom_geometry_size(~0U, 1, rate, &geo), -EINVAL);
}

static void exact(void **state)
{
	struct bloom_geometry geo;
	u64 slots;
	u32 kind;

	(void)state;
	for (kind = 0; kind <= BLOOM_KIND_BITMAP; kind++) {
		for (slots = 1; slots < 200000; slots += slots / 20 + 1) {
			assert_int_equal(bloom_geometry_exact(kind, slots, 1, &geo),
					 0);
			check_shape(&geo, kind);
			if (kind == BLOOM_KIND_CLASSIC ||
			    kind == BLOOM_KIND_BITMAP) {
				assert_int_equal(geo.slots, slots);
			} else {
				assert_int_equal(geo.slots % BLOOM_SLOTS_UNIT, 0);
				assert_in_range(geo.slots - slots, 0,
						BLOOM_SLOTS_UNIT - 1);
			}
		}
		assert_int_equal(bloom_geometry_exact(kind, BLOOM_SLOTS_MAX, 1,
						      &geo), 0);
		check_shape(&geo, kind);
		assert_int_equal(bloom_geometry_exact(kind, BLOOM_SLOTS_MAX + 1, 1,
						      &geo), -EOVERFLOW);
		assert_int_equal(bloom_geometry_exact(kind, ~0ULL, 1, &geo),
				 -EOVERFLOW);
		assert_int_equal(bloom_geometry_exact(kind, 0, 1, &geo), -EINVAL);
		assert_int_equal(bloom_geometry_exact(kind, 1, 0, &geo), -EINVAL);
		assert_int_equal(bloom_geometry_exact(kind, 1, 65, &geo), -EINVAL);
		assert_int_equal(bloom_geometry_exact(kind, 1, 64, &geo),
				 kind == BLOOM_KIND_BITMAP ? -EINVAL : 0);
	}
	assert_int_equal(bloom_geometry_exact(4, 1, 1, &geo), -EINVAL);
}

static void layers(void **state)
{
	const u64 rate = RATE(1e-6), keys = 1000000;
	u64 n, p, sum = 0;
	u32 i, g;

	(void)state;
	for (i = 0; i < BLOOM_LAYERS_MAX; i++) {
		n = keys;
		p = rate;
		assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_SCALING, 0, i,
						      &n, &p), 0);
		assert_int_equal(n, keys << i);
		assert_int_equal(p, rate / ((u64)(i + 1) * (i + 2)));
		assert_true(p >= bloom_geometry_min_rate(BLOOM_KIND_BLOCKED));
		sum += p;
	}
	assert_true(sum <= rate && sum > rate / 100 * 96);

	n = ~0ULL;
	p = rate;
	assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_SCALING, 0, 0, &n, &p),
			 0);
	assert_int_equal(n, ~0ULL);
	assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_SCALING, 0, 1, &n, &p),
			 -EOVERFLOW);
	n = 1;
	assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_SCALING, 0,
					      BLOOM_LAYERS_MAX, &n, &p), -EINVAL);
	p = 1;
	assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_SCALING, 0, 0, &n, &p),
			 -EINVAL);

	for (g = BLOOM_GENERATIONS_MIN; g <= BLOOM_GENERATIONS_MAX; g++) {
		for (i = 0; i <= g; i++) {
			n = keys;
			p = rate;
			assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_WINDOW,
							      g, i, &n, &p), 0);
			assert_int_equal(n, keys);
			assert_int_equal(p, rate / g);
		}
	}
	assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_WINDOW, 0, 0, &n, &p),
			 -EINVAL);

	n = keys;
	p = rate;
	assert_int_equal(bloom_geometry_layer(BLOOM_GROWTH_FIXED, 0, 0, &n, &p), 0);
	assert_true(n == keys && p == rate);
	assert_int_equal(bloom_geometry_layer(3, 1, 0, &n, &p), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_its_promise, occupancy,
						occupancy_free),
		cmocka_unit_test_setup_teardown(smallest_rates, occupancy,
						occupancy_free),
		cmocka_unit_test(large_rates),
		cmocka_unit_test(grid),
		cmocka_unit_test(monotonic),
		cmocka_unit_test(size_refuses),
		cmocka_unit_test(exact),
		cmocka_unit_test(layers),
	};

	return cmocka_run_group_tests_name("core geometry", tests, NULL, NULL);
}
