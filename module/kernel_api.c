// SPDX-License-Identifier: GPL-2.0
/*
 * What bloom.h promises to other modules.
 */
#include <linux/err.h>
#include <linux/export.h>

#include "bloom.h"
#include "filter.h"
#include "registry.h"

struct bloom_filter *bloom_create(const struct bloom_create *params)
{
	return bloom_filter_create(params);
}
EXPORT_SYMBOL_GPL(bloom_create);

struct bloom_filter *bloom_get(const char *name)
{
	return bloom_registry_get(name);
}
EXPORT_SYMBOL_GPL(bloom_get);

void bloom_put(struct bloom_filter *filter)
{
	if (!IS_ERR_OR_NULL(filter))
		bloom_filter_put(filter);
}
EXPORT_SYMBOL_GPL(bloom_put);

static u8 verdict(const struct bloom_answer *answer, u32 i)
{
	if (answer->out_of_range >> i & 1)
		return BLOOM_OUT_OF_RANGE;
	return answer->present >> i & 1 ? BLOOM_PRESENT : BLOOM_ABSENT;
}

static int one_key(struct bloom_filter *filter, enum bloom_op op,
		   const void *key, size_t len)
{
	int ret;

	if (!bloom_key_len_ok(filter, len))
		return -EINVAL;
	ret = bloom_filter_one(filter, op, key, len);
	if (ret >= 0)
		bloom_filter_count(filter, op, 1, ret == BLOOM_PRESENT);
	return ret;
}

int bloom_query(struct bloom_filter *filter, const void *key, size_t len)
{
	return one_key(filter, BLOOM_OP_QUERY, key, len);
}
EXPORT_SYMBOL_GPL(bloom_query);

int bloom_add(struct bloom_filter *filter, const void *key, size_t len)
{
	return one_key(filter, BLOOM_OP_ADD, key, len);
}
EXPORT_SYMBOL_GPL(bloom_add);

int bloom_try_add(struct bloom_filter *filter, const void *key, size_t len)
{
	return one_key(filter, BLOOM_OP_TRY_ADD, key, len);
}
EXPORT_SYMBOL_GPL(bloom_try_add);

int bloom_remove(struct bloom_filter *filter, const void *key, size_t len)
{
	if (!bloom_can_remove(filter))
		return -EOPNOTSUPP;
	return one_key(filter, BLOOM_OP_REMOVE, key, len);
}
EXPORT_SYMBOL_GPL(bloom_remove);

static long many_keys(struct bloom_filter *filter, enum bloom_op op,
		      const void *bytes, size_t len, size_t count, u8 *verdicts)
{
	struct bloom_keys keys = { .bytes = bytes, .len = len };
	struct bloom_answer answer;
	size_t done = 0;
	u64 present = 0;
	u32 i, n;

	if (!bloom_key_len_ok(filter, len))
		return -EINVAL;
	while (done < count) {
		n = min_t(size_t, count - done, BLOOM_GROUP);
		bloom_filter_group(filter, op, &keys, n, &answer);
		present += hweight64(answer.present);
		for (i = 0; verdicts && i < n; i++)
			verdicts[done + i] = verdict(&answer, i);
		done += n;
	}
	bloom_filter_count(filter, op, count, present);
	return present;
}

long bloom_query_batch(struct bloom_filter *filter, const void *keys,
		       size_t len, size_t count, u8 *verdicts)
{
	return many_keys(filter, BLOOM_OP_QUERY, keys, len, count, verdicts);
}
EXPORT_SYMBOL_GPL(bloom_query_batch);

long bloom_add_batch(struct bloom_filter *filter, const void *keys, size_t len,
		     size_t count, u8 *verdicts)
{
	return many_keys(filter, BLOOM_OP_ADD, keys, len, count, verdicts);
}
EXPORT_SYMBOL_GPL(bloom_add_batch);

u32 bloom_filter_id(const struct bloom_filter *filter)
{
	return filter->id;
}
EXPORT_SYMBOL_GPL(bloom_filter_id);
