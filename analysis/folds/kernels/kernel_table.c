/* kernel_table.c - time by kernel name and by family.
 *
 * Total time counts overlaps twice; exclusive time does not: while k ops of a device run at once, each
 * gets a k-th of the time, so exclusive times sum to the device's busy time, to the nanosecond (up to
 * 128 ops at once; no GPU runs more kernels, and any excess in a file gets no share). */
#include "analysis/folds/fold.h"

#include "analysis/base/durations.h"
#include "analysis/base/intervals.h"
#include "analysis/model/gpu_arch.h"
#include "analysis/model/inductor_cache.h"
#include "analysis/model/launch_shape.h"
#include "analysis/names/demangle.h"
#include "analysis/names/number_format.h"
#include "analysis/pipeline/sharing.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MEMSET_ROW = 0,
	MEMCPY_ROW = 1,
	UNKNOWN_NAMES = 3,
	KERNEL_ROWS = 2 /* kernel k has row 2 + k */
};

struct row {
	struct vpa_durations_builder time;
	/* Until the end less the total time, modulo 2^64: the two differ only where ops overlap. */
	uint64_t exclusive_ns;
	uint64_t blocks; /* of the grids of all calls */
};

struct state {
	struct row *rows;
	size_t row_count, row_cap;
	struct vpa_sharing *devices;
	size_t device_cap;
	uint64_t *shape_ns; /* by 1 + row of vpa_model.shapes */
	size_t shape_cap;
};

static void share_out(void *ctx, const struct vpa_sharing *d, uint64_t to)
{
	struct row *rows = ctx;
	uint64_t ns = to - d->at_ns, rest;
	size_t i;

	if (d->count == 1) {
		rows[d->running[0].cell].exclusive_ns += ns;
		return;
	}
	rest = ns % d->count;
	for (i = 0; i < d->count; i++)
		rows[d->running[i].cell].exclusive_ns += ns / d->count + (i < rest);
}

VPA_RARE static void advance(struct state *s, struct vpa_sharing *d, uint64_t to)
{
	vpa_sharing_advance(d, to, share_out, s->rows);
}

static void begin_op(
	struct state *s, struct vpa_sharing *d, uint64_t start_ns, uint64_t end_ns, uint32_t row)
{
	advance(s, d, start_ns);
	s->rows[row].exclusive_ns -= end_ns - start_ns;
	vpa_sharing_begin(d, end_ns, row);
}

VPA_RARE static int make_room(
	struct state *s, const struct vpa_fold_context *c, size_t rows, size_t devices)
{
	if (vpt_grow_zeroed(&s->rows, &s->row_cap, rows, sizeof(*s->rows)))
		return VPT_ENOMEM;
	if (vpt_grow_zeroed(&s->devices, &s->device_cap, devices, sizeof(*s->devices)))
		return VPT_ENOMEM;
	for (; s->row_count < rows; s->row_count++)
		s->rows[s->row_count].time.only_sums = (uint8_t)c->options->only_screen;
	return VPT_OK;
}

static inline uint32_t row_of(const struct vpa_ops *ops, size_t i)
{
	/* Ops other than kernels have number ~0. */
	uint32_t row = KERNEL_ROWS + ops->kernel[i];

	return row == MEMCPY_ROW && ops->kind[i] == VPA_MEMSET ? MEMSET_ROW : row;
}

/* How many shapes there are up to those of a batch, with the one that stands for none. */
VPT_VECTORISE
static uint32_t count_shapes(const struct vpa_ops *ops)
{
	uint32_t count = 1;
	size_t i;

	for (i = 0; i < ops->count; i++)
		count = ops->shape[i] + 2 > count ? ops->shape[i] + 2 : count;
	return count;
}

