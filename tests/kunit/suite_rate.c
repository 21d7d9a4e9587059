// SPDX-License-Identifier: GPL-2.0
/*
 * The promise about errors, measured at capacity, on a grid small enough for an
 * emulated machine; and what CREATE refuses to promise at all.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "bloom_test.h"

#define QUERIES	20000

struct promise {
	u32 kind;
	u32 growth;
	u32 capacity;
	u32 inverse_rate;
};

static const struct promise promises[] = {
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, 100, 10 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, 10000, 10 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, 10000, 100 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, 10000, 1000 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, 10000, 10000 },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, 10000, 10 },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, 10000, 100 },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, 10000, 1000 },
	{ BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, 10000, 100 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, 4000, 10 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, 4000, 100 },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING, 4000, 100 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, 5000, 10 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, 5000, 100 },
};

static void promise_desc(const struct promise *p, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE,
		 "kind %u, growth %u, %u keys, one in %u", p->kind, p->growth,
		 p->capacity, p->inverse_rate);
}

KUNIT_ARRAY_PARAM(promise, promises, promise_desc);

/* Batches of integers from @first on. Return: how many were present. */
static long batches(struct bloom_filter *filter, u64 *keys, u64 first, u32 n,
		    bool add)
{
	long present = 0;
	u32 i, part;

	for (; n; n -= part, first += part) {
		part = min_t(u32, n, BLOOM_GROUP);
		for (i = 0; i < part; i++)
			keys[i] = first + i;
		if (add) {
			present += bloom_add_batch(filter, keys, 8, part, NULL);
			/* The worker's task; here the keys don't wait for it. */
			bloom_filter_look(filter);
		} else {
			present += bloom_query_batch(filter, keys, 8, part,
						     NULL);
		}
		cond_resched();
	}
	return present;
}

static void kept(struct kunit *test)
{
	const struct promise *p = test->param_value;
	u64 *keys = kunit_kcalloc(test, BLOOM_GROUP, 8, GFP_KERNEL);
	struct bloom_create params = {
		.kind = p->kind,
		.growth = p->growth,
		.flags = BLOOM_CREATE_SEED,
		.seed = { 1234, 5678 },
		.capacity = p->capacity,
		.fp_rate = BLOOM_ONE_IN(p->inverse_rate),
		.generations = p->growth == BLOOM_GROWTH_WINDOW ? 3 : 0,
	};
	struct bloom_filter *filter = bloom_test_filter(test, &params);
	u32 n = p->capacity, round, rounds = 1;
	long expected, limit, wrong;

	KUNIT_ASSERT_NOT_NULL(test, keys);
	/* Fill 1 + 2 + 4 capacities of layers, or every live generation. */
	if (p->growth == BLOOM_GROWTH_SCALING)
		n *= 7;
	if (p->growth == BLOOM_GROWTH_WINDOW)
		rounds = 3;
	for (round = 0; round < rounds; round++) {
		if (round)
			KUNIT_ASSERT_EQ(test, bloom_window_rotate(filter), 0);
		batches(filter, keys, (u64)n * round, n, true);
	}
	KUNIT_EXPECT_EQ(test, (long)n * rounds,
			batches(filter, keys, 0, n * rounds, false));
	KUNIT_EXPECT_EQ(test, READ_ONCE(filter->state), 0U);
	bloom_test_counts(test, filter);

	/* A tenth more than promised, and four standard deviations. */
	wrong = batches(filter, keys, 1ULL << 40, QUERIES, false);
	expected = QUERIES / p->inverse_rate;
	limit = expected * 11 / 10 + 4 * (int_sqrt(expected) + 1);
	KUNIT_EXPECT_LE_MSG(test, wrong, limit, "%ld wrong, %ld expected",
			    wrong, expected);
}

struct refusal {
	const char *what;
	struct bloom_create params;
	int err;
};

#define GOOD	.capacity = 10, .fp_rate = BLOOM_ONE_IN(10)
#define BITMAP	.kind = BLOOM_KIND_BITMAP

