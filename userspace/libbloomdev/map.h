/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * A mapped filter.
 */
#ifndef BLOOMDEV_MAP_H
#define BLOOMDEV_MAP_H

#include "internal.h"
#include "probe.h"

/**
 * struct bloomdev_map
 * @filter: a descriptor of our own: INFO, and the way round by QUERY
 * @head: the head page
 * @seq: the sequence that @views and @layers belong to
 * @raw: INFO of then
 * @views: the layers' memory
 * @layers: the same, as probing wants it
 * @ops: hash and probe
 * @seed: the filter's
 * @burst: keys hashed between two bursts of prefetches
 * @plain: blocked, jhash, one layer: one key alone is worth a short cut
 */
struct bloomdev_map {
	struct bloomdev_filter filter;
	const struct bloom_head *head;
	uint64_t seq;
	struct bloomdev_raw_info raw;
	struct bloomdev_view views[BLOOM_LAYERS_MAX];
	struct probe_layer layers[BLOOM_LAYERS_MAX];
	const struct probe_ops *ops;
	u64 seed[2];
	u32 burst;
	bool plain;
};

/* Set what follows from @raw and @layers: @seed, @burst, @plain. */
void bloomdev_map_settle(struct bloomdev_map *map);

/*
 * Begin to read: make sure that the views are of now. Return: 0, 1 if the layers
 * change just now (ask the kernel), or a negative errno.
 */
int bloomdev_map_begin(struct bloomdev_map *map);
/* Has nothing changed since? What was read counts only then. */
bool bloomdev_map_valid(const struct bloomdev_map *map);

#endif /* BLOOMDEV_MAP_H */
