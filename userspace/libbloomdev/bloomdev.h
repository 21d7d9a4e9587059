/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * libbloomdev: Bloom filters in the kernel, through /dev/bloom.
 *
 *	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
 *	struct bloomdev_filter *seen;
 *
 *	opts.capacity = 1000000;
 *	opts.fp_rate = 0.001;
 *	seen = bloomdev_filter_create(NULL, &opts);
 *	if (!seen)
 *		errx(1, "%s", bloomdev_message());
 *	if (bloomdev_filter_add_key(seen, url, strlen(url)) == BLOOMDEV_ABSENT)
 *		fetch(url);
 *
 * Keys are bytes: NUL, newline and the empty key are as good as any; at most
 * BLOOMDEV_KEY_MAX of them.
 *
 * Errors. A function that returns int returns 0, or a count or a verdict where
 * it says so, or a negative errno; errno is set as well. A function that returns
 * a pointer returns NULL and sets errno. bloomdev_message() then names the
 * thing, the value and the limit in a sentence. Error numbers are those of
 * <linux/bloom.h>; what a function adds to them is said there. Whatever the
 * kernel refuses, it refuses whole: nothing is created or changed.
 *
 * Threads. A struct bloomdev_device and a struct bloomdev_filter do not change
 * once made: any number of threads may use one at the same time (all but its
 * close function), and so may a child after fork(). The kernel orders what they
 * do: of any number of concurrent additions of one key, by threads or by
 * processes, exactly one is told BLOOMDEV_ABSENT. A verdict orders no other
 * memory. A struct bloomdev_map, _info or _list belongs to one thread at a time.
 * bloomdev_message() is kept for each thread.
 *
 * Signals. Nothing is lost by a signal: a batch goes on where it was stopped.
 *
 * Stability. SONAME 0: until version 1.0 a new release may change this interface.
 * Structures that the library hands out (through const pointers) grow at their
 * end; structures that it is handed begin with their size.
 */
#ifndef BLOOMDEV_H
#define BLOOMDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This header's version; bloomdev_version() is that of the library in use. */
#define BLOOMDEV_VERSION_MAJOR	0
#define BLOOMDEV_VERSION_MINOR	1
#define BLOOMDEV_VERSION	(BLOOMDEV_VERSION_MAJOR << 16 | BLOOMDEV_VERSION_MINOR)

/* Longest key and longest name in bytes, most layers, most probes. */
#define BLOOMDEV_KEY_MAX	65535
#define BLOOMDEV_NAME_MAX	255
#define BLOOMDEV_LAYERS_MAX	32
#define BLOOMDEV_PROBES_MAX	64

/* The answer for a key. An error is negative, so one int holds either. */
#define BLOOMDEV_ABSENT		0	/* was not in the filter: certainly */
#define BLOOMDEV_PRESENT	1	/* was there (or a false positive) */
#define BLOOMDEV_OUT_OF_RANGE	2	/* bitmap: not one of its integers */

struct bloomdev_device;		/* /dev/bloom, open */
struct bloomdev_filter;		/* one filter, open */
struct bloomdev_map;		/* a filter's memory, mapped for reading */
struct bloomdev_list;		/* the names there are */

/**
 * enum bloomdev_kind - how keys are kept
 * @BLOOMDEV_KIND_BLOCKED: all bits of a key in one 64-byte block: the fastest
 * @BLOOMDEV_KIND_CLASSIC: bits anywhere: the textbook's filter, smaller at
 *	rates below 0.0001
 * @BLOOMDEV_KIND_COUNTING: 4-bit counters, so that keys can be removed. To
 *	remove a key that was never added but is reported present takes others
 *	with it: remove only what you know you have added.
 * @BLOOMDEV_KIND_BITMAP: exact: integers of a range, one bit each. Keys are
 *	uint64_t in the machine's byte order.
 */
enum bloomdev_kind {
	BLOOMDEV_KIND_BLOCKED	= 0,
	BLOOMDEV_KIND_CLASSIC	= 1,
	BLOOMDEV_KIND_COUNTING	= 2,
	BLOOMDEV_KIND_BITMAP	= 3,
};

