// SPDX-License-Identifier: GPL-2.0
/*
 * xdp_dedup's programs, one packet at a time: which differences between two
 * frames make them two packets. TAP on standard output.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <bloomdev.h>

#include "xdp_dedup.h"
#include "xdp_dedup.skel.h"

#define ALL	(IGNORE_TTL | IGNORE_CHECKSUM | IGNORE_TOS | IGNORE_VLAN)
#define MARK	77U

struct packet {
	unsigned char bytes[2048];
	size_t len;
};

/* One way to run a frame through one of the programs. */
struct setting {
	const char *name;
	bool tc;
	struct xdp_dedup_bpf *skel;
	struct bloomdev_filter *filter;
	int pass, drop;
};

static int tests;

static void bail_out(const char *what)
{
	printf("Bail out! %s: %s; %s\n", what, strerror(errno), bloomdev_message());
	exit(1);
}

static void check(const char *where, const char *what, bool good)
{
	printf("%sok %d - %s: %s\n", good ? "" : "not ", ++tests, where, what);
}

static struct setting load(const char *name, bool tc, struct dedup_config config)
{
	struct setting s = { .name = name, .tc = tc, .pass = XDP_PASS, .drop = XDP_DROP };
	struct bloomdev_options opts = BLOOMDEV_OPTIONS_INIT;
	struct bloomdev_device *dev = bloomdev_device_open(NULL);
	struct bloomdev_info *info;

	opts.flags = BLOOMDEV_BPF;
	opts.growth = BLOOMDEV_GROWTH_WINDOW;
	opts.generations = 2;
	opts.capacity = 1000;
	opts.fp_rate = 1e-9;
	s.filter = dev ? bloomdev_filter_create(dev, &opts) : NULL;
	info = s.filter ? bloomdev_filter_info(s.filter) : NULL;
	if (!info)
		bail_out("filter");
	config.filter = info->id;
	if (!config.bytes)
		config.bytes = BYTES_COPIED;
	bloomdev_info_free(info);
	bloomdev_device_close(dev);

	s.skel = xdp_dedup_bpf__open();
	if (!s.skel)
		bail_out("open");
	bpf_program__set_autoload(s.skel->progs.dedup_xdp, !tc);
	bpf_program__set_autoload(s.skel->progs.dedup_tc, tc);
	memcpy((void *)&s.skel->rodata->config, &config, sizeof(config));
	if (xdp_dedup_bpf__load(s.skel))
		bail_out("load");
	if (tc) {
		s.pass = TC_ACT_OK;
		s.drop = TC_ACT_SHOT;
	}
	return s;
}

static void unload(struct setting *s)
{
	xdp_dedup_bpf__destroy(s->skel);
	bloomdev_filter_close(s->filter);
}

static int run(struct setting *s, const struct packet *p, __u32 *mark)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = p->bytes,
		    .data_size_in = p->len, .repeat = 1);
	struct __sk_buff skb = { 0 };
	int err;

	if (s->tc) {
		opts.ctx_in = &skb;
		opts.ctx_out = &skb;
		opts.ctx_size_in = sizeof(skb);
		opts.ctx_size_out = sizeof(skb);
	}
	err = bpf_prog_test_run_opts(bpf_program__fd(s->tc ? s->skel->progs.dedup_tc :
							     s->skel->progs.dedup_xdp),
				     &opts);
	if (err) {
		errno = -err;
		bail_out("test run");
	}
	if (mark)
		*mark = skb.mark;
	return opts.retval;
}

/* Is the second frame, after the first, taken for a copy of it? */
static void pair(struct setting *s, const char *what, const struct packet *a,
		 const struct packet *b, bool copy)
{
	bool good;

	bloomdev_filter_clear(s->filter);
	good = run(s, a, NULL) == s->pass;
	good = good && run(s, b, NULL) == (copy ? s->drop : s->pass);
	good = good && run(s, a, NULL) == s->drop;
	check(s->name, what, good);
}

static struct packet ipv4(void)
{
	struct packet p = { .len = 14 + 20 + 100 };
	struct iphdr *ip = (void *)(p.bytes + 14);

	memcpy(p.bytes, "\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0", 14);
	memset(p.bytes + 34, 'x', 100);
	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(120);
	ip->id = htons(4711);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = htonl(0x0a000001);
	ip->daddr = htonl(0x0a000002);
	ip->check = htons(0x1234);
	return p;
}

