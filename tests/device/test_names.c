// SPDX-License-Identifier: GPL-2.0
/*
 * What a name is and does: it keeps a filter alive, moves in one step, is
 * listed in order.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

#define PREFIX	"test.names."

static int make(void)
{
	return assert_ok(create_sized(BLOOM_KIND_BLOCKED, 1000, 0.000001));
}

static u32 id_of(int fd)
{
	struct bloom_info info;

	assert_ok(get_info(fd, &info));
	return info.id;
}

static int events(int fd)
{
	struct pollfd arg = { .fd = fd, .events = POLLPRI };

	assert_true(poll(&arg, 1, 0) >= 0);
	return arg.revents;
}

static void name_survives_close(void **state)
{
	int fd = make();
	u32 id = id_of(fd);

	(void)state;
	assert_ok(link_name(fd, PREFIX "a", 0600, -1, 0));
	assert_int_equal(add_one(fd, 1), BLOOM_ABSENT);
	close(fd);
	fd = assert_ok(open_name(PREFIX "a", ACCESS_BOTH));
	assert_int_equal(id_of(fd), id);
	assert_int_equal(query_one(fd, 1), BLOOM_PRESENT);
	assert_ok(unlink_name(PREFIX "a"));
	/* And a descriptor survives its name. */
	assert_int_equal(query_one(fd, 1), BLOOM_PRESENT);
	assert_int_equal(add_one(fd, 2), BLOOM_ABSENT);
	assert_error(ENOENT, open_name(PREFIX "a", ACCESS_BOTH));
	assert_error(ENOENT, unlink_name(PREFIX "a"));
	close(fd);
}

static void info_tells_the_name(void **state)
{
	struct bloom_info info;
	int fd = make();

	(void)state;
	assert_ok(link_name(fd, PREFIX "a", 0640, 2000, 0));
	assert_ok(get_info(fd, &info));
	assert_string_equal(info.name, PREFIX "a");
	assert_int_equal(info.mode, 0640);
	assert_int_equal(info.gid, 2000);
	assert_int_equal(info.uid, 0);
	assert_ok(unlink_name(PREFIX "a"));
	assert_ok(get_info(fd, &info));
	assert_string_equal(info.name, "");
	close(fd);
}

static void another_name(void **state)
{
	struct bloom_info info;
	int fd = make(), watcher, again;

	(void)state;
	assert_ok(link_name(fd, PREFIX "a", 0600, -1, 0));
	watcher = assert_ok(open_name(PREFIX "a", BLOOM_ACCESS_READ));
	assert_int_equal(events(watcher), 0);
	assert_ok(link_name(fd, PREFIX "b", 0644, -1, 0));
	assert_error(ENOENT, open_name(PREFIX "a", ACCESS_BOTH));
	close(assert_ok(open_name(PREFIX "b", ACCESS_BOTH)));
	assert_ok(get_info(fd, &info));
	assert_string_equal(info.name, PREFIX "b");
	assert_int_equal(info.mode, 0644);
	/* It is no longer what "a" means; who gave it the new name knows. */
	assert_int_equal(events(watcher), POLLHUP);
	assert_int_equal(events(fd), 0);
	again = assert_ok(open_name(PREFIX "b", ACCESS_BOTH));
	assert_int_equal(events(again), 0);
	assert_ok(unlink_name(PREFIX "b"));
	assert_int_equal(events(again), POLLHUP);
	assert_int_equal(events(fd), POLLHUP);
	close(watcher);
	close(again);
	close(fd);
}

static void no_name_no_hangup(void **state)
{
	int fd = make();

	(void)state;
	assert_int_equal(events(fd), 0);
	close(fd);
}

static void unlink_hangs_up(void **state)
{
	int fd = make(), copy, again;

	(void)state;
	assert_ok(link_name(fd, PREFIX "a", 0600, -1, 0));
	assert_int_equal(events(fd), 0);
	assert_ok(unlink_name(PREFIX "a"));
	assert_int_equal(events(fd), POLLHUP);
	/* For good, even if another gives it the name again; not if this one does. */
	copy = dup(fd);
	assert_ok(link_name(fd, PREFIX "a", 0600, -1, 0));
	assert_int_equal(events(fd), 0);
	assert_int_equal(events(copy), 0);
	again = assert_ok(open_name(PREFIX "a", ACCESS_BOTH));
	assert_ok(unlink_name(PREFIX "a"));
	assert_int_equal(events(fd), POLLHUP);
	assert_ok(link_name(again, PREFIX "a", 0600, -1, 0));
	assert_int_equal(events(again), 0);
	assert_int_equal(events(fd), POLLHUP);
	assert_ok(unlink_name(PREFIX "a"));
	close(again);
	close(copy);
	close(fd);
}

