// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/jhash.h>

#include "bench.h"
#include "core_probe.h"

#define GROUP	64U

/*
 * jhash() has 32 bits: spread over more bits than 2^32 it reaches every 2nd,
 * 4th ..., and so still every cache line.
 */
static __always_inline u64 kpass_bit(const struct bench_array *array,
				     const u8 *key, u32 len, u32 i)
{
	return ((u64)jhash(key, len, (u32)array->seed[0] + i) *
		(array->bits >> 8)) >> 24;
}

u64 bench_kpass_test(const struct bench_array *array, const u8 *keys, u32 len,
		     u32 n)
{
	u64 present = 0;
	u32 i;

	for (; n; n--, keys += len) {
		for (i = 0; i < array->probes; i++) {
			if (!test_bit(kpass_bit(array, keys, len, i),
				      array->words))
				break;
		}
		present += i == array->probes;
	}
	return present;
}

u64 bench_kpass_add(const struct bench_array *array, const u8 *keys, u32 len,
		    u32 n)
{
	u64 present = 0;
	bool all;
	u32 i;

	for (; n; n--, keys += len) {
		all = true;
		for (i = 0; i < array->probes; i++)
			all &= test_and_set_bit(kpass_bit(array, keys, len, i),
						array->words);
		present += all;
	}
	return present;
}

static __always_inline u32 bpf_bit(const struct bench_array *array,
				   const u8 *key, u32 len, u32 i)
{
	u32 seed = (u32)array->seed[0] + i;
	u32 hash;

	if (len % 4)
		hash = jhash(key, len, seed);
	else
		hash = jhash2((const u32 *)key, len / 4, seed);
	return hash & (u32)(array->bits - 1);
}

u64 bench_bpf_test(const struct bench_array *array, const u8 *keys, u32 len,
		   u32 n)
{
	u64 present = 0;
	u32 i;

	for (; n; n--, keys += len) {
		for (i = 0; i < array->probes; i++) {
			if (!test_bit(bpf_bit(array, keys, len, i),
				      array->words))
				break;
		}
		present += i == array->probes;
	}
	return present;
}

u64 bench_bpf_add(const struct bench_array *array, const u8 *keys, u32 len,
		  u32 n)
{
	u32 i;

	for (; n; n--, keys += len) {
		for (i = 0; i < array->probes; i++)
			set_bit(bpf_bit(array, keys, len, i), array->words);
	}
	return 0;
}

static __always_inline __le64 *line_of(const struct bench_array *array, u64 at)
{
	return (__le64 *)array->words +
	       bloom_range(at, array->bits >> BLOOM_BLOCK_SHIFT) *
	       BLOOM_BLOCK_WORDS;
}

/*
 * Hash a burst, prefetch it; again; then touch one line a key. @len is known to
 * the compiler where the filter's loop knows it.
 */
static __always_inline u64 limit(const struct bench_array *array,
				 const u8 *keys, u32 len, u32 n, bool write)
{
	u64 at[GROUP], sum = 0;
	u32 i, j, group, burst;
	__le64 *line;

	for (; n; n -= group) {
		group = min(n, GROUP);
		for (i = 0; i < group; i += burst) {
			burst = min(group - i, array->burst);
			for (j = i; j < i + burst; j++, keys += len)
				at[j] = bloom_hash_jhash(keys, len,
							 array->seed);
			for (j = i; j < i + burst; j++)
				prefetch(line_of(array, at[j]));
		}
		for (i = 0; i < group; i++) {
			line = line_of(array, at[i]);
			if (write)
				WRITE_ONCE(*line, cpu_to_le64(at[i]));
			else
				sum += bloom_word(line);
		}
	}
	return sum;
}

u64 bench_limit_read(const struct bench_array *array, const u8 *keys, u32 len,
		     u32 n)
{
	switch (len) {
	case 4:
		return limit(array, keys, 4, n, false);
	case 8:
		return limit(array, keys, 8, n, false);
	default:
		return limit(array, keys, len, n, false);
	}
}

u64 bench_limit_write(const struct bench_array *array, const u8 *keys, u32 len,
		      u32 n)
{
	switch (len) {
	case 4:
		return limit(array, keys, 4, n, true);
	case 8:
		return limit(array, keys, 8, n, true);
	default:
		return limit(array, keys, len, n, true);
	}
}
