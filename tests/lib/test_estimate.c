// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates against arrays that are filled here with the core's own lines, and
 * the error against queries for keys that were never added.
 */
#include "lib.h"
#include "core_geometry.h"
#include "core_probe.h"

#define CAPACITY	200000
#define QUERIES		400000

struct array {
	struct bloom_geometry geo;
	__le64 *words;
	uint64_t set;
	uint64_t lost;
	uint64_t next;
};

static uint64_t hash_of(uint64_t i)
{
	return bloom_mix64(i * 0x9e3779b97f4a7c15ULL + 77);
}

static bool array_test(const struct array *a, uint64_t h)
{
	uint64_t block = bloom_range(h, a->geo.slots / 512);

	switch (a->geo.kind) {
	case BLOOM_KIND_CLASSIC:
		return bloom_classic_test(a->words, a->geo.slots, h,
					  a->geo.probes);
	case BLOOM_KIND_COUNTING:
		return bloom_counters_test(a->words + block * BLOOM_COUNTER_WORDS,
					   h, a->geo.probes);
	default:
		return bloom_block_test(a->words + block * BLOOM_BLOCK_WORDS, h,
					a->geo.probes);
	}
}

static void array_add(struct array *a, uint64_t h)
{
	uint64_t block = bloom_range(h, a->geo.slots / 512);

	switch (a->geo.kind) {
	case BLOOM_KIND_CLASSIC:
		a->set += bloom_classic_set(a->words, a->geo.slots, h,
					    a->geo.probes);
		break;
	case BLOOM_KIND_COUNTING:
		a->set += bloom_counters_change(a->words + block * BLOOM_COUNTER_WORDS,
						h, a->geo.probes, true);
		break;
	default:
		a->set += bloom_block_set(a->words + block * BLOOM_BLOCK_WORDS, h,
					  a->geo.probes);
	}
}

static void array_fill(struct array *a, uint64_t keys)
{
	for (; a->next < keys; a->next++) {
		a->lost += array_test(a, hash_of(a->next));
		array_add(a, hash_of(a->next));
	}
}

static double measured_error(const struct array *a)
{
	uint64_t i, present = 0;

	for (i = 0; i < QUERIES; i++)
		present += array_test(a, hash_of((1ULL << 40) + i));
	return (double)present / QUERIES;
}

static void check(const struct array *a, uint64_t keys)
{
	const struct bloomdev_layer layer = {
		.slots = a->geo.slots,
		.slots_set = a->set,
		.probes = a->geo.probes,
		.capacity = CAPACITY,
		.keys = keys,
	};
	const struct bloomdev_info info = {
		.kind = a->geo.kind,
		.capacity = CAPACITY,
		.layer_count = 1,
		.layers = &layer,
	};
	double distinct = bloomdev_info_distinct(&info, -1);
	double error = bloomdev_info_error(&info, -1);
	double lost = bloomdev_info_lost(&info);
	double measured = measured_error(a);
	/* Four standard deviations of what is counted, and 3 %. */
	double margin = 4 * sqrt(error / QUERIES) + 0.03 * error;

	if (fabs(distinct / keys - 1) > 0.02)
		fail_msg("%s, %lu keys: estimated %.0f", bloomdev_kind_name(a->geo.kind),
			 (unsigned long)keys, distinct);
	if (fabs(measured - error) > margin)
		fail_msg("%s, %lu keys: error %g, measured %g",
			 bloomdev_kind_name(a->geo.kind), (unsigned long)keys,
			 error, measured);
	if (fabs(lost - a->lost) > 4 * sqrt(lost) + 0.03 * lost + 1)
		fail_msg("%s, %lu keys: %g lost, counted %lu",
			 bloomdev_kind_name(a->geo.kind), (unsigned long)keys,
			 lost, (unsigned long)a->lost);
	/* Registers of 80 bits make for a difference. */
	assert_true(fabs(bloomdev_info_distinct(&info, 0) / distinct - 1) < 1e-12);
	assert_true(isnan(bloomdev_info_distinct(&info, 1)));
	assert_true(fabs(bloomdev_info_fill(&info, -1) -
			 (double)a->set / a->geo.slots) < 0.000000001);
}

