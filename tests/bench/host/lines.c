// SPDX-License-Identifier: GPL-2.0
/*
 * lines urls|uuids|sadd|setbit N: test data on stdout, the same each time.
 *	urls	N lines of 76 bytes, each text twice, in random order
 *	uuids	N different lines of 36 characters
 *	sadd	the urls as members of a set: requests for redis-cli --pipe
 *	setbit	the urls as a Bloom filter that the client keeps in a string of Redis's,
 *		with an error of 1e-6; likewise requests
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/*
 * A permutation of 0..n-1, by a Feistel network over the next power of four and
 * walking on while the result is too large.
 */
static uint64_t permute(uint64_t i, uint64_t n)
{
	unsigned int half = 1, round;
	uint64_t mask, left, right, t;

	while (1ULL << 2 * half < n)
		half++;
	mask = (1ULL << half) - 1;
	do {
		left = i >> half;
		right = i & mask;
		for (round = 0; round < 4; round++) {
			t = left ^ (mix(right + (round + 1) * 0x9e3779b97f4a7c15ULL) & mask);
			left = right;
			right = t;
		}
		i = left << half | right;
	} while (i >= n);
	return i;
}

/* ln 2 * bits a key is the best number of probes; 2^-20 is just below 1e-6. */
#define SETBIT_PROBES	20
#define SETBIT_BITS	29	/* a key */

static void setbit(uint64_t id, uint64_t n)
{
	char at[24];
	int i;

	for (i = 0; i < SETBIT_PROBES; i++) {
		snprintf(at, sizeof(at), "%llu",
			 (unsigned long long)(mix(id * SETBIT_PROBES + i) %
					      (n * SETBIT_BITS)));
		printf("*4\r\n$6\r\nSETBIT\r\n$1\r\nb\r\n$%zu\r\n%s\r\n$1\r\n1\r\n",
		       strlen(at), at);
	}
}

int main(int argc, char **argv)
{
	uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, i, id;
	char line[128];

	if (!n) {
		fprintf(stderr, "usage: lines urls|uuids|sadd|setbit N\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		if (!strcmp(argv[1], "uuids")) {
			uint64_t a = mix(i + 1), b = mix(~i);

			printf("%08x-%04x-4%03x-%04x-%012llx\n", (uint32_t)(a >> 32),
			       (uint32_t)(a >> 16 & 0xffff), (uint32_t)(a & 0xfff),
			       (uint32_t)(b >> 48 & 0x3fff) | 0x8000,
			       (unsigned long long)(b & 0xffffffffffffULL));
			continue;
		}
		id = permute(i, n) / 2;
		if (!strcmp(argv[1], "setbit")) {
			setbit(id, n);
			continue;
		}
		/* 75 characters and the end of the line. */
		snprintf(line, sizeof(line),
			 "https://www.example%03u.org/archive/%016llx/page-%010llu.html",
			 (unsigned int)(mix(id) % 1000),
			 (unsigned long long)mix(id + 1), (unsigned long long)id);
		memset(line + strlen(line), 'x', sizeof(line) - strlen(line));
		line[75] = 0;
		if (!strcmp(argv[1], "sadd"))
			printf("*3\r\n$4\r\nSADD\r\n$1\r\ns\r\n$75\r\n%s\r\n", line);
		else
			puts(line);
	}
	return 0;
}
