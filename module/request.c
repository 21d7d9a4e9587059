// SPDX-License-Identifier: GPL-2.0
/*
 * The way in for every request.
 */
#include "compat.h"
#include "request.h"

static const struct bloom_handler *find(unsigned int cmd,
					const struct bloom_handler *handlers,
					size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (handlers[i].cmd == cmd)
			return &handlers[i];
	}
	return NULL;
}

int bloom_request_copy(void *to, size_t size, size_t min_size,
		       const void __user *from)
{
	u32 usize;

	if (get_user(usize, (const u32 __user *)from))
		return -EFAULT;
	if (usize < min_size)
		return -EINVAL;
	if (usize > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, size, from, usize) ?: usize;
}

long bloom_request_run(struct file *file, unsigned int cmd, unsigned long arg,
		       const struct bloom_handler *handlers, size_t count)
{
	const struct bloom_handler *handler = find(cmd, handlers, count);
	void __user *uarg = (void __user *)arg;
	union bloom_request request;
	int usize;

	if (!handler)
		return -ENOTTY;
	if ((file->f_mode & handler->mode) != handler->mode)
		return -EBADF;
	usize = bloom_request_copy(&request, handler->size, handler->min_size,
				   uarg);
	if (usize < 0)
		return usize;
	return handler->handle(file, &request, uarg, usize);
}

int bloom_put_rows(u64 to, u32 stride, const void *rows, size_t size, u32 n)
{
	u8 __user *row = u64_to_user_ptr(to);

	if (stride < size || stride > PAGE_SIZE)
		return -EINVAL;
	for (; n; n--, row += stride, rows += size) {
		if (copy_to_user(row, rows, size) ||
		    clear_user(row + size, stride - size))
			return -EFAULT;
	}
	return 0;
}
