// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The core against plain code: hashes against a reference that reads a byte at
 * a time, sizes against the table in floating point, slots against arrays that
 * are allocated to the byte. Anything that differs aborts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core_geometry.h"
#include "core_hash.h"
#include "core_probe.h"
#include "core_table.h"
#include "fuzz.h"

/* What a run works on, from the first bytes of the input; the key follows. */
struct input {
	u64 seed[2];
	u64 capacity;
	u64 fp_rate;
	u64 slots;
	u64 hash;
	u8 kind;
	u8 probes;
	u8 layer;
	u8 shift;
};

static u32 rotate(u32 x, u32 n)
{
	return x << n | x >> (32 - n);
}

/* lookup3 on the key padded with zero bytes to whole blocks. */
static u64 lookup3(const u8 *key, u32 len, u32 initval)
{
	u32 v[3], word, i, j;

	v[0] = 0xdeadbeef + len + initval;
	v[1] = v[0];
	v[2] = v[0];
	for (i = 0; i < len; i += 12) {
		for (j = 0; j < 12 && i + j < len; j++) {
			word = key[i + j];
			v[j / 4] += word << 8 * (j % 4);
		}
		if (i + 12 < len) {
			static const u8 turns[] = { 4, 6, 8, 16, 19, 4 };

			for (j = 0; j < 6; j++) {
				v[j % 3] -= v[(j + 2) % 3];
				v[j % 3] ^= rotate(v[(j + 2) % 3], turns[j]);
				v[(j + 2) % 3] += v[(j + 1) % 3];
			}
		} else {
			static const u8 turns[] = { 14, 11, 25, 16, 4, 14, 24 };

			for (j = 0; j < 7; j++) {
				v[(j + 2) % 3] ^= v[(j + 1) % 3];
				v[(j + 2) % 3] -= rotate(v[(j + 1) % 3], turns[j]);
			}
		}
	}
	return (u64)v[1] << 32 | v[2];
}

