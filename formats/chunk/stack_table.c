/* stack_table.c - Python stacks as nodes of a tree, interned by writers and checked by the reader. */
#include "formats/chunk/batch.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"

#include <string.h>

void vpt_stack_table_reset(struct vpt_stack_table *t)
{
	vpt_strings_reset(&t->frames);
	vpt_strings_reset(&t->stacks);
	t->depth_count = 0;
}

void vpt_stack_table_free(struct vpt_stack_table *t)
{
	vpt_strings_free(&t->frames);
	vpt_strings_free(&t->stacks);
	vpt_free(t->depths);
	memset(t, 0, sizeof(*t));
}

uint64_t vpt_stack_table_frame(struct vpt_stack_table *t, const struct vpt_frame *frame)
{
	return vpt_strings_put(&t->frames, (const char *)frame, sizeof(*frame));
}

/* Appends a depth for each row of `stacks` that has none yet, which is at most one. */
static int add_depth(struct vpt_stack_table *t, unsigned depth)
{
	if (t->stacks.count == t->depth_count)
		return VPT_OK;
	if (vpt_grow(&t->depths, &t->depth_cap, t->depth_count + 1, sizeof(*t->depths)))
		return VPT_ENOMEM;
	t->depths[t->depth_count++] = (uint16_t)depth;
	return VPT_OK;
}

uint64_t vpt_stack_table_stack(struct vpt_stack_table *t, uint64_t caller, uint64_t frame)
{
	struct vpt_stack row = {.caller = caller, .frame = frame};
	/* No row has itself as its caller, so this one is equal to no other. */
	const struct vpt_stack empty = {.caller = VPT_NO_ID};
	uint64_t id;

	if (!t->depth_count &&
		(vpt_strings_put(&t->stacks, (const char *)&empty, sizeof(empty)) == VPT_NO_ID ||
			add_depth(t, 0)))
		return VPT_NO_ID;
	if (caller >= t->depth_count)
		return VPT_NO_ID;
	if (t->depths[caller] >= VPT_STACK_DEPTH_MAX)
		return caller;
	id = vpt_strings_put(&t->stacks, (const char *)&row, sizeof(row));
	return id != VPT_NO_ID && add_depth(t, t->depths[caller] + 1u) ? VPT_NO_ID : id;
}

struct vpt_frame vpt_stack_table_frame_row(const struct vpt_stack_table *t, uint64_t id)
{
	struct vpt_frame row;

	memcpy(&row, vpt_strings_get(&t->frames, id).text, sizeof(row));
	return row;
}

struct vpt_stack vpt_stack_table_stack_row(const struct vpt_stack_table *t, uint64_t id)
{
	struct vpt_stack row;

	memcpy(&row, vpt_strings_get(&t->stacks, id).text, sizeof(row));
	return row;
}

int vpt_stack_table_read(struct vpt_stack_table *t, const uint64_t *callers, size_t count)
{
	size_t row;

	if (t->depth_count)
		return VPT_EDATA;
	if (vpt_grow(&t->depths, &t->depth_cap, count, sizeof(*t->depths)))
		return VPT_ENOMEM;
	if (callers[0])
		return VPT_EDATA;
	t->depths[0] = 0;
	for (row = 1; row < count; row++) {
		if (callers[row] >= row || t->depths[callers[row]] >= VPT_STACK_DEPTH_MAX)
			return VPT_EDATA;
		t->depths[row] = (uint16_t)(t->depths[callers[row]] + 1);
	}
	t->depth_count = count;
	return VPT_OK;
}
