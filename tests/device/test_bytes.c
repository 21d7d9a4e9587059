// SPDX-License-Identifier: GPL-2.0
/*
 * Every byte that the kernel writes is one that it meant to write.
 *
 * Buffers are poisoned with two patterns in turn. What differs between the two
 * runs was not written; what was written holds no kernel address, no byte of what
 * the kernel's stack and slabs held before (they are stained on purpose), and
 * zero in what is reserved. A call that is refused writes nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

#define NAME	"test.bytes"
#define STAIN	0xee
/* No 0xff, no 0xee, no zero: easily told from anything else. */
#define SEED0	0x5eed0123456789abULL
#define SEED1	0x0badcafe1337d00dULL

static const u8 poisons[] = { 0xa5, 0x5a };

/* Leave STAIN where the next request's structures and buffers will be. */
static void stain(int fd)
{
	static u8 keys[8000], verdicts[1000];
	struct bloom_info info;
	struct bloom_batch batch = {
		.size = sizeof(batch), .keys = (uintptr_t)keys, .keys_bytes = sizeof(keys),
		.key_len = 8, .count = 1000, .verdicts = (uintptr_t)verdicts,
	};

	memset(keys, STAIN, sizeof(keys));
	memset(&info, STAIN, sizeof(info));
	info.size = sizeof(info);
	/* Its reserved field is not zero: refused, but copied first. */
	assert_error(EINVAL, request(fd, BLOOM_IOC_INFO, &info));
	assert_ok(request(fd, BLOOM_IOC_QUERY, &batch));
}

/* Nothing that looks like a kernel address, and nothing of the stain. */
static void assert_clean(const void *bytes, size_t size, const char *what)
{
	const u8 *p = bytes;
	size_t i;
	u64 word;

	for (i = 0; i + sizeof(word) <= size; i++) {
		memcpy(&word, p + i, sizeof(word));
		if (word >> 47 == 0x1ffff && word != ~0ULL)
			fail_msg("%s: at %zu a kernel address, %#llx", what, i, word);
		if ((u32)word == STAIN * 0x01010101U)
			fail_msg("%s: at %zu what the kernel's memory held", what, i);
	}
}

static void assert_filled(const void *bytes, size_t size, u8 value, const char *what)
{
	const u8 *p = bytes;
	size_t i;

	for (i = 0; i < size; i++) {
		if (p[i] != value)
			fail_msg("%s: byte %zu is %#x, not %#x", what, i, p[i], value);
	}
}

static const u32 shapes[][3] = {
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, BLOOM_HASH_SIPHASH },
	{ BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED, 0 },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_WINDOW, BLOOM_HASH_JHASH },
};

static int make(const u32 *shape)
{
	struct bloom_create arg = create_defaults(shape[0], shape[1]);
	u64 keys[3000];
	int fd;

	arg.hash = shape[2];
	if (arg.kind != BLOOM_KIND_BITMAP) {
		arg.flags = BLOOM_CREATE_SEED;
		arg.seed[0] = SEED0;
		arg.seed[1] = SEED1;
	}
	if (arg.growth == BLOOM_GROWTH_SCALING)
		arg.capacity = 1024;
	if (arg.growth == BLOOM_GROWTH_WINDOW)
		arg.period_ns = BLOOM_PERIOD_MAX_NS;
	fd = assert_ok(create(&arg));
	fill_keys(keys, 3000, 0);
	assert_ok(add_keys(fd, keys, 3000));
	return fd;
}

/**
 * struct answer - INFO's, and what is around it
 * @info: given to the kernel
 * @after: not the kernel's
 * @rows: each longer than the kernel's; more than there are
 */
struct answer {
	struct bloom_info info;
	u8 after[256];
	struct row {
		struct bloom_layer_info layer;
		u8 rest[56];
	} rows[BLOOM_LAYERS_MAX + 2];
};

