// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Does a filter that is full to its capacity keep its promise? TAP, a line for
 * every kind, rate p and number of keys n: with the keys in it, none of them is
 * missed, other keys are "present" at no more than 1.10 p, the slots set are
 * spread evenly, and the memory is what such a filter is known to need.
 *
 *   test_rate          p to 1e-4, n to 10^6: half a minute
 *   test_rate --long   p to 1e-6, n to 10^8: a quarter of an hour
 *
 * Statistics. The promise is about the expectation over the seeds, and a measured
 * rate strays from that in two ways. Of Q queries p Q are expected to hit, with a
 * relative deviation of 1 / sqrt(p Q); p Q = HITS makes that 1.7 %. And a filter
 * of few blocks has its own rate, depending on how full the fullest are: the
 * relative deviation is spread / sqrt(blocks), the spread of one block following
 * from the same model as the table. As many seeds are taken as make that 1.1 %.
 * Together 2 %: at a true rate of p the bound of 1.10 p is 5 deviations away.
 * Below 1e-4 queries are dear, and LONG_HITS makes it 3 deviations. The seeds are
 * fixed, so that the test gives the same result every time.
 *
 * Evenness: the number of keys in a quarter has a relative deviation of
 * sqrt(3 / (n * seeds)); as many seeds are taken as make 1 % 5 of those.
 *
 * The seeds take turns: 8-byte integers by jhash, text by jhash, and integers by
 * SipHash. No key asked for was ever added.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core_geometry.h"
#include "core_hash.h"
#include "core_probe.h"

#define BOUND		1.10
#define HITS		3600.0
#define LONG_HITS	1000.0
#define SEED_SPREAD	0.011
#define QUARTER_BOUND	0.01
#define BURST		32
#define MIN_QUERIES	1000000
#define FULL_UNIT	0	/* keys: the most that the smallest filter holds */

/* What the literature's formulas need at their best k, slots a key. */
struct promise {
	double rate;
	double blocked;
	double classic;
	double spread;	/* of the rate of one block, in parts of the rate */
};

static const struct promise promises[] = {
	{ 1e-1, 4.84, 4.81, 0.23 },
	{ 1e-2, 9.92, 9.59, 0.63 },
	{ 1e-3, 15.55, 14.38, 1.25 },
	{ 1e-4, 22.03, 19.17, 2.2 },
	{ 1e-5, 29.67, 23.96, 4.1 },
	{ 1e-6, 38.83, 28.76, 7.5 },
};

struct filter {
	struct bloom_geometry geo;
	u64 blocks;
	u64 seed[2];
	u32 style;
	__le64 *words;
};

struct result {
	u64 hits;
	u64 queries;
	u64 missed;
	u64 miscounted;
	u64 quarters[4];
};

enum { STYLE_INTEGER, STYLE_TEXT, STYLE_SIPHASH, STYLES };

static u64 hash_of(const struct filter *f, u64 number)
{
	static const char prefix[] = "https://host/path/";
	char text[sizeof(prefix) + 20], *p;
	char *end = text + sizeof(text);

	if (f->style == STYLE_INTEGER)
		return bloom_hash_jhash(&number, sizeof(number), f->seed);
	if (f->style == STYLE_SIPHASH)
		return bloom_hash_siphash(&number, sizeof(number), f->seed);

	p = end;
	do {
		*--p = '0' + number % 10;
		number /= 10;
	} while (number);
	p -= sizeof(prefix) - 1;
	memcpy(p, prefix, sizeof(prefix) - 1);
	return bloom_hash_jhash(p, end - p, f->seed);
}

static __le64 *block_of(const struct filter *f, u64 hash)
{
	u64 block = bloom_range(hash, f->blocks);

	if (f->geo.kind == BLOOM_KIND_COUNTING)
		return f->words + block * BLOOM_COUNTER_WORDS;
	return f->words + block * BLOOM_BLOCK_WORDS;
}

/* Ask for the memory of a key's first @slots slots. */
static void fetch(const struct filter *f, u64 hash, u32 slots)
{
	u32 i;

	if (f->geo.kind != BLOOM_KIND_CLASSIC) {
		prefetchw(block_of(f, hash));
		return;
	}
	for (i = 0; i < slots; i++)
		prefetch(&f->words[bloom_classic_slot(hash, i, f->geo.slots) >> 6]);
}

