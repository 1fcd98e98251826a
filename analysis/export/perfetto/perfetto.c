/* perfetto.c - a trace in Perfetto's format: what its parts share, and the pass that drives them.
 *
 * The export is a tap of the one pass (tap.h). Ops, calls and ranges are written from the chunks' own rows, in
 * full detail; what they mean comes from the resolver. Left out for want of records: how a multiprocessor's cache was split,
 * and barriers, which limit occupancy too. */
#include "analysis/export/perfetto/parts.h"

#include "analysis/demangle.h"
#include "analysis/export/perfetto/ranks.h"
#include "formats/memory.h"

#include <string.h>

enum {
	GROUP_BYTES = 640 << 10,
	RESTART_BYTES = 64 << 20,
	SHORT_NAME_MAX = 96,
	SEQUENCE_GPU = 2,
	SEQUENCE_ANNOTATIONS = 4
};

/* Fields of a track event. */
enum {
	CATEGORY = 3,
	ARGUMENT = 4,
	TYPE = 9,
	NAME = 10,
	TRACK = 11,
	FLOWS = 47,
	GPU_CORRELATION = 3000,
	GPU_API = 3001,
	API_CUDA = 4
};

static const char *const arg_names[EX_ARGS] = {
	[EX_ARG_CORRELATION] = "correlation",
	[EX_ARG_RETURN_CODE] = "return_code",
	[EX_ARG_DOMAIN] = "domain",
	[EX_ARG_PAYLOAD] = "payload",
	[EX_ARG_COLOR] = "color",
	[EX_ARG_NVTX_CATEGORY] = "nvtx_category",
	[EX_ARG_OPS] = "ops",
	[EX_ARG_BUSY] = "gpu_busy_pct",
	[EX_ARG_NVTX] = "nvtx",
	[EX_ARG_STAGE] = "stage",
	[EX_ARG_STEP] = "step",
	[EX_ARG_BLOCK] = "block",
	[EX_ARG_ATTENTION_NS] = "attention_ns",
	[EX_ARG_IMPL] = "impl",
	[EX_ARG_ID] = "id",
	[EX_ARG_GPU] = "gpu",
	[EX_ARG_CAUSE] = "cause",
	[EX_ARG_CAUSE_NS] = "cause_ns",
	[EX_ARG_THEN] = "then",
	[EX_ARG_THEN_NS] = "then_ns",
	[EX_ARG_CALL] = "call",
	[EX_ARG_RANGE] = "range",
	[EX_ARG_PREVIOUS] = "prev_kernel",
	[EX_ARG_NEXT] = "next_kernel",
	[EX_ARG_DEVICE] = "device",
	[EX_ARG_STREAM] = "stream",
	[EX_ARG_GRID] = "grid_size",
	[EX_ARG_WORKGROUP] = "workgroup_size",
	[EX_ARG_REGISTERS] = "registers_per_thread",
	[EX_ARG_STATIC] = "shared_mem_static",
	[EX_ARG_DYNAMIC] = "shared_mem_dynamic",
	[EX_ARG_NODE] = "graph_node_id",
	[EX_ARG_BYTES] = "bytes",
};

static const char *const categories[EX_CATEGORIES] = {
	[EX_CUDA_API] = "cuda_api",
	[EX_NVTX] = "nvtx",
	[EX_CPU_OP] = "cpu_op",
	[EX_PIPELINE] = "pipeline",
	[EX_STEP] = "step",
	[EX_BLOCK] = "block",
	[EX_ATTENTION] = "attention",
	[EX_IDLE] = "idle",
	[EX_COUNTER] = "counter",
	[EX_KERNEL] = "kernel",
	[EX_MEMCPY] = "memcpy",
	[EX_MEMSET] = "memset",
};

/* ---- names ---- */

uint32_t vpa_ex_text(struct vpa_export *x, const char *text, size_t len)
{
	uint64_t id = vpt_strings_put(&x->texts, text, len);

	if (id > UINT32_MAX) {
		x->pf.failed = VPT_ENOMEM;
		return 0;
	}
	return (uint32_t)id;
}

uint32_t vpa_ex_string(struct vpa_export *x, const char *text)
{
	return vpa_ex_text(x, text, strlen(text));
}

/* Makes *array hold the element `index`, new ones being 0. */
static int grow_zeroed(struct vpa_export *x, uint32_t **array, size_t *cap, uint32_t index)
{
	size_t before = *cap;

	if (index < before)
		return VPT_OK;
	if (vpt_grow(array, cap, (size_t)index + 1, sizeof(**array)))
		return x->pf.failed = VPT_ENOMEM;
	memset(*array + before, 0, (*cap - before) * sizeof(**array));
	return VPT_OK;
}

