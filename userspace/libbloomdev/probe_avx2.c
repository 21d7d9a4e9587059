// SPDX-License-Identifier: LGPL-2.1
/*
 * Hashing eight keys at a time and looking at a block's slots all at once, on
 * x86 machines that have AVX2. The answers are those of core_hash.h and
 * core_probe.h, bit for bit.
 */
#include <stddef.h>
#include "probe.h"

#ifdef __x86_64__

#include <immintrin.h>

#define AVX2	__attribute__((target("avx2")))
#define LANES	AVX2 static __always_inline

/* lookup3 of eight keys, in 32-bit lanes; see bloom_jhash_pair(). */
struct lanes {
	__m256i a, b, c;
};

LANES __m256i rol(__m256i x, int n)
{
	return _mm256_or_si256(_mm256_slli_epi32(x, n),
			       _mm256_srli_epi32(x, 32 - n));
}

#define ADD(x, y)	_mm256_add_epi32(x, y)
#define SUB(x, y)	_mm256_sub_epi32(x, y)
#define XOR(x, y)	_mm256_xor_si256(x, y)

LANES void mix_lanes(struct lanes *s)
{
	__m256i a = s->a, b = s->b, c = s->c;

	a = XOR(SUB(a, c), rol(c, 4));  c = ADD(c, b);
	b = XOR(SUB(b, a), rol(a, 6));  a = ADD(a, c);
	c = XOR(SUB(c, b), rol(b, 8));  b = ADD(b, a);
	a = XOR(SUB(a, c), rol(c, 16)); c = ADD(c, b);
	b = XOR(SUB(b, a), rol(a, 19)); a = ADD(a, c);
	c = XOR(SUB(c, b), rol(b, 4));  b = ADD(b, a);
	*s = (struct lanes){ a, b, c };
}

LANES void final(struct lanes *s)
{
	__m256i a = s->a, b = s->b, c = s->c;

	c = SUB(XOR(c, b), rol(b, 14));
	a = SUB(XOR(a, c), rol(c, 11));
	b = SUB(XOR(b, a), rol(a, 25));
	c = SUB(XOR(c, b), rol(b, 16));
	a = SUB(XOR(a, c), rol(c, 4));
	b = SUB(XOR(b, a), rol(a, 14));
	c = SUB(XOR(c, b), rol(b, 24));
	*s = (struct lanes){ a, b, c };
}

/* Of each lane @b where the top bit of @which is set, otherwise @a. */
LANES __m256i select8(__m256i a, __m256i b, __m256i which)
{
	return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(a),
						    _mm256_castsi256_ps(b),
						    _mm256_castsi256_ps(which)));
}

/* The word at @p of each of eight keys, which are as far apart as @step says. */
LANES __m256i words(const u8 *p, __m256i step)
{
	return _mm256_i32gather_epi32((const int *)p, step, 1);
}

/* The last 1 to 4 bytes of each, which end at @end; keys of 4 bytes at least. */
LANES __m256i tails(const u8 *end, __m256i step, u32 n)
{
	return _mm256_srli_epi32(words(end - 4, step), 8 * (4 - n));
}

LANES void hash8(const u8 *key, u32 len, const u64 seed[2],
		 __m256i step, u64 *at)
{
	__m256i start = _mm256_set1_epi32(0xdeadbeef + len + (u32)seed[0]);
	struct lanes s = { start, start, start };
	const u8 *end = key + len;
	u64 pair[8];
	u32 i;

	for (; len > 12; key += 12, len -= 12) {
		s.a = ADD(s.a, words(key, step));
		s.b = ADD(s.b, words(key + 4, step));
		s.c = ADD(s.c, words(key + 8, step));
		mix_lanes(&s);
	}
	if (len > 8) {
		s.a = ADD(s.a, words(key, step));
		s.b = ADD(s.b, words(key + 4, step));
		s.c = ADD(s.c, tails(end, step, len - 8));
	} else if (len > 4) {
		s.a = ADD(s.a, words(key, step));
		s.b = ADD(s.b, tails(end, step, len - 4));
	} else {
		s.a = ADD(s.a, tails(end, step, len));
	}
	final(&s);

	/* Lanes 0, 1, 4, 5, then 2, 3, 6, 7: b << 32 | c. */
	_mm256_storeu_si256((__m256i *)pair, _mm256_unpacklo_epi32(s.c, s.b));
	_mm256_storeu_si256((__m256i *)(pair + 4),
			    _mm256_unpackhi_epi32(s.c, s.b));
	for (i = 0; i < 8; i++)
		at[(i & 1) | (i & 2) << 1 | (i & 4) >> 1] =
			bloom_mix64(pair[i] ^ seed[1]);
}

