// SPDX-License-Identifier: GPL-2.0
/*
 * The library's queries on a mapped array against libbloom and RocksDB. The
 * array is memory of our own in place of /dev/bloom's: the same 4 KiB pages, the
 * same code of the library, no module needed. A line a loop and a round:
 *
 *	bench,<loop>,<MiB>,<key bytes>,<probes>,<pages>,<round>,<ps a key>
 *
 * Of the loop "query" with one thread and with two, that many stand for <pages>.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core_geometry.h"
#include "map.h"
#include "peers.h"

#define KEY_LEN		16
#define ERROR		0.01
#define ROCKSDB_BITS	9.9	/* a key, for the same error */

static struct bloom_head head;
static size_t count = 1 << 20;	/* different keys */
static size_t passes = 1;
static int rounds = 9;
static int wrong;

/* Of this thread, so that what else the machine does counts less. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void fill_random(void *words, size_t bytes)
{
	static u64 state = 88172645463325252ULL;
	u64 *w = words;
	size_t i;

	for (i = 0; i < bytes / 8; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		w[i] = state;
	}
}

static u8 *make_keys(u64 first)
{
	u8 *keys = pages(count * KEY_LEN);
	size_t i;

	for (i = 0; i < count; i++) {
		u64 word[2] = { bloom_mix64(first + i + BLOOM_GOLDEN),
				bloom_mix64(first + i + (1ULL << 40)) };

		memcpy(keys + i * KEY_LEN, word, KEY_LEN);
	}
	return keys;
}

/* A map of @mib MiB, half full. */
static struct bloomdev_map *make_map(size_t mib)
{
	struct bloomdev_map *map = calloc(1, sizeof(*map));
	struct bloom_geometry geo;
	uint64_t rate;

	if (!map || bloomdev_rate_to_fixed(ERROR, &rate) ||
	    bloom_geometry_size(BLOOM_KIND_BLOCKED, 1000000, rate, &geo))
		errx(1, "no map");
	map->filter.fd = -1;
	map->head = &head;
	map->raw.info.kind = BLOOM_KIND_BLOCKED;
	map->raw.info.layer_count = 1;
	map->raw.info.seed[0] = 0x0123456789abcdefULL;
	map->raw.info.seed[1] = 0xfedcba9876543210ULL;
	map->layers[0].words = pages(mib << 20);
	map->layers[0].slots = (u64)mib << 23;
	map->layers[0].blocks = map->layers[0].slots / BLOOM_BLOCK_SLOTS;
	map->layers[0].probes = geo.probes;
	map->ops = probe_select(BLOOM_KIND_BLOCKED, false);
	bloomdev_map_settle(map);
	fill_random((void *)map->layers[0].words, mib << 20);
	return map;
}

static void map_add(struct bloomdev_map *map, const u8 *keys)
{
	const struct probe_layer *layer = &map->layers[0];
	u64 seed[2] = { map->raw.info.seed[0], map->raw.info.seed[1] };
	size_t i;
	u64 at;

	for (i = 0; i < count; i++) {
		at = bloom_hash_jhash(keys + i * KEY_LEN, KEY_LEN, seed);
		bloom_block_set((__le64 *)layer->words +
				bloom_range(at, layer->blocks) *
				BLOOM_BLOCK_WORDS, at, layer->probes);
	}
}

static size_t map_batch(void *map, const u8 *keys)
{
	struct bloomdev_keys batch = {
		.data = keys, .bytes = count * KEY_LEN, .key_len = KEY_LEN,
		.count = count,
	};
	struct bloomdev_result result;

	if (bloomdev_map_query(map, &batch, NULL, &result))
		errx(1, "%s", bloomdev_message());
	return result.present;
}

static size_t map_single(void *map, const u8 *keys)
{
	size_t i, present = 0;

	for (i = 0; i < count; i++)
		present += bloomdev_map_query_key(map, keys + i * KEY_LEN,
						  KEY_LEN) == 1;
	return present;
}

static size_t peer_libbloom(void *peer, const u8 *keys)
{
	return libbloom_check(peer, keys, KEY_LEN, count);
}

static size_t peer_rocksdb(void *peer, const u8 *keys)
{
	return rocksdb_check(peer, keys, KEY_LEN, count);
}

static void run(const char *name, size_t mib, unsigned int probes, int round,
		size_t (*loop)(void *, const u8 *), void *on, const u8 *keys,
		size_t low, size_t high)
{
	double start = now(), ns;
	size_t present = 0, i;

	for (i = 0; i < passes; i++)
		present = loop(on, keys);
	ns = (now() - start) / passes;
	printf("bench,%s,%zu.000,%d,%u,4k,%d,%.0f\n", name, mib, KEY_LEN,
	       probes, round, ns * 1000 / count);
	if (present < low || present > high) {
		printf("bench-wrong,%s,%d,present %zu of %zu, not %zu..%zu\n",
		       name, round, present, count, low, high);
		wrong = 1;
	}
}

/* So long that starting the threads counts for nothing. */
#define THREAD_PASSES	8

/* A thread's share of the keys, on a map of its own of the same memory. */
struct share {
	pthread_t thread;
	int cpu;
	struct bloomdev_map map;
	const u8 *keys;
	size_t n, present;
};

