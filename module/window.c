// SPDX-License-Identifier: GPL-2.0
/*
 * Time windows: G live generations in a ring, and one spare that is empty.
 *
 * A rotation makes the spare the current generation; the oldest falls out, is
 * emptied by a worker after a grace period, and is the next spare. If it is not
 * empty yet when the next rotation is due, that one waits and is counted as
 * late. Rotations are at least a period apart, from when the last one really
 * happened: a window may get longer, never shorter.
 *
 * The clock is CLOCK_MONOTONIC, which stands still while the machine is
 * suspended: keys are then remembered for as much longer.
 */
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "account.h"
#include "filter.h"

/* Below this period a grace period must be had quickly, though it costs IPIs. */
#define EXPEDITE_BELOW_NS	(200 * NSEC_PER_MSEC)

static void zero_work(struct work_struct *work)
{
	struct bloom_window *window = container_of(work, struct bloom_window,
						   zero);
	u64 period = READ_ONCE(window->period_ns);

	/* Who still writes to it, or reads from it, began before it left. */
	if (period && period < EXPEDITE_BELOW_NS)
		synchronize_rcu_expedited();
	else
		synchronize_rcu();
	bloom_layer_zero(window->leaving);
}

/* Wait until the spare is empty. Nobody begins a rotation meanwhile. */
void bloom_window_settle(struct bloom_filter *filter)
{
	lockdep_assert_held(&filter->control);
	flush_work(&filter->window->zero);
}

/* Rotate after @ns, or not by itself. */
static void arm(struct bloom_window *window, u64 ns)
{
	lockdep_assert_held(&window->filter->control);
	if (!window->period_ns)
		return;
	window->next_ns = ktime_get_ns() + ns;
	/* One jiffy more than the time rounded up: never early. */
	mod_delayed_work(bloom_wq, &window->rotate, nsecs_to_jiffies(ns) + 1);
}

static void rotate_locked(struct bloom_filter *filter)
{
	struct bloom_window *window = filter->window;
	struct bloom_set *set = bloom_set_locked(filter);
	u32 next;

	if (work_busy(&window->zero))
		window->late++;
	bloom_window_settle(filter);

	next = (set->current_layer + 1) % set->count;
	set->layers[next]->born_ns = ktime_get_ns();
	bloom_seq_begin(filter);
	/* Empty before it is current; pairs with bloom_newest(). */
	smp_store_release(&set->current_layer, next);
	bloom_seq_end(filter);

	window->rotations++;
	window->leaving = set->layers[(next + 1) % set->count];
	queue_work(bloom_zero_wq, &window->zero);
	arm(window, window->period_ns);
}

static void rotate_work(struct work_struct *work)
{
	struct bloom_window *window = container_of(to_delayed_work(work),
						   struct bloom_window, rotate);
	struct bloom_filter *filter = window->filter;
	u64 now;

	mutex_lock(&filter->control);
	now = ktime_get_ns();
	if (!window->period_ns)
		;	/* was switched to rotation by hand meanwhile */
	else if (now < window->next_ns)
		mod_delayed_work(bloom_wq, &window->rotate,
				 nsecs_to_jiffies(window->next_ns - now) + 1);
	else
		rotate_locked(filter);
	mutex_unlock(&filter->control);
	bloom_filter_look(filter);
}

/* By hand: -EINTR if killed while waiting. */
int bloom_window_rotate(struct bloom_filter *filter)
{
	if (mutex_lock_killable(&filter->control))
		return -EINTR;
	rotate_locked(filter);
	mutex_unlock(&filter->control);
	bloom_filter_look(filter);
	return 0;
}

int bloom_window_set_period(struct bloom_filter *filter, u64 period_ns,
			    u64 next_ns)
{
	struct bloom_window *window = filter->window;

	if (period_ns && (period_ns < BLOOM_PERIOD_MIN_NS ||
			  period_ns > BLOOM_PERIOD_MAX_NS))
		return -EINVAL;
	if (period_ns ? !next_ns || next_ns > period_ns : next_ns)
		return -EINVAL;

	mutex_lock(&filter->control);
	WRITE_ONCE(window->period_ns, period_ns);
	window->next_ns = 0;
	arm(window, next_ns);
	mutex_unlock(&filter->control);
	return 0;
}

/* Nanoseconds to the next rotation. */
u64 bloom_window_left(const struct bloom_filter *filter)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&filter->control);
	if (!filter->window->period_ns || filter->window->next_ns < now)
		return 0;
	return filter->window->next_ns - now;
}

/* A whole period from now; at the beginning and after CLEAR. */
void bloom_window_start(struct bloom_filter *filter)
{
	arm(filter->window, filter->window->period_ns);
}

int bloom_window_create(struct bloom_filter *filter)
{
	struct bloom_window *window;

	window = kzalloc(sizeof(*window), BLOOM_GFP);
	if (!window)
		return -ENOMEM;
	window->filter = filter;
	window->period_ns = filter->params.period_ns;
	INIT_DELAYED_WORK(&window->rotate, rotate_work);
	INIT_WORK(&window->zero, zero_work);
	filter->window = window;
	return 0;
}

/* No reference to the filter is left. */
void bloom_window_destroy(struct bloom_filter *filter)
{
	if (!filter->window)
		return;
	cancel_delayed_work_sync(&filter->window->rotate);
	cancel_work_sync(&filter->window->zero);
	kfree(filter->window);
}
