// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own gcov as a module, for kernels that are built without it.
 *
 * Those may call no constructors either; so what is counted has pointers to its
 * counts in a section (-fprofile-info-section), and this is told where it is:
 *
 *	echo ADDRESS COUNT >/sys/module/gcov/parameters/section
 */
#define pr_fmt(fmt)	"gcov: " fmt

#include <linux/module.h>

/* Both are called below. */
#undef device_initcall
#define device_initcall(fn)

#include "base.c"
#include "gcc_base.c"
#include "gcc_4_7.c"
#include "fs.c"

/* A module that was loaded again has counts of its own; one that was not, has not. */
static bool is_known(const struct gcov_info *info)
{
	struct gcov_info *known = NULL;

	while ((known = gcov_info_next(known))) {
		if (known == info)
			return true;
	}
	return false;
}

static int section_set(const char *text, const struct kernel_param *param)
{
	struct gcov_info **info;
	unsigned long at, count;

	if (sscanf(text, "%lx %lu", &at, &count) != 2)
		return -EINVAL;
	for (info = (struct gcov_info **)at; count; info++, count--) {
		if (!is_known(*info))
			__gcov_init(*info);
	}
	return 0;
}

static const struct kernel_param_ops section_ops = {
	.set = section_set,
};
module_param_cb(section, &section_ops, NULL, 0200);

static int __init gcov_begin(void)
{
	return gcov_fs_init() ?: gcov_init();
}
module_init(gcov_begin);

MODULE_DESCRIPTION("Counts of the lines that modules run");
MODULE_LICENSE("GPL");
