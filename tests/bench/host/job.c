// SPDX-License-Identifier: GPL-2.0
/*
 * job CAPACITY RATE LENGTH FILE [ROUNDS]: add the lines of FILE, all of one
 * length, to a new filter of /dev/bloom, and ask for all of them; a line a round:
 *
 *	job,<ns a key added>,<ns a key asked>,<bytes of the filter>
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "bloomdev.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter;
	struct bloomdev_device *dev;
	struct bloomdev_result result;
	struct bloomdev_info *info;
	struct bloomdev_keys keys = {};
	size_t len, count, i;
	double start, added, asked;
	struct stat st;
	char *text, *data;
	int fd, rounds;

	if (argc < 5)
		errx(2, "usage: job CAPACITY RATE LENGTH FILE [ROUNDS]");
	opts.capacity = strtoull(argv[1], NULL, 10);
	opts.fp_rate = atof(argv[2]);
	len = strtoul(argv[3], NULL, 10);
	rounds = argc > 5 ? atoi(argv[5]) : 3;
	fd = open(argv[4], O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", argv[4]);
	count = st.st_size / (len + 1);
	text = mmap(NULL, count * len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED || data == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < count; i++)
		memcpy(text + i * len, data + i * (len + 1), len);
	munmap(data, st.st_size);
	keys.data = text;
	keys.bytes = count * len;
	keys.key_len = len;
	keys.count = count;

	dev = bloomdev_device_open(NULL);
	if (!dev)
		errx(1, "%s", bloomdev_message());
	while (rounds--) {
		filter = bloomdev_filter_create(dev, &opts);
		if (!filter)
			errx(1, "%s", bloomdev_message());
		start = now();
		if (bloomdev_filter_add(filter, &keys, NULL, &result))
			errx(1, "%s", bloomdev_message());
		added = now() - start;
		if (result.present > 2 * opts.fp_rate * count)
			printf("bench-wrong,job,0,%zu present of new keys\n",
			       (size_t)result.present);
		start = now();
		if (bloomdev_filter_query(filter, &keys, NULL, &result))
			errx(1, "%s", bloomdev_message());
		asked = now() - start;
		if (result.present != count)
			printf("bench-wrong,job,0,%zu of %zu present\n",
			       (size_t)result.present, count);
		info = bloomdev_filter_info(filter);
		printf("job,%.3f,%.3f,%llu\n", added / count, asked / count,
		       info ? (unsigned long long)info->bytes : 0);
		bloomdev_info_free(info);
		bloomdev_filter_close(filter);
	}
	return 0;
}
