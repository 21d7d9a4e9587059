// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Every bit of a key flips every bit of its 64-bit hash in half of all cases.
 *
 * The keys are random and, since there are few keys of a byte or two, the part
 * of the seed that lookup3 starts from as well. Of T keys T / 2 flips are
 * expected, with a standard deviation of sqrt(T) / 2: a bias of 0.0014 at
 * T = 2^17. Of the 70,000 pairs of bits the worst is expected at 4.4 deviations,
 * 0.006; 0.01 is 7.2 deviations. lookup3's word b alone is off by 0.28 for keys
 * of up to 12 bytes.
 */
#include "check.h"

#define TRIALS_LOG2	17
#define BIAS_MAX	0.01

/*
 * 64 counters at once, one for every bit position: digits[i] holds bit i of all
 * of them, and adding 1 to some is a ripple of carries.
 */
static void count(u64 *digits, u64 ones)
{
	u64 carry;

	while (ones) {
		carry = *digits & ones;
		*digits++ ^= ones;
		ones = carry;
	}
}

static double worst_bias(const u64 *digits)
{
	double bias, worst = 0;
	u32 out, i, flips;

	for (out = 0; out < 64; out++) {
		flips = 0;
		for (i = 0; i <= TRIALS_LOG2; i++)
			flips |= (digits[i] >> out & 1) << i;
		bias = (double)flips / (1U << TRIALS_LOG2) - 0.5;
		if (bias < 0)
			bias = -bias;
		if (bias > worst)
			worst = bias;
	}
	return worst;
}

static void avalanche(void **state)
{
	u64 seed[2] = { 0, 0x0123456789abcdefULL };
	u64 digits[128][TRIALS_LOG2 + 1], hash;
	u32 len, bit, trial;
	double bias, worst = 0;
	u64 words[2];
	u8 key[16];

	(void)state;
	for (len = 1; len <= sizeof(key); len++) {
		memset(digits, 0, sizeof(digits));
		for (trial = 0; trial < 1U << TRIALS_LOG2; trial++) {
			words[0] = bloom_mix64(3 * trial + 1);
			words[1] = bloom_mix64(3 * trial + 2);
			seed[0] = bloom_mix64(3 * trial + 3);
			memcpy(key, words, sizeof(key));
			hash = bloom_hash_jhash(key, len, seed);
			for (bit = 0; bit < 8 * len; bit++) {
				key[bit / 8] ^= 1 << bit % 8;
				count(digits[bit], hash ^
				      bloom_hash_jhash(key, len, seed));
				key[bit / 8] ^= 1 << bit % 8;
			}
		}
		for (bit = 0; bit < 8 * len; bit++) {
			bias = worst_bias(digits[bit]);
			if (bias > BIAS_MAX)
				fail_msg("%u bytes, bit %u: bias %.4f", len,
					 bit, bias);
			if (bias > worst)
				worst = bias;
		}
	}
	printf("# worst bias %.4f, at most %.4f\n", worst, BIAS_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(avalanche),
	};

	return cmocka_run_group_tests_name("core avalanche", tests, NULL, NULL);
}
