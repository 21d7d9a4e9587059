/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a packet to the key that its copies share.
 *
 * An IP packet's key is the packet itself from the IP header to its end, padding
 * of the frame left out, with the ignored fields set to zero; so it covers
 * addresses, protocol, IP id, fragment offset, length and payload. Link-layer
 * addresses are no part of it, as two taps see them differ. Of any other frame
 * all is the key. VLAN tags, unless ignored, come first.
 */
#ifndef PACKET_BPF_H
#define PACKET_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "xdp_dedup.h"

#define VLAN_TAGS_MAX	2
#define VLAN_BYTES	4U
#define MACS		12U		/* bytes of the two addresses */
#define HEADROOM	16U		/* for a tag that is not in the frame */
#define START_MASK	63U

/* A frame is copied to @frame; the key is made there in place. */
struct scratch {
	__u8 headroom[HEADROOM];
	__u8 frame[BYTES_MAX + 1 + START_MASK + 1];
};

struct key {
	__u32 start;	/* in struct scratch; at most START_MASK */
	__u32 len;	/* at most BYTES_MAX */
};

static __always_inline __u16 get16(const void *p)
{
	__u16 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

static __always_inline int is_vlan(__u16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) ||
	       proto == bpf_htons(ETH_P_8021AD);
}

/* Return: where the IPv4 packet at @l3 ends, in the frame. */
static __always_inline __u32 mask_ipv4(__u8 *p, __u32 ignore, __u32 l3,
				       struct dedup_counters *count)
{
	struct iphdr *ip = (struct iphdr *)p;
	__u32 len = bpf_ntohs(get16(&ip->tot_len));

	count->ipv4++;
	if (ip->frag_off & bpf_htons(0x3fff))
		count->fragments++;
	if (ignore & IGNORE_TTL)
		ip->ttl = 0;
	if (ignore & IGNORE_CHECKSUM)
		ip->check = 0;
	if (ignore & IGNORE_TOS)
		ip->tos = 0;
	/* 0: segments put together by the kernel, longer than 64 KiB */
	return len ? l3 + len : ~0U;
}

static __always_inline __u32 mask_ipv6(__u8 *p, __u32 ignore, __u32 l3,
				       struct dedup_counters *count)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)p;
	__u32 len = bpf_ntohs(get16(&ip->payload_len));

	count->ipv6++;
	if (ip->nexthdr == IPPROTO_FRAGMENT)
		count->fragments++;
	if (ignore & IGNORE_TTL)
		ip->hop_limit = 0;
	if (ignore & IGNORE_TOS) {
		p[0] &= 0xf0;
		p[1] = 0;
		p[2] = 0;
		p[3] = 0;
	}
	return len ? l3 + sizeof(*ip) + len : ~0U;
}

/*
 * The key of the frame of which the first @n bytes, 1..BYTES_COPIED, are in
 * @s->frame; @tag is a tag that the driver took out of it, in network order, or
 * 0. Behind @n there are bytes of earlier packets, which nothing here reads into
 * the key.
 */
static __always_inline struct key make_key(struct scratch *s, __u32 n,
					   __u64 tag, __u32 ignore,
					   struct dedup_counters *count)
{
	struct key key = { HEADROOM, n };
	__u32 i, start, l3 = ETH_HLEN, end = ~0U;
	__u8 *f = s->frame;
	__u16 proto;

	if (n < ETH_HLEN)
		return key;
	proto = get16(f + MACS);
	for (i = 0; i < VLAN_TAGS_MAX; i++) {
		if (!is_vlan(proto) || n < l3 + VLAN_BYTES)
			break;
		proto = get16(f + l3 + 2);
		l3 += VLAN_BYTES;
	}
	if (tag || i)
		count->vlan++;
	if (proto == bpf_htons(ETH_P_IP) && n >= l3 + sizeof(struct iphdr))
		end = mask_ipv4(f + l3, ignore, l3, count);
	else if (proto == bpf_htons(ETH_P_IPV6) &&
		 n >= l3 + sizeof(struct ipv6hdr))
		end = mask_ipv6(f + l3, ignore, l3, count);
	else
		proto = 0;
	if (end < l3 || end > n)
		end = n;

	if (ignore & IGNORE_VLAN) {
		/* From the protocol behind the tags on. */
		start = HEADROOM + l3 - 2;
	} else if (tag) {
		start = HEADROOM + MACS - VLAN_BYTES;
	} else {
		start = HEADROOM + MACS;
	}
	if (!proto) {
		__u64 a = 0;
		__u32 b = 0;

		/* The addresses, in front of what stays. */
		__builtin_memcpy(&a, f, 8);
		__builtin_memcpy(&b, f + 8, 4);
		start -= MACS;
		start &= START_MASK;
		__builtin_memcpy((__u8 *)s + start, &a, 8);
		__builtin_memcpy((__u8 *)s + start + 8, &b, 4);
	}
	if (!(ignore & IGNORE_VLAN) && tag) {
		__u32 t = tag;

		__builtin_memcpy(s->frame + MACS - VLAN_BYTES, &t, VLAN_BYTES);
	}
	key.start = start;
	key.len = HEADROOM + end - start;
	return key;
}

#endif /* PACKET_BPF_H */
