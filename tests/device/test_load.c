// SPDX-License-Identifier: GPL-2.0
/*
 * LOAD: bytes OR-ed into a layer, which is what restore and merge are made of.
 * What it refuses is in test_reject_filter.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define KEYS	10000U

static u64 keys[2 * KEYS];

static int load(int fd, struct bloom_load *arg)
{
	int ret;

	/* A short call goes on where it stopped. */
	do {
		arg->done = 0;
		arg->size = sizeof(*arg);
		ret = request(fd, BLOOM_IOC_LOAD, arg);
		if (ret < 0)
			return ret;
		if (!arg->done && arg->length)
			return -EPROTO;
		arg->offset += arg->done;
		arg->data += arg->done;
		arg->length -= arg->done;
		/* A new layer is there once. */
		arg->slots = 0;
		arg->probes = 0;
	} while (arg->length);
	return 0;
}

/* OR the bits of one layer into another, in pieces of so many bytes. */
static void merge_layer(int to, u32 to_layer, int from, const struct bloom_layer_info *layer,
			size_t piece)
{
	void *map = map_read(from, layer->map_offset, layer->bytes);
	u64 offset;

	assert_non_null(map);
	for (offset = 0; offset < layer->bytes; offset += piece) {
		struct bloom_load arg = {
			.layer = to_layer,
			.offset = offset,
			.length = layer->bytes - offset < piece ? layer->bytes - offset : piece,
			.data = (uintptr_t)map + offset,
		};

		/* The last one counts the keys. */
		if (offset + piece >= layer->bytes)
			arg.keys = layer->keys;
		assert_ok(load(to, &arg));
	}
	munmap(map, layer->bytes);
}

static int make(u32 kind, u32 growth)
{
	struct bloom_create arg = create_defaults(kind, growth);

	if (kind != BLOOM_KIND_BITMAP) {
		arg.flags = BLOOM_CREATE_SEED;
		arg.seed[1] = 5;
		arg.fp_rate = RATE(0.000001);
		arg.capacity = 4 * KEYS;
	}
	return assert_ok(create(&arg));
}

static void choose_keys(u32 kind)
{
	size_t i;

	fill_keys(keys, 2 * KEYS, 0);
	if (kind == BLOOM_KIND_BITMAP) {
		for (i = 0; i < 2 * KEYS; i++)
			keys[i] = i * 11 % 100000;
	}
}

/* Two halves in two filters; their union is as if all had been added to one. */
static void halves(void **state)
{
	static const size_t pieces[] = { 1000, 4096, 40000, 1 << 20 };
	u32 kind = (uintptr_t)*state;
	struct bloom_layer_info layer, whole;
	int one, two, both, target;
	u8 *map, *map_whole;
	size_t i;

	choose_keys(kind);
	one = make(kind, BLOOM_GROWTH_FIXED);
	two = make(kind, BLOOM_GROWTH_FIXED);
	both = make(kind, BLOOM_GROWTH_FIXED);
	assert_count(0, add_keys(one, keys, KEYS));
	assert_count(0, add_keys(two, keys + KEYS, KEYS));
	assert_count(0, add_keys(both, keys, 2 * KEYS));
	assert_ok(get_layers(both, &whole, 1));
	map_whole = map_read(both, whole.map_offset, whole.bytes);
	assert_non_null(map_whole);

	for (i = 0; i < ARRAY_LEN(pieces); i++) {
		target = make(kind, BLOOM_GROWTH_FIXED);
		assert_ok(get_layers(one, &layer, 1));
		merge_layer(target, 0, one, &layer, pieces[i]);
		assert_count(KEYS, query_keys(target, keys, KEYS));
		assert_ok(get_layers(two, &layer, 1));
		merge_layer(target, 0, two, &layer, pieces[i]);
		assert_ok(get_layers(target, &layer, 1));
		assert_count(2 * KEYS, layer.keys);
		assert_count(whole.slots_set, layer.slots_set);
		assert_count(2 * KEYS, query_keys(target, keys, 2 * KEYS));
		map = map_read(target, layer.map_offset, layer.bytes);
		assert_non_null(map);
		assert_memory_equal(map, map_whole, layer.bytes);
		munmap(map, layer.bytes);

		/* Once more: OR is idempotent; counters are not. */
		if (kind != BLOOM_KIND_COUNTING) {
			merge_layer(target, 0, one, &whole, 4096);
			assert_ok(get_layers(target, &layer, 1));
			assert_count(whole.slots_set, layer.slots_set);
		}
		close(target);
	}
	munmap(map_whole, whole.bytes);
	close(one);
	close(two);
	close(both);
}

