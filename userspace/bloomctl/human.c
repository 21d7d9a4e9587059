// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers as people read them. The results stay valid for eight calls.
 */
#include <math.h>
#include <stdio.h>
#include "bloomctl.h"

static char *room(size_t *size)
{
	static char ring[8][32];
	static unsigned int next;

	*size = sizeof(ring[0]);
	return ring[next++ % 8];
}

static const char *scaled(double n, double step, const char *const units[],
			  int count)
{
	size_t size;
	char *text = room(&size);
	int i = 0;

	/* What would be rounded up to the next unit takes that unit. */
	while (n >= step * 0.9995 && i < count - 1) {
		n /= step;
		i++;
	}
	snprintf(text, size, "%.*f%s", i && n < 9.995 ? 2 : i && n < 99.95 ? 1 : 0,
		 n, units[i]);
	return text;
}

const char *human_count(double n)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t size;
	char *text;

	if (n < 100000) {
		text = room(&size);
		snprintf(text, size, "%.0f", n);
		return text;
	}
	return scaled(n, 1000, units, 7);
}

const char *human_bytes(double bytes)
{
	static const char *const units[] = {
		" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"
	};

	return scaled(bytes, 1024, units, 7);
}

const char *human_rate(double rate)
{
	size_t size;
	char *text = room(&size);

	if (rate >= 0.0001)
		snprintf(text, size, "%.3g%%", rate * 100);
	else
		snprintf(text, size, "%.3g", rate);
	return text;
}

const char *human_duration(double s)
{
	size_t size;
	char *text = room(&size);

	if (isinf(s) || isnan(s))
		snprintf(text, size, "never");
	else if (s < 0.001)
		snprintf(text, size, "%.0fus", s * 1e6);
	else if (s < 1)
		snprintf(text, size, "%.0fms", s * 1e3);
	else if (s < 60)
		snprintf(text, size, "%.3gs", s);
	else if (s < 3600)
		snprintf(text, size, "%dm%02ds", (int)s / 60, (int)s % 60);
	else if (s < 2 * 86400)
		snprintf(text, size, "%dh%02dm", (int)s / 3600,
			 (int)s / 60 % 60);
	else
		snprintf(text, size, "%.3g days", s / 86400);
	return text;
}
