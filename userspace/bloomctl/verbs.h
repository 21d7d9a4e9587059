/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BLOOMCTL_VERBS_H
#define BLOOMCTL_VERBS_H

#include "bloomctl.h"

extern const struct verb verb_create, verb_add, verb_query, verb_remove,
			 verb_dedup, verb_info, verb_list, verb_size, verb_clear,
			 verb_rotate, verb_scan, verb_save, verb_restore,
			 verb_merge, verb_swap, verb_rename, verb_rm;

#endif /* BLOOMCTL_VERBS_H */
