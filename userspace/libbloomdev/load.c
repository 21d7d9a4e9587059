// SPDX-License-Identifier: LGPL-2.1
/*
 * LOAD: bytes into a layer.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include "internal.h"

int bloomdev_load(int fd, const struct bloom_load *load)
{
	struct bloom_load arg = *load;

	arg.size = sizeof(arg);
	do {
		arg.done = 0;
		if (ioctl(fd, BLOOM_IOC_LOAD, &arg)) {
			if (errno == EINTR)
				continue;
			if (errno == EBADF)
				return bloomdev_fail(EBADF, "the filter is not open for writing");
			return bloomdev_fail_sys(errno, "loading layer %u of the filter",
						 arg.layer);
		}
		arg.offset += arg.done;
		arg.data += arg.done;
		arg.length -= arg.done;
		/* The layer is there now. */
		arg.slots = 0;
		arg.probes = 0;
	} while (arg.length);
	return 0;
}

BLOOMDEV_API int bloomdev_filter_load(struct bloomdev_filter *filter,
				      uint32_t layer, uint64_t offset,
				      const void *data, size_t length,
				      uint64_t keys)
{
	struct bloom_load arg = {
		.layer = layer,
		.offset = offset,
		.length = length,
		.data = (uintptr_t)data,
		.keys = keys,
	};

	return bloomdev_load(filter->fd, &arg);
}
