// SPDX-License-Identifier: GPL-2.0
/*
 * A filter through the library: batches, single keys, names, counts.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "lib.h"

#define NAME	"test-lib-filter"

static void single_keys(void **state)
{
	struct bloomdev_options opts = options(1000, 0.000000001);
	struct bloomdev_filter *f;
	static char longest[BLOOMDEV_KEY_MAX + 1];

	(void)state;
	need_device();
	f = make_filter(&opts);
	assert_int_equal(bloomdev_filter_is_empty(f), 1);
	assert_int_equal(bloomdev_filter_add_key(f, "key", 3), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_add_key(f, "key", 3), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_query_key(f, "key", 3), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_query_key(f, "ke", 2), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_add_key(f, "", 0), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_query_key(f, NULL, 0), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_add_key(f, "a\0b", 3), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_query_key(f, "a\0c", 3), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_add_key(f, longest, BLOOMDEV_KEY_MAX),
			 BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_query_key(f, longest, BLOOMDEV_KEY_MAX),
			 BLOOMDEV_PRESENT);
	assert_failed(bloomdev_filter_add_key(f, longest, BLOOMDEV_KEY_MAX + 1),
		      EINVAL, "65536");
	assert_failed(bloomdev_filter_remove_key(f, "key", 3), EOPNOTSUPP,
		      "remove");
	assert_int_equal(bloomdev_filter_add_int(f, 5), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_query_int(f, 5), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_is_empty(f), 0);
	bloomdev_filter_close(f);
}

static void batches(void **state)
{
	static const uint32_t lens[] = { 1, 0, 3, 1 }, wrong[] = { 1, 0, 3, 2 },
			      longer[] = { 1, 0, 3, 65536 };
	struct bloomdev_keys keys = {
		.data = "abcda", .bytes = 5, .lens = lens, .count = 4,
	};
	struct bloomdev_options opts = options(1000, 0.000000001);
	struct bloomdev_result result;
	struct bloomdev_filter *f;
	uint8_t verdicts[4];
	uint64_t count;

	(void)state;
	need_device();
	f = make_filter(&opts);
	assert_int_equal(bloomdev_filter_add(f, &keys, verdicts, &result), 0);
	assert_memory_equal(verdicts, "\0\0\0\1", 4);
	assert_int_equal(result.done, 4);
	assert_int_equal(result.present, 1);
	assert_int_equal(bloomdev_filter_contains_all(f, &keys), 1);
	assert_int_equal(bloomdev_filter_count(f, &count), 0);
	assert_int_equal(count, 3);
	keys.lens = wrong;
	assert_failed(bloomdev_filter_add(f, &keys, NULL, NULL), EINVAL, "6 bytes");
	keys.lens = longer;
	assert_failed(bloomdev_filter_add(f, &keys, NULL, NULL), EINVAL, "key 3");
	keys.count = 0;
	keys.bytes = 0;
	assert_int_equal(bloomdev_filter_add(f, &keys, NULL, &result), 0);
	assert_int_equal(result.done, 0);
	assert_int_equal(bloomdev_filter_clear(f), 0);
	assert_int_equal(bloomdev_filter_is_empty(f), 1);
	assert_int_equal(bloomdev_filter_contains_all(f, &keys), 1);
	bloomdev_filter_close(f);
}

/* The same key a thousand times changes no count. */
static void repeated(void **state)
{
	struct bloomdev_options opts = options(1000, 0.001);
	struct bloomdev_filter *f;
	struct bloomdev_info *info;
	int i;

	(void)state;
	need_device();
	f = make_filter(&opts);
	for (i = 0; i < 1000; i++)
		assert_int_equal(bloomdev_filter_add_key(f, "again", 5), i > 0);
	info = bloomdev_filter_info(f);
	assert_non_null(info);
	assert_int_equal(info->keys, 1);
	assert_int_equal(info->adds, 1000);
	assert_int_equal(info->adds_present, 999);
	assert_true(info->slots_set <= info->layers[0].probes);
	assert_true(fabs(bloomdev_info_distinct(info, -1) - 1) < 0.5);
	bloomdev_info_free(info);
	bloomdev_filter_close(f);
}

