// SPDX-License-Identifier: GPL-2.0
/*
 * syscalls MIB COUNT ROUNDS [bpf|bloom|both|threads]: what a key costs through the
 * kernel's BPF Bloom map, one element a call, and through /dev/bloom, by the batch
 * and one by one; and an ioctl that does nothing. A line a loop and a round:
 *
 *	bench,<loop>,<MiB>,<key bytes>,<probes>,<threads>,<round>,<ps a key>
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bloom.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEY_LEN	16
#define PROBES	7
#define BATCH	1024

static size_t mib, count;
static int rounds, round_now;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void report(const char *loop, int threads, size_t keys, double ns)
{
	printf("bench,%s,%zu.000,%d,%d,%d,%d,%.0f\n", loop, mib, KEY_LEN,
	       PROBES, threads, round_now, ns * 1000 / keys);
	fflush(stdout);
}

static void check(const char *loop, size_t got, size_t low, size_t high)
{
	if (got < low || got > high)
		printf("bench-wrong,%s,%d,present %zu, not %zu..%zu\n", loop,
		       round_now, got, low, high);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static uint8_t *make_keys(uint64_t first)
{
	uint8_t *keys = malloc(count * KEY_LEN);
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t word[2] = { mix(first + i + 1), first + i };

		memcpy(keys + i * KEY_LEN, word, KEY_LEN);
	}
	return keys;
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/*
 * Its bits are entries * k / ln 2, rounded up to a power of two: the middle
 * between two powers, to be safe.
 */
static int bpf_make(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_BLOOM_FILTER,
		.value_size = KEY_LEN,
		.max_entries = (mib << 23) * 0.75 / PROBES * 0.693,
		.map_extra = PROBES,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		printf("skip,bpf,%s\n", strerror(errno));
	return fd;
}

static size_t bpf_run(int fd, int cmd, const uint8_t *keys)
{
	union bpf_attr attr = { .map_fd = fd };
	size_t i, done = 0;

	for (i = 0; i < count; i++, keys += KEY_LEN) {
		attr.value = (uintptr_t)keys;
		done += !bpf(cmd, &attr);
	}
	return done;
}

static int bloom_make(void)
{
	struct bloom_create create = {
		.size = sizeof(create),
		.slots = mib << 23,
		.probes = PROBES,
	};
	int dev = open("/dev/bloom", O_RDWR | O_CLOEXEC), fd;

	fd = dev < 0 ? -1 : ioctl(dev, BLOOM_IOC_CREATE, &create);
	if (fd < 0)
		printf("skip,bloom,%s\n", strerror(errno));
	close(dev);
	return fd;
}

static size_t bloom_run(int fd, unsigned long request, const uint8_t *keys,
			size_t n, size_t batch)
{
	struct bloom_batch b = {
		.size = sizeof(b), .key_len = KEY_LEN, .count = batch,
		.keys_bytes = batch * KEY_LEN,
	};
	size_t present = 0, done;

	for (done = 0; done + batch <= n; done += batch) {
		b.keys = (uintptr_t)(keys + done * KEY_LEN);
		if (ioctl(fd, request, &b))
			err(1, "ioctl");
		present += b.present;
	}
	return present;
}

struct worker {
	pthread_t thread;
	int cpu;
	int fd;
	unsigned long request;
	const uint8_t *keys;
	size_t n;
};

static pthread_barrier_t barrier;

