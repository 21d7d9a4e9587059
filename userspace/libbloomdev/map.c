// SPDX-License-Identifier: LGPL-2.1
/*
 * Queries on a mapped filter: no system call, as long as its layers stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "map.h"

/* How often a group is tried on the map before the kernel is asked. */
#define TRIES	4

/*
 * Keys hashed between two bursts of prefetches: long bursts where page tables are
 * not in the cache either, short ones where hashing can overlap the last burst's
 * misses. Measured with 4 KiB pages from 1 MiB to 1 GiB.
 */
#define BURST_SHORT	16
#define BURST_LONG	32
#define LONG_FROM_SLOTS	(1ULL << 31)

void bloomdev_map_settle(struct bloomdev_map *map)
{
	const struct bloom_info *info = &map->raw.info;

	map->seed[0] = info->seed[0];
	map->seed[1] = info->seed[1];
	map->burst = map->layers[0].slots < LONG_FROM_SLOTS ? BURST_SHORT :
							      BURST_LONG;
	map->plain = info->kind == BLOOM_KIND_BLOCKED &&
		     info->hash == BLOOM_HASH_JHASH && info->layer_count == 1;
}

static int map_follow(struct bloomdev_map *map)
{
	struct probe_layer *layer;
	uint32_t i;
	int ret;

	ret = bloomdev_views_open(map->filter.fd, map->head, &map->raw,
				  map->views, &map->seq);
	if (ret) {
		/* No sequence is this: the next call looks again. */
		map->seq = UINT64_MAX;
		return ret;
	}
	for (i = 0; i < map->raw.info.layer_count; i++) {
		layer = &map->layers[i];
		layer->words = map->views[i].data;
		layer->slots = map->raw.layers[i].slots;
		layer->blocks = layer->slots / BLOOM_BLOCK_SLOTS;
		layer->probes = map->raw.layers[i].probes;
	}
	bloomdev_map_settle(map);
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
	map->ops = probe_select(map->raw.info.kind, false);
	if (!map->ops) {
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

/* Keys on their way from bytes to verdicts. */
struct group {
	const uint8_t *data;
	const uint32_t *lens;	/* NULL: all are @len long */
	u32 len;
	u32 n;
	size_t bytes;
	u64 out_of_range;
	u64 found;
	u64 at[PROBE_GROUP];
};

/* The next keys. Return: whether their lengths are allowed and there. */
static bool group_take(struct group *g, const struct bloomdev_keys *keys,
		       size_t from, size_t left)
{
	u32 i;

	g->n = keys->count - from < PROBE_GROUP ? keys->count - from :
						  PROBE_GROUP;
	g->lens = keys->lens ? keys->lens + from : NULL;
	g->len = keys->key_len;
	g->out_of_range = 0;
	if (!g->lens) {
		g->bytes = (size_t)g->len * g->n;
		return g->len <= BLOOM_KEY_MAX && g->bytes <= left;
	}
	g->bytes = 0;
	for (i = 0; i < g->n; i++) {
		if (g->lens[i] > BLOOM_KEY_MAX)
			return false;
		g->bytes += g->lens[i];
	}
	return g->bytes <= left;
}

static bool place_integers(struct group *g, const struct bloom_info *info,
			   u64 slots)
{
	const u8 *key = g->data;
	u64 value;
	u32 i;

	for (i = 0; i < g->n; i++, key += sizeof(value)) {
		if ((g->lens ? g->lens[i] : g->len) != sizeof(value))
			return false;
		memcpy(&value, key, sizeof(value));
		value -= info->base;
		g->out_of_range |= (u64)(value >= slots) << i;
		g->at[i] = value >= slots ? 0 : value;
	}
	return true;
}

/* Hash keys from number @i of the group on. Return: where the next begins. */
static const u8 *hash_keys(struct group *g, const struct bloomdev_map *map,
			   const u8 *key, u32 i, u32 n)
{
	const struct bloom_info *info = &map->raw.info;
	const u64 *seed = map->seed;
	u32 last = i + n, len;

	if (info->hash == BLOOM_HASH_JHASH) {
		if (g->lens)
			return bloom_hash_jhash_lens(key, g->lens + i, seed,
						     g->at + i, n);
		map->ops->hash(key, g->len, seed, g->at + i, n);
		return key + (size_t)g->len * n;
	}
	for (; i < last; i++, key += len) {
		len = g->lens ? g->lens[i] : g->len;
		g->at[i] = bloom_hash_siphash(key, len, seed);
	}
	return key;
}

/*
 * Hash a burst and have its lines brought, and so on: asked for together, the
 * misses overlap. Return: whether these can be keys of the filter.
 */
static bool group_place(struct group *g, const struct bloomdev_map *map)
{
	const struct probe_layer *layer = &map->layers[0];
	const u8 *key = g->data;
	u32 i, n;

	if (map->raw.info.kind == BLOOM_KIND_BITMAP) {
		if (!place_integers(g, &map->raw.info, layer->slots))
			return false;
		map->ops->fetch(layer, g->at, g->n);
		return true;
	}
	for (i = 0; i < g->n; i += n) {
		n = g->n - i < map->burst ? g->n - i : map->burst;
		key = hash_keys(g, map, key, i, n);
		map->ops->fetch(layer, g->at + i, n);
	}
	return true;
}

/* Return: 0, 1 if the kernel has to be asked, or a negative errno. */
static int group_probe(struct group *g, struct bloomdev_map *map)
{
	uint32_t i;
	int tries, ret;

	for (tries = 0; tries < TRIES; tries++) {
		ret = bloomdev_map_begin(map);
		if (ret)
			return ret;
		if (!tries && !group_place(g, map))
			return -EINVAL;
		g->found = 0;
		for (i = 0; i < map->raw.info.layer_count; i++) {
			if (i)
				map->ops->fetch(&map->layers[i], g->at, g->n);
			g->found |= map->ops->test(&map->layers[i], g->at, g->n);
		}
		if (bloomdev_map_valid(map))
			return 0;
	}
	return 1;
}

static int group_ask(struct group *g, struct bloomdev_map *map)
{
	struct bloomdev_keys keys = {
		.data = g->data,
		.bytes = g->bytes,
		.lens = g->lens,
		.key_len = g->lens ? 0 : g->len,
		.count = g->n,
	};
	u8 answers[PROBE_GROUP];
	u32 i;
	int ret;

	ret = bloomdev_filter_query(&map->filter, &keys, answers, NULL);
	if (ret)
		return ret;
	g->found = 0;
	g->out_of_range = 0;
	for (i = 0; i < g->n; i++) {
		g->found |= (u64)(answers[i] == BLOOMDEV_PRESENT) << i;
		g->out_of_range |= (u64)(answers[i] == BLOOMDEV_OUT_OF_RANGE) << i;
	}
	return 0;
}

static void group_count(const struct group *g, uint8_t *verdicts,
			struct bloomdev_result *sum)
{
	u64 present = g->found & ~g->out_of_range;
	u32 i;

	for (i = 0; verdicts && i < g->n; i++)
		verdicts[sum->done + i] =
			(present >> i & 1) * BLOOMDEV_PRESENT +
			(g->out_of_range >> i & 1) * BLOOMDEV_OUT_OF_RANGE;
	sum->present += bloom_popcount(present);
	sum->out_of_range += bloom_popcount(g->out_of_range);
	sum->done += g->n;
}

BLOOMDEV_API int bloomdev_map_query(struct bloomdev_map *map,
				    const struct bloomdev_keys *keys,
				    uint8_t *verdicts,
				    struct bloomdev_result *result)
{
	struct bloomdev_result sum = {};
	size_t left = keys->bytes;
	struct group g;
	int ret = 0;

	g.data = keys->data;
	while (sum.done < keys->count) {
		ret = group_take(&g, keys, sum.done, left) ?
		      group_probe(&g, map) : -EINVAL;
		if (ret == -EINVAL) {
			ret = bloomdev_keys_explain(keys);
			break;
		}
		if (ret == 1)
			ret = group_ask(&g, map);
		if (ret)
			break;
		group_count(&g, verdicts, &sum);
		g.data += g.bytes;
		left -= g.bytes;
	}
	if (!ret && left)
		ret = bloomdev_keys_explain(keys);
	if (result)
		*result = sum;
	return ret;
}

/* One key of a plain filter. Return: the verdict, or -EAGAIN. */
static int query_plain(const struct bloomdev_map *map, const void *key, u32 len)
{
	bool present;

	if (__atomic_load_n(&map->head->seq, __ATOMIC_ACQUIRE) != map->seq)
		return -EAGAIN;
	present = map->ops->one(&map->layers[0], key, len, map->seed);
	if (!bloomdev_map_valid(map))
		return -EAGAIN;
	return present ? BLOOMDEV_PRESENT : BLOOMDEV_ABSENT;
}

static __attribute__((noinline)) int
query_one(struct bloomdev_map *map, const void *key, size_t len)
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

BLOOMDEV_API int bloomdev_map_query_key(struct bloomdev_map *map,
					const void *key, size_t len)
{
	int ret = -EAGAIN;

	if (map->plain && len <= BLOOM_KEY_MAX)
		ret = query_plain(map, key, len);
	return ret == -EAGAIN ? query_one(map, key, len) : ret;
}
