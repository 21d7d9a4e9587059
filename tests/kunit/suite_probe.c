// SPDX-License-Identifier: GPL-2.0
/*
 * From a hash to slots: inside the block, all of them looked at, evenly spread.
 */
#include <linux/slab.h>

#include "bloom_test.h"

/* A block of bits or of counters with one on either side that stays zero. */
struct guarded {
	__le64 before[BLOOM_COUNTER_WORDS];
	__le64 block[BLOOM_COUNTER_WORDS];
	__le64 after[BLOOM_COUNTER_WORDS];
};

static struct guarded *guarded(struct kunit *test)
{
	struct guarded *g = kunit_kzalloc(test, sizeof(*g), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, g);
	return g;
}

static void expect_guards(struct kunit *test, const struct guarded *g)
{
	KUNIT_EXPECT_NULL(test, memchr_inv(g->before, 0, sizeof(g->before)));
	KUNIT_EXPECT_NULL(test, memchr_inv(g->after, 0, sizeof(g->after)));
}

static u32 weight(const __le64 *block)
{
	u32 i, sum = 0;

	for (i = 0; i < BLOOM_BLOCK_WORDS; i++)
		sum += hweight64(le64_to_cpu(block[i]));
	return sum;
}

static void stays_in_block(struct kunit *test)
{
	struct guarded *g = guarded(test);
	u32 i, probes, flipped;
	u64 hash;

	for (probes = 1; probes <= BLOOM_PROBES_MAX; probes++) {
		for (i = 0; i < 50; i++) {
			hash = i < 2 ? -(u64)i : bloom_mix64(i * probes);
			memset(g->block, 0, sizeof(g->block));
			flipped = bloom_block_set(g->block, hash, probes);
			KUNIT_EXPECT_EQ(test, flipped, weight(g->block));
			KUNIT_EXPECT_GE(test, flipped, 1U);
			KUNIT_EXPECT_LE(test, flipped, probes);
			KUNIT_EXPECT_TRUE(test, bloom_block_test(g->block, hash,
								 probes));
			KUNIT_EXPECT_EQ(test, bloom_block_set(g->block, hash,
							      probes), 0U);
			KUNIT_EXPECT_NULL(test,
					  memchr_inv(g->block +
						     BLOOM_BLOCK_WORDS, 0, 192));

			memset(g->block, 0, sizeof(g->block));
			bloom_counters_change(g->block, hash, probes, true);
			KUNIT_EXPECT_TRUE(test,
					  bloom_counters_test(g->block, hash,
							      probes));
		}
	}
	expect_guards(test, g);
}

/* Take any one of a key's slots away: the quick test must notice. */
static void looks_at_every_slot(struct kunit *test)
{
	struct guarded *g = guarded(test);
	struct bloom_slices s;
	u32 i, probes, slot;
	u64 hash, bit;

	for (probes = 1; probes <= BLOOM_PROBES_MAX; probes++) {
		hash = bloom_mix64(probes);
		s = bloom_slices_start(hash);
		for (i = 0; i < probes; i++) {
			slot = bloom_slices_next(&s);
			bit = 1ULL << (slot & 63);
			memset(g->block, 0xff, 64);
			g->block[slot >> 6] &= ~cpu_to_le64(bit);
			KUNIT_EXPECT_FALSE_MSG(test,
					       bloom_block_test(g->block, hash,
								probes),
					       "slot %u of %u", i, probes);

			memset(g->block, 0x11, sizeof(g->block));
			g->block[slot >> 4] &=
				~cpu_to_le64(15ULL << 4 * (slot & 15));
			KUNIT_EXPECT_FALSE(test,
					   bloom_counters_test(g->block, hash,
							       probes));
		}
	}
}

/* A bit's place in memory is the same on every machine. */
static void memory_layout(struct kunit *test)
{
	struct guarded *g = guarded(test);
	const u8 *bytes = (const u8 *)g->block;
	struct bloom_slices s;
	u64 hash;
	u32 slot;

	for (hash = 1; hash < 200; hash++) {
		memset(g->block, 0, sizeof(g->block));
		s = bloom_slices_start(hash);
		slot = bloom_slices_next(&s);
		bloom_block_set(g->block, hash, 1);
		KUNIT_EXPECT_EQ(test, bytes[slot / 8], (u8)(1 << slot % 8));

		memset(g->block, 0, sizeof(g->block));
		bloom_counters_change(g->block, hash, 1, true);
		KUNIT_EXPECT_EQ(test, bytes[slot / 2],
				(u8)(1 << 4 * (slot % 2)));
	}
}

