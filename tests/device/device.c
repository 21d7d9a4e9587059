// SPDX-License-Identifier: GPL-2.0
/*
 * Thin wrappers over the requests of /dev/bloom, for the tests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "device.h"

size_t scaled(size_t n, size_t least)
{
	const char *percent = getenv("BLOOM_TEST_SCALE");
	u64 scale = percent ? strtoul(percent, NULL, 10) : 100;

	n = (u64)n * scale / 100;
	return n > least ? n : least;
}

/* The finaliser of splitmix64: a bijection. */
u64 key_of(u64 i)
{
	i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ULL;
	i = (i ^ (i >> 27)) * 0x94d049bb133111ebULL;
	return i ^ (i >> 31);
}

void fill_keys(u64 *keys, size_t n, u64 first)
{
	size_t i;

	for (i = 0; i < n; i++)
		keys[i] = key_of(first + i);
}

u64 next_random(u64 *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return key_of(*state);
}

void shuffle(u64 *keys, size_t n, u64 seed)
{
	u64 swap;
	size_t i, j;

	for (i = n; i > 1; i--) {
		j = next_random(&seed) % i;
		swap = keys[j];
		keys[j] = keys[i - 1];
		keys[i - 1] = swap;
	}
}

int open_device(int flags)
{
	int fd = open(DEVICE_PATH, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int request(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

/* A request of /dev/bloom itself, on a descriptor of its own. */
static int device_request(int flags, unsigned long cmd, void *arg)
{
	int fd, ret;

	fd = open_device(flags);
	if (fd < 0)
		return fd;
	ret = request(fd, cmd, arg);
	close(fd);
	return ret;
}

struct bloom_create create_defaults(u32 kind, u32 growth)
{
	struct bloom_create arg = {
		.size = sizeof(arg),
		.kind = kind,
		.growth = growth,
	};

	if (kind == BLOOM_KIND_BITMAP) {
		arg.slots = 100000;
	} else {
		arg.capacity = 10000;
		arg.fp_rate = RATE(0.01);
	}
	if (growth == BLOOM_GROWTH_WINDOW)
		arg.generations = 3;
	return arg;
}

int create(struct bloom_create *arg)
{
	return device_request(O_RDWR, BLOOM_IOC_CREATE, arg);
}

int create_sized(u32 kind, u64 capacity, double rate)
{
	struct bloom_create arg = create_defaults(kind, BLOOM_GROWTH_FIXED);

	arg.capacity = capacity;
	arg.fp_rate = RATE(rate);
	return create(&arg);
}

struct bloom_batch batch_of(const u64 *keys, size_t n, u8 *verdicts)
{
	return (struct bloom_batch){
		.size = sizeof(struct bloom_batch),
		.keys = (uintptr_t)keys,
		.keys_bytes = n * sizeof(*keys),
		.key_len = sizeof(*keys),
		.count = n,
		.verdicts = (uintptr_t)verdicts,
	};
}

/* The total is left in @batch, as if one call had done it all. */
int run_batch(int fd, unsigned long cmd, struct bloom_batch *batch)
{
	struct bloom_batch rest = *batch;
	int ret;

	batch->done = 0;
	batch->present = 0;
	batch->out_of_range = 0;
	do {
		rest.done = 0;
		ret = request(fd, cmd, &rest);
		if (ret < 0)
			return ret;
		if (!rest.done && rest.count)
			return -EPROTO;
		batch->done += rest.done;
		batch->present += rest.present;
		batch->out_of_range += rest.out_of_range;
		rest.keys += rest.done * rest.key_len;
		rest.keys_bytes -= rest.done * rest.key_len;
		if (rest.verdicts)
			rest.verdicts += rest.done;
		rest.count -= rest.done;
	} while (rest.count);
	return 0;
}

long add_keys(int fd, const u64 *keys, size_t n)
{
	struct bloom_batch batch = batch_of(keys, n, NULL);
	int ret = run_batch(fd, BLOOM_IOC_ADD, &batch);

	return ret < 0 ? ret : (long)batch.present;
}

long query_keys(int fd, const u64 *keys, size_t n)
{
	struct bloom_batch batch = batch_of(keys, n, NULL);
	int ret = run_batch(fd, BLOOM_IOC_QUERY, &batch);

	return ret < 0 ? ret : (long)batch.present;
}

static int one(int fd, unsigned long cmd, const void *key, u32 len)
{
	u8 verdict = 0xff;
	struct bloom_batch batch = {
		.size = sizeof(batch),
		.keys = (uintptr_t)key,
		.keys_bytes = len,
		.key_len = len,
		.count = 1,
		.verdicts = (uintptr_t)&verdict,
	};
	int ret = request(fd, cmd, &batch);

	if (ret < 0)
		return ret;
	if (batch.done != 1)
		return -EPROTO;
	if (batch.present + batch.out_of_range != !!verdict)
		return -EPROTO;
	return verdict;
}

int add_one(int fd, u64 key)
{
	return one(fd, BLOOM_IOC_ADD, &key, sizeof(key));
}

int query_one(int fd, u64 key)
{
	return one(fd, BLOOM_IOC_QUERY, &key, sizeof(key));
}

int remove_one(int fd, u64 key)
{
	return one(fd, BLOOM_IOC_REMOVE, &key, sizeof(key));
}

int add_bytes(int fd, const void *key, u32 len)
{
	return one(fd, BLOOM_IOC_ADD, key, len);
}

int query_bytes(int fd, const void *key, u32 len)
{
	return one(fd, BLOOM_IOC_QUERY, key, len);
}

int get_info(int fd, struct bloom_info *info)
{
	*info = (struct bloom_info){ .size = sizeof(*info) };
	return request(fd, BLOOM_IOC_INFO, info);
}

int get_layers(int fd, struct bloom_layer_info *layers, u32 room)
{
	struct bloom_info info = {
		.size = sizeof(info),
		.layers = (uintptr_t)layers,
		.layers_room = room,
		.layer_size = sizeof(*layers),
	};
	int ret = request(fd, BLOOM_IOC_INFO, &info);

	return ret < 0 ? ret : (int)info.layer_count;
}

int clear(int fd)
{
	struct bloom_clear arg = { .size = sizeof(arg) };

	return request(fd, BLOOM_IOC_CLEAR, &arg);
}

int rotate(int fd)
{
	struct bloom_rotate arg = { .size = sizeof(arg) };

	return request(fd, BLOOM_IOC_ROTATE, &arg);
}

/* Cut off after BLOOM_NAME_MAX bytes; the rest of @to is zero already. */
static void copy_name(char *to, const char *from)
{
	memcpy(to, from, strnlen(from, BLOOM_NAME_MAX));
}

int link_name(int fd, const char *name, u32 mode, u32 gid, u32 flags)
{
	struct bloom_link arg = {
		.size = sizeof(arg),
		.flags = flags,
		.mode = mode,
		.gid = gid,
	};

	copy_name(arg.name, name);
	return request(fd, BLOOM_IOC_LINK, &arg);
}

int open_name(const char *name, u32 access)
{
	struct bloom_open arg = { .size = sizeof(arg), .access = access };

	copy_name(arg.name, name);
	return device_request(O_RDWR, BLOOM_IOC_OPEN, &arg);
}

int unlink_name(const char *name)
{
	struct bloom_unlink arg = { .size = sizeof(arg) };

	copy_name(arg.name, name);
	return device_request(O_RDWR, BLOOM_IOC_UNLINK, &arg);
}

int list_names(const char *after, struct bloom_list_entry *entries, u32 room)
{
	struct bloom_list arg = {
		.size = sizeof(arg),
		.entries = (uintptr_t)entries,
		.count = room,
		.entry_size = sizeof(*entries),
	};
	int ret;

	copy_name(arg.after, after);
	ret = device_request(O_RDONLY, BLOOM_IOC_LIST, &arg);
	return ret < 0 ? ret : (int)arg.count;
}

void unlink_all(const char *prefix)
{
	struct bloom_list_entry entry;
	char after[BLOOM_NAME_MAX + 1] = "";

	while (list_names(after, &entry, 1) == 1) {
		strcpy(after, entry.name);
		if (!strncmp(entry.name, prefix, strlen(prefix)))
			unlink_name(entry.name);
	}
}

void *map_read(int fd, u64 offset, size_t length)
{
	void *at = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, offset);

	return at == MAP_FAILED ? NULL : at;
}

s64 count_mapped(int fd, const struct bloom_layer_info *layer)
{
	const u64 *words = map_read(fd, layer->map_offset, layer->bytes);
	s64 n = 0;
	size_t i;

	if (!words)
		return -errno;
	for (i = 0; i < layer->bytes / sizeof(*words); i++)
		n += __builtin_popcountll(words[i]);
	munmap((void *)words, layer->bytes);
	return n;
}

s64 read_number(const char *path)
{
	FILE *f = fopen(path, "r");
	long long value;
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, "%lld", &value);
	fclose(f);
	return n == 1 ? value : -EINVAL;
}

int write_number(const char *path, u64 value)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -errno;
	fprintf(f, "%llu\n", value);
	return fclose(f) ? -errno : 0;
}

static void parameter_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/sys/module/bloom/parameters/%s", name);
}

s64 module_parameter(const char *name)
{
	char path[128];

	parameter_path(path, sizeof(path), name);
	return read_number(path);
}

int set_module_parameter(const char *name, u64 value)
{
	char path[128];

	parameter_path(path, sizeof(path), name);
	return write_number(path, value);
}

int set_caps(u64 filter, u64 user, u64 total)
{
	return set_module_parameter("max_filter_bytes", filter << 20) ?:
	       set_module_parameter("max_user_bytes", user << 20) ?:
	       set_module_parameter("max_total_bytes", total << 20);
}

u64 memory_available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	}
	fclose(f);
	return kib << 10;
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
