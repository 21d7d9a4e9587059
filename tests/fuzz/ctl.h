/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bloomctl's parts without its main(): where it would end, a run ends.
 */
#ifndef BLOOM_FUZZ_CTL_H
#define BLOOM_FUZZ_CTL_H

#include <setjmp.h>
#include "bloomctl.h"
#include "fuzz.h"
#include "internal.h"

extern jmp_buf ctl_end;
/* Why it ended: what die() said, or "". */
extern char ctl_said[4096];

/*
 * if (ctl_runs()) { ... } else { ended by die() or exit() }
 * What is set in between and looked at afterwards must be volatile or static.
 */
#define ctl_runs()	(ctl_said[0] = '\0', !setjmp(ctl_end))

/* In place of exit(), realloc() and free(). */
void ctl_exit(int status) __attribute__((noreturn));
void *ctl_realloc(void *old, size_t bytes);
void ctl_free(void *block);
/* All that bloomctl allocated and did not free. */
void ctl_free_all(void);

#endif /* BLOOM_FUZZ_CTL_H */