static void replace(void **state)
{
	struct bloom_info info;
	int old = make(), young = make(), reader, fd;

	(void)state;
	assert_ok(link_name(old, PREFIX "a", 0600, -1, 0));
	assert_int_equal(add_one(old, 1), BLOOM_ABSENT);
	assert_int_equal(add_one(young, 2), BLOOM_ABSENT);
	reader = assert_ok(open_name(PREFIX "a", BLOOM_ACCESS_READ));
	assert_ok(link_name(young, PREFIX "a", 0604, -1, BLOOM_LINK_REPLACE));

	assert_int_equal(events(old), POLLHUP);
	assert_int_equal(events(reader), POLLHUP);
	assert_int_equal(events(young), 0);
	/* Who had the old one keeps it. */
	assert_int_equal(query_one(reader, 1), BLOOM_PRESENT);
	assert_ok(get_info(reader, &info));
	assert_string_equal(info.name, "");

	fd = assert_ok(open_name(PREFIX "a", ACCESS_BOTH));
	assert_int_equal(id_of(fd), id_of(young));
	assert_int_equal(query_one(fd, 2), BLOOM_PRESENT);
	assert_int_equal(query_one(fd, 1), BLOOM_ABSENT);
	assert_ok(get_info(fd, &info));
	assert_int_equal(info.mode, 0604);

	assert_ok(unlink_name(PREFIX "a"));
	close(fd);
	close(old);
	close(reader);
	close(young);
}

/* REPLACE takes a name that nobody has, as rename() does. */
static void replace_nothing(void **state)
{
	int fd = make();

	(void)state;
	assert_ok(link_name(fd, PREFIX "new", 0600, -1, BLOOM_LINK_REPLACE));
	close(assert_ok(open_name(PREFIX "new", ACCESS_BOTH)));
	/* Itself in place of itself. */
	assert_ok(link_name(fd, PREFIX "new", 0640, -1, BLOOM_LINK_REPLACE));
	assert_int_equal(events(fd), 0);
	assert_ok(unlink_name(PREFIX "new"));
	close(fd);
}

static void exchange(void **state)
{
	struct bloom_info info;
	int one = make(), two = make(), fd;

	(void)state;
	assert_ok(link_name(one, PREFIX "one", 0600, -1, 0));
	assert_ok(link_name(two, PREFIX "two", 0644, 2000, 0));
	assert_ok(link_name(one, PREFIX "two", 0, -1, BLOOM_LINK_EXCHANGE));
	assert_int_equal(events(one), 0);
	assert_int_equal(events(two), POLLHUP);
	assert_ok(get_info(one, &info));
	assert_string_equal(info.name, PREFIX "two");
	assert_int_equal(info.mode, 0644);
	assert_int_equal(info.gid, 2000);
	assert_ok(get_info(two, &info));
	assert_string_equal(info.name, PREFIX "one");
	assert_int_equal(info.mode, 0600);
	fd = assert_ok(open_name(PREFIX "one", ACCESS_BOTH));
	assert_int_equal(id_of(fd), id_of(two));
	close(fd);
	fd = assert_ok(open_name(PREFIX "two", ACCESS_BOTH));
	assert_int_equal(id_of(fd), id_of(one));
	close(fd);
	assert_ok(unlink_name(PREFIX "one"));
	assert_ok(unlink_name(PREFIX "two"));
	close(one);
	close(two);
}

