/* lines_write.c - splits idle time by the samples that belong to it, and names the lines.
 *
 * A stack with k of the n nanoseconds that the samples weigh has k/n of the time, rounded so that the
 * parts add up. Time with fewer than VPA_LINE_SAMPLES_MIN samples has no line. */
#include "analysis/folds/lines/lines_write.h"

#include "analysis/base/intervals.h"
#include "analysis/folds/gap_line.h"
#include "analysis/report/device_limit.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_LISTED = 256 };

struct amount {
	uint64_t ns, samples;
};

/* What is written down. */
struct writing {
	struct lines_state *s;
	const struct vpa_fold_context *c;
	struct vpa_report *out;
	uint64_t *before; /* by part: weight of the shares seen so far */
	size_t before_cap;
	struct vpa_index lines_index; /* (owner, frame) */
	struct amount *lines;
	size_t line_cap;
	struct vpa_index tops_index; /* (part, frame) */
	struct amount *tops;
	size_t top_cap;
	/* Rows of `tops` by part, and by part where these begin; one more number at the end. */
	uint32_t *by_part;
	size_t *first;
	struct vpa_index stacks_index; /* (owner, stack) */
	struct amount *stacks;
	size_t stack_cap;
	struct vpa_index names_index; /* (name, 0) */
	const char **names;
	size_t name_cap;
};

static int add(struct vpa_index *x, uint64_t a, uint64_t b, struct amount **rows, size_t *cap,
	struct amount more)
{
	uint32_t row = vpa_index_row(x, a, b, rows, cap, sizeof(**rows));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	(*rows)[row].ns += more.ns;
	(*rows)[row].samples += more.samples;
	return VPT_OK;
}

/* vpa_stacks_line(); without memory there will be no report. */
static uint32_t frame_of(struct writing *w, uint32_t stack)
{
	uint32_t frame = vpa_stacks_line(w->c->model, stack);

	if (stack && frame == VPA_NONE)
		w->out->arena.failed = 1;
	return frame;
}

/* The time that a share has of its part. */
static uint64_t ns_of(struct writing *w, uint32_t part, const struct line_share *share)
{
	const struct line_part *p = &w->s->parts[part];
	uint64_t from = w->before[part], to = from + share->weight_ns;

	w->before[part] = to;
	if (p->samples < VPA_LINE_SAMPLES_MIN)
		return share->exact_ns;
	return share->exact_ns + vpa_portion(p->ns, to, p->weight_ns) -
	       vpa_portion(p->ns, from, p->weight_ns);
}

static int add_shares(struct writing *w)
{
	struct lines_state *s = w->s;
	size_t i;
	int rc = VPT_OK;

	if (vpt_grow_zeroed(&w->before, &w->before_cap, s->parts_index.count, sizeof(*w->before)))
		return VPT_ENOMEM;
	for (i = 0; i < s->shares_index.count && !rc; i++) {
		uint32_t part = (uint32_t)s->shares_index.entries[i].a,
			 stack = (uint32_t)s->shares_index.entries[i].b;
		uint64_t owner = s->parts_index.entries[part].a;
		uint32_t frame = frame_of(w, stack);
		struct amount more = {
			.ns = ns_of(w, part, &s->shares[i]), .samples = s->shares[i].samples};

		rc |= add(&w->tops_index, part, frame, &w->tops, &w->top_cap, more);
		if (line_owner_host(owner))
			continue;
		rc |= add(&w->lines_index, owner, frame, &w->lines, &w->line_cap, more);
		rc |= add(&w->stacks_index, owner, stack, &w->stacks, &w->stack_cap, more);
	}
	return rc ? VPT_ENOMEM : VPT_OK;
}

/* Adds the gaps that have the line of a launch. */
static int add_queued(struct writing *w)
{
	static const uint8_t causes[LINE_QUEUED_CAUSES] = {
#define LIST(name) VPA_CAUSE_##name,
		LINE_QUEUED(LIST)
#undef LIST
	};
	const struct lines_state *s = w->s;
	size_t i, k;
	int rc = VPT_OK;

	for (i = 0; i < s->launches_index.count; i++)
		for (k = 0; k < LINE_QUEUED_CAUSES; k++) {
			const struct vpa_index_entry *e = &s->launches_index.entries[i];
			struct amount more = {.ns = s->launches[i].queued_ns[k]};
			uint64_t owner = line_owner_of((uint32_t)e->a, causes[k], 0);

			if (!more.ns || !e->b)
				continue;
			rc |= add(&w->lines_index, owner, frame_of(w, (uint32_t)e->b), &w->lines,
				&w->line_cap, more);
			rc |= add(&w->stacks_index, owner, e->b, &w->stacks, &w->stack_cap, more);
		}
	return rc ? VPT_ENOMEM : VPT_OK;
}

