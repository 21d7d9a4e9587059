// SPDX-License-Identifier: GPL-2.0
/*
 * hashset: what a filter is compared with: a plain hash set of strings, as a
 * program has it that keeps all it has seen. Prints each line of standard input
 * whose first field is new.
 */
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include "../example.h"

struct entry {
	struct entry *next;
	char text[];
};

static struct entry **buckets;
static size_t bucket_count, entry_count, entry_bytes;

static size_t hash(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;	/* FNV-1a */

	while (len--)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3;
	return h ^ h >> 32;
}

static void grow(void)
{
	size_t i, count = bucket_count ? 2 * bucket_count : 1024;
	struct entry **bigger = need(calloc(count, sizeof(*bigger)));
	struct entry *e, *next, **to;

	for (i = 0; i < bucket_count; i++) {
		for (e = buckets[i]; e; e = next) {
			next = e->next;
			to = &bigger[hash(e->text, strlen(e->text)) & (count - 1)];
			e->next = *to;
			*to = e;
		}
	}
	free(buckets);
	buckets = bigger;
	bucket_count = count;
}

/* Return: 1 if it is new. */
static int add(const char *text, size_t len)
{
	struct entry *e, **bucket;

	if (entry_count == bucket_count)
		grow();
	bucket = &buckets[hash(text, len) & (bucket_count - 1)];
	for (e = *bucket; e; e = e->next) {
		if (!strncmp(e->text, text, len) && !e->text[len])
			return 0;
	}
	e = need(malloc(sizeof(*e) + len + 1));
	memcpy(e->text, text, len);
	e->text[len] = '\0';
	e->next = *bucket;
	*bucket = e;
	entry_count++;
	/* The allocator has a word of its own before each piece. */
	entry_bytes += malloc_usable_size(e) + sizeof(size_t);
	return 1;
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t room = 0;

	if (argc > 1) {
		if (strcmp(argv[1], "--help") && strcmp(argv[1], "-h"))
			die("unknown argument '%s'; see hashset --help", argv[1]);
		puts("usage: hashset <ROWS\n\n"
		     "Print the rows whose first field, up to a blank, is new; at the end\n"
		     "on standard error the bytes that the set takes.");
		return 0;
	}
	while (getline(&line, &room, stdin) > 0) {
		if (add(line, strcspn(line, " \t\n")))
			fputs(line, stdout);
	}
	if (ferror(stdin))
		err(STATUS_ERROR, "cannot read the rows");
	finish(stdout);
	fprintf(stderr, "%zu\n", entry_bytes + bucket_count * sizeof(*buckets));
	return 0;
}
