// SPDX-License-Identifier: LGPL-2.1
/*
 * Keys: batches of any size, resumed where a signal stopped them, and single
 * keys.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "internal.h"

/* Why the kernel said EINVAL, found out only then. */
int bloomdev_keys_explain(const struct bloomdev_keys *keys)
{
	uint64_t sum = 0;
	size_t i;

	if (!keys->lens && keys->key_len > BLOOM_KEY_MAX)
		return bloomdev_fail(EINVAL, "keys of %u bytes; the limit is %d",
				     keys->key_len, BLOOM_KEY_MAX);
	if (!keys->lens)
		sum = (uint64_t)keys->key_len * keys->count;
	for (i = 0; keys->lens && i < keys->count; i++) {
		if (keys->lens[i] > BLOOM_KEY_MAX)
			return bloomdev_fail(EINVAL, "key %zu has %u bytes; the limit is %d",
					     i, keys->lens[i], BLOOM_KEY_MAX);
		sum += keys->lens[i];
	}
	if (sum != keys->bytes)
		return bloomdev_fail(EINVAL, "the keys' lengths sum up to %llu bytes, not to %zu",
				     (unsigned long long)sum, keys->bytes);
	return bloomdev_fail(EINVAL, "a bitmap's keys have 8 bytes each");
}

static int failed(const char *verb, const struct bloomdev_keys *keys)
{
	switch (errno) {
	case EINVAL:
		return bloomdev_keys_explain(keys);
	case EBADF:
		return bloomdev_fail(EBADF, "the filter is not open to %s keys",
				     verb);
	case EOPNOTSUPP:
		return bloomdev_fail(EOPNOTSUPP, "this kind of filter can't %s keys",
				     verb);
	default:
		return bloomdev_fail_sys(errno, "can't %s keys", verb);
	}
}

static uint64_t bytes_of(const struct bloomdev_keys *keys, size_t from,
			 size_t count)
{
	uint64_t sum = 0;
	size_t i;

	if (!keys->lens)
		return (uint64_t)keys->key_len * count;
	for (i = from; i < from + count; i++)
		sum += keys->lens[i];
	return sum;
}

static int batch(struct bloomdev_filter *filter, unsigned long request,
		 const char *verb, const struct bloomdev_keys *keys,
		 uint8_t *verdicts, struct bloomdev_result *result)
{
	struct bloom_batch arg = {
		.size = sizeof(arg),
		.keys = (uintptr_t)keys->data,
		.keys_bytes = keys->bytes,
		.lens = (uintptr_t)keys->lens,
		.key_len = keys->lens ? 0 : keys->key_len,
		.count = keys->count,
		.verdicts = (uintptr_t)verdicts,
	};
	struct bloomdev_result sum = {};
	uint64_t bytes;
	int ret = 0;

	/* Once even for no keys at all: the kernel checks the descriptor. */
	do {
		arg.done = 0;
		arg.present = 0;
		arg.out_of_range = 0;
		if (ioctl(filter->fd, request, &arg)) {
			if (errno == EINTR)
				continue;
			ret = failed(verb, keys);
			break;
		}

		bytes = bytes_of(keys, sum.done, arg.done);
		sum.done += arg.done;
		sum.present += arg.present;
		sum.out_of_range += arg.out_of_range;
		arg.count -= arg.done;
		arg.keys += bytes;
		arg.keys_bytes -= bytes;
		if (keys->lens)
			arg.lens = (uintptr_t)(keys->lens + sum.done);
		if (verdicts)
			arg.verdicts = (uintptr_t)(verdicts + sum.done);
	} while (arg.count);

	if (result)
		*result = sum;
	return ret;
}

BLOOMDEV_API int bloomdev_filter_add(struct bloomdev_filter *filter,
				     const struct bloomdev_keys *keys,
				     uint8_t *verdicts,
				     struct bloomdev_result *result)
{
	return batch(filter, BLOOM_IOC_ADD, "add", keys, verdicts, result);
}

BLOOMDEV_API int bloomdev_filter_query(struct bloomdev_filter *filter,
				       const struct bloomdev_keys *keys,
				       uint8_t *verdicts,
				       struct bloomdev_result *result)
{
	return batch(filter, BLOOM_IOC_QUERY, "query", keys, verdicts, result);
}

BLOOMDEV_API int bloomdev_filter_remove(struct bloomdev_filter *filter,
					const struct bloomdev_keys *keys,
					uint8_t *verdicts,
					struct bloomdev_result *result)
{
	return batch(filter, BLOOM_IOC_REMOVE, "remove", keys, verdicts, result);
}

static int one(struct bloomdev_filter *filter, unsigned long request,
	       const char *verb, const void *key, size_t len)
{
	struct bloomdev_keys keys = {
		.data = key,
		.bytes = len,
		.key_len = len,
		.count = 1,
	};
	struct bloomdev_result result;
	int ret;

	if (len > BLOOM_KEY_MAX)
		return bloomdev_fail(EINVAL, "a key of %zu bytes; the limit is %d",
				     len, BLOOM_KEY_MAX);
	ret = batch(filter, request, verb, &keys, NULL, &result);
	if (ret)
		return ret;
	if (result.out_of_range)
		return BLOOMDEV_OUT_OF_RANGE;
	return result.present ? BLOOMDEV_PRESENT : BLOOMDEV_ABSENT;
}

BLOOMDEV_API int bloomdev_filter_add_key(struct bloomdev_filter *filter,
					 const void *key, size_t len)
{
	return one(filter, BLOOM_IOC_ADD, "add", key, len);
}

BLOOMDEV_API int bloomdev_filter_query_key(struct bloomdev_filter *filter,
					   const void *key, size_t len)
{
	return one(filter, BLOOM_IOC_QUERY, "query", key, len);
}

BLOOMDEV_API int bloomdev_filter_remove_key(struct bloomdev_filter *filter,
					    const void *key, size_t len)
{
	return one(filter, BLOOM_IOC_REMOVE, "remove", key, len);
}

BLOOMDEV_API int bloomdev_filter_add_int(struct bloomdev_filter *filter,
					 uint64_t key)
{
	return one(filter, BLOOM_IOC_ADD, "add", &key, sizeof(key));
}

BLOOMDEV_API int bloomdev_filter_query_int(struct bloomdev_filter *filter,
					   uint64_t key)
{
	return one(filter, BLOOM_IOC_QUERY, "query", &key, sizeof(key));
}

BLOOMDEV_API int bloomdev_filter_remove_int(struct bloomdev_filter *filter,
					    uint64_t key)
{
	return one(filter, BLOOM_IOC_REMOVE, "remove", &key, sizeof(key));
}

BLOOMDEV_API int bloomdev_filter_contains_all(struct bloomdev_filter *filter,
					      const struct bloomdev_keys *keys)
{
	struct bloomdev_result result;
	int ret;

	ret = bloomdev_filter_query(filter, keys, NULL, &result);
	return ret ? ret : result.present == keys->count;
}
