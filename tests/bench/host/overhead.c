// SPDX-License-Identifier: GPL-2.0
/*
 * overhead COUNT CAPACITY RATE: make so many filters and see what memory went:
 *
 *	overhead,<bytes a filter beside its bits>,<bytes of its bits>
 *
 * Counted is what the kernel counts: slabs, vmalloc, per-CPU memory, page tables.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "bloomdev.h"

static double kernel_bytes(void)
{
	static const char * const of[] = {
		"Slab: %lf", "VmallocUsed: %lf", "Percpu: %lf", "PageTables: %lf"
	};
	FILE *f = fopen("/proc/meminfo", "r");
	double kib, sum = 0;
	char line[128];
	size_t i;

	if (!f)
		err(1, "/proc/meminfo");
	while (fgets(line, sizeof(line), f)) {
		for (i = 0; i < sizeof(of) / sizeof(*of); i++) {
			if (sscanf(line, of[i], &kib) == 1)
				sum += kib * 1024;
		}
	}
	fclose(f);
	return sum;
}

int main(int argc, char **argv)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter = NULL;
	struct bloomdev_info *info;
	struct bloomdev_device *dev;
	struct rlimit files;
	double before, bits;
	int count, i;

	if (argc != 4)
		errx(2, "usage: overhead COUNT CAPACITY RATE");
	count = atoi(argv[1]);
	opts.capacity = strtoull(argv[2], NULL, 10);
	opts.fp_rate = atof(argv[3]);
	files.rlim_cur = count + 64;
	files.rlim_max = files.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "setrlimit");
	dev = bloomdev_device_open(NULL);
	/* The first fills slabs and page tables that later ones share. */
	for (i = 0; dev && i < 64; i++)
		filter = bloomdev_filter_create(dev, &opts);
	before = kernel_bytes();
	for (i = 64; dev && i < count; i++)
		filter = bloomdev_filter_create(dev, &opts);
	if (!filter)
		errx(1, "%s", bloomdev_message());
	info = bloomdev_filter_info(filter);
	if (!info)
		errx(1, "%s", bloomdev_message());
	bits = info->layers[0].slots / 8.0;
	printf("overhead,%.0f,%.0f\n",
	       (kernel_bytes() - before) / (count - 64) - bits, bits);
	return 0;
}