static void ask(int fd, u8 poison, struct answer *a, struct row *rows)
{
	u32 i;

	stain(fd);
	memset(a, poison, sizeof(*a));
	memset(rows, poison, sizeof(a->rows));
	a->info.size = sizeof(a->info);
	a->info.layers = (uintptr_t)rows;
	a->info.layers_room = BLOOM_LAYERS_MAX + 2;
	a->info.layer_size = sizeof(*rows);
	a->info.reserved = 0;
	assert_ok(request(fd, BLOOM_IOC_INFO, &a->info));
	assert_filled(a->after, sizeof(a->after), poison, "behind INFO");
	assert_count((uintptr_t)rows, a->info.layers);
	assert_filled(rows + a->info.layer_count,
		      (BLOOM_LAYERS_MAX + 2 - a->info.layer_count) * sizeof(*rows), poison,
		      "rows past the last");
	/* Time goes on between two calls. */
	assert_true(a->info.age_ns < 1ULL << 47);
	a->info.age_ns = 0;
	a->info.next_ns = 0;
	a->info.layers = 0;
	/* The stain itself was a query. */
	a->info.queries = 0;
	a->info.queries_present = 0;
	for (i = 0; i < a->info.layer_count; i++) {
		assert_filled(rows[i].rest, sizeof(rows[i].rest), 0, "end of a row");
		assert_int_equal(rows[i].layer.reserved, 0);
		assert_true(rows[i].layer.age_ns < 1ULL << 47);
		rows[i].layer.age_ns = 0;
	}
	memcpy(a->rows, rows, sizeof(a->rows));
	assert_clean(&a->info, sizeof(a->info), "INFO");
	assert_clean(a->rows, a->info.layer_count * sizeof(*rows), "rows");
}

static void info(void **state)
{
	static struct answer a[2];
	static struct row rows[BLOOM_LAYERS_MAX + 2];
	size_t s, length;
	int fd;

	(void)state;
	for (s = 0; s < ARRAY_LEN(shapes); s++) {
		fd = make(shapes[s]);
		assert_ok(link_name(fd, s % 2 ? NAME : "t", 0640, -1, 0));
		ask(fd, poisons[0], &a[0], rows);
		ask(fd, poisons[1], &a[1], rows);
		assert_memory_equal(&a[0].info, &a[1].info, sizeof(a[0].info));
		assert_memory_equal(a[0].rows, a[1].rows,
				    a[0].info.layer_count * sizeof(*rows));
		assert_int_equal(a[0].info.reserved, 0);
		length = strlen(a[0].info.name);
		assert_filled(a[0].info.name + length, sizeof(a[0].info.name) - length, 0,
			      "behind the name");
		assert_ok(unlink_name(s % 2 ? NAME : "t"));
		close(fd);
	}
}

static void list(void **state)
{
	static struct {
		struct bloom_list_entry entry;
		u8 rest[88];
	} rows[2][6];
	struct {
		struct bloom_list arg;
		u8 after[64];
	} ask, before;
	char name[BLOOM_NAME_MAX + 1] = NAME;
	size_t i, p, length;
	int fds[3];

	(void)state;
	memset(name + strlen(name), 'n', BLOOM_NAME_MAX - strlen(name));
	for (i = 0; i < 3; i++) {
		fds[i] = make(shapes[i * 2]);
		assert_ok(link_name(fds[i], i == 0 ? NAME : i == 1 ? NAME "1" : name, 0604, -1,
				    0));
	}
	for (p = 0; p < 2; p++) {
		int device = assert_ok(open_device(O_RDONLY));

		stain(fds[0]);
		memset(rows[p], poisons[p], sizeof(rows[p]));
		memset(&ask, poisons[p], sizeof(ask));
		ask.arg = (struct bloom_list){
			.size = sizeof(ask.arg), .entries = (uintptr_t)rows[p], .count = 6,
			.entry_size = sizeof(rows[0][0]), .after = "test.byte",
		};
		before = ask;
		assert_ok(request(device, BLOOM_IOC_LIST, &ask.arg));
		assert_int_equal(ask.arg.count, 3);
		/* Nothing but the count, not even where it continued. */
		ask.arg.count = 6;
		assert_memory_equal(&ask, &before, sizeof(ask));
		assert_filled(&rows[p][3], 3 * sizeof(rows[0][0]), poisons[p], "past the last");
		close(device);
	}
	assert_memory_equal(rows[0], rows[1], 3 * sizeof(rows[0][0]));
	for (i = 0; i < 3; i++) {
		assert_filled(rows[0][i].rest, sizeof(rows[0][i].rest), 0, "end of an entry");
		assert_int_equal(rows[0][i].entry.reserved, 0);
		length = strlen(rows[0][i].entry.name);
		assert_filled(rows[0][i].entry.name + length,
			      sizeof(rows[0][i].entry.name) - length, 0, "behind the name");
		assert_clean(&rows[0][i], sizeof(rows[0][i]), "LIST");
		close(fds[i]);
	}
	unlink_all(NAME);
}

