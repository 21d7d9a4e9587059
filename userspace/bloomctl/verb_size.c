// SPDX-License-Identifier: GPL-2.0
/*
 * size: what a filter would cost.
 */
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include "json.h"
#include "verbs.h"

#define DEFAULT_RATE	0.001

static const struct opt opts[] = {
	SHAPE_OPTIONS,
	{ OPT_KEYS, "keys", "N", "with --scaling: after it has grown to N keys" },
	{ 'j', "json", NULL, "print JSON" },
	{}
};

static void as_json(const struct bloomdev_options *shape,
		    const struct bloomdev_size *size)
{
	struct json_object *o = json_object_new_object();

	json_text(o, "kind", bloomdev_kind_name(shape->kind));
	json_text(o, "growth", bloomdev_growth_name(shape->growth));
	json_count(o, "capacity", shape->capacity);
	json_real(o, "fp_rate", shape->fp_rate);
	json_count(o, "bytes", size->bytes);
	json_count(o, "layers", size->layers);
	json_count(o, "slots", size->slots);
	json_count(o, "probes", size->probes);
	json_real(o, "bits_per_key", size->bits_per_key);
	json_print(o);
}

static void as_text(const struct bloomdev_options *shape,
		    const struct bloomdev_size *size)
{
	bool counting = shape->kind == BLOOMDEV_KIND_COUNTING;

	out_text("memory          %s (%" PRIu64 " bytes)\n",
		 human_bytes(size->bytes), size->bytes);
	if (size->layers > 1)
		out_text("layers          %u%s\n", size->layers,
			 shape->growth == BLOOMDEV_GROWTH_WINDOW ?
			 " (a spare included)" : "");
	out_text("%-16s%" PRIu64 "%s\n", counting ? "counters" : "bits",
		 size->slots, size->layers < 2 ? "" :
		 shape->growth == BLOOMDEV_GROWTH_WINDOW ? " in each" :
							   " in the last");
	out_text("probes          %u\n", size->probes);
	if (size->bits_per_key > 0.0)
		out_text("bits a key      %.2f\n", size->bits_per_key);
}

static int run(int argc, char **argv)
{
	struct bloomdev_options shape = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_size size;
	uint64_t keys = 0;
	bool json = false;
	int key, ret;

	while ((key = args_next(argc, argv)) != -1) {
		if (shape_option(&shape, key))
			continue;
		if (key == OPT_KEYS)
			keys = parse_count("number of keys", optarg);
		else
			json = true;
	}
	args_operands(argc, argv, 0, 0, NULL);
	if (!shape.capacity && !shape.slots)
		die("how many keys is it to hold? (--capacity 1M)");
	if (shape.fp_rate == 0.0 && shape.capacity && !shape.slots)
		shape.fp_rate = DEFAULT_RATE;

	ret = keys ? bloomdev_size_grown(&shape, keys, &size) :
		     bloomdev_size_compute(&shape, &size);
	if (ret)
		die_library();
	if (json)
		as_json(&shape, &size);
	else
		as_text(&shape, &size);
	return 0;
}

const struct verb verb_size = {
	.name = "size",
	.args = "",
	.summary = "tell what a filter would cost, without making it",
	.about =
		"Needs no device. The false-positive rate is 0.1% unless --fp-rate says otherwise.",
	.opts = opts,
	.run = run,
};
