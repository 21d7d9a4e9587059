// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/bloom: CREATE, OPEN, UNLINK, LIST; and the module's beginning and end.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "account.h"
#include "bpf.h"
#include "file.h"
#include "filter.h"
#include "registry.h"
#include "request.h"

#define LIST_MAX	4096U
#define LIST_STEP	64U

static long do_create(struct file *file, union bloom_request *request,
		      void __user *arg, u32 usize)
{
	struct bloom_filter *filter = bloom_filter_create(&request->create);

	if (IS_ERR(filter))
		return PTR_ERR(filter);
	return bloom_file_create(filter,
				 BLOOM_ACCESS_READ | BLOOM_ACCESS_WRITE);
}

static long do_open(struct file *file, union bloom_request *request,
		    void __user *arg, u32 usize)
{
	const u32 all = BLOOM_ACCESS_READ | BLOOM_ACCESS_WRITE;
	const struct bloom_open *open = &request->open;
	struct bloom_filter *filter;
	int err;

	if (open->access & ~all)
		return -EOPNOTSUPP;
	if (!open->access)
		return -EINVAL;
	err = bloom_name_check(open->name);
	if (err)
		return err;
	if (open->access & BLOOM_ACCESS_WRITE && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	filter = bloom_registry_open(open->name, open->access);
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	return bloom_file_create(filter, open->access);
}

static long do_unlink(struct file *file, union bloom_request *request,
		      void __user *arg, u32 usize)
{
	int err = bloom_name_check(request->unlink.name);

	if (request->unlink.flags)
		return -EOPNOTSUPP;
	return err ?: bloom_registry_unlink(request->unlink.name);
}

/* A few entries at a time, so that no large array is needed. */
static long do_list(struct file *file, union bloom_request *request,
		    void __user *arg, u32 usize)
{
	struct bloom_list *list = &request->list;
	struct bloom_list_entry *entries;
	u32 count = 0, n, got;
	long err = 0;

	if (list->flags)
		return -EOPNOTSUPP;
	if (list->entry_size < sizeof(*entries) || list->count > LIST_MAX)
		return -EINVAL;
	if (strnlen(list->after, sizeof(list->after)) > BLOOM_NAME_MAX)
		return -ENAMETOOLONG;
	entries = kvcalloc(LIST_STEP, sizeof(*entries), BLOOM_GFP);
	if (!entries)
		return -ENOMEM;

	while (count < list->count) {
		n = min(list->count - count, LIST_STEP);
		memset(entries, 0, array_size(n, sizeof(*entries)));
		got = bloom_registry_list(list->after, entries, n);
		err = bloom_put_rows(list->entries +
				     (u64)count * list->entry_size,
				     list->entry_size, entries,
				     sizeof(*entries), got);
		if (err)
			break;
		count += got;
		if (got < n)
			break;
		strcpy(list->after, entries[got - 1].name);
	}
	kvfree(entries);
	if (!err && put_user(count, (u32 __user *)
			     (arg + offsetof(struct bloom_list, count))))
		err = -EFAULT;
	return err;
}

static const struct bloom_handler handlers[] = {
	BLOOM_HANDLER(BLOOM_IOC_CREATE, create, FMODE_WRITE, do_create),
	BLOOM_HANDLER(BLOOM_IOC_OPEN, open, 0, do_open),
	BLOOM_HANDLER(BLOOM_IOC_UNLINK, unlink, FMODE_WRITE, do_unlink),
	BLOOM_HANDLER(BLOOM_IOC_LIST, list, 0, do_list),
};

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return bloom_request_run(file, cmd, arg, handlers,
				 ARRAY_SIZE(handlers));
}

static const struct file_operations device_ops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= device_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "bloom",
	.fops	= &device_ops,
	.mode	= 0660,
};

/* The ABI: these never change. */
static void __maybe_unused check_layout(void)
{
	BUILD_BUG_ON(sizeof(struct bloom_create) != 88);
	BUILD_BUG_ON(sizeof(struct bloom_open) != 264);
	BUILD_BUG_ON(sizeof(struct bloom_unlink) != 264);
	BUILD_BUG_ON(sizeof(struct bloom_list) != 280);
	BUILD_BUG_ON(sizeof(struct bloom_list_entry) != 312);
	BUILD_BUG_ON(sizeof(struct bloom_batch) != 80);
	BUILD_BUG_ON(sizeof(struct bloom_info) != 472);
	BUILD_BUG_ON(sizeof(struct bloom_layer_info) != 72);
	BUILD_BUG_ON(sizeof(struct bloom_clear) != 8);
	BUILD_BUG_ON(sizeof(struct bloom_rotate) != 24);
	BUILD_BUG_ON(sizeof(struct bloom_link) != 272);
	BUILD_BUG_ON(sizeof(struct bloom_load) != 72);
	BUILD_BUG_ON(sizeof(struct bloom_head) != 16);
}

static int __init bloom_init(void)
{
	int err = bloom_layer_init();

	if (err)
		return err;
	err = misc_register(&device);
	if (err) {
		bloom_layer_exit();
		return err;
	}
	bloom_bpf_init();
	return 0;
}

/*
 * No descriptor, name or mapping is left, for each holds the module; but filters
 * and layers may still be on their way out.
 */
static void __exit bloom_exit(void)
{
	misc_deregister(&device);
	bloom_frees_wait();
	WARN_ON_ONCE(atomic_read(&bloom_frees_pending));
	bloom_registry_exit();
	bloom_layer_exit();
}

module_init(bloom_init);
module_exit(bloom_exit);

MODULE_DESCRIPTION("Bloom filters shared by processes, modules and BPF");
MODULE_LICENSE("GPL");
