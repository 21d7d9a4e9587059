// SPDX-License-Identifier: GPL-2.0
/*
 * The read-only mapping: what it shows, how long it lives, what can't be done
 * with it, and that a reader who probes it himself gets the kernel's answers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "core_probe.h"

#define PAGE	4096UL

/* As the header says a reader shall: with acquire. */
static u64 sequence(const struct bloom_head *head)
{
	return __atomic_load_n(&head->seq, __ATOMIC_ACQUIRE);
}

static int make(u32 kind, u32 growth)
{
	struct bloom_create arg = create_defaults(kind, growth);

	arg.capacity = growth == BLOOM_GROWTH_SCALING ? 500 : 5000;
	return assert_ok(create(&arg));
}

static void head_page(void **state)
{
	static const u8 zero[PAGE - sizeof(struct bloom_head)];
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	const struct bloom_head *head = map_read(fd, 0, PAGE);
	u64 keys[5200], seq;

	(void)state;
	assert_non_null(head);
	assert_int_equal(head->size, sizeof(*head));
	assert_int_equal(head->state, 0);
	assert_count(0, sequence(head) % 2);
	/* Nothing else of the kernel's memory is in it. */
	assert_memory_equal(head + 1, zero, sizeof(zero));

	/* ADD changes bits, not the set of layers. */
	seq = sequence(head);
	fill_keys(keys, 5200, 0);
	assert_ok(add_keys(fd, keys, 5200));
	assert_count(seq, sequence(head));
	/* INFO sees to the state; the head has it too. */
	assert_ok(get_info(fd, &(struct bloom_info){}));
	assert_int_equal(head->state, BLOOM_STATE_SATURATED);
	assert_ok(clear(fd));
	assert_true(sequence(head) != seq);
	assert_count(0, sequence(head) % 2);
	assert_int_equal(head->state, 0);
	munmap((void *)head, PAGE);
	close(fd);
}

static void sequence_changes(void **state)
{
	int scaling = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING);
	int window = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	const struct bloom_head *grows = map_read(scaling, 0, PAGE);
	const struct bloom_head *turns = map_read(window, 0, PAGE);
	u64 seq, keys[2000];
	int i;

	(void)state;
	assert_non_null(grows);
	assert_non_null(turns);
	seq = sequence(grows);
	fill_keys(keys, 2000, 0);
	assert_ok(add_keys(scaling, keys, 2000));
	assert_true(sequence(grows) > seq);
	assert_count(0, sequence(grows) % 2);
	for (i = 0; i < 10; i++) {
		seq = sequence(turns);
		assert_ok(rotate(window));
		assert_true(sequence(turns) > seq);
		assert_count(0, sequence(turns) % 2);
	}
	/* The mapping holds the filter: no descriptor is needed. */
	close(scaling);
	close(window);
	assert_count(0, sequence(grows) % 2);
	assert_count(0, sequence(turns) % 2);
	munmap((void *)grows, PAGE);
	munmap((void *)turns, PAGE);
}

/* Neither mprotect(), nor /proc/self/mem, nor a private copy lets one write. */
static void read_only(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED), mem, shared;
	struct bloom_layer_info layer;
	u64 evil = ~0ULL;
	char *map;

	(void)state;
	assert_ok(get_layers(fd, &layer, 1));
	mem = open("/proc/self/mem", O_RDWR);
	assert_true(mem >= 0);
	for (shared = 0; shared < 4; shared++) {
		/* The layer and the head, shared and private. */
		map = mmap(NULL, PAGE, PROT_READ, shared & 1 ? MAP_SHARED : MAP_PRIVATE, fd,
			   shared & 2 ? layer.map_offset : 0);
		assert_true(map != MAP_FAILED);
		assert_true(*(volatile char *)map == 0 || !(shared & 2));
		assert_int_equal(mprotect(map, PAGE, PROT_READ | PROT_WRITE), -1);
		assert_int_equal(errno, EACCES);
		assert_int_equal(mprotect(map, PAGE, PROT_WRITE), -1);
		assert_int_equal(errno, EACCES);
		assert_int_equal(mprotect(map, PAGE, PROT_READ | PROT_EXEC), -1);
		assert_int_equal(errno, EACCES);
		assert_true(pwrite(mem, &evil, sizeof(evil), (uintptr_t)map) < 0);
		assert_true(pwrite(mem, &evil, sizeof(evil), (uintptr_t)map + 512) < 0);
		assert_int_equal(((u64 *)map)[64], 0);
		/* Taken away and given back as far as it was. */
		assert_int_equal(mprotect(map, PAGE, PROT_NONE), 0);
		assert_int_equal(mprotect(map, PAGE, PROT_READ), 0);
		/* The kernel writes there for nobody either. */
		assert_true(read(open("/dev/zero", O_RDONLY | O_CLOEXEC), map, 8) < 0);
		munmap(map, PAGE);
	}
	close(mem);
	close(fd);
}