/*
 * Chi-square over 512 cells: 511 expected, with a standard deviation of 32. The
 * window of 6 deviations is wide enough for a good generator, always, and
 * several times too narrow for slices of an unmixed hash.
 */
static void expect_even(struct kunit *test, const u32 *cells, u32 draws,
			const char *what)
{
	u64 sum = 0, chi2;
	u32 i;

	for (i = 0; i < 512; i++)
		sum += (u64)cells[i] * cells[i];
	chi2 = div_u64(sum * 512, draws) - draws;
	KUNIT_EXPECT_TRUE_MSG(test, chi2 > 319 && chi2 < 703,
			      "%s: chi-square %llu", what, chi2);
}

#define EVEN_KEYS	10000

static void spread(struct kunit *test)
{
	u32 *cells, i, round, slice;
	struct bloom_slices *all;
	u64 hash;

	cells = kunit_kmalloc_array(test, 512, sizeof(*cells), GFP_KERNEL);
	all = kunit_kmalloc_array(test, EVEN_KEYS, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cells);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (i = 0; i < EVEN_KEYS; i++)
		all[i] = bloom_slices_start(bloom_mix64(i));
	for (round = 0; round < 3; round++) {
		memset(cells, 0, 512 * sizeof(*cells));
		for (i = 0; i < EVEN_KEYS; i++)
			for (slice = 0; slice < BLOOM_SLICES; slice++)
				cells[bloom_slices_next(&all[i])]++;
		expect_even(test, cells, EVEN_KEYS * BLOOM_SLICES, "slices");
	}

	/* Keys of one block differ in what the block's number left over. */
	memset(cells, 0, 512 * sizeof(*cells));
	for (i = 0; i < EVEN_KEYS; i++) {
		hash = 0xabcdefULL << 40 | bloom_mix64(i) >> 24;
		all[i] = bloom_slices_start(hash);
		cells[bloom_slices_next(&all[i])]++;
	}
	expect_even(test, cells, EVEN_KEYS, "slices in one block");

	memset(cells, 0, 512 * sizeof(*cells));
	for (i = 0; i < EVEN_KEYS; i++) {
		hash = bloom_mix64(i);
		cells[bloom_classic_slot(hash, 0, 512)]++;
		cells[bloom_classic_slot(hash, 1, 512)]++;
		cells[bloom_classic_slot(hash, 40, 512)]++;
	}
	expect_even(test, cells, EVEN_KEYS * 3, "classic");
}

/*
 * What the sizing table assumes: k slots are draws with replacement, of which
 * 512 * (1 - (1 - 1/512)^k) are distinct. Sums over 4096 keys.
 */
static void distinct_slots(struct kunit *test)
{
	static const struct { u32 probes, expect; } rows[] = {
		{ 7, 28505 }, { 13, 52628 }, { 20, 80418 }, { 32, 127180 },
	};
	struct guarded *g = guarded(test);
	u32 i, key, sum;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		sum = 0;
		for (key = 0; key < 4096; key++) {
			memset(g->block, 0, sizeof(g->block));
			sum += bloom_block_set(g->block, bloom_mix64(key),
					       rows[i].probes);
		}
		KUNIT_EXPECT_LT_MSG(test, (u32)abs((int)(sum - rows[i].expect)),
				    rows[i].expect / 400, "%u probes: %u",
				    rows[i].probes, sum);
	}
}

static void range(struct kunit *test)
{
	static const u64 sizes[] = { 1, 2, 3, 64, 1000003, 1ULL << 32,
				     10000000000ULL, BLOOM_SLOTS_MAX };
	u64 n, got;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 above = 0;

		n = sizes[i];
		KUNIT_EXPECT_EQ(test, bloom_range(0, n), 0ULL);
		KUNIT_EXPECT_EQ(test, bloom_range(~0ULL, n), n - 1);
		for (j = 0; j < 1000; j++) {
			got = bloom_range(bloom_mix64(j), n);
			KUNIT_EXPECT_LT(test, got, n);
			KUNIT_EXPECT_LT(test,
					bloom_classic_slot(bloom_mix64(j), j, n),
					n);
			above += got >= n / 2;
		}
		/* 500 expected, deviation 16. */
		if (n >= 64)
			KUNIT_EXPECT_TRUE(test, above > 420 && above < 580);
	}
}