static int add_times(struct state *s, const struct vpa_ops *ops)
{
	struct row *rows = s->rows;
	uint64_t *shape_ns;
	size_t i;
	int failed = 0;

	if (vpt_grow_zeroed(&s->shape_ns, &s->shape_cap, count_shapes(ops), sizeof(*s->shape_ns)))
		return VPT_ENOMEM;
	shape_ns = s->shape_ns;
	for (i = 0; i < ops->count; i++) {
		uint64_t ns = ops->end_ns[i] - ops->start_ns[i];
		struct row *row = &rows[row_of(ops, i)];

		shape_ns[ops->shape[i] + 1U] += ns; /* the first is of those not known */
		row->blocks += ops->blocks[i];
		failed |= vpa_durations_add(&row->time, ns);
	}
	return failed ? VPT_ENOMEM : VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i, last;

	if (make_room(s, c, KERNEL_ROWS + c->model->kernel_count, c->model->device_count))
		return VPT_ENOMEM;
	/* Ops that run one after the other get all their time; only the last of a run may still share its own. */
	for (i = 0; i < ops->run_count; i++) {
		last = ops->runs[i].end - (size_t)1;
		begin_op(s, &s->devices[ops->device[last]], ops->start_ns[last], ops->end_ns[last],
			row_of(ops, last));
	}
	return add_times(s, ops);
}

/* They ran, and took no time. */
static int fold_instants(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i;
	int rc = make_room(s, c, KERNEL_ROWS + c->model->kernel_count, c->model->device_count);

	for (i = 0; i < ops->count && !rc; i++) {
		struct row *row = &s->rows[row_of(ops, i)];

		row->blocks += ops->blocks[i];
		rc = vpa_durations_add(&row->time, 0) ? VPT_ENOMEM : VPT_OK;
	}
	return rc;
}

/* ---- writing down ---- */

static int compare_families(const void *pa, const void *pb)
{
	const struct vpa_family_row *a = pa, *b = pb;

	if (a->exclusive_ns != b->exclusive_ns)
		return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
	return strcmp(vpa_family_name(a->family), vpa_family_name(b->family));
}

static void add_family(struct vpa_family_row *family, const struct row *row, enum vpa_family of)
{
	family->family = of;
	family->calls += row->time.count;
	family->total_ns += row->time.total_ns;
	family->exclusive_ns += row->exclusive_ns;
}

static int write_families(struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	size_t limit = VPA_FAMILY_COUNT + 2, i, kept = 0;
	struct vpa_family_row *rows = vpa_arena_alloc(&out->arena, limit, sizeof(*rows));
	uint64_t busy = vpa_busy_ns(out);

	if (!rows)
		return VPT_ENOMEM;
	for (i = 0; i < s->row_count; i++) {
		size_t at = i == MEMCPY_ROW ? limit - 2 : i == MEMSET_ROW ? limit - 1 : 0;

		if (i >= KERNEL_ROWS) {
			enum vpa_family family = c->model->kernels[i - KERNEL_ROWS].klass.family;

			add_family(&rows[family], &s->rows[i], family);
		} else {
			add_family(&rows[at], &s->rows[i],
				i == MEMCPY_ROW ? VPA_FAMILY_MEMCPY : VPA_FAMILY_MEMSET);
		}
	}
	for (i = 0; i < limit; i++)
		if (rows[i].calls) {
			rows[i].share_of_busy =
				busy ? (double)rows[i].exclusive_ns / (double)busy : 0;
			rows[kept++] = rows[i];
		}
	qsort(rows, kept, sizeof(*rows), compare_families);
	out->families = rows;
	out->family_count = kept;
	return VPT_OK;
}

static int compare_precisions(const void *pa, const void *pb)
{
	const struct vpa_precision_row *a = pa, *b = pb;

	if (a->exclusive_ns != b->exclusive_ns)
		return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
	return strcmp(vpa_precision_name(a->precision), vpa_precision_name(b->precision));
}

static int write_precisions(
	struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_model *m = c->model;
	struct vpa_precision_row *rows =
		vpa_arena_alloc(&out->arena, VPA_PRECISIONS, sizeof(*rows));
	size_t i, kept = 0;

	if (!rows)
		return VPT_ENOMEM;
	for (i = 0; i < m->kernel_count && KERNEL_ROWS + i < s->row_count; i++) {
		const struct row *r = &s->rows[KERNEL_ROWS + i];
		struct vpt_text name = vpa_name(m, m->kernels[i].name);
		struct vpa_precision_row *row;

		if (m->kernels[i].klass.family != VPA_FAMILY_GEMM)
			continue;
		row = &rows[vpa_precision_of(name.text, name.len)];
		row->calls += r->time.count;
		row->total_ns += r->time.total_ns;
		row->exclusive_ns += r->exclusive_ns;
	}
	for (i = 0; i < VPA_PRECISIONS; i++) {
		rows[i].precision = (enum vpa_precision)i;
		if (rows[i].calls)
			rows[kept++] = rows[i];
	}
	qsort(rows, kept, sizeof(*rows), compare_precisions);
	out->precisions = rows;
	out->precision_count = kept;
	return VPT_OK;
}

