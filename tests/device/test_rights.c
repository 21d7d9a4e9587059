// SPDX-License-Identifier: GPL-2.0
/*
 * Who may do what: the mode of the device, of a descriptor, the owner, group and
 * mode of a name, capabilities, user namespaces. Done as real users, each in a
 * process of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"
#include "users.h"

#define NAME	"test.rights"
#define R	BLOOM_ACCESS_READ
#define W	BLOOM_ACCESS_WRITE
#define RW	ACCESS_BOTH

static const struct user root = { 0, GROUP_NONE, 0, 0 };
static const struct user owner = { USER_OWNER, GROUP_NONE, 0, 0 };
static const struct user other = { USER_OTHER, GROUP_NONE, 0, 0 };
static const struct user member = { USER_OTHER, GROUP_SHARED, 0, 0 };
static const struct user owner_in_group = { USER_OWNER, GROUP_SHARED, 0, 0 };
static const struct user bare_root = { 0, GROUP_NONE, 0, 1 };
static const struct user namespace_root = { USER_OTHER, GROUP_NONE, 1, 0 };
static const struct user owner_in_namespace = { USER_OWNER, GROUP_NONE, 1, 0 };

/* What a child process does; all answer with 0 or -errno. */

/**
 * struct link - do_link()'s argument
 * @kind: what to give the name to: a new blocked filter
 */
struct link {
	const char *name;
	u32 mode, gid, flags;
};

static long do_link(void *arg)
{
	struct link *link = arg;
	int fd = create_sized(BLOOM_KIND_BLOCKED, 100, 0.01);

	return fd < 0 ? fd : link_name(fd, link->name, link->mode, link->gid, link->flags);
}

static long do_open(void *arg)
{
	int fd = open_name(NAME, *(u32 *)arg);

	return fd < 0 ? fd : 0;
}

static long do_unlink(void *arg)
{
	return unlink_name(arg);
}

/* The name NAME, made by the user "owner". */
static void make_name(u32 mode, u32 gid)
{
	struct link link = { NAME, mode, gid, 0 };

	unlink_all(NAME);
	assert_ok(as_user(gid == GROUP_SHARED ? &owner_in_group : &owner, do_link, &link));
}

static void assert_access(const struct user *user, u32 granted)
{
	static const u32 modes[] = { R, W, RW };
	size_t i;

	for (i = 0; i < ARRAY_LEN(modes); i++) {
		u32 access = modes[i];

		if (access & ~granted)
			assert_error(EACCES, as_user(user, do_open, &access));
		else
			assert_ok(as_user(user, do_open, &access));
	}
}

/*
 * Every mode of three classes with two rights each, for all five kinds of
 * caller: as for a file, the first class that fits decides alone.
 */
static void every_mode(void **state)
{
	u32 mode;

	(void)state;
	for (mode = 0; mode < 64; mode++) {
		u32 of_owner = mode >> 4, of_group = mode >> 2 & 3, of_others = mode & 3;

		/* Bit 0 reads here, where it is 4 in a file's mode. */
		make_name((of_owner & R ? 0400 : 0) | (of_owner & W ? 0200 : 0) |
			  (of_group & R ? 0040 : 0) | (of_group & W ? 0020 : 0) |
			  (of_others & R ? 0004 : 0) | (of_others & W ? 0002 : 0),
			  GROUP_SHARED);
		/* One access each keeps this short: all three for some modes. */
		if (mode % 8 == 5 || mode == 0 || mode == 63 || mode == 0x1b) {
			assert_access(&owner, of_owner);
			assert_access(&owner_in_group, of_owner);
			assert_access(&member, of_group);
			assert_access(&other, of_others);
			assert_access(&root, RW);
			assert_access(&bare_root, of_others);
			assert_access(&namespace_root, of_others);
			assert_access(&owner_in_namespace, of_owner);
		} else {
			u32 access = mode % 3 + 1;

			assert_int_equal(as_user(&owner, do_open, &access),
					 access & ~of_owner ? -EACCES : 0);
			assert_int_equal(as_user(&member, do_open, &access),
					 access & ~of_group ? -EACCES : 0);
			assert_int_equal(as_user(&other, do_open, &access),
					 access & ~of_others ? -EACCES : 0);
		}
	}
	unlink_all(NAME);
}

