/* op_fields.c - the fields of an op's event other than its times and number.
 *
 * Nearly all of them are the same for many ops, so they are encoded once per shape. Fields that hardly
 * differ between the launches of a kernel are emitted with the kernel, and cost its events nothing. */
#include "analysis/export/perfetto/op_fields.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/model/gpu_arch.h"
#include "analysis/model/occupancy.h"
#include "analysis/names/demangle.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <string.h>

enum { COMPUTE = 2 }; /* a category of specifications */

/* Names of the arguments of events and kernels, in the order of their numbers, from 1. */
enum {
	ARG_DEVICE,
	ARG_STREAM,
	ARG_GRID,
	ARG_WORKGROUP,
	ARG_DYNAMIC,
	ARG_CLUSTER_X,
	ARG_CLUSTER_Y,
	ARG_CLUSTER_Z,
	ARG_GRAPH,
	ARG_NODE,
	ARG_BYTES,
	ARG_COPY_KIND,
	ARG_SOURCE,
	ARG_TARGET,
	ARG_VALUE,
	ARG_REGISTERS,
	ARG_STATIC,
	ARG_LOCAL,
	ARG_CLASS,
	ARG_ATTENTION,
	ARG_THREADS,
	ARG_WAVES,
	ARG_OCCUPANCY,
	ARG_LIMIT_BLOCKS,
	ARG_LIMIT_REGISTERS,
	ARG_LIMIT_SHARED,
	ARG_LIMIT_WARPS,
	ARG_PROCESS,
	ARG_PROCESS_NAME,
	ARGS
};

static const char *const arg_names[ARGS] = {
	[ARG_DEVICE] = "device",
	[ARG_STREAM] = "stream",
	[ARG_GRID] = "grid_size",
	[ARG_WORKGROUP] = "workgroup_size",
	[ARG_DYNAMIC] = "shared_mem_dynamic",
	[ARG_CLUSTER_X] = "cluster_size_x",
	[ARG_CLUSTER_Y] = "cluster_size_y",
	[ARG_CLUSTER_Z] = "cluster_size_z",
	[ARG_GRAPH] = "graph_id",
	[ARG_NODE] = "graph_node_id",
	[ARG_BYTES] = "bytes",
	[ARG_COPY_KIND] = "copy_kind",
	[ARG_SOURCE] = "src_kind",
	[ARG_TARGET] = "dst_kind",
	[ARG_VALUE] = "value",
	[ARG_REGISTERS] = "registers_per_thread",
	[ARG_STATIC] = "shared_mem_static",
	[ARG_LOCAL] = "local_mem_per_thread",
	[ARG_CLASS] = "kernel_class",
	[ARG_ATTENTION] = "attention_impl",
	[ARG_THREADS] = "thread_count",
	[ARG_WAVES] = "waves_per_multiprocessor",
	[ARG_OCCUPANCY] = "sm__maximum_warps_per_active_cycle_pct",
	[ARG_LIMIT_BLOCKS] = "occupancy_limit_blocks",
	[ARG_LIMIT_REGISTERS] = "occupancy_limit_registers",
	[ARG_LIMIT_SHARED] = "occupancy_limit_shared_mem",
	[ARG_LIMIT_WARPS] = "occupancy_limit_warps",
	[ARG_PROCESS] = "process_id",
	[ARG_PROCESS_NAME] = "process_name",
};

static const struct {
	const char *name, *description;
	unsigned category;
} stages[] = {
	[VPA_KERNEL] = {"Kernel", "kernel", COMPUTE},
	[VPA_MEMCPY] = {"Memcpy", "memcpy", 0},
	[VPA_MEMSET] = {"Memset", "memset", 0},
};

/* A kernel in Perfetto's sense, with all that rarely differs between launches. No padding either. */
struct vpa_ex_variant {
	uint32_t kernel, device, stream, major, minor, registers, static_shared, dynamic_shared,
		local;
	uint32_t block[3], cluster[3];
};

void vpa_ex_forms_free(struct vpa_ex_forms *o)
{
	vpt_free(o->items);
	vpt_pb_free(&o->encoded);
	vpt_strings_free(&o->variants);
	vpt_free(o->grids);
	vpa_index_free(&o->kernels);
	vpt_free(o->kernel_emitted);
}

int vpa_ex_forms_reserve(struct vpa_ex_forms *o, size_t count)
{
	if (vpt_grow_zeroed(&o->items, &o->cap, count, sizeof(*o->items)))
		return VPT_ENOMEM;
	return VPT_OK;
}