/**
 * enum bloomdev_growth - what happens over time
 * @BLOOMDEV_GROWTH_FIXED: one size; past capacity the error rises
 * @BLOOMDEV_GROWTH_SCALING: grows, a layer of twice the capacity at a time; the
 *	whole error stays the one asked for (blocked, classic)
 * @BLOOMDEV_GROWTH_WINDOW: forgets keys that were not added again for some
 *	generations (blocked, classic)
 */
enum bloomdev_growth {
	BLOOMDEV_GROWTH_FIXED	= 0,
	BLOOMDEV_GROWTH_SCALING	= 1,
	BLOOMDEV_GROWTH_WINDOW	= 2,
};

/**
 * enum bloomdev_hash - from key to bits
 * @BLOOMDEV_HASH_JHASH: fast; no defence against keys chosen to collide
 * @BLOOMDEV_HASH_SIPHASH: for keys that an adversary picks
 */
enum bloomdev_hash {
	BLOOMDEV_HASH_JHASH	= 0,
	BLOOMDEV_HASH_SIPHASH	= 1,
};

/* ------------------------------------------------------------------ errors */

/**
 * bloomdev_message() - what went wrong, in words
 *
 * Return: a sentence without a full stop about this thread's last call that
 * failed; never NULL. Valid until the thread's next call that fails.
 */
const char *bloomdev_message(void);

/* The library's version, as BLOOMDEV_VERSION. */
unsigned int bloomdev_version(void);

/* "blocked", "fixed", "jhash" and so on; "unknown" for any other value. */
const char *bloomdev_kind_name(unsigned int kind);
const char *bloomdev_growth_name(unsigned int growth);
const char *bloomdev_hash_name(unsigned int hash);

/* ------------------------------------------------------------------ device */

/**
 * bloomdev_device_open() - open the device
 * @path: NULL for /dev/bloom
 *
 * Opened for reading and writing, or for reading only where no more is allowed
 * (then nothing can be created, and filters can only be read).
 * Close-on-exec. Errors: those of open(2).
 */
struct bloomdev_device *bloomdev_device_open(const char *path);

/* Filters opened through the device stay open. NULL is allowed. */
void bloomdev_device_close(struct bloomdev_device *dev);

/* The file descriptor; it stays the library's. */
int bloomdev_device_fd(const struct bloomdev_device *dev);

/**
 * bloomdev_device_unlink() - take a name away
 * @dev: or NULL: /dev/bloom is opened for the call
 * @name: whose
 *
 * The filter lives on for those who have it open. Errors: ENOENT, EPERM, EBADF.
 */
int bloomdev_device_unlink(struct bloomdev_device *dev, const char *name);

/**
 * struct bloomdev_entry - one name
 * @name: the name
 * @id: unique among living filters
 * @uid: owner
 * @gid: group
 * @mode: permission bits
 * @kind: enum bloomdev_kind
 * @growth: enum bloomdev_growth
 * @saturated: holds more keys than its capacity
 * @refused: a scaling filter that was refused memory to grow
 * @capacity: as asked for when it was created
 * @keys: keys held
 * @bytes: memory
 */
struct bloomdev_entry {
	const char *name;
	uint32_t id;
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
	uint32_t kind;
	uint32_t growth;
	bool saturated;
	bool refused;
	uint64_t capacity;
	uint64_t keys;
	uint64_t bytes;
};

/**
 * bloomdev_device_list() - the filters that the caller may read, by name
 * @dev: or NULL
 */
struct bloomdev_list *bloomdev_device_list(struct bloomdev_device *dev);
size_t bloomdev_list_count(const struct bloomdev_list *list);
/* The entry at @i, in order of names; NULL at and past the count. */
const struct bloomdev_entry *bloomdev_list_get(const struct bloomdev_list *list,
					       size_t i);
void bloomdev_list_free(struct bloomdev_list *list);

/* ---------------------------------------------------------- create and open */

/* bloomdev_options.flags */
#define BLOOMDEV_SEED	(1U << 0)	/* .seed holds the seed */
#define BLOOMDEV_ONCE	(1U << 1)	/* window: an addition renews nothing */
#define BLOOMDEV_BPF	(1U << 2)	/* BPF programs may use it */

