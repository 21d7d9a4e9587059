// SPDX-License-Identifier: LGPL-2.1
/*
 * /dev/bloom itself: opening it, and taking names away.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "internal.h"

static int device_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EROFS))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return bloomdev_fail(errno,
				     "%s: no such device; is the module loaded (modprobe bloom)?",
				     path);
	return bloomdev_fail_sys(errno, "%s", path);
}

int bloomdev_device_enter(struct bloomdev_device *dev)
{
	return dev ? dev->fd : device_open(BLOOMDEV_PATH);
}

void bloomdev_device_leave(struct bloomdev_device *dev, int fd)
{
	int saved = errno;

	if (!dev)
		close(fd);
	errno = saved;
}

BLOOMDEV_API struct bloomdev_device *bloomdev_device_open(const char *path)
{
	struct bloomdev_device *dev;
	int fd;

	fd = device_open(path ? path : BLOOMDEV_PATH);
	if (fd < 0)
		return NULL;

	dev = malloc(sizeof(*dev));
	if (!dev) {
		close(fd);
		bloomdev_fail_sys(ENOMEM, "a handle for the device");
		return NULL;
	}
	dev->fd = fd;
	return dev;
}

BLOOMDEV_API void bloomdev_device_close(struct bloomdev_device *dev)
{
	if (!dev)
		return;
	close(dev->fd);
	free(dev);
}

BLOOMDEV_API int bloomdev_device_fd(const struct bloomdev_device *dev)
{
	return dev->fd;
}

int bloomdev_name_copy(char *to, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return bloomdev_fail(EINVAL, "a name can't be empty");
	if (len > BLOOM_NAME_MAX)
		return bloomdev_fail(ENAMETOOLONG,
				     "the name '%.32s...' has %zu bytes; the limit is %d",
				     name, len, BLOOM_NAME_MAX);
	memcpy(to, name, len + 1);
	return 0;
}

BLOOMDEV_API int bloomdev_device_unlink(struct bloomdev_device *dev,
					const char *name)
{
	struct bloom_unlink arg = { .size = sizeof(arg) };
	int ret, fd;

	ret = bloomdev_name_copy(arg.name, name);
	if (ret)
		return ret;
	fd = bloomdev_device_enter(dev);
	if (fd < 0)
		return fd;

	if (ioctl(fd, BLOOM_IOC_UNLINK, &arg)) {
		if (errno == ENOENT)
			ret = bloomdev_fail(ENOENT, "there is no filter named '%s'",
					    name);
		else if (errno == EPERM)
			ret = bloomdev_fail(EPERM, "only its owner may remove the filter '%s'",
					    name);
		else if (errno == EBADF)
			ret = bloomdev_fail(EBADF,
					    "%s is not open for writing: no name can be removed",
					    BLOOMDEV_PATH);
		else
			ret = bloomdev_fail_sys(errno, "removing the filter '%s'",
						name);
	}
	bloomdev_device_leave(dev, fd);
	return ret;
}
