/* byte_rates.c - how fast kernels read and write memory, where ranges say how much they do.
 *
 * A range says so with an annotation that has the number {"bytes": N}; importers of profilers that record the
 * shapes of an operator's inputs make one, see formats/import/kineto/text/kineto_work.h. They write {"elements": N}
 * of an operator whose types were not recorded: then the kernel's name has to say how large one is. A kernel
 * belongs to the innermost such range around its launch. A range counts when it has ended, if all its kernels are
 * of one name: nothing says what each of several reads. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/folds/kernels/said_number.h"
#include "analysis/model/gpu_peak.h"
#include "analysis/names/demangle.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES, ELEMENTS, KEYS };

/* The kernels of an open range. */
struct work {
	uint64_t ns;
	uint32_t device, kernel;
	int is_several;
};

struct sum {
	uint64_t calls, ns, bytes;
};

struct state {
	struct vpa_index ranges; /* by address, which a new range may reuse when a range is over */
	struct work *works;
	size_t work_cap;
	struct vpa_said_number said[KEYS];
	struct vpa_index sum_index; /* device and kernel */
	struct sum *sums;
	size_t sum_cap;
	int failed;
};

/* ---- kernels ---- */

static void add_stretch(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_ops *ops, const struct vpa_op_stretch *stretch, size_t begin)
{
	size_t i;

	for (i = begin; i < stretch->end && !s->failed; i++) {
		const struct vpa_range *range;
		struct work *w;
		uint32_t row;

		if (ops->kind[i] != VPA_KERNEL)
			continue;
		range = vpa_said_range(s->said, KEYS, c->model, stretch, ops->launch_start_ns[i]);
		if (!range)
			continue;
		row = vpa_index_row(&s->ranges, (uintptr_t)range, 0, &s->works, &s->work_cap,
			sizeof(*s->works));
		s->failed = row == UINT32_MAX;
		if (s->failed)
			return;
		w = &s->works[row];
		w->is_several |= w->ns && w->kernel != ops->kernel[i];
		w->device = ops->device[i];
		w->kernel = ops->kernel[i];
		w->ns += ops->end_ns[i] - ops->start_ns[i];
	}
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t k, begin = 0;

	s->said[BYTES].key = "\"bytes\"";
	s->said[ELEMENTS].key = "\"elements\"";
	for (k = 0; c->model->has_traffic && k < ops->stretch_count;
		begin = ops->stretches[k++].end)
		if (ops->stretches[k].range)
			add_stretch(s, c, ops, &ops->stretches[k], begin);
	return s->failed || s->said[BYTES].failed || s->said[ELEMENTS].failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- the end of a range ---- */

/* The bytes of an element in a name like CatArrayBatchedCopy<OpaqueType<2u>, ...>; 0: it does not say. What
 * copies several at once names the type of these. */
static uint64_t element_bytes(struct vpt_text name)
{
	static const char word[] = "OpaqueType<";
	const char *at = name.len ? memmem(name.text, name.len, word, sizeof(word) - 1) : NULL;
	const char *end = name.text + name.len;
	uint64_t bytes = 0;

	if (!at || vpt_text_holds(name, "vectorized"))
		return 0;
	for (at += sizeof(word) - 1; at < end && vpt_is_digit(*at) && bytes < 100; at++)
		bytes = 10 * bytes + (uint64_t)(*at - '0');
	return bytes <= 16 ? bytes : 0;
}

static uint64_t bytes_of(struct state *s, const struct vpa_model *m, const struct work *w,
	const struct vpa_range *range)
{
	uint64_t bytes = vpa_said_number(&s->said[BYTES], m, range->payload);
	uint64_t elements = vpa_said_number(&s->said[ELEMENTS], m, range->payload);

	if (bytes)
		return bytes;
	return __builtin_mul_overflow(
		       elements, element_bytes(vpa_name(m, m->kernels[w->kernel].name)), &bytes)
		       ? 0
		       : bytes;
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	uint32_t row =
		s->ranges.count ? vpa_index_find(&s->ranges, (uintptr_t)range, 0) : UINT32_MAX;
	uint64_t bytes = 0;
	struct work *w;

	if (row == UINT32_MAX || !s->works[row].ns)
		return VPT_OK;
	w = &s->works[row];
	if (!range->unmatched && !range->cut && !w->is_several)
		bytes = bytes_of(s, c->model, w, range);
	if (bytes) {
		uint32_t at = vpa_index_row(&s->sum_index, w->device, w->kernel, &s->sums,
			&s->sum_cap, sizeof(*s->sums));

		if (at == UINT32_MAX)
			return VPT_ENOMEM;
		s->sums[at].calls++;
		s->sums[at].ns += w->ns;
		if (__builtin_add_overflow(s->sums[at].bytes, bytes, &s->sums[at].bytes))
			s->sums[at].bytes = UINT64_MAX;
	}
	*w = (struct work){0};
	return s->said[BYTES].failed || s->said[ELEMENTS].failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- writing down ---- */

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_byte_row *a = pa, *b = pb;

	if (a->kernel_ns != b->kernel_ns)
		return a->kernel_ns > b->kernel_ns ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return strcmp(a->kernel, b->kernel);
}

static double peak_of(const struct vpa_report *r, int64_t device)
{
	const struct vpa_gpu *gpu = vpa_report_gpu(r, device);

	return gpu ? vpa_gpu_peak_gb_per_s(gpu) : -1;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	e->byte_rates =
		vpa_arena_alloc(&out->arena, s->sum_index.count + 1, sizeof(*e->byte_rates));
	if (!e->byte_rates)
		return VPT_ENOMEM;
	for (i = 0; i < s->sum_index.count; i++) {
		const struct vpa_index_entry *at = &s->sum_index.entries[i];
		const struct vpa_kernel *kernel = &c->model->kernels[at->b];
		const char *name = vpa_fold_name(out, c->model, kernel->name);
		struct vpa_byte_row *row = &e->byte_rates[i];

		*row = (struct vpa_byte_row){.device = c->model->devices[at->a],
			.kernel = name ? vpa_demangle(&out->arena, name) : "(no name)",
			.family = kernel->klass.family,
			.is_scattered = vpa_is_marked(kernel->klass.marks, VPA_MARK_SCATTERED),
			.calls = s->sums[i].calls,
			.kernel_ns = s->sums[i].ns,
			.bytes = s->sums[i].bytes,
			.share_of_peak = -1};
		row->gb_per_s = (double)row->bytes / (double)row->kernel_ns;
		row->peak_gb_per_s = peak_of(out, row->device);
		if (row->peak_gb_per_s > 0)
			row->share_of_peak = row->gb_per_s / row->peak_gb_per_s;
	}
	e->byte_rates_used = s->sum_index.count;
	qsort(e->byte_rates, e->byte_rates_used, sizeof(*e->byte_rates), compare_rows);
	e->byte_rate_count = e->byte_rates_used < c->top ? e->byte_rates_used : c->top;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < KEYS; i++)
		vpa_said_number_free(&s->said[i]);
	vpa_index_free(&s->ranges);
	vpa_index_free(&s->sum_index);
	vpt_free(s->works);
	vpt_free(s->sums);
}

const struct vpa_fold vpa_fold_byte_rates = {
	.name = "byte_rates",
	.help = "bytes per second of kernels where ranges say how much they read and write",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.annotated = fold_range,
	.finish = finish,
	.free = free_state,
};
