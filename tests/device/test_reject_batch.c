// SPDX-License-Identifier: GPL-2.0
/*
 * What ADD, QUERY and REMOVE refuse, and how far a batch gets that runs into
 * memory that can't be touched.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define PAGE	4096UL
/* More keys than a call deals with at once. */
#define MANY	20000UL

static int filter_fd;
static u64 *many;

/* A mapping of at least @bytes, and its end: the byte after it can't be touched. */
static char *guarded(size_t bytes, int protection)
{
	size_t length = (bytes + PAGE - 1) / PAGE * PAGE;
	char *at = mmap(NULL, length + PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at + length, PAGE, PROT_NONE), 0);
	return at + length;
}

static void unguard(char *end, size_t bytes)
{
	size_t length = (bytes + PAGE - 1) / PAGE * PAGE;

	munmap(end - length, length + PAGE);
}

static u64 keys_added(void)
{
	struct bloom_info info;

	assert_ok(get_info(filter_fd, &info));
	return info.adds;
}

/* Refused, and nothing changed. */
static void assert_refused(int error, struct bloom_batch arg)
{
	struct bloom_batch copy = arg;
	u64 before = keys_added();

	assert_error(error, request(filter_fd, BLOOM_IOC_ADD, &copy));
	copy = arg;
	assert_error(error, request(filter_fd, BLOOM_IOC_QUERY, &copy));
	assert_count(before, keys_added());
}

static void flags(void **state)
{
	struct bloom_batch arg = batch_of(many, 10, NULL);

	(void)state;
	arg.flags = 1;
	assert_refused(EOPNOTSUPP, arg);
}

static void key_length_and_lengths(void **state)
{
	struct bloom_batch arg = batch_of(many, 2, NULL);
	u32 lens[] = { 8, 8 };

	(void)state;
	arg.lens = (uintptr_t)lens;
	assert_refused(EINVAL, arg);
	arg.key_len = 0;
	assert_ok(request(filter_fd, BLOOM_IOC_QUERY, &arg));
}

static void key_lengths(void **state)
{
	static const u32 good[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 16, 64, 4095, 4096,
				    4097, 65534, 65535 };
	static const u32 bad[] = { 65536, 65537, 0x7fffffff, 0x80000000, 0xffffffff };
	u32 length = 0;
	struct bloom_batch arg = {
		.size = sizeof(arg),
		.keys = (uintptr_t)many,
		.count = 1,
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(add_bytes(filter_fd, many, good[i]), BLOOM_ABSENT);
		assert_int_equal(query_bytes(filter_fd, many, good[i]), BLOOM_PRESENT);
		/* As one of lengths given one by one it is the same key. */
		length = good[i];
		arg.lens = (uintptr_t)&length;
		arg.keys_bytes = length;
		assert_ok(request(filter_fd, BLOOM_IOC_QUERY, &arg));
		assert_count(1, arg.present);
	}
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		arg.lens = 0;
		arg.key_len = bad[i];
		arg.keys_bytes = bad[i];
		assert_refused(EINVAL, arg);

		arg.key_len = 0;
		length = bad[i];
		arg.lens = (uintptr_t)&length;
		assert_refused(EINVAL, arg);
	}
}

static void sum_of_equal_lengths(void **state)
{
	struct bloom_batch arg = batch_of(many, 10, NULL);

	(void)state;
	arg.keys_bytes = 79;
	assert_refused(EINVAL, arg);
	arg.keys_bytes = 81;
	assert_refused(EINVAL, arg);
	arg.keys_bytes = 0;
	assert_refused(EINVAL, arg);
	arg.keys_bytes = ~0ULL;
	assert_refused(EINVAL, arg);
}

