// SPDX-License-Identifier: GPL-2.0
/*
 * bloomctl's stream of lines against plain code: the same keys are asked about,
 * the same lines printed and counted, the same line refused, however the input
 * comes in pieces. The verdict of a key is a number made of its bytes.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "crc64.h"
#include "ctl.h"
#include "stream.h"

#define BYTES_MAX	(1U << 20)
#define LINE_MAX_BYTES	(256U << 10)
#define PIECES_MAX	12
#define PIECES_BYTES	16384

/* How a run is made, from the first bytes of an input; lines follow. */
struct how {
	uint8_t flags;
	uint8_t end;
	uint8_t delimiter;
	uint8_t field;
	uint8_t select;
	uint8_t fails;		/* not 0: so many keys before the filter fails */
};

#define INTEGERS	0x01
#define SILENT		0x02
#define PIECES		0x04
#define FAILS		0x08

static struct stream stream;
static struct how how;

static uint8_t verdict_of(const void *key, size_t len)
{
	return bloomdev_crc64(0, key, len) % 3;
}

/* The filter. */
static uint64_t asked;

static int ask(struct bloomdev_filter *filter, const struct bloomdev_keys *keys,
	       uint8_t *verdicts, struct bloomdev_result *result)
{
	const uint8_t *key = keys->data;
	size_t i;

	(void)filter;
	*result = (struct bloomdev_result){};
	for (i = 0; i < keys->count; i++) {
		if (how.flags & FAILS && asked == how.fails)
			return bloomdev_fail(ENOMEM, "the filter fails");
		asked++;
		verdicts[i] = verdict_of(key, keys->lens[i]);
		result->present += verdicts[i] == BLOOMDEV_PRESENT;
		result->out_of_range += verdicts[i] == BLOOMDEV_OUT_OF_RANGE;
		result->done++;
		key += keys->lens[i];
	}
	REQUIRE(key == (const uint8_t *)keys->data + keys->bytes);
	return 0;
}

/* What must come of it. */
struct expected {
	uint8_t out[BYTES_MAX + 1];
	size_t bytes;
	uint64_t lines;
	uint64_t selected;
	bool refused;
};

static bool integer(const uint8_t *text, size_t len, uint64_t *value)
{
	unsigned __int128 sum = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		sum = sum * 10 + text[i] - '0';
		if (sum > UINT64_MAX)
			return false;
	}
	*value = sum;
	return len;
}

/* Return: false if the line can't be a key. */
static bool expect_line(struct expected *e, const uint8_t *line, size_t len)
{
	const uint8_t *key = line, *stop = line + len;
	uint64_t value;
	uint32_t n;

	/* Refused before its end is seen. */
	if (!how.field && len >= LINE_MAX_BYTES)
		return false;
	for (n = 1; n < how.field && key <= line + len; n++) {
		while (key < line + len && *key != how.delimiter)
			key++;
		key++;
	}
	if (how.field) {
		if (key > line + len)
			key = line + len;
		for (stop = key; stop < line + len && *stop != how.delimiter; stop++)
			;
	}
	if (how.flags & INTEGERS) {
		if (!integer(key, stop - key, &value))
			return false;
		key = (const uint8_t *)&value;
		stop = key + sizeof(value);
	}
	if (stop - key > BLOOMDEV_KEY_MAX)
		return false;
	if (how.flags & FAILS && e->lines == how.fails)
		return false;
	e->lines++;
	if (!(how.select >> verdict_of(key, stop - key) & 1))
		return true;
	e->selected++;
	if (how.flags & SILENT)
		return true;
	memcpy(e->out + e->bytes, line, len);
	e->bytes += len;
	e->out[e->bytes++] = how.end;
	return true;
}

static void expect(struct expected *e, const uint8_t *in, size_t bytes)
{
	const uint8_t *end = in + bytes, *stop;

	e->bytes = 0;
	e->lines = 0;
	e->selected = 0;
	e->refused = false;
	for (; in < end && !e->refused; in = stop + 1) {
		stop = memchr(in, how.end, end - in) ?: end;
		e->refused = !expect_line(e, in, stop - in);
	}
}

static void fill_in(int fd, const uint8_t *in, size_t bytes)
{
	REQUIRE(write(fd, in, bytes) == (ssize_t)bytes);
	REQUIRE(!lseek(fd, 0, SEEK_SET));
}

/* Standard input that gives a piece a read. */
static void send_pieces(const uint8_t *in, size_t bytes)
{
	size_t n, step = bytes / PIECES_MAX + 1;
	int ends[2];

	REQUIRE(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	for (; bytes; in += n, bytes -= n) {
		n = bytes < step ? bytes : step;
		REQUIRE(send(ends[1], in, n, MSG_DONTWAIT) == (ssize_t)n);
	}
	close(ends[1]);
	REQUIRE(dup2(ends[0], STDIN_FILENO) >= 0);
	close(ends[0]);
}

static int fresh_file(int as)
{
	int fd = memfd_create("lines", 0);

	REQUIRE(fd >= 0 && dup2(fd, as) >= 0);
	close(fd);
	return as;
}

/* What is longer than a mutation makes: 0xff, a length, a byte. */
static size_t expand(uint8_t *to, const uint8_t *data, size_t bytes)
{
	size_t used = 0, n;

	while (bytes) {
		n = 1;
		if (*data == 0xff && bytes >= 3) {
			n = (size_t)data[1] << 10;
			data += 2;
			bytes -= 2;
		}
		if (n > BYTES_MAX - used)
			break;
		memset(to + used, *data++, n);
		used += n;
		bytes--;
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t in[BYTES_MAX], out[BYTES_MAX + 1];
	static struct expected e;
	size_t n;

	if (bytes < sizeof(how))
		return -1;
	memcpy(&how, data, sizeof(how));
	n = expand(in, data + sizeof(how), bytes - sizeof(how));
	expect(&e, in, n);

	if (how.flags & PIECES && n <= PIECES_BYTES)
		send_pieces(in, n);
	else
		fill_in(fresh_file(STDIN_FILENO), in, n);
	fresh_file(STDOUT_FILENO);
	asked = 0;
	stream_init(&stream);
	stream.op = ask;
	stream.integers = how.flags & INTEGERS;
	stream.end = how.end;
	stream.delimiter = how.delimiter;
	stream.field = how.field;
	stream.select = how.select;
	stream.print = !(how.flags & SILENT);
	if (ctl_runs())
		stream_input(&stream);
	ctl_free_all();

	REQUIRE(!ctl_said[0] == !e.refused);
	REQUIRE(stream.lines == e.lines && asked == e.lines);
	REQUIRE(stream.selected == e.selected);
	REQUIRE(lseek(STDOUT_FILENO, 0, SEEK_END) == (off_t)e.bytes);
	REQUIRE(pread(STDOUT_FILENO, out, sizeof(out), 0) == (ssize_t)e.bytes);
	REQUIRE(!memcmp(out, e.out, e.bytes));
	return 0;
}
