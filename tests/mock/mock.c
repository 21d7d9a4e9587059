// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/bloom in user space, for quick work on libbloomdev and bloomctl, and for
 * sanitizers and fuzzers, on a host without the module:
 *
 *	LD_PRELOAD=build/tests/mock/libmock.so BLOOM_MOCK_DIR=/tmp/m bloomctl ...
 *
 * A filter is a file: page 0 the head, page 1 what follows here, then layers at
 * their map offsets, so that mmap() needs no help. A name is the file's name in
 * BLOOM_MOCK_DIR. It tests nothing about the kernel: no rights, no limits, no
 * clock; a mutex in the file stands for every lock.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bloom.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core_geometry.h"
#include "core_probe.h"

#define PAGE	4096UL

struct meta {
	char magic[8];
	pthread_mutex_t lock;
	struct bloom_create c;
	char name[BLOOM_NAME_MAX + 1];
	u64 end;
	u64 adds, adds_present, removes, rotations;
	u64 born_ns, period_ns, next_ns;
	u32 layer_count;
	struct bloom_layer_info layers[BLOOM_LAYERS_MAX];
};

_Static_assert(sizeof(struct meta) <= PAGE, "meta is a page");

/* A filter during one request. */
struct mock {
	int fd;
	size_t bytes;
	bool writable;
	u8 *map;
	struct meta *m;
	struct bloom_head *head;
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static const char *dir(void)
{
	const char *path = getenv("BLOOM_MOCK_DIR");

	if (!path)
		path = "/tmp/bloom-mock";
	mkdir(path, 0777);
	return path;
}

static int fail(int err)
{
	errno = err;
	return -1;
}

static int map_whole(struct mock *f)
{
	struct stat st;

	if (f->map)
		munmap(f->map, f->bytes);
	if (fstat(f->fd, &st) || st.st_size < (off_t)(2 * PAGE))
		return fail(ENOTTY);
	f->writable = (fcntl(f->fd, F_GETFL) & O_ACCMODE) == O_RDWR;
	f->bytes = st.st_size;
	f->map = mmap(NULL, f->bytes, PROT_READ | (f->writable ? PROT_WRITE : 0),
		      MAP_SHARED, f->fd, 0);
	if (f->map == MAP_FAILED)
		return -1;
	f->head = (void *)f->map;
	f->m = (void *)(f->map + PAGE);
	return memcmp(f->m->magic, "mockmock", 8) ? fail(ENOTTY) : 0;
}

static __le64 *words(struct mock *f, u32 layer)
{
	return (void *)(f->map + f->m->layers[layer].map_offset);
}

/* Append a layer to the file; it becomes number @at, others move up. */
static int layer_insert(struct mock *f, u32 at, const struct bloom_geometry *geo,
			u64 capacity, u64 rate)
{
	struct bloom_layer_info *l;

	if (f->m->layer_count == BLOOM_LAYERS_MAX)
		return fail(EOVERFLOW);
	if (ftruncate(f->fd, f->m->end + geo->bytes) || map_whole(f))
		return -1;
	l = &f->m->layers[at];
	memmove(l + 1, l, (f->m->layer_count++ - at) * sizeof(*l));
	*l = (struct bloom_layer_info) {
		.slots = geo->slots, .bytes = geo->bytes, .probes = geo->probes,
		.map_offset = f->m->end, .capacity = capacity, .fp_rate = rate,
		.age_ns = now_ns(),
	};
	f->m->end += geo->bytes;
	return 0;
}

static int layer_new(struct mock *f, u32 at, u32 number)
{
	struct bloom_create *c = &f->m->c;
	struct bloom_geometry geo;
	u64 capacity = c->capacity, rate = c->fp_rate;
	int ret = 0;

	if (capacity)
		ret = bloom_geometry_layer(c->growth, c->generations, number,
					   &capacity, &rate);
	if (!ret)
		ret = c->slots && !(c->growth == BLOOM_GROWTH_SCALING && number) ?
			bloom_geometry_exact(c->kind, c->slots, c->kind == BLOOM_KIND_BITMAP ?
					     1 : c->probes, &geo) :
			bloom_geometry_size(c->kind, capacity, rate, &geo);
	return ret ? fail(-ret) : layer_insert(f, at, &geo, capacity, rate);
}

static int all_new(struct mock *f)
{
	u32 i, n = 1;

	if (f->m->c.growth == BLOOM_GROWTH_WINDOW)
		n = f->m->c.generations;
	f->m->layer_count = 0;
	for (i = 0; i < n; i++) {
		if (layer_new(f, i, 0))
			return -1;
	}
	return 0;
}

static int mock_create(const struct bloom_create *c)
{
	struct mock f = { .fd = open(dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) };
	pthread_mutexattr_t attr;

	if (f.fd < 0 || ftruncate(f.fd, 2 * PAGE))
		return -1;
	f.map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
	f.bytes = 2 * PAGE;
	f.m = (void *)(f.map + PAGE);
	memcpy(f.m->magic, "mockmock", 8);
	f.m->c = *c;
	f.m->end = 2 * PAGE;
	f.m->born_ns = now_ns();
	f.m->period_ns = c->period_ns;
	f.m->next_ns = c->period_ns;
	if (!(c->flags & BLOOM_CREATE_SEED) && c->kind != BLOOM_KIND_BITMAP &&
	    getrandom(f.m->c.seed, sizeof(f.m->c.seed), 0) < 0)
		return -1;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&f.m->lock, &attr);
	if (all_new(&f)) {
		close(f.fd);
		return -1;
	}
	munmap(f.map, f.bytes);
	return f.fd;
}

