// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of a process: no descriptor left for a result, SIGKILL while it makes,
 * maps, reads or fills a filter. Memory and names come back, exactly, and those
 * who share the filter notice nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.kills"
#define MIB	1048576ULL

static int make(u64 mib)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);

	arg.slots = mib * 8 * MIB;
	return create(&arg);
}

/* All memory that filters may have: what is left behind anywhere is missed. */
static void cap_all(u64 mib)
{
	assert_ok(set_caps(mib, mib, mib));
}

static s64 references(void)
{
	return read_number("/sys/module/bloom/refcnt");
}

/* A descriptor is let go of by a task's end a little after wait() has told it. */
static void assert_references(s64 want)
{
	int tries = 200;

	while (references() != want && --tries)
		usleep(10000);
	assert_count(want, references());
}

static void no_descriptor_left(void **state)
{
	struct bloom_create create_arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
	struct bloom_open open_arg = { sizeof(open_arg), ACCESS_BOTH, NAME };
	int device = assert_ok(open_device(O_RDWR)), named = assert_ok(make(1)), i, last, one;
	struct bloom_list_entry entries[4];
	struct rlimit limit, few;
	s64 before;

	(void)state;
	assert_ok(link_name(named, NAME, 0600, -1, 0));
	cap_all(8);
	create_arg.slots = 4 * 8 * MIB;
	before = references();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	last = dup(device);
	few = (struct rlimit){ .rlim_cur = last, .rlim_max = limit.rlim_max };
	close(last);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (i = 0; i < 50; i++) {
		/* ENOSPC would be a leak. */
		assert_error(EMFILE, request(device, BLOOM_IOC_CREATE, &create_arg));
		assert_error(EMFILE, request(device, BLOOM_IOC_OPEN, &open_arg));
	}
	/* All but one descriptor: there is still just that one. */
	few.rlim_cur = last + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	one = assert_ok(request(device, BLOOM_IOC_CREATE, &create_arg));
	assert_int_equal(one, last);
	assert_error(EMFILE, request(device, BLOOM_IOC_OPEN, &open_arg));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(one);
	assert_references(before);
	close(device);
	assert_int_equal(list_names("test.kill", entries, 4), 1);
	assert_string_equal(entries[0].name, NAME);
	close(named);
	assert_ok(unlink_name(NAME));
	close(assert_ok(make(8)));
}

/* Start @fn in a process of its own, for ever. */
static pid_t start(void (*fn)(int), int fd)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		for (;;)
			fn(fd);
	}
	return pid;
}

static void end(pid_t pid)
{
	int status;

	/* It must have come this far by itself. */
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

#define HUGE_MIB	24

static void create_huge(int unused)
{
	int fd = make(HUGE_MIB);

	(void)unused;
	if (fd < 0 && fd != -ENOSPC && fd != -ENOMEM)
		_exit(1);
	if (fd >= 0)
		close(fd);
}

/* In the middle of zeroing its memory, mostly. */
static void while_it_creates(void **state)
{
	s64 before = references();
	int round;

	(void)state;
	cap_all(HUGE_MIB);
	for (round = 0; round < (int)scaled(10, 3); round++) {
		pid_t pid = start(create_huge, -1);

		usleep(500 + round * 9000);
		end(pid);
		/* The whole of it is there again. */
		close(assert_ok(make(HUGE_MIB)));
	}
	assert_references(before);
}

static int mapped[2];	/* a pipe */

static void read_map(int fd)
{
	static const volatile u64 *map;
	static u64 words;
	u64 i, sum = 0;

	if (!map) {
		struct bloom_layer_info layer;

		if (get_layers(fd, &layer, 1) != 1)
			_exit(1);
		words = layer.bytes / sizeof(*map);
		map = map_read(fd, layer.map_offset, layer.bytes);
		/* The mapping alone holds it. */
		close(fd);
		if (!map || write(mapped[1], "", 1) != 1)
			_exit(1);
	}
	for (i = 0; i < words; i += 512)
		sum += map[i];
	if (sum)
		_exit(1);
}

/* What it alone still held, of a filter that was cleared, comes back with it. */
static void while_it_reads_the_map(void **state)
{
	int fd, round, ret, tries;
	s64 before;
	char byte;

	(void)state;
	assert_int_equal(pipe(mapped), 0);
	cap_all(10);
	for (round = 0; round < 3; round++) {
		pid_t pid;

		fd = assert_ok(make(4));
		before = references();
		pid = start(read_map, fd);
		assert_int_equal(read(mapped[0], &byte, 1), 1);
		usleep(20000 * round);
		assert_ok(clear(fd));
		assert_int_equal(add_one(fd, 0), BLOOM_ABSENT);
		assert_error(ENOSPC, clear(fd));
		end(pid);
		for (tries = 200; (ret = clear(fd)) == -ENOSPC && tries; tries--)
			usleep(10000);
		assert_ok(ret);
		assert_references(before);
		close(fd);
	}
	close(mapped[0]);
	close(mapped[1]);
}

#define BATCH	8000

/* The one that is killed: everything, and all of it in long calls. */
static void do_all(int fd)
{
	static u64 keys[BATCH], words[65536];
	struct bloom_load load = {
		.size = sizeof(load), .length = sizeof(words), .data = (uintptr_t)words,
	};
	static u64 n = 1ULL << 40;
	int own;

	fill_keys(keys, BATCH, n += BATCH);
	add_keys(fd, keys, BATCH);
	query_keys(fd, keys, BATCH);
	request(fd, BLOOM_IOC_LOAD, &load);
	rotate(fd);
	own = make(1);
	clear(own);
	close(own);
}

/*
 * Others who use the filter get on: what they add is there, in a window for
 * longer than a few rotations, and no lock stays behind.
 */
static void while_it_shares(void **state)
{
	u32 growth = (uintptr_t)*state;
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, growth);
	u64 keys[500], n = 0;
	s64 before;
	int fd, round;

	if (growth == BLOOM_GROWTH_WINDOW)
		arg.generations = 16;
	arg.capacity = 500000;
	arg.fp_rate = RATE(0.000001);
	fd = assert_ok(create(&arg));
	before = references();
	for (round = 0; round < (int)scaled(12, 2); round++) {
		pid_t pid = start(do_all, fd);
		u32 i;

		for (i = 0; i < 5; i++, n += 500) {
			fill_keys(keys, 500, n);
			assert_ok(add_keys(fd, keys, 500));
			usleep(round * 300);
			if (growth == BLOOM_GROWTH_FIXED)
				assert_count(500, query_keys(fd, keys, 500));
		}
		end(pid);
		fill_keys(keys, 500, n);
		assert_ok(add_keys(fd, keys, 500));
		assert_count(500, query_keys(fd, keys, 500));
		assert_references(before);
	}
	assert_ok(clear(fd));
	fill_keys(keys, 500, n);
	assert_count(0, query_keys(fd, keys, 500));
	close(fd);
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	return set_caps(0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(no_descriptor_left, teardown),
		cmocka_unit_test_teardown(while_it_creates, teardown),
		cmocka_unit_test_teardown(while_it_reads_the_map, teardown),
		{ "while it shares: fixed", while_it_shares, NULL, teardown,
		  (void *)BLOOM_GROWTH_FIXED },
		{ "while it shares: window", while_it_shares, NULL, teardown,
		  (void *)BLOOM_GROWTH_WINDOW },
	};

	return run_table("kills", tests, ARRAY_LEN(tests), NULL, NULL);
}