/* The report has each name once. */
static const char *name_or_empty(struct writing *w, uint64_t name)
{
	uint32_t before = (uint32_t)w->names_index.count;
	uint32_t row =
		vpa_index_row(&w->names_index, name, 0, &w->names, &w->name_cap, sizeof(*w->names));

	if (row == UINT32_MAX) {
		w->out->arena.failed = 1; /* there will be no report */
		return "";
	}
	if (row == before)
		w->names[row] = vpa_fold_name(w->out, w->c->model, (uint32_t)name);
	return w->names[row] ? w->names[row] : "";
}

static struct vpa_code_line line_of(struct writing *w, const struct vpt_frame *frame)
{
	return (struct vpa_code_line){
		name_or_empty(w, frame->function), name_or_empty(w, frame->file), frame->line};
}

/* The line of a frame's number; VPA_NONE: none. */
static struct vpa_code_line line_at(struct writing *w, uint64_t number)
{
	struct vpt_frame frame;

	if (number == VPA_NONE)
		return (struct vpa_code_line){NULL, NULL, 0};
	frame = vpa_stacks_frame_at(&w->c->model->stacks, (uint32_t)number);
	return line_of(w, &frame);
}

/* ---- idle time by line ---- */

static int compare_idle(const void *pa, const void *pb)
{
	const struct vpa_idle_line *a = pa, *b = pb;

	if (!a->line.file != !b->line.file)
		return a->line.file ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	if (a->line.file && strcmp(a->line.file, b->line.file) != 0)
		return strcmp(a->line.file, b->line.file);
	return a->line.number < b->line.number ? -1 : a->line.number > b->line.number;
}

/* Sums all rows beyond those listed by device and cause. */
static size_t merge_small(struct vpa_idle_line *rows, size_t count)
{
	size_t kept = LINES_LISTED, i, k;

	for (i = LINES_LISTED; i < count; i++) {
		struct vpa_idle_line row = rows[i];

		for (k = LINES_LISTED;
			k < kept && (rows[k].cause != row.cause || rows[k].device != row.device);
			k++)
			;
		if (k == kept) {
			rows[kept] = row;
			rows[kept++].line = (struct vpa_code_line){"(other)", "", 0};
		} else {
			rows[k].ns += row.ns;
			rows[k].samples += row.samples;
		}
	}
	return count > LINES_LISTED ? kept : count;
}

/* Adds, for each device and cause, the idle time that no line has. */
static size_t add_rests(struct vpa_report *out, struct vpa_idle_line *rows, size_t count)
{
	size_t d, i, rest, end = count;

	for (d = 0; d < out->device_count; d++)
		for (i = 0; i < out->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &out->devices[d].causes[i];

			for (rest = count;
				rest < end && (rows[rest].cause != part->cause ||
						      rows[rest].device != out->devices[d].device);
				rest++)
				;
			if (rest == end)
				rows[end++] = (struct vpa_idle_line){
					.device = out->devices[d].device, .cause = part->cause};
			rows[rest].ns += part->ns;
		}
	for (rest = count; rest < end; rest++)
		for (i = 0; i < count; i++)
			if (rows[i].cause == rows[rest].cause &&
				rows[i].device == rows[rest].device)
				rows[rest].ns -= rows[i].ns;
	return end;
}

static int write_idle(struct writing *w)
{
	struct vpa_report *out = w->out;
	struct vpa_lines *lines = &out->lines;
	size_t i, count = 0;

	lines->idle = vpa_arena_alloc(&out->arena,
		w->lines_index.count + out->device_count * VPA_CAUSES, sizeof(*lines->idle));
	if (!lines->idle)
		return VPT_ENOMEM;
	for (i = 0; i < w->lines_index.count; i++) {
		const struct vpa_index_entry *e = &w->lines_index.entries[i];

		if (e->b != VPA_NONE && w->lines[i].ns)
			lines->idle[count++] =
				(struct vpa_idle_line){.device = w->c->model->devices[e->a >> 16],
					.cause = (enum vpa_cause)(e->a & 0xff),
					.line = line_at(w, e->b),
					.ns = w->lines[i].ns,
					.samples = w->lines[i].samples};
	}
	qsort(lines->idle, count, sizeof(*lines->idle), compare_idle);
	count = merge_small(lines->idle, count);
	count = add_rests(out, lines->idle, count);
	qsort(lines->idle, count, sizeof(*lines->idle), compare_idle);
	while (count && !lines->idle[count - 1].ns)
		count--;
	lines->idle_count = count;
	return VPT_OK;
}

