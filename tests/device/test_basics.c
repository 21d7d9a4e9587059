// SPDX-License-Identifier: GPL-2.0
/*
 * Add, query, clear and INFO, the same for every kind, growth and hash.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define KEYS	5000

static const struct variant {
	const char *name;
	u32 kind, growth, hash;
} variants[] = {
	{ "blocked", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ "blocked siphash", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_SIPHASH },
	{ "classic", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ "classic siphash", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, BLOOM_HASH_SIPHASH },
	{ "counting", BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ "counting siphash", BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, BLOOM_HASH_SIPHASH },
	{ "bitmap", BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ "scaling blocked", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, BLOOM_HASH_JHASH },
	{ "scaling blocked siphash", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, BLOOM_HASH_SIPHASH },
	{ "scaling classic", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING, BLOOM_HASH_JHASH },
	{ "scaling classic siphash", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING, BLOOM_HASH_SIPHASH },
	{ "window blocked", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, BLOOM_HASH_JHASH },
	{ "window blocked siphash", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, BLOOM_HASH_SIPHASH },
	{ "window classic", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_WINDOW, BLOOM_HASH_JHASH },
	{ "window classic siphash", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_WINDOW, BLOOM_HASH_SIPHASH },
};

static u64 keys[2 * KEYS];
static u8 verdicts[2 * KEYS];

/* An error so small that no test here meets a false positive. */
static struct bloom_create argument(const struct variant *v)
{
	struct bloom_create arg = create_defaults(v->kind, v->growth);

	arg.hash = v->hash;
	if (v->kind != BLOOM_KIND_BITMAP) {
		arg.flags = BLOOM_CREATE_SEED;
		arg.seed[0] = 1;
		arg.seed[1] = 2;
		arg.fp_rate = RATE(0.000001);
	}
	return arg;
}

/* Keys that fit the kind: a bitmap takes the integers below its slots. */
static void choose_keys(const struct variant *v)
{
	size_t i;

	fill_keys(keys, 2 * KEYS, 0);
	if (v->kind != BLOOM_KIND_BITMAP)
		return;
	for (i = 0; i < 2 * KEYS; i++)
		keys[i] = i * 7 % 100000;
}

static void assert_all(u8 verdict, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(verdicts[i], verdict);
}

static void assert_batch(int fd, unsigned long cmd, size_t n, u8 verdict)
{
	struct bloom_batch batch = batch_of(keys, n, verdicts);

	memset(verdicts, 0xee, sizeof(verdicts));
	assert_ok(run_batch(fd, cmd, &batch));
	assert_count(n, batch.done);
	assert_count(verdict == BLOOM_PRESENT ? n : 0, batch.present);
	assert_count(0, batch.out_of_range);
	assert_all(verdict, n);
	/* Not a byte more. */
	assert_int_equal(verdicts[n], 0xee);
}

static void add_query_clear(void **state)
{
	const struct variant *v = *state;
	struct bloom_create arg = argument(v);
	struct bloom_info info;
	int fd;

	choose_keys(v);
	fd = assert_ok(create(&arg));
	assert_batch(fd, BLOOM_IOC_QUERY, KEYS, BLOOM_ABSENT);
	assert_batch(fd, BLOOM_IOC_ADD, KEYS, BLOOM_ABSENT);
	assert_batch(fd, BLOOM_IOC_QUERY, KEYS, BLOOM_PRESENT);
	assert_batch(fd, BLOOM_IOC_ADD, KEYS, BLOOM_PRESENT);
	assert_count(0, query_keys(fd, keys + KEYS, KEYS));
	assert_int_equal(add_one(fd, keys[KEYS]), BLOOM_ABSENT);
	assert_int_equal(add_one(fd, keys[KEYS]), BLOOM_PRESENT);
	assert_ok(get_info(fd, &info));
	assert_count(2 * KEYS + 2, info.adds);
	assert_count(KEYS + 1, info.adds_present);
	assert_count(3 * KEYS, info.queries);
	assert_count(KEYS, info.queries_present);
	assert_count(0, info.removes);

	assert_ok(clear(fd));
	assert_batch(fd, BLOOM_IOC_QUERY, KEYS, BLOOM_ABSENT);
	assert_ok(get_info(fd, &info));
	assert_count(0, info.keys);
	assert_count(0, info.slots_set);
	assert_batch(fd, BLOOM_IOC_ADD, KEYS, BLOOM_ABSENT);
	assert_batch(fd, BLOOM_IOC_QUERY, KEYS, BLOOM_PRESENT);
	close(fd);
}

