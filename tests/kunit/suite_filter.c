// SPDX-License-Identifier: GPL-2.0
/*
 * ADD, QUERY and REMOVE, one caller at a time: every kind, growth and hash.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "bloom_test.h"

struct shape {
	const char *what;
	struct bloom_create params;
};

#define SIZED	.capacity = 2000, .fp_rate = BLOOM_ONE_IN(1000000)
#define SIP	.hash = BLOOM_HASH_SIPHASH
#define KIND(k)	.kind = BLOOM_KIND_##k
#define SCALING	.growth = BLOOM_GROWTH_SCALING
#define WINDOW	.growth = BLOOM_GROWTH_WINDOW, .generations = 3

static const struct shape shapes[] = {
	{ "blocked", { SIZED } },
	{ "blocked siphash", { SIZED, SIP } },
	{ "blocked scaling", { SIZED, SCALING } },
	{ "blocked scaling siphash", { SIZED, SCALING, SIP } },
	{ "blocked window", { SIZED, WINDOW } },
	{ "blocked window siphash", { SIZED, WINDOW, SIP } },
	{ "blocked window once", { SIZED, WINDOW,
				   .flags = BLOOM_CREATE_ONCE } },
	{ "blocked 64 probes", { .slots = 1 << 20, .probes = 64 } },
	{ "classic", { SIZED, KIND(CLASSIC) } },
	{ "classic siphash", { SIZED, KIND(CLASSIC), SIP } },
	{ "classic scaling", { SIZED, KIND(CLASSIC), SCALING } },
	{ "classic scaling siphash", { SIZED, KIND(CLASSIC), SCALING, SIP } },
	{ "classic window", { SIZED, KIND(CLASSIC), WINDOW } },
	{ "classic window siphash", { SIZED, KIND(CLASSIC), WINDOW, SIP } },
	{ "counting", { SIZED, KIND(COUNTING) } },
	{ "counting siphash", { SIZED, KIND(COUNTING), SIP } },
	{ "bitmap", { .slots = 1 << 20, KIND(BITMAP) } },
	{ "bitmap with a base", { .slots = 1 << 20, .base = -(1ULL << 40),
				  KIND(BITMAP) } },
};

static void shape_desc(const struct shape *shape, char *desc)
{
	strscpy(desc, shape->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

static struct bloom_filter *shaped(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct bloom_create params = shape->params;

	if (params.kind != BLOOM_KIND_BITMAP) {
		params.flags |= BLOOM_CREATE_SEED;
		params.seed[0] = 11;
		params.seed[1] = 22;
	}
	return bloom_test_filter(test, &params);
}

/* The i-th of the keys that these cases use. */
static u64 key(const struct bloom_filter *filter, u32 i)
{
	return filter->params.base + 523 * (u64)i;
}

static void verdicts(struct kunit *test)
{
	struct bloom_filter *filter = shaped(test);
	bool bitmap = filter->params.kind == BLOOM_KIND_BITMAP;
	u32 i, n = 1500;
	struct bloom_info *info;

	for (i = 0; i < n; i++) {
		u64 k = key(filter, i);

		KUNIT_ASSERT_EQ(test, bloom_test_query(filter, k), BLOOM_ABSENT);
		KUNIT_ASSERT_EQ(test, bloom_test_add(filter, k), BLOOM_ABSENT);
		KUNIT_ASSERT_EQ(test, bloom_test_query(filter, k),
				BLOOM_PRESENT);
		if (filter->params.kind != BLOOM_KIND_COUNTING)
			KUNIT_ASSERT_EQ(test, bloom_test_add(filter, k),
					BLOOM_PRESENT);
	}
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, bloom_test_query(filter, key(filter, i)),
				BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), (u64)n);
	bloom_test_counts(test, filter);

	info = kunit_kzalloc(test, sizeof(*info), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, info);
	KUNIT_EXPECT_EQ(test, bloom_filter_info(filter, info, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, info->keys, (u64)n);
	KUNIT_EXPECT_EQ(test, info->queries, 3ULL * n);
	KUNIT_EXPECT_EQ(test, info->queries_present, 2ULL * n);
	KUNIT_EXPECT_EQ(test, info->adds_present, info->adds - n);
	KUNIT_EXPECT_EQ(test, info->state, 0U);
	KUNIT_EXPECT_EQ(test, info->seed[0], bitmap ? 0ULL : 11ULL);

	if (!bloom_can_remove(filter)) {
		KUNIT_EXPECT_EQ(test, bloom_test_remove(filter, key(filter, 0)),
				-EOPNOTSUPP);
		return;
	}
	for (i = 0; i < n; i++) {
		u64 k = key(filter, i);

		KUNIT_ASSERT_EQ(test, bloom_test_remove(filter, k),
				BLOOM_PRESENT);
		KUNIT_ASSERT_EQ(test, bloom_test_query(filter, k),
				BLOOM_ABSENT);
		KUNIT_ASSERT_EQ(test, bloom_test_remove(filter, k),
				BLOOM_ABSENT);
	}
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), 0ULL);
	bloom_test_counts(test, filter);
}

