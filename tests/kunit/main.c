// SPDX-License-Identifier: GPL-2.0
/*
 * bloom_test.ko: the suites, and the module's own objects compiled once more,
 * so that the suites reach what bloom.ko does not export. It neither needs
 * bloom.ko nor minds it.
 *
 * Linux 6.1 runs the suites before module_init; hence all that they need is
 * made by the suites themselves.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../../module/registry.h"
#include "bloom_test.h"

#define FILTERS_MAX	8

struct context {
	struct bloom_filter *filters[FILTERS_MAX];
	bool used;
};

int bloom_test_suite_init(struct kunit_suite *suite)
{
	return bloom_layer_init();
}

/* As in module exit: released; freed after a grace period; its layers, too. */
void bloom_test_drain(void)
{
	int stage;

	for (stage = 0; stage < 3; stage++) {
		flush_workqueue(bloom_wq);
		rcu_barrier();
	}
	flush_workqueue(bloom_wq);
}

void bloom_test_suite_exit(struct kunit_suite *suite)
{
	bloom_test_drain();
	bloom_registry_exit();
	bloom_layer_exit();
}

int bloom_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct context), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

void bloom_test_exit(struct kunit *test)
{
	struct context *context = test->priv;
	u32 i;

	bloom_test_caps(0, 0, 0);
	for (i = 0; context && i < FILTERS_MAX; i++)
		bloom_put(context->filters[i]);
	/* Grace periods are worth waiting for only where there was a filter. */
	if (bloom_test_charged() || (context && context->used))
		bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 0ULL);
}

struct bloom_filter *bloom_test_filter(struct kunit *test,
				       const struct bloom_create *params)
{
	struct context *context = test->priv;
	struct bloom_filter *filter;
	u32 i = 0;

	while (i < FILTERS_MAX && context->filters[i])
		i++;
	KUNIT_ASSERT_LT(test, i, FILTERS_MAX);
	filter = bloom_create(params);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, filter);
	context->filters[i] = filter;
	context->used = true;
	return filter;
}

void bloom_test_put(struct kunit *test, struct bloom_filter *filter)
{
	struct context *context = test->priv;
	u32 i = 0;

	while (i < FILTERS_MAX && context->filters[i] != filter)
		i++;
	KUNIT_ASSERT_LT(test, i, FILTERS_MAX);
	context->filters[i] = NULL;
	bloom_put(filter);
}

int bloom_test_add(struct bloom_filter *filter, u64 key)
{
	return bloom_add(filter, &key, sizeof(key));
}

int bloom_test_query(struct bloom_filter *filter, u64 key)
{
	return bloom_query(filter, &key, sizeof(key));
}

int bloom_test_remove(struct bloom_filter *filter, u64 key)
{
	return bloom_remove(filter, &key, sizeof(key));
}

u64 bloom_test_popcount(const struct bloom_layer *layer)
{
	u64 i, words = layer->geo.bytes / sizeof(u64), sum = 0;

	for (i = 0; i < words; i++) {
		u64 word = le64_to_cpu(layer->words[i]);

		if (layer->geo.kind == BLOOM_KIND_COUNTING)
			sum += bloom_counters_nonzero(word);
		else
			sum += hweight64(word);
	}
	return sum;
}

void bloom_test_counts(struct kunit *test, struct bloom_filter *filter)
{
	const struct bloom_set *set = bloom_test_set(filter);
	const struct bloom_layer *layer;
	u32 i;

	for (i = 0; i < set->count; i++) {
		layer = set->layers[i];
		KUNIT_EXPECT_EQ_MSG(test, bloom_layer_slots_set(layer),
				    bloom_test_popcount(layer),
				    "layer %u of %u", i, set->count);
		if (layer->geo.kind == BLOOM_KIND_BITMAP)
			KUNIT_EXPECT_EQ(test, bloom_layer_keys(layer),
					bloom_test_popcount(layer));
	}
}

kunit_test_suites(&bloom_suite_hash,
		  &bloom_suite_probe,
		  &bloom_suite_geometry,
		  &bloom_suite_layer,
		  &bloom_suite_account,
		  &bloom_suite_registry,
		  &bloom_suite_filter,
		  &bloom_suite_rate,
		  &bloom_suite_scaling,
		  &bloom_suite_window,
		  &bloom_suite_race,
		  &bloom_suite_context,
		  &bloom_suite_bpf);

MODULE_DESCRIPTION("KUnit tests of the Bloom filter module");
MODULE_LICENSE("GPL");
