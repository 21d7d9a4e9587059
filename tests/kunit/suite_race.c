// SPDX-License-Identifier: GPL-2.0
/*
 * Several CPUs at once: exactly once, nothing lost, counts exact, and every
 * change of the set beside it. Threads only note what they see; the case judges.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "../../module/registry.h"
#include "bloom_test.h"

struct worker {
	void (*fn)(void *arg, u32 i);
	void *arg;
	u32 i;
	struct completion *begin;
	struct completion done;
};

static int run(void *data)
{
	struct worker *worker = data;

	wait_for_completion(worker->begin);
	worker->fn(worker->arg, worker->i);
	complete(&worker->done);
	return 0;
}

void bloom_test_threads(struct kunit *test, u32 count,
			void (*fn)(void *arg, u32 i), void *arg)
{
	DECLARE_COMPLETION_ONSTACK(begin);
	struct worker *workers;
	struct task_struct *task;
	u32 i, made = 0;
	int cpu = -1;

	workers = kcalloc(BLOOM_TEST_THREADS, sizeof(*workers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, workers);
	for (i = 0; i < count; i++) {
		workers[i] = (struct worker){ fn, arg, i, &begin };
		init_completion(&workers[i].done);
		task = kthread_create(run, &workers[i], "bloom_test/%u", i);
		if (IS_ERR(task))
			break;
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		kthread_bind(task, cpu);
		wake_up_process(task);
		made++;
	}
	complete_all(&begin);
	for (i = 0; i < made; i++)
		wait_for_completion(&workers[i].done);
	kfree(workers);
	KUNIT_ASSERT_EQ(test, made, count);
}

struct shape {
	const char *what;
	struct bloom_create params;
};

#define SIZED(n)	.capacity = n, .fp_rate = BLOOM_ONE_IN(100000000)
/* Where the size is told the first layer may be for few keys. */
#define GROWING(n)	SIZED(n), .slots = 2 * BLOOM_SLOTS_UNIT, .probes = 20, \
			.growth = BLOOM_GROWTH_SCALING
#define FIXED_SEED	.flags = BLOOM_CREATE_SEED, .seed = { 3, 4 }

static const struct shape shapes[] = {
	{ "blocked", { SIZED(10000), FIXED_SEED } },
	{ "classic", { SIZED(10000), FIXED_SEED, .kind = BLOOM_KIND_CLASSIC } },
	{ "bitmap", { .slots = 1 << 20, .kind = BLOOM_KIND_BITMAP } },
	{ "scaling", { GROWING(64), FIXED_SEED } },
	{ "window", { SIZED(10000), FIXED_SEED, .growth = BLOOM_GROWTH_WINDOW,
		      .generations = 2 } },
};

static void shape_desc(const struct shape *shape, char *desc)
{
	strscpy(desc, shape->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

/* What the threads of a case share. */
struct race {
	struct bloom_filter *filter;
	u32 keys;		/* a thread */
	u32 threads;		/* that add; one more changes the set */
	u32 period;		/* changes: so many keys apart */
	atomic_t begun;		/* changes */
	atomic_t ended;
	atomic_t adding;	/* threads not ready yet */
	atomic_t news;
	atomic_t lost;
	atomic_t failed;
};

static struct race *race(struct kunit *test, const struct bloom_create *params,
			 u32 threads, u32 keys)
{
	struct race *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->filter = bloom_test_filter(test, params);
	r->threads = threads;
	r->keys = keys;
	atomic_set(&r->adding, threads);
	return r;
}

/* What ADD by system call does: grow, if the worker is not fast enough. */
static void keep_pace(struct race *r)
{
	if (r->filter->params.growth == BLOOM_GROWTH_SCALING)
		bloom_filter_look(r->filter);
	cond_resched();
}

/* Every thread the same keys, each from another place on, in groups. */
static void add_same(void *arg, u32 i)
{
	struct race *r = arg;
	u64 keys[16];
	u32 done, j, news = 0;

	for (done = 0; done < r->keys; done += ARRAY_SIZE(keys)) {
		for (j = 0; j < ARRAY_SIZE(keys); j++)
			keys[j] = (done + j + i % 2 * r->keys / 7) % r->keys;
		news += ARRAY_SIZE(keys) -
			bloom_add_batch(r->filter, keys, 8, ARRAY_SIZE(keys),
					NULL);
		keep_pace(r);
	}
	atomic_add(news, &r->news);
}

static void exactly_once(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct race *r = race(test, &shape->params, 4, 4096);
	u64 i;

	bloom_test_threads(test, r->threads, add_same, r);
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, (u32)atomic_read(&r->news), r->keys);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(r->filter), (u64)r->keys);
	for (i = 0; i < r->keys; i++)
		KUNIT_ASSERT_EQ(test, bloom_test_query(r->filter, i),
				BLOOM_PRESENT);
	bloom_test_counts(test, r->filter);
}

