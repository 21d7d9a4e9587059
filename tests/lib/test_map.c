// SPDX-License-Identifier: GPL-2.0
/*
 * Queries on the map answer as the kernel does, while layers come and go; and
 * the integers of a bitmap.
 */
#include <signal.h>
#include <sys/wait.h>
#include "lib.h"

static struct bloomdev_map *map_of(struct bloomdev_filter *f)
{
	struct bloomdev_map *map = bloomdev_map_open(f);

	if (!map && (errno == ENODEV || errno == EOPNOTSUPP)) {
		print_message("this module maps no filters\n");
		skip();
	}
	if (!map)
		fail_msg("%s", bloomdev_message());
	return map;
}

/* The same verdicts from both for @count integers from @first on. */
static size_t compare(struct bloomdev_filter *f, struct bloomdev_map *map,
		      uint64_t first, size_t count)
{
	struct bloomdev_keys keys = integers(first, count);
	struct bloomdev_result asked, mapped;
	uint8_t *a = malloc(count), *b = malloc(count);

	assert_int_equal(bloomdev_filter_query(f, &keys, a, &asked), 0);
	assert_int_equal(bloomdev_map_query(map, &keys, b, &mapped), 0);
	assert_memory_equal(a, b, count);
	assert_int_equal(asked.done, mapped.done);
	assert_int_equal(asked.present, mapped.present);
	assert_int_equal(asked.out_of_range, mapped.out_of_range);
	free((void *)keys.data);
	free(a);
	free(b);
	return mapped.present;
}

static void same_answers(uint32_t kind, uint32_t growth, uint32_t hash)
{
	struct bloomdev_options opts = options(5000, 0.05);
	struct bloomdev_filter *f;
	struct bloomdev_map *map;

	opts.kind = kind;
	opts.growth = growth;
	opts.hash = hash;
	if (growth == BLOOMDEV_GROWTH_WINDOW)
		opts.generations = 3;
	f = make_filter(&opts);
	map = map_of(f);
	assert_int_equal(compare(f, map, 0, 1000), 0);
	add_integers(f, 0, 5000);
	assert_int_equal(compare(f, map, 0, 5000), 5000);
	assert_true(compare(f, map, 100000, 10000) > 10);
	add_integers(f, 5000, 20000);
	assert_int_equal(compare(f, map, 0, 25000), 25000);
	if (growth == BLOOMDEV_GROWTH_WINDOW) {
		assert_int_equal(bloomdev_filter_rotate(f), 0);
		add_integers(f, 0, 10);
		assert_int_equal(compare(f, map, 0, 25000), 25000);
		assert_int_equal(bloomdev_filter_rotate(f), 0);
		assert_int_equal(bloomdev_filter_rotate(f), 0);
		assert_true(compare(f, map, 0, 25000) < 25000);
	}
	assert_int_equal(bloomdev_filter_clear(f), 0);
	assert_int_equal(compare(f, map, 0, 1000), 0);
	bloomdev_filter_close(f);
	/* A map outlives its filter's handle. */
	assert_int_equal(bloomdev_map_query_key(map, "key", 3), BLOOMDEV_ABSENT);
	bloomdev_map_close(map);
}

static void fixed(void **state)
{
	(void)state;
	need_device();
	same_answers(BLOOMDEV_KIND_BLOCKED, BLOOMDEV_GROWTH_FIXED, BLOOMDEV_HASH_JHASH);
	same_answers(BLOOMDEV_KIND_CLASSIC, BLOOMDEV_GROWTH_FIXED, BLOOMDEV_HASH_SIPHASH);
}

static void counting(void **state)
{
	(void)state;
	need_device();
	same_answers(BLOOMDEV_KIND_COUNTING, BLOOMDEV_GROWTH_FIXED, BLOOMDEV_HASH_JHASH);
}

static void scaling(void **state)
{
	(void)state;
	need_device();
	same_answers(BLOOMDEV_KIND_BLOCKED, BLOOMDEV_GROWTH_SCALING, BLOOMDEV_HASH_JHASH);
	same_answers(BLOOMDEV_KIND_CLASSIC, BLOOMDEV_GROWTH_SCALING, BLOOMDEV_HASH_JHASH);
}

static void window(void **state)
{
	(void)state;
	need_device();
	same_answers(BLOOMDEV_KIND_BLOCKED, BLOOMDEV_GROWTH_WINDOW, BLOOMDEV_HASH_SIPHASH);
}

