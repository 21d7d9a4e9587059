// SPDX-License-Identifier: LGPL-2.1
/*
 * The header of a saved image: to bytes and back, believing nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/types.h>
#include "core_geometry.h"
#include "crc64.h"
#include "image.h"

/* One cursor over bytes, for both directions. */
struct cursor {
	uint8_t *p;
};

static void put(struct cursor *c, uint64_t value, int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*c->p++ = value;
}

static uint64_t get(struct cursor *c, int bytes)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)*c->p++ << (8 * i);
	return value;
}

static size_t header_bytes(uint32_t layers)
{
	return IMAGE_FIXED_BYTES + layers * IMAGE_LAYER_BYTES + IMAGE_CRC_BYTES;
}

uint64_t bloomdev_image_bytes(const struct bloomdev_raw_info *raw)
{
	uint64_t bytes = header_bytes(raw->info.layer_count) + IMAGE_CRC_BYTES;
	uint32_t i;

	for (i = 0; i < raw->info.layer_count; i++)
		bytes += bloomdev_layer_data_bytes(raw->info.kind,
						   raw->layers[i].slots);
	return bytes;
}

size_t bloomdev_image_encode(const struct bloomdev_raw_info *raw,
			     uint8_t header[IMAGE_HEADER_MAX])
{
	const struct bloom_info *i = &raw->info;
	const struct bloom_layer_info *l;
	struct cursor c = { header };
	size_t bytes = header_bytes(i->layer_count);

	memset(header, 0, IMAGE_HEADER_MAX);
	memcpy(header, IMAGE_MAGIC, IMAGE_MAGIC_BYTES);
	c.p += IMAGE_MAGIC_BYTES;
	put(&c, IMAGE_VERSION, 4);
	put(&c, bytes, 4);
	put(&c, i->kind, 4);
	put(&c, i->growth, 4);
	put(&c, i->hash, 4);
	put(&c, i->flags, 4);
	put(&c, i->generations, 4);
	put(&c, i->layer_count, 4);
	put(&c, bloomdev_image_bytes(raw), 8);
	put(&c, i->capacity, 8);
	put(&c, i->fp_rate, 8);
	put(&c, i->base, 8);
	put(&c, i->seed[0], 8);
	put(&c, i->seed[1], 8);
	put(&c, i->period_ns, 8);
	put(&c, i->next_ns, 8);

	c.p = header + IMAGE_FIXED_BYTES;
	for (l = raw->layers; l < raw->layers + i->layer_count; l++) {
		put(&c, l->slots, 8);
		put(&c, bloomdev_layer_data_bytes(i->kind, l->slots), 8);
		put(&c, l->capacity, 8);
		put(&c, l->fp_rate, 8);
		put(&c, l->keys, 8);
		put(&c, l->slots_set, 8);
		put(&c, i->growth == BLOOM_GROWTH_WINDOW ? l->age_ns : 0, 8);
		put(&c, l->probes, 4);
		put(&c, 0, 4);
	}
	put(&c, bloomdev_crc64(0, header, bytes - IMAGE_CRC_BYTES), 8);
	return bytes;
}

int bloomdev_image_prefix(const char *name, const uint8_t *header)
{
	struct cursor c = { (uint8_t *)header + IMAGE_MAGIC_BYTES };
	uint32_t version, bytes;

	if (memcmp(header, IMAGE_MAGIC, IMAGE_MAGIC_BYTES))
		return bloomdev_fail(EBADMSG, "%s: not a saved filter (it does not begin like one)",
				     name);
	version = get(&c, 4);
	if (version != IMAGE_VERSION)
		return bloomdev_fail(EPROTONOSUPPORT,
				     "%s: format version %u; this library reads version %d",
				     name, version, IMAGE_VERSION);
	bytes = get(&c, 4);
	if (bytes < header_bytes(1) || bytes > IMAGE_HEADER_MAX ||
	    (bytes - header_bytes(0)) % IMAGE_LAYER_BYTES)
		return bloomdev_fail(EBADMSG, "%s: altered: a header can't have %u bytes",
				     name, bytes);
	return bytes;
}

static int bad(const char *name, const char *what, uint64_t value)
{
	return bloomdev_fail(EBADMSG, "%s: %s %" PRIu64 " is not possible", name,
			     what, value);
}

