/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From keys in user memory to verdicts in user memory.
 */
#ifndef BLOOM_BATCH_H
#define BLOOM_BATCH_H

#include "filter.h"

/*
 * Workspace of a descriptor: kept between calls, so that a call allocates
 * nothing; who comes second at the same time makes his own.
 */
struct bloom_room;

/*
 * Deal with @batch. Its done, present and out_of_range are set also on error.
 * @spare: where a descriptor keeps its workspace.
 *
 * Return: 0, also if it ended early having dealt with some; otherwise an error,
 * and nothing was changed. Process context, may sleep.
 */
int bloom_batch_run(struct bloom_filter *filter, enum bloom_op op,
		    struct bloom_batch *batch, struct bloom_room **spare);

void bloom_room_free(struct bloom_room *room);

#endif /* BLOOM_BATCH_H */
