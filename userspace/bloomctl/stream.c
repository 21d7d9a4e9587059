// SPDX-License-Identifier: GPL-2.0
/*
 * Lines in, a verdict for each key, lines out.
 *
 * Input is read in large pieces, and all lines of a piece are one batch. While
 * more input is there already the piece grows up to its full size; as soon as
 * none is, what there is goes out, so that a slow pipe shows each line at once.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "stream.h"

/* Large, for in some guests a system call is dear; and yet a piece of a cache. */
#define PIECE_BYTES	(1U << 20)

/* A batch: keys as the kernel takes them, and where their lines are. */
struct batch {
	uint8_t *keys;
	size_t keys_room;
	size_t keys_bytes;
	uint32_t *lens;
	uint8_t *verdicts;
	uint32_t *ends;		/* of the lines, each behind its end byte */
	size_t count;
	size_t room;
};

static void *grown(void *old, size_t bytes)
{
	void *new = realloc(old, bytes);

	if (!new)
		die("out of memory for %zu bytes of input", bytes);
	return new;
}

static void more_lines(struct batch *b)
{
	b->room = b->room ? 2 * b->room : 8192;
	b->lens = grown(b->lens, b->room * sizeof(*b->lens));
	b->ends = grown(b->ends, b->room * sizeof(*b->ends));
	b->verdicts = grown(b->verdicts, b->room);
}

/* The n-th field; the empty key where there are not as many, as for awk. */
static const uint8_t *find_field(const struct stream *s, const uint8_t *line,
				 size_t len, size_t *key_len)
{
	const uint8_t *p = line, *end = line + len, *stop;
	uint64_t n;

	for (n = 1; n < s->field; n++) {
		p = memchr(p, s->delimiter, end - p);
		if (!p) {
			*key_len = 0;
			return end;
		}
		p++;
	}
	stop = memchr(p, s->delimiter, end - p);
	*key_len = (stop ? stop : end) - p;
	return p;
}

/* Decimal digits and nothing else, at most 2^64 - 1. */
static bool find_integer(const uint8_t *text, size_t len, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < len; i++) {
		if (!isdigit(text[i]) ||
		    __builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, text[i] - '0', value))
			return false;
	}
	return len;
}

static bool take_key(struct stream *s, struct batch *b, const uint8_t *line,
		     size_t len)
{
	const uint8_t *key = line;
	uint64_t value;

	if (s->field)
		key = find_field(s, line, len, &len);
	if (s->integers) {
		if (!find_integer(key, len, &value))
			return false;
		key = (const uint8_t *)&value;
		len = sizeof(value);
	}
	if (len > BLOOMDEV_KEY_MAX)
		return false;
	memcpy(b->keys + b->keys_bytes, key, len);
	b->keys_bytes += len;
	b->lens[b->count] = len;
	return true;
}

/* Print runs of selected lines that follow each other in one go. */
static void print_selected(struct stream *s, const struct batch *b,
			   const uint8_t *piece)
{
	size_t i, start = 0, stop = 0;

	for (i = 0; i < b->count; i++) {
		if (!(s->select >> b->verdicts[i] & 1)) {
			if (stop > start)
				out_bytes(piece + start, stop - start);
			start = b->ends[i];
			stop = start;
			continue;
		}
		s->selected++;
		stop = b->ends[i];
	}
	if (stop > start)
		out_bytes(piece + start, stop - start);
}

static void count_selected(struct stream *s, const struct batch *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		s->selected += s->select >> b->verdicts[i] & 1;
}

static void run_batch(struct stream *s, struct batch *b, const uint8_t *piece)
{
	struct bloomdev_keys keys = {
		.data = b->keys,
		.bytes = b->keys_bytes,
		.lens = b->lens,
		.count = b->count,
	};
	struct bloomdev_result result;
	int ret;

	ret = s->op(s->filter, &keys, b->verdicts, &result);
	/* What was dealt with is printed, whatever happened then. */
	b->count = result.done;
	s->lines += result.done;
	s->present += result.present;
	s->out_of_range += result.out_of_range;
	if (s->print)
		print_selected(s, b, piece);
	else
		count_selected(s, b);
	if (ret) {
		out_flush();
		die("line %" PRIu64 ": %s", s->lines + 1, bloomdev_message());
	}
	b->count = 0;
	b->keys_bytes = 0;
	if (s->after)
		s->after(s);
}

/* The line after those of the batch can't be a key. */
static void bad_line(struct stream *s, struct batch *b, const uint8_t *piece,
		     size_t len)
{
	run_batch(s, b, piece);
	out_flush();
	if (s->integers)
		die("line %" PRIu64 " is not an integer", s->lines + 1);
	die("line %" PRIu64 ": a key of %zu bytes or more; the limit is %d",
	    s->lines + 1, len, BLOOMDEV_KEY_MAX);
}

