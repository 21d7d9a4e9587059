// SPDX-License-Identifier: GPL-2.0
/*
 * What the seed guards: who does not know it can't choose keys that harm. So it is
 * shown to readers only; who has it, and plans with it, drives the error far up,
 * and the same keys are as good as any to a filter with another seed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"
#include "core_probe.h"
#include "users.h"

#define NAME	"test.seed"
#define PAGE	4096UL
#define SEED0	0x5eed0123456789abULL
#define SEED1	0x0badcafe1337d00dULL

static const u64 known_seed[2] = { SEED0, SEED1 };

/*
 * The attack. A blocked filter of KEYS keys at RATE_ASKED. The attacker, who
 * knows hash and seed, adds no more keys than it is made for, but only such as
 * fall into an eighth of its blocks.
 */
#define KEYS		20000
#define RATE_ASKED	0.0001
#define CROWDED		8

static int make(u32 hash, bool known)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);

	arg.hash = hash;
	arg.capacity = KEYS;
	arg.fp_rate = RATE(RATE_ASKED);
	if (known) {
		arg.flags = BLOOM_CREATE_SEED;
		arg.seed[0] = SEED0;
		arg.seed[1] = SEED1;
	}
	return assert_ok(create(&arg));
}

/* Look for the seed, its words and their halves, in @size bytes and as text. */
static int holds_seed(const void *bytes, size_t size)
{
	static const u64 words[] = { SEED0, SEED1 };
	static const u32 halves[] = { SEED0 >> 32, (u32)SEED0, SEED1 >> 32, (u32)SEED1 };
	char text[32];
	size_t i;

	for (i = 0; i < ARRAY_LEN(halves); i++) {
		if (memmem(bytes, size, &halves[i], sizeof(halves[i])))
			return 1;
		snprintf(text, sizeof(text), "%x", halves[i]);
		if (memmem(bytes, size, text, strlen(text)))
			return 1;
	}
	for (i = 0; i < ARRAY_LEN(words); i++) {
		snprintf(text, sizeof(text), "%llu", words[i]);
		if (memmem(bytes, size, text, strlen(text)))
			return 1;
	}
	return 0;
}

/* All that one who may write, but not read, can get at. */
static long look_for_seed(void *arg)
{
	int fd = open_name(NAME, BLOOM_ACCESS_WRITE), file, device;
	struct bloom_list_entry entries[4];
	u8 bytes[PAGE], verdict = 0;
	struct bloom_info *info = (void *)bytes;
	struct bloom_batch batch;
	char path[64];
	ssize_t n;
	u64 key = 1;

	(void)arg;
	if (fd < 0)
		return fd;
	memset(bytes, 0, sizeof(bytes));
	info->size = sizeof(*info);
	if (request(fd, BLOOM_IOC_INFO, info) != -EBADF || holds_seed(bytes, sizeof(bytes)))
		return -EPERM;
	if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		return -EPERM;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	n = read(file, bytes, sizeof(bytes));
	if (n <= 0 || holds_seed(bytes, n))
		return -EPROTO;
	batch = batch_of(&key, 1, &verdict);
	if (request(fd, BLOOM_IOC_ADD, &batch) || holds_seed(&batch, sizeof(batch)))
		return -EPROTO;
	/* Nor is it listed. */
	device = open_device(O_RDONLY);
	memset(entries, 0, sizeof(entries));
	struct bloom_list list = {
		.size = sizeof(list), .entries = (uintptr_t)entries, .count = 4,
		.entry_size = sizeof(entries[0]), .after = "test.see",
	};
	if (request(device, BLOOM_IOC_LIST, &list) || list.count ||
	    holds_seed(entries, sizeof(entries)))
		return -EACCES;
	return 0;
}

static void seed_is_for_readers(void **state)
{
	static const struct user other = { USER_OTHER, GROUP_NONE, 0, 0 };
	struct bloom_list_entry entries[4];
	struct bloom_info info;
	char path[64], text[PAGE];
	int fd, file;
	ssize_t n;

	(void)state;
	assert_int_equal(chmod(DEVICE_PATH, 0666), 0);
	fd = make(BLOOM_HASH_JHASH, true);
	assert_ok(link_name(fd, NAME, 0622, -1, 0));
	assert_ok(as_user(&other, look_for_seed, NULL));
	/* Who may read has it from INFO, and from nowhere else. */
	assert_ok(get_info(fd, &info));
	assert_true(holds_seed(&info, sizeof(info)));
	assert_true(info.seed[0] == SEED0 && info.seed[1] == SEED1);
	assert_int_equal(list_names("test.see", entries, 4), 1);
	assert_false(holds_seed(entries, sizeof(entries)));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	n = read(file, text, sizeof(text));
	assert_true(n > 0);
	assert_false(holds_seed(text, n));
	close(file);
	close(fd);
	unlink_all(NAME);
}

static u64 hash_of(u32 hash, u64 key)
{
	return hash == BLOOM_HASH_SIPHASH ?
	       bloom_hash_siphash(&key, sizeof(key), known_seed) :
	       bloom_hash_jhash(&key, sizeof(key), known_seed);
}

