// SPDX-License-Identifier: GPL-2.0
/*
 * What takes names and does one thing to each: clear and rm.
 */
#include <stddef.h>
#include "verbs.h"

static int clear(const char *name)
{
	struct bloomdev_filter *filter;
	int ret;

	filter = bloomdev_filter_open(NULL, name, BLOOMDEV_WRITE);
	if (!filter)
		return -1;
	ret = bloomdev_filter_clear(filter);
	bloomdev_filter_close(filter);
	return ret;
}

static int rm(const char *name)
{
	return bloomdev_device_unlink(NULL, name);
}

/* As rm(1): what fails is told, and the others are done. */
static int each(int argc, char **argv, int (*what)(const char *name))
{
	int i, count, status = 0;
	char **names;

	/* There are no options but --help. */
	args_next(argc, argv);
	names = args_operands(argc, argv, 1, -1, &count);
	for (i = 0; i < count; i++) {
		if (what(names[i])) {
			complain("%s: %s", names[i], bloomdev_message());
			status = STATUS_ERROR;
		}
	}
	return status;
}

static int run_clear(int argc, char **argv)
{
	return each(argc, argv, clear);
}

static int run_rm(int argc, char **argv)
{
	return each(argc, argv, rm);
}

const struct verb verb_clear = {
	.name = "clear",
	.args = "NAME...",
	.summary = "forget all keys of filters",
	.run = run_clear,
};

const struct verb verb_rm = {
	.name = "rm",
	.args = "NAME...",
	.summary = "remove filters (who has one open keeps it)",
	.run = run_rm,
};
