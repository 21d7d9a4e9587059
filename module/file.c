// SPDX-License-Identifier: GPL-2.0
/*
 * A filter's descriptor: requests, mmap, poll, fdinfo.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "account.h"
#include "batch.h"
#include "file.h"
#include "filter.h"
#include "map.h"
#include "registry.h"
#include "request.h"

/**
 * struct bloom_file - a descriptor
 * @filter: a reference is held
 * @room: the workspace for batches, while nobody uses it
 * @names_lost: filter->names_lost when it was opened, or last given a name by
 *	this descriptor; EPOLLHUP if it differs
 */
struct bloom_file {
	struct bloom_filter *filter;
	struct bloom_room *room;
	u32 names_lost;
};

static struct bloom_filter *filter_of(struct file *file)
{
	struct bloom_file *bf = file->private_data;

	return bf->filter;
}

/* Give back the part of a structure that holds the results. */
static int put_result(void __user *arg, const void *request, size_t from,
		      size_t size)
{
	return copy_to_user(arg + from, request + from, size) ? -EFAULT : 0;
}

/* The results of a batch, by themselves: it is called for single keys too. */
static int put_batch(struct bloom_batch __user *to,
		     const struct bloom_batch *batch)
{
	if (!user_write_access_begin(to, sizeof(*to)))
		return -EFAULT;
	unsafe_put_user(batch->done, &to->done, fault);
	unsafe_put_user(batch->present, &to->present, fault);
	unsafe_put_user(batch->out_of_range, &to->out_of_range, fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
	return -EFAULT;
}

/* Requests for keys have a way of their own: nothing that they do not need. */
static long do_batch(struct file *file, unsigned long arg, enum bloom_op op)
{
	struct bloom_batch __user *uarg = (struct bloom_batch __user *)arg;
	const size_t from = offsetof(struct bloom_batch, done);
	fmode_t mode = op == BLOOM_OP_QUERY ? FMODE_READ : FMODE_WRITE;
	struct bloom_file *bf = file->private_data;
	struct bloom_batch batch;
	int err;

	if (!(file->f_mode & mode))
		return -EBADF;
	err = bloom_request_copy(&batch, sizeof(batch), sizeof(batch), uarg);
	if (err < 0)
		return err;
	if (op == BLOOM_OP_REMOVE && !bloom_can_remove(bf->filter))
		return -EOPNOTSUPP;
	/* Nothing is added if the caller could not be told. */
	if (op != BLOOM_OP_QUERY &&
	    fault_in_writeable((char __user *)uarg + from, sizeof(batch) - from))
		return -EFAULT;
	err = bloom_batch_run(bf->filter, op, &batch, &bf->room);
	return put_batch(uarg, &batch) ?: err;
}

static long do_info(struct file *file, union bloom_request *request,
		    void __user *arg, u32 usize)
{
	struct bloom_filter *filter = filter_of(file);
	struct bloom_info in = request->info, *info = &request->info;
	u32 room = min_t(u32, in.layers_room, BLOOM_LAYERS_MAX);
	struct bloom_layer_info *rows = NULL;
	int err;

	if (in.reserved)
		return -EINVAL;
	if (!in.layers)
		room = 0;
	if (room) {
		if (in.layer_size < sizeof(*rows))
			return -EINVAL;
		rows = kcalloc(room, sizeof(*rows), BLOOM_GFP);
		if (!rows)
			return -ENOMEM;
	}

	memset(info, 0, sizeof(*info));
	info->size = in.size;
	info->layers = in.layers;
	info->layers_room = in.layers_room;
	info->layer_size = in.layer_size;
	err = bloom_filter_info(filter, info, rows, room);
	if (err)
		goto out;
	bloom_registry_describe(filter, info);
	room = min(room, info->layer_count);
	if (room)
		err = bloom_put_rows(in.layers, in.layer_size, rows,
				     sizeof(*rows), room);
	err = err ?: put_result(arg, info, 0, min_t(u32, usize, sizeof(*info)));
out:
	kfree(rows);
	return err;
}

static long do_clear(struct file *file, union bloom_request *request,
		     void __user *arg, u32 usize)
{
	if (request->clear.flags)
		return -EOPNOTSUPP;
	return bloom_filter_clear(filter_of(file));
}

static long do_rotate(struct file *file, union bloom_request *request,
		      void __user *arg, u32 usize)
{
	struct bloom_filter *filter = filter_of(file);
	const struct bloom_rotate *rotate = &request->rotate;

	if (!bloom_is_window(filter) || rotate->flags & ~BLOOM_ROTATE_SET)
		return -EOPNOTSUPP;
	if (rotate->flags & BLOOM_ROTATE_SET)
		return bloom_window_set_period(filter, rotate->period_ns,
					       rotate->next_ns);
	if (rotate->period_ns || rotate->next_ns)
		return -EINVAL;
	return bloom_window_rotate(filter);
}

static long do_link(struct file *file, union bloom_request *request,
		    void __user *arg, u32 usize)
{
	const struct bloom_link *link = &request->link;
	struct bloom_file *bf = file->private_data;
	int err;

	if (link->flags & ~(BLOOM_LINK_REPLACE | BLOOM_LINK_EXCHANGE))
		return -EOPNOTSUPP;
	if (link->flags == (BLOOM_LINK_REPLACE | BLOOM_LINK_EXCHANGE))
		return -EINVAL;
	err = bloom_name_check(link->name) ?:
	      bloom_registry_link(bf->filter, link);
	/* Who names it knows: no hangup for this descriptor. */
	if (!err)
		WRITE_ONCE(bf->names_lost, READ_ONCE(bf->filter->names_lost));
	return err;
}

static long do_load(struct file *file, union bloom_request *request,
		    void __user *arg, u32 usize)
{
	struct bloom_load *load = &request->load;
	int err;

	if (fault_in_writeable((char __user *)arg +
			       offsetof(struct bloom_load, done),
			       sizeof(load->done)))
		return -EFAULT;
	err = bloom_filter_load(filter_of(file), load);
	return put_result(arg, load, offsetof(struct bloom_load, done),
			  sizeof(load->done)) ?: err;
}

static const struct bloom_handler handlers[] = {
	BLOOM_HANDLER(BLOOM_IOC_INFO, info, FMODE_READ, do_info),
	BLOOM_HANDLER(BLOOM_IOC_CLEAR, clear, FMODE_WRITE, do_clear),
	BLOOM_HANDLER(BLOOM_IOC_ROTATE, rotate, FMODE_WRITE, do_rotate),
	BLOOM_HANDLER(BLOOM_IOC_LINK, link, FMODE_WRITE, do_link),
	BLOOM_HANDLER(BLOOM_IOC_LOAD, load, FMODE_WRITE, do_load),
};

static long file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case BLOOM_IOC_ADD:
		return do_batch(file, arg, BLOOM_OP_ADD);
	case BLOOM_IOC_QUERY:
		return do_batch(file, arg, BLOOM_OP_QUERY);
	case BLOOM_IOC_REMOVE:
		return do_batch(file, arg, BLOOM_OP_REMOVE);
	default:
		return bloom_request_run(file, cmd, arg, handlers,
					 ARRAY_SIZE(handlers));
	}
}

