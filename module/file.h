/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A filter's descriptor.
 */
#ifndef BLOOM_FILE_H
#define BLOOM_FILE_H

#include <linux/types.h>

struct bloom_filter;

/*
 * A descriptor for @filter, whose reference it takes over, on failure too.
 * @access: BLOOM_ACCESS_*
 */
int bloom_file_create(struct bloom_filter *filter, u32 access);

#endif /* BLOOM_FILE_H */
