// SPDX-License-Identifier: GPL-2.0
/*
 * What does it cost to know whether a packet is new? Nanoseconds a packet of
 * one XDP program with nothing, a window filter, an LRU hash, a BPF Bloom map.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <bloomdev.h>

#include "cost.h"
#include "cost.skel.h"

#define REPEAT	50000U
#define ROUNDS	4U	/* of REPEAT: they fill what holds CAPACITY */
#define PROGRAMS 4

static void die(const char *what)
{
	fprintf(stderr, "cost: %s: %s; %s\n", what, strerror(errno), bloomdev_message());
	exit(1);
}

static const char packet[64] = "sixteen bytes and so on";

static double run(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
		    .data_size_in = sizeof(packet), .repeat = REPEAT);
	int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);

	if (err) {
		errno = -err;
		die("test run");
	}
	return opts.duration;
}

static struct bloomdev_filter *make_filter(__u32 *id)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_device *dev = bloomdev_device_open(NULL);
	struct bloomdev_filter *filter;
	struct bloomdev_info *info;

	opts.flags = BLOOMDEV_BPF;
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 4;
	opts.period_ns = WINDOW_NS / 3;
	opts.capacity = CAPACITY;
	opts.fp_rate = 1e-4;
	filter = dev ? bloomdev_filter_create(dev, &opts) : NULL;
	info = filter ? bloomdev_filter_info(filter) : NULL;
	if (!info)
		die("filter");
	*id = info->id;
	printf("# filter: %llu bytes\n", (unsigned long long)info->bytes);
	bloomdev_info_free(info);
	bloomdev_device_close(dev);
	return filter;
}

/* The programs take turns, so that a busy machine is busy for all of them. */
static void measure(struct cost_bpf *skel, const char *what, __u64 mask)
{
	struct bpf_program *progs[PROGRAMS] = {
		skel->progs.with_nothing, skel->progs.with_filter,
		skel->progs.with_lru, skel->progs.with_bloom_map,
	};
	double ns, best[PROGRAMS];
	__u64 at[PROGRAMS] = { 0 };
	unsigned int round;
	int i;

	skel->bss->mask = mask;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PROGRAMS; i++) {
			skel->bss->counter = at[i];
			ns = run(progs[i]);
			at[i] = skel->bss->counter;
			if (!round || ns < best[i])
				best[i] = ns;
		}
	}
	printf("%-9s %8.0f %8.0f %8.0f %8.0f   %5.2f %5.2f\n", what, best[0], best[1],
	       best[2], best[3], best[2] / best[1], best[3] / best[1]);
}

int main(void)
{
	struct cost_bpf *skel = cost_bpf__open_and_load();
	struct bloomdev_filter *filter;

	if (!skel)
		die("load");
	filter = make_filter(&skel->bss->filter);
	printf("ns a packet; ratios to the filter\n");
	printf("%-9s %8s %8s %8s %8s   %5s %5s\n", "packets", "nothing", "filter",
	       "LRU", "BPF map", "LRU", "map");
	measure(skel, "new", ~0ULL);
	bloomdev_filter_clear(filter);
	measure(skel, "repeated", 1023);
	cost_bpf__destroy(skel);
	bloomdev_filter_close(filter);
	return 0;
}
