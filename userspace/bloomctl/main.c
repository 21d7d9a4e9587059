// SPDX-License-Identifier: GPL-2.0
/*
 * bloomctl: Bloom filters in the kernel, from the command line.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bloomctl.h"

const struct verb *verb;

static void print_usage(FILE *to)
{
	const struct verb *const *v;

	fputs("usage: bloomctl VERB [option...] [argument...]\n\n", to);
	for (v = verbs; *v; v++)
		fprintf(to, "  %-8s %s\n", (*v)->name, (*v)->summary);
	fputs("\n'bloomctl VERB --help' tells more of one; bloomctl(1) of all.\n",
	      to);
}

static const struct verb *find_verb(const char *name)
{
	const struct verb *const *v;

	for (v = verbs; *v; v++) {
		if (!strcmp((*v)->name, name))
			return *v;
	}
	return NULL;
}

static void say(const char *fmt, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "bloomctl: %s%s", verb ? verb->name : "",
		verb ? ": " : "");
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	exit(STATUS_ERROR);
}

void die_library(void)
{
	die("%s", bloomdev_message());
}

struct bloomdev_filter *open_filter(const char *name, unsigned int access)
{
	struct bloomdev_filter *filter;

	filter = bloomdev_filter_open(NULL, name, access);
	if (!filter)
		die_library();
	return filter;
}

static int help(int argc, char **argv)
{
	const struct verb *v = argc > 1 ? find_verb(argv[1]) : NULL;

	if (argc > 1 && !v)
		die("there is no verb '%s'", argv[1]);
	if (v)
		args_help(v);
	else
		print_usage(stdout);
	return fflush(stdout) ? STATUS_ERROR : 0;
}

static void check_version(void)
{
	unsigned int version = bloomdev_version();

	if (version >> 16 != BLOOMDEV_VERSION_MAJOR || version < BLOOMDEV_VERSION)
		die("libbloomdev has version %u.%u; %d.%d or newer is needed",
		    version >> 16, version & 0xffff, BLOOMDEV_VERSION_MAJOR,
		    BLOOMDEV_VERSION_MINOR);
}

int main(int argc, char **argv)
{
	int status;

	check_version();
	if (argc < 2) {
		print_usage(stderr);
		return STATUS_ERROR;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("bloomctl " VERSION);
		return fflush(stdout) ? STATUS_ERROR : 0;
	}

	verb = find_verb(argv[1]);
	if (!verb)
		die("there is no verb '%s'; 'bloomctl help' lists them", argv[1]);
	status = verb->run(argc - 1, argv + 1);
	out_flush();
	return status;
}
