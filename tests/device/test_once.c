// SPDX-License-Identifier: GPL-2.0
/*
 * Of any number of concurrent ADDs of one key exactly one is told "absent":
 * threads and processes add the same keys, and what they were told is put
 * together, key by key.
 *
 * The error asked for is 1e-6 and the seed is fixed, so that a false positive,
 * which would let a key have no "absent" at all, is not met: with n keys at
 * capacity fewer than n * 1e-6 / 5 = 0.02 are expected in a round.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define THREADS		8
#define PROCESSES	4
#define ROUNDS		5

static const struct variant {
	const char *name;
	u32 kind, growth, hash, flags;
} variants[] = {
	{ "blocked", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH, 0 },
	{ "blocked siphash", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_SIPHASH, 0 },
	{ "classic", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH, 0 },
	{ "scaling blocked", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, BLOOM_HASH_JHASH, 0 },
	{ "scaling classic", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING, BLOOM_HASH_JHASH, 0 },
	{ "window blocked", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, BLOOM_HASH_JHASH, 0 },
	{ "window classic", BLOOM_KIND_CLASSIC, BLOOM_GROWTH_WINDOW, BLOOM_HASH_JHASH, 0 },
	{ "once window", BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW, BLOOM_HASH_JHASH,
	  BLOOM_CREATE_ONCE },
	{ "bitmap", BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH, 0 },
};

/**
 * struct worker - one that adds all keys
 * @keys: the keys, in this worker's order
 * @verdicts: what it was told, in shared memory
 * @batch: how many keys it sends at once
 * @error: of the first call that failed
 */
struct worker {
	int fd;
	u64 *keys;
	u8 *verdicts;
	size_t n, batch;
	int error;
	pthread_t thread;
	pthread_barrier_t *start;
};

static void add_all(struct worker *w)
{
	struct bloom_batch batch;
	size_t i, n;

	pthread_barrier_wait(w->start);
	for (i = 0; i < w->n && !w->error; i += n) {
		n = w->n - i < w->batch ? w->n - i : w->batch;
		batch = batch_of(w->keys + i, n, w->verdicts + i);
		w->error = run_batch(w->fd, BLOOM_IOC_ADD, &batch);
	}
}

static void *add_all_thread(void *arg)
{
	add_all(arg);
	return NULL;
}

static void *shared_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static pthread_barrier_t *barrier(u32 count)
{
	pthread_barrier_t *start = shared_memory(sizeof(*start));
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(start, &attr, count);
	return start;
}

static void run_threads(struct worker *workers)
{
	int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, add_all_thread,
						&workers[i]), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

static void run_processes(struct worker *workers)
{
	int i, status;

	for (i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			add_all(&workers[i]);
			_exit(workers[i].error ? 1 : 0);
		}
	}
	for (i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	}
}

static int make(const struct variant *v, size_t n)
{
	struct bloom_create arg = create_defaults(v->kind, v->growth);

	arg.hash = v->hash;
	arg.flags = v->flags;
	if (v->kind == BLOOM_KIND_BITMAP) {
		arg.slots = n;
		return assert_ok(create(&arg));
	}
	arg.flags |= BLOOM_CREATE_SEED;
	arg.seed[0] = 1;
	arg.fp_rate = RATE(0.000001);
	/* Scaling: make it grow a few times meanwhile. */
	arg.capacity = v->growth == BLOOM_GROWTH_SCALING ? n / 10 + 1 : n;
	return assert_ok(create(&arg));
}