static void large_batch(void **state)
{
	struct bloomdev_options opts = options(300000, 0.001);
	struct bloomdev_filter *f;
	struct bloomdev_info *info;
	size_t present;

	(void)state;
	need_device();
	f = make_filter(&opts);
	present = add_integers(f, 0, 300000);
	assert_true(present < 300);
	assert_int_equal(query_integers(f, 0, 300000), 300000);
	present = query_integers(f, 1000000, 300000);
	assert_true(present > 150 && present < 330);
	info = bloomdev_filter_info(f);
	assert_non_null(info);
	assert_true(fabs(bloomdev_info_distinct(info, -1) / 300000 - 1) < 0.02);
	assert_true(bloomdev_info_error(info, -1) < 0.0011);
	assert_true(bloomdev_info_error(info, -1) > 0.0008);
	bloomdev_info_free(info);
	bloomdev_filter_close(f);
}

static void names(void **state)
{
	struct bloomdev_options opts = options(1000, 0.001);
	struct bloomdev_filter *f, *g, *by_name;
	struct bloomdev_list *list;
	size_t i, found = 0;

	(void)state;
	need_device();
	f = make_filter(&opts);
	g = make_filter(&opts);
	bloomdev_device_unlink(NULL, NAME);
	bloomdev_device_unlink(NULL, NAME "2");
	assert_failed(bloomdev_device_unlink(NULL, NAME), ENOENT, NAME);
	assert_int_equal(bloomdev_filter_link(f, NAME, 0, 0600, BLOOMDEV_GROUP_OWN), 0);
	assert_failed(bloomdev_filter_link(g, NAME, 0, 0600, BLOOMDEV_GROUP_OWN),
		      EEXIST, NAME);
	assert_failed(bloomdev_filter_link(g, "a/b", 0, 0600, BLOOMDEV_GROUP_OWN),
		      EINVAL, "a/b");
	assert_failed(bloomdev_filter_link(g, NAME, 0, 0700, BLOOMDEV_GROUP_OWN),
		      EINVAL, "0700");
	list = bloomdev_device_list(NULL);
	assert_non_null(list);
	for (i = 0; i < bloomdev_list_count(list); i++)
		found += !strcmp(bloomdev_list_get(list, i)->name, NAME);
	assert_int_equal(found, 1);
	assert_null(bloomdev_list_get(list, i));
	bloomdev_list_free(list);

	add_integers(f, 1, 1);
	add_integers(g, 2, 1);
	assert_int_equal(bloomdev_filter_link(g, NAME "2", 0, 0600, BLOOMDEV_GROUP_OWN), 0);
	assert_int_equal(bloomdev_filter_link(f, NAME "2", BLOOMDEV_EXCHANGE, 0,
					      BLOOMDEV_GROUP_OWN), 0);
	by_name = bloomdev_filter_open(NULL, NAME, BLOOMDEV_READ);
	assert_non_null(by_name);
	assert_int_equal(query_integers(by_name, 2, 1), 1);
	assert_int_equal(query_integers(by_name, 1, 1), 0);
	assert_failed(bloomdev_filter_add_int(by_name, 1), EBADF, "add");
	bloomdev_filter_close(by_name);
	assert_int_equal(bloomdev_device_unlink(NULL, NAME), 0);
	assert_int_equal(bloomdev_device_unlink(NULL, NAME "2"), 0);
	assert_null(bloomdev_filter_open(NULL, NAME, BLOOMDEV_READ));
	assert_int_equal(errno, ENOENT);
	bloomdev_filter_close(f);
	bloomdev_filter_close(g);
}

