// SPDX-License-Identifier: GPL-2.0
/*
 * add, query and remove: keys from the command line, or lines from standard
 * input.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include "json.h"
#include "stream.h"
#include "verbs.h"

static const struct opt opts[] = {
	STREAM_OPTIONS,
	{ 'j', "json", NULL, "print counts as JSON, no lines" },
	{}
};

struct job {
	stream_op op;
	unsigned int access;
	/* What is selected. Of the others -v selects those in range. */
	unsigned int select;
	/* Print lines unless told not to. */
	bool print;
	/* The exit status says whether some were selected, even without -q. */
	bool status_tells;
};

static void print_json(const struct stream *s, const char *selected)
{
	struct json_object *o = json_object_new_object();

	json_count(o, "keys", s->lines);
	json_count(o, "present", s->present);
	json_count(o, "absent", s->lines - s->present - s->out_of_range);
	json_count(o, "out_of_range", s->out_of_range);
	json_count(o, selected, s->selected);
	json_print(o);
}

static int run_job(const struct job *job, int argc, char **argv)
{
	struct stream_flags flags = {};
	bool json = false;
	struct stream s;
	char **words;
	int key, count;

	stream_init(&s);
	while ((key = args_next(argc, argv)) != -1) {
		if (!stream_option(&s, &flags, key))
			json = true;
	}
	words = args_operands(argc, argv, 1, -1, &count);

	s.filter = open_filter(words[0], job->access);
	s.integers = stream_integers(s.filter);
	s.op = job->op;
	s.select = job->select;
	if (flags.invert)
		s.select ^= SELECT_ABSENT | SELECT_PRESENT;
	s.print = !flags.count && !flags.quiet && !json &&
		  (job->print || flags.invert);

	if (count > 1)
		stream_words(&s, words + 1, count - 1);
	else
		stream_input(&s);
	bloomdev_filter_close(s.filter);
	if (s.out_of_range)
		complain("%" PRIu64 " of %" PRIu64 " integers are not in the bitmap's range",
			 s.out_of_range, s.lines);
	if (json && !flags.quiet) {
		print_json(&s, "selected");
		flags.count = false;
	}
	return stream_finish(&s, &flags, job->status_tells);
}

static int run_add(int argc, char **argv)
{
	static const struct job job = {
		.op = bloomdev_filter_add,
		.access = BLOOMDEV_READ | BLOOMDEV_WRITE,
		.select = SELECT_ABSENT,
	};

	return run_job(&job, argc, argv);
}

static int run_query(int argc, char **argv)
{
	static const struct job job = {
		.op = bloomdev_filter_query,
		.access = BLOOMDEV_READ,
		.select = SELECT_PRESENT,
		.print = true,
		.status_tells = true,
	};

	return run_job(&job, argc, argv);
}

static int run_remove(int argc, char **argv)
{
	static const struct job job = {
		.op = bloomdev_filter_remove,
		.access = BLOOMDEV_READ | BLOOMDEV_WRITE,
		.select = SELECT_PRESENT,
	};

	return run_job(&job, argc, argv);
}

const struct verb verb_add = {
	.name = "add",
	.args = "NAME [KEY...]",
	.summary = "add keys, or the lines of standard input",
	.about = "Selected are those that were not present; prints nothing without -c, -v or -j.",
	.opts = opts,
	.run = run_add,
};

const struct verb verb_query = {
	.name = "query",
	.args = "NAME [KEY...]",
	.summary = "print the keys, or lines of standard input, that are present",
	.about = "Exit status: 0 if some were printed, 1 if none, 2 after an error.",
	.opts = opts,
	.run = run_query,
};

const struct verb verb_remove = {
	.name = "remove",
	.args = "NAME [KEY...]",
	.summary = "remove keys from a counting filter or a bitmap",
	.about = "Selected are those that were present; prints nothing without -c, -v or -j.\n"
		 "Remove only what was added: a key that a counting filter reports present by\n"
		 "mistake takes others with it.",
	.opts = opts,
	.run = run_remove,
};
