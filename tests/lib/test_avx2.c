// SPDX-License-Identifier: GPL-2.0
/*
 * What the library does eight keys at a time gives the answers of the kernel's
 * own lines, bit for bit: for every length, number of probes and size of group.
 */
#include "lib.h"
#include "probe.h"

#define KEYS	PROBE_GROUP
#define LENGTHS	300
#define BLOCKS	37

static const struct probe_ops *fast, *scalar;
static const u64 seed[2] = { 0x0123456789abcdef, 0xfedcba9876543210 };

static void fill(void *to, size_t bytes, u64 start)
{
	u8 *p = to;
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = bloom_mix64(start + i) >> 56;
}

static void need_avx2(void)
{
	fast = probe_select(BLOOM_KIND_BLOCKED, false);
	scalar = probe_select(BLOOM_KIND_BLOCKED, true);
	if (fast == scalar) {
		print_message("no AVX2 here\n");
		skip();
	}
}

/* The keys end where their memory ends, so that a byte too many is noticed. */
static void hashes(void **state)
{
	u64 a[KEYS], b[KEYS];
	u32 len, n;
	u8 *keys;

	(void)state;
	need_avx2();
	for (len = 0; len < LENGTHS; len++) {
		for (n = 1; n <= KEYS; n += len < 20 ? 1 : 7) {
			keys = malloc(len * n + !len);
			fill(keys, len * n, len * 1000 + n);
			fast->hash(keys, len, seed, a, n);
			scalar->hash(keys, len, seed, b, n);
			assert_memory_equal(a, b, n * sizeof(*a));
			free(keys);
		}
	}
}

static void answers(void **state)
{
	__le64 *words = calloc(BLOCKS, BLOOM_BLOCK_SLOTS / 8);
	struct probe_layer layer = {
		.words = words,
		.slots = BLOCKS * BLOOM_BLOCK_SLOTS,
		.blocks = BLOCKS,
	};
	u64 at[KEYS], found, present = 0;
	u32 i, round;

	(void)state;
	need_avx2();
	for (layer.probes = 1; layer.probes <= BLOOM_PROBES_MAX; layer.probes++) {
		memset(words, 0, BLOCKS * BLOOM_BLOCK_SLOTS / 8);
		for (round = 0; round < 50; round++) {
			fill(at, sizeof(at), round * 1000 + layer.probes);
			/* Every other one is added; and all but one of its slots. */
			for (i = 0; i < KEYS; i += 2)
				bloom_block_set((__le64 *)probe_block(&layer, at[i]),
						at[i], layer.probes);
			for (i = 1; i < KEYS; i += 4)
				bloom_block_set((__le64 *)probe_block(&layer, at[i]),
						at[i], layer.probes - 1);
			found = scalar->test(&layer, at, KEYS);
			assert_int_equal(found & 0x5555555555555555, 0x5555555555555555);
			assert_int_equal(fast->test(&layer, at, KEYS), found);
			i = round + 1;
			assert_int_equal(fast->test(&layer, at, i),
					 found & ((1ULL << i) - 1));
			present += bloom_popcount(found & 0xaaaaaaaaaaaaaaaa);
		}
	}
	/* Absent keys were among them, and false positives. */
	assert_true(present > 1000 && present < 64 * 50 * 31);
	free(words);
}

static void single(void **state)
{
	__le64 *words = calloc(BLOCKS, BLOOM_BLOCK_SLOTS / 8);
	struct probe_layer layer = {
		.words = words,
		.slots = BLOCKS * BLOOM_BLOCK_SLOTS,
		.blocks = BLOCKS,
		.probes = 9,
	};
	u8 key[LENGTHS];
	u32 len;
	u64 at;

	(void)state;
	need_avx2();
	fill(words, BLOCKS * BLOOM_BLOCK_SLOTS / 8, 42);
	for (len = 0; len < LENGTHS; len++) {
		fill(key, len, len);
		if (len % 3 == 0) {
			scalar->hash(key, len, seed, &at, 1);
			bloom_block_set((__le64 *)probe_block(&layer, at), at,
					layer.probes);
			assert_true(fast->one(&layer, key, len, seed));
		}
		assert_int_equal(fast->one(&layer, key, len, seed),
				 scalar->one(&layer, key, len, seed));
	}
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes),
		cmocka_unit_test(answers),
		cmocka_unit_test(single),
	};

	return cmocka_run_group_tests_name("avx2", tests, NULL, NULL);
}