static void sum_of_lengths(void **state)
{
	u32 lens[] = { 1, 2, 3 };
	struct bloom_batch arg = {
		.size = sizeof(arg),
		.keys = (uintptr_t)many,
		.lens = (uintptr_t)lens,
		.count = 3,
	};

	(void)state;
	arg.keys_bytes = 7;
	assert_refused(EINVAL, arg);
	arg.keys_bytes = 0;
	assert_refused(EINVAL, arg);
	arg.keys_bytes = ~0ULL;
	assert_refused(EINVAL, arg);
	arg.keys_bytes = 6;
	assert_ok(request(filter_fd, BLOOM_IOC_QUERY, &arg));
	assert_count(3, arg.done);

	arg.keys_bytes = 5;
	assert_refused(EINVAL, arg);
}

/*
 * A length that does not fit ends a batch as memory does that can't be read:
 * what comes long before it may have been dealt with, what is near it has not.
 */
static void wrong_length_far_inside(void **state)
{
	u32 *lens = malloc(MANY * sizeof(*lens));
	struct bloom_batch arg = batch_of(many, MANY, NULL);
	u64 before;
	size_t i;

	(void)state;
	for (i = 0; i < MANY; i++)
		lens[i] = 8;
	lens[MANY - 2] = 65536;
	arg.key_len = 0;
	arg.lens = (uintptr_t)lens;
	before = keys_added();
	assert_ok(request(filter_fd, BLOOM_IOC_ADD, &arg));
	assert_true(arg.done > 0 && arg.done <= MANY - 2);
	assert_count(before + arg.done, keys_added());
	arg.keys += arg.done * 8;
	arg.keys_bytes -= arg.done * 8;
	arg.lens += arg.done * sizeof(*lens);
	arg.count -= arg.done;
	assert_refused(EINVAL, arg);
	free(lens);
}

/* count * key_len is 2^64, and 2^64 + 80: neither is 0, nor 80. */
static void product_overflows(void **state)
{
	struct bloom_batch arg = batch_of(many, 10, NULL);

	(void)state;
	arg.count = 1ULL << 61;
	arg.keys_bytes = 0;
	assert_refused(EINVAL, arg);
	arg.count = (1ULL << 61) + 10;
	arg.keys_bytes = 80;
	assert_refused(EINVAL, arg);
	arg.count = ~0ULL;
	assert_refused(EINVAL, arg);
}

/* The lengths of all of these can't be in memory. */
static void lengths_beyond_memory(void **state)
{
	u32 lens[] = { 8 };
	struct bloom_batch arg = batch_of(many, 1, NULL);

	(void)state;
	arg.key_len = 0;
	arg.lens = (uintptr_t)lens;
	arg.lens |= 1ULL << 63;
	assert_refused(EFAULT, arg);
	arg.lens = ~3ULL;
	assert_refused(EFAULT, arg);
	arg.lens = (uintptr_t)lens;
	arg.count = ~0ULL;
	assert_true(request(filter_fd, BLOOM_IOC_QUERY, &arg) < 0);
}

static void no_keys(void **state)
{
	struct bloom_batch arg = batch_of(NULL, 0, NULL);

	(void)state;
	arg.done = 1;
	arg.present = 2;
	arg.out_of_range = 3;
	assert_ok(request(filter_fd, BLOOM_IOC_ADD, &arg));
	assert_count(0, arg.done);
	assert_count(0, arg.present);
	assert_count(0, arg.out_of_range);
	arg.key_len = 0;
	assert_ok(request(filter_fd, BLOOM_IOC_QUERY, &arg));
	arg.keys_bytes = 1;
	assert_refused(EINVAL, arg);
}

static void empty_keys_need_no_memory(void **state)
{
	struct bloom_batch arg = { .size = sizeof(arg), .count = 1000 };

	(void)state;
	assert_int_equal(clear(filter_fd), 0);
	assert_ok(run_batch(filter_fd, BLOOM_IOC_ADD, &arg));
	assert_count(1000, arg.done);
	assert_count(999, arg.present);
	clear(filter_fd);
}

