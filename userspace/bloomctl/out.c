// SPDX-License-Identifier: GPL-2.0
/*
 * Standard output in large pieces. Nothing is lost silently: what can't be
 * written ends the program with a message. A closed pipe ends it by SIGPIPE, as
 * it ends any program that writes to one.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bloomctl.h"

#define OUT_BYTES	(256U << 10)

static char buffer[OUT_BYTES];
static size_t used;

static void write_all(const char *data, size_t bytes)
{
	ssize_t n;

	while (bytes) {
		n = write(STDOUT_FILENO, data, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			used = 0;
			die("can't write the output: %s",
			    strerror(n ? errno : EIO));
		}
		data += n;
		bytes -= n;
	}
}

void out_flush(void)
{
	size_t bytes = used;

	used = 0;
	write_all(buffer, bytes);
}

void out_bytes(const void *data, size_t bytes)
{
	if (bytes > OUT_BYTES - used)
		out_flush();
	if (bytes >= OUT_BYTES) {
		write_all(data, bytes);
		return;
	}
	memcpy(buffer + used, data, bytes);
	used += bytes;
}

void out_text(const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		die("out of memory");
	out_bytes(text, len);
	free(text);
}
