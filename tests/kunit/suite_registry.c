// SPDX-License-Identifier: GPL-2.0
/*
 * Names and ids, as root; other users' rights are for the device tests.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "../../module/registry.h"
#include "bloom_test.h"

static const struct bloom_create small = {
	.capacity = 100,
	.fp_rate = BLOOM_ONE_IN(100),
};

struct row {
	const char *what;
	const char *name;
	int err;
};

static const struct row rows[] = {
	{ "one letter", "a", 0 },
	{ "blanks and punctuation", " -_.:~#%\\\"'*?[]{}", 0 },
	{ "UTF-8", "\xc3\xa9\xe2\x82\xac", 0 },
	{ "bytes that are no UTF-8", "\x80\xff\xfe", 0 },
	{ "three dots", "...", 0 },
	{ "dot first", ".a", 0 },
	{ "empty", "", -EINVAL },
	{ "dot", ".", -EINVAL },
	{ "dot dot", "..", -EINVAL },
	{ "slash", "/", -EINVAL },
	{ "slash inside", "a/b", -EINVAL },
	{ "slash last", "a/", -EINVAL },
	{ "newline", "a\nb", -EINVAL },
	{ "tab", "\t", -EINVAL },
	{ "escape", "\x1b[0m", -EINVAL },
	{ "0x01", "\x01", -EINVAL },
	{ "0x1f", "a\x1f", -EINVAL },
	{ "delete", "a\x7f", -EINVAL },
};

static void row_desc(const struct row *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(name, rows, row_desc);

static void name_check(struct kunit *test)
{
	const struct row *row = test->param_value;
	char name[BLOOM_NAME_MAX + 1];

	/* What follows the NUL does not count. */
	memset(name, '/', sizeof(name));
	strscpy(name, row->name, sizeof(name));
	KUNIT_EXPECT_EQ(test, bloom_name_check(name), row->err);
}

static void name_length(struct kunit *test)
{
	char name[BLOOM_NAME_MAX + 1];

	memset(name, 'x', sizeof(name));
	KUNIT_EXPECT_EQ(test, bloom_name_check(name), -ENAMETOOLONG);
	name[BLOOM_NAME_MAX] = '\0';
	KUNIT_EXPECT_EQ(test, bloom_name_check(name), 0);
	name[BLOOM_NAME_MAX - 1] = '/';
	KUNIT_EXPECT_EQ(test, bloom_name_check(name), -EINVAL);
}

static int link_flags(struct bloom_filter *filter, const char *name, u32 flags)
{
	struct bloom_link link = {
		.size = sizeof(link),
		.flags = flags,
		.mode = flags & BLOOM_LINK_EXCHANGE ? 0 : 0640,
		.gid = -1,
	};

	strscpy(link.name, name, sizeof(link.name));
	return bloom_registry_link(filter, &link);
}

static int link(struct bloom_filter *filter, const char *name)
{
	return link_flags(filter, name, 0);
}

static void expect_name(struct kunit *test, struct bloom_filter *filter,
			const char *name)
{
	struct bloom_info *info;

	info = kunit_kzalloc(test, sizeof(*info), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, info);
	bloom_registry_describe(filter, info);
	KUNIT_EXPECT_STREQ(test, info->name, name);
}

/* Whose is it? Takes and gives back a reference. */
static void expect_filter(struct kunit *test, const char *name,
			  struct bloom_filter *filter)
{
	struct bloom_filter *got = bloom_get(name);

	KUNIT_EXPECT_PTR_EQ(test, got, filter);
	bloom_put(got);
}

static void link_and_get(struct kunit *test)
{
	struct bloom_filter *a = bloom_test_filter(test, &small);
	struct bloom_filter *b = bloom_test_filter(test, &small);

	expect_filter(test, "a", ERR_PTR(-ENOENT));
	KUNIT_EXPECT_EQ(test, link(a, "a"), 0);
	expect_filter(test, "a", a);
	expect_name(test, a, "a");
	expect_name(test, b, "");
	KUNIT_EXPECT_EQ(test, link(b, "a"), -EEXIST);
	expect_filter(test, "a", a);

	/* A new name takes the place of the old; the same one again is fine. */
	KUNIT_EXPECT_EQ(test, link(a, "c"), 0);
	KUNIT_EXPECT_EQ(test, link(a, "c"), 0);
	expect_filter(test, "a", ERR_PTR(-ENOENT));
	expect_filter(test, "c", a);
	KUNIT_EXPECT_EQ(test, bloom_registry_unlink("a"), -ENOENT);
	KUNIT_EXPECT_EQ(test, bloom_registry_unlink("c"), 0);
	expect_filter(test, "c", ERR_PTR(-ENOENT));
	expect_name(test, a, "");
}

static void name_keeps_filter(struct kunit *test)
{
	struct bloom_filter *a = bloom_test_filter(test, &small);

	bloom_test_add(a, 42);
	KUNIT_EXPECT_EQ(test, link(a, "kept"), 0);
	bloom_test_put(test, a);
	bloom_test_drain();

	a = bloom_get("kept");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, a);
	KUNIT_EXPECT_EQ(test, bloom_test_query(a, 42), BLOOM_PRESENT);
	/* And a reference keeps it without the name. */
	KUNIT_EXPECT_EQ(test, bloom_registry_unlink("kept"), 0);
	bloom_test_drain();
	KUNIT_EXPECT_EQ(test, bloom_test_query(a, 42), BLOOM_PRESENT);
	bloom_put(a);
}