void vpa_ex_forms_forget(struct vpa_ex_forms *o)
{
	vpt_pb_reset(&o->encoded);
	memset(o->items, 0, o->cap * sizeof(*o->items));
}

/* ---- emitted once ---- */

static void tell_tables(struct vpa_ex_out *x, struct vpa_ex_forms *o)
{
	struct vpt_pb *b = &x->pf.out;
	unsigned i;

	if (o->tables_emitted == x->pf.generation)
		return;
	o->tables_emitted = x->pf.generation;
	vpa_ex_begin_interned(x, &x->gpu);
	for (i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
		vpt_pb_begin(b, VPT_PF_INTERNED_SPECIFICATIONS);
		vpt_pb_uint(b, VPT_PF_SPECIFICATION_IID, VPA_EX_STAGES + i);
		vpt_pb_string(b, VPT_PF_SPECIFICATION_NAME, stages[i].name);
		vpt_pb_string(b, VPT_PF_SPECIFICATION_DESCRIPTION, stages[i].description);
		vpt_pb_uint(b, VPT_PF_SPECIFICATION_CATEGORY, stages[i].category);
		vpt_pb_end(b);
	}
	for (i = 0; i < ARGS; i++) {
		vpt_pb_begin(b, VPT_PF_INTERNED_KERNEL_ARG_NAMES);
		vpt_pb_uint(b, VPT_PF_NAMED_IID, i + 1);
		vpt_pb_string(b, VPT_PF_NAMED_NAME, arg_names[i]);
		vpt_pb_end(b);
	}
	vpa_ex_end_interned(x);
}

static void put_arg(struct vpt_pb *b, unsigned field, unsigned name, unsigned type, uint64_t value)
{
	vpt_pb_begin(b, field);
	vpt_pb_uint(b, VPT_PF_ARG_NAME, name + 1);
	vpt_pb_uint(b, type, value);
	vpt_pb_end(b);
}

static void put_double_arg(struct vpt_pb *b, unsigned field, unsigned name, double value)
{
	vpt_pb_begin(b, field);
	vpt_pb_uint(b, VPT_PF_ARG_NAME, name + 1);
	vpt_pb_double(b, VPT_PF_ARG_DOUBLE, value);
	vpt_pb_end(b);
}

enum {
	KERNEL_ARGS = VPT_PF_KERNEL_ARGS,
	EVENT_ARGS = VPT_PF_LAUNCH_ARGS,
	ARG_INT = VPT_PF_ARG_INT,
	ARG_UINT = VPT_PF_ARG_UINT,
	ARG_TEXT = VPT_PF_ARG_TEXT
};

static void put_variant_args(struct vpa_ex_out *x, const struct vpa_ex_variant *v)
{
	struct vpt_pb *b = &x->pf.out;
	unsigned i;

	put_arg(b, KERNEL_ARGS, ARG_DEVICE, ARG_INT, (uint64_t)x->model->devices[v->device]);
	put_arg(b, KERNEL_ARGS, ARG_STREAM, ARG_INT, (uint64_t)x->model->streams[v->stream].stream);
	put_arg(b, KERNEL_ARGS, ARG_WORKGROUP, ARG_UINT, vpa_ex_product(v->block));
	put_arg(b, KERNEL_ARGS, ARG_REGISTERS, ARG_UINT, v->registers);
	put_arg(b, KERNEL_ARGS, ARG_STATIC, ARG_UINT, v->static_shared);
	put_arg(b, KERNEL_ARGS, ARG_DYNAMIC, ARG_UINT, v->dynamic_shared);
	put_arg(b, KERNEL_ARGS, ARG_LOCAL, ARG_UINT, v->local);
	for (i = 0; i < 3 && v->cluster[0]; i++)
		put_arg(b, KERNEL_ARGS, ARG_CLUSTER_X + i, ARG_UINT, v->cluster[i]);
}

/* The arguments of a launch of a grid on a GPU. `field`: of the kernel or of the event. */
static void put_grid_args(struct vpt_pb *b, unsigned field, uint64_t grid, const uint32_t *block,
	const struct vpa_gpu *gpu, const struct vpa_occupancy *o)
{
	uint64_t threads;

	put_arg(b, field, ARG_GRID, ARG_UINT, grid);
	if (!__builtin_mul_overflow(grid, vpa_ex_product(block), &threads))
		put_arg(b, field, ARG_THREADS, ARG_UINT, threads);
	if (o->blocks && gpu->sm_count)
		put_double_arg(b, field, ARG_WAVES,
			(double)grid / (double)((uint64_t)o->blocks * gpu->sm_count));
}

