/* blocks_write.c - writes the tables of requests and stages, and what is unavailable. */
#include "analysis/folds/blocks/blocks_write.h"

#include "analysis/base/durations.h"
#include "analysis/folds/blocks/blocks_facts.h"
#include "analysis/pipeline/uneven_units.h"
#include "formats/base/memory.h"

#include <inttypes.h>

/* The window is shown as a request only if it contains something that no other does. */
static int is_shown(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g)
{
	const struct vpa_model *m = w->c->model;
	size_t i;

	/* A request that only touches the window is none of it. */
	if (g->scope && !g->block_count && w->s->gpu[g->id].pin == VPA_NONE &&
		m->window_end_ns > m->window_start_ns &&
		(g->start_ns >= m->window_end_ns || g->host_end_ns <= m->window_start_ns))
		return 0;
	if (g->scope || g->block_count)
		return 1;
	if (w->group_count > 1)
		return 0;
	for (i = 0; i < w->s->row_index.count; i++)
		if (vpa_row_kind(w, &w->s->rows[i]) == VPA_SCOPE_STEP)
			return 1;
	return 0;
}

static int write_requests(struct vpa_blocks_writer *w)
{
	struct vpa_report *out = w->out;
	size_t i;
	int rc;

	out->requests = vpa_arena_alloc(&out->arena, w->group_count, sizeof(*out->requests));
	if (!out->requests)
		return VPT_ENOMEM;
	for (i = 0; i < w->group_count; i++) {
		struct vpa_blocks_group *g = &w->groups[i];
		struct vpa_request *r = &out->requests[out->request_count];

		if (!is_shown(w, g))
			continue;
		out->request_count++;
		g->request = r;
		r->start_ns = g->start_ns;
		r->end_ns = w->s->last_end_ns;
		if (g->scope) {
			r->end_ns = w->s->sweep.cuts[w->s->gpu[g->id].cut].time_ns;
			r->end_ns = r->end_ns ? r->end_ns : g->host_end_ns;
			r->name = vpa_fold_name(out, w->c->model, g->scope->name);
			r->source = g->scope->label.source;
		}
		r->guidance = r->passes_per_step = -1;
	}
	rc = vpa_blocks_facts_write(w);
	for (i = 0; i < w->group_count && !rc; i++)
		if (w->groups[i].request)
			rc = vpa_group_measure(w, &w->groups[i]);
	for (i = 0; i < w->group_count && !rc; i++)
		if (w->groups[i].request)
			rc = vpa_group_passes(w, &w->groups[i]);
	return rc;
}

struct stage_total {
	struct vpa_stage_sum all, measured;
	struct alone_total {
		uint64_t all_ns, measured_ns;
	} alone[VPA_SWEEP_DEVICES];
};

/* The lengths of a row's instances, and how long some instance lasts. */
static int times_of_row(const struct vpa_blocks_writer *w, uint32_t row, int measured,
	struct vpa_durations *out, uint64_t *covered_ns)
{
	struct vpa_durations_builder builder = {0};
	struct vpa_intervals covered = {0};
	const struct vpa_blocks_table *s = w->s;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < s->sample_count && !rc; i++) {
		const struct vpa_stage_sample *sample = &s->samples[i];

		if (sample->row != row ||
			(measured && (sample->block == VPA_NONE || !w->measured[sample->block])))
			continue;
		rc = vpa_durations_add(&builder, sample->ns);
		if (!rc)
			rc = vpa_intervals_add(
				&covered, sample->first_ns, sample->first_ns + sample->ns);
	}
	if (!rc)
		*out = vpa_durations_of(&builder);
	*covered_ns = covered.count ? vpa_intervals_total(&covered, UINT64_MAX) : 0;
	vpa_durations_free(&builder);
	vpa_intervals_free(&covered);
	return rc ? VPT_ENOMEM : VPT_OK;
}

/* Of all requests together. */
struct measured_blocks {
	uint64_t count, span_ns;
};

/* Of the device with most of it. */
static uint64_t alone_of(const struct stage_total *t)
{
	uint64_t most = 0, ns;
	size_t i;

	for (i = 0; i < VPA_SWEEP_DEVICES; i++) {
		ns = t->measured.count ? t->alone[i].measured_ns : t->alone[i].all_ns;
		most = ns > most ? ns : most;
	}
	return most;
}

static int write_stage(struct vpa_blocks_writer *w, uint32_t row, const struct stage_total *t,
	const struct measured_blocks *blocks)
{
	const struct vpa_stage_kept *kept = &w->s->rows[row];
	const struct vpa_stage_sum *sum = t->measured.count ? &t->measured : &t->all;
	uint64_t alone_ns = alone_of(t);
	uint64_t of_ns = t->measured.count ? blocks->span_ns : vpa_window_ns(w->out);
	int has_marked_spans = w->marked_spans && w->marked_spans->kind == VPA_SCOPE_STEP;
	struct vpa_stage_row *out = &w->out->stages[w->out->stage_count++];
	int rc;

	*out = (struct vpa_stage_row){.name = vpa_stage_row_name(w, kept),
		.kind = kept->kind,
		.scope = (uint32_t)kept->kind << 8 | kept->source,
		.scope_name = kept->name,
		.source = kept->source,
		.count = kept->count,
		.in_blocks = t->measured.count,
		.nested = (has_marked_spans ? kept->in_marked_span : kept->nested) == kept->count,
		.holds_steps = kept->holds_steps,
		.top_ns = sum->top_ns + (has_marked_spans ? 0 : sum->marked_span_top_ns),
		.busy_ns = sum->busy_ns,
		.idle_ns = sum->idle_ns,
		.attention_ns = sum->attention_ns,
		.ops = sum->ops,
		.alone_ns = alone_ns,
		.alone_share = vpa_part_of(alone_ns, of_ns)};
	if (blocks->count)
		out->per_block = (double)t->measured.count / (double)blocks->count;
	rc = times_of_row(w, row, t->measured.count > 0, &out->time, &out->covered_ns);
	out->share = vpa_part_of(out->covered_ns, of_ns);
	return rc;
}

