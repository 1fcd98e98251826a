/* result_tracks.c - results of the analysis in GPU time: stages, steps, blocks, attention and idle gaps, a
 * track each under a root per GPU.
 *
 * Ranges are shown by their projection: from the start of their first op on the GPU to the end of their
 * last. Overlapping spans are put on lanes. */
#include "analysis/export/perfetto/lanes/result_tracks.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/export/perfetto/lanes/side_by_side.h"
#include "analysis/join/resolver_maps.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/range_scopes.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdio.h>

enum { EXPLICIT = 3, MERGE_NOT = 2, BLOCKS_OPEN_MAX = 64 };

static const struct {
	const char *name, *description;
} gpu_tracks[EX_GPU_TRACKS] = {
	[EX_TRACK_STAGES] = {"Pipeline stages", "named parts of the pipeline, from their first op "
						"on the GPU to the end of their last"},
	[EX_TRACK_STEPS] = {"Denoising steps", "from a step's first op to the end of its last"},
	[EX_TRACK_BLOCKS] = {"Video blocks", "from a block's first op to the end of its last"},
	[EX_TRACK_ATTENTION] = {"Attention kernels", "the attention kernels among the GPU's"},
	[EX_TRACK_GAPS] = {"Idle gaps", "nothing ran on the GPU; named by the cause of most of the "
					"gap, ids as in the report"},
};

/* The tracks of a GPU. */
struct gpu {
	uint64_t root; /* track; 0: none yet */
	struct vpa_ex_track tracks[EX_GPU_TRACKS];
};

struct vpa_ex_tracks {
	struct gpu *gpus; /* by device of the model */
	size_t gpu_cap;
	/* By text that is a range's name, 1: it does not say what the range is. */
	uint8_t *says_nothing;
	size_t text_cap;
	enum vpa_backend backend; /* the newest attention kernel's, and its text */
	uint32_t backend_text;
	struct open_block {
		const struct vpa_range *range; /* NULL: free */
		uint64_t attention_ns;
	} blocks[BLOCKS_OPEN_MAX];
};

int vpa_ex_tracks_new(struct vpa_ex_out *x)
{
	x->tracks = vpt_calloc(1, sizeof(*x->tracks));
	return x->tracks ? VPT_OK : VPT_ENOMEM;
}

void vpa_ex_tracks_free(struct vpa_ex_tracks *t)
{
	size_t i, k;

	if (!t)
		return;
	for (i = 0; i < t->gpu_cap; i++)
		for (k = 0; k < EX_GPU_TRACKS; k++)
			vpa_ex_track_free(&t->gpus[i].tracks[k]);
	vpt_free(t->gpus);
	vpt_free(t->says_nothing);
	vpt_free(t);
}

/* ---- tracks of a GPU ---- */

/* NULL: no memory. */
static struct gpu *gpu_of(struct vpa_ex_out *x, uint32_t device)
{
	struct vpa_ex_tracks *t = x->tracks;

	if (vpt_grow_zeroed(&t->gpus, &t->gpu_cap, (size_t)device + 1, sizeof(*t->gpus))) {
		x->pf.failed = VPT_ENOMEM;
		return NULL;
	}
	return &t->gpus[device];
}

/* Describes the parent of a GPU's tracks. */
static uint64_t describe_root(struct vpa_ex_out *x, uint32_t gpu_id)
{
	struct vpt_pb *b = &x->pf.out;
	uint64_t process = vpa_ex_process(x, -1), root;
	char name[64];

	snprintf(name, sizeof(name), "GPU %u - video pipeline", gpu_id);
	root = vpa_ex_uuid(x, name);
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(b, VPT_PF_TRACK_UUID, root);
	vpt_pb_uint(b, VPT_PF_TRACK_PARENT, process);
	vpt_pb_string(b, VPT_PF_TRACK_NAME, name);
	vpt_pb_uint(b, VPT_PF_TRACK_CHILD_ORDERING, EXPLICIT);
	vpt_pb_uint(b, VPT_PF_TRACK_RANK, gpu_id);
	vpt_pb_uint(b, VPT_PF_TRACK_MERGE, MERGE_NOT);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	return root;
}

