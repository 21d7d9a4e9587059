// SPDX-License-Identifier: GPL-2.0
/*
 * The hashes: the kernel's own are the reference, golden vectors the memory.
 */
#include <linux/jhash.h>
#include <linux/siphash.h>
#include <linux/slab.h>

#include "bloom_test.h"
#include "golden.h"

#define KEY_ROOM	320

static void golden_hashes_hold(struct kunit *test)
{
	const struct golden_hash *g;
	const u8 *key;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden_hashes); i++) {
		g = &golden_hashes[i];
		key = golden_keys[g->key];
		KUNIT_EXPECT_EQ_MSG(test, g->jhash,
				    bloom_hash_jhash(key, g->len,
						     golden_seeds[g->seed]),
				    "vector %u", i);
		KUNIT_EXPECT_EQ_MSG(test, g->siphash,
				    bloom_hash_siphash(key, g->len,
						       golden_seeds[g->seed]),
				    "vector %u", i);
	}
}

static void siphash_official(struct kunit *test)
{
	u8 message[ARRAY_SIZE(golden_official)];
	u32 len;

	for (len = 0; len < ARRAY_SIZE(golden_official); len++) {
		message[len] = len;
		KUNIT_EXPECT_EQ_MSG(test, golden_official[len],
				    bloom_hash_siphash(message, len,
						       golden_seeds[1]),
				    "length %u", len);
	}
}

static void golden_slots_hold(struct kunit *test)
{
	const struct golden_range *r;
	const struct golden_block *b;
	struct bloom_slices s;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(golden_blocks); i++) {
		b = &golden_blocks[i];
		s = bloom_slices_start(b->hash);
		for (j = 0; j < GOLDEN_BLOCK; j++)
			KUNIT_EXPECT_EQ(test, bloom_slices_next(&s),
					(u32)b->slots[j]);
	}
	for (i = 0; i < ARRAY_SIZE(golden_ranges); i++) {
		r = &golden_ranges[i];
		KUNIT_EXPECT_EQ(test, bloom_range(r->hash, r->size), r->range);
		for (j = 0; j < GOLDEN_CLASSIC; j++)
			KUNIT_EXPECT_EQ(test, r->slots[j],
					bloom_classic_slot(r->hash, j, r->size));
	}
}

static u8 *random_key(struct kunit *test, struct rnd_state *rnd)
{
	u8 *key = kunit_kmalloc(test, KEY_ROOM, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, key);
	prandom_bytes_state(rnd, key, KEY_ROOM);
	return key;
}

static void check_len(struct kunit *test, const u8 *key, u32 len, u64 seed)
{
	const u64 seeds[2] = { seed, bloom_mix64(seed + 1) };
	siphash_key_t sipkey = { { seeds[0], seeds[1] } };
	u64 pair = bloom_jhash_pair(key, len, (u32)seed);

	KUNIT_EXPECT_EQ_MSG(test, (u32)pair, jhash(key, len, (u32)seed),
			    "length %u", len);
	KUNIT_EXPECT_EQ_MSG(test, bloom_hash_siphash(key, len, seeds),
			    siphash(key, len, &sipkey), "length %u", len);
	KUNIT_EXPECT_EQ(test, bloom_hash_jhash(key, len, seeds),
			bloom_mix64(pair ^ seeds[1]));
}

static void equals_kernel_every_length(struct kunit *test)
{
	struct rnd_state rnd;
	u32 len, shift;
	u8 *key;

	prandom_seed_state(&rnd, 1);
	key = random_key(test, &rnd);
	for (len = 0; len <= 64; len++) {
		for (shift = 0; shift < 8; shift++)
			check_len(test, key + shift, len, 0x123456789abcdefULL);
		check_len(test, key, len, 0);
	}
}

static void equals_kernel_random(struct kunit *test)
{
	struct rnd_state rnd;
	u32 i;
	u8 *key;

	prandom_seed_state(&rnd, 2);
	key = random_key(test, &rnd);
	for (i = 0; i < 500; i++) {
		u32 shift = prandom_u32_state(&rnd) % 9;
		u32 len = prandom_u32_state(&rnd) % (KEY_ROOM - 9);

		check_len(test, key + shift, len,
			  bloom_mix64(prandom_u32_state(&rnd)));
	}
}

