/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thin wrappers over the requests of /dev/bloom, for the tests. Nothing is
 * hidden: a wrapper fills in one structure and makes one call (run_batch() as
 * many as it takes). All return a value from 0 upwards, or -errno.
 */
#ifndef BLOOM_TESTS_DEVICE_H
#define BLOOM_TESTS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bloom.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define DEVICE_PATH	"/dev/bloom"
#define ACCESS_BOTH	(BLOOM_ACCESS_READ | BLOOM_ACCESS_WRITE)
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))
/* A rate as the ABI wants it: 0.64 fixed point. */
#define RATE(p)		((u64)((p) * 18446744073709551616.0))

/*
 * How much of a test to do: BLOOM_TEST_SCALE in percent. At least @least, since
 * some tests prove nothing with too few keys.
 */
size_t scaled(size_t n, size_t least);

/* Distinct keys: a bijection of 64 bits, so that key_of(i) != key_of(j). */
u64 key_of(u64 i);
void fill_keys(u64 *keys, size_t n, u64 first);
void shuffle(u64 *keys, size_t n, u64 seed);
/* A small generator of pseudo-random numbers (splitmix64). */
u64 next_random(u64 *state);

int open_device(int flags);
int request(int fd, unsigned long cmd, void *arg);

/* Something valid for the kind and growth: 10,000 keys at 1 %, by hand. */
struct bloom_create create_defaults(u32 kind, u32 growth);
int create(struct bloom_create *arg);
int create_sized(u32 kind, u64 capacity, double rate);

/* A batch of 8-byte keys, not yet sent. */
struct bloom_batch batch_of(const u64 *keys, size_t n, u8 *verdicts);
/* Send it, and send the rest for as long as the call stops early. */
int run_batch(int fd, unsigned long cmd, struct bloom_batch *batch);
/* The same for keys only: how many were PRESENT, or -errno. */
long add_keys(int fd, const u64 *keys, size_t n);
long query_keys(int fd, const u64 *keys, size_t n);
/* One key: its verdict, or -errno. */
int add_one(int fd, u64 key);
int query_one(int fd, u64 key);
int remove_one(int fd, u64 key);
int add_bytes(int fd, const void *key, u32 len);
int query_bytes(int fd, const void *key, u32 len);

int get_info(int fd, struct bloom_info *info);
/* Fill @layers with at most @room: how many there are. */
int get_layers(int fd, struct bloom_layer_info *layers, u32 room);
int clear(int fd);
int rotate(int fd);

int link_name(int fd, const char *name, u32 mode, u32 gid, u32 flags);
int open_name(const char *name, u32 access);
int unlink_name(const char *name);
/* Names after @after: how many were written to @entries. */
int list_names(const char *after, struct bloom_list_entry *entries, u32 room);
/* Remove every name that begins so; a test that failed leaves some behind. */
void unlink_all(const char *prefix);

/* Map @length bytes read-only, or NULL. */
void *map_read(int fd, u64 offset, size_t length);
/* The bits set in a layer, counted through a mapping. */
s64 count_mapped(int fd, const struct bloom_layer_info *layer);

/* A file of one number; -errno where it can't be read or written. */
s64 read_number(const char *path);
int write_number(const char *path, u64 value);
s64 module_parameter(const char *name);
int set_module_parameter(const char *name, u64 value);
/* All three caps on memory, in MiB; 0: as when the module was loaded. */
int set_caps(u64 filter, u64 user, u64 total);
/* MemAvailable, in bytes. */
u64 memory_available(void);
double seconds(void);

#endif /* BLOOM_TESTS_DEVICE_H */
