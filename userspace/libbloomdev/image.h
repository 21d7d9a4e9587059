/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * A saved filter. All numbers are little-endian, whatever machine wrote them.
 *
 *	header
 *	  0	8	magic: 89 'B' 'L' 'O' 'O' 'M' 0d 0a (what cuts the eighth bit
 *			off or rewrites ends of lines is found out at once)
 *	  8	4	version, 1
 *	 12	4	header bytes: 144 + 64 * layers + 8
 *	 16	4	kind, as enum bloomdev_kind
 *	 20	4	growth
 *	 24	4	hash
 *	 28	4	flags: BLOOMDEV_ONCE, _BPF
 *	 32	4	generations (of a window)
 *	 36	4	layers, 1..32
 *	 40	8	bytes of the whole image
 *	 48	8	capacity, 0: not given
 *	 56	8	false-positive rate * 2^64, 0: not given
 *	 64	8	base (of a bitmap)
 *	 72	16	seed
 *	 88	8	period in ns (of a window)
 *	 96	8	time to the next rotation in ns
 *	104	40	zero
 *	144	64	for each layer, in the order of bloomdev_info.layers
 *	  +0	8	slots
 *	  +8	8	bytes of its data
 *	  +16	8	capacity
 *	  +24	8	its share of the rate * 2^64
 *	  +32	8	keys
 *	  +40	8	slots that were set when saving began
 *	  +48	8	age in ns (of a generation)
 *	  +56	4	probes
 *	  +60	4	zero
 *	 end-8	8	CRC-64 of the header up to here
 *	data
 *		the layers' slots, one layer after the other: bit i is bit i % 8 of
 *		byte i / 8 (counter i: bits 4 i to 4 i + 3), to a whole 8 bytes
 *	end
 *		8	CRC-64 of all that comes before
 *
 * The header has its own checksum, so that nothing is believed, or allocated,
 * that might be damaged.
 */
#ifndef BLOOMDEV_IMAGE_H
#define BLOOMDEV_IMAGE_H

#include <sys/types.h>
#include "internal.h"

#define IMAGE_MAGIC		"\211BLOOM\r\n"
#define IMAGE_MAGIC_BYTES	8
#define IMAGE_VERSION		1
/* Magic, version and header length: enough to know how much to read. */
#define IMAGE_PREFIX_BYTES	16
#define IMAGE_FIXED_BYTES	144
#define IMAGE_LAYER_BYTES	64
#define IMAGE_CRC_BYTES		8
#define IMAGE_HEADER_MAX	(IMAGE_FIXED_BYTES + IMAGE_CRC_BYTES + \
				 BLOOM_LAYERS_MAX * IMAGE_LAYER_BYTES)

/* Data goes through a buffer of this size. */
#define IMAGE_CHUNK		(1U << 20)

/* Header of an image that would be saved of @raw; the bytes' number. */
size_t bloomdev_image_encode(const struct bloomdev_raw_info *raw,
			     uint8_t header[IMAGE_HEADER_MAX]);

/* Bytes of an image of @raw. */
uint64_t bloomdev_image_bytes(const struct bloomdev_raw_info *raw);

/*
 * From the first IMAGE_PREFIX_BYTES: the number of the header's bytes, or a
 * negative errno with a message. @name is the file, for messages.
 */
int bloomdev_image_prefix(const char *name, const uint8_t *header);

/* From the whole header. Return: 0 or a negative errno with a message. */
int bloomdev_image_decode(const char *name, const uint8_t *header, size_t bytes,
			  struct bloomdev_raw_info *raw);

/* What is done with an image as it is read; either may be NULL. */
struct bloomdev_image_sink {
	int (*begin)(void *arg, const struct bloomdev_raw_info *raw);
	/* A piece of a layer. */
	int (*data)(void *arg, const struct bloomdev_raw_info *raw,
		    uint32_t layer, uint64_t offset, const void *data,
		    size_t bytes);
	void *arg;
};

/*
 * Read an image from its first byte to the end of the file and check it. @sink:
 * or NULL, to read no further than the header. Return: 0 only if all of it is as
 * it was written.
 */
int bloomdev_image_read(const char *name, int fd, struct bloomdev_raw_info *raw,
			const struct bloomdev_image_sink *sink,
			bloomdev_progress progress, void *arg);

/* Loops over short reads. Return: bytes, fewer at the end; or negative errno. */
ssize_t bloomdev_read_full(int fd, void *data, size_t bytes);
/* Loops over short writes. Return: 0 or a negative errno. */
int bloomdev_write_full(int fd, const void *data, size_t bytes);

#endif /* BLOOMDEV_IMAGE_H */
