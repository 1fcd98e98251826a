/* gap_slices.c - idle gaps as slices: their cause, and the line of Python that they waited for.
 *
 * Where a profiler recorded every call, or a gap has samples enough, its line is known when it is emitted. Else
 * the line may be that of all gaps with its cause, range and call, which the report knows at the end. So
 * the longest gaps are held back until then; they also get the ids that the report gives them. Left
 * out, so that memory does not grow with the trace: such lines of gaps shorter than those held. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/base/index.h"
#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/export/perfetto/lanes/result_tracks.h"
#include "analysis/folds/gap_line.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

enum { HELD_FOR_LINES = 8192 };

struct held_gap {
	uint64_t start_ns, end_ns;
	uint32_t device;
	uint8_t cause, then; /* the largest and the second; VPA_CAUSE_NOT_IDLE: there is none */
	uint8_t host; /* what the host did in the longest piece of the largest; 0: see there */
	uint64_t cause_ns, then_ns;
	uint32_t call, place;    /* of the model, as in struct vpa_gap */
	uint32_t host_place;     /* the same */
	uint32_t previous, next; /* texts; 0: none */
	struct vpa_gap_line line;
};

struct vpa_ex_gaps {
	struct held_gap *held;
	size_t count, cap;
	/* The last of those that stayed when there were too many: a gap that is listed after it cannot stay. */
	struct held_gap last;
	int has_last;
	size_t min; /* how many stay at least */
	/* At the end, what the report knows of all gaps of a (device << 8 | cause, place << 32 | call). */
	struct vpa_index places;
	const struct vpa_top_line **lines; /* NULL: nothing */
	size_t line_cap;
	struct vpa_arena names;
};

int vpa_ex_gaps_new(struct vpa_ex_out *x)
{
	x->gaps = vpt_calloc(1, sizeof(*x->gaps));
	return x->gaps ? VPT_OK : VPT_ENOMEM;
}

void vpa_ex_gaps_free(struct vpa_ex_gaps *g)
{
	if (!g)
		return;
	vpt_free(g->held);
	vpa_index_free(&g->places);
	vpt_free(g->lines);
	vpa_arena_free(&g->names);
	vpt_free(g);
}

/* ---- lines ---- */

static uint32_t line_text(
	struct vpa_ex_out *x, struct vpt_text function, struct vpt_text file, uint64_t number)
{
	char text[4096];

	return vpa_ex_string(x, vpa_code_line_words(text, sizeof(text), function, file, number));
}

static void add_own_line(
	struct vpa_ex_out *x, struct vpa_ex_event *e, const struct vpa_gap_line *line)
{
	struct vpt_frame frame = vpa_stacks_frame_at(&x->model->stacks, line->frame);

	vpa_ex_add_text(e, EX_ARG_LINE,
		line_text(x, vpa_name(x->model, (uint32_t)frame.function),
			vpa_name(x->model, (uint32_t)frame.file), frame.line));
	vpa_ex_add_double(e, EX_ARG_LINE_SHARE, line->share);
	if (line->samples)
		vpa_ex_add_arg(e, EX_ARG_LINE_SAMPLES, EX_UINT, line->samples);
}

/* Looks up what the report knows of all gaps like this one. */
static const struct vpa_top_line *find_place_line(struct vpa_ex_out *x, const struct held_gap *gap)
{
	struct vpa_arena *names = &x->gaps->names;
	struct vpt_text call = vpa_name(x->model, gap->call);
	struct vpa_place place = vpa_fold_place(names, x->model, gap->place);
	const char *call_text = vpa_arena_text(names, call.text, call.len);

	if (names->failed)
		x->pf.failed = VPT_ENOMEM;
	return names->failed ? NULL
			     : vpa_top_line_of_place(x->view.report, x->model->devices[gap->device],
				       (enum vpa_cause)gap->cause, &place, call_text);
}

/* Whether nothing of the gap itself speaks against this line. */
static int is_likely(
	const struct vpa_ex_out *x, const struct vpa_gap_line *line, const struct vpa_top_line *top)
{
	struct vpt_frame frame;
	struct vpt_text file, text = vpt_text_from(top->line.file);

	if (line->frame == VPA_NONE)
		return !line->samples && !line->is_foreign;
	frame = vpa_stacks_frame_at(&x->model->stacks, line->frame);
	file = vpa_name(x->model, (uint32_t)frame.file);
	return frame.line == top->line.number && file.len == text.len &&
	       !memcmp(file.text, text.text, text.len);
}

