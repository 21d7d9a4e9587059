// SPDX-License-Identifier: GPL-2.0
/*
 * What filters cost: the design's table, and the sums over layers.
 */
#include "lib.h"

static void bits_per_key(void **state)
{
	static const struct {
		double rate, classic, blocked;
	} rows[] = {
		{ 0.01, 9.59, 9.92 }, { 0.001, 14.38, 15.55 },
		{ 0.0001, 19.17, 22.03 }, { 0.00001, 23.96, 29.67 },
		{ 0.000001, 28.76, 38.83 },
	};
	struct bloomdev_size size;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bloomdev_options opts = options(10000000, rows[i].rate);

		assert_int_equal(bloomdev_size_compute(&opts, &size), 0);
		assert_true(fabs(size.bits_per_key / rows[i].blocked - 1) < 0.02);
		opts.kind = BLOOMDEV_KIND_CLASSIC;
		assert_int_equal(bloomdev_size_compute(&opts, &size), 0);
		assert_true(fabs(size.bits_per_key / rows[i].classic - 1) < 0.02);
	}
}

static void large_ones(void **state)
{
	struct bloomdev_options opts = options(10000000000, 0.001);
	struct bloomdev_size size;

	(void)state;
	assert_int_equal(bloomdev_size_compute(&opts, &size), 0);
	assert_true(size.slots > 10000000000 * 15.5);
	assert_true(size.slots < 10000000000 * 15.7);
	assert_int_equal(size.bytes, size.slots / 8);
}

static void windows(void **state)
{
	struct bloomdev_options opts = options(100000, 0.01);
	struct bloomdev_size one, window;

	(void)state;
	opts.fp_rate = 0.01 / 4;
	assert_int_equal(bloomdev_size_compute(&opts, &one), 0);
	opts.fp_rate = 0.01;
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 4;
	assert_int_equal(bloomdev_size_compute(&opts, &window), 0);
	assert_int_equal(window.layers, 5);
	assert_int_equal(window.slots, one.slots);
	assert_int_equal(window.bytes, 5 * one.bytes);
}

static void grown(void **state)
{
	struct bloomdev_options opts = options(1000000, 0.001);
	struct bloomdev_size start, size;

	(void)state;
	assert_failed(bloomdev_size_grown(&opts, 5, &size), EOPNOTSUPP, "fixed");
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	assert_int_equal(bloomdev_size_compute(&opts, &start), 0);
	assert_int_equal(bloomdev_size_grown(&opts, 1000000, &size), 0);
	assert_int_equal(size.layers, 1);
	assert_int_equal(size.bytes, start.bytes);
	assert_int_equal(bloomdev_size_grown(&opts, 7000000, &size), 0);
	assert_int_equal(size.layers, 3);
	assert_int_equal(bloomdev_size_grown(&opts, 7000001, &size), 0);
	assert_int_equal(size.layers, 4);
	assert_failed(bloomdev_size_grown(&opts, UINT64_MAX, &size), EOVERFLOW,
		      "can't grow to 18446744073709551615");
	opts.capacity = 2;
	assert_failed(bloomdev_size_grown(&opts, UINT64_MAX, &size), EOVERFLOW,
		      "32 layers that it can have hold 8589934590");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_per_key),
		cmocka_unit_test(large_ones),
		cmocka_unit_test(windows),
		cmocka_unit_test(grown),
	};

	return cmocka_run_group_tests_name("size", tests, NULL, NULL);
}
