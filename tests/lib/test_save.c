// SPDX-License-Identifier: GPL-2.0
/*
 * Merge, save and restore: nothing is lost, and what does not fit is refused.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "lib.h"

static char directory[] = "/tmp/bloom-test.XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/image", directory);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static void same(struct bloomdev_filter *a, struct bloomdev_filter *b)
{
	struct bloomdev_info *x = bloomdev_filter_info(a);
	struct bloomdev_info *y = bloomdev_filter_info(b);
	struct bloomdev_keys keys = integers(0, 60000);
	uint8_t *va = malloc(keys.count), *vb = malloc(keys.count);
	uint32_t i;

	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->growth, y->growth);
	assert_int_equal(x->hash, y->hash);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->capacity, y->capacity);
	assert_true(x->fp_rate == y->fp_rate);
	assert_int_equal(x->keys, y->keys);
	assert_int_equal(x->slots_set, y->slots_set);
	assert_int_equal(x->layer_count, y->layer_count);
	assert_int_equal(x->generations, y->generations);
	assert_int_equal(x->period_ns, y->period_ns);
	for (i = 0; i < x->layer_count; i++) {
		assert_int_equal(x->layers[i].slots, y->layers[i].slots);
		assert_int_equal(x->layers[i].slots_set, y->layers[i].slots_set);
		assert_int_equal(x->layers[i].keys, y->layers[i].keys);
		assert_int_equal(x->layers[i].probes, y->layers[i].probes);
		assert_int_equal(x->layers[i].capacity, y->layers[i].capacity);
		/* A generation is as old as it was, and some ms more. */
		if (x->growth == BLOOMDEV_GROWTH_WINDOW)
			assert_true(fabs((double)x->layers[i].age_ns -
					 y->layers[i].age_ns) < 10e9);
	}
	if (x->kind != BLOOMDEV_KIND_BITMAP) {
		bloomdev_filter_query(a, &keys, va, NULL);
		bloomdev_filter_query(b, &keys, vb, NULL);
		assert_memory_equal(va, vb, keys.count);
	}
	bloomdev_info_free(x);
	bloomdev_info_free(y);
	free((void *)keys.data);
	free(va);
	free(vb);
}

static struct bloomdev_filter *restored(void)
{
	struct bloomdev_filter *f = bloomdev_filter_restore(NULL, path, NULL, NULL);

	if (!f)
		fail_msg("%s", bloomdev_message());
	return f;
}

static void save(struct bloomdev_filter *f)
{
	if (bloomdev_filter_save(f, path, NULL, NULL))
		fail_msg("%s", bloomdev_message());
}

static void round_trip(struct bloomdev_options opts)
{
	struct bloomdev_filter *f, *g;

	f = make_filter(&opts);
	add_integers(f, 0, 10000);
	add_integers(f, 10000, 10000);
	if (opts.growth == BLOOMDEV_GROWTH_WINDOW) {
		assert_int_equal(bloomdev_filter_rotate(f), 0);
		add_integers(f, 15000, 20000);
	}
	save(f);
	g = restored();
	same(f, g);
	if (opts.growth == BLOOMDEV_GROWTH_WINDOW) {
		/* Generations leave in the same order. */
		assert_int_equal(bloomdev_filter_rotate(f), 0);
		assert_int_equal(bloomdev_filter_rotate(g), 0);
		same(f, g);
	}
	bloomdev_filter_close(f);
	bloomdev_filter_close(g);
}

static void round_trips(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01);

	(void)state;
	need_device();
	round_trip(opts);
	opts.kind = BLOOMDEV_KIND_CLASSIC;
	opts.hash = BLOOMDEV_HASH_SIPHASH;
	round_trip(opts);
	opts = options(0, 0);
	opts.slots = 100001;
	opts.probes = 1;
	opts.kind = BLOOMDEV_KIND_CLASSIC;
	round_trip(opts);
}

static void round_trip_scaling(void **state)
{
	struct bloomdev_options opts = options(2000, 0.01);

	(void)state;
	need_device();
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	round_trip(opts);
}

static void round_trip_window(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01);

	(void)state;
	need_device();
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 2;
	opts.period_ns = 3600000000000;
	round_trip(opts);
	opts.flags |= BLOOMDEV_ONCE;
	opts.period_ns = 0;
	round_trip(opts);
}

