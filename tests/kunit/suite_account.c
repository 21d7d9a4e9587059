// SPDX-License-Identifier: GPL-2.0
/*
 * Caps. This one takes account.c in whole, for what it keeps to itself.
 */
#include "../../module/account.c"

#include "bloom_test.h"

u64 bloom_test_charged(void)
{
	u64 bytes;

	spin_lock(&account_lock);
	bytes = total_bytes;
	spin_unlock(&account_lock);
	return bytes;
}

void bloom_test_caps(unsigned long filter, unsigned long user,
		     unsigned long total)
{
	WRITE_ONCE(max_filter_bytes, filter);
	WRITE_ONCE(max_user_bytes, user);
	WRITE_ONCE(max_total_bytes, total);
}

static struct bloom_payer *payer(struct kunit *test)
{
	struct bloom_payer *p = bloom_payer_create();

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
	return p;
}

static void defaults(struct kunit *test)
{
	u64 ram = (u64)totalram_pages() << PAGE_SHIFT;
	struct bloom_payer *a = payer(test);

	KUNIT_EXPECT_EQ(test, cap(0, 8), ram / 8);
	KUNIT_EXPECT_EQ(test, cap(0, 4), ram / 4);
	KUNIT_EXPECT_EQ(test, cap(1, 4), 1ULL);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, ram / 8), 0);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 1), -ENOSPC);
	bloom_uncharge(a, ram / 8);
	bloom_payer_put(a);
}

static void a_filter(struct kunit *test)
{
	struct bloom_payer *a = payer(test);

	bloom_test_caps(1000, 100000, 100000);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 1001), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, ~0ULL), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 0ULL);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 600), 0);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 401), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, -1ULL - 599), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 400), 0);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 0), 0);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 1000ULL);

	/* A cap below what is held takes nothing away and gives nothing. */
	bloom_test_caps(500, 100000, 100000);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 1), -ENOSPC);
	bloom_uncharge(a, 600);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 100), 0);
	bloom_uncharge(a, 500);
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 0ULL);
	bloom_payer_put(a);
}

static void a_user(struct kunit *test)
{
	struct bloom_payer *a = payer(test), *b = payer(test);

	KUNIT_EXPECT_PTR_EQ(test, a->user, b->user);
	KUNIT_EXPECT_EQ(test, a->user->payers, 2U);
	bloom_test_caps(1000, 1500, 100000);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 1000), 0);
	KUNIT_EXPECT_EQ(test, bloom_charge(b, 501), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_charge(b, 500), 0);
	bloom_uncharge(a, 1000);
	bloom_payer_put(a);
	KUNIT_EXPECT_EQ(test, bloom_charge(b, 500), 0);
	bloom_uncharge(b, 1000);
	bloom_payer_put(b);

	/* The user is forgotten with the last payer. */
	spin_lock(&account_lock);
	KUNIT_EXPECT_NULL(test, user_of(current_fsuid()));
	spin_unlock(&account_lock);
}

/* Another user: two of them share only the total. */
static void all_together(struct kunit *test)
{
	struct bloom_payer *a = payer(test), *b;
	struct bloom_user other = { .uid = KUIDT_INIT(4711), .payers = 1 };

	b = payer(test);
	spin_lock(&account_lock);
	b->user->payers--;
	b->user = &other;
	hash_add(users, &other.node, __kuid_val(other.uid));
	spin_unlock(&account_lock);

	bloom_test_caps(1000, 1000, 1200);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 1000), 0);
	KUNIT_EXPECT_EQ(test, bloom_charge(b, 201), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_charge(b, 200), 0);
	KUNIT_EXPECT_EQ(test, other.bytes, 200ULL);
	bloom_uncharge(a, 1000);
	KUNIT_EXPECT_EQ(test, bloom_charge(b, 800), 0);
	bloom_uncharge(b, 1000);
	KUNIT_EXPECT_EQ(test, other.bytes, 0ULL);

	spin_lock(&account_lock);
	hash_del(&other.node);
	b->user = a->user;
	b->user->payers++;
	spin_unlock(&account_lock);
	bloom_payer_put(a);
	bloom_payer_put(b);
}