static void groups_of_a_name(void **state)
{
	struct link link = { NAME, 0660, GROUP_SHARED, 0 };

	(void)state;
	unlink_all(NAME);
	/* Only a group that one is in, or CAP_CHOWN. */
	assert_error(EPERM, as_user(&owner, do_link, &link));
	assert_error(EPERM, as_user(&bare_root, do_link, &link));
	assert_error(ENOENT, open_name(NAME, R));
	assert_ok(as_user(&owner_in_group, do_link, &link));
	unlink_all(NAME);
	assert_ok(as_user(&root, do_link, &link));
	unlink_all(NAME);
	/* In a namespace the group has no number. */
	assert_error(EINVAL, as_user(&namespace_root, do_link, &link));
	link.gid = 0;
	assert_ok(as_user(&namespace_root, do_link, &link));
	unlink_all(NAME);
	link.gid = -1;
	assert_ok(as_user(&owner, do_link, &link));
	unlink_all(NAME);
}

static void unlink_rights(void **state)
{
	(void)state;
	make_name(0666, -1);
	assert_error(EPERM, as_user(&other, do_unlink, NAME));
	assert_error(EPERM, as_user(&member, do_unlink, NAME));
	assert_error(EPERM, as_user(&bare_root, do_unlink, NAME));
	assert_error(EPERM, as_user(&namespace_root, do_unlink, NAME));
	assert_ok(as_user(&owner, do_unlink, NAME));
	make_name(0, -1);
	assert_ok(as_user(&owner, do_unlink, NAME));
	make_name(0, -1);
	assert_ok(as_user(&root, do_unlink, NAME));
	make_name(0, -1);
	assert_ok(as_user(&owner_in_namespace, do_unlink, NAME));
}

static void replace_rights(void **state)
{
	struct link link = { NAME, 0600, -1, BLOOM_LINK_REPLACE };

	(void)state;
	make_name(0666, -1);
	assert_error(EPERM, as_user(&other, do_link, &link));
	assert_error(EPERM, as_user(&bare_root, do_link, &link));
	assert_error(EPERM, as_user(&namespace_root, do_link, &link));
	assert_ok(as_user(&owner, do_link, &link));
	/* Root's, from now on. */
	assert_ok(as_user(&root, do_link, &link));
	assert_error(EPERM, as_user(&owner, do_link, &link));
	unlink_all(NAME);
}

static long do_exchange(void *arg)
{
	int fd = create_sized(BLOOM_KIND_BLOCKED, 100, 0.01);
	long ret;

	(void)arg;
	ret = link_name(fd, NAME ".mine", 0600, -1, 0);
	if (!ret)
		ret = link_name(fd, NAME, 0, -1, BLOOM_LINK_EXCHANGE);
	unlink_name(NAME ".mine");
	return ret;
}

static void exchange_rights(void **state)
{
	(void)state;
	make_name(0666, -1);
	assert_error(EPERM, as_user(&other, do_exchange, NULL));
	assert_error(EPERM, as_user(&bare_root, do_exchange, NULL));
	assert_ok(as_user(&owner, do_exchange, NULL));
	make_name(0666, -1);
	assert_ok(as_user(&root, do_exchange, NULL));
	unlink_all(NAME);
}

/* Write is not own: who may fill a filter may not name it. */
static long do_link_opened(void *arg)
{
	int fd = open_name(NAME, RW);

	return fd < 0 ? fd : link_name(fd, arg, 0600, -1, BLOOM_LINK_REPLACE);
}

static void link_rights(void **state)
{
	(void)state;
	make_name(0666, -1);
	assert_error(EPERM, as_user(&other, do_link_opened, NAME ".stolen"));
	assert_error(EPERM, as_user(&other, do_link_opened, NAME));
	assert_error(EPERM, as_user(&bare_root, do_link_opened, NAME));
	assert_ok(as_user(&owner, do_link_opened, NAME ".renamed"));
	unlink_all(NAME);
}

static long count_listed(void *arg)
{
	struct bloom_list_entry entries[16];
	long i, n = list_names("test.right", entries, ARRAY_LEN(entries)), mine = 0;

	(void)arg;
	for (i = 0; i < n; i++)
		mine += !strncmp(entries[i].name, NAME, strlen(NAME));
	return n < 0 ? n : mine;
}