static const struct refusal refusals[] = {
	{ "nothing", {}, -EINVAL },
	{ "unknown kind", { GOOD, .kind = 4 }, -EOPNOTSUPP },
	{ "unknown growth", { GOOD, .growth = 3 }, -EOPNOTSUPP },
	{ "unknown hash", { GOOD, .hash = 2 }, -EOPNOTSUPP },
	{ "unknown flag", { GOOD, .flags = 8 }, -EOPNOTSUPP },
	{ "reserved", { GOOD, .reserved = 1 }, -EINVAL },
	{ "seed without flag", { GOOD, .seed = { 0, 1 } }, -EINVAL },
	{ "no rate", { .capacity = 10 }, -EINVAL },
	{ "no capacity", { .fp_rate = BLOOM_ONE_IN(10) }, -EINVAL },
	{ "rate too small", { .capacity = 10, .fp_rate = 1 }, -EINVAL },
	{ "too large", { .capacity = ~0ULL, .fp_rate = BLOOM_ONE_IN(10) },
	  -EOVERFLOW },
	{ "probes without slots", { GOOD, .probes = 3 }, -EINVAL },
	{ "slots without probes", { .slots = 1000 }, -EINVAL },
	{ "too many probes", { .slots = 1000, .probes = 65 }, -EINVAL },
	{ "too many slots", { .slots = ~0ULL, .probes = 1 }, -EOVERFLOW },
	{ "base", { GOOD, .base = 1 }, -EINVAL },
	{ "once without a window", { GOOD, .flags = BLOOM_CREATE_ONCE },
	  -EOPNOTSUPP },
	{ "generations without a window", { GOOD, .generations = 2 }, -EINVAL },
	{ "period without a window", { GOOD, .period_ns = NSEC_PER_SEC },
	  -EINVAL },
	{ "one generation", { GOOD, .growth = BLOOM_GROWTH_WINDOW,
			      .generations = 1 }, -EINVAL },
	{ "17 generations", { GOOD, .growth = BLOOM_GROWTH_WINDOW,
			      .generations = 17 }, -EINVAL },
	{ "short period", { GOOD, .growth = BLOOM_GROWTH_WINDOW,
			    .generations = 2,
			    .period_ns = BLOOM_PERIOD_MIN_NS - 1 }, -EINVAL },
	{ "long period", { GOOD, .growth = BLOOM_GROWTH_WINDOW,
			   .generations = 2,
			   .period_ns = BLOOM_PERIOD_MAX_NS + 1 }, -EINVAL },
	{ "counting window", { GOOD, .kind = BLOOM_KIND_COUNTING,
			       .growth = BLOOM_GROWTH_WINDOW,
			       .generations = 2 }, -EOPNOTSUPP },
	{ "counting scaling", { GOOD, .kind = BLOOM_KIND_COUNTING,
				.growth = BLOOM_GROWTH_SCALING }, -EOPNOTSUPP },
	{ "scaling by slots only", { .slots = 1000, .probes = 3,
				     .growth = BLOOM_GROWTH_SCALING }, -EINVAL },
	{ "bitmap without slots", { BITMAP }, -EINVAL },
	{ "bitmap with a capacity", { BITMAP, .slots = 8, .capacity = 8 },
	  -EINVAL },
	{ "bitmap with a rate", { BITMAP, .slots = 8, .fp_rate = 8 }, -EINVAL },
	{ "bitmap with a hash", { BITMAP, .slots = 8, .hash = 1 }, -EINVAL },
	{ "bitmap with a seed", { BITMAP, .slots = 8,
				  .flags = BLOOM_CREATE_SEED }, -EINVAL },
	{ "bitmap with probes", { BITMAP, .slots = 8, .probes = 2 }, -EINVAL },
	{ "bitmap past the end", { BITMAP, .slots = 8, .base = -7ULL },
	  -EINVAL },
	{ "bitmap too large", { BITMAP, .slots = ~0ULL }, -EOVERFLOW },
};

static void refusal_desc(const struct refusal *refusal, char *desc)
{
	strscpy(desc, refusal->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

static void create_refuses(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;
	struct bloom_filter *filter = bloom_create(&refusal->params);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(filter), refusal->err);
	bloom_put(filter);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(kept, promise_gen_params),
	KUNIT_CASE_PARAM(create_refuses, refusal_gen_params),
	{}
};

BLOOM_SUITE(rate, cases);
