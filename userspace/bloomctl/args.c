// SPDX-License-Identifier: GPL-2.0
/*
 * Options and operands. One table a verb is both what getopt reads and what help
 * prints, so that the two can't differ.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bloomctl.h"

#define OPTS_MAX	40

static const struct opt help_opt = { 'h', "help", NULL, "print this" };

static int count_opts(const struct verb *v)
{
	int n = 0;

	while (v->opts && v->opts[n].name)
		n++;
	return n;
}

/* What getopt_long() wants, from our table. */
static void make_tables(const struct verb *v, char *brief, struct option *full)
{
	int i, n = count_opts(v);
	const struct opt *o;

	*brief++ = ':';
	for (i = 0; i <= n; i++) {
		o = i < n ? &v->opts[i] : &help_opt;
		full[i].name = o->name;
		full[i].has_arg = o->arg ? required_argument : no_argument;
		full[i].val = o->key;
		if (o->key > 255)
			continue;
		*brief++ = o->key;
		if (o->arg)
			*brief++ = ':';
	}
	*brief = '\0';
}

int args_next(int argc, char **argv)
{
	static struct option full[OPTS_MAX + 2];
	static char brief[2 * OPTS_MAX + 4];
	const char *word;
	int key;

	if (!full[0].name)
		make_tables(verb, brief, full);
	word = argv[optind];
	key = getopt_long(argc, argv, brief, full, NULL);
	switch (key) {
	case 'h':
		args_help(verb);
		exit(fflush(stdout) ? STATUS_ERROR : 0);
	case ':':
		die("option %s needs an argument", word);
	case '?':
		if (optopt > 0 && optopt < 256)
			die("there is no option -%c; see 'bloomctl %s --help'",
			    optopt, verb->name);
		die("there is no such option, or it takes no argument: %s", word);
	default:
		return key;
	}
}

char **args_operands(int argc, char **argv, int min, int max, int *count)
{
	int n = argc - optind;

	if (n < min || (max >= 0 && n > max))
		die("%s; usage: bloomctl %s [option...] %s",
		    n < min ? "something is missing" : "too many arguments",
		    verb->name, verb->args);
	if (count)
		*count = n;
	return argv + optind;
}

static void help_line(const struct opt *o)
{
	char left[64], brief[8] = "    ";

	if (o->key < 256)
		snprintf(brief, sizeof(brief), "-%c, ", o->key);
	snprintf(left, sizeof(left), "%s--%s%s%s", brief, o->name,
		 o->arg ? " " : "", o->arg ? o->arg : "");
	printf("  %-22s %s\n", left, o->help);
}

void args_help(const struct verb *v)
{
	const struct opt *o;

	printf("usage: bloomctl %s [option...] %s\n\n%s\n", v->name, v->args,
	       v->summary);
	if (v->about)
		printf("%s\n", v->about);
	putchar('\n');
	for (o = v->opts; o && o->name; o++)
		help_line(o);
	help_line(&help_opt);
}
