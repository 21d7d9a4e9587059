// SPDX-License-Identifier: GPL-2.0
/*
 * What the processes do. A round makes what it needs and lets go of it; where it is
 * refused for want of memory, or for a cap, it ends early.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "soak.h"

u64 dice(void)
{
	static u64 state;

	if (!state)
		state = getpid();
	return next_random(&state);
}

bool did(long ret, u64 keys, const char *what)
{
	mine->calls++;
	if (ret >= 0) {
		mine->keys += keys;
		return true;
	}
	mine->refused++;
	if (ret != -ENOSPC && ret != -ENOMEM)
		wrong("%s: %s", what, strerror(-ret));
	return false;
}

/* A descriptor, or -1. */
static int make(u32 kind, u32 growth, u64 capacity, double rate)
{
	struct bloom_create arg = create_defaults(kind, growth);
	int fd;

	if (kind == BLOOM_KIND_BITMAP) {
		arg.slots = capacity;
	} else {
		arg.capacity = capacity;
		arg.fp_rate = RATE(rate);
	}
	if (growth == BLOOM_GROWTH_WINDOW) {
		arg.generations = 16;
		arg.period_ns = 50000000;
		arg.flags = dice() % 2 ? BLOOM_CREATE_ONCE : 0;
	}
	arg.hash = kind != BLOOM_KIND_BITMAP && dice() % 4 == 0;
	fd = create(&arg);
	if (did(fd, 0, "CREATE"))
		return fd;
	usleep(10000);
	return -1;
}

/* Keys from @first on are there. */
static void must_have(int fd, u64 first, size_t n, const char *when)
{
	u64 *keys = malloc(n * sizeof(*keys));
	long found;

	fill_keys(keys, n, first);
	found = query_keys(fd, keys, n);
	if (did(found, n, "QUERY") && found != (long)n)
		wrong("%s: %ld of %zu keys are there", when, found, n);
	free(keys);
}

/* Return: how many were there before, or -1. */
static long put(int fd, u64 first, size_t n)
{
	u64 *keys = malloc(n * sizeof(*keys));
	long found;

	fill_keys(keys, n, first);
	found = add_keys(fd, keys, n);
	free(keys);
	return did(found, n, "ADD") ? found : -1;
}

static struct bloom_info info_of(int fd)
{
	struct bloom_info info;

	did(get_info(fd, &info), 0, "INFO");
	return info;
}

/* Filters and names come and go; who opens a name finds what was put there. */
static void churn(void)
{
	static const u32 shapes[][2] = {
		{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED },
		{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED },
		{ BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED },
		{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING },
		{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING },
		{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW },
	};
	const u32 *shape = shapes[dice() % ARRAY_LEN(shapes)];
	u64 first = dice();
	char name[64], other[64];
	int fd, again;

	fd = make(shape[0], shape[1], 1024 + dice() % 20000, 0.0001);
	if (fd < 0)
		return;
	put(fd, first, 200);
	snprintf(name, sizeof(name), PREFIX "churn.%llu", dice() % 8);
	if (!did(link_name(fd, name, 0600, -1, BLOOM_LINK_REPLACE), 0, "LINK"))
		goto out;
	if (dice() % 3 == 0) {
		/* Another of ours, if it is there, swaps with it. */
		snprintf(other, sizeof(other), PREFIX "churn.%llu", dice() % 8);
		again = link_name(fd, other, 0, -1, BLOOM_LINK_EXCHANGE);
		if (again != -ENOENT && did(again, 0, "LINK"))
			strcpy(name, other);
	}
	again = open_name(name, ACCESS_BOTH);
	if (did(again, 0, "OPEN")) {
		if (info_of(again).id != info_of(fd).id)
			wrong("%s is another filter", name);
		/* Windows of 16 times 50 ms may have gone by. */
		if (shape[1] != BLOOM_GROWTH_WINDOW)
			must_have(again, first, 200, "by its name");
		close(again);
	}
	if (dice() % 2)
		did(unlink_name(name), 0, "UNLINK");
out:
	close(fd);
}

static void churn_round(void)
{
	int i;

	for (i = 0; i < 50 && !stopped(); i++)
		churn();
}

/* Both of the pair come here before either goes on. */
static void meet(void)
{
	u32 n = __atomic_add_fetch(&shared->pair_barrier, 1, __ATOMIC_ACQ_REL);

	n += n % 2;
	while (__atomic_load_n(&shared->pair_barrier, __ATOMIC_ACQUIRE) < n && !stopped())
		usleep(100);
}