static void fill_up(uint32_t kind, double rate)
{
	struct array a = {};
	int percent;

	assert_int_equal(bloom_geometry_size(kind, CAPACITY, rate * 0x1p64, &a.geo), 0);
	a.words = calloc(1, a.geo.bytes);
	assert_non_null(a.words);
	for (percent = 10; percent <= 100; percent += 15) {
		array_fill(&a, CAPACITY / 100 * percent);
		check(&a, CAPACITY / 100 * percent);
	}
	/* Past capacity too, where the warning needs it. */
	array_fill(&a, 3 * CAPACITY / 2);
	check(&a, 3 * CAPACITY / 2);
	free(a.words);
}

static void blocked(void **state)
{
	(void)state;
	fill_up(BLOOM_KIND_BLOCKED, 0.1);
	fill_up(BLOOM_KIND_BLOCKED, 0.01);
	fill_up(BLOOM_KIND_BLOCKED, 0.0001);
	fill_up(BLOOM_KIND_BLOCKED, 0.000001);
}

static void classic(void **state)
{
	(void)state;
	fill_up(BLOOM_KIND_CLASSIC, 0.1);
	fill_up(BLOOM_KIND_CLASSIC, 0.001);
}

static void counting(void **state)
{
	(void)state;
	fill_up(BLOOM_KIND_COUNTING, 0.01);
}

static void edges(void **state)
{
	struct bloomdev_layer layer = { .slots = 32768, .probes = 7 };
	struct bloomdev_info info = { .layer_count = 1, .layers = &layer };

	(void)state;
	assert_true(bloomdev_info_distinct(&info, -1) == 0.0);
	assert_true(bloomdev_info_error(&info, -1) == 0.0);
	assert_true(bloomdev_info_lost(&info) == 0.0);
	layer.slots_set = layer.slots;
	assert_true(isinf(bloomdev_info_distinct(&info, -1)));
	assert_true(bloomdev_info_error(&info, -1) == 1.0);
	layer.slots_set--;
	assert_true(bloomdev_info_error(&info, -1) <= 1.0);
	assert_true(bloomdev_info_error(&info, -1) > 0.99);
	info.kind = BLOOMDEV_KIND_BITMAP;
	assert_true(bloomdev_info_distinct(&info, -1) == 32767.0);
	assert_true(bloomdev_info_error(&info, -1) == 0.0);
}

static void time_left(void **state)
{
	struct bloomdev_layer layer = { .slots = 32768, .capacity = 1000, .keys = 100 };
	struct bloomdev_info now = { .capacity = 1000, .layer_count = 1,
				     .layers = &layer, .keys = 100,
				     .age_ns = 2000000000 };
	struct bloomdev_info before = now;

	(void)state;
	/* 100 in 2 s: 900 more in 18 s. */
	assert_true(fabs(bloomdev_info_seconds_left(NULL, &now) - 18) < 0.000000001);
	before.keys = 50;
	before.age_ns = 1900000000;
	/* 50 in 0.1 s. */
	assert_true(fabs(bloomdev_info_seconds_left(&before, &now) - 1.8) < 0.000000001);
	now.keys = 1000;
	assert_true(bloomdev_info_seconds_left(NULL, &now) == 0.0);
	now.keys = 0;
	assert_true(isinf(bloomdev_info_seconds_left(NULL, &now)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked),
		cmocka_unit_test(classic),
		cmocka_unit_test(counting),
		cmocka_unit_test(edges),
		cmocka_unit_test(time_left),
	};

	return cmocka_run_group_tests_name("estimate", tests, NULL, NULL);
}
