// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that BPF programs call: what they answer, whom they answer, and
 * that nothing a program does can hurt. TAP on standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <bloomdev.h>

#include "kfuncs.h"
#include "kfuncs.skel.h"

#define ROUNDS	400U
#define LIVES	300

static struct bloomdev_device *dev;
static struct kfuncs_bpf *skel;
static int tests;

static void expect(const char *what, long long got, long long wanted)
{
	tests++;
	printf("%sok %d - %s\n", got == wanted ? "" : "not ", tests, what);
	if (got != wanted)
		printf("# %lld, not %lld\n", got, wanted);
}

static void bail_out(const char *what)
{
	printf("Bail out! %s: %s; %s\n", what, strerror(errno), bloomdev_message());
	exit(1);
}

static struct bloomdev_filter *create(uint32_t flags, uint32_t kind)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter;

	opts.flags = flags;
	opts.kind = kind;
	if (kind == BLOOMDEV_KIND_BITMAP) {
		opts.slots = 1000;
	} else {
		opts.capacity = 1000000;
		opts.fp_rate = 1e-9;
	}
	filter = bloomdev_filter_create(dev, &opts);
	if (!filter)
		bail_out("create");
	return filter;
}

static uint32_t id_of(struct bloomdev_filter *filter)
{
	struct bloomdev_info *info = bloomdev_filter_info(filter);
	uint32_t id;

	if (!info)
		bail_out("info");
	id = info->id;
	bloomdev_info_free(info);
	return id;
}

/* Run a program once. Return: what it returned. */
static int run(struct bpf_program *prog, const void *packet, size_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
		    .data_size_in = len, .repeat = packet ? 1 : 0);
	int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);

	if (err) {
		errno = -err;
		bail_out("test run");
	}
	return opts.retval;
}

static int ask(struct bpf_program *prog, enum what what, uint32_t id,
	       const void *key, uint32_t len)
{
	static const char packet[64];
	struct call *call = &skel->bss->call;

	call->id = id;
	call->what = what;
	call->len = len;
	memcpy(call->key, key, len);
	if (prog == skel->progs.on_syscall)
		run(prog, NULL, 0);
	else
		run(prog, packet, sizeof(packet));
	return call->answer;
}

static void test_answers(struct bpf_program *prog, const char *name)
{
	struct bloomdev_filter *filter = create(BLOOMDEV_BPF, 0);
	uint32_t id = id_of(filter);
	char what[80];

	printf("# %s\n", name);
	snprintf(what, sizeof(what), "%s: absent", name);
	expect(what, ask(prog, DO_QUERY, id, "key", 3), BLOOMDEV_ABSENT);
	expect("a query adds nothing", bloomdev_filter_query_key(filter, "key", 3), 0);
	expect("added, new", ask(prog, DO_ADD, id, "key", 3), BLOOMDEV_ABSENT);
	expect("added, again", ask(prog, DO_ADD, id, "key", 3), BLOOMDEV_PRESENT);
	expect("queried", ask(prog, DO_QUERY, id, "key", 3), BLOOMDEV_PRESENT);
	expect("user space sees it", bloomdev_filter_query_key(filter, "key", 3), 1);
	expect("a prefix is another key", ask(prog, DO_QUERY, id, "key", 2), 0);
	expect("tried, present", ask(prog, DO_TRY_ADD, id, "key", 3), BLOOMDEV_PRESENT);
	expect("tried, new", ask(prog, DO_TRY_ADD, id, "other", 5), BLOOMDEV_ABSENT);
	bloomdev_filter_add_key(filter, "user", 4);
	expect("a user's key", ask(prog, DO_ADD, id, "user", 4), BLOOMDEV_PRESENT);
	expect("the empty key", ask(prog, DO_ADD, id, "", 0), BLOOMDEV_ABSENT);
	expect("the empty key again", ask(prog, DO_ADD, id, "", 0), BLOOMDEV_PRESENT);
	bloomdev_filter_close(filter);
}

