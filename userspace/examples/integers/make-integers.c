// SPDX-License-Identifier: GPL-2.0
/*
 * make-integers: random integers, the same for the same seed on every machine.
 */
#include <inttypes.h>
#include <string.h>
#include "../example.h"

/* SplitMix64, by Sebastiano Vigna. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

int main(int argc, char **argv)
{
	uint64_t count, max, state = 1;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		puts("usage: make-integers COUNT MAX [SEED]\n\n"
		     "Print COUNT integers drawn at random out of 1..MAX (at most 2^32),\n"
		     "the same for the same SEED (1).");
		return 0;
	}
	if (argc < 3 || argc > 4)
		die("needs COUNT and MAX; see make-integers --help");
	count = parse_number("COUNT", argv[1], 0, UINT64_MAX);
	max = parse_number("MAX", argv[2], 1, UINT64_C(1) << 32);
	if (argc == 4)
		state = parse_number("SEED", argv[3], 0, UINT64_MAX);

	while (count--) {
		__uint128_t scaled = (__uint128_t)next_random(&state) * max;

		printf("%" PRIu64 "\n", 1 + (uint64_t)(scaled >> 64));
	}
	finish(stdout);
	return 0;
}
