/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The few words that the core takes from its surroundings, in the kernel and
 * in user space. Nothing else in the core knows which of the two it is in.
 */
#ifndef BLOOM_CORE_SHIM_H
#define BLOOM_CORE_SHIM_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/string.h>
#include <linux/types.h>
#include "compat.h"

static inline u32 bloom_load_le32(const void *p)
{
	return get_unaligned_le32(p);
}

static inline u64 bloom_load_le64(const void *p)
{
	return get_unaligned_le64(p);
}

/* Atomic OR without ordering; returns the word as it was. */
static inline u64 bloom_fetch_or(__le64 *word, __le64 mask)
{
	return atomic64_fetch_or_relaxed((__force s64)mask,
					 (atomic64_t *)word);
}

static inline u64 bloom_mul_high(u64 a, u64 b)
{
	/* As mul_u64_u64_shr(a, b, 64), which some 64-bit kernels do in four parts. */
	return (u64)(((__uint128_t)a * b) >> 64);
}

static inline u32 bloom_popcount(u64 x)
{
	return hweight64(x);
}

/* The number of the highest bit that is set, from 1; 0 for 0. */
static inline u32 bloom_fls64(u64 x)
{
	return fls64(x);
}

#else /* user space */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/types.h>

/* The types of the ABI's structures. */
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define prefetch(p)		__builtin_prefetch(p, 0, 3)
#define prefetchw(p)		__builtin_prefetch(p, 1, 3)
#define cpu_to_le64(x)		htole64(x)
#define le64_to_cpu(x)		le64toh(x)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#endif
#ifndef __force
#define __force
#endif

static inline u32 bloom_load_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline u64 bloom_load_le64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline u64 bloom_fetch_or(__le64 *word, __le64 mask)
{
	return __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

static inline u64 bloom_mul_high(u64 a, u64 b)
{
#ifdef __SIZEOF_INT128__
	return (u64)(((__uint128_t)a * b) >> 64);
#else	/* a 32-bit program: by halves */
	u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
	u64 first = a1 * b0 + (a0 * b0 >> 32);
	u64 second = a0 * b1 + (u32)first;

	return a1 * b1 + (first >> 32) + (second >> 32);
#endif
}

static inline u32 bloom_popcount(u64 x)
{
	return __builtin_popcountll(x);
}

static inline u32 bloom_fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif /* __KERNEL__ */

static inline u32 bloom_rol32(u32 x, unsigned int n)
{
	return (x << n) | (x >> (32 - n));
}

static inline u64 bloom_rol64(u64 x, unsigned int n)
{
	return (x << n) | (x >> (64 - n));
}

#endif /* BLOOM_CORE_SHIM_H */
