// SPDX-License-Identifier: GPL-2.0
/*
 * visitors: unique visitors an hour, in event time.
 *
 * A filter for each window that is open, and not one window filter that is
 * rotated. At the turn of the hour two windows take rows at the same time, until
 * the watermark has passed the end of the older one; and a user who was there
 * last hour is a visitor of this hour too. A window filter looks for a key in all
 * its generations and has one that takes additions: right for "seen in the last
 * hour", wrong for both of these.
 *
 * The watermark is the newest time in any row, less the out-of-orderness allowed.
 * It promises that no older row comes. A window ends when the watermark reaches
 * its end; a row of a window that has ended is late, counted and left out.
 */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include "../example.h"

#define BATCH_KEYS	1024
#define BATCH_BYTES	(64 * 1024)
#define USER_MAX	255
#define WINDOWS_MAX	64
#define TIME_MAX	253402300799		/* the end of the year 9999 */

struct window {
	uint64_t start;
	struct bloomdev_filter *filter;
	uint64_t visitors;
	size_t count, bytes;			/* of the batch */
	uint32_t lens[BATCH_KEYS];
	char keys[BATCH_BYTES];
};

static struct bloomdev_options filter_options = BLOOMDEV_OPTIONS_INIT;
static uint64_t length = 60 * 60, lateness = 5;

static struct window *windows[WINDOWS_MAX];	/* open, by start */
static int window_count;
static uint64_t newest;
static bool any;

static struct {
	uint64_t rows, pv, late, malformed, first_malformed;
} stats;

static void usage(FILE *out)
{
	fputs("usage: visitors [option...] <ROWS\n\n"
	      "Read rows userId,itemId,categoryId,behaviour,timestamp (in seconds since 1970)\n"
	      "and count the distinct users of the rows whose behaviour is \"pv\", in windows\n"
	      "of event time. Prints a line for a window when it ends: its start (UTC), a tab,\n"
	      "how many. Hours without a row have no line.\n\n"
	      "  -w, --window MIN      length of a window in minutes, 1 to 1440 (60)\n"
	      "  -l, --lateness SEC    rows may be out of order by so much, 0 to 3600 (5)\n"
	      "  -n, --capacity N      distinct users of a window (1000000)\n"
	      "  -p, --fp-rate P       counts are low by this much at most (0.001)\n"
	      "  -h, --help            print this\n", out);
}

static void flush_batch(struct window *w)
{
	struct bloomdev_keys keys = {
		.data = w->keys,
		.bytes = w->bytes,
		.lens = w->lens,
		.count = w->count,
	};
	struct bloomdev_result result;

	if (!w->count)
		return;
	if (bloomdev_filter_add(w->filter, &keys, NULL, &result))
		die_library();
	w->visitors += result.done - result.present;
	w->count = 0;
	w->bytes = 0;
}

static struct window *open_window(uint64_t start)
{
	struct window *w = need(malloc(sizeof(*w)));
	int i;

	if (window_count == WINDOWS_MAX)
		die("more than %d windows are open: --lateness is too long for --window",
		    WINDOWS_MAX);
	w->start = start;
	w->visitors = 0;
	w->count = 0;
	w->bytes = 0;
	w->filter = bloomdev_filter_create(NULL, &filter_options);
	if (!w->filter)
		die_library();
	for (i = window_count++; i > 0 && windows[i - 1]->start > start; i--)
		windows[i] = windows[i - 1];
	windows[i] = w;
	return w;
}

static void end_window(struct window *w)
{
	char text[32];
	time_t start = w->start;

	flush_batch(w);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&start));
	printf("%s\t%" PRIu64 "\n", text, w->visitors);
	bloomdev_filter_close(w->filter);
	free(w);
}

static bool has_ended(uint64_t start)
{
	return any && start + length + lateness <= newest;
}

static void advance(uint64_t now)
{
	int i, ended = 0;

	if (any && now <= newest)
		return;
	newest = now;
	any = true;
	while (ended < window_count && has_ended(windows[ended]->start))
		end_window(windows[ended++]);
	if (!ended)
		return;
	for (i = ended; i < window_count; i++)
		windows[i - ended] = windows[i];
	window_count -= ended;
	/* Who reads a pipe wants a window's line when the window ends. */
	finish(stdout);
}

static void add_visitor(uint64_t when, const char *user, size_t len)
{
	uint64_t start = when - when % length;
	struct window *w = NULL;
	int i;

	if (has_ended(start)) {
		stats.late++;
		return;
	}
	for (i = 0; i < window_count && !w; i++) {
		if (windows[i]->start == start)
			w = windows[i];
	}
	if (!w)
		w = open_window(start);
	memcpy(w->keys + w->bytes, user, len);
	w->lens[w->count++] = len;
	w->bytes += len;
	if (w->count == BATCH_KEYS || w->bytes > BATCH_BYTES - USER_MAX)
		flush_batch(w);
}

static bool parse_time(const char *text, uint64_t *when)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*when = strtoull(text, &end, 10);
	return !errno && !*end && *when <= TIME_MAX;
}

static bool take_row(char *row)
{
	char *fields[5];
	uint64_t when;
	int i;

	for (i = 0; i < 5; i++) {
		fields[i] = strsep(&row, ",");
		if (!fields[i])
			return false;
	}
	if (row || !*fields[0] || strlen(fields[0]) > USER_MAX ||
	    !parse_time(fields[4], &when))
		return false;
	advance(when);
	if (strcmp(fields[3], "pv"))
		return true;
	stats.pv++;
	add_visitor(when, fields[0], strlen(fields[0]));
	return true;
}

static void read_rows(void)
{
	char *row = NULL;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&row, &room, stdin)) > 0) {
		stats.rows++;
		len = strcspn(row, "\r\n");
		row[len] = '\0';
		if (take_row(row))
			continue;
		if (!stats.malformed++)
			stats.first_malformed = stats.rows;
	}
	if (ferror(stdin))
		err(STATUS_ERROR, "cannot read the rows");
	free(row);
}

static void report(void)
{
	fprintf(stderr, "rows %" PRIu64 ", pv %" PRIu64 ", late %" PRIu64
		", malformed %" PRIu64, stats.rows, stats.pv, stats.late, stats.malformed);
	if (stats.malformed)
		fprintf(stderr, " (the first is line %" PRIu64 ")", stats.first_malformed);
	fputc('\n', stderr);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "window", required_argument, NULL, 'w' },
		{ "lateness", required_argument, NULL, 'l' },
		{ "capacity", required_argument, NULL, 'n' },
		{ "fp-rate", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int i, option;

	filter_options.capacity = 1000000;
	filter_options.fp_rate = 0.001;
	while ((option = getopt_long(argc, argv, "w:l:n:p:h", options, NULL)) != -1) {
		switch (option) {
		case 'w':
			length = 60 * parse_number("--window", optarg, 1, 1440);
			break;
		case 'l':
			lateness = parse_number("--lateness", optarg, 0, 3600);
			break;
		case 'n':
			filter_options.capacity =
				parse_number("--capacity", optarg, 1, UINT64_MAX);
			break;
		case 'p':
			filter_options.fp_rate = parse_rate("--fp-rate", optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return STATUS_ERROR;
		}
	}
	if (optind < argc)
		die("rows are read from standard input, not from '%s'", argv[optind]);

	read_rows();
	for (i = 0; i < window_count; i++)
		end_window(windows[i]);
	finish(stdout);
	report();
	return 0;
}
