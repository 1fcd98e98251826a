/* findings_moves.c - conclusions about kernels that only move data: what joins tensors, what casts them, and what copies them.
 *
 * Who joins tensors again and again, as a cache of keys and values that grows, writes all that was there once more. Casts from
 * FP32 to 16 bits without as many in the other direction are of weights that were loaded in FP32: nothing casts them back.
 * Otherwise some operators compute in FP32, and a compiler makes the casts a part of these. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/names/families.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* As for other kinds of kernels. */
static const double work_share = 0.05;

/* Casts are of weights if those to 16 bits are this share of all. */
static const double weight_share = 0.75;

/* Copies that change nothing have many reasons, so they are worth a line only where they are much of the work. */
static const double copies_share = 0.1;

/* What kernels with a mark take. */
struct moved {
	uint64_t ns, calls;
	const char *kernel; /* the largest; NULL: there is none */
};

/* A copy that casts is marked as both, and counts as a cast. */
static int has_mark(const struct vpa_kernel_row *k, enum vpa_kernel_mark mark)
{
	return vpa_is_marked(k->marks, mark) &&
	       (mark != VPA_MARK_DIRECT_COPY || !vpa_is_marked(k->marks, VPA_MARK_CAST));
}

static struct moved moved_by(const struct vpa_report *r, enum vpa_kernel_mark mark)
{
	struct moved out = {.ns = 0};
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		if (!has_mark(k, mark))
			continue;
		vpt_sat_add_to(&out.ns, k->exclusive_ns);
		out.calls += k->time.count;
		out.kernel = out.kernel ? out.kernel : k->name;
	}
	return out;
}

/* What the findings about decoders save already. */
static uint64_t decoders_cat_ns(const struct vpa_report *r)
{
	const struct vpa_expert *e = &r->expert;
	uint64_t ns = 0;
	size_t i, k;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (f->id != VPA_FOUND_DECODER_WORK || !(f->gain_at_most_ms > 0) ||
			!f->evidence_count)
			continue;
		for (k = 0; k < e->stage_family_count; k++)
			if (!strcmp(e->stage_families[k].stage, f->evidence[0]))
				vpt_sat_add_to(&ns, e->stage_families[k].cat_ns);
	}
	return ns;
}

static void set_place(struct vpa_report *r, struct vpa_finding *f, enum vpa_move what)
{
	const struct vpa_move_row *most = NULL;
	uint64_t all_ns = 0;
	size_t i;

	for (i = 0; i < r->move_count; i++) {
		if (r->moves[i].what != what)
			continue;
		most = most ? most : &r->moves[i];
		vpt_sat_add_to(&all_ns, r->moves[i].total_ns);
	}
	if (most)
		vpa_finding_work_is_at(r, f, &most->place, most->total_ns, all_ns);
	if (f->where)
		f->note = vpa_arena_printf(
			&r->arena, "%s of it %s", vpa_part_word(most->total_ns, all_ns), f->where);
}

/* NULL: it is not worth one, or less than `share` of busy time. `left_ns`: of the moved time, what stays, or others claim. */
static struct vpa_finding *find_moved(struct vpa_report *r, enum vpa_finding_id id,
	enum vpa_move what, const struct moved *m, uint64_t left_ns, double share)
{
	uint64_t busy = vpa_busy_ns(r);
	struct vpa_saving s = {.ns = m->ns - vpa_earlier(left_ns, m->ns)};
	struct vpa_finding *f;

	if ((double)s.ns < share * (double)busy || !vpa_saving_is_worth(r, &s))
		return NULL;
	f = vpa_finding_add(r, id, vpa_saving_status(r, &s));
	if (!f)
		return NULL;
	set_place(r, f, what);
	s.base_ns = vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_LAYOUT);
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena, "%" PRIu64 " kernel%s, %s, %s %% of busy",
		m->calls, vpa_plural(m->calls), vpa_duration(m->ns).text,
		vpa_share((double)m->ns / (double)busy).text);
	f->threshold = "5 % of busy time, 2 % of active, 1 % of the window";
	vpa_finding_evidence(f, m->kernel);
	return f;
}

