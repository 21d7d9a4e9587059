// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * From a hash to slots. Arrays are allocated to the byte, so that the address
 * sanitizer sees a slot outside.
 */
#include <pthread.h>

#include "check.h"
#include "golden.h"

#define BLOCK_BYTES	(8 * BLOOM_BLOCK_WORDS)
#define COUNTER_BYTES	(8 * BLOOM_COUNTER_WORDS)

static __le64 *filled(size_t bytes, int byte)
{
	__le64 *p = must_alloc(bytes);

	memset(p, byte, bytes);
	return p;
}

static u32 weight(const __le64 *words, u32 count)
{
	u32 sum = 0;

	while (count--)
		sum += bloom_popcount(words[count]);
	return sum;
}

/* Hashes with a pattern first, then random ones. */
static u64 hash_number(u32 i)
{
	static const u64 edges[] = { 0, ~0ULL, 1, 1ULL << 63, BLOOM_GOLDEN };

	return i < ARRAY_SIZE(edges) ? edges[i] : bloom_mix64(i);
}

static void golden_slots(void **state)
{
	const struct golden_range *r;
	struct bloom_slices s;
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(golden_blocks); i++) {
		s = bloom_slices_start(golden_blocks[i].hash);
		for (j = 0; j < GOLDEN_BLOCK; j++)
			assert_int_equal(bloom_slices_next(&s),
					 golden_blocks[i].slots[j]);
	}
	for (i = 0; i < ARRAY_SIZE(golden_ranges); i++) {
		r = &golden_ranges[i];
		assert_int_equal(bloom_range(r->hash, r->size), r->range);
		for (j = 0; j < GOLDEN_CLASSIC; j++)
			assert_int_equal(bloom_classic_slot(r->hash, j, r->size),
					 r->slots[j]);
	}
}

/* What is set is exactly the slots of the slices, and in the block. */
static void block_set(void **state)
{
	__le64 *block = must_alloc(BLOCK_BYTES);
	__le64 *want = must_alloc(BLOCK_BYTES);
	struct bloom_slices s;
	u32 i, j, probes, slot;
	u64 hash;

	(void)state;
	for (probes = 1; probes <= BLOOM_PROBES_MAX; probes++) {
		for (i = 0; i < 100; i++) {
			hash = hash_number(i);
			memset(want, 0, BLOCK_BYTES);
			s = bloom_slices_start(hash);
			for (j = 0; j < probes; j++) {
				slot = bloom_slices_next(&s);
				assert_in_range(slot, 0, BLOOM_BLOCK_SLOTS - 1);
				want[slot >> 6] |= cpu_to_le64(1ULL << (slot & 63));
			}
			memset(block, 0, BLOCK_BYTES);
			assert_int_equal(bloom_block_set(block, hash, probes),
					 weight(want, BLOOM_BLOCK_WORDS));
			assert_memory_equal(block, want, BLOCK_BYTES);
			assert_true(bloom_block_test(block, hash, probes));
			assert_int_equal(bloom_block_set(block, hash, probes), 0);
		}
	}
	free(block);
	free(want);
}

/* Take any one slot of a key away: every test must notice. */
static void every_slot_counts(void **state)
{
	__le64 *bits = filled(BLOCK_BYTES, 0xff);
	__le64 *counters = filled(COUNTER_BYTES, 0x11);
	__le64 *all = filled(1000, 0xff);
	struct bloom_slices s;
	u32 i, probes;
	u64 hash, slot;
	__le64 bit;

	(void)state;
	for (probes = 1; probes <= BLOOM_PROBES_MAX; probes++) {
		hash = bloom_mix64(probes);
		assert_true(bloom_block_test(bits, hash, probes));
		assert_true(bloom_counters_test(counters, hash, probes));
		assert_true(bloom_classic_test(all, 8000, hash, probes));
		s = bloom_slices_start(hash);
		for (i = 0; i < probes; i++) {
			slot = bloom_slices_next(&s);
			bit = cpu_to_le64(1ULL << (slot & 63));
			bits[slot >> 6] ^= bit;
			assert_false(bloom_block_test(bits, hash, probes));
			bits[slot >> 6] ^= bit;

			bit = cpu_to_le64(1ULL << 4 * (slot & 15));
			counters[slot >> 4] ^= bit;
			assert_false(bloom_counters_test(counters, hash, probes));
			counters[slot >> 4] ^= bit;

			slot = bloom_classic_slot(hash, i, 8000);
			bit = cpu_to_le64(1ULL << (slot & 63));
			all[slot >> 6] ^= bit;
			assert_false(bloom_classic_test(all, 8000, hash, probes));
			all[slot >> 6] ^= bit;
		}
	}
	free(bits);
	free(counters);
	free(all);
}

