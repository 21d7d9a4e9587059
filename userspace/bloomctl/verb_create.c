// SPDX-License-Identifier: GPL-2.0
/*
 * create: a filter with a name.
 */
#include <errno.h>
#include "verbs.h"

/* What a filter errs by if nobody says: a key in a thousand. */
#define DEFAULT_RATE	0.001

static const struct opt opts[] = {
	SHAPE_OPTIONS,
	{ OPT_BPF, "bpf", NULL, "BPF programs may use it" },
	NAMING_OPTIONS,
	{ OPT_EXIST_OK, "exist-ok", NULL, "a filter of that name is left as it is" },
	{}
};

static int run(int argc, char **argv)
{
	struct bloomdev_options shape = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter;
	struct naming naming;
	bool exist_ok = false;
	const char *name;
	int key, ret;

	naming_init(&naming);
	while ((key = args_next(argc, argv)) != -1) {
		if (shape_option(&shape, key) || naming_option(&naming, key))
			continue;
		exist_ok = true;
	}
	name = *args_operands(argc, argv, 1, 1, NULL);
	if (!shape.capacity && !shape.slots)
		die("how many keys is it to hold? (--capacity 1M)");
	if (shape.fp_rate == 0.0 && shape.capacity && !shape.slots)
		shape.fp_rate = DEFAULT_RATE;

	filter = bloomdev_filter_create(NULL, &shape);
	if (!filter)
		die_library();
	ret = bloomdev_filter_link(filter, name, naming.flags, naming.mode,
				   naming.group);
	if (ret == -EEXIST && exist_ok)
		ret = 0;
	if (ret)
		die_library();
	bloomdev_filter_close(filter);
	return 0;
}

const struct verb verb_create = {
	.name = "create",
	.args = "NAME",
	.summary = "make a filter",
	.about = "Its false-positive rate is 0.1% unless --fp-rate says otherwise.",
	.opts = opts,
	.run = run,
};
