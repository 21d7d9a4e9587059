// SPDX-License-Identifier: GPL-2.0
/*
 * What the requests that deal in names refuse: LINK, OPEN, UNLINK, LIST.
 * Who may do what is test_rights.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define PREFIX	"test.reject."
#define NAME	PREFIX "it"
#define OTHER	PREFIX "other"

/* One with the name NAME, one with OTHER, one without. */
static int named, other, unnamed, device;

static void set_name(char *to, const void *bytes, size_t length)
{
	memset(to, 0, BLOOM_NAME_MAX + 1);
	memcpy(to, bytes, length);
}

/* The name is refused by all requests that take one. */
static void assert_bad_name(int error, const void *bytes, size_t length)
{
	struct bloom_unlink unlink_arg = { .size = sizeof(unlink_arg) };
	struct bloom_open open_arg = { .size = sizeof(open_arg), .access = ACCESS_BOTH };
	struct bloom_link link_arg = { .size = sizeof(link_arg), .mode = 0600, .gid = -1 };

	set_name(link_arg.name, bytes, length);
	assert_error(error, request(unnamed, BLOOM_IOC_LINK, &link_arg));
	set_name(open_arg.name, bytes, length);
	assert_error(error, request(device, BLOOM_IOC_OPEN, &open_arg));
	set_name(unlink_arg.name, bytes, length);
	assert_error(error, request(device, BLOOM_IOC_UNLINK, &unlink_arg));
}

static void empty_name(void **state)
{
	(void)state;
	assert_bad_name(EINVAL, "", 0);
}

static void dots(void **state)
{
	(void)state;
	assert_bad_name(EINVAL, ".", 1);
	assert_bad_name(EINVAL, "..", 2);
	assert_int_equal(link_name(unnamed, "...", 0600, -1, 0), 0);
	assert_int_equal(unlink_name("..."), 0);
	assert_int_equal(link_name(unnamed, ".hidden", 0600, -1, 0), 0);
	assert_int_equal(unlink_name(".hidden"), 0);
}

static void slash(void **state)
{
	(void)state;
	assert_bad_name(EINVAL, "/", 1);
	assert_bad_name(EINVAL, "a/b", 3);
	assert_bad_name(EINVAL, "ab/", 3);
	assert_bad_name(EINVAL, "/ab", 3);
}

static void control_characters(void **state)
{
	char name[] = "a?b";
	int c;

	(void)state;
	for (c = 1; c < 256; c++) {
		if (c == '/')
			continue;
		name[1] = c;
		if (c < 0x20 || c == 0x7f) {
			assert_bad_name(EINVAL, name, 3);
			continue;
		}
		assert_ok(link_name(unnamed, name, 0600, -1, 0));
		assert_ok(unlink_name(name));
	}
}

static void name_without_end(void **state)
{
	char name[BLOOM_NAME_MAX + 1];

	(void)state;
	memset(name, 'n', sizeof(name));
	assert_bad_name(ENAMETOOLONG, name, sizeof(name));
}

static void longest_name(void **state)
{
	char name[BLOOM_NAME_MAX + 1] = "";
	int fd;

	(void)state;
	memset(name, 'n', BLOOM_NAME_MAX);
	assert_ok(link_name(unnamed, name, 0600, -1, 0));
	fd = assert_ok(open_name(name, ACCESS_BOTH));
	close(fd);
	name[BLOOM_NAME_MAX - 1] = 0;
	assert_error(ENOENT, open_name(name, ACCESS_BOTH));
	name[BLOOM_NAME_MAX - 1] = 'n';
	assert_ok(unlink_name(name));
}

/* A name ends at its first NUL, as strcpy() leaves it. */
static void bytes_after_the_end(void **state)
{
	struct bloom_open arg = { .size = sizeof(arg), .access = ACCESS_BOTH };

	(void)state;
	strcpy(arg.name, NAME);
	strcpy(arg.name + sizeof(NAME), "rest");
	close(assert_ok(request(device, BLOOM_IOC_OPEN, &arg)));
}

static void open_refuses(void **state)
{
	(void)state;
	assert_error(ENOENT, open_name(PREFIX "none", ACCESS_BOTH));
	assert_error(ENOENT, open_name(PREFIX, ACCESS_BOTH));
	assert_error(ENOENT, open_name(NAME "s", ACCESS_BOTH));
	assert_error(EINVAL, open_name(NAME, 0));
	assert_error(EOPNOTSUPP, open_name(NAME, ACCESS_BOTH | 4));
	assert_error(ENOENT, unlink_name(PREFIX "none"));
}

static void link_refuses(void **state)
{
	(void)state;
	assert_error(EEXIST, link_name(unnamed, NAME, 0600, -1, 0));
	assert_error(EEXIST, link_name(named, OTHER, 0600, -1, 0));
	assert_error(EINVAL, link_name(unnamed, PREFIX "x", 01000, -1, 0));
	assert_error(EINVAL, link_name(unnamed, PREFIX "x", 0100, -1, 0));
	assert_error(EINVAL, link_name(unnamed, PREFIX "x", 0777, -1, 0));
	assert_error(EINVAL, link_name(unnamed, PREFIX "x", ~0U, -1, 0));
	assert_error(EINVAL, link_name(unnamed, NAME, 0600, -1,
				       BLOOM_LINK_REPLACE | BLOOM_LINK_EXCHANGE));
	assert_error(EOPNOTSUPP, link_name(unnamed, NAME, 0600, -1, 4));
	assert_error(ENOENT, open_name(PREFIX "x", ACCESS_BOTH));
}