/*
 * A batch of which memory ends after @good keys: it deals with some of them and
 * says so, or with none and fails; and going on leads to EFAULT.
 */
static void assert_stops(unsigned long cmd, struct bloom_batch arg, u64 good)
{
	u64 done = 0;
	int ret;

	for (;;) {
		ret = request(filter_fd, cmd, &arg);
		if (ret < 0)
			break;
		assert_true(arg.done > 0);
		done += arg.done;
		assert_true(done <= good);
		arg.keys += arg.done * 8;
		arg.keys_bytes -= arg.done * 8;
		if (arg.lens)
			arg.lens += arg.done * sizeof(u32);
		if (arg.verdicts)
			arg.verdicts += arg.done;
		arg.count -= arg.done;
	}
	assert_error(EFAULT, ret);
	/* Within one chunk of where memory ends, not far before it. */
	assert_true(done + 5000 >= good);
}

static const u64 ends[] = { 0, 1, 7, 63, 64, 65, 1000, 10000, MANY - 1 };

static void keys_end_early(void **state)
{
	struct bloom_batch arg;
	u64 before;
	size_t i;
	char *end;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ends); i++) {
		end = guarded(ends[i] * 8 + 1, PROT_READ | PROT_WRITE);
		memcpy(end - ends[i] * 8, many, ends[i] * 8);
		arg = batch_of((u64 *)(end - ends[i] * 8), MANY, NULL);
		before = keys_added();
		assert_stops(BLOOM_IOC_ADD, arg, ends[i]);
		assert_true(keys_added() <= before + ends[i]);
		assert_stops(BLOOM_IOC_QUERY, arg, ends[i]);
		unguard(end, ends[i] * 8 + 1);
	}
}

static void key_cut_in_two(void **state)
{
	char *end = guarded(8, PROT_READ | PROT_WRITE);
	struct bloom_batch arg = batch_of((u64 *)(end - 7), 1, NULL);

	(void)state;
	assert_refused(EFAULT, arg);
	unguard(end, 8);
}

static void lengths_end_early(void **state)
{
	size_t i, j, bytes;
	struct bloom_batch arg;
	u32 *lens;
	char *end;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ends); i++) {
		bytes = ends[i] * sizeof(*lens);
		end = guarded(bytes + 1, PROT_READ | PROT_WRITE);
		lens = (u32 *)(end - bytes);
		for (j = 0; j < ends[i]; j++)
			lens[j] = 8;
		arg = batch_of(many, MANY, NULL);
		arg.key_len = 0;
		arg.lens = (uintptr_t)lens;
		assert_stops(BLOOM_IOC_ADD, arg, ends[i]);
		assert_stops(BLOOM_IOC_QUERY, arg, ends[i]);
		unguard(end, bytes + 1);
	}
}

/* A verdict that can't be told must not be lost: such a key is not added. */
static void verdicts_end_early(void **state)
{
	struct bloom_batch arg;
	struct bloom_info info;
	u64 adds;
	size_t i;
	char *end;

	(void)state;
	for (i = 0; i < ARRAY_LEN(ends); i++) {
		clear(filter_fd);
		adds = keys_added();
		end = guarded(ends[i] + 1, PROT_READ | PROT_WRITE);
		arg = batch_of(many, MANY, (u8 *)(end - ends[i]));
		assert_stops(BLOOM_IOC_ADD, arg, ends[i]);
		assert_ok(get_info(filter_fd, &info));
		assert_true(info.adds - adds <= ends[i]);
		assert_count(info.keys, info.adds - adds);
		assert_count(info.keys, query_keys(filter_fd, many, info.keys));
		assert_count(0, query_keys(filter_fd, many + info.keys, MANY - info.keys));
		assert_stops(BLOOM_IOC_QUERY, arg, ends[i]);
		unguard(end, ends[i] + 1);
	}
	clear(filter_fd);
}

