// SPDX-License-Identifier: LGPL-2.1
/*
 * Probing mapped layers with the kernel's own lines. The lines of a burst are
 * asked for in one tight loop before the first is looked at, so that the misses
 * overlap.
 */
#include "probe.h"

static const __le64 *block_of(const struct probe_layer *layer, u64 at, u32 words)
{
	return layer->words + bloom_range(at, layer->blocks) * words;
}

static void burst_blocked(const struct probe_layer *layer, const u64 *at, u32 n,
			  u8 *found)
{
	const __le64 *block[PROBE_BURST];
	u32 i;

	for (i = 0; i < n; i++) {
		block[i] = block_of(layer, at[i], BLOOM_BLOCK_WORDS);
		prefetch(block[i]);
	}
	for (i = 0; i < n; i++)
		found[i] |= bloom_block_test(block[i], at[i], layer->probes);
}

static void burst_counting(const struct probe_layer *layer, const u64 *at, u32 n,
			   u8 *found)
{
	const __le64 *block;
	u32 i, line;

	for (i = 0; i < n; i++) {
		block = block_of(layer, at[i], BLOOM_COUNTER_WORDS);
		for (line = 0; line < BLOOM_COUNTER_BITS; line++)
			prefetch(block + line * BLOOM_BLOCK_WORDS);
	}
	for (i = 0; i < n; i++) {
		block = block_of(layer, at[i], BLOOM_COUNTER_WORDS);
		found[i] |= bloom_counters_test(block, at[i], layer->probes);
	}
}

static const __le64 *classic_word(const struct probe_layer *layer, u64 at, u32 i)
{
	return &layer->words[bloom_classic_slot(at, i, layer->slots) >> 6];
}

static void burst_classic(const struct probe_layer *layer, const u64 *at, u32 n,
			  u8 *found)
{
	u32 i;

	/* Most absent keys need no more than the first or the second line. */
	for (i = 0; i < n; i++) {
		prefetch(classic_word(layer, at[i], 0));
		prefetch(classic_word(layer, at[i], 1));
	}
	for (i = 0; i < n; i++)
		found[i] |= bloom_classic_test(layer->words, layer->slots,
					       at[i], layer->probes);
}

static void burst_bitmap(const struct probe_layer *layer, const u64 *at, u32 n,
			 u8 *found)
{
	u32 i;

	for (i = 0; i < n; i++)
		prefetch(&layer->words[at[i] >> 6]);
	for (i = 0; i < n; i++)
		found[i] |= bloom_word(&layer->words[at[i] >> 6]) >>
			    (at[i] & 63) & 1;
}

probe_burst probe_select(u32 kind)
{
	switch (kind) {
	case BLOOM_KIND_BLOCKED:
		return burst_blocked;
	case BLOOM_KIND_CLASSIC:
		return burst_classic;
	case BLOOM_KIND_COUNTING:
		return burst_counting;
	case BLOOM_KIND_BITMAP:
		return burst_bitmap;
	default:
		return NULL;
	}
}