/**
 * struct bloomdev_options - what filter to make
 * @size: sizeof(struct bloomdev_options); BLOOMDEV_OPTIONS_INIT sets it
 * @flags: BLOOMDEV_SEED, _ONCE, _BPF
 * @kind: enum bloomdev_kind
 * @growth: enum bloomdev_growth
 * @hash: enum bloomdev_hash
 * @probes: with @slots: bits a key sets (k); otherwise 0
 * @capacity: distinct keys to hold while the error is @fp_rate; for a window,
 *	in a generation; for a scaling filter, in the first layer
 * @fp_rate: false-positive rate of the whole filter, between 0 and 1, neither
 *	included
 * @slots: 0, or the number of bits (counters) in place of a size that follows
 *	from @capacity and @fp_rate; a bitmap needs it
 * @base: bitmap: its first integer
 * @seed: with BLOOMDEV_SEED. Filters with one seed can be merged.
 * @period_ns: window: time between rotations; 0: rotated by hand
 * @generations: window: 2 to 16. A key is remembered for at least
 *	@generations - 1 and at most @generations periods after it was last added.
 */
struct bloomdev_options {
	size_t size;
	uint32_t flags;
	uint32_t kind;
	uint32_t growth;
	uint32_t hash;
	uint32_t probes;
	uint32_t generations;
	uint64_t capacity;
	double fp_rate;
	uint64_t slots;
	uint64_t base;
	uint64_t seed[2];
	uint64_t period_ns;
};

#ifdef __cplusplus
#define BLOOMDEV_OPTIONS_INIT	{ sizeof(bloomdev_options) }
#else
#define BLOOMDEV_OPTIONS_INIT	{ .size = sizeof(struct bloomdev_options) }
#endif

/**
 * bloomdev_filter_create() - make a filter without a name
 * @dev: or NULL: /dev/bloom is opened for the call
 * @opts: what to make
 *
 * It is open for reading and writing, and gone with its last descriptor, unless
 * bloomdev_filter_link() gives it a name.
 * Errors: EINVAL, EOPNOTSUPP (kind and growth that do not go together), ENOMEM,
 * ENOSPC (over a cap of this machine's), EOVERFLOW (larger than any can be).
 */
struct bloomdev_filter *bloomdev_filter_create(struct bloomdev_device *dev,
					       const struct bloomdev_options *opts);

#define BLOOMDEV_READ	(1U << 0)	/* query, look into, map */
#define BLOOMDEV_WRITE	(1U << 1)	/* add, remove, clear, rotate, load */

/**
 * bloomdev_filter_open() - open a filter by its name
 * @dev: or NULL
 * @name: the name
 * @access: BLOOMDEV_READ, BLOOMDEV_WRITE or both
 *
 * Errors: ENOENT, EACCES, EBADF (@dev is not open for writing), EINVAL.
 */
struct bloomdev_filter *bloomdev_filter_open(struct bloomdev_device *dev,
					     const char *name,
					     unsigned int access);

/**
 * bloomdev_filter_from_fd() - a filter whose descriptor another process sent
 * @fd: becomes the filter's own; on failure it stays the caller's
 *
 * Errors: EINVAL (not a filter).
 */
struct bloomdev_filter *bloomdev_filter_from_fd(int fd);

/* NULL is allowed. */
void bloomdev_filter_close(struct bloomdev_filter *filter);

/* The descriptor, to poll() or to send; it stays the library's. */
int bloomdev_filter_fd(const struct bloomdev_filter *filter);

/* bloomdev_filter_link() flags */
#define BLOOMDEV_REPLACE	(1U << 0)	/* take the name from who has it */
#define BLOOMDEV_EXCHANGE	(1U << 1)	/* two named filters swap names */
#define BLOOMDEV_GROUP_OWN	((uint32_t)-1)	/* the caller's group */

/**
 * bloomdev_filter_link() - give a filter a name, at once and for all to see
 * @filter: open for writing
 * @name: 1..255 bytes, no '/', no control character, not "." or ".."
 * @flags: 0, BLOOMDEV_REPLACE or BLOOMDEV_EXCHANGE
 * @mode: permission bits, at most 0666, as given; 0 with BLOOMDEV_EXCHANGE
 * @gid: group, or BLOOMDEV_GROUP_OWN
 *
 * Who has the filter open that loses its name keeps it.
 * Errors: EEXIST, ENOENT (exchange), EPERM, EINVAL, ENAMETOOLONG, EBADF.
 */