static void find_joins(struct vpa_report *r)
{
	struct moved m = moved_by(r, VPA_MARK_CAT);
	uint64_t decoders_ns = decoders_cat_ns(r);
	struct vpa_finding *f =
		find_moved(r, VPA_FOUND_TENSOR_JOINS, VPA_MOVE_CAT, &m, decoders_ns, work_share);

	if (!f)
		return;
	f->title = "torch.cat copies all its inputs: write into one buffer instead";
	f->caveat = decoders_ns ? "without what a decoder joins, which has its own finding"
				: "what is new is still written, once";
	/* A name would stand for those of decoders too. */
	f->change = decoders_ns ? NULL : "scale *CatArrayBatchedCopy* 0.05";
}

/* Such casts take no time; NULL: none of their names is known. */
static const char *casts_change(struct vpa_report *r, int of_weights)
{
	static const struct {
		const char *word, *change;
		int of_weights;
	} names[] = {
		{"float16_copy_kernel", "scale *float16_copy_kernel* 0", 1},
		{"float16tofloat32_copy_kernel", "scale *float16tofloat32_copy_kernel* 0", 0},
		{"direct_copy_kernel", "scale *direct_copy_kernel*WithCast* 0", 0},
	};
	const char *text = NULL;
	size_t i, k;

	for (k = 0; k < COUNT(names); k++) {
		if (of_weights && !names[k].of_weights)
			continue;
		for (i = 0; i < r->kernel_names; i++)
			if (vpa_is_marked(r->kernels[i].marks, VPA_MARK_CAST) &&
				strstr(r->kernels[i].name, names[k].word))
				break;
		if (i < r->kernel_names)
			text = vpa_arena_printf(&r->arena, "%s%s%s", text ? text : "",
				text ? "; " : "", names[k].change);
	}
	return text;
}

static void find_casts(struct vpa_report *r)
{
	struct moved all = moved_by(r, VPA_MARK_CAST), narrowing = moved_by(r, VPA_MARK_NARROWING);
	int of_weights = (double)narrowing.ns >= weight_share * (double)all.ns;
	struct vpa_finding *f;

	/* What fuses a chain fuses its casts. */
	if (!of_weights && vpa_finding_find(r, VPA_FOUND_UNFUSED_ELEMENTWISE))
		return;
	f = find_moved(r, VPA_FOUND_TYPE_CASTS, VPA_MOVE_CAST, of_weights ? &narrowing : &all, 0,
		work_share);
	if (!f)
		return;
	f->title = of_weights ? "FP32 values are cast to 16 bits on the GPU: load the weights in "
				"BF16, or let autocast cache them"
			      : "values are cast between FP32 and 16 bits: fuse the casts, as "
				"torch.compile does";
	f->words = of_weights ? NULL : "fuse casts: torch.compile";
	f->caveat =
		of_weights ? "casts of activations stay, unless torch.compile fuses them" : NULL;
	f->change = casts_change(r, of_weights);
}

/* What others say of them: chains that a compiler fuses, operands that are not contiguous, decoders that change layouts. */
static int are_copies_named(const struct vpa_report *r)
{
	static const enum vpa_finding_id others[] = {VPA_FOUND_UNFUSED_ELEMENTWISE,
		VPA_FOUND_SCATTERED_MEMORY, VPA_FOUND_DECODER_WORK, VPA_FOUND_VOL2COL};
	size_t i;

	for (i = 0; i < COUNT(others); i++) {
		const struct vpa_finding *f = vpa_finding_find(r, others[i]);

		if (f && f->gain_at_most_ms > 0)
			return 1;
	}
	return 0;
}

static void find_copies(struct vpa_report *r)
{
	struct moved m = moved_by(r, VPA_MARK_DIRECT_COPY);
	struct vpa_finding *f = are_copies_named(r) ? NULL
						    : find_moved(r, VPA_FOUND_TENSOR_COPIES,
							      VPA_MOVE_NONE, &m, 0, copies_share);

	if (!f)
		return;
	f->title = "kernels only copy tensors: write in place, and give CUDA graphs inputs at "
		   "addresses that stay";
	f->threshold = "10 % of busy time, 2 % of active, 1 % of the window";
	f->caveat = "a copy into another order of memory may be needed";
	f->note = vpa_arena_printf(&r->arena, "%s; %s", f->measured, f->caveat);
}

void vpa_find_moves(struct vpa_report *r)
{
	find_joins(r);
	find_casts(r);
	find_copies(r);
}
