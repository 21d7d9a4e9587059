// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of saved images. What it accepts must be what it was promised to be,
 * encode to the same header, and, restored to a filter and saved once more, hold
 * the same bits. Needs ../mock for a device.
 *
 * The first byte of an input says what is done to the rest, the image: checksums
 * are mended, so that what is behind them is reached.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "crc64.h"
#include "fuzz.h"
#include "image.h"

#define MEND_HEADER	0x01
#define MEND_END	0x02
#define BY_PIPE		0x04
#define RESTORE		0x08

/* A pipe takes no more at once; and a larger filter shows nothing more. */
#define BYTES_MAX	65536

static void put_crc(uint8_t *image, size_t at)
{
	uint64_t crc = bloomdev_crc64(0, image, at);
	int i;

	for (i = 0; i < IMAGE_CRC_BYTES; i++)
		image[at + i] = crc >> (8 * i);
}

static void mend(uint8_t flags, uint8_t *image, size_t bytes)
{
	size_t header = 0;

	if (bytes >= IMAGE_PREFIX_BYTES)
		header = image[12] | image[13] << 8;
	if (flags & MEND_HEADER && header > IMAGE_CRC_BYTES && header <= bytes)
		put_crc(image, header - IMAGE_CRC_BYTES);
	if (flags & MEND_END && bytes > IMAGE_CRC_BYTES)
		put_crc(image, bytes - IMAGE_CRC_BYTES);
}

static int file_of(const uint8_t *image, size_t bytes, bool by_pipe)
{
	int ends[2];

	if (by_pipe) {
		REQUIRE(!pipe(ends));
		REQUIRE(write(ends[1], image, bytes) == (ssize_t)bytes);
		close(ends[1]);
		return ends[0];
	}
	ends[0] = memfd_create("image", MFD_CLOEXEC);
	REQUIRE(ends[0] >= 0);
	REQUIRE(write(ends[0], image, bytes) == (ssize_t)bytes);
	REQUIRE(!lseek(ends[0], 0, SEEK_SET));
	return ends[0];
}

/* The pieces of an image, put side by side. */
struct pieces {
	uint32_t layer;
	uint64_t offset;
	size_t bytes;
	uint8_t data[BYTES_MAX];
};

static int take_piece(void *arg, const struct bloomdev_raw_info *raw,
		      uint32_t layer, uint64_t offset, const void *data, size_t bytes)
{
	struct pieces *to = arg;

	if (layer != to->layer) {
		REQUIRE(layer == to->layer + 1);
		REQUIRE(to->offset == raw->layers[to->layer].bytes);
		to->layer = layer;
		to->offset = 0;
	}
	REQUIRE(offset == to->offset);
	REQUIRE(layer < raw->info.layer_count);
	REQUIRE(offset + bytes <= raw->layers[layer].bytes);
	to->offset += bytes;
	if (bytes > BYTES_MAX - to->bytes)
		return bloomdev_fail(EFBIG, "larger than what is looked at");
	memcpy(to->data + to->bytes, data, bytes);
	to->bytes += bytes;
	return 0;
}

static int read_pieces(int fd, struct bloomdev_raw_info *raw, struct pieces *to)
{
	const struct bloomdev_image_sink sink = { .data = take_piece, .arg = to };

	to->layer = 0;
	to->offset = 0;
	to->bytes = 0;
	return bloomdev_image_read("fuzz", fd, raw, &sink, NULL, NULL);
}

/* Restored and saved again: the same filter. Mock ages and clocks differ. */
static void restore(const uint8_t *image, size_t bytes,
		    const struct bloomdev_raw_info *raw, const struct pieces *pieces)
{
	static struct pieces saved;
	struct bloomdev_filter *filter;
	struct bloomdev_raw_info now;
	int fd = file_of(image, bytes, false);

	filter = bloomdev_filter_restore_fd(NULL, fd, NULL, NULL);
	close(fd);
	if (!filter)
		return;
	fd = memfd_create("saved", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	REQUIRE(!bloomdev_filter_save_fd(filter, fd, NULL, NULL));
	REQUIRE(!lseek(fd, 0, SEEK_SET));
	REQUIRE(!read_pieces(fd, &now, &saved));
	close(fd);
	bloomdev_filter_close(filter);
	REQUIRE(now.info.kind == raw->info.kind);
	REQUIRE(now.info.growth == raw->info.growth);
	REQUIRE(now.info.layer_count == raw->info.layer_count);
	REQUIRE(saved.bytes == pieces->bytes);
	REQUIRE(!memcmp(saved.data, pieces->data, saved.bytes));
}

static void read_image(uint8_t flags, const uint8_t *image, size_t bytes)
{
	static struct pieces pieces;
	int fd = file_of(image, bytes, flags & BY_PIPE), ret;
	uint8_t header[IMAGE_HEADER_MAX];
	struct bloomdev_raw_info raw;
	struct bloomdev_info *info;
	size_t n;

	ret = read_pieces(fd, &raw, &pieces);
	REQUIRE(ret <= 0);
	REQUIRE(!ret || *bloomdev_message());
	close(fd);
	if (ret)
		return;
	REQUIRE(bloomdev_image_bytes(&raw) == bytes);
	n = bloomdev_image_encode(&raw, header);
	REQUIRE(!memcmp(header, image, n));
	info = bloomdev_info_from_raw(&raw);
	REQUIRE(info);
	REQUIRE(!isnan(bloomdev_info_distinct(info, -1)));
	REQUIRE(!isnan(bloomdev_info_error(info, -1)));
	bloomdev_info_free(info);
	if (flags & RESTORE)
		restore(image, bytes, &raw, &pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t image[BYTES_MAX];

	if (!bytes || bytes > BYTES_MAX)
		return -1;
	memcpy(image, data + 1, bytes - 1);
	mend(data[0], image, bytes - 1);
	read_image(data[0], image, bytes - 1);
	return 0;
}
