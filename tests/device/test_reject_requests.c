// SPDX-License-Identifier: GPL-2.0
/*
 * What every request refuses alike: sizes, tails, flags, reserved fields, bad
 * pointers, the wrong kind of descriptor, a descriptor without the mode.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>
#include "check.h"

#define PAGE	4096
#define NAME	"test.requests"
#define NONE	0

/* Where a request goes to. */
enum target { DEVICE, BLOCKED, BITMAP, WINDOW, TARGETS };

/**
 * struct row - one request
 * @first_size: the structure as first published: never change these numbers
 * @flags: offset of a word of which a program may set only some bits, or NONE
 * @reserved: offset of a word that must be zero, or NONE
 * @needs: the mode of the descriptor that it can't do without
 */
static const struct row {
	const char *name;
	unsigned long cmd;
	enum target target;
	u32 first_size;
	u32 size;
	u32 flags;
	u32 reserved;
	u32 needs;
} rows[] = {
	{ "CREATE", BLOOM_IOC_CREATE, DEVICE, 88, sizeof(struct bloom_create),
	  4, offsetof(struct bloom_create, reserved), BLOOM_ACCESS_WRITE },
	{ "OPEN", BLOOM_IOC_OPEN, DEVICE, 264, sizeof(struct bloom_open),
	  4, NONE, BLOOM_ACCESS_WRITE },
	{ "UNLINK", BLOOM_IOC_UNLINK, DEVICE, 264, sizeof(struct bloom_unlink),
	  4, NONE, BLOOM_ACCESS_WRITE },
	{ "LIST", BLOOM_IOC_LIST, DEVICE, 280, sizeof(struct bloom_list),
	  4, NONE, NONE },
	{ "ADD", BLOOM_IOC_ADD, BLOCKED, 80, sizeof(struct bloom_batch),
	  4, offsetof(struct bloom_batch, reserved), BLOOM_ACCESS_WRITE },
	{ "QUERY", BLOOM_IOC_QUERY, BLOCKED, 80, sizeof(struct bloom_batch),
	  4, offsetof(struct bloom_batch, reserved), BLOOM_ACCESS_READ },
	{ "REMOVE", BLOOM_IOC_REMOVE, BITMAP, 80, sizeof(struct bloom_batch),
	  4, offsetof(struct bloom_batch, reserved), BLOOM_ACCESS_WRITE },
	{ "INFO", BLOOM_IOC_INFO, BLOCKED, 472, sizeof(struct bloom_info),
	  NONE, offsetof(struct bloom_info, reserved), BLOOM_ACCESS_READ },
	{ "CLEAR", BLOOM_IOC_CLEAR, BLOCKED, 8, sizeof(struct bloom_clear),
	  4, NONE, BLOOM_ACCESS_WRITE },
	{ "ROTATE", BLOOM_IOC_ROTATE, WINDOW, 24, sizeof(struct bloom_rotate),
	  4, NONE, BLOOM_ACCESS_WRITE },
	{ "LINK", BLOOM_IOC_LINK, BLOCKED, 272, sizeof(struct bloom_link),
	  4, NONE, BLOOM_ACCESS_WRITE },
	{ "LOAD", BLOOM_IOC_LOAD, BLOCKED, 72, sizeof(struct bloom_load),
	  4, NONE, BLOOM_ACCESS_WRITE },
};

/* Descriptors for both modes, for reading, for writing. */
static int targets[TARGETS][ACCESS_BOTH + 1];

/* Two pages to put an argument in, and one that can't be touched. */
static char *pages;

static int target_fd(const struct row *row, u32 access)
{
	return assert_ok(targets[row->target][access]);
}

/* A valid argument: one that does nothing, where that is possible. */
static void *prepare(const struct row *row)
{
	memset(pages, 0, 2 * PAGE);
	*(u32 *)pages = row->size;

	switch (row->cmd) {
	case BLOOM_IOC_CREATE: {
		struct bloom_create *arg = (void *)pages;

		arg->capacity = 100;
		arg->fp_rate = RATE(0.01);
		break;
	}
	case BLOOM_IOC_OPEN: {
		struct bloom_open *arg = (void *)pages;

		arg->access = ACCESS_BOTH;
		strcpy(arg->name, NAME);
		break;
	}
	case BLOOM_IOC_UNLINK:
		strcpy(((struct bloom_unlink *)pages)->name, NAME);
		break;
	case BLOOM_IOC_LIST:
		((struct bloom_list *)pages)->entry_size =
			sizeof(struct bloom_list_entry);
		break;
	case BLOOM_IOC_LINK: {
		struct bloom_link *arg = (void *)pages;

		arg->flags = BLOOM_LINK_REPLACE;
		arg->gid = -1;
		strcpy(arg->name, NAME);
		break;
	}
	}
	return pages;
}