/* Counters are added, each for itself, up to 15. */
static void counters_add_up(void **state)
{
	int fd = make(BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED);
	u64 data[2], expected = 0;
	struct bloom_layer_info layer;
	struct bloom_load arg;
	int round;
	u64 *map;
	u32 i;

	(void)state;
	assert_ok(get_layers(fd, &layer, 1));
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	data[0] = 0x0123456789abcdefULL;
	data[1] = 0xf0f0f0f0f0f0f0f0ULL;
	for (round = 1; round <= 20; round++) {
		arg = (struct bloom_load){ .offset = 64, .length = 16, .data = (uintptr_t)data };
		assert_ok(load(fd, &arg));
		for (expected = 0, i = 0; i < 64; i += 4) {
			u64 sum = (data[0] >> i & 15) * round;

			expected |= (sum > 15 ? 15 : sum) << i;
		}
		assert_count(expected, map[8]);
		assert_count(data[1], map[9]);
		assert_ok(get_layers(fd, &layer, 1));
		assert_count(15 + 8, layer.slots_set);
	}
	munmap(map, layer.bytes);
	close(fd);
}

static void keys_are_counted(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	struct bloom_load arg = { .keys = 3 * KEYS };
	struct bloom_info info;

	(void)state;
	/* Without bytes: only the count. */
	assert_ok(load(fd, &arg));
	assert_ok(get_info(fd, &info));
	assert_count(3 * KEYS, info.keys);
	assert_count(0, info.slots_set);
	assert_count(0, info.adds);
	arg = (struct bloom_load){ .keys = KEYS + 1 };
	assert_ok(load(fd, &arg));
	assert_ok(get_info(fd, &info));
	assert_count(4 * KEYS + 1, info.keys);
	assert_int_equal(info.state, BLOOM_STATE_SATURATED);
	close(fd);
}