static void round_trip_counting(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01);

	(void)state;
	need_device();
	opts.kind = BLOOMDEV_KIND_COUNTING;
	round_trip(opts);
}

static void round_trip_bitmap(void **state)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *f, *g;

	(void)state;
	need_device();
	opts.kind = BLOOMDEV_KIND_BITMAP;
	opts.base = 1000;
	opts.slots = 77777;
	f = make_filter(&opts);
	add_integers(f, 2000, 20000);
	save(f);
	g = restored();
	same(f, g);
	assert_int_equal(query_integers(g, 2000, 20000), 20000);
	assert_int_equal(query_integers(g, 22000, 20000), 0);
	bloomdev_filter_close(f);
	bloomdev_filter_close(g);
}

static struct bloomdev_filter *part(const struct bloomdev_options *opts,
				    uint64_t first, size_t count)
{
	struct bloomdev_filter *f = make_filter(opts);

	add_integers(f, first, count);
	return f;
}

static void merge_kind(struct bloomdev_options opts)
{
	struct bloomdev_filter *a = part(&opts, 0, 12000);
	struct bloomdev_filter *b = part(&opts, 8000, 12000);
	uint64_t count;

	if (bloomdev_filter_merge(a, b, NULL, NULL))
		fail_msg("%s", bloomdev_message());
	assert_int_equal(query_integers(a, 0, 20000), 20000);
	assert_int_equal(query_integers(b, 8000, 12000), 12000);
	assert_int_equal(bloomdev_filter_count(a, &count), 0);
	if (opts.kind == BLOOMDEV_KIND_COUNTING)
		assert_int_equal(count, 24000);
	else if (opts.growth == BLOOMDEV_GROWTH_FIXED)
		assert_true(fabs(count / 20000.0 - 1) < 0.02);
	/* Once more changes nothing (a multiset aside). */
	if (opts.kind != BLOOMDEV_KIND_COUNTING) {
		uint64_t again;

		assert_int_equal(bloomdev_filter_merge(a, b, NULL, NULL), 0);
		assert_int_equal(bloomdev_filter_count(a, &again), 0);
		assert_true(fabs((double)again / count - 1) < 0.005);
	}
	bloomdev_filter_close(a);
	bloomdev_filter_close(b);
}

static void merges(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01);

	(void)state;
	need_device();
	merge_kind(opts);
	opts.kind = BLOOMDEV_KIND_CLASSIC;
	merge_kind(opts);
}

static void merge_counting(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01);

	(void)state;
	need_device();
	opts.kind = BLOOMDEV_KIND_COUNTING;
	merge_kind(opts);
}

static void merge_scaling(void **state)
{
	struct bloomdev_options opts = options(2000, 0.01);
	struct bloomdev_filter *a, *b;

	(void)state;
	need_device();
	opts.growth = BLOOMDEV_GROWTH_SCALING;
	merge_kind(opts);
	/* From many layers into one, and back. */
	a = part(&opts, 0, 10);
	b = part(&opts, 1000, 20000);
	assert_int_equal(bloomdev_filter_merge(a, b, NULL, NULL), 0);
	assert_int_equal(query_integers(a, 1000, 20000), 20000);
	bloomdev_filter_close(a);
	a = part(&opts, 0, 10);
	assert_int_equal(bloomdev_filter_merge(b, a, NULL, NULL), 0);
	assert_int_equal(query_integers(b, 0, 10), 10);
	bloomdev_filter_close(a);
	bloomdev_filter_close(b);
}

static void merge_refusals(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01), other;
	struct bloomdev_filter *a, *b;

	(void)state;
	need_device();
	a = make_filter(&opts);
#define REFUSE(change, about) do { \
		other = opts; \
		change; \
		b = part(&other, 0, 100); \
		assert_failed(bloomdev_filter_merge(a, b, NULL, NULL), EINVAL, about); \
		assert_int_equal(bloomdev_filter_is_empty(a), 1); \
		bloomdev_filter_close(b); \
	} while (0)
	REFUSE(other.seed[1]++, "seed");
	REFUSE(other.hash = BLOOMDEV_HASH_SIPHASH, "hash");
	REFUSE(other.kind = BLOOMDEV_KIND_CLASSIC, "kind");
	REFUSE(other.capacity *= 2, "slots");
	REFUSE((other.slots = 163840, other.probes = 3, other.capacity = 0, other.fp_rate = 0),
	       "number of");
