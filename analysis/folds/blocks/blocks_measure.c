/* blocks_measure.c - the numbers of one request.
 *
 * W are its blocks after the warm-up, in order of their ends e. A block's period is from the end of the block
 * before it to e. Where that end is not known, of the first block and of the first after a pause, it is the
 * block's own length, and the block belongs to the warm-up, unless there shall be none.
 *
 *	span = the sum of their periods
 *	BPS  = |W| / span                FPS = frames of W / span
 *
 * The sweep divides each period into exclusive time of kernel families and idle time by cause, for
 * every device that the block used. FPS busy divides by the busy time of the busiest device, FPS
 * denoise by the sum of the denoising steps. If more of the VAE's work, or of the bytes copied to the
 * host, comes after e_last than inside the span, frames / span is a denoise rate, not an FPS.
 *
 * All of these numbers are of the same blocks W, in the same order, so they are in one file of more than 600 lines. */
#include "analysis/folds/blocks/blocks_write.h"

#include "analysis/base/durations.h"
#include "analysis/folds/blocks/blocks_facts.h"
#include "analysis/folds/blocks/blocks_math.h"
#include "analysis/folds/blocks/blocks_parts.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OUTLIERS_MAX = 16, INCLUDES_MAX = VPA_STAGE_ROWS_MAX + 4, FRAME_BYTES_MIN = 1 << 20 };

struct measure {
	struct vpa_blocks_writer *w;
	struct vpa_blocks_group *g;
	struct vpa_blocks *b;
	uint64_t *values;   /* of measured blocks, for blocks_math.h */
	size_t *rows;       /* of the series: the measured ones */
	uint32_t mask;      /* devices of all measured blocks */
	uint64_t *parts_ns; /* of all blocks; NULL: not requested */
};

static uint32_t edge_before(const struct measure *m, size_t k)
{
	const struct vpa_kept_block *b = &m->g->blocks[k];

	return b->has_before ? b->before : m->w->s->gpu[b->id].pin;
}

/* The measured block number `i`, of b->measured. */
static struct vpa_block_row *measured_row(const struct measure *m, size_t i)
{
	return &m->b->series[m->rows[i]];
}

static int is_attention(size_t family)
{
	return vpa_family_is_attention((enum vpa_family)family) ||
	       family == VPA_FAMILY_ATTENTION_AUX || family == VPA_FAMILY_EAGER_SOFTMAX;
}

/* ---- frames ---- */

static uint64_t value_or(int64_t value, uint64_t otherwise)
{
	return value > 0 ? (uint64_t)value : otherwise;
}

/* The frames from the block's annotation, else from its mark, else from the options. */
static void count_frames(
	const struct vpa_options *o, const struct vpa_blocks_group *g, struct vpa_kept_block *b)
{
	const struct vpa_scope_label *l = &b->scope->label;
	/* If the beginning may be cut off, the index says whether this is really the first block. */
	int is_part = g->left_out || o->has_from || o->range;
	int is_first = b == g->blocks && !(is_part && l->index > 1);

	b->latents = value_or(l->latents, o->latents_per_block);
	b->frames = value_or(l->frames, value_or(b->mark_frames, 0));
	if (!b->frames)
		b->frames = is_first && o->first_block_frames ? o->first_block_frames
							      : o->frames_per_block;
	if (!b->frames && b->latents && o->vae_factor)
		b->frames = is_first ? 1 + o->vae_factor * (b->latents - 1)
				     : o->vae_factor * b->latents;
}

/* ---- the series ---- */

/* What the devices did in a block's period. */
static void sums_of(const struct measure *m, size_t k, struct vpa_sweep_sums *sums)
{
	const struct vpa_kept_block *kept = &m->g->blocks[k];

	memset(sums, 0, sizeof(*sums));
	vpa_sweep_between(&m->w->s->sweep, edge_before(m, k), kept->edge,
		m->w->s->gpu[kept->id].devices, sums, NULL, NULL);
}

