// SPDX-License-Identifier: GPL-2.0
/*
 * list: the names there are.
 */
#include <grp.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <pwd.h>
#include <stdio.h>
#include "json.h"
#include "verbs.h"

static const struct opt opts[] = {
	{ 'j', "json", NULL, "print JSON, a line a filter" },
	{ 'q', "quiet", NULL, "print names only" },
	{}
};

static const char *user(uint32_t uid)
{
	static char number[16];
	const struct passwd *entry = getpwuid(uid);

	if (entry)
		return entry->pw_name;
	snprintf(number, sizeof(number), "%u", uid);
	return number;
}

static const char *group(uint32_t gid)
{
	static char number[16];
	const struct group *entry = getgrgid(gid);

	if (entry)
		return entry->gr_name;
	snprintf(number, sizeof(number), "%u", gid);
	return number;
}

static const char *mode(uint32_t bits)
{
	static char text[7];
	int i;

	for (i = 0; i < 3; i++) {
		text[2 * i] = bits >> (6 - 3 * i) & 4 ? 'r' : '-';
		text[2 * i + 1] = bits >> (6 - 3 * i) & 2 ? 'w' : '-';
	}
	return text;
}

static void as_text(const struct bloomdev_entry *e)
{
	out_text("%s %-8s %-8s %-8s %-7s %8s %10s %12" PRIu64 "  %s%s\n",
		 mode(e->mode), user(e->uid), group(e->gid),
		 bloomdev_kind_name(e->kind), bloomdev_growth_name(e->growth),
		 e->capacity ? human_count(e->capacity) : "-",
		 human_bytes(e->bytes), e->keys, e->name,
		 e->refused ? " (saturated: no memory)" :
		 e->saturated ? " (saturated)" : "");
}

static void as_json(const struct bloomdev_entry *e)
{
	struct json_object *o = json_object_new_object();

	json_text(o, "name", e->name);
	json_count(o, "id", e->id);
	json_count(o, "uid", e->uid);
	json_count(o, "gid", e->gid);
	json_count(o, "mode", e->mode);
	json_text(o, "kind", bloomdev_kind_name(e->kind));
	json_text(o, "growth", bloomdev_growth_name(e->growth));
	json_flag(o, "saturated", e->saturated);
	json_flag(o, "refused", e->refused);
	json_count(o, "capacity", e->capacity);
	json_count(o, "keys", e->keys);
	json_count(o, "bytes", e->bytes);
	json_print(o);
}

static int run(int argc, char **argv)
{
	const struct bloomdev_entry *e;
	struct bloomdev_list *list;
	bool json = false, quiet = false;
	size_t i;
	int key;

	while ((key = args_next(argc, argv)) != -1) {
		if (key == 'j')
			json = true;
		else
			quiet = true;
	}
	args_operands(argc, argv, 0, 0, NULL);

	list = bloomdev_device_list(NULL);
	if (!list)
		die_library();
	if (!json && !quiet && bloomdev_list_count(list))
		out_text("%-6s %-8s %-8s %-8s %-7s %8s %10s %12s  %s\n", "mode",
			 "owner", "group", "kind", "growth", "capacity",
			 "memory", "keys", "name");
	for (i = 0; (e = bloomdev_list_get(list, i)); i++) {
		if (quiet)
			out_text("%s\n", e->name);
		else if (json)
			as_json(e);
		else
			as_text(e);
	}
	bloomdev_list_free(list);
	return 0;
}

const struct verb verb_list = {
	.name = "list",
	.args = "",
	.summary = "list the filters that you may read",
	.opts = opts,
	.run = run,
};
