// SPDX-License-Identifier: GPL-2.0
/*
 * scan: the integers of a bitmap, in order.
 */
#include <inttypes.h>
#include "verbs.h"

#define VALUES	4096

static const struct opt opts[] = {
	{ OPT_RANGES, "ranges", NULL, "print runs as FIRST-LAST" },
	{}
};

static int ranges(struct bloomdev_map *map)
{
	uint64_t first, last, from = 0;
	int ret;

	while ((ret = bloomdev_map_range(map, from, &first, &last)) > 0) {
		if (first == last)
			out_text("%" PRIu64 "\n", first);
		else
			out_text("%" PRIu64 "-%" PRIu64 "\n", first, last);
		if (last == UINT64_MAX)
			return 0;
		from = last + 1;
	}
	return ret;
}

/* A number and a newline, without the price of printf. */
static void out_integer(uint64_t value)
{
	char text[24], *p = text + sizeof(text);

	*--p = '\n';
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value);
	out_bytes(p, text + sizeof(text) - p);
}

static int values(struct bloomdev_map *map)
{
	static uint64_t found[VALUES];
	uint64_t from = 0;
	size_t i, count;
	int ret;

	do {
		ret = bloomdev_map_values(map, from, found, VALUES, &count);
		if (ret)
			return ret;
		for (i = 0; i < count; i++)
			out_integer(found[i]);
		if (!count || found[count - 1] == UINT64_MAX)
			break;
		from = found[count - 1] + 1;
	} while (count == VALUES);
	return 0;
}

static int run(int argc, char **argv)
{
	struct bloomdev_filter *filter;
	struct bloomdev_map *map;
	bool as_ranges = false;

	while (args_next(argc, argv) != -1)
		as_ranges = true;
	filter = open_filter(*args_operands(argc, argv, 1, 1, NULL),
			     BLOOMDEV_READ);
	map = bloomdev_map_open(filter);
	if (!map || (as_ranges ? ranges(map) : values(map)))
		die_library();
	bloomdev_map_close(map);
	bloomdev_filter_close(filter);
	return 0;
}

const struct verb verb_scan = {
	.name = "scan",
	.args = "NAME",
	.summary = "print the integers of a bitmap in ascending order",
	.opts = opts,
	.run = run,
};
