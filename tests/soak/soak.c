// SPDX-License-Identifier: GPL-2.0
/*
 * For SOAK_MINUTES (30): processes that do everything to filters, at once and for long,
 * under memory pressure and changing caps. Each knows exactly what must come of
 * what it does; and in the end memory is where it was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "soak.h"

#define MIB	1048576ULL
#define REST	(32 * MIB)	/* what memory pressure leaves */

struct shared *shared;
struct tally *mine;

bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

static void stop(bool value)
{
	__atomic_store_n(&shared->stop, value, __ATOMIC_RELAXED);
}

void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!mine->error[0])
		vsnprintf(mine->error, sizeof(mine->error), format, args);
	va_end(args);
	stop(true);
}

/**
 * struct memory - where memory is, in bytes
 * @vmalloc: filters' arrays, and what else the kernel keeps there
 * @slab: objects that can't be reclaimed
 * @percpu: counts of each CPU
 */
struct memory {
	s64 vmalloc, slab, percpu;
};

static struct memory memory(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	struct memory m = { 0 };
	long long kib;
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmallocUsed: %lld", &kib) == 1)
			m.vmalloc = kib << 10;
		if (sscanf(line, "SUnreclaim: %lld", &kib) == 1)
			m.slab = kib << 10;
		if (sscanf(line, "Percpu: %lld", &kib) == 1)
			m.percpu = kib << 10;
	}
	if (f)
		fclose(f);
	return m;
}

static void set_cap(u64 mib)
{
	set_module_parameter("max_total_bytes", mib * MIB);
}

/* Is all that filters ever had accounted as given back? Then all of it can be had. */
static bool nothing_accounted(void)
{
	struct bloom_create arg = create_defaults(BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
	int fd;

	set_cap(8);
	arg.slots = 8 * 8 * MIB;
	fd = create(&arg);
	set_cap(0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* All memory but REST, touched and let go: caches and huge pages are gone. */
static void press(void)
{
	u64 i, size = memory_available();
	double end = seconds() + 5;
	char *at;

	if (size <= REST)
		return;
	size -= REST;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return;
	/* What the others take meanwhile is theirs: look again, page by page. */
	for (i = 0; i < size && !stopped(); i += 4096) {
		if (i % (4 * MIB) == 0 && (memory_available() < REST || seconds() > end))
			break;
		at[i] = 1;
	}
	usleep(500000);
	munmap(at, size);
}

static void run_role(u32 i)
{
	mine = &shared->tallies[i];
	signal(SIGINT, SIG_IGN);
	while (!stopped()) {
		roles[i].round();
		mine->rounds++;
	}
	_exit(0);
}

static void report(u32 minutes)
{
	u64 calls = 0, keys = 0;
	u32 i;

	printf("# %-10s %9s %11s %13s %8s\n", "process", "rounds", "calls", "keys", "refused");
	for (i = 0; i < role_count; i++) {
		const struct tally *t = &shared->tallies[i];

		printf("# %-10s %9llu %11llu %13llu %8llu\n", roles[i].name, t->rounds, t->calls,
		       t->keys, t->refused);
		calls += t->calls;
		keys += t->keys;
	}
	printf("# %u minutes: %llu calls, %llu keys\n", minutes, calls, keys);
}

/* The processes, for so many seconds. */
static void run(double for_seconds)
{
	double end = seconds() + for_seconds, next = seconds() + 10;
	u32 i, status, turn = 0;

	stop(false);
	shared->pair_barrier = 0;
	for (i = 0; i < role_count; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			wrong("fork: %s", strerror(errno));
			break;
		}
		if (!pid)
			run_role(i);
	}
	while (seconds() < end && !stopped()) {
		usleep(200000);
		if (seconds() < next)
			continue;
		/* In turn: memory is short, caps are low, nothing. */
		next = seconds() + 10;
		turn++;
		if (turn % 3 == 1)
			press();
		set_cap(turn % 3 == 2 ? 2 : 0);
		if (turn % 30 == 0) {
			report((u32)((for_seconds - (end - seconds())) / 60));
			fflush(stdout);
		}
	}
	set_cap(0);
	stop(true);
	while (wait((int *)&status) > 0) {
		if (status)
			wrong("a process ended with status %#x", status);
	}
	/* Names stay when their maker goes. */
	unlink_all(PREFIX "churn.");
}

static u32 tests, failed;

static void check(bool ok, const char *what)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", ++tests, what);
	failed += !ok;
}

static bool is_back(const char *what, s64 before, s64 after, s64 allowed)
{
	printf("# %s: %lld KiB before, %lld KiB after\n", what, before >> 10, after >> 10);
	return after <= before + allowed;
}

/*
 * KASAN keeps what was freed, up to a 32nd of memory. The kernel that has it has
 * kmemleak too, which finds what is lost, byte by byte.
 */
static s64 slab_slack(void)
{
	if (access("/sys/kernel/debug/kmemleak", F_OK))
		return 4 * MIB;
	return 4 * MIB + (s64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 32;
}

int main(void)
{
	const char *given = getenv("SOAK_MINUTES");
	double minutes = given ? strtod(given, NULL) : 30;
	struct memory before, after;
	s64 references;
	char what[300];
	u32 i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	mine = &shared->tallies[role_count];
	references = read_number("/sys/module/bloom/refcnt");

	/* Caches fill up at first, which is no leak. */
	run(minutes * 60 / 20);
	if (!nothing_accounted())
		wrong("bytes are accounted to nobody after the first part");
	sleep(3);
	before = memory();
	if (!mine->error[0])
		run(minutes * 60 * 19 / 20);

	report((u32)minutes);
	for (i = 0; i <= role_count; i++) {
		const struct tally *t = &shared->tallies[i];

		snprintf(what, sizeof(what), "%s%s%s",
			 i < role_count ? roles[i].name : "the whole", t->error[0] ? ": " : "",
			 t->error);
		check(!t->error[0] && (i == role_count || t->rounds), what);
	}
	check(list_names("test.soak", &(struct bloom_list_entry){}, 1) == 0, "no name is left");
	check(nothing_accounted(), "no byte is accounted to a filter");
	check(read_number("/sys/module/bloom/refcnt") == references,
	      "nothing refers to the module");
	sleep(3);
	after = memory();
	check(is_back("vmalloc", before.vmalloc, after.vmalloc, MIB), "vmalloc is where it was");
	check(is_back("slab", before.slab, after.slab, slab_slack()), "slab is where it was");
	check(is_back("percpu", before.percpu, after.percpu, MIB), "percpu is where it was");
	printf("1..%u\n", tests);
	return failed > 0;
}