/* The checksum holds; a program that writes nonsense is still possible. */
static int check(const char *name, const struct bloomdev_raw_info *raw)
{
	const struct bloom_info *i = &raw->info;
	const struct bloom_layer_info *l;
	struct bloom_geometry geo;
	uint32_t n;

	if (i->kind > BLOOM_KIND_BITMAP)
		return bad(name, "kind", i->kind);
	if (i->growth > BLOOM_GROWTH_WINDOW)
		return bad(name, "growth", i->growth);
	if (i->hash > BLOOM_HASH_SIPHASH)
		return bad(name, "hash", i->hash);
	if (i->flags & ~(BLOOM_CREATE_ONCE | BLOOM_CREATE_BPF))
		return bad(name, "flags", i->flags);
	if (i->growth == BLOOM_GROWTH_FIXED && i->layer_count != 1)
		return bad(name, "number of layers", i->layer_count);
	if (i->growth == BLOOM_GROWTH_WINDOW &&
	    (i->generations < BLOOM_GENERATIONS_MIN ||
	     i->generations > BLOOM_GENERATIONS_MAX ||
	     i->layer_count != i->generations))
		return bad(name, "number of generations", i->generations);
	if (i->growth != BLOOM_GROWTH_WINDOW && i->generations)
		return bad(name, "number of generations", i->generations);
	if (i->growth != BLOOM_GROWTH_WINDOW && i->period_ns)
		return bad(name, "period", i->period_ns);
	if (i->growth != BLOOM_GROWTH_WINDOW && i->flags & BLOOM_CREATE_ONCE)
		return bad(name, "flags", i->flags);
	if (i->period_ns > BLOOM_PERIOD_MAX_NS ||
	    (i->period_ns && i->period_ns < BLOOM_PERIOD_MIN_NS))
		return bad(name, "period", i->period_ns);
	if (i->next_ns > i->period_ns)
		return bad(name, "time to rotation", i->next_ns);

	for (n = 0; n < i->layer_count; n++) {
		l = &raw->layers[n];
		if (bloom_geometry_exact(i->kind, l->slots, l->probes, &geo) ||
		    geo.slots != l->slots)
			return bad(name, "number of slots", l->slots);
		if (l->slots_set > l->slots)
			return bad(name, "number of set slots", l->slots_set);
		if (i->growth == BLOOM_GROWTH_WINDOW &&
		    (l->slots != raw->layers[0].slots ||
		     l->probes != raw->layers[0].probes))
			return bad(name, "number of slots", l->slots);
	}
	return 0;
}

static void decode(struct cursor *c, struct bloomdev_raw_info *raw,
		   uint64_t *image_bytes)
{
	struct bloom_info *i = &raw->info;

	i->kind = get(c, 4);
	i->growth = get(c, 4);
	i->hash = get(c, 4);
	i->flags = get(c, 4);
	i->generations = get(c, 4);
	i->layer_count = get(c, 4);
	*image_bytes = get(c, 8);
	i->capacity = get(c, 8);
	i->fp_rate = get(c, 8);
	i->base = get(c, 8);
	i->seed[0] = get(c, 8);
	i->seed[1] = get(c, 8);
	i->period_ns = get(c, 8);
	i->next_ns = get(c, 8);
}

static void decode_layer(struct cursor *c, struct bloom_layer_info *l,
			 uint64_t *data_bytes)
{
	l->slots = get(c, 8);
	*data_bytes = get(c, 8);
	l->capacity = get(c, 8);
	l->fp_rate = get(c, 8);
	l->keys = get(c, 8);
	l->slots_set = get(c, 8);
	l->age_ns = get(c, 8);
	l->probes = get(c, 4);
	c->p += 4;
}

int bloomdev_image_decode(const char *name, const uint8_t *header, size_t bytes,
			  struct bloomdev_raw_info *raw)
{
	struct cursor c = { (uint8_t *)header + bytes - IMAGE_CRC_BYTES };
	uint64_t crc, image_bytes, data_bytes;
	uint8_t canonical[IMAGE_HEADER_MAX];
	struct bloom_info *i = &raw->info;
	struct bloom_layer_info *l;
	int ret;

	crc = get(&c, 8);
	if (crc != bloomdev_crc64(0, header, bytes - IMAGE_CRC_BYTES))
		return bloomdev_fail(EBADMSG, "%s: altered: the header's checksum does not hold",
				     name);

	memset(raw, 0, sizeof(*raw));
	c.p = (uint8_t *)header + IMAGE_PREFIX_BYTES;
	decode(&c, raw, &image_bytes);
	/* A number that is too large could wrap to the right length. */
	if (i->layer_count > BLOOM_LAYERS_MAX ||
	    bytes != header_bytes(i->layer_count))
		return bad(name, "number of layers", i->layer_count);

	c.p = (uint8_t *)header + IMAGE_FIXED_BYTES;
	for (l = raw->layers; l < raw->layers + i->layer_count; l++) {
		decode_layer(&c, l, &data_bytes);
		/* Slots are checked below; this can't overflow into a match. */
		if (l->slots > BLOOM_SLOTS_MAX ||
		    data_bytes != bloomdev_layer_data_bytes(i->kind, l->slots))
			return bad(name, "a layer's length", data_bytes);
		l->bytes = data_bytes;
		i->keys += l->keys;
		i->slots_set += l->slots_set;
		i->bytes += data_bytes;
	}
	ret = check(name, raw);
	if (!ret && image_bytes != bloomdev_image_bytes(raw))
		ret = bad(name, "length", image_bytes);
	if (ret)
		return ret;
	/* There is one way to write it; reserved bytes are zero. */
	bloomdev_image_encode(raw, canonical);
	if (memcmp(header, canonical, bytes))
		return bloomdev_fail(EBADMSG, "%s: a byte of the header that must be zero is not",
				     name);
	return 0;
}
