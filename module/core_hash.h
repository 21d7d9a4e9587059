/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * From a key to 64 bits. Pure functions of (key, length, seed): the same value
 * on every machine, in the kernel and in user space, for ever; golden vectors in
 * the tests hold them to that, since saved filters depend on it.
 */
#ifndef BLOOM_CORE_HASH_H
#define BLOOM_CORE_HASH_H

#include "core_shim.h"

/*
 * The finaliser of MurmurHash3 (Austin Appleby, public domain): a bijection of
 * 64 bits in which every input bit flips every output bit with probability 1/2.
 */
static __always_inline u64 bloom_mix64(u64 x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	x ^= x >> 33;
	return x;
}

/* The 1 to 4 last bytes of a key as a little-endian word; none: 0. */
static __always_inline u32 bloom_jhash_tail(const u8 *p, u32 n)
{
	if (n == 4)
		return bloom_load_le32(p);
	if (!n)
		return 0;
	return p[0] | (u32)p[n >> 1] << (8 * (n >> 1)) |
	       (u32)p[n - 1] << (8 * (n - 1));
}

/*
 * Bob Jenkins' lookup3, hashlittle2() (public domain, 2006), as in
 * <linux/jhash.h>, reading words as little-endian; in three steps, so that the
 * rounds of two keys can be done side by side.
 */
struct bloom_jhash {
	const u8 *k;	/* what is left of the key */
	u32 len;	/* bytes of it */
	u32 a, b, c;
};

static __always_inline struct bloom_jhash bloom_jhash_start(const void *key,
							    u32 len, u32 initval)
{
	u32 a = 0xdeadbeef + len + initval;

	return (struct bloom_jhash){ key, len, a, a, a };
}

/* Take in 12 bytes. More than 12 are left. */
static __always_inline void bloom_jhash_round(struct bloom_jhash *j)
{
	u32 a = j->a + bloom_load_le32(j->k);
	u32 b = j->b + bloom_load_le32(j->k + 4);
	u32 c = j->c + bloom_load_le32(j->k + 8);

	a -= c; a ^= bloom_rol32(c, 4);  c += b;
	b -= a; b ^= bloom_rol32(a, 6);  a += c;
	c -= b; c ^= bloom_rol32(b, 8);  b += a;
	a -= c; a ^= bloom_rol32(c, 16); c += b;
	b -= a; b ^= bloom_rol32(a, 19); a += c;
	c -= b; c ^= bloom_rol32(b, 4);  b += a;
	j->k += 12;
	j->len -= 12;
	j->a = a;
	j->b = b;
	j->c = c;
}

/* Take in the last 0 to 12 bytes. Return: b << 32 | c. */
static __always_inline u64 bloom_jhash_end(const struct bloom_jhash *j)
{
	u32 a = j->a, b = j->b, c = j->c, len = j->len;
	const u8 *k = j->k;

	if (len > 8) {
		a += bloom_load_le32(k);
		b += bloom_load_le32(k + 4);
		c += bloom_jhash_tail(k + 8, len - 8);
	} else if (len > 4) {
		a += bloom_load_le32(k);
		b += bloom_jhash_tail(k + 4, len - 4);
	} else if (len) {
		a += bloom_jhash_tail(k, len);
	} else {
		return (u64)b << 32 | c;
	}

	c ^= b; c -= bloom_rol32(b, 14);
	a ^= c; a -= bloom_rol32(c, 11);
	b ^= a; b -= bloom_rol32(a, 25);
	c ^= b; c -= bloom_rol32(b, 16);
	a ^= c; a -= bloom_rol32(c, 4);
	b ^= a; b -= bloom_rol32(a, 14);
	c ^= b; c -= bloom_rol32(b, 24);
	return (u64)b << 32 | c;
}

/**
 * bloom_jhash_pair() - one pass of lookup3, both result words
 * @key: the bytes
 * @len: how many
 * @initval: 32 bits of seed
 *
 * Return: b << 32 | c, where c is the kernel's jhash(key, len, initval) on a
 * little-endian machine.
 */
static __always_inline u64 bloom_jhash_pair(const void *key, u32 len, u32 initval)
{
	struct bloom_jhash j = bloom_jhash_start(key, len, initval);

	while (j.len > 12)
		bloom_jhash_round(&j);
	return bloom_jhash_end(&j);
}

