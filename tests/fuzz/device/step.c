// SPDX-License-Identifier: GPL-2.0
/*
 * One step: a request or another system call, with a fault if it asks for one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "step.h"

#define PAGE		4096UL
#define NOBODY		1000
/* madvise(): touch all pages, and tell where there is none. */
#define POPULATE_READ	22

int slots[SLOTS];
struct worker workers[THREADS];
u64 went_well[OPS], refused[OPS], wrong_answers;

static int *slot(const struct step *step, u8 which)
{
	bool door = step->op % OPS <= OP_LIST || step->op % OPS == OP_DOOR;

	if (which >= 240)
		which %= SLOTS;
	else if (door)
		which %= DOORS;
	else
		which = DOORS + which % (SLOTS - DOORS);
	return &slots[which];
}

int step_fd(const struct step *step)
{
	return __atomic_load_n(slot(step, step->fd), __ATOMIC_RELAXED);
}

void step_keep(const struct step *step, int fd)
{
	int old, at = DOORS + step->to % (SLOTS - DOORS);

	if (step->op % OPS == OP_DOOR)
		at = step->to % DOORS;
	old = __atomic_exchange_n(&slots[at], fd, __ATOMIC_RELAXED);
	if (old >= 0)
		close(old);
}

static long answer(long ret)
{
	return ret < 0 ? -errno : ret;
}

static long new_fd(const struct step *step, long fd)
{
	if (fd >= 0)
		step_keep(step, fd);
	return fd;
}

/* The head, or one of its layers, all or a part. */
static long step_mmap(struct worker *w, const struct step *step)
{
	int prot = PROT_READ, fd = step_fd(step);
	u32 at = step->name % MAPS, n;
	struct bloom_layer_info layers[4];
	size_t offset = 0, bytes = PAGE;
	long count;
	u8 *map;

	if (step->choice[0] & 1) {
		count = get_layers(fd, layers, ARRAY_LEN(layers));
		n = step->choice[0] >> 1 & 3;
		if (count > (long)n) {
			offset = layers[n].map_offset;
			bytes = layers[n].bytes;
		}
	}
	if (step->choice[1] & 1) {
		bytes = PAGE * (1 + step->choice[1] % 8);
		offset += PAGE * (step->choice[2] >> 4);
	}
	if (step->choice[2] % 8 == 1)
		prot |= PROT_WRITE;
	if (step->choice[2] % 8 == 2)
		prot |= PROT_EXEC;
	map = mmap(NULL, bytes, prot, step->choice[2] & 8 ? MAP_PRIVATE : MAP_SHARED,
		   fd, offset);
	if (map == MAP_FAILED)
		return -errno;
	if (prot & PROT_WRITE) {
		fprintf(stderr, "mmap: writable\n");
		wrong_answers++;
	}
	madvise(map, bytes, POPULATE_READ);
	if (w->maps[at])
		munmap(w->maps[at], w->map_bytes[at]);
	w->maps[at] = map;
	w->map_bytes[at] = bytes;
	return 0;
}

/*
 * All, or the second page, which makes two mappings of it.  Something else is put
 * in that page's place: in a hole the next mapping could come to lie, and go with
 * this one.
 */
