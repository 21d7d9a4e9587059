/* SPDX-License-Identifier: GPL-2.0 */
/* What opens and its BPF program share. */
#ifndef OPENS_H
#define OPENS_H

#define COMM_SIZE	16
#define PATH_SIZE	256

struct opens_event {
	__u32 pid;
	char comm[COMM_SIZE];
	char path[PATH_SIZE];
};

struct opens_counters {
	__u64 opened;
	__u64 reported;
	__u64 busy;		/* reported, perhaps not for the first time */
	__u64 lost;		/* no room in the ring buffer */
};

#endif /* OPENS_H */