uint32_t vpa_ex_name(struct vpa_export *x, uint32_t model_name)
{
	struct vpt_text t;

	if (grow_zeroed(x, &x->text_of_name, &x->text_of_name_cap, model_name))
		return 0;
	if (!x->text_of_name[model_name]) {
		t = vpa_name(x->model, model_name);
		x->text_of_name[model_name] = 1 + vpa_ex_text(x, t.text, t.len);
	}
	return x->text_of_name[model_name] - 1;
}

/* "void ns::gemm<float, 4>(float *)" becomes "ns::gemm". What does not look like that stays as it is. */
static size_t shorten(const char *name, char *out, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = 0, begin = 0, depth = 0;
	const char *p = name;

	for (; *p && n + 1 < size; p++) {
		if (!depth && !strncmp(p, anonymous, sizeof(anonymous) - 1)) {
			p += sizeof(anonymous) - 2;
			if (p[1] == ':' && p[2] == ':')
				p += 2;
		} else if (*p == '<') {
			depth++;
		} else if (*p == '>' && depth) {
			depth--;
		} else if (*p == '(' && !depth) {
			break;
		} else if (!depth) {
			if (*p == ' ')
				begin = n + 1;
			out[n++] = *p;
		}
	}
	/* Only a signature begins with a type. */
	if (*p != '(')
		begin = 0;
	if (begin >= n || depth) {
		n = strlen(name) < size ? strlen(name) : size - 1;
		memcpy(out, name, n);
		begin = 0;
	}
	memmove(out, out + begin, n - begin);
	return n - begin;
}

uint32_t vpa_ex_short_name(struct vpa_export *x, uint32_t kernel)
{
	char text[SHORT_NAME_MAX + 1];
	struct vpt_text t;
	char *name;

	if (grow_zeroed(x, &x->short_names, &x->short_name_cap, kernel))
		return 0;
	if (x->short_names[kernel])
		return x->short_names[kernel] - 1;
	t = vpa_name(x->model, x->model->kernels[kernel].name);
	name = vpt_strndup(t.text, t.len);
	if (!name) {
		x->pf.failed = VPT_ENOMEM;
		return 0;
	}
	x->short_names[kernel] =
		1 +
		vpa_ex_text(x, text, shorten(vpa_demangle(&x->arena, name), text, sizeof(text)));
	vpt_free(name);
	return x->short_names[kernel] - 1;
}

uint64_t vpa_ex_uuid(const struct vpa_export *x, const char *path)
{
	return vpt_pf_hash(x->identity, path, strlen(path)) | 1;
}

int64_t vpa_ex_pid(const struct vpa_export *x, int64_t pid)
{
	return pid > 0 ? pid : x->pid;
}

/* ---- track events ---- */

void vpa_ex_add_arg(struct vpa_ex_event *e, enum vpa_ex_arg_name name, enum vpa_ex_arg_type type,
	uint64_t value)
{
	if (e->arg_count < EX_ARGS_MAX)
		e->args[e->arg_count++] = (struct vpa_ex_arg){(uint8_t)name, (uint8_t)type, value};
}

uint32_t vpa_ex_text_iid(
	struct vpa_export *x, struct vpt_pf_sequence *s, unsigned table, uint32_t text)
{
	int is_new;
	uint32_t iid = vpt_pf_intern(&x->pf, s, table, text, &is_new);

	if (is_new) {
		struct vpt_text t = vpt_strings_get(&x->texts, text);

		vpt_pf_tell(&x->pf, s, table, iid, t.text, t.len);
	}
	return iid;
}

/* Categories and names of arguments are told with a sequence's begin: their numbers are those of the enums, from 1. */
static void tell_words(struct vpt_pb *b, unsigned table, const char *const *words, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		vpt_pb_begin(b, table);
		vpt_pb_uint(b, 1, i + 1);
		vpt_pb_string(b, 2, words[i]);
		vpt_pb_end(b);
	}
}

