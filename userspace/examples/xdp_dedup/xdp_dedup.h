/* SPDX-License-Identifier: GPL-2.0 */
/* What xdp_dedup and its BPF programs share. */
#ifndef XDP_DEDUP_H
#define XDP_DEDUP_H

/* Parts of a packet that may differ between two copies. */
#define IGNORE_TTL	(1U << 0)	/* TTL, hop limit */
#define IGNORE_CHECKSUM	(1U << 1)	/* of the IPv4 header */
#define IGNORE_TOS	(1U << 2)	/* TOS, traffic class and flow label */
#define IGNORE_VLAN	(1U << 3)	/* 802.1Q and 802.1ad tags */

/* Longest key; a mask, too. */
#define BYTES_MAX	16383U
/* Longest part of a packet that is compared; a tag may come in front of it. */
#define BYTES_COPIED	16379U

/**
 * struct dedup_config - constant while a program is loaded
 * @filter: the filter's id
 * @ignore: IGNORE_*
 * @bytes: of each packet compared, 1..BYTES_COPIED
 * @dry_run: only count
 * @mark: tc: mark duplicates with this in place of dropping them; 0: drop
 */
struct dedup_config {
	__u32 filter;
	__u32 ignore;
	__u32 bytes;
	__u32 dry_run;
	__u32 mark;
};

/**
 * struct dedup_counters - kept per CPU
 * @packets: seen
 * @bytes: in them
 * @duplicates: of @packets
 * @duplicate_bytes: in them
 * @ipv4: of @packets
 * @ipv6: of @packets
 * @fragments: of @ipv4 and @ipv6
 * @vlan: of @packets, with one tag or more
 * @cut: of @packets, longer than what is compared
 * @errors: of @packets, let through as the filter could not be asked
 */
struct dedup_counters {
	__u64 packets;
	__u64 bytes;
	__u64 duplicates;
	__u64 duplicate_bytes;
	__u64 ipv4;
	__u64 ipv6;
	__u64 fragments;
	__u64 vlan;
	__u64 cut;
	__u64 errors;
};

#endif /* XDP_DEDUP_H */
