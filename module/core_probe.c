// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Counters: too large to be worth inlining.
 */
#include "core_probe.h"

#define COUNTER_LOW	0x1111111111111111ULL

u32 bloom_counters_change(__le64 *block, u64 hash, u32 probes, bool up)
{
	struct bloom_slices s = bloom_slices_start(hash);
	u64 seen[BLOOM_BLOCK_WORDS] = {};
	u32 slot, old, shift, changed = 0;
	u64 word;

	while (probes--) {
		slot = bloom_slices_next(&s);
		if (seen[slot >> 6] >> (slot & 63) & 1)
			continue;
		seen[slot >> 6] |= 1ULL << (slot & 63);

		shift = 4 * (slot & 15);
		word = bloom_word(&block[slot >> 4]);
		old = word >> shift & BLOOM_COUNTER_MAX;
		if (old == BLOOM_COUNTER_MAX || (!up && !old))
			continue;
		word = up ? word + (1ULL << shift) : word - (1ULL << shift);
		WRITE_ONCE(block[slot >> 4], cpu_to_le64(word));
		changed += old == !up;
	}
	return changed;
}

u64 bloom_counters_add(u64 a, u64 b)
{
	u64 sum = 0, one;
	u32 shift;

	for (shift = 0; shift < 64; shift += BLOOM_COUNTER_BITS) {
		one = (a >> shift & BLOOM_COUNTER_MAX) +
		      (b >> shift & BLOOM_COUNTER_MAX);
		if (one > BLOOM_COUNTER_MAX)
			one = BLOOM_COUNTER_MAX;
		sum |= one << shift;
	}
	return sum;
}

u32 bloom_counters_nonzero(u64 word)
{
	word |= word >> 2;
	word |= word >> 1;
	return bloom_popcount(word & COUNTER_LOW);
}
