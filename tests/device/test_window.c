// SPDX-License-Identifier: GPL-2.0
/*
 * A window remembers a key for at least G-1 and at most G periods after its last
 * ADD (its first, with ONCE): against an exact model when rotated by hand; never
 * for less when rotated by the clock.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

#define KEYS	1500U
#define NEVER	(~0ULL)
#define MS	1000000ULL

static int make(u32 kind, u32 generations, u32 flags, u64 period_ns)
{
	struct bloom_create arg = create_defaults(kind, BLOOM_GROWTH_WINDOW);

	arg.generations = generations;
	arg.flags = flags | BLOOM_CREATE_SEED;
	arg.seed[0] = generations;
	/* Ten times what is ever put in: no false positive is met. */
	arg.capacity = 10 * KEYS;
	arg.fp_rate = RATE(0.0001);
	arg.period_ns = period_ns;
	return assert_ok(create(&arg));
}

/**
 * struct model - what a window should hold
 * @now: the current generation
 * @added: the generation a key was last put into, or NEVER
 * @held: how many keys were put into each generation, by number modulo 32
 */
struct model {
	u32 generations;
	bool once;
	u64 now;
	u64 added[KEYS];
	u64 held[32];
};

static bool model_holds(const struct model *m, u32 key)
{
	return m->added[key] != NEVER && m->now - m->added[key] < m->generations;
}

static bool model_add(struct model *m, u32 key)
{
	bool held = model_holds(m, key);

	if (held && (m->once || m->added[key] == m->now))
		return true;
	m->added[key] = m->now;
	m->held[m->now % 32]++;
	return held;
}

static void model_rotate(struct model *m)
{
	m->now++;
	m->held[m->now % 32] = 0;
}

static void compare_counts(int fd, const struct model *m)
{
	struct bloom_layer_info layers[BLOOM_GENERATIONS_MAX];
	struct bloom_info info;
	u64 sum = 0, older = 0;
	u32 i;

	assert_int_equal(get_layers(fd, layers, m->generations), m->generations);
	assert_ok(get_info(fd, &info));
	for (i = 0; i < m->generations; i++) {
		u64 held = i <= m->now ? m->held[(m->now - i) % 32] : 0;

		assert_count(held, layers[i].keys);
		/* Not of those that never were current. */
		assert_true(layers[i].age_ns >= older || i > m->now);
		older = layers[i].age_ns;
		sum += held;
	}
	assert_count(sum, info.keys);
	assert_count(m->now, info.rotations);
	assert_count(0, info.state);
}

static const struct variant {
	const char *name;
	u32 kind, generations, flags;
} variants[] = {
	{ "blocked, 2 generations", BLOOM_KIND_BLOCKED, 2, 0 },
	{ "blocked, 3 generations", BLOOM_KIND_BLOCKED, 3, 0 },
	{ "blocked, 16 generations", BLOOM_KIND_BLOCKED, 16, 0 },
	{ "classic, 4 generations", BLOOM_KIND_CLASSIC, 4, 0 },
	{ "blocked, 3 generations, once", BLOOM_KIND_BLOCKED, 3, BLOOM_CREATE_ONCE },
	{ "classic, 2 generations, once", BLOOM_KIND_CLASSIC, 2, BLOOM_CREATE_ONCE },
};

/* Random steps, every answer compared. */
static void by_hand(void **state)
{
	const struct variant *v = *state;
	int fd = make(v->kind, v->generations, v->flags, 0);
	struct model *m = calloc(1, sizeof(*m));
	size_t step, steps = scaled(100000, 5000);
	u64 random = v->generations + v->flags;

	m->generations = v->generations;
	m->once = v->flags & BLOOM_CREATE_ONCE;
	memset(m->added, 0xff, sizeof(m->added));
	for (step = 0; step < steps; step++) {
		u64 r = next_random(&random);
		u32 key = (r >> 32) % KEYS;

		if (r % 500 == 0) {
			assert_ok(rotate(fd));
			model_rotate(m);
		} else if (r % 500 == 1) {
			compare_counts(fd, m);
		} else if (r % 2) {
			assert_int_equal(add_one(fd, key_of(key)), model_add(m, key));
		} else {
			assert_int_equal(query_one(fd, key_of(key)), model_holds(m, key));
		}
	}
	compare_counts(fd, m);
	/* And after so many rotations nothing at all. */
	for (step = 0; step < v->generations; step++)
		assert_ok(rotate(fd));
	for (step = 0; step < KEYS; step++)
		assert_int_equal(query_one(fd, key_of(step)), BLOOM_ABSENT);
	free(m);
	close(fd);
}

