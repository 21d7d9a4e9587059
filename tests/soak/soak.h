/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the soak's processes share.
 */
#ifndef BLOOM_TESTS_SOAK_H
#define BLOOM_TESTS_SOAK_H

#include "device.h"

#define PREFIX	"test.soak."
/* Keys of a round of the pair that adds the same ones. */
#define PAIR_KEYS	40000

/**
 * struct role - what one process does, again and again
 * @name: for the report
 * @round: one round; ends by itself within seconds
 */
struct role {
	const char *name;
	void (*round)(void);
};

/**
 * struct tally - what a process has done; in memory that all see
 * @rounds: rounds
 * @calls: calls of the kernel about a filter
 * @keys: keys in them
 * @refused: calls that were refused for want of memory or for a cap
 * @error: the first thing that was wrong
 */
struct tally {
	u64 rounds, calls, keys, refused;
	char error[200];
};

/**
 * struct shared - in memory that all see
 * @stop: end after this round
 * @tallies: one a role
 * @pair_fd: the pair's filter
 * @pair_barrier: the two wait for one another
 * @pair_told: how often each key was said to be new
 */
struct shared {
	u32 stop;
	struct tally tallies[16];
	u32 pair_barrier;
	u8 pair_told[PAIR_KEYS];
};

extern struct shared *shared;
extern struct tally *mine;
extern const struct role roles[];
extern const u32 role_count;

bool stopped(void);
/* Something is wrong: said, counted, and the end of it all. */
void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...);

/* Count a call about @keys keys. Return: did it do what it should? */
bool did(long ret, u64 keys, const char *what);
u64 dice(void);

void image_round(void);
void map_round(void);

#endif /* BLOOM_TESTS_SOAK_H */