static void put_occupancy(struct vpt_pb *b, const struct vpa_occupancy *o)
{
	if (!o->blocks)
		return;
	put_arg(b, KERNEL_ARGS, ARG_LIMIT_BLOCKS, ARG_UINT, o->by_blocks);
	put_arg(b, KERNEL_ARGS, ARG_LIMIT_REGISTERS, ARG_UINT, o->by_registers);
	put_arg(b, KERNEL_ARGS, ARG_LIMIT_SHARED, ARG_UINT, o->by_shared);
	put_arg(b, KERNEL_ARGS, ARG_LIMIT_WARPS, ARG_UINT, o->by_warps);
	put_double_arg(b, KERNEL_ARGS, ARG_OCCUPANCY, o->percent);
}

/* All 0 if unknown. */
static struct vpa_occupancy occupancy_of(
	const struct vpa_gpu *gpu, const uint32_t *block, uint32_t registers, uint64_t shared_bytes)
{
	const struct vpa_block_needs needs = {vpa_ex_product(block), registers, shared_bytes};
	struct vpa_occupancy o = {0};

	if (gpu && !vpa_occupancy(gpu, &needs, &o))
		o = (struct vpa_occupancy){0};
	return o;
}

static int tell_kernel(
	struct vpa_ex_out *x, const struct vpa_ex_variant *v, uint64_t grid, uint32_t iid)
{
	const struct vpa_kernel *k = &x->model->kernels[v->kernel];
	struct vpt_text name = vpa_name(x->model, k->name);
	struct vpt_pb *b = &x->pf.out;
	const struct vpa_gpu *gpu = vpa_ex_gpu_row(x, v->device);
	struct vpa_occupancy o = occupancy_of(
		gpu, v->block, v->registers, (uint64_t)v->static_shared + v->dynamic_shared);
	int64_t pid = vpa_ex_pid(x, x->model->streams[v->stream].pid);
	const char *process = vpa_process_name(x->view.report, pid);
	uint32_t class_iid, backend_iid = 0, process_iid = 0;
	char *mangled = vpt_strndup(name.text, name.len);
	const char *demangled;
	char arch[VPA_ARCH_BYTES];

	if (!mangled)
		return VPT_ENOMEM;
	class_iid = vpa_ex_text_iid(x, &x->gpu, VPT_PF_INTERNED_TEXTS,
		vpa_ex_string(x, vpa_family_name(k->klass.family)));
	if (k->klass.backend)
		backend_iid = vpa_ex_text_iid(x, &x->gpu, VPT_PF_INTERNED_TEXTS,
			vpa_ex_string(x, vpa_backend_name(k->klass.backend)));
	if (process)
		process_iid = vpa_ex_text_iid(
			x, &x->gpu, VPT_PF_INTERNED_TEXTS, vpa_ex_string(x, process));
	vpa_ex_begin_interned(x, &x->gpu);
	vpt_pb_begin(b, VPT_PF_INTERNED_KERNELS);
	vpt_pb_uint(b, VPT_PF_KERNEL_IID, iid);
	vpt_pb_text(b, VPT_PF_KERNEL_NAME, name.text, name.len, VPT_PF_TEXT_MAX);
	demangled = vpa_demangle(&x->arena, mangled);
	vpt_pb_text(b, VPT_PF_KERNEL_DEMANGLED, demangled, strlen(demangled), VPT_PF_TEXT_MAX);
	if (gpu && v->major) {
		vpa_gpu_arch(gpu, arch);
		vpt_pb_string(b, VPT_PF_KERNEL_ARCH, arch);
	}
	put_variant_args(x, v);
	put_occupancy(b, &o);
	if (grid)
		put_grid_args(b, KERNEL_ARGS, grid, v->block, gpu, &o);
	put_arg(b, KERNEL_ARGS, ARG_PROCESS, ARG_INT, (uint64_t)pid);
	if (process_iid)
		put_arg(b, KERNEL_ARGS, ARG_PROCESS_NAME, ARG_TEXT, process_iid);
	put_arg(b, KERNEL_ARGS, ARG_CLASS, ARG_TEXT, class_iid);
	if (backend_iid)
		put_arg(b, KERNEL_ARGS, ARG_ATTENTION, ARG_TEXT, backend_iid);
	vpt_pb_end(b);
	vpa_ex_end_interned(x);
	vpt_free(mangled);
	return VPT_OK;
}

