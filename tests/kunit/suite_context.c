// SPDX-License-Identifier: GPL-2.0
/*
 * Through bloom.h from everywhere it says: process, timer softirq, tasklet,
 * interrupt; and all of them against one another on one CPU.
 */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timer.h>

#include "../../module/bloom.h"
#include "bloom_test.h"

#define KEYS	40

/* What a handler found; judged later. */
struct visit {
	struct bloom_filter *filter;
	struct bloom_filter *counting;
	struct bloom_filter *last;	/* its last reference is put here */
	struct irq_work irq;
	struct tasklet_struct tasklet;
	struct timer_list timer;
	struct completion done;
	bool in_hardirq;
	bool in_softirq;
	u32 right;
};

/* Everything that bloom.h allows in any context. */
static void visit(struct visit *v)
{
	u8 verdicts[KEYS];
	u64 keys[KEYS], k;
	u32 i;

	v->in_hardirq = in_hardirq();
	v->in_softirq = in_serving_softirq();
	for (i = 0; i < KEYS; i++) {
		k = 100 + i;
		keys[i] = k;
		v->right += bloom_query(v->filter, &k, 8) == BLOOM_ABSENT;
		v->right += bloom_add(v->filter, &k, 8) == BLOOM_ABSENT;
		v->right += bloom_add(v->filter, &k, 8) == BLOOM_PRESENT;
		v->right += bloom_try_add(v->filter, &k, 8) == BLOOM_PRESENT;
		v->right += bloom_query(v->filter, &k, 8) == BLOOM_PRESENT;

		v->right += bloom_add(v->counting, &k, 8) == BLOOM_ABSENT;
		v->right += bloom_remove(v->counting, &k, 8) == BLOOM_PRESENT;
		v->right += bloom_remove(v->counting, &k, 8) == BLOOM_ABSENT;
	}
	v->right += bloom_add_batch(v->filter, keys, 8, KEYS, verdicts) == KEYS;
	v->right += bloom_query_batch(v->filter, keys, 8, KEYS, NULL) == KEYS;
	v->right += bloom_filter_id(v->filter) != 0;
	bloom_put(v->last);
	complete(&v->done);
}

#define RIGHT	(8 * KEYS + 3)

static void visit_irq(struct irq_work *work)
{
	visit(container_of(work, struct visit, irq));
}

static void visit_tasklet(struct tasklet_struct *tasklet)
{
	visit(container_of(tasklet, struct visit, tasklet));
}

static void visit_timer(struct timer_list *timer)
{
	visit(container_of(timer, struct visit, timer));
}

static struct visit *visitor(struct kunit *test)
{
	struct visit *v = kunit_kzalloc(test, sizeof(*v), GFP_KERNEL);
	struct bloom_create params = {
		/* Small, so that the handler passes the capacity. */
		.growth = BLOOM_GROWTH_SCALING,
		.capacity = KEYS / 4,
		.fp_rate = BLOOM_ONE_IN(100000000),
		.slots = 2 * BLOOM_SLOTS_UNIT,
		.probes = 20,
	};

	KUNIT_ASSERT_NOT_NULL(test, v);
	v->filter = bloom_test_filter(test, &params);
	params.growth = BLOOM_GROWTH_FIXED;
	params.kind = BLOOM_KIND_COUNTING;
	v->counting = bloom_test_filter(test, &params);
	v->last = bloom_create(&params);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, v->last);
	init_completion(&v->done);
	init_irq_work(&v->irq, visit_irq);
	tasklet_setup(&v->tasklet, visit_tasklet);
	timer_setup(&v->timer, visit_timer, 0);
	return v;
}

static void judge(struct kunit *test, struct visit *v)
{
	u64 k;

	wait_for_completion(&v->done);
	KUNIT_EXPECT_EQ(test, v->right, (u32)RIGHT);
	for (k = 100; k < 100 + KEYS; k++)
		KUNIT_EXPECT_EQ(test, bloom_test_query(v->filter, k),
				BLOOM_PRESENT);
	bloom_test_drain();
	/* It grew, as a worker saw to. */
	KUNIT_EXPECT_GE(test, bloom_test_set(v->filter)->count, 2U);
	bloom_test_counts(test, v->filter);
	bloom_test_counts(test, v->counting);
}

static void process(struct kunit *test)
{
	struct visit *v = visitor(test);

	visit(v);
	KUNIT_EXPECT_FALSE(test, v->in_hardirq || v->in_softirq);
	judge(test, v);
}

