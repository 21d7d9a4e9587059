/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names and ids: how a filter is found.
 *
 * A name holds a reference to its filter and to the module. A filter has at most
 * one name. Owner (the filter's), group and mode decide as for a file in a
 * sticky directory; capabilities count in the initial user namespace only. All
 * process context.
 */
#ifndef BLOOM_REGISTRY_H
#define BLOOM_REGISTRY_H

#include <linux/types.h>

#include "bloom.h"

/* Give the filter its id. */
int bloom_registry_number(struct bloom_filter *filter);
/* Take the id away; the filter has no reference left. */
void bloom_registry_forget(struct bloom_filter *filter);
/* The filter of an id that BPF may use, under rcu_read_lock; or NULL. */
struct bloom_filter *bloom_registry_by_id(u32 id);

/* See struct bloom_link, _open, _unlink, _list in <linux/bloom.h>. */
int bloom_registry_link(struct bloom_filter *filter,
			const struct bloom_link *link);
struct bloom_filter *bloom_registry_open(const char *name, u32 access);
int bloom_registry_unlink(const char *name);
int bloom_registry_list(const char *after, struct bloom_list_entry *entries,
			u32 room);
/* Name, group and mode of @filter. */
void bloom_registry_describe(struct bloom_filter *filter,
			     struct bloom_info *info);
/* By name, no permission asked: for modules. */
struct bloom_filter *bloom_registry_get(const char *name);

/* 0, -EINVAL or -ENAMETOOLONG. */
int bloom_name_check(const char name[BLOOM_NAME_MAX + 1]);

void bloom_registry_exit(void);

#endif /* BLOOM_REGISTRY_H */
