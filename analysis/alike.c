/* alike.c - compares names without their numbers. */
#include "analysis/alike.h"

#include <string.h>

int vpa_compare_alike(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	if (!a || !b)
		return (a != NULL) - (b != NULL);
	while (*a && *b) {
		size_t na = strspn(a, digits), nb = strspn(b, digits);

		/* A number is one character, whatever its length. */
		if (na && nb) {
			a += na;
			b += nb;
			continue;
		}
		if (*a != *b)
			break;
		a++;
		b++;
	}
	return ((unsigned char)*a > (unsigned char)*b) - ((unsigned char)*a < (unsigned char)*b);
}

static int same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int is_same_line(const struct vpa_code_line *a, const struct vpa_code_line *b)
{
	return a->number == b->number && same_text(a->file, b->file);
}

/* Whether a device before this row's has the same place. */
static int is_known(const struct vpa_report *r, size_t device, const struct vpa_idle_part *part)
{
	size_t d, i;

	for (d = 0; d < device; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *other = &r->devices[d].causes[i];

			if (other->cause == part->cause && same_text(other->call, part->call) &&
				same_text(other->range, part->range))
				return 1;
		}
	return 0;
}

struct vpa_alike vpa_alike_places(const struct vpa_report *r, const struct vpa_idle_part *place,
	int (*takes)(const struct vpa_report *r, unsigned ctx, const char *range), unsigned ctx)
{
	struct vpa_alike out = {.ns = 0};
	int has_others = 0;
	size_t d, i;

	for (d = 0; d < r->device_count && place->range; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *p = &r->devices[d].causes[i];

			if (p->cause != place->cause || !same_text(p->call, place->call) ||
				!p->range || vpa_compare_alike(p->range, place->range) ||
				!takes(r, ctx, p->range))
				continue;
			out.ns += p->ns;
			out.count += !is_known(r, d, p);
			if (!p->top || !p->top->line.file)
				continue;
			has_others |= out.top && !is_same_line(&out.top->line, &p->top->line);
			out.top = p->top;
		}
	if (has_others)
		out.top = NULL;
	return out;
}