/* Send it; put back what it did. */
static int send_request(const struct row *row, void *arg)
{
	int ret = request(target_fd(row, ACCESS_BOTH), row->cmd, arg);

	if (row->target == DEVICE && row->cmd != BLOOM_IOC_LIST && ret > 0)
		close(ret);
	if (row->cmd == BLOOM_IOC_UNLINK)
		link_name(targets[BLOCKED][ACCESS_BOTH], NAME, 0600, -1,
			  BLOOM_LINK_REPLACE);
	return ret;
}

static void accepted(void **state)
{
	const struct row *row = *state;

	assert_ok(send_request(row, prepare(row)));
}

static void size_too_small(void **state)
{
	static const u32 sizes[] = { 0, 1, 4, 7 };
	const struct row *row = *state;
	u32 *size = prepare(row);
	size_t i;

	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		*size = sizes[i];
		assert_error(EINVAL, send_request(row, size));
	}
	*size = row->first_size - 1;
	assert_error(EINVAL, send_request(row, size));
}

static void first_published_size(void **state)
{
	const struct row *row = *state;
	u32 *size = prepare(row);

	*size = row->first_size;
	assert_ok(send_request(row, size));
}

static void size_over_a_page(void **state)
{
	const struct row *row = *state;
	u32 *size = prepare(row);

	*size = PAGE + 1;
	assert_error(E2BIG, send_request(row, size));
	*size = ~0U;
	assert_error(E2BIG, send_request(row, size));
}

static void zero_tail_accepted(void **state)
{
	static const u32 tails[] = { 1, 8, 13 };
	const struct row *row = *state;
	u32 *size;
	size_t i;

	for (i = 0; i < ARRAY_LEN(tails); i++) {
		size = prepare(row);
		*size = row->size + tails[i];
		assert_ok(send_request(row, size));
	}
	size = prepare(row);
	*size = PAGE;
	assert_ok(send_request(row, size));
}

static void unknown_tail(void **state)
{
	const struct row *row = *state;
	u32 *size = prepare(row);

	*size = row->size + 8;
	pages[row->size] = 1;
	assert_error(E2BIG, send_request(row, size));

	size = prepare(row);
	*size = PAGE;
	pages[PAGE - 1] = 1;
	assert_error(E2BIG, send_request(row, size));

	/* What lies past the size is no part of it. */
	size = prepare(row);
	pages[row->size] = 1;
	assert_ok(send_request(row, size));
}

static void unknown_flags(void **state)
{
	const struct row *row = *state;
	u32 bit, *flags;

	for (bit = 8; bit < 32; bit++) {
		prepare(row);
		flags = (u32 *)(pages + row->flags);
		*flags |= 1U << bit;
		assert_error(EOPNOTSUPP, send_request(row, pages));
	}
}

static void reserved_not_zero(void **state)
{
	const struct row *row = *state;

	prepare(row);
	*(u32 *)(pages + row->reserved) = 1;
	assert_error(EINVAL, send_request(row, pages));
	*(u32 *)(pages + row->reserved) = 1U << 31;
	assert_error(EINVAL, send_request(row, pages));
}

static void bad_pointer(void **state)
{
	const struct row *row = *state;
	char *end = pages + 2 * PAGE;

	assert_error(EFAULT, send_request(row, NULL));
	assert_error(EFAULT, send_request(row, end));
	assert_error(EFAULT, send_request(row, (void *)-4096L));

	/* Only the size can be read. */
	prepare(row);
	memcpy(end - 4, pages, 4);
	assert_error(EFAULT, send_request(row, end - 4));

	/* All but the last byte. */
	prepare(row);
	memmove(end - row->size + 1, pages, row->size - 1);
	assert_error(EFAULT, send_request(row, end - row->size + 1));

	/* All of it, up to the very end of what is mapped, unaligned or not. */
	prepare(row);
	memmove(end - row->size, pages, row->size);
	assert_ok(send_request(row, end - row->size));
}

static void wrong_descriptor(void **state)
{
	const struct row *row = *state;
	int other = targets[row->target == DEVICE ? BLOCKED : DEVICE][ACCESS_BOTH];

	assert_ok(other);
	assert_error(ENOTTY, request(other, row->cmd, prepare(row)));
}

static void wrong_mode(void **state)
{
	const struct row *row = *state;

	assert_error(EBADF, request(target_fd(row, ACCESS_BOTH - row->needs),
				    row->cmd, prepare(row)));
}