/* What most launches of a kernel have in common. */
static int variant_of(struct vpa_ex_out *x, struct vpa_ex_forms *o, const struct vpa_ex_shape *s,
	uint32_t device, struct vpa_ex_variant *v)
{
	const struct vpa_gpu *gpu = vpa_ex_gpu_row(x, device);
	uint64_t row;

	*v = (struct vpa_ex_variant){.kernel = s->kernel,
		.device = device,
		.stream = s->stream,
		.major = gpu ? gpu->compute_major : 0,
		.minor = gpu ? gpu->compute_minor : 0,
		.registers = s->registers,
		.static_shared = s->static_shared,
		.dynamic_shared = s->dynamic_shared,
		.local = s->local};
	memcpy(v->block, s->block, sizeof(v->block));
	memcpy(v->cluster, s->cluster, sizeof(v->cluster));
	row = vpt_strings_put(&o->variants, (const char *)v, sizeof(*v));
	if (row >= UINT32_MAX - 1 ||
		vpt_grow_zeroed(&o->grids, &o->grid_cap, (size_t)row + 1, sizeof(*o->grids)))
		return -1;
	return (int)row;
}

/* Most kernels have only a few grids, so the first ones are emitted with the kernel. Sets *grid to 0 if
 * the grid is left to the events. */
static int kernel_iid(struct vpa_ex_out *x, struct vpa_ex_forms *o, const struct vpa_ex_shape *s,
	uint32_t device, uint64_t *grid, uint32_t *iid)
{
	enum { GRIDS_MAX = 64 };
	struct vpa_ex_variant v;
	int variant = variant_of(x, o, s, device, &v);
	uint32_t row;

	if (variant < 0)
		return VPT_ENOMEM;
	row = vpa_index_find(&o->kernels, (uint64_t)variant, *grid);
	if (row == UINT32_MAX && *grid && o->grids[variant] < GRIDS_MAX)
		o->grids[variant]++;
	else if (row == UINT32_MAX)
		*grid = 0;
	row = vpa_index_row(&o->kernels, (uint64_t)variant, *grid, &o->kernel_emitted,
		&o->kernel_emitted_cap, sizeof(*o->kernel_emitted));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	*iid = row + 1;
	if (o->kernel_emitted[row] == x->pf.generation)
		return VPT_OK;
	o->kernel_emitted[row] = x->pf.generation;
	return tell_kernel(x, &v, *grid, *iid);
}

/* ---- events ---- */

static void put_dimensions(struct vpt_pb *b, unsigned field, const uint32_t *size)
{
	unsigned i;

	vpt_pb_begin(b, field);
	for (i = 0; i < 3; i++)
		vpt_pb_uint(b, VPT_PF_SIZE_X + i, size[i]);
	vpt_pb_end(b);
}

/* `emitted`: the grid is emitted with the kernel. */
static void put_kernel_args(
	struct vpa_ex_out *x, struct vpt_pb *b, const struct vpa_ex_shape *s, int emitted)
{
	const struct vpa_gpu *gpu = vpa_ex_gpu_row(x, x->model->streams[s->stream].device);
	struct vpa_occupancy o = occupancy_of(
		gpu, s->block, s->registers, (uint64_t)s->static_shared + s->dynamic_shared);

	if (!emitted)
		put_grid_args(b, EVENT_ARGS, vpa_ex_product(s->grid), s->block, gpu, &o);
	if (s->graph)
		put_arg(b, EVENT_ARGS, ARG_GRAPH, ARG_UINT, s->graph);
	if (s->node)
		put_arg(b, EVENT_ARGS, ARG_NODE, ARG_UINT, s->node);
}

static const char *word(enum vpt_unit unit, uint32_t number)
{
	const char *text = vpt_word(unit, number);

	return text ? text : "unknown";
}

uint32_t vpa_ex_copy_name(struct vpa_ex_out *x, const struct vpa_ex_shape *s)
{
	char text[120];

	if (s->kind == VPA_MEMSET)
		snprintf(text, sizeof(text), "Memset (%s)", word(VPT_UNIT_MEMORY_KIND, s->target));
	else
		snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)",
			word(VPT_UNIT_COPY_KIND, s->copy_kind),
			word(VPT_UNIT_MEMORY_KIND, s->source),
			word(VPT_UNIT_MEMORY_KIND, s->target));
	return vpa_ex_string(x, text);
}

/* Numbers of the words in a copy's arguments. */
struct copy_words {
	uint32_t kind, source, target;
};

static struct copy_words words_of(struct vpa_ex_out *x, const struct vpa_ex_shape *s)
{
	struct copy_words w = {0};