static void *work(void *arg)
{
	struct worker *w = arg;
	cpu_set_t cpu;

	/* A CPU each, at once and not when the scheduler gets round to it. */
	CPU_ZERO(&cpu);
	CPU_SET(w->cpu, &cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	pthread_barrier_wait(&barrier);
	bloom_run(w->fd, w->request, w->keys, w->n, BATCH);
	return NULL;
}

static void parallel(const char *loop, int fd, unsigned long request,
		     const uint8_t *keys, int threads)
{
	struct worker w[2];
	double start;
	int i;

	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (i = 0; i < threads; i++) {
		w[i] = (struct worker){
			.cpu = i, .fd = fd, .request = request,
			.n = count / threads,
			.keys = keys + count / threads * i * KEY_LEN,
		};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	pthread_barrier_wait(&barrier);
	start = now(CLOCK_MONOTONIC);
	for (i = 0; i < threads; i++)
		pthread_join(w[i].thread, NULL);
	report(loop, threads, count, now(CLOCK_MONOTONIC) - start);
	pthread_barrier_destroy(&barrier);
}

int main(int argc, char **argv)
{
	const char *what = argc > 4 ? argv[4] : "both";
	int bpf_fd = -1, bloom_fd = -1, i;
	uint8_t *hits, *misses, *fresh;
	double start;

	mib = argc > 1 ? strtoul(argv[1], NULL, 0) : 128;
	count = argc > 2 ? strtoul(argv[2], NULL, 0) : 1 << 18;
	rounds = argc > 3 ? atoi(argv[3]) : 5;
	hits = make_keys(0);
	misses = make_keys(1ULL << 40);
	if (!strcmp(what, "bpf") || !strcmp(what, "both"))
		bpf_fd = bpf_make();
	if (strcmp(what, "bpf"))
		bloom_fd = bloom_make();
	if (bpf_fd >= 0)
		bpf_run(bpf_fd, BPF_MAP_UPDATE_ELEM, hits);
	if (bloom_fd >= 0)
		bloom_run(bloom_fd, BLOOM_IOC_ADD, hits, count, BATCH);

	for (round_now = 0; round_now < rounds; round_now++) {
		start = now(CLOCK_THREAD_CPUTIME_ID);
		for (i = 0; i < 100000; i++)
			ioctl(-1, 0, 0);
		report("bare", 1, 100000, now(CLOCK_THREAD_CPUTIME_ID) - start);
		fresh = make_keys((round_now + 2ULL) << 40);
#define RUN(name, low, high, call) do {					\
		start = now(CLOCK_THREAD_CPUTIME_ID);			\
		size_t got = (call);					\
		report(name, 1, count, now(CLOCK_THREAD_CPUTIME_ID) - start);	\
		check(name, got, low, high);				\
	} while (0)
		if (bpf_fd >= 0) {
			RUN("bpf-hit", count, count,
			    bpf_run(bpf_fd, BPF_MAP_LOOKUP_ELEM, hits));
			RUN("bpf-miss", 0, count / 50,
			    bpf_run(bpf_fd, BPF_MAP_LOOKUP_ELEM, misses));
			RUN("bpf-new", count, count,
			    bpf_run(bpf_fd, BPF_MAP_UPDATE_ELEM, fresh));
		}
		if (bloom_fd >= 0 && strcmp(what, "threads")) {
			RUN("batch-hit", count, count,
			    bloom_run(bloom_fd, BLOOM_IOC_QUERY, hits, count, BATCH));
			RUN("batch-miss", 0, count / 50,
			    bloom_run(bloom_fd, BLOOM_IOC_QUERY, misses, count, BATCH));
			RUN("batch-new", 0, count / 50,
			    bloom_run(bloom_fd, BLOOM_IOC_ADD, fresh, count, BATCH));
			RUN("single-hit", count, count,
			    bloom_run(bloom_fd, BLOOM_IOC_QUERY, hits, count, 1));
			RUN("single-miss", 0, count / 50,
			    bloom_run(bloom_fd, BLOOM_IOC_QUERY, misses, count, 1));
			free(fresh);
			fresh = make_keys((round_now + 1002ULL) << 40);
			RUN("single-new", 0, count / 50,
			    bloom_run(bloom_fd, BLOOM_IOC_ADD, fresh, count, 1));
		}
		if (bloom_fd >= 0 && !strcmp(what, "threads")) {
			parallel("query", bloom_fd, BLOOM_IOC_QUERY, hits, 1);
			parallel("query", bloom_fd, BLOOM_IOC_QUERY, hits, 2);
			parallel("add", bloom_fd, BLOOM_IOC_ADD, fresh, 1);
			free(fresh);
			fresh = make_keys((round_now + 1002ULL) << 40);
			parallel("add", bloom_fd, BLOOM_IOC_ADD, fresh, 2);
		}
		free(fresh);
	}
	return 0;
}