static void list_shows_what_one_may_read(void **state)
{
	static const u32 modes[] = { 0600, 0640, 0644, 0200, 0222, 0060, 0004 };
	struct link link = { .gid = GROUP_SHARED };
	char name[64];
	size_t i;

	(void)state;
	unlink_all(NAME);
	for (i = 0; i < ARRAY_LEN(modes); i++) {
		snprintf(name, sizeof(name), NAME ".%zu", i);
		link.name = name;
		link.mode = modes[i];
		assert_ok(as_user(&owner_in_group, do_link, &link));
	}
	assert_int_equal(as_user(&root, count_listed, NULL), 7);
	assert_int_equal(as_user(&owner, count_listed, NULL), 3);
	assert_int_equal(as_user(&member, count_listed, NULL), 3);
	assert_int_equal(as_user(&other, count_listed, NULL), 2);
	assert_int_equal(as_user(&bare_root, count_listed, NULL), 2);
	assert_int_equal(as_user(&namespace_root, count_listed, NULL), 2);
	unlink_all(NAME);
}

/* A page of a list is full even if names in between may not be seen. */
static long first_listed(void *arg)
{
	struct bloom_list_entry entry;
	long n = list_names("test.right", &entry, 1);

	return n == 1 ? strcmp(entry.name, arg) : -ENODATA;
}

static void list_skips_the_hidden(void **state)
{
	struct link link = { NAME ".a", 0600, -1, 0 };

	(void)state;
	assert_ok(as_user(&owner, do_link, &link));
	link = (struct link){ NAME ".b", 0644, -1, 0 };
	assert_ok(as_user(&owner, do_link, &link));
	assert_int_equal(as_user(&other, first_listed, NAME ".b"), 0);
	unlink_all(NAME);
}

/* Ids in a namespace: the owner as it is known there, or nobody. */
static long owner_seen(void *arg)
{
	struct bloom_list_entry entry;
	struct bloom_info info;
	int fd = open_name(NAME, R);

	(void)arg;
	if (fd < 0)
		return fd;
	if (get_info(fd, &info) || list_names("test.right", &entry, 1) != 1)
		return -EPROTO;
	if (info.uid != entry.uid || info.gid != entry.gid || info.uid != info.gid)
		return -EPROTO;
	return info.uid;
}

static void ids_in_a_namespace(void **state)
{
	(void)state;
	make_name(0644, -1);
	assert_int_equal(as_user(&root, owner_seen, NULL), USER_OWNER);
	assert_int_equal(as_user(&other, owner_seen, NULL), USER_OWNER);
	assert_int_equal(as_user(&owner_in_namespace, owner_seen, NULL), 0);
	assert_int_equal(as_user(&namespace_root, owner_seen, NULL), 65534);
	unlink_all(NAME);
}

static long open_device_as(void *arg)
{
	int fd = open_device(*(int *)arg);

	return fd < 0 ? fd : 0;
}

static void device_mode(void **state)
{
	int flags = O_RDONLY;

	(void)state;
	assert_int_equal(chmod(DEVICE_PATH, 0660), 0);
	assert_error(EACCES, as_user(&owner, open_device_as, &flags));
	assert_error(EACCES, as_user(&namespace_root, open_device_as, &flags));
	assert_ok(as_user(&bare_root, open_device_as, &flags));
	assert_int_equal(chmod(DEVICE_PATH, 0666), 0);
	assert_ok(as_user(&owner, open_device_as, &flags));
}

/* /dev/bloom open for reading only. */
static void device_open_for_reading(void **state)
{
	struct bloom_create create_arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	struct bloom_unlink unlink_arg = { .size = sizeof(unlink_arg), .name = NAME };
	struct bloom_open open_arg = { .size = sizeof(open_arg), .name = NAME };
	int device = assert_ok(open_device(O_RDONLY));

	(void)state;
	make_name(0666, -1);
	assert_error(EBADF, request(device, BLOOM_IOC_CREATE, &create_arg));
	assert_error(EBADF, request(device, BLOOM_IOC_UNLINK, &unlink_arg));
	open_arg.access = RW;
	assert_error(EBADF, request(device, BLOOM_IOC_OPEN, &open_arg));
	open_arg.access = W;
	assert_error(EBADF, request(device, BLOOM_IOC_OPEN, &open_arg));
	open_arg.access = R;
	close(assert_ok(request(device, BLOOM_IOC_OPEN, &open_arg)));
	close(device);
	unlink_all(NAME);
}