void vpa_ex_tracks_put(struct vpa_ex_out *x, uint32_t device, enum vpa_ex_gpu_track track,
	struct vpa_ex_event *e, uint64_t end_ns)
{
	const struct vpa_ex_gpu *known = vpa_ex_gpu_of(x, device);
	struct gpu *gpu = known ? gpu_of(x, device) : NULL;
	struct vpa_ex_lane_words words = {.name = gpu_tracks[track].name,
		.description = gpu_tracks[track].description,
		.rank = track};
	/* Gaps of a device never overlap, in whatever order they come. */
	uint64_t start_ns = track == EX_TRACK_GAPS ? UINT64_MAX : e->time_ns;
	struct vpa_ex_lane *lane;
	char key[64];

	if (!gpu)
		return;
	if (!gpu->root)
		gpu->root = describe_root(x, known->gpu_id);
	words.parent = gpu->root;
	words.key = key;
	/* Only a new lane needs a name. */
	key[0] = '\0';
	if (!vpa_ex_has_lane(&gpu->tracks[track], start_ns))
		snprintf(key, sizeof(key), "g%u/%s", known->gpu_id, gpu_tracks[track].name);
	lane = vpa_ex_lane(
		x, &gpu->tracks[track], start_ns, track == EX_TRACK_GAPS ? 0 : end_ns, key, &words);
	if (!lane)
		return;
	e->track = lane->uuid;
	vpa_ex_span(x, vpa_ex_annotations(x), e, end_ns);
}

/* ---- what a range is ---- */

static struct vpa_scope_label label_of(struct vpa_ex_out *x, const struct vpa_range *range)
{
	struct vpa_scope_label label = {0};

	if (vpa_pipeline_label(x->view.context->pipeline, range, &label))
		x->pf.failed = VPT_ENOMEM;
	return label;
}

/* The label of a range on a thread, by its name. Most names have none, which is cached. */
static struct vpa_scope_label label_of_text(struct vpa_ex_out *x, uint32_t name)
{
	struct vpa_ex_tracks *t = x->tracks;
	struct vpt_text text = vpt_strings_get(&x->texts, name);
	struct vpa_scope_label label = {0};

	if (vpt_grow_zeroed(
		    &t->says_nothing, &t->text_cap, (size_t)name + 1, sizeof(*t->says_nothing))) {
		x->pf.failed = VPT_ENOMEM;
		return label;
	}
	if (t->says_nothing[name])
		return label;
	vpa_pipeline_read(x->view.context->pipeline, text, (struct vpt_text){"", 0}, &label);
	t->says_nothing[name] = label.kind == VPA_SCOPE_NONE;
	return label;
}

void vpa_ex_stage_args(struct vpa_ex_out *x, uint32_t name, uint32_t annotation, unsigned *inside,
	struct vpa_ex_event *e)
{
	struct vpa_scope_label label = {0};
	struct vpt_text text;

	if (annotation) {
		text = vpt_strings_get(&x->texts, annotation);
		vpa_pipeline_read(
			x->view.context->pipeline, vpt_strings_get(&x->texts, name), text, &label);
	} else {
		label = label_of_text(x, name);
	}
	if (vpa_scope_is_misplaced(&label, *inside, 1))
		return;
	*inside = vpa_scope_inside(&label, *inside, 1);
	if (label.kind == VPA_SCOPE_STAGE)
		vpa_ex_add_arg(
			e, EX_ARG_STAGE, EX_TEXT, label.name ? vpa_ex_string(x, label.name) : name);
	else if (label.kind == VPA_SCOPE_BLOCK && label.index >= 0)
		vpa_ex_add_arg(e, EX_ARG_BLOCK, EX_INT, (uint64_t)label.index);
	else if (label.kind == VPA_SCOPE_STEP && label.index >= 0)
		vpa_ex_add_arg(e, EX_ARG_STEP, EX_INT, (uint64_t)label.index);
}

