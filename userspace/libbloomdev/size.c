// SPDX-License-Identifier: LGPL-2.1
/*
 * What a filter would cost. The kernel sizes filters with the same lines.
 */
#include <errno.h>
#include "internal.h"
#include "core_geometry.h"

BLOOMDEV_API int bloomdev_size_compute(const struct bloomdev_options *opts,
				       struct bloomdev_size *size)
{
	struct bloom_geometry geo;
	struct bloom_create create;
	uint32_t layers = 1;
	double keys;
	int ret;

	ret = bloomdev_options_check(opts, &create, &geo);
	if (ret)
		return ret;

	keys = opts->capacity;
	if (opts->growth == BLOOMDEV_GROWTH_WINDOW) {
		/* The spare costs memory and holds no keys. */
		layers = opts->generations + 1;
		keys *= opts->generations;
	} else if (opts->kind == BLOOMDEV_KIND_BITMAP) {
		keys = opts->slots;
	}

	size->layers = layers;
	size->probes = geo.probes;
	size->slots = geo.slots;
	size->bytes = layers * geo.bytes;
	size->bits_per_key = keys > 0.0 ? size->bytes * 8.0 / keys : 0.0;
	return 0;
}

BLOOMDEV_API int bloomdev_size_grown(const struct bloomdev_options *opts,
				     uint64_t keys, struct bloomdev_size *size)
{
	u64 capacity, rate, held;
	struct bloom_geometry geo;
	struct bloom_create create;
	uint32_t i;
	int ret;

	ret = bloomdev_options_check(opts, &create, &geo);
	if (ret)
		return ret;
	if (opts->growth != BLOOMDEV_GROWTH_SCALING)
		return bloomdev_fail(EOPNOTSUPP, "a %s filter does not grow",
				     bloomdev_growth_name(opts->growth));

	*size = (struct bloomdev_size) {
		.layers = 1,
		.probes = geo.probes,
		.slots = geo.slots,
		.bytes = geo.bytes,
	};
	held = opts->capacity;
	for (i = 1; held < keys; i++) {
		capacity = opts->capacity;
		rate = create.fp_rate;
		if (i == BLOOM_LAYERS_MAX ||
		    bloom_geometry_layer(opts->growth, 0, i, &capacity, &rate) ||
		    bloom_geometry_size(opts->kind, capacity, rate, &geo))
			return bloomdev_fail(EOVERFLOW,
					     "a filter that starts with %llu keys at %g can't grow to %llu: the %u layers that it can have hold %llu",
					     (unsigned long long)opts->capacity,
					     opts->fp_rate, (unsigned long long)keys,
					     i, (unsigned long long)held);
		size->layers++;
		size->probes = geo.probes;
		size->slots = geo.slots;
		size->bytes += geo.bytes;
		if (__builtin_add_overflow(held, capacity, &held))
			held = UINT64_MAX;
	}
	size->bits_per_key = size->bytes * 8.0 / (keys ? keys : 1);
	return 0;
}

uint64_t bloomdev_layer_data_bytes(uint32_t kind, uint64_t slots)
{
	uint64_t bits = kind == BLOOM_KIND_COUNTING ? 4 * slots : slots;

	return (bits + 63) / 64 * 8;
}
