// SPDX-License-Identifier: GPL-2.0
/*
 * Races whose outcome can be counted: whatever runs beside, the sums are exact.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.races"
#define KEYS	60000
#define BATCH	5000

static bool stop;

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void set_stop(bool value)
{
	__atomic_store_n(&stop, value, __ATOMIC_RELAXED);
}

/**
 * struct job - a thread's
 * @fd: descriptor it uses
 * @first: of its keys
 * @absent: keys it was told were new
 * @done: keys that were dealt with
 * @wrong: answers that can't be
 */
struct job {
	pthread_t thread;
	int fd;
	u64 first, absent, done, wrong, rounds;
};

static void start(struct job *job, void *(*fn)(void *))
{
	assert_int_equal(pthread_create(&job->thread, NULL, fn, job), 0);
}

static int make_bitmap(u64 slots)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);

	arg.slots = slots;
	return assert_ok(create(&arg));
}

/* Batches on a descriptor that others close, and use again for another filter. */
static void *add_until_closed(void *arg)
{
	static u64 keys[BATCH];
	struct job *job = arg;
	u64 i;

	for (i = 0; i < BATCH; i++)
		keys[i] = i;
	/* Once at least, however late its first turn comes. */
	do {
		struct bloom_batch batch = batch_of(keys, BATCH, NULL);
		int ret = request(job->fd, BLOOM_IOC_ADD, &batch);

		/* All of it into one filter, or nothing at all. */
		if (!ret && batch.done == BATCH && !batch.out_of_range)
			job->done += batch.done;
		else if (ret != -EBADF)
			job->wrong++;
		job->rounds++;
	} while (!stopped());
	return NULL;
}

static void close_during_batch(void **state)
{
	struct job jobs[3] = {};
	u64 added = 0;
	int i, n, fd;

	(void)state;
	set_stop(false);
	fd = make_bitmap(BATCH);
	for (i = 0; i < 3; i++) {
		jobs[i].fd = fd;
		start(&jobs[i], add_until_closed);
	}
	for (n = (int)scaled(200, 30); n; n--) {
		int next = make_bitmap(BATCH), keep = dup(fd);
		struct bloom_info info;

		/* The old one goes under their hands, the new one is in its place. */
		if (n % 3) {
			assert_int_equal(dup2(next, fd), fd);
		} else {
			close(fd);
			usleep(100);
			assert_int_equal(dup2(next, fd), fd);
		}
		close(next);
		/* Nobody begins on it any more; who had begun may still add. */
		usleep(n % 5 * 100);
		do {
			assert_ok(get_info(keep, &info));
			assert_true(info.keys <= BATCH);
		} while (info.keys % BATCH);
		added += info.adds;
		close(keep);
	}
	set_stop(true);
	for (i = 0; i < 3; i++)
		pthread_join(jobs[i].thread, NULL);
	for (i = 0; i < 3; i++) {
		assert_count(0, jobs[i].wrong);
		assert_true(jobs[i].rounds > 0);
	}
	close(fd);
	/* What was counted cannot be more than what was done. */
	assert_true(added <= jobs[0].done + jobs[1].done + jobs[2].done);
}

static void *add_all(void *arg)
{
	struct job *job = arg;
	u64 keys[100], i, n;
	u8 verdicts[100];

	for (i = 0; i < KEYS; i += 100) {
		struct bloom_batch batch;

		for (n = 0; n < 100; n++)
			keys[n] = (job->first + i + n) % KEYS;
		batch = batch_of(keys, 100, verdicts);
		if (run_batch(job->fd, BLOOM_IOC_ADD, &batch))
			job->wrong++;
		for (n = 0; n < 100; n++)
			job->absent += verdicts[n] == BLOOM_ABSENT;
		job->rounds++;
	}
	return NULL;
}

/* OR the odd integers in, a page at a time: what the merge of a map does. */
static void *load_odd(void *arg)
{
	static u64 words[512];
	struct job *job = arg;
	u64 at, length = KEYS / 64 * 8;

	memset(words, 0xaa, sizeof(words));
	for (at = 0; at < length; at += 256) {
		struct bloom_load load = {
			.size = sizeof(load), .offset = at, .data = (uintptr_t)words,
			.length = length - at < 256 ? length - at : 256,
		};

		if (request(job->fd, BLOOM_IOC_LOAD, &load) || load.done != load.length)
			job->wrong++;
		job->rounds++;
	}
	return NULL;
}

static void *read_counts(void *arg)
{
	struct job *job = arg;
	struct bloom_info info;
	u64 keys = 0;

	while (!stopped()) {
		if (get_info(job->fd, &info) || info.keys < keys || info.keys > KEYS ||
		    info.keys != info.slots_set)
			job->wrong += info.keys < keys || info.keys > KEYS;
		keys = info.keys;
		job->rounds++;
	}
	return NULL;
}

/*
 * ADD of each integer by two threads, LOAD of half of them, INFO: each was set
 * once, by one ADD that was told so, or by LOAD; those that LOAD never sets were
 * each told to one ADD.
 */