/* The line of all gaps with this cause, range and call, if nearly all of their time is at it. Most gaps are of few
 * places, each of which is looked up once. */
static void add_place_line(struct vpa_ex_out *x, struct vpa_ex_event *e, const struct held_gap *gap)
{
	struct vpa_ex_gaps *g = x->gaps;
	size_t before = g->places.count;
	uint32_t row = vpa_index_row(&g->places, (uint64_t)gap->device << 8 | gap->cause,
		(uint64_t)gap->place << 32 | gap->call, &g->lines, &g->line_cap, sizeof(*g->lines));
	const struct vpa_top_line *top;

	if (row == UINT32_MAX) {
		x->pf.failed = VPT_ENOMEM;
		return;
	}
	if (row == before)
		g->lines[row] = find_place_line(x, gap);
	top = g->lines[row];
	if (!vpa_gap_may_have_line_of(top) || !is_likely(x, &gap->line, top))
		return;
	vpa_ex_add_text(e, EX_ARG_LINE,
		line_text(x, vpt_text_from(top->line.function), vpt_text_from(top->line.file),
			top->line.number));
	vpa_ex_add_double(e, EX_ARG_LINE_SHARE, top->share);
	vpa_ex_add_arg(e, EX_ARG_LINE_SAMPLES, EX_UINT, top->samples);
}

/* ---- slices ---- */

/* `is_end`: the report is complete. */
static void put_gap(struct vpa_ex_out *x, const struct held_gap *gap, const char *id, int is_end)
{
	uint32_t cause = vpa_ex_string(x, vpa_cause_text((enum vpa_cause)gap->cause));
	uint32_t range = gap->place & ~VPA_BEFORE;
	const struct vpa_ex_gpu *gpu = vpa_ex_gpu_of(x, gap->device);
	struct vpa_ex_event e = {.time_ns = gap->start_ns, .name = cause, .category = EX_IDLE};

	if (id)
		vpa_ex_add_text(&e, EX_ARG_ID, vpa_ex_string(x, id));
	vpa_ex_add_arg(&e, EX_ARG_GPU, EX_UINT, gpu ? gpu->gpu_id : 0);
	vpa_ex_add_text(&e, EX_ARG_CAUSE, cause);
	vpa_ex_add_arg(&e, EX_ARG_CAUSE_NS, EX_UINT, gap->cause_ns);
	if (gap->then) {
		vpa_ex_add_text(&e, EX_ARG_THEN,
			vpa_ex_string(x, vpa_cause_text((enum vpa_cause)gap->then)));
		vpa_ex_add_arg(&e, EX_ARG_THEN_NS, EX_UINT, gap->then_ns);
	}
	vpa_ex_add_text(&e, EX_ARG_CALL, gap->call ? vpa_ex_name(x, gap->call) : 0);
	vpa_ex_add_text(&e, EX_ARG_RANGE, range ? vpa_ex_name(x, range) : 0);
	if (gap->host) {
		range = gap->host_place & ~VPA_BEFORE;
		vpa_ex_add_text(&e, EX_ARG_HOST,
			vpa_ex_string(x, vpa_cause_text((enum vpa_cause)gap->host)));
		vpa_ex_add_text(&e, EX_ARG_HOST_RANGE, range ? vpa_ex_name(x, range) : 0);
	}
	vpa_ex_add_text(&e, EX_ARG_PREVIOUS, gap->previous);
	vpa_ex_add_text(&e, EX_ARG_NEXT, gap->next);
	if (vpa_gap_line_is_known(&gap->line))
		add_own_line(x, &e, &gap->line);
	else if (is_end)
		add_place_line(x, &e, gap);
	vpa_ex_tracks_put(x, gap->device, EX_TRACK_GAPS, &e, gap->end_ns);
}

static uint32_t op_text(struct vpa_ex_out *x, const struct vpa_op *op)
{
	if (op->kernel != VPA_NONE && op->kind == VPA_KERNEL)
		return vpa_ex_short_name(x, op->kernel);
	return vpa_ex_string(x, op->kind == VPA_MEMSET ? "Memset" : "Memcpy");
}