static bool test(struct mock *f, u64 at)
{
	const struct bloom_layer_info *l;
	bool found = false;
	__le64 *w;
	u32 i;

	for (i = 0; i < f->m->layer_count && !found; i++) {
		l = &f->m->layers[i];
		w = words(f, i);
		switch (f->m->c.kind) {
		case BLOOM_KIND_BLOCKED:
			w += bloom_range(at, l->slots / 512) * BLOOM_BLOCK_WORDS;
			found = bloom_block_test(w, at, l->probes);
			break;
		case BLOOM_KIND_COUNTING:
			w += bloom_range(at, l->slots / 512) * BLOOM_COUNTER_WORDS;
			found = bloom_counters_test(w, at, l->probes);
			break;
		case BLOOM_KIND_CLASSIC:
			found = bloom_classic_test(w, l->slots, at, l->probes);
			break;
		default:
			found = bloom_word(&w[at >> 6]) >> (at & 63) & 1;
		}
	}
	return found;
}

static void change(struct mock *f, u32 layer, u64 at, bool up)
{
	struct bloom_layer_info *l = &f->m->layers[layer];
	__le64 *w = words(f, layer);

	switch (f->m->c.kind) {
	case BLOOM_KIND_BLOCKED:
		w += bloom_range(at, l->slots / 512) * BLOOM_BLOCK_WORDS;
		l->slots_set += bloom_block_set(w, at, l->probes);
		break;
	case BLOOM_KIND_COUNTING:
		w += bloom_range(at, l->slots / 512) * BLOOM_COUNTER_WORDS;
		l->slots_set += (up ? 1 : -1) *
			(s64)bloom_counters_change(w, at, l->probes, up);
		break;
	case BLOOM_KIND_CLASSIC:
		l->slots_set += bloom_classic_set(w, l->slots, at, l->probes);
		break;
	default:
		w[at >> 6] ^= cpu_to_le64(1ULL << (at & 63));
		l->slots_set += up ? 1 : -1;
	}
}

static void add(struct mock *f, u64 at, bool seen)
{
	struct bloom_create *c = &f->m->c;
	u32 target = 0;

	if (seen && (c->kind == BLOOM_KIND_BITMAP || c->flags & BLOOM_CREATE_ONCE))
		return;
	if (c->growth == BLOOM_GROWTH_SCALING) {
		if (seen)
			return;
		target = f->m->layer_count - 1;
		if (f->m->layers[target].keys >= f->m->layers[target].capacity &&
		    target + 1 < BLOOM_LAYERS_MAX) {
			f->head->seq++;
			if (!layer_new(f, target + 1, target + 1))
				target++;
			f->head->seq++;
		}
	}
	if (!seen || c->kind == BLOOM_KIND_COUNTING)
		f->m->layers[target].keys++;
	change(f, target, at, true);
}

