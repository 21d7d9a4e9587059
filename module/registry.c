// SPDX-License-Identifier: GPL-2.0
/*
 * The names, in a tree in the order of their bytes, and the ids.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "account.h"
#include "filter.h"
#include "registry.h"

/**
 * struct bloom_name - a name and who may use it
 * @node: in names
 * @filter: whose name it is; a reference is held
 * @gid: group
 * @mode: permission bits
 * @text: the name
 *
 * All guarded by registry_lock.
 */
struct bloom_name {
	struct rb_node node;
	struct bloom_filter *filter;
	kgid_t gid;
	umode_t mode;
	char text[];
};

static DEFINE_MUTEX(registry_lock);
static struct rb_root names = RB_ROOT;	/* __guarded_by(registry_lock) */
static DEFINE_XARRAY_ALLOC1(ids);
static u32 next_id;			/* __guarded_by(ids.xa_lock) */

int bloom_registry_number(struct bloom_filter *filter)
{
	int err = xa_alloc_cyclic(&ids, &filter->id, filter, xa_limit_31b,
				  &next_id, BLOOM_GFP);

	return min(err, 0);	/* 1: the numbers began again */
}

void bloom_registry_forget(struct bloom_filter *filter)
{
	xa_erase(&ids, filter->id);
}

struct bloom_filter *bloom_registry_by_id(u32 id)
{
	struct bloom_filter *filter;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "bloom id without RCU");
	filter = xa_load(&ids, id);
	if (!filter || !(filter->params.flags & BLOOM_CREATE_BPF))
		return NULL;
	return filter;
}

