// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays in contiguous memory. User Mode Linux has no huge vmalloc(), so a large
 * array of its bloom.ko lies in 4 KiB pages, which no other kernel does to it.
 * Its direct mapping, though, is one file of the host's: if that file has huge
 * pages, what is contiguous in it is reached through huge pages, as an array from
 * vmalloc_huge() would be.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sort.h>

#include "bench.h"
#include "contiguous.h"

#define CHUNK_ORDER	(MAX_ORDER - 1)
#define CHUNK_BYTES	(PAGE_SIZE << CHUNK_ORDER)
#define CHUNKS_MAX	4096U
#define ARRAYS_MAX	16U

static bool small_pages;
module_param(small_pages, bool, 0444);
MODULE_PARM_DESC(small_pages, "arrays from vmalloc(), in 4 KiB pages");

static struct {
	void *start;
	unsigned long bytes;
} arrays[ARRAYS_MAX];

static int by_address(const void *a, const void *b)
{
	void *x = *(void **)a, *y = *(void **)b;

	return x < y ? -1 : x > y;
}

/* Where in the sorted @chunks do @want of them follow each other? */
static int find_run(void **chunks, u32 count, u32 want)
{
	u32 i, run = 1;

	for (i = 0; i < count; i++, run++) {
		if (!i || chunks[i] != chunks[i - 1] + CHUNK_BYTES)
			run = 1;
		if (run == want)
			return i + 1 - want;
	}
	return -1;
}

static void *take_run(u32 want)
{
	void **chunks, *start = NULL;
	u32 i, count = 0;
	int first = -1;

	chunks = kvmalloc_array(CHUNKS_MAX, sizeof(*chunks), GFP_KERNEL);
	if (!chunks)
		return NULL;
	/* The allocator gives them nearly in order: look now and then. */
	while (first < 0 && count < CHUNKS_MAX) {
		void *chunk = (void *)__get_free_pages(GFP_KERNEL |
						       __GFP_NORETRY |
						       __GFP_NOWARN,
						       CHUNK_ORDER);

		if (chunk)
			chunks[count++] = chunk;
		if (chunk && count % want)
			continue;
		sort(chunks, count, sizeof(*chunks), by_address, NULL);
		first = find_run(chunks, count, want);
		if (!chunk)
			break;
	}
	if (first >= 0)
		start = chunks[first];
	for (i = 0; i < count; i++) {
		if (first < 0 || i < first || i >= first + want)
			free_pages((unsigned long)chunks[i], CHUNK_ORDER);
	}
	kvfree(chunks);
	return start;
}

void *bench_array_alloc(unsigned long bytes, gfp_t gfp)
{
	u32 want = DIV_ROUND_UP(bytes, CHUNK_BYTES), i;
	void *start;

	if (small_pages)
		return NULL;
	for (i = 0; i < ARRAYS_MAX && arrays[i].start; i++)
		;
	if (i == ARRAYS_MAX)
		return NULL;
	start = take_run(want);
	if (!start) {
		pr_warn("bench: no %lu bytes of contiguous memory\n", bytes);
		return NULL;
	}
	memset(start, 0, want * CHUNK_BYTES);
	arrays[i].start = start;
	arrays[i].bytes = want * CHUNK_BYTES;
	return start;
}

#undef vfree
void bench_array_free(const void *array)
{
	unsigned long at;
	u32 i;

	for (i = 0; i < ARRAYS_MAX; i++) {
		if (!array || arrays[i].start != array)
			continue;
		for (at = 0; at < arrays[i].bytes; at += CHUNK_BYTES)
			free_pages((unsigned long)array + at, CHUNK_ORDER);
		arrays[i].start = NULL;
		return;
	}
	vfree(array);
}