void vpa_ex_tell_tables(struct vpa_export *x, struct vpt_pf_sequence *s)
{
	struct vpt_pb *b = &x->pf.out;

	s->tables = x->pf.generation;
	vpt_pf_begin_timeless(&x->pf, s);
	vpt_pb_begin(b, VPT_PF_INTERNED);
	tell_words(b, VPT_PF_CATEGORIES, categories, EX_CATEGORIES);
	tell_words(b, VPT_PF_ARG_NAMES, arg_names, EX_ARGS);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

static uint8_t *arg_at(uint8_t *to, const struct vpa_ex_arg *a, uint64_t value)
{
	uint8_t *content;

	*to++ = ARGUMENT << 3 | 2;
	content = ++to;
	to = vpt_pb_uint_at(to, 1, a->name + 1u);
	if (a->type == EX_DOUBLE)
		to = vpt_pb_fixed_at(to, EX_DOUBLE, value);
	else
		to = vpt_pb_uint_at(to, a->type, value);
	content[-1] = (uint8_t)(to - content);
	return to;
}

static uint8_t *ops_at(struct vpa_export *x, uint8_t *to, const struct vpa_ex_event *e)
{
	uint8_t *content;
	size_t i;

	for (i = 0; i < e->op_count && x->options->gpu_as_slices; i++)
		to = vpt_pb_fixed_at(to, FLOWS, vpa_ex_op_id(x, e->ops[i]));
	if (x->options->gpu_as_slices)
		return to;
	to = vpt_pb_uint_at(to, GPU_API, API_CUDA);
	to = vpt_pb_varint_at(to, GPU_CORRELATION << 3 | 2);
	content = ++to;
	for (i = 0; i < e->op_count; i++)
		to = vpt_pb_uint_at(to, 1, vpa_ex_op_id(x, e->ops[i]));
	for (i = 0; i < e->wait_count; i++)
		to = vpt_pb_uint_at(to, 2, vpa_ex_op_id(x, e->waits[i]));
	return vpt_pb_close_at(content, to);
}

/* A call that launched so many ops that its packet is longer than can be written by hand. */
static void put_long(struct vpa_export *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e,
	uint32_t name, const uint8_t *rest, size_t size)
{
	struct vpt_pb *b = &x->pf.out;
	size_t i;

	vpt_pf_begin(&x->pf, s, e->time_ns + x->shift_ns);
	vpt_pb_begin(b, VPT_PF_TRACK_EVENT);
	vpt_pb_uint(b, TYPE, e->type);
	if (e->track)
		vpt_pb_uint(b, TRACK, e->track);
	vpt_pb_uint(b, CATEGORY, e->category + 1u);
	vpt_pb_uint(b, NAME, name);
	vpt_pb_raw(b, rest, size);
	for (i = 0; i < e->op_count && x->options->gpu_as_slices; i++) {
		uint8_t flow[16];

		vpt_pb_raw(b, flow,
			(size_t)(vpt_pb_fixed_at(flow, FLOWS, vpa_ex_op_id(x, e->ops[i])) - flow));
	}
	if (!x->options->gpu_as_slices) {
		vpt_pb_begin(b, GPU_CORRELATION);
		for (i = 0; i < e->op_count; i++)
			vpt_pb_uint(b, 1, vpa_ex_op_id(x, e->ops[i]));
		vpt_pb_end(b);
		vpt_pb_uint(b, GPU_API, API_CUDA);
	}
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

void vpa_ex_event(struct vpa_export *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e)
{
	enum { ARG_MOST = 24, BY_HAND_MAX = 256, REST = 64 };
	uint8_t args[EX_ARGS_MAX * ARG_MOST], *end = args, *to, *content;
	int has_name = e->type == VPT_PF_SLICE_BEGIN || e->type == VPT_PF_INSTANT;
	uint32_t name = 0;
	unsigned i;

	vpt_pf_next(&x->pf);
	vpa_ex_tables(x, s);
	if (has_name)
		name = vpa_ex_text_iid(x, s, VPT_PF_NAMES, e->name);
	for (i = 0; i < e->arg_count; i++) {
		const struct vpa_ex_arg *a = &e->args[i];

		end = arg_at(end, a,
			a->type == EX_TEXT ? vpa_ex_text_iid(x, s, VPT_PF_TEXTS, (uint32_t)a->value)
					   : a->value);
	}
	if (e->op_count > BY_HAND_MAX) {
		put_long(x, s, e, name, args, (size_t)(end - args));
		return;
	}
	vpt_pf_resume(&x->pf, s);
	to = vpt_pf_packet_at(
		&x->pf, sizeof(args) + REST + (e->op_count + e->wait_count) * (VPT_PB_VARINT + 1));
	if (!to)
		return;
	*to++ = VPT_PF_TRACK_EVENT << 3 | 2;
	content = ++to;
	to = vpt_pb_uint_at(to, TYPE, e->type);
	if (e->track)
		to = vpt_pb_uint_at(to, TRACK, e->track);
	if (has_name) {
		to = vpt_pb_uint_at(to, CATEGORY, e->category + 1u);
		to = vpt_pb_uint_at(to, NAME, name);
	}
	memcpy(to, args, (size_t)(end - args));
	to += end - args;
	if (e->op_count || e->wait_count)
		to = ops_at(x, to, e);
	to = vpt_pb_close_at(content, to);
	vpt_pf_packet_end(&x->pf, vpt_pf_padded_time_at(s, to, e->time_ns + x->shift_ns));
}

/* ---- clocks ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void read_clock(struct vpa_export *x, const struct vpt_section *s)
{
	uint32_t row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t boot = s->col[VPT_CLOCK_BOOTTIME][row];

		if (boot)
			x->residual_ns = distance(boot, s->col[VPT_CLOCK_TRACE][row] + x->shift_ns);
	}
}

/* The first clock row of a chunk that knows CLOCK_BOOTTIME. Returns whether there is one. */
static int find_clock(const struct vpt_batch *b, struct vpt_clock *out)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_CLOCK);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++) {
		*out = (struct vpt_clock){.trace_ns = s->col[VPT_CLOCK_TRACE][row],
			.realtime_ns = s->col[VPT_CLOCK_REALTIME][row],
			.monotonic_ns = s->col[VPT_CLOCK_MONOTONIC][row],
			.boottime_ns = s->col[VPT_CLOCK_BOOTTIME][row]};
		if (out->boottime_ns)
			return 1;
	}
	return 0;
}

