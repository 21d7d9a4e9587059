// SPDX-License-Identifier: LGPL-2.1
/*
 * The names there are, read from the kernel a page of them at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "internal.h"

/* Names asked for at once: about 80 KiB. */
#define LIST_ROOM	256

struct bloomdev_list {
	size_t count;
	struct bloom_list_entry *raw;
	struct bloomdev_entry *entries;
};

static int list_read(int fd, struct bloomdev_list *list)
{
	struct bloom_list arg = {
		.size = sizeof(arg),
		.entry_size = sizeof(struct bloom_list_entry),
	};
	struct bloom_list_entry *raw;

	do {
		raw = reallocarray(list->raw, list->count + LIST_ROOM, sizeof(*raw));
		if (!raw)
			return bloomdev_fail_sys(ENOMEM, "listing filters");
		list->raw = raw;
		memset(raw + list->count, 0, LIST_ROOM * sizeof(*raw));

		if (list->count)
			memcpy(arg.after, raw[list->count - 1].name, sizeof(arg.after));
		arg.entries = (uintptr_t)(raw + list->count);
		arg.count = LIST_ROOM;
		if (ioctl(fd, BLOOM_IOC_LIST, &arg))
			return bloomdev_fail_sys(errno, "listing filters");
		list->count += arg.count;
	} while (arg.count == LIST_ROOM);
	return 0;
}

static int list_convert(struct bloomdev_list *list)
{
	const struct bloom_list_entry *raw = list->raw;
	size_t i;

	list->entries = calloc(list->count + 1, sizeof(*list->entries));
	if (!list->entries)
		return bloomdev_fail_sys(ENOMEM, "listing filters");

	for (i = 0; i < list->count; i++) {
		list->entries[i] = (struct bloomdev_entry) {
			.name = raw[i].name,
			.id = raw[i].id,
			.uid = raw[i].uid,
			.gid = raw[i].gid,
			.mode = raw[i].mode,
			.kind = raw[i].kind,
			.growth = raw[i].growth,
			.saturated = raw[i].state & BLOOM_STATE_SATURATED,
			.refused = raw[i].state & BLOOM_STATE_REFUSED,
			.capacity = raw[i].capacity,
			.keys = raw[i].keys,
			.bytes = raw[i].bytes,
		};
	}
	return 0;
}

BLOOMDEV_API struct bloomdev_list *bloomdev_device_list(struct bloomdev_device *dev)
{
	struct bloomdev_list *list;
	int fd, ret;

	fd = bloomdev_device_enter(dev);
	if (fd < 0)
		return NULL;

	list = calloc(1, sizeof(*list));
	if (!list) {
		ret = bloomdev_fail_sys(ENOMEM, "listing filters");
	} else {
		ret = list_read(fd, list);
		if (!ret)
			ret = list_convert(list);
	}
	bloomdev_device_leave(dev, fd);
	if (!ret)
		return list;
	bloomdev_list_free(list);
	errno = -ret;
	return NULL;
}

BLOOMDEV_API size_t bloomdev_list_count(const struct bloomdev_list *list)
{
	return list->count;
}

BLOOMDEV_API const struct bloomdev_entry *
bloomdev_list_get(const struct bloomdev_list *list, size_t i)
{
	return i < list->count ? &list->entries[i] : NULL;
}

BLOOMDEV_API void bloomdev_list_free(struct bloomdev_list *list)
{
	if (!list)
		return;
	free(list->entries);
	free(list->raw);
	free(list);
}