/* The same with batches that are longer than a chunk and hold a key twice. */
static void batches(void **state)
{
	enum { N = 3000 };
	int fd = make(BLOOM_KIND_BLOCKED, 3, 0, 0);
	struct model *m = calloc(1, sizeof(*m));
	u64 *keys = malloc(N * sizeof(*keys));
	u8 *verdicts = malloc(N);
	struct bloom_batch batch;
	u32 round, i, picked[N];
	u64 random = 7;

	(void)state;
	m->generations = 3;
	memset(m->added, 0xff, sizeof(m->added));
	for (round = 0; round < 30; round++) {
		for (i = 0; i < N; i++) {
			picked[i] = next_random(&random) % (KEYS / 2) + round % 3 * KEYS / 4;
			keys[i] = key_of(picked[i]);
		}
		batch = batch_of(keys, N, verdicts);
		assert_ok(run_batch(fd, BLOOM_IOC_QUERY, &batch));
		for (i = 0; i < N; i++)
			assert_int_equal(verdicts[i], model_holds(m, picked[i]));
		assert_ok(run_batch(fd, BLOOM_IOC_ADD, &batch));
		for (i = 0; i < N; i++)
			assert_int_equal(verdicts[i], model_add(m, picked[i]));
		compare_counts(fd, m);
		assert_ok(rotate(fd));
		model_rotate(m);
	}
	free(keys);
	free(verdicts);
	free(m);
	close(fd);
}

/*
 * By the clock. A key that is answered absent must be at least G-1 periods old,
 * measured from before its ADD to after the answer; the machine may be slow, so
 * that nothing can be said of how long at most, but that it goes.
 */
static void by_clock(u64 period_ns, u32 generations, u32 flags)
{
	double least = (generations - 1) * (period_ns / 1e9), start = seconds();
	int fd = make(BLOOM_KIND_BLOCKED, generations, flags, period_ns);
	u64 random = period_ns, key = 0, forgotten = 0;
	double added[64] = {};
	struct bloom_info info;
	u64 keys[64] = {};

	while (seconds() - start < 3 || !forgotten) {
		u64 r = next_random(&random);
		u32 i = r % 64;
		int verdict;

		/* What never goes is a failure as well. */
		assert_true(seconds() - start < 60);
		if (!added[i] || (!flags && r >> 60 == 0)) {
			/* A new key, or an old one once more: counted from now. */
			double now = seconds();

			if (!added[i])
				keys[i] = key_of(key++);
			assert_ok(add_one(fd, keys[i]));
			added[i] = now;
			continue;
		}
		/* With ONCE an ADD is as good as a QUERY, and renews nothing. */
		verdict = flags && added[i] && r >> 63 ? add_one(fd, keys[i]) :
							 query_one(fd, keys[i]);
		if (assert_ok(verdict) == BLOOM_PRESENT)
			continue;
		if (seconds() - added[i] < least) {
			print_error("forgotten after %f s, of %f\n", seconds() - added[i], least);
			fail();
		}
		added[i] = 0;
		forgotten++;
	}
	assert_ok(get_info(fd, &info));
	assert_count(period_ns, info.period_ns);
	assert_true(info.next_ns <= period_ns);
	/* At least a period lies between two rotations. */
	assert_true(info.rotations >= 1);
	assert_true(info.rotations <= (seconds() - start) / (period_ns / 1e9) + 1);
	close(fd);
}

static void clock_20ms(void **state)
{
	(void)state;
	by_clock(20 * MS, 3, 0);
}

static void clock_50ms_two(void **state)
{
	(void)state;
	by_clock(50 * MS, 2, 0);
}

static void clock_shortest_once(void **state)
{
	(void)state;
	by_clock(BLOOM_PERIOD_MIN_NS, 16, BLOOM_CREATE_ONCE);
}

static u64 rotations(int fd)
{
	struct bloom_info info;

	assert_ok(get_info(fd, &info));
	return info.rotations;
}

