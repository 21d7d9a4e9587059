// SPDX-License-Identifier: GPL-2.0
/*
 * A batch is dealt with in chunks that fit a small workspace: copy the keys of a
 * chunk, check all of it, deal with it in groups, copy the verdicts out. Between
 * chunks the CPU is yielded and signals are looked at, so that a call always gets
 * on and never runs on for long.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "account.h"
#include "batch.h"

#define CHUNK_KEYS	1024U
#define CHUNK_BYTES	(16384U - CHUNK_KEYS * (sizeof(u32) + sizeof(u8)))

struct bloom_room {
	u32 lens[CHUNK_KEYS];
	u8 verdicts[CHUNK_KEYS];
	u8 keys[CHUNK_BYTES];
};

/* For one short key: no more than must be cleared and copied. */
#define ONE_BYTES	64U

/* For a few short keys: on the stack. */
#define FEW_KEYS	16U
#define FEW_BYTES	256U

struct few {
	u32 lens[FEW_KEYS];
	u8 verdicts[FEW_KEYS];
	u8 keys[FEW_BYTES];
};

/**
 * struct chunk - where a chunk is worked on, and what it is
 * @lens: room for @max_keys lengths
 * @verdicts: room for @max_keys verdicts
 * @keys: room for @max_bytes of keys
 * @max_keys: keys there is room for
 * @max_bytes: bytes of keys there is room for
 * @count: keys of this chunk
 * @bytes: their bytes
 * @present: how many of them were present
 * @out_of_range: how many of them were out of range
 */
struct chunk {
	u32 *lens;
	u8 *verdicts;
	u8 *keys;
	u32 max_keys;
	u32 max_bytes;
	u32 count;
	u32 bytes;
	u32 present;
	u32 out_of_range;
};

void bloom_room_free(struct bloom_room *room)
{
	kfree(room);
}

/* The descriptor's workspace, or a new one if somebody has it. */
static struct bloom_room *room_take(struct bloom_room **spare)
{
	struct bloom_room *room = xchg(spare, NULL);

	return room ?: kmalloc(sizeof(*room), BLOOM_GFP);
}

static void room_return(struct bloom_room **spare, struct bloom_room *room)
{
	if (cmpxchg(spare, NULL, room))
		kfree(room);
}

/* Look at the next keys' lengths: how many make a chunk? */
static int measure_lens(const struct bloom_filter *filter,
			const struct bloom_batch *batch, u64 keys_left,
			u64 bytes_left, struct chunk *chunk)
{
	const u32 __user *lens = u64_to_user_ptr(batch->lens);
	u32 i, want = min_t(u64, keys_left, chunk->max_keys);

	/* Read once: what is checked is what is used. */
	if (copy_from_user(chunk->lens, lens + batch->done,
			   want * sizeof(*lens)))
		return -EFAULT;
	chunk->bytes = 0;
	for (i = 0; i < want; i++) {
		u32 len = chunk->lens[i];

		if (!bloom_key_len_ok(filter, len) ||
		    len > bytes_left - chunk->bytes)
			return -EINVAL;
		if (i && chunk->bytes + len > chunk->max_bytes)
			return 0;
		chunk->bytes += len;
		chunk->count = i + 1;
	}
	return 0;
}

static int measure(const struct bloom_filter *filter,
		   const struct bloom_batch *batch, u64 consumed,
		   struct chunk *chunk)
{
	u64 keys_left = batch->count - batch->done;
	u64 bytes_left = batch->keys_bytes - consumed;
	int err;

	if (batch->lens) {
		err = measure_lens(filter, batch, keys_left, bytes_left, chunk);
		if (err)
			return err;
	} else {
		u32 fit = batch->key_len ? chunk->max_bytes / batch->key_len :
					   chunk->max_keys;

		chunk->count = min3(keys_left, (u64)chunk->max_keys,
				    max_t(u64, fit, 1));
		chunk->bytes = chunk->count * batch->key_len;
	}
	/* The last key must end where the keys end. */
	if (chunk->count == keys_left && chunk->bytes != bytes_left)
		return -EINVAL;
	return 0;
}

/* Write a verdict a key. */
static void spread(const struct bloom_answer *answer, u8 *verdicts, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		verdicts[i] = (answer->present >> i & 1) * BLOOM_PRESENT +
			      (answer->out_of_range >> i & 1) *
			      BLOOM_OUT_OF_RANGE;
}

static void work_chunk(struct bloom_filter *filter, enum bloom_op op,
		       const struct bloom_batch *batch, struct chunk *chunk)
{
	struct bloom_keys keys = {
		.bytes = chunk->keys,
		.lens = batch->lens ? chunk->lens : NULL,
		.len = batch->key_len,
	};
	struct bloom_answer answer;
	u32 i, n;

	chunk->present = 0;
	chunk->out_of_range = 0;
	for (i = 0; i < chunk->count; i += n) {
		n = min_t(u32, chunk->count - i, BLOOM_GROUP);
		bloom_filter_group(filter, op, &keys, n, &answer);
		chunk->present += hweight64(answer.present);
		chunk->out_of_range += hweight64(answer.out_of_range);
		if (batch->verdicts)
			spread(&answer, chunk->verdicts + i, n);
		if (unlikely(READ_ONCE(filter->starved)))
			bloom_scaling_grow(filter);
	}
}

