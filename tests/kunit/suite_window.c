// SPDX-License-Identifier: GPL-2.0
/*
 * Windows: what is remembered, against a model that remembers everything.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "bloom_test.h"

#define UNIVERSE	200
#define ROTATIONS	30
#define STEPS		25	/* between two rotations */

struct variant {
	u32 kind;
	u32 generations;
	u32 flags;
};

static const struct variant variants[] = {
	{ BLOOM_KIND_BLOCKED, 2, 0 },
	{ BLOOM_KIND_BLOCKED, 3, BLOOM_CREATE_ONCE },
	{ BLOOM_KIND_CLASSIC, 5, 0 },
	{ BLOOM_KIND_CLASSIC, 2, BLOOM_CREATE_ONCE },
	{ BLOOM_KIND_BLOCKED, 16, 0 },
};

static void variant_desc(const struct variant *v, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "kind %u, %u generations%s",
		 v->kind, v->generations, v->flags ? ", once" : "");
}

KUNIT_ARRAY_PARAM(variant, variants, variant_desc);

static struct bloom_filter *window(struct kunit *test, u32 kind,
				   u32 generations, u32 flags, u64 period_ns)
{
	struct bloom_create params = {
		.kind = kind,
		.growth = BLOOM_GROWTH_WINDOW,
		.flags = flags | BLOOM_CREATE_SEED,
		.seed = { 27, 18 },
		.capacity = 1000,
		.fp_rate = BLOOM_ONE_IN(1000000000),
		.generations = generations,
		.period_ns = period_ns,
	};

	return bloom_test_filter(test, &params);
}

/* When a key was put in the window last; 0: never. */
struct model {
	u32 last[UNIVERSE];
	u32 now;
	u32 generations;
	bool once;
};

static bool remembers(const struct model *m, u32 key)
{
	return m->last[key] && m->now - m->last[key] < m->generations;
}

static void follows_model(struct kunit *test)
{
	const struct variant *v = test->param_value;
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct bloom_filter *filter;
	struct rnd_state rnd;
	u32 step, key;

	KUNIT_ASSERT_NOT_NULL(test, m);
	filter = window(test, v->kind, v->generations, v->flags, 0);
	m->now = 1;
	m->generations = v->generations;
	m->once = v->flags;
	prandom_seed_state(&rnd, 4);
	for (step = 1; step <= STEPS * ROTATIONS; step++) {
		bool known;

		key = prandom_u32_state(&rnd) % UNIVERSE;
		known = remembers(m, key);
		if (prandom_u32_state(&rnd) % 3) {
			KUNIT_ASSERT_EQ(test, bloom_test_add(filter, key),
					(int)known);
			if (!known || !m->once)
				m->last[key] = m->now;
		}
		key = prandom_u32_state(&rnd) % UNIVERSE;
		KUNIT_ASSERT_EQ(test, bloom_test_query(filter, key),
				(int)remembers(m, key));
		if (step == STEPS * ROTATIONS / 2) {
			KUNIT_ASSERT_EQ(test, bloom_filter_clear(filter), 0);
			memset(m->last, 0, sizeof(m->last));
		} else if (step % STEPS == 0) {
			KUNIT_ASSERT_EQ(test, bloom_window_rotate(filter), 0);
			m->now++;
		}
	}
	for (key = 0; key < UNIVERSE; key++)
		KUNIT_EXPECT_EQ(test, bloom_test_query(filter, key),
				(int)remembers(m, key));
	mutex_lock(&filter->control);
	bloom_window_settle(filter);
	mutex_unlock(&filter->control);
	bloom_test_counts(test, filter);
}

/* The layer after the current one is empty once the zeroing is over. */
static void spare_is_empty(struct kunit *test)
{
	struct bloom_filter *filter = window(test, BLOOM_KIND_BLOCKED, 2, 0, 0);
	const struct bloom_set *set = bloom_test_set(filter);
	const struct bloom_layer *spare;
	u32 round, i;

	for (round = 0; round < 7; round++) {
		for (i = 0; i < 200; i++)
			bloom_test_add(filter, 1000 * round + i);
		KUNIT_EXPECT_EQ(test, bloom_window_rotate(filter), 0);
		KUNIT_EXPECT_EQ(test, set->current_layer, (round + 1) % 3);

		mutex_lock(&filter->control);
		bloom_window_settle(filter);
		mutex_unlock(&filter->control);
		spare = set->layers[(set->current_layer + 1) % 3];
		KUNIT_EXPECT_EQ(test, bloom_test_popcount(spare), 0ULL);
		KUNIT_EXPECT_EQ(test, bloom_layer_keys(spare), 0ULL);
		KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), 200ULL);
	}
}

