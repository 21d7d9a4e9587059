// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of saved images: what was written is read, and every truncation
 * and every altered byte is refused in words. Needs no device.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include "lib.h"
#include "crc64.h"
#include "image.h"

#define BITS	32768
#define SMALL	(144 + 64 + 8 + BITS / 8 + 8)

static int file_of(const void *data, size_t bytes)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* The same bytes through a pipe, which does not tell its length. */
static int pipe_of(const void *data, size_t bytes)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], data, bytes), bytes);
	close(ends[1]);
	return ends[0];
}

/* An image of a small filter as the library would write it. */
static size_t small_image(uint8_t image[SMALL + 8])
{
	struct bloomdev_raw_info raw = {};
	size_t bytes, i;
	uint64_t crc;

	raw.info.growth = BLOOM_GROWTH_FIXED;
	raw.info.capacity = 1234;
	raw.info.fp_rate = 1ULL << 60;
	raw.info.seed[1] = 0x1122334455667788;
	raw.info.layer_count = 1;
	raw.layers[0].slots = BITS;
	raw.layers[0].probes = 5;
	raw.layers[0].capacity = 1234;
	raw.layers[0].keys = 77;
	raw.layers[0].slots_set = BITS / 8 * 4;
	bytes = bloomdev_image_encode(&raw, image);
	for (i = 0; i < BITS / 8; i++)
		image[bytes++] = 0x5a;
	crc = bloomdev_crc64(0, image, bytes);
	for (i = 0; i < 8; i++)
		image[bytes++] = crc >> (8 * i);
	assert_int_equal(bytes, SMALL);
	return bytes;
}

static int verdict(int fd)
{
	struct bloomdev_info *info = bloomdev_image_info_fd(fd, true);
	int err = info ? 0 : errno;

	bloomdev_info_free(info);
	close(fd);
	return err;
}

static void checksum(void **state)
{
	uint8_t data[100];
	uint64_t parts;
	size_t i;

	(void)state;
	/* The check value that catalogues of CRCs give for CRC-64/XZ. */
	assert_true(bloomdev_crc64(0, "123456789", 9) == 0x995dc9bbdf1939faULL);
	assert_true(bloomdev_crc64(0, "", 0) == 0);
	for (i = 0; i < sizeof(data); i++)
		data[i] = 7 * i;
	for (i = 0; i <= sizeof(data); i++) {
		parts = bloomdev_crc64(0, data, i);
		parts = bloomdev_crc64(parts, data + i, sizeof(data) - i);
		assert_true(parts == bloomdev_crc64(0, data, sizeof(data)));
	}
}

static void whole(void **state)
{
	uint8_t image[SMALL + 8];
	size_t bytes = small_image(image);
	struct bloomdev_info *info;
	int fd;

	(void)state;
	assert_int_equal(verdict(file_of(image, bytes)), 0);
	assert_int_equal(verdict(pipe_of(image, bytes)), 0);
	fd = file_of(image, bytes);
	info = bloomdev_image_info_fd(fd, false);
	assert_non_null(info);
	assert_int_equal(info->capacity, 1234);
	assert_int_equal(info->keys, 77);
	assert_int_equal(info->layer_count, 1);
	assert_int_equal(info->layers[0].slots, BITS);
	assert_int_equal(info->seed[1], 0x1122334455667788);
	assert_true(info->fp_rate == 0.0625);
	bloomdev_info_free(info);
	close(fd);
}

/* The format must not drift: the first bytes, written out. */
static void golden(void **state)
{
	static const uint8_t start[] = {
		0x89, 'B', 'L', 'O', 'O', 'M', '\r', '\n', 1, 0, 0, 0, 216, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 1, 0, 0, 0, 0xe0, 0x10, 0, 0, 0, 0, 0, 0,
		0xd2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
	};
	uint8_t image[SMALL + 8];

	(void)state;
	small_image(image);
	assert_memory_equal(image, start, sizeof(start));
	assert_true(bloomdev_crc64(0, image, SMALL - 8) == 0xfcc35fdefd27c331ULL);
}