/* ---- the line of a cause's place ---- */

static int is_known(const struct writing *w, size_t top)
{
	return w->tops[top].ns && w->tops_index.entries[top].b != VPA_NONE;
}

/* Sorts the lines by part. */
static int sort_tops(struct writing *w)
{
	size_t parts = w->s->parts_index.count, i;

	w->first = vpt_calloc(parts + 2, sizeof(*w->first));
	w->by_part = vpt_calloc(w->tops_index.count + 1, sizeof(*w->by_part));
	if (!w->first || !w->by_part)
		return VPT_ENOMEM;
	/* Counted two further on, so that what is filled in moves first[part + 1] to its end. */
	for (i = 0; i < w->tops_index.count; i++)
		w->first[w->tops_index.entries[i].a + 2] += (size_t)is_known(w, i);
	for (i = 2; i < parts + 2; i++)
		w->first[i] += w->first[i - 1];
	for (i = 0; i < w->tops_index.count; i++)
		if (is_known(w, i))
			w->by_part[w->first[w->tops_index.entries[i].a + 1]++] = (uint32_t)i;
	return VPT_OK;
}

static struct vpa_line_time time_of(struct writing *w, uint32_t top)
{
	return (struct vpa_line_time){line_at(w, w->tops_index.entries[top].b), w->tops[top].ns};
}

/* The line that most of a part is at, into *top; the report has `ns` of the part. Returns 0 if nothing is known. */
static int find_top(struct writing *w, uint32_t part, uint64_t ns, struct vpa_top_line *top)
{
	const struct line_part *p = &w->s->parts[part];
	size_t begin = w->first[part], end = w->first[part + 1], i;
	struct vpa_line_time most;
	uint32_t best;

	*top = (struct vpa_top_line){.wait_ns = p->wait_ns};
	if (begin == end)
		return p->wait_ns != 0;
	best = w->by_part[begin];
	for (i = begin; i < end; i++)
		if (w->tops[w->by_part[i]].ns > w->tops[best].ns)
			best = w->by_part[i];
	most = time_of(w, best);
	top->line = most.line;
	top->samples = p->exact_ns ? 0 : p->samples;
	top->ns = vpa_later(ns, p->ns + p->exact_ns);
	top->share = (double)most.ns / (double)top->ns;
	return 1;
}

/* Copies a part's line, with all its others, into the report; NULL: no memory. */
static const struct vpa_top_line *keep_top(
	struct writing *w, uint32_t part, const struct vpa_top_line *top)
{
	size_t begin = w->first[part], count = w->first[part + 1] - begin, i;
	struct vpa_top_line *kept = vpa_arena_alloc(&w->out->arena, 1, sizeof(*kept));
	struct vpa_line_time *lines;

	if (!kept)
		return NULL;
	*kept = *top;
	if (count < 2)
		return kept;
	lines = vpa_arena_alloc(&w->out->arena, count, sizeof(*lines));
	if (!lines)
		return NULL;
	for (i = 0; i < count; i++)
		lines[i] = time_of(w, w->by_part[begin + i]);
	kept->lines = lines;
	kept->line_count = count;
	return kept;
}

/* Where a part's time was. */
struct place {
	int64_t device;
	uint64_t owner;
	struct vpa_place place;
	const char *call;
};

/* Writes the line of the host's own code to the rows that say where it ran; NULL: none. Returns the time of these
 * rows. */
static uint64_t set_host_line(
	struct vpa_report *out, const struct place *at, const struct vpa_top_line *top)
{
	uint64_t ns = 0;
	size_t d, i;

	for (d = 0; d < out->device_count; d++)
		for (i = 0; i < out->devices[d].instead_count; i++) {
			struct vpa_instead_row *row = &out->devices[d].instead[i];

			if (out->devices[d].device != at->device ||
				(uint64_t)row->cause != (at->owner & 0xff) ||
				(uint64_t)row->host != line_owner_host(at->owner) ||
				row->host_call || vpa_place_compare(&row->host_place, &at->place) ||
				!vpt_same_text(row->call, at->call))
				continue;
			row->top = top;
			ns += row->ns;
		}
	return ns;
}