/* In and out again, each thread for itself, around the same counters. */
static void count_in_and_out(void *arg, u32 i)
{
	struct race *r = arg;
	u32 round, j;

	for (round = 0; round < 3; round++) {
		for (j = 0; j < r->keys; j++)
			bloom_test_add(r->filter, j);
		for (j = 0; j < r->keys; j++)
			if (bloom_test_remove(r->filter, j) != BLOOM_PRESENT)
				atomic_inc(&r->lost);
		cond_resched();
	}
}

static void counting(struct kunit *test)
{
	struct bloom_create params = {
		SIZED(20000), FIXED_SEED, .kind = BLOOM_KIND_COUNTING,
	};
	struct race *r = race(test, &params, 4, 300);

	bloom_test_threads(test, r->threads, count_in_and_out, r);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lost), 0);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(r->filter), 0ULL);
	KUNIT_EXPECT_EQ(test, bloom_test_popcount(bloom_test_set(r->filter)->layers[0]),
			0ULL);
	bloom_test_counts(test, r->filter);
}

/*
 * Keys of one's own, looked for at once. In between the filter may have been
 * changed; where fewer changes began than make it forget, it must not have.
 */
static void add_own(struct race *r, u32 i, u32 forgets_after)
{
	u64 first = (u64)(i + 1) << 32, key;
	u32 j;

	for (j = 0; j < r->keys; j++) {
		u32 ended = atomic_read_acquire(&r->ended);

		key = first + j;
		if (bloom_test_add(r->filter, key) == BLOOM_ABSENT)
			atomic_inc(&r->news);
		if (bloom_test_query(r->filter, key) != BLOOM_PRESENT) {
			smp_rmb();	/* looked, then count the changes */
			if (atomic_read(&r->begun) - ended < forgets_after)
				atomic_inc(&r->lost);
		}
		if (j % 16 == 0)
			keep_pace(r);
	}
	atomic_dec(&r->adding);
}

/* One thread makes changes as long as the others add. */
static void change(struct race *r, int (*fn)(struct bloom_filter *filter))
{
	while (atomic_read(&r->adding)) {
		atomic_inc(&r->begun);
		smp_mb__after_atomic();	/* counted, then done */
		if (fn(r->filter))
			atomic_inc(&r->failed);
		atomic_inc_return_release(&r->ended);
		cond_resched();
	}
}

static void rotate_beside(void *arg, u32 i)
{
	struct race *r = arg;

	if (i < r->threads)
		add_own(r, i, r->filter->generations);
	else
		change(r, bloom_window_rotate);
}

static void clear_beside(void *arg, u32 i)
{
	struct race *r = arg;

	if (i < r->threads)
		add_own(r, i, 1);
	else
		change(r, bloom_filter_clear);
}

static int look(struct bloom_filter *filter)
{
	return bloom_filter_look(filter) & BLOOM_STATE_REFUSED;
}

static void grow_beside(void *arg, u32 i)
{
	struct race *r = arg;

	if (i < r->threads)
		add_own(r, i, U32_MAX);
	else
		change(r, look);
}

