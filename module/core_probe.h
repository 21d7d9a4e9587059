/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * From a 64-bit hash to the slots of a key, and what is done to them.
 *
 * Memory is an array of little-endian 64-bit words: slot i of a bit array is
 * bit i % 8 of byte i / 8 on every machine.
 *
 * Writers of one word exclude each other by a lock (blocks, counters, bitmap
 * words: a word belongs to one stripe) or by an atomic OR (classic: words are
 * shared by stripes). Readers take no lock: hence READ_ONCE and WRITE_ONCE. A
 * reader that races with a writer sees each bit as before or after, and a bit
 * never goes from 1 to 0 by an addition.
 */
#ifndef BLOOM_CORE_PROBE_H
#define BLOOM_CORE_PROBE_H

#include "core_hash.h"

/* A block is 512 slots: a 64-byte cache line of bits, or four of counters. */
#define BLOOM_BLOCK_SHIFT	9
#define BLOOM_BLOCK_WORDS	8	/* words of a block of bits */
#define BLOOM_COUNTER_BITS	4
#define BLOOM_COUNTER_MAX	15	/* sticky: a counter here is never changed */
#define BLOOM_COUNTER_WORDS	(BLOOM_BLOCK_WORDS * BLOOM_COUNTER_BITS)

/* Slices of BLOOM_BLOCK_SHIFT bits in one 64-bit value. */
#define BLOOM_SLICES		7
#define BLOOM_SLICE_MASK	((1U << BLOOM_BLOCK_SHIFT) - 1)
#define BLOOM_GOLDEN		0x9e3779b97f4a7c15ULL

/* A fair range reduction: floor(hash * n / 2^64), so that nothing is rounded. */
static __always_inline u64 bloom_range(u64 hash, u64 n)
{
	return bloom_mul_high(hash, n);
}

/*
 * Both halves of a 128-bit product, folded: every bit of the result depends on
 * nearly every bit of @x, for one multiplication. Good enough only for an @x that
 * is well mixed already, as a hash is.
 */
static __always_inline u64 bloom_remix(u64 x)
{
	return bloom_mul_high(x, BLOOM_GOLDEN) ^ x * BLOOM_GOLDEN;
}

/*
 * The slots of a key inside its block: slices of the remixed hash, remixed
 * again every BLOOM_SLICES slices. They are as good as independent draws with
 * replacement (measured), which is what the sizing table assumes. The low half
 * of the product alone would not be: its lowest slices see only the lowest bits
 * of the hash.
 */
struct bloom_slices {
	u64 mix;	/* the value being sliced, whole */
	u64 rest;	/* what is left of it */
	u32 left;
};

static __always_inline struct bloom_slices bloom_slices_start(u64 hash)
{
	u64 mix = bloom_remix(hash);

	return (struct bloom_slices){ mix, mix, BLOOM_SLICES };
}

static __always_inline u32 bloom_slices_next(struct bloom_slices *s)
{
	u32 slot;

	if (!s->left) {
		s->mix = bloom_remix(s->mix);
		s->rest = s->mix;
		s->left = BLOOM_SLICES;
	}
	slot = s->rest & BLOOM_SLICE_MASK;
	s->rest >>= BLOOM_BLOCK_SHIFT;
	s->left--;
	return slot;
}

static __always_inline u64 bloom_word(const __le64 *word)
{
	return le64_to_cpu(READ_ONCE(*word));
}

/* The bit, as bit 0 of a word, that the lowest slice of @slices stands for. */
static __always_inline u64 bloom_block_bit(const __le64 *block, u64 slices)
{
	u32 slot = slices & BLOOM_SLICE_MASK;

	return bloom_word(&block[slot >> 6]) >> (slot & 63);
}

/*
 * The first @n slots of one round of slices, in bit 0. Where the compiler knows
 * @n, this is no loop.
 */
static __always_inline u64 bloom_round_test(const __le64 *block, u64 mix, u32 n)
{
	u64 all = bloom_block_bit(block, mix);

	if (n > 1)
		all &= bloom_block_bit(block, mix >> 9);
	if (n > 2)
		all &= bloom_block_bit(block, mix >> 18);
	if (n > 3)
		all &= bloom_block_bit(block, mix >> 27);
	if (n > 4)
		all &= bloom_block_bit(block, mix >> 36);
	if (n > 5)
		all &= bloom_block_bit(block, mix >> 45);
	if (n > 6)
		all &= bloom_block_bit(block, mix >> 54);
	return all;
}

/* How many slots the last round has, 1..BLOOM_SLICES. */
static __always_inline u32 bloom_last_round(u32 probes)
{
	return (probes - 1) % BLOOM_SLICES + 1;
}

/*
 * Are all slots of @hash set in its block? @probes is at least 1, @last is
 * bloom_last_round(@probes): a caller that tests many keys tells the compiler.
 *
 * The slots are those of bloom_slices_next(), a whole round of them at a time.
 * There is no branch on the data except where more than another round is to
 * come: then leaving early saves more than a wrong guess costs.
 */
