/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one thread needs to take a step, and how steps went.
 */
#ifndef BLOOM_FUZZ_STEP_H
#define BLOOM_FUZZ_STEP_H

#include <pthread.h>
#include "input.h"
#include "kcov.h"

#define SLOTS		5	/* of descriptors, shared by all threads */
#define DOORS		2	/* the first of them are for /dev/bloom itself */
#define MAPS		2

/* A buffer that ends where no memory is. */
struct arena {
	u8 *base;
	u8 *end;
};

/**
 * struct worker - a thread
 * @number: 0 .. THREADS - 1
 * @thread: it
 * @trace: what its calls reach
 * @fail_nth: its /proc/thread-self/fail-nth, or -errno
 * @request: where structures are handed over
 * @keys: bytes of keys, words to load
 * @lens: their lengths
 * @out: verdicts, rows
 * @constant: can be read, not written
 * @maps: what it has mapped, or NULL
 * @map_bytes: their lengths
 */
struct worker {
	u32 number;
	pthread_t thread;
	struct trace trace;
	int fail_nth;
	struct arena request;
	struct arena keys;
	struct arena lens;
	struct arena out;
	struct arena constant;
	u8 *maps[MAPS];
	size_t map_bytes[MAPS];
};

extern int slots[SLOTS];
extern struct worker workers[THREADS];

/* Of each operation, how many went well, and how many were refused. */
extern u64 went_well[OPS], refused[OPS];
/* Answers that the header does not know; each is told on stderr. */
extern u64 wrong_answers;

/* Take @step; a value from 0 upwards, or -errno. */
long step_take(struct worker *w, const struct step *step);

/* One request to a filter or /dev/bloom. */
long step_request(struct worker *w, const struct step *step);
/* The descriptor that a step is for. */
int step_fd(const struct step *step);
/* Keep a new one; what was in the slot is closed. */
void step_keep(const struct step *step, int fd);

#endif /* BLOOM_FUZZ_STEP_H */