static void add_alone(const struct vpa_blocks_writer *w, struct stage_total *totals)
{
	const struct vpa_alone *alone = &w->s->alone;
	size_t i;

	for (i = 0; i < alone->index.count; i++) {
		const struct vpa_index_entry *e = &alone->index.entries[i];
		struct stage_total *t = &totals[vpa_alone_stage(e)];
		uint32_t block = vpa_alone_block(e);

		if (e->b >= VPA_SWEEP_DEVICES)
			continue;
		t->alone[e->b].all_ns += alone->ns[i];
		if (block != VPA_NONE && w->measured[block])
			t->alone[e->b].measured_ns += alone->ns[i];
	}
}

static int write_stages(struct vpa_blocks_writer *w)
{
	const struct vpa_blocks_table *s = w->s;
	struct stage_total *totals = vpt_calloc(s->row_index.count, sizeof(*totals));
	struct measured_blocks blocks = {0};
	uint32_t row;
	size_t i;
	int rc = VPT_OK;

	w->out->stages =
		vpa_arena_alloc(&w->out->arena, s->row_index.count, sizeof(*w->out->stages));
	if (!totals || !w->out->stages) {
		vpt_free(totals);
		return VPT_ENOMEM;
	}
	for (i = 0; i < w->out->request_count; i++) {
		blocks.count += w->out->requests[i].blocks.measured;
		blocks.span_ns += w->out->requests[i].blocks.span_ns;
	}
	for (i = 0; i < s->sum_index.count; i++) {
		uint64_t block = s->sum_index.entries[i].a;
		struct stage_total *t = &totals[s->sum_index.entries[i].b];

		vpa_stage_sum_add(&t->all, &s->sums[i]);
		if (block && w->measured[block - 1])
			vpa_stage_sum_add(&t->measured, &s->sums[i]);
	}
	add_alone(w, totals);
	for (row = 0; row < s->row_index.count && !rc; row++)
		if (vpa_row_kind(w, &s->rows[row]) != VPA_SCOPE_NONE)
			rc = write_stage(w, row, &totals[row], &blocks);
	vpt_free(totals);
	return rc;
}

static void write_notes(struct vpa_blocks_writer *w)
{
	uint64_t left_out = w->s->pipeline->blocks_without_ops, after_pause = 0;
	int by_length = w->c->options->has_warmup && !w->c->options->warmup;
	size_t i;

	for (i = 0; i < w->group_count; i++) {
		left_out += w->groups[i].left_out;
		after_pause += w->groups[i].after_pause;
	}
	if (after_pause)
		vpa_block_note(
			w, vpa_arena_printf(&w->out->arena,
				   "%" PRIu64 " block%s recording was paused: the time since the "
				   "block before is not known, so %s%s",
				   after_pause,
				   after_pause == 1 ? " is the first after"
						    : "s are each the first after",
				   by_length ? "its own length" : "it is not measured",
				   by_length ? " is its period" : ""));
	if (left_out)
		vpa_block_note(w, vpa_arena_printf(&w->out->arena,
					  "%" PRIu64 " block%s left out: cut off by the window "
					  "or a pause, or without GPU work",
					  left_out, left_out == 1 ? " is" : "s are"));
	if (w->s->steps_cut)
		vpa_block_note(
			w, vpa_arena_printf(&w->out->arena,
				   "%" PRIu64 " %s left out: cut off by a pause", w->s->steps_cut,
				   w->s->steps_cut == 1 ? "step or iteration is"
							: "steps or iterations are"));
	if (w->s->too_many)
		vpa_block_note(w, vpa_arena_printf(&w->out->arena,
					  "%" PRIu64 " ranges are left out of blocks and stages: "
					  "there are too many",
					  w->s->too_many));
}

int vpa_blocks_write(
	struct vpa_blocks_table *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_blocks_writer w = {.s = s, .c = c, .out = out};
	int rc;

	out->target_millifps = c->options->target_millifps;
	out->block_notes =
		vpa_arena_alloc(&out->arena, VPA_BLOCK_NOTES_MAX, sizeof(*out->block_notes));
	if (!out->block_notes)
		return VPT_ENOMEM;
	if (!s->row_index.count && !s->pipeline->kept_count)
		return VPT_OK;
	rc = vpa_blocks_groups_find(&w);
	if (!rc)
		rc = write_requests(&w);
	if (!rc)
		rc = write_stages(&w);
	if (!rc && c->options->step_parts)
		rc = vpa_blocks_step_parts(&w);
	if (!rc && c->options->step_parts)
		rc = vpa_blocks_request_gpu(&w);
	if (!rc)
		rc = vpa_unit_find_cycles(out);
	if (!rc)
		write_notes(&w);
	out->is_diffusion = c->pipeline->is_diffusion;
	vpa_blocks_groups_free(&w);
	return rc;
}