/* ---- what is held ---- */

/* The report's order: by duration, falling, then by start and device. */
static int compare(const void *pa, const void *pb)
{
	const struct held_gap *a = pa, *b = pb;
	uint64_t la = a->end_ns - a->start_ns, lb = b->end_ns - b->start_ns;

	if (la != lb)
		return la > lb ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->device < b->device ? -1 : a->device > b->device;
}

static void sort(struct vpa_ex_gaps *g)
{
	if (g->count)
		qsort(g->held, g->count, sizeof(*g->held), compare);
}

/* How many of the longest gaps are held at least. */
static size_t held_min(const struct vpa_ex_out *x)
{
	size_t top = x->view.context->top;

	return vpa_stacks_count(&x->model->stacks) > 1 && top < HELD_FOR_LINES ? HELD_FOR_LINES
									       : top;
}

/* Holds a gap, unless it is too short to stay. Of too many, writes the shorter half. */
static int hold(struct vpa_ex_out *x, const struct held_gap *gap)
{
	struct vpa_ex_gaps *g = x->gaps;
	size_t min = held_min(x), i;

	/* The first stack raises it. */
	if (min != g->min) {
		g->min = min;
		g->has_last = 0;
	}
	if (g->has_last && compare(gap, &g->last) > 0) {
		put_gap(x, gap, NULL, 0);
		return x->pf.failed;
	}
	if (vpt_grow(&g->held, &g->cap, g->count + 1, sizeof(*g->held)))
		return VPT_ENOMEM;
	g->held[g->count++] = *gap;
	if (g->count < 2 * min)
		return x->pf.failed;
	sort(g);
	for (i = min; i < g->count; i++)
		put_gap(x, &g->held[i], NULL, 0);
	g->count = min;
	g->last = g->held[min - 1];
	g->has_last = 1;
	return x->pf.failed;
}

/* Sums a gap's largest cause, and the largest other one. Notes what the host did in the longest piece of the first. */
static void sum_causes(struct held_gap *g, const struct vpa_gap *gap)
{
	uint64_t sums[VPA_CAUSES] = {0}, longest_ns = 0;
	unsigned k;
	size_t i;

	for (i = 0; i < gap->piece_count; i++) {
		const struct vpa_cause_piece *piece = &gap->pieces[i];
		uint64_t ns = piece->end_ns - piece->start_ns;

		sums[piece->cause] += ns;
		if (piece->cause != g->cause || ns <= longest_ns)
			continue;
		longest_ns = ns;
		g->host = piece->host;
		g->host_place = piece->host_place;
	}
	g->cause_ns = sums[g->cause];
	for (k = 0; k < VPA_CAUSES; k++)
		if (k != g->cause && sums[k] > g->then_ns) {
			g->then = (uint8_t)k;
			g->then_ns = sums[k];
		}
}

int vpa_ex_gaps_add(struct vpa_ex_out *x, const struct vpa_gap *gap)
{
	struct held_gap g = {.start_ns = gap->start_ns,
		.end_ns = gap->end_ns,
		.device = gap->device,
		.cause = (uint8_t)gap->cause,
		.call = gap->call,
		.place = gap->place};

	/* Before the first op and after the last, no op bounds the gap on one side. */
	if (!gap->before || !gap->gating)
		return VPT_OK;
	x->expected.gaps++;
	vpt_sat_add_to(&x->expected.gap_ns, vpa_ex_length(x, gap->start_ns, gap->end_ns));
	sum_causes(&g, gap);
	g.previous = op_text(x, gap->before);
	g.next = op_text(x, gap->gating);
	if (vpa_gap_line(x->view.context, gap, &g.line))
		return VPT_ENOMEM;
	return hold(x, &g);
}

void vpa_ex_gaps_end(struct vpa_ex_out *x)
{
	const struct vpa_report *r = x->view.report;
	struct vpa_ex_gaps *g = x->gaps;
	size_t i, k;

	sort(g);
	for (i = 0; i < g->count; i++) {
		const char *id = NULL;

		for (k = 0; k < r->gap_count && !id; k++)
			if (r->gaps[k].start_ns == g->held[i].start_ns &&
				r->gaps[k].device == x->model->devices[g->held[i].device])
				id = r->gaps[k].id;
		put_gap(x, &g->held[i], id, 1);
	}
}
