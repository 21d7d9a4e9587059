// SPDX-License-Identifier: GPL-2.0
/*
 * Shapes given by hand, keys of all lengths, many keys, and very many bits.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define GIB	1073741824ULL

static void explicit_slots_and_probes(void **state)
{
	static const struct {
		u32 kind, probes;
		u64 slots, want;
	} shapes[] = {
		{ BLOOM_KIND_CLASSIC, 1, 1, 1 },
		{ BLOOM_KIND_CLASSIC, 7, 1000, 1000 },
		{ BLOOM_KIND_CLASSIC, 64, 1000003, 1000003 },
		{ BLOOM_KIND_BLOCKED, 6, 1 << 24, 1 << 24 },
		{ BLOOM_KIND_BLOCKED, 64, 65536, 65536 },
		{ BLOOM_KIND_COUNTING, 4, 65536, 65536 },
	};
	struct bloom_layer_info layer;
	u64 key = 0;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_LEN(shapes); i++) {
		struct bloom_create arg = {
			.size = sizeof(arg),
			.kind = shapes[i].kind,
			.slots = shapes[i].slots,
			.probes = shapes[i].probes,
		};

		fd = assert_ok(create(&arg));
		assert_int_equal(add_one(fd, ++key), BLOOM_ABSENT);
		assert_int_equal(add_one(fd, key), BLOOM_PRESENT);
		assert_ok(get_layers(fd, &layer, 1));
		assert_count(shapes[i].want, layer.slots);
		assert_count(shapes[i].probes, layer.probes);
		assert_count(0, layer.capacity);
		assert_true(layer.slots_set >= 1 && layer.slots_set <= shapes[i].probes);
		assert_true(layer.bytes * 8 >= layer.slots);
		close(fd);
	}
}

/* Rounded up, never down, to whole blocks; not by much. */
static void blocks_are_rounded_up(void **state)
{
	static const u64 slots[] = { 1, 511, 512, 513, 32767, 32768, 32769, 100000 };
	struct bloom_create arg = { .size = sizeof(arg), .probes = 3 };
	struct bloom_layer_info layer;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_LEN(slots); i++) {
		arg.slots = slots[i];
		fd = assert_ok(create(&arg));
		assert_ok(get_layers(fd, &layer, 1));
		assert_true(layer.slots >= slots[i]);
		assert_true(layer.slots < slots[i] + 4096 * 8);
		assert_count(0, layer.slots % BLOOM_BLOCK_SLOTS);
		close(fd);
	}
}

/* Keys that share a prefix, each with its own length; in one batch. */
static void lengths_make_keys_different(void **state)
{
	enum { N = 2000 };
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100000, 0.000001));
	u32 lens[N];
	u8 verdicts[N];
	struct bloom_batch batch = {
		.size = sizeof(batch),
		.lens = (uintptr_t)lens,
		.count = N,
		.verdicts = (uintptr_t)verdicts,
	};
	char *bytes;
	u32 i;

	(void)state;
	for (i = 0; i < N; i++) {
		lens[i] = i;
		batch.keys_bytes += i;
	}
	bytes = calloc(1, batch.keys_bytes);
	batch.keys = (uintptr_t)bytes;
	/* A short call is no failure: go on from there. */
	while (batch.count) {
		assert_ok(request(fd, BLOOM_IOC_ADD, &batch));
		assert_true(batch.done > 0);
		assert_count(0, batch.present);
		for (i = 0; i < batch.done; i++) {
			u32 length = *(u32 *)(uintptr_t)batch.lens;

			batch.keys += length;
			batch.keys_bytes -= length;
			batch.lens += sizeof(u32);
		}
		batch.verdicts += batch.done;
		batch.count -= batch.done;
	}
	for (i = 0; i < N; i++) {
		assert_int_equal(verdicts[i], BLOOM_ABSENT);
		assert_int_equal(query_bytes(fd, bytes, i), BLOOM_PRESENT);
	}
	assert_int_equal(query_bytes(fd, bytes, N), BLOOM_ABSENT);
	free(bytes);
	close(fd);
}

/* As many keys of 64 KiB as make a batch larger than any chunk. */
static void long_keys(void **state)
{
	enum { N = 100 };
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 1000, 0.000001));
	char *bytes = calloc(N, BLOOM_KEY_MAX);
	u8 verdicts[N];
	struct bloom_batch batch = {
		.size = sizeof(batch),
		.keys = (uintptr_t)bytes,
		.keys_bytes = N * BLOOM_KEY_MAX,
		.key_len = BLOOM_KEY_MAX,
		.count = N,
		.verdicts = (uintptr_t)verdicts,
	};
	size_t i;

	(void)state;
	for (i = 0; i < N; i++)
		bytes[i * BLOOM_KEY_MAX + BLOOM_KEY_MAX - 1] = i + 1;
	assert_ok(run_batch(fd, BLOOM_IOC_ADD, &batch));
	assert_count(0, batch.present);
	for (i = 0; i < N; i++)
		assert_int_equal(verdicts[i], BLOOM_ABSENT);
	assert_ok(run_batch(fd, BLOOM_IOC_QUERY, &batch));
	assert_count(N, batch.present);
	/* The last byte counts. */
	bytes[BLOOM_KEY_MAX - 1] = 0;
	assert_int_equal(query_bytes(fd, bytes, BLOOM_KEY_MAX), BLOOM_ABSENT);
	free(bytes);
	close(fd);
}