static void references(struct kunit *test)
{
	struct bloom_payer *a = payer(test);

	KUNIT_EXPECT_PTR_EQ(test, bloom_payer_get(a), a);
	bloom_payer_put(a);
	KUNIT_EXPECT_EQ(test, bloom_charge(a, 10), 0);
	bloom_uncharge(a, 10);
	bloom_payer_put(a);
}

static const struct bloom_create small = {
	.capacity = 1000,
	.fp_rate = BLOOM_ONE_IN(100),
};

/* A filter that may not be leaves nothing behind. */
static void create_refused(struct kunit *test)
{
	struct bloom_create window = {
		.growth = BLOOM_GROWTH_WINDOW,
		.capacity = 1000,
		.fp_rate = BLOOM_ONE_IN(100),
		.generations = 5,
	};
	struct bloom_filter *filter;

	bloom_test_caps(PAGE_SIZE - 1, 0, 0);
	filter = bloom_create(&small);
	KUNIT_EXPECT_TRUE(test, IS_ERR(filter));
	KUNIT_EXPECT_EQ(test, (int)PTR_ERR(filter), -ENOSPC);
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 0ULL);

	/* The sixth of six layers is one too many. */
	bloom_test_caps(5 * PAGE_SIZE, 0, 0);
	filter = bloom_create(&window);
	KUNIT_EXPECT_TRUE(test, IS_ERR(filter));
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), 0ULL);

	bloom_test_caps(1UL << 20, 0, 0);
	bloom_test_filter(test, &window);
	KUNIT_EXPECT_GT(test, bloom_test_charged(), 0ULL);
}

/* CLEAR needs its new memory first, and fails without harm. */
static void clear_refused(struct kunit *test)
{
	struct bloom_filter *filter = bloom_test_filter(test, &small);
	u64 bytes = bloom_test_charged();

	KUNIT_EXPECT_EQ(test, bytes, bloom_filter_bytes(filter));
	KUNIT_EXPECT_EQ(test, bloom_test_add(filter, 1), BLOOM_ABSENT);
	bloom_test_caps(2 * bytes - 1, 0, 0);
	KUNIT_EXPECT_EQ(test, bloom_filter_clear(filter), -ENOSPC);
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), bytes);
	KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 1), BLOOM_PRESENT);
	bloom_test_caps(2 * bytes, 0, 0);
	KUNIT_EXPECT_EQ(test, bloom_filter_clear(filter), 0);
	KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 1), BLOOM_ABSENT);
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), bytes);
}

/* From 16 MiB on, memory comes in 2 MiB, and that is what is paid for. */
static void large_array(struct kunit *test)
{
	struct bloom_create params = {
		.slots = (16ULL << 23) + 1,
		.probes = 4,
	};
	struct bloom_filter *filter = bloom_test_filter(test, &params);
	struct bloom_layer *layer = bloom_test_set(filter)->layers[0];

	KUNIT_EXPECT_GE(test, layer->geo.bytes, 16ULL << 20);
	KUNIT_EXPECT_GE(test, layer->charged, layer->geo.bytes);
	KUNIT_EXPECT_EQ(test, layer->charged % PMD_SIZE, 0ULL);
	KUNIT_EXPECT_EQ(test, bloom_test_charged(), layer->charged);
	KUNIT_EXPECT_EQ(test, bloom_test_add(filter, 5), BLOOM_ABSENT);
	KUNIT_EXPECT_EQ(test, bloom_test_query(filter, 5), BLOOM_PRESENT);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(defaults),
	KUNIT_CASE(a_filter),
	KUNIT_CASE(a_user),
	KUNIT_CASE(all_together),
	KUNIT_CASE(references),
	KUNIT_CASE(create_refused),
	KUNIT_CASE(clear_refused),
	KUNIT_CASE(large_array),
	{}
};

BLOOM_SUITE(account, cases);
