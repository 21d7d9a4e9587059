// SPDX-License-Identifier: GPL-2.0
/*
 * What INFO, CLEAR, ROTATE, LOAD and mmap() of a filter refuse.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define PAGE	4096
#define NAME	"test.reject-filter"

static int fixed, scaling, window, classic;
static struct bloom_layer_info layer;
static u64 words[1024];

static void info_refuses(void **state)
{
	struct bloom_info arg = { .size = sizeof(arg), .layers_room = 1 };

	(void)state;
	arg.layers = (uintptr_t)&layer;
	assert_error(EINVAL, request(fixed, BLOOM_IOC_INFO, &arg));
	arg.layer_size = sizeof(layer) - 1;
	assert_error(EINVAL, request(fixed, BLOOM_IOC_INFO, &arg));
	arg.layer_size = sizeof(layer);
	arg.layers = 1ULL << 63;
	assert_error(EFAULT, request(fixed, BLOOM_IOC_INFO, &arg));
	arg.layers = ~0ULL;
	assert_error(EFAULT, request(fixed, BLOOM_IOC_INFO, &arg));
}

/* Room for more than there is, rows longer than ours, no room at all. */
static void info_takes(void **state)
{
	char room[3 * (sizeof(layer) + 24)];
	struct bloom_info arg = { .size = sizeof(arg) };
	size_t i;

	(void)state;
	assert_ok(request(fixed, BLOOM_IOC_INFO, &arg));
	assert_count(1, arg.layer_count);

	memset(room, 0xff, sizeof(room));
	arg = (struct bloom_info){
		.size = sizeof(arg),
		.layers = (uintptr_t)room,
		.layers_room = 3,
		.layer_size = sizeof(room) / 3,
	};
	assert_ok(request(fixed, BLOOM_IOC_INFO, &arg));
	assert_count(1, arg.layer_count);
	for (i = sizeof(layer); i < sizeof(room) / 3; i++)
		assert_int_equal(room[i], 0);
	for (; i < sizeof(room); i++)
		assert_int_equal((u8)room[i], 0xff);
}

static void clear_refuses(void **state)
{
	struct bloom_clear arg = { .size = sizeof(arg), .flags = 1 };

	(void)state;
	assert_error(EOPNOTSUPP, request(fixed, BLOOM_IOC_CLEAR, &arg));
}

static int send_rotate(int fd, u32 flags, u64 period, u64 next)
{
	struct bloom_rotate arg = {
		.size = sizeof(arg),
		.flags = flags,
		.period_ns = period,
		.next_ns = next,
	};

	return request(fd, BLOOM_IOC_ROTATE, &arg);
}

static void rotate_refuses(void **state)
{
	const u64 min = BLOOM_PERIOD_MIN_NS, max = BLOOM_PERIOD_MAX_NS;
	const u32 set = BLOOM_ROTATE_SET;

	(void)state;
	assert_error(EOPNOTSUPP, send_rotate(fixed, 0, 0, 0));
	assert_error(EOPNOTSUPP, send_rotate(fixed, set, min, min));
	assert_error(EOPNOTSUPP, send_rotate(scaling, 0, 0, 0));
	assert_error(EOPNOTSUPP, send_rotate(window, 2, 0, 0));
	assert_error(EINVAL, send_rotate(window, 0, min, 0));
	assert_error(EINVAL, send_rotate(window, 0, 0, 1));
	assert_error(EINVAL, send_rotate(window, set, 1, 1));
	assert_error(EINVAL, send_rotate(window, set, min - 1, 1));
	assert_error(EINVAL, send_rotate(window, set, max + 1, 1));
	assert_error(EINVAL, send_rotate(window, set, ~0ULL, 1));
	assert_error(EINVAL, send_rotate(window, set, min, 0));
	assert_error(EINVAL, send_rotate(window, set, min, min + 1));
	assert_error(EINVAL, send_rotate(window, set, 0, 1));
	assert_ok(send_rotate(window, set, max, max));
	assert_ok(send_rotate(window, set, max, 1000000000000ULL));
	assert_ok(send_rotate(window, set, 0, 0));
}

static struct bloom_load load_of(u64 offset, u64 length)
{
	return (struct bloom_load){
		.size = sizeof(struct bloom_load),
		.offset = offset,
		.length = length,
		.data = (uintptr_t)words,
	};
}

static void assert_load(int error, int fd, struct bloom_load arg)
{
	struct bloom_info before, after;

	assert_ok(get_info(fd, &before));
	assert_error(error, request(fd, BLOOM_IOC_LOAD, &arg));
	assert_ok(get_info(fd, &after));
	assert_count(before.keys, after.keys);
	assert_count(before.slots_set, after.slots_set);
	assert_count(before.layer_count, after.layer_count);
}

static void load_refuses(void **state)
{
	struct bloom_load arg;

	(void)state;
	memset(words, 0xff, sizeof(words));
	arg = load_of(0, 8);
	arg.flags = 1;
	assert_load(EOPNOTSUPP, fixed, arg);
	/* Another layer than there is; only a scaling filter grows. */
	arg = load_of(0, 8);
	arg.layer = 1;
	assert_load(EINVAL, fixed, arg);
	arg.layer = 2;
	assert_load(EINVAL, scaling, arg);
	arg.layer = 3;
	assert_load(EINVAL, window, arg);
	arg.layer = ~0U;
	assert_load(EINVAL, fixed, arg);
	assert_load(EINVAL, scaling, arg);
	/* The shape of a layer that is there. */
	arg = load_of(0, 8);
	arg.probes = 1;
	assert_load(EINVAL, fixed, arg);
	arg.probes = 0;
	arg.slots = layer.slots;
	assert_load(EINVAL, fixed, arg);
	/* An age, where there is none. */
	arg = load_of(0, 8);
	arg.age_ns = 1;
	assert_load(EINVAL, fixed, arg);
}

