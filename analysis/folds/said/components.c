/* components.c - parts of the pipeline that make frames: time of each call, frames per second, memory.
 *
 * A range says how many frames it makes, {"kind":"stage","component":1,"frames":12}. Where a stage says it, or one is called
 * a component, the table has all of them: those that say no frames have their times. */
#include "analysis/folds/said/said_label.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum { COMPONENTS_MAX = 256 };

struct component {
	const char *given; /* by a rule; NULL: the range's name */
	uint64_t frames, framed_ns;
	int is_component;
	struct vpa_durations_builder host, gpu;
};

struct state {
	struct vpa_index index; /* (1, name) or (2, address of a rule's name) */
	struct component *rows;
	size_t cap;
	int is_wanted;
};

static struct component *row_of(
	struct state *s, const struct vpa_range *range, const struct vpa_scope_label *label)
{
	uint64_t kind = label->name ? 2 : 1;
	uint64_t name = label->name ? (uint64_t)(uintptr_t)label->name : range->name;
	uint32_t row = vpa_index_row(&s->index, kind, name, &s->rows, &s->cap, sizeof(*s->rows));

	if (row == UINT32_MAX)
		return NULL;
	s->rows[row].given = label->name;
	return &s->rows[row];
}

static int add(
	struct component *row, const struct vpa_range *range, const struct vpa_scope_label *label)
{
	uint64_t host_ns = range->end_ns - range->start_ns, gpu_ns = vpa_said_gpu_ns(range);
	int rc = vpa_durations_add(&row->host, host_ns);

	row->is_component |= label->is_component;
	if (label->frames > 0) {
		vpt_sat_add_to(&row->frames, (uint64_t)label->frames);
		vpt_sat_add_to(&row->framed_ns, gpu_ns ? gpu_ns : host_ns);
	}
	return rc || !gpu_ns ? rc : vpa_durations_add(&row->gpu, gpu_ns);
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	struct vpa_scope_label label;
	struct component *row;

	if (vpa_said_label(c, range, &label))
		return VPT_ENOMEM;
	if (label.kind != VPA_SCOPE_STAGE || s->index.count == COMPONENTS_MAX)
		return VPT_OK;
	row = row_of(s, range, &label);
	s->is_wanted |= label.is_component || label.frames > 0;
	return row ? add(row, range, &label) : VPT_ENOMEM;
}

/* One that launched nothing is no scope. */
static int fold_unplaced(
	void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	return vpa_pipeline_kind(range) ? VPT_OK : fold_range(state, c, range);
}

/* ---- writing down ---- */

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_component *a = pa, *b = pb;

	if (a->is_component != b->is_component)
		return a->is_component ? -1 : 1;
	if (a->time.total_ns != b->time.total_ns)
		return a->time.total_ns > b->time.total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The most that PyTorch's allocator held in it, which the module for Python samples. */
static uint64_t peak_of(const struct vpa_report *r, const char *name)
{
	const struct vpa_counter *c = vpa_find_counter(r, -1, VPT_SERIES_MARKED_PEAK);
	size_t i;

	for (i = 0; c && i < c->part_count; i++)
		if (c->parts[i].kind == VPA_SCOPE_STAGE && c->parts[i].samples &&
			!strcmp(c->parts[i].name, name))
			return vpt_sat_u64(c->parts[i].max);
	return UINT64_MAX;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i, count = s->index.count;

	if (!s->is_wanted)
		return VPT_OK;
	out->said.components = vpa_arena_alloc(&out->arena, count, sizeof(*out->said.components));
	if (!out->said.components)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		struct component *row = &s->rows[i];
		const char *own =
			row->given ? vpa_arena_text(&out->arena, row->given, strlen(row->given))
				   : vpa_fold_name(out, c->model, (uint32_t)s->index.entries[i].b);
		const char *name = own ? own : "(no name)";

		out->said.components[i] = (struct vpa_component){.name = name,
			.is_component = row->is_component,
			.frames = row->frames,
			.on_gpu = row->gpu.count != 0,
			.time = vpa_durations_of(row->gpu.count ? &row->gpu : &row->host),
			.host = vpa_durations_of(&row->host),
			.fps = row->framed_ns ? (double)row->frames / (double)row->framed_ns * 1e9
					      : -1,
			.peak_bytes = peak_of(out, name)};
	}
	qsort(out->said.components, count, sizeof(*out->said.components), compare_rows);
	out->said.component_count = count;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->index.count && i < s->cap; i++) {
		vpa_durations_free(&s->rows[i].host);
		vpa_durations_free(&s->rows[i].gpu);
	}
	vpa_index_free(&s->index);
	vpt_free(s->rows);
}

const struct vpa_fold vpa_fold_components = {
	.name = "components",
	.help = "parts of the pipeline: times, frames per second, memory",
	.state_bytes = sizeof(struct state),
	.scope = fold_range,
	.annotated = fold_unplaced,
	.finish = finish,
	.free = free_state,
};
