// SPDX-License-Identifier: GPL-2.0
/*
 * xdp_dedup: drop packets that arrive twice, as mirror ports and taps deliver
 * them, before anything else in the machine sees them.
 */
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include <bloomdev.h>

#include "xdp_dedup.h"
#include "xdp_dedup.skel.h"

#define INTERFACES_MAX	16
#define NS_PER_MS	1000000ULL

struct options {
	const char *filter;
	double window_ms;
	double rate;
	double fp_rate;
	unsigned int generations;
	__u32 xdp_flags;
	bool tc;
	bool json;
	double interval;
	double duration;
	struct dedup_config config;
};

struct attachment {
	int ifindex;
	int link;			/* XDP's descriptor */
	struct bpf_tc_hook hook;	/* tc */
	struct bpf_tc_opts opts;
	bool hook_is_ours;
};

static struct attachment attachments[INTERFACES_MAX];
static int attached;
static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void print_usage(FILE *to)
{
	fputs("usage: xdp_dedup [option...] INTERFACE...\n"
	      "\n"
	      "drop packets that were seen within the window, on any of the interfaces\n"
	      "\n"
	      "  -w, --window MS        how long a packet is remembered (default 50)\n"
	      "  -r, --rate PPS         packets a second to have room for (default 1000000)\n"
	      "  -p, --fp-rate P        share of new packets that may be lost (default 1e-4)\n"
	      "  -g, --generations G    of the window, 2 to 16 (default 4): a packet is\n"
	      "                         remembered for MS to MS * G / (G - 1)\n"
	      "  -f, --filter NAME      use this filter, made with 'bloomctl create --bpf',\n"
	      "                         in place of one of our own\n"
	      "  -i, --ignore LIST      what may differ between copies: ttl, checksum, tos,\n"
	      "                         vlan, or none (default ttl,checksum,tos,vlan)\n"
	      "  -b, --bytes N          compare the first N bytes only (default 16379)\n"
	      "  -n, --dry-run          count, drop nothing\n"
	      "  -m, --mode MODE        native, skb or auto (default): how XDP attaches\n"
	      "  -t, --tc               run in tc's ingress in place of XDP\n"
	      "  -k, --mark MARK        with --tc: mark duplicates, drop nothing\n"
	      "  -j, --json             print the counters as JSON, one object a line\n"
	      "  -s, --interval S       how often to tell (default 1)\n"
	      "  -d, --duration S       end after so long (default: when interrupted)\n"
	      "  -h, --help             print this\n", to);
}

static void die(const char *what, int err)
{
	fprintf(stderr, "xdp_dedup: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(2);
}

static void die_usage(const char *what, const char *value)
{
	fprintf(stderr, "xdp_dedup: %s: %s\n", what, value);
	exit(2);
}

static double number(const char *what, const char *text, double low, double high)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low && value <= high))
		die_usage(what, text);
	return value;
}

static __u32 ignore_list(char *list)
{
	static const struct { const char *name; __u32 flag; } names[] = {
		{ "ttl", IGNORE_TTL }, { "checksum", IGNORE_CHECKSUM },
		{ "tos", IGNORE_TOS }, { "vlan", IGNORE_VLAN }, { "none", 0 },
	};
	const size_t count = sizeof(names) / sizeof(names[0]);
	__u32 flags = 0;
	char *word;
	size_t i;

	for (word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		for (i = 0; i < count && strcmp(word, names[i].name); i++)
			;
		if (i == count)
			die_usage("--ignore knows ttl, checksum, tos, vlan, none", word);
		flags |= names[i].flag;
	}
	return flags;
}

static __u32 xdp_mode(const char *mode)
{
	if (!strcmp(mode, "native"))
		return XDP_FLAGS_DRV_MODE;
	if (!strcmp(mode, "skb"))
		return XDP_FLAGS_SKB_MODE;
	if (strcmp(mode, "auto"))
		die_usage("--mode knows native, skb, auto", mode);
	return 0;
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "window", required_argument, NULL, 'w' },
		{ "rate", required_argument, NULL, 'r' },
		{ "fp-rate", required_argument, NULL, 'p' },
		{ "generations", required_argument, NULL, 'g' },
		{ "filter", required_argument, NULL, 'f' },
		{ "ignore", required_argument, NULL, 'i' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "mode", required_argument, NULL, 'm' },
		{ "tc", no_argument, NULL, 't' },
		{ "mark", required_argument, NULL, 'k' },
		{ "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 's' },
		{ "duration", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "w:r:p:g:f:i:b:nm:tk:js:d:h", longs,
				NULL)) != -1) {
		switch (c) {
		case 'w':
			o->window_ms = number("--window", optarg, 10, 1e9);
			break;
		case 'r':
			o->rate = number("--rate", optarg, 1, 1e12);
			break;
		case 'p':
			o->fp_rate = number("--fp-rate", optarg, 1e-9, 0.5);
			break;
		case 'g':
			o->generations = number("--generations", optarg, 2, 16);
			break;
		case 'f':
			o->filter = optarg;
			break;
		case 'i':
			o->config.ignore = ignore_list(optarg);
			break;
		case 'b':
			o->config.bytes = number("--bytes", optarg, 64, BYTES_COPIED);
			break;
		case 'n':
			o->config.dry_run = 1;
			break;
		case 'm':
			o->xdp_flags = xdp_mode(optarg);
			break;
		case 't':
			o->tc = true;
			break;
		case 'k':
			o->config.mark = number("--mark", optarg, 1, ~0U);
			break;
		case 'j':
			o->json = true;
			break;
		case 's':
			o->interval = number("--interval", optarg, 0.01, 1e6);
			break;
		case 'd':
			o->duration = number("--duration", optarg, 0.01, 1e9);
			break;
		case 'h':
			print_usage(stdout);
			exit(0);
		default:
			print_usage(stderr);
			exit(2);
		}
	}
	if (optind == argc || argc - optind > INTERFACES_MAX) {
		print_usage(stderr);
		exit(2);
	}
	if (o->config.mark && !o->tc)
		die_usage("--mark needs --tc", "XDP has no mark");
}

