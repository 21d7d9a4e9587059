// SPDX-License-Identifier: GPL-2.0
/*
 * A memory cgroup at its limit: its members are refused, not killed; who made a
 * filter pays for its growth, whoever causes it; and what was charged comes back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.memcg"
#define ROOT	"/sys/fs/cgroup"
#define GROUP	ROOT "/test.memcg"
#define OTHER	ROOT "/test.memcg.other"
#define MIB	1048576ULL
#define LIMIT	(8 * MIB)

#define KEYS	5000

static u64 keys[KEYS];

/* The number after @word in a file of such pairs; -1 where there is none. */
static s64 value_of(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	long long value, found = -1;
	char name[64];

	while (f && fscanf(f, "%63s %lld", name, &value) == 2) {
		if (!strcmp(name, word))
			found = value;
	}
	if (f)
		fclose(f);
	return found;
}

static s64 charged(void)
{
	return value_of(GROUP "/memory.stat", "vmalloc");
}

/* Memory comes back a grace period or two after it is let go. */
static bool comes_to(s64 (*what)(void), s64 want)
{
	int tries = 200;

	while (what() != want && --tries)
		usleep(50000);
	return tries;
}

/*
 * A CPU remembers the last cgroup that it charged, which keeps that one. Make each
 * of them remember another.
 */
static void charge_elsewhere(void)
{
	const size_t size = 1 << 20;
	pid_t pid = fork();
	cpu_set_t set;
	void *memory;
	int cpu;

	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	write_number(OTHER "/cgroup.procs", getpid());
	for (cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		munmap(memory, size);
	}
	_exit(0);
}

static s64 dying(void)
{
	charge_elsewhere();
	return value_of(ROOT "/cgroup.stat", "nr_dying_descendants");
}

static int set_limit(u64 bytes)
{
	return write_number(GROUP "/memory.max", bytes);
}

/* In a member of the group, which is no test: the first line that went wrong. */
static int bad_line;

static void check(bool ok, int line)
{
	if (!ok && !bad_line)
		bad_line = line;
}

#define CHECK(condition)	check((condition), __LINE__)

static int in_group(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK(!write_number(GROUP "/cgroup.procs", getpid()));
		if (!bad_line)
			fn();
		/* An exit status is too small for a line's number. */
		if (bad_line)
			fprintf(stderr, "# line %d\n", bad_line);
		_exit(!!bad_line);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		print_error("killed by signal %d\n", WTERMSIG(status));
	return status;
}

static int make(u64 mib)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);

	arg.slots = mib * 8 * MIB;
	return create(&arg);
}

static void create_too_much(void)
{
	s64 before = charged();
	int i, fd;

	for (i = 0; i < 3; i++) {
		CHECK(make(4 * LIMIT / MIB) == -ENOMEM);
		/* Half made: a window of which some generations fit. */
		struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED,
							  BLOOM_GROWTH_WINDOW);
		arg.generations = 16;
		arg.slots = 8 * MIB;
		arg.probes = 3;
		CHECK(create(&arg) == -ENOMEM);
	}
	/* What vmalloc() had until it failed, newer kernels free in a work item. */
	CHECK(comes_to(charged, before));
	fd = make(2);
	CHECK(fd >= 0);
	CHECK(charged() >= before + (s64)(2 * MIB));
	CHECK(add_one(fd, 1) == BLOOM_ABSENT && query_one(fd, 1) == BLOOM_PRESENT);
	close(fd);
	CHECK(comes_to(charged, before));
}

/* As many as there is room for, each a file, a filter and memory. */
static void create_many(void)
{
	int i, fds[200];

	for (i = 0; i < 200; i++) {
		fds[i] = create_sized(BLOOM_KIND_BLOCKED, 200000, 0.01);
		if (fds[i] < 0)
			break;
		CHECK(add_one(fds[i], i) == BLOOM_ABSENT);
	}
	CHECK(i > 5 && i < 200 && fds[i] == -ENOMEM);
	/* And go on at the limit, with more of everything that allocates. */
	CHECK(create_sized(BLOOM_KIND_BLOCKED, 200000, 0.01) == -ENOMEM);
	for (; i; i--) {
		CHECK(query_one(fds[i - 1], i - 1) == BLOOM_PRESENT);
		close(fds[i - 1]);
	}
	/* What was let go makes room at once. */
	CHECK(make(LIMIT / MIB / 2) >= 0);
}

static void clear_without_room(void)
{
	int fd = make(LIMIT / MIB * 5 / 8), i;

	CHECK(fd >= 0);
	for (i = 0; i < 1000; i++)
		CHECK(add_one(fd, 777 * i) == BLOOM_ABSENT);
	CHECK(clear(fd) == -ENOMEM);
	for (i = 0; i < 1000; i++)
		CHECK(query_one(fd, 777 * i) == BLOOM_PRESENT);
}

