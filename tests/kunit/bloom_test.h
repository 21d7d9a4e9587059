/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites share. A case makes its filters through bloom_test_filter();
 * when it ends they are put, all that is on its way out is waited for, and no
 * byte of memory may be left charged.
 */
#ifndef BLOOM_TEST_H
#define BLOOM_TEST_H

#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../module/filter.h"

/* A rate of one in @n, as 0.64. */
#define BLOOM_ONE_IN(n)	(~0ULL / (n))

/* For .suite_init, .suite_exit, .init and .exit of every suite. */
int bloom_test_suite_init(struct kunit_suite *suite);
void bloom_test_suite_exit(struct kunit_suite *suite);
int bloom_test_init(struct kunit *test);
void bloom_test_exit(struct kunit *test);

/* A filter, or the end of the case; and give one back before the case ends. */
struct bloom_filter *bloom_test_filter(struct kunit *test,
				       const struct bloom_create *params);
void bloom_test_put(struct kunit *test, struct bloom_filter *filter);
/* Wait until all that was given back is freed. */
void bloom_test_drain(void);

/* Integers as keys of 8 bytes. Return: the verdict. */
int bloom_test_add(struct bloom_filter *filter, u64 key);
int bloom_test_query(struct bloom_filter *filter, u64 key);
int bloom_test_remove(struct bloom_filter *filter, u64 key);

/* Are the counts what the arrays say? For who knows that nobody writes. */
void bloom_test_counts(struct kunit *test, struct bloom_filter *filter);
/* Slots of a layer that are not zero, by looking at all of them. */
u64 bloom_test_popcount(const struct bloom_layer *layer);

/* The only set there is, while nobody else changes it. */
#define bloom_test_set(filter) rcu_dereference_protected((filter)->set, 1)

/* suite_account.c: bytes charged to anyone, and the caps (0: the default). */
u64 bloom_test_charged(void);
void bloom_test_caps(unsigned long filter, unsigned long user,
		     unsigned long total);

/* suite_race.c: @fn(@arg, i) in @count threads at once, spread over the CPUs. */
#define BLOOM_TEST_THREADS	8
void bloom_test_threads(struct kunit *test, u32 count,
			void (*fn)(void *arg, u32 i), void *arg);

/* A suite with the functions above. */
#define BLOOM_SUITE(id, cases)						\
	struct kunit_suite bloom_suite_##id = {				\
		.name = "bloom_" #id,					\
		.suite_init = bloom_test_suite_init,			\
		.suite_exit = bloom_test_suite_exit,			\
		.init = bloom_test_init,				\
		.exit = bloom_test_exit,				\
		.test_cases = cases,					\
	}

extern struct kunit_suite bloom_suite_hash;
extern struct kunit_suite bloom_suite_probe;
extern struct kunit_suite bloom_suite_geometry;
extern struct kunit_suite bloom_suite_layer;
extern struct kunit_suite bloom_suite_account;
extern struct kunit_suite bloom_suite_registry;
extern struct kunit_suite bloom_suite_filter;
extern struct kunit_suite bloom_suite_rate;
extern struct kunit_suite bloom_suite_scaling;
extern struct kunit_suite bloom_suite_window;
extern struct kunit_suite bloom_suite_race;
extern struct kunit_suite bloom_suite_context;
extern struct kunit_suite bloom_suite_bpf;

#endif /* BLOOM_TEST_H */
