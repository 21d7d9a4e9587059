// SPDX-License-Identifier: GPL-2.0
/*
 * info: a filter, or a saved image, at this moment.
 */
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include "json.h"
#include "verbs.h"

static const struct opt opts[] = {
	{ 'j', "json", NULL, "print JSON" },
	{ OPT_IMAGE, "image", "FILE", "of a saved image, in place of a filter" },
	{ OPT_VERIFY, "verify", NULL, "with --image: read and check all of it" },
	{ OPT_SHOW_SEED,
		"show-seed",
		NULL, "print the seed as well (who knows it can choose colliding keys)" },
	{}
};

static const char *state_of(const struct bloomdev_info *i)
{
	if (i->refused)
		return "saturated: no memory to grow";
	return i->saturated ? "saturated: over its capacity" : "ok";
}

static void row(const char *name, const char *value)
{
	out_text("%-16s%s\n", name, value);
}

static void row_count(const char *name, uint64_t value)
{
	out_text("%-16s%" PRIu64 "\n", name, value);
}

static void text_calls(const struct bloomdev_info *i)
{
	out_text("%-16s%" PRIu64 " (%" PRIu64 " present)\n", "added", i->adds,
		 i->adds_present);
	out_text("%-16s%" PRIu64 " (%" PRIu64 " present)\n", "queried",
		 i->queries, i->queries_present);
	if (i->removes)
		row_count("removed", i->removes);
	row("age", human_duration(i->age_ns / 1e9));
}

static void text_window(const struct bloomdev_info *i)
{
	if (i->growth != BLOOMDEV_GROWTH_WINDOW)
		return;
	out_text("%-16s%u%s\n", "generations", i->generations,
		 i->flags & BLOOMDEV_ONCE ? ", once" : "");
	if (i->period_ns)
		out_text("%-16s%s, next in %s\n", "period",
			 human_duration(i->period_ns / 1e9),
			 human_duration(i->next_ns / 1e9));
	else
		row("period", "by hand");
	out_text("%-16s%" PRIu64 " (%" PRIu64 " late)\n", "rotations",
		 i->rotations, i->rotations_late);
}

static void text_layers(const struct bloomdev_info *i)
{
	uint32_t n;

	if (i->layer_count < 2)
		return;
	out_text("\n%-6s %12s %7s %12s %12s %7s %10s %s\n", "layer", "bits",
		 "probes", "capacity", "keys", "fill", "error",
		 i->growth == BLOOMDEV_GROWTH_WINDOW ? "age" : "");
	for (n = 0; n < i->layer_count; n++) {
		const struct bloomdev_layer *l = &i->layers[n];

		out_text("%-6u %12" PRIu64 " %7u %12" PRIu64 " %12" PRIu64 " %6.1f%% %10s %s\n",
			 n, l->slots, l->probes, l->capacity, l->keys,
			 100 * bloomdev_info_fill(i, n),
			 human_rate(bloomdev_info_error(i, n)),
			 i->growth == BLOOMDEV_GROWTH_WINDOW ?
			 human_duration(l->age_ns / 1e9) : "");
	}
}

static void text(const struct bloomdev_info *i, bool image, bool show_seed)
{
	if (*i->name)
		row("name", i->name);
	if (!image)
		row_count("id", i->id);
	row("kind", bloomdev_kind_name(i->kind));
	row("growth", bloomdev_growth_name(i->growth));
	if (i->kind == BLOOMDEV_KIND_BITMAP)
		out_text("%-16s%" PRIu64 "-%" PRIu64 "\n", "range", i->base,
			 i->base + i->layers[0].slots - 1);
	else
		row("hash", bloomdev_hash_name(i->hash));
	if (show_seed)
		out_text("%-16s%016" PRIx64 "%016" PRIx64 "\n", "seed",
			 i->seed[0], i->seed[1]);
	if (i->capacity)
		row_count("capacity", i->capacity);
	if (i->fp_rate > 0.0)
		row("rate asked", human_rate(i->fp_rate));
	if (i->layer_count == 1) {
		row_count(i->kind == BLOOMDEV_KIND_COUNTING ? "counters" : "bits",
			  i->layers[0].slots);
		row_count("probes", i->layers[0].probes);
	}
	row("memory", human_bytes(i->bytes));
	row_count("keys", i->keys);
	out_text("%-16s%.0f\n", "distinct (est.)", bloomdev_info_distinct(i, -1));
	out_text("%-16s%.1f%%\n", "fill", 100 * bloomdev_info_fill(i, -1));
	if (i->kind != BLOOMDEV_KIND_BITMAP)
		row("error now", human_rate(bloomdev_info_error(i, -1)));
	if (!image && i->capacity)
		row("full in", human_duration(bloomdev_info_seconds_left(NULL, i)));
	text_window(i);
	if (!image) {
		row("state", state_of(i));
		text_calls(i);
		out_text("%-16s%04o, owner %u, group %u\n", "mode", i->mode,
			 i->uid, i->gid);
	}
	text_layers(i);
}

