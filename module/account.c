// SPDX-License-Identifier: GPL-2.0
/*
 * Caps on memory: a filter, a user, all together.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "account.h"

static unsigned long max_filter_bytes;
module_param(max_filter_bytes, ulong, 0644);
MODULE_PARM_DESC(max_filter_bytes,
		 "most memory of one filter, in bytes (0: 1/8 of RAM)");

static unsigned long max_user_bytes;
module_param(max_user_bytes, ulong, 0644);
MODULE_PARM_DESC(max_user_bytes,
		 "most memory of one user's filters, in bytes (0: 1/8 of RAM)");

static unsigned long max_total_bytes;
module_param(max_total_bytes, ulong, 0644);
MODULE_PARM_DESC(max_total_bytes,
		 "most memory of all filters, in bytes (0: 1/4 of RAM)");

/**
 * struct bloom_user - what one user has
 * @node: in users
 * @uid: the user
 * @payers: payers of this user; with the last one this goes
 * @bytes: memory charged
 *
 * All guarded by account_lock.
 */
struct bloom_user {
	struct hlist_node node;
	kuid_t uid;
	u32 payers;
	u64 bytes;
};

/**
 * struct bloom_payer - what one filter has
 * @refs: the filter, and each of its layers that still has memory
 * @user: whose filter it is
 * @bytes: memory charged; guarded by account_lock
 * @memcg: the creator's memory cgroup; a reference is held
 */
struct bloom_payer {
	refcount_t refs;
	struct bloom_user *user;
	u64 bytes;
	struct mem_cgroup *memcg;
};

static DEFINE_SPINLOCK(account_lock);
static DEFINE_HASHTABLE(users, 6);	/* __guarded_by(account_lock) */
static u64 total_bytes;			/* __guarded_by(account_lock) */

static u64 cap(unsigned long param, unsigned int divisor)
{
	return param ?: ((u64)totalram_pages() << PAGE_SHIFT) / divisor;
}

static struct bloom_user *user_of(kuid_t uid)
{
	struct bloom_user *user;

	lockdep_assert_held(&account_lock);
	hash_for_each_possible(users, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

struct bloom_payer *bloom_payer_create(void)
{
	struct bloom_user *user, *fresh;
	struct bloom_payer *payer;
	kuid_t uid = current_fsuid();

	payer = kzalloc(sizeof(*payer), BLOOM_GFP);
	fresh = kzalloc(sizeof(*fresh), BLOOM_GFP);
	if (!payer || !fresh) {
		kfree(payer);
		kfree(fresh);
		return ERR_PTR(-ENOMEM);
	}

	spin_lock(&account_lock);
	user = user_of(uid);
	if (!user) {
		user = fresh;
		fresh = NULL;
		user->uid = uid;
		hash_add(users, &user->node, __kuid_val(uid));
	}
	user->payers++;
	spin_unlock(&account_lock);
	kfree(fresh);

	refcount_set(&payer->refs, 1);
	payer->user = user;
	payer->memcg = get_mem_cgroup_from_mm(current->mm);
	return payer;
}

struct bloom_payer *bloom_payer_get(struct bloom_payer *payer)
{
	refcount_inc(&payer->refs);
	return payer;
}

void bloom_payer_put(struct bloom_payer *payer)
{
	struct bloom_user *user = payer->user;
	bool last;

	if (!refcount_dec_and_test(&payer->refs))
		return;

	WARN_ON_ONCE(payer->bytes);
	spin_lock(&account_lock);
	last = !--user->payers;
	if (last)
		hash_del(&user->node);
	spin_unlock(&account_lock);
	if (last)
		kfree(user);
	mem_cgroup_put(payer->memcg);
	kfree(payer);
}

static bool over(u64 bytes, u64 more, u64 limit)
{
	return more > limit || bytes > limit - more;
}

int bloom_charge(struct bloom_payer *payer, u64 bytes)
{
	struct bloom_user *user = payer->user;
	int err = 0;

	spin_lock(&account_lock);
	if (over(payer->bytes, bytes, cap(READ_ONCE(max_filter_bytes), 8)) ||
	    over(user->bytes, bytes, cap(READ_ONCE(max_user_bytes), 8)) ||
	    over(total_bytes, bytes, cap(READ_ONCE(max_total_bytes), 4))) {
		err = -ENOSPC;
	} else {
		payer->bytes += bytes;
		user->bytes += bytes;
		total_bytes += bytes;
	}
	spin_unlock(&account_lock);
	return err;
}

void bloom_uncharge(struct bloom_payer *payer, u64 bytes)
{
	spin_lock(&account_lock);
	payer->bytes -= bytes;
	payer->user->bytes -= bytes;
	total_bytes -= bytes;
	spin_unlock(&account_lock);
}

struct mem_cgroup *bloom_charge_begin(struct bloom_payer *payer)
{
	return set_active_memcg(payer->memcg);
}

void bloom_charge_end(struct mem_cgroup *old)
{
	set_active_memcg(old);
}
