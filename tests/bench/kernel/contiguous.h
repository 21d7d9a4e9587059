/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layer.c is compiled with this before it: its arrays come from pages.c.
 */
#ifndef BENCH_CONTIGUOUS_H
#define BENCH_CONTIGUOUS_H

#include <linux/vmalloc.h>

void *bench_array_alloc(unsigned long bytes, gfp_t gfp);
void bench_array_free(const void *array);

#define vmalloc_huge	bench_array_alloc
#define vfree		bench_array_free

#endif /* BENCH_CONTIGUOUS_H */