static void fill_row(struct measure *m, size_t k)
{
	const struct vpa_kept_block *kept = &m->g->blocks[k];
	struct vpa_block_row *row = &m->b->series[k];
	struct vpa_sweep_sums sums;
	uint64_t all;
	size_t i;

	*row = (struct vpa_block_row){.index = kept->scope->label.index,
		.frames = kept->frames,
		.latents = kept->latents,
		.start_ns = kept->start_ns,
		.end_ns = kept->end_ns,
		.latency_ns = kept->end_ns - kept->start_ns,
		.devices = (unsigned)__builtin_popcount(m->w->s->gpu[kept->id].devices),
		.ready_mark = kept->ready_mark,
		.scope = kept->id};
	row->period_ns = kept->has_before ? kept->end_ns - kept->before_ns : row->latency_ns;
	sums_of(m, k, &sums);
	for (i = 0; i < VPA_SWEEP_PARTS; i++) {
		if (i >= VPA_SWEEP_IDLE)
			row->idle_ns += sums.ns[i];
		else
			row->busy_ns += sums.ns[i];
		row->attention_ns += i < VPA_SWEEP_IDLE && is_attention(i) ? sums.ns[i] : 0;
	}
	if (m->parts_ns) {
		row->parts_ns = m->parts_ns + k * VPA_SWEEP_ALL;
		memcpy(row->parts_ns, sums.ns, sizeof(sums.ns));
	}
	for (i = 0; i < VPA_SWEEP_IDLE; i++)
		row->ops += sums.count[i];
	row->eager_ns = sums.ns[VPA_FAMILY_EAGER_SOFTMAX];
	all = row->period_ns * row->devices;
	row->paused_ns = all > row->busy_ns + row->idle_ns ? all - row->busy_ns - row->idle_ns : 0;
}

/* How many blocks at the start are warm-up. */
static size_t choose_warmup(struct measure *m)
{
	const struct vpa_options *o = m->w->c->options;
	size_t count = m->b->count, i;

	if (o->has_warmup)
		return o->warmup < count ? (size_t)o->warmup : count;
	for (i = 0; i < count; i++)
		m->values[i] = m->b->series[i].period_ns;
	return vpa_warmup_of(m->values, count);
}

/* Which blocks are measured. */
static void choose_measured(struct measure *m)
{
	const struct vpa_options *o = m->w->c->options;
	struct vpa_blocks *b = m->b;
	size_t at_start = choose_warmup(m), i;
	int by_length = o->has_warmup && !o->warmup;

	for (i = 0; i < b->count; i++) {
		int has_period = !i || m->g->blocks[i].has_before || by_length;

		b->series[i].warmup = i < at_start || !has_period;
		m->w->measured[m->g->blocks[i].id] = !b->series[i].warmup;
		if (!b->series[i].warmup)
			m->rows[b->measured++] = i;
	}
	b->warmup = b->count - b->measured;
}

static int spread_of(const struct measure *m, size_t member, struct vpa_durations *out)
{
	struct vpa_durations_builder all = {0};
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < m->b->measured && !rc; i++)
		rc = vpa_durations_add(
			&all, *(const uint64_t *)(const void *)((const char *)measured_row(m, i) +
								member));
	if (!rc)
		*out = vpa_durations_of(&all);
	vpa_durations_free(&all);
	return rc ? VPT_ENOMEM : VPT_OK;
}

/* ---- parts ---- */

static int write_parts(struct measure *m)
{
	struct vpa_blocks *b = m->b;
	struct vpa_parts_sum all = {.paused_ns = 0};
	struct vpa_sweep_sums sums;
	size_t i;

	for (i = 0; i < b->measured; i++) {
		sums_of(m, m->rows[i], &sums);
		vpa_parts_sum_add(&all, &sums);
		b->busy_ns += measured_row(m, i)->busy_ns;
		b->idle_ns += measured_row(m, i)->idle_ns;
		b->paused_ns += measured_row(m, i)->paused_ns;
	}
	all.paused_ns = b->paused_ns;
	return vpa_parts_sum_write(&all, &m->w->out->arena, &b->parts, &b->part_count);
}

