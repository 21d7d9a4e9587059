/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * What the parts of libbloomdev share, and nobody else sees.
 */
#ifndef BLOOMDEV_INTERNAL_H
#define BLOOMDEV_INTERNAL_H

#include <linux/bloom.h>
#include "bloomdev.h"

#define BLOOMDEV_API	__attribute__((visibility("default")))

#define BLOOMDEV_PATH	"/dev/bloom"

struct bloom_geometry;

struct bloomdev_device {
	int fd;
};

struct bloomdev_filter {
	int fd;
};

/*
 * Set errno and this thread's message. Return: -@err, so that a caller can say
 * "return bloomdev_fail(EINVAL, ...)".
 */
int bloomdev_fail(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, with ": " and the system's word for @err at the end. */
int bloomdev_fail_sys(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A device for one call: @dev's descriptor, or one opened for it, which
 * bloomdev_device_leave() closes. Return: the descriptor or a negative errno.
 */
int bloomdev_device_enter(struct bloomdev_device *dev);
void bloomdev_device_leave(struct bloomdev_device *dev, int fd);

/* Copy a name into an ABI structure. Return: 0 or a negative errno. */
int bloomdev_name_copy(char *to, const char *name);

/* A handle around @fd, which is closed if there is no memory for it. */
struct bloomdev_filter *bloomdev_filter_wrap(int fd);

/* A rate as the ABI has it, and back. The first fails with EINVAL. */
int bloomdev_rate_to_fixed(double rate, uint64_t *fixed);
double bloomdev_rate_from_fixed(uint64_t fixed);

/*
 * Check options and fill in what CREATE takes. @geo: the geometry of the first
 * layer. Return: 0 or a negative errno, with a message.
 */
int bloomdev_options_check(const struct bloomdev_options *opts,
			   struct bloom_create *create,
			   struct bloom_geometry *geo);

/* Why a batch is wrong, when it is known to be: EINVAL with a message. */
int bloomdev_keys_explain(const struct bloomdev_keys *keys);

/* INFO as the kernel gives it, with the layers it tells of. */
struct bloomdev_raw_info {
	struct bloom_info info;
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
};

int bloomdev_raw_info(int fd, struct bloomdev_raw_info *raw);

/* The public form of it. Return: NULL and errno if there is no memory. */
struct bloomdev_info *bloomdev_info_from_raw(const struct bloomdev_raw_info *raw);

/* Bytes of a layer that hold slots, in whole words: what is saved and merged. */
uint64_t bloomdev_layer_data_bytes(uint32_t kind, uint64_t slots);

/* Estimate of distinct keys in one layer; see bloomdev_info_distinct(). */
double bloomdev_estimate_distinct(uint32_t kind, uint64_t slots, uint32_t probes,
				  uint64_t slots_set);

/* LOAD, to the end, with the generation's age (0: as it is). */
int bloomdev_load(int fd, const struct bloom_load *load);

/* A layer mapped for reading. */
struct bloomdev_view {
	const void *data;
	size_t bytes;
	uint64_t map_offset;
};

/*
 * INFO and a view of every layer, all of one moment: no layer was added, rotated
 * or cleared between them. @seq: the head's sequence then, if not NULL.
 * What @views already has is kept where it is still in use.
 */
int bloomdev_views_open(int fd, const struct bloom_head *head,
			struct bloomdev_raw_info *raw,
			struct bloomdev_view views[BLOOM_LAYERS_MAX],
			uint64_t *seq);
void bloomdev_views_close(struct bloomdev_view views[BLOOM_LAYERS_MAX]);

/* The head page. Return: 0 or a negative errno, with a message. */
int bloomdev_head_map(int fd, const struct bloom_head **head);
void bloomdev_head_unmap(const struct bloom_head *head);

#endif /* BLOOMDEV_INTERNAL_H */