static void json_layers(struct json_object *o, const struct bloomdev_info *i)
{
	struct json_object *layers = json_object_new_array();
	uint32_t n;

	for (n = 0; n < i->layer_count; n++) {
		struct json_object *l = json_object_new_object();

		json_count(l, "slots", i->layers[n].slots);
		json_count(l, "slots_set", i->layers[n].slots_set);
		json_count(l, "probes", i->layers[n].probes);
		json_count(l, "bytes", i->layers[n].bytes);
		json_count(l, "capacity", i->layers[n].capacity);
		json_real(l, "fp_rate", i->layers[n].fp_rate);
		json_count(l, "keys", i->layers[n].keys);
		json_real(l, "distinct", bloomdev_info_distinct(i, n));
		json_real(l, "fill", bloomdev_info_fill(i, n));
		json_real(l, "error", bloomdev_info_error(i, n));
		json_count(l, "age_ns", i->layers[n].age_ns);
		json_object_array_add(layers, l);
	}
	json_object_object_add(o, "layers", layers);
}

static void json_life(struct json_object *o, const struct bloomdev_info *i)
{
	json_count(o, "id", i->id);
	json_count(o, "adds", i->adds);
	json_count(o, "adds_present", i->adds_present);
	json_count(o, "queries", i->queries);
	json_count(o, "queries_present", i->queries_present);
	json_count(o, "removes", i->removes);
	json_count(o, "rotations", i->rotations);
	json_count(o, "rotations_late", i->rotations_late);
	json_count(o, "age_ns", i->age_ns);
	json_real(o, "seconds_left", bloomdev_info_seconds_left(NULL, i));
	json_count(o, "uid", i->uid);
	json_count(o, "gid", i->gid);
	json_count(o, "mode", i->mode);
	json_flag(o, "saturated", i->saturated);
	json_flag(o, "refused", i->refused);
}

static void json(const struct bloomdev_info *i, bool image, bool show_seed)
{
	struct json_object *o = json_object_new_object();
	char seed[33];

	json_text(o, "name", i->name);
	json_text(o, "kind", bloomdev_kind_name(i->kind));
	json_text(o, "growth", bloomdev_growth_name(i->growth));
	json_text(o, "hash", bloomdev_hash_name(i->hash));
	if (show_seed) {
		snprintf(seed, sizeof(seed), "%016" PRIx64 "%016" PRIx64,
			 i->seed[0], i->seed[1]);
		json_text(o, "seed", seed);
	}
	json_count(o, "capacity", i->capacity);
	json_real(o, "fp_rate", i->fp_rate);
	json_count(o, "base", i->base);
	json_count(o, "generations", i->generations);
	json_flag(o, "once", i->flags & BLOOMDEV_ONCE);
	json_count(o, "period_ns", i->period_ns);
	json_count(o, "next_ns", i->next_ns);
	json_count(o, "bytes", i->bytes);
	json_count(o, "keys", i->keys);
	json_count(o, "slots_set", i->slots_set);
	json_real(o, "distinct", bloomdev_info_distinct(i, -1));
	json_real(o, "fill", bloomdev_info_fill(i, -1));
	json_real(o, "error", bloomdev_info_error(i, -1));
	if (!image)
		json_life(o, i);
	json_layers(o, i);
	json_print(o);
}

static struct bloomdev_info *info_of(const char *name)
{
	struct bloomdev_filter *filter = open_filter(name, BLOOMDEV_READ);
	struct bloomdev_info *info = bloomdev_filter_info(filter);

	bloomdev_filter_close(filter);
	return info;
}

static struct bloomdev_info *info_of_image(const char *path, bool verify)
{
	if (!strcmp(path, "-"))
		return bloomdev_image_info_fd(0, verify);
	return bloomdev_image_info(path, verify);
}

static int run(int argc, char **argv)
{
	bool as_json = false, verify = false, show_seed = false;
	struct bloomdev_info *info;
	const char *image = NULL;
	char **name;
	int key;

	while ((key = args_next(argc, argv)) != -1) {
		switch (key) {
		case 'j':
			as_json = true;
			break;
		case OPT_IMAGE:
			image = optarg;
			break;
		case OPT_VERIFY:
			verify = true;
			break;
		case OPT_SHOW_SEED:
			show_seed = true;
			break;
		}
	}
	name = args_operands(argc, argv, !image, !image, NULL);
	info = image ? info_of_image(image, verify) : info_of(*name);
	if (!info)
		die_library();
	if (as_json)
		json(info, image, show_seed);
	else
		text(info, image, show_seed);
	bloomdev_info_free(info);
	return 0;
}

const struct verb verb_info = {
	.name = "info",
	.args = "NAME",
	.summary = "tell about a filter: size, keys, error now",
	.about =
		"'keys' is counted; 'distinct' is estimated from the bits that are set, and so holds\n"
		"for merged filters too. A window counts a key once a generation.",
	.opts = opts,
	.run = run,
};
