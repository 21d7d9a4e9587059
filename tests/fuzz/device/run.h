/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An input, run by threads from a clean beginning to a clean end.
 */
#ifndef BLOOM_FUZZ_RUN_H
#define BLOOM_FUZZ_RUN_H

#include "input.h"

/* Start the threads. Return: 0, or -errno if there is no KCOV. */
int run_start(void);
/* All steps; what was opened, mapped and named is gone afterwards. */
void run_input(const struct input *input);

#endif /* BLOOM_FUZZ_RUN_H */
