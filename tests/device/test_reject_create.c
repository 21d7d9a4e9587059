// SPDX-License-Identifier: GPL-2.0
/*
 * What CREATE refuses, and the valid neighbours of that. Every row gives the
 * whole argument, so that it can be read alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "check.h"

#define P01	RATE(0.01)

/**
 * struct row - one argument of CREATE
 * @error: what it is refused with, 0 if it is not
 */
struct row {
	const char *name;
	int error;
	struct bloom_create arg;
};

static const struct row rows[] = {
	/* Choices that no kernel knows, or this one does not. */
	{ "kind 4", EOPNOTSUPP, { .kind = 4, .capacity = 100, .fp_rate = P01 } },
	{ "kind ~0", EOPNOTSUPP, { .kind = ~0U, .capacity = 100, .fp_rate = P01 } },
	{ "growth 3", EOPNOTSUPP, { .growth = 3, .capacity = 100, .fp_rate = P01 } },
	{ "growth ~0", EOPNOTSUPP, { .growth = ~0U, .capacity = 100, .fp_rate = P01 } },
	{ "hash 2", EOPNOTSUPP, { .hash = 2, .capacity = 100, .fp_rate = P01 } },
	{ "hash ~0", EOPNOTSUPP, { .hash = ~0U, .capacity = 100, .fp_rate = P01 } },
	{ "flag 3", EOPNOTSUPP, { .flags = 1U << 3, .capacity = 100, .fp_rate = P01 } },
	{ "flag 31", EOPNOTSUPP, { .flags = 1U << 31, .capacity = 100, .fp_rate = P01 } },

	/* Capacity and rate. */
	{ "no capacity", EINVAL, { .fp_rate = P01 } },
	{ "no rate", EINVAL, { .capacity = 100 } },
	{ "nothing", EINVAL, { } },
	{ "the smallest rate", EINVAL, { .capacity = 100, .fp_rate = 1 } },
	{ "classic, the smallest rate", EINVAL,
	  { .kind = BLOOM_KIND_CLASSIC, .capacity = 100, .fp_rate = 1 } },
	{ "classic, capacity ~0", EOVERFLOW,
	  { .kind = BLOOM_KIND_CLASSIC, .capacity = ~0ULL, .fp_rate = P01 } },
	{ "blocked, capacity ~0", EOVERFLOW, { .capacity = ~0ULL, .fp_rate = P01 } },
	{ "counting, capacity ~0", EOVERFLOW,
	  { .kind = BLOOM_KIND_COUNTING, .capacity = ~0ULL, .fp_rate = P01 } },
	{ "scaling, capacity ~0", EOVERFLOW,
	  { .growth = BLOOM_GROWTH_SCALING, .capacity = ~0ULL, .fp_rate = P01 } },
	{ "window, capacity ~0", EOVERFLOW,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2, .capacity = ~0ULL,
	    .fp_rate = P01 } },
	{ "capacity 2^60", EOVERFLOW, { .capacity = 1ULL << 60, .fp_rate = P01 } },
	{ "capacity 2^40", ENOSPC, { .capacity = 1ULL << 40, .fp_rate = P01 } },
	{ "capacity 1", 0, { .capacity = 1, .fp_rate = P01 } },
	{ "rate nearly 1", 0, { .capacity = 100, .fp_rate = ~0ULL } },
	{ "rate 1e-6", 0, { .capacity = 100, .fp_rate = RATE(0.000001) } },

	/* Slots and probes by hand. */
	{ "probes without slots", EINVAL, { .probes = 5, .capacity = 100, .fp_rate = P01 } },
	{ "slots without probes or rate", EINVAL, { .slots = 65536 } },
	{ "probes 65", EINVAL, { .slots = 65536, .probes = 65 } },
	{ "probes ~0", EINVAL, { .slots = 65536, .probes = ~0U } },
	{ "probes 64", 0, { .slots = 65536, .probes = 64 } },
	{ "probes 1", 0, { .slots = 1, .probes = 1 } },
	{ "slots ~0", EOVERFLOW, { .slots = ~0ULL, .probes = 1 } },
	{ "classic, slots ~0", EOVERFLOW,
	  { .kind = BLOOM_KIND_CLASSIC, .slots = ~0ULL, .probes = 1 } },
	{ "counting, slots ~0", EOVERFLOW,
	  { .kind = BLOOM_KIND_COUNTING, .slots = ~0ULL, .probes = 1 } },
	{ "bitmap, slots ~0", EOVERFLOW, { .kind = BLOOM_KIND_BITMAP, .slots = ~0ULL } },
	{ "slots 2^46", ENOSPC, { .slots = 1ULL << 46, .probes = 1 } },

	/* Fields of another kind or growth. */
	{ "base of a blocked filter", EINVAL, { .base = 1, .capacity = 100, .fp_rate = P01 } },
	{ "seed without its flag", EINVAL,
	  { .seed = { 1, 0 }, .capacity = 100, .fp_rate = P01 } },
	{ "second seed without its flag", EINVAL,
	  { .seed = { 0, 1 }, .capacity = 100, .fp_rate = P01 } },
	{ "seed of zeroes", 0,
	  { .flags = BLOOM_CREATE_SEED, .capacity = 100, .fp_rate = P01 } },
	{ "period of a fixed filter", EINVAL,
	  { .period_ns = BLOOM_PERIOD_MIN_NS, .capacity = 100, .fp_rate = P01 } },
	{ "generations of a fixed filter", EINVAL,
	  { .generations = 2, .capacity = 100, .fp_rate = P01 } },
	{ "generations of a scaling filter", EINVAL,
	  { .growth = BLOOM_GROWTH_SCALING, .generations = 2, .capacity = 100,
	    .fp_rate = P01 } },
	{ "period of a scaling filter", EINVAL,
	  { .growth = BLOOM_GROWTH_SCALING, .period_ns = BLOOM_PERIOD_MIN_NS,
	    .capacity = 100, .fp_rate = P01 } },
	{ "once, of a fixed filter", EOPNOTSUPP,
	  { .flags = BLOOM_CREATE_ONCE, .capacity = 100, .fp_rate = P01 } },
	{ "once, of a scaling filter", EOPNOTSUPP,
	  { .flags = BLOOM_CREATE_ONCE, .growth = BLOOM_GROWTH_SCALING, .capacity = 100,
	    .fp_rate = P01 } },

	/* Kind and growth that do not go together. */
	{ "counting and scaling", EOPNOTSUPP,
	  { .kind = BLOOM_KIND_COUNTING, .growth = BLOOM_GROWTH_SCALING, .capacity = 100,
	    .fp_rate = P01 } },
	{ "counting window", EOPNOTSUPP,
	  { .kind = BLOOM_KIND_COUNTING, .growth = BLOOM_GROWTH_WINDOW, .generations = 2,
	    .capacity = 100, .fp_rate = P01 } },
	{ "scaling bitmap", EOPNOTSUPP,
	  { .kind = BLOOM_KIND_BITMAP, .growth = BLOOM_GROWTH_SCALING, .slots = 100 } },
	{ "bitmap window", EOPNOTSUPP,
	  { .kind = BLOOM_KIND_BITMAP, .growth = BLOOM_GROWTH_WINDOW, .generations = 2,
	    .slots = 100 } },

	/* Scaling grows by capacity and rate: it can't do without them. */
	{ "scaling without capacity", EINVAL,
	  { .growth = BLOOM_GROWTH_SCALING, .slots = 65536, .probes = 5, .fp_rate = P01 } },
	{ "scaling without rate", EINVAL,
	  { .growth = BLOOM_GROWTH_SCALING, .slots = 65536, .probes = 5, .capacity = 100 } },

	/* Windows. */
	{ "generations 0", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .capacity = 100, .fp_rate = P01 } },
	{ "generations 1", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 1, .capacity = 100, .fp_rate = P01 } },
	{ "generations 17", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 17, .capacity = 100, .fp_rate = P01 } },
	{ "generations ~0", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = ~0U, .capacity = 100, .fp_rate = P01 } },
	{ "generations 2", 0,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2, .capacity = 100, .fp_rate = P01 } },
	{ "generations 16", 0,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 16, .capacity = 100, .fp_rate = P01 } },
	{ "period 1 ns", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2, .period_ns = 1, .capacity = 100,
	    .fp_rate = P01 } },
	{ "period under the shortest", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2,
	    .period_ns = BLOOM_PERIOD_MIN_NS - 1, .capacity = 100, .fp_rate = P01 } },
	{ "period the shortest", 0,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2,
	    .period_ns = BLOOM_PERIOD_MIN_NS, .capacity = 100, .fp_rate = P01 } },
	{ "period the longest", 0,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2,
	    .period_ns = BLOOM_PERIOD_MAX_NS, .capacity = 100, .fp_rate = P01 } },
	{ "period over the longest", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2,
	    .period_ns = BLOOM_PERIOD_MAX_NS + 1, .capacity = 100, .fp_rate = P01 } },
	{ "period ~0", EINVAL,
	  { .growth = BLOOM_GROWTH_WINDOW, .generations = 2, .period_ns = ~0ULL,
	    .capacity = 100, .fp_rate = P01 } },

	/* Bitmaps. */
	{ "bitmap without slots", EINVAL, { .kind = BLOOM_KIND_BITMAP } },
	{ "bitmap by capacity", EINVAL,
	  { .kind = BLOOM_KIND_BITMAP, .capacity = 100, .fp_rate = P01 } },
	{ "bitmap with a hash", EINVAL,
	  { .kind = BLOOM_KIND_BITMAP, .hash = BLOOM_HASH_SIPHASH, .slots = 100 } },
	{ "bitmap with probes 2", EINVAL,
	  { .kind = BLOOM_KIND_BITMAP, .probes = 2, .slots = 100 } },
	{ "bitmap past 2^64", EINVAL,
	  { .kind = BLOOM_KIND_BITMAP, .slots = 101, .base = ~0ULL - 99 } },
	{ "bitmap up to 2^64", 0,
	  { .kind = BLOOM_KIND_BITMAP, .slots = 100, .base = ~0ULL - 99 } },
	{ "bitmap of one", 0, { .kind = BLOOM_KIND_BITMAP, .slots = 1, .base = ~0ULL } },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct bloom_create arg = row->arg;
	int fd;

	arg.size = sizeof(arg);
	if (row->error) {
		assert_error(row->error, create(&arg));
		return;
	}
	fd = assert_ok(create(&arg));
	assert_ok(add_one(fd, ~0ULL));
	close(fd);
}

/* All descriptors in use: the filter made for it must go again. */
static void no_descriptor_left(void **state)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	s64 before = read_number("/sys/module/bloom/refcnt");
	int device = assert_ok(open_device(O_RDWR));
	int fds[2000], fd, n = 0;

	(void)state;
	while (n < 2000) {
		fd = dup(device);
		if (fd < 0)
			break;
		fds[n++] = fd;
	}
	fd = request(device, BLOOM_IOC_CREATE, &arg);
	while (n)
		close(fds[--n]);
	close(device);
	assert_error(EMFILE, fd);
	assert_count(before, read_number("/sys/module/bloom/refcnt"));
}

/* The descriptor that CREATE returns goes to nobody else. */
static void close_on_exec(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01));

	(void)state;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	close(fd);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(rows) + 2] = {};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		tests[n].name = rows[i].name;
		tests[n].test_func = test_row;
		tests[n++].initial_state = (void *)&rows[i];
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(no_descriptor_left);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(close_on_exec);
	return run_table("reject_create", tests, n, NULL, NULL);
}
