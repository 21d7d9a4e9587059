// SPDX-License-Identifier: GPL-2.0
/*
 * A module with the faults that a guest must not let pass, to be loaded in the
 * place of bloom.ko.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "none, warn, warn_at_exit, print, panic, hang, pin or leak");

static bool is(const char *name)
{
	return !strcmp(fault, name);
}

static int __init faulty_init(void)
{
	WARN_ON(is("warn"));
	if (is("print"))
		pr_err("WARNING: possible circular locking dependency detected\n");
	if (is("panic"))
		panic("as asked for");
	while (is("hang"))
		msleep(1000);
	if (is("pin"))
		__module_get(THIS_MODULE);
	if (is("leak"))
		pr_info("lost 100 bytes, last seen at %p\n", kmalloc(100, GFP_KERNEL));
	return 0;
}
module_init(faulty_init);

static void __exit faulty_exit(void)
{
	WARN_ON(is("warn_at_exit"));
}
module_exit(faulty_exit);

MODULE_DESCRIPTION("Faults for the guest to notice");
MODULE_LICENSE("GPL");
