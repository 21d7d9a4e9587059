// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of a layer are put into a mapping as they are touched. The mapping holds
 * the layer, and through its pages the memory; so a mapping outlives CLEAR,
 * growth and the filter itself, and shows the old bits.
 *
 * They are small pages. A PMD of a vmalloc_huge() area at a time would make batch
 * queries 1.5 times as fast (240 MiB; measured with anonymous memory); but such an
 * area's pages are no compound page, so it would be a mapping of PFNs, and before
 * 6.12 get_user_pages_fast() takes those for pages that it may hold.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "account.h"
#include "filter.h"
#include "map.h"

static void layer_open(struct vm_area_struct *vma)
{
	bloom_layer_get(vma->vm_private_data);
}

static void layer_close(struct vm_area_struct *vma)
{
	bloom_layer_put(vma->vm_private_data);
}

static vm_fault_t layer_fault(struct vm_fault *vmf)
{
	struct bloom_layer *layer = vmf->vma->vm_private_data;
	u64 offset = ((u64)vmf->pgoff << PAGE_SHIFT) - layer->map_offset;
	struct page *page;

	if (offset >= layer->geo.bytes)
		return VM_FAULT_SIGBUS;
	page = vmalloc_to_page((u8 *)layer->words + offset);
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct layer_vm_ops = {
	.open	= layer_open,
	.close	= layer_close,
	.fault	= layer_fault,
};

static int map_head(struct bloom_filter *filter, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;

	lockdep_assert_held(&filter->control);
	if (!filter->head) {
		struct bloom_head *head;

		head = (void *)get_zeroed_page(BLOOM_GFP);
		if (!head)
			return -ENOMEM;
		head->seq = filter->seq;
		head->size = sizeof(*head);
		head->state = filter->state;
		filter->head = head;
	}
	return vm_insert_page(vma, vma->vm_start, virt_to_page(filter->head));
}

static int map_layer(struct bloom_filter *filter, struct vm_area_struct *vma)
{
	u64 from = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 length = vma->vm_end - vma->vm_start;
	struct bloom_set *set = bloom_set_locked(filter);
	struct bloom_layer *layer;
	u32 i;

	for (i = 0; i < set->count; i++) {
		layer = set->layers[i];
		if (from < layer->map_offset ||
		    from - layer->map_offset >= layer->geo.bytes)
			continue;
		if (length > layer->geo.bytes - (from - layer->map_offset))
			return -EINVAL;
		bloom_layer_get(layer);
		vma->vm_private_data = layer;
		vma->vm_ops = &layer_vm_ops;
		return 0;
	}
	return -EINVAL;
}

int bloom_filter_mmap(struct bloom_filter *filter, struct vm_area_struct *vma)
{
	int err;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	/*
	 * Nor may mprotect() bring it later, mremap() make it longer, a core
	 * dump or a child's copy-on-write take it.
	 */
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_MIXEDMAP);

	mutex_lock(&filter->control);
	err = vma->vm_pgoff ? map_layer(filter, vma) : map_head(filter, vma);
	mutex_unlock(&filter->control);
	return err;
}