int bloomdev_filter_link(struct bloomdev_filter *filter, const char *name,
			 unsigned int flags, unsigned int mode, uint32_t gid);

/* -------------------------------------------------------------------- size */

/**
 * struct bloomdev_size - what a filter costs
 * @layers: layers from the start (window: generations and the spare)
 * @probes: bits a key, in the first layer
 * @slots: bits or counters of the first layer
 * @bytes: memory of all layers
 * @bits_per_key: of memory, for a filter that is as full as it is made for
 */
struct bloomdev_size {
	uint32_t layers;
	uint32_t probes;
	uint64_t slots;
	uint64_t bytes;
	double bits_per_key;
};

/**
 * bloomdev_size_compute() - the size of a filter, without making it
 * @opts: as for bloomdev_filter_create(); needs no device
 * @size: the answer, the same that the kernel will come to
 *
 * Errors: EINVAL, EOPNOTSUPP, EOVERFLOW.
 */
int bloomdev_size_compute(const struct bloomdev_options *opts,
			  struct bloomdev_size *size);

/**
 * bloomdev_size_grown() - the size that a scaling filter grows to
 * @opts: a scaling filter
 * @keys: how many keys it will hold
 * @size: the answer; @slots and @probes are those of the last layer
 */
int bloomdev_size_grown(const struct bloomdev_options *opts, uint64_t keys,
			struct bloomdev_size *size);

/* -------------------------------------------------------------------- keys */

/**
 * struct bloomdev_keys - a batch of keys, of any size
 * @data: the keys' bytes, one key after the other
 * @bytes: how many bytes that is in all
 * @lens: the length of each key, or NULL if all are @key_len long
 * @key_len: with @lens NULL
 * @count: how many keys
 */
struct bloomdev_keys {
	const void *data;
	size_t bytes;
	const uint32_t *lens;
	uint32_t key_len;
	size_t count;
};

/**
 * struct bloomdev_result - what became of a batch
 * @done: keys dealt with, from the first; all of them unless the call failed
 * @present: how many were present before
 * @out_of_range: how many are not integers of the bitmap
 *
 * @done - @present - @out_of_range were absent: for an addition, new.
 */
struct bloomdev_result {
	size_t done;
	size_t present;
	size_t out_of_range;
};

/**
 * bloomdev_filter_add() - add keys
 * bloomdev_filter_query() - ask for keys
 * bloomdev_filter_remove() - remove keys (counting and bitmap filters)
 * @filter: open for writing; to query, for reading
 * @keys: the batch
 * @verdicts: an array of @keys->count bytes, BLOOMDEV_ABSENT, _PRESENT or
 *	_OUT_OF_RANGE for each key before the call; or NULL
 * @result: or NULL
 *
 * If it fails midway, @result->done says how far it came.
 * Errors: EINVAL (a key over BLOOMDEV_KEY_MAX; lengths that do not sum up to
 * @bytes; a bitmap's key that is not 8 bytes), EBADF, EFAULT, ENOMEM,
 * EOPNOTSUPP.
 */
int bloomdev_filter_add(struct bloomdev_filter *filter,
			const struct bloomdev_keys *keys, uint8_t *verdicts,
			struct bloomdev_result *result);
int bloomdev_filter_query(struct bloomdev_filter *filter,
			  const struct bloomdev_keys *keys, uint8_t *verdicts,
			  struct bloomdev_result *result);
int bloomdev_filter_remove(struct bloomdev_filter *filter,
			   const struct bloomdev_keys *keys, uint8_t *verdicts,
			   struct bloomdev_result *result);

/* A single key. Return: its verdict, or a negative errno. */
int bloomdev_filter_add_key(struct bloomdev_filter *filter, const void *key,
			    size_t len);
int bloomdev_filter_query_key(struct bloomdev_filter *filter, const void *key,
			      size_t len);
