/* host_code.c - sums of the devices' rows of what the host did, which are few; and their words. */
#include "analysis/report/host_code.h"

#include "analysis/base/numbers.h"
#include "analysis/report/main_line.h"

enum { NAME_COLUMNS = 64 }; /* of a range or call in a sentence */

/* Which rows count. */
struct filter {
	const struct vpa_report *report;
	uint32_t causes;
	enum vpa_cause host;
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place);
	unsigned part;
};

static int counts(const struct filter *f, const struct vpa_instead_row *row)
{
	return (f->causes >> row->cause & 1) && row->host == f->host &&
	       (!f->wanted || f->wanted(f->report, f->part, &row->place));
}

/* What is at the place of this row. */
static struct vpa_host_code sum_place(const struct filter *f, const struct vpa_instead_row *at)
{
	struct vpa_host_code sum = {.place = at->host_place};
	uint64_t call_ns = 0;
	size_t d, i;

	for (d = 0; d < f->report->device_count; d++)
		for (i = 0; i < f->report->devices[d].instead_count; i++) {
			const struct vpa_instead_row *row = &f->report->devices[d].instead[i];

			if (!counts(f, row) || vpa_place_compare(&row->host_place, &at->host_place))
				continue;
			sum.place_ns += row->ns;
			if (row->ns > call_ns && row->place.kind != VPA_PLACE_SEVERAL) {
				call_ns = row->ns;
				sum.call = row->call;
				sum.inside = row->host_call;
			}
		}
	return sum;
}

/* The line with most of all that time, among the rows at its place if that has most of it. */
static struct vpa_top_line line_of(const struct filter *f, const struct vpa_host_code *h)
{
	int has_place = vpa_host_code_has_place(h);
	struct vpa_main_line line = {.ns = 0};
	size_t d, i;

	do {
		for (d = 0; d < f->report->device_count; d++)
			for (i = 0; i < f->report->devices[d].instead_count; i++) {
				const struct vpa_instead_row *row =
					&f->report->devices[d].instead[i];
				int is_there = !has_place ||
					       !vpa_place_compare(&row->host_place, &h->place);

				if (counts(f, row))
					vpa_main_line_add(
						&line, is_there ? row->top : NULL, row->ns);
			}
	} while (vpa_main_line_again(&line));
	return vpa_main_line_of(&line);
}

static struct vpa_host_code sum_all(const struct filter *f)
{
	const struct vpa_report *r = f->report;
	struct vpa_host_code most = {.ns = 0};
	uint64_t ns = 0;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].instead_count; i++) {
			const struct vpa_instead_row *row = &r->devices[d].instead[i];
			struct vpa_host_code at;

			if (!counts(f, row))
				continue;
			ns += row->ns;
			/* A sum of small places is none. */
			if (row->host_place.kind == VPA_PLACE_SEVERAL)
				continue;
			at = sum_place(f, row);
			if (at.place_ns > most.place_ns)
				most = at;
		}
	most.ns = ns;
	most.host = f->host;
	most.top = line_of(f, &most);
	return most;
}

struct vpa_host_code vpa_host_code_of(const struct vpa_report *r, uint32_t causes,
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place),
	unsigned part)
{
	const struct filter f = {r, causes, VPA_CAUSE_HOST_CODE, wanted, part};

	return sum_all(&f);
}

struct vpa_host_code vpa_instead_of(
	const struct vpa_report *r, enum vpa_cause cause, enum vpa_cause host)
{
	const struct filter f = {r, (uint32_t)1 << cause, host, NULL, 0};

	return sum_all(&f);
}

/* ---- words ---- */

/* " in post_process", " before step"; "": no place has most of it. */
static const char *place_of(struct vpa_report *r, const struct vpa_host_code *h)
{
	if (!vpa_host_code_has_place(h))
		return "";
	return vpa_arena_printf(&r->arena, "%s%s", h->place.kind == VPA_PLACE_BEFORE ? " " : " in ",
		vpa_fit(h->place.text, NAME_COLUMNS).text);
}

const char *vpa_host_code_title(struct vpa_report *r, const struct vpa_host_code *h, int reads)
{
	if (reads)
		return vpa_arena_printf(&r->arena,
			"keep small values on the GPU, without .item(), .cpu() or bool(); or "
			"launch the next work before the host code%s",
			place_of(r, h));
	return vpa_arena_printf(&r->arena,
		"the GPU idles while the host runs code%s after %s: launch the next work first, "
		"or shorten that code",
		place_of(r, h), vpa_fit(h->call ? h->call : "the wait", NAME_COLUMNS).text);
}

struct vpa_host_code vpa_host_call_of(const struct vpa_report *r, uint32_t causes,
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place),
	unsigned part, uint64_t ns)
{
	int host;

	for (host = VPA_CAUSE_ALLOCATION; host <= VPA_CAUSE_OTHER_CALL; host++) {
		const struct filter f = {r, causes, (enum vpa_cause)host, wanted, part};
		struct vpa_host_code h = sum_all(&f);

		if (h.ns && h.ns >= ns / 2)
			return h;
	}
	return (struct vpa_host_code){.ns = 0};
}

const char *vpa_host_call_note(struct vpa_report *r, uint32_t causes,
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place),
	unsigned part, uint64_t ns)
{
	struct vpa_host_code h = vpa_host_call_of(r, causes, wanted, part, ns);

	if (!h.ns)
		return NULL;
	return vpa_arena_printf(&r->arena, "for %s of it %s%s%s", vpa_part_word(h.ns, ns),
		vpa_cause_help(h.host), h.inside ? ", mostly in " : "",
		vpa_fit(h.inside, NAME_COLUMNS).text);
}

const char *vpa_host_code_note(struct vpa_report *r, const struct vpa_host_code *h, uint64_t ns)
{
	char line[320];

	vpa_main_line_text(line, sizeof(line), &h->top, "");
	return vpa_arena_printf(&r->arena,
		"for %s of it the call had returned, and the host ran its own code%s%s%s",
		vpa_part_word(h->ns, ns), place_of(r, h), line[0] ? ", " : "", line);
}