/* ---- what lies inside, and rates ---- */

/* Steps and passes inside measured blocks. */
static void sum_steps(
	const struct measure *m, enum vpa_scope_kind kind, uint64_t *count, uint64_t *total_ns)
{
	const struct vpa_blocks_table *s = m->w->s;
	const struct vpa_stage_sum *sum;
	uint32_t row;
	size_t i;

	*count = *total_ns = 0;
	for (row = 0; row < s->row_index.count; row++) {
		if (vpa_row_kind(m->w, &s->rows[row]) != kind)
			continue;
		for (i = 0; i < m->b->measured; i++) {
			sum = vpa_stage_sum_of(m->w, m->g->blocks[m->rows[i]].id, row);
			*count += sum ? sum->count : 0;
			*total_ns += sum ? sum->total_ns : 0;
		}
	}
}

static void add_include(struct vpa_blocks *b, const char *text)
{
	if (b->include_count < INCLUDES_MAX)
		b->includes[b->include_count++] = text;
}

static void name_stages(struct measure *m)
{
	const struct vpa_blocks_table *s = m->w->s;
	uint32_t row;
	size_t i;

	for (row = 0; row < s->row_index.count; row++) {
		if (vpa_row_kind(m->w, &s->rows[row]) == VPA_SCOPE_NONE)
			continue;
		for (i = 0; i < m->b->measured; i++)
			if (vpa_stage_sum_of(m->w, m->g->blocks[m->rows[i]].id, row))
				break;
		if (i < m->b->measured)
			add_include(m->b, vpa_stage_row_name(m->w, &s->rows[row]));
	}
}

/* Notes what the span includes; returns what an FPS should include but comes after it. */
static enum vpa_rest find_includes(struct measure *m)
{
	const struct vpa_sweep *sweep = &m->w->s->sweep;
	const struct vpa_blocks_group *g = m->g;
	uint32_t last = g->blocks[g->block_count - 1].edge, end = g->end_edge;
	struct vpa_sweep_notes inside = {0}, after = {0};
	int vae_after, frames_after;
	size_t i;

	for (i = 0; i < m->b->measured; i++)
		vpa_sweep_between(sweep, edge_before(m, m->rows[i]), g->blocks[m->rows[i]].edge, 0,
			NULL, NULL, &inside);
	if (end == VPA_NONE || sweep->edges[end].time_ns > sweep->edges[last].time_ns)
		vpa_sweep_between(sweep, last, end, 0, NULL, NULL, &after);
	/* Without a stage called VAE, use convolutions. */
	if (!inside.vae_ns && !after.vae_ns) {
		inside.vae_ns = inside.conv_ns;
		after.vae_ns = after.conv_ns;
		if (inside.vae_ns)
			add_include(m->b, "convolutions");
	}
	vae_after = after.vae_ns > inside.vae_ns;
	frames_after =
		after.frame_bytes > inside.frame_bytes && after.frame_bytes >= FRAME_BYTES_MIN;
	if (inside.frame_bytes)
		add_include(m->b, "copies to the host");
	return vae_after && frames_after ? VPA_REST_BOTH
	       : vae_after               ? VPA_REST_VAE
	       : frames_after            ? VPA_REST_FRAMES
					 : VPA_REST_NONE;
}

static uint64_t busiest_ns(struct measure *m)
{
	uint64_t busy[VPA_SWEEP_DEVICES] = {0}, most = 0;
	size_t i;

	for (i = 0; i < m->b->measured; i++)
		vpa_sweep_between(&m->w->s->sweep, edge_before(m, m->rows[i]),
			m->g->blocks[m->rows[i]].edge, m->mask, NULL, busy, NULL);
	for (i = 0; i < VPA_SWEEP_DEVICES; i++)
		most = busy[i] > most ? busy[i] : most;
	return most;
}

