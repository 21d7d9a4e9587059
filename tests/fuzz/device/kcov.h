/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the module's code a thread's system calls reach, as KCOV tells.
 */
#ifndef BLOOM_FUZZ_KCOV_H
#define BLOOM_FUZZ_KCOV_H

#include "device.h"

/* A thread's trace; one thread has one. */
struct trace {
	int fd;
	unsigned long *pcs;	/* how many, then one by one */
};

/* For the calling thread. Return: 0 or -errno. */
int trace_open(struct trace *trace);
void trace_begin(struct trace *trace);
/* Take what was reached since trace_begin() into the account. */
void trace_end(struct trace *trace);

/* What all threads reached: basic blocks, and pairs of one after the other. */
u64 covered_blocks(void);
u64 covered_edges(void);

#endif /* BLOOM_FUZZ_KCOV_H */
