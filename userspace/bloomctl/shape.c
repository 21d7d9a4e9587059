// SPDX-License-Identifier: GPL-2.0
/*
 * The options that say what filter to make, and under what name.
 */
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include "bloomctl.h"

static uint32_t word(const char *what, const char *(*name)(unsigned int),
		     uint32_t count, const char *text)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!strcmp(name(i), text))
			return i;
	}
	die("there is no %s '%s'", what, text);
}

static void set_range(struct bloomdev_options *opts)
{
	uint64_t last;

	parse_range(optarg, &opts->base, &last);
	opts->slots = last - opts->base + 1;
	if (!opts->slots)
		die("range %s: a bitmap of all 64-bit integers does not fit anywhere",
		    optarg);
}

static uint32_t small(const char *what)
{
	uint64_t value = parse_count(what, optarg);

	return value < UINT32_MAX ? value : UINT32_MAX;
}

bool shape_option(struct bloomdev_options *opts, int key)
{
	switch (key) {
	case 'n':
		opts->capacity = parse_count("capacity", optarg);
		if (!opts->capacity)
			die("capacity 0: a filter holds at least one key");
		break;
	case 'p':
		opts->fp_rate = parse_rate(optarg);
		break;
	case 'k':
		opts->kind = word("kind", bloomdev_kind_name, 4, optarg);
		break;
	case OPT_SCALING:
		opts->growth = BLOOMDEV_GROWTH_SCALING;
		break;
	case OPT_WINDOW:
		opts->growth = BLOOMDEV_GROWTH_WINDOW;
		opts->generations = small("number of generations");
		break;
	case OPT_PERIOD:
		opts->period_ns = parse_duration("period", optarg);
		break;
	case OPT_ONCE:
		opts->flags |= BLOOMDEV_ONCE;
		break;
	case OPT_BITS:
		opts->slots = parse_count("number of bits", optarg);
		if (!opts->slots)
			die("0 bits hold nothing");
		break;
	case OPT_PROBES:
		opts->probes = small("number of probes");
		break;
	case OPT_RANGE:
		set_range(opts);
		opts->kind = BLOOMDEV_KIND_BITMAP;
		break;
	case OPT_HASH:
		opts->hash = word("hash", bloomdev_hash_name, 2, optarg);
		break;
	case OPT_SEED:
		parse_seed(optarg, opts->seed);
		opts->flags |= BLOOMDEV_SEED;
		break;
	case OPT_BPF:
		opts->flags |= BLOOMDEV_BPF;
		break;
	default:
		return false;
	}
	return true;
}

void naming_init(struct naming *naming)
{
	mode_t mask = umask(0);

	umask(mask);
	naming->mode = 0660 & ~mask;
	naming->group = BLOOMDEV_GROUP_OWN;
	naming->flags = 0;
}

bool naming_option(struct naming *naming, int key)
{
	switch (key) {
	case OPT_MODE:
		naming->mode = parse_mode(optarg);
		break;
	case OPT_GROUP:
		naming->group = parse_group(optarg);
		break;
	case OPT_REPLACE:
		naming->flags |= BLOOMDEV_REPLACE;
		break;
	default:
		return false;
	}
	return true;
}