/* Two processes add the same keys to one growing filter: one is told, of each key. */
static void add_told(int fd, u32 side)
{
	static u64 order[PAIR_KEYS];
	u64 keys[100];
	u8 verdicts[100];
	u32 i, j;

	for (i = 0; i < PAIR_KEYS; i++)
		order[i] = i;
	/* Half of the rounds in the same order, where they meet most. */
	shuffle(order, PAIR_KEYS, mine->rounds % 2 ? side : mine->rounds);
	for (i = 0; i < PAIR_KEYS && !stopped(); i += 100) {
		struct bloom_batch batch = batch_of(keys, 100, verdicts);

		for (j = 0; j < 100; j++)
			keys[j] = key_of(order[i + j]);
		if (!did(run_batch(fd, BLOOM_IOC_ADD, &batch), 100, "ADD"))
			return;
		for (j = 0; j < 100; j++) {
			if (verdicts[j] == BLOOM_ABSENT)
				__atomic_add_fetch(&shared->pair_told[order[i + j]], 1,
						   __ATOMIC_RELAXED);
		}
		if (i % 2000 == 0 && did(query_keys(fd, keys, 100), 100, "QUERY") &&
		    query_keys(fd, keys, 100) != 100)
			wrong("a key just added is not there");
	}
}

static void check_told(int fd)
{
	struct bloom_info info = info_of(fd);
	u32 i, counts[3] = { 0 };

	for (i = 0; i < PAIR_KEYS; i++)
		counts[shared->pair_told[i] < 2 ? shared->pair_told[i] : 2]++;
	if (counts[2])
		wrong("%u keys were new to both", counts[2]);
	/* False positives at 1e-8; more where it could not grow. */
	if (!info.state && counts[0] > 2)
		wrong("%u keys were new to nobody", counts[0]);
	if (info.keys != counts[1] || info.adds != 2 * PAIR_KEYS)
		wrong("%llu keys, %u were new; %llu added", info.keys, counts[1], info.adds);
	must_have(fd, 0, PAIR_KEYS, "after both");
}

static void pair(u32 side)
{
	int fd = -1;

	if (!side) {
		memset(shared->pair_told, 0, sizeof(shared->pair_told));
		while (fd < 0 && !stopped())
			fd = make(BLOOM_KIND_BLOCKED + mine->rounds % 2, BLOOM_GROWTH_SCALING, 1024,
				  0.00000001);
		if (fd >= 0)
			did(link_name(fd, PREFIX "pair", 0600, -1, BLOOM_LINK_REPLACE), 0, "LINK");
	}
	meet();
	if (side && !stopped())
		fd = open_name(PREFIX "pair", ACCESS_BOTH);
	meet();
	if (!stopped())
		add_told(fd, side);
	meet();
	if (!stopped() && !side)
		check_told(fd);
	meet();
	if (!side)
		unlink_name(PREFIX "pair");
	close(fd);
}

static void pair_a(void)
{
	pair(0);
}

static void pair_b(void)
{
	pair(1);
}

/* A key stays for 15 rotations at least, whatever the clock and the caller do. */
static void window(void)
{
	enum { RING = 64, N = 50 };
	struct {
		u64 first, rotations;
	} ring[RING];
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, 20000, 0.000001);
	u64 first = dice() >> 1, i, at, keys[N];

	if (fd < 0)
		return;
	for (i = 0; i < 400 && !stopped(); i++) {
		ring[i % RING].first = first + i * N;
		ring[i % RING].rotations = info_of(fd).rotations;
		put(fd, first + i * N, N);
		if (dice() % 50 == 0)
			did(rotate(fd), 0, "ROTATE");
		at = dice() % (i < RING ? i + 1 : RING);
		fill_keys(keys, N, ring[at].first);
		/* Asked for, or added again: it is known. */
		if (dice() % 2 ? query_keys(fd, keys, N) == N : add_keys(fd, keys, N) == N)
			continue;
		if (info_of(fd).rotations - ring[at].rotations < 15)
			wrong("lost after %llu rotations",
			      info_of(fd).rotations - ring[at].rotations);
	}
	close(fd);
}