/* Requests that have no result leave what they were given as it was. */
static void no_result(void **state)
{
	struct bloom_create create_arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	struct bloom_open open_arg = { sizeof(open_arg), ACCESS_BOTH, NAME };
	struct bloom_unlink unlink_arg = { sizeof(unlink_arg), 0, NAME };
	struct bloom_link link_arg = { sizeof(link_arg), 0, 0600, -1, NAME };
	struct bloom_clear clear_arg = { sizeof(clear_arg), 0 };
	struct bloom_rotate rotate_arg = { .size = sizeof(rotate_arg) };
	struct {
		unsigned long cmd;
		const void *arg;
		size_t size;
	} calls[] = {
		{ BLOOM_IOC_CREATE, &create_arg, sizeof(create_arg) },
		{ BLOOM_IOC_LINK, &link_arg, sizeof(link_arg) },
		{ BLOOM_IOC_OPEN, &open_arg, sizeof(open_arg) },
		{ BLOOM_IOC_CLEAR, &clear_arg, sizeof(clear_arg) },
		{ BLOOM_IOC_ROTATE, &rotate_arg, sizeof(rotate_arg) },
		{ BLOOM_IOC_UNLINK, &unlink_arg, sizeof(unlink_arg) },
	};
	int device = assert_ok(open_device(O_RDWR)), filter = -1, ret;
	u8 given[1024], want[1024];
	size_t i, p;

	(void)state;
	for (p = 0; p < 4; p++) {
		for (i = 0; i < ARRAY_LEN(calls); i++) {
			bool on_device = calls[i].cmd < BLOOM_IOC_ADD;

			memset(given, poisons[p % 2], sizeof(given));
			memcpy(given, calls[i].arg, calls[i].size);
			if (p > 1) {
				/* As from a newer program: longer, the rest zero. */
				memset(given + calls[i].size, 0, 128);
				*(u32 *)given = calls[i].size + 128;
			}
			memcpy(want, given, sizeof(want));
			ret = assert_ok(request(on_device ? device : filter, calls[i].cmd, given));
			assert_memory_equal(given, want, sizeof(want));
			if (calls[i].cmd == BLOOM_IOC_CREATE)
				filter = ret;
			else if (calls[i].cmd == BLOOM_IOC_OPEN)
				close(ret);
		}
		close(filter);
	}
	close(device);
}