static u32 add(struct filter *f, u64 hash)
{
	switch (f->geo.kind) {
	case BLOOM_KIND_BLOCKED:
		return bloom_block_set(block_of(f, hash), hash, f->geo.probes);
	case BLOOM_KIND_COUNTING:
		return bloom_counters_change(block_of(f, hash), hash,
					     f->geo.probes, true);
	default:
		return bloom_classic_set(f->words, f->geo.slots, hash,
					 f->geo.probes);
	}
}

static bool query(const struct filter *f, u64 hash)
{
	switch (f->geo.kind) {
	case BLOOM_KIND_BLOCKED:
		return bloom_block_test(block_of(f, hash), hash, f->geo.probes);
	case BLOOM_KIND_COUNTING:
		return bloom_counters_test(block_of(f, hash), hash,
					   f->geo.probes);
	default:
		return bloom_classic_test(f->words, f->geo.slots, hash,
					  f->geo.probes);
	}
}

static u64 add_all(struct filter *f, u64 first, u64 count)
{
	u64 hashes[BURST], set = 0, i, n;

	for (; count; first += n, count -= n) {
		n = count < BURST ? count : BURST;
		for (i = 0; i < n; i++)
			hashes[i] = hash_of(f, first + i);
		for (i = 0; i < n; i++)
			fetch(f, hashes[i], f->geo.probes);
		for (i = 0; i < n; i++)
			set += add(f, hashes[i]);
	}
	return set;
}

/* @looks: how many slots a query is likely to look at. */
static u64 query_all(const struct filter *f, u64 first, u64 count, u32 looks)
{
	u64 hashes[BURST], present = 0, i, n;

	for (; count; first += n, count -= n) {
		n = count < BURST ? count : BURST;
		for (i = 0; i < n; i++)
			hashes[i] = hash_of(f, first + i);
		for (i = 0; i < n; i++)
			fetch(f, hashes[i], looks);
		for (i = 0; i < n; i++)
			present += query(f, hashes[i]);
	}
	return present;
}

static u64 count_quarter(const struct filter *f, u32 quarter)
{
	u64 bits = f->geo.kind == BLOOM_KIND_COUNTING ? BLOOM_COUNTER_BITS : 1;
	u64 words = f->geo.slots * bits / 256, i, sum = 0, word;

	for (i = quarter * words; i < (quarter + 1) * words; i++) {
		word = bloom_word(&f->words[i]);
		sum += bits == 1 ? bloom_popcount(word) :
				   bloom_counters_nonzero(word);
	}
	return sum;
}

static void measure(struct filter *f, u64 keys, u64 queries, struct result *r)
{
	u64 set, counted = 0, quarter;
	u32 i;

	memset(f->words, 0, f->geo.bytes);
	set = add_all(f, 0, keys);
	r->missed += keys - query_all(f, 0, keys, f->geo.probes);
	r->hits += query_all(f, keys, queries, 1);
	r->queries += queries;
	for (i = 0; i < 4; i++) {
		quarter = count_quarter(f, i);
		counted += quarter;
		r->quarters[i] += quarter;
	}
	r->miscounted += counted != set;
}

/* The furthest quarter from the mean, in parts of the mean. */
static double unevenness(const struct result *r)
{
	double mean = 0, worst = 0;
	u32 i;

	for (i = 0; i < 4; i++)
		mean += r->quarters[i] / 4.0;
	for (i = 0; i < 4; i++)
		worst = fmax(worst, fabs(r->quarters[i] / mean - 1));
	return worst;
}

/* The most keys that the smallest filter is made for. */
static u64 most_in_a_unit(u32 kind, u64 fp_rate)
{
	struct bloom_geometry geo;
	u64 bit, keys = 0;

	for (bit = BLOOM_SLOTS_UNIT; bit; bit >>= 1) {
		if (!bloom_geometry_size(kind, keys + bit, fp_rate, &geo) &&
		    geo.slots == BLOOM_SLOTS_UNIT)
			keys += bit;
	}
	return keys;
}