static struct packet ipv6(void)
{
	struct packet p = { .len = 14 + 40 + 100 };
	struct ipv6hdr *ip = (void *)(p.bytes + 14);

	memcpy(p.bytes, "\x02\0\0\0\0\1\x02\0\0\0\0\2\x86\xdd", 14);
	memset(p.bytes + 54, 'y', 100);
	ip->version = 6;
	ip->payload_len = htons(100);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = 64;
	ip->saddr.s6_addr[0] = 0x20;
	ip->daddr.s6_addr[0] = 0x20;
	ip->daddr.s6_addr[15] = 1;
	return p;
}

static struct packet arp(void)
{
	struct packet p = { .len = 60 };

	memcpy(p.bytes, "\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\2\x08\6", 14);
	memset(p.bytes + 14, 1, 28);
	return p;
}

/* The frame with a byte changed. */
static struct packet with(struct packet p, size_t at, unsigned char value)
{
	p.bytes[at] = value;
	return p;
}

/* The frame with a tag more. */
static struct packet tagged(struct packet p, unsigned char id)
{
	memmove(p.bytes + 16, p.bytes + 12, p.len - 12);
	memcpy(p.bytes + 12, "\x81\0\0", 3);
	p.bytes[15] = id;
	p.len += 4;
	return p;
}

static struct packet longer(struct packet p, size_t by)
{
	p.len += by;
	return p;
}

#define PAIR(s, what, a, b, copy) do {					\
	struct packet first = a, second = b;				\
									\
	pair(s, what, &first, &second, copy);				\
} while (0)

static void test_ignoring(bool tc)
{
	struct setting s = load(tc ? "tc" : "xdp", tc,
				(struct dedup_config){ .ignore = ALL });
	struct packet v4 = ipv4(), v6 = ipv6(), other = arp();

	PAIR(&s, "IPv4, the same", v4, v4, true);
	PAIR(&s, "IPv4, TTL", v4, with(v4, 22, 63), true);
	PAIR(&s, "IPv4, checksum", v4, with(v4, 24, 99), true);
	PAIR(&s, "IPv4, TOS", v4, with(v4, 15, 8), true);
	PAIR(&s, "IPv4, link-layer address", v4, with(v4, 6, 99), true);
	PAIR(&s, "IPv4, id", v4, with(v4, 18, 99), false);
	PAIR(&s, "IPv4, fragment offset", v4, with(v4, 21, 9), false);
	PAIR(&s, "IPv4, more fragments", v4, with(v4, 20, 0x20), false);
	PAIR(&s, "IPv4, protocol", v4, with(v4, 23, 6), false);
	PAIR(&s, "IPv4, source", v4, with(v4, 29, 9), false);
	PAIR(&s, "IPv4, destination", v4, with(v4, 33, 9), false);
	PAIR(&s, "IPv4, first byte of payload", v4, with(v4, 34, 9), false);
	PAIR(&s, "IPv4, last byte of payload", v4, with(v4, 133, 9), false);
	PAIR(&s, "IPv4, padding of the frame", v4, longer(v4, 7), true);
	PAIR(&s, "IPv4, a VLAN tag", v4, tagged(v4, 5), true);
	PAIR(&s, "IPv4, another VLAN tag", tagged(v4, 6), tagged(v4, 5), true);
	PAIR(&s, "IPv4, two VLAN tags", v4, tagged(tagged(v4, 6), 5), true);
	PAIR(&s, "IPv4, tag and TTL", tagged(v4, 6), with(v4, 22, 63), true);
	PAIR(&s, "IPv4, tag and id", tagged(v4, 6), with(v4, 18, 99), false);

	PAIR(&s, "IPv6, hop limit", v6, with(v6, 21, 63), true);
	PAIR(&s, "IPv6, traffic class", v6, with(v6, 15, 0x10), true);
	PAIR(&s, "IPv6, flow label", v6, with(v6, 17, 9), true);
	PAIR(&s, "IPv6, next header", v6, with(v6, 20, 6), false);
	PAIR(&s, "IPv6, source", v6, with(v6, 37, 9), false);
	PAIR(&s, "IPv6, last byte of payload", v6, with(v6, 153, 9), false);
	PAIR(&s, "IPv6, padding", v6, longer(v6, 7), true);
	PAIR(&s, "IPv6, a VLAN tag", tagged(v6, 6), v6, true);

	PAIR(&s, "other, the same", other, other, true);
	PAIR(&s, "other, source address", other, with(other, 11, 9), false);
	PAIR(&s, "other, last byte", other, with(other, 59, 9), false);
	PAIR(&s, "other, longer", other, longer(other, 4), false);
	PAIR(&s, "other, a VLAN tag", other, tagged(other, 9), true);
	PAIR(&s, "other, two tags", tagged(other, 9), tagged(tagged(other, 1), 2), true);
	unload(&s);
}

