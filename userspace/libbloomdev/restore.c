// SPDX-License-Identifier: LGPL-2.1
/*
 * Reading a saved image, to check it or to make a filter of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core_geometry.h"
#include "crc64.h"
#include "image.h"

ssize_t bloomdev_read_full(int fd, void *data, size_t bytes)
{
	uint8_t *p = data;
	size_t done = 0;
	ssize_t n;

	while (done < bytes) {
		n = read(fd, p + done, bytes - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	return done;
}

struct reader {
	const char *name;
	int fd;
	uint64_t crc;
	uint64_t done;
	uint64_t total;		/* 0: not known yet */
};

static int read_exactly(struct reader *r, void *data, size_t bytes)
{
	ssize_t n = bloomdev_read_full(r->fd, data, bytes);

	if (n < 0)
		return bloomdev_fail_sys(-n, "%s: can't read", r->name);
	r->done += n;
	if ((size_t)n == bytes)
		return 0;
	if (r->total)
		return bloomdev_fail(EBADMSG, "%s: cut short: %" PRIu64 " of %" PRIu64 " bytes",
				     r->name, r->done, r->total);
	return bloomdev_fail(EBADMSG,
			     "%s: not a saved filter, or cut short: only %"
		PRIu64 " bytes",
			     r->name, r->done);
}

/* A regular file tells its length: no need to read it all to miss the end. */
static int check_length(struct reader *r)
{
	uint64_t length;
	struct stat st;
	off_t at;

	if (fstat(r->fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	at = lseek(r->fd, 0, SEEK_CUR);
	if (at < 0)
		return 0;
	length = st.st_size - at + r->done;
	if (length < r->total)
		return bloomdev_fail(EBADMSG, "%s: cut short: %" PRIu64 " of %" PRIu64 " bytes",
				     r->name, length, r->total);
	if (length > r->total)
		return bloomdev_fail(EBADMSG, "%s: altered: %" PRIu64 " bytes follow its end",
				     r->name, length - r->total);
	return 0;
}

static int read_header(struct reader *r, struct bloomdev_raw_info *raw)
{
	uint8_t header[IMAGE_HEADER_MAX];
	int bytes, ret;

	ret = read_exactly(r, header, IMAGE_PREFIX_BYTES);
	if (ret)
		return ret;
	bytes = bloomdev_image_prefix(r->name, header);
	if (bytes < 0)
		return bytes;
	ret = read_exactly(r, header + IMAGE_PREFIX_BYTES,
			   bytes - IMAGE_PREFIX_BYTES);
	if (!ret)
		ret = bloomdev_image_decode(r->name, header, bytes, raw);
	if (ret)
		return ret;
	r->crc = bloomdev_crc64(0, header, bytes);
	r->total = bloomdev_image_bytes(raw);
	return check_length(r);
}

static int read_layer(struct reader *r, const struct bloomdev_raw_info *raw,
		      uint32_t layer, const struct bloomdev_image_sink *sink,
		      bloomdev_progress progress, void *arg, void *buffer)
{
	uint64_t bytes = raw->layers[layer].bytes, offset = 0;
	size_t n;
	int ret;

	for (; offset < bytes; offset += n) {
		n = bytes - offset < IMAGE_CHUNK ? bytes - offset : IMAGE_CHUNK;
		ret = read_exactly(r, buffer, n);
		if (ret)
			return ret;
		r->crc = bloomdev_crc64(r->crc, buffer, n);
		if (sink->data)
			ret = sink->data(sink->arg, raw, layer, offset, buffer,
					 n);
		if (ret)
			return ret;
		if (progress && progress(arg, r->done, r->total))
			return bloomdev_fail(ECANCELED, "reading %s was called off",
					     r->name);
	}
	return 0;
}

static int read_end(struct reader *r)
{
	uint8_t end[IMAGE_CRC_BYTES], more;
	uint64_t crc = 0;
	ssize_t n;
	int i, ret;

	ret = read_exactly(r, end, sizeof(end));
	if (ret)
		return ret;
	for (i = 0; i < IMAGE_CRC_BYTES; i++)
		crc |= (uint64_t)end[i] << (8 * i);
	if (crc != r->crc)
		return bloomdev_fail(EBADMSG,
				     "%s: altered: checksum %016llx where %016llx belongs",
				     r->name, (unsigned long long)crc,
				     (unsigned long long)r->crc);
	n = bloomdev_read_full(r->fd, &more, 1);
	if (n < 0)
		return bloomdev_fail_sys(-n, "%s: can't read", r->name);
	if (n)
		return bloomdev_fail(EBADMSG, "%s: altered: more bytes follow its end",
				     r->name);
	return 0;
}

int bloomdev_image_read(const char *name, int fd, struct bloomdev_raw_info *raw,
			const struct bloomdev_image_sink *sink,
			bloomdev_progress progress, void *arg)
{
	struct reader r = { .name = name, .fd = fd };
	void *buffer;
	uint32_t i;
	int ret;

	ret = read_header(&r, raw);
	if (ret || !sink)
		return ret;
	if (sink->begin) {
		ret = sink->begin(sink->arg, raw);
		if (ret)
			return ret;
	}
	buffer = malloc(IMAGE_CHUNK);
	if (!buffer)
		return bloomdev_fail_sys(ENOMEM, "reading %s", name);
	for (i = 0; i < raw->info.layer_count && !ret; i++)
		ret = read_layer(&r, raw, i, sink, progress, arg, buffer);
	free(buffer);
	return ret ? ret : read_end(&r);
}

struct restore {
	int device;
	int filter;
};

/* The first layer as it was, the clock stopped until all is in. */
static int restore_begin(void *arg, const struct bloomdev_raw_info *raw)
{
	const struct bloom_info *i = &raw->info;
	struct restore *to = arg;
	struct bloom_create create = {
		.size = sizeof(create),
		.flags = i->flags,
		.kind = i->kind,
		.growth = i->growth,
		.hash = i->hash,
		.probes = raw->layers[0].probes,
		.capacity = i->capacity,
		.fp_rate = i->fp_rate,
		.slots = raw->layers[0].slots,
		.base = i->base,
		.generations = i->generations,
	};

	if (i->kind != BLOOM_KIND_BITMAP) {
		create.flags |= BLOOM_CREATE_SEED;
		create.seed[0] = i->seed[0];
		create.seed[1] = i->seed[1];
	}
	to->filter = ioctl(to->device, BLOOM_IOC_CREATE, &create);
	if (to->filter < 0)
		return bloomdev_fail_sys(errno,
					 "creating a filter of %llu bytes from an image",
					 (unsigned long long)i->bytes);
	return 0;
}

static int restore_data(void *arg, const struct bloomdev_raw_info *raw,
			uint32_t layer, uint64_t offset, const void *data,
			size_t bytes)
{
	struct restore *to = arg;
	struct bloom_load load = {
		.layer = layer,
		.offset = offset,
		.length = bytes,
		.data = (uintptr_t)data,
	};

	/* A scaling filter gets its further layers as they come. */
	if (raw->info.growth == BLOOM_GROWTH_SCALING && layer && !offset) {
		load.slots = raw->layers[layer].slots;
		load.probes = raw->layers[layer].probes;
	}
	return bloomdev_load(to->filter, &load);
}

/*
 * Only when all layers are there: one that is told how full it is may be followed
 * by another at once.
 */
static int restore_counts(int filter, const struct bloomdev_raw_info *raw)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < raw->info.layer_count && !ret; i++) {
		struct bloom_load load = {
			.layer = i,
			.keys = raw->layers[i].keys,
		};

		if (raw->info.growth == BLOOM_GROWTH_WINDOW)
			load.age_ns = raw->layers[i].age_ns;
		ret = bloomdev_load(filter, &load);
	}
	return ret;
}