#undef REFUSE
	assert_failed(bloomdev_filter_merge(a, a, NULL, NULL), EINVAL, "itself");
	bloomdev_filter_close(a);
}

static void files(void **state)
{
	struct bloomdev_options opts = options(20000, 0.01);
	struct bloomdev_filter *f, *g;
	struct stat st;
	int fd;

	(void)state;
	need_device();
	f = part(&opts, 0, 20000);
	save(f);
	assert_int_equal(stat(path, &st), 0);
	/* The old image stays when the new one can't be written ... */
	assert_int_equal(bloomdev_filter_save(f, "/dev/full", NULL, NULL), -ENOSPC);
	assert_message("/dev/full");
	assert_int_equal(bloomdev_filter_save(f, "/nonexistent/x", NULL, NULL), -ENOENT);
	/* ... and a file that is cut short makes no filter. */
	assert_int_equal(truncate(path, st.st_size - 1), 0);
	assert_null(bloomdev_filter_restore(NULL, path, NULL, NULL));
	assert_int_equal(errno, EBADMSG);
	assert_message("cut short");
	assert_int_equal(chmod(path, 0600), 0);
	save(f);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	/* Altered data is found out by the last bytes. */
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "\377\377\377\377\377\377\377\377", 8, 1000), 8);
	close(fd);
	assert_null(bloomdev_filter_restore(NULL, path, NULL, NULL));
	assert_int_equal(errno, EBADMSG);
	assert_message("altered");
	save(f);
	g = restored();
	same(f, g);
	bloomdev_filter_close(f);
	bloomdev_filter_close(g);
}

static int stop(void *arg, uint64_t done, uint64_t total)
{
	*(uint64_t *)arg = done;
	return done > total / 2;
}

static void called_off(void **state)
{
	struct bloomdev_options opts = options(20000000, 0.01);
	struct bloomdev_filter *f;
	uint64_t done = 0;

	(void)state;
	need_device();
	f = make_filter(&opts);
	unlink(path);
	assert_failed(bloomdev_filter_save(f, path, stop, &done), ECANCELED, "called off");
	assert_true(done > 0);
	assert_int_equal(access(path, F_OK), -1);
	bloomdev_filter_close(f);
}

/* Every key whose ADD has returned before is in the image. */
static void while_writing(void **state)
{
	struct bloomdev_options opts = options(200000, 0.01);
	struct bloomdev_filter *f, *g;
	uint64_t i;
	pid_t child;
	int status, round;

	(void)state;
	need_device();
	f = make_filter(&opts);
	child = fork();
	if (!child) {
		for (i = 1 << 20;; i += 100)
			add_integers(f, i, 100);
	}
	for (round = 0; round < 5; round++) {
		add_integers(f, 1000 * round, 1000);
		save(f);
		g = restored();
		assert_int_equal(query_integers(g, 1000 * round, 1000), 1000);
		bloomdev_filter_close(g);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	bloomdev_filter_close(f);
}

/* Killed in the middle of it: the image is one that was whole before, or the next. */
static void killed(void **state)
{
	struct bloomdev_options opts = options(200000, 0.01);
	struct bloomdev_filter *f, *g;
	int status, round;
	char command[96];
	pid_t child;

	(void)state;
	need_device();
	f = part(&opts, 0, 2000);
	save(f);
	for (round = 0; round < 10; round++) {
		child = fork();
		if (!child) {
			while (!bloomdev_filter_save(f, path, NULL, NULL))
				;
			_exit(1);
		}
		usleep(500 + 1500 * round);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status));
		g = restored();
		same(f, g);
		bloomdev_filter_close(g);
	}
	bloomdev_filter_close(f);
	/* What it had begun to write is there still, beside it. */
	snprintf(command, sizeof(command), "rm -f %s.*", path);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips),
		cmocka_unit_test(round_trip_scaling),
		cmocka_unit_test(round_trip_window),
		cmocka_unit_test(round_trip_counting),
		cmocka_unit_test(round_trip_bitmap),
		cmocka_unit_test(merges),
		cmocka_unit_test(merge_counting),
		cmocka_unit_test(merge_scaling),
		cmocka_unit_test(merge_refusals),
		cmocka_unit_test(files),
		cmocka_unit_test(called_off),
		cmocka_unit_test(while_writing),
		cmocka_unit_test(killed),
	};

	return cmocka_run_group_tests_name("save", tests, setup, teardown);
}