/* The end of memory: what was before it is in, and the keys are not counted. */
static void memory_ends(void **state)
{
	size_t good = 1 << 20, page = 4096;
	u8 *data = mmap(NULL, good + page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
	struct bloom_load load_arg = {
		.size = sizeof(load_arg),
		.length = good + page,
		.data = (uintptr_t)data,
	};
	struct bloom_info info;
	int fd;

	(void)state;
	assert_true(data != MAP_FAILED);
	memset(data, 0xff, good + page);
	mprotect(data + good, page, PROT_NONE);
	arg.slots = 8 * (good + page);
	fd = assert_ok(create(&arg));
	assert_ok(request(fd, BLOOM_IOC_LOAD, &load_arg));
	assert_true(load_arg.done > 0 && load_arg.done <= good);
	assert_ok(get_info(fd, &info));
	assert_count(8 * load_arg.done, info.slots_set);
	load_arg.offset += load_arg.done;
	load_arg.data += load_arg.done;
	load_arg.length -= load_arg.done;
	while (load_arg.offset < good) {
		if (request(fd, BLOOM_IOC_LOAD, &load_arg) < 0)
			break;
		load_arg.offset += load_arg.done;
		load_arg.data += load_arg.done;
		load_arg.length -= load_arg.done;
	}
	assert_error(EFAULT, request(fd, BLOOM_IOC_LOAD, &load_arg));
	munmap(data, good + page);
	close(fd);
}

/* A scaling filter is rebuilt layer by layer, into the same answers. */
static void scaling_layers(void **state)
{
	u32 kind = (uintptr_t)*state, i, n;
	struct bloom_create arg = create_defaults(kind, BLOOM_GROWTH_SCALING);
	struct bloom_layer_info from[BLOOM_LAYERS_MAX], to[BLOOM_LAYERS_MAX];
	int source, target;
	struct bloom_info info;

	arg.capacity = 1024;
	arg.fp_rate = RATE(0.00001);
	arg.flags = BLOOM_CREATE_SEED;
	choose_keys(kind);
	source = assert_ok(create(&arg));
	target = assert_ok(create(&arg));
	assert_ok(add_keys(source, keys, KEYS));
	n = assert_ok(get_layers(source, from, BLOOM_LAYERS_MAX));
	assert_true(n >= 4);
	/*
	 * First all layers: a full one would have the filter grow on its own. By
	 * shape or by place: they are the same.
	 */
	for (i = 1; i < n; i++) {
		struct bloom_load grow = {
			.layer = i,
			.slots = i % 2 ? from[i].slots : 0,
			.probes = i % 2 ? from[i].probes : 0,
		};

		assert_ok(load(target, &grow));
	}
	for (i = 0; i < n; i++)
		merge_layer(target, i, source, &from[i], 8192);
	assert_int_equal(get_layers(target, to, BLOOM_LAYERS_MAX), n);
	for (i = 0; i < n; i++) {
		assert_count(from[i].slots, to[i].slots);
		assert_count(from[i].probes, to[i].probes);
		assert_count(from[i].capacity, to[i].capacity);
		assert_count(from[i].fp_rate, to[i].fp_rate);
		assert_count(from[i].keys, to[i].keys);
		assert_count(from[i].slots_set, to[i].slots_set);
	}
	assert_count(KEYS, query_keys(target, keys, KEYS));
	assert_count(0, query_keys(target, keys + KEYS, KEYS));
	/* It goes on from there. */
	assert_count(KEYS, add_keys(target, keys, 2 * KEYS));
	assert_count(2 * KEYS, query_keys(target, keys, 2 * KEYS));
	assert_ok(get_info(target, &info));
	assert_count(2 * KEYS, info.keys);
	close(source);
	close(target);
}

/* A layer that can't be is refused, and leaves the filter as it was. */
static void impossible_layers(void **state)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING);
	struct bloom_load load = { .size = sizeof(load), .layer = 1, .slots = 512 };
	struct bloom_layer_info layers[3];
	int fd = assert_ok(create(&arg));

	(void)state;
	load.probes = BLOOM_PROBES_MAX + 1;
	assert_error(EINVAL, request(fd, BLOOM_IOC_LOAD, &load));
	load.probes = 1;
	load.slots = ~0ULL;
	assert_error(EOVERFLOW, request(fd, BLOOM_IOC_LOAD, &load));
	load.slots = 1ULL << 46;
	assert_error(ENOSPC, request(fd, BLOOM_IOC_LOAD, &load));
	assert_int_equal(get_layers(fd, layers, ARRAY_LEN(layers)), 1);
	close(fd);
}