/* The number of the key again, of key_of(): by its place in a table. */
static size_t place_of(const u64 *sorted, size_t n, u64 key)
{
	size_t low = 0, high = n;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (sorted[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Among all workers exactly one "absent" a key. */
static void assert_once(struct worker *workers, size_t count, const u64 *sorted, size_t n)
{
	u8 *absent = calloc(n, 1);
	size_t i, j, sum = 0, bad = 0;

	for (i = 0; i < count; i++) {
		assert_int_equal(workers[i].error, 0);
		for (j = 0; j < n; j++) {
			if (workers[i].verdicts[j] == BLOOM_ABSENT) {
				absent[place_of(sorted, n, workers[i].keys[j])]++;
				sum++;
			}
		}
	}
	for (j = 0; j < n; j++)
		bad += absent[j] != 1;
	free(absent);
	assert_count(n, sum);
	assert_count(0, bad);
}

static size_t alone(const struct variant *v, const u64 *keys, size_t n)
{
	int fd = make(v, n);
	size_t absent = n - assert_ok(add_keys(fd, keys, n));

	close(fd);
	return absent;
}

static void once(const struct variant *v, u32 count, void (*run)(struct worker *))
{
	static const size_t batches[] = { 1, 1000, 64, 7, 333, 10000, 2, 100 };
	/* In full for the two kinds everything else is made of. */
	bool plain = !v->growth && !v->hash && v->kind <= BLOOM_KIND_CLASSIC;
	size_t i, n = scaled(plain ? 100000 : 20000, 2000);
	struct worker workers[THREADS] = {};
	u64 *sorted = malloc(n * sizeof(*sorted));
	struct bloom_info info;
	u32 round;

	if (v->kind == BLOOM_KIND_BITMAP) {
		for (i = 0; i < n; i++)
			sorted[i] = i;
	} else {
		fill_keys(sorted, n, 0);
	}
	qsort(sorted, n, sizeof(*sorted), compare);
	assert_count(n, alone(v, sorted, n));

	for (i = 0; i < count; i++) {
		workers[i].keys = malloc(n * sizeof(u64));
		workers[i].verdicts = shared_memory(n);
		workers[i].n = n;
	}
	for (round = 0; round < ROUNDS; round++) {
		pthread_barrier_t *start = barrier(count);
		int fd = make(v, n);

		for (i = 0; i < count; i++) {
			memcpy(workers[i].keys, sorted, n * sizeof(u64));
			/* All in one order, which meet most; or each in its own. */
			shuffle(workers[i].keys, n, round % 2 ? i : 99);
			memset(workers[i].verdicts, 0xee, n);
			workers[i].fd = fd;
			workers[i].start = start;
			/* Of one size in every round but the last. */
			workers[i].batch = round == ROUNDS - 1 ? batches[i] : batches[round + 1];
		}
		run(workers);
		assert_once(workers, count, sorted, n);
		assert_ok(get_info(fd, &info));
		assert_count(n, info.keys);
		assert_count(n * count, info.adds);
		assert_count(n * (count - 1), info.adds_present);
		assert_count(n, query_keys(fd, sorted, n));
		close(fd);
		munmap(start, sizeof(*start));
	}
	for (i = 0; i < count; i++) {
		free(workers[i].keys);
		munmap(workers[i].verdicts, n);
	}
	free(sorted);
}

static void threads(void **state)
{
	once(*state, THREADS, run_threads);
}

static void processes(void **state)
{
	once(*state, PROCESSES, run_processes);
}

/*
 * A counting filter makes no such promise for the counters, but its verdicts
 * are in order as well: the first of all ADDs is the only one told "absent".
 */
static void counting_in_order(void **state)
{
	static const struct variant v = {
		"counting", BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH, 0
	};
	size_t i, n = scaled(20000, 2000);
	struct worker workers[THREADS] = {};
	u64 *sorted = malloc(n * sizeof(*sorted));
	pthread_barrier_t *start = barrier(THREADS);
	int fd = make(&v, n);

	(void)state;
	fill_keys(sorted, n, 0);
	qsort(sorted, n, sizeof(*sorted), compare);
	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){
			.fd = fd,
			.keys = malloc(n * sizeof(u64)),
			.verdicts = shared_memory(n),
			.n = n,
			.batch = 64,
			.start = start,
		};
		memcpy(workers[i].keys, sorted, n * sizeof(u64));
		shuffle(workers[i].keys, n, 99);
	}
	run_threads(workers);
	assert_once(workers, THREADS, sorted, n);
	for (i = 0; i < THREADS; i++) {
		free(workers[i].keys);
		munmap(workers[i].verdicts, n);
	}
	free(sorted);
	munmap(start, sizeof(*start));
	close(fd);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(variants) * 2 + 1] = {};
	size_t i, n = 0;
	char *name;

	for (i = 0; i < ARRAY_LEN(variants); i++) {
		if (asprintf(&name, "%s: 8 threads", variants[i].name) < 0)
			return 1;
		tests[n].name = name;
		tests[n].test_func = threads;
		tests[n++].initial_state = (void *)&variants[i];
		if (asprintf(&name, "%s: 4 processes", variants[i].name) < 0)
			return 1;
		tests[n].name = name;
		tests[n].test_func = processes;
		tests[n++].initial_state = (void *)&variants[i];
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(counting_in_order);
	return run_table("once", tests, n, NULL, NULL);
}
