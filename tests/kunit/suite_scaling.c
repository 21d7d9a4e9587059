// SPDX-License-Identifier: GPL-2.0
/*
 * Growth: layers come in time, each stripe moves on by itself, and a filter that
 * is refused memory takes keys all the same.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "bloom_test.h"

#define CAPACITY	64

/*
 * A first layer so small is not made where the module chooses its size, but it
 * is where the size is told.
 */
static struct bloom_filter *scaling(struct kunit *test, u32 kind, u64 capacity)
{
	struct bloom_create params = {
		.kind = kind,
		.growth = BLOOM_GROWTH_SCALING,
		.flags = BLOOM_CREATE_SEED,
		.seed = { 31, 41 },
		.capacity = capacity,
		.fp_rate = BLOOM_ONE_IN(1000000),
		.slots = 2 * BLOOM_SLOTS_UNIT,
		.probes = 16,
	};

	return bloom_test_filter(test, &params);
}

/* Add so many integers, and let the filter grow at once. */
static void add(struct kunit *test, struct bloom_filter *filter, u64 first,
		u64 n)
{
	u64 i;

	for (i = first; i < first + n; i++) {
		KUNIT_ASSERT_EQ(test, bloom_test_add(filter, i), BLOOM_ABSENT);
		bloom_filter_look(filter);
	}
}

static void expect_all(struct kunit *test, struct bloom_filter *filter, u64 n)
{
	u64 i;

	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, bloom_test_query(filter, i),
				BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), n);
	bloom_test_counts(test, filter);
}

/* Beyond four layers; each of twice the keys, none over what it is made for. */
static void layers(struct kunit *test)
{
	static const u32 kinds[] = { BLOOM_KIND_BLOCKED, BLOOM_KIND_CLASSIC };
	const struct bloom_layer *layer;
	const struct bloom_set *set;
	struct bloom_filter *filter;
	u32 i, k, n = 40 * CAPACITY;
	u64 rates;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		filter = scaling(test, kinds[k], CAPACITY);
		add(test, filter, 0, n);
		set = bloom_test_set(filter);
		KUNIT_EXPECT_GE(test, set->count, 6U);
		KUNIT_EXPECT_LE(test, set->count, 7U);
		rates = 0;
		for (i = 0; i < set->count; i++) {
			layer = set->layers[i];
			KUNIT_EXPECT_EQ(test, layer->capacity,
					(u64)CAPACITY << i);
			KUNIT_EXPECT_EQ(test, layer->share,
					layer->capacity / 16);
			KUNIT_EXPECT_LE(test, bloom_layer_keys(layer),
					layer->capacity);
			rates += layer->fp_rate;
		}
		KUNIT_EXPECT_LE(test, rates, filter->params.fp_rate);
		KUNIT_EXPECT_EQ(test, filter->state, 0U);
		expect_all(test, filter, n);
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, bloom_test_add(filter, i),
					BLOOM_PRESENT);
		KUNIT_EXPECT_EQ(test, bloom_filter_keys(filter), (u64)n);
	}
}

/* A stripe leaves a layer when its share is full, and never before. */
static void targets(struct kunit *test)
{
	struct bloom_filter *filter = scaling(test, BLOOM_KIND_BLOCKED,
					      CAPACITY);
	const struct bloom_set *set;
	u32 i, j;

	add(test, filter, 0, 20 * CAPACITY);
	set = bloom_test_set(filter);
	for (i = 0; i < filter->stripe_count; i++) {
		u32 target = filter->stripes[i].target;

		KUNIT_EXPECT_LT(test, target, set->count);
		for (j = 0; j < set->count; j++) {
			const struct bloom_layer *layer = set->layers[j];
			u64 keys = layer->tally[i].keys;

			if (j < target)
				KUNIT_EXPECT_EQ(test, keys, layer->share);
			else if (j == target)
				KUNIT_EXPECT_LE(test, keys, layer->share);
			else
				KUNIT_EXPECT_EQ(test, keys, 0ULL);
		}
	}
}

/* Fewer keys than there are stripes: no reason to call it full. */
static void tiny(struct kunit *test)
{
	static const u64 capacities[] = { 1, 2, 15, 16, 17, 31 };
	struct bloom_create params = {
		.growth = BLOOM_GROWTH_SCALING,
		.fp_rate = BLOOM_ONE_IN(1000000),
	};
	struct bloom_filter *filter;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(capacities); i++) {
		params.capacity = capacities[i];
		filter = bloom_test_filter(test, &params);
		add(test, filter, 0, 200);
		KUNIT_EXPECT_EQ_MSG(test, filter->state, 0U, "capacity %llu",
				    capacities[i]);
		KUNIT_EXPECT_GE(test,
				bloom_test_set(filter)->layers[0]->capacity,
				capacities[i]);
		expect_all(test, filter, 200);
		bloom_test_put(test, filter);
	}
}

