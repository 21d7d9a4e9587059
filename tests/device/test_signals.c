// SPDX-License-Identifier: GPL-2.0
/*
 * A batch that is interrupted, by a signal that is handled and by one that
 * kills; and a module that is in use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.signals"

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void set_alarm(u32 microseconds, int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval every = {
		.it_interval.tv_usec = microseconds,
		.it_value.tv_usec = microseconds,
	};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* A quarter full at most: no false positive, whatever the seed. */
static int roomy(size_t n)
{
	return create_sized(BLOOM_KIND_BLOCKED, 4 * n, 0.000001);
}

/*
 * An alarm every few hundred microseconds while a long batch runs: every call
 * gets on, some stop early, and in the end every key was dealt with once.
 */
static void interrupted(void **state)
{
	unsigned long cmd = (uintptr_t)*state;
	size_t n = scaled(1000000, 50000), calls = 0, done = 0, i;
	u64 *keys = malloc(n * sizeof(*keys));
	u8 *verdicts = malloc(n);
	int fd = assert_ok(roomy(n));
	struct bloom_batch batch;
	struct bloom_info info;
	int ret = 0;

	fill_keys(keys, n, 0);
	memset(verdicts, 0xee, n);
	if (cmd == BLOOM_IOC_QUERY)
		assert_ok(add_keys(fd, keys, n));
	alarms = 0;
	set_alarm(300, SA_RESTART);
	while (done < n) {
		batch = batch_of(keys + done, n - done, verdicts + done);
		ret = request(fd, cmd, &batch);
		if (ret == -EINTR) {
			assert_count(0, batch.done);
			continue;
		}
		if (ret < 0 || !batch.done)
			break;
		/* Verdicts are told for what is done, and for no more. */
		assert_int_not_equal(verdicts[done + batch.done - 1], 0xee);
		if (done + batch.done < n)
			assert_int_equal(verdicts[done + batch.done], 0xee);
		done += batch.done;
		calls++;
	}
	set_alarm(0, 0);
	assert_ok(ret);
	assert_count(n, done);
	/* A signal came, and was not put off until the end. */
	assert_true(alarms > 0);
	assert_true(calls > 1);
	for (i = 0; i < n; i++)
		assert_int_equal(verdicts[i], cmd == BLOOM_IOC_QUERY);
	assert_ok(get_info(fd, &info));
	assert_count(n, info.adds);
	assert_count(n, info.keys);
	assert_count(cmd == BLOOM_IOC_QUERY ? n : 0, info.queries);
	assert_count(n, query_keys(fd, keys, n));
	free(keys);
	free(verdicts);
	close(fd);
}

/* A signal that waits when the call is made lets it do at least one chunk. */
static void signal_pending(void **state)
{
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100000, 0.000001));
	size_t n = 50000;
	u64 *keys = malloc(n * sizeof(*keys));
	struct bloom_batch batch;
	pid_t pid;
	int status;

	(void)state;
	fill_keys(keys, n, 0);
	pid = fork();
	if (!pid) {
		/* Stopped and woken: the ioctl runs with the signal still there. */
		set_alarm(50, 0);
		do {
			batch = batch_of(keys, n, NULL);
			if (request(fd, BLOOM_IOC_QUERY, &batch) || !batch.done)
				_exit(1);
		} while (alarms < 200);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	free(keys);
	close(fd);
}

/*
 * Killed in mid-batch: what it had added is there, the counts agree with the
 * bits, and another process does the rest.
 */
static void killed(void **state)
{
	size_t n = scaled(2000000, 100000), i, held;
	u64 *keys = malloc(n * sizeof(*keys));
	struct bloom_layer_info layer;
	struct bloom_info info;
	u32 wait_us;
	int fd, status;
	pid_t pid;

	(void)state;
	fill_keys(keys, n, 0);
	for (wait_us = 1000; wait_us < 200000; wait_us *= 3) {
		fd = assert_ok(roomy(n));
		pid = fork();
		if (!pid) {
			for (;;)
				add_keys(fd, keys, n);
		}
		usleep(wait_us);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));

		assert_ok(get_info(fd, &info));
		held = info.keys;
		/* The keys of a batch are added in order: these are its first. */
		assert_count(held, query_keys(fd, keys, held));
		for (i = held; i < n && i < held + 1000; i++)
			assert_int_equal(query_one(fd, keys[i]), BLOOM_ABSENT);
		assert_ok(get_layers(fd, &layer, 1));
		assert_count(layer.slots_set, count_mapped(fd, &layer));
		assert_count(held, add_keys(fd, keys, n));
		assert_count(n, query_keys(fd, keys, n));
		close(fd);
	}
	free(keys);
}

/* Killed while it waits for memory, creates, maps: nothing stays behind. */
static void killed_anywhere(void **state)
{
	s64 before = read_number("/sys/module/bloom/refcnt");
	int round, status;

	(void)state;
	for (round = 0; round < 20; round++) {
		pid_t pid = fork();

		if (!pid) {
			for (;;) {
				struct bloom_layer_info layer = {};
				int fd = create_sized(BLOOM_KIND_BLOCKED, 2000000, 0.01);

				get_layers(fd, &layer, 1);
				map_read(fd, layer.map_offset, layer.bytes);
				link_name(fd, NAME, 0600, -1, BLOOM_LINK_REPLACE);
				clear(fd);
				close(fd);
				munmap(NULL, 0);
			}
		}
		usleep(1000 + round * 3000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	unlink_all(NAME);
	assert_count(before, read_number("/sys/module/bloom/refcnt"));
}

static int unload(void)
{
	return syscall(SYS_delete_module, "bloom", O_NONBLOCK) ? -errno : 0;
}

/* Whatever refers to a filter keeps the module. */
static void unload_refused(void **state)
{
	s64 before = read_number("/sys/module/bloom/refcnt");
	int fd = open_device(O_RDWR);
	struct bloom_layer_info layer;
	void *map;

	(void)state;
	assert_ok(fd);
	assert_error(EWOULDBLOCK, unload());
	close(fd);

	fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01));
	assert_error(EWOULDBLOCK, unload());

	assert_ok(link_name(fd, NAME, 0600, -1, 0));
	assert_ok(get_layers(fd, &layer, 1));
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	close(fd);
	/* The name and the mapping. */
	assert_error(EWOULDBLOCK, unload());
	/* The mapping alone. UNLINK itself had the device open only for its time. */
	assert_ok(unlink_name(NAME));
	assert_error(EWOULDBLOCK, unload());
	assert_count(0, *(u64 *)map);
	/* The name alone. */
	fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01));
	assert_ok(link_name(fd, NAME, 0600, -1, 0));
	close(fd);
	munmap(map, layer.bytes);
	assert_error(EWOULDBLOCK, unload());
	assert_ok(unlink_name(NAME));
	/* And nothing does any more: the guest's own end unloads it for real. */
	assert_count(before, read_number("/sys/module/bloom/refcnt"));
}

static int teardown(void **state)
{
	(void)state;
	set_alarm(0, 0);
	unlink_all(NAME);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "interrupted ADD", interrupted, NULL, teardown, (void *)BLOOM_IOC_ADD },
		{ "interrupted QUERY", interrupted, NULL, teardown, (void *)BLOOM_IOC_QUERY },
		cmocka_unit_test_teardown(signal_pending, teardown),
		cmocka_unit_test_teardown(killed, teardown),
		cmocka_unit_test_teardown(killed_anywhere, teardown),
		cmocka_unit_test_teardown(unload_refused, teardown),
	};

	return run_table("signals", tests, ARRAY_LEN(tests), NULL, NULL);
}
