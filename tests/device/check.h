/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cmocka, and two checks for calls that return -errno. Neither may be used in
 * a thread or a child process: cmocka jumps out of the test.
 */
#ifndef BLOOM_TESTS_CHECK_H
#define BLOOM_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "device.h"

static inline long check_ok(long ret, const char *call, const char *file,
			    int line)
{
	if (ret < 0) {
		print_error("%s: %s\n", call, strerror(-ret));
		_fail(file, line);
	}
	return ret;
}

static inline void check_error(int error, long ret, const char *call,
			       const char *file, int line)
{
	if (ret == -error)
		return;
	print_error("%s: %s, not %s\n", call,
		    ret < 0 ? strerror(-ret) : "no error", strerror(error));
	_fail(file, line);
}

static inline void check_count(u64 want, u64 got, const char *what,
			       const char *file, int line)
{
	if (got == want)
		return;
	print_error("%s: %llu, not %llu\n", what, got, want);
	_fail(file, line);
}

/* The call succeeds; its value. */
#define assert_ok(call) \
	check_ok((call), #call, __FILE__, __LINE__)
/* The call fails with this error. */
#define assert_error(error, call) \
	check_error((error), (call), #call, __FILE__, __LINE__)
/* Numbers, printed in decimal. */
#define assert_count(want, got) \
	check_count((want), (got), #got, __FILE__, __LINE__)

/* Run a table of tests whose length is only known at run time. */
#define run_table(name, tests, n, setup, teardown) \
	_cmocka_run_group_tests(name, tests, n, setup, teardown)

#endif /* BLOOM_TESTS_CHECK_H */
