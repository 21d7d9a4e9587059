// SPDX-License-Identifier: GPL-2.0
/*
 * The two kinds from which keys can be removed, counting filters and bitmaps,
 * against exact models.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define KEYS	2000U

static void counting_model(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_COUNTING, 20 * KEYS, 0.00001));
	size_t step, steps = scaled(100000, 5000);
	u32 count[KEYS] = {};
	u64 random = 1, adds = 0, removes = 0;
	struct bloom_info info;

	(void)state;
	for (step = 0; step < steps; step++) {
		u64 r = next_random(&random);
		u32 key = (r >> 32) % KEYS;

		switch (r % 3) {
		case 0:
			/* Not so often that a counter comes to its end. */
			if (count[key] >= 4)
				break;
			assert_int_equal(add_one(fd, key_of(key)), count[key] > 0);
			count[key]++;
			adds++;
			break;
		case 1:
			assert_int_equal(remove_one(fd, key_of(key)), count[key] > 0);
			removes += count[key] > 0;
			count[key] -= count[key] > 0;
			break;
		case 2:
			assert_int_equal(query_one(fd, key_of(key)), count[key] > 0);
			break;
		}
		if (step % 1000 == 0) {
			assert_ok(get_info(fd, &info));
			assert_count(adds - removes, info.keys);
			assert_count(removes, info.removes);
		}
	}
	/* All out again: not a counter is left. */
	for (step = 0; step < KEYS; step++) {
		while (count[step]) {
			assert_int_equal(remove_one(fd, key_of(step)), BLOOM_PRESENT);
			count[step]--;
		}
	}
	assert_ok(get_info(fd, &info));
	assert_count(0, info.keys);
	assert_count(0, info.slots_set);
	close(fd);
}

static void counting_slots_as_mapped(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_COUNTING, KEYS, 0.01));
	struct bloom_layer_info layer;
	u64 keys[KEYS], set;
	size_t i, round;
	u8 *map;

	(void)state;
	fill_keys(keys, KEYS, 0);
	assert_ok(get_layers(fd, &layer, 1));
	assert_true(layer.bytes >= layer.slots / 2);
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	for (round = 0; round < 20; round++) {
		assert_ok(add_keys(fd, keys, KEYS / (round % 5 + 1)));
		for (i = 0; i < KEYS; i += 3)
			assert_ok(remove_one(fd, keys[i]));
		for (set = 0, i = 0; i < layer.bytes; i++)
			set += !!(map[i] & 15) + !!(map[i] >> 4);
		assert_ok(get_layers(fd, &layer, 1));
		assert_count(layer.slots_set, set);
	}
	munmap(map, layer.bytes);
	close(fd);
}

/* Up to 14 times it counts; from 15 on a key stays. */
static void counters_stick(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_COUNTING, KEYS, 0.00001));
	struct bloom_info info;
	u32 times, i;

	(void)state;
	for (times = 1; times <= 40; times++) {
		for (i = 0; i < times; i++)
			assert_int_equal(add_one(fd, key_of(times)), i > 0);
		for (i = 0; i < times; i++)
			assert_int_equal(remove_one(fd, key_of(times)), BLOOM_PRESENT);
		assert_int_equal(query_one(fd, key_of(times)),
				 times < 15 ? BLOOM_ABSENT : BLOOM_PRESENT);
		if (times < 15)
			assert_int_equal(remove_one(fd, key_of(times)), BLOOM_ABSENT);
		assert_ok(get_info(fd, &info));
		assert_count(0, info.keys);
	}
	/* However often more. */
	for (i = 0; i < 100; i++)
		assert_int_equal(remove_one(fd, key_of(20)), BLOOM_PRESENT);
	assert_ok(clear(fd));
	assert_int_equal(query_one(fd, key_of(20)), BLOOM_ABSENT);
	close(fd);
}

/* What was never there is not taken out, whatever else is. */
static void remove_changes_nothing(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_COUNTING, KEYS, 0.000001));
	u64 keys[KEYS];
	struct bloom_info before, after;
	struct bloom_batch batch;

	(void)state;
	fill_keys(keys, KEYS, 0);
	assert_ok(add_keys(fd, keys, KEYS / 2));
	assert_ok(get_info(fd, &before));
	batch = batch_of(keys + KEYS / 2, KEYS / 2, NULL);
	assert_ok(run_batch(fd, BLOOM_IOC_REMOVE, &batch));
	assert_count(0, batch.present);
	assert_ok(get_info(fd, &after));
	assert_count(before.keys, after.keys);
	assert_count(before.slots_set, after.slots_set);
	assert_count(0, after.removes);
	/* In a batch, the same key twice: once present, then absent. */
	keys[1] = keys[0];
	batch = batch_of(keys, 2, NULL);
	assert_ok(run_batch(fd, BLOOM_IOC_REMOVE, &batch));
	assert_count(1, batch.present);
	close(fd);
}

