// SPDX-License-Identifier: GPL-2.0
/*
 * save, restore and merge: filters to files and back, and filters into one.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "verbs.h"

static int run_save(int argc, char **argv)
{
	struct bloomdev_filter *filter;
	char **words;
	int ret;

	args_next(argc, argv);
	words = args_operands(argc, argv, 2, 2, NULL);
	filter = open_filter(words[0], BLOOMDEV_READ);
	if (strcmp(words[1], "-")) {
		ret = bloomdev_filter_save(filter, words[1], progress, "save");
	} else {
		if (isatty(STDOUT_FILENO))
			die("an image is nothing for a terminal");
		ret = bloomdev_filter_save_fd(filter, STDOUT_FILENO, progress,
					      "save");
	}
	if (ret)
		die_library();
	bloomdev_filter_close(filter);
	return 0;
}

static struct bloomdev_filter *restored(const char *path)
{
	struct bloomdev_filter *filter;

	if (strcmp(path, "-"))
		filter = bloomdev_filter_restore(NULL, path, progress, "restore");
	else
		filter = bloomdev_filter_restore_fd(NULL, STDIN_FILENO, progress,
						    "restore");
	if (!filter)
		die_library();
	return filter;
}

static const struct opt restore_opts[] = { NAMING_OPTIONS, {} };

static int run_restore(int argc, char **argv)
{
	struct bloomdev_filter *filter;
	struct naming naming;
	char **words;
	int key;

	naming_init(&naming);
	while ((key = args_next(argc, argv)) != -1)
		naming_option(&naming, key);
	words = args_operands(argc, argv, 2, 2, NULL);
	filter = restored(words[0]);
	if (bloomdev_filter_link(filter, words[1], naming.flags, naming.mode,
				 naming.group))
		die_library();
	bloomdev_filter_close(filter);
	return 0;
}

static const struct opt merge_opts[] = {
	{ OPT_IMAGE, "image", "FILE", "merge a saved image too; - is standard input" },
	{}
};

static void merge_one(struct bloomdev_filter *into, struct bloomdev_filter *from,
		      const char *name)
{
	if (bloomdev_filter_merge(into, from, progress, "merge"))
		die("%s: %s", name, bloomdev_message());
	bloomdev_filter_close(from);
}

static int run_merge(int argc, char **argv)
{
	const char **images = calloc(argc, sizeof(*images));
	struct bloomdev_filter *into;
	int key, i, names, image_count = 0;
	char **words;

	if (!images)
		die("out of memory");
	while ((key = args_next(argc, argv)) != -1) {
		if (key == OPT_IMAGE)
			images[image_count++] = optarg;
	}
	words = args_operands(argc, argv, 1, -1, &names);
	if (names < 2 && !image_count)
		die("merge what into '%s'?", words[0]);

	into = open_filter(words[0], BLOOMDEV_READ | BLOOMDEV_WRITE);
	for (i = 1; i < names; i++)
		merge_one(into, open_filter(words[i], BLOOMDEV_READ), words[i]);
	for (i = 0; i < image_count; i++)
		merge_one(into, restored(images[i]), images[i]);
	bloomdev_filter_close(into);
	free(images);
	return 0;
}

const struct verb verb_save = {
	.name = "save",
	.args = "NAME FILE",
	.summary = "write a filter to a file, or to - for standard output",
	.about = "The file is replaced only when the whole image is on disk.",
	.run = run_save,
};

const struct verb verb_restore = {
	.name = "restore",
	.args = "FILE NAME",
	.summary = "make a filter from a saved image, or from - for standard input",
	.about = "It gets its name only when the image was read whole and its checksum holds.",
	.opts = restore_opts,
	.run = run_restore,
};

const struct verb verb_merge = {
	.name = "merge",
	.args = "INTO [NAME...]",
	.summary = "add all keys of other filters to one",
	.about = "They must have the same kind, size, hash and seed.",
	.opts = merge_opts,
	.run = run_merge,
};
