// SPDX-License-Identifier: GPL-2.0
/*
 * The functions for BPF programs, called as a program would: by the filter's id.
 * Programs of their own are in ../packets, for a kernel that has its BTF. This one
 * takes bpf.c in whole, as it is no part of the other objects.
 */
#include "../../module/bpf.c"

#include "bloom_test.h"

static const struct bloom_create open_to_bpf = {
	.flags = BLOOM_CREATE_BPF, .capacity = 1000,
	.fp_rate = BLOOM_ONE_IN(1000000),
};

static void verdicts(struct kunit *test)
{
	struct bloom_filter *f = bloom_test_filter(test, &open_to_bpf);
	u64 key = 1;

	KUNIT_EXPECT_EQ(test, bloom_bpf_query(f->id, &key, sizeof(key)),
			BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_add(f->id, &key, sizeof(key)),
			BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_add(f->id, &key, sizeof(key)),
			BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_query(f->id, &key, sizeof(key)),
			BLOOM_PRESENT);
	key = 2;
	KUNIT_EXPECT_EQ(test, bloom_bpf_try_add(f->id, &key, sizeof(key)),
			BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_try_add(f->id, &key, sizeof(key)),
			BLOOM_PRESENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_add(f->id, &key, BLOOM_KEY_MAX + 1),
			-EINVAL);
}

static void no_such_filter(struct kunit *test)
{
	struct bloom_create closed = open_to_bpf;
	struct bloom_filter *f;
	u64 key = 1;
	u32 id;

	KUNIT_EXPECT_EQ(test, bloom_bpf_query(0, &key, sizeof(key)), -ENOENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_add(U32_MAX, &key, sizeof(key)), -ENOENT);

	closed.flags = 0;
	f = bloom_test_filter(test, &closed);
	KUNIT_EXPECT_EQ(test, bloom_bpf_query(f->id, &key, sizeof(key)), -ENOENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_add(f->id, &key, sizeof(key)), -ENOENT);
	KUNIT_EXPECT_EQ(test, bloom_bpf_try_add(f->id, &key, sizeof(key)), -ENOENT);

	f = bloom_test_filter(test, &open_to_bpf);
	id = f->id;
	bloom_test_put(test, f);
	KUNIT_EXPECT_EQ(test, bloom_bpf_query(id, &key, sizeof(key)), -ENOENT);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(verdicts),
	KUNIT_CASE(no_such_filter),
	{}
};

BLOOM_SUITE(bpf, cases);