static int file_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (!(file->f_mode & FMODE_READ))
		return -EACCES;
	return bloom_filter_mmap(filter_of(file), vma);
}

static __poll_t file_poll(struct file *file, poll_table *wait)
{
	struct bloom_file *bf = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &bf->filter->poll, wait);
	if (READ_ONCE(bf->filter->state))
		events |= EPOLLPRI;
	if (READ_ONCE(bf->filter->names_lost) != READ_ONCE(bf->names_lost))
		events |= EPOLLHUP;
	return events;
}

static void file_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct bloom_filter *filter = filter_of(file);

	seq_printf(m, "bloom-id:\t%u\n", filter->id);
	seq_printf(m, "bloom-kind:\t%u\n", filter->params.kind);
	seq_printf(m, "bloom-growth:\t%u\n", filter->params.growth);
	/* What it holds is for who may read. */
	if (!(file->f_mode & FMODE_READ))
		return;
	seq_printf(m, "bloom-capacity:\t%llu\n", filter->params.capacity);
	seq_printf(m, "bloom-keys:\t%llu\n", bloom_filter_keys(filter));
	seq_printf(m, "bloom-bytes:\t%llu\n", bloom_filter_bytes(filter));
	seq_printf(m, "bloom-state:\t%#x\n", READ_ONCE(filter->state));
}

static int file_release(struct inode *inode, struct file *file)
{
	struct bloom_file *bf = file->private_data;

	bloom_room_free(bf->room);
	bloom_filter_put(bf->filter);
	kfree(bf);
	return 0;
}

static const struct file_operations file_ops = {
	.owner		= THIS_MODULE,
	.release	= file_release,
	.unlocked_ioctl	= file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= file_mmap,
	.poll		= file_poll,
	.show_fdinfo	= file_show_fdinfo,
	.llseek		= noop_llseek,
};

int bloom_file_create(struct bloom_filter *filter, u32 access)
{
	int fd, flags = O_CLOEXEC;
	struct bloom_file *bf;
	struct file *file;

	if (access == (BLOOM_ACCESS_READ | BLOOM_ACCESS_WRITE))
		flags |= O_RDWR;
	else if (access == BLOOM_ACCESS_WRITE)
		flags |= O_WRONLY;

	bf = kzalloc(sizeof(*bf), BLOOM_GFP);
	if (!bf) {
		fd = -ENOMEM;
		goto put;
	}
	bf->filter = filter;
	bf->names_lost = READ_ONCE(filter->names_lost);
	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		goto free;
	file = anon_inode_getfile("[bloom]", &file_ops, bf, flags);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		fd = PTR_ERR(file);
		goto free;
	}
	fd_install(fd, file);
	return fd;

free:
	kfree(bf);
put:
	bloom_filter_put(filter);
	return fd;
}