/* Every size of a group, old keys and new ones mixed in it. */
static void groups(struct kunit *test)
{
	struct bloom_filter *filter = shaped(test);
	bool counting = filter->params.kind == BLOOM_KIND_COUNTING;
	u64 *keys = kunit_kcalloc(test, BLOOM_GROUP, 8, GFP_KERNEL);
	u8 *verdicts = kunit_kzalloc(test, BLOOM_GROUP, GFP_KERNEL);
	u32 n, i, fresh = 0;

	KUNIT_ASSERT_NOT_NULL(test, keys);
	KUNIT_ASSERT_NOT_NULL(test, verdicts);
	for (n = 1; n <= BLOOM_GROUP; n++) {
		/* The first half is new, the rest was in some group before. */
		u32 news = DIV_ROUND_UP(n, 2);
		long old = fresh ? n - news : 0;

		for (i = 0; i < n; i++)
			keys[i] = key(filter, i < news || !fresh ? fresh + i :
							  (i * 31) % fresh);
		KUNIT_EXPECT_EQ(test, old, bloom_query_batch(filter, keys, 8, n,
							     verdicts));
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_EQ(test, verdicts[i], i >= n - old);
		memset(verdicts, 0xee, BLOOM_GROUP);
		KUNIT_EXPECT_EQ(test, old, bloom_add_batch(filter, keys, 8, n,
							   verdicts));
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_EQ(test, verdicts[i], i >= n - old);
		if (n < BLOOM_GROUP)
			KUNIT_EXPECT_EQ(test, verdicts[n], 0xee);
		fresh += n - old;
		KUNIT_EXPECT_EQ(test, (long)n,
				bloom_query_batch(filter, keys, 8, n, NULL));
	}
	if (!counting)
		KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), (u64)fresh);
	bloom_test_counts(test, filter);
}

/* The same key more than once in a group: only the first one is new. */
static void duplicates(struct kunit *test)
{
	struct bloom_filter *filter = shaped(test);
	u64 *keys = kunit_kcalloc(test, BLOOM_GROUP, 8, GFP_KERNEL);
	u8 verdicts[BLOOM_GROUP];
	u32 i, n;

	KUNIT_ASSERT_NOT_NULL(test, keys);
	for (n = 2; n <= BLOOM_GROUP; n += 31) {
		for (i = 0; i < n; i++)
			keys[i] = key(filter, 20 * n + i % 3);
		bloom_add_batch(filter, keys, 8, n, verdicts);
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ_MSG(test, verdicts[i],
					    i < 3 ? BLOOM_ABSENT : BLOOM_PRESENT,
					    "%u of %u", i, n);
	}
	bloom_test_counts(test, filter);
}