static void test_exact(bool tc)
{
	struct setting s = load(tc ? "tc, nothing ignored" : "xdp, nothing ignored",
				tc, (struct dedup_config){ 0 });
	struct packet v4 = ipv4(), other = arp();

	PAIR(&s, "the same", v4, v4, true);
	PAIR(&s, "TTL", v4, with(v4, 22, 63), false);
	PAIR(&s, "checksum", v4, with(v4, 24, 99), false);
	PAIR(&s, "TOS", v4, with(v4, 15, 8), false);
	PAIR(&s, "link-layer address", v4, with(v4, 6, 99), true);
	PAIR(&s, "a VLAN tag", v4, tagged(v4, 5), false);
	PAIR(&s, "another VLAN tag", tagged(v4, 6), tagged(v4, 5), false);
	PAIR(&s, "the same tag", tagged(v4, 6), tagged(v4, 6), true);
	PAIR(&s, "other, a VLAN tag", other, tagged(other, 9), false);
	PAIR(&s, "other, the same tag", tagged(other, 9), tagged(other, 9), true);
	PAIR(&s, "other, another tag", tagged(other, 9), tagged(other, 8), false);
	unload(&s);
}

static void test_short(void)
{
	struct setting s = load("xdp, 64 bytes", false,
				(struct dedup_config){ .ignore = ALL, .bytes = 64 });
	struct packet v4 = ipv4();

	PAIR(&s, "byte 64", v4, with(v4, 63, 9), false);
	PAIR(&s, "byte 65", v4, with(v4, 64, 9), true);
	unload(&s);
}

static void test_harmless(void)
{
	struct setting s = load("dry run", false,
				(struct dedup_config){ .ignore = ALL, .dry_run = 1 });
	struct packet v4 = ipv4();
	__u32 mark = 0;

	check(s.name, "passes", run(&s, &v4, NULL) == XDP_PASS &&
	      run(&s, &v4, NULL) == XDP_PASS);
	/* Whoever made the filter ends: packets pass. */
	bloomdev_filter_close(s.filter);
	s.filter = NULL;
	unload(&s);

	s = load("tc, mark", true, (struct dedup_config){ .ignore = ALL, .mark = MARK });
	check(s.name, "new", run(&s, &v4, &mark) == TC_ACT_OK && !mark);
	check(s.name, "copy", run(&s, &v4, &mark) == TC_ACT_OK && mark == MARK);
	unload(&s);
}

/* Every length, cut short anywhere: the verifier's bounds, and no false copy. */
static void test_truncated(void)
{
	struct setting s = load("xdp, truncated", false,
				(struct dedup_config){ .ignore = ALL });
	struct packet shapes[] = { ipv4(), ipv6(), tagged(ipv4(), 1),
				   tagged(tagged(ipv6(), 1), 2), arp() };
	bool good = true;
	size_t i, len;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		bloomdev_filter_clear(s.filter);
		/* A tag that is cut is none, and two are one if one is cut. */
		for (len = 22; len <= 60; len++) {
			shapes[i].len = len;
			good = good && run(&s, &shapes[i], NULL) == XDP_PASS;
			good = good && run(&s, &shapes[i], NULL) == XDP_DROP;
		}
	}
	check(s.name, "each length is a packet", good);
	unload(&s);
}

int main(void)
{
	int tc;

	for (tc = 0; tc < 2; tc++) {
		test_ignoring(tc);
		test_exact(tc);
	}
	test_short();
	test_harmless();
	test_truncated();
	printf("1..%d\n", tests);
	return 0;
}
