// SPDX-License-Identifier: LGPL-2.1
/*
 * Probing mapped layers with the kernel's own lines.
 */
#include <stddef.h>
#include "probe.h"

void probe_hash(const u8 *keys, u32 len, const u64 seed[2], u64 *at, u32 n)
{
	bloom_hash_jhash_fixed(keys, len, seed, at, n);
}

void probe_fetch_blocked(const struct probe_layer *layer, const u64 *at, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		prefetch(probe_block(layer, at[i]));
}

static u64 test_blocked(const struct probe_layer *layer, const u64 *at, u32 n)
{
	const u32 probes = layer->probes;
	u64 found = 0;
	u32 i;

	for (i = 0; i < n; i++)
		found |= (u64)bloom_block_test(probe_block(layer, at[i]),
					       at[i], probes) << i;
	return found;
}

static bool one_blocked(const struct probe_layer *layer, const u8 *key, u32 len,
			const u64 seed[2])
{
	u64 at = bloom_hash_jhash(key, len, seed);

	return bloom_block_test(probe_block(layer, at), at, layer->probes);
}

static const __le64 *counters_of(const struct probe_layer *layer, u64 at)
{
	return layer->words +
	       bloom_range(at, layer->blocks) * BLOOM_COUNTER_WORDS;
}

static void fetch_counting(const struct probe_layer *layer, const u64 *at,
			   u32 n)
{
	const __le64 *block;
	u32 i, line;

	for (i = 0; i < n; i++) {
		block = counters_of(layer, at[i]);
		for (line = 0; line < BLOOM_COUNTER_BITS; line++)
			prefetch(block + line * BLOOM_BLOCK_WORDS);
	}
}

static u64 test_counting(const struct probe_layer *layer, const u64 *at, u32 n)
{
	u64 found = 0;
	u32 i;

	for (i = 0; i < n; i++)
		found |= (u64)bloom_counters_test(counters_of(layer, at[i]),
						  at[i], layer->probes) << i;
	return found;
}

static const __le64 *classic_word(const struct probe_layer *layer, u64 at, u32 i)
{
	return &layer->words[bloom_classic_slot(at, i, layer->slots) >> 6];
}

static void fetch_classic(const struct probe_layer *layer, const u64 *at, u32 n)
{
	u32 i;

	/* Most absent keys need no more than the first or the second line. */
	for (i = 0; i < n; i++) {
		prefetch(classic_word(layer, at[i], 0));
		prefetch(classic_word(layer, at[i], 1));
	}
}

static u64 test_classic(const struct probe_layer *layer, const u64 *at, u32 n)
{
	u64 found = 0;
	u32 i;

	for (i = 0; i < n; i++)
		found |= (u64)bloom_classic_test(layer->words, layer->slots,
						 at[i], layer->probes) << i;
	return found;
}

static void fetch_bitmap(const struct probe_layer *layer, const u64 *at, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		prefetch(&layer->words[at[i] >> 6]);
}

static u64 test_bitmap(const struct probe_layer *layer, const u64 *at, u32 n)
{
	u64 found = 0;
	u32 i;

	for (i = 0; i < n; i++)
		found |= (bloom_word(&layer->words[at[i] >> 6]) >>
			  (at[i] & 63) & 1) << i;
	return found;
}

const struct probe_ops *probe_select(u32 kind, bool scalar)
{
	static const struct probe_ops ops[] = {
		[BLOOM_KIND_BLOCKED] = {
			probe_hash, probe_fetch_blocked, test_blocked, one_blocked
		},
		[BLOOM_KIND_CLASSIC] = {
			probe_hash, fetch_classic, test_classic, NULL
		},
		[BLOOM_KIND_COUNTING] = {
			probe_hash, fetch_counting, test_counting, NULL
		},
		[BLOOM_KIND_BITMAP] = {
			probe_hash, fetch_bitmap, test_bitmap, NULL
		},
	};
	const struct probe_ops *best = NULL;

	if (kind >= ARRAY_SIZE(ops))
		return NULL;
	if (kind == BLOOM_KIND_BLOCKED && !scalar)
		best = probe_blocked_avx2();
	return best ? best : &ops[kind];
}
