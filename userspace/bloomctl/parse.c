// SPDX-License-Identifier: GPL-2.0
/*
 * What people write to what programs compute with. Whatever is not understood to
 * its last byte is an error that repeats it.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bloomctl.h"

/* A number without sign or space in front, not "inf", "0x" or a mere point. */
static bool looks_like_number(const char *text)
{
	if (*text == '.')
		return isdigit((unsigned char)text[1]);
	return isdigit((unsigned char)*text) && text[1] != 'x' && text[1] != 'X';
}

static double factor_of(const char *unit)
{
	static const char letters[] = "kMGTPE";
	const char *letter;

	if (!*unit)
		return 1;
	letter = strchr(letters, *unit == 'K' ? 'k' : *unit);
	if (!letter)
		return 0;
	if (!unit[1])
		return pow(1000, letter - letters + 1);
	if (unit[1] == 'i' && !unit[2])
		return pow(1024, letter - letters + 1);
	return 0;
}

uint64_t parse_count(const char *what, const char *text)
{
	unsigned long long whole;
	double value, factor;
	char *end;

	if (!looks_like_number(text))
		die("%s '%s' is not a number (1000000, 100M, 64Ki)", what, text);

	/* Whole numbers exactly, even those that no double can hold. */
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (end != text && !*end && !errno)
		return whole;

	value = strtod(text, &end);
	factor = factor_of(end);
	if (factor == 0.0)
		die("%s '%s' is not a number (1000000, 100M, 64Ki)", what, text);
	value *= factor;
	if (value >= 0x1p64)
		die("%s %s is more than %llu, the largest number there is", what,
		    text, (unsigned long long)UINT64_MAX);
	if (value != floor(value))
		die("%s %s is not a whole number", what, text);
	return value;
}

double parse_rate(const char *text)
{
	const char *number = *text == '-' || *text == '+' ? text + 1 : text;
	double value;
	char *end;

	value = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "%")))
		die("false-positive rate '%s' is not a number (0.001, 0.1%%, 1e-6)",
		    text);
	if (!looks_like_number(number))
		die("false-positive rate %s is not between 0 and 1", text);
	if (*end)
		value /= 100.0;
	if (!(value > 0.0 && value < 1.0))
		die("false-positive rate %s is not between 0 and 1", text);
	return value;
}

static double unit_ns(const char *unit, size_t len)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
		{ "d", 86400e9 }, { "", 1e9 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == len &&
		    !strncmp(units[i].name, unit, len))
			return units[i].ns;
	}
	return 0;
}

uint64_t parse_duration(const char *what, const char *text)
{
	const char *p = text;
	double sum = 0, value, ns;
	size_t len;
	char *end;

	do {
		if (!looks_like_number(p))
			die("%s '%s' is not a time (50ms, 10m, 1h30m)", what, text);
		value = strtod(p, &end);
		len = strspn(end, "abcdefghijklmnopqrstuvwxyz");
		ns = unit_ns(end, len);
		/* Only the last number can do without a unit. */
		if (ns == 0.0 || (!len && *end))
			die("%s '%s' is not a time (50ms, 10m, 1h30m)", what, text);
		sum += value * ns;
		p = end + len;
	} while (*p);
	if (!(sum < 0x1p63))
		die("%s %s is longer than 292 years", what, text);
	return sum;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void parse_seed(const char *text, uint64_t seed[2])
{
	int i, digit;

	seed[0] = 0;
	seed[1] = 0;
	for (i = 0; i < 32; i++) {
		digit = hex_digit(text[i]);
		if (digit < 0)
			break;
		seed[i / 16] = seed[i / 16] << 4 | digit;
	}
	if (i < 32 || text[32])
		die("seed '%s' is not 32 hexadecimal digits", text);
}

void parse_range(const char *text, uint64_t *first, uint64_t *last)
{
	char *end;

	errno = 0;
	*first = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end != '-' ||
	    !isdigit((unsigned char)end[1]))
		die("range '%s' is not two numbers, FIRST-LAST", text);
	*last = strtoull(end + 1, &end, 10);
	if (*end)
		die("range '%s' is not two numbers, FIRST-LAST", text);
	if (errno)
		die("range %s goes beyond %llu", text,
		    (unsigned long long)UINT64_MAX);
	if (*last < *first)
		die("range %s ends before it begins", text);
}

unsigned int parse_mode(const char *text)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (!isdigit((unsigned char)*text) || *end)
		die("mode '%s' is not an octal number", text);
	if (mode & ~0666UL)
		die("mode %s has more than the permission bits 0666", text);
	return mode;
}

uint32_t parse_group(const char *text)
{
	struct group *group = getgrnam(text);
	unsigned long gid;
	char *end;

	if (group)
		return group->gr_gid;
	errno = 0;
	gid = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || gid >= UINT32_MAX)
		die("there is no group '%s'", text);
	return gid;
}

int parse_byte(const char *what, const char *text)
{
	if (text[0] && !text[1])
		return (unsigned char)text[0];
	if (text[0] == '\\' && text[1] && !text[2]) {
		switch (text[1]) {
		case 't':
			return '\t';
		case '0':
			return '\0';
		case 'n':
			return '\n';
		case '\\':
			return '\\';
		}
	}
	if (text[0] == '\\' && text[1] == 'x' && hex_digit(text[2]) >= 0 &&
	    hex_digit(text[3]) >= 0 && !text[4])
		return hex_digit(text[2]) << 4 | hex_digit(text[3]);
	die("%s '%s' is not one byte (',', '\\t', '\\x1f')", what, text);
}
