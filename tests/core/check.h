/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* What every test program of the core begins with. */
#ifndef BLOOM_TESTS_CHECK_H
#define BLOOM_TESTS_CHECK_H

/* cmocka.h wants these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "core_geometry.h"
#include "core_hash.h"
#include "core_probe.h"

/* A rate as 0.64 fixed point. */
#define RATE(p)		((u64)((p) * 18446744073709551616.0))

static inline void *must_alloc(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		abort();
	return p;
}

#endif /* BLOOM_TESTS_CHECK_H */