/* Writes the line to the device's cause. Returns the time of that. */
static uint64_t set_line(
	struct vpa_report *out, const struct place *at, const struct vpa_top_line *top)
{
	uint64_t ns = 0;
	size_t d, i;

	for (d = 0; d < out->device_count; d++)
		for (i = 0; i < out->devices[d].cause_count; i++) {
			struct vpa_idle_part *p = &out->devices[d].causes[i];

			if (out->devices[d].device != at->device ||
				(uint64_t)p->cause != (at->owner & 0xff) ||
				vpa_place_compare(&p->place, &at->place) ||
				!vpt_same_text(p->call, at->call))
				continue;
			p->top = top;
			ns += p->ns;
		}
	return ns;
}

/* Adds the part's wait for a CPU to its device, and writes its line to the device's causes. */
static int write_part_line(struct writing *w, uint32_t part)
{
	const struct vpa_index_entry *e = &w->s->parts_index.entries[part];
	const struct vpa_model *m = w->c->model;
	struct place at = {.device = m->devices[e->a >> 16], .owner = e->a};
	uint64_t (*set)(struct vpa_report *, const struct place *, const struct vpa_top_line *) =
		line_owner_host(e->a) ? set_host_line : set_line;
	const struct vpa_top_line *kept;
	struct vpa_top_line top;
	uint64_t ns;
	size_t d;

	for (d = 0; d < w->out->device_count; d++)
		if (w->out->devices[d].device == at.device && (e->a & 0xff) == VPA_CAUSE_HOST_CODE)
			w->out->devices[d].cpu_wait_ns += w->s->parts[part].wait_ns;
	if (e->b == UINT64_MAX)
		return VPT_OK;
	at.place = vpa_fold_place(&w->out->arena, m, (uint32_t)(e->b >> 32));
	at.call = vpa_fold_name(w->out, m, (uint32_t)e->b);
	ns = set(w->out, &at, NULL);
	if (!ns || !find_top(w, part, ns, &top))
		return VPT_OK;
	kept = keep_top(w, part, &top);
	if (!kept)
		return VPT_ENOMEM;
	set(w->out, &at, kept);
	return VPT_OK;
}

/* A listed gap has its own line, else that of its cause, place and call, if nearly all of these is at it. The fold of
 * gaps has written what is known of the gap itself: a few samples may speak against it, and a thread without stacks does. */
static void write_gap_line(struct vpa_report *out, struct vpa_gap_row *gap)
{
	const struct vpa_top_line *own = gap->top, *top;

	if (own && own->line.file && (!own->samples || own->samples >= VPA_LINE_SAMPLES_MIN))
		return;
	gap->top = NULL;
	if (own && own->samples >= VPA_LINE_SAMPLES_MIN)
		return;
	top = vpa_top_line_of_place(out, gap->device, gap->cause, &gap->place, gap->call);
	if (!vpa_gap_may_have_line_of(top))
		return;
	if (!own || (own->line.file && own->line.number == top->line.number &&
			    vpt_same_text(own->line.file, top->line.file)))
		gap->top = top;
}

/* ---- launches and stacks ---- */

static int compare_launches(const void *pa, const void *pb)
{
	const struct vpa_launch_line *a = pa, *b = pb;

	if (!a->line.file != !b->line.file)
		return a->line.file ? -1 : 1;
	if (a->busy_ns != b->busy_ns)
		return a->busy_ns > b->busy_ns ? -1 : 1;
	if (a->line.file && strcmp(a->line.file, b->line.file) != 0)
		return strcmp(a->line.file, b->line.file);
	return a->line.number < b->line.number ? -1 : a->line.number > b->line.number;
}

