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

int vpa_range_choice_takes(
	struct vpa_range_choice *c, struct vpt_text shown, struct vpt_text recorded)
{
	size_t len = strlen(c->text);

	if (is_text(shown, c->text, len) || is_text(recorded, c->text, len)) {
		if (!c->has_whole)
			c->count = 0;
		c->has_whole = 1;
		c->name_len = len;
		c->number = 1;
		return 1;
	}
	return !c->has_whole &&
	       (is_text(shown, c->text, c->name_len) || is_text(recorded, c->text, c->name_len));
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
	if (c->number > c->count)
		return NULL;
	qsort(c->items, c->count, sizeof(*c->items), compare_times);
	return &c->items[c->number - 1];
}

const struct vpa_range_time *vpa_range_choice_early(struct vpa_range_choice *c, uint64_t from_ns)
{
	uint64_t before = 0;
	size_t i;

	/* A range may yet come that is called as the whole text. */
	if (c->text && !c->has_whole && c->name_len < strlen(c->text))
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