/* One moment on several clocks, to tell all times by: the capture's first, else its end. A trace that has none keeps
 * its own time. */
static struct vpt_clock choose_clock(const struct vpt_trace *trace)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	size_t count = vpt_trace_chunks(trace);
	struct vpt_clock clock = {0};
	struct vpt_batch batch;

	vpt_batch_init(&batch);
	if (decoder && count && vpt_trace_reader(trace)) {
		int found = !vpt_trace_chunk(trace, decoder, 0, &batch, NULL) &&
			    find_clock(&batch, &clock);

		if (!found && count > 1 &&
			!vpt_trace_chunk(trace, decoder, count - 1, &batch, NULL))
			find_clock(&batch, &clock);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return clock;
}

struct vpt_pf_sequence *vpa_ex_annotations(struct vpa_export *x)
{
	if (!x->has_annotations)
		vpt_pf_sequence(&x->pf, &x->annotations, SEQUENCE_ANNOTATIONS,
			x->start_ns + x->shift_ns, 0);
	x->has_annotations = 1;
	return &x->annotations;
}

/* ---- the pass ---- */

static int take_group(void *ctx, const void *data, size_t size)
{
	const struct vpa_export_context *c = ((struct vpa_export *)ctx)->c;

	return vpa_groups_put(c->groups, data, size, c->err);
}

/* Where sequences begin: nothing is earlier, but for what a damaged file claims. */
static uint64_t earliest(const struct vpa_export *x)
{
	uint64_t t = vpt_trace_times_from(x->trace, 0), window = x->model->window_start_ns;

	return t < window || !window ? (t == UINT64_MAX ? 0 : t) : window;
}

/* The first packets. */
static void begin_file(struct vpa_export *x)
{
	const struct vpa_report *r = x->view.report;
	struct vpt_pf_clocks clocks;
	struct vpt_clock clock = choose_clock(x->trace);

	if (clock.boottime_ns)
		x->shift_ns = clock.boottime_ns - clock.trace_ns;
	x->start_ns = earliest(x);
	clocks.boottime_ns = x->start_ns + x->shift_ns;
	clocks.monotonic_ns = 0;
	if (clock.monotonic_ns)
		clocks.monotonic_ns = x->start_ns + clock.monotonic_ns - clock.trace_ns;
	clocks.realtime_ns = r->has_realtime ? x->start_ns + r->unix_offset_ns : 0;
	vpt_pf_clocks(&x->pf, &x->meta, &clocks);
	vpa_ex_meta_begin(x);
	vpt_pf_sequence(&x->pf, &x->gpu, SEQUENCE_GPU, x->start_ns + x->shift_ns, 0);
}

static int begin(void *state, const struct vpa_export_context *c)
{
	const struct vpa_export_options *o = c->options;
	struct vpa_export *x = state;

	x->c = c;
	x->options = o;
	x->trace = c->trace;
	x->view = c->view;
	x->model = c->view.context->model;
	x->expected.first_gpu_ns = UINT64_MAX;
	vpt_pf_init(&x->pf, o->group_bytes ? o->group_bytes : GROUP_BYTES, take_group, x);
	x->pf.restart_bytes = o->restart_bytes ? o->restart_bytes : RESTART_BYTES;
	x->pf.restart_at = x->pf.restart_bytes;
	if (vpa_ex_ops_new(x) || vpa_ex_host_new(x) || vpa_ex_tracks_new(x))
		return VPT_ENOMEM;
	vpa_ex_string(x, ""); /* the first text is number 0 */
	if (!x->pf.failed)
		begin_file(x);
	return x->pf.failed;
}

