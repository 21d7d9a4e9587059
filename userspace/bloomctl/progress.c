// SPDX-License-Identifier: GPL-2.0
/*
 * Progress of what takes long, where somebody is watching.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "bloomctl.h"

/* Silent for the first seconds, then twice a second. */
#define FIRST_S		2.0
#define EVERY_S		0.5

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int progress(void *what, uint64_t done, uint64_t total)
{
	static double start, last;
	double now;

	if (!isatty(STDERR_FILENO))
		return 0;
	now = seconds();
	if (start == 0.0) {
		start = now;
		last = now + FIRST_S - EVERY_S;
	}
	if (done == total) {
		if (last > start + FIRST_S)
			fputs("\r\033[K", stderr);
		start = 0.0;
	} else if (now - last >= EVERY_S) {
		last = now;
		fprintf(stderr, "\r%s: %s of %s, %.0f %%, %s left\033[K",
			(const char *)what, human_bytes(done),
			human_bytes(total), done * 100.0 / total,
			human_duration((now - start) / done * (total - done)));
	}
	return 0;
}