/*
 * A key is remembered for G - 1 whole periods at least, so these make up the
 * window; a generation holds what arrives in one.
 */
static struct bloomdev_filter *make_filter(struct bloomdev_device *dev,
					   const struct options *o)
{
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	double period_ms = o->window_ms / (o->generations - 1);

	if (period_ms < 10)
		die_usage("a period, the window / (generations - 1), lasts at least",
			  "10 ms");
	opts.flags = BLOOMDEV_BPF;
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = o->generations;
	opts.period_ns = period_ms * NS_PER_MS;
	opts.capacity = o->rate * period_ms / 1000 + 1;
	opts.fp_rate = o->fp_rate;
	return bloomdev_filter_create(dev, &opts);
}

static struct bloomdev_filter *get_filter(struct options *o)
{
	struct bloomdev_device *dev = bloomdev_device_open(NULL);
	struct bloomdev_filter *filter;
	struct bloomdev_info *info;

	if (!dev)
		die_usage("/dev/bloom", bloomdev_message());
	filter = o->filter ? bloomdev_filter_open(dev, o->filter, BLOOMDEV_READ) :
			     make_filter(dev, o);
	if (!filter)
		die_usage("filter", bloomdev_message());
	info = bloomdev_filter_info(filter);
	if (!info)
		die_usage("filter", bloomdev_message());
	if (!(info->flags & BLOOMDEV_BPF))
		die_usage(o->filter, "is not open to BPF programs (create --bpf)");
	o->config.filter = info->id;
	bloomdev_info_free(info);
	bloomdev_device_close(dev);
	return filter;
}

/* An XDP link goes with its descriptor, whatever ends us; tc's is taken away. */
static void detach_all(void)
{
	while (attached) {
		struct attachment *a = &attachments[--attached];

		if (a->link > 0) {
			close(a->link);
			continue;
		}
		a->opts.flags = 0;
		a->opts.prog_fd = 0;
		a->opts.prog_id = 0;
		bpf_tc_detach(&a->hook, &a->opts);
		if (!a->hook_is_ours)
			continue;
		a->hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
		bpf_tc_hook_destroy(&a->hook);
	}
}

static int attach_tc(struct attachment *a, const struct bpf_program *prog)
{
	int err;

	a->hook = (struct bpf_tc_hook){
		.sz = sizeof(a->hook), .ifindex = a->ifindex,
		.attach_point = BPF_TC_INGRESS,
	};
	a->opts = (struct bpf_tc_opts){
		.sz = sizeof(a->opts), .prog_fd = bpf_program__fd(prog),
		.handle = 1, .priority = 1,
	};
	err = bpf_tc_hook_create(&a->hook);
	if (err && err != -EEXIST)
		return err;
	a->hook_is_ours = !err;
	return bpf_tc_attach(&a->hook, &a->opts);
}

static int attach_xdp(struct attachment *a, const struct bpf_program *prog,
		      __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	a->link = bpf_link_create(bpf_program__fd(prog), a->ifindex, BPF_XDP,
				  &opts);
	return a->link < 0 ? a->link : 0;
}

static void attach_all(const struct options *o, struct xdp_dedup_bpf *skel,
		       char **names)
{
	int err;

	atexit(detach_all);
	for (; *names; names++) {
		struct attachment *a = &attachments[attached];

		a->ifindex = if_nametoindex(*names);
		if (!a->ifindex)
			die(*names, errno);
		err = o->tc ? attach_tc(a, skel->progs.dedup_tc) :
			      attach_xdp(a, skel->progs.dedup_xdp, o->xdp_flags);
		if (err)
			die(*names, err);
		attached++;
	}
}

static struct dedup_counters read_counters(struct xdp_dedup_bpf *skel)
{
	const size_t words = sizeof(struct dedup_counters) / sizeof(__u64);
	struct dedup_counters sum = { 0 };
	int cpu, cpus = libbpf_num_possible_cpus();
	struct dedup_counters *each;
	__u32 zero = 0;
	size_t i;