static bool wait_for_layers(struct bloom_filter *filter, u32 count)
{
	unsigned long end = jiffies + 10 * HZ;
	bool enough;

	do {
		rcu_read_lock();
		enough = rcu_dereference(filter->set)->count >= count;
		rcu_read_unlock();
		if (enough)
			return true;
		msleep(20);
	} while (time_before(jiffies, end));
	return false;
}

/* Nobody but the worker sees to growth. */
static void worker_grows(struct kunit *test)
{
	struct bloom_filter *filter = scaling(test, BLOOM_KIND_BLOCKED, 1600);
	u32 i, n = 0;

	for (i = 2; i <= 3; i++) {
		/* To three quarters of some stripe's share, not of them all. */
		while (!bloom_scaling_wants_layer(bloom_test_set(filter)->layers[i - 2]))
			KUNIT_ASSERT_EQ(test, bloom_test_add(filter, n++),
					BLOOM_ABSENT);
		KUNIT_EXPECT_TRUE(test, wait_for_layers(filter, i));
	}
	KUNIT_EXPECT_FALSE(test, READ_ONCE(filter->starved));
	expect_all(test, filter, n);
}

static void refused(struct kunit *test)
{
	struct bloom_filter *filter = scaling(test, BLOOM_KIND_BLOCKED,
					      CAPACITY);
	u64 n;

	/* Memory for the first layer, none for the second. */
	bloom_test_caps(bloom_test_charged(), 0, 0);
	for (n = 0; n < CAPACITY; n++)
		KUNIT_ASSERT_EQ(test, bloom_test_add(filter, n), BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_look(filter),
			(u32)BLOOM_STATE_REFUSED);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(filter->starved));
	for (; n < 3 * CAPACITY; n++)
		KUNIT_ASSERT_EQ(test, bloom_test_add(filter, n), BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_filter_look(filter),
			BLOOM_STATE_REFUSED | BLOOM_STATE_SATURATED);
	expect_all(test, filter, n);
	KUNIT_EXPECT_EQ(test, bloom_test_set(filter)->count, 1U);

	/* It is tried again, not before a second is over. */
	bloom_test_caps(0, 0, 0);
	msleep(1100);
	KUNIT_EXPECT_EQ(test, bloom_filter_look(filter),
			(u32)BLOOM_STATE_SATURATED);
	KUNIT_ASSERT_EQ(test, bloom_test_set(filter)->count, 2U);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(filter->starved));
	for (; n < 4 * CAPACITY; n++)
		KUNIT_ASSERT_EQ(test, bloom_test_add(filter, n), BLOOM_ABSENT);
	/* No new key went to the layer that is full. */
	KUNIT_EXPECT_EQ(test, 3ULL * CAPACITY,
			bloom_layer_keys(bloom_test_set(filter)->layers[0]));
	expect_all(test, filter, n);
}

/* One layer again, and the stripes know. */
static void clear(struct kunit *test)
{
	struct bloom_filter *filter = scaling(test, BLOOM_KIND_BLOCKED,
					      CAPACITY);
	u64 first = bloom_test_charged(), i, n = 12 * CAPACITY;
	u32 round;

	for (round = 1; round <= 3; round++) {
		add(test, filter, 0, n);
		KUNIT_EXPECT_GE(test, bloom_test_set(filter)->count, 4U);
		KUNIT_EXPECT_EQ(test, bloom_filter_clear(filter), 0);
		KUNIT_EXPECT_EQ(test, bloom_test_set(filter)->count, 1U);
		KUNIT_EXPECT_EQ(test, bloom_test_set(filter)->epoch, round);
		KUNIT_EXPECT_EQ(test, filter->state, 0U);
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, bloom_test_query(filter, i),
					BLOOM_ABSENT);
		bloom_test_drain();
		KUNIT_EXPECT_EQ(test, bloom_test_charged(), first);
	}
	add(test, filter, 0, 8);
	KUNIT_EXPECT_EQ(test, 8ULL,
			bloom_layer_keys(bloom_test_set(filter)->layers[0]));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(layers),
	KUNIT_CASE(targets),
	KUNIT_CASE(tiny),
	KUNIT_CASE(worker_grows),
	KUNIT_CASE(refused),
	KUNIT_CASE(clear),
	{}
};

BLOOM_SUITE(scaling, cases);