/* Keys of any length; a key is not its neighbour's part. */
static void lengths(struct kunit *test)
{
	static const u32 some[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 16,
				    23, 24, 25, 255, 256, 300, 4097 };
	struct bloom_filter *filter = shaped(test);
	u32 i, room = 5000;
	u8 *bytes;

	if (filter->params.kind == BLOOM_KIND_BITMAP)
		return;
	bytes = kunit_kmalloc(test, room, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (i = 0; i < room; i++)
		bytes[i] = bloom_mix64(i);
	/* Each is the beginning of the next. */
	for (i = 0; i < ARRAY_SIZE(some); i++)
		KUNIT_EXPECT_EQ(test, bloom_add(filter, bytes, some[i]),
				BLOOM_ABSENT);
	for (i = 0; i < ARRAY_SIZE(some); i++)
		KUNIT_EXPECT_EQ(test, bloom_query(filter, bytes, some[i]),
				BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, bloom_query(filter, bytes, 6), BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_query(filter, bytes + 1, 300),
			BLOOM_ABSENT);
}

static void key_limits(struct kunit *test)
{
	struct bloom_filter *filter = shaped(test);
	u8 *big = kunit_kzalloc(test, BLOOM_KEY_MAX + 1, GFP_KERNEL);
	bool bitmap = filter->params.kind == BLOOM_KIND_BITMAP;
	u64 out = filter->params.base + filter->params.slots;

	KUNIT_ASSERT_NOT_NULL(test, big);
	KUNIT_EXPECT_EQ(test, bloom_add(filter, big, BLOOM_KEY_MAX + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, bloom_add(filter, big, (1ULL << 32) + 8),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			(int)bloom_add_batch(filter, big, BLOOM_KEY_MAX + 1, 0,
					     NULL));
	KUNIT_EXPECT_EQ(test, 0L, bloom_add_batch(filter, big, 8, 0, NULL));
	if (bitmap) {
		KUNIT_EXPECT_EQ(test, bloom_add(filter, big, 7), -EINVAL);
		KUNIT_EXPECT_EQ(test, bloom_add(filter, big, 0), -EINVAL);
		KUNIT_EXPECT_EQ(test, bloom_query(filter, big, 9), -EINVAL);
		KUNIT_EXPECT_EQ(test, bloom_test_add(filter, out),
				BLOOM_OUT_OF_RANGE);
		KUNIT_EXPECT_EQ(test, bloom_test_query(filter, out),
				BLOOM_OUT_OF_RANGE);
		KUNIT_EXPECT_EQ(test, bloom_test_remove(filter, out),
				BLOOM_OUT_OF_RANGE);
		KUNIT_EXPECT_EQ(test, BLOOM_OUT_OF_RANGE,
				bloom_test_add(filter, filter->params.base - 1));
		KUNIT_EXPECT_EQ(test, bloom_test_add(filter, out - 1),
				BLOOM_ABSENT);
		KUNIT_EXPECT_EQ(test, bloom_test_popcount(bloom_test_set(filter)->layers[0]),
				1ULL);
		return;
	}
	KUNIT_EXPECT_EQ(test, bloom_add(filter, big, BLOOM_KEY_MAX),
			BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_query(filter, big, BLOOM_KEY_MAX),
			BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, bloom_query(filter, big, BLOOM_KEY_MAX - 1),
			BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_add(filter, NULL, 0), BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_query(filter, NULL, 0), BLOOM_PRESENT);
}

static struct bloom_stripe *stripe_of(struct bloom_filter *filter, u64 k)
{
	const struct bloom_create *p = &filter->params;
	u64 at;

	if (p->kind == BLOOM_KIND_BITMAP)
		at = k - p->base;
	else if (p->hash == BLOOM_HASH_SIPHASH)
		at = bloom_hash_siphash(&k, sizeof(k), p->seed);
	else
		at = bloom_hash_jhash(&k, sizeof(k), p->seed);
	return &filter->stripes[bloom_stripe_of(p->kind, at,
						filter->stripe_count)];
}

/* With the stripe's lock taken try_add gives up, and adds nothing. */
static void try_add_busy(struct kunit *test)
{
	struct bloom_filter *filter = shaped(test);
	u64 k = key(filter, 1), old = k, other = key(filter, 2);
	struct bloom_stripe *stripe = stripe_of(filter, k);
	int busy, absent, elsewhere;
	unsigned long flags;

	while (stripe_of(filter, other) == stripe)
		other += 523;
	raw_spin_lock_irqsave(&stripe->lock, flags);
	busy = bloom_try_add(filter, &k, sizeof(k));
	absent = bloom_test_query(filter, k);
	elsewhere = bloom_try_add(filter, &other, sizeof(other));
	raw_spin_unlock_irqrestore(&stripe->lock, flags);

	KUNIT_EXPECT_EQ(test, busy, -EBUSY);
	KUNIT_EXPECT_EQ(test, absent, BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, elsewhere, BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), 1ULL);
	KUNIT_EXPECT_EQ(test, bloom_try_add(filter, &k, sizeof(k)),
			BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), 2ULL);

	/* What is there already needs no lock, but to be counted. */
	raw_spin_lock_irqsave(&stripe->lock, flags);
	busy = bloom_try_add(filter, &old, sizeof(old));
	raw_spin_unlock_irqrestore(&stripe->lock, flags);
	KUNIT_EXPECT_EQ(test, busy,
			filter->params.kind == BLOOM_KIND_COUNTING ?
			-EBUSY : BLOOM_PRESENT);
}

static void clear(struct kunit *test)
{
	struct bloom_filter *filter = shaped(test);
	u32 i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 300; i++)
			KUNIT_ASSERT_EQ(test, BLOOM_ABSENT,
					bloom_test_add(filter, key(filter, i)));
		KUNIT_EXPECT_EQ(test, bloom_filter_clear(filter), 0);
		KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), 0ULL);
		bloom_test_counts(test, filter);
		for (i = 0; i < 300; i++)
			KUNIT_ASSERT_EQ(test, BLOOM_ABSENT,
					bloom_test_query(filter, key(filter, i)));
	}
	KUNIT_EXPECT_EQ(test, bloom_test_set(filter)->epoch, 3U);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(verdicts, shape_gen_params),
	KUNIT_CASE_PARAM(groups, shape_gen_params),
	KUNIT_CASE_PARAM(duplicates, shape_gen_params),
	KUNIT_CASE_PARAM(lengths, shape_gen_params),
	KUNIT_CASE_PARAM(key_limits, shape_gen_params),
	KUNIT_CASE_PARAM(try_add_busy, shape_gen_params),
	KUNIT_CASE_PARAM(clear, shape_gen_params),
	{}
};

BLOOM_SUITE(filter, cases);
