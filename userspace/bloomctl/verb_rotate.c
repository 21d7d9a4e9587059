// SPDX-License-Identifier: GPL-2.0
/*
 * rotate: a window's next generation, or its clock.
 */
#include <getopt.h>
#include "verbs.h"

static const struct opt opts[] = {
	{ OPT_PERIOD,
		"period",
		"TIME", "do not rotate, but do so every TIME from now on; 0: by hand" },
	{ OPT_NEXT, "next", "TIME", "with --period: the first time after TIME" },
	{}
};

static int run(int argc, char **argv)
{
	struct bloomdev_filter *filter;
	uint64_t period = 0, next = 0;
	bool set = false;
	int key, ret;

	while ((key = args_next(argc, argv)) != -1) {
		if (key == OPT_PERIOD) {
			period = parse_duration("period", optarg);
			set = true;
		} else {
			next = parse_duration("time", optarg);
		}
	}
	if (next && !set)
		die("--next goes with --period");
	if (next > period)
		die("the next rotation is at most a period away");

	filter = open_filter(*args_operands(argc, argv, 1, 1, NULL),
			     BLOOMDEV_WRITE);
	ret = set ? bloomdev_filter_set_period(filter, period, next) :
		    bloomdev_filter_rotate(filter);
	if (ret)
		die_library();
	bloomdev_filter_close(filter);
	return 0;
}

const struct verb verb_rotate = {
	.name = "rotate",
	.args = "NAME",
	.summary = "begin a window's next generation, or set its clock",
	.opts = opts,
	.run = run,
};
