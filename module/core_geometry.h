/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * From what a user asks for, a capacity and a false-positive rate, to the size
 * of an array. The one place where this is decided, for the kernel and for the
 * library; in integers, so that both get the same numbers.
 *
 * Rates are 0.64 fixed-point fractions: rate * 2^64, at least 1.
 */
#ifndef BLOOM_CORE_GEOMETRY_H
#define BLOOM_CORE_GEOMETRY_H

#include <linux/bloom.h>
#include "core_shim.h"

/*
 * Slots come in whole multiples of this (64 blocks), except where a user says
 * how many bits a classic filter or a bitmap has. No layer takes less than a
 * page anyway, and so small a block count needs no correction of the sizes.
 */
#define BLOOM_SLOTS_UNIT	32768U
/* The largest array: 2^46 slots, 8 TiB of bits. */
#define BLOOM_SLOTS_MAX		(64ULL << 40)
/* Bytes of a layer are a multiple of this. */
#define BLOOM_BYTES_UNIT	4096U

/**
 * struct bloom_geometry - the shape of one layer
 * @slots: bits, or counters
 * @bytes: memory for them, a multiple of BLOOM_BYTES_UNIT
 * @probes: slots a key takes; 1 for a bitmap
 * @kind: enum bloom_kind
 */
struct bloom_geometry {
	u64 slots;
	u64 bytes;
	u32 probes;
	u32 kind;
};

/**
 * bloom_geometry_size() - size a layer to hold a promise
 * @kind: BLOOM_KIND_BLOCKED, _CLASSIC or _COUNTING
 * @capacity: distinct keys, at least 1
 * @fp_rate: false-positive rate when it holds @capacity keys
 * @geo: the result
 *
 * From tables of slots a key and probes over -log2(rate), made by core_table.py.
 * Blocked and counting: the exact expectation over the load of a block and over
 * the number of distinct slots set in it; classic: (1 - e^(-k n / m))^k. Two
 * keys with the same 64-bit hash are part of the error: @capacity / 2^64 of the
 * rate is set aside for them. A smaller rate can need up to 0.3 % fewer slots
 * than a larger one, where it has another number of probes.
 *
 * Return: 0; -EINVAL: capacity 0, a rate below bloom_geometry_min_rate(), a kind
 * without a size; -EOVERFLOW: more than BLOOM_SLOTS_MAX slots, or more keys than
 * a 64-bit hash can tell apart at that rate.
 */
int bloom_geometry_size(u32 kind, u64 capacity, u64 fp_rate,
			struct bloom_geometry *geo);

/**
 * bloom_geometry_exact() - a layer of so many slots
 * @kind: enum bloom_kind
 * @slots: bits or counters, at least 1; rounded up to BLOOM_SLOTS_UNIT for
 *	blocked and counting
 * @probes: 1..BLOOM_PROBES_MAX; 1 for a bitmap
 * @geo: the result
 *
 * Return: 0, -EINVAL, -EOVERFLOW.
 */
int bloom_geometry_exact(u32 kind, u64 slots, u32 probes,
			 struct bloom_geometry *geo);

/**
 * bloom_geometry_min_rate() - the smallest rate that bloom_geometry_size() takes
 * @kind: enum bloom_kind
 *
 * Return: 2^-39 for blocked and counting, 2^-47 for classic, as 0.64; 0 for a
 * kind without a rate.
 */
u64 bloom_geometry_min_rate(u32 kind);

/**
 * bloom_geometry_layer() - what layer @i of a filter is made for
 * @growth: enum bloom_growth
 * @generations: of a window
 * @i: the layer, from 0; scaling: below BLOOM_LAYERS_MAX
 * @capacity: in: the filter's; out: the layer's
 * @fp_rate: in: the filter's; out: the layer's share
 *
 * Scaling: layer i has capacity * 2^i and rate / ((i + 1) (i + 2)); the shares
 * sum to the rate, and cost less memory than halving. Window: every generation
 * has the whole capacity and rate / generations. Fixed: all is layer 0's.
 *
 * Return: 0, -EOVERFLOW (capacity), -EINVAL (the share is 0, no such
 * layer, growth or number of generations).
 */
int bloom_geometry_layer(u32 growth, u32 generations, u32 i, u64 *capacity,
			 u64 *fp_rate);

#endif /* BLOOM_CORE_GEOMETRY_H */