/* ---- ranges ---- */

static uint64_t take_attention(struct vpa_ex_out *x, const struct vpa_range *range)
{
	struct vpa_ex_tracks *t = x->tracks;
	uint64_t ns;
	size_t i;

	for (i = 0; i < BLOCKS_OPEN_MAX; i++)
		if (t->blocks[i].range == range) {
			ns = t->blocks[i].attention_ns;
			t->blocks[i] = (struct open_block){0};
			return ns;
		}
	return 0;
}

/* The index of the innermost range of a kind around this one's begin; -1: none. */
static int64_t index_around(
	struct vpa_ex_out *x, const struct vpa_range *range, enum vpa_scope_kind kind)
{
	uint64_t at_ns = range->start_ns;
	const struct vpa_range *around =
		vpa_pipeline_find(vpa_range_around(range, at_ns), at_ns, kind);

	return around ? label_of(x, around).index : -1;
}

static uint32_t span_name(
	struct vpa_ex_out *x, const struct vpa_range *range, const struct vpa_scope_label *label)
{
	char text[64];

	if (label->kind == VPA_SCOPE_STAGE || label->kind == VPA_SCOPE_REQUEST || label->index < 0)
		return label->name ? vpa_ex_string(x, label->name) : vpa_ex_name(x, range->name);
	snprintf(text, sizeof(text), "%s %lld", vpa_scope_kind_name(label->kind),
		(long long)label->index);
	return vpa_ex_string(x, text);
}

static const struct {
	uint8_t shown, track, category;
} shown[VPA_SCOPE_KINDS] = {
	[VPA_SCOPE_REQUEST] = {1, EX_TRACK_STAGES, EX_PIPELINE},
	[VPA_SCOPE_STAGE] = {1, EX_TRACK_STAGES, EX_PIPELINE},
	[VPA_SCOPE_BLOCK] = {1, EX_TRACK_BLOCKS, EX_BLOCK},
	[VPA_SCOPE_STEP] = {1, EX_TRACK_STEPS, EX_STEP},
	[VPA_SCOPE_CONTEXT] = {1, EX_TRACK_STEPS, EX_STEP},
	[VPA_SCOPE_ITERATION] = {1, EX_TRACK_STAGES, EX_PIPELINE},
};

int vpa_ex_tracks_range(struct vpa_ex_out *x, const struct vpa_range *range)
{
	const struct vpa_projection *p = &range->gpu;
	struct vpa_scope_label label;
	struct vpt_text recorded;
	uint64_t attention;

	if (p->device == VPA_NONE || !p->ops)
		return x->pf.failed;
	if (!shown[vpa_pipeline_kind(range)].shown)
		return x->pf.failed;
	label = label_of(x, range);
	attention = label.kind == VPA_SCOPE_BLOCK ? take_attention(x, range) : 0;
	for (; p; p = p->next) {
		struct vpa_ex_event e = {.time_ns = p->first_ns,
			.name = span_name(x, range, &label),
			.category = shown[label.kind].category};
		int64_t block = index_around(x, range, VPA_SCOPE_BLOCK);

		if (p->device == VPA_NONE || p->last_ns <= p->first_ns)
			continue;
		vpa_ex_add_arg(&e, EX_ARG_OPS, EX_UINT, p->ops);
		vpa_ex_add_double(&e, EX_ARG_BUSY,
			100.0 * (double)p->busy_ns / (double)(p->last_ns - p->first_ns));
		recorded = vpa_range_name(x->model, range);
		vpa_ex_add_text(&e, EX_ARG_NVTX, vpa_ex_text(x, recorded.text, recorded.len));
		if (label.kind == VPA_SCOPE_BLOCK) {
			vpa_ex_add_arg(&e, EX_ARG_BLOCK, EX_INT, (uint64_t)label.index);
			vpa_ex_add_arg(&e, EX_ARG_ATTENTION_NS, EX_UINT, attention);
		} else if (label.index >= 0 && e.category == EX_STEP) {
			vpa_ex_add_arg(&e, EX_ARG_STEP, EX_INT, (uint64_t)label.index);
		}
		if (block >= 0)
			vpa_ex_add_arg(&e, EX_ARG_BLOCK, EX_INT, (uint64_t)block);
		vpa_ex_tracks_put(x, p->device, (enum vpa_ex_gpu_track)shown[label.kind].track, &e,
			p->last_ns);
	}
	return x->pf.failed;
}

