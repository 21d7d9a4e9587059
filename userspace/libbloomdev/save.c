// SPDX-License-Identifier: LGPL-2.1
/*
 * Saving: the layers of one moment, read from the map while others may write.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "crc64.h"
#include "image.h"

struct save {
	int fd;
	const char *name;
	uint64_t crc;
	uint64_t done;
	uint64_t total;
	bloomdev_progress progress;
	void *arg;
};

int bloomdev_write_full(int fd, const void *data, size_t bytes)
{
	const uint8_t *p = data;
	ssize_t n;

	while (bytes) {
		n = write(fd, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		bytes -= n;
	}
	return 0;
}

static int save_bytes(struct save *s, const void *data, size_t bytes)
{
	int ret;

	s->crc = bloomdev_crc64(s->crc, data, bytes);
	ret = bloomdev_write_full(s->fd, data, bytes);
	if (ret)
		return bloomdev_fail_sys(-ret, "%s: can't write", s->name);
	s->done += bytes;
	if (s->progress && s->progress(s->arg, s->done, s->total))
		return bloomdev_fail(ECANCELED, "saving to %s was called off",
				     s->name);
	return 0;
}

/*
 * By way of a buffer: the checksum has to be of what is written, and the layer
 * changes meanwhile.
 */
static int save_layer(struct save *s, const uint8_t *data, uint64_t bytes,
		      void *buffer)
{
	size_t n;
	int ret;

	for (; bytes; data += n, bytes -= n) {
		n = bytes < IMAGE_CHUNK ? bytes : IMAGE_CHUNK;
		memcpy(buffer, data, n);
		ret = save_bytes(s, buffer, n);
		if (ret)
			return ret;
	}
	return 0;
}

static int save_all(struct save *s, const struct bloomdev_raw_info *raw,
		    const struct bloomdev_view *views)
{
	uint8_t header[IMAGE_HEADER_MAX], end[IMAGE_CRC_BYTES];
	void *buffer = malloc(IMAGE_CHUNK);
	uint32_t i;
	int ret;

	if (!buffer)
		return bloomdev_fail_sys(ENOMEM, "saving a filter");
	s->total = bloomdev_image_bytes(raw);
	ret = save_bytes(s, header, bloomdev_image_encode(raw, header));
	for (i = 0; i < raw->info.layer_count && !ret; i++)
		ret = save_layer(s, views[i].data,
				 bloomdev_layer_data_bytes(raw->info.kind,
							   raw->layers[i].slots),
				 buffer);
	for (i = 0; i < sizeof(end); i++)
		end[i] = s->crc >> (8 * i);
	if (!ret)
		ret = save_bytes(s, end, sizeof(end));
	free(buffer);
	return ret;
}

static int save(struct bloomdev_filter *filter, struct save *s)
{
	struct bloomdev_view views[BLOOM_LAYERS_MAX] = {};
	struct bloomdev_raw_info raw;
	const struct bloom_head *head;
	int ret;

	ret = bloomdev_head_map(filter->fd, &head);
	if (ret)
		return ret;
	ret = bloomdev_views_open(filter->fd, head, &raw, views, NULL);
	if (!ret)
		ret = save_all(s, &raw, views);
	bloomdev_views_close(views);
	bloomdev_head_unmap(head);
	return ret;
}

BLOOMDEV_API int bloomdev_filter_save_fd(struct bloomdev_filter *filter, int fd,
					 bloomdev_progress progress, void *arg)
{
	struct save s = {
		.fd = fd,
		.name = "output",
		.progress = progress,
		.arg = arg,
	};

	return save(filter, &s);
}

/* The directory's entry has to reach the disk too. */
static int sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, slash - path + 1) : strdup(".");
	int fd, ret = 0;

	if (!dir)
		return -ENOMEM;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems have no such thing as syncing a directory. */
	if (fd < 0 || (fsync(fd) && errno != EINVAL && errno != EROFS))
		ret = -errno;
	if (fd >= 0)
		close(fd);
	free(dir);
	return ret;
}

static int finish(struct save *s, const char *temporary, const char *path)
{
	int ret;

	if (fsync(s->fd))
		return bloomdev_fail_sys(errno, "%s: can't write", path);
	if (rename(temporary, path))
		return bloomdev_fail_sys(errno, "%s: can't rename to it", path);
	ret = sync_directory(path);
	if (ret)
		return bloomdev_fail_sys(-ret, "%s: can't sync its directory",
					 path);
	return 0;
}

/* A device or a pipe is written to, not replaced. */
static int save_through(struct bloomdev_filter *filter, struct save *s)
{
	int ret;

	s->fd = open(s->name, O_WRONLY | O_CLOEXEC);
	if (s->fd < 0)
		return bloomdev_fail_sys(errno, "%s", s->name);
	ret = save(filter, s);
	if (close(s->fd) && !ret)
		ret = bloomdev_fail_sys(errno, "%s: can't write", s->name);
	return ret;
}

/* A new file beside @path, with the mode that umask leaves. */
static int temporary_open(const char *path, char **temporary)
{
	unsigned int suffix;
	int fd, saved;

	do {
		if (getrandom(&suffix, sizeof(suffix), 0) < 0)
			return -errno;
		if (asprintf(temporary, "%s.%08x", path, suffix) < 0)
			return -ENOMEM;
		fd = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  0666);
		if (fd >= 0)
			return fd;
		saved = errno;
		free(*temporary);
	} while (saved == EEXIST);
	return -saved;
}

/* @old: the file that is replaced, whose mode stays; or NULL. */
static int save_beside(struct bloomdev_filter *filter, struct save *s,
		       const char *path, const struct stat *old)
{
	char *temporary;
	int ret;

	s->fd = temporary_open(path, &temporary);
	if (s->fd < 0)
		return bloomdev_fail_sys(-s->fd, "%s: can't create a file beside it",
					 path);
	ret = save(filter, s);
	if (!ret && old && fchmod(s->fd, old->st_mode & 0777))
		ret = bloomdev_fail_sys(errno, "%s: can't set its mode", path);
	if (!ret)
		ret = finish(s, temporary, path);
	close(s->fd);
	if (ret)
		unlink(temporary);
	free(temporary);
	return ret;
}

BLOOMDEV_API int bloomdev_filter_save(struct bloomdev_filter *filter,
				      const char *path,
				      bloomdev_progress progress, void *arg)
{
	struct save s = { .name = path, .progress = progress, .arg = arg };
	struct stat st;
	char *real;
	int ret;

	if (stat(path, &st)) {
		ret = save_beside(filter, &s, path, NULL);
	} else if (!S_ISREG(st.st_mode)) {
		ret = save_through(filter, &s);
	} else {
		/* What a link leads to is replaced, not the link. */
		real = realpath(path, NULL);
		ret = save_beside(filter, &s, real ? real : path, &st);
		free(real);
	}
	if (ret)
		errno = -ret;
	return ret;
}