static __always_inline bool bloom_block_test_last(const __le64 *block, u64 hash,
						  u32 probes, u32 last)
{
	u64 mix = bloom_remix(hash);
	u64 all = 1;

	for (; probes > BLOOM_SLICES; probes -= BLOOM_SLICES) {
		all &= bloom_round_test(block, mix, BLOOM_SLICES);
		if (probes > 2 * BLOOM_SLICES && !(all & 1))
			return false;
		mix = bloom_remix(mix);
	}
	return all & bloom_round_test(block, mix, last) & 1;
}

static __always_inline bool bloom_block_test(const __le64 *block, u64 hash,
					     u32 probes)
{
	return bloom_block_test_last(block, hash, probes,
				     bloom_last_round(probes));
}

/* Set the slot of the lowest slice. Return: 1 if it was not set before. */
static __always_inline u32 bloom_block_set_bit(__le64 *block, u64 slices)
{
	u32 slot = slices & BLOOM_SLICE_MASK;
	u64 old = bloom_word(&block[slot >> 6]);
	u64 word = old | 1ULL << (slot & 63);

	WRITE_ONCE(block[slot >> 6], cpu_to_le64(word));
	/* That is word != old, in fewer instructions. */
	return old < word;
}

/* The first @n slots of one round; see bloom_round_test(). */
static __always_inline u32 bloom_round_set(__le64 *block, u64 mix, u32 n)
{
	u32 flipped = bloom_block_set_bit(block, mix);

	if (n > 1)
		flipped += bloom_block_set_bit(block, mix >> 9);
	if (n > 2)
		flipped += bloom_block_set_bit(block, mix >> 18);
	if (n > 3)
		flipped += bloom_block_set_bit(block, mix >> 27);
	if (n > 4)
		flipped += bloom_block_set_bit(block, mix >> 36);
	if (n > 5)
		flipped += bloom_block_set_bit(block, mix >> 45);
	if (n > 6)
		flipped += bloom_block_set_bit(block, mix >> 54);
	return flipped;
}

/*
 * Set all slots of @hash in its block. The caller excludes other writers of the
 * block. Return: how many were not set before.
 */
static __always_inline u32 bloom_block_set(__le64 *block, u64 hash, u32 probes)
{
	u64 mix = bloom_remix(hash);
	u32 flipped = 0;

	for (; probes > BLOOM_SLICES; probes -= BLOOM_SLICES) {
		flipped += bloom_round_set(block, mix, BLOOM_SLICES);
		mix = bloom_remix(mix);
	}
	return probes ? flipped + bloom_round_set(block, mix, probes) : flipped;
}

/* Slot number @i of a key in a classic filter: an independent draw each. */
static __always_inline u64 bloom_classic_slot(u64 hash, u32 i, u64 slots)
{
	return bloom_range(bloom_mix64(hash + (i + 1) * BLOOM_GOLDEN), slots);
}

/* Are the slots number @from to @to - 1 set? */
static __always_inline bool bloom_classic_test_some(const __le64 *words,
						    u64 slots, u64 hash,
						    u32 from, u32 to)
{
	u64 slot;
	u32 i;

	for (i = from; i < to; i++) {
		slot = bloom_classic_slot(hash, i, slots);
		if (!(bloom_word(&words[slot >> 6]) >> (slot & 63) & 1))
			return false;
	}
	return true;
}

static __always_inline bool bloom_classic_test(const __le64 *words, u64 slots,
					       u64 hash, u32 probes)
{
	return bloom_classic_test_some(words, slots, hash, 0, probes);
}

/*
 * Safe against other writers of the same words. Each bit is looked at first, so
 * that one that is set already dirties no cache line. Return: how many bits this
 * call, and no other, has set.
 */
static __always_inline u32 bloom_classic_set(__le64 *words, u64 slots, u64 hash,
					     u32 probes)
{
	u32 i, flipped = 0;
	u64 slot, bit;

	for (i = 0; i < probes; i++) {
		slot = bloom_classic_slot(hash, i, slots);
		bit = 1ULL << (slot & 63);
		if (bloom_word(&words[slot >> 6]) & bit)
			continue;
		flipped += !(le64_to_cpu((__force __le64)
			     bloom_fetch_or(&words[slot >> 6],
					    cpu_to_le64(bit))) & bit);
	}
	return flipped;
}

/* Counter @slot of a block of counters. */
static __always_inline u32 bloom_counter(const __le64 *block, u32 slot)
{
	return bloom_word(&block[slot >> 4]) >> (4 * (slot & 15)) &
	       BLOOM_COUNTER_MAX;
}

static __always_inline bool bloom_counters_test(const __le64 *block, u64 hash,
						u32 probes)
{
	struct bloom_slices s = bloom_slices_start(hash);

	while (probes--) {
		if (!bloom_counter(block, bloom_slices_next(&s)))
			return false;
	}
	return true;
}

/*
 * Count a key in (@up) or out. A slot drawn twice by one key counts once, so
 * that in and out are each other's inverse. A counter at its maximum stays; one
 * at zero is not taken below it. The caller excludes other writers.
 * Return: how many counters left zero (up) or came to it (down).
 */
u32 bloom_counters_change(__le64 *block, u64 hash, u32 probes, bool up);

/*
 * Add two words of counters, each counter for itself and up to its maximum.
 */
u64 bloom_counters_add(u64 a, u64 b);

/* How many of the 16 counters of a word are not zero. */
u32 bloom_counters_nonzero(u64 word);

#endif /* BLOOM_CORE_PROBE_H */
