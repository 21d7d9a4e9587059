// SPDX-License-Identifier: LGPL-2.1
/*
 * Queries on a mapped filter: no system call, as long as its layers stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "map.h"

/* How often a burst is tried on the map before the kernel is asked. */
#define TRIES	4

static int map_follow(struct bloomdev_map *map)
{
	struct probe_layer *layer;
	uint32_t i;
	int ret;

	ret = bloomdev_views_open(map->filter.fd, map->head, &map->raw,
				  map->views, &map->seq);
	if (ret) {
		/* An odd value: the next call looks again. */
		map->seq = 1;
		return ret;
	}
	for (i = 0; i < map->raw.info.layer_count; i++) {
		layer = &map->layers[i];
		layer->words = map->views[i].data;
		layer->slots = map->raw.layers[i].slots;
		layer->blocks = layer->slots / BLOOM_BLOCK_SLOTS;
		layer->probes = map->raw.layers[i].probes;
	}
	return 0;
}

int bloomdev_map_begin(struct bloomdev_map *map)
{
	uint64_t seq = __atomic_load_n(&map->head->seq, __ATOMIC_ACQUIRE);

	if (seq == map->seq)
		return 0;
	return seq & 1 ? 1 : map_follow(map);
}

bool bloomdev_map_valid(const struct bloomdev_map *map)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&map->head->seq, __ATOMIC_RELAXED) == map->seq;
}

BLOOMDEV_API struct bloomdev_map *
bloomdev_map_open(struct bloomdev_filter *filter)
{
	struct bloomdev_map *map = calloc(1, sizeof(*map));
	int saved;

	if (!map) {
		bloomdev_fail_sys(ENOMEM, "a handle for a map");
		return NULL;
	}
	map->filter.fd = fcntl(filter->fd, F_DUPFD_CLOEXEC, 3);
	if (map->filter.fd < 0) {
		bloomdev_fail_sys(errno, "mapping the filter");
		goto fail;
	}
	if (bloomdev_head_map(map->filter.fd, &map->head) || map_follow(map))
		goto fail;
	map->burst = probe_select(map->raw.info.kind);
	if (!map->burst) {
		bloomdev_fail(EOPNOTSUPP, "filters of kind %u are unknown to this library",
			      map->raw.info.kind);
		goto fail;
	}
	return map;

fail:
	saved = errno;
	bloomdev_map_close(map);
	errno = saved;
	return NULL;
}

BLOOMDEV_API void bloomdev_map_close(struct bloomdev_map *map)
{
	if (!map)
		return;
	bloomdev_views_close(map->views);
	bloomdev_head_unmap(map->head);
	if (map->filter.fd >= 0)
		close(map->filter.fd);
	free(map);
}

/* A burst of keys on their way from bytes to verdicts. */
struct burst {
	const uint8_t *data;
	size_t bytes;
	u32 n;
	u32 lens[PROBE_BURST];
	u64 at[PROBE_BURST];
	u8 out_of_range[PROBE_BURST];
	u8 found[PROBE_BURST];
};

/* The lengths of the next keys. Return: whether they are allowed and there. */
static bool burst_take(struct burst *b, const struct bloomdev_keys *keys,
		       size_t from, size_t left)
{
	size_t bytes = 0;
	u32 i;

	b->n = keys->count - from < PROBE_BURST ? keys->count - from :
						  PROBE_BURST;
	for (i = 0; i < b->n; i++) {
		b->lens[i] = keys->lens ? keys->lens[from + i] : keys->key_len;
		if (b->lens[i] > BLOOM_KEY_MAX)
			return false;
		bytes += b->lens[i];
	}
	b->bytes = bytes;
	return bytes <= left;
}

static bool burst_integers(struct burst *b, const struct bloom_info *info,
			   u64 slots)
{
	const u8 *key = b->data;
	u64 value;
	u32 i;

	for (i = 0; i < b->n; i++) {
		if (b->lens[i] != sizeof(value))
			return false;
		memcpy(&value, key, sizeof(value));
		key += sizeof(value);
		value -= info->base;
		b->out_of_range[i] = value >= slots;
		b->at[i] = b->out_of_range[i] ? 0 : value;
	}
	return true;
}