/* Bit i is bit i % 8 of byte i / 8, counter i half i % 2 of byte i / 2. */
static void memory_layout(void **state)
{
	__le64 *words = must_alloc(COUNTER_BYTES);
	const u8 *bytes = (const u8 *)words;
	struct bloom_slices s;
	u64 hash, slot;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++) {
		hash = hash_number(i);
		s = bloom_slices_start(hash);
		slot = bloom_slices_next(&s);

		memset(words, 0, COUNTER_BYTES);
		bloom_block_set(words, hash, 1);
		assert_int_equal(bytes[slot / 8], 1 << slot % 8);

		memset(words, 0, COUNTER_BYTES);
		bloom_counters_change(words, hash, 1, true);
		assert_int_equal(bytes[slot / 2], 1 << 4 * (slot % 2));

		memset(words, 0, COUNTER_BYTES);
		bloom_classic_set(words, 2000, hash, 1);
		slot = bloom_classic_slot(hash, 0, 2000);
		assert_int_equal(bytes[slot / 8], 1 << slot % 8);
	}
	free(words);
}

/* The first and the last of any number of slots can be had; none beyond. */
static void range_ends(void **state)
{
	static const u64 sizes[] = {
		1, 2, 63, 64, 65, 512, 32768, 1000003, 1ULL << 32,
		(1ULL << 33) + 7, BLOOM_SLOTS_MAX
	};
	u64 n, reach;
	u32 i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		n = sizes[i];
		assert_int_equal(bloom_range(0, n), 0);
		assert_int_equal(bloom_range(~0ULL, n), n - 1);
		/* The lowest hash that gives slot 1, and the one before it. */
		reach = n > 1 ? ~0ULL / n + 1 : 0;
		if (n > 1) {
			assert_int_equal(bloom_range(reach, n), 1);
			assert_int_equal(bloom_range(reach - 1, n), 0);
		}
		for (j = 0; j < 1000; j++)
			assert_true(bloom_classic_slot(hash_number(j), j % 64,
						       n) < n);
	}
}

/* Small classic arrays: every slot is reached, and none beside them. */
static void classic_bounds(void **state)
{
	u64 slots, i, flipped;
	size_t bytes;
	__le64 *words;

	(void)state;
	for (slots = 1; slots <= 130; slots++) {
		bytes = (slots + 63) / 64 * 8;
		words = filled(bytes, 0);
		flipped = 0;
		for (i = 0; i < 3000; i++) {
			flipped += bloom_classic_set(words, slots,
						     hash_number(i), 3);
			assert_true(bloom_classic_test(words, slots,
						       hash_number(i), 3));
		}
		assert_int_equal(flipped, slots);
		assert_int_equal(weight(words, bytes / 8), slots);
		free(words);
	}
}

#define RACE_WORDS	4096
#define RACE_KEYS	20000

static __le64 *race_words;

static void *race(void *flipped)
{
	u64 i;

	for (i = 0; i < RACE_KEYS; i++)
		*(u64 *)flipped += bloom_classic_set(race_words, RACE_WORDS * 64,
						     bloom_mix64(i + 1), 7);
	return NULL;
}

/* Of two who set the same bits, one and only one has flipped each. */
static void classic_flips_once(void **state)
{
	u64 flipped[2] = {};
	pthread_t other;

	(void)state;
	race_words = filled(RACE_WORDS * 8, 0);
	assert_int_equal(pthread_create(&other, NULL, race, &flipped[1]), 0);
	race(&flipped[0]);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(flipped[0] + flipped[1],
			 weight(race_words, RACE_WORDS));
	free(race_words);
}

/* Whatever came in goes out again, in any order, and leaves nothing. */
static void counters_inverse(void **state)
{
	__le64 *block = filled(COUNTER_BYTES, 0);
	u32 probes, i, up, down, nonzero;

	(void)state;
	for (probes = 1; probes <= BLOOM_PROBES_MAX; probes++) {
		up = 0;
		down = 0;
		/* So few keys that no counter comes near its maximum. */
		for (i = 0; i < 5; i++)
			up += bloom_counters_change(block, hash_number(i + 2),
						    probes, true);
		nonzero = 0;
		for (i = 0; i < BLOOM_COUNTER_WORDS; i++)
			nonzero += bloom_counters_nonzero(bloom_word(&block[i]));
		assert_int_equal(nonzero, up);
		for (i = 0; i < 5; i++) {
			assert_true(bloom_counters_test(block,
							hash_number(i + 2),
							probes));
			down += bloom_counters_change(block, hash_number(i + 2),
						      probes, false);
		}
		assert_int_equal(down, up);
		assert_int_equal(weight(block, BLOOM_COUNTER_WORDS), 0);
	}
	free(block);
}