/* One chunk: measured, copied in, worked on, copied out. */
static int run_chunk(struct bloom_filter *filter, enum bloom_op op,
		     struct bloom_batch *batch, u64 *consumed,
		     struct chunk *chunk)
{
	u8 __user *verdicts = u64_to_user_ptr(batch->verdicts);
	const u8 __user *keys = u64_to_user_ptr(batch->keys);
	u8 *large = NULL, *room = chunk->keys;
	int err;

	err = measure(filter, batch, *consumed, chunk);
	if (err)
		return err;
	if (chunk->bytes > chunk->max_bytes) {
		/* A single key that is longer than the workspace. */
		large = kvmalloc(chunk->bytes, BLOOM_GFP);
		if (!large)
			return -ENOMEM;
		chunk->keys = large;
	}

	err = -EFAULT;
	if (copy_from_user(chunk->keys, keys + *consumed, chunk->bytes))
		goto out;
	/* No key is added whose verdict could not be told. */
	if (batch->verdicts &&
	    fault_in_writeable((char __user *)verdicts + batch->done,
			       chunk->count))
		goto out;

	work_chunk(filter, op, batch, chunk);

	if (batch->verdicts && copy_to_user(verdicts + batch->done,
					    chunk->verdicts, chunk->count))
		goto out;
	batch->done += chunk->count;
	batch->present += chunk->present;
	batch->out_of_range += chunk->out_of_range;
	*consumed += chunk->bytes;
	err = 0;
out:
	kvfree(large);
	chunk->keys = room;
	return err;
}

static int run(struct bloom_filter *filter, enum bloom_op op,
	       struct bloom_batch *batch, struct chunk *chunk)
{
	u64 consumed = 0;
	int err = 0;

	while (batch->done < batch->count) {
		err = run_chunk(filter, op, batch, &consumed, chunk);
		if (err || signal_pending(current))
			break;
		cond_resched();
	}
	bloom_filter_count(filter, op, batch->done, batch->present);
	return batch->done ? 0 : err;
}

static int run_few(struct bloom_filter *filter, enum bloom_op op,
		   struct bloom_batch *batch)
{
	struct few few;
	struct chunk chunk = {
		.lens = few.lens, .verdicts = few.verdicts, .keys = few.keys,
		.max_keys = FEW_KEYS, .max_bytes = FEW_BYTES,
	};

	return run(filter, op, batch, &chunk);
}

/* A short key alone: no chunk, no group. */
static int run_one(struct bloom_filter *filter, enum bloom_op op,
		   struct bloom_batch *batch)
{
	u8 __user *to = u64_to_user_ptr(batch->verdicts);
	u32 len = batch->key_len;
	u8 key[ONE_BYTES] = {};
	int verdict;

	if (copy_from_user(key, u64_to_user_ptr(batch->keys), len))
		return -EFAULT;
	/* The key is not added if its verdict could not be told. */
	if (batch->verdicts && op != BLOOM_OP_QUERY &&
	    fault_in_writeable((char __user *)to, 1))
		return -EFAULT;

	verdict = bloom_filter_one(filter, op, key, len);
	bloom_filter_count(filter, op, 1, verdict == BLOOM_PRESENT);
	if (unlikely(READ_ONCE(filter->starved)))
		bloom_scaling_grow(filter);

	if (batch->verdicts && put_user((u8)verdict, to))
		return -EFAULT;
	batch->done = 1;
	batch->present = verdict == BLOOM_PRESENT;
	batch->out_of_range = verdict == BLOOM_OUT_OF_RANGE;
	return 0;
}

static int check_batch(const struct bloom_filter *filter,
		       const struct bloom_batch *batch)
{
	u64 bytes;

	if (batch->flags)
		return -EOPNOTSUPP;
	if (batch->reserved || (batch->lens && batch->key_len))
		return -EINVAL;
	if (batch->lens) {
		/* Their pointer arithmetic must not wrap. */
		return batch->count > U64_MAX / sizeof(u32) ? -EINVAL : 0;
	}
	if (batch->count && !bloom_key_len_ok(filter, batch->key_len))
		return -EINVAL;
	if (check_mul_overflow(batch->count, (u64)batch->key_len, &bytes) ||
	    bytes != batch->keys_bytes)
		return -EINVAL;
	return 0;
}

int bloom_batch_run(struct bloom_filter *filter, enum bloom_op op,
		    struct bloom_batch *batch, struct bloom_room **spare)
{
	struct bloom_room *room;
	struct chunk chunk;
	int err;

	batch->done = 0;
	batch->present = 0;
	batch->out_of_range = 0;
	err = check_batch(filter, batch);
	if (err)
		return err;
	if (!batch->count)
		return batch->keys_bytes ? -EINVAL : 0;
	if (batch->count == 1 && batch->keys_bytes <= ONE_BYTES && !batch->lens)
		return run_one(filter, op, batch);
	if (batch->count <= FEW_KEYS && batch->keys_bytes <= FEW_BYTES)
		return run_few(filter, op, batch);

	room = room_take(spare);
	if (!room)
		return -ENOMEM;
	chunk = (struct chunk){
		.lens = room->lens, .verdicts = room->verdicts,
		.keys = room->keys,
		.max_keys = CHUNK_KEYS, .max_bytes = CHUNK_BYTES,
	};
	err = run(filter, op, batch, &chunk);
	room_return(spare, room);
	return err;
}
