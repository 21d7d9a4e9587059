// SPDX-License-Identifier: GPL-2.0
/*
 * word-set: a filter with the habits of a set: addAll, containsAll, size, isEmpty,
 * clear.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "../example.h"

/* The words of a line, one after the other without what was between them. */
struct words {
	char *data;
	size_t bytes;
	uint32_t *lens;
	size_t count, room;
};

static void usage(FILE *out)
{
	fputs("usage: word-set [option...]\n\n"
	      "Read commands, a line each, and print an answer for each:\n\n"
	      "  add-all WORD...       how many were new: \"2 of 3 new\"\n"
	      "  contains-all WORD...  yes or no\n"
	      "  size                  how many words were new so far\n"
	      "  is-empty              yes or no\n"
	      "  clear                 ok\n\n"
	      "  -n, --capacity N      distinct words to hold (1000000)\n"
	      "  -p, --fp-rate P       of new words so many are taken for old (0.001)\n"
	      "  -h, --help            print this\n", out);
}

static void split(char *line, struct words *w)
{
	char *word;

	w->data = line;
	w->bytes = 0;
	w->count = 0;
	while ((word = strsep(&line, " \t\n"))) {
		size_t len = strlen(word);

		if (!len)
			continue;
		if (w->count == w->room) {
			w->room = 2 * w->room + 64;
			w->lens = need(realloc(w->lens, w->room * sizeof(*w->lens)));
		}
		w->lens[w->count++] = len;
		memmove(w->data + w->bytes, word, len);
		w->bytes += len;
	}
}

static struct bloomdev_keys as_keys(const struct words *w)
{
	return (struct bloomdev_keys) {
		.data = w->data,
		.bytes = w->bytes,
		.lens = w->lens,
		.count = w->count,
	};
}

/*
 * All of them, or a clear count. A word twice in one batch is new once. If the
 * kernel stops midway, what was added before stays, and can be added again: that
 * changes nothing.
 */
static void add_all(struct bloomdev_filter *filter, const struct words *w)
{
	struct bloomdev_keys keys = as_keys(w);
	struct bloomdev_result result;

	if (bloomdev_filter_add(filter, &keys, NULL, &result))
		die("added %zu of %zu words, %zu new, then: %s", result.done,
		    w->count, result.done - result.present, bloomdev_message());
	printf("%zu of %zu new\n", result.done - result.present, w->count);
}

static void print_yes(int answer)
{
	if (answer < 0)
		die_library();
	puts(answer ? "yes" : "no");
}

static void contains_all(struct bloomdev_filter *filter, const struct words *w)
{
	struct bloomdev_keys keys = as_keys(w);

	print_yes(bloomdev_filter_contains_all(filter, &keys));
}

static void print_size(struct bloomdev_filter *filter)
{
	uint64_t keys;

	if (bloomdev_filter_count(filter, &keys))
		die_library();
	printf("%" PRIu64 "\n", keys);
}

static void clear(struct bloomdev_filter *filter)
{
	if (bloomdev_filter_clear(filter))
		die_library();
	puts("ok");
}

static void obey(struct bloomdev_filter *filter, char *line, struct words *w)
{
	char *command;

	line += strspn(line, " \t");
	command = strsep(&line, " \t\n");
	split(line ?: command + strlen(command), w);
	if (!strcmp(command, "add-all"))
		add_all(filter, w);
	else if (!strcmp(command, "contains-all"))
		contains_all(filter, w);
	else if (w->count)
		die("'%s' takes no words; see word-set --help", command);
	else if (!strcmp(command, "size"))
		print_size(filter);
	else if (!strcmp(command, "is-empty"))
		print_yes(bloomdev_filter_is_empty(filter));
	else if (!strcmp(command, "clear"))
		clear(filter);
	else if (*command)
		die("there is no command '%s'; see word-set --help", command);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "capacity", required_argument, NULL, 'n' },
		{ "fp-rate", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter;
	struct words words = { 0 };
	char *line = NULL;
	size_t room = 0;
	int option;

	opts.capacity = 1000000;
	opts.fp_rate = 0.001;
	while ((option = getopt_long(argc, argv, "n:p:h", options, NULL)) != -1) {
		switch (option) {
		case 'n':
			opts.capacity = parse_number("--capacity", optarg, 1, UINT64_MAX);
			break;
		case 'p':
			opts.fp_rate = parse_rate("--fp-rate", optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return STATUS_ERROR;
		}
	}
	if (optind < argc)
		die("commands are read from standard input, not from '%s'", argv[optind]);

	filter = bloomdev_filter_create(NULL, &opts);
	if (!filter)
		die_library();
	while (getline(&line, &room, stdin) > 0)
		obey(filter, line, &words);
	if (ferror(stdin))
		err(STATUS_ERROR, "cannot read the commands");
	finish(stdout);
	bloomdev_filter_close(filter);
	return 0;
}
