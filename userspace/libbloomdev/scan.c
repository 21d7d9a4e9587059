// SPDX-License-Identifier: LGPL-2.1
/*
 * The integers of a bitmap, in order: a bitmap is a sorted set.
 */
#include <errno.h>
#include "map.h"

/* CLEAR gives a bitmap another layer; a scan then goes on in that one. */
static int scan_begin(struct bloomdev_map *map)
{
	int ret;

	if (map->raw.info.kind != BLOOM_KIND_BITMAP)
		return bloomdev_fail(EOPNOTSUPP,
				     "a %s filter does not know its keys; only a bitmap does",
				     bloomdev_kind_name(map->raw.info.kind));
	do {
		ret = bloomdev_map_begin(map);
	} while (ret == 1);
	return ret;
}

/* Bits at and above @bit. */
static u64 from_bit(u64 word, u32 bit)
{
	return word & (~0ULL << bit);
}

/* The first slot at or after @slot whose bit is not @flip; slots if none. */
static u64 next_slot(const struct probe_layer *layer, u64 slot, u64 flip)
{
	u64 last = (layer->slots - 1) >> 6, i, word;

	if (slot >= layer->slots)
		return layer->slots;
	i = slot >> 6;
	word = from_bit(bloom_word(&layer->words[i]) ^ flip, slot & 63);
	while (!word) {
		if (i == last)
			return layer->slots;
		word = bloom_word(&layer->words[++i]) ^ flip;
	}
	slot = i << 6 | (u32)__builtin_ctzll(word);
	return slot < layer->slots ? slot : layer->slots;
}

BLOOMDEV_API int bloomdev_map_values(struct bloomdev_map *map, uint64_t from,
				     uint64_t *values, size_t room,
				     size_t *count)
{
	const struct probe_layer *layer = &map->layers[0];
	u64 base = map->raw.info.base, i, last, word;
	size_t n = 0;
	int ret;

	*count = 0;
	ret = scan_begin(map);
	if (ret)
		return ret;

	from = from > base ? from - base : 0;
	if (from >= layer->slots || !room)
		return 0;
	last = (layer->slots - 1) >> 6;
	i = from >> 6;
	word = from_bit(bloom_word(&layer->words[i]), from & 63);
	for (;;) {
		for (; word; word &= word - 1) {
			values[n++] = base + (i << 6) + __builtin_ctzll(word);
			if (n == room)
				goto out;
		}
		if (i == last)
			break;
		word = bloom_word(&layer->words[++i]);
	}
out:
	*count = n;
	return 0;
}

BLOOMDEV_API int bloomdev_map_range(struct bloomdev_map *map, uint64_t from,
				    uint64_t *first, uint64_t *last)
{
	const struct probe_layer *layer = &map->layers[0];
	u64 base = map->raw.info.base, slot;
	int ret;

	ret = scan_begin(map);
	if (ret)
		return ret;

	slot = next_slot(layer, from > base ? from - base : 0, 0);
	if (slot == layer->slots)
		return 0;
	*first = base + slot;
	/* No end before the start, whatever others do meanwhile. */
	*last = base + next_slot(layer, slot + 1, ~0ULL) - 1;
	return 1;
}
