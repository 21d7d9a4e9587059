// SPDX-License-Identifier: GPL-2.0
/*
 * A scaling filter takes any number of keys and keeps its promise; and when it
 * is refused memory it takes them all the same, and says so.
 */
#define _GNU_SOURCE
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

#define RATE_ASKED	0.01

static int events(int fd, int timeout_ms)
{
	struct pollfd arg = { .fd = fd, .events = POLLPRI };

	assert_true(poll(&arg, 1, timeout_ms) >= 0);
	return arg.revents;
}

static u32 state_of(int fd)
{
	struct bloom_info info;

	assert_ok(get_info(fd, &info));
	return info.state;
}

static int make(u32 kind, u64 capacity, double rate)
{
	struct bloom_create arg = create_defaults(kind, BLOOM_GROWTH_SCALING);

	arg.capacity = capacity;
	arg.fp_rate = RATE(rate);
	arg.flags = BLOOM_CREATE_SEED;
	arg.seed[0] = capacity;
	return assert_ok(create(&arg));
}

/* The layers that @n keys need, if all of them filled up evenly. */
static u32 layers_for(u64 capacity, u64 n)
{
	u64 room = 0;
	u32 i = 0;

	while (room < n)
		room += capacity << i++;
	return i;
}

static void check_layers(int fd, u64 capacity, u64 n)
{
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
	u64 keys = 0, set = 0, bytes = 0;
	u32 i, count, want = layers_for(capacity, n);
	struct bloom_info info;

	count = assert_ok(get_layers(fd, layers, BLOOM_LAYERS_MAX));
	/* The next one is made ahead of need. */
	assert_true(count == want || count == want + 1);
	for (i = 0; i < count; i++) {
		double share = RATE_ASKED / ((i + 1) * (i + 2));

		assert_count(capacity << i, layers[i].capacity);
		assert_true(fabs(layers[i].fp_rate * 0x1p-64 / share - 1) < 1e-6);
		/* But for the batch during which it was found full. */
		if (layers[i].keys > layers[i].capacity + 64) {
			print_error("layer %u: %llu keys\n", i, layers[i].keys);
			fail();
		}
		/* Full before the one after the next is begun. */
		if (i + 2 < want)
			assert_true(layers[i].keys >= layers[i].capacity * 9 / 10);
		keys += layers[i].keys;
		set += layers[i].slots_set;
		bytes += layers[i].bytes;
	}
	assert_ok(get_info(fd, &info));
	assert_count(keys, info.keys);
	assert_count(set, info.slots_set);
	assert_count(bytes, info.bytes);
	assert_count(0, info.state);
	assert_count(capacity, info.capacity);
}

/* 100 times the first capacity, in batches of so many. */
static void grow(u32 kind, size_t batch)
{
	/* No layer is made for fewer than 1024 keys. */
	u64 capacity = 1024;
	size_t n = scaled(100 * capacity, 20 * capacity), i, q, part, wrong;
	u64 *keys = malloc(n * sizeof(*keys));
	int fd = make(kind, capacity, RATE_ASKED);
	struct bloom_info info;
	size_t absent = 0;
	double allowed;

	fill_keys(keys, n, 0);
	for (i = 0; i < n; i += part) {
		part = n - i < batch ? n - i : batch;
		absent += part - assert_ok(add_keys(fd, keys + i, part));
	}
	assert_ok(get_info(fd, &info));
	/* Exactly the keys that were new. */
	assert_count(absent, info.keys);
	assert_count(n, info.adds);
	assert_true(absent > n - n / 50);
	check_layers(fd, capacity, absent);
	assert_count(n, query_keys(fd, keys, n));
	/* What is there already changes nothing. */
	assert_count(n, add_keys(fd, keys, n));
	assert_ok(get_info(fd, &info));
	assert_count(absent, info.keys);

	/* As in test_rate.c: 1.10 p and four deviations. */
	for (wrong = 0, q = 0; q < 40000; q += part) {
		part = n < 40000 - q ? n : 40000 - q;
		fill_keys(keys, part, n + q);
		wrong += assert_ok(query_keys(fd, keys, part));
	}
	allowed = 1.10 * RATE_ASKED * q;
	assert_true(wrong <= allowed + 4 * sqrt(allowed));

	assert_ok(clear(fd));
	check_layers(fd, capacity, 1);
	fill_keys(keys, n, 0);
	assert_count(0, query_keys(fd, keys, n));
	assert_count(0, events(fd, 0));
	free(keys);
	close(fd);
}

