// SPDX-License-Identifier: GPL-2.0
/*
 * bloomctl's reading of numbers, sizes, times and options: numbers that it is
 * given in any of the forms it knows come out as they went in, and whatever else
 * is there ends in words. The first byte of an input says what it is.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"
#include "verbs.h"

#define WORDS_MAX	32

/* A number, in a form that says the same. */
static void numbers(uint64_t n, uint8_t form)
{
	static const struct {
		const char *unit;
		uint64_t factor;
	} units[] = {
		{ "", 1 }, { "k", 1000 }, { "K", 1000 }, { "M", 1000000 },
		{ "G", 1000000000 }, { "Ki", 1024 }, { "Mi", 1 << 20 },
		{ "Gi", 1 << 30 }, { "e3", 1000 },
	};
	static const struct {
		const char *unit;
		uint64_t ns;
	} times[] = {
		{ "", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 },
	};
	uint64_t factor = units[form % 9].factor;
	static char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "%s", n, units[form % 9].unit);
	if (ctl_runs()) {
		/* Beyond 2^53 a number with a unit is a double's. */
		if (form % 9 == 0)
			REQUIRE(parse_count("number", text) == n);
		else if (n < (1ULL << 53) / factor)
			REQUIRE(parse_count("number", text) == n * factor);
		else
			parse_count("number", text);
		factor = times[form % 7].ns;
		n &= 0xffff;
		snprintf(text, sizeof(text), "%" PRIu64 "%s", n, times[form % 7].unit);
		if (n * factor < 1ULL << 53)
			REQUIRE(parse_duration("time", text) == n * factor);
		else
			parse_duration("time", text);
	} else {
		REQUIRE(factor > 1);
	}
}

static void humans(double value)
{
	REQUIRE(strlen(human_count(value)) < 32);
	REQUIRE(strlen(human_bytes(value)) < 32);
	REQUIRE(strlen(human_rate(value)) < 32);
	REQUIRE(strlen(human_duration(value)) < 32);
}

static void single(uint8_t which, const char *text)
{
	uint64_t pair[2];
	double rate;

	switch (which % 8) {
	case 0:
		parse_count("number", text);
		break;
	case 1:
		rate = parse_rate(text);
		REQUIRE(rate > 0 && rate < 1);
		break;
	case 2:
		REQUIRE(parse_duration("time", text) <= INT64_MAX);
		break;
	case 3:
		parse_seed(text, pair);
		REQUIRE(strlen(text) == 32);
		break;
	case 4:
		parse_range(text, &pair[0], &pair[1]);
		REQUIRE(pair[0] <= pair[1]);
		break;
	case 5:
		REQUIRE(!(parse_mode(text) & ~0666U));
		break;
	case 6:
		REQUIRE(parse_byte("byte", text) < 256);
		break;
	default:
		parse_group(text);
	}
}

/* A command line: words closed by newline. */
static void command(char *text)
{
	char *words[WORDS_MAX + 2] = { "size" };
	int count = 1;

	for (text = strtok(text, "\n"); text && count <= WORDS_MAX;
	     text = strtok(NULL, "\n"))
		words[count++] = text;
	optind = 0;
	verb = &verb_size;
	REQUIRE(!verb_size.run(count, words));
	out_flush();
}

/* What programs print is of no interest here. */
static void silence(void)
{
	static bool done;
	int null;

	if (done)
		return;
	null = open("/dev/null", O_WRONLY);
	REQUIRE(null >= 0 && dup2(null, STDOUT_FILENO) >= 0);
	done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t which;
	uint64_t n;
	double x;
	char *text;

	if (!bytes)
		return -1;
	silence();
	which = *data++;
	bytes--;
	text = malloc(bytes + 1);
	REQUIRE(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (which & 0x80) {
		n = 0;
		memcpy(&n, data, bytes < 8 ? bytes : 8);
		memcpy(&x, &n, sizeof(x));
		numbers(n >> (which & 63), bytes > 8 ? data[8] : 0);
		humans(x);
	} else if (ctl_runs()) {
		if (which & 0x40)
			command(text);
		else
			single(which, text);
	}
	free(text);
	return 0;
}
