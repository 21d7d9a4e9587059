// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that do everything to a few shared filters at once, for some seconds.
 * What must hold all the same: no key that was added and neither cleared nor
 * rotated out is ever absent, no error but those that the race explains, and in
 * the end nothing is left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define PREFIX	"test.stress."
#define THREADS	8
#define BATCH	200

static double duration;
static bool stop;

/**
 * struct job - a thread
 * @fd: the filter it works on, shared with others
 * @number: of the thread, for keys of its own
 * @error: what went wrong first, as a line of text
 */
struct job {
	int fd;
	u32 number;
	char error[160];
	u64 rounds;
	pthread_t thread;
};

/* The first complaint is kept, and ends the run. */
static void __attribute__((format(printf, 2, 3))) complain(struct job *job, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!job->error[0])
		vsnprintf(job->error, sizeof(job->error), format, args);
	va_end(args);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* Adds keys of its own and never finds one missing. */
static void *keeper(void *arg)
{
	struct job *job = arg;
	u64 keys[BATCH], next = (u64)job->number << 40, first = next, back;
	long n;

	while (!stopped()) {
		fill_keys(keys, BATCH, next);
		n = add_keys(job->fd, keys, BATCH);
		if (n < 0) {
			complain(job, "ADD: %s", strerror(-n));
			break;
		}
		next += BATCH;
		n = query_keys(job->fd, keys, BATCH);
		if (n != BATCH)
			complain(job, "just added: %ld of %d are there", n, BATCH);
		/* One of an earlier batch. */
		back = first + (key_of(next) % ((next - first) / BATCH)) * BATCH;
		fill_keys(keys, BATCH, back);
		n = query_keys(job->fd, keys, BATCH);
		if (n != BATCH)
			complain(job, "added before: %ld of %d are there", n, BATCH);
		job->rounds++;
		/* Else a fixed filter would fill up and prove nothing. */
		if (next - first > 100000)
			next = first + BATCH;
	}
	return NULL;
}

/* Reads INFO, maps layers and looks at them, polls; of whatever set there is. */
static void *observer(void *arg)
{
	struct job *job = arg;
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
	struct bloom_info info;
	struct pollfd events = { .fd = job->fd, .events = POLLPRI };
	volatile u64 sum = 0;
	int i, n, ret;

	while (!stopped()) {
		ret = get_info(job->fd, &info);
		n = get_layers(job->fd, layers, BLOOM_LAYERS_MAX);
		if (ret < 0 || n < 1) {
			complain(job, "INFO: %d, %d", ret, n);
			break;
		}
		for (i = 0; i < n; i++) {
			u64 *map = map_read(job->fd, layers[i].map_offset, layers[i].bytes);

			/* It may be gone since; then its offset is refused. */
			if (!map) {
				if (errno != EINVAL)
					complain(job, "mmap: %s", strerror(errno));
				continue;
			}
			sum += map[0] + map[layers[i].bytes / 8 - 1];
			munmap(map, layers[i].bytes);
		}
		if (poll(&events, 1, 0) < 0)
			complain(job, "poll: %s", strerror(errno));
		job->rounds++;
	}
	return NULL;
}

static void *clearer(void *arg)
{
	struct job *job = arg;
	int ret;

	while (!stopped()) {
		ret = clear(job->fd);
		/* Memory that was cleared comes back only after a while. */
		if (ret && ret != -ENOSPC)
			complain(job, "CLEAR: %s", strerror(-ret));
		usleep(5000);
		job->rounds++;
	}
	return NULL;
}

/* Adds, and must find each of them new or not: nothing is promised but sense. */
static void *adder(void *arg)
{
	struct job *job = arg;
	u64 keys[BATCH], random = job->number;
	u8 verdicts[BATCH];
	struct bloom_batch batch;
	int ret;

	while (!stopped()) {
		fill_keys(keys, BATCH, next_random(&random) % 50000);
		batch = batch_of(keys, BATCH, verdicts);
		ret = run_batch(job->fd, random % 2 ? BLOOM_IOC_ADD : BLOOM_IOC_QUERY, &batch);
		if (ret || batch.done != BATCH || batch.out_of_range)
			complain(job, "batch: %s, %llu", strerror(-ret), batch.done);
		job->rounds++;
	}
	return NULL;
}

