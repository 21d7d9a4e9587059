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

/* 16 bytes at @p, and of the fourth key behind it; *@keep picks bytes of them. */
LANES __m256i row(const u8 *p, size_t step, const __m256i *keep)
{
	__m256i two = _mm256_loadu2_m128i((const __m128i *)(p + 4 * step),
					  (const __m128i *)p);

	return keep ? _mm256_shuffle_epi8(two, *keep) : two;
}

/*
 * Four words of each of eight keys @step apart, of the 16 bytes at @p of each.
 * Loads and shuffles cost less than gathers, most of all while the prefetches of
 * a burst are under way.
 */
LANES void columns(const u8 *p, size_t step, const __m256i *keep,
		   __m256i word[4])
{
	__m256i row0 = row(p, step, keep), row1 = row(p + step, step, keep);
	__m256i row2 = row(p + 2 * step, step, keep);
	__m256i row3 = row(p + 3 * step, step, keep);
	__m256i low0 = _mm256_unpacklo_epi32(row0, row1);
	__m256i low2 = _mm256_unpacklo_epi32(row2, row3);
	__m256i high0 = _mm256_unpackhi_epi32(row0, row1);
	__m256i high2 = _mm256_unpackhi_epi32(row2, row3);

	word[0] = _mm256_unpacklo_epi64(low0, low2);
	word[1] = _mm256_unpackhi_epi64(low0, low2);
	word[2] = _mm256_unpacklo_epi64(high0, high2);
	word[3] = _mm256_unpackhi_epi64(high0, high2);
}

/* How many bytes of a key are left after rounds that leave more than 4: 5 to 16. */
static u32 left_of(u32 len)
{
	return (len - 5) % 12 + 5;
}

/* Of the last 16 bytes of a key, the last @left, and zeros after them. */
LANES __m256i keep_last(u32 left)
{
	u8 from[16];
	u32 i;

	for (i = 0; i < 16; i++)
		from[i] = i < left ? 16 - left + i : 0x80;
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
}

LANES void take(struct lanes *s, const __m256i word[4])
{
	s->a = ADD(s->a, word[0]);
	s->b = ADD(s->b, word[1]);
	s->c = ADD(s->c, word[2]);
}

/*
 * @n times eight keys, one behind the other, of 16 bytes or more. Twice eight keep
 * the processor busy where eight wait for themselves.
 */
LANES void hash_eights(const u8 *keys, u32 len, u32 left, __m256i keep,
		       const u64 seed[2], u64 *at, u32 n)
{
	__m256i start = _mm256_set1_epi32(0xdeadbeef + len + (u32)seed[0]);
	const size_t step = len;
	struct lanes s[2];
	__m256i word[4];
	u64 pair[8];
	u32 i, j, done;

	for (j = 0; j < n; j++)
		s[j] = (struct lanes){ start, start, start };
	for (done = 0; done < len - left; done += 12) {
		for (j = 0; j < n; j++) {
			columns(keys + 8 * j * step + done, step, NULL, word);
			take(&s[j], word);
		}
		for (j = 0; j < n; j++)
			mix_lanes(&s[j]);
	}
	for (j = 0; j < n; j++) {
		columns(keys + (8 * j + 1) * step - 16, step,
			left < 16 ? &keep : NULL, word);
		take(&s[j], word);
		if (left > 12) {
			mix_lanes(&s[j]);
			s[j].a = ADD(s[j].a, word[3]);
		}
	}
	for (j = 0; j < n; j++)
		final(&s[j]);

	for (j = 0; j < n; j++, at += 8) {
		/* Lanes 0, 1, 4, 5, then 2, 3, 6, 7: b << 32 | c. */
		_mm256_storeu_si256((__m256i *)pair,
				    _mm256_unpacklo_epi32(s[j].c, s[j].b));
		_mm256_storeu_si256((__m256i *)(pair + 4),
				    _mm256_unpackhi_epi32(s[j].c, s[j].b));
		for (i = 0; i < 8; i++)
			at[(i & 1) | (i & 2) << 1 | (i & 4) >> 1] =
				bloom_mix64(pair[i] ^ seed[1]);
	}
}

static AVX2 void hash_avx2(const u8 *keys, u32 len, const u64 seed[2], u64 *at,
			   u32 n)
{
	u32 i = 0, left;
	__m256i keep;

	/* Shorter ones are as fast one by one. */
	if (len >= 16) {
		left = left_of(len);
		keep = keep_last(left);
		for (; i + 16 <= n; i += 16, keys += (size_t)16 * len) {
			if (len == 16)
				hash_eights(keys, 16, 16, keep, seed, at + i, 2);
			else
				hash_eights(keys, len, left, keep, seed, at + i, 2);
		}
		for (; i + 8 <= n; i += 8, keys += (size_t)8 * len)
			hash_eights(keys, len, left, keep, seed, at + i, 1);
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

/*
 * The hash of one key gains by instructions that leave their operands alone, and
 * that of the commonest length by being known to the compiler.
 */
static __attribute__((target("avx2,bmi2"))) bool
one_avx2(const struct probe_layer *layer, const u8 *key, u32 len,
	 const u64 seed[2])
{
	u64 at = len == 16 ? bloom_hash_jhash(key, 16, seed) :
			     bloom_hash_jhash(key, len, seed);

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