int bloom_name_check(const char name[BLOOM_NAME_MAX + 1])
{
	size_t i, len = strnlen(name, BLOOM_NAME_MAX + 1);

	if (len > BLOOM_NAME_MAX)
		return -ENAMETOOLONG;
	if (!len || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	for (i = 0; i < len; i++) {
		unsigned char c = name[i];

		if (c < ' ' || c == '/' || c == 0x7f)
			return -EINVAL;
	}
	return 0;
}

static struct bloom_name *find(const char *text)
{
	struct rb_node *node = names.rb_node;

	lockdep_assert_held(&registry_lock);
	while (node) {
		struct bloom_name *name = rb_entry(node, struct bloom_name,
						   node);
		int order = strcmp(text, name->text);

		if (!order)
			return name;
		node = order < 0 ? node->rb_left : node->rb_right;
	}
	return NULL;
}

/* The first name that sorts after @text. */
static struct rb_node *first_after(const char *text)
{
	struct rb_node *node = names.rb_node, *after = NULL;

	lockdep_assert_held(&registry_lock);
	while (node) {
		if (strcmp(rb_entry(node, struct bloom_name, node)->text,
			   text) > 0) {
			after = node;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return after;
}

static void insert(struct bloom_name *name)
{
	struct rb_node **link = &names.rb_node, *parent = NULL;

	lockdep_assert_held(&registry_lock);
	while (*link) {
		parent = *link;
		if (strcmp(name->text,
			   rb_entry(parent, struct bloom_name, node)->text) < 0)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&name->node, parent, link);
	rb_insert_color(&name->node, &names);
}

static bool may_own(const struct bloom_filter *filter)
{
	return uid_eq(current_fsuid(), filter->uid) || capable(CAP_FOWNER);
}

/* @audit: a refusal is worth a note; not where one only looks around. */
static bool has_cap(int cap, bool audit)
{
	return audit ? capable(cap) : ns_capable_noaudit(&init_user_ns, cap);
}

static bool may_access(const struct bloom_name *name, u32 access, bool audit)
{
	umode_t mode = name->mode;
	u32 granted = 0;

	if (uid_eq(current_fsuid(), name->filter->uid))
		mode >>= 6;
	else if (in_group_p(name->gid))
		mode >>= 3;
	if (mode & 4)
		granted |= BLOOM_ACCESS_READ;
	if (mode & 2)
		granted |= BLOOM_ACCESS_WRITE;
	if (!(access & ~granted))
		return true;
	if (!(access & ~granted & BLOOM_ACCESS_WRITE) &&
	    has_cap(CAP_DAC_READ_SEARCH, audit))
		return true;
	return has_cap(CAP_DAC_OVERRIDE, audit);
}

/* The filter has another name now, or none; it may lose its last reference. */
static void lose_name(struct bloom_filter *filter)
{
	lockdep_assert_held(&registry_lock);
	WRITE_ONCE(filter->names_lost, filter->names_lost + 1);
	wake_up_interruptible_poll(&filter->poll, EPOLLHUP);
}

/* Take a name away for good. */
static void drop_name(struct bloom_name *name)
{
	struct bloom_filter *filter = name->filter;

	lockdep_assert_held(&registry_lock);
	rb_erase(&name->node, &names);
	kfree(name);
	filter->name = NULL;
	lose_name(filter);
	bloom_filter_put(filter);
	module_put(THIS_MODULE);
}

static int exchange(struct bloom_filter *filter, struct bloom_name *theirs)
{
	struct bloom_name *ours = filter->name;
	struct bloom_filter *other;

	if (!theirs || !ours)
		return -ENOENT;
	other = theirs->filter;
	if (!may_own(other))
		return -EPERM;
	if (other == filter)
		return 0;
	swap(ours->filter, theirs->filter);
	swap(filter->name, other->name);
	lose_name(filter);
	lose_name(other);
	return 0;
}

/* Put @fresh, a name for @filter, in the tree; NULL it when it is used. */
static int give_name(struct bloom_filter *filter, struct bloom_name **fresh,
		     bool replace)
{
	struct bloom_name *taken = find((*fresh)->text);

	if (taken && taken->filter != filter && !replace)
		return -EEXIST;
	if (taken && !may_own(taken->filter))
		return -EPERM;

	__module_get(THIS_MODULE);
	bloom_filter_get(filter);
	if (taken && taken->filter == filter) {
		/* The same name again: a new group and mode. */
		taken->gid = (*fresh)->gid;
		taken->mode = (*fresh)->mode;
		bloom_filter_put(filter);
		module_put(THIS_MODULE);
		return 0;
	}
	if (taken)
		drop_name(taken);
	if (filter->name)
		drop_name(filter->name);
	(*fresh)->filter = filter;
	insert(*fresh);
	filter->name = *fresh;
	*fresh = NULL;
	return 0;
}

int bloom_registry_link(struct bloom_filter *filter,
			const struct bloom_link *link)
{
	kgid_t gid = current_fsgid();
	struct bloom_name *fresh;
	int err;

	if (!may_own(filter))
		return -EPERM;
	if (link->flags & BLOOM_LINK_EXCHANGE) {
		if (link->mode || link->gid != (u32)-1)
			return -EINVAL;
		mutex_lock(&registry_lock);
		err = exchange(filter, find(link->name));
		mutex_unlock(&registry_lock);
		return err;
	}

	if (link->mode & ~0666)
		return -EINVAL;
	if (link->gid != (u32)-1) {
		gid = make_kgid(current_user_ns(), link->gid);
		if (!gid_valid(gid))
			return -EINVAL;
		if (!in_group_p(gid) && !capable(CAP_CHOWN))
			return -EPERM;
	}
	fresh = kzalloc(struct_size(fresh, text, strlen(link->name) + 1),
			BLOOM_GFP);
	if (!fresh)
		return -ENOMEM;
	strcpy(fresh->text, link->name);
	fresh->gid = gid;
	fresh->mode = link->mode;

	mutex_lock(&registry_lock);
	err = give_name(filter, &fresh, link->flags & BLOOM_LINK_REPLACE);
	mutex_unlock(&registry_lock);
	kfree(fresh);
	return err;
}

struct bloom_filter *bloom_registry_open(const char *name, u32 access)
{
	struct bloom_filter *filter;
	struct bloom_name *found;

	mutex_lock(&registry_lock);
	found = find(name);
	if (!found) {
		filter = ERR_PTR(-ENOENT);
	} else if (!may_access(found, access, true)) {
		filter = ERR_PTR(-EACCES);
	} else {
		filter = found->filter;
		bloom_filter_get(filter);
	}
	mutex_unlock(&registry_lock);
	return filter;
}

struct bloom_filter *bloom_registry_get(const char *name)
{
	struct bloom_filter *filter = ERR_PTR(-ENOENT);
	struct bloom_name *found;

	mutex_lock(&registry_lock);
	found = find(name);
	if (found) {
		filter = found->filter;
		bloom_filter_get(filter);
	}
	mutex_unlock(&registry_lock);
	return filter;
}

int bloom_registry_unlink(const char *name)
{
	struct bloom_name *found;
	int err = 0;

	mutex_lock(&registry_lock);
	found = find(name);
	if (!found)
		err = -ENOENT;
	else if (!may_own(found->filter))
		err = -EPERM;
	else
		drop_name(found);
	mutex_unlock(&registry_lock);
	return err;
}

static void list_entry_fill(struct bloom_list_entry *entry,
			    const struct bloom_name *name)
{
	struct bloom_filter *filter = name->filter;

	strcpy(entry->name, name->text);
	entry->id = filter->id;
	entry->uid = from_kuid_munged(current_user_ns(), filter->uid);
	entry->gid = from_kgid_munged(current_user_ns(), name->gid);
	entry->mode = name->mode;
	entry->kind = filter->params.kind;
	entry->growth = filter->params.growth;
	entry->state = READ_ONCE(filter->state);
	entry->capacity = filter->params.capacity;
	entry->keys = bloom_filter_keys(filter);
	entry->bytes = bloom_filter_bytes(filter);
}

/* Return: how many of @entries, which are zeroed, were filled. */
int bloom_registry_list(const char *after, struct bloom_list_entry *entries,
			u32 room)
{
	struct bloom_name *name;
	struct rb_node *node;
	u32 count = 0;

	mutex_lock(&registry_lock);
	for (node = first_after(after); node && count < room;
	     node = rb_next(node)) {
		name = rb_entry(node, struct bloom_name, node);
		if (may_access(name, BLOOM_ACCESS_READ, false))
			list_entry_fill(&entries[count++], name);
	}
	mutex_unlock(&registry_lock);
	return count;
}

void bloom_registry_describe(struct bloom_filter *filter,
			     struct bloom_info *info)
{
	mutex_lock(&registry_lock);
	if (filter->name) {
		strcpy(info->name, filter->name->text);
		info->gid = from_kgid_munged(current_user_ns(),
					     filter->name->gid);
		info->mode = filter->name->mode;
	}
	mutex_unlock(&registry_lock);
}

/* No name is left, for a name holds the module. */
void bloom_registry_exit(void)
{
	WARN_ON_ONCE(!RB_EMPTY_ROOT(&names));
	WARN_ON_ONCE(!xa_empty(&ids));
	xa_destroy(&ids);
}