static void *rotator(void *arg)
{
	struct job *job = arg;
	int ret;

	while (!stopped()) {
		ret = rotate(job->fd);
		if (ret)
			complain(job, "ROTATE: %s", strerror(-ret));
		usleep(1000);
		job->rounds++;
	}
	return NULL;
}

/*
 * A key is remembered for a whole generation at least: with 16 of them and
 * rotations that each wait for a grace period, far longer than a call takes.
 */
static void *window_keeper(void *arg)
{
	struct job *job = arg;
	u64 key = (u64)job->number << 40;
	struct bloom_info before, after;
	int add, query;

	while (!stopped()) {
		if (get_info(job->fd, &before))
			complain(job, "INFO failed");
		add = add_one(job->fd, key_of(++key));
		query = query_one(job->fd, key_of(key));
		if (add < 0 || query < 0 || get_info(job->fd, &after))
			complain(job, "ADD %d, QUERY %d", add, query);
		if (query == BLOOM_ABSENT && after.rotations - before.rotations < 15)
			complain(job, "lost after %llu rotations",
				 after.rotations - before.rotations);
		job->rounds++;
	}
	return NULL;
}

/*
 * Filters that come, take a name from one another, and go. Whoever opens the
 * name finds a filter whose key is there: it was added before it was linked.
 */
static void *replacer(void *arg)
{
	struct job *job = arg;
	int fd, ret;

	while (!stopped()) {
		fd = create_sized(BLOOM_KIND_BLOCKED, 1000, 0.001);
		if (fd == -ENOSPC || fd == -ENOMEM) {
			usleep(1000);
			continue;
		}
		if (fd < 0) {
			complain(job, "CREATE: %s", strerror(-fd));
			break;
		}
		add_one(fd, 42);
		ret = link_name(fd, PREFIX "shared", 0600, -1, BLOOM_LINK_REPLACE);
		if (ret)
			complain(job, "LINK: %s", strerror(-ret));
		if (job->rounds % 7 == 0) {
			ret = unlink_name(PREFIX "shared");
			if (ret && ret != -ENOENT)
				complain(job, "UNLINK: %s", strerror(-ret));
		}
		if (query_one(fd, 42) != BLOOM_PRESENT)
			complain(job, "lost with its name");
		close(fd);
		job->rounds++;
	}
	return NULL;
}

static void *opener(void *arg)
{
	struct job *job = arg;
	struct bloom_list_entry entries[8];
	int fd, n;

	while (!stopped()) {
		fd = open_name(PREFIX "shared", ACCESS_BOTH);
		if (fd < 0 && fd != -ENOENT)
			complain(job, "OPEN: %s", strerror(-fd));
		n = list_names("test.stress", entries, 8);
		if (n < 0)
			complain(job, "LIST: %s", strerror(-n));
		if (fd >= 0) {
			if (query_one(fd, 42) != BLOOM_PRESENT)
				complain(job, "opened one that was not ready");
			close(fd);
		}
		job->rounds++;
	}
	return NULL;
}

/* On a busy machine a thread's first turn can come later than the end was meant. */
static bool all_got_on(const struct job *jobs, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!__atomic_load_n(&jobs[i].rounds, __ATOMIC_RELAXED))
			return false;
	return true;
}

/* Run them side by side until all have got on; none may complain. */
static void run(struct job *jobs, void *(*const what[])(void *), u32 n)
{
	double end = seconds() + duration;
	u32 i;

	stop = false;
	for (i = 0; i < n; i++) {
		jobs[i].number = i + 1;
		assert_int_equal(pthread_create(&jobs[i].thread, NULL, what[i], &jobs[i]), 0);
	}
	while ((seconds() < end || !all_got_on(jobs, n)) && !stopped())
		usleep(50000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < n; i++)
		pthread_join(jobs[i].thread, NULL);
	for (i = 0; i < n; i++) {
		if (jobs[i].error[0]) {
			print_error("thread %u: %s\n", i, jobs[i].error);
			fail();
		}
	}
}