/* Deal with all whole lines of the piece. Return: how many bytes they are. */
static size_t run_lines(struct stream *s, struct batch *b, const uint8_t *piece,
			size_t bytes)
{
	const uint8_t *line = piece, *end;

	if (b->keys_room < bytes + sizeof(uint64_t)) {
		b->keys_room = bytes + sizeof(uint64_t);
		b->keys = grown(b->keys, b->keys_room);
	}
	while ((end = memchr(line, s->end, piece + bytes - line))) {
		if (b->count == b->room)
			more_lines(b);
		/* Short integers are longer as keys than as lines. */
		if (b->keys_bytes + (end - line) + sizeof(uint64_t) > b->keys_room) {
			b->keys_room *= 2;
			b->keys = grown(b->keys, b->keys_room);
		}
		if (!take_key(s, b, line, end - line))
			bad_line(s, b, piece, end - line);
		line = end + 1;
		b->ends[b->count++] = line - piece;
	}
	if (b->count)
		run_batch(s, b, piece);
	return line - piece;
}

static bool is_file(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode);
}

/* Would read() not wait? It never does for a file. */
static bool more_is_there(bool file)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return file || poll(&in, 1, 0) > 0;
}

static size_t read_some(uint8_t *to, size_t room)
{
	ssize_t n;

	do {
		n = read(STDIN_FILENO, to, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		out_flush();
		die("can't read the input: %s", strerror(errno));
	}
	return n;
}

void stream_input(struct stream *s)
{
	size_t room = PIECE_BYTES, bytes = 0, n, used;
	uint8_t *piece = grown(NULL, room + 1);
	bool file = is_file();
	struct batch b = {};

	for (;;) {
		n = read_some(piece + bytes, room - bytes);
		bytes += n;
		if (n && bytes < room && more_is_there(file))
			continue;
		if (!n && bytes && piece[bytes - 1] != s->end)
			piece[bytes++] = s->end;	/* it had none */
		used = run_lines(s, &b, piece, bytes);
		bytes -= used;
		memmove(piece, piece + used, bytes);
		if (!n)
			break;
		if (bytes == room) {
			/* Not one whole line. Only with fields can it be one. */
			if (!s->field)
				bad_line(s, &b, piece, bytes);
			if (room > UINT32_MAX / 4)
				die("line %" PRIu64 " is longer than %zu bytes",
				    s->lines + 1, room);
			room *= 2;
			piece = grown(piece, room + 1);
		}
		if (!more_is_there(file))
			out_flush();
	}
	out_flush();
	free(piece);
	free(b.keys);
	free(b.lens);
	free(b.ends);
	free(b.verdicts);
}

void stream_words(struct stream *s, char **words, int count)
{
	struct batch b = {};
	size_t len, bytes = 0, room = 4096;
	uint8_t *piece = grown(NULL, room);
	int i;

	for (i = 0; i < count; i++) {
		len = strlen(words[i]);
		if (room - bytes < len + 1) {
			room = 2 * (room + len + 1);
			piece = grown(piece, room);
		}
		memcpy(piece + bytes, words[i], len);
		bytes += len;
		piece[bytes++] = s->end;
	}
	if (bytes)
		run_lines(s, &b, piece, bytes);
	out_flush();
	free(piece);
	free(b.keys);
	free(b.lens);
	free(b.ends);
	free(b.verdicts);
}

void stream_init(struct stream *s)
{
	*s = (struct stream) { .end = '\n', .delimiter = '\t', .print = true };
}

bool stream_option(struct stream *s, struct stream_flags *flags, int key)
{
	switch (key) {
	case '0':
		s->end = '\0';
		break;
	case 'd':
		s->delimiter = parse_byte("delimiter", optarg);
		break;
	case 'f':
		s->field = parse_count("field", optarg);
		if (!s->field)
			die("fields are counted from 1");
		break;
	case 'c':
		flags->count = true;
		break;
	case 'v':
		flags->invert = true;
		break;
	case 'q':
		flags->quiet = true;
		break;
	default:
		return false;
	}
	s->print = !flags->count && !flags->quiet;
	return true;
}

bool stream_integers(struct bloomdev_filter *filter)
{
	struct bloomdev_info *info = bloomdev_filter_info(filter);
	bool integers = info && info->kind == BLOOMDEV_KIND_BITMAP;

	/* Open for writing only: it may be a bitmap all the same. */
	bloomdev_info_free(info);
	return integers;
}

int stream_finish(struct stream *s, const struct stream_flags *flags,
		  bool status_tells)
{
	if (flags->count && !flags->quiet)
		out_text("%" PRIu64 "\n", s->selected);
	if (status_tells || flags->quiet)
		return s->selected ? STATUS_SOME : STATUS_NONE;
	return 0;
}
