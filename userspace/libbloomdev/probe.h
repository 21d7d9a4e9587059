/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Hashing and probing on mapped layers, a group of keys at a time.
 */
#ifndef BLOOMDEV_PROBE_H
#define BLOOMDEV_PROBE_H

#include <stdbool.h>
#include <linux/bloom.h>
#include "core_probe.h"

/* Keys that are dealt with together: a bit each in a 64-bit mask. */
#define PROBE_GROUP	64

/* One layer as probing needs it. */
struct probe_layer {
	const __le64 *words;
	u64 slots;
	u64 blocks;
	u32 probes;
};

/**
 * struct probe_ops - one kind of filter, for one instruction set
 * @hash: jhash of @n keys of @len bytes, one after the other
 * @fetch: have the lines of @n keys brought, at most PROBE_GROUP; @at: their
 *	hashes (bitmap: distances from base)
 * @test: which of them are in the layer, a bit each
 * @one: all of it, for one key by itself; blocked only
 */
struct probe_ops {
	void (*hash)(const u8 *keys, u32 len, const u64 seed[2], u64 *at,
		     u32 n);
	void (*fetch)(const struct probe_layer *layer, const u64 *at, u32 n);
	u64 (*test)(const struct probe_layer *layer, const u64 *at, u32 n);
	bool (*one)(const struct probe_layer *layer, const u8 *key, u32 len,
		    const u64 seed[2]);
};

/*
 * The functions for a kind, NULL if it is not known. @scalar: not those that
 * need more than the machine has to have; all give the same answers.
 */
const struct probe_ops *probe_select(u32 kind, bool scalar);

static inline const __le64 *probe_block(const struct probe_layer *layer, u64 at)
{
	return layer->words + bloom_range(at, layer->blocks) * BLOOM_BLOCK_WORDS;
}

void probe_hash(const u8 *keys, u32 len, const u64 seed[2], u64 *at, u32 n);
void probe_fetch_blocked(const struct probe_layer *layer, const u64 *at, u32 n);

/* probe_avx2.c; NULL where this machine or this build has no AVX2. */
const struct probe_ops *probe_blocked_avx2(void);

#endif /* BLOOMDEV_PROBE_H */
