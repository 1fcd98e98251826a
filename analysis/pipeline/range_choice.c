/* range_choice.c - collects the instances, and sorts them when all are known. */
#include "analysis/pipeline/range_choice.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* "NAME:2": the number, and the name's length. 0: it has none. */
static uint64_t number_of(const char *text, size_t *name_len)
{
	const char *colon = strrchr(text, ':');
	size_t digits = colon ? strlen(colon + 1) : 0;

	if (!digits || digits > 9 || strspn(colon + 1, "0123456789") != digits)
		return 0;
	*name_len = (size_t)(colon - text);
	return strtoull(colon + 1, NULL, 10);
}

void vpa_range_choice_init(struct vpa_range_choice *c, const char *text, uint64_t request)
{
	*c = (struct vpa_range_choice){.text = text, .number = request};
	if (!text)
		return;
	c->number = number_of(text, &c->name_len);
	if (!c->number) {
		c->name_len = strlen(text);
		c->number = 1;
	}
}

static int is_text(struct vpt_text t, const char *text, size_t len)
{
	return t.len == len && !memcmp(t.text, text, len);
}

enum vpa_range_match vpa_range_choice_match(
	const struct vpa_range_choice *c, struct vpt_text shown, struct vpt_text recorded)
{
	size_t len = strlen(c->text);

	if (is_text(shown, c->text, len) || is_text(recorded, c->text, len))
		return VPA_RANGE_WHOLE;
	return is_text(shown, c->text, c->name_len) || is_text(recorded, c->text, c->name_len)
		       ? VPA_RANGE_NAME
		       : VPA_RANGE_OTHER;
}

void vpa_range_choice_know(struct vpa_range_choice *c, int has_whole)
{
	c->is_known = 1;
	if (!has_whole || c->has_whole)
		return;
	c->count = 0;
	c->has_whole = 1;
	c->name_len = strlen(c->text);
	c->number = 1;
}

int vpa_range_choice_takes(
	struct vpa_range_choice *c, struct vpt_text shown, struct vpt_text recorded)
{
	enum vpa_range_match match = vpa_range_choice_match(c, shown, recorded);

	if (match == VPA_RANGE_WHOLE)
		vpa_range_choice_know(c, 1);
	return match == VPA_RANGE_WHOLE || (match == VPA_RANGE_NAME && !c->has_whole);
}

int vpa_range_choice_add(struct vpa_range_choice *c, uint64_t start_ns, uint64_t end_ns)
{
	if (vpt_grow(&c->items, &c->cap, c->count + 1, sizeof(*c->items)))
		return VPT_ENOMEM;
	c->items[c->count++] = (struct vpa_range_time){start_ns, end_ns};
	return VPT_OK;
}

static int compare_times(const void *pa, const void *pb)
{
	const struct vpa_range_time *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

const struct vpa_range_time *vpa_range_choice_get(struct vpa_range_choice *c)
{
	uint64_t number = c->number - c->left;

	if (c->number <= c->left || number > c->count)
		return NULL;
	qsort(c->items, c->count, sizeof(*c->items), compare_times);
	/* One that begins as early may come before those that were left, and what it launched may be left, too. */
	return !c->left_ns || c->items[number - 1].start_ns > c->left_ns ? &c->items[number - 1]
									 : NULL;
}

const struct vpa_range_time *vpa_range_choice_early(struct vpa_range_choice *c, uint64_t from_ns)
{
	uint64_t before = c->left;
	size_t i;

	/* A range may yet come that is called as the whole text. */
	if (c->text && !c->is_known && c->name_len < strlen(c->text))
		return NULL;
	for (i = 0; i < c->count && before < c->number; i++)
		before += c->items[i].start_ns < from_ns;
	return before == c->number ? vpa_range_choice_get(c) : NULL;
}

void vpa_range_choice_free(struct vpa_range_choice *c)
{
	vpt_free(c->items);
	*c = (struct vpa_range_choice){.text = NULL};
}