/**
 * struct range - a bitmap's integers
 */
struct range {
	u64 base, slots;
};

static int make_bitmap(const struct range *range)
{
	struct bloom_create arg = {
		.size = sizeof(arg),
		.kind = BLOOM_KIND_BITMAP,
		.slots = range->slots,
		.base = range->base,
	};

	return assert_ok(create(&arg));
}

/* Random integers in and around the range, one call each or in batches. */
static void bitmap_model(void **state)
{
	static const struct range ranges[] = {
		{ 0, 1 }, { 0, 64 }, { 1, 1 }, { 1000, 5003 }, { 0, 4096 * 8 },
		{ 1ULL << 63, 70000 }, { ~0ULL - 4999, 5000 }, { ~0ULL, 1 },
		{ (1ULL << 32) - 100, 200 },
	};
	size_t r, step, steps = scaled(12000, 1000);
	u64 random = 3;

	(void)state;
	for (r = 0; r < ARRAY_LEN(ranges); r++) {
		const struct range *range = &ranges[r];
		int fd = make_bitmap(range);
		u8 *model = calloc(range->slots, 1);
		struct bloom_layer_info layer;
		struct bloom_info info;
		u64 held = 0, outside = 0, i;
		const u8 *map;

		for (step = 0; step < steps; step++) {
			u64 x = next_random(&random);
			/*
			 * A few below the range, a few above it, all modulo 2^64;
			 * of a large range, every 16th above it.
			 */
			u64 at = step % 16 ? (x >> 8) % (range->slots + 20) - 10 :
					     range->slots + (x >> 8) % 10;
			u64 key = range->base + at;
			bool inside = at < range->slots;
			int want = inside ? model[at] : BLOOM_OUT_OF_RANGE;

			switch (x % 3) {
			case 0:
				assert_int_equal(add_one(fd, key), want);
				if (inside) {
					held += !model[at];
					model[at] = 1;
				}
				break;
			case 1:
				assert_int_equal(remove_one(fd, key), want);
				if (inside) {
					held -= model[at];
					model[at] = 0;
				}
				break;
			case 2:
				assert_int_equal(query_one(fd, key), want);
				break;
			}
			outside += !inside;
		}
		assert_true(outside > 0);
		assert_ok(get_info(fd, &info));
		assert_count(held, info.keys);
		assert_count(held, info.slots_set);
		assert_count(range->base, info.base);
		assert_ok(get_layers(fd, &layer, 1));
		assert_count(range->slots, layer.slots);
		/* Integer base + i is bit i. */
		map = map_read(fd, layer.map_offset, layer.bytes);
		assert_non_null(map);
		for (i = 0; i < range->slots; i++)
			assert_int_equal(map[i / 8] >> (i % 8) & 1, model[i]);
		for (; i < layer.bytes * 8; i++)
			assert_int_equal(map[i / 8] >> (i % 8) & 1, 0);
		munmap((void *)map, layer.bytes);
		free(model);
		close(fd);
	}
}

/* One that is out of range costs the others of its batch nothing. */
static void bitmap_batch(void **state)
{
	enum { N = 3000 };
	const struct range range = { 500, 2000 };
	int fd = make_bitmap(&range);
	u64 keys[N];
	u8 verdicts[N];
	struct bloom_batch batch = batch_of(keys, N, verdicts);
	struct bloom_info info;
	size_t i;

	(void)state;
	for (i = 0; i < N; i++)
		keys[i] = i;
	shuffle(keys, N, 1);
	assert_ok(run_batch(fd, BLOOM_IOC_ADD, &batch));
	assert_count(0, batch.present);
	assert_count(1000, batch.out_of_range);
	assert_ok(run_batch(fd, BLOOM_IOC_QUERY, &batch));
	assert_count(2000, batch.present);
	assert_count(1000, batch.out_of_range);
	for (i = 0; i < N; i++)
		assert_int_equal(verdicts[i], keys[i] >= 500 && keys[i] < 2500 ?
				 BLOOM_PRESENT : BLOOM_OUT_OF_RANGE);
	assert_ok(run_batch(fd, BLOOM_IOC_REMOVE, &batch));
	assert_count(2000, batch.present);
	assert_count(1000, batch.out_of_range);
	assert_ok(get_info(fd, &info));
	assert_count(0, info.keys);
	assert_count(2000, info.removes);
	assert_count(N, info.adds);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counting_model),
		cmocka_unit_test(counting_slots_as_mapped),
		cmocka_unit_test(counters_stick),
		cmocka_unit_test(remove_changes_nothing),
		cmocka_unit_test(bitmap_model),
		cmocka_unit_test(bitmap_batch),
	};

	return run_table("exact", tests, ARRAY_LEN(tests), NULL, NULL);
}
