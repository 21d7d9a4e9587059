// SPDX-License-Identifier: LGPL-2.1
/*
 * What went wrong, in words: one sentence for each thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "internal.h"

static __thread char message[512] = "no error";

static void say(int err, bool system, const char *fmt, va_list args)
{
	char name[64];
	int len;

	len = vsnprintf(message, sizeof(message), fmt, args);
	if (system && len >= 0 && (size_t)len < sizeof(message))
		snprintf(message + len, sizeof(message) - len, ": %s",
			 strerror_r(err, name, sizeof(name)));
	errno = err;
}

int bloomdev_fail(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(err, false, fmt, args);
	va_end(args);
	return -err;
}

int bloomdev_fail_sys(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(err, true, fmt, args);
	va_end(args);
	return -err;
}

BLOOMDEV_API const char *bloomdev_message(void)
{
	return message;
}

BLOOMDEV_API unsigned int bloomdev_version(void)
{
	return BLOOMDEV_VERSION;
}

static const char *pick(const char *const names[], unsigned int count,
			unsigned int i)
{
	return i < count ? names[i] : "unknown";
}

BLOOMDEV_API const char *bloomdev_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[BLOOMDEV_KIND_BLOCKED] = "blocked",
		[BLOOMDEV_KIND_CLASSIC] = "classic",
		[BLOOMDEV_KIND_COUNTING] = "counting",
		[BLOOMDEV_KIND_BITMAP] = "bitmap",
	};

	return pick(names, sizeof(names) / sizeof(names[0]), kind);
}

BLOOMDEV_API const char *bloomdev_growth_name(unsigned int growth)
{
	static const char *const names[] = {
		[BLOOMDEV_GROWTH_FIXED] = "fixed",
		[BLOOMDEV_GROWTH_SCALING] = "scaling",
		[BLOOMDEV_GROWTH_WINDOW] = "window",
	};

	return pick(names, sizeof(names) / sizeof(names[0]), growth);
}

BLOOMDEV_API const char *bloomdev_hash_name(unsigned int hash)
{
	static const char *const names[] = {
		[BLOOMDEV_HASH_JHASH] = "jhash",
		[BLOOMDEV_HASH_SIPHASH] = "siphash",
	};

	return pick(names, sizeof(names) / sizeof(names[0]), hash);
}