static long step_munmap(struct worker *w, const struct step *step)
{
	u32 at = step->name % MAPS;
	u8 *map = w->maps[at];
	long ret;

	if (!map)
		return -EINVAL;
	if (step->choice[0] & 1) {
		if (w->map_bytes[at] <= PAGE)
			return -EINVAL;
		if (mmap(map + PAGE, PAGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return -errno;
		return 0;
	}
	ret = answer(munmap(map, w->map_bytes[at]));
	w->maps[at] = NULL;
	return ret;
}

static long step_mprotect(struct worker *w, const struct step *step)
{
	u8 *map = w->maps[step->name % MAPS];
	int prot = step->choice[0] & 1 ? PROT_READ : PROT_READ | PROT_WRITE;
	long ret;

	if (!map)
		return -EINVAL;
	ret = answer(mprotect(map, PAGE, prot));
	if (!ret && prot & PROT_WRITE) {
		fprintf(stderr, "mprotect: writable\n");
		wrong_answers++;
	}
	return ret;
}

static long step_fdinfo(const struct step *step)
{
	char path[64], text[512];
	long ret;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", step_fd(step));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = answer(read(fd, text, sizeof(text)));
	close(fd);
	return ret;
}

static long step_identity(const struct step *step)
{
	u32 id = step->choice[0] & 1 ? NOBODY : 0;

	syscall(SYS_setfsgid, id);
	syscall(SYS_setfsuid, id);
	return id ? -EPERM : 0;	/* for the account: both were had */
}

static long step_close(const struct step *step)
{
	int fd = __atomic_exchange_n(slot(step, step->fd), -1, __ATOMIC_RELAXED);

	return answer(close(fd));
}

static long take(struct worker *w, const struct step *step)
{
	static const int modes[] = { O_RDWR, O_RDWR, O_RDONLY, O_WRONLY };
	struct pollfd p = { .events = POLLIN | POLLPRI | POLLOUT };
	u32 op = step->op % OPS;

	switch (op) {
	case OP_CREATE:
	case OP_OPEN:
		return new_fd(step, step_request(w, step));
	case OP_MMAP:
		return step_mmap(w, step);
	case OP_MUNMAP:
		return step_munmap(w, step);
	case OP_MPROTECT:
		return step_mprotect(w, step);
	case OP_POLL:
		p.fd = step_fd(step);
		if (poll(&p, 1, 0) < 0)
			return -errno;
		return p.fd < 0 || p.revents & POLLNVAL ? -EBADF : p.revents;
	case OP_READ:
		return answer(read(step_fd(step), w->out.base, step->amount));
	case OP_WRITE:
		return answer(write(step_fd(step), w->keys.base, step->amount));
	case OP_CLOSE:
		return step_close(step);
	case OP_DUP:
		return new_fd(step, answer(fcntl(step_fd(step), F_DUPFD_CLOEXEC, 0)));
	case OP_FDINFO:
		return step_fdinfo(step);
	case OP_DOOR:
		return new_fd(step, open_device(modes[step->choice[0] % 4]));
	case OP_IDENTITY:
		return step_identity(step);
	case OP_SIGNAL:
		return -pthread_kill(workers[step->choice[0] % THREADS].thread, SIGUSR1);
	default:
		return step_request(w, step);
	}
}

/* Copies fail too, and so may this one. */
static void arm(const struct worker *w, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth), tries = 100;

	while (w->fail_nth >= 0 && tries-- && pwrite(w->fail_nth, text, len, 0) != len)
		;
}

/* Errors that uapi/linux/bloom.h speaks of. */
static bool documented(long ret)
{
	switch (-ret) {
	case ENOTTY: case EINVAL: case E2BIG: case EOPNOTSUPP: case EFAULT:
	case EBADF: case ENOMEM: case ENOSPC: case EOVERFLOW: case EMFILE:
	case ENOENT: case EEXIST: case EACCES: case EPERM: case ENAMETOOLONG:
	case EAGAIN: case EINTR:
		return true;
	default:
		return ret >= 0;
	}
}

/* A fault could also hit the frame of a signal's handler, which kills. */
static void block_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(how, &set, NULL);
}

long step_take(struct worker *w, const struct step *step)
{
	u32 op = step->op % OPS;
	long ret;

	if (step->fault) {
		block_signals(SIG_BLOCK);
		arm(w, step->fault);
	}
	trace_begin(&w->trace);
	ret = take(w, step);
	trace_end(&w->trace);
	if (step->fault) {
		arm(w, 0);
		block_signals(SIG_UNBLOCK);
	}

	__atomic_fetch_add(ret < 0 ? &refused[op] : &went_well[op], 1, __ATOMIC_RELAXED);
	if (op < OP_IOCTL && !documented(ret)) {
		fprintf(stderr, "%s: an error that is not documented: %ld\n",
			op_names[op], -ret);
		wrong_answers++;
	}
	return ret;
}
