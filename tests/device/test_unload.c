// SPDX-License-Identifier: GPL-2.0
/*
 * The module goes and comes while others open the device, make filters, map them
 * and let go of all of it the moment before: unloading is refused or clean.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.unload"
#define MODULE	"/lib/bloom/bloom.ko"
#define USERS	4

static bool stop;

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* What may come of opening a device that is not there, or just going. */
static bool is_gone(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -ENXIO || error == -EACCES;
}

struct job {
	pthread_t thread;
	u32 number;
	u64 made;
	int error;
};

static int use(struct job *job)
{
	u32 growth = job->made % 3;
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, growth);
	struct bloom_layer_info layer;
	u64 keys[500];
	void *map;
	int fd;

	if (growth == BLOOM_GROWTH_WINDOW)
		arg.period_ns = BLOOM_PERIOD_MIN_NS;
	if (growth == BLOOM_GROWTH_SCALING)
		arg.capacity = 1024;
	fd = create(&arg);
	if (fd < 0)
		return fd;
	fill_keys(keys, 500, job->made * 500);
	if (add_keys(fd, keys, 500) < 0 || get_layers(fd, &layer, 1) < 1)
		return -EPROTO;
	map = map_read(fd, layer.map_offset, layer.bytes);
	if (map)
		munmap(map, layer.bytes);
	if (job->number == 1) {
		if (link_name(fd, NAME, 0600, -1, BLOOM_LINK_REPLACE) || unlink_name(NAME))
			return -EPROTO;
	}
	close(fd);
	return 0;
}

static void *user(void *arg)
{
	struct job *job = arg;

	while (!stopped()) {
		double began = seconds();
		int ret = use(job);

		if (!ret) {
			__atomic_add_fetch(&job->made, 1, __ATOMIC_RELAXED);
		} else if (!is_gone(ret)) {
			job->error = ret;
			__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		}
		/* Idle for longer than busy: else it would be in use for ever. */
		usleep(1000 * (job->number + 1) + 6e6 * (seconds() - began));
	}
	return NULL;
}

static int load(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "bloom", O_NONBLOCK) ? -errno : 0;
}

static bool each_made_one(const struct job *jobs)
{
	u32 i;

	for (i = 0; i < USERS; i++) {
		if (!__atomic_load_n(&jobs[i].made, __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

/* Until it was unloaded often enough, and refused, and each has made a filter. */
static void unload_during_use(void **state)
{
	u32 i, unloaded = 0, refused = 0, wanted = scaled(20, 4);
	struct job jobs[USERS] = {};
	int ret = 0;

	(void)state;
	/* A name that another test left behind would keep it for ever. */
	assert_ok(unload());
	assert_ok(load());
	for (i = 0; i < USERS; i++) {
		jobs[i].number = i;
		assert_int_equal(pthread_create(&jobs[i].thread, NULL, user, &jobs[i]), 0);
	}
	while (!stopped() && (unloaded < wanted || !refused || !each_made_one(jobs))) {
		ret = unload();
		if (ret == -EWOULDBLOCK || ret == -EBUSY) {
			refused++;
			usleep(200);
			continue;
		}
		if (ret)
			break;
		unloaded++;
		ret = load();
		if (ret)
			break;
		usleep(2000);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < USERS; i++)
		pthread_join(jobs[i].thread, NULL);
	assert_ok(ret == -EWOULDBLOCK || ret == -EBUSY ? 0 : ret);
	for (i = 0; i < USERS; i++)
		assert_ok(jobs[i].error);
	print_message("# unloaded %u times, refused %u times\n", unloaded, refused);
	close(assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01)));
}

/* Unloaded right behind the last close, while filters are still on their way out. */
static void unload_after_close(void **state)
{
	size_t round, i;

	(void)state;
	for (round = 0; round < scaled(10, 3); round++) {
		struct bloom_layer_info layer;
		void *maps[3];
		int fds[30], tries;

		for (i = 0; i < 30; i++) {
			struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, i % 3);
			u64 keys[1000];

			if (i % 3 == BLOOM_GROWTH_WINDOW)
				arg.period_ns = BLOOM_PERIOD_MIN_NS;
			arg.capacity = 1024;
			fds[i] = assert_ok(create(&arg));
			fill_keys(keys, 1000, 0);
			assert_ok(add_keys(fds[i], keys, 1000));
		}
		for (i = 0; i < 3; i++) {
			assert_ok(get_layers(fds[i], &layer, 1));
			maps[i] = map_read(fds[i], layer.map_offset, 4096);
		}
		for (i = 0; i < 30; i++) {
			if (i % 4 == 0)
				assert_ok(clear(fds[i]));
			close(fds[i]);
		}
		for (i = 0; i < 3; i++) {
			/* A layer of a window may have gone before it was mapped. */
			if (maps[i])
				munmap(maps[i], 4096);
		}
		for (tries = 1000; unload() && tries; tries--)
			usleep(100);
		assert_true(tries);
		assert_ok(load());
	}
	close(assert_ok(create_sized(BLOOM_KIND_BLOCKED, 100, 0.01)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unload_during_use),
		cmocka_unit_test(unload_after_close),
	};

	return run_table("unload", tests, ARRAY_LEN(tests), NULL, NULL);
}