static int write_launches(struct writing *w)
{
	struct lines_state *s = w->s;
	struct vpa_lines *lines = &w->out->lines;
	struct vpa_index by_line = {0};
	struct amount *sums = NULL;
	size_t cap = 0, i;
	int rc = VPT_OK;

	for (i = 0; i < s->launches_index.count && !rc; i++) {
		const struct vpa_index_entry *e = &s->launches_index.entries[i];

		rc = add(&by_line, e->a, frame_of(w, (uint32_t)e->b), &sums, &cap,
			(struct amount){
				.ns = s->launches[i].busy_ns, .samples = s->launches[i].ops});
	}
	lines->launches = vpa_arena_alloc(&w->out->arena, by_line.count, sizeof(*lines->launches));
	if (!lines->launches)
		rc = VPT_ENOMEM;
	for (i = 0; i < by_line.count && !rc; i++)
		lines->launches[lines->launch_count++] = (struct vpa_launch_line){
			.device = w->c->model->devices[by_line.entries[i].a],
			.line = line_at(w, by_line.entries[i].b),
			.ops = sums[i].samples,
			.busy_ns = sums[i].ns};
	if (!rc)
		qsort(lines->launches, lines->launch_count, sizeof(*lines->launches),
			compare_launches);
	vpa_index_free(&by_line);
	vpt_free(sums);
	return rc;
}

static int write_stacks(struct writing *w)
{
	const struct vpa_stacks *all = &w->c->model->stacks;
	struct vpa_lines *lines = &w->out->lines;
	uint32_t i, count = (uint32_t)vpa_stacks_count(all);

	lines->stacks = vpa_arena_alloc(&w->out->arena, count, sizeof(*lines->stacks));
	if (!lines->stacks)
		return VPT_ENOMEM;
	lines->stack_count = count;
	for (i = 1; i < count; i++) {
		struct vpa_stack_row *row = &lines->stacks[i];
		struct vpt_frame frame = vpa_stacks_frame(all, i, &row->caller);

		row->frame = line_of(w, &frame);
		row->is_users = vpa_stacks_is_users(w->c->model, &frame);
	}
	return VPT_OK;
}

/* Weights of stacks; time without any has stack 0. */
static int write_weights(struct writing *w)
{
	struct lines_state *s = w->s;
	struct vpa_lines *lines = &w->out->lines;
	const int64_t *devices = w->c->model->devices;
	size_t i;

	lines->idle_stacks = vpa_arena_alloc(&w->out->arena,
		w->stacks_index.count + lines->idle_count, sizeof(*lines->idle_stacks));
	lines->launch_stacks = vpa_arena_alloc(
		&w->out->arena, s->launches_index.count, sizeof(*lines->launch_stacks));
	if (!lines->idle_stacks || !lines->launch_stacks)
		return VPT_ENOMEM;
	for (i = 0; i < w->stacks_index.count; i++) {
		const struct vpa_index_entry *e = &w->stacks_index.entries[i];

		if (e->b && w->stacks[i].ns)
			lines->idle_stacks[lines->idle_stack_count++] = (struct vpa_stack_weight){
				devices[e->a >> 16], (enum vpa_cause)(e->a & 0xff), (uint32_t)e->b,
				w->stacks[i].ns};
	}
	for (i = 0; i < lines->idle_count; i++)
		if (!lines->idle[i].line.file)
			lines->idle_stacks[lines->idle_stack_count++] = (struct vpa_stack_weight){
				lines->idle[i].device, lines->idle[i].cause, 0, lines->idle[i].ns};
	for (i = 0; i < s->launches_index.count; i++)
		lines->launch_stacks[lines->launch_stack_count++] =
			(struct vpa_stack_weight){devices[s->launches_index.entries[i].a], 0,
				(uint32_t)s->launches_index.entries[i].b, s->launches[i].busy_ns};
	return VPT_OK;
}

int vpa_lines_write(struct lines_state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct writing w = {.s = s, .c = c, .out = out};
	uint32_t part;
	size_t i;
	int rc = add_shares(&w);

	if (!rc)
		rc = add_queued(&w);
	if (!rc)
		rc = write_idle(&w);
	if (!rc)
		rc = sort_tops(&w);
	for (part = 0; !rc && part < s->parts_index.count; part++)
		rc = write_part_line(&w, part);
	for (i = 0; !rc && i < out->gap_count; i++)
		write_gap_line(out, &out->gaps[i]);
	if (!rc)
		rc = write_launches(&w);
	if (!rc)
		rc = write_stacks(&w);
	if (!rc)
		rc = write_weights(&w);
	if (!rc)
		rc = vpa_lines_scopes_write(s, c, out);
	vpa_index_free(&w.lines_index);
	vpa_index_free(&w.tops_index);
	vpa_index_free(&w.stacks_index);
	vpa_index_free(&w.names_index);
	vpt_free(w.names);
	vpt_free(w.lines);
	vpt_free(w.tops);
	vpt_free(w.stacks);
	vpt_free(w.before);
	vpt_free(w.by_part);
	vpt_free(w.first);
	return rc;
}