static void mode_suffices(void **state)
{
	const struct row *row = *state;
	int ret;

	/* OPEN for both wants a device open for writing, and for no more. */
	ret = request(target_fd(row, row->needs), row->cmd, prepare(row));
	assert_ok(ret);
	if (row->target == DEVICE && row->cmd != BLOOM_IOC_UNLINK)
		close(ret);
	if (row->cmd == BLOOM_IOC_UNLINK)
		link_name(targets[BLOCKED][ACCESS_BOTH], NAME, 0600, -1, 0);
}

static bool known(unsigned int nr)
{
	return nr <= 3 || (nr >= 0x20 && nr <= 0x27);
}

static void unknown_numbers(void **state)
{
	static const enum target both[] = { DEVICE, BLOCKED };
	unsigned int i, nr;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_LEN(both); i++) {
		fd = assert_ok(targets[both[i]][ACCESS_BOTH]);
		for (nr = 0; nr < 256; nr++) {
			memset(pages, 0, PAGE);
			*(u32 *)pages = 64;
			if (!known(nr))
				assert_error(ENOTTY, request(fd, _IO(BLOOM_IOC_MAGIC, nr), pages));
			/* The same number of another kind, of another driver. */
			assert_error(ENOTTY, request(fd, _IOC(_IOC_READ | _IOC_WRITE,
							      BLOOM_IOC_MAGIC, nr, 88), pages));
			assert_error(ENOTTY, request(fd, _IO(BLOOM_IOC_MAGIC + 1, nr), pages));
		}
		assert_error(ENOTTY, request(fd, TCGETS, pages));
	}
}

struct property {
	const char *name;
	CMUnitTestFunction run;
};

static const struct property properties[] = {
	{ "is accepted", accepted },
	{ "size too small", size_too_small },
	{ "size first published is accepted", first_published_size },
	{ "size over a page", size_over_a_page },
	{ "zero tail is accepted", zero_tail_accepted },
	{ "unknown tail not zero", unknown_tail },
	{ "unknown flags", unknown_flags },
	{ "reserved not zero", reserved_not_zero },
	{ "bad pointer", bad_pointer },
	{ "wrong kind of descriptor", wrong_descriptor },
	{ "descriptor without the mode", wrong_mode },
	{ "descriptor with only the mode", mode_suffices },
};

static bool applies(const struct row *row, const struct property *property)
{
	if (property->run == unknown_flags)
		return row->flags;
	if (property->run == reserved_not_zero)
		return row->reserved;
	if (property->run == wrong_mode || property->run == mode_suffices)
		return row->needs;
	return true;
}

/* A descriptor for each mode of a filter; names are the way to narrow one. */
static void open_target(enum target target, u32 kind, u32 growth)
{
	struct bloom_create arg = create_defaults(kind, growth);
	int fd = create(&arg);

	targets[target][ACCESS_BOTH] = fd;
	if (fd < 0)
		return;
	link_name(fd, NAME, 0600, -1, BLOOM_LINK_REPLACE);
	targets[target][BLOOM_ACCESS_READ] = open_name(NAME, BLOOM_ACCESS_READ);
	targets[target][BLOOM_ACCESS_WRITE] = open_name(NAME, BLOOM_ACCESS_WRITE);
}

static int setup(void **state)
{
	(void)state;
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + 2 * PAGE, PAGE, PROT_NONE))
		return -1;
	targets[DEVICE][ACCESS_BOTH] = open_device(O_RDWR);
	targets[DEVICE][BLOOM_ACCESS_READ] = open_device(O_RDONLY);
	targets[DEVICE][BLOOM_ACCESS_WRITE] = open_device(O_WRONLY);
	open_target(BITMAP, BLOOM_KIND_BITMAP, BLOOM_GROWTH_FIXED);
	open_target(WINDOW, BLOOM_KIND_BLOCKED, BLOOM_GROWTH_WINDOW);
	/* Last: it is the one that keeps the name. */
	open_target(BLOCKED, BLOOM_KIND_BLOCKED, BLOOM_GROWTH_FIXED);
	return targets[DEVICE][ACCESS_BOTH] < 0 || targets[BLOCKED][ACCESS_BOTH] < 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink_all(NAME);
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(rows) * ARRAY_LEN(properties) + 1] = {};
	size_t i, j, n = 0;
	char *name;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		for (j = 0; j < ARRAY_LEN(properties); j++) {
			if (!applies(&rows[i], &properties[j]))
				continue;
			if (asprintf(&name, "%s: %s", rows[i].name, properties[j].name) < 0)
				return 1;
			tests[n].name = name;
			tests[n].test_func = properties[j].run;
			tests[n++].initial_state = (void *)&rows[i];
		}
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(unknown_numbers);
	return run_table("reject_requests", tests, n, setup, teardown);
}
