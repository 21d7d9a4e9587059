// SPDX-License-Identifier: GPL-2.0
/*
 * What the processes do that use the library: images, merges, the map.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "bloomdev.h"
#include "soak.h"

/* The library's: whatever was refused is no fault. */
static bool lib(long ret, u64 keys)
{
	return did(ret, keys, bloomdev_message());
}

static struct bloomdev_keys integers(u64 first, size_t n)
{
	static u64 data[20000];
	size_t i;

	for (i = 0; i < n; i++)
		data[i] = first + i;
	return (struct bloomdev_keys){ .data = data, .bytes = n * 8, .key_len = 8, .count = n };
}

static void add_integers(struct bloomdev_filter *f, u64 first, size_t n)
{
	struct bloomdev_keys keys = integers(first, n);

	lib(bloomdev_filter_add(f, &keys, NULL, NULL), n);
}

static void have_integers(struct bloomdev_filter *f, u64 first, size_t n, const char *when)
{
	struct bloomdev_keys keys = integers(first, n);
	struct bloomdev_result result;

	if (lib(bloomdev_filter_query(f, &keys, NULL, &result), n) && result.present != n)
		wrong("%s: %zu of %zu keys are there", when, result.present, n);
}

/* Saved, restored and merged: no key of either is missing. */
void image_round(void)
{
	static const u32 shapes[][2] = {
		{ BLOOMDEV_KIND_BLOCKED, BLOOMDEV_GROWTH_FIXED },
		{ BLOOMDEV_KIND_CLASSIC, BLOOMDEV_GROWTH_FIXED },
		{ BLOOMDEV_KIND_COUNTING, BLOOMDEV_GROWTH_FIXED },
		{ BLOOMDEV_KIND_BLOCKED, BLOOMDEV_GROWTH_SCALING },
		{ BLOOMDEV_KIND_BLOCKED, BLOOMDEV_GROWTH_WINDOW },
	};
	const u32 *shape = shapes[mine->rounds % ARRAY_LEN(shapes)];
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *f, *g = NULL, *h = NULL;
	uint64_t first = dice() >> 1, a, b;
	char path[64];

	opts.kind = shape[0];
	opts.growth = shape[1];
	opts.generations = opts.growth == BLOOMDEV_GROWTH_WINDOW ? 3 : 0;
	opts.capacity = 10000;
	opts.fp_rate = 0.001;
	opts.flags = BLOOMDEV_SEED;
	opts.seed[0] = dice();
	snprintf(path, sizeof(path), "/tmp/soak.%d", getpid());
	f = bloomdev_filter_create(NULL, &opts);
	if (!lib(f ? 0 : -errno, 0))
		return;
	add_integers(f, first, 15000);
	if (!lib(bloomdev_filter_save(f, path, NULL, NULL), 0))
		goto out;
	g = bloomdev_filter_restore(NULL, path, NULL, NULL);
	if (!lib(g ? 0 : -errno, 0))
		goto out;
	have_integers(g, first, 15000, "restored");
	if (lib(bloomdev_filter_count(f, &a), 0) && lib(bloomdev_filter_count(g, &b), 0) && a != b)
		wrong("saved with %lu keys, restored with %lu", a, b);
	h = bloomdev_filter_create(NULL, &opts);
	if (lib(h ? 0 : -errno, 0)) {
		add_integers(h, first + 20000, 5000);
		if (lib(bloomdev_filter_merge(h, g, NULL, NULL), 0)) {
			have_integers(h, first, 15000, "merged");
			have_integers(h, first + 20000, 5000, "merged into");
		}
	}
out:
	unlink(path);
	bloomdev_filter_close(f);
	bloomdev_filter_close(g);
	bloomdev_filter_close(h);
}

/* Integers nobody asks for: so that it grows while others look at its map. */
static void *add_noise(void *arg)
{
	struct noise {
		struct bloomdev_filter *filter;
		bool end;
	} *noise = arg;
	u64 n = 1ULL << 60;

	while (!__atomic_load_n(&noise->end, __ATOMIC_RELAXED)) {
		if (bloomdev_filter_add_int(noise->filter, n++) < 0)
			wrong("ADD: %s", bloomdev_message());
	}
	return NULL;
}

/* What was added is found in the map, whatever grows at the same time. */
void map_round(void)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct {
		struct bloomdev_filter *filter;
		bool end;
	} noise = { 0 };
	struct bloomdev_result result;
	struct bloomdev_keys keys;
	struct bloomdev_map *map;
	pthread_t thread;
	u64 i, back;

	opts.kind = dice() % 2;
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	opts.capacity = 1024;
	opts.fp_rate = 0.0001;
	noise.filter = bloomdev_filter_create(NULL, &opts);
	if (!lib(noise.filter ? 0 : -errno, 0))
		return;
	map = bloomdev_map_open(noise.filter);
	if (!lib(map ? 0 : -errno, 0)) {
		bloomdev_filter_close(noise.filter);
		return;
	}
	pthread_create(&thread, NULL, add_noise, &noise);
	for (i = 0; i < 200 && !stopped(); i++) {
		add_integers(noise.filter, i * 100, 100);
		back = dice() % 2 ? i : dice() % (i + 1);
		keys = integers(back * 100, 100);
		if (lib(bloomdev_map_query(map, &keys, NULL, &result), 100) &&
		    result.present != 100)
			wrong("in the map: %zu of 100 keys", result.present);
	}
	__atomic_store_n(&noise.end, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	bloomdev_map_close(map);
	bloomdev_filter_close(noise.filter);
}
