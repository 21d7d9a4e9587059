// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The hashes: golden vectors, and that no byte beyond the key is read. */
#include "check.h"
#include "golden.h"

static void golden_vectors(void **state)
{
	const struct golden_hash *g;
	const u64 *seed;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(golden_hashes); i++) {
		g = &golden_hashes[i];
		seed = golden_seeds[g->seed];
		assert_int_equal(bloom_hash_jhash(golden_keys[g->key], g->len,
						  seed), g->jhash);
		assert_int_equal(bloom_hash_siphash(golden_keys[g->key], g->len,
						    seed), g->siphash);
	}
}

/* From the end of lookup3.c (driver5). */
static void lookup3_official(void **state)
{
	static const char score[] = "Four score and seven years ago";

	(void)state;
	assert_int_equal(bloom_jhash_pair("", 0, 0), 0xdeadbeefdeadbeefULL);
	assert_int_equal(bloom_jhash_pair(score, 30, 0), 0xce7226e617770551ULL);
	assert_int_equal(bloom_jhash_pair(score, 30, 1), 0x6cbea4b3cd628161ULL);
}

static void siphash_official(void **state)
{
	u8 message[ARRAY_SIZE(golden_official)];
	u32 len;

	(void)state;
	for (len = 0; len < ARRAY_SIZE(golden_official); len++) {
		message[len] = len;
		assert_int_equal(bloom_hash_siphash(message, len,
						    golden_seeds[1]),
				 golden_official[len]);
	}
}

/*
 * The same hash wherever a key lies, and a key that ends where its memory ends:
 * the address sanitizer sees a byte too many, on either side.
 */
static void anywhere_in_memory(void **state)
{
	const struct golden_hash *g;
	const u64 *seed;
	u8 *memory, *key;
	u32 i, shift;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(golden_hashes); i++) {
		g = &golden_hashes[i];
		seed = golden_seeds[g->seed];
		for (shift = 0; shift < 9; shift++) {
			memory = must_alloc(shift + g->len);
			key = memory + shift;
			memcpy(key, golden_keys[g->key], g->len);
			assert_int_equal(bloom_hash_jhash(key, g->len, seed),
					 g->jhash);
			assert_int_equal(bloom_hash_siphash(key, g->len, seed),
					 g->siphash);
			free(memory);
		}
	}
}

/* Two keys side by side: what each has alone. */
static void two_keys(void **state)
{
	const u64 *seed = golden_seeds[1];
	u8 keys[120];
	u64 hash[2];
	u32 i, a, b;

	(void)state;
	for (i = 0; i < sizeof(keys); i++)
		keys[i] = 37 * i;
	for (a = 0; a <= 60; a++) {
		for (b = 0; b <= 60; b++) {
			bloom_hash_jhash_two(keys, a, b, seed, hash);
			assert_int_equal(hash[0], bloom_hash_jhash(keys, a, seed));
			assert_int_equal(hash[1],
					 bloom_hash_jhash(keys + a, b, seed));
		}
	}
}

/* The longest keys, and every length near them; all hashes differ. */
static void long_keys(void **state)
{
	const u64 *seed = golden_seeds[3];
	u64 jhash, siphash, last_jhash = 0, last_siphash = 0;
	u32 len, i;
	u8 *key;

	(void)state;
	for (len = BLOOM_KEY_MAX - 24; len <= BLOOM_KEY_MAX; len++) {
		key = must_alloc(len);
		for (i = 0; i < len; i++)
			key[i] = i * 167;
		jhash = bloom_hash_jhash(key, len, seed);
		siphash = bloom_hash_siphash(key, len, seed);
		assert_int_not_equal(jhash, last_jhash);
		assert_int_not_equal(siphash, last_siphash);
		key[len - 1] ^= 0x80;
		assert_int_not_equal(bloom_hash_jhash(key, len, seed), jhash);
		assert_int_not_equal(bloom_hash_siphash(key, len, seed),
				     siphash);
		last_jhash = jhash;
		last_siphash = siphash;
		free(key);
	}
}

/* Zero bytes at the end of a key count. */
static void length_counts(void **state)
{
	static const u8 zeros[64];
	u64 jhash[65], siphash[65];
	u32 i, j;

	(void)state;
	for (i = 0; i <= 64; i++) {
		jhash[i] = bloom_hash_jhash(zeros, i, golden_seeds[1]);
		siphash[i] = bloom_hash_siphash(zeros, i, golden_seeds[1]);
		for (j = 0; j < i; j++) {
			assert_int_not_equal(jhash[i], jhash[j]);
			assert_int_not_equal(siphash[i], siphash[j]);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_vectors),
		cmocka_unit_test(lookup3_official),
		cmocka_unit_test(siphash_official),
		cmocka_unit_test(anywhere_in_memory),
		cmocka_unit_test(two_keys),
		cmocka_unit_test(long_keys),
		cmocka_unit_test(length_counts),
	};

	return cmocka_run_group_tests_name("core hash", tests, NULL, NULL);
}
