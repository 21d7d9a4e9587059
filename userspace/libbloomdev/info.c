// SPDX-License-Identifier: LGPL-2.1
/*
 * INFO, in the form that users read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "internal.h"

/* One allocation: what the pointers of the public part point to follows it. */
struct info_box {
	struct bloomdev_info info;
	struct bloomdev_layer layers[BLOOM_LAYERS_MAX];
	char name[BLOOM_NAME_MAX + 1];
};

int bloomdev_raw_info(int fd, struct bloomdev_raw_info *raw)
{
	memset(raw, 0, sizeof(*raw));
	raw->info.size = sizeof(raw->info);
	raw->info.layers = (uintptr_t)raw->layers;
	raw->info.layers_room = BLOOM_LAYERS_MAX;
	raw->info.layer_size = sizeof(raw->layers[0]);

	if (ioctl(fd, BLOOM_IOC_INFO, &raw->info)) {
		if (errno == EBADF)
			return bloomdev_fail(EBADF, "the filter is not open for reading");
		return bloomdev_fail_sys(errno, "asking about the filter");
	}
	if (raw->info.layer_count > BLOOM_LAYERS_MAX)
		raw->info.layer_count = BLOOM_LAYERS_MAX;
	return 0;
}

static void convert_layer(struct bloomdev_layer *to,
			  const struct bloom_layer_info *from)
{
	*to = (struct bloomdev_layer) {
		.slots = from->slots,
		.slots_set = from->slots_set,
		.bytes = from->bytes,
		.map_offset = from->map_offset,
		.capacity = from->capacity,
		.fp_rate = bloomdev_rate_from_fixed(from->fp_rate),
		.keys = from->keys,
		.age_ns = from->age_ns,
		.probes = from->probes,
	};
}

struct bloomdev_info *bloomdev_info_from_raw(const struct bloomdev_raw_info *raw)
{
	const struct bloom_info *i = &raw->info;
	struct info_box *box;
	uint32_t n;

	box = calloc(1, sizeof(*box));
	if (!box) {
		bloomdev_fail_sys(ENOMEM, "asking about the filter");
		return NULL;
	}

	memcpy(box->name, i->name, sizeof(i->name) - 1);
	for (n = 0; n < i->layer_count; n++)
		convert_layer(&box->layers[n], &raw->layers[n]);
	box->info = (struct bloomdev_info) {
		.name = box->name,
		.id = i->id,
		.flags = i->flags,
		.kind = i->kind,
		.growth = i->growth,
		.hash = i->hash,
		.uid = i->uid,
		.gid = i->gid,
		.mode = i->mode,
		.saturated = i->state & BLOOM_STATE_SATURATED,
		.refused = i->state & BLOOM_STATE_REFUSED,
		.generations = i->generations,
		.capacity = i->capacity,
		.fp_rate = bloomdev_rate_from_fixed(i->fp_rate),
		.base = i->base,
		.seed = { i->seed[0], i->seed[1] },
		.period_ns = i->period_ns,
		.next_ns = i->next_ns,
		.keys = i->keys,
		.slots_set = i->slots_set,
		.bytes = i->bytes,
		.adds = i->adds,
		.adds_present = i->adds_present,
		.queries = i->queries,
		.queries_present = i->queries_present,
		.removes = i->removes,
		.rotations = i->rotations,
		.rotations_late = i->rotations_late,
		.age_ns = i->age_ns,
		.layer_count = i->layer_count,
		.layers = box->layers,
	};
	return &box->info;
}

BLOOMDEV_API struct bloomdev_info *
bloomdev_filter_info(struct bloomdev_filter *filter)
{
	struct bloomdev_raw_info raw;

	if (bloomdev_raw_info(filter->fd, &raw))
		return NULL;
	return bloomdev_info_from_raw(&raw);
}

/* The public part is the box's first member. */
BLOOMDEV_API void bloomdev_info_free(struct bloomdev_info *info)
{
	free(info);
}

BLOOMDEV_API int bloomdev_filter_count(struct bloomdev_filter *filter,
				       uint64_t *keys)
{
	struct bloomdev_raw_info raw;
	int ret;

	ret = bloomdev_raw_info(filter->fd, &raw);
	if (!ret)
		*keys = raw.info.keys;
	return ret;
}

BLOOMDEV_API int bloomdev_filter_is_empty(struct bloomdev_filter *filter)
{
	struct bloomdev_raw_info raw;
	int ret;

	ret = bloomdev_raw_info(filter->fd, &raw);
	return ret ? ret : !raw.info.slots_set;
}