static u8 one_key(struct mock *f, unsigned long request, const u8 *key, u32 len)
{
	const struct bloom_create *c = &f->m->c;
	const u64 seed[2] = { c->seed[0], c->seed[1] };
	bool seen;
	u64 at;

	if (c->kind == BLOOM_KIND_BITMAP) {
		memcpy(&at, key, 8);
		at -= c->base;
		if (at >= c->slots)
			return BLOOM_OUT_OF_RANGE;
	} else {
		at = c->hash == BLOOM_HASH_SIPHASH ?
			bloom_hash_siphash(key, len, seed) :
			bloom_hash_jhash(key, len, seed);
	}
	seen = test(f, at);
	if (request == BLOOM_IOC_ADD) {
		add(f, at, seen);
	} else if (request == BLOOM_IOC_REMOVE && seen) {
		change(f, 0, at, false);
		f->m->layers[0].keys--;
	}
	return seen;
}

static int mock_batch(struct mock *f, unsigned long request, struct bloom_batch *b)
{
	const u8 *key = (u8 *)(uintptr_t)b->keys;
	const u32 *lens = (u32 *)(uintptr_t)b->lens;
	u8 *verdicts = (u8 *)(uintptr_t)b->verdicts, verdict;
	u64 i, sum = 0;
	u32 len;

	if (request != BLOOM_IOC_QUERY && !f->writable)
		return fail(EBADF);
	if (request == BLOOM_IOC_REMOVE && f->m->c.kind < BLOOM_KIND_COUNTING)
		return fail(EOPNOTSUPP);
	for (i = 0; i < b->count; i++) {
		len = lens ? lens[i] : b->key_len;
		if (len > BLOOM_KEY_MAX ||
		    (f->m->c.kind == BLOOM_KIND_BITMAP && len != 8))
			return fail(EINVAL);
		sum += len;
	}
	if (sum != b->keys_bytes)
		return fail(EINVAL);

	b->present = 0;
	b->out_of_range = 0;
	for (i = 0; i < b->count; i++, key += len) {
		len = lens ? lens[i] : b->key_len;
		verdict = one_key(f, request, key, len);
		b->present += verdict == BLOOM_PRESENT;
		b->out_of_range += verdict == BLOOM_OUT_OF_RANGE;
		if (verdicts)
			verdicts[i] = verdict;
		/* Now and then stop early, as a signal would make us. */
		if (i == 5000 && b->count > 5001) {
			i++;
			break;
		}
	}
	b->done = i;
	if (request == BLOOM_IOC_ADD) {
		f->m->adds += i;
		f->m->adds_present += b->present;
	} else if (request == BLOOM_IOC_REMOVE) {
		f->m->removes += b->present;
	}
	return 0;
}

static int mock_info(struct mock *f, struct bloom_info *i)
{
	struct bloom_layer_info *to = (void *)(uintptr_t)i->layers;
	struct meta *m = f->m;
	u64 keys = 0, set = 0, bytes = 0, room = i->layers_room;
	u32 n;

	for (n = 0; n < m->layer_count; n++) {
		keys += m->layers[n].keys;
		set += m->layers[n].slots_set;
		bytes += m->layers[n].bytes;
		if (!to || n >= room)
			continue;
		to[n] = m->layers[n];
		to[n].age_ns = now_ns() - to[n].age_ns;
	}
	/* The spare of a window. */
	if (m->c.growth == BLOOM_GROWTH_WINDOW)
		bytes += m->layers[0].bytes;
	*i = (struct bloom_info) {
		.size = i->size, .flags = m->c.flags & ~BLOOM_CREATE_SEED,
		.id = m->born_ns ^ m->born_ns >> 32,
		.kind = m->c.kind, .growth = m->c.growth, .hash = m->c.hash,
		.state = m->c.growth == BLOOM_GROWTH_FIXED && m->c.capacity &&
			 keys > m->c.capacity ? BLOOM_STATE_SATURATED : 0,
		.stripes = 1, .capacity = m->c.capacity, .fp_rate = m->c.fp_rate,
		.base = m->c.base, .seed = { m->c.seed[0], m->c.seed[1] },
		.period_ns = m->period_ns, .next_ns = m->next_ns,
		.generations = m->c.generations, .layer_count = m->layer_count,
		.layers = i->layers, .layers_room = i->layers_room,
		.layer_size = i->layer_size, .keys = keys, .slots_set = set,
		.bytes = bytes, .adds = m->adds, .adds_present = m->adds_present,
		.removes = m->removes, .rotations = m->rotations,
		.age_ns = now_ns() - m->born_ns, .mode = 0660,
	};
	memcpy(i->name, m->name, sizeof(i->name));
	return 0;
}