/* ---- attention ---- */

static void add_to_block(struct vpa_ex_out *x, const struct vpa_range *range, uint64_t ns)
{
	struct vpa_ex_tracks *t = x->tracks;
	struct open_block *unused = NULL;
	size_t i;

	for (i = 0; i < BLOCKS_OPEN_MAX; i++) {
		if (t->blocks[i].range == range) {
			vpt_sat_add_to(&t->blocks[i].attention_ns, ns);
			return;
		}
		if (!t->blocks[i].range && !unused)
			unused = &t->blocks[i];
	}
	if (unused)
		*unused = (struct open_block){range, ns};
}

static void put_attention(struct vpa_ex_out *x, const struct vpa_ops *ops, size_t i)
{
	const struct vpa_kernel *k = &x->model->kernels[ops->kernel[i]];
	size_t stretches = 0;
	const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &stretches);
	const struct vpa_range *range = vpa_inner_range(stretch->range, stretch->process_range);
	struct vpa_ex_event e = {.time_ns = ops->start_ns[i],
		.name = vpa_ex_short_name(x, ops->kernel[i]),
		.category = EX_ATTENTION};
	int64_t block = -1, step = -1;

	for (; range; range = vpa_range_around(range, ops->launch_start_ns[i])) {
		enum vpa_scope_kind kind = vpa_pipeline_kind(range);

		if (kind == VPA_SCOPE_BLOCK) {
			block = block < 0 ? label_of(x, range).index : block;
			add_to_block(x, range, ops->end_ns[i] - ops->start_ns[i]);
		} else if (kind == VPA_SCOPE_STEP && step < 0) {
			step = label_of(x, range).index;
		}
	}
	if (k->klass.backend && k->klass.backend != x->tracks->backend) {
		x->tracks->backend = k->klass.backend;
		x->tracks->backend_text = vpa_ex_string(x, vpa_backend_name(k->klass.backend));
	}
	if (k->klass.backend)
		vpa_ex_add_text(&e, EX_ARG_IMPL, x->tracks->backend_text);
	if (block >= 0)
		vpa_ex_add_arg(&e, EX_ARG_BLOCK, EX_INT, (uint64_t)block);
	if (step >= 0)
		vpa_ex_add_arg(&e, EX_ARG_STEP, EX_INT, (uint64_t)step);
	vpa_ex_tracks_put(x, ops->device[i], EX_TRACK_ATTENTION, &e, ops->end_ns[i]);
}

int vpa_ex_tracks_ops(struct vpa_ex_out *x, const struct vpa_ops *ops)
{
	struct vpa_ex_expected *n = &x->expected;
	size_t i;

	for (i = 0; i < ops->count; i++) {
		uint64_t start = ops->start_ns[i], end = ops->end_ns[i];

		n->kernels += ops->kind[i] == VPA_KERNEL;
		n->memcpys += ops->kind[i] == VPA_MEMCPY;
		n->memsets += ops->kind[i] == VPA_MEMSET;
		vpt_sat_add_to(&n->kernel_ns,
			ops->kind[i] == VPA_KERNEL ? vpa_ex_length(x, start, end) : 0);
		n->first_gpu_ns = start < n->first_gpu_ns ? start : n->first_gpu_ns;
		n->last_gpu_end_ns = end > n->last_gpu_end_ns ? end : n->last_gpu_end_ns;
		n->submissions +=
			ops->launch[i] && vpa_in_window(x->model, ops->launch_start_ns[i]);
		if (ops->kind[i] == VPA_KERNEL && x->model->kernels[ops->kernel[i]].is_attention)
			put_attention(x, ops, i);
	}
	return x->pf.failed;
}