static void exchange_refuses(void **state)
{
	u32 flag = BLOOM_LINK_EXCHANGE;

	(void)state;
	assert_error(EINVAL, link_name(named, OTHER, 0600, -1, flag));
	assert_error(EINVAL, link_name(named, OTHER, 0, 0, flag));
	/* Neither of the two may be without a name. */
	assert_error(ENOENT, link_name(named, PREFIX "none", 0, -1, flag));
	assert_error(ENOENT, link_name(unnamed, OTHER, 0, -1, flag));
	assert_ok(link_name(named, OTHER, 0, -1, flag));
	assert_ok(link_name(named, NAME, 0, -1, flag));
}

static int list(struct bloom_list *arg)
{
	arg->size = sizeof(*arg);
	return request(device, BLOOM_IOC_LIST, arg);
}

static void list_refuses(void **state)
{
	struct bloom_list_entry entry;
	struct bloom_list arg = {
		.entries = (uintptr_t)&entry,
		.count = 4097,
		.entry_size = sizeof(entry),
	};

	(void)state;
	assert_error(EINVAL, list(&arg));
	arg.count = ~0U;
	assert_error(EINVAL, list(&arg));
	arg.count = 1;
	arg.flags = 1;
	assert_error(EOPNOTSUPP, list(&arg));
	arg.flags = 0;
	arg.entry_size = 0;
	assert_error(EINVAL, list(&arg));
	arg.entry_size = sizeof(entry) - 1;
	assert_error(EINVAL, list(&arg));
	arg.entry_size = sizeof(entry);
	arg.entries = 0;
	assert_error(EFAULT, list(&arg));
	arg.entries = 1ULL << 63;
	assert_error(EFAULT, list(&arg));
	arg.entries = (uintptr_t)&entry;
	memset(arg.after, 'a', sizeof(arg.after));
	assert_error(ENAMETOOLONG, list(&arg));
}

static void list_takes(void **state)
{
	struct bloom_list_entry *entries;
	struct bloom_list arg = { .entry_size = sizeof(*entries) };

	(void)state;
	/* Room for none: nothing is written. */
	assert_ok(list(&arg));
	assert_count(0, arg.count);
	entries = test_malloc(4096 * sizeof(*entries));
	arg.entries = (uintptr_t)entries;
	arg.count = 4096;
	assert_ok(list(&arg));
	assert_true(arg.count >= 2 && arg.count < 4096);
	test_free(entries);
}

/* Entries of a later, longer version: our part is filled in, the rest zero. */
static void list_longer_entries(void **state)
{
	static const u32 more[] = { 1, 7, 8, 64, 3784 };
	struct bloom_list arg = { };
	const u32 ours = sizeof(struct bloom_list_entry);
	struct bloom_list_entry entry;
	u8 *room;
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_LEN(more); i++) {
		arg.entry_size = ours + more[i];
		room = test_malloc(2 * arg.entry_size);
		memset(room, 0xff, 2 * arg.entry_size);
		arg.entries = (uintptr_t)room;
		arg.count = 2;
		strcpy(arg.after, PREFIX);
		assert_ok(list(&arg));
		assert_count(2, arg.count);
		memcpy(&entry, room, ours);
		assert_string_equal(entry.name, NAME);
		memcpy(&entry, room + arg.entry_size, ours);
		assert_string_equal(entry.name, OTHER);
		for (j = ours; j < arg.entry_size; j++)
			assert_int_equal(room[j] | room[arg.entry_size + j], 0);
		test_free(room);
	}
}

/* The array ends in memory that can't be written. */
static void list_cut_off(void **state)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bloom_list arg = {
		.entries = (uintptr_t)page + 4096 - sizeof(struct bloom_list_entry),
		.count = 2,
		.entry_size = sizeof(struct bloom_list_entry),
	};

	(void)state;
	assert_true(page != MAP_FAILED);
	mprotect(page + 4096, 4096, PROT_NONE);
	strcpy(arg.after, PREFIX);
	assert_error(EFAULT, list(&arg));
	arg.count = 1;
	assert_ok(list(&arg));
	munmap(page, 8192);
}

static int setup(void **state)
{
	(void)state;
	unlink_all(PREFIX);
	device = open_device(O_RDWR);
	named = create_sized(BLOOM_KIND_BLOCKED, 100, 0.01);
	other = create_sized(BLOOM_KIND_BLOCKED, 100, 0.01);
	unnamed = create_sized(BLOOM_KIND_BLOCKED, 100, 0.01);
	return link_name(named, NAME, 0600, -1, 0) || link_name(other, OTHER, 0600, -1, 0);
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(PREFIX);
	return 0;
}

/* The entries are told, and how many can't be. */
static void list_count_read_only(void **state)
{
	struct bloom_list *arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(arg != MAP_FAILED);
	arg->size = sizeof(*arg);
	arg->entry_size = sizeof(struct bloom_list_entry);
	assert_ok(request(device, BLOOM_IOC_LIST, arg));
	assert_int_equal(mprotect(arg, 4096, PROT_READ), 0);
	assert_error(EFAULT, request(device, BLOOM_IOC_LIST, arg));
	munmap(arg, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_name),
		cmocka_unit_test(dots),
		cmocka_unit_test(slash),
		cmocka_unit_test(control_characters),
		cmocka_unit_test(name_without_end),
		cmocka_unit_test(longest_name),
		cmocka_unit_test(bytes_after_the_end),
		cmocka_unit_test(open_refuses),
		cmocka_unit_test(link_refuses),
		cmocka_unit_test(exchange_refuses),
		cmocka_unit_test(list_refuses),
		cmocka_unit_test(list_takes),
		cmocka_unit_test(list_longer_entries),
		cmocka_unit_test(list_cut_off),
		cmocka_unit_test(list_count_read_only),
	};

	return run_table("reject_names", tests, ARRAY_LEN(tests), setup, teardown);
}