int bloomdev_filter_remove_key(struct bloomdev_filter *filter, const void *key,
			       size_t len);

/* A single integer: the key of a bitmap, or 8 bytes of any other filter. */
int bloomdev_filter_add_int(struct bloomdev_filter *filter, uint64_t key);
int bloomdev_filter_query_int(struct bloomdev_filter *filter, uint64_t key);
int bloomdev_filter_remove_int(struct bloomdev_filter *filter, uint64_t key);

/* Are all the keys present? Return: 1, 0, or a negative errno. */
int bloomdev_filter_contains_all(struct bloomdev_filter *filter,
				 const struct bloomdev_keys *keys);

/**
 * bloomdev_filter_clear() - forget every key
 *
 * Where it fails (ENOMEM, ENOSPC) nothing has changed.
 */
int bloomdev_filter_clear(struct bloomdev_filter *filter);

/* ------------------------------------------------------------------ window */

/**
 * bloomdev_filter_rotate() - begin a new generation, forget the oldest
 *
 * Errors: EOPNOTSUPP (not a window), EBADF.
 */
int bloomdev_filter_rotate(struct bloomdev_filter *filter);

/**
 * bloomdev_filter_set_period() - change a window's clock
 * @filter: a window
 * @period_ns: the new period, 0: by hand from now on
 * @next_ns: time to the next rotation, 1..@period_ns; 0: a whole period
 */
int bloomdev_filter_set_period(struct bloomdev_filter *filter,
			       uint64_t period_ns, uint64_t next_ns);

/* -------------------------------------------------------------------- info */

/**
 * struct bloomdev_layer - a layer of a filter
 * @slots: bits or counters
 * @slots_set: how many are set (not zero)
 * @bytes: memory
 * @map_offset: where bloomdev_filter_fd() maps it
 * @capacity: keys it is made for; 0: not known
 * @fp_rate: its share of the error; 0: not known
 * @keys: keys added that were not present
 * @age_ns: window: time since its generation began
 * @probes: bits a key
 */
struct bloomdev_layer {
	uint64_t slots;
	uint64_t slots_set;
	uint64_t bytes;
	uint64_t map_offset;
	uint64_t capacity;
	double fp_rate;
	uint64_t keys;
	uint64_t age_ns;
	uint32_t probes;
};

/**
 * struct bloomdev_info - a filter at one moment
 * @name: empty if it has none
 * @id: unique among living filters; 0 for a saved one
 * @flags: BLOOMDEV_ONCE, BLOOMDEV_BPF
 * @kind: enum bloomdev_kind
 * @growth: enum bloomdev_growth
 * @hash: enum bloomdev_hash
 * @uid: owner
 * @gid: group
 * @mode: permission bits
 * @saturated: holds more keys than its capacity
 * @refused: a scaling filter that was refused memory to grow
 * @generations: window: how many
 * @capacity: as asked for; 0: it was not given
 * @fp_rate: likewise
 * @base: bitmap: its first integer
 * @seed: who knows it can choose keys that collide
 * @period_ns: window: time between rotations; 0: by hand
 * @next_ns: window with a period: time to the next rotation
 * @keys: keys held; a window counts one once a generation
 * @slots_set: bits set in all layers
 * @bytes: memory of all layers
 * @adds: keys ever given to add; @adds_present: of which present
 * @queries: keys ever given to query; @queries_present: of which present
 * @removes: keys ever removed
 * @rotations: of a window; @rotations_late: of which had to wait
 * @age_ns: time since it was created
 * @layer_count: how many @layers there are
 * @layers: scaling: the oldest first; window: the current generation first
 */
struct bloomdev_info {
	const char *name;
	uint32_t id;
	uint32_t flags;
	uint32_t kind;
	uint32_t growth;
	uint32_t hash;
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
	bool saturated;
	bool refused;
	uint32_t generations;
	uint64_t capacity;
	double fp_rate;
	uint64_t base;
	uint64_t seed[2];
	uint64_t period_ns;
	uint64_t next_ns;
	uint64_t keys;
	uint64_t slots_set;
	uint64_t bytes;
	uint64_t adds;
	uint64_t adds_present;
	uint64_t queries;
	uint64_t queries_present;
	uint64_t removes;
	uint64_t rotations;
	uint64_t rotations_late;
	uint64_t age_ns;
	uint32_t layer_count;
	const struct bloomdev_layer *layers;
};

