// SPDX-License-Identifier: GPL-2.0
/*
 * dedup: the lines of standard input without those that were there before.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "json.h"
#include "stream.h"
#include "verbs.h"

/* A line dropped wrongly is lost data: one in a million. */
#define DEFAULT_RATE		0.000001
/* Where the input does not tell how long it is. */
#define DEFAULT_CAPACITY	1000000

/* Where lines are counted to guess how many there are. */
#define SAMPLES		16
#define SAMPLE_BYTES	(64U << 10)

static const struct opt opts[] = {
	STREAM_OPTIONS,
	{ OPT_STATS, "stats", NULL, "at the end say on stderr what was done" },
	{ 'j', "json", NULL, "with --stats: as JSON" },
	SHAPE_OPTIONS,
	{}
};

static struct {
	uint64_t capacity;	/* of what is fixed; 0: it grows, or is another's */
	uint64_t warn_at;	/* new keys at which the next warning is due */
	double start;
} state;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t count_ends(const char *text, size_t bytes, char end)
{
	const char *stop = text + bytes;
	uint64_t n = 0;

	while ((text = memchr(text, end, stop - text))) {
		n++;
		text++;
	}
	return n;
}

/*
 * How many lines a file has: counted in samples spread over it (all of it, if it
 * is small), and a twentieth more. 0: it can't be known.
 */
static uint64_t guess_lines(char end)
{
	static char sample[SAMPLE_BYTES];
	uint64_t bytes, lines = 0, seen = 0;
	off_t start, step;
	struct stat st;
	ssize_t n;
	int i;

	if (fstat(STDIN_FILENO, &st) || !S_ISREG(st.st_mode))
		return 0;
	start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (start < 0 || start >= st.st_size)
		return 0;
	bytes = st.st_size - start;
	step = bytes > SAMPLES * SAMPLE_BYTES ? bytes / SAMPLES : SAMPLE_BYTES;
	for (i = 0; i < SAMPLES; i++) {
		n = pread(STDIN_FILENO, sample, SAMPLE_BYTES, start + i * step);
		if (n <= 0)
			break;
		lines += count_ends(sample, n, end);
		seen += n;
	}
	if (!seen)
		return 0;
	/* At least the last line, and a thousand for what samples miss. */
	return ((double)lines * bytes / seen) * 1.05 + 1000;
}

/*
 * A filter of one's own. Where nothing says how many lines there will be it grows:
 * that costs up to three times the memory, since the next layer is made, twice as
 * large, before the last one is full.
 */
static struct bloomdev_filter *private_filter(struct bloomdev_options *shape,
					      char end)
{
	struct bloomdev_filter *filter;

	if (shape->fp_rate == 0.0 && !shape->slots)
		shape->fp_rate = DEFAULT_RATE;
	if (!shape->capacity && !shape->slots)
		shape->capacity = guess_lines(end);
	if (!shape->capacity && !shape->slots) {
		shape->capacity = DEFAULT_CAPACITY;
		if (shape->growth == BLOOMDEV_GROWTH_FIXED &&
		    shape->kind <= BLOOMDEV_KIND_CLASSIC)
			shape->growth = BLOOMDEV_GROWTH_SCALING;
	}

	filter = bloomdev_filter_create(NULL, shape);
	if (!filter)
		die_library();
	if (shape->growth == BLOOMDEV_GROWTH_FIXED)
		state.capacity = shape->capacity;
	state.warn_at = state.capacity;
	return filter;
}

/* Past its capacity: say so, and again whenever it holds twice as much. */
static void warn(struct stream *s)
{
	uint64_t keys = s->lines - s->present - s->out_of_range;
	struct bloomdev_info *info;

	if (!state.capacity || keys <= state.warn_at)
		return;
	info = bloomdev_filter_info(s->filter);
	complain("warning: %" PRIu64 " different lines in a filter made for %" PRIu64,
		 keys, state.capacity);
	complain("warning: a new line is now dropped with probability %s",
		 human_rate(info ? bloomdev_info_error(info, -1) : 1.0));
	bloomdev_info_free(info);
	while (state.warn_at < keys)
		state.warn_at *= 2;
}