static int compare_kernels(const void *pa, const void *pb)
{
	const struct vpa_kernel_row *a = pa, *b = pb;

	if (a->exclusive_ns != b->exclusive_ns)
		return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Writes the names of the largest kernels without a family, until they are most of its time. `rows`
 * are by time, falling. */
static int write_unknown(const struct vpa_kernel_row *rows, size_t count, struct vpa_report *out)
{
	uint64_t all_ns = 0, named_ns = 0;
	size_t i;

	out->unknown_kernels =
		vpa_arena_alloc(&out->arena, UNKNOWN_NAMES, sizeof(*out->unknown_kernels));
	if (!out->unknown_kernels)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		all_ns += rows[i].family == VPA_FAMILY_UNKNOWN ? rows[i].exclusive_ns : 0;
	for (i = 0; i < count && out->unknown_count < UNKNOWN_NAMES && named_ns <= all_ns / 2;
		i++) {
		if (rows[i].family != VPA_FAMILY_UNKNOWN)
			continue;
		named_ns += rows[i].exclusive_ns;
		out->unknown_kernels[out->unknown_count++] =
			vpa_demangle(&out->arena, rows[i].name);
	}
	return VPT_OK;
}

/* Sums over the time of a kernel whose launches have known figures. */
struct figures {
	uint64_t ns;
	double blocks_per_sm, warps_per_sm, occupancy, sm_efficiency;
	struct vpa_few_blocks few;
};

/* Mean blocks are of no launch, and most launches may be short ones: what counts is the time of those that have few. */
static void sum_few_blocks(const struct state *s, const struct vpa_model *m,
	const struct vpa_report *r, struct figures *all)
{
	uint32_t sms = vpa_most_multiprocessors(r);
	size_t i;

	for (i = 0; i < m->shapes.count && i + 1 < s->shape_cap; i++) {
		struct vpa_launch_shape shape = vpa_launch_shape_get(&m->shapes, i);
		struct vpa_few_blocks *few = &all[shape.kernel].few;
		uint64_t ns = s->shape_ns[i + 1];

		if (!ns || !shape.blocks || shape.blocks >= sms)
			continue;
		few->differ |= few->blocks && few->blocks != shape.blocks;
		few->blocks = vpa_later(few->blocks, shape.blocks);
		vpt_sat_add_to(&few->ns, ns);
		vpt_sat_add_to(&few->idle_ns, vpt_sat_scale(ns, sms - shape.blocks, sms));
	}
}

/* By number of the kernel; NULL: no memory. */
static struct figures *sum_figures(
	const struct state *s, const struct vpa_model *m, const struct vpa_report *r)
{
	struct figures *all = vpt_calloc(m->kernel_count + 1, sizeof(*all));
	const struct vpa_gpu *gpu = vpa_common_gpu(r);
	size_t i;

	for (i = 0; all && gpu && i < m->shapes.count && i + 1 < s->shape_cap; i++) {
		struct vpa_launch_shape shape = vpa_launch_shape_get(&m->shapes, i);
		struct vpa_launch_figures f;
		struct figures *sum = &all[shape.kernel];
		double ns = (double)s->shape_ns[i + 1];

		if (!s->shape_ns[i + 1] || !vpa_launch_figures(gpu, &shape, &f))
			continue;
		sum->ns += s->shape_ns[i + 1];
		sum->blocks_per_sm += ns * f.blocks_per_sm;
		sum->warps_per_sm += ns * f.warps_per_sm;
		sum->occupancy += ns * f.occupancy;
		sum->sm_efficiency += ns * f.sm_efficiency;
	}
	if (all)
		sum_few_blocks(s, m, r, all);
	return all;
}

static void put_figures(struct vpa_kernel_row *row, const struct figures *f)
{
	double ns = (double)f->ns;

	row->few = f->few;
	row->blocks_per_sm = f->ns ? f->blocks_per_sm / ns : -1;
	row->warps_per_sm = f->ns ? f->warps_per_sm / ns : -1;
	row->occupancy = f->ns ? f->occupancy / ns : -1;
	row->sm_efficiency = f->ns ? f->sm_efficiency / ns : -1;
}

/* Where Inductor wrote the kernels of the table, if that is asked and the trace is of this machine. */
static int write_sources(const struct vpa_fold_context *c, struct vpa_report *out)
{
	const char *host = vpa_meta(out, VPT_METADATA_HOST);
	char here[256] = "", folder[512];
	struct vpa_inductor_kernel *wanted;
	size_t i, k, count = 0;
	int rc = VPT_OK;

	if (!c->options->kernel_sources || !host || !out->has_realtime ||
		gethostname(here, sizeof(here) - 1) || strcmp(host, here) != 0)
		return VPT_OK;
	wanted = vpt_calloc(out->kernel_count + 1, sizeof(*wanted));
	if (!wanted)
		return VPT_ENOMEM;
	for (i = 0; i < out->kernel_count; i++)
		if (!strncmp(out->kernels[i].name, "triton_", 7) && out->kernels[i].name[7])
			wanted[count++].name = out->kernels[i].name;
	if (count) {
		vpa_inductor_folder(folder, sizeof(folder));
		rc = vpa_inductor_find(&out->arena, folder,
			out->window_end_ns + out->unix_offset_ns, wanted, count);
	}
	for (i = k = 0; i < out->kernel_count && k < count; i++)
		if (out->kernels[i].name == wanted[k].name)
			out->kernels[i].source = wanted[k++].source;
	vpt_free(wanted);
	return rc;
}

static int write_kernels(struct state *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_model *m = c->model;
	struct vpa_kernel_row *rows = vpa_arena_alloc(&out->arena, m->kernel_count, sizeof(*rows));
	struct figures *figures = sum_figures(s, m, out);
	size_t i, count = 0;

	if (!rows || !figures) {
		vpt_free(figures);
		return VPT_ENOMEM;
	}
	for (i = 0; i < m->kernel_count && KERNEL_ROWS + i < s->row_count; i++) {
		struct row *r = &s->rows[KERNEL_ROWS + i];
		const char *name = vpa_fold_name(out, m, m->kernels[i].name);

		if (!r->time.count)
			continue;
		rows[count++] = (struct vpa_kernel_row){.name = name ? name : "(no name)",
			.kernel = (uint32_t)i,
			.family = m->kernels[i].klass.family,
			.backend = m->kernels[i].klass.backend,
			.exclusive_ns = r->exclusive_ns,
			.marks = m->kernels[i].klass.marks,
			.tensor_cores =
				vpa_is_marked(m->kernels[i].klass.marks, VPA_MARK_TENSOR_CORES),
			.blocks_mean = (double)r->blocks / (double)r->time.count,
			.time = vpa_durations_of(&r->time)};
		put_figures(&rows[count - 1], &figures[i]);
		if (name && !out->hopper_kernel && vpa_kernel_is_hopper(name))
			out->hopper_kernel = name;
	}
	vpt_free(figures);
	qsort(rows, count, sizeof(*rows), compare_kernels);
	out->kernels = rows;
	out->kernel_names = count;
	out->kernel_count = count < c->top || c->options->all_kernels ? count : c->top;
	for (i = 0; i < out->kernel_count; i++)
		rows[i].name = vpa_demangle(&out->arena, rows[i].name);
	return write_sources(c, out) ? VPT_ENOMEM : write_unknown(rows, count, out);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->device_cap; i++)
		advance(s, &s->devices[i], UINT64_MAX);
	for (i = 0; i < s->row_count; i++) {
		vpa_durations_settle(&s->rows[i].time);
		s->rows[i].exclusive_ns += s->rows[i].time.total_ns;
	}
	return write_families(s, c, out) || write_precisions(s, c, out) || write_kernels(s, c, out)
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->row_cap; i++)
		vpa_durations_free(&s->rows[i].time);
	vpt_free(s->rows);
	vpt_free(s->shape_ns);
	vpt_free(s->devices);
}

const struct vpa_fold vpa_fold_kernels = {
	.name = "kernels",
	.help = "device time by kernel name and family; exclusive time sums to busy time",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.instants = fold_instants,
	.finish = finish,
	.free = free_state,
};