/* The filter must be open for reading. Free with bloomdev_info_free(). */
struct bloomdev_info *bloomdev_filter_info(struct bloomdev_filter *filter);
void bloomdev_info_free(struct bloomdev_info *info);

/**
 * bloomdev_info_distinct() - how many distinct keys, from the bits that are set
 * @info: of a filter
 * @layer: which of its layers, or -1 for the sum of all
 *
 * Right within 2 % from 10 % to 100 % of the capacity. Unlike @keys it
 * needs no counting, so it holds for a merged or restored filter as well.
 * The sum over a window counts a key once a generation.
 *
 * Return: the estimate, INFINITY if every bit is set, NAN for no such layer.
 */
double bloomdev_info_distinct(const struct bloomdev_info *info, int layer);

/**
 * bloomdev_info_error() - the false-positive rate that a query meets now
 * @info: of a filter
 * @layer: which of its layers, or -1 for the whole
 *
 * The exact expectation for so many keys: over the loads of the blocks and over
 * the number of bits set in them.
 */
double bloomdev_info_error(const struct bloomdev_info *info, int layer);

/* The part of the bits that is set, 0 to 1; @layer as above. */
double bloomdev_info_fill(const struct bloomdev_info *info, int layer);

/**
 * bloomdev_info_lost() - expected number of keys wrongly called present so far
 * @info: of a filter
 *
 * Sums the error that each addition met while the filter filled up: what a
 * stream without its duplicates has probably lost.
 */
double bloomdev_info_lost(const struct bloomdev_info *info);

/**
 * bloomdev_info_seconds_left() - when it will have reached its capacity
 * @before: an info of the same filter, taken earlier; or NULL: since it was made
 * @now: the newer info
 *
 * At the rate of new keys between the two.
 * Return: seconds; 0 if it is full; INFINITY if none come or it has no capacity.
 */
double bloomdev_info_seconds_left(const struct bloomdev_info *before,
				  const struct bloomdev_info *now);

/* Keys held, as INFO counts them. Return: 0 or a negative errno. */
int bloomdev_filter_count(struct bloomdev_filter *filter, uint64_t *keys);

/* Return: 1 if no bit is set, 0, or a negative errno. */
int bloomdev_filter_is_empty(struct bloomdev_filter *filter);

/* --------------------------------------------------------------------- map */

/**
 * bloomdev_map_open() - map a filter, to query it without system calls
 * @filter: open for reading; may be closed before the map
 *
 * One thread at a time uses a map; threads each take their own. It follows the
 * filter as that grows, rotates and is cleared.
 * Errors: EBADF, ENOMEM, ENODEV (the kernel can't map this filter).
 */
struct bloomdev_map *bloomdev_map_open(struct bloomdev_filter *filter);
void bloomdev_map_close(struct bloomdev_map *map);

/* As bloomdev_filter_query(); the kernel's counts of queries know nothing of it. */
int bloomdev_map_query(struct bloomdev_map *map, const struct bloomdev_keys *keys,
		       uint8_t *verdicts, struct bloomdev_result *result);
int bloomdev_map_query_key(struct bloomdev_map *map, const void *key, size_t len);

/**
 * bloomdev_map_values() - the integers of a bitmap, in order
 * @map: of a bitmap
 * @from: the first integer to look at
 * @values: the answer, ascending
 * @room: how many fit in
 * @count: how many there are; fewer than @room: these are the last
 *
 * Go on from the last value plus 1. Integers that others add or remove
 * meanwhile are found or not.
 */
int bloomdev_map_values(struct bloomdev_map *map, uint64_t from,
			uint64_t *values, size_t room, size_t *count);

/**
 * bloomdev_map_range() - the next run of integers of a bitmap
 * @map: of a bitmap
 * @from: the first integer to look at
 * @first: the first integer at or after @from that is present
 * @last: the last of those that follow without a gap
 *
 * Return: 1, 0 if there are no more, or a negative errno.
 */