/* The same key twice in one batch: the second is present. */
static void repeated_keys(void **state)
{
	const struct variant *v = *state;
	struct bloom_create arg = argument(v);
	struct bloom_batch batch;
	size_t i;
	int fd;

	choose_keys(v);
	for (i = 0; i < KEYS; i++)
		keys[i] = keys[KEYS + i / 5];
	fd = assert_ok(create(&arg));
	batch = batch_of(keys, KEYS, verdicts);
	assert_ok(run_batch(fd, BLOOM_IOC_ADD, &batch));
	for (i = 0; i < KEYS; i++)
		assert_int_equal(verdicts[i], i % 5 ? BLOOM_PRESENT : BLOOM_ABSENT);
	assert_count(KEYS - KEYS / 5, batch.present);
	close(fd);
}

static void info_is_exact(void **state)
{
	const struct variant *v = *state;
	struct bloom_create arg = argument(v);
	struct bloom_layer_info layers[32];
	struct bloom_info info;
	u64 set = 0, held = 0;
	int fd, i, n;

	choose_keys(v);
	fd = assert_ok(create(&arg));
	assert_count(0, add_keys(fd, keys, KEYS));
	n = assert_ok(get_layers(fd, layers, 32));
	assert_ok(get_info(fd, &info));
	assert_int_equal(info.kind, v->kind);
	assert_int_equal(info.growth, v->growth);
	assert_int_equal(info.hash, v->hash);
	assert_int_equal(info.flags, 0);
	assert_int_equal(info.state, 0);
	assert_count(arg.capacity, info.capacity);
	assert_count(arg.fp_rate, info.fp_rate);
	assert_count(arg.generations, info.generations);
	assert_count(0, info.next_ns);
	assert_true(info.id);
	assert_true(info.stripes >= 1);
	assert_string_equal(info.name, "");
	assert_int_equal(info.uid, 0);
	assert_int_equal(info.reserved, 0);
	assert_int_equal(info.layer_count, v->growth == BLOOM_GROWTH_WINDOW ? 3 : 1);
	if (v->kind != BLOOM_KIND_BITMAP) {
		assert_count(1, info.seed[0]);
		assert_count(2, info.seed[1]);
	}
	for (i = 0; i < n; i++) {
		held += layers[i].keys;
		set += layers[i].slots_set;
		assert_count(0, layers[i].bytes % 4096);
		assert_true(layers[i].probes >= 1 && layers[i].probes <= 64);
		assert_int_equal(layers[i].reserved, 0);
	}
	assert_count(KEYS, info.keys);
	assert_count(held, info.keys);
	assert_count(set, info.slots_set);
	assert_count(KEYS, layers[0].keys);
	if (v->kind == BLOOM_KIND_BITMAP)
		assert_count(KEYS, layers[0].slots_set);
	close(fd);
}

static void slots_set_as_mapped(void **state)
{
	const struct variant *v = *state;
	struct bloom_create arg = argument(v);
	struct bloom_layer_info layers[32];
	size_t step;
	int fd, i, n;

	choose_keys(v);
	fd = assert_ok(create(&arg));
	for (step = 0; step < KEYS; step += KEYS / 5) {
		assert_ok(add_keys(fd, keys, step));
		n = assert_ok(get_layers(fd, layers, 32));
		for (i = 0; i < n; i++)
			assert_count(layers[i].slots_set, assert_ok(count_mapped(fd, &layers[i])));
	}
	close(fd);
}

/* The whole of a filter's bits, in memory of the caller's. */
static u64 *copy_bits(int fd, size_t *bytes)
{
	struct bloom_layer_info layer;
	void *map, *copy;

	assert_ok(get_layers(fd, &layer, 1));
	*bytes = layer.bytes;
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	copy = malloc(layer.bytes);
	assert_non_null(copy);
	memcpy(copy, map, layer.bytes);
	munmap(map, layer.bytes);
	return copy;
}