/* Leaves a name behind, and is gone when it grows. */
static void make_scaling(void)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING);
	int fd;

	arg.capacity = 1024;
	arg.fp_rate = RATE(0.00000001);
	fd = create(&arg);
	CHECK(fd >= 0);
	CHECK(!link_name(fd, NAME, 0600, -1, 0));
}

/*
 * Count keys, as LOAD does, until the filter is refused its next layer.
 * Return: what INFO says then; REFUSED is missing if it never was.
 */
static struct bloom_info fill(int fd)
{
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
	struct bloom_info info = { .state = 0 };
	int i, n;

	for (i = 0; i < BLOOM_LAYERS_MAX && !(info.state & BLOOM_STATE_REFUSED); i++) {
		struct bloom_load load = { .size = sizeof(load) };

		n = get_layers(fd, layers, BLOOM_LAYERS_MAX);
		if (n < 1)
			break;
		load.layer = n - 1;
		load.keys = layers[n - 1].capacity;
		if (request(fd, BLOOM_IOC_LOAD, &load) || get_info(fd, &info))
			break;
	}
	return info;
}

static void grow_past_the_limit(void)
{
	struct bloom_info info;
	int fd;

	make_scaling();
	fd = open_name(NAME, ACCESS_BOTH);
	fill_keys(keys, KEYS, 0);
	CHECK(add_keys(fd, keys, KEYS) == 0);
	info = fill(fd);
	CHECK(info.state & BLOOM_STATE_REFUSED);
	CHECK(info.bytes > LIMIT / 4 && info.bytes < LIMIT);
	/* It takes keys all the same, and loses none. */
	CHECK(query_keys(fd, keys, KEYS) == KEYS);
	fill_keys(keys, KEYS, KEYS);
	CHECK(add_keys(fd, keys, KEYS) == 0);
	CHECK(query_keys(fd, keys, KEYS) == KEYS);
}

static void assert_nobody_was_killed(void)
{
	assert_count(0, value_of(GROUP "/memory.events", "oom_kill"));
	/* The limit was really met. */
	assert_true(value_of(GROUP "/memory.events", "max") > 0);
}

static void refused(void **state)
{
	assert_int_equal(in_group(*state), 0);
	unlink_all(NAME);
	assert_nobody_was_killed();
	assert_true(comes_to(charged, 0));
}

/* From outside the group, and after its last member has gone. */
static void growth_is_the_makers(void **state)
{
	struct bloom_info info;
	int fd;

	(void)state;
	assert_int_equal(in_group(make_scaling), 0);
	fd = assert_ok(open_name(NAME, ACCESS_BOTH));
	info = fill(fd);
	assert_true(info.state & BLOOM_STATE_REFUSED);
	assert_true(info.bytes > LIMIT / 4 && info.bytes < LIMIT);
	assert_true(charged() >= (s64)info.bytes);
	assert_nobody_was_killed();
	/* Room again: it grows with the next keys. */
	assert_ok(set_limit(64 * MIB));
	sleep(2);
	fill_keys(keys, KEYS, 0);
	assert_ok(add_keys(fd, keys, KEYS));
	assert_ok(get_info(fd, &info));
	assert_false(info.state & BLOOM_STATE_REFUSED);
	assert_true(info.bytes > LIMIT / 2);
	close(fd);
	unlink_all(NAME);
	assert_true(comes_to(charged, 0));
}

static s64 dying_before;

static int setup(void **state)
{
	(void)state;
	dying_before = dying();
	return mkdir(GROUP, 0755) || set_limit(LIMIT);
}

/* The group itself goes away, which a charge that was forgotten would prevent. */
static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	if (rmdir(GROUP))
		return -1;
	if (comes_to(dying, dying_before))
		return 0;
	print_error("the removed cgroup is still held\n");
	return -1;
}

static int make_other(void **state)
{
	(void)state;
	return mkdir(OTHER, 0755);
}

static int remove_other(void **state)
{
	(void)state;
	return rmdir(OTHER);
}

#define REFUSED(fn) { #fn, refused, setup, teardown, (void *)(fn) }

int main(void)
{
	const struct CMUnitTest tests[] = {
		REFUSED(create_too_much),
		REFUSED(create_many),
		REFUSED(clear_without_room),
		REFUSED(grow_past_the_limit),
		cmocka_unit_test_setup_teardown(growth_is_the_makers, setup, teardown),
	};
	int fd = open(ROOT "/cgroup.subtree_control", O_WRONLY);

	if (fd < 0 || write(fd, "+memory", 7) != 7) {
		puts("1..1\nok 1 - memory cgroups # SKIP this kernel has none");
		return 0;
	}
	close(fd);
	return run_table("memcg", tests, ARRAY_LEN(tests), make_other, remove_other);
}
