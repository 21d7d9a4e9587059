// SPDX-License-Identifier: GPL-2.0
/*
 * bloom_user.ko: another module that uses filters, and nothing but bloom.h: a
 * filter of its own and, if there is a name, a filter that user space shares.
 *
 *	insmod bloom_user.ko name=seen count=100
 *
 * It adds the keys "user-0", "user-1" ... from a timer, in softirq, a few a
 * tick, as a packet path might. Its parameters tell what came of it: absent,
 * present, and done once all are in. A module that packets do not wait for would
 * do the same with bloom_add() alone.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/timer.h>

#include "../../../module/bloom.h"

static char *name;
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "a filter to add to (default: only its own)");

static unsigned int count = 100;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "keys to add");

/* Results. */
static unsigned int absent, present, failed;
module_param(absent, uint, 0444);
module_param(present, uint, 0444);
module_param(failed, uint, 0444);

static bool done;
module_param(done, bool, 0444);

#define PER_TICK	10

static struct bloom_filter *own, *shared;
static struct timer_list timer;
static bool stopping;

static void add_one(unsigned int i)
{
	char key[24];
	int len = scnprintf(key, sizeof(key), "user-%u", i);
	int here = bloom_add(own, key, len);
	int there = shared ? bloom_add(shared, key, len) : here;

	if (here < 0 || there < 0)
		failed++;
	else if (there == BLOOM_PRESENT)
		present++;
	else
		absent++;
}

static void tick(struct timer_list *unused)
{
	unsigned int i, n = absent + present + failed;

	for (i = 0; i < PER_TICK && n < count; i++)
		add_one(n++);
	if (n == count)
		WRITE_ONCE(done, true);
	else if (!READ_ONCE(stopping))
		mod_timer(&timer, jiffies + 1);
}

static int __init bloom_user_init(void)
{
	const struct bloom_create params = {
		.capacity = 10000,
		.fp_rate = ~0ULL / 1000000,	/* one in a million */
	};
	int verdict;

	own = bloom_create(&params);
	if (IS_ERR(own))
		return PTR_ERR(own);
	if (name) {
		shared = bloom_get(name);
		if (IS_ERR(shared)) {
			pr_err("no filter named %s\n", name);
			bloom_put(own);
			return PTR_ERR(shared);
		}
	}

	/* Process context, first. */
	verdict = bloom_query(own, "hello", 5);
	if (verdict != BLOOM_ABSENT || bloom_add(own, "hello", 5) != verdict)
		failed++;
	if (bloom_query(own, "hello", 5) != BLOOM_PRESENT)
		failed++;

	timer_setup(&timer, tick, 0);
	mod_timer(&timer, jiffies + 1);
	pr_info("filter %u, adding %u keys to %s\n", bloom_filter_id(own), count,
		name ?: "it");
	return 0;
}

static void __exit bloom_user_exit(void)
{
	WRITE_ONCE(stopping, true);
	timer_delete_sync(&timer);	/* timer_shutdown_sync() is not in 6.1 */
	bloom_put(shared);
	bloom_put(own);
	pr_info("%u absent, %u present, %u failed\n", absent, present, failed);
}

module_init(bloom_user_init);
module_exit(bloom_user_exit);

MODULE_DESCRIPTION("Uses Bloom filters from another module");
MODULE_LICENSE("GPL");
