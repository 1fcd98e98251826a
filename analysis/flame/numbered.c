/* numbered.c - finds equal frames, and those equal apart from a number, by sorting them. */
#include "analysis/flame/flame.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const char *text)
{
	return text ? text : "";
}

size_t vpa_numbered_stem(const char *name)
{
	size_t len = strlen(name), stem = len;

	while (stem && name[stem - 1] >= '0' && name[stem - 1] <= '9')
		stem--;
	return stem && stem < len && strchr("_.#", name[stem - 1]) ? stem : len;
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Names with a number after those without. */
static int compare_stems(const char *a, const char *b)
{
	size_t a_stem = vpa_numbered_stem(a), b_stem = vpa_numbered_stem(b);
	int order = compare_numbers(a[a_stem] != '\0', b[b_stem] != '\0');

	if (!order)
		order = strncmp(a, b, a_stem < b_stem ? a_stem : b_stem);
	return order ? order : compare_numbers(a_stem, b_stem);
}

/* By what frames of one kind share. */
static int compare_kinds(const struct vpa_stack_row *a, const struct vpa_stack_row *b)
{
	int order = compare_stems(text_of(a->frame.function), text_of(b->frame.function));

	if (!order)
		order = strcmp(text_of(a->frame.file), text_of(b->frame.file));
	if (!order)
		order = compare_numbers(a->frame.number, b->frame.number);
	return order ? order : a->is_users - b->is_users;
}

static int compare_selves(const struct vpa_stack_row *a, const struct vpa_stack_row *b)
{
	return strcmp(text_of(a->frame.function), text_of(b->frame.function));
}

static int compare(const void *pa, const void *pb)
{
	const struct vpa_stack_row *a = *(const struct vpa_stack_row *const *)pa;
	const struct vpa_stack_row *b = *(const struct vpa_stack_row *const *)pb;
	int order = compare_kinds(a, b);

	if (!order)
		order = compare_selves(a, b);
	return order ? order : (a > b) - (a < b);
}

/* ---- the first of each ---- */

/* A kind's first stack is not always the first in order: its name may be a later one. */
static void number_kind(const struct vpa_stack_row *rows, const struct vpa_stack_row **order,
	size_t count, struct vpa_numbered *out)
{
	uint32_t kind = UINT32_MAX, self = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if ((uint32_t)(order[i] - rows) < kind)
			kind = (uint32_t)(order[i] - rows);
	for (i = 0; i < count; i++) {
		uint32_t row = (uint32_t)(order[i] - rows);

		if (!i || compare_selves(order[i - 1], order[i]))
			self = row;
		out->kind[row] = kind;
		out->self[row] = self;
	}
}

int vpa_numbered_find(const struct vpa_lines *lines, struct vpa_numbered *out)
{
	size_t count = lines->stack_count, from, to;
	const struct vpa_stack_row **order = vpt_alloc(count + 1, sizeof(*order));

	out->kind = vpt_alloc(count + 1, sizeof(*out->kind));
	out->self = vpt_alloc(count + 1, sizeof(*out->self));
	if (!order || !out->kind || !out->self) {
		vpt_free(order);
		return VPT_ENOMEM;
	}
	for (from = 0; from < count; from++)
		order[from] = &lines->stacks[from];
	if (count)
		qsort(order, count, sizeof(*order), compare);
	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count && !compare_kinds(order[from], order[to]); to++)
			;
		number_kind(lines->stacks, order + from, to - from, out);
	}
	vpt_free(order);
	return VPT_OK;
}

void vpa_numbered_free(struct vpa_numbered *n)
{
	vpt_free(n->kind);
	vpt_free(n->self);
	*n = (struct vpa_numbered){NULL, NULL};
}
