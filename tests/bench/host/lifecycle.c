// SPDX-License-Identifier: GPL-2.0
/*
 * lifecycle ROUNDS MIB...: what making, emptying and dropping a filter costs:
 *
 *	lifecycle,<MiB>,<round>,<ms to create>,<ms to clear>,<ms to close>
 */
#include <err.h>
#include <fcntl.h>
#include <linux/bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static double ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct bloom_clear clear = { .size = sizeof(clear) };
	int dev = open("/dev/bloom", O_RDWR | O_CLOEXEC), fd, i, round;
	double start, created, cleared;

	if (dev < 0)
		err(1, "/dev/bloom");
	for (round = 0; argc > 1 && round < atoi(argv[1]); round++) {
		for (i = 2; i < argc; i++) {
			struct bloom_create create = {
				.size = sizeof(create), .probes = 7,
				.slots = strtoull(argv[i], NULL, 10) << 23,
			};

			start = ms();
			fd = ioctl(dev, BLOOM_IOC_CREATE, &create);
			if (fd < 0)
				err(1, "%s MiB", argv[i]);
			created = ms();
			if (ioctl(fd, BLOOM_IOC_CLEAR, &clear))
				err(1, "clear");
			cleared = ms();
			close(fd);
			printf("lifecycle,%s,%d,%.3f,%.3f,%.3f\n", argv[i], round,
			       created - start, cleared - created, ms() - cleared);
			/* The memory comes back behind the scenes. */
			sleep(1);
		}
	}
	return 0;
}