static void truncations(void **state)
{
	uint8_t image[SMALL + 8];
	size_t i, bytes = small_image(image);

	(void)state;
	for (i = 0; i < bytes; i++) {
		assert_int_equal(verdict(file_of(image, i)), EBADMSG);
		assert_message("cut short");
		assert_int_equal(verdict(pipe_of(image, i)), EBADMSG);
		assert_message("cut short");
	}
	image[bytes] = 0;
	assert_int_equal(verdict(file_of(image, bytes + 1)), EBADMSG);
	assert_message("follow its end");
	assert_int_equal(verdict(pipe_of(image, bytes + 1)), EBADMSG);
	assert_message("follow its end");
}

static void flips(void **state)
{
	static const uint8_t masks[] = { 0x01, 0x10, 0x80, 0xff };
	uint8_t image[SMALL + 8];
	size_t i, m, bytes = small_image(image);
	int err;

	(void)state;
	for (i = 0; i < bytes; i++) {
		for (m = 0; m < sizeof(masks); m++) {
			image[i] ^= masks[m];
			err = verdict(file_of(image, bytes));
			if (i >= 8 && i < 12)
				assert_int_equal(err, EPROTONOSUPPORT);
			else
				assert_int_equal(err, EBADMSG);
			image[i] ^= masks[m];
		}
	}
	assert_int_equal(verdict(file_of(image, bytes)), 0);
}

/* Headers whose checksum holds and that lie all the same. */
static void lie(size_t at, int bytes, uint64_t value)
{
	uint8_t image[SMALL + 8];
	size_t size = small_image(image);
	uint64_t crc;
	int i;

	for (i = 0; i < bytes; i++)
		image[at + i] = value >> (8 * i);
	crc = bloomdev_crc64(0, image, 208);
	for (i = 0; i < 8; i++)
		image[208 + i] = crc >> (8 * i);
	assert_int_equal(verdict(file_of(image, size)), EBADMSG);
	assert_int_equal(verdict(pipe_of(image, size)), EBADMSG);
}

static void lies(void **state)
{
	(void)state;
	lie(16, 4, 4);			/* kind */
	lie(16, 4, BLOOM_KIND_COUNTING);	/* then the data is too short */
	lie(20, 4, 3);			/* growth */
	lie(20, 4, BLOOM_GROWTH_WINDOW);	/* without generations */
	lie(24, 4, 2);			/* hash */
	lie(28, 4, 1);			/* flags: the seed is always there */
	lie(28, 4, BLOOM_CREATE_ONCE);	/* without a window */
	lie(32, 4, 2);			/* generations, likewise */
	lie(36, 4, 0);			/* layers */
	lie(36, 4, 33);
	lie(36, 4, 0x80000001);		/* times 64 is 64, in 32 bits */
	assert_message("number of layers 2147483649");
	lie(40, 8, SMALL + 1);		/* length */
	lie(88, 8, 5);			/* period */
	lie(88, 8, 1000000000);		/* without a window */
	lie(96, 8, 1);			/* next rotation */
	lie(144, 8, 0);			/* slots */
	lie(144, 8, BITS + 1);
	lie(144, 8, UINT64_MAX);
	lie(152, 8, UINT64_MAX);	/* bytes */
	lie(152, 8, 0);
	lie(184, 8, BITS + 1);		/* slots set */
	lie(200, 4, 0);			/* probes */
	lie(200, 4, 65);
	lie(104, 1, 1);			/* reserved */
	lie(143, 1, 1);
	lie(192, 8, 1);			/* age, of no generation */
	lie(204, 4, 1);			/* reserved, of a layer */
}

static void not_images(void **state)
{
	(void)state;
	assert_null(bloomdev_image_info("/dev/null", true));
	assert_int_equal(errno, EBADMSG);
	assert_message("/dev/null: not a saved filter");
	assert_null(bloomdev_image_info("/bin/sh", true));
	assert_int_equal(errno, EBADMSG);
	assert_message("/bin/sh: not a saved filter");
	assert_null(bloomdev_image_info("/nonexistent", true));
	assert_int_equal(errno, ENOENT);
	assert_message("/nonexistent");
	assert_null(bloomdev_image_info("/", true));
	assert_int_equal(errno, EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksum),
		cmocka_unit_test(whole),
		cmocka_unit_test(golden),
		cmocka_unit_test(truncations),
		cmocka_unit_test(flips),
		cmocka_unit_test(lies),
		cmocka_unit_test(not_images),
	};

	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