static bool burst_hash(struct burst *b, const struct bloomdev_map *map)
{
	const struct bloom_info *info = &map->raw.info;
	const u64 seed[2] = { info->seed[0], info->seed[1] };
	const u8 *key = b->data;
	u32 i;

	memset(b->out_of_range, 0, sizeof(b->out_of_range));
	if (info->kind == BLOOM_KIND_BITMAP)
		return burst_integers(b, info, map->layers[0].slots);
	if (info->hash == BLOOM_HASH_SIPHASH) {
		for (i = 0; i < b->n; key += b->lens[i++])
			b->at[i] = bloom_hash_siphash(key, b->lens[i], seed);
	} else {
		for (i = 0; i < b->n; key += b->lens[i++])
			b->at[i] = bloom_hash_jhash(key, b->lens[i], seed);
	}
	return true;
}

/* Return: 0, 1 if the kernel has to be asked, or a negative errno. */
static int burst_probe(struct burst *b, struct bloomdev_map *map)
{
	uint32_t i;
	int tries, ret;

	for (tries = 0; tries < TRIES; tries++) {
		ret = bloomdev_map_begin(map);
		if (ret)
			return ret;
		memset(b->found, 0, sizeof(b->found));
		for (i = 0; i < map->raw.info.layer_count; i++)
			map->burst(&map->layers[i], b->at, b->n, b->found);
		if (bloomdev_map_valid(map))
			return 0;
	}
	return 1;
}

static int burst_ask(struct burst *b, struct bloomdev_map *map)
{
	struct bloomdev_keys keys = {
		.data = b->data,
		.bytes = b->bytes,
		.lens = b->lens,
		.count = b->n,
	};

	return bloomdev_filter_query(&map->filter, &keys, b->found, NULL);
}

static void burst_count(const struct burst *b, uint8_t *verdicts,
			struct bloomdev_result *sum)
{
	u8 verdict;
	u32 i;

	for (i = 0; i < b->n; i++) {
		verdict = b->out_of_range[i] ? BLOOMDEV_OUT_OF_RANGE : b->found[i];
		sum->present += verdict == BLOOMDEV_PRESENT;
		sum->out_of_range += verdict == BLOOMDEV_OUT_OF_RANGE;
		if (verdicts)
			verdicts[sum->done + i] = verdict;
	}
	sum->done += b->n;
}

BLOOMDEV_API int bloomdev_map_query(struct bloomdev_map *map,
				    const struct bloomdev_keys *keys,
				    uint8_t *verdicts,
				    struct bloomdev_result *result)
{
	struct bloomdev_result sum = {};
	size_t left = keys->bytes;
	struct burst b;
	int ret = 0;

	b.data = keys->data;
	while (sum.done < keys->count) {
		if (!burst_take(&b, keys, sum.done, left) ||
		    !burst_hash(&b, map)) {
			ret = bloomdev_keys_explain(keys);
			break;
		}
		ret = burst_probe(&b, map);
		if (ret == 1)
			ret = burst_ask(&b, map);
		if (ret)
			break;
		burst_count(&b, verdicts, &sum);
		b.data += b.bytes;
		left -= b.bytes;
	}
	if (!ret && left)
		ret = bloomdev_keys_explain(keys);
	if (result)
		*result = sum;
	return ret;
}

BLOOMDEV_API int bloomdev_map_query_key(struct bloomdev_map *map,
					const void *key, size_t len)
{
	struct bloomdev_keys keys = {
		.data = key,
		.bytes = len,
		.key_len = len,
		.count = 1,
	};
	struct bloomdev_result result;
	int ret;

	if (len > BLOOM_KEY_MAX)
		return bloomdev_fail(EINVAL, "a key of %zu bytes; the limit is %d",
				     len, BLOOM_KEY_MAX);
	ret = bloomdev_map_query(map, &keys, NULL, &result);
	if (ret)
		return ret;
	if (result.out_of_range)
		return BLOOMDEV_OUT_OF_RANGE;
	return result.present ? BLOOMDEV_PRESENT : BLOOMDEV_ABSENT;
}