static int mock_clear(struct mock *f)
{
	int ret;

	f->head->seq++;
	ret = all_new(f);
	f->head->seq++;
	return ret;
}

static int mock_rotate(struct mock *f, const struct bloom_rotate *r)
{
	if (f->m->c.growth != BLOOM_GROWTH_WINDOW)
		return fail(EOPNOTSUPP);
	if (r->flags & BLOOM_ROTATE_SET) {
		f->m->period_ns = r->period_ns;
		f->m->next_ns = r->next_ns;
		return 0;
	}
	f->head->seq++;
	f->m->layer_count--;
	if (layer_new(f, 0, 0))
		return -1;
	f->m->rotations++;
	f->head->seq++;
	return 0;
}

static int mock_load(struct mock *f, struct bloom_load *l)
{
	const u64 *data = (u64 *)(uintptr_t)l->data;
	struct bloom_layer_info *layer;
	struct bloom_geometry geo;
	u64 i, old, new;
	__le64 *w;

	if (l->layer == f->m->layer_count && f->m->c.growth == BLOOM_GROWTH_SCALING) {
		u64 capacity = f->m->c.capacity, rate = f->m->c.fp_rate;

		if (bloom_geometry_exact(f->m->c.kind, l->slots, l->probes, &geo) ||
		    bloom_geometry_layer(f->m->c.growth, 0, l->layer, &capacity, &rate))
			return fail(EINVAL);
		f->head->seq++;
		if (layer_insert(f, l->layer, &geo, capacity, rate))
			return -1;
		f->head->seq++;
	}
	if (l->layer >= f->m->layer_count || l->offset % 8 || l->length % 8)
		return fail(EINVAL);
	layer = &f->m->layers[l->layer];
	if (l->offset + l->length > layer->bytes)
		return fail(EINVAL);
	w = words(f, l->layer) + l->offset / 8;
	for (i = 0; i < l->length / 8; i++) {
		old = le64_to_cpu(w[i]);
		if (f->m->c.kind == BLOOM_KIND_COUNTING) {
			new = bloom_counters_add(old, le64_to_cpu(data[i]));
			layer->slots_set += bloom_counters_nonzero(new) -
					    bloom_counters_nonzero(old);
		} else {
			new = old | le64_to_cpu(data[i]);
			layer->slots_set += bloom_popcount(new ^ old);
		}
		w[i] = cpu_to_le64(new);
	}
	l->done = l->length;
	layer->keys += l->keys;
	if (l->age_ns)
		layer->age_ns = now_ns() - l->age_ns;
	return 0;
}

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", dir(), name);
}

static int mock_link(struct mock *f, const struct bloom_link *l)
{
	char self[64], to[512], from[512];
	const char *c;

	for (c = l->name; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return fail(EINVAL);
	}
	if (strchr(l->name, '/') || !strcmp(l->name, ".") || !strcmp(l->name, ".."))
		return fail(EINVAL);
	path_of(to, sizeof(to), l->name);
	path_of(from, sizeof(from), f->m->name);
	if (l->flags & BLOOM_LINK_EXCHANGE) {
		struct mock other = { .fd = open(to, O_RDWR | O_CLOEXEC) };

		if (other.fd < 0 || map_whole(&other) ||
		    renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE))
			return -1;
		memcpy(other.m->name, f->m->name, sizeof(f->m->name));
		munmap(other.map, other.bytes);
		close(other.fd);
	} else if (*f->m->name) {
		if (renameat2(AT_FDCWD, from, AT_FDCWD, to,
			      l->flags & BLOOM_LINK_REPLACE ? 0 : RENAME_NOREPLACE))
			return -1;
	} else {
		if (l->flags & BLOOM_LINK_REPLACE)
			unlink(to);
		snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
		if (linkat(AT_FDCWD, self, AT_FDCWD, to, AT_SYMLINK_FOLLOW))
			return -1;
	}
	memcpy(f->m->name, l->name, sizeof(l->name));
	return 0;
}