static void resizing(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	struct bloom_layer_info layer;
	char *map, *moved;

	(void)state;
	assert_ok(add_one(fd, 1));
	assert_ok(get_layers(fd, &layer, 1));
	assert_true(layer.bytes >= 2 * PAGE);
	map = map_read(fd, layer.map_offset, PAGE);
	assert_non_null(map);
	assert_true(mremap(map, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	assert_true(mremap(map, PAGE, 1000 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	munmap(map, PAGE);

	/* Moved, made smaller, with a hole: what is left shows what it did. */
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	moved = mremap(map, layer.bytes, layer.bytes - PAGE, 0);
	assert_true(moved == map);
	moved = mmap(NULL, layer.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(map, layer.bytes - PAGE, layer.bytes - PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, moved);
	assert_true(moved != MAP_FAILED);
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_memory_equal(map, moved, layer.bytes - PAGE);
	munmap(map, PAGE);
	close(fd);
	assert_memory_equal(map + PAGE, moved + PAGE, layer.bytes - 2 * PAGE);
	munmap(map + PAGE, layer.bytes - PAGE);
	munmap(moved, layer.bytes - PAGE);
}

/* A part of a layer: the offset is within it, and so is the end. */
static void part_of_a_layer(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	u64 keys[5000];
	struct bloom_layer_info layer;
	char *whole, *part;

	(void)state;
	fill_keys(keys, 5000, 0);
	assert_ok(add_keys(fd, keys, 5000));
	assert_ok(get_layers(fd, &layer, 1));
	whole = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(whole);
	part = map_read(fd, layer.map_offset + PAGE, layer.bytes - PAGE);
	assert_non_null(part);
	assert_memory_equal(whole + PAGE, part, layer.bytes - PAGE);
	assert_null(map_read(fd, layer.map_offset + PAGE, layer.bytes));
	munmap(part, layer.bytes - PAGE);
	munmap(whole, layer.bytes);
	close(fd);
}

/* What CLEAR threw away can be read as it was, as long as it is mapped. */
static void outlives_clear(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED), round;
	struct bloom_layer_info layer, next;
	u64 keys[5000];
	char *map, *copy;

	(void)state;
	fill_keys(keys, 5000, 0);
	assert_ok(add_keys(fd, keys, 5000));
	assert_ok(get_layers(fd, &layer, 1));
	map = map_read(fd, layer.map_offset, layer.bytes);
	assert_non_null(map);
	copy = malloc(layer.bytes);
	memcpy(copy, map, layer.bytes);
	for (round = 0; round < 10; round++) {
		assert_ok(clear(fd));
		assert_ok(add_keys(fd, keys + round, 1000));
	}
	assert_memory_equal(map, copy, layer.bytes);
	/* Its place is never used again. */
	assert_ok(get_layers(fd, &next, 1));
	assert_true(next.map_offset >= layer.map_offset + layer.bytes);
	assert_null(map_read(fd, layer.map_offset, layer.bytes));
	close(fd);
	usleep(100000);
	assert_memory_equal(map, copy, layer.bytes);
	munmap(map, layer.bytes);
	free(copy);
}

/* A child has the mapping too, and keeps it when the parent's is gone. */
static void across_fork(void **state)
{
	int fd = make(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED), status, pipes[2];
	const struct bloom_head *head;
	struct bloom_layer_info layer;
	u64 keys[1000];
	char *map, *copy;
	pid_t pid;

	(void)state;
	assert_ok(get_layers(fd, &layer, 1));
	map = map_read(fd, layer.map_offset, layer.bytes);
	head = map_read(fd, 0, PAGE);
	assert_non_null(map);
	assert_non_null(head);
	copy = malloc(layer.bytes);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		close(pipes[1]);
		close(fd);
		/* Until the parent has closed and unmapped all of it. */
		if (read(pipes[0], copy, 1) != 0)
			_exit(1);
		for (size_t i = 0; i < layer.bytes; i++)
			status += map[i];
		_exit(status && sequence(head) % 2 == 0 ? 0 : 2);
	}
	close(pipes[0]);
	fill_keys(keys, 1000, 0);
	assert_ok(add_keys(fd, keys, 1000));
	assert_ok(clear(fd));
	munmap(map, layer.bytes);
	munmap((void *)head, PAGE);
	close(fd);
	usleep(100000);
	close(pipes[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	free(copy);
}

/* QUERY's answer, found in the mapping. */
static bool probe(const struct bloom_info *info, const struct bloom_layer_info *layer,
		  const void *map, u64 key)
{
	u64 hash = info->hash == BLOOM_HASH_SIPHASH ?
		   bloom_hash_siphash(&key, sizeof(key), (const u64 *)info->seed) :
		   bloom_hash_jhash(&key, sizeof(key), (const u64 *)info->seed);
	u64 block = bloom_range(hash, layer->slots / BLOOM_BLOCK_SLOTS);

	switch (info->kind) {
	case BLOOM_KIND_BLOCKED:
		return bloom_block_test((const __le64 *)map + block * BLOOM_BLOCK_WORDS, hash,
					layer->probes);
	case BLOOM_KIND_COUNTING:
		return bloom_counters_test((const __le64 *)map + block * BLOOM_COUNTER_WORDS, hash,
					   layer->probes);
	default:
		return bloom_classic_test(map, layer->slots, hash, layer->probes);
	}
}

static void probed_as_queried(void **state)
{
	enum { N = 5000 };
	const u32 *choice = *state;
	struct bloom_create arg = create_defaults(choice[0], choice[1]);
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
	void *maps[BLOOM_LAYERS_MAX];
	u64 *keys = malloc(2 * N * sizeof(*keys));
	u8 *verdicts = malloc(2 * N);
	struct bloom_batch batch = batch_of(keys, 2 * N, verdicts);
	struct bloom_info info;
	int fd, i, n;
	size_t k;

	/* Many false positives, which must be the same. */
	arg.hash = choice[2];
	arg.capacity = arg.growth == BLOOM_GROWTH_SCALING ? 500 : N;
	arg.fp_rate = RATE(0.2);
	fd = assert_ok(create(&arg));
	fill_keys(keys, 2 * N, 0);
	for (k = 0; k < 3; k++) {
		assert_ok(add_keys(fd, keys + k * N / 3, N / 3));
		if (arg.growth == BLOOM_GROWTH_WINDOW)
			assert_ok(rotate(fd));
	}
	assert_ok(run_batch(fd, BLOOM_IOC_QUERY, &batch));
	assert_ok(get_info(fd, &info));
	n = assert_ok(get_layers(fd, layers, BLOOM_LAYERS_MAX));
	for (i = 0; i < n; i++) {
		maps[i] = map_read(fd, layers[i].map_offset, layers[i].bytes);
		assert_non_null(maps[i]);
	}
	for (k = 0; k < 2 * N; k++) {
		bool present = false;

		for (i = 0; i < n; i++)
			present |= probe(&info, &layers[i], maps[i], keys[k]);
		assert_int_equal(present, verdicts[k]);
	}
	assert_true(batch.present > N / 2);
	for (i = 0; i < n; i++)
		munmap(maps[i], layers[i].bytes);
	free(keys);
	free(verdicts);
	close(fd);
}

static const u32 choices[][3] = {
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED, BLOOM_HASH_SIPHASH },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_COUNTING, BLOOM_GROWTH_FIXED, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_BLOCKED, BLOOM_GROWTH_SCALING, BLOOM_HASH_JHASH },
	{ BLOOM_KIND_CLASSIC, BLOOM_GROWTH_WINDOW, BLOOM_HASH_SIPHASH },
};

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_page),
		cmocka_unit_test(sequence_changes),
		cmocka_unit_test(read_only),
		cmocka_unit_test(resizing),
		cmocka_unit_test(part_of_a_layer),
		cmocka_unit_test(outlives_clear),
		cmocka_unit_test(across_fork),
		{ "probed: blocked", probed_as_queried, NULL, NULL, (void *)choices[0] },
		{ "probed: blocked siphash", probed_as_queried, NULL, NULL, (void *)choices[1] },
		{ "probed: classic", probed_as_queried, NULL, NULL, (void *)choices[2] },
		{ "probed: counting", probed_as_queried, NULL, NULL, (void *)choices[3] },
		{ "probed: scaling", probed_as_queried, NULL, NULL, (void *)choices[4] },
		{ "probed: window", probed_as_queried, NULL, NULL, (void *)choices[5] },
	};

	return run_table("map", tests, ARRAY_LEN(tests), NULL, NULL);
}