static int reopen(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR) < 0 ? -errno : 0;
}

/* A descriptor passed over a socket is what it was, whoever has it. */
static long use_received(void *arg)
{
	struct bloom_info info;
	int ret, fd = receive_fd(*(int *)arg);

	if (fd < 0)
		return fd;
	if (query_one(fd, 1) != BLOOM_PRESENT || get_info(fd, &info))
		return -EPROTO;
	if (add_one(fd, 2) != -EBADF || clear(fd) != -EBADF || remove_one(fd, 1) != -EBADF ||
	    link_name(fd, NAME ".x", 0666, -1, 0) != -EBADF)
		return -EPERM;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		return -EPERM;
	/* /proc is no way to another mode: root's is an anonymous inode. */
	ret = reopen(fd);
	if (ret != -EACCES && ret != -ENXIO)
		return -EPERM;
	/* fcntl() must not widen it either. */
	fcntl(fd, F_SETFL, O_RDWR);
	return add_one(fd, 2) == -EBADF ? 0 : -EPERM;
}

static void descriptor_over_a_socket(void **state)
{
	int both = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01));
	int sockets[2], reader;

	(void)state;
	unlink_all(NAME);
	assert_int_equal(add_one(both, 1), BLOOM_ABSENT);
	assert_ok(link_name(both, NAME, 0600, -1, 0));
	reader = assert_ok(open_name(NAME, R));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_ok(send_fd(sockets[0], reader));
	assert_ok(as_user(&other, use_received, &sockets[1]));
	/* Root is bound by it too. */
	assert_ok(send_fd(sockets[0], reader));
	assert_ok(as_user(&root, use_received, &sockets[1]));
	/* In flight, and all other references gone. */
	assert_ok(send_fd(sockets[0], reader));
	close(reader);
	close(both);
	unlink_all(NAME);
	reader = assert_ok(receive_fd(sockets[1]));
	assert_int_equal(query_one(reader, 1), BLOOM_PRESENT);
	close(reader);
	close(sockets[0]);
	close(sockets[1]);
}

/* Who may only write learns nothing but the verdicts of its own keys. */
static void write_only(void **state)
{
	int both = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01)), writer;
	struct bloom_info info;

	(void)state;
	unlink_all(NAME);
	assert_ok(link_name(both, NAME, 0622, -1, 0));
	writer = assert_ok(open_name(NAME, W));
	assert_int_equal(add_one(writer, 1), BLOOM_ABSENT);
	assert_int_equal(add_one(writer, 1), BLOOM_PRESENT);
	assert_error(EBADF, query_one(writer, 1));
	assert_error(EBADF, get_info(writer, &info));
	assert_true(mmap(NULL, 4096, PROT_READ, MAP_SHARED, writer, 0) == MAP_FAILED);
	assert_int_equal(errno, EACCES);
	assert_ok(clear(writer));
	assert_int_equal(query_one(both, 1), BLOOM_ABSENT);
	close(writer);
	close(both);
	unlink_all(NAME);
}

static int setup(void **state)
{
	(void)state;
	/* What an administrator does who gives the device to everybody. */
	return chmod(DEVICE_PATH, 0666);
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	return chmod(DEVICE_PATH, 0660);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mode),
		cmocka_unit_test(groups_of_a_name),
		cmocka_unit_test(unlink_rights),
		cmocka_unit_test(replace_rights),
		cmocka_unit_test(exchange_rights),
		cmocka_unit_test(link_rights),
		cmocka_unit_test(list_shows_what_one_may_read),
		cmocka_unit_test(list_skips_the_hidden),
		cmocka_unit_test(ids_in_a_namespace),
		cmocka_unit_test(device_mode),
		cmocka_unit_test(device_open_for_reading),
		cmocka_unit_test(descriptor_over_a_socket),
		cmocka_unit_test(write_only),
	};

	return run_table("rights", tests, ARRAY_LEN(tests), setup, teardown);
}
