/* what_if_parts.c - lists instances of stages and steps, and takes means of them. */
#include "analysis/retime/what_if_parts.h"

#include "analysis/base/choices.h"
#include "analysis/report/overview.h"

VPA_WORDS_OF(enum vpa_part_kind, vpa_part_kind_name, [VPA_PART_OF_STAGE] = "stage",
	[VPA_PART_OF_CONTEXT] = "context", [VPA_PART_OF_STEP] = "step");

/* ---- which instances ---- */

/* The blocks that a report measures come after this many. */
static size_t warmup_of(const struct vpa_blocks *b)
{
	size_t i;

	for (i = 0; i < b->count && b->series[i].warmup; i++)
		;
	return i;
}

/* Of a part with equally many instances in each block, those of warm-up; else those before the first measured block. */
static size_t first_measured(const struct vpa_report *r, const struct vpa_span *spans, size_t count)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i, warmup = q ? warmup_of(&q->blocks) : 0;

	if (!warmup || warmup == q->blocks.count)
		return 0;
	if (r->request_count == 1 && count % q->blocks.count == 0)
		return count / q->blocks.count * warmup;
	for (i = 0; i < count && spans[i].from_ns < q->blocks.series[warmup].start_ns; i++)
		;
	return i;
}

static void leave_out(struct vpa_timed_parts *out, const char *name)
{
	out->left_out[out->left_out_count++] = name;
}

/* Returns 0 if the list is full. */
static int put_span(struct vpa_timed_parts *out, uint64_t from_ns, uint64_t to_ns, uint32_t group)
{
	if (out->span_count == VPA_TIMED_SPANS_MOST)
		return 0;
	out->groups[out->span_count] = group;
	out->spans[out->span_count++] = (struct vpa_span){from_ns, to_ns};
	return 1;
}

/* The instances from `from` on are those of a part. */
static void end_part(const struct vpa_report *r, struct vpa_timed_parts *out,
	enum vpa_part_kind kind, const char *name, size_t from)
{
	size_t first = from + first_measured(r, &out->spans[from], out->span_count - from);

	if (first < out->span_count)
		out->parts[out->part_count++] =
			(struct vpa_timed_part){kind, name, first, out->span_count};
}

/* Where there were too many of them, instances were joined. */
static void put_lane(const struct vpa_report *r, const struct vpa_overview_lane *lane,
	struct vpa_timed_parts *out)
{
	size_t i, from = out->span_count;
	int all = lane->count == lane->span_count;

	for (i = 0; i < lane->span_count && all; i++)
		all = put_span(out, lane->spans[i].start_ns, lane->spans[i].end_ns, 0);
	if (all)
		end_part(r, out,
			lane->kind == VPA_SCOPE_CONTEXT ? VPA_PART_OF_CONTEXT
			: lane->kind == VPA_SCOPE_STEP  ? VPA_PART_OF_STEP
							: VPA_PART_OF_STAGE,
			lane->name, from);
	else if (lane->kind != VPA_SCOPE_STEP)
		leave_out(out, lane->name);
	out->span_count = all ? out->span_count : from;
}

static void put_steps(const struct vpa_report *r, struct vpa_timed_parts *out)
{
	const char *name = r->steps_are_iterations ? "iteration" : "step";
	size_t i, from = out->span_count;
	uint32_t group = 0;
	int all = 1;

	for (i = 0; i < r->step_part_count && all; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];

		if (i && (s->request != s[-1].request || s->block != s[-1].block))
			group++;
		if (s->period_ns)
			all = put_span(
				out, s->start_ns, vpt_sat_add(s->start_ns, s->period_ns), group);
	}
	if (all)
		end_part(r, out, VPA_PART_OF_STEP, name, from);
	else
		leave_out(out, name);
	out->span_count = all ? out->span_count : from;
}

/* ---- overlap ---- */

static int overlaps_itself(const struct vpa_span *spans, const struct vpa_timed_part *p)
{
	size_t i;

	for (i = p->from + 1; i < p->to; i++)
		if (spans[i].from_ns < spans[i - 1].to_ns)
			return 1;
	return 0;
}