/* A counting filter and a bitmap against a model: removed is gone, kept is there. */
static void exact_counting(void)
{
	enum { N = 2000 };
	int fd = make(BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, 20000, 0.000001), present;
	u64 first = dice() >> 1, i, k;
	u8 times[N] = { 0 };

	if (fd < 0)
		return;
	for (i = 0; i < 5 * N && !stopped(); i++) {
		k = dice() % N;
		if (dice() % 2 && times[k] < 3) {
			present = add_one(fd, key_of(first + k));
			if (present != !!times[k])
				wrong("counting ADD: %d, is there %u times", present, times[k]);
			times[k]++;
		} else {
			present = remove_one(fd, key_of(first + k));
			if (present != !!times[k])
				wrong("REMOVE: %d, is there %u times", present, times[k]);
			times[k] -= times[k] > 0;
		}
		did(present, 1, "ADD or REMOVE");
	}
	for (k = 0; k < N; k++) {
		for (; times[k]; times[k]--)
			did(remove_one(fd, key_of(first + k)), 1, "REMOVE");
	}
	if (info_of(fd).slots_set)
		wrong("%llu counters are left of nothing", info_of(fd).slots_set);
	close(fd);
}

static void exact_bitmap(void)
{
	enum { SLOTS = 200000, N = 500 };
	static u64 model[SLOTS / 64];
	int fd = make(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED, SLOTS, 0);
	struct bloom_layer_info layer;
	u64 keys[N], bits = 0, i, *map;
	u32 round;

	if (fd < 0)
		return;
	memset(model, 0, sizeof(model));
	for (round = 0; round < 100 && !stopped(); round++) {
		struct bloom_batch batch = batch_of(keys, N, NULL);
		bool add = dice() % 3;

		for (i = 0; i < N; i++) {
			keys[i] = dice() % SLOTS;
			if (add)
				model[keys[i] / 64] |= 1ULL << keys[i] % 64;
			else
				model[keys[i] / 64] &= ~(1ULL << keys[i] % 64);
		}
		did(run_batch(fd, add ? BLOOM_IOC_ADD : BLOOM_IOC_REMOVE, &batch), N, "batch");
	}
	for (i = 0; i < SLOTS / 64; i++)
		bits += __builtin_popcountll(model[i]);
	if (info_of(fd).keys != bits)
		wrong("%llu integers, not %llu", info_of(fd).keys, bits);
	if (get_layers(fd, &layer, 1) == 1) {
		map = map_read(fd, layer.map_offset, layer.bytes);
		if (!map || memcmp(map, model, sizeof(model)))
			wrong("the bitmap is not what it should be");
		if (map)
			munmap(map, layer.bytes);
	}
	close(fd);
}

static void exact(void)
{
	exact_counting();
	exact_bitmap();
}

/* Looks at it in every way, while its owner clears it. */
static void *look_on(void *arg)
{
	u64 keys[100], first = 0;
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
	struct look {
		int fd;
		bool end;
	} *look = arg;
	u64 *map;

	while (!__atomic_load_n(&look->end, __ATOMIC_RELAXED)) {
		fill_keys(keys, 100, first++);
		if (query_keys(look->fd, keys, 100) < 0 ||
		    get_layers(look->fd, layers, BLOOM_LAYERS_MAX) < 1)
			wrong("QUERY or INFO beside CLEAR");
		/* Gone already, perhaps. */
		map = map_read(look->fd, layers[0].map_offset, layers[0].bytes);
		if (map) {
			first += map[0] & 1;
			munmap(map, layers[0].bytes);
		}
	}
	return NULL;
}

/* CLEAR forgets all of it, or where it is refused nothing. */
static void clear_round(void)
{
	struct {
		int fd;
		bool end;
	} look = { .fd = make(dice() % 2, dice() % 2, 5000, 0.0001) };
	u64 first = dice(), keys[1000];
	pthread_t thread;
	int i, ret;

	if (look.fd < 0)
		return;
	pthread_create(&thread, NULL, look_on, &look);
	for (i = 0; i < 50 && !stopped(); i++) {
		put(look.fd, first, 6000);
		must_have(look.fd, first, 6000, "before CLEAR");
		ret = clear(look.fd);
		if (!did(ret, 0, "CLEAR")) {
			must_have(look.fd, first, 6000, "after CLEAR was refused");
			continue;
		}
		fill_keys(keys, 1000, first);
		if (query_keys(look.fd, keys, 1000) || info_of(look.fd).keys ||
		    info_of(look.fd).slots_set)
			wrong("something is left after CLEAR");
	}
	__atomic_store_n(&look.end, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	close(look.fd);
}

const struct role roles[] = {
	{ "churn", churn_round },
	{ "pair a", pair_a },
	{ "pair b", pair_b },
	{ "window", window },
	{ "exact", exact },
	{ "clear", clear_round },
	{ "image", image_round },
	{ "map", map_round },
};

const u32 role_count = ARRAY_LEN(roles);
