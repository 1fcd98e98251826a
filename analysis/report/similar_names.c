/* similar_names.c - compares names without their numbers. */
#include "analysis/report/similar_names.h"

#include "analysis/report/main_line.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

int vpa_compare_alike(const char *a, const char *b)
{
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

/* ---- one name for all ---- */

void vpa_alike_add(struct vpa_alike *all, const char *name)
{
	size_t n = 0;

	for (; *name && n < VPA_ALIKE_NUMBERS; name++) {
		uint64_t number;
		char *end;

		if (!vpt_is_digit(*name))
			continue;
		number = strtoull(name, &end, 10);
		if (!all->count || number < all->numbers[n].least)
			all->numbers[n].least = number;
		if (!all->count || number > all->numbers[n].most)
			all->numbers[n].most = number;
		name = end - 1;
		n++;
	}
	all->count++;
}

/* How many names there are with numbers between those. */
static uint64_t names_between(const struct vpa_alike *all)
{
	uint64_t names = 1;
	size_t n;

	for (n = 0; n < VPA_ALIKE_NUMBERS; n++)
		names = vpt_sat_mul(
			names, vpt_sat_add(all->numbers[n].most - all->numbers[n].least, 1));
	return names;
}

struct vpa_label vpa_alike_label(const struct vpa_alike *all, const char *name)
{
	struct vpa_label out;
	size_t used = 0, n = 0;

	for (; *name && used + 48 < sizeof(out.text); name++) {
		/* Zeros before a number keep its width. */
		int width = *name == '0' ? (int)strspn(name, digits) : 1;

		if (!vpt_is_digit(*name) || n >= VPA_ALIKE_NUMBERS ||
			all->numbers[n].least == all->numbers[n].most) {
			n += vpt_is_digit(*name) && !vpt_is_digit(name[1]);
			out.text[used++] = *name;
			continue;
		}
		used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
			"%0*" PRIu64 "..%0*" PRIu64, width, all->numbers[n].least, width,
			all->numbers[n].most);
		name += strspn(name, digits) - 1;
		n++;
	}
	out.text[used] = '\0';
	if (all->count && names_between(all) > all->count)
		snprintf(out.text + used, sizeof(out.text) - used, " (%zu of them)", all->count);
	return out;
}

/* ---- places ---- */

/* Whether a device before this row's has the same place. */
static int is_known(const struct vpa_report *r, size_t device, const struct vpa_idle_part *part)
{
	size_t d, i;

	for (d = 0; d < device; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *other = &r->devices[d].causes[i];

			if (other->cause == part->cause && vpt_same_text(other->call, part->call) &&
				!vpa_place_compare(&other->place, &part->place))
				return 1;
		}
	return 0;
}

/* Which places are summed up. */
struct filter {
	const struct vpa_report *report;
	const struct vpa_idle_part *place;
	int are_alike;
	int (*takes)(const struct vpa_report *r, unsigned ctx, const struct vpa_place *place);
	unsigned ctx;
};

static int counts(const struct filter *f, const struct vpa_idle_part *p)
{
	const struct vpa_place *place = &f->place->place;

	if (p->cause != f->place->cause || !vpt_same_text(p->call, f->place->call) ||
		(f->takes && !f->takes(f->report, f->ctx, &p->place)))
		return 0;
	if (!f->are_alike)
		return !vpa_place_compare(&p->place, place);
	return place->text && p->place.text && p->place.kind == place->kind &&
	       !vpa_compare_alike(p->place.text, place->text);
}

static struct vpa_similar sum(const struct filter *f)
{
	const struct vpa_report *r = f->report;
	struct vpa_main_line line = {.ns = 0};
	struct vpa_similar out;
	size_t d, i;

	do {
		out = (struct vpa_similar){.ns = 0};
		for (d = 0; d < r->device_count; d++)
			for (i = 0; i < r->devices[d].cause_count; i++) {
				const struct vpa_idle_part *p = &r->devices[d].causes[i];

				if (!counts(f, p))
					continue;
				out.ns += p->ns;
				if (p->place.text && !is_known(r, d, p))
					vpa_alike_add(&out.ranges, p->place.text);
				vpa_main_line_add(&line, p->top, p->ns);
			}
	} while (vpa_main_line_again(&line));
	out.top = vpa_main_line_of(&line);
	return out;
}

struct vpa_similar vpa_similar_places(const struct vpa_report *r, const struct vpa_idle_part *place,
	int (*takes)(const struct vpa_report *r, unsigned ctx, const struct vpa_place *place),
	unsigned ctx)
{
	const struct filter f = {r, place, 1, takes, ctx};

	return sum(&f);
}

struct vpa_similar vpa_same_places(const struct vpa_report *r, const struct vpa_idle_part *place,
	int (*takes)(const struct vpa_report *r, unsigned ctx, const struct vpa_place *place),
	unsigned ctx)
{
	const struct filter f = {r, place, 0, takes, ctx};

	return sum(&f);
}
