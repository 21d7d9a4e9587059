/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all requests have in common: the size in front, the copy in.
 */
#ifndef BLOOM_REQUEST_H
#define BLOOM_REQUEST_H

#include <linux/bloom.h>
#include <linux/fs.h>
#include <linux/uaccess.h>

/* Every request's structure, and room for it. */
union bloom_request {
	struct bloom_create create;
	struct bloom_open open;
	struct bloom_unlink unlink;
	struct bloom_list list;
	struct bloom_info info;
	struct bloom_clear clear;
	struct bloom_rotate rotate;
	struct bloom_link link;
	struct bloom_load load;
};

/**
 * struct bloom_handler - one request
 * @cmd: its number
 * @size: of its structure in this kernel
 * @min_size: of its structure as first published
 * @mode: FMODE_READ, FMODE_WRITE: what the descriptor must be open for
 * @handle: does it; @usize is the caller's size
 */
struct bloom_handler {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	fmode_t mode;
	long (*handle)(struct file *file, union bloom_request *request,
		       void __user *arg, u32 usize);
};

/* A handler of a structure that is as it was first published. */
#define BLOOM_HANDLER(name, field, mode, handle)			\
	{ name, sizeof_field(union bloom_request, field),		\
	  sizeof_field(union bloom_request, field), mode, handle }

/*
 * Copy a structure of @size bytes in, whose caller may know another version of
 * it, at least the first, of @min_size. Return: the caller's size; -EFAULT,
 * -EINVAL (too small), -E2BIG (a page and more, or not zero where we know nothing).
 */
int bloom_request_copy(void *to, size_t size, size_t min_size,
		       const void __user *from);

/* Find the handler of @cmd, copy the structure in, and call it. */
long bloom_request_run(struct file *file, unsigned int cmd, unsigned long arg,
		       const struct bloom_handler *handlers, size_t count);

/*
 * Copy @n rows of @size bytes to an array whose rows are @stride bytes, as a
 * caller built against another header may have them: what he has more is zeroed.
 * -EINVAL: @stride below @size or over a page; -EFAULT.
 */
int bloom_put_rows(u64 to, u32 stride, const void *rows, size_t size, u32 n);

#endif /* BLOOM_REQUEST_H */