static void blocked_by_a_hundred(void **state)
{
	(void)state;
	grow(BLOOM_KIND_BLOCKED, 100);
}

/* One call adds them all: the producer must not outrun the worker. */
static void blocked_at_once(void **state)
{
	(void)state;
	grow(BLOOM_KIND_BLOCKED, 1000000);
}

static void classic_by_seven(void **state)
{
	(void)state;
	grow(BLOOM_KIND_CLASSIC, 7);
}

static void classic_at_once(void **state)
{
	(void)state;
	grow(BLOOM_KIND_CLASSIC, 1000000);
}

/* Smaller than the number of locks it is divided into: still a promise. */
static void tiny_capacities(void **state)
{
	u64 capacity, key = 0;
	int fd, i;

	(void)state;
	for (capacity = 1; capacity <= 64; capacity *= 2) {
		fd = make(BLOOM_KIND_BLOCKED, capacity, 0.000001);
		for (i = 0; i < 2000; i++)
			assert_int_equal(add_one(fd, key_of(key + i)), BLOOM_ABSENT);
		for (i = 0; i < 2000; i++)
			assert_int_equal(query_one(fd, key_of(key + i)), BLOOM_PRESENT);
		key += 2000;
		assert_int_equal(state_of(fd), 0);
		assert_int_equal(events(fd, 0), 0);
		close(fd);
	}
}

/* No memory for a second layer: every key is kept, and the state tells. */
static void refused(void **state)
{
	enum { N = 50000 };
	u64 *keys = malloc(N * sizeof(*keys));
	struct bloom_info info;
	size_t absent;
	int fd;

	(void)state;
	fill_keys(keys, N, 0);
	fd = make(BLOOM_KIND_BLOCKED, 10000, 0.000001);
	assert_ok(get_info(fd, &info));
	assert_ok(set_module_parameter("max_filter_bytes", info.bytes));
	absent = 5000 - assert_ok(add_keys(fd, keys, 5000));
	assert_int_equal(events(fd, 0), 0);
	absent += N - 5000 - assert_ok(add_keys(fd, keys + 5000, N - 5000));
	assert_int_equal(events(fd, 2000), POLLPRI);
	assert_ok(get_info(fd, &info));
	assert_int_equal(info.state, BLOOM_STATE_SATURATED | BLOOM_STATE_REFUSED);
	assert_count(1, info.layer_count);
	assert_count(absent, info.keys);
	assert_count(N, query_keys(fd, keys, N));

	/* It tries on: once there is memory, it grows, at the latest with the next key. */
	assert_ok(set_module_parameter("max_filter_bytes", 0));
	sleep(2);
	fill_keys(keys, N, N);
	assert_ok(add_keys(fd, keys, 1000));
	assert_ok(get_info(fd, &info));
	assert_count(2, info.layer_count);
	/* The first layer is too full for good; that is no secret. */
	assert_int_equal(info.state, BLOOM_STATE_SATURATED);
	fill_keys(keys, N, 0);
	assert_count(N, query_keys(fd, keys, N));
	assert_ok(clear(fd));
	assert_int_equal(state_of(fd), 0);
	assert_int_equal(events(fd, 0), 0);
	free(keys);
	close(fd);
}

/* Who waits in poll() is woken, soon after and not only when somebody asks. */
static void poll_is_woken(void **state)
{
	u64 *keys = malloc(1500 * sizeof(*keys));
	int fd = assert_ok(create_sized(BLOOM_KIND_BLOCKED, 1000, 0.000001));
	double start;
	pid_t pid;

	(void)state;
	fill_keys(keys, 1500, 0);
	assert_ok(add_keys(fd, keys, 1000));
	assert_int_equal(events(fd, 0), 0);
	start = seconds();
	pid = fork();
	if (!pid) {
		usleep(200000);
		_exit(add_keys(fd, keys + 1000, 500) < 0);
	}
	assert_int_equal(events(fd, 20000), POLLPRI);
	assert_true(seconds() - start < 15);
	waitpid(pid, NULL, 0);
	free(keys);
	close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return set_module_parameter("max_filter_bytes", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_by_a_hundred),
		cmocka_unit_test(blocked_at_once),
		cmocka_unit_test(classic_by_seven),
		cmocka_unit_test(classic_at_once),
		cmocka_unit_test(tiny_capacities),
		cmocka_unit_test_teardown(refused, teardown),
		cmocka_unit_test(poll_is_woken),
	};

	return run_table("scaling", tests, ARRAY_LEN(tests), NULL, NULL);
}