static void hard_interrupt(struct kunit *test)
{
	struct visit *v = visitor(test);

	irq_work_queue(&v->irq);
	irq_work_sync(&v->irq);
	KUNIT_EXPECT_TRUE(test, v->in_hardirq);
	judge(test, v);
}

static void tasklet(struct kunit *test)
{
	struct visit *v = visitor(test);

	tasklet_schedule(&v->tasklet);
	wait_for_completion(&v->done);
	tasklet_kill(&v->tasklet);
	complete(&v->done);
	KUNIT_EXPECT_TRUE(test, v->in_softirq);
	judge(test, v);
}

static void timer(struct kunit *test)
{
	struct visit *v = visitor(test);

	mod_timer(&v->timer, jiffies + 1);
	wait_for_completion(&v->done);
	while (timer_pending(&v->timer))
		cpu_relax();
	complete(&v->done);
	KUNIT_EXPECT_TRUE(test, v->in_softirq);
	KUNIT_EXPECT_FALSE(test, v->in_hardirq);
	judge(test, v);
}

static void spinlock_held(struct kunit *test)
{
	static DEFINE_RAW_SPINLOCK(lock);
	struct visit *v = visitor(test);
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	visit(v);
	raw_spin_unlock_irqrestore(&lock, flags);
	judge(test, v);
}

/*
 * Two threads add; a third one interrupts them, each on its CPU, and the
 * interrupt adds; so does a timer's softirq: the same keys around the same time.
 * A lock that one of them holds when another comes would hang the CPU.
 */
#define SHARED_KEYS	4000

struct storm {
	struct bloom_filter *filter;
	struct timer_list soft;
	atomic_t news;
	atomic_t next;
	atomic_t interrupts;
	atomic_t ticks;
	bool stop;
};

/* However few turns the interrupting thread gets. */
static bool storm_over(struct storm *s)
{
	return atomic_read(&s->next) >= 2 * SHARED_KEYS &&
	       atomic_read(&s->interrupts) > 10;
}

static void storm_add(struct storm *s)
{
	u64 keys[8];
	u32 i, next = atomic_add_return(4, &s->next);

	/* Half of them are about to come, half were just there. */
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		keys[i] = (next + i) % SHARED_KEYS;
	atomic_add(ARRAY_SIZE(keys) -
		   bloom_add_batch(s->filter, keys, 8, ARRAY_SIZE(keys), NULL),
		   &s->news);
}

static void storm_interrupt(void *arg)
{
	struct storm *s = arg;

	storm_add(s);
	atomic_inc(&s->interrupts);
}

static void storm_soft(struct timer_list *timer)
{
	struct storm *s = container_of(timer, struct storm, soft);

	storm_add(s);
	atomic_inc(&s->ticks);
	if (!READ_ONCE(s->stop))
		mod_timer(&s->soft, jiffies + 1);
}

static void storm_thread(void *arg, u32 i)
{
	struct storm *s = arg;

	while (!storm_over(s)) {
		if (i == 2)
			on_each_cpu(storm_interrupt, s, true);
		else
			storm_add(s);
		cond_resched();
	}
}

static void all_at_once(struct kunit *test)
{
	struct storm *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct bloom_create params = {
		.capacity = SHARED_KEYS * 4,
		.fp_rate = BLOOM_ONE_IN(1000000000),
		.flags = BLOOM_CREATE_SEED,
		.seed = { 8, 9 },
	};

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->filter = bloom_test_filter(test, &params);
	timer_setup(&s->soft, storm_soft, 0);
	mod_timer(&s->soft, jiffies + 1);
	bloom_test_threads(test, 3, storm_thread, s);
	while (!atomic_read(&s->ticks))
		schedule_timeout_uninterruptible(1);
	WRITE_ONCE(s->stop, true);
	/* It may arm itself once more before it sees the end. */
	do {
		schedule_timeout_uninterruptible(2);
	} while (timer_pending(&s->soft));
	schedule_timeout_uninterruptible(2);

	KUNIT_EXPECT_EQ(test, atomic_read(&s->news), SHARED_KEYS);
	KUNIT_EXPECT_EQ(test, bloom_filter_keys(s->filter), (u64)SHARED_KEYS);
	bloom_test_counts(test, s->filter);
	kunit_info(test, "%d interrupts, %d ticks\n",
		   atomic_read(&s->interrupts), atomic_read(&s->ticks));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(process),
	KUNIT_CASE(hard_interrupt),
	KUNIT_CASE(tasklet),
	KUNIT_CASE(timer),
	KUNIT_CASE(spinlock_held),
	KUNIT_CASE(all_at_once),
	{}
};

BLOOM_SUITE(context, cases);