/* Keys that end where their memory ends: KASAN sees a byte too many. */
static void reads_only_the_key(struct kunit *test)
{
	const u64 seed[2] = { 1, 2 };
	u32 len;
	u8 *key;

	for (len = 1; len <= 64; len++) {
		key = kmalloc(len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, key);
		memset(key, 0xff, len);
		/* The result does not matter, but must be had. */
		OPTIMIZER_HIDE_VAR(key);
		KUNIT_EXPECT_NE(test, bloom_hash_jhash(key, len, seed),
				bloom_hash_siphash(key, len, seed));
		kfree(key);
	}
}

/*
 * Every bit of a key flips every bit of its hash in half of all cases. Of T
 * trials T/2 +- sqrt(T)/2 are expected; of the up to 128 * 64 pairs of bits the
 * worst may be at 5.5 times that. Word b of lookup3 alone, which is biased by
 * 0.28 for keys of up to 12 bytes, would fail by far.
 */
#define TRIALS		256
#define AVALANCHE_MAX	44

static void avalanche(struct kunit *test)
{
	const u64 seed[2] = { 0xfeedface12345678ULL, 0x0123456789abcdefULL };
	u32 len, bit, out, trial;
	struct rnd_state rnd;
	u8 key[16];
	u16 *flips;

	flips = kunit_kmalloc_array(test, 64, sizeof(*flips), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, flips);
	prandom_seed_state(&rnd, 3);
	for (len = 1; len <= sizeof(key); len++) {
		for (bit = 0; bit < 8 * len; bit++) {
			u32 worst = 0;

			memset(flips, 0, 64 * sizeof(*flips));
			for (trial = 0; trial < TRIALS; trial++) {
				u64 a, diff;

				prandom_bytes_state(&rnd, key, len);
				a = bloom_hash_jhash(key, len, seed);
				key[bit / 8] ^= 1 << bit % 8;
				diff = a ^ bloom_hash_jhash(key, len, seed);
				for (; diff; diff &= diff - 1)
					flips[__ffs(diff)]++;
			}
			for (out = 0; out < 64; out++)
				worst = max_t(u32, worst,
					      abs(flips[out] - TRIALS / 2));
			KUNIT_EXPECT_LE_MSG(test, worst, (u32)AVALANCHE_MAX,
					    "length %u, bit %u", len, bit);
		}
	}
}

/* The bits of the seed that count do count: 32 of seed[0], all of seed[1]. */
static void seed_avalanche(struct kunit *test)
{
	const u64 base[2] = { 0xfeedface12345678ULL, 0x0123456789abcdefULL };
	u32 bit, flips;
	u64 key;

	for (bit = 0; bit < 128; bit++) {
		u64 seed[2] = { base[0], base[1] };

		seed[bit / 64] ^= 1ULL << bit % 64;
		flips = 0;
		for (key = 0; key < 32; key++)
			flips += hweight64(bloom_hash_siphash(&key, 8, seed) ^
					   bloom_hash_siphash(&key, 8, base));
		KUNIT_EXPECT_TRUE(test, flips > 850 && flips < 1200);
		if (bit >= 32 && bit < 64)
			continue;
		flips = 0;
		for (key = 0; key < 32; key++)
			flips += hweight64(bloom_hash_jhash(&key, 8, seed) ^
					   bloom_hash_jhash(&key, 8, base));
		KUNIT_EXPECT_TRUE(test, flips > 850 && flips < 1200);
	}
}

/* A key is its bytes and its length: no padding makes two keys one. */
static void length_counts(struct kunit *test)
{
	const u64 seed[2] = { 5, 6 };
	u64 hashes[2][65];
	u8 key[64] = {};
	u32 i, j, hash;

	for (i = 0; i <= 64; i++) {
		hashes[0][i] = bloom_hash_jhash(key, i, seed);
		hashes[1][i] = bloom_hash_siphash(key, i, seed);
	}
	for (hash = 0; hash < 2; hash++)
		for (i = 0; i <= 64; i++)
			for (j = 0; j < i; j++)
				KUNIT_ASSERT_NE(test, hashes[hash][i],
						hashes[hash][j]);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(golden_hashes_hold),
	KUNIT_CASE(siphash_official),
	KUNIT_CASE(golden_slots_hold),
	KUNIT_CASE(equals_kernel_every_length),
	KUNIT_CASE(equals_kernel_random),
	KUNIT_CASE(reads_only_the_key),
	KUNIT_CASE(avalanche),
	KUNIT_CASE(seed_avalanche),
	KUNIT_CASE(length_counts),
	{}
};

BLOOM_SUITE(hash, cases);
