// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: each request is made again and again, with its 1st, 2nd, ...
 * allocation or copy failing, until none is left to fail. It answers ENOMEM or
 * EFAULT, nothing is half made, and the next call works. What leaks, kmemleak
 * and the unloading of the module find afterwards.
 *
 * Needs a kernel with failslab, fail_page_alloc, fail_usercopy; skipped without.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.faults"
#define KEYS	3000
#define FAULTS_MAX	500
#define DEBUGFS	"/sys/kernel/debug/"

static u64 keys[KEYS];
static u8 verdicts[KEYS];
static int filter;	/* scaling, has key 1 */
static int window;
static int nth;		/* /proc/thread-self/fail-nth */

static long do_create(u32 kind, u32 growth)
{
	struct bloom_create arg = create_defaults(kind, growth);
	int fd = create(&arg);

	if (fd >= 0)
		close(fd);
	return fd;
}

static long create_blocked(void)
{
	return do_create(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
}

static long create_scaling(void)
{
	return do_create(BLOOM_KIND_CLASSIC, BLOOM_GROWTH_SCALING);
}

static long create_window(void)
{
	return do_create(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
}

static long create_counting(void)
{
	return do_create(BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED);
}

static long create_bitmap(void)
{
	return do_create(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
}

static long open_close(void)
{
	int fd = open_name(NAME, ACCESS_BOTH);

	if (fd >= 0)
		close(fd);
	return fd;
}

static long link_again(void)
{
	return link_name(filter, NAME, 0600, -1, BLOOM_LINK_REPLACE);
}

static long list(void)
{
	static struct bloom_list_entry entries[4];

	return list_names("", entries, ARRAY_LEN(entries));
}

static long info(void)
{
	static struct bloom_layer_info layers[4];

	return get_layers(filter, layers, ARRAY_LEN(layers));
}

/* Short for a fault in its middle, so not to be sent again here. */
static long add_many(void)
{
	struct bloom_batch batch = batch_of(keys, KEYS, verdicts);

	return request(filter, BLOOM_IOC_ADD, &batch) ?:
	       batch.done == KEYS ? 0 : -EAGAIN;
}

static long query_many(void)
{
	struct bloom_batch batch = batch_of(keys, KEYS, verdicts);

	return request(filter, BLOOM_IOC_QUERY, &batch) ?:
	       batch.done == KEYS ? 0 : -EAGAIN;
}

/* What is told of a chunk whose verdicts could not be is nothing at all. */
static long remove_outside(void)
{
	struct bloom_create make = create_defaults(BLOOM_KIND_BITMAP,
						   BLOOM_GROWTH_FIXED);
	struct bloom_batch batch = batch_of(keys, KEYS, verdicts);
	long ret;
	int fd;

	make.slots = 1;
	fd = create(&make);
	ret = fd < 0 ? fd : request(fd, BLOOM_IOC_REMOVE, &batch);
	if (!ret) {
		assert_int_equal(batch.out_of_range, batch.done);
		ret = batch.done == KEYS ? 0 : -EAGAIN;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static long add_long_key(void)
{
	static char key[BLOOM_KEY_MAX];

	return add_bytes(filter, key, sizeof(key));
}

static long add_key(void)
{
	return add_one(filter, 1);
}

static long load(void)
{
	static u64 words[512];
	struct bloom_load arg = {
		.size = sizeof(arg), .length = sizeof(words),
		.data = (uintptr_t)words,
	};

	return request(filter, BLOOM_IOC_LOAD, &arg) ?:
	       arg.done == sizeof(words) ? 0 : -EAGAIN;
}

static long load_layer(void)
{
	struct bloom_create make = create_defaults(BLOOM_KIND_BLOCKED,
						   BLOOM_GROWTH_SCALING);
	struct bloom_load arg = { .size = sizeof(arg), .layer = 1 };
	int fd = create(&make);
	long ret = fd < 0 ? fd : request(fd, BLOOM_IOC_LOAD, &arg);

	if (fd >= 0)
		close(fd);
	return ret;
}

/* Refused growth is no error of ADD: the keys go where there is room. */
static long grow(void)
{
	struct bloom_create make = create_defaults(BLOOM_KIND_BLOCKED,
						   BLOOM_GROWTH_SCALING);
	long ret;
	int fd;

	make.capacity = 1;
	fd = create(&make);
	ret = fd < 0 ? fd : add_keys(fd, keys, KEYS);
	if (fd >= 0)
		close(fd);
	return ret < 0 ? ret : 0;
}

static long map_head(void)
{
	int fd = create_sized(BLOOM_KIND_BLOCKED, 100, 0.01);
	void *map = fd < 0 ? NULL : map_read(fd, 0, 4096);
	long ret = fd < 0 ? fd : map ? 0 : -errno;

	if (map)
		munmap(map, 4096);
	if (fd >= 0)
		close(fd);
	return ret;
}

static long rotate_window(void)
{
	return rotate(window);
}

static long clear_window(void)
{
	return clear(window);
}

/* Copies to and from user memory fail too, and so may these. */
static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	while (pwrite(nth, text, len, 0) != len) {
		if (errno != EFAULT)
			fail_msg("fail-nth: %s", strerror(errno));
	}
}

/* Did the fault that was armed happen? Disarms it. */
static bool happened(void)
{
	char text[16] = "";
	ssize_t len = pread(nth, text, sizeof(text) - 1, 0);

	/* It happened to this very call: so not before. */
	if (len < 0 && errno == EFAULT)
		return false;
	if (len <= 0)
		fail_msg("fail-nth: %s", strerror(errno));
	arm(0);
	return atoi(text) == 0;
}

static void all_is_well(void)
{
	struct bloom_info info;

	assert_int_equal(query_one(filter, 1), BLOOM_PRESENT);
	assert_ok(get_info(filter, &info));
	assert_string_equal(info.name, NAME);
	close(assert_ok(open_name(NAME, ACCESS_BOTH)));
	assert_ok(get_info(window, &info));
}

static void one_fault_at_a_time(void **state)
{
	long (*call)(void) = *state;
	unsigned int n;
	bool fault;
	long ret;

	for (n = 1; n < FAULTS_MAX; n++) {
		arm(n);
		ret = call();
		fault = happened();
		if (ret < 0 && ret != -ENOMEM && ret != -EFAULT && ret != -EAGAIN)
			fail_msg("fault %u: %s", n, strerror(-ret));
		all_is_well();
		if (!fault) {
			/* Nothing was left to fail. */
			assert_ok(ret);
			print_message("# %u faults\n", n - 1);
			return;
		}
	}
	fail_msg("no end of faults");
}

/* Some faults are passed over by default: those of calls that may wait. */
static int allow(const char *what)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "%s/verbose", what);
	write_number(path, 0);
	snprintf(path, sizeof(path), DEBUGFS "%s/min-order", what);
	write_number(path, 0);
	snprintf(path, sizeof(path), DEBUGFS "%s/ignore-gfp-wait", what);
	return write_number(path, 0);
}

static int setup(void **state)
{
	struct bloom_create arg;

	(void)state;
	fill_keys(keys, KEYS, 1);
	allow("failslab");
	allow("fail_page_alloc");
	allow("fail_usercopy");
	arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING);
	filter = assert_ok(create(&arg));
	arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	window = assert_ok(create(&arg));
	assert_int_equal(add_one(filter, 1), BLOOM_ABSENT);
	return link_name(filter, NAME, 0600, -1, BLOOM_LINK_REPLACE);
}

static int teardown(void **state)
{
	(void)state;
	unlink_name(NAME);
	close(filter);
	close(window);
	close(nth);
	return 0;
}

#define FAULTS(call) \
	{ #call, one_fault_at_a_time, NULL, NULL, (void *)(call) }

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAULTS(create_blocked), FAULTS(create_scaling),
		FAULTS(create_window), FAULTS(create_counting),
		FAULTS(create_bitmap), FAULTS(open_close),
		FAULTS(link_again), FAULTS(list), FAULTS(info),
		FAULTS(add_key), FAULTS(add_many), FAULTS(add_long_key),
		FAULTS(query_many), FAULTS(remove_outside),
		FAULTS(load), FAULTS(load_layer),
		FAULTS(grow), FAULTS(map_head), FAULTS(rotate_window), FAULTS(clear_window),
	};

	nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth < 0 || access(DEBUGFS "failslab", F_OK)) {
		puts("1..1\nok 1 - faults # SKIP this kernel injects none");
		return 0;
	}
	return cmocka_run_group_tests_name("faults", tests, setup, teardown);
}
