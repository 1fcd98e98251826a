/* stage_work.c - a row for each stage that has time of its own, or one of all ops where nothing marks stages, and one of ranges
 * whose kernels are of several stages.
 *
 * Operations are divided by all of a stage's busy time: kernels that nothing says operations of count as if they did none, so
 * rates and shares are the least that they can be. */
#include "analysis/folds/kernels/stage_names.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

static const char several[] = "in several stages";

void vpa_stage_work_batch(struct vpa_work_stages *w)
{
	w->position = 0;
}

uint32_t vpa_stage_work_row(struct vpa_work_stages *w, const struct vpa_fold_context *c, size_t op)
{
	const struct vpa_position *positions = c->pipeline->positions;

	while (positions[w->position].end <= op)
		w->position++;
	return vpa_stage_names_row(&w->names, c, &positions[w->position]);
}

int vpa_stage_work_add(struct vpa_work_stages *w, uint32_t stage, uint32_t device,
	unsigned precision, uint64_t flop, uint64_t kernel_ns)
{
	uint32_t row = vpa_index_row(&w->index, stage, (uint64_t)device << 8 | precision, &w->sums,
		&w->sum_cap, sizeof(*w->sums));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	w->sums[row].calls++;
	w->sums[row].ns += kernel_ns;
	vpt_sat_add_to(&w->sums[row].flop, flop);
	return VPT_OK;
}

double vpa_stage_work_peak(const struct vpa_report *r, int64_t device, enum vpa_precision precision)
{
	const struct vpa_gpu *gpu = vpa_report_gpu(r, device);

	return gpu ? vpa_gpu_peak_tflops(gpu, precision) : -1;
}

/* ---- writing down ---- */

static struct vpa_stage_work_row *add_row(
	struct vpa_report *out, const char *stage, enum vpa_scope_kind kind)
{
	struct vpa_stage_work_row *row = &out->expert.stage_work[out->expert.stage_work_count++];

	*row = (struct vpa_stage_work_row){
		.stage = stage, .kind = kind, .tensor_share = -1, .tflop = -1, .tflops = -1};
	return row;
}

static struct vpa_stage_work_row *find_row(
	const struct vpa_report *out, const char *stage, enum vpa_scope_kind kind)
{
	const struct vpa_expert *e = &out->expert;
	size_t i;

	for (i = 0; i < e->stage_work_count; i++)
		if (e->stage_work[i].kind == kind && !strcmp(e->stage_work[i].stage, stage))
			return &e->stage_work[i];
	return NULL;
}

static void set_time(struct vpa_stage_work_row *row, uint64_t busy_ns, uint64_t tensor_ns)
{
	row->busy_ns = busy_ns;
	if (busy_ns)
		row->tensor_share = (double)tensor_ns / (double)busy_ns;
}

static void write_stages(struct vpa_report *out)
{
	const struct vpa_expert *e = &out->expert;
	size_t i = 0, end;

	while (i < e->stage_family_count) {
		const struct vpa_stage_family_row *first = &e->stage_families[i];
		uint64_t tensor_ns = 0;

		for (end = i;
			end < e->stage_family_count && e->stage_families[end].kind == first->kind &&
			!strcmp(e->stage_families[end].stage, first->stage);
			end++)
			tensor_ns += e->stage_families[end].tensor_ns;
		set_time(add_row(out, first->stage, first->kind), first->stage_ns, tensor_ns);
		i = end;
	}
}

static void write_window(struct vpa_report *out)
{
	uint64_t tensor_ns = 0;
	size_t i;

	for (i = 0; i < out->kernel_names; i++)
		if (out->kernels[i].tensor_cores)
			tensor_ns += out->kernels[i].exclusive_ns;
	set_time(add_row(out, "all", VPA_SCOPE_NONE), vpa_busy_ns(out), tensor_ns);
}

/* The row that a stage's operations belong to: of kernels that take no time there may be none before. */
static struct vpa_stage_work_row *row_of(const struct vpa_work_stages *w,
	const struct vpa_fold_context *c, struct vpa_report *out, uint32_t stage)
{
	enum vpa_scope_kind kind =
		stage == VPA_NONE ? VPA_SCOPE_NONE : vpa_stage_names_kind(&w->names, stage);
	const char *name = several;
	struct vpa_stage_work_row *row;

	if (!out->expert.stage_family_count)
		return &out->expert.stage_work[0];
	if (stage != VPA_NONE)
		name = vpa_stage_names_text(&w->names, c, out, stage);
	row = name ? find_row(out, name, kind) : NULL;
	if (!row && !(row = find_row(out, several, VPA_SCOPE_NONE)))
		row = add_row(out, several, VPA_SCOPE_NONE);
	return row;
}

/* Operations of one stage, device and precision. Until all are added, share_of_peak is the nanoseconds that they take at the peaks;
 * negative: a peak is not known. */
static void add_flop(struct vpa_stage_work_row *row, const struct vpa_stage_flop *sum, double peak)
{
	if (row->tflop < 0)
		row->tflop = row->share_of_peak = 0;
	row->calls += sum->calls;
	row->flop_ns += sum->ns;
	row->tflop += (double)sum->flop / 1e12;
	if (peak > 0 && row->share_of_peak >= 0)
		row->share_of_peak += (double)sum->flop / peak / 1e3;
	else
		row->share_of_peak = -1;
}

int vpa_stage_work_write(
	struct vpa_work_stages *w, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	size_t i;

	if (!vpa_busy_ns(out))
		return VPT_OK;
	e->stage_work =
		vpa_arena_alloc(&out->arena, e->stage_family_count + 2, sizeof(*e->stage_work));
	if (!e->stage_work)
		return VPT_ENOMEM;
	if (e->stage_family_count)
		write_stages(out);
	else
		write_window(out);
	for (i = 0; i < e->stage_work_count; i++)
		e->stage_work[i].share_of_peak = -1;
	for (i = 0; i < w->index.count; i++) {
		const struct vpa_index_entry *at = &w->index.entries[i];

		add_flop(row_of(w, c, out, (uint32_t)at->a), &w->sums[i],
			vpa_stage_work_peak(out, c->model->devices[at->b >> 8],
				(enum vpa_precision)(at->b & 255)));
	}
	for (i = 0; i < e->stage_work_count; i++) {
		struct vpa_stage_work_row *row = &e->stage_work[i];

		if (row->busy_ns && row->tflop >= 0)
			row->tflops = row->tflop / ((double)row->busy_ns / 1e9);
		row->share_of_peak = row->busy_ns && row->share_of_peak >= 0
					     ? row->share_of_peak / (double)row->busy_ns
					     : -1;
	}
	return VPT_OK;
}

void vpa_stage_work_free(struct vpa_work_stages *w)
{
	vpa_stage_names_free(&w->names);
	vpa_index_free(&w->index);
	vpt_free(w->sums);
}