static int restore(struct restore *to, const char *name, int fd,
		   bloomdev_progress progress, void *arg)
{
	const struct bloomdev_image_sink sink = {
		.begin = restore_begin,
		.data = restore_data,
		.arg = to,
	};
	struct bloomdev_raw_info raw;
	struct bloom_rotate clock = {
		.size = sizeof(clock),
		.flags = BLOOM_ROTATE_SET,
	};
	int ret;

	ret = bloomdev_image_read(name, fd, &raw, &sink, progress, arg);
	if (!ret)
		ret = restore_counts(to->filter, &raw);
	if (ret || !raw.info.period_ns)
		return ret;
	clock.period_ns = raw.info.period_ns;
	clock.next_ns = raw.info.next_ns ? raw.info.next_ns : 1;
	if (ioctl(to->filter, BLOOM_IOC_ROTATE, &clock))
		return bloomdev_fail_sys(errno, "starting the clock of a window");
	return 0;
}

static struct bloomdev_filter *restore_fd(struct bloomdev_device *dev,
					  const char *name, int fd,
					  bloomdev_progress progress, void *arg)
{
	struct restore to = { .filter = -1 };
	int ret;

	to.device = bloomdev_device_enter(dev);
	if (to.device < 0)
		return NULL;
	ret = restore(&to, name, fd, progress, arg);
	bloomdev_device_leave(dev, to.device);
	if (!ret)
		return bloomdev_filter_wrap(to.filter);
	if (to.filter >= 0)
		close(to.filter);
	errno = -ret;
	return NULL;
}

static int open_image(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? bloomdev_fail_sys(errno, "%s", path) : fd;
}

static void close_image(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
}

BLOOMDEV_API struct bloomdev_filter *
bloomdev_filter_restore_fd(struct bloomdev_device *dev, int fd,
			   bloomdev_progress progress, void *arg)
{
	return restore_fd(dev, "input", fd, progress, arg);
}

BLOOMDEV_API struct bloomdev_filter *
bloomdev_filter_restore(struct bloomdev_device *dev, const char *path,
			bloomdev_progress progress, void *arg)
{
	struct bloomdev_filter *filter;
	int fd;

	fd = open_image(path);
	if (fd < 0)
		return NULL;
	filter = restore_fd(dev, path, fd, progress, arg);
	close_image(fd);
	return filter;
}

static struct bloomdev_info *image_info(const char *name, int fd, bool verify)
{
	const struct bloomdev_image_sink nothing = {};
	struct bloomdev_raw_info raw;

	if (bloomdev_image_read(name, fd, &raw, verify ? &nothing : NULL, NULL,
				NULL))
		return NULL;
	return bloomdev_info_from_raw(&raw);
}

BLOOMDEV_API struct bloomdev_info *bloomdev_image_info_fd(int fd, bool verify)
{
	return image_info("input", fd, verify);
}

BLOOMDEV_API struct bloomdev_info *bloomdev_image_info(const char *path,
						       bool verify)
{
	struct bloomdev_info *info;
	int fd;

	fd = open_image(path);
	if (fd < 0)
		return NULL;
	info = image_info(path, fd, verify);
	close_image(fd);
	return info;
}
