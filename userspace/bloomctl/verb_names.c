// SPDX-License-Identifier: GPL-2.0
/*
 * swap and rename: what names lead to.
 */
#include <getopt.h>
#include "verbs.h"

static int run_swap(int argc, char **argv)
{
	struct bloomdev_filter *filter;
	char **names;

	args_next(argc, argv);
	names = args_operands(argc, argv, 2, 2, NULL);
	filter = open_filter(names[0], BLOOMDEV_WRITE);
	if (bloomdev_filter_link(filter, names[1], BLOOMDEV_EXCHANGE, 0,
				 BLOOMDEV_GROUP_OWN))
		die_library();
	bloomdev_filter_close(filter);
	return 0;
}

static const struct opt rename_opts[] = {
	{ OPT_REPLACE, "replace", NULL, "take the name over from the filter that has it" },
	{}
};

static int run_rename(int argc, char **argv)
{
	struct bloomdev_filter *filter;
	struct bloomdev_info *info;
	unsigned int flags = 0;
	char **names;

	while (args_next(argc, argv) != -1)
		flags = BLOOMDEV_REPLACE;
	names = args_operands(argc, argv, 2, 2, NULL);
	filter = open_filter(names[0], BLOOMDEV_READ | BLOOMDEV_WRITE);
	info = bloomdev_filter_info(filter);
	if (!info || bloomdev_filter_link(filter, names[1], flags, info->mode,
					  info->gid))
		die_library();
	bloomdev_info_free(info);
	bloomdev_filter_close(filter);
	return 0;
}

const struct verb verb_swap = {
	.name = "swap",
	.args = "NAME NAME",
	.summary = "exchange the names of two filters, at once",
	.run = run_swap,
};

const struct verb verb_rename = {
	.name = "rename",
	.args = "NAME NEW",
	.summary = "give a filter another name",
	.opts = rename_opts,
	.run = run_rename,
};