	each = calloc(cpus, sizeof(*each));
	if (!each)
		die("counters", ENOMEM);
	if (bpf_map__lookup_elem(skel->maps.counters, &zero, sizeof(zero), each,
				 cpus * sizeof(*each), 0))
		die("counters", errno);
	for (cpu = 0; cpu < cpus; cpu++)
		for (i = 0; i < words; i++)
			((__u64 *)&sum)[i] += ((__u64 *)&each[cpu])[i];
	free(each);
	return sum;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print_json(const struct dedup_counters *c, double seconds,
		       const struct bloomdev_info *info)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	printf("{\"time\":%.6f,\"seconds\":%.3f,\"packets\":%llu,\"bytes\":%llu,",
	       ts.tv_sec + ts.tv_nsec / 1e9, seconds, c->packets, c->bytes);
	printf("\"duplicates\":%llu,\"duplicate_bytes\":%llu,",
	       c->duplicates, c->duplicate_bytes);
	printf("\"ipv4\":%llu,\"ipv6\":%llu,\"other\":%llu,\"fragments\":%llu,",
	       c->ipv4, c->ipv6, c->packets - c->ipv4 - c->ipv6, c->fragments);
	printf("\"vlan\":%llu,\"cut\":%llu,\"errors\":%llu,",
	       c->vlan, c->cut, c->errors);
	printf("\"filter\":{\"id\":%u,\"bytes\":%llu,\"error\":%.3g,\"saturated\":%s,"
	       "\"rotations\":%llu,\"rotations_late\":%llu}}\n",
	       info->id, (unsigned long long)info->bytes,
	       bloomdev_info_error(info, -1), info->saturated ? "true" : "false",
	       (unsigned long long)info->rotations,
	       (unsigned long long)info->rotations_late);
	if (fflush(stdout))
		die("standard output", errno);
}

static void print_line(const struct dedup_counters *c,
		       const struct dedup_counters *before, double seconds,
		       const struct bloomdev_info *info, bool last)
{
	bool live = isatty(STDERR_FILENO);

	fprintf(stderr,
		"%s%llu packets, %.0f/s; %llu duplicates, %.1f %%; %llu errors; may lose %.2g%s%s",
		live ? "\r" : "", c->packets,
		(c->packets - before->packets) / seconds, c->duplicates,
		c->packets ? 100.0 * c->duplicates / c->packets : 0, c->errors,
		bloomdev_info_error(info, -1),
		info->saturated ? "; more packets than --rate" : "",
		live && !last ? "\033[K" : "\n");
}

static void watch(const struct options *o, struct xdp_dedup_bpf *skel,
		  struct bloomdev_filter *filter)
{
	struct dedup_counters count, before = { 0 };
	double start = now(), last = start, t = start, wait;

	while (!stop && t - start < o->duration) {
		struct bloomdev_info *info;

		wait = o->interval;
		if (wait > o->duration - (t - start))
			wait = o->duration - (t - start);
		/* A signal ends the sleep. */
		nanosleep(&(struct timespec){ wait, (wait - (long)wait) * 1e9 },
			  NULL);
		t = now();
		if (stop || t - start >= o->duration)
			detach_all();
		count = read_counters(skel);
		info = bloomdev_filter_info(filter);
		if (!info)
			die_usage("filter", bloomdev_message());
		if (o->json)
			print_json(&count, t - start, info);
		else
			print_line(&count, &before, t - last, info, !attached);
		bloomdev_info_free(info);
		before = count;
		last = t;
	}
}

int main(int argc, char **argv)
{
	struct options o = {
		.window_ms = 50, .rate = 1e6, .fp_rate = 1e-4, .generations = 4,
		.interval = 1, .duration = 1e18,
		.config = {
			.bytes = BYTES_COPIED,
			.ignore = IGNORE_TTL | IGNORE_CHECKSUM | IGNORE_TOS |
				  IGNORE_VLAN,
		},
	};
	struct sigaction action = { .sa_handler = on_signal };
	struct bloomdev_filter *filter;
	struct xdp_dedup_bpf *skel;
	int err;

	parse(argc, argv, &o);
	filter = get_filter(&o);

	skel = xdp_dedup_bpf__open();
	if (!skel)
		die("BPF program", errno);
	/* Only what is used is loaded: a kernel may lack the other. */
	bpf_program__set_autoload(skel->progs.dedup_xdp, !o.tc);
	bpf_program__set_autoload(skel->progs.dedup_tc, o.tc);
	memcpy((void *)&skel->rodata->config, &o.config, sizeof(o.config));
	err = xdp_dedup_bpf__load(skel);
	if (err == -ESRCH || err == -EINVAL)
		fputs("xdp_dedup: is bloom.ko loaded, and with BTF? see /sys/kernel/btf/bloom\n",
		      stderr);
	if (err)
		die("BPF program", err);

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	attach_all(&o, skel, argv + optind);
	fprintf(stderr, "xdp_dedup: attached to %d interface(s)%s\n", attached,
		o.config.dry_run ? ", dry run" : "");
	watch(&o, skel, filter);

	detach_all();
	xdp_dedup_bpf__destroy(skel);
	bloomdev_filter_close(filter);
	return 0;
}