static uint64_t most_work_ns(const struct measure *m)
{
	uint64_t work[VPA_SWEEP_DEVICES] = {0};
	size_t i;

	for (i = 0; i < m->b->measured; i++)
		vpa_work_add(&m->w->s->sweep, edge_before(m, m->rows[i]),
			m->g->blocks[m->rows[i]].edge, m->mask, work);
	return vpa_work_most(work);
}

static void write_rates(struct measure *m)
{
	struct vpa_blocks *b = m->b;
	size_t without = 0, without_latents = 0, i;
	uint64_t latents = 0, steps, steps_ns;
	double rate;

	for (i = 0; i < b->measured; i++) {
		const struct vpa_block_row *row = measured_row(m, i);

		b->span_ns += row->period_ns;
		b->frames += row->frames;
		latents += row->latents;
		without += !row->frames;
		without_latents += !row->latents;
		m->mask |= m->w->s->gpu[row->scope].devices;
		b->devices = row->devices > b->devices ? row->devices : b->devices;
	}
	b->work_ns = most_work_ns(m);
	b->bps = vpa_per_second((double)b->measured, b->span_ns);
	b->latent_fps = without_latents ? -1 : vpa_per_second((double)latents, b->span_ns);
	name_stages(m);
	b->after = find_includes(m);
	if (without) {
		b->frames = 0;
		vpa_block_note(m->w,
			vpa_arena_printf(&m->w->out->arena,
				"FPS is unavailable: %zu of %zu measured blocks have no frame "
				"count (annotate them, or use --frames-per-block)",
				without, b->measured));
		return;
	}
	sum_steps(m, VPA_SCOPE_STEP, &steps, &steps_ns);
	rate = vpa_per_second((double)b->frames, b->span_ns);
	b->fps_busy = vpa_per_second((double)b->frames, busiest_ns(m));
	b->fps_denoise = vpa_per_second((double)b->frames, steps_ns);
	if (!b->after) {
		b->fps = rate;
		return;
	}
	b->denoise_rate = rate;
	vpa_block_note(m->w, vpa_arena_printf(&m->w->out->arena,
				     "steady FPS is unavailable: %s after the last block, so "
				     "frames per block time is a denoise rate",
				     vpa_rest_comes(b->after)));
}

/* ---- drift, outliers ---- */

/* STOPS: later blocks grow by less than 1 / this of what earlier ones do. */
enum { DRIFT_BLOCKS_MIN = 4, STOPS = 4 };

/* A member of the measured blocks' rows. */
static void take_values(struct measure *m, size_t member)
{
	size_t i;

	for (i = 0; i < m->b->measured; i++)
		m->values[i] = *(
			const uint64_t *)(const void *)((const char *)measured_row(m, i) + member);
}

/* Its slope over the first `count` measured blocks. */
static int slope_of(struct measure *m, size_t member, size_t count, double *out)
{
	take_values(m, member);
	return vpa_slope_of(m->values, count, out);
}

/* Which kind of work other than attention grows most in the first `count` measured blocks. The last one of them has it. */
static int write_grown(struct measure *m, size_t count)
{
	struct vpa_blocks *b = m->b;
	uint64_t *parts = vpt_alloc(VPA_SWEEP_IDLE * count, sizeof(*parts)), *values;
	struct vpa_sweep_sums sums;
	size_t part, i;
	double drift;
	int rc = parts ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < count && !rc; i++) {
		sums_of(m, m->rows[i], &sums);
		for (part = 0; part < VPA_SWEEP_IDLE; part++)
			parts[part * count + i] = sums.ns[part];
	}
	for (part = 0; part < VPA_SWEEP_IDLE && !rc; part++) {
		values = parts + part * count;
		if (is_attention(part) || !values[count - 1])
			continue;
		rc = vpa_slope_of(values, count, &drift);
		if (!rc && drift > b->grown_drift_ns) {
			b->grown_drift_ns = drift;
			b->grown = (enum vpa_family)part;
		}
	}
	vpt_free(parts);
	return rc;
}

/* What a stage works in a block. */
static uint64_t stage_busy_ns(const struct measure *m, size_t k, uint32_t row)
{
	const struct vpa_stage_sum *sum = vpa_stage_sum_of(m->w, m->g->blocks[k].id, row);

	return sum ? sum->busy_ns : 0;
}

