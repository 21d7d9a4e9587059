/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The read-only mapping of a filter: a head page and its layers.
 */
#ifndef BLOOM_MAP_H
#define BLOOM_MAP_H

struct bloom_filter;
struct vm_area_struct;

/* See struct bloom_head in <linux/bloom.h>. Errors: -EACCES, -EINVAL, -ENOMEM. */
int bloom_filter_mmap(struct bloom_filter *filter, struct vm_area_struct *vma);

#endif /* BLOOM_MAP_H */
