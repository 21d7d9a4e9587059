// SPDX-License-Identifier: LGPL-2.1
/*
 * One filter as a whole: made, opened, named, cleared, rotated.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "internal.h"
#include "core_geometry.h"

struct bloomdev_filter *bloomdev_filter_wrap(int fd)
{
	struct bloomdev_filter *filter = malloc(sizeof(*filter));

	if (!filter) {
		close(fd);
		bloomdev_fail_sys(ENOMEM, "a handle for a filter");
		return NULL;
	}
	filter->fd = fd;
	return filter;
}

static int create_failed(int err, const struct bloom_geometry *geo)
{
	switch (err) {
	case ENOSPC:
		return bloomdev_fail(err,
				     "a filter of %llu bytes a layer exceeds what this machine allows (see the module's parameters)",
				     (unsigned long long)geo->bytes);
	case ENOMEM:
		return bloomdev_fail(err, "not enough memory for a filter of %llu bytes a layer",
				     (unsigned long long)geo->bytes);
	case EOPNOTSUPP:
		return bloomdev_fail(err, "the kernel's module does not have such filters");
	case EBADF:
		return bloomdev_fail(err, "%s is not open for writing: no filter can be made",
				     BLOOMDEV_PATH);
	default:
		return bloomdev_fail_sys(err, "creating a filter of %llu bytes a layer",
					 (unsigned long long)geo->bytes);
	}
}

BLOOMDEV_API struct bloomdev_filter *
bloomdev_filter_create(struct bloomdev_device *dev,
		       const struct bloomdev_options *opts)
{
	struct bloom_geometry geo;
	struct bloom_create arg;
	int fd, filter;

	if (bloomdev_options_check(opts, &arg, &geo))
		return NULL;
	fd = bloomdev_device_enter(dev);
	if (fd < 0)
		return NULL;

	filter = ioctl(fd, BLOOM_IOC_CREATE, &arg);
	if (filter < 0)
		create_failed(errno, &geo);
	bloomdev_device_leave(dev, fd);
	return filter < 0 ? NULL : bloomdev_filter_wrap(filter);
}

BLOOMDEV_API struct bloomdev_filter *
bloomdev_filter_open(struct bloomdev_device *dev, const char *name,
		     unsigned int access)
{
	struct bloom_open arg = { .size = sizeof(arg), .access = access };
	int fd, filter;

	if (bloomdev_name_copy(arg.name, name))
		return NULL;
	fd = bloomdev_device_enter(dev);
	if (fd < 0)
		return NULL;

	filter = ioctl(fd, BLOOM_IOC_OPEN, &arg);
	if (filter < 0) {
		if (errno == ENOENT)
			bloomdev_fail(errno, "there is no filter named '%s'",
				      name);
		else if (errno == EBADF)
			bloomdev_fail(errno, "%s is not open for writing: '%s' can only be read",
				      BLOOMDEV_PATH, name);
		else
			bloomdev_fail_sys(errno, "opening the filter '%s'", name);
	}
	bloomdev_device_leave(dev, fd);
	return filter < 0 ? NULL : bloomdev_filter_wrap(filter);
}

BLOOMDEV_API struct bloomdev_filter *bloomdev_filter_from_fd(int fd)
{
	struct bloom_info info = { .size = sizeof(info) };
	struct bloomdev_filter *filter;

	if (fcntl(fd, F_GETFD) < 0) {
		bloomdev_fail_sys(errno, "descriptor %d", fd);
		return NULL;
	}
	/* EBADF now means: a filter, open for writing only. */
	if (ioctl(fd, BLOOM_IOC_INFO, &info) && errno != EBADF) {
		bloomdev_fail(EINVAL, "descriptor %d is not a filter", fd);
		return NULL;
	}
	filter = malloc(sizeof(*filter));
	if (!filter) {
		bloomdev_fail_sys(ENOMEM, "a handle for a filter");
		return NULL;
	}
	filter->fd = fd;
	return filter;
}

BLOOMDEV_API void bloomdev_filter_close(struct bloomdev_filter *filter)
{
	if (!filter)
		return;
	close(filter->fd);
	free(filter);
}

BLOOMDEV_API int bloomdev_filter_fd(const struct bloomdev_filter *filter)
{
	return filter->fd;
}

BLOOMDEV_API int bloomdev_filter_link(struct bloomdev_filter *filter,
				      const char *name, unsigned int flags,
				      unsigned int mode, uint32_t gid)
{
	struct bloom_link arg = {
		.size = sizeof(arg),
		.flags = flags,
		.mode = mode,
		.gid = gid,
	};
	int ret;

	ret = bloomdev_name_copy(arg.name, name);
	if (ret)
		return ret;
	if (mode & ~0666U)
		return bloomdev_fail(EINVAL, "mode %04o has more than the permission bits 0666",
				     mode);
	if (!ioctl(filter->fd, BLOOM_IOC_LINK, &arg))
		return 0;

	switch (errno) {
	case EEXIST:
		return bloomdev_fail(EEXIST, "there is a filter named '%s' already",
				     name);
	case ENOENT:
		return bloomdev_fail(ENOENT, "there is no filter named '%s' to exchange with",
				     name);
	case EPERM:
		return bloomdev_fail(EPERM,
				     "the name '%s' or the group %d is not the caller's to give",
				     name, (int)gid);
	case EINVAL:
		return bloomdev_fail(EINVAL,
				     "'%s' can't be a name (no '/', no control character, not '.' or '..')",
				     name);
	default:
		return bloomdev_fail_sys(errno, "naming a filter '%s'", name);
	}
}

BLOOMDEV_API int bloomdev_filter_clear(struct bloomdev_filter *filter)
{
	struct bloom_clear arg = { .size = sizeof(arg) };

	if (ioctl(filter->fd, BLOOM_IOC_CLEAR, &arg))
		return bloomdev_fail_sys(errno, "clearing the filter");
	return 0;
}

/* Nothing has happened when it was interrupted: ask again. */
static int rotation(struct bloomdev_filter *filter, struct bloom_rotate *arg)
{
	while (ioctl(filter->fd, BLOOM_IOC_ROTATE, arg)) {
		if (errno == EINTR)
			continue;
		if (errno == EOPNOTSUPP)
			return bloomdev_fail(errno, "the filter is not a window: it can't rotate");
		return bloomdev_fail_sys(errno, "rotating the filter");
	}
	return 0;
}

BLOOMDEV_API int bloomdev_filter_rotate(struct bloomdev_filter *filter)
{
	struct bloom_rotate arg = { .size = sizeof(arg) };

	return rotation(filter, &arg);
}

BLOOMDEV_API int bloomdev_filter_set_period(struct bloomdev_filter *filter,
					    uint64_t period_ns, uint64_t next_ns)
{
	struct bloom_rotate arg = {
		.size = sizeof(arg),
		.flags = BLOOM_ROTATE_SET,
		.period_ns = period_ns,
		.next_ns = next_ns ? next_ns : period_ns,
	};

	return rotation(filter, &arg);
}