	if (s->kind == VPA_MEMCPY) {
		w.kind = vpa_ex_text_iid(x, &x->gpu, VPT_PF_INTERNED_TEXTS,
			vpa_ex_string(x, word(VPT_UNIT_COPY_KIND, s->copy_kind)));
		w.source = vpa_ex_text_iid(x, &x->gpu, VPT_PF_INTERNED_TEXTS,
			vpa_ex_string(x, word(VPT_UNIT_MEMORY_KIND, s->source)));
	}
	if (s->kind != VPA_KERNEL)
		w.target = vpa_ex_text_iid(x, &x->gpu, VPT_PF_INTERNED_TEXTS,
			vpa_ex_string(x, word(VPT_UNIT_MEMORY_KIND, s->target)));
	return w;
}

static void put_copy_args(
	struct vpt_pb *b, const struct vpa_ex_shape *s, const struct copy_words *w)
{
	put_arg(b, EVENT_ARGS, ARG_BYTES, ARG_UINT, s->bytes);
	if (s->kind == VPA_MEMSET) {
		put_arg(b, EVENT_ARGS, ARG_VALUE, ARG_UINT, s->value);
	} else {
		put_arg(b, EVENT_ARGS, ARG_COPY_KIND, ARG_TEXT, w->kind);
		put_arg(b, EVENT_ARGS, ARG_SOURCE, ARG_TEXT, w->source);
	}
	put_arg(b, EVENT_ARGS, ARG_TARGET, ARG_TEXT, w->target);
	if (s->node)
		put_arg(b, EVENT_ARGS, ARG_NODE, ARG_UINT, s->node);
}

static void put_launch(struct vpa_ex_out *x, struct vpt_pb *b, const struct vpa_ex_shape *s,
	int has_grid, const struct copy_words *words)
{
	const struct vpa_stream *stream = &x->model->streams[s->stream];

	vpt_pb_begin(b, VPT_PF_RENDER_LAUNCH);
	if (s->kind == VPA_KERNEL) {
		put_dimensions(b, VPT_PF_LAUNCH_GRID, s->grid);
		put_dimensions(b, VPT_PF_LAUNCH_BLOCK, s->block);
		put_kernel_args(x, b, s, has_grid);
	} else {
		put_arg(b, EVENT_ARGS, ARG_DEVICE, ARG_INT,
			(uint64_t)x->model->devices[stream->device]);
		put_arg(b, EVENT_ARGS, ARG_STREAM, ARG_INT, (uint64_t)stream->stream);
		put_copy_args(b, s, words);
	}
	vpt_pb_end(b);
}

int vpa_ex_form_make(struct vpa_ex_out *x, struct vpa_ex_forms *o, struct vpa_ex_streams *streams,
	const struct vpa_ex_shape *s, uint32_t shape)
{
	struct vpa_ex_form *form = &o->items[shape];
	uint32_t name, kernel = 0, device = x->model->streams[s->stream].device;
	uint64_t grid = vpa_ex_product(s->grid);
	struct vpt_pb *b = &o->encoded;
	const struct vpa_ex_gpu *gpu;
	struct copy_words words;

	/* Nothing encoded for an earlier generation is used any more. */
	if (o->tables_emitted != x->pf.generation)
		vpt_pb_reset(b);
	tell_tables(x, o);
	gpu = vpa_ex_gpu_of(x, device);
	if (!gpu || vpa_ex_stream_describe(x, streams, s->stream) ||
		(s->kind == VPA_KERNEL && kernel_iid(x, o, s, device, &grid, &kernel)))
		return VPT_ENOMEM;
	name = vpa_ex_text_iid(x, &x->gpu, VPT_PF_INTERNED_NAMES,
		s->kind == VPA_KERNEL ? vpa_ex_short_name(x, s->kernel) : vpa_ex_copy_name(x, s));
	words = words_of(x, s);
	form->begin = b->size;
	vpt_pb_uint(b, VPT_PF_RENDER_CONTEXT, streams->items[s->stream].context);
	if (gpu->gpu_id)
		vpt_pb_uint(b, VPT_PF_RENDER_GPU, gpu->gpu_id); /* 0 is the default */
	vpt_pb_uint(b, VPT_PF_RENDER_QUEUE, VPA_EX_QUEUES + s->stream);
	vpt_pb_uint(b, VPT_PF_RENDER_STAGE, VPA_EX_STAGES + s->kind);
	if (kernel)
		vpt_pb_uint(b, VPT_PF_RENDER_KERNEL, kernel);
	vpt_pb_uint(b, VPT_PF_RENDER_NAME, name);
	put_launch(x, b, s, grid != 0, &words);
	form->size = (uint32_t)(b->size - form->begin);
	form->generation = x->pf.generation;
	/* Room so that a fixed length can be copied. */
	return vpt_pb_room(b, VPA_EX_FORM_COPY) ? VPT_OK : VPT_ENOMEM;
}