static void expect_race(struct kunit *test, struct race *r)
{
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lost), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->failed), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&r->ended), 1);
	KUNIT_EXPECT_EQ(test, (u32)atomic_read(&r->news), r->threads * r->keys);
	if (r->filter->params.growth == BLOOM_GROWTH_WINDOW) {
		mutex_lock(&r->filter->control);
		bloom_window_settle(r->filter);
		mutex_unlock(&r->filter->control);
	}
	bloom_test_counts(test, r->filter);
	kunit_info(test, "%d changes beside %u keys\n", atomic_read(&r->ended),
		   r->threads * r->keys);
}

static void rotate(struct kunit *test)
{
	struct bloom_create params = {
		SIZED(10000), FIXED_SEED, .growth = BLOOM_GROWTH_WINDOW,
		.generations = 3,
	};
	struct race *r = race(test, &params, 3, 4000);

	bloom_test_threads(test, r->threads + 1, rotate_beside, r);
	expect_race(test, r);
}

static const struct shape clearable[] = {
	{ "fixed", { SIZED(10000), FIXED_SEED } },
	{ "classic", { SIZED(10000), FIXED_SEED, .kind = BLOOM_KIND_CLASSIC } },
	{ "scaling", { GROWING(100), FIXED_SEED } },
	{ "window", { SIZED(10000), FIXED_SEED, .growth = BLOOM_GROWTH_WINDOW,
		      .generations = 2 } },
};

KUNIT_ARRAY_PARAM(clearable, clearable, shape_desc);

static void clear(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct race *r = race(test, &shape->params, 3, 2000);

	bloom_test_threads(test, r->threads + 1, clear_beside, r);
	expect_race(test, r);
}

static void grow(struct kunit *test)
{
	struct bloom_create params = { GROWING(50), FIXED_SEED };
	struct race *r = race(test, &params, 3, 3000);
	u64 i, j;

	bloom_test_threads(test, r->threads + 1, grow_beside, r);
	expect_race(test, r);
	KUNIT_EXPECT_GE(test, bloom_test_set(r->filter)->count, 7U);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(r->filter), 9000ULL);
	for (i = 1; i <= r->threads; i++)
		for (j = 0; j < r->keys; j++)
			KUNIT_ASSERT_EQ(test, BLOOM_PRESENT,
					bloom_test_query(r->filter,
							 (i << 32) + j));
}

/* Names come and go, and filters with them, while others look them up. */
#define NAMED	50

static void named(void *arg, u32 i)
{
	struct bloom_link link = {
		.flags = BLOOM_LINK_REPLACE, .gid = -1, .name = "race",
	};
	struct race *r = arg;
	struct bloom_filter *filter;
	u32 j;

	for (j = 0; j < NAMED; j++) {
		if (i % 2) {
			filter = bloom_create(&r->filter->params);
			if (IS_ERR(filter)) {
				atomic_inc(&r->failed);
				continue;
			}
			if (bloom_registry_link(filter, &link))
				atomic_inc(&r->failed);
		} else {
			filter = bloom_get("race");
			if (IS_ERR(filter))
				continue;
		}
		bloom_test_add(filter, j);
		if (bloom_test_query(filter, j) != BLOOM_PRESENT)
			atomic_inc(&r->lost);
		bloom_put(filter);
		if (j % 8 == 0)
			bloom_registry_unlink("race");
		cond_resched();
	}
}

static void names(struct kunit *test)
{
	struct bloom_create params = { SIZED(100), FIXED_SEED };
	struct race *r = race(test, &params, 4, 0);

	bloom_test_threads(test, r->threads, named, r);
	bloom_registry_unlink("race");
	KUNIT_EXPECT_EQ(test, atomic_read(&r->lost), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&r->failed), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(exactly_once, shape_gen_params),
	KUNIT_CASE(counting),
	KUNIT_CASE(rotate),
	KUNIT_CASE_PARAM(clear, clearable_gen_params),
	KUNIT_CASE(grow),
	KUNIT_CASE(names),
	{}
};

BLOOM_SUITE(race, cases);
