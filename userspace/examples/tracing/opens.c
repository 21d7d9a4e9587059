// SPDX-License-Identifier: GPL-2.0
/*
 * opens [SECONDS]: print each file that each process opens, once in a window of
 * as many seconds (default 60), until interrupted; then how many were opened.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <bloomdev.h>

#include "opens.h"
#include "opens.skel.h"

#define GENERATIONS	4
#define CAPACITY	100000	/* pairs in each of them */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "opens: %s: %s\n", what, why);
	exit(2);
}

static int on_event(void *context, void *data, size_t size)
{
	const struct opens_event *event = data;

	(void)context;
	(void)size;
	printf("%u\t%s\t%s\n", event->pid, event->comm, event->path);
	return 0;
}

static struct bloomdev_filter *make_filter(double seconds, __u32 *id)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_device *dev = bloomdev_device_open(NULL);
	struct bloomdev_filter *filter;
	struct bloomdev_info *info;

	opts.flags = BLOOMDEV_BPF;
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = GENERATIONS;
	opts.period_ns = seconds / (GENERATIONS - 1) * 1e9;
	opts.capacity = CAPACITY;
	opts.fp_rate = 1e-4;
	filter = dev ? bloomdev_filter_create(dev, &opts) : NULL;
	info = filter ? bloomdev_filter_info(filter) : NULL;
	if (!info)
		die("filter", bloomdev_message());
	*id = info->id;
	bloomdev_info_free(info);
	bloomdev_device_close(dev);
	return filter;
}

static void print_counters(struct opens_bpf *skel)
{
	int cpu, cpus = libbpf_num_possible_cpus();
	struct opens_counters sum = { 0 }, *each = calloc(cpus, sizeof(*each));
	__u32 zero = 0;

	if (!each || bpf_map__lookup_elem(skel->maps.counters, &zero, sizeof(zero),
					  each, cpus * sizeof(*each), 0))
		die("counters", strerror(errno));
	for (cpu = 0; cpu < cpus; cpu++) {
		sum.opened += each[cpu].opened;
		sum.reported += each[cpu].reported;
		sum.busy += each[cpu].busy;
		sum.lost += each[cpu].lost;
	}
	free(each);
	fprintf(stderr, "opened %llu, reported %llu, of these busy %llu, lost %llu\n",
		sum.opened, sum.reported, sum.busy, sum.lost);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	double seconds = argc > 1 ? atof(argv[1]) : 60;
	struct bloomdev_filter *filter;
	struct ring_buffer *ring;
	struct opens_bpf *skel;
	__u32 id;

	if (argc > 2 || !(seconds >= 0.03)) {
		fputs("usage: opens [SECONDS]\n", stderr);
		return 2;
	}
	filter = make_filter(seconds, &id);
	skel = opens_bpf__open();
	if (!skel)
		die("BPF program", strerror(errno));
	skel->rodata->filter = id;
	skel->rodata->self = getpid();
	errno = -opens_bpf__load(skel);
	if (errno)
		die("BPF program", strerror(errno));
	ring = ring_buffer__new(bpf_map__fd(skel->maps.events), on_event, NULL, NULL);
	errno = -opens_bpf__attach(skel);
	if (!ring || errno)
		die("attach", strerror(errno));

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	fputs("opens: attached\n", stderr);
	while (!stop && ring_buffer__poll(ring, 200) >= -EINTR)
		fflush(stdout);
	opens_bpf__detach(skel);
	ring_buffer__consume(ring);
	print_counters(skel);

	ring_buffer__free(ring);
	opens_bpf__destroy(skel);
	bloomdev_filter_close(filter);
	return fflush(stdout) ? 2 : 0;
}
