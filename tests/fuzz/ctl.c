// SPDX-License-Identifier: GPL-2.0
/*
 * In place of bloomctl's main.c and, compiled with names of their own, of exit(),
 * realloc() and free() for its other files.
 */
#include <stdarg.h>
#include <stdlib.h>
#include "ctl.h"

#define BLOCKS_MAX	32

jmp_buf ctl_end;
char ctl_said[4096];
const struct verb *verb;

static void *blocks[BLOCKS_MAX];

void ctl_exit(int status)
{
	REQUIRE(status >= 0 && status <= STATUS_ERROR);
	longjmp(ctl_end, 1);
}

void *ctl_realloc(void *old, size_t bytes)
{
	int i = 0;

	while (blocks[i] != old)
		REQUIRE(++i < BLOCKS_MAX);
	blocks[i] = realloc(old, bytes);
	return blocks[i];
}

void ctl_free(void *block)
{
	int i = 0;

	while (blocks[i] != block)
		REQUIRE(++i < BLOCKS_MAX);
	blocks[i] = NULL;
	free(block);
}

void ctl_free_all(void)
{
	int i;

	for (i = 0; i < BLOCKS_MAX; i++)
		ctl_free(blocks[i]);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(ctl_said, sizeof(ctl_said), fmt, args);
	va_end(args);
	REQUIRE(ctl_said[0]);
	longjmp(ctl_end, 1);
}

void die_library(void)
{
	REQUIRE(*bloomdev_message());
	die("%s", bloomdev_message());
}
