// SPDX-License-Identifier: LGPL-2.1
/*
 * Union of two filters: the source's map, OR-ed into the target by LOAD.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include "internal.h"

/* Bytes between two looks at the caller's wish to stop. */
#define MERGE_CHUNK	(4U << 20)
/* How often it begins again in a target that rotates faster than it merges. */
#define TRIES		10

struct merge {
	struct bloomdev_raw_info from;
	struct bloomdev_raw_info into;
	struct bloomdev_view views[BLOOM_LAYERS_MAX];
	uint64_t done;
	uint64_t total;
	bloomdev_progress progress;
	void *arg;
};

static int differ(const char *what, uint64_t from, uint64_t into)
{
	return bloomdev_fail(EINVAL, "can't merge: the %s differs: %" PRIu64 " and %" PRIu64,
			     what, from, into);
}

static int compare(const struct merge *m)
{
	const struct bloom_info *from = &m->from.info, *into = &m->into.info;
	uint32_t i;

	if (from->id == into->id)
		return bloomdev_fail(EINVAL, "can't merge a filter with itself");
	if (from->kind != into->kind)
		return bloomdev_fail(EINVAL, "can't merge: the kind differs: %s and %s",
				     bloomdev_kind_name(from->kind),
				     bloomdev_kind_name(into->kind));
	if (from->growth != into->growth)
		return bloomdev_fail(EINVAL, "can't merge: the growth differs: %s and %s",
				     bloomdev_growth_name(from->growth),
				     bloomdev_growth_name(into->growth));
	if (from->hash != into->hash)
		return bloomdev_fail(EINVAL, "can't merge: the hash differs: %s and %s",
				     bloomdev_hash_name(from->hash),
				     bloomdev_hash_name(into->hash));
	if (from->seed[0] != into->seed[0] || from->seed[1] != into->seed[1])
		return bloomdev_fail(EINVAL,
				     "can't merge: the seed differs (filters to be merged are made with one seed)"
			);
	if (from->base != into->base)
		return differ("base", from->base, into->base);
	if (from->generations != into->generations)
		return differ("number of generations", from->generations,
			      into->generations);

	for (i = 0; i < from->layer_count && i < into->layer_count; i++) {
		if (m->from.layers[i].slots != m->into.layers[i].slots)
			return differ("number of slots", m->from.layers[i].slots,
				      m->into.layers[i].slots);
		if (m->from.layers[i].probes != m->into.layers[i].probes)
			return differ("number of probes",
				      m->from.layers[i].probes,
				      m->into.layers[i].probes);
	}
	return 0;
}

static int merge_layer(struct merge *m, int fd, uint32_t layer)
{
	const struct bloom_layer_info *l = &m->from.layers[layer];
	uint64_t bytes = bloomdev_layer_data_bytes(m->from.info.kind, l->slots);
	const uint8_t *data = m->views[layer].data;
	uint64_t offset, n;
	int ret;

	for (offset = 0; offset < bytes; offset += n) {
		struct bloom_load load = {
			.layer = layer,
			.offset = offset,
			.data = (uintptr_t)(data + offset),
		};

		n = bytes - offset < MERGE_CHUNK ? bytes - offset : MERGE_CHUNK;
		load.length = n;
		if (!offset && layer >= m->into.info.layer_count) {
			load.slots = l->slots;
			load.probes = l->probes;
		}
		/* A multiset's sizes add up; others are counted afterwards. */
		if (offset + n == bytes && m->from.info.kind == BLOOM_KIND_COUNTING)
			load.keys = l->keys;
		ret = bloomdev_load(fd, &load);
		if (ret)
			return ret;
		m->done += n;
		if (m->progress && m->progress(m->arg, m->done, m->total))
			return bloomdev_fail(ECANCELED,
					     "merging was called off: the target holds a part of the source"
				);
	}
	return 0;
}

/*
 * How many of the source's keys were new cannot be known from bits; how many
 * keys the union holds can be estimated from them.
 */
static int merge_count(struct merge *m, int fd)
{
	const struct bloom_layer_info *l;
	uint32_t i;
	double more;
	int ret;

	ret = bloomdev_raw_info(fd, &m->into);
	for (i = 0; i < m->from.info.layer_count && !ret; i++) {
		struct bloom_load load = { .layer = i };

		l = &m->into.layers[i];
		more = bloomdev_estimate_distinct(m->into.info.kind, l->slots,
						  l->probes, l->slots_set) -
		       l->keys;
		more = fmin(round(more), m->from.layers[i].keys);
		if (!(more > 0.0))
			continue;
		load.keys = more;
		ret = bloomdev_load(fd, &load);
	}
	return ret;
}

/* Is the target's memory another than when we began? (Growth only adds to it.) */
static int changed(struct merge *m, int fd)
{
	struct bloomdev_raw_info now;
	uint32_t i;
	int ret;

	ret = bloomdev_raw_info(fd, &now);
	for (i = 0; i < m->into.info.layer_count && !ret; i++) {
		if (i >= now.info.layer_count ||
		    now.layers[i].map_offset != m->into.layers[i].map_offset)
			return 1;
	}
	return ret;
}

/* Return: 0, 1 if the target was rotated or cleared meanwhile, or an error. */
static int merge_layers(struct merge *m, int fd)
{
	uint32_t i;
	int ret;

	m->done = 0;
	m->total = 0;
	for (i = 0; i < m->from.info.layer_count; i++)
		m->total += bloomdev_layer_data_bytes(m->from.info.kind,
						      m->from.layers[i].slots);
	for (i = 0; i < m->from.info.layer_count; i++) {
		ret = merge_layer(m, fd, i);
		if (ret == -EAGAIN)
			return 1;
		if (ret)
			return ret;
	}
	return changed(m, fd);
}

/*
 * Where the target rotates meanwhile, the bits of a key may have got into two
 * generations, and make it present in none. To OR all once more mends that, and
 * harms nothing; to add counters once more would.
 */
static int merge(struct merge *m, int fd)
{
	int ret, tries = 0;

	ret = compare(m);
	if (ret)
		return ret;
	while ((ret = merge_layers(m, fd)) == 1) {
		if (m->from.info.kind == BLOOM_KIND_COUNTING || ++tries == TRIES)
			return bloomdev_fail(EAGAIN, "the target was cleared or rotated meanwhile");
		ret = bloomdev_raw_info(fd, &m->into);
		if (ret)
			return ret;
	}
	if (ret || m->from.info.kind == BLOOM_KIND_COUNTING)
		return ret;
	return merge_count(m, fd);
}

BLOOMDEV_API int bloomdev_filter_merge(struct bloomdev_filter *into,
				       struct bloomdev_filter *from,
				       bloomdev_progress progress, void *arg)
{
	struct merge m = { .progress = progress, .arg = arg };
	const struct bloom_head *head;
	int ret;

	ret = bloomdev_raw_info(into->fd, &m.into);
	if (ret)
		return ret;
	ret = bloomdev_head_map(from->fd, &head);
	if (ret)
		return ret;
	ret = bloomdev_views_open(from->fd, head, &m.from, m.views, NULL);
	if (!ret)
		ret = merge(&m, into->fd);
	bloomdev_views_close(m.views);
	bloomdev_head_unmap(head);
	if (ret)
		errno = -ret;
	return ret;
}