/* A verdict a key and nothing beside; of the structure only the results. */
static void verdicts(void **state)
{
	static const u32 counts[] = { 0, 1, 16, 17, 1023, 1024, 1025, 3000 };
	static u8 room[2][3200];
	static u64 keys[3000];
	struct {
		struct bloom_batch arg;
		u8 after[64];
	} ask, before;
	size_t i, p;
	int fd = make(shapes[0]);
	u32 k;

	(void)state;
	/* Half of them are there. */
	fill_keys(keys, 3000, 1500);
	for (i = 0; i < ARRAY_LEN(counts); i++) {
		for (p = 0; p < 2; p++) {
			stain(fd);
			memset(room[p], poisons[p], sizeof(room[p]));
			memset(&ask, poisons[p], sizeof(ask));
			ask.arg = batch_of(keys, counts[i], room[p] + 100);
			ask.arg.done = ~0ULL;
			ask.arg.present = ~0ULL;
			ask.arg.out_of_range = ~0ULL;
			before = ask;
			assert_ok(request(fd, BLOOM_IOC_QUERY, &ask.arg));
			assert_count(counts[i], ask.arg.done);
			assert_filled(room[p], 100, poisons[p], "before the verdicts");
			assert_filled(room[p] + 100 + counts[i], 3100 - counts[i], poisons[p],
				      "behind the verdicts");
			before.arg.done = ask.arg.done;
			before.arg.present = ask.arg.present;
			before.arg.out_of_range = 0;
			assert_memory_equal(&ask, &before, sizeof(ask));
		}
		assert_memory_equal(room[0] + 100, room[1] + 100, counts[i]);
		for (k = 0; k < counts[i]; k++)
			assert_true(room[0][100 + k] <= BLOOM_PRESENT);
	}
	close(fd);
}

/**
 * struct refusal - a request that is refused
 * @on_device: of /dev/bloom, else of a filter open for writing only
 * @at: offset of the 32-bit word that is wrong
 * @wrong: its value
 * @results: from here on a refused call may say 0: nothing done
 */
static const struct refusal {
	unsigned long cmd;
	bool on_device;
	size_t size, at;
	u32 wrong;
	int error;
	size_t results;
} refusals[] = {
	{ BLOOM_IOC_INFO, false, sizeof(struct bloom_info), 0, 472, EBADF, 0 },
	{ BLOOM_IOC_QUERY, false, sizeof(struct bloom_batch), 0, 80, EBADF, 0 },
	{ BLOOM_IOC_ADD, false, sizeof(struct bloom_batch), 0, 79, EINVAL, 0 },
	{ BLOOM_IOC_ADD, false, sizeof(struct bloom_batch), 0, 84, E2BIG, 0 },
	{ BLOOM_IOC_ADD, false, sizeof(struct bloom_batch), 0, 5000, E2BIG, 0 },
	{ BLOOM_IOC_ADD, false, sizeof(struct bloom_batch), 4, 1, EOPNOTSUPP,
	  offsetof(struct bloom_batch, done) },
	{ BLOOM_IOC_ADD, false, sizeof(struct bloom_batch), 44, 1, EINVAL,
	  offsetof(struct bloom_batch, done) },
	{ BLOOM_IOC_REMOVE, false, sizeof(struct bloom_batch), 0, 80, EOPNOTSUPP, 0 },
	{ BLOOM_IOC_LOAD, false, sizeof(struct bloom_load), 4, 1, EOPNOTSUPP,
	  offsetof(struct bloom_load, done) },
	{ BLOOM_IOC_LOAD, false, sizeof(struct bloom_load), 8, 77, EINVAL,
	  offsetof(struct bloom_load, done) },
	{ BLOOM_IOC_ROTATE, false, sizeof(struct bloom_rotate), 0, 24, EOPNOTSUPP, 0 },
	{ BLOOM_IOC_LINK, false, sizeof(struct bloom_link), 8, 07777, EINVAL, 0 },
	{ BLOOM_IOC_LIST, true, sizeof(struct bloom_list), 4, 1, EOPNOTSUPP, 0 },
	{ BLOOM_IOC_LIST, true, sizeof(struct bloom_list), 16, 5000, EINVAL, 0 },
	{ BLOOM_IOC_LIST, true, sizeof(struct bloom_list), 20, 311, EINVAL, 0 },
	{ BLOOM_IOC_OPEN, true, sizeof(struct bloom_open), 4, 4, EOPNOTSUPP, 0 },
	{ BLOOM_IOC_CREATE, true, sizeof(struct bloom_create), 4, 1 << 31, EOPNOTSUPP, 0 },
	{ _IO(BLOOM_IOC_MAGIC, 0x3f), false, 64, 4, 1, ENOTTY, 0 },
	{ _IO(BLOOM_IOC_MAGIC, 0x3f), true, 64, 4, 1, ENOTTY, 0 },
};

