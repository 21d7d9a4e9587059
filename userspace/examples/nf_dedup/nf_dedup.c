// SPDX-License-Identifier: GPL-2.0
/*
 * nf_dedup: a netfilter hook that drops IPv4 packets seen a moment ago, as an
 * example of how a module uses a Bloom filter.
 *
 *	insmod nf_dedup.ko iface=eth1 window_ms=50
 *
 * Two packets are the same if they came in on the interface with the same
 * addresses, protocol, ports, IP id and fragment offset. Payload is not looked
 * at; so packets that have no id worth the name, those that forbid
 * fragmentation and say 0 (RFC 6864), are let through.
 *
 * What an example should show:
 *   - the filter is made before the first hook can run, and given back after
 *     the last one has: hooks run in softirq under rcu_read_lock, so that is
 *     after unregistering and a grace period;
 *   - bloom_add() may be called from there, and says whether the key was new;
 *   - keys are bytes: padding is part of them, hence a packed structure;
 *   - the filter is an object like any other: 'bloomctl list' shows it if a name
 *     is given, and rmmod bloom is refused while it is held.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "bloom.h"

#define GENERATIONS	4

static char iface[IFNAMSIZ];
module_param_string(iface, iface, sizeof(iface), 0444);
MODULE_PARM_DESC(iface, "interface on which to look, in any network namespace");

static unsigned int window_ms = 50;
module_param(window_ms, uint, 0444);
MODULE_PARM_DESC(window_ms, "how long a packet is remembered, at least 30");

static unsigned int rate = 100000;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "packets a second to have room for");

static char *name;
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "use the filter of this name in place of one of our own");

static struct bloom_filter *filter;
static DEFINE_PER_CPU(unsigned long, dropped);

static int get_dropped(char *buffer, const struct kernel_param *kp)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&dropped, cpu));
	return sysfs_emit(buffer, "%lu\n", sum);
}

static const struct kernel_param_ops dropped_ops = { .get = get_dropped };
module_param_cb(dropped, &dropped_ops, NULL, 0444);
MODULE_PARM_DESC(dropped, "duplicates dropped so far");

/* A cookie, as an interface's name means something in its namespace only. */
struct packet_key {
	u64 namespace;
	__be32 saddr;
	__be32 daddr;
	__be32 ports;
	__be16 id;
	__be16 frag_off;
	u8 protocol;
} __packed;

/* The first words of TCP, UDP, SCTP, DCCP are the ports; else 0. */
static __be32 get_ports(const struct sk_buff *skb, const struct iphdr *ip)
{
	__be32 buffer, *ports;

	if (ip->frag_off & htons(IP_OFFSET))
		return 0;
	switch (ip->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		ports = skb_header_pointer(skb, skb_network_offset(skb) + ip->ihl * 4,
					   sizeof(buffer), &buffer);
		return ports ? *ports : 0;
	}
	return 0;
}

/* Softirq, under rcu_read_lock. The IP header has been checked by ip_rcv(). */
static unsigned int hook(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct packet_key key;

	if (strcmp(state->in->name, iface))
		return NF_ACCEPT;
	if (!ip->id && ip->frag_off & htons(IP_DF))
		return NF_ACCEPT;

	key = (struct packet_key){
		.namespace = state->net->net_cookie,
		.saddr = ip->saddr,
		.daddr = ip->daddr,
		.ports = get_ports(skb, ip),
		.id = ip->id,
		.frag_off = ip->frag_off & htons(IP_OFFSET | IP_MF),
		.protocol = ip->protocol,
	};
	if (bloom_add(filter, &key, sizeof(key)) != BLOOM_PRESENT)
		return NF_ACCEPT;
	this_cpu_inc(dropped);
	return NF_DROP;
}

static const struct nf_hook_ops hook_ops = {
	.hook		= hook,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_PRE_ROUTING,
	.priority	= NF_IP_PRI_RAW_BEFORE_DEFRAG,
};

static int __net_init net_init(struct net *net)
{
	return nf_register_net_hook(net, &hook_ops);
}

static void __net_exit net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &hook_ops);
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.exit = net_exit,
};

static struct bloom_filter *make_filter(void)
{
	/* A packet is remembered for GENERATIONS - 1 periods at least. */
	const u64 period_ms = DIV_ROUND_UP(window_ms, GENERATIONS - 1);
	const struct bloom_create params = {
		.growth = BLOOM_GROWTH_WINDOW,
		.generations = GENERATIONS,
		.period_ns = period_ms * NSEC_PER_MSEC,
		.capacity = div_u64(rate * period_ms, MSEC_PER_SEC) + 1,
		.fp_rate = ~0ULL / 10000,
	};

	return bloom_create(&params);
}

static int __init nf_dedup_init(void)
{
	int err;

	if (!iface[0]) {
		pr_err("iface= is missing\n");
		return -EINVAL;
	}
	filter = name ? bloom_get(name) : make_filter();
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	err = register_pernet_subsys(&net_ops);
	if (err)
		bloom_put(filter);
	return err;
}

static void __exit nf_dedup_exit(void)
{
	unregister_pernet_subsys(&net_ops);
	/* Hooks that began before are still at it. */
	synchronize_rcu();
	bloom_put(filter);
}

module_init(nf_dedup_init);
module_exit(nf_dedup_exit);

MODULE_DESCRIPTION("Drop IPv4 packets that were seen a moment ago");
MODULE_LICENSE("GPL");