/* Whether instances of two parts overlap, of which none overlaps its own; *inside: each of the first part's is inside one of
 * the second's. */
static int overlap(const struct vpa_span *spans, const struct vpa_timed_part *a,
	const struct vpa_timed_part *b, int *inside)
{
	size_t i, k = b->from;
	int any = 0;

	*inside = 1;
	for (i = a->from; i < a->to; i++) {
		while (k < b->to && spans[k].to_ns <= spans[i].from_ns)
			k++;
		any |= k < b->to && spans[k].from_ns < spans[i].to_ns;
		*inside &= k < b->to && spans[k].from_ns <= spans[i].from_ns &&
			   spans[i].to_ns <= spans[k].to_ns;
	}
	return any;
}

static int is_mixed(const struct vpa_timed_parts *p, size_t part)
{
	int in_other, in_this;
	size_t i;

	if (overlaps_itself(p->spans, &p->parts[part]))
		return 1;
	for (i = 0; i < p->part_count; i++)
		if (i != part && !overlaps_itself(p->spans, &p->parts[i]) &&
			overlap(p->spans, &p->parts[part], &p->parts[i], &in_other) &&
			overlap(p->spans, &p->parts[i], &p->parts[part], &in_this) && !in_other &&
			!in_this)
			return 1;
	return 0;
}

static void leave_out_mixed(struct vpa_timed_parts *p, uint8_t *mixed)
{
	size_t i, kept = 0;

	for (i = 0; i < p->part_count; i++)
		mixed[i] = (uint8_t)is_mixed(p, i);
	for (i = 0; i < p->part_count; i++)
		if (mixed[i])
			leave_out(p, p->parts[i].name);
		else
			p->parts[kept++] = p->parts[i];
	p->part_count = kept;
}

int vpa_timed_parts_of(const struct vpa_report *r, int steps_are_stages, struct vpa_arena *arena,
	struct vpa_timed_parts *out)
{
	size_t i, lanes = r->overview ? r->overview->lane_count : 0;
	uint8_t *mixed = vpa_arena_alloc(arena, lanes + 1, 1);

	*out = (struct vpa_timed_parts){
		.spans = vpa_arena_alloc(arena, VPA_TIMED_SPANS_MOST, sizeof(*out->spans)),
		.groups = vpa_arena_alloc(arena, VPA_TIMED_SPANS_MOST, sizeof(*out->groups)),
		.parts = vpa_arena_alloc(arena, lanes + 1, sizeof(*out->parts)),
		.left_out = vpa_arena_alloc(arena, lanes + 1, sizeof(*out->left_out))};
	if (arena->failed)
		return VPT_ENOMEM;
	for (i = 0; i < lanes; i++)
		if (steps_are_stages || r->overview->lanes[i].kind != VPA_SCOPE_STEP)
			put_lane(r, &r->overview->lanes[i], out);
	if (!steps_are_stages)
		put_steps(r, out);
	leave_out_mixed(out, mixed);
	return VPT_OK;
}

/* ---- means ---- */

double vpa_timed_mean_ns(const struct vpa_timed_parts *p, const struct vpa_timed_part *part,
	const struct vpa_retiming *t, size_t world, size_t first, int64_t number, uint64_t *count)
{
	int64_t in_group = 0;
	double sum_ns = 0;
	size_t i;

	*count = 0;
	for (i = part->from; i < part->to; i++) {
		uint64_t ns = t ? vpa_retimed_ns(t, world, first + i)
				: p->spans[i].to_ns - p->spans[i].from_ns;

		if (i > part->from && p->groups[i] != p->groups[i - 1])
			in_group = 0;
		if (!ns)
			continue;
		if (number < 0 || number == in_group) {
			sum_ns += (double)ns;
			++*count;
		}
		in_group++;
	}
	return *count ? sum_ns / (double)*count : 0;
}