/* Up to 15 and no further; and never down from there. */
static void counters_stick(void **state)
{
	__le64 *block = filled(COUNTER_BYTES, 0);
	u64 hash = bloom_mix64(42);
	struct bloom_slices s = bloom_slices_start(hash);
	u32 slot = bloom_slices_next(&s), i;

	(void)state;
	for (i = 1; i <= 40; i++) {
		assert_int_equal(bloom_counters_change(block, hash, 1, true),
				 i == 1);
		assert_int_equal(bloom_counter(block, slot), i < 15 ? i : 15);
		assert_int_equal(weight(block, BLOOM_COUNTER_WORDS),
				 bloom_popcount(i < 15 ? i : 15));
	}
	for (i = 0; i < 40; i++) {
		assert_int_equal(bloom_counters_change(block, hash, 1, false), 0);
		assert_int_equal(bloom_counter(block, slot), 15);
	}

	/* From 14 it goes down as it came. */
	memset(block, 0, COUNTER_BYTES);
	for (i = 0; i < 14; i++)
		bloom_counters_change(block, hash, 1, true);
	for (i = 14; i > 0; i--)
		assert_int_equal(bloom_counters_change(block, hash, 1, false),
				 i == 1);
	assert_int_equal(weight(block, BLOOM_COUNTER_WORDS), 0);
	free(block);
}

/* Nothing goes below zero, nor borrows from its neighbour. */
static void counters_no_underflow(void **state)
{
	__le64 *block = filled(COUNTER_BYTES, 0);
	u64 hash;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++) {
		hash = hash_number(i);
		assert_int_equal(bloom_counters_change(block, hash, 64, false), 0);
		assert_int_equal(weight(block, BLOOM_COUNTER_WORDS), 0);
	}
	free(block);
}

/* A slot that a key draws twice counts once, up and down. */
static void counters_draw_twice(void **state)
{
	__le64 *block = filled(COUNTER_BYTES, 0);
	u32 i, slot, up;
	u64 hash;

	(void)state;
	for (i = 2; i < 300; i++) {
		hash = hash_number(i);
		up = bloom_counters_change(block, hash, 64, true);
		assert_int_equal(weight(block, BLOOM_COUNTER_WORDS), up);
		for (slot = 0; slot < BLOOM_BLOCK_SLOTS; slot++)
			assert_true(bloom_counter(block, slot) <= 1);
		assert_int_equal(bloom_counters_change(block, hash, 64, false), up);
		assert_int_equal(weight(block, BLOOM_COUNTER_WORDS), 0);
	}
	free(block);
}

/* Sums and counts of whole words, against one counter at a time. */
static void counter_words(void **state)
{
	u32 i, shift, nonzero, x, y;
	u64 a, b, want;

	(void)state;
	for (i = 0; i < 10000; i++) {
		a = hash_number(2 * i);
		b = hash_number(2 * i + 1);
		if (i % 3)
			a &= hash_number(i + 77) & hash_number(i + 99);
		want = 0;
		nonzero = 0;
		for (shift = 0; shift < 64; shift += 4) {
			x = a >> shift & 15;
			y = b >> shift & 15;
			want |= (u64)(x + y > 15 ? 15 : x + y) << shift;
			nonzero += x != 0;
		}
		assert_int_equal(bloom_counters_add(a, b), want);
		assert_int_equal(bloom_counters_nonzero(a), nonzero);
	}
	assert_int_equal(bloom_counters_nonzero(0), 0);
	assert_int_equal(bloom_counters_nonzero(~0ULL), 16);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_slots),
		cmocka_unit_test(block_set),
		cmocka_unit_test(every_slot_counts),
		cmocka_unit_test(memory_layout),
		cmocka_unit_test(range_ends),
		cmocka_unit_test(classic_bounds),
		cmocka_unit_test(classic_flips_once),
		cmocka_unit_test(counters_inverse),
		cmocka_unit_test(counters_stick),
		cmocka_unit_test(counters_no_underflow),
		cmocka_unit_test(counters_draw_twice),
		cmocka_unit_test(counter_words),
	};

	return cmocka_run_group_tests_name("core probe", tests, NULL, NULL);
}
