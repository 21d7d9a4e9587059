/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the examples share: complaints and numbers.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <bloomdev.h>

#define STATUS_ERROR	2

#define die(...)	errx(STATUS_ERROR, __VA_ARGS__)

/* The library names the thing, the value and the limit. */
#define die_library()	die("%s", bloomdev_message())

static inline void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

/* A whole number, of an option for instance. */
static inline uint64_t parse_number(const char *what, const char *text,
				    uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < min || value > max)
		die("%s '%s': must be a whole number from %llu to %llu", what, text,
		    (unsigned long long)min, (unsigned long long)max);
	return value;
}

static inline double parse_rate(const char *what, const char *text)
{
	char *end;
	double rate = strtod(text, &end);

	if (end == text || *end || !(rate > 0.0 && rate < 1.0))
		die("%s '%s': must be between 0 and 1, such as 0.001", what, text);
	return rate;
}

/* What was printed must have got there. */
static inline void finish(FILE *out)
{
	if (ferror(out) || fflush(out))
		err(STATUS_ERROR, "cannot write the output");
}

#endif /* EXAMPLE_H */