/* Who locks a key's stripe has locked its block. */
static void stripe_owns_block(struct kunit *test)
{
	static const u64 multiples[] = { 1, 3, 12345, 1ULL << 26, 7ULL << 34 };
	u64 blocks, hash;
	u32 i, j, stripes;

	for (stripes = 1; stripes <= 64; stripes *= 2) {
		for (i = 0; i < ARRAY_SIZE(multiples); i++) {
			blocks = multiples[i] * stripes;
			for (j = 0; j < 200; j++) {
				hash = j < 2 ? -(u64)j : bloom_mix64(j);
				KUNIT_EXPECT_EQ(test,
						div64_u64(bloom_range(hash,
								      blocks),
							  multiples[i]),
						(u64)bloom_stripe_of(0, hash,
								     stripes));
			}
		}
	}
	for (j = 0; j < 4096; j++)
		KUNIT_EXPECT_EQ(test,
				bloom_stripe_of(BLOOM_KIND_BITMAP, j, 16),
				j / 512 % 16);
}

static void counters_arithmetic(struct kunit *test)
{
	u32 i, shift, nonzero;
	u64 a, b, sum;

	for (i = 0; i < 1000; i++) {
		a = bloom_mix64(2 * i);
		b = bloom_mix64(2 * i + 1);
		/* Some zeros, too. */
		if (i & 1)
			a &= bloom_mix64(a) & bloom_mix64(b);
		sum = bloom_counters_add(a, b);
		nonzero = 0;
		for (shift = 0; shift < 64; shift += 4) {
			KUNIT_EXPECT_EQ(test, sum >> shift & 15,
					min_t(u64, 15, (a >> shift & 15) +
						       (b >> shift & 15)));
			nonzero += !!(a >> shift & 15);
		}
		KUNIT_EXPECT_EQ(test, bloom_counters_nonzero(a), nonzero);
	}
}

static void counters_in_and_out(struct kunit *test)
{
	struct guarded *g = guarded(test);
	u32 i, up, down, probes = 20;
	u64 hash;

	/* What goes in comes out, also when a key draws a slot twice. */
	for (i = 0; i < 200; i++) {
		hash = bloom_mix64(i);
		up = bloom_counters_change(g->block, hash, probes, true);
		KUNIT_EXPECT_EQ(test, 0U, bloom_counters_change(g->block, hash,
								probes, true));
		KUNIT_EXPECT_EQ(test, 0U, bloom_counters_change(g->block, hash,
								probes, false));
		KUNIT_EXPECT_TRUE(test, bloom_counters_test(g->block, hash,
							    probes));
		down = bloom_counters_change(g->block, hash, probes, false);
		KUNIT_EXPECT_EQ(test, up, down);
		KUNIT_EXPECT_NULL(test, memchr_inv(g->block, 0,
						   sizeof(g->block)));
		/* Nothing goes below zero. */
		KUNIT_EXPECT_EQ(test, 0U, bloom_counters_change(g->block, hash,
								probes, false));
		KUNIT_EXPECT_NULL(test, memchr_inv(g->block, 0,
						   sizeof(g->block)));
	}

	/* 15 stays for ever. */
	for (i = 0; i < 20; i++)
		bloom_counters_change(g->block, 1, 1, true);
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_EQ(test, 0U,
				bloom_counters_change(g->block, 1, 1, false));
	KUNIT_EXPECT_TRUE(test, bloom_counters_test(g->block, 1, 1));
	expect_guards(test, g);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(stays_in_block),
	KUNIT_CASE(looks_at_every_slot),
	KUNIT_CASE(memory_layout),
	KUNIT_CASE(spread),
	KUNIT_CASE(distinct_slots),
	KUNIT_CASE(range),
	KUNIT_CASE(stripe_owns_block),
	KUNIT_CASE(counters_arithmetic),
	KUNIT_CASE(counters_in_and_out),
	{}
};

BLOOM_SUITE(probe, cases);
