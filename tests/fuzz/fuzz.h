/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What the fuzzers of this machine share.
 */
#ifndef BLOOM_FUZZ_H
#define BLOOM_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What differs from plain code, or can't be, ends the run. */
#define REQUIRE(x) do {							\
	if (!(x)) {							\
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,	\
			__LINE__, #x);					\
		abort();						\
	}								\
} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#endif /* BLOOM_FUZZ_H */