/* Keys chosen for a filter with the known seed, in no more than CROWDED tries each. */
static u64 *choose(u32 hash)
{
	u64 *keys = malloc(KEYS * sizeof(*keys)), i, n;

	for (i = 0, n = 0; n < KEYS; i++) {
		keys[n] = key_of(i);
		n += hash_of(hash, keys[n]) < ~0ULL / CROWDED;
	}
	return keys;
}

/* How often is a key that nobody added said to be there, after @keys? */
static double error_after(int fd, const u64 *keys)
{
	enum { ASKED = 100000 };
	u64 *innocent = malloc(ASKED * sizeof(*innocent));
	long wrong;

	assert_ok(add_keys(fd, keys, KEYS));
	fill_keys(innocent, ASKED, 1ULL << 40);
	wrong = assert_ok(query_keys(fd, innocent, ASKED));
	free(innocent);
	close(fd);
	return (double)wrong / ASKED;
}

/* As in test_rate.c: 1.10 p and four deviations of what can be expected. */
static void assert_kept(double error, const char *what)
{
	double allowed = 1.10 * RATE_ASKED;

	print_message("# %s: %.5f\n", what, error);
	assert_true(error <= allowed + 4 * sqrt(allowed / 100000));
}

static void assert_broken(double error, const char *what)
{
	print_message("# %s: %.5f\n", what, error);
	assert_true(error > 100 * RATE_ASKED);
}

static void crowded_blocks(void **state)
{
	u64 *keys = choose(BLOOM_HASH_JHASH);

	(void)state;
	assert_broken(error_after(make(BLOOM_HASH_JHASH, true), keys), "jhash, known seed");
	assert_kept(error_after(make(BLOOM_HASH_JHASH, false), keys), "jhash, random seed");
	assert_kept(error_after(make(BLOOM_HASH_SIPHASH, false), keys), "siphash, random seed");
	free(keys);
	/* A seed that is known makes siphash no better. */
	keys = choose(BLOOM_HASH_SIPHASH);
	assert_broken(error_after(make(BLOOM_HASH_SIPHASH, true), keys), "siphash, known seed");
	assert_kept(error_after(make(BLOOM_HASH_SIPHASH, false), keys), "siphash, another seed");
	free(keys);
}

/* The end of jhash backwards: from what it leaves in a, b, c to what it began with. */
static void unfinish(u32 *a, u32 *b, u32 *c)
{
	*c += bloom_rol32(*b, 24);
	*c ^= *b;
	*b += bloom_rol32(*a, 14);
	*b ^= *a;
	*a += bloom_rol32(*c, 4);
	*a ^= *c;
	*c += bloom_rol32(*b, 16);
	*c ^= *b;
	*b += bloom_rol32(*a, 25);
	*b ^= *a;
	*a += bloom_rol32(*c, 11);
	*a ^= *c;
	*c += bloom_rol32(*b, 14);
	*c ^= *b;
}

/*
 * Any number of 12-byte keys that are one and the same to jhash: of its three
 * words only two are the hash, the third may be anything. The low half of seed[0] is
 * enough to find them: 32 bits, which can be tried one after the other. seed[1]
 * does not matter.
 */
static void look_alike(u32 i, u32 key[3])
{
	u32 start = 0xdeadbeef + 12 + (u32)SEED0;
	u32 a = i, b = 0x12345678, c = 0x9abcdef0;

	unfinish(&a, &b, &c);
	key[0] = a - start;
	key[1] = b - start;
	key[2] = c - start;
}

static long add_look_alikes(int fd, u32 count)
{
	long present = 0;
	u32 i, key[3];

	for (i = 0; i < count; i++) {
		look_alike(i, key);
		present += assert_ok(add_bytes(fd, key, sizeof(key)));
	}
	close(fd);
	return present;
}

static void look_alikes(void **state)
{
	enum { COUNT = 1000 };
	struct bloom_create arg = create_defaults(BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);

	(void)state;
	arg.capacity = KEYS;
	arg.fp_rate = RATE(RATE_ASKED);
	arg.flags = BLOOM_CREATE_SEED;
	arg.seed[0] = (u32)SEED0;
	arg.seed[1] = 42;
	/* Each of them new, and all but one taken for a duplicate. */
	assert_int_equal(add_look_alikes(assert_ok(create(&arg)), COUNT), COUNT - 1);
	assert_true(add_look_alikes(make(BLOOM_HASH_JHASH, false), COUNT) <= 2);
	arg.hash = BLOOM_HASH_SIPHASH;
	assert_true(add_look_alikes(assert_ok(create(&arg)), COUNT) <= 2);
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	return chmod(DEVICE_PATH, 0660);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seed_is_for_readers),
		cmocka_unit_test(crowded_blocks),
		cmocka_unit_test(look_alikes),
	};

	return run_table("seed", tests, ARRAY_LEN(tests), NULL, teardown);
}