/**
 * bloom_hash_jhash() - the 64-bit hash of a key by jhash
 * @key: the bytes
 * @len: how many
 * @seed: 128 bits; the low half of seed[0] starts jhash, seed[1] goes into the
 *	finaliser
 *
 * The word b of lookup3 alone avalanches badly for keys up to 12 bytes; hence
 * the finaliser over both words.
 */
static __always_inline u64 bloom_hash_jhash(const void *key, u32 len,
					    const u64 seed[2])
{
	return bloom_mix64(bloom_jhash_pair(key, len, (u32)seed[0]) ^ seed[1]);
}

/**
 * bloom_hash_jhash_two() - bloom_hash_jhash() of two keys, one behind the other
 * @key: the first, which the second follows
 * @len0: bytes of the first
 * @len1: bytes of the second
 * @seed: as there
 * @hash: where the two hashes go
 *
 * A round is a chain of dependent instructions, and a processor can work on two
 * chains in the time of one; three gain no more.
 */
static __always_inline void bloom_hash_jhash_two(const u8 *key, u32 len0,
						 u32 len1, const u64 seed[2],
						 u64 hash[2])
{
	struct bloom_jhash x = bloom_jhash_start(key, len0, (u32)seed[0]);
	struct bloom_jhash y = bloom_jhash_start(key + len0, len1, (u32)seed[0]);

	while (x.len > 12 && y.len > 12) {
		bloom_jhash_round(&x);
		bloom_jhash_round(&y);
	}
	while (x.len > 12)
		bloom_jhash_round(&x);
	while (y.len > 12)
		bloom_jhash_round(&y);
	hash[0] = bloom_mix64(bloom_jhash_end(&x) ^ seed[1]);
	hash[1] = bloom_mix64(bloom_jhash_end(&y) ^ seed[1]);
}

/* Keys of one length, up to this, overlap without bloom_hash_jhash_two(). */
#define BLOOM_JHASH_TWO_FROM	36

/**
 * bloom_hash_jhash_fixed() - bloom_hash_jhash() of keys of one length
 * @keys: the keys, one behind the other
 * @len: bytes of each
 * @seed: as there
 * @hash: where the hashes go
 * @n: how many
 *
 * Return: what is behind the last key.
 */
static __always_inline const u8 *
bloom_hash_jhash_fixed(const u8 *keys, u32 len, const u64 seed[2], u64 *hash,
		       u32 n)
{
	u32 i = 0;

	for (; len > BLOOM_JHASH_TWO_FROM && i + 1 < n; i += 2, keys += 2 * len)
		bloom_hash_jhash_two(keys, len, len, seed, hash + i);
	for (; i < n; i++, keys += len)
		hash[i] = bloom_hash_jhash(keys, len, seed);
	return keys;
}

/**
 * bloom_hash_jhash_lens() - the same of keys with lengths of their own
 * @keys: the keys, one behind the other
 * @lens: bytes of each
 * @seed: as there
 * @hash: where the hashes go
 * @n: how many
 *
 * Return: what is behind the last key.
 */
static __always_inline const u8 *
bloom_hash_jhash_lens(const u8 *keys, const u32 *lens, const u64 seed[2],
		      u64 *hash, u32 n)
{
	u32 i = 0;

	for (; i + 1 < n; i += 2) {
		bloom_hash_jhash_two(keys, lens[i], lens[i + 1], seed, hash + i);
		keys += lens[i] + lens[i + 1];
	}
	if (i < n) {
		hash[i] = bloom_hash_jhash(keys, lens[i], seed);
		keys += lens[i];
	}
	return keys;
}

/**
 * bloom_hash_siphash() - SipHash-2-4 of a key (Aumasson and Bernstein, 2012)
 * @key: the bytes
 * @len: how many
 * @seed: the 128-bit secret; seed[0] is the first eight bytes of the key
 *
 * Return: the same value as the kernel's siphash().
 */
u64 bloom_hash_siphash(const void *key, u32 len, const u64 seed[2]);

#endif /* BLOOM_CORE_HASH_H */