int bloomdev_map_range(struct bloomdev_map *map, uint64_t from,
		       uint64_t *first, uint64_t *last);

/* --------------------------------------------------- merge, save and restore */

/**
 * typedef bloomdev_progress - called now and then during a long job
 * @arg: the caller's
 * @done: bytes dealt with so far
 * @total: of how many
 *
 * Return: 0 to go on; anything else ends the job with -ECANCELED.
 */
typedef int (*bloomdev_progress)(void *arg, uint64_t done, uint64_t total);

/**
 * bloomdev_filter_load() - OR bytes into a layer
 * @filter: open for writing
 * @layer: which, in the order of bloomdev_info.layers
 * @offset: first byte, a multiple of 8
 * @data: the bytes; bit i of the layer is bit i % 8 of byte i / 8
 * @length: how many, a multiple of 8
 * @keys: how many keys to count for this
 *
 * The seam for stores of one's own (a set of hosts can share a filter through
 * any store that can OR bytes). The caller answers for equal kind, geometry,
 * hash and seed. A counting filter's counters are added, up to 15.
 */
int bloomdev_filter_load(struct bloomdev_filter *filter, uint32_t layer,
			 uint64_t offset, const void *data, size_t length,
			 uint64_t keys);

/**
 * bloomdev_filter_merge() - union: add to one filter all the keys of another
 * @into: open for reading and writing
 * @from: open for reading
 * @progress: or NULL
 * @arg: for @progress
 *
 * They must have the same kind, growth, geometry, hash and seed; otherwise
 * EINVAL, the message says which differs, and nothing is changed. Layers are
 * merged pairwise, a window's by age; a scaling filter gets the layers that it
 * lacks. Keys are counted by estimate (counting, bitmap: exactly).
 * Errors: EINVAL, EBADF, ENOMEM, ENOSPC, EAGAIN (@into was cleared, or rotated
 * time and again, while it merged).
 */
int bloomdev_filter_merge(struct bloomdev_filter *into,
			  struct bloomdev_filter *from,
			  bloomdev_progress progress, void *arg);

/**
 * bloomdev_filter_save() - write a filter to a file
 * @filter: open for reading
 * @path: the file; written beside it and renamed when it is safely on disk, so
 *	that @path is always the old image or the whole new one
 * @progress: or NULL
 * @arg: for @progress
 *
 * Every key whose addition has returned before the call is in the image. The
 * format (image.h) is the same on every machine.
 * Errors: those of open, write, fsync and rename.
 */
int bloomdev_filter_save(struct bloomdev_filter *filter, const char *path,
			 bloomdev_progress progress, void *arg);

/* The same to a descriptor, a pipe for instance; not synced. */
int bloomdev_filter_save_fd(struct bloomdev_filter *filter, int fd,
			    bloomdev_progress progress, void *arg);

/**
 * bloomdev_filter_restore() - make a filter from a file
 * @dev: or NULL
 * @path: the file
 * @progress: or NULL
 * @arg: for @progress
 *
 * The filter has no name yet: it is only returned when the whole image was read
 * and its checksum holds. It gives the same answer to every key; counts, layers,
 * generations and their ages are those of the image. A window's clock goes on
 * where it stood.
 * Errors: EBADMSG (not an image, cut short, altered; the message says what is
 * wrong), EPROTONOSUPPORT (a newer format), those of bloomdev_filter_create()
 * and of read(2).
 */
struct bloomdev_filter *bloomdev_filter_restore(struct bloomdev_device *dev,
						const char *path,
						bloomdev_progress progress,
						void *arg);
struct bloomdev_filter *bloomdev_filter_restore_fd(struct bloomdev_device *dev,
						   int fd,
						   bloomdev_progress progress,
						   void *arg);

/**
 * bloomdev_image_info() - what a saved image holds, without a device
 * @path: the file
 * @verify: read it all and check it, not only its header
 *
 * Errors: as bloomdev_filter_restore(). Free with bloomdev_info_free().
 */
struct bloomdev_info *bloomdev_image_info(const char *path, bool verify);
struct bloomdev_info *bloomdev_image_info_fd(int fd, bool verify);

#ifdef __cplusplus
}
#endif

#endif /* BLOOMDEV_H */