static void load_refuses_places(void **state)
{
	struct bloom_load arg;

	(void)state;
	assert_load(EINVAL, fixed, load_of(1, 8));
	assert_load(EINVAL, fixed, load_of(4, 8));
	assert_load(EINVAL, fixed, load_of(0, 7));
	assert_load(EINVAL, fixed, load_of(0, 9));
	assert_load(EINVAL, fixed, load_of(layer.bytes, 8));
	assert_load(EINVAL, fixed, load_of(layer.bytes - 8, 16));
	assert_load(EINVAL, fixed, load_of(~7ULL, 8));
	assert_load(EINVAL, fixed, load_of(~7ULL, 16));
	assert_load(EINVAL, fixed, load_of(8, ~7ULL));
	assert_load(EINVAL, fixed, load_of(0, ~7ULL));
	arg = load_of(0, 8);
	arg.data = 0;
	assert_load(EFAULT, fixed, arg);
	arg.data = 1ULL << 63;
	assert_load(EFAULT, fixed, arg);
	arg.data = ~7ULL;
	assert_load(EFAULT, fixed, arg);
}

/* A classic filter of 1000 bits has 15 words and 40 bits of a sixteenth. */
static void load_refuses_bits_past_the_end(void **state)
{
	struct bloom_load arg;

	(void)state;
	memset(words, 0, sizeof(words));
	words[0] = 1ULL << 40;
	assert_load(EINVAL, classic, load_of(15 * 8, 8));
	words[0] = 1ULL << 63;
	assert_load(EINVAL, classic, load_of(15 * 8, 8));
	words[0] = 0;
	words[1] = 1;
	assert_load(EINVAL, classic, load_of(15 * 8, 16));
	words[1] = 0;
	words[511] = 1;
	assert_load(EINVAL, classic, load_of(0, PAGE));

	words[511] = 0;
	words[15] = 1ULL << 39;
	arg = load_of(0, PAGE);
	assert_ok(request(classic, BLOOM_IOC_LOAD, &arg));
	assert_count(PAGE, arg.done);
}

static int map_error(int fd, u64 offset, size_t length, int protection, int flags)
{
	void *at = mmap(NULL, length, protection, flags, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, length);
	return 0;
}

static void map_refuses(void **state)
{
	static const int protections[] = {
		PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, PROT_EXEC,
	};
	u64 at = layer.map_offset;
	int write_only, ret;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(protections); i++) {
		ret = map_error(fixed, at, PAGE, protections[i], MAP_SHARED);
		assert_true(ret == -EACCES || ret == -EPERM);
		ret = map_error(fixed, 0, PAGE, protections[i], MAP_SHARED);
		assert_true(ret == -EACCES || ret == -EPERM);
	}
	ret = map_error(fixed, at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	assert_true(ret == -EACCES || ret == -EPERM || ret == -EINVAL);

	/* Beyond the layer, beside one, beyond the head. */
	assert_error(EINVAL, map_error(fixed, at, layer.bytes + PAGE, PROT_READ, MAP_SHARED));
	assert_error(EINVAL, map_error(fixed, 0, 2 * PAGE, PROT_READ, MAP_SHARED));
	assert_error(EINVAL, map_error(fixed, at + layer.bytes, PAGE, PROT_READ, MAP_SHARED));
	assert_error(EINVAL, map_error(fixed, 1ULL << 62, PAGE, PROT_READ, MAP_SHARED));
	assert_error(EINVAL, map_error(fixed, at + 1, PAGE, PROT_READ, MAP_SHARED));

	assert_ok(link_name(fixed, NAME, 0600, -1, 0));
	write_only = assert_ok(open_name(NAME, BLOOM_ACCESS_WRITE));
	assert_ok(unlink_name(NAME));
	assert_error(EACCES, map_error(write_only, at, PAGE, PROT_READ, MAP_SHARED));
	assert_error(EACCES, map_error(write_only, 0, PAGE, PROT_READ, MAP_SHARED));
	close(write_only);
}

/* A filter is no stream of bytes. */
static void read_and_write_refused(void **state)
{
	char byte = 0;

	(void)state;
	assert_true(read(fixed, &byte, 1) < 0);
	assert_true(errno == EINVAL || errno == EBADF);
	assert_true(write(fixed, &byte, 1) < 0);
	assert_true(errno == EINVAL || errno == EBADF);
}

static int setup(void **state)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);

	(void)state;
	fixed = create(&arg);
	arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING);
	scaling = create(&arg);
	arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	window = create(&arg);
	arg = (struct bloom_create){
		.size = sizeof(arg),
		.kind = BLOOM_KIND_CLASSIC,
		.slots = 1000,
		.probes = 3,
	};
	classic = create(&arg);
	return fixed < 0 || get_layers(fixed, &layer, 1) != 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_refuses),
		cmocka_unit_test(info_takes),
		cmocka_unit_test(clear_refuses),
		cmocka_unit_test(rotate_refuses),
		cmocka_unit_test(load_refuses),
		cmocka_unit_test(load_refuses_places),
		cmocka_unit_test(load_refuses_bits_past_the_end),
		cmocka_unit_test(map_refuses),
		cmocka_unit_test(read_and_write_refused),
	};

	return run_table("reject_filter", tests, ARRAY_LEN(tests), setup, NULL);
}