/* A window's generations, with their ages; they go on falling out in turn. */
static void window_generations(void **state)
{
	struct bloom_layer_info from[3], to[3];
	int source = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	int target = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW), i;
	struct bloom_load age = { .layer = 1, .age_ns = ~0ULL };

	(void)state;
	for (i = 0; i < 3; i++) {
		if (i)
			assert_ok(rotate(source));
		assert_int_equal(add_one(source, key_of(i)), BLOOM_ABSENT);
		usleep(20000);
	}
	assert_int_equal(get_layers(source, from, 3), 3);
	for (i = 0; i < 3; i++) {
		struct bloom_load aged = { .layer = i, .age_ns = from[i].age_ns };

		merge_layer(target, i, source, &from[i], 4096);
		assert_ok(load(target, &aged));
	}
	assert_int_equal(get_layers(target, to, 3), 3);
	for (i = 0; i < 3; i++) {
		assert_count(1, to[i].keys);
		assert_true(to[i].age_ns >= from[i].age_ns);
		assert_true(to[i].age_ns < from[i].age_ns + 60000000000ULL);
		assert_int_equal(query_one(target, key_of(i)), BLOOM_PRESENT);
	}
	/* Key 2 is in the current generation, 0 in the oldest. */
	for (i = 0; i < 3; i++) {
		assert_int_equal(query_one(target, key_of(i)), BLOOM_PRESENT);
		assert_ok(rotate(target));
		assert_int_equal(query_one(target, key_of(i)), BLOOM_ABSENT);
	}
	/* An age beyond the age of the machine harms nobody. */
	assert_ok(load(target, &age));
	assert_int_equal(get_layers(target, to, 3), 3);
	assert_ok(rotate(target));
	close(source);
	close(target);
}

/* A union of random bits, word by word against a model. */
static void random_words(void **state)
{
	u32 kind = (uintptr_t)*state;
	int fd = make(kind, BLOOM_GROWTH_FIXED);
	struct bloom_layer_info layer;
	u64 random = 11, set, *model, *map, data[64];
	size_t words, i, step;

	assert_ok(get_layers(fd, &layer, 1));
	words = layer.slots / 64;
	model = calloc(words, sizeof(u64));
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	for (step = 0; step < scaled(2000, 300); step++) {
		size_t n = next_random(&random) % 64 + 1, at = next_random(&random) % (words - n);
		struct bloom_load arg = {
			.offset = at * 8,
			.length = n * 8,
			.data = (uintptr_t)data,
		};

		for (i = 0; i < n; i++) {
			data[i] = next_random(&random) & next_random(&random);
			data[i] &= next_random(&random);
			model[at + i] |= data[i];
		}
		assert_ok(load(fd, &arg));
	}
	for (set = 0, i = 0; i < words; i++)
		set += __builtin_popcountll(model[i]);
	assert_memory_equal(map, model, words * sizeof(u64));
	assert_ok(get_layers(fd, &layer, 1));
	assert_count(set, layer.slots_set);
	if (kind == BLOOM_KIND_BITMAP)
		assert_count(set, layer.keys);
	munmap(map, layer.bytes);
	free(model);
	close(fd);
}

#define OF_KIND(name, run, kind) { name, run, NULL, NULL, (void *)(kind) }

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF_KIND("halves, blocked", halves, BLOOM_KIND_BLOCKED),
		OF_KIND("halves, classic", halves, BLOOM_KIND_CLASSIC),
		OF_KIND("halves, counting", halves, BLOOM_KIND_COUNTING),
		OF_KIND("halves, bitmap", halves, BLOOM_KIND_BITMAP),
		cmocka_unit_test(counters_add_up),
		cmocka_unit_test(keys_are_counted),
		cmocka_unit_test(memory_ends),
		OF_KIND("scaling layers, blocked", scaling_layers, BLOOM_KIND_BLOCKED),
		OF_KIND("scaling layers, classic", scaling_layers, BLOOM_KIND_CLASSIC),
		cmocka_unit_test(impossible_layers),
		cmocka_unit_test(window_generations),
		OF_KIND("random words, blocked", random_words, BLOOM_KIND_BLOCKED),
		OF_KIND("random words, classic", random_words, BLOOM_KIND_CLASSIC),
		OF_KIND("random words, bitmap", random_words, BLOOM_KIND_BITMAP),
	};

	return run_table("load", tests, ARRAY_LEN(tests), NULL, NULL);
}
