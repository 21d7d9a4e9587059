// SPDX-License-Identifier: GPL-2.0
/*
 * What is refused before the kernel is asked: number, message, and nothing made.
 */
#include "lib.h"

/* Below 2^-64; and above it, but below what any kind can hold: 2^-63. */
#define SMALLER_THAN_ANY	0.0000000000000000000005
#define TOO_SMALL		0.00000000000000000010842

static void refused(const struct bloomdev_options *opts, int err,
		    const char *about)
{
	struct bloomdev_size size;

	assert_failed(bloomdev_size_compute(opts, &size), err, about);
	/* The same from the function that would make it, device or not. */
	errno = 0;
	assert_null(bloomdev_filter_create(NULL, opts));
	assert_int_equal(errno, err);
	assert_message(about);
}

static void rates(void **state)
{
	static const double bad[] = { 0.0, 1.0, 2.0, -1.0, NAN, INFINITY, -INFINITY,
				      -0.0, SMALLER_THAN_ANY };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bloomdev_options opts = options(1000, bad[i]);

		refused(&opts, EINVAL, "false-positive rate");
	}
}

/* The least is the whole filter's, of which its last layer gets a share. */
static void smallest_rates(void **state)
{
	struct bloomdev_options opts = options(1000, 1.8e-9);
	struct bloomdev_size size;

	(void)state;
	assert_int_equal(bloomdev_size_compute(&opts, &size), 0);
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	refused(&opts, EINVAL, "false-positive rate 1.8e-09 is below 1.92");
	assert_message("the smallest of a scaling blocked filter");
	opts.fp_rate = 1.93e-9;
	assert_int_equal(bloomdev_size_compute(&opts, &size), 0);
	opts = options(1000, 7e-12);
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 4;
	refused(&opts, EINVAL, "the smallest of a window blocked filter");
	opts.fp_rate = 8e-12;
	assert_int_equal(bloomdev_size_compute(&opts, &size), 0);
}

static void sizes(void **state)
{
	struct bloomdev_options opts = options(0, 0.01);

	(void)state;
	refused(&opts, EINVAL, "capacity 0");
	opts.capacity = UINT64_MAX;
	refused(&opts, EOVERFLOW, "18446744073709551615");
	opts.capacity = 1ULL << 45;
	refused(&opts, EOVERFLOW, "35184372088832");
	opts = options(1000, TOO_SMALL);
	refused(&opts, EINVAL, "1.0842e-19");
	opts = options(0, 0.0);
	opts.slots = 1ULL << 60;
	opts.probes = 3;
	refused(&opts, EOVERFLOW, "1152921504606846976");
	opts.slots = 1000;
	opts.probes = 65;
	refused(&opts, EINVAL, "65 probes");
	opts.probes = 0;
	refused(&opts, EINVAL, "0 probes");
}

static void words(void **state)
{
	struct bloomdev_options opts = options(1000, 0.01);

	(void)state;
	opts.kind = 9;
	refused(&opts, EOPNOTSUPP, "kind 9");
	opts = options(1000, 0.01);
	opts.growth = 3;
	refused(&opts, EOPNOTSUPP, "growth 3");
	opts = options(1000, 0.01);
	opts.hash = 2;
	refused(&opts, EOPNOTSUPP, "hash 2");
	opts = options(1000, 0.01);
	opts.flags = 1U << 9;
	refused(&opts, EOPNOTSUPP, "flags 0x200");
	opts = options(1000, 0.01);
	opts.size -= 8;
	refused(&opts, EINVAL, "BLOOMDEV_OPTIONS_INIT");
	opts = options(1000, 0.01);
	opts.kind = BLOOMDEV_KIND_COUNTING;
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	refused(&opts, EOPNOTSUPP, "counting filter can't be scaling");
}

static void windows(void **state)
{
	struct bloomdev_options opts = options(1000, 0.01);

	(void)state;
	opts.generations = 3;
	refused(&opts, EINVAL, "only a window");
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 1;
	refused(&opts, EINVAL, "1 generations");
	opts.generations = 17;
	refused(&opts, EINVAL, "17 generations");
	opts.generations = 2;
	opts.period_ns = 9999999;
	refused(&opts, EINVAL, "9999999 ns");
	opts.period_ns = 1000000000000000001ULL;
	refused(&opts, EINVAL, "longer");
}

static void bitmaps(void **state)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;

	(void)state;
	opts.kind = BLOOMDEV_KIND_BITMAP;
	refused(&opts, EINVAL, "number of bits");
	opts.slots = 2;
	opts.base = UINT64_MAX;
	refused(&opts, EINVAL, "beyond 2^64");
	opts.base = 0;
	opts.hash = BLOOMDEV_HASH_SIPHASH;
	refused(&opts, EINVAL, "no hash");
}

static void names(void **state)
{
	char name[300];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	assert_failed(bloomdev_device_unlink(NULL, name), ENAMETOOLONG, "256");
	assert_failed(bloomdev_device_unlink(NULL, ""), EINVAL, "empty");
	assert_null(bloomdev_filter_open(NULL, "", BLOOMDEV_READ));
	assert_int_equal(errno, EINVAL);
}

static void handles(void **state)
{
	(void)state;
	assert_null(bloomdev_filter_from_fd(-1));
	assert_int_equal(errno, EBADF);
	assert_null(bloomdev_filter_from_fd(STDIN_FILENO));
	assert_int_equal(errno, EINVAL);
	assert_message("not a filter");
	bloomdev_device_close(NULL);
	bloomdev_filter_close(NULL);
	bloomdev_map_close(NULL);
	bloomdev_list_free(NULL);
	bloomdev_info_free(NULL);
	assert_int_equal(bloomdev_version(), BLOOMDEV_VERSION);
	assert_string_equal(bloomdev_kind_name(3), "bitmap");
	assert_string_equal(bloomdev_kind_name(4), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(smallest_rates),
		cmocka_unit_test(sizes),
		cmocka_unit_test(words),
		cmocka_unit_test(windows),
		cmocka_unit_test(bitmaps),
		cmocka_unit_test(names),
		cmocka_unit_test(handles),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
