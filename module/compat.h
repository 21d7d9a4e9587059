/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions. It gives every kernel from 6.1 on
 * the names of the newest; the rest of the module is written against those.
 * Where a macro or a config symbol tells, it is asked rather than the version.
 */
#ifndef BLOOM_COMPAT_H
#define BLOOM_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#ifndef CONFIG_64BIT
#error "bloom needs a 64-bit kernel: filters are larger than 2^32 bits"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#ifndef __bpf_kfunc
#define __bpf_kfunc noinline
#endif

#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name)	BTF_SET8_START(name)
#define BTF_KFUNCS_END(name)	BTF_SET8_END(name)
#endif

/* 6.5 has hooks for kfuncs in every kind of program that sees packets. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define BLOOM_HAVE_MORE_BPF_HOOKS
#endif

static inline bool bloom_module_has_btf(void)
{
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	return THIS_MODULE->btf_data_size;
#else
	return false;
#endif
}

#endif /* BLOOM_COMPAT_H */