/* Of any number of concurrent additions of one key one is told "absent". */
static void exactly_once(void **state)
{
	enum { PROCESSES = 4, KEYS = 20000 };
	struct bloomdev_options opts = options(KEYS, 0.001);
	size_t alone, together = 0, mine;
	struct bloomdev_filter *f;
	int results[2], i, status;

	(void)state;
	need_device();
	f = make_filter(&opts);
	alone = KEYS - add_integers(f, 0, KEYS);
	assert_int_equal(bloomdev_filter_clear(f), 0);
	assert_int_equal(pipe(results), 0);
	for (i = 0; i < PROCESSES; i++) {
		if (fork())
			continue;
		mine = KEYS - add_integers(f, 0, KEYS);
		_exit(write(results[1], &mine, sizeof(mine)) != sizeof(mine));
	}
	for (i = 0; i < PROCESSES; i++) {
		assert_int_equal(read(results[0], &mine, sizeof(mine)), sizeof(mine));
		together += mine;
		wait(&status);
	}
	/* A false positive depends on the order: a few either way. */
	assert_true(labs((long)together - (long)alone) <= 20);
	bloomdev_filter_close(f);
}

static void counting(void **state)
{
	struct bloomdev_options opts = options(1000, 0.0001);
	struct bloomdev_filter *f;
	uint64_t count;

	(void)state;
	need_device();
	opts.kind = BLOOMDEV_KIND_COUNTING;
	f = make_filter(&opts);
	assert_int_equal(bloomdev_filter_add_int(f, 1), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_add_int(f, 1), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_remove_int(f, 1), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_query_int(f, 1), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_remove_int(f, 1), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_query_int(f, 1), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_remove_int(f, 1), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_count(f, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(bloomdev_filter_is_empty(f), 1);
	bloomdev_filter_close(f);
}

static void windows(void **state)
{
	struct bloomdev_options opts = options(1000, 0.0001);
	struct bloomdev_filter *f;

	(void)state;
	need_device();
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 2;
	f = make_filter(&opts);
	assert_int_equal(bloomdev_filter_add_int(f, 1), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_add_int(f, 2), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_rotate(f), 0);
	assert_int_equal(bloomdev_filter_add_int(f, 1), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_rotate(f), 0);
	/* 1 was renewed, 2 was not. */
	assert_int_equal(bloomdev_filter_query_int(f, 1), BLOOMDEV_PRESENT);
	assert_int_equal(bloomdev_filter_query_int(f, 2), BLOOMDEV_ABSENT);
	assert_int_equal(bloomdev_filter_set_period(f, 3600000000000, 1800000000000), 0);
	bloomdev_filter_close(f);

	opts = options(1000, 0.0001);
	f = make_filter(&opts);
	assert_failed(bloomdev_filter_rotate(f), EOPNOTSUPP, "not a window");
	bloomdev_filter_close(f);
}

static void scaling(void **state)
{
	struct bloomdev_options opts = options(1000, 0.01);
	struct bloomdev_filter *f;
	struct bloomdev_info *info;
	size_t present;

	(void)state;
	need_device();
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	f = make_filter(&opts);
	for (present = 0; present < 100; present++)
		add_integers(f, 1000 * present, 1000);
	assert_int_equal(query_integers(f, 0, 100000), 100000);
	present = query_integers(f, 1000000, 100000);
	assert_true(present < 1100);
	info = bloomdev_filter_info(f);
	assert_non_null(info);
	assert_true(info->layer_count >= 6);
	assert_true(fabs(bloomdev_info_distinct(info, -1) / 100000 - 1) < 0.02);
	assert_true(bloomdev_info_error(info, -1) <= 0.01);
	bloomdev_info_free(info);
	bloomdev_filter_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_keys),
		cmocka_unit_test(batches),
		cmocka_unit_test(repeated),
		cmocka_unit_test(large_batch),
		cmocka_unit_test(names),
		cmocka_unit_test(exactly_once),
		cmocka_unit_test(counting),
		cmocka_unit_test(windows),
		cmocka_unit_test(scaling),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
