// SPDX-License-Identifier: GPL-2.0
/*
 * One array: its first slot and its last, what is set and what is said to be.
 * KASAN sees whatever lies beside the array.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "../../module/account.h"
#include "bloom_test.h"

#define STRIPES		16
#define KEYS		300

/* The inverse of bloom_mix64(). */
static u64 unmix64(u64 x)
{
	x ^= x >> 33;
	x *= 0x9cb4b2f8129337dbULL;
	x ^= x >> 33;
	x *= 0x4f74430c22a54005ULL;
	x ^= x >> 33;
	return x;
}

/* A hash whose first slot in a classic array is the first, or the last. */
static u64 classic_edge(bool last)
{
	return unmix64(last ? ~0ULL : 0) - BLOOM_GOLDEN;
}

static struct bloom_layer *make(struct kunit *test, u32 kind, u64 slots,
				u32 probes)
{
	struct bloom_payer *payer = bloom_payer_create();
	struct bloom_geometry geo;
	struct bloom_layer *layer;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, payer);
	KUNIT_EXPECT_EQ(test, 0, bloom_geometry_exact(kind, slots, probes,
						      &geo));
	layer = bloom_layer_create(payer, &geo, STRIPES, 0, 0);
	bloom_payer_put(payer);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, layer);
	KUNIT_EXPECT_EQ(test, bloom_test_popcount(layer), 0ULL);
	return layer;
}

static bool has(const struct bloom_layer *layer, u64 at)
{
	return bloom_layer_test(layer, &at, 1);
}

static bool bit(const struct bloom_layer *layer, u64 slot)
{
	return ((const u8 *)layer->words)[slot / 8] >> slot % 8 & 1;
}

static void bitmap_edges(struct kunit *test)
{
	static const u64 sizes[] = { 1, 8, 63, 64, 65, 512, 513, 32767, 32768,
				     32769, 1000000 };
	struct bloom_layer *layer;
	u64 slots, at[3];
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		slots = sizes[i];
		layer = make(test, BLOOM_KIND_BITMAP, slots, 1);
		at[0] = 0;
		at[1] = slots / 2;
		at[2] = slots - 1;
		for (j = 0; j < 3; j++) {
			if (has(layer, at[j]))
				continue;	/* a small one's are the same */
			KUNIT_EXPECT_FALSE(test, bit(layer, at[j]));
			KUNIT_EXPECT_EQ(test, bloom_layer_add(layer, at[j]), 1U);
			KUNIT_EXPECT_TRUE(test, bit(layer, at[j]));
			KUNIT_EXPECT_TRUE(test, has(layer, at[j]));
		}
		KUNIT_EXPECT_EQ(test, bloom_test_popcount(layer),
				min_t(u64, slots, 3));
		bloom_layer_prefetch(layer, at, 3);
		KUNIT_EXPECT_EQ(test, bloom_layer_remove(layer, slots - 1), 1U);
		KUNIT_EXPECT_FALSE(test, has(layer, slots - 1));
		bloom_layer_put(layer);
	}
}

static void classic_edges(struct kunit *test)
{
	static const u64 sizes[] = { 1, 63, 64, 65, 12345, 32768, 1000003 };
	struct bloom_layer *layer;
	u32 i, last;
	u64 at, slot;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		layer = make(test, BLOOM_KIND_CLASSIC, sizes[i], 1);
		for (last = 0; last < 2; last++) {
			at = classic_edge(last);
			slot = last ? sizes[i] - 1 : 0;
			KUNIT_EXPECT_EQ(test, has(layer, at),
					last && !slot);
			KUNIT_EXPECT_EQ(test, bloom_layer_add(layer, at),
					!last || slot ? 1U : 0U);
			KUNIT_EXPECT_TRUE(test, has(layer, at));
			KUNIT_EXPECT_TRUE(test, bit(layer, slot));
			KUNIT_EXPECT_EQ(test, bloom_layer_add(layer, at), 0U);
			bloom_layer_prefetch(layer, &at, 1);
		}
		KUNIT_EXPECT_EQ(test, bloom_test_popcount(layer),
				min_t(u64, sizes[i], 2));
		bloom_layer_put(layer);
	}
}