static void same_seed_same_bits(void **state)
{
	const struct variant *v = *state;
	struct bloom_create arg = argument(v);
	size_t bytes, other_bytes;
	u64 *bits, *other;
	int fd;

	choose_keys(v);
	fd = assert_ok(create(&arg));
	assert_count(0, add_keys(fd, keys, KEYS));
	bits = copy_bits(fd, &bytes);
	close(fd);

	fd = assert_ok(create(&arg));
	shuffle(keys, KEYS, 1);
	assert_count(0, add_keys(fd, keys, KEYS));
	other = copy_bits(fd, &other_bytes);
	close(fd);
	assert_count(bytes, other_bytes);
	assert_memory_equal(bits, other, bytes);
	free(other);

	/* Any other seed, the other hash: other bits. */
	arg.seed[1] = 3;
	fd = assert_ok(create(&arg));
	assert_count(0, add_keys(fd, keys, KEYS));
	other = copy_bits(fd, &other_bytes);
	close(fd);
	assert_memory_not_equal(bits, other, bytes);
	free(other);

	arg.seed[1] = 2;
	arg.hash = !v->hash;
	fd = assert_ok(create(&arg));
	assert_count(0, add_keys(fd, keys, KEYS));
	other = copy_bits(fd, &other_bytes);
	close(fd);
	assert_memory_not_equal(bits, other, bytes);
	free(other);
	free(bits);
}

/* Without a seed two filters get different ones. */
static void random_seeds(void **state)
{
	const struct variant *v = *state;
	struct bloom_create arg = argument(v);
	struct bloom_info one, two;
	int fd;

	arg.flags = 0;
	arg.seed[0] = 0;
	arg.seed[1] = 0;
	fd = assert_ok(create(&arg));
	assert_ok(get_info(fd, &one));
	close(fd);
	fd = assert_ok(create(&arg));
	assert_ok(get_info(fd, &two));
	close(fd);
	assert_true(one.seed[0] != two.seed[0]);
	assert_true(one.seed[1] != two.seed[1]);
}

/* Alone, of one length, or with lengths: the same keys. */
static void all_ways_are_one(void **state)
{
	struct bloom_create arg = argument(*state);
	u32 len, i, lens[5];
	struct bloom_batch batch;
	int fd = assert_ok(create(&arg));
	const u8 *bytes = (u8 *)keys;

	fill_keys(keys, 2 * KEYS, 7);
	for (len = 1; len <= 100; len++, bytes += sizeof(lens)) {
		for (i = 0; i < ARRAY_LEN(lens); i++)
			lens[i] = len;
		batch = batch_of(NULL, ARRAY_LEN(lens), NULL);
		batch.keys = (uintptr_t)bytes;
		batch.key_len = len;
		batch.keys_bytes = len * ARRAY_LEN(lens);
		assert_ok(run_batch(fd, BLOOM_IOC_ADD, &batch));
		/* Short ones may be like others. */
		if (len >= 8)
			assert_count(0, batch.present);
		for (i = 0; i < ARRAY_LEN(lens); i++)
			assert_int_equal(query_bytes(fd, bytes + i * len, len),
					 BLOOM_PRESENT);
		batch.key_len = 0;
		batch.lens = (uintptr_t)lens;
		assert_ok(run_batch(fd, BLOOM_IOC_QUERY, &batch));
		assert_count(ARRAY_LEN(lens), batch.present);
	}
	close(fd);
}

struct property {
	const char *name;
	CMUnitTestFunction run;
};

static const struct property properties[] = {
	{ "add, query, clear", add_query_clear },
	{ "repeated keys", repeated_keys },
	{ "info is exact", info_is_exact },
	{ "slots_set as mapped", slots_set_as_mapped },
	{ "same seed, same bits", same_seed_same_bits },
	{ "random seeds", random_seeds },
	{ "all ways are one", all_ways_are_one },
};

static bool applies(const struct variant *v, const struct property *property)
{
	/* A counter is more than one bit of the mapping. */
	if (property->run == slots_set_as_mapped)
		return v->kind != BLOOM_KIND_COUNTING;
	if (property->run == same_seed_same_bits || property->run == random_seeds ||
	    property->run == all_ways_are_one)
		return v->kind != BLOOM_KIND_BITMAP;
	return true;
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(variants) * ARRAY_LEN(properties)] = {};
	size_t i, j, n = 0;
	char *name;

	for (i = 0; i < ARRAY_LEN(variants); i++) {
		for (j = 0; j < ARRAY_LEN(properties); j++) {
			if (!applies(&variants[i], &properties[j]))
				continue;
			if (asprintf(&name, "%s: %s", variants[i].name, properties[j].name) < 0)
				return 1;
			tests[n].name = name;
			tests[n].test_func = properties[j].run;
			tests[n++].initial_state = (void *)&variants[i];
		}
	}
	return run_table("basics", tests, n, NULL, NULL);
}
