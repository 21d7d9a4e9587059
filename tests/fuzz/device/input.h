/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzer runs: a few steps for some threads. Every byte of a step means
 * something, so that whatever a mutation makes of it can be run.
 */
#ifndef BLOOM_FUZZ_INPUT_H
#define BLOOM_FUZZ_INPUT_H

#include <stdio.h>
#include "device.h"

typedef __u16 u16;

#define STEPS_MAX	24
#define THREADS		3

enum op {
	OP_CREATE, OP_OPEN, OP_UNLINK, OP_LIST,
	OP_ADD, OP_QUERY, OP_REMOVE, OP_INFO, OP_CLEAR, OP_ROTATE, OP_LINK, OP_LOAD,
	OP_IOCTL, OP_MMAP, OP_MUNMAP, OP_MPROTECT, OP_POLL, OP_READ, OP_WRITE,
	OP_CLOSE, OP_DUP, OP_FDINFO, OP_DOOR, OP_IDENTITY, OP_SIGNAL, OPS
};

extern const char *const op_names[OPS];

/**
 * struct step - one system call, or a few that belong together
 * @op: enum op, modulo their number
 * @thread: modulo THREADS: whose step it is; STEP_RACES: it need not wait until
 *	all steps before it are done
 * @fd: slot of the descriptor it is for
 * @to: slot of the descriptor it makes; for other requests how long the structure
 *	says that it is
 * @name: which name
 * @choice: kind, growth, flags, ...
 * @amount: keys, capacity, ...
 * @memory: MEMORY_*: where buffers are not as they should be
 * @fault: not 0: the how many-th allocation or copy fails
 * @poke_at: half the offset in the structure where @value is put
 * @poke_bytes: how much of it, modulo 9; 0: nothing
 * @more: further choices
 * @value: what is put there
 */
struct step {
	u8 op;
	u8 thread;
	u8 fd;
	u8 to;
	u8 name;
	u8 choice[3];
	u16 amount;
	u8 memory;
	u8 fault;
	u8 poke_at;
	u8 poke_bytes;
	u8 more[2];
	u64 value;
};

#define STEP_RACES	0x80

/* The second half of a buffer can't be read or written. */
#define MEMORY_KEYS	0x01
#define MEMORY_VERDICTS	0x02
#define MEMORY_LENS	0x04
#define MEMORY_REQUEST	0x08
/* None at all. */
#define MEMORY_NONE	0x10
/* Can be read only. */
#define MEMORY_CONST	0x20

struct input {
	u32 count;
	struct step steps[STEPS_MAX];
};

/* One of sensible steps, of a random number. */
void input_generate(struct input *input, u64 *random);
/* A few changes; steps of @other may come in. */
void input_mutate(struct input *input, const struct input *other, u64 *random);

/*
 * As text: a line a step, its operation's name and all of its bytes. Reading, a
 * line that begins with '#' begins anew: of many inputs the last one is read.
 */
size_t input_print(const struct input *input, u64 number, char *text, size_t room);
/* Return: false if there is a line that is no step. */
bool input_read(struct input *input, FILE *from);

#endif /* BLOOM_FUZZ_INPUT_H */