/* The lowest hash and the highest: the first block and the last. */
static void block_edges(struct kunit *test)
{
	static const u32 kinds[] = { BLOOM_KIND_BLOCKED, BLOOM_KIND_COUNTING };
	struct bloom_layer *layer;
	u64 at[2] = { 0, ~0ULL };
	u32 i, j, block_bytes;
	const u8 *bytes;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		block_bytes = kinds[i] == BLOOM_KIND_COUNTING ? 256 : 64;
		layer = make(test, kinds[i], 3 * BLOOM_SLOTS_UNIT, 9);
		bytes = (const u8 *)layer->words;
		KUNIT_EXPECT_EQ(test, layer->geo.bytes,
				layer->blocks * block_bytes);
		bloom_layer_prefetch(layer, at, 2);
		for (j = 0; j < 2; j++) {
			KUNIT_EXPECT_FALSE(test, has(layer, at[j]));
			KUNIT_EXPECT_GT(test, bloom_layer_add(layer, at[j]), 0U);
			KUNIT_EXPECT_TRUE(test, has(layer, at[j]));
		}
		KUNIT_EXPECT_NOT_NULL(test, memchr_inv(bytes, 0, block_bytes));
		KUNIT_EXPECT_NULL(test,
				  memchr_inv(bytes + block_bytes, 0,
					     layer->geo.bytes -
					     2 * block_bytes));
		KUNIT_EXPECT_NOT_NULL(test,
				      memchr_inv(bytes + layer->geo.bytes -
						 block_bytes, 0, block_bytes));
		bloom_layer_put(layer);
	}
}

static void counters_stick(struct kunit *test)
{
	struct bloom_layer *layer = make(test, BLOOM_KIND_COUNTING, 1, 5);
	u64 at = bloom_mix64(1), set;
	u32 i;

	for (i = 0; i < BLOOM_COUNTER_MAX - 1; i++)
		bloom_layer_add(layer, at);
	set = bloom_test_popcount(layer);
	for (i = 0; i < BLOOM_COUNTER_MAX - 1; i++) {
		KUNIT_EXPECT_TRUE(test, has(layer, at));
		bloom_layer_remove(layer, at);
	}
	KUNIT_EXPECT_FALSE(test, has(layer, at));
	KUNIT_EXPECT_EQ(test, bloom_test_popcount(layer), 0ULL);

	for (i = 0; i < BLOOM_COUNTER_MAX; i++)
		bloom_layer_add(layer, at);
	for (i = 0; i < 2 * BLOOM_COUNTER_MAX; i++)
		KUNIT_EXPECT_EQ(test, bloom_layer_remove(layer, at), 0U);
	KUNIT_EXPECT_TRUE(test, has(layer, at));
	KUNIT_EXPECT_EQ(test, bloom_test_popcount(layer), set);
	bloom_layer_put(layer);
}

static void what_is_said_is_set(struct kunit *test)
{
	u32 kind, i;
	u64 said, at;

	for (kind = BLOOM_KIND_BLOCKED; kind <= BLOOM_KIND_BITMAP; kind++) {
		bool bitmap = kind == BLOOM_KIND_BITMAP;
		struct bloom_layer *layer = make(test, kind, 20000,
						 bitmap ? 1 : 11);

		said = 0;
		for (i = 0; i < KEYS; i++) {
			at = bitmap ? 7 * i : bloom_mix64(i);
			if (!has(layer, at))
				said += bloom_layer_add(layer, at);
		}
		KUNIT_EXPECT_EQ(test, said, bloom_test_popcount(layer));
		for (i = 0; i < KEYS; i++)
			KUNIT_EXPECT_TRUE(test,
					  has(layer, bitmap ? 7 * i :
							      bloom_mix64(i)));
		bloom_layer_put(layer);
	}
}