/* What the stage works beyond the first block. One of the warm-up stands for it if it has as many latents and works less in it, so
 * no first use; blocks without a number of latents may differ. */
static void write_stage_more(struct measure *m, uint32_t row)
{
	struct vpa_blocks *b = m->b;
	uint64_t least = stage_busy_ns(m, m->rows[0], row), ns;
	size_t i;

	for (i = 0; i < m->rows[0]; i++) {
		ns = stage_busy_ns(m, i, row);
		if (ns && b->series[i].latents &&
			b->series[i].latents == measured_row(m, 0)->latents)
			least = ns < least ? ns : least;
	}
	b->grown_stage_busy_ns = b->grown_stage_more_ns = 0;
	for (i = 0; i < b->measured; i++) {
		ns = stage_busy_ns(m, m->rows[i], row);
		vpt_sat_add_to(&b->grown_stage_busy_ns, ns);
		vpt_sat_add_to(&b->grown_stage_more_ns, vpt_sat_sub(ns, least));
	}
}

/* Which stage outside steps grows most in them. */
static int write_grown_stage(struct measure *m, size_t count)
{
	const struct vpa_blocks_table *s = m->w->s;
	struct vpa_blocks *b = m->b;
	uint32_t row;
	size_t i;
	double drift;

	for (row = 0; row < s->row_index.count; row++) {
		const struct vpa_stage_kept *kept = &s->rows[row];

		if (vpa_row_kind(m->w, kept) != VPA_SCOPE_STAGE || kept->holds_steps ||
			kept->nested == kept->count)
			continue;
		for (i = 0; i < count; i++)
			m->values[i] = stage_busy_ns(m, m->rows[i], row);
		if (vpa_slope_of(m->values, count, &drift))
			return VPT_ENOMEM;
		if (drift > b->grown_stage_drift_ns) {
			b->grown_stage_drift_ns = drift;
			b->grown_stage = vpa_stage_row_name(m->w, kept);
			write_stage_more(m, row);
		}
	}
	return VPT_OK;
}

/* The slope of what a GPU works in the first `count` measured blocks. */
static int work_slope(struct measure *m, size_t count, double *out)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct vpa_block_row *row = measured_row(m, i);

		m->values[i] = row->busy_ns / (row->devices ? row->devices : 1);
	}
	return vpa_slope_of(m->values, count, out);
}

/* The number of measured blocks over which drift is taken: those until attention stops growing, if it is work that makes them
 * longer, and they stop with it; else all. */
static int count_growing(struct measure *m, size_t *count)
{
	struct vpa_blocks *b = m->b;
	int64_t at;
	double until, after, work;

	*count = b->measured;
	take_values(m, offsetof(struct vpa_block_row, attention_ns));
	at = vpa_saturation_of(m->values, b->measured);
	if (at < 0)
		return VPT_OK;
	b->saturated_at = (int64_t)m->rows[at];
	if (at < 1 || (size_t)at + 2 > b->measured)
		return VPT_OK;
	take_values(m, offsetof(struct vpa_block_row, period_ns));
	if (vpa_slope_of(m->values, (size_t)at + 1, &until) ||
		vpa_slope_of(m->values + at, b->measured - (size_t)at, &after) ||
		work_slope(m, (size_t)at + 1, &work))
		return VPT_ENOMEM;
	if (until <= 0 || after > until / STOPS || work < until / 2)
		return VPT_OK;
	b->grown_until = b->saturated_at;
	*count = (size_t)at + 1;
	return VPT_OK;
}

