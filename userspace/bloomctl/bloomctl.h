/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs of bloomctl share.
 */
#ifndef BLOOMCTL_H
#define BLOOMCTL_H

#include <bloomdev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As grep: something was selected; nothing was; it went wrong. */
#define STATUS_SOME	0
#define STATUS_NONE	1
#define STATUS_ERROR	2

/* ---------------------------------------------------------------- verbs */

/**
 * struct opt - an option of a verb, and its line of help
 * @key: the short option, or a number above 255 if there is none
 * @name: the long option
 * @arg: what the argument is called, or NULL if there is none
 * @help: what it does
 */
struct opt {
	int key;
	const char *name;
	const char *arg;
	const char *help;
};

/**
 * struct verb - a word that bloomctl understands
 * @name: the word
 * @args: its operands, for the usage line
 * @summary: what it does, in a line of the list of verbs
 * @about: more of it, for its help; or NULL
 * @opts: its options, ended by an empty one; or NULL
 * @run: does it; returns the exit status
 */
struct verb {
	const char *name;
	const char *args;
	const char *summary;
	const char *about;
	const struct opt *opts;
	int (*run)(int argc, char **argv);
};

extern const struct verb *const verbs[];
/* The one that runs. */
extern const struct verb *verb;

/* The next option's key, or -1 after the last; its argument is in optarg. */
int args_next(int argc, char **argv);
/* The operands that are left. Ends the program if their number is wrong. */
char **args_operands(int argc, char **argv, int min, int max, int *count);
void args_help(const struct verb *v);

/* --------------------------------------------------------------- messages */

/* "bloomctl: VERB: ..." on stderr, after what was printed before. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end with STATUS_ERROR. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The library's message, and the end. */
void __attribute__((noreturn)) die_library(void);

/* ----------------------------------------------------- human words to values */

/* Whole numbers: 100M, 64Ki, 1e6. */
uint64_t parse_count(const char *what, const char *text);
/* 0.001, 0.1%, 1e-6; between 0 and 1. */
double parse_rate(const char *text);
/* 10m, 50ms, 1h30m, 90 (seconds); in ns. */
uint64_t parse_duration(const char *what, const char *text);
/* 32 hexadecimal digits. */
void parse_seed(const char *text, uint64_t seed[2]);
/* FIRST-LAST */
void parse_range(const char *text, uint64_t *first, uint64_t *last);
unsigned int parse_mode(const char *text);
uint32_t parse_group(const char *text);
/* A byte, as itself or as \t, \0, \x09. */
int parse_byte(const char *what, const char *text);

/* ... and back; each in a buffer that lasts for some calls. */
const char *human_count(double n);
const char *human_bytes(double bytes);
const char *human_rate(double rate);
const char *human_duration(double seconds);

/* ----------------------------------------------------------------- output */

/* Standard output, in large pieces; whatever can't be written ends the program. */
void out_bytes(const void *data, size_t bytes);
void out_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void out_flush(void);

/* A progress callback that speaks on a terminal, about jobs that take long. */
int progress(void *what, uint64_t done, uint64_t total);

/* ------------------------------------------------------------ filter options */

/* Options that say what filter to make; create, dedup and size have them. */
enum {
	OPT_BITS = 256, OPT_PROBES, OPT_SCALING, OPT_WINDOW, OPT_PERIOD, OPT_ONCE,
	OPT_HASH, OPT_SEED, OPT_RANGE, OPT_BPF, OPT_MODE, OPT_GROUP, OPT_REPLACE,
	OPT_EXIST_OK, OPT_STATS, OPT_NEXT, OPT_IMAGE, OPT_VERIFY, OPT_RANGES,
	OPT_KEYS, OPT_SHOW_SEED, OPT_CREATE,
};

#define SHAPE_OPTIONS \
	{ 'n', "capacity", "N", "distinct keys to hold: 1000000, 100M" }, \
	{ 'p', "fp-rate", "P", "false-positive rate: 0.001, 0.1%, 1e-6" }, \
	{ 'k', "kind", "KIND", "blocked (default), classic, counting, bitmap" }, \
	{ OPT_SCALING, "scaling", NULL, "grow with the number of keys" }, \
	{ OPT_WINDOW, "window", "G", "remember G generations, 2 to 16" }, \
	{ OPT_PERIOD, "period", "TIME", "with --window: a generation's time: 50ms, 10m" }, \
	{ OPT_ONCE, "once", NULL, "with --window: a key seen again is not renewed" }, \
	{ OPT_BITS, "bits", "N", "the number of bits (counters) in place of capacity and rate" }, \
	{ OPT_PROBES, "probes", "K", "with --bits: bits a key sets" }, \
	{ OPT_RANGE, "range", "A-B", "bitmap: the integers it can hold" }, \
	{ OPT_HASH, "hash", "HASH", "jhash (default), siphash (keys from adversaries)" }, \
	{ OPT_SEED, "seed", "HEX", "32 hexadecimal digits, for filters to be merged" }

/* Take an option if it is one of these. */
bool shape_option(struct bloomdev_options *opts, int key);

/* Where a new name is put. */
struct naming {
	unsigned int mode;
	uint32_t group;
	unsigned int flags;
};

#define NAMING_OPTIONS \
	{ OPT_MODE, "mode", "MODE", "who may use the name; default 0660 less umask" }, \
	{ OPT_GROUP, "group", "GROUP", "its group; default: the caller's" }, \
	{ OPT_REPLACE, "replace", NULL, "take the name over from the filter that has it" }

void naming_init(struct naming *naming);
bool naming_option(struct naming *naming, int key);

/* Open by name or end the program. */
struct bloomdev_filter *open_filter(const char *name, unsigned int access);

#endif /* BLOOMCTL_H */