static void refusals(void **state)
{
	static const uint32_t lens[] = { 1, 65536 };
	struct bloomdev_keys keys = { .data = "abc", .bytes = 3, .lens = lens, .count = 2 };
	struct bloomdev_options opts = options(1000, 0.01);
	struct bloomdev_filter *f;
	struct bloomdev_map *map;
	uint64_t value;
	size_t count;

	(void)state;
	need_device();
	f = make_filter(&opts);
	map = map_of(f);
	assert_failed(bloomdev_map_query(map, &keys, NULL, NULL), EINVAL, "key 1");
	keys.lens = NULL;
	keys.key_len = 1;
	assert_failed(bloomdev_map_query(map, &keys, NULL, NULL), EINVAL, "2 bytes");
	keys.key_len = 2;
	assert_failed(bloomdev_map_query(map, &keys, NULL, NULL), EINVAL, "4 bytes");
	assert_failed(bloomdev_map_values(map, 0, &value, 1, &count), EOPNOTSUPP, "bitmap");
	bloomdev_map_close(map);
	bloomdev_filter_close(f);
}

/* A key that is there is never missed, while another process rotates. */
static void while_rotating(void **state)
{
	struct bloomdev_options opts = options(1000, 0.001);
	struct bloomdev_filter *f;
	struct bloomdev_map *map;
	int i, status;
	pid_t child;

	(void)state;
	need_device();
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 2;
	f = make_filter(&opts);
	map = map_of(f);
	assert_int_equal(bloomdev_filter_add_int(f, 42), BLOOMDEV_ABSENT);
	child = fork();
	if (!child) {
		for (;;) {
			/* Renewed before every rotation: it is always there. */
			if (bloomdev_filter_add_int(f, 42) < 0 ||
			    bloomdev_filter_rotate(f))
				_exit(1);
		}
	}
	for (i = 0; i < 20000; i++) {
		uint64_t key = 42;

		assert_int_equal(bloomdev_map_query_key(map, &key, sizeof(key)),
				 BLOOMDEV_PRESENT);
	}
	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	bloomdev_map_close(map);
	bloomdev_filter_close(f);
}

static struct bloomdev_filter *make_bitmap(uint64_t base, uint64_t slots)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;

	opts.kind = BLOOMDEV_KIND_BITMAP;
	opts.base = base;
	opts.slots = slots;
	return make_filter(&opts);
}

static void check_bitmap(uint64_t base, uint64_t slots)
{
	struct bloomdev_filter *f = make_bitmap(base, slots);
	static uint64_t values[100];
	uint64_t first, last, from = 0;
	struct bloomdev_map *map;
	size_t count, sum = 0;

	map = map_of(f);
	assert_int_equal(bloomdev_map_range(map, 0, &first, &last), 0);
	assert_int_equal(add_integers(f, base, 1), 0);
	assert_int_equal(add_integers(f, base + 60, 70), 0);
	assert_int_equal(add_integers(f, base + slots - 2, 2), 0);
	assert_int_equal(add_integers(f, base + 70, 5), 5);
	if (base) {
		assert_int_equal(bloomdev_filter_add_int(f, base - 1),
				 BLOOMDEV_OUT_OF_RANGE);
		assert_int_equal(bloomdev_filter_query_int(f, base - 1),
				 BLOOMDEV_OUT_OF_RANGE);
	}
	compare(f, map, base ? base - 1 : base, 200);
	assert_int_equal(bloomdev_map_range(map, 0, &first, &last), 1);
	assert_true(first == base && last == base);
	assert_int_equal(bloomdev_map_range(map, base + 1, &first, &last), 1);
	assert_true(first == base + 60 && last == base + 129);
	assert_int_equal(bloomdev_map_range(map, base + 65, &first, &last), 1);
	assert_true(first == base + 65 && last == base + 129);
	assert_int_equal(bloomdev_map_range(map, base + 130, &first, &last), 1);
	assert_true(first == base + slots - 2 && last == base + slots - 1);

	do {
		assert_int_equal(bloomdev_map_values(map, from, values, 7, &count), 0);
		sum += count;
		if (count)
			from = values[count - 1] + 1;
	} while (count == 7 && from);
	assert_int_equal(sum, 73);
	assert_true(values[count - 1] == base + slots - 1);

	assert_int_equal(bloomdev_filter_remove_int(f, base), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_remove_int(f, base), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_map_range(map, 0, &first, &last), 1);
	assert_true(first == base + 60);
	assert_int_equal(bloomdev_filter_clear(f), 0);
	assert_int_equal(bloomdev_map_range(map, 0, &first, &last), 0);
	bloomdev_map_close(map);
	bloomdev_filter_close(f);
}

static void bitmap(void **state)
{
	(void)state;
	need_device();
	check_bitmap(0, 1000);
	check_bitmap(1, 64 * 1024);
	check_bitmap(1000000007, 999);
	check_bitmap(UINT64_MAX - 4095, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed),
		cmocka_unit_test(counting),
		cmocka_unit_test(scaling),
		cmocka_unit_test(window),
		cmocka_unit_test(refusals),
		cmocka_unit_test(while_rotating),
		cmocka_unit_test(bitmap),
	};

	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
