// SPDX-License-Identifier: GPL-2.0
/*
 * A 32-bit program and /dev/bloom: every request, with its 32-bit pointers.
 * Prints TAP by hand, since there is no 32-bit cmocka in the guest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "device.h"

#define NAME	"test.abi32"
#define KEYS	5000

_Static_assert(sizeof(void *) == 4, "this program has to be built with -m32");
/* The same numbers as in a 64-bit program. */
_Static_assert(sizeof(struct bloom_create) == 88, "bloom_create");
_Static_assert(sizeof(struct bloom_open) == 264, "bloom_open");
_Static_assert(sizeof(struct bloom_unlink) == 264, "bloom_unlink");
_Static_assert(sizeof(struct bloom_list) == 280, "bloom_list");
_Static_assert(sizeof(struct bloom_list_entry) == 312, "bloom_list_entry");
_Static_assert(sizeof(struct bloom_batch) == 80, "bloom_batch");
_Static_assert(sizeof(struct bloom_info) == 472, "bloom_info");
_Static_assert(sizeof(struct bloom_layer_info) == 72, "bloom_layer_info");
_Static_assert(sizeof(struct bloom_clear) == 8, "bloom_clear");
_Static_assert(sizeof(struct bloom_rotate) == 24, "bloom_rotate");
_Static_assert(sizeof(struct bloom_link) == 272, "bloom_link");
_Static_assert(sizeof(struct bloom_load) == 72, "bloom_load");
_Static_assert(sizeof(struct bloom_head) == 16, "bloom_head");

static u64 keys[KEYS];
static u8 verdicts[KEYS];
static int tests, failures;

static void report(bool good, const char *what)
{
	tests++;
	failures += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", tests, what);
}

static void batches(int fd)
{
	struct bloom_batch batch = batch_of(keys, KEYS, verdicts);
	u32 lens[] = { 0, 3, 13 };
	struct bloom_batch mixed = {
		.size = sizeof(mixed),
		.keys = (uintptr_t)keys,
		.keys_bytes = 16,
		.lens = (uintptr_t)lens,
		.count = 3,
	};

	report(!run_batch(fd, BLOOM_IOC_ADD, &batch) && batch.done == KEYS &&
	       !batch.present && !memchr(verdicts, BLOOM_PRESENT, KEYS), "ADD");
	report(!run_batch(fd, BLOOM_IOC_QUERY, &batch) && batch.present == KEYS &&
	       !memchr(verdicts, BLOOM_ABSENT, KEYS), "QUERY");
	report(!request(fd, BLOOM_IOC_ADD, &mixed) && !mixed.present && mixed.done == 3,
	       "ADD with lengths");
	report(query_bytes(fd, keys, 3) == BLOOM_PRESENT, "QUERY of one of those");
	report(remove_one(fd, 1) == -EOPNOTSUPP, "REMOVE of a blocked filter");
	mixed.keys = 1ULL << 32 | (uintptr_t)keys;
	report(request(fd, BLOOM_IOC_QUERY, &mixed) == -EFAULT, "a pointer over 32 bits");
}

static void information(int fd)
{
	struct bloom_layer_info layer;
	struct bloom_info info;

	report(!get_info(fd, &info) && info.keys == KEYS + 3 && info.adds == KEYS + 3 &&
	       info.capacity == 100000, "INFO");
	report(get_layers(fd, &layer, 1) == 1 && layer.keys == KEYS + 3 && layer.slots,
	       "INFO with layers");
	report(count_mapped(fd, &layer) == (s64)layer.slots_set, "mmap");
}

static void names(int fd)
{
	struct bloom_list_entry entries[2] = {};
	int copy, n;

	report(!link_name(fd, NAME, 0640, -1, 0), "LINK");
	n = list_names("test.abi3", entries, 1);
	report(n == 1 && !strcmp(entries[0].name, NAME) && entries[0].mode == 0640, "LIST");
	copy = open_name(NAME, BLOOM_ACCESS_READ);
	report(copy >= 0 && query_keys(copy, keys, KEYS) == KEYS, "OPEN");
	report(add_one(copy, 1) == -EBADF, "ADD without the right");
	report(!unlink_name(NAME), "UNLINK");
	report(open_name(NAME, BLOOM_ACCESS_READ) == -ENOENT, "OPEN without the name");
	close(copy);
}

static void emptying(int fd)
{
	struct bloom_load load = {
		.size = sizeof(load),
		.length = sizeof(u64),
		.data = (uintptr_t)keys,
		.keys = 7,
	};
	struct bloom_info info;
	struct pollfd poll_arg = { .fd = fd, .events = POLLPRI };

	report(poll(&poll_arg, 1, 0) == 1 && poll_arg.revents == POLLHUP, "poll");
	report(!clear(fd), "CLEAR");
	report(!query_keys(fd, keys, KEYS), "QUERY after CLEAR");
	report(!request(fd, BLOOM_IOC_LOAD, &load) && load.done == 8 && !get_info(fd, &info) &&
	       info.keys == 7 && info.slots_set == (u64)__builtin_popcountll(keys[0]), "LOAD");
	report(rotate(fd) == -EOPNOTSUPP, "ROTATE of a fixed filter");
}

static void others(void)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
	int fd = create(&arg);

	report(fd >= 0 && add_one(fd, 99999) == BLOOM_ABSENT &&
	       add_one(fd, 1ULL << 40) == BLOOM_OUT_OF_RANGE &&
	       remove_one(fd, 99999) == BLOOM_PRESENT, "a bitmap");
	close(fd);
	arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	fd = create(&arg);
	report(fd >= 0 && add_one(fd, 1) == BLOOM_ABSENT && !rotate(fd) &&
	       query_one(fd, 1) == BLOOM_PRESENT, "a window");
	close(fd);
}

int main(void)
{
	int fd = create_sized(BLOOM_KIND_BLOCKED, 100000, 0.000001);

	fill_keys(keys, KEYS, 0);
	report(fd >= 0, "CREATE");
	batches(fd);
	information(fd);
	names(fd);
	emptying(fd);
	others();
	printf("1..%d\n", tests);
	return failures > 0;
}