static int write_drift(struct measure *m)
{
	struct vpa_blocks *b = m->b;
	size_t count;

	if (b->measured < DRIFT_BLOCKS_MIN)
		return VPT_OK;
	b->has_drift = 1;
	if (count_growing(m, &count) ||
		slope_of(
			m, offsetof(struct vpa_block_row, period_ns), count, &b->period_drift_ns) ||
		slope_of(m, offsetof(struct vpa_block_row, eager_ns), count, &b->eager_drift_ns) ||
		slope_of(m, offsetof(struct vpa_block_row, attention_ns), count,
			&b->attention_drift_ns))
		return VPT_ENOMEM;
	b->attention_drift_most_ns = b->attention_drift_ns;
	if (!(b->period_drift_ns > 0))
		return VPT_OK;
	return write_grown(m, count) || write_grown_stage(m, count) ? VPT_ENOMEM : VPT_OK;
}

static int64_t delta_of(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

/* The part and the stage that deviate most in the direction in which the block does. */
static void blame(struct measure *m, struct vpa_outlier_row *o, size_t reference)
{
	const struct vpa_blocks_table *s = m->w->s;
	int64_t sign = o->delta_ns < 0 ? -1 : 1, delta, best = 0;
	struct vpa_sweep_sums its, usual;
	uint32_t row;
	size_t part;

	sums_of(m, o->block, &its);
	sums_of(m, reference, &usual);
	for (part = 0; part < VPA_SWEEP_PARTS; part++) {
		delta = delta_of(its.ns[part], usual.ns[part]);
		if (delta * sign <= best)
			continue;
		best = delta * sign;
		o->part = VPA_PART_FIRST + (unsigned)part;
		o->part_delta_ns = delta;
	}
	best = 0;
	for (row = 0; row < s->row_index.count; row++) {
		const struct vpa_stage_sum *own, *other;

		if (vpa_row_kind(m->w, &s->rows[row]) == VPA_SCOPE_NONE)
			continue;
		own = vpa_stage_sum_of(m->w, m->g->blocks[o->block].id, row);
		other = vpa_stage_sum_of(m->w, m->g->blocks[reference].id, row);
		delta = delta_of(own ? own->total_ns : 0, other ? other->total_ns : 0);
		if (delta * sign <= best)
			continue;
		best = delta * sign;
		o->stage = vpa_stage_row_name(m->w, &s->rows[row]);
		o->stage_delta_ns = delta;
	}
}

static int compare_outliers(const void *pa, const void *pb)
{
	const struct vpa_outlier_row *a = pa, *b = pb;
	int64_t da = a->delta_ns < 0 ? -a->delta_ns : a->delta_ns;
	int64_t db = b->delta_ns < 0 ? -b->delta_ns : b->delta_ns;

	if (da != db)
		return da > db ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

static int write_outliers(struct measure *m)
{
	struct vpa_blocks *b = m->b;
	size_t i, reference;

	b->outliers = vpa_arena_alloc(&m->w->out->arena, b->measured, sizeof(*b->outliers));
	if (!b->outliers)
		return VPT_ENOMEM;
	for (i = 0; i < b->measured; i++)
		m->values[i] = measured_row(m, i)->period_ns;
	for (i = 0; i < b->measured; i++) {
		struct vpa_outlier_row *o = &b->outliers[b->outlier_count];

		if (!vpa_is_outlier(m->values, b->measured, i, &reference))
			continue;
		*o = (struct vpa_outlier_row){.block = m->rows[i],
			.delta_ns = delta_of(m->values[i], m->values[reference])};
		blame(m, o, m->rows[reference]);
		b->outlier_count++;
	}
	qsort(b->outliers, b->outlier_count, sizeof(*b->outliers), compare_outliers);
	if (b->outlier_count > OUTLIERS_MAX)
		b->outlier_count = OUTLIERS_MAX;
	return VPT_OK;
}

/* ---- the whole ---- */

static int write_series(struct measure *m)
{
	const struct vpa_options *options = m->w->c->options;
	struct vpa_blocks *b = m->b;
	size_t i;

	b->series = vpa_arena_alloc(&m->w->out->arena, b->count, sizeof(*b->series));
	m->values = vpt_alloc(b->count, sizeof(*m->values));
	m->rows = vpt_alloc(b->count, sizeof(*m->rows));
	if (!b->series || !m->values || !m->rows)
		return VPT_ENOMEM;
	if (options->overview || (options->step_parts && !options->only_sums))
		m->parts_ns = vpa_arena_alloc(
			&m->w->out->arena, b->count, VPA_SWEEP_ALL * sizeof(*m->parts_ns));
	for (i = 0; i < b->count; i++)
		count_frames(m->w->c->options, m->g, &m->g->blocks[i]);
	for (i = 0; i < b->count; i++)
		fill_row(m, i);
	choose_measured(m);
	return VPT_OK;
}

static int write_measured(struct measure *m)
{
	struct vpa_blocks *b = m->b;

	b->includes = vpa_arena_alloc(&m->w->out->arena, INCLUDES_MAX, sizeof(*b->includes));
	if (!b->includes || spread_of(m, offsetof(struct vpa_block_row, latency_ns), &b->latency) ||
		spread_of(m, offsetof(struct vpa_block_row, period_ns), &b->period) ||
		spread_of(m, offsetof(struct vpa_block_row, attention_ns), &b->attention) ||
		write_parts(m))
		return VPT_ENOMEM;
	b->jitter_ns = b->period.p99_ns - b->period.p50_ns;
	write_rates(m);
	return vpa_block_deadlines(m->w, m->g, m->rows) || write_drift(m) || write_outliers(m)
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static void write_whole(struct measure *m)
{
	struct vpa_request *r = m->g->request;
	const struct vpa_blocks *b = m->b;
	size_t i;

	for (i = 0; i < b->count; i++) {
		r->end_ns = b->series[i].end_ns > r->end_ns ? b->series[i].end_ns : r->end_ns;
		if (!b->series[i].frames)
			break;
		r->frames += b->series[i].frames;
	}
	if (i < b->count || !b->count || b->left_out || m->g->after_pause)
		r->frames = 0;
	/* The request's own count covers all of its time, and is of what it made: told at its end, or known before. */
	if (m->g->scope && vpa_scope_is_whole(m->w, m->g->id))
		r->frames = r->frames_told ? r->frames_told
					   : value_or(m->g->scope->label.frames, r->frames);
	if (vpa_request_has_no_video(r))
		r->frames = 0;
	if (r->frames && r->end_ns > r->start_ns)
		r->fps_end_to_end = vpa_per_second((double)r->frames, r->end_ns - r->start_ns);
	if (!b->count || b->left_out)
		return;
	if (b->series[0].end_ns > r->start_ns)
		r->ttfb_ns = b->series[0].end_ns - r->start_ns;
	for (i = 0; i < b->count && !b->series[i].ready_mark; i++)
		;
	if (i < b->count && b->series[i].end_ns > r->start_ns)
		r->ttff_ns = b->series[i].end_ns - r->start_ns;
}

int vpa_group_measure(struct vpa_blocks_writer *w, struct vpa_blocks_group *g)
{
	struct measure m = {.w = w, .g = g, .b = &g->request->blocks};
	struct vpa_blocks *b = m.b;
	int rc;

	*b = (struct vpa_blocks){.count = g->block_count,
		.left_out = g->left_out,
		.fps = -1,
		.denoise_rate = -1,
		.bps = -1,
		.fps_busy = -1,
		.fps_denoise = -1,
		.latent_fps = -1,
		.misses = -1,
		.longest_miss_run = -1,
		.prebuffer_frames = -1,
		.saturated_at = -1,
		.grown_until = -1};
	g->request->fps_end_to_end = -1;
	rc = write_series(&m);
	if (!rc && b->measured)
		rc = write_measured(&m);
	if (!rc && b->count && !b->measured)
		vpa_block_note(w,
			b->count == 1 ? "FPS and BPS are unavailable: a single block has no period "
					"(--warmup 0 uses its own length)"
				      : "FPS and BPS are unavailable: all blocks are warm-up");
	if (!rc)
		rc = vpa_group_steps(w, g);
	if (!rc)
		write_whole(&m);
	vpt_free(m.values);
	vpt_free(m.rows);
	return rc;
}
