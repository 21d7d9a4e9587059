// SPDX-License-Identifier: GPL-2.0
/*
 * Caps on memory: of one filter, of one user, of all. What is over one is
 * refused and changes nothing; what is given back can be had again, at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"
#include "users.h"

#define NAME	"test.caps"
#define MIB	1048576ULL
/* Of a bitmap: a MiB has so many. */
#define SLOTS	(8 * MIB)

static const struct user someone = { USER_OWNER, GROUP_NONE, 0, 0 };
static const struct user someone_else = { USER_OTHER, GROUP_NONE, 0, 0 };

static int make(u64 mib)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);

	arg.slots = mib * SLOTS;
	return create(&arg);
}

static void cap(u64 filter, u64 user, u64 total)
{
	assert_ok(set_caps(filter, user, total));
}

static void one_filter(void **state)
{
	int fd;

	(void)state;
	cap(4, 0, 0);
	assert_error(ENOSPC, make(5));
	assert_error(ENOSPC, make(1024 * 1024));
	fd = assert_ok(make(4));
	/* Another one is another one. */
	close(assert_ok(make(4)));
	/* CLEAR needs the new memory before it gives the old back. */
	assert_int_equal(add_one(fd, 1), BLOOM_ABSENT);
	assert_error(ENOSPC, clear(fd));
	assert_int_equal(query_one(fd, 1), BLOOM_PRESENT);
	cap(8, 0, 0);
	assert_ok(clear(fd));
	assert_int_equal(query_one(fd, 1), BLOOM_ABSENT);
	close(fd);
}

static long make_as_user(void *arg)
{
	int fd = make(*(u64 *)arg);

	return fd < 0 ? fd : 0;
}

/* Keep what was made, under a name. */
static long make_named(void *arg)
{
	int fd = make(*(u64 *)arg);
	char name[64];

	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), NAME ".%d", getpid());
	return link_name(fd, name, 0666, -1, 0);
}

static void one_user(void **state)
{
	u64 two = 2, three = 3;

	(void)state;
	cap(0, 6, 0);
	assert_ok(as_user(&someone, make_named, &two));
	assert_ok(as_user(&someone, make_named, &two));
	assert_error(ENOSPC, as_user(&someone, make_as_user, &three));
	assert_ok(as_user(&someone, make_named, &two));
	assert_error(ENOSPC, as_user(&someone, make_as_user, &two));
	/* It is this user's cap, not everybody's. */
	assert_ok(as_user(&someone_else, make_as_user, &three));
	close(assert_ok(make(3)));
	unlink_all(NAME);
}

/* Who fills a filter of another's does not pay; the maker does. */
static long fill_named(void *arg)
{
	struct bloom_list_entry entry;
	int fd;

	(void)arg;
	if (list_names("test.cap", &entry, 1) != 1)
		return -ENOENT;
	fd = open_name(entry.name, ACCESS_BOTH);
	return fd < 0 ? fd : clear(fd);
}

static void the_maker_pays(void **state)
{
	u64 two = 2, three = 3;

	(void)state;
	cap(0, 3, 0);
	assert_ok(as_user(&someone, make_named, &two));
	assert_error(ENOSPC, as_user(&someone_else, fill_named, NULL));
	assert_ok(as_user(&someone_else, make_as_user, &three));
	unlink_all(NAME);
}

static void all_together(void **state)
{
	u64 four = 4;
	int fd;

	(void)state;
	cap(0, 0, 6);
	fd = assert_ok(make(4));
	assert_error(ENOSPC, make(4));
	assert_error(ENOSPC, as_user(&someone, make_as_user, &four));
	close(fd);
	close(assert_ok(make(6)));
}

static void given_back(void **state)
{
	int i;

	(void)state;
	cap(0, 0, 6);
	for (i = 0; i < 20; i++)
		close(assert_ok(make(6)));
}

/* A failed CREATE must not leave its part behind: a window of 1 MiB layers. */
static void half_made(void **state)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	int i;

	(void)state;
	arg.slots = SLOTS;
	arg.probes = 3;
	arg.generations = 8;
	cap(0, 0, 6);
	close(assert_ok(make(6)));
	for (i = 0; i < 10; i++)
		assert_error(ENOSPC, create(&arg));
	close(assert_ok(make(6)));
}

/* A mapping of what CLEAR threw away keeps the memory, and so the charge. */
static void clear_with_a_mapping(void **state)
{
	struct bloom_layer_info layer;
	void *map;
	int fd, tries = 60, ret;

	(void)state;
	cap(10, 0, 0);
	fd = assert_ok(make(4));
	assert_ok(get_layers(fd, &layer, 1));
	map = map_read(fd, layer.map_offset, 4096);
	assert_non_null(map);
	assert_ok(clear(fd));
	assert_error(ENOSPC, clear(fd));
	assert_error(ENOSPC, clear(fd));
	munmap(map, 4096);
	while ((ret = clear(fd)) == -ENOSPC && --tries)
		usleep(50000);
	assert_ok(ret);
	close(fd);
}

/* By default an eighth of memory each, and a quarter for all. */
static void defaults(void **state)
{
	u64 ram = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / MIB;

	(void)state;
	cap(0, 0, 0);
	assert_error(ENOSPC, make(ram / 8 + 2));
	close(assert_ok(make(ram / 16)));
}

static int setup(void **state)
{
	(void)state;
	return chmod(DEVICE_PATH, 0666);
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	return set_caps(0, 0, 0);
}

static int group_teardown(void **state)
{
	(void)state;
	return chmod(DEVICE_PATH, 0660);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_filter, teardown),
		cmocka_unit_test_teardown(one_user, teardown),
		cmocka_unit_test_teardown(the_maker_pays, teardown),
		cmocka_unit_test_teardown(all_together, teardown),
		cmocka_unit_test_teardown(given_back, teardown),
		cmocka_unit_test_teardown(half_made, teardown),
		cmocka_unit_test_teardown(clear_with_a_mapping, teardown),
		cmocka_unit_test_teardown(defaults, teardown),
	};

	return run_table("caps", tests, ARRAY_LEN(tests), setup, group_teardown);
}