static u64 fmix64(u64 x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static u64 rotate64(u64 x, u32 n)
{
	return x << n | x >> (64 - n);
}

static void sip_rounds(u64 v[4], u32 rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = rotate64(v[1], 13) ^ v[0];
		v[0] = rotate64(v[0], 32);
		v[2] += v[3];
		v[3] = rotate64(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate64(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate64(v[1], 17) ^ v[2];
		v[2] = rotate64(v[2], 32);
	}
}

static u64 siphash(const u8 *key, u32 len, const u64 seed[2])
{
	u64 v[4] = {
		seed[0] ^ 0x736f6d6570736575ULL, seed[1] ^ 0x646f72616e646f6dULL,
		seed[0] ^ 0x6c7967656e657261ULL, seed[1] ^ 0x7465646279746573ULL
	};
	u64 word, byte;
	u32 i, j;

	for (i = 0; i <= len; i += 8) {
		word = 0;
		for (j = 0; j < 8; j++) {
			byte = i + j < len ? key[i + j] : j == 7 ? len & 255 : 0;
			word |= byte << 8 * j;
		}
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 255;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void hashes(const struct input *in, const u8 *bytes, u32 len)
{
	u8 *memory = malloc(in->shift % 8 + len), *key = memory + in->shift % 8;
	u64 pair = lookup3(bytes, len, in->seed[0]), two[2];
	u32 cut = in->probes % (len + 1);

	REQUIRE(memory);
	memcpy(key, bytes, len);
	REQUIRE(bloom_jhash_pair(key, len, in->seed[0]) == pair);
	REQUIRE(bloom_hash_jhash(key, len, in->seed) ==
		fmix64(pair ^ in->seed[1]));
	bloom_hash_jhash_two(key, cut, len - cut, in->seed, two);
	REQUIRE(two[0] == bloom_hash_jhash(key, cut, in->seed));
	REQUIRE(two[1] == bloom_hash_jhash(key + cut, len - cut, in->seed));
	REQUIRE(bloom_hash_siphash(key, len, in->seed) ==
		siphash(bytes, len, in->seed));
	free(memory);
}

static void shape(const struct bloom_geometry *geo, u32 kind)
{
	u64 bits = geo->slots * (kind == BLOOM_KIND_COUNTING ? 4 : 1);

	REQUIRE(geo->kind == kind);
	REQUIRE(geo->slots >= 1 && geo->slots <= BLOOM_SLOTS_MAX);
	REQUIRE(geo->probes >= 1 && geo->probes <= BLOOM_PROBES_MAX);
	REQUIRE(geo->bytes % BLOOM_BYTES_UNIT == 0);
	REQUIRE(geo->bytes >= bits / 8 + !!(bits % 8));
	REQUIRE(geo->bytes - bits / 8 <= BLOOM_BYTES_UNIT);
	if (kind == BLOOM_KIND_BLOCKED || kind == BLOOM_KIND_COUNTING)
		REQUIRE(geo->slots % BLOOM_SLOTS_UNIT == 0);
}

static void size(const struct input *in)
{
	long double bits, along, slots;
	const struct size_step *table;
	u32 kind = in->kind % 5, steps;
	struct bloom_geometry geo;
	u64 least;
	int ret;

	ret = bloom_geometry_size(kind, in->capacity, in->fp_rate, &geo);
	if (kind >= BLOOM_KIND_BITMAP) {
		REQUIRE(ret == -EINVAL);
		return;
	}
	table = kind == BLOOM_KIND_CLASSIC ? classic_steps : blocked_steps;
	steps = kind == BLOOM_KIND_CLASSIC ? ARRAY_SIZE(classic_steps) :
					     ARRAY_SIZE(blocked_steps);
	least = 1ULL << (64 - steps / SIZE_STEPS);
	REQUIRE(bloom_geometry_min_rate(kind) == 2 * least);
	if (!in->capacity || in->fp_rate < 2 * least) {
		REQUIRE(ret == -EINVAL);
		return;
	}
	if (in->capacity > in->fp_rate - least) {
		REQUIRE(ret == -EOVERFLOW);
		return;
	}

	bits = 64 - log2l(in->fp_rate - in->capacity);
	along = bits * SIZE_STEPS;
	/* A step's upper end is its own. */
	steps = fminl(fmaxl(ceill(along) - 1, 0), steps - 1);
	table += steps;
	along -= steps;
	slots = table->lower + (table->upper - table->lower) * along;
	slots = slots / 65536 * in->capacity;
	if (ret) {
		/* A step higher at a rate just below its end. */
		REQUIRE(ret == -EOVERFLOW);
		REQUIRE(slots * 1.003L + BLOOM_SLOTS_UNIT > BLOOM_SLOTS_MAX);
		return;
	}
	shape(&geo, kind);
	REQUIRE(geo.slots % BLOOM_SLOTS_UNIT == 0);
	/* Rounding L up can lead into the next step, 0.3 % lower. */
	REQUIRE(geo.slots >= slots * 0.994L);
	if (geo.probes == table->probes)
		REQUIRE(geo.slots >= slots * 0.999999L);
	/* 2 for a rate of nearly 1, where the first step is steep. */
	REQUIRE(geo.slots <= slots * (bits < 1 ? 2 : 1.001L) + 1 +
			     BLOOM_SLOTS_UNIT);
	if (kind == BLOOM_KIND_CLASSIC) {
		bits = powl(-expm1l(-(long double)geo.probes * in->capacity /
				    geo.slots), geo.probes);
		bits += ldexpl(in->capacity, -64);
		REQUIRE(bits <= ldexpl(in->fp_rate, -64) * 1.000001L);
	}
}

static void exact(const struct input *in)
{
	u32 kind = in->kind % 5, probes = in->probes % 70;
	struct bloom_geometry geo;
	int ret = bloom_geometry_exact(kind, in->slots, probes, &geo);

	if (kind > BLOOM_KIND_BITMAP || !in->slots || !probes ||
	    probes > BLOOM_PROBES_MAX ||
	    (kind == BLOOM_KIND_BITMAP && probes != 1)) {
		REQUIRE(ret == -EINVAL);
	} else if (in->slots > BLOOM_SLOTS_MAX) {
		REQUIRE(ret == -EOVERFLOW);
	} else {
		REQUIRE(!ret);
		shape(&geo, kind);
		REQUIRE(geo.probes == probes);
		REQUIRE(geo.slots >= in->slots);
		REQUIRE(geo.slots - in->slots < BLOOM_SLOTS_UNIT);
		if (kind == BLOOM_KIND_CLASSIC || kind == BLOOM_KIND_BITMAP)
			REQUIRE(geo.slots == in->slots);
	}
}

static void layer(const struct input *in)
{
	u64 capacity = in->capacity, rate = in->fp_rate, divisor = 1;
	u32 growth = in->kind % 4, generations = in->probes, i = in->layer;
	int ret = bloom_geometry_layer(growth, generations, i, &capacity, &rate);

	if (growth == BLOOM_GROWTH_SCALING)
		divisor = (i + 1ULL) * (i + 2);
	else if (growth == BLOOM_GROWTH_WINDOW)
		divisor = generations;
	if (ret)
		return;
	REQUIRE(growth <= BLOOM_GROWTH_WINDOW && divisor);
	REQUIRE(rate && rate == in->fp_rate / divisor);
	if (growth == BLOOM_GROWTH_SCALING)
		REQUIRE(i < BLOOM_LAYERS_MAX && capacity >> i == in->capacity);
	else
		REQUIRE(capacity == in->capacity);
}

static void blocks(const struct input *in, const u8 *bytes, u32 len)
{
	u32 probes = in->probes % BLOOM_PROBES_MAX + 1, i, old, new, flipped;
	__le64 *block = calloc(BLOOM_COUNTER_WORDS, 8);
	__le64 *before = calloc(BLOOM_COUNTER_WORDS, 8);
	bool present;

	REQUIRE(block && before);
	memcpy(block, bytes, len < 256 ? len : 256);
	memcpy(before, block, 256);

	present = bloom_counters_test(block, in->hash, probes);
	bloom_counters_change(block, in->hash, probes, true);
	REQUIRE(bloom_counters_test(block, in->hash, probes));
	bloom_counters_change(block, in->hash, probes, false);
	for (i = 0; i < BLOOM_BLOCK_SLOTS; i++) {
		old = bloom_counter(before, i);
		new = bloom_counter(block, i);
		REQUIRE(new == old || (old == 14 && new == 15));
	}
	REQUIRE(bloom_counters_test(block, in->hash, probes) == present);
	free(block);

	/* Down first: what was zero stays so. */
	block = malloc(256);
	REQUIRE(block);
	memcpy(block, before, 256);
	bloom_counters_change(block, in->hash, probes, false);
	for (i = 0; i < BLOOM_BLOCK_SLOTS; i++) {
		old = bloom_counter(before, i);
		new = bloom_counter(block, i);
		REQUIRE(new == old || (new == old - 1 && old > 0 && old < 15));
	}
	free(block);

	block = malloc(8 * BLOOM_BLOCK_WORDS);
	REQUIRE(block);
	memcpy(block, before, 8 * BLOOM_BLOCK_WORDS);
	present = bloom_block_test(block, in->hash, probes);
	flipped = bloom_block_set(block, in->hash, probes);
	REQUIRE(present == !flipped);
	REQUIRE(bloom_block_test(block, in->hash, probes));
	for (i = 0; i < BLOOM_BLOCK_WORDS; i++) {
		REQUIRE(!(before[i] & ~block[i]));
		flipped -= bloom_popcount(before[i] ^ block[i]);
	}
	REQUIRE(!flipped);
	free(block);
	free(before);
}

static void classic(const struct input *in, const u8 *bytes, u32 len)
{
	u64 slots = in->slots % 4096 + 1, count = (slots + 63) / 64, i;
	u32 probes = in->probes % BLOOM_PROBES_MAX + 1, flipped;
	__le64 *words = calloc(count, 8), *before = calloc(count, 8);
	bool present;

	REQUIRE(words && before);
	memcpy(words, bytes, len < 8 * count ? len : 8 * count);
	memcpy(before, words, 8 * count);
	present = bloom_classic_test(words, slots, in->hash, probes);
	flipped = bloom_classic_set(words, slots, in->hash, probes);
	REQUIRE(present == !flipped);
	REQUIRE(bloom_classic_test(words, slots, in->hash, probes));
	for (i = 0; i < count; i++) {
		REQUIRE(!(before[i] & ~words[i]));
		flipped -= bloom_popcount(before[i] ^ words[i]);
	}
	REQUIRE(!flipped);
	/* Past the last slot nothing has changed. */
	if (slots % 64)
		REQUIRE(!((before[count - 1] ^ words[count - 1]) &
			  cpu_to_le64(~0ULL << slots % 64)));
	free(words);
	free(before);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t data_len)
{
	struct input in;
	u32 len;

	if (data_len < sizeof(in))
		return -1;
	memcpy(&in, data, sizeof(in));
	data += sizeof(in);
	data_len -= sizeof(in);
	len = data_len < BLOOM_KEY_MAX ? data_len : BLOOM_KEY_MAX;
	/* Small numbers come seldom by themselves. */
	in.capacity >>= in.layer & 63;
	in.fp_rate >>= in.shift & 63;
	in.slots >>= in.layer & 63;

	hashes(&in, data, len);
	size(&in);
	exact(&in);
	layer(&in);
	blocks(&in, data, len);
	classic(&in, data, len);
	return 0;
}
