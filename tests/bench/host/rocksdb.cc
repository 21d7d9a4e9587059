// SPDX-License-Identifier: GPL-2.0
/*
 * RocksDB gives out the objects that build and read its filters, but since 7.0
 * keeps their classes to itself. Their virtual functions, in the order of 7.8:
 */
#include <cstdlib>
#include <cstring>
#include <memory>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>
#include "peers.h"

namespace rocksdb {
class FilterBitsBuilder {
public:
	virtual ~FilterBitsBuilder() {}
	virtual void AddKey(const Slice &key) = 0;
	virtual size_t EstimateEntriesAdded() = 0;
	virtual Slice Finish(std::unique_ptr<const char[]> *buf) = 0;
};

class FilterBitsReader {
public:
	virtual ~FilterBitsReader() {}
	virtual bool MayMatch(const Slice &entry) = 0;
	virtual void MayMatch(int num_keys, Slice **keys, bool *may_match) = 0;
};
}

using namespace rocksdb;

/* What its MultiGet hands over at a time. */
#define BATCH	32
/* Kind, implementation, probes and so on, at the end of a filter. */
#define TRAILER	5

struct peer {
	std::unique_ptr<const FilterPolicy> policy;
	std::unique_ptr<FilterBitsReader> reader;
	std::unique_ptr<const char[]> memory;
};

static Slice build(struct peer *peer, const uint8_t *keys, int len,
		   size_t count, double bits_per_key)
{
	BlockBasedTableOptions options;
	FilterBuildingContext context(options);
	std::unique_ptr<FilterBitsBuilder> builder;

	peer->policy.reset(NewBloomFilterPolicy(bits_per_key, false));
	builder.reset(peer->policy->GetBuilderWithContext(context));
	for (; count; count--, keys += len)
		builder->AddKey(Slice((const char *)keys, len));
	return builder->Finish(&peer->memory);
}

void *rocksdb_build(const uint8_t *keys, int len, size_t count,
		    double bits_per_key)
{
	struct peer *peer = new struct peer;
	Slice filter = build(peer, keys, len, count, bits_per_key);

	peer->reader.reset(peer->policy->GetFilterBitsReader(filter));
	return peer;
}

void *rocksdb_make(uint8_t *bytes, size_t size, double bits_per_key)
{
	struct peer *peer = new struct peer;
	Slice one = build(peer, (const uint8_t *)"key", 3, 1, bits_per_key);

	size = (size - TRAILER) / 64 * 64;
	memcpy(bytes + size, one.data() + one.size() - TRAILER, TRAILER);
	peer->reader.reset(peer->policy->GetFilterBitsReader(
		Slice((const char *)bytes, size + TRAILER)));
	return peer;
}

void rocksdb_free(void *peer)
{
	delete (struct peer *)peer;
}

size_t rocksdb_check(void *peer, const uint8_t *keys, int len, size_t count)
{
	FilterBitsReader *reader = ((struct peer *)peer)->reader.get();
	Slice slices[BATCH], *pointers[BATCH];
	bool may[BATCH];
	size_t present = 0;
	int i, n;

	for (i = 0; i < BATCH; i++)
		pointers[i] = &slices[i];
	for (; count; count -= n) {
		n = count < BATCH ? count : BATCH;
		for (i = 0; i < n; i++, keys += len)
			slices[i] = Slice((const char *)keys, len);
		reader->MayMatch(n, pointers, may);
		for (i = 0; i < n; i++)
			present += may[i];
	}
	return present;
}