static AVX2 void hash_avx2(const u8 *keys, u32 len, const u64 seed[2], u64 *at,
			   u32 n)
{
	__m256i step = _mm256_mullo_epi32(_mm256_set1_epi32(len),
					  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
	u32 i = 0;

	if (len >= 4) {
		for (; i + 8 <= n; i += 8, keys += 8 * len) {
			if (len == 16)
				hash8(keys, 16, seed, step, at + i);
			else
				hash8(keys, len, seed, step, at + i);
		}
	}
	probe_hash(keys, len, seed, at + i, n - i);
}

/*
 * One round of slices in 32-bit lanes, in the order 0, 4, 1, 5, 2, 6, 3 and
 * nothing: each picks its word of the block and moves its bit to the top.
 * Return: a bit a lane.
 */
LANES u32 look(__m256i low, __m256i high, u64 mix)
{
	__m256i even = _mm256_setr_epi64x(0, 9, 18, 27);
	__m256i odd = _mm256_setr_epi64x(36, 45, 54, 63);
	__m256i all = _mm256_set1_epi64x(mix), slots, index, word;

	odd = _mm256_slli_epi64(_mm256_srlv_epi64(all, odd), 32);
	slots = _mm256_blend_epi32(_mm256_srlv_epi64(all, even), odd, 0xaa);

	/* Of a slot's 9 bits: half of the block, word of the half, bit. */
	index = _mm256_srli_epi32(slots, 5);
	word = select8(_mm256_permutevar8x32_epi32(low, index),
		       _mm256_permutevar8x32_epi32(high, index),
		       _mm256_slli_epi32(slots, 23));
	word = _mm256_sllv_epi32(word, _mm256_andnot_si256(slots,
							   _mm256_set1_epi32(31)));
	return _mm256_movemask_ps(_mm256_castsi256_ps(word));
}

/* Lanes that the first n slices of a round are not in. */
static const u8 idle[BLOOM_SLICES + 1] = {
	0xff, 0xfe, 0xfa, 0xea, 0xaa, 0xa8, 0xa0, 0x80,
};

LANES bool block_test(const __le64 *block, u64 hash, u32 probes)
{
	__m256i low = _mm256_loadu_si256((const __m256i *)block);
	__m256i high = _mm256_loadu_si256((const __m256i *)block + 1);
	u64 mix = bloom_remix(hash);

	for (; probes > BLOOM_SLICES; probes -= BLOOM_SLICES) {
		if ((look(low, high, mix) | idle[BLOOM_SLICES]) != 0xff)
			return false;
		mix = bloom_remix(mix);
	}
	return (look(low, high, mix) | idle[probes]) == 0xff;
}

static AVX2 u64 test_avx2(const struct probe_layer *layer, const u64 *at, u32 n)
{
	const u32 probes = layer->probes;
	u64 found = 0;
	u32 i;

	for (i = 0; i < n; i++)
		found |= (u64)block_test(probe_block(layer, at[i]), at[i],
					 probes) << i;
	return found;
}

/* The hash of one key gains by instructions that leave their operands alone. */
static __attribute__((target("avx2,bmi2"))) bool
one_avx2(const struct probe_layer *layer, const u8 *key, u32 len,
	 const u64 seed[2])
{
	u64 at = bloom_hash_jhash(key, len, seed);

	return block_test(probe_block(layer, at), at, layer->probes);
}

const struct probe_ops *probe_blocked_avx2(void)
{
	static const struct probe_ops ops = {
		hash_avx2, probe_fetch_blocked, test_avx2, one_avx2
	};

	return __builtin_cpu_supports("avx2") &&
	       __builtin_cpu_supports("bmi2") ? &ops : NULL;
}

#else

const struct probe_ops *probe_blocked_avx2(void)
{
	return NULL;
}

#endif
