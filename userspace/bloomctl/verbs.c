// SPDX-License-Identifier: GPL-2.0
/*
 * The verbs, in the order of help.
 */
#include "verbs.h"

const struct verb *const verbs[] = {
	&verb_create,
	&verb_add,
	&verb_query,
	&verb_remove,
	&verb_dedup,
	&verb_info,
	&verb_list,
	&verb_size,
	&verb_clear,
	&verb_rotate,
	&verb_scan,
	&verb_save,
	&verb_restore,
	&verb_merge,
	&verb_swap,
	&verb_rename,
	&verb_rm,
	NULL
};
