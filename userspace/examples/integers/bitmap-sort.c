// SPDX-License-Identifier: GPL-2.0
/*
 * bitmap-sort: sort integers with a bit for each that there can be.
 *
 * An integer sets its bit; reading the bits in order is the sorted list. Adding
 * says whether the bit was set before: such a repeat goes into a table, which is
 * sorted and merged in at the end. Of 100 million drawn out of a billion about
 * 4.8 million are repeats: 125 MB of bits and 19 MB of table.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "../example.h"

#define BUFFER		(1 << 20)
#define BATCH		65536
#define DIGITS		20

static uint64_t base = 1, last = 1000000000;
static struct bloomdev_filter *filter;

/* Repeats, as distances from the base. */
static uint32_t *repeats;
static size_t repeat_count, repeat_room;

static uint64_t batch[BATCH];
static uint8_t verdicts[BATCH];
static size_t batch_count, total;

static char input[BUFFER], output[BUFFER];
static size_t output_len;

static void usage(FILE *out)
{
	fputs("usage: bitmap-sort [option...] <INTEGERS\n\n"
	      "Print the integers, a line each, in ascending order, as sort -n does.\n\n"
	      "  -r, --range A-B       what integers there can be (1-1000000000); a bit for\n"
	      "                        each is needed, 2^32 of them at most\n"
	      "  -u, --unique          print each once: then there is no table\n"
	      "  -v, --verbose         say on standard error what memory it took\n"
	      "  -h, --help            print this\n", out);
}

static void parse_range(char *text)
{
	char *dash = strchr(text, '-');

	if (!dash)
		die("--range '%s': write it as 1-1000000000", text);
	*dash = '\0';
	base = parse_number("--range, first integer", text, 0, UINT64_MAX);
	last = parse_number("--range, last integer", dash + 1, base,
			    base + UINT32_MAX < base ? UINT64_MAX : base + UINT32_MAX);
}

static void make_filter(void)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;

	opts.kind = BLOOMDEV_KIND_BITMAP;
	opts.base = base;
	opts.slots = last - base + 1;
	filter = bloomdev_filter_create(NULL, &opts);
	if (!filter)
		die_library();
}

static void keep_repeat(uint64_t value)
{
	if (repeat_count == repeat_room) {
		repeat_room = 2 * repeat_room + 1024;
		repeats = need(realloc(repeats, repeat_room * sizeof(*repeats)));
	}
	repeats[repeat_count++] = value - base;
}

static void flush_batch(bool unique)
{
	struct bloomdev_keys keys = {
		.data = batch,
		.bytes = batch_count * sizeof(*batch),
		.key_len = sizeof(*batch),
		.count = batch_count,
	};
	size_t i;

	if (bloomdev_filter_add(filter, &keys, verdicts, NULL))
		die_library();
	for (i = 0; i < batch_count && !unique; i++) {
		if (verdicts[i] == BLOOMDEV_PRESENT)
			keep_repeat(batch[i]);
	}
	batch_count = 0;
}

static void take(uint64_t value, bool unique)
{
	total++;
	if (value < base || value > last)
		die("line %zu: %" PRIu64 " is not in the range %" PRIu64 "-%" PRIu64,
		    total, value, base, last);
	batch[batch_count++] = value;
	if (batch_count == BATCH)
		flush_batch(unique);
}

/* A digit more, or a number that is out of any range. */
static uint64_t append_digit(uint64_t value, char digit)
{
	if (value > (UINT64_MAX - 9) / 10)
		return UINT64_MAX;
	return 10 * value + (digit - '0');
}

static void read_all(bool unique)
{
	bool in_number = false;
	uint64_t value = 0;
	ssize_t i, got;

	while ((got = read(STDIN_FILENO, input, BUFFER)) > 0) {
		for (i = 0; i < got; i++) {
			char c = input[i];

			if (c >= '0' && c <= '9') {
				value = append_digit(value, c);
				in_number = true;
			} else if (c == '\n' && in_number) {
				take(value, unique);
				value = 0;
				in_number = false;
			} else {
				die("line %zu: not a whole number", total + 1);
			}
		}
	}
	if (got < 0)
		err(STATUS_ERROR, "cannot read the integers");
	if (in_number)
		take(value, unique);
	flush_batch(unique);
}

/* In place, by the bits from @bit down: zeroes to the front. */
static void sort_repeats(uint32_t *v, size_t n, int bit)
{
	size_t zeroes = 0, ones = n;

	if (n < 2 || bit < 0)
		return;
	while (zeroes < ones) {
		uint32_t value = v[zeroes];

		if (value >> bit & 1) {
			v[zeroes] = v[--ones];
			v[ones] = value;
		} else {
			zeroes++;
		}
	}
	sort_repeats(v, zeroes, bit - 1);
	sort_repeats(v + zeroes, n - zeroes, bit - 1);
}

static void flush_output(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < output_len) {
		n = write(STDOUT_FILENO, output + done, output_len - done);
		if (n < 0)
			err(STATUS_ERROR, "cannot write the output");
		done += n;
	}
	output_len = 0;
}

static void print(uint64_t value)
{
	char digits[DIGITS];
	int i = DIGITS;

	do {
		digits[--i] = '0' + value % 10;
		value /= 10;
	} while (value);
	if (output_len + DIGITS + 1 > BUFFER)
		flush_output();
	memcpy(output + output_len, digits + i, DIGITS - i);
	output_len += DIGITS - i;
	output[output_len++] = '\n';
}

static void print_all(void)
{
	struct bloomdev_map *map = bloomdev_map_open(filter);
	uint64_t from = base;
	size_t i, count, r = 0;

	if (!map)
		die_library();
	do {
		if (bloomdev_map_values(map, from, batch, BATCH, &count))
			die_library();
		for (i = 0; i < count; i++) {
			print(batch[i]);
			while (r < repeat_count && base + repeats[r] == batch[i]) {
				print(batch[i]);
				r++;
			}
		}
		if (count)
			from = batch[count - 1] + 1;
	} while (count == BATCH && from);
	flush_output();
	bloomdev_map_close(map);
}

static void report(void)
{
	struct bloomdev_info *info = bloomdev_filter_info(filter);
	struct rusage used;

	if (!info || getrusage(RUSAGE_SELF, &used))
		die_library();
	fprintf(stderr, "integers %zu, bitmap %" PRIu64 " bytes, repeats %zu in %zu bytes; "
		"the process had %ld KiB, as much of the bitmap as it has mapped included\n",
		total, info->bytes, repeat_count, repeat_count * sizeof(*repeats),
		used.ru_maxrss);
	bloomdev_info_free(info);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "range", required_argument, NULL, 'r' },
		{ "unique", no_argument, NULL, 'u' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	bool unique = false, verbose = false;
	int option;

	while ((option = getopt_long(argc, argv, "r:uvh", options, NULL)) != -1) {
		switch (option) {
		case 'r':
			parse_range(optarg);
			break;
		case 'u':
			unique = true;
			break;
		case 'v':
			verbose = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return STATUS_ERROR;
		}
	}
	if (optind < argc)
		die("integers are read from standard input, not from '%s'", argv[optind]);

	make_filter();
	read_all(unique);
	sort_repeats(repeats, repeat_count, 31);
	print_all();
	if (verbose)
		report();
	return 0;
}