static int make(u32 kind, u32 growth, u64 capacity)
{
	struct bloom_create arg = create_defaults(kind, growth);

	arg.capacity = capacity;
	if (growth == BLOOM_GROWTH_WINDOW)
		arg.generations = 16;
	return assert_ok(create(&arg));
}

/* Keys are kept while others look on, whatever grows meanwhile. */
static void keep(u32 kind, u32 growth)
{
	void *(*const what[])(void *) = {
		keeper, keeper, keeper, keeper, observer, observer, keeper, observer,
	};
	int fd = make(kind, growth, growth == BLOOM_GROWTH_SCALING ? 1000 : 500000);
	struct job jobs[THREADS] = {};
	struct bloom_info info;
	u32 i;

	for (i = 0; i < THREADS; i++)
		jobs[i].fd = fd;
	run(jobs, what, THREADS);
	assert_ok(get_info(fd, &info));
	assert_count(info.adds, info.keys + info.adds_present);
	close(fd);
}

static void keep_blocked(void **state)
{
	(void)state;
	keep(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
}

static void keep_classic(void **state)
{
	(void)state;
	keep(BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED);
}

static void keep_scaling(void **state)
{
	(void)state;
	keep(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING);
}

static void keep_scaling_classic(void **state)
{
	(void)state;
	keep(BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING);
}

static void clear_everything(u32 kind, u32 growth)
{
	void *(*const what[])(void *) = {
		adder, adder, adder, clearer, clearer, observer, observer, adder,
	};
	int fd = make(kind, growth, 2000);
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
	struct job jobs[THREADS] = {};
	int i, n;

	for (i = 0; i < THREADS; i++)
		jobs[i].fd = fd;
	run(jobs, what, THREADS);
	/* Counts and bits still agree, now that it is quiet. */
	n = assert_ok(get_layers(fd, layers, BLOOM_LAYERS_MAX));
	for (i = 0; i < n; i++)
		assert_count(layers[i].slots_set, count_mapped(fd, &layers[i]));
	close(fd);
}

static void clear_blocked(void **state)
{
	(void)state;
	clear_everything(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
}

static void clear_scaling(void **state)
{
	(void)state;
	clear_everything(BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING);
}

static void clear_window(void **state)
{
	(void)state;
	clear_everything(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
}

static void rotate_window(void **state)
{
	void *(*const what[])(void *) = {
		window_keeper, window_keeper, window_keeper, rotator, rotator, observer, adder,
		window_keeper,
	};
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, 100000);
	struct bloom_layer_info layers[16];
	struct job jobs[THREADS] = {};
	int i;

	(void)state;
	for (i = 0; i < THREADS; i++)
		jobs[i].fd = fd;
	run(jobs, what, THREADS);
	assert_int_equal(get_layers(fd, layers, 16), 16);
	for (i = 0; i < 16; i++)
		assert_count(layers[i].slots_set, count_mapped(fd, &layers[i]));
	close(fd);
}

static void names(void **state)
{
	void *(*const what[])(void *) = {
		replacer, replacer, replacer, opener, opener, opener, replacer, opener,
	};
	s64 before = read_number("/sys/module/bloom/refcnt");
	struct job jobs[THREADS] = {};

	(void)state;
	run(jobs, what, THREADS);
	unlink_all(PREFIX);
	assert_count(before, read_number("/sys/module/bloom/refcnt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keep_blocked),
		cmocka_unit_test(keep_classic),
		cmocka_unit_test(keep_scaling),
		cmocka_unit_test(keep_scaling_classic),
		cmocka_unit_test(clear_blocked),
		cmocka_unit_test(clear_scaling),
		cmocka_unit_test(clear_window),
		cmocka_unit_test(rotate_window),
		cmocka_unit_test(names),
	};

	/* Tenths of a second for each. */
	duration = scaled(40, 15) / 10.0;
	return run_table("stress", tests, ARRAY_LEN(tests), NULL, NULL);
}