static void test_ids(void)
{
	struct bpf_program *prog = skel->progs.on_xdp;
	struct bloomdev_filter *filter = create(0, 0);
	uint32_t id = id_of(filter);
	int i, answer;

	expect("not open to BPF: add", ask(prog, DO_ADD, id, "k", 1), -ENOENT);
	expect("not open to BPF: query", ask(prog, DO_QUERY, id, "k", 1), -ENOENT);
	expect("and nothing was added", bloomdev_filter_is_empty(filter), 1);
	bloomdev_filter_close(filter);

	expect("id 0", ask(prog, DO_ADD, 0, "k", 1), -ENOENT);
	expect("id unknown", ask(prog, DO_ADD, 0x7fffffff, "k", 1), -ENOENT);
	expect("id out of range", ask(prog, DO_ADD, ~0U, "k", 1), -ENOENT);

	filter = create(BLOOMDEV_BPF, 0);
	id = id_of(filter);
	expect("alive", ask(prog, DO_ADD, id, "k", 1), BLOOMDEV_ABSENT);
	bloomdev_filter_close(filter);
	/* close() returns before the last reference is gone. */
	for (i = 0; i < 1000; i++) {
		answer = ask(prog, DO_ADD, id, "k", 1);
		if (answer == -ENOENT)
			break;
		usleep(1000);
	}
	expect("dead", answer, -ENOENT);
}

static void test_kinds(void)
{
	struct bloomdev_filter *filter = create(BLOOMDEV_BPF, BLOOMDEV_KIND_BITMAP);
	struct bpf_program *prog = skel->progs.on_tc;
	uint64_t key = 999, beyond = 1000;
	uint32_t id = id_of(filter);
	char packet[64] = "sixteen bytes...";

	expect("bitmap: new", ask(prog, DO_ADD, id, &key, 8), BLOOMDEV_ABSENT);
	expect("bitmap: again", ask(prog, DO_ADD, id, &key, 8), BLOOMDEV_PRESENT);
	expect("bitmap: beyond", ask(prog, DO_ADD, id, &beyond, 8), BLOOMDEV_OUT_OF_RANGE);
	expect("bitmap: length", ask(prog, DO_ADD, id, &key, 7), -EINVAL);
	bloomdev_filter_close(filter);

	filter = create(BLOOMDEV_BPF, BLOOMDEV_KIND_COUNTING);
	id = id_of(filter);
	expect("counting: new", ask(prog, DO_ADD, id, "k", 1), BLOOMDEV_ABSENT);
	expect("counting: again", ask(prog, DO_ADD, id, "k", 1), BLOOMDEV_PRESENT);
	expect("removed by a user", bloomdev_filter_remove_key(filter, "k", 1), 1);
	expect("counted twice", ask(prog, DO_QUERY, id, "k", 1), BLOOMDEV_PRESENT);
	bloomdev_filter_close(filter);

	filter = create(BLOOMDEV_BPF, 0);
	skel->bss->call.id = id_of(filter);
	prog = skel->progs.on_packet;
	expect("key in the packet", run(prog, packet, sizeof(packet)), BLOOMDEV_ABSENT);
	expect("the same packet", run(prog, packet, sizeof(packet)), BLOOMDEV_PRESENT);
	expect("user space agrees", bloomdev_filter_query_key(filter, packet, 16), 1);
	bloomdev_filter_close(filter);
}

struct worker {
	pthread_t thread;
	int cpu;
	pthread_barrier_t *start;
	long fresh;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	char packet[64] = { 0 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	pthread_barrier_wait(w->start);
	w->fresh = run(skel->progs.on_burst, packet, sizeof(packet));
	return NULL;
}

/* Two CPUs add the same keys at once: each is new to exactly one of them. */
static void test_exactly_one(void)
{
	struct bloomdev_filter *filter = create(BLOOMDEV_BPF, 0);
	struct worker workers[2];
	pthread_barrier_t start;
	unsigned int round, i, shared = 0;
	long fresh = 0;

	skel->bss->burst_id = id_of(filter);
	for (round = 0; round < ROUNDS; round++) {
		skel->bss->burst_first = round * BURST;
		pthread_barrier_init(&start, NULL, 2);
		for (i = 0; i < 2; i++) {
			workers[i] = (struct worker){ .cpu = i, .start = &start };
			pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		}
		for (i = 0; i < 2; i++) {
			pthread_join(workers[i].thread, NULL);
			fresh += workers[i].fresh;
		}
		shared += workers[0].fresh && workers[1].fresh;
		pthread_barrier_destroy(&start);
	}
	expect("two CPUs, exactly one of them told new", fresh, ROUNDS * BURST);
	printf("# %u of %u rounds really were shared\n", shared, ROUNDS);
	bloomdev_filter_close(filter);
}

static volatile bool stop;

static void *add_on(void *arg)
{
	static const char packet[64];
	long *runs = arg;

	while (!stop) {
		skel->bss->burst_first += BURST;
		run(skel->progs.on_burst, packet, sizeof(packet));
		++*runs;
	}
	return NULL;
}

/* Windows that rotate, fill up and die, while a program adds to them. */
static void test_dying(void)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_filter *filter;
	unsigned int i, used = 0;
	uint64_t keys = 0;
	pthread_t thread;
	long runs = 0;