/* Only the keys that are asked for are answered. */
static void mask(struct kunit *test)
{
	u64 at[BLOOM_GROUP], want, added;
	u32 kind, i;

	for (kind = BLOOM_KIND_BLOCKED; kind <= BLOOM_KIND_BITMAP; kind++) {
		bool bitmap = kind == BLOOM_KIND_BITMAP;
		struct bloom_layer *layer = make(test, kind, 1 << 20,
						 bitmap ? 1 : 30);

		added = bloom_mix64(kind);
		for (i = 0; i < BLOOM_GROUP; i++) {
			at[i] = bitmap ? 999 * i : bloom_mix64(1000 + i);
			if (added >> i & 1)
				bloom_layer_add(layer, at[i]);
		}
		KUNIT_EXPECT_EQ(test, bloom_layer_test(layer, at, ~0ULL), added);
		KUNIT_EXPECT_EQ(test, bloom_layer_test(layer, at, 0), 0ULL);
		for (i = 0; i < 100; i++) {
			want = bloom_mix64(i);
			KUNIT_EXPECT_EQ(test, bloom_layer_test(layer, at, want),
					added & want);
		}
		bloom_layer_put(layer);
	}
}

static void zero(struct kunit *test)
{
	/* Three steps of zeroing, the last one short. */
	struct bloom_layer *layer = make(test, BLOOM_KIND_BLOCKED,
					 (2 << 23) + 1, 4);
	u32 i;

	for (i = 0; i < KEYS; i++)
		bloom_layer_add(layer, bloom_mix64(i));
	bloom_layer_add(layer, 0);
	bloom_layer_add(layer, ~0ULL);
	for (i = 0; i < STRIPES; i++)
		layer->tally[i] = (struct bloom_tally){ i + 1, 10 };
	KUNIT_EXPECT_EQ(test, bloom_layer_keys(layer), 136ULL);
	KUNIT_EXPECT_EQ(test, bloom_layer_slots_set(layer), 160ULL);
	bloom_layer_zero(layer);
	KUNIT_EXPECT_NULL(test, memchr_inv(layer->words, 0, layer->geo.bytes));
	KUNIT_EXPECT_EQ(test, bloom_layer_keys(layer), 0ULL);
	KUNIT_EXPECT_EQ(test, bloom_layer_slots_set(layer), 0ULL);
	bloom_layer_put(layer);
}

static void shape(struct kunit *test)
{
	struct bloom_payer *payer = bloom_payer_create();
	struct bloom_geometry geo;
	struct bloom_layer *layer;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, payer);
	bloom_geometry_exact(BLOOM_KIND_CLASSIC, 1000, 3, &geo);
	layer = bloom_layer_create(payer, &geo, STRIPES, 100, 5);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, layer);
	KUNIT_EXPECT_EQ(test, layer->blocks, 2ULL);
	KUNIT_EXPECT_EQ(test, layer->geo.bytes, (u64)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, layer->capacity, 100ULL);
	KUNIT_EXPECT_EQ(test, layer->fp_rate, 5ULL);
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), (u64)PAGE_SIZE);
	/* Stripes together never take more than the capacity. */
	KUNIT_EXPECT_EQ(test, layer->share, 6ULL);

	/* A mapping holds it after the filter let go. */
	bloom_layer_get(layer);
	bloom_layer_put(layer);
	bloom_payer_put(payer);
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), (u64)PAGE_SIZE);
	bloom_layer_add(layer, 1);
	bloom_layer_put(layer);
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 0ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(bitmap_edges),
	KUNIT_CASE(classic_edges),
	KUNIT_CASE(block_edges),
	KUNIT_CASE(counters_stick),
	KUNIT_CASE(what_is_said_is_set),
	KUNIT_CASE(mask),
	KUNIT_CASE(zero),
	KUNIT_CASE(shape),
	{}
};

BLOOM_SUITE(layer, cases);