static int take_chunk(void *state, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct vpa_export *x = state;
	size_t i;
	int rc = vpa_ex_ops_lanes(x, b);

	if (!rc)
		rc = vpa_ex_host_add(x, b);
	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_KERNEL || s->kind == VPT_COPY)
			rc = vpa_ex_ops_add(x, b, s);
		else if (s->kind == VPT_EVENT || s->kind == VPT_SYNC)
			rc = vpa_ex_ops_syncs(x, s);
		else if (s->kind == VPT_CLOCK)
			read_clock(x, s);
	}
	if (!rc)
		rc = vpa_ex_counters_add(x, b);
	if (!rc)
		rc = vpa_ex_ops_release(x, times_from_ns);
	if (!rc)
		rc = vpa_ex_host_release(x, times_from_ns);
	return rc ? rc : x->pf.failed;
}

static int take_ops(void *state, const struct vpa_ops *ops)
{
	return vpa_ex_tracks_ops(state, ops);
}

static int take_gap(void *state, const struct vpa_gap *gap)
{
	return vpa_ex_tracks_gap(state, gap);
}

static int take_range(void *state, const struct vpa_range *range)
{
	return vpa_ex_tracks_range(state, range);
}

static void sum_up(const struct vpa_export *x, struct vpa_export_totals *t)
{
	t->kernels = x->expected.kernels;
	t->copies = x->expected.memcpys + x->expected.memsets;
	t->calls = x->expected.api_calls;
	t->ranges = x->expected.nvtx_ranges + x->expected.cpu_ops;
	t->gaps = x->expected.gaps;
	t->packets = x->pf.packets;
	t->raw_bytes = x->pf.bytes;
}

static int end(void *state)
{
	struct vpa_export *x = state;
	int rc = vpa_ex_ops_release(x, UINT64_MAX);

	if (!rc)
		rc = vpa_ex_host_end(x);
	if (!rc)
		rc = vpa_ex_counters_end(x);
	if (rc)
		return rc;
	vpa_ex_tracks_end(x);
	vpa_ex_meta_end(x);
	rc = vpt_pf_finish(&x->pf);
	sum_up(x, x->c->totals);
	return rc;
}

static void free_state(void *state)
{
	struct vpa_export *x = state;

	vpa_ex_ops_free(x);
	vpa_ex_host_free(x);
	vpa_ex_tracks_free(x);
	vpa_ex_counters_free(x);
	vpt_pf_sequence_free(&x->meta);
	vpt_pf_sequence_free(&x->gpu);
	vpt_pf_sequence_free(&x->annotations);
	vpt_pf_sequence_free(&x->counters);
	vpt_pf_free(&x->pf);
	vpt_strings_free(&x->texts);
	vpt_free(x->text_of_name);
	vpt_free(x->short_names);
	vpa_arena_free(&x->arena);
	vpa_index_free(&x->pids);
}

const struct vpa_exporter vpa_exporter_perfetto = {
	.name = "perfetto",
	.help = "GPU work with launch parameters and the calls that launched it, NVTX ranges on\n"
		"their threads; and for each GPU a track of stages, denoising steps, video "
		"blocks,\n"
		"attention, and of its idle gaps: by cause, with the report's ids.\n"
		"The traces of several ranks become one archive (-o all.tar), which Perfetto opens "
		"as\n"
		"one from v58 on.",
	.opens = "open it at https://ui.perfetto.dev/#!/"
		 "?enablePlugins=dev.perfetto.GpuByProcess,com.meta.GpuCompute",
	.packings = {{"packets", VPT_CONTAINER_PACKETS, ".pftrace"},
		{"zstd", VPT_CONTAINER_ZSTD, ".pftrace.zst"},
		{"gzip", VPT_CONTAINER_GZIP, ".pftrace.gz"},
		{"none", VPT_CONTAINER_NONE, ".pftrace"}},
	.takes = VPA_TAKES_GPU_ENCODING | VPA_TAKES_MIN_GAP,
	.min_gap_ns = 2000,
	.state_bytes = sizeof(struct vpa_export),
	.begin = begin,
	.chunk = take_chunk,
	.ops = take_ops,
	.gap = take_gap,
	.range = take_range,
	.end = end,
	.free = free_state,
	.archive = vpa_export_ranks,
};