static void replace(struct kunit *test)
{
	struct bloom_filter *a = bloom_test_filter(test, &small);
	struct bloom_filter *b = bloom_test_filter(test, &small);

	KUNIT_EXPECT_EQ(test, link(a, "x"), 0);
	KUNIT_EXPECT_EQ(test, link(b, "y"), 0);
	KUNIT_EXPECT_EQ(test, a->names_lost, 0U);
	KUNIT_EXPECT_EQ(test, link_flags(b, "x", BLOOM_LINK_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, a->names_lost, 1U);
	expect_filter(test, "x", b);
	expect_filter(test, "y", ERR_PTR(-ENOENT));
	expect_name(test, a, "");
	KUNIT_EXPECT_EQ(test, link_flags(b, "x", BLOOM_LINK_REPLACE), 0);
	KUNIT_EXPECT_EQ(test, bloom_registry_unlink("x"), 0);
}

static void exchange(struct kunit *test)
{
	struct bloom_filter *a = bloom_test_filter(test, &small);
	struct bloom_filter *b = bloom_test_filter(test, &small);

	KUNIT_EXPECT_EQ(test, link_flags(a, "x", BLOOM_LINK_EXCHANGE), -ENOENT);
	KUNIT_EXPECT_EQ(test, link(a, "x"), 0);
	KUNIT_EXPECT_EQ(test, link_flags(b, "x", BLOOM_LINK_EXCHANGE), -ENOENT);
	KUNIT_EXPECT_EQ(test, link(b, "y"), 0);
	KUNIT_EXPECT_EQ(test, link_flags(a, "x", BLOOM_LINK_EXCHANGE), 0);
	expect_filter(test, "x", a);
	KUNIT_EXPECT_EQ(test, link_flags(a, "y", BLOOM_LINK_EXCHANGE), 0);
	expect_filter(test, "x", b);
	expect_filter(test, "y", a);
	expect_name(test, a, "y");
	expect_name(test, b, "x");
	KUNIT_EXPECT_EQ(test, a->names_lost, 1U);
	KUNIT_EXPECT_EQ(test, b->names_lost, 1U);
	KUNIT_EXPECT_EQ(test, bloom_registry_unlink("x"), 0);
	KUNIT_EXPECT_EQ(test, bloom_registry_unlink("y"), 0);
}

/* In the order of the names' bytes, which are unsigned; in pieces. */
static void list_order(struct kunit *test)
{
	static const char * const names[] = { "B", "a", "ab", "b", "\xc3\xa9" };
	static const u32 shuffled[] = { 3, 0, 4, 2, 1 };
	struct bloom_list_entry *entries;
	struct bloom_filter *filter;
	u32 i;

	entries = kunit_kcalloc(test, 8, sizeof(*entries), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, entries);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		filter = bloom_test_filter(test, &small);
		KUNIT_EXPECT_EQ(test, link(filter, names[shuffled[i]]), 0);
	}
	KUNIT_EXPECT_EQ(test, bloom_registry_list("", entries, 8),
			(int)ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_EXPECT_STREQ(test, entries[i].name, names[i]);
		KUNIT_EXPECT_EQ(test, entries[i].capacity, 100ULL);
		KUNIT_EXPECT_EQ(test, entries[i].mode, 0640U);
	}
	memset(entries, 0, 8 * sizeof(*entries));
	KUNIT_EXPECT_EQ(test, bloom_registry_list("aa", entries, 2), 2);
	KUNIT_EXPECT_STREQ(test, entries[0].name, "ab");
	KUNIT_EXPECT_STREQ(test, entries[1].name, "b");
	KUNIT_EXPECT_EQ(test, bloom_registry_list("\xff", entries, 8), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ(test, bloom_registry_unlink(names[i]), 0);
}

static void ids(struct kunit *test)
{
	struct bloom_create bpf = small;
	struct bloom_filter *a, *b;
	u32 id;

	bpf.flags = BLOOM_CREATE_BPF;
	a = bloom_test_filter(test, &small);
	b = bloom_test_filter(test, &bpf);
	id = bloom_filter_id(b);
	KUNIT_EXPECT_NE(test, bloom_filter_id(a), 0U);
	KUNIT_EXPECT_NE(test, bloom_filter_id(a), id);

	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, bloom_registry_by_id(id), b);
	KUNIT_EXPECT_NULL(test, bloom_registry_by_id(bloom_filter_id(a)));
	KUNIT_EXPECT_NULL(test, bloom_registry_by_id(0));
	KUNIT_EXPECT_TRUE(test, bloom_filter_get_live(b));
	rcu_read_unlock();
	bloom_put(b);

	bloom_test_put(test, b);
	bloom_test_drain();
	rcu_read_lock();
	KUNIT_EXPECT_NULL(test, bloom_registry_by_id(id));
	rcu_read_unlock();
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(name_check, name_gen_params),
	KUNIT_CASE(name_length),
	KUNIT_CASE(link_and_get),
	KUNIT_CASE(name_keeps_filter),
	KUNIT_CASE(replace),
	KUNIT_CASE(exchange),
	KUNIT_CASE(list_order),
	KUNIT_CASE(ids),
	{}
};

BLOOM_SUITE(registry, cases);