static void load_during_add(void **state)
{
	struct bloom_layer_info layer;
	struct bloom_info info;
	u64 round;

	(void)state;
	for (round = 0; round < scaled(8, 2); round++) {
		struct job jobs[4] = {};
		u64 absent;
		int fd = make_bitmap(KEYS), i;

		set_stop(false);
		for (i = 0; i < 4; i++) {
			jobs[i].fd = fd;
			jobs[i].first = i ? KEYS / 3 : 0;
			start(&jobs[i], i == 3 ? read_counts : i == 2 ? load_odd : add_all);
		}
		for (i = 0; i < 3; i++)
			pthread_join(jobs[i].thread, NULL);
		set_stop(true);
		pthread_join(jobs[3].thread, NULL);
		for (i = 0; i < 4; i++)
			assert_count(0, jobs[i].wrong);
		assert_ok(get_info(fd, &info));
		assert_count(KEYS, info.keys);
		assert_count(KEYS, info.slots_set);
		absent = jobs[0].absent + jobs[1].absent;
		assert_true(absent >= KEYS / 2 && absent <= KEYS);
		assert_count(2 * KEYS, info.adds);
		assert_count(2 * KEYS - absent, info.adds_present);
		assert_ok(get_layers(fd, &layer, 1));
		assert_count(KEYS, count_mapped(fd, &layer));
		close(fd);
	}
}

/*
 * A filter that is rebuilt and takes the name over, again and again: version v
 * has the key v and no other. Who opens the name never sees an older version than
 * before, and whole ones only, by a call or through the map.
 */
static u64 version;

static void *follow(void *arg)
{
	struct job *job = arg;
	u64 seen = 0;

	do {
		u64 before = __atomic_load_n(&version, __ATOMIC_ACQUIRE), after, found;
		struct bloom_layer_info layer;
		const u64 *map;
		int fd = open_name(NAME, BLOOM_ACCESS_READ);

		if (fd < 0) {
			job->wrong++;
			continue;
		}
		if (get_layers(fd, &layer, 1) != 1 || layer.keys != 1)
			job->wrong++;
		map = map_read(fd, layer.map_offset, layer.bytes);
		after = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
		for (found = 0; map && found < layer.bytes / 8 && !map[found]; found++)
			;
		if (!map || found == layer.bytes / 8) {
			job->wrong++;
		} else {
			found = found * 64 + __builtin_ctzll(map[found]);
			/* The next one may have the name already. */
			if (found < before || found > after + 1 || found < seen)
				job->wrong++;
			if (query_one(fd, found) != BLOOM_PRESENT)
				job->wrong++;
			seen = found;
			munmap((void *)map, layer.bytes);
		}
		/* Read only: not for writing, whatever name it has. */
		if (add_one(fd, 1) != -EBADF)
			job->wrong++;
		close(fd);
		job->rounds++;
	} while (!stopped());
	return NULL;
}

static void replace_during_open(void **state)
{
	u64 versions = scaled(500, 50), v;
	struct job jobs[3] = {};
	int i;

	(void)state;
	set_stop(false);
	__atomic_store_n(&version, 0, __ATOMIC_RELEASE);
	for (v = 1; v <= versions; v++) {
		int fd = make_bitmap(versions + 2);

		assert_int_equal(add_one(fd, v), BLOOM_ABSENT);
		assert_ok(link_name(fd, NAME, 0600, -1, BLOOM_LINK_REPLACE));
		__atomic_store_n(&version, v, __ATOMIC_RELEASE);
		close(fd);
		for (i = 0; v == 1 && i < 3; i++)
			start(&jobs[i], follow);
	}
	set_stop(true);
	for (i = 0; i < 3; i++) {
		pthread_join(jobs[i].thread, NULL);
		assert_count(0, jobs[i].wrong);
		assert_true(jobs[i].rounds > 0);
	}
	unlink_all(NAME);
}

/* A child shares the filter, a program that is executed has it only if told. */
static void fork_and_exec(void **state)
{
	int fd = make_bitmap(1000), status, kept;
	struct bloom_info info;
	char command[128];
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		status = add_one(fd, 1) == BLOOM_ABSENT && !clear(fd) &&
			 add_one(fd, 2) == BLOOM_ABSENT;
		/* Its end closes nothing of the parent's. */
		close(fd);
		_exit(status ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(query_one(fd, 1), BLOOM_ABSENT);
	assert_int_equal(query_one(fd, 2), BLOOM_PRESENT);

	kept = dup(fd);
	assert_ok(get_info(fd, &info));
	snprintf(command, sizeof(command),
		 "test ! -e /proc/self/fd/%d && grep -qx 'bloom-id:\t%u' /proc/self/fdinfo/%d",
		 fd, info.id, kept);
	assert_int_equal(system(command), 0);
	close(kept);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(close_during_batch),
		cmocka_unit_test(load_during_add),
		cmocka_unit_test(replace_during_open),
		cmocka_unit_test(fork_and_exec),
	};

	return run_table("races", tests, ARRAY_LEN(tests), NULL, NULL);
}