static bool test(u32 number, u32 kind, const struct promise *promise, u64 keys)
{
	static const char * const names[] = { "blocked", "classic", "counting" };
	u64 fp_rate = promise->rate * 18446744073709551616.0;
	double slots, bytes, unit, wanted, ratio, uneven;
	struct filter f = {};
	struct result r = {};
	u64 seeds, seed, queries;
	bool full, ok;

	if (keys == FULL_UNIT)
		keys = most_in_a_unit(kind, fp_rate);
	if (bloom_geometry_size(kind, keys, fp_rate, &f.geo)) {
		printf("not ok %u - no size\n", number);
		return false;
	}
	f.blocks = f.geo.slots / BLOOM_BLOCK_SLOTS;
	f.words = aligned_alloc(64, f.geo.bytes);
	if (!f.words) {
		printf("not ok %u - no memory for it\n", number);
		return false;
	}

	slots = kind == BLOOM_KIND_CLASSIC ? promise->classic : promise->blocked;
	full = slots * keys > BLOOM_SLOTS_UNIT / 2;
	queries = (promise->rate < 1e-4 ? LONG_HITS : HITS) / promise->rate;
	seeds = STYLES;
	if (full) {
		wanted = 75 / QUARTER_BOUND / QUARTER_BOUND / keys;
		seeds = fmax(seeds, ceil(wanted));
		if (kind != BLOOM_KIND_CLASSIC) {
			wanted = promise->spread / SEED_SPREAD;
			wanted = wanted * wanted / f.blocks;
			seeds = fmax(seeds, ceil(wanted));
		}
	} else {
		/* The smallest filter, and far from full: hits are rare. */
		queries = MIN_QUERIES;
	}
	queries = queries / seeds + 1;

	for (seed = 0; seed < seeds; seed++) {
		f.seed[0] = bloom_mix64(2 * seed + 1);
		f.seed[1] = bloom_mix64(2 * seed + 2);
		f.style = seed % STYLES;
		measure(&f, keys, queries, &r);
	}

	bytes = slots * keys / 8;
	unit = BLOOM_SLOTS_UNIT / 8;
	if (kind == BLOOM_KIND_COUNTING) {
		bytes *= BLOOM_COUNTER_BITS;
		unit *= BLOOM_COUNTER_BITS;
	}
	ratio = r.hits / (promise->rate * r.queries);
	uneven = full ? unevenness(&r) : 0;
	ok = ratio <= BOUND && !r.missed && !r.miscounted &&
	     uneven <= QUARTER_BOUND && f.geo.bytes <= 1.02 * bytes + unit;
	printf("%sok %u - %s, p = %g, n = %llu: rate %.3f p, ", ok ? "" : "not ",
	       number, names[kind], promise->rate, keys, ratio);
	printf("%.2f slots a key, k = %u, quarters within %.2f %%, ",
	       (double)f.geo.slots / keys, f.geo.probes, 100 * uneven);
	printf("%llu missed, %llu miscounted (%llu queries, %llu seeds)\n",
	       r.missed, r.miscounted, r.queries, seeds);
	fflush(stdout);
	free(f.words);
	return ok;
}

int main(int argc, char **argv)
{
	static const u64 short_keys[] = {
		1, 100, FULL_UNIT, 10000, 1000000
	};
	static const u64 long_keys[] = {
		1, 10, 100, FULL_UNIT, 1000, 10000, 100000, 1000000, 10000000, 100000000
	};
	bool full = argc > 1 && !strcmp(argv[1], "--long");
	const u64 *keys = full ? long_keys : short_keys;
	u32 key_count = full ? ARRAY_SIZE(long_keys) : ARRAY_SIZE(short_keys);
	u32 rates = full ? ARRAY_SIZE(promises) : 4;
	u32 kind, i, j, number = 0, failed = 0;

	for (i = 0; i < rates; i++) {
		for (j = 0; j < key_count; j++) {
			for (kind = 0; kind <= BLOOM_KIND_COUNTING; kind++) {
				/* Their slots are those of blocks: a few will do. */
				if (kind == BLOOM_KIND_COUNTING &&
				    (promises[i].rate < 1e-3 ||
				     keys[j] < 1000 || keys[j] > 1000000))
					continue;
				failed += !test(++number, kind, &promises[i],
						keys[j]);
			}
		}
	}
	printf("1..%u\n", number);
	return failed != 0;
}