static void verdicts_read_only(void **state)
{
	char *end = guarded(10, PROT_READ);

	(void)state;
	assert_refused(EFAULT, batch_of(many, 10, (u8 *)(end - 10)));
	unguard(end, 10);
}

static void request_read_only(void **state)
{
	char *end = guarded(sizeof(struct bloom_batch), PROT_READ | PROT_WRITE);
	struct bloom_batch *arg = (void *)(end - sizeof(*arg));

	(void)state;
	*arg = batch_of(many, 10, NULL);
	assert_int_equal(mprotect(end - PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(request(filter_fd, BLOOM_IOC_QUERY, arg), -EFAULT);
	assert_int_equal(request(filter_fd, BLOOM_IOC_ADD, arg), -EFAULT);
	assert_count(0, query_keys(filter_fd, many, 10));
	unguard(end, sizeof(*arg));
}

/* Nothing the kernel would have to do for them is done with kernel memory. */
static void kernel_pointers(void **state)
{
	struct bloom_batch arg = batch_of(many, 10, NULL);

	(void)state;
	arg.keys = 0xffffffff81000000ULL;
	assert_refused(EFAULT, arg);
	arg.keys = (uintptr_t)many;
	arg.verdicts = 0xffffffff81000000ULL;
	assert_refused(EFAULT, arg);
	arg.verdicts = ~0ULL;
	assert_refused(EFAULT, arg);
}

static void remove_not_supported(void **state)
{
	int classic = assert_ok(create_sized(BLOOM_KIND_CLASSIC, 100, 0.01));

	(void)state;
	assert_error(EOPNOTSUPP, remove_one(filter_fd, 1));
	assert_error(EOPNOTSUPP, remove_one(classic, 1));
	close(classic);
}

static void bitmap_key_lengths(void **state)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
	int fd = assert_ok(create(&arg));
	u32 lens[] = { 8, 4 };
	struct bloom_batch batch = batch_of(many, 2, NULL);
	struct bloom_info info;
	u32 length;

	(void)state;
	for (length = 0; length < 20; length++) {
		if (length != 8)
			assert_error(EINVAL, add_bytes(fd, many, length));
	}
	batch.key_len = 0;
	batch.keys_bytes = 12;
	batch.lens = (uintptr_t)lens;
	assert_error(EINVAL, request(fd, BLOOM_IOC_ADD, &batch));
	assert_ok(get_info(fd, &info));
	assert_count(0, info.adds);
	lens[1] = 8;
	batch.keys_bytes = 16;
	assert_ok(request(fd, BLOOM_IOC_ADD, &batch));
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	/* So few false positives that none is met. */
	filter_fd = create_sized(BLOOM_KIND_BLOCKED, 200000, 0.000001);
	many = calloc(MANY, sizeof(*many));
	if (filter_fd < 0 || !many)
		return -1;
	fill_keys(many, MANY, 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags),
		cmocka_unit_test(key_length_and_lengths),
		cmocka_unit_test(key_lengths),
		cmocka_unit_test(sum_of_equal_lengths),
		cmocka_unit_test(sum_of_lengths),
		cmocka_unit_test(wrong_length_far_inside),
		cmocka_unit_test(product_overflows),
		cmocka_unit_test(lengths_beyond_memory),
		cmocka_unit_test(no_keys),
		cmocka_unit_test(empty_keys_need_no_memory),
		cmocka_unit_test(keys_end_early),
		cmocka_unit_test(key_cut_in_two),
		cmocka_unit_test(lengths_end_early),
		cmocka_unit_test(verdicts_end_early),
		cmocka_unit_test(verdicts_read_only),
		cmocka_unit_test(request_read_only),
		cmocka_unit_test(kernel_pointers),
		cmocka_unit_test(remove_not_supported),
		cmocka_unit_test(bitmap_key_lengths),
	};

	return run_table("reject_batch", tests, ARRAY_LEN(tests), setup, NULL);
}