	opts.flags = BLOOMDEV_BPF;
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 2;
	opts.period_ns = 10000000;
	opts.capacity = 1000;
	opts.fp_rate = 0.001;
	pthread_create(&thread, NULL, add_on, &runs);
	for (i = 0; i < LIVES; i++) {
		filter = bloomdev_filter_create(dev, &opts);
		if (!filter)
			bail_out("create");
		skel->bss->burst_id = id_of(filter);
		usleep(i % 16 * 1000);
		bloomdev_filter_count(filter, &keys);
		used += keys > 0;
		bloomdev_filter_close(filter);
	}
	stop = true;
	pthread_join(thread, NULL);
	printf("# %ld bursts, %u of %u filters had keys when they went\n", runs, used, LIVES);
	expect("filters die while a program adds to them", runs > 0 && used > 0, true);
	filter = create(BLOOMDEV_BPF, 0);
	expect("and the next one works", ask(skel->progs.on_xdp, DO_ADD, id_of(filter), "k", 1),
	       BLOOMDEV_ABSENT);
	bloomdev_filter_close(filter);
}

/* Of a classic filter: adding to a blocked one calls nothing that can be traced. */
static void test_tracing(void)
{
	struct bloomdev_filter *filter = create(BLOOMDEV_BPF, BLOOMDEV_KIND_CLASSIC);
	struct bpf_link *link = bpf_program__attach(skel->progs.in_add);
	uint64_t key = 42;

	if (!link)
		bail_out("attach");
	skel->bss->nested_key = key;
	skel->bss->nested_id = id_of(filter);
	expect("an ADD that is traced", bloomdev_filter_add_int(filter, key), 0);
	expect("was traced", skel->bss->nested_runs, 1);
	expect("the ADD inside was told busy", skel->bss->nested_answer, -EBUSY);
	expect("the query inside, absent", skel->bss->nested_query, 0);
	skel->bss->nested_id = 0;
	expect("then it is there", bloomdev_filter_query_int(filter, key), 1);
	bpf_link__destroy(link);
	bloomdev_filter_close(filter);
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* A tracing program that would wait for the lock it interrupts. */
static void test_refused(void)
{
	struct kfuncs_bpf *other = kfuncs_bpf__open();
	libbpf_print_fn_t print = libbpf_set_print(quiet);
	struct bpf_program *prog;

	if (!other)
		bail_out("open");
	bpf_object__for_each_program(prog, other->obj)
		bpf_program__set_autoload(prog, prog == other->progs.locking_in_add);
	expect("a tracing program cannot wait", kfuncs_bpf__load(other), -EACCES);
	libbpf_set_print(print);
	kfuncs_bpf__destroy(other);
}

static void test_unload(void)
{
	long err = syscall(SYS_delete_module, "bloom", O_NONBLOCK);

	expect("a loaded program holds the module", err ? -errno : 0, -EAGAIN);
}

int main(void)
{
	dev = bloomdev_device_open(NULL);
	if (!dev)
		bail_out("/dev/bloom");
	skel = kfuncs_bpf__open_and_load();
	if (!skel)
		bail_out("load");

	test_answers(skel->progs.on_xdp, "xdp");
	test_answers(skel->progs.on_tc, "tc");
	test_answers(skel->progs.on_syscall, "syscall");
	test_ids();
	test_kinds();
	test_exactly_one();
	test_dying();
	test_tracing();
	test_refused();
	bloomdev_device_close(dev);
	test_unload();

	kfuncs_bpf__destroy(skel);
	printf("1..%d\n", tests);
	return 0;
}