static void ten_million_keys(void **state)
{
	size_t n = scaled(10000000, 100000);
	u64 *keys = malloc(n * sizeof(*keys));
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, n, 0.01));
	struct bloom_batch batch;
	struct bloom_info info;
	long present;

	(void)state;
	assert_non_null(keys);
	fill_keys(keys, n, 0);
	batch = batch_of(keys, n, NULL);
	/* In one call. */
	assert_ok(request(fd, BLOOM_IOC_ADD, &batch));
	assert_count(n, batch.done);
	assert_ok(get_info(fd, &info));
	assert_count(n, info.adds);
	assert_count(n, info.keys + info.adds_present);
	assert_count(batch.present, info.adds_present);
	assert_count(0, info.state);
	present = assert_ok(query_keys(fd, keys, n));
	assert_count(n, present);
	free(keys);
	close(fd);
}

/* Above its capacity a filter says so. */
static void saturated(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 1000, 0.000001));
	struct bloom_info info;
	u64 keys[1001];

	(void)state;
	fill_keys(keys, 1001, 0);
	assert_count(0, add_keys(fd, keys, 1000));
	assert_ok(get_info(fd, &info));
	assert_int_equal(info.state, 0);
	assert_count(0, add_keys(fd, keys + 1000, 1));
	assert_ok(get_info(fd, &info));
	assert_int_equal(info.state, BLOOM_STATE_SATURATED);
	assert_ok(clear(fd));
	assert_ok(get_info(fd, &info));
	assert_int_equal(info.state, 0);
	close(fd);
}

/*
 * 5e9 bits: keys land above bit 2^32, and are found again. A filter that cut
 * positions off to 32 bits would have nothing set up there.
 */
static void more_than_32_bits(void **state)
{
	static const char *const caps[] = { "max_filter_bytes", "max_user_bytes",
					    "max_total_bytes" };
	struct bloom_create arg = { .size = sizeof(arg), .probes = 4, .slots = 5000000000ULL };
	u32 kind = (uintptr_t)*state;
	s64 before[ARRAY_LEN(caps)];
	struct bloom_layer_info layer;
	u64 *keys, high = 0;
	const u64 *words;
	size_t i, n = 20000;
	int fd;

	/* 600 MB, on 4-bit counters four times that. */
	if (memory_available() < (kind == BLOOM_KIND_COUNTING ? 3 * GIB : GIB))
		skip();
	for (i = 0; i < ARRAY_LEN(caps); i++) {
		before[i] = assert_ok(module_parameter(caps[i]));
		assert_ok(set_module_parameter(caps[i], 4 * GIB));
	}
	arg.kind = kind;
	fd = create(&arg);
	for (i = 0; i < ARRAY_LEN(caps); i++)
		assert_ok(set_module_parameter(caps[i], before[i]));
	assert_ok(fd);

	keys = malloc(n * sizeof(*keys));
	fill_keys(keys, n, 0);
	assert_count(0, add_keys(fd, keys, n));
	assert_count(n, query_keys(fd, keys, n));
	fill_keys(keys, n, n);
	assert_count(0, query_keys(fd, keys, n));
	free(keys);

	assert_ok(get_layers(fd, &layer, 1));
	assert_true(layer.slots >= arg.slots);
	/* All bits distinct but for a few: nothing fell onto 2^32 positions twice. */
	assert_true(layer.slots_set > n * 4 - n / 20 && layer.slots_set <= n * 4);

	/* 14.1 % of the bits lie above 2^32. */
	if (kind != BLOOM_KIND_COUNTING) {
		words = map_read(fd, layer.map_offset, layer.bytes);
		assert_non_null(words);
		for (i = (1ULL << 32) / 64; i < layer.bytes / 8; i++)
			high += __builtin_popcountll(words[i]);
		munmap((void *)words, layer.bytes);
		assert_true(high > layer.slots_set * 12 / 100);
		assert_true(high < layer.slots_set * 16 / 100);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explicit_slots_and_probes),
		cmocka_unit_test(blocks_are_rounded_up),
		cmocka_unit_test(lengths_make_keys_different),
		cmocka_unit_test(long_keys),
		cmocka_unit_test(ten_million_keys),
		cmocka_unit_test(saturated),
		{ "5e9 bits, blocked", more_than_32_bits, NULL, NULL,
		  (void *)BLOOM_KIND_BLOCKED },
		{ "5e9 bits, classic", more_than_32_bits, NULL, NULL,
		  (void *)BLOOM_KIND_CLASSIC },
	};

	return run_table("shapes", tests, ARRAY_LEN(tests), NULL, NULL);
}
