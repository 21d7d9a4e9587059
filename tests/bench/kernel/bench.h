/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What filters are compared with: loops that one could write in their place,
 * and loops that say how fast the memory is.
 */
#ifndef BENCH_H
#define BENCH_H

#include <linux/types.h>

/**
 * struct bench_array - bits, and how keys find them
 * @words: the bits
 * @bits: how many
 * @burst: keys hashed between two bursts of prefetches
 * @probes: bits a key
 * @seed: for the hash
 */
struct bench_array {
	unsigned long *words;
	u64 bits;
	u32 burst;
	u32 probes;
	u64 seed[2];
};

/* @n keys of @len bytes. Return: how many were present, or a sum to be kept. */
typedef u64 bench_loop(const struct bench_array *array, const u8 *keys, u32 len,
		       u32 n);

/* k passes of jhash(), bits scattered over the array. */
bench_loop bench_kpass_test, bench_kpass_add;
/* As kernel/bpf/bloom_filter.c does it, in 2^x bits up to 2^32. */
bench_loop bench_bpf_test, bench_bpf_add;
/* One hash, one cache line a key, nothing else: no loop of this shape is faster. */
bench_loop bench_limit_read, bench_limit_write;

#endif /* BENCH_H */