static void stats_json(const struct stream *s, const struct bloomdev_info *info,
		       double took)
{
	struct json_object *o = json_object_new_object();

	json_count(o, "lines", s->lines);
	json_count(o, "selected", s->selected);
	json_count(o, "new", s->lines - s->present - s->out_of_range);
	json_count(o, "duplicates", s->present);
	json_real(o, "lost", bloomdev_info_lost(info));
	json_real(o, "error", bloomdev_info_error(info, -1));
	json_count(o, "layers", info->layer_count);
	json_count(o, "bytes", info->bytes);
	json_real(o, "seconds", took);
	fprintf(stderr, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void stats_text(const struct stream *s, const struct bloomdev_info *info,
		       double took)
{
	fprintf(stderr, "lines:      %" PRIu64 "\n", s->lines);
	fprintf(stderr, "new:        %" PRIu64 "\n",
		s->lines - s->present - s->out_of_range);
	fprintf(stderr, "duplicates: %" PRIu64 "\n", s->present);
	if (s->out_of_range)
		fprintf(stderr, "no integer of the bitmap: %" PRIu64 "\n",
			s->out_of_range);
	fprintf(stderr, "lost:       %.2g expected (new lines taken for duplicates)\n",
		bloomdev_info_lost(info));
	fprintf(stderr, "error now:  %s\n",
		human_rate(bloomdev_info_error(info, -1)));
	fprintf(stderr, "memory:     %s\n", human_bytes(info->bytes));
	fprintf(stderr, "time:       %.3fs, %s lines/s\n", took,
		human_count(took > 0 ? s->lines / took : 0));
}

static void stats(const struct stream *s, bool json)
{
	struct bloomdev_info *info = bloomdev_filter_info(s->filter);
	double took = seconds() - state.start;

	if (!info)
		die_library();
	if (json)
		stats_json(s, info, took);
	else
		stats_text(s, info, took);
	bloomdev_info_free(info);
}

static int run(int argc, char **argv)
{
	struct bloomdev_options shape = BLOOMDEV_OPTIONS_INIT;
	bool json = false, tell = false, shaped = false;
	struct stream_flags flags = {};
	struct stream s;
	char **name;
	int key, count, status;

	state.start = seconds();
	stream_init(&s);
	while ((key = args_next(argc, argv)) != -1) {
		if (stream_option(&s, &flags, key))
			continue;
		if (key == OPT_STATS)
			tell = true;
		else if (key == 'j')
			json = true;
		else
			shaped = shape_option(&shape, key);
	}
	name = args_operands(argc, argv, 0, 1, &count);
	if (count && shaped)
		die("'%s' is there already; its size can't be chosen here", *name);

	if (count)
		s.filter = open_filter(*name, BLOOMDEV_READ | BLOOMDEV_WRITE);
	else
		s.filter = private_filter(&shape, s.end);
	s.integers = stream_integers(s.filter);
	s.op = bloomdev_filter_add;
	s.select = flags.invert ? SELECT_PRESENT : SELECT_ABSENT;
	s.after = warn;
	stream_input(&s);

	status = stream_finish(&s, &flags, false);
	out_flush();
	if (tell)
		stats(&s, json);
	bloomdev_filter_close(s.filter);
	return status;
}

const struct verb verb_dedup = {
	.name = "dedup",
	.args = "[NAME]",
	.summary = "print each line of standard input once",
	.about =
		"Without NAME like awk '!seen[$0]++': the first of equal lines, in order, at once.\n"
		"With NAME any number of processes share that filter, and of equal lines, whoever\n"
		"reads them, one comes out. The filter of one's own has the rate 1e-6 unless\n"
		"--fp-rate says otherwise. Its capacity is --capacity; else the number of lines of\n"
		"a file on standard input, estimated from samples; else it grows with the lines.",
	.opts = opts,
	.run = run,
};