/* A rotation that comes too early waits for the spare, and is counted. */
static void late(struct kunit *test)
{
	struct bloom_info *info = kunit_kzalloc(test, sizeof(*info), GFP_KERNEL);
	struct bloom_filter *filter = window(test, BLOOM_KIND_BLOCKED, 3, 0, 0);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, info);
	bloom_test_add(filter, 1);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, bloom_window_rotate(filter), 0);
		KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 1),
				BLOOM_PRESENT);
	}
	KUNIT_EXPECT_EQ(test, bloom_window_rotate(filter), 0);
	KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 1), BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_info(filter, info, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, info->rotations, 3ULL);
	KUNIT_EXPECT_GE(test, info->rotations_late, 1ULL);
	KUNIT_EXPECT_LE(test, info->rotations_late, 2ULL);
	KUNIT_EXPECT_EQ(test, info->period_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, info->next_ns, 0ULL);
}

/* The clock turns it, never too early. */
static void by_the_clock(struct kunit *test)
{
	u64 period = 60 * NSEC_PER_MSEC, begin = ktime_get_ns(), rotations;
	struct bloom_filter *filter;

	filter = window(test, BLOOM_KIND_BLOCKED, 2, 0, period);
	bloom_test_add(filter, 1);
	msleep(600);
	mutex_lock(&filter->control);
	rotations = filter->window->rotations;
	mutex_unlock(&filter->control);
	KUNIT_EXPECT_LE(test, rotations * period, ktime_get_ns() - begin);
	KUNIT_EXPECT_GE(test, rotations, 2ULL);
	KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 1), BLOOM_ABSENT);

	/* From now on by hand. */
	KUNIT_EXPECT_EQ(test, bloom_window_set_period(filter, 0, 0), 0);
	mutex_lock(&filter->control);
	rotations = filter->window->rotations;
	mutex_unlock(&filter->control);
	bloom_test_add(filter, 2);
	msleep(300);
	KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 2), BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, filter->window->rotations, rotations);

	/* And by the clock again, the first time sooner. */
	begin = ktime_get_ns();
	KUNIT_EXPECT_EQ(test, 0,
			bloom_window_set_period(filter, 3600 * NSEC_PER_SEC,
						100 * NSEC_PER_MSEC));
	msleep(500);
	KUNIT_EXPECT_EQ(test, filter->window->rotations, rotations + 1);
	mutex_lock(&filter->control);
	KUNIT_EXPECT_GT(test, bloom_window_left(filter), 3590 * NSEC_PER_SEC);
	mutex_unlock(&filter->control);
}

static void refused_periods(struct kunit *test)
{
	static const struct { u64 period, next; } rows[] = {
		{ 0, 1 },
		{ 1, 1 },
		{ BLOOM_PERIOD_MIN_NS - 1, 1 },
		{ BLOOM_PERIOD_MAX_NS + 1, 1 },
		{ BLOOM_PERIOD_MIN_NS, 0 },
		{ BLOOM_PERIOD_MIN_NS, BLOOM_PERIOD_MIN_NS + 1 },
	};
	struct bloom_filter *filter = window(test, BLOOM_KIND_BLOCKED, 2, 0, 0);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ(test, -EINVAL,
				bloom_window_set_period(filter, rows[i].period,
							rows[i].next));
	KUNIT_EXPECT_EQ(test, filter->window->period_ns, 0ULL);
	KUNIT_EXPECT_EQ(test, 0,
			bloom_window_set_period(filter, BLOOM_PERIOD_MAX_NS,
						BLOOM_PERIOD_MAX_NS));
}

/* Freed while a rotation is due and a layer is being emptied. */
static void put_while_turning(struct kunit *test)
{
	struct bloom_filter *filter;
	u32 i;

	for (i = 0; i < 10; i++) {
		filter = window(test, BLOOM_KIND_BLOCKED, 2, 0,
				BLOOM_PERIOD_MIN_NS);
		bloom_test_add(filter, i);
		msleep(3 * i);
		KUNIT_EXPECT_EQ(test, bloom_window_rotate(filter), 0);
		bloom_test_put(test, filter);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(follows_model, variant_gen_params),
	KUNIT_CASE(spare_is_empty),
	KUNIT_CASE(late),
	KUNIT_CASE(by_the_clock),
	KUNIT_CASE(refused_periods),
	KUNIT_CASE(put_while_turning),
	{}
};

BLOOM_SUITE(window, cases);
