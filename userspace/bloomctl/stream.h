/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines in, a verdict for each key, lines out: the work that add, query, remove
 * and dedup have in common.
 */
#ifndef BLOOMCTL_STREAM_H
#define BLOOMCTL_STREAM_H

#include "bloomctl.h"

typedef int (*stream_op)(struct bloomdev_filter *filter,
			 const struct bloomdev_keys *keys, uint8_t *verdicts,
			 struct bloomdev_result *result);

/**
 * struct stream
 * @filter: asked about the keys
 * @op: how: bloomdev_filter_add(), _query() or _remove()
 * @integers: keys are decimal integers (of a bitmap)
 * @end: the byte that ends a line
 * @delimiter: the byte between fields
 * @field: the key is this field, from 1; 0: the whole line
 * @select: print lines whose verdict this is; a mask of 1 << verdict
 * @print: print at all
 * @lines: lines read so far
 * @selected: how many were selected
 * @present: how many were present
 * @out_of_range: how many were no integer of the bitmap
 * @after: called after every batch, or NULL
 */
struct stream {
	struct bloomdev_filter *filter;
	stream_op op;
	bool integers;
	unsigned char end;
	unsigned char delimiter;
	uint64_t field;
	unsigned int select;
	bool print;
	uint64_t lines;
	uint64_t selected;
	uint64_t present;
	uint64_t out_of_range;
	void (*after)(struct stream *s);
};

#define SELECT_ABSENT	(1U << BLOOMDEV_ABSENT)
#define SELECT_PRESENT	(1U << BLOOMDEV_PRESENT)
#define SELECT_RANGE	(1U << BLOOMDEV_OUT_OF_RANGE)

#define STREAM_OPTIONS \
	{ '0', "null", NULL, "lines end with NUL, not with newline" }, \
	{ 'd', "delimiter", "BYTE", "what separates fields (default: tab)" }, \
	{ 'f', "field", "N", "the key is field N of the line; the whole line is printed" }, \
	{ 'c', "count", NULL, "print the number of lines only" }, \
	{ 'v', "invert", NULL, "print the other lines" }, \
	{ 'q', "quiet", NULL, "print nothing; exit 0 if a line was selected, else 1" }

/* Flags that are common, but not part of the stream. */
struct stream_flags {
	bool count;
	bool invert;
	bool quiet;
};

void stream_init(struct stream *s);
bool stream_option(struct stream *s, struct stream_flags *flags, int key);

/* Does @filter, if it can be asked, take integers? */
bool stream_integers(struct bloomdev_filter *filter);

/* All of standard input. */
void stream_input(struct stream *s);
/* Words of the command line, each as a line. */
void stream_words(struct stream *s, char **words, int count);

/* Print the count if asked for. Return: the exit status. */
int stream_finish(struct stream *s, const struct stream_flags *flags,
		  bool status_tells);

#endif /* BLOOMCTL_STREAM_H */