static void *query_share(void *arg)
{
	struct share *s = arg;
	struct bloomdev_keys keys = {
		.data = s->keys, .bytes = s->n * KEY_LEN, .key_len = KEY_LEN,
		.count = s->n,
	};
	struct bloomdev_result result;
	cpu_set_t cpu;
	size_t i;

	/* A CPU each, at once and not when the scheduler gets round to it. */
	CPU_ZERO(&cpu);
	CPU_SET(s->cpu, &cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	for (i = 0; i < passes * THREAD_PASSES; i++) {
		if (bloomdev_map_query(&s->map, &keys, NULL, &result))
			errx(1, "%s", bloomdev_message());
	}
	s->present = result.present;
	return NULL;
}

static void run_threads(size_t mib, int threads, int round,
			const struct bloomdev_map *map, const u8 *keys)
{
	size_t n = count / threads, present = 0;
	struct share s[2];
	struct timespec start, end;
	double ns;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < threads; i++) {
		s[i] = (struct share) {
			.cpu = i, .map = *map, .keys = keys + i * n * KEY_LEN,
			.n = n,
		};
		if (pthread_create(&s[i].thread, NULL, query_share, &s[i]))
			errx(1, "no thread");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(s[i].thread, NULL);
		present += s[i].present;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	ns = (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec);
	printf("bench,query,%zu.000,%d,%u,%d,%d,%.0f\n", mib, KEY_LEN,
	       map->layers[0].probes, threads, round,
	       ns * 1000 / THREAD_PASSES / passes / (n * threads));
	if (present != n * threads) {
		printf("bench-wrong,query,%d,present %zu of %zu\n", round, present,
		       n * threads);
		wrong = 1;
	}
}

/* The peers' own error, of filters that are really built from keys. */
static void check_errors(const u8 *in, const u8 *out)
{
	void *peer = rocksdb_build(in, KEY_LEN, count, ROCKSDB_BITS);
	size_t hits = rocksdb_check(peer, in, KEY_LEN, count);
	size_t lies = rocksdb_check(peer, out, KEY_LEN, count);

	printf("error,rocksdb,%.5f\n", (double)lies / count);
	if (hits != count || lies > 1.25 * ERROR * count)
		printf("bench-wrong,rocksdb,0,hits %zu, lies %zu\n", hits, lies);
	rocksdb_free(peer);

	peer = libbloom_make(count, ERROR);
	libbloom_add(peer, in, KEY_LEN, count);
	hits = libbloom_check(peer, in, KEY_LEN, count);
	lies = libbloom_check(peer, out, KEY_LEN, count);
	printf("error,libbloom,%.5f\n", (double)lies / count);
	if (hits != count || lies > 1.25 * ERROR * count)
		printf("bench-wrong,libbloom,0,hits %zu, lies %zu\n", hits, lies);
	libbloom_free(peer);
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 0) : 240;
	struct bloomdev_map *map, *scalar;
	size_t all, few, bytes;
	const u8 *hits, *misses;
	void *libbloom = NULL, *rocksdb;
	u8 *bits;
	int round;
	u32 k;

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		count = strtoul(argv[3], NULL, 0);
	/* So few that they do not fill the array. */
	while (count > mib << 14) {
		count /= 2;
		passes *= 2;
	}
	all = count;
	few = count / 25;
	hits = make_keys(0);
	misses = make_keys(1ULL << 32);
	check_errors(hits, misses);

	map = make_map(mib);
	map_add(map, hits);
	k = map->layers[0].probes;
	scalar = malloc(sizeof(*scalar));
	*scalar = *map;
	scalar->ops = probe_select(BLOOM_KIND_BLOCKED, true);
	bits = pages((mib << 20) + 64);
	fill_random(bits, mib << 20);
	rocksdb = rocksdb_make(bits, (mib << 20) + 5, ROCKSDB_BITS);
	if (mib <= 240) {
		/* Its bits are an int; 9.59 of them a key. */
		libbloom = libbloom_make((mib << 23) / 9.586, ERROR);
		bits = libbloom_bits(libbloom, &bytes);
		fill_random(bits, bytes);
		libbloom_add(libbloom, hits, KEY_LEN, count);
	}

	for (round = 0; round < rounds; round++) {
		run("rocksdb-miss", mib, k, round, peer_rocksdb, rocksdb,
		    misses, 0, few);
		run("scalar-miss", mib, k, round, map_batch, scalar, misses, 0,
		    few);
		run("avx2-miss", mib, k, round, map_batch, map, misses, 0, few);
		run("scalar-hit", mib, k, round, map_batch, scalar, hits, all,
		    all);
		run("avx2-hit", mib, k, round, map_batch, map, hits, all, all);
		run_threads(mib, 1, round, map, hits);
		run_threads(mib, 2, round, map, hits);
		if (!libbloom)
			continue;
		run("libbloom-miss", mib, k, round, peer_libbloom, libbloom,
		    misses, 0, few);
		run("single-miss", mib, k, round, map_single, map, misses, 0, few);
		run("libbloom-hit", mib, k, round, peer_libbloom, libbloom,
		    hits, all, all);
		run("single-hit", mib, k, round, map_single, map, hits, all, all);
	}
	return wrong;
}