static int mock_filter(int fd, unsigned long request, void *arg)
{
	struct mock f = { .fd = fd };
	int ret;

	if (map_whole(&f))
		return -1;
	if (f.writable)
		pthread_mutex_lock(&f.m->lock);
	/* Another may have made the file longer meanwhile. */
	ret = map_whole(&f);
	if (ret)
		goto out;
	switch (request) {
	case BLOOM_IOC_ADD:
	case BLOOM_IOC_QUERY:
	case BLOOM_IOC_REMOVE:
		ret = mock_batch(&f, request, arg);
		break;
	case BLOOM_IOC_INFO:
		ret = mock_info(&f, arg);
		break;
	case BLOOM_IOC_CLEAR:
		ret = mock_clear(&f);
		break;
	case BLOOM_IOC_ROTATE:
		ret = mock_rotate(&f, arg);
		break;
	case BLOOM_IOC_LINK:
		ret = mock_link(&f, arg);
		break;
	case BLOOM_IOC_LOAD:
		ret = f.writable ? mock_load(&f, arg) : fail(EBADF);
		break;
	default:
		ret = fail(ENOTTY);
	}
out:
	if (f.writable)
		pthread_mutex_unlock(&f.m->lock);
	munmap(f.map, f.bytes);
	return ret;
}

static int mock_open(const struct bloom_open *o)
{
	char path[512];

	path_of(path, sizeof(path), o->name);
	return open(path, O_CLOEXEC | (o->access & BLOOM_ACCESS_WRITE ? O_RDWR :
								       O_RDONLY));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int mock_list(struct bloom_list *l)
{
	struct bloom_list_entry *e = (void *)(uintptr_t)l->entries;
	struct bloom_open open_arg = { .access = BLOOM_ACCESS_READ };
	struct bloom_info info = {};
	struct dirent **found;
	int i, n, fd;
	u32 count = 0;

	n = scandir(dir(), &found, NULL, by_name);
	for (i = 0; i < n; i++) {
		if (found[i]->d_name[0] == '.' || count == l->count ||
		    strcmp(found[i]->d_name, l->after) <= 0)
			continue;
		snprintf(open_arg.name, sizeof(open_arg.name), "%s",
			 found[i]->d_name);
		fd = mock_open(&open_arg);
		if (fd < 0 || mock_filter(fd, BLOOM_IOC_INFO, &info))
			continue;
		close(fd);
		memcpy(e[count].name, open_arg.name, sizeof(open_arg.name));
		e[count].id = info.id;
		e[count].mode = info.mode;
		e[count].kind = info.kind;
		e[count].growth = info.growth;
		e[count].state = info.state;
		e[count].capacity = info.capacity;
		e[count].keys = info.keys;
		e[count++].bytes = info.bytes;
	}
	l->count = count;
	return 0;
}

static int mock_unlink(const struct bloom_unlink *u)
{
	char path[512];

	path_of(path, sizeof(path), u->name);
	return unlink(path);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, void *arg);
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) != BLOOM_IOC_MAGIC) {
		if (!next)
			next = dlsym(RTLD_NEXT, "ioctl");
		return next(fd, request, arg);
	}
	switch (request) {
	case BLOOM_IOC_CREATE:
		return mock_create(arg);
	case BLOOM_IOC_OPEN:
		return mock_open(arg);
	case BLOOM_IOC_UNLINK:
		return mock_unlink(arg);
	case BLOOM_IOC_LIST:
		return mock_list(arg);
	default:
		return mock_filter(fd, request, arg);
	}
}

int open(const char *path, int flags, ...)
{
	static int (*next)(const char *path, int flags, mode_t mode);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (!next)
		next = dlsym(RTLD_NEXT, "open");
	return next(strcmp(path, "/dev/bloom") ? path : "/dev/null", flags, mode);
}