static void refused(void **state)
{
	int both = make(shapes[0]), device = assert_ok(open_device(O_RDWR)), writer;
	static u8 verdicts[1024];
	u8 given[1024], want[1024];
	u64 keys[4] = { 1, 2, 3, 4 };
	size_t i, p;

	(void)state;
	assert_ok(link_name(both, NAME, 0600, -1, 0));
	writer = assert_ok(open_name(NAME, BLOOM_ACCESS_WRITE));
	for (i = 0; i < ARRAY_LEN(refusals); i++) {
		const struct refusal *r = &refusals[i];

		for (p = 0; p < 2; p++) {
			memset(verdicts, poisons[p], sizeof(verdicts));
			memset(given, poisons[p], sizeof(given));
			memset(given, 0, r->size);
			if (r->cmd == BLOOM_IOC_ADD || r->cmd == BLOOM_IOC_QUERY)
				*(struct bloom_batch *)given = batch_of(keys, 4, verdicts);
			else if (r->cmd == BLOOM_IOC_LIST)
				*(struct bloom_list *)given = (struct bloom_list){
					.entries = (uintptr_t)verdicts, .count = 2,
					.entry_size = sizeof(struct bloom_list_entry),
				};
			else if (r->cmd == BLOOM_IOC_LINK || r->cmd == BLOOM_IOC_OPEN)
				strcpy((char *)given + r->size - BLOOM_NAME_MAX - 1, NAME "2");
			*(u32 *)given = r->size;
			if (r->results)
				memset(given + r->results, poisons[p], r->size - r->results);
			*(u32 *)(given + r->at) = r->wrong;
			memcpy(want, given, sizeof(want));
			assert_error(r->error, request(r->on_device ? device : writer, r->cmd,
						       given));
			if (r->results)
				memset(want + r->results, 0, r->size - r->results);
			assert_memory_equal(given, want, sizeof(want));
			assert_filled(verdicts, sizeof(verdicts), poisons[p], "verdicts");
		}
	}
	close(writer);
	close(device);
	close(both);
	unlink_all(NAME);
}

/* The memory of a filter that was full shows in none that follows. */
static void fresh_layers(void **state)
{
	struct bloom_layer_info layers[BLOOM_GENERATIONS_MAX];
	size_t s, round;
	int fd, i, n;

	(void)state;
	for (s = 0; s < ARRAY_LEN(shapes); s++) {
		struct bloom_create arg = create_defaults(shapes[s][0], shapes[s][1]);

		/* Not a multiple of anything. */
		if (arg.kind == BLOOM_KIND_BITMAP)
			arg.slots = 100003;
		for (round = 0; round < 3; round++) {
			fd = assert_ok(create(&arg));
			n = assert_ok(get_layers(fd, layers, BLOOM_GENERATIONS_MAX));
			for (i = 0; i < n; i++) {
				assert_count(0, count_mapped(fd, &layers[i]));
				struct bloom_load load = {
					.size = sizeof(load), .layer = i,
					.length = layers[i].slots / 64 * 8,
				};
				u8 *ones = malloc(load.length);

				memset(ones, 0xff, load.length);
				load.data = (uintptr_t)ones;
				assert_ok(request(fd, BLOOM_IOC_LOAD, &load));
				assert_count(load.length, load.done);
				free(ones);
			}
			assert_ok(clear(fd));
			n = assert_ok(get_layers(fd, layers, BLOOM_GENERATIONS_MAX));
			for (i = 0; i < n; i++)
				assert_count(0, count_mapped(fd, &layers[i]));
			close(fd);
		}
	}
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info),
		cmocka_unit_test(list),
		cmocka_unit_test(no_result),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(refused),
		cmocka_unit_test(fresh_layers),
	};

	return run_table("bytes", tests, ARRAY_LEN(tests), NULL, teardown);
}