/* All names, page by page, whatever the size of a page. */
static void list_by_pages(void **state)
{
	enum { N = 100 };
	struct bloom_list_entry entries[N + 1];
	char name[BLOOM_NAME_MAX + 1], after[BLOOM_NAME_MAX + 1];
	u32 ids[N];
	u32 room, i, n, total;
	int fd;

	(void)state;
	for (i = 0; i < N; i++) {
		/* 7 and 100 have no common factor: not in order. */
		snprintf(name, sizeof(name), PREFIX "list.%03u", i * 7 % N);
		fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01));
		ids[i * 7 % N] = id_of(fd);
		assert_ok(link_name(fd, name, 0600, -1, 0));
		assert_count(0, add_keys(fd, (u64 []){ i }, 1));
		close(fd);
	}
	for (room = 1; room <= N; room = room * 3 + 1) {
		strcpy(after, PREFIX "list");
		total = 0;
		do {
			n = assert_ok(list_names(after, entries, room));
			assert_true(n <= room);
			for (i = 0; i < n && total < N; i++, total++) {
				snprintf(name, sizeof(name), PREFIX "list.%03u", total);
				assert_string_equal(entries[i].name, name);
				assert_int_equal(entries[i].id, ids[total]);
				assert_int_equal(entries[i].mode, 0600);
				assert_int_equal(entries[i].kind, BLOOM_KIND_BLOCKED);
				assert_int_equal(entries[i].growth, BLOOM_GROWTH_FIXED);
				assert_int_equal(entries[i].reserved, 0);
				assert_count(100, entries[i].capacity);
				assert_count(1, entries[i].keys);
				assert_count(4096, entries[i].bytes);
			}
			if (n)
				strcpy(after, entries[n - 1].name);
		} while (n == room && total < N);
		assert_count(N, total);
	}
	unlink_all(PREFIX "list.");
	assert_count(0, list_names(PREFIX "list", entries, 1));
}

/* Sorted by bytes, not by signed characters, nor by a locale. */
static void list_in_byte_order(void **state)
{
	static const char *const names[] = {
		PREFIX "o", PREFIX "o ", PREFIX "oA", PREFIX "oZZ", PREFIX "oa",
		PREFIX "o\x80", PREFIX "o\xff",
	};
	struct bloom_list_entry entries[ARRAY_LEN(names)];
	size_t i;
	int fd;

	(void)state;
	for (i = ARRAY_LEN(names); i--;) {
		fd = make();
		assert_ok(link_name(fd, names[i], 0600, -1, 0));
		close(fd);
	}
	assert_count(ARRAY_LEN(names), list_names(PREFIX "n", entries, ARRAY_LEN(names)));
	for (i = 0; i < ARRAY_LEN(names); i++)
		assert_string_equal(entries[i].name, names[i]);
	/* After a name that is not there. */
	assert_int_equal(list_names(PREFIX "oZ", entries, ARRAY_LEN(names)), 4);
	assert_string_equal(entries[0].name, PREFIX "oZZ");
	unlink_all(PREFIX "o");
}

/* Ids are not used twice among the living. */
static void ids_after_unlink(void **state)
{
	int one = make(), two;
	u32 id = id_of(one);

	(void)state;
	assert_ok(link_name(one, PREFIX "a", 0600, -1, 0));
	assert_ok(unlink_name(PREFIX "a"));
	two = make();
	assert_int_not_equal(id_of(two), id);
	assert_int_equal(id_of(one), id);
	assert_ok(link_name(two, PREFIX "a", 0600, -1, 0));
	assert_int_not_equal(id_of(two), id);
	assert_ok(unlink_name(PREFIX "a"));
	close(one);
	close(two);
}

/* Nothing is left of all this. */
static void nothing_pinned(void **state)
{
	s64 before = read_number("/sys/module/bloom/refcnt");
	int fd = make(), again;

	(void)state;
	assert_ok(link_name(fd, PREFIX "a", 0600, -1, 0));
	assert_ok(link_name(fd, PREFIX "b", 0600, -1, 0));
	again = assert_ok(open_name(PREFIX "b", ACCESS_BOTH));
	assert_ok(unlink_name(PREFIX "b"));
	close(fd);
	close(again);
	assert_count(before, read_number("/sys/module/bloom/refcnt"));
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(PREFIX);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(name_survives_close, teardown),
		cmocka_unit_test_teardown(info_tells_the_name, teardown),
		cmocka_unit_test_teardown(another_name, teardown),
		cmocka_unit_test_teardown(no_name_no_hangup, teardown),
		cmocka_unit_test_teardown(unlink_hangs_up, teardown),
		cmocka_unit_test_teardown(replace, teardown),
		cmocka_unit_test_teardown(replace_nothing, teardown),
		cmocka_unit_test_teardown(exchange, teardown),
		cmocka_unit_test_teardown(list_by_pages, teardown),
		cmocka_unit_test_teardown(list_in_byte_order, teardown),
		cmocka_unit_test_teardown(ids_after_unlink, teardown),
		cmocka_unit_test_teardown(nothing_pinned, teardown),
	};

	return run_table("names", tests, ARRAY_LEN(tests), NULL, NULL);
}
