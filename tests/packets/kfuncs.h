/* SPDX-License-Identifier: GPL-2.0 */
/* What test_kfuncs and its BPF programs share. */
#ifndef KFUNCS_H
#define KFUNCS_H

#define KEY_ROOM	1024U
#define BURST		256U

enum what { DO_QUERY, DO_ADD, DO_TRY_ADD };

/* In: one call with the first @len bytes of @key. Out: @answer. */
struct call {
	__u32 id;
	__u32 what;
	__u32 len;
	__s32 answer;
	__u8 key[KEY_ROOM];
};

#endif /* KFUNCS_H */
