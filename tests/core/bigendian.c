// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The golden vectors without a test library, for a machine that has none: one
 * where words are big-endian. TAP.
 */
#include <stdio.h>

#include "core_geometry.h"
#include "core_hash.h"
#include "core_probe.h"
#include "golden.h"

static u32 number, failures;

static void report(u32 failed, const char *what)
{
	printf("%sok %u - %s: %u wrong\n", failed ? "not " : "", ++number, what,
	       failed);
	failures += failed;
}

static void hashes(void)
{
	const struct golden_hash *g;
	u32 i, jhash = 0, siphash = 0;

	for (i = 0; i < ARRAY_SIZE(golden_hashes); i++) {
		g = &golden_hashes[i];
		jhash += bloom_hash_jhash(golden_keys[g->key], g->len,
					  golden_seeds[g->seed]) != g->jhash;
		siphash += bloom_hash_siphash(golden_keys[g->key], g->len,
					      golden_seeds[g->seed]) != g->siphash;
	}
	report(jhash, "jhash");
	report(siphash, "SipHash");
}

static void slot_numbers(void)
{
	const struct golden_range *r;
	struct bloom_slices s;
	u32 i, j, failed = 0;

	for (i = 0; i < ARRAY_SIZE(golden_blocks); i++) {
		s = bloom_slices_start(golden_blocks[i].hash);
		for (j = 0; j < GOLDEN_BLOCK; j++)
			failed += bloom_slices_next(&s) !=
				  golden_blocks[i].slots[j];
	}
	report(failed, "slots in a block");

	failed = 0;
	for (i = 0; i < ARRAY_SIZE(golden_ranges); i++) {
		r = &golden_ranges[i];
		for (j = 0; j < GOLDEN_CLASSIC; j++)
			failed += bloom_classic_slot(r->hash, j, r->size) !=
				  r->slots[j];
	}
	report(failed, "classic slots");
}

/* Where they are in memory. */
static void layout(void)
{
	__le64 bits[BLOOM_BLOCK_WORDS], counters[BLOOM_COUNTER_WORDS], all[32];
	u32 i, slot, failed = 0;
	u64 far;

	for (i = 0; i < ARRAY_SIZE(golden_blocks); i++) {
		memset(bits, 0, sizeof(bits));
		memset(counters, 0, sizeof(counters));
		memset(all, 0, sizeof(all));
		slot = golden_blocks[i].slots[0];
		bloom_block_set(bits, golden_blocks[i].hash, 1);
		failed += ((u8 *)bits)[slot / 8] != 1 << slot % 8;
		failed += !bloom_block_test(bits, golden_blocks[i].hash, 1);
		bloom_counters_change(counters, golden_blocks[i].hash, 1, true);
		failed += ((u8 *)counters)[slot / 2] != 1 << 4 * (slot % 2);
		far = bloom_classic_slot(golden_blocks[i].hash, 0, 2000);
		failed += bloom_classic_set(all, 2000, golden_blocks[i].hash, 1) != 1;
		failed += ((u8 *)all)[far / 8] != 1 << far % 8;
	}
	report(failed, "bytes in memory");
}

int main(void)
{
	const u16 one = 1;
	struct bloom_geometry geo;

	printf("1..6\n# this machine is %s-endian\n",
	       *(const u8 *)&one ? "little" : "big");
	hashes();
	slot_numbers();
	layout();
	/* 2^64 / 1000 */
	report(bloom_geometry_size(BLOOM_KIND_BLOCKED, 1000000,
				   18446744073709551ULL, &geo) ||
	       geo.slots != 15564800 || geo.probes != 9, "geometry");
	return failures != 0;
}
