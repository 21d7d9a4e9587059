/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libbloomdev share. A program prints TAP; a test that needs
 * /dev/bloom is skipped where there is none.
 */
#ifndef TEST_LIB_H
#define TEST_LIB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bloomdev.h"

static inline void need_device(void)
{
	struct bloomdev_device *dev = bloomdev_device_open(NULL);

	if (!dev) {
		print_message("no /dev/bloom\n");
		skip();
	}
	bloomdev_device_close(dev);
}

/* What the library failed with, and a message that speaks of @about. */
static inline void assert_message(const char *about)
{
	if (!strstr(bloomdev_message(), about))
		fail_msg("message '%s' does not speak of '%s'",
			 bloomdev_message(), about);
}

static inline void assert_failed(int ret, int err, const char *about)
{
	assert_int_equal(ret, -err);
	assert_int_equal(errno, err);
	assert_message(about);
}

static inline struct bloomdev_options options(uint64_t capacity, double rate)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;

	opts.capacity = capacity;
	opts.fp_rate = rate;
	opts.flags = BLOOMDEV_SEED;
	opts.seed[0] = 0x0123456789abcdef;
	opts.seed[1] = 0xfedcba9876543210;
	return opts;
}

static inline struct bloomdev_filter *
make_filter(const struct bloomdev_options *opts)
{
	struct bloomdev_filter *filter = bloomdev_filter_create(NULL, opts);

	if (!filter && errno == EOPNOTSUPP) {
		print_message("this module has no such filters\n");
		skip();
	}
	if (!filter)
		fail_msg("%s", bloomdev_message());
	return filter;
}

/* Integers from @first on as a batch of 8-byte keys; free() the data. */
static inline struct bloomdev_keys integers(uint64_t first, size_t count)
{
	uint64_t *data = malloc(count * sizeof(*data));
	size_t i;

	assert_non_null(data);
	for (i = 0; i < count; i++)
		data[i] = first + i;
	return (struct bloomdev_keys) {
		.data = data,
		.bytes = count * sizeof(*data),
		.key_len = sizeof(*data),
		.count = count,
	};
}

/* How many of the integers were present (before). */
static inline size_t add_integers(struct bloomdev_filter *filter, uint64_t first,
				  size_t count)
{
	struct bloomdev_keys keys = integers(first, count);
	struct bloomdev_result result;

	assert_int_equal(bloomdev_filter_add(filter, &keys, NULL, &result), 0);
	assert_int_equal(result.done, count);
	free((void *)keys.data);
	return result.present;
}

static inline size_t query_integers(struct bloomdev_filter *filter,
				    uint64_t first, size_t count)
{
	struct bloomdev_keys keys = integers(first, count);
	struct bloomdev_result result;

	assert_int_equal(bloomdev_filter_query(filter, &keys, NULL, &result), 0);
	assert_int_equal(result.done, count);
	free((void *)keys.data);
	return result.present;
}

#endif /* TEST_LIB_H */
