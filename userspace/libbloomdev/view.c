// SPDX-License-Identifier: LGPL-2.1
/*
 * A filter's memory, mapped: the head page, and the layers of one moment.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

/* Layers change seldom, and quickly: what waits for that waits so long. */
#define PAUSE_NS	50000
/* 10 s of pauses. Something is wrong then. */
#define PAUSES_MAX	200000

int bloomdev_head_map(int fd, const struct bloom_head **head)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
			  fd, 0);

	if (page == MAP_FAILED) {
		if (errno == EACCES || errno == EBADF)
			return bloomdev_fail(EBADF, "the filter is not open for reading");
		return bloomdev_fail_sys(errno, "mapping the filter");
	}
	*head = page;
	return 0;
}

void bloomdev_head_unmap(const struct bloom_head *head)
{
	if (head)
		munmap((void *)head, sysconf(_SC_PAGESIZE));
}

static int view_map(int fd, const struct bloom_layer_info *layer,
		    struct bloomdev_view *view)
{
	void *data;

	if (layer->bytes > SIZE_MAX)
		return -EFBIG;
	data = mmap(NULL, layer->bytes, PROT_READ, MAP_SHARED, fd,
		    layer->map_offset);
	if (data == MAP_FAILED)
		return -errno;
	view->data = data;
	view->bytes = layer->bytes;
	view->map_offset = layer->map_offset;
	return 0;
}

static void view_unmap(struct bloomdev_view *view)
{
	if (view->data)
		munmap((void *)view->data, view->bytes);
	memset(view, 0, sizeof(*view));
}

void bloomdev_views_close(struct bloomdev_view views[BLOOM_LAYERS_MAX])
{
	int i;

	for (i = 0; i < BLOOM_LAYERS_MAX; i++)
		view_unmap(&views[i]);
}

/* Take over a view of the same layer, since an offset is never used twice. */
static bool view_keep(struct bloomdev_view old[BLOOM_LAYERS_MAX],
		      uint64_t map_offset, struct bloomdev_view *view)
{
	int i;

	for (i = 0; i < BLOOM_LAYERS_MAX; i++) {
		if (old[i].data && old[i].map_offset == map_offset) {
			*view = old[i];
			memset(&old[i], 0, sizeof(old[i]));
			return true;
		}
	}
	return false;
}

/* Views of what @raw tells of, in place of those there were. */
static int views_follow(int fd, const struct bloomdev_raw_info *raw,
			struct bloomdev_view views[BLOOM_LAYERS_MAX])
{
	struct bloomdev_view old[BLOOM_LAYERS_MAX];
	uint32_t i;
	int ret = 0;

	memcpy(old, views, sizeof(old));
	memset(views, 0, sizeof(old));
	for (i = 0; i < raw->info.layer_count && !ret; i++) {
		if (!view_keep(old, raw->layers[i].map_offset, &views[i]))
			ret = view_map(fd, &raw->layers[i], &views[i]);
	}
	bloomdev_views_close(old);
	return ret;
}

int bloomdev_views_open(int fd, const struct bloom_head *head,
			struct bloomdev_raw_info *raw,
			struct bloomdev_view views[BLOOM_LAYERS_MAX],
			uint64_t *seq)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t start;
	int tries, ret;

	for (tries = 0; tries < PAUSES_MAX; tries++) {
		start = __atomic_load_n(&head->seq, __ATOMIC_ACQUIRE);
		if (start & 1) {
			nanosleep(&pause, NULL);
			continue;
		}
		ret = bloomdev_raw_info(fd, raw);
		if (ret)
			return ret;
		/* Where a layer has just gone this fails, and is tried again. */
		ret = views_follow(fd, raw, views);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&head->seq, __ATOMIC_RELAXED) != start)
			continue;
		if (ret)
			return bloomdev_fail_sys(-ret, "mapping a layer of the filter");
		if (seq)
			*seq = start;
		return 0;
	}
	return bloomdev_fail(EBUSY, "the filter's layers change all the time");
}