static int set_period(int fd, u64 period_ns, u64 next_ns)
{
	struct bloom_rotate arg = {
		.size = sizeof(arg),
		.flags = BLOOM_ROTATE_SET,
		.period_ns = period_ns,
		.next_ns = next_ns,
	};

	return request(fd, BLOOM_IOC_ROTATE, &arg);
}

static void setting_the_period(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, 2, 0, 0), tries;
	struct bloom_info info;
	u64 before;

	(void)state;
	/* By hand: nothing by itself. */
	usleep(200000);
	assert_count(0, rotations(fd));
	/* A first rotation far before a whole period. */
	assert_ok(set_period(fd, 1000000 * MS, 20 * MS));
	assert_ok(get_info(fd, &info));
	assert_count(1000000 * MS, info.period_ns);
	assert_true(info.next_ns <= 20 * MS);
	for (tries = 0; !rotations(fd) && tries < 1000; tries++)
		usleep(10000);
	assert_count(1, rotations(fd));
	assert_ok(get_info(fd, &info));
	assert_true(info.next_ns > 900000 * MS && info.next_ns <= 1000000 * MS);
	/* A rotation by hand puts the next one off by a whole period. */
	usleep(100000);
	assert_ok(rotate(fd));
	assert_count(2, rotations(fd));
	assert_ok(get_info(fd, &info));
	assert_true(info.next_ns > 1000000 * MS - 50000 * MS);
	/* Quick, then by hand again: it stops. */
	assert_ok(set_period(fd, 10 * MS, 1));
	for (tries = 0; rotations(fd) < 5 && tries < 1000; tries++)
		usleep(10000);
	assert_true(rotations(fd) >= 5);
	assert_ok(set_period(fd, 0, 0));
	before = rotations(fd);
	usleep(200000);
	assert_count(before, rotations(fd));
	assert_ok(get_info(fd, &info));
	assert_count(0, info.period_ns);
	assert_count(0, info.next_ns);
	/* A period as long as can be: no overflow into the past. */
	assert_ok(set_period(fd, BLOOM_PERIOD_MAX_NS, BLOOM_PERIOD_MAX_NS));
	assert_ok(get_info(fd, &info));
	assert_true(info.next_ns > BLOOM_PERIOD_MAX_NS - 60000 * MS);
	usleep(100000);
	assert_count(before, rotations(fd));
	close(fd);
}

static void clear_starts_anew(void **state)
{
	struct bloom_layer_info layers[3];
	int fd = make(BLOOM_KIND_BLOCKED, 3, 0, 0), i, round;

	(void)state;
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 3; i++) {
			assert_int_equal(add_one(fd, key_of(i)), BLOOM_ABSENT);
			assert_ok(rotate(fd));
		}
		assert_ok(clear(fd));
		assert_int_equal(get_layers(fd, layers, 3), 3);
		for (i = 0; i < 3; i++) {
			assert_count(0, layers[i].keys);
			assert_count(0, layers[i].slots_set);
			assert_int_equal(query_one(fd, key_of(i)), BLOOM_ABSENT);
		}
		/* Zeroed, not only counted so: a rotation later as well. */
		assert_ok(rotate(fd));
		for (i = 0; i < 3; i++)
			assert_int_equal(query_one(fd, key_of(i)), BLOOM_ABSENT);
	}
	close(fd);
}

/* The memory that INFO tells: the live generations and the spare. */
static void the_spare_is_counted(void **state)
{
	struct bloom_layer_info layers[5];
	int fd = make(BLOOM_KIND_BLOCKED, 5, 0, 0);
	struct bloom_info info;

	(void)state;
	assert_int_equal(get_layers(fd, layers, 5), 5);
	assert_ok(get_info(fd, &info));
	assert_count(6 * layers[0].bytes, info.bytes);
	assert_int_equal(info.layer_count, 5);
	close(fd);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(variants) + 7] = {};
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(variants); i++) {
		tests[n].name = variants[i].name;
		tests[n].test_func = by_hand;
		tests[n++].initial_state = (void *)&variants[i];
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(batches);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(clock_20ms);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(clock_50ms_two);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(clock_shortest_once);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(setting_the_period);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(clear_starts_anew);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(the_spare_is_counted);
	return run_table("window", tests, n, NULL, NULL);
}
