/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Probing mapped layers, a burst of keys at a time.
 */
#ifndef BLOOMDEV_PROBE_H
#define BLOOMDEV_PROBE_H

#include <linux/bloom.h>
#include "core_probe.h"

/*
 * Keys whose cache lines are fetched together. Enough of them keep every line
 * fill buffer busy; many more only push each other out of the first-level cache.
 */
#define PROBE_BURST	32

/* One layer as probing needs it. */
struct probe_layer {
	const __le64 *words;
	u64 slots;
	u64 blocks;
	u32 probes;
};

/*
 * Look up to PROBE_BURST keys up in one layer. @at: their hashes (bitmap:
 * distances from base). @found: a byte a key, 1 is OR-ed into it if present.
 * An implementation for one instruction set is chosen once, in probe_select().
 */
typedef void (*probe_burst)(const struct probe_layer *layer, const u64 *at,
			    u32 n, u8 *found);

probe_burst probe_select(u32 kind);

#endif /* BLOOMDEV_PROBE_H */
