/* export.c - a trace in Perfetto's format: what its parts share, and the pass that drives them.
 *
 * The export is a tap of the one pass (tap.h). Ops, calls and ranges are written from the chunks' own rows, in
 * full detail; what they mean comes from the resolver. Left out, for want of records or because nobody asked yet:
 * occupancy, counters in Perfetto's own units, state tracks. */
#include "analysis/export_parts.h"

#include "analysis/demangle.h"
#include "formats/memory.h"

#include <string.h>
#include <unistd.h>

enum { GROUP_BYTES = 640 << 10, SHORT_NAME_MAX = 96, SEQUENCE_GPU = 2, SEQUENCE_ANNOTATIONS = 4 };

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
	[EX_ARG_CALL] = "call",
	[EX_ARG_RANGE] = "range",
	[EX_ARG_PREVIOUS] = "prev_kernel",
	[EX_ARG_NEXT] = "next_kernel",
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

static uint32_t intern_text(
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

static uint32_t intern_word(struct vpa_export *x, struct vpt_pf_sequence *s, unsigned table,
	const char *const *words, unsigned word)
{
	int is_new;
	uint32_t iid = vpt_pf_intern(&x->pf, s, table, word, &is_new);

	if (is_new)
		vpt_pf_tell(&x->pf, s, table, iid, words[word], strlen(words[word]));
	return iid;
}

static void put_args(struct vpt_pb *b, const struct vpa_ex_event *e, const uint32_t *names,
	const uint64_t *values)
{
	unsigned i;

	for (i = 0; i < e->arg_count; i++) {
		vpt_pb_begin(b, 4);
		vpt_pb_uint(b, 1, names[i]);
		if (e->args[i].type == EX_DOUBLE) {
			double number;

			memcpy(&number, &values[i], sizeof(number));
			vpt_pb_double(b, EX_DOUBLE, number);
		} else {
			vpt_pb_uint(b, e->args[i].type, values[i]);
		}
		vpt_pb_end(b);
	}
}

static void put_ops(struct vpa_export *x, const struct vpa_ex_event *e)
{
	enum { GPU_CORRELATION = 3000, GPU_API = 3001, CUDA = 4 };
	struct vpt_pb *b = &x->pf.out;
	size_t i;

	if (!e->op_count)
		return;
	vpt_pb_begin(b, GPU_CORRELATION);
	for (i = 0; i < e->op_count; i++)
		vpt_pb_uint(b, 1, vpa_ex_op_id(x, e->ops[i]));
	vpt_pb_end(b);
	vpt_pb_uint(b, GPU_API, CUDA);
}

void vpa_ex_event(struct vpa_export *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e)
{
	uint32_t category = 0, name = 0, names[EX_ARGS_MAX];
	uint64_t values[EX_ARGS_MAX];
	struct vpt_pb *b = &x->pf.out;
	unsigned i;

	if (e->type == VPT_PF_SLICE_BEGIN || e->type == VPT_PF_INSTANT) {
		category = intern_word(x, s, VPT_PF_CATEGORIES, categories, e->category);
		name = intern_text(x, s, VPT_PF_NAMES, e->name);
	}
	for (i = 0; i < e->arg_count; i++) {
		const struct vpa_ex_arg *a = &e->args[i];

		names[i] = intern_word(x, s, VPT_PF_ARG_NAMES, arg_names, a->name);
		values[i] = a->type == EX_TEXT ? intern_text(x, s, VPT_PF_TEXTS, (uint32_t)a->value)
					       : a->value;
	}
	vpt_pf_begin(&x->pf, s, e->time_ns + x->shift_ns);
	vpt_pb_begin(b, VPT_PF_TRACK_EVENT);
	vpt_pb_uint(b, 9, e->type);
	if (e->track)
		vpt_pb_uint(b, 11, e->track);
	if (category) {
		vpt_pb_uint(b, 3, category);
		vpt_pb_uint(b, 10, name);
	}
	put_args(b, e, names, values);
	put_ops(x, e);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

/* ---- the pass ---- */

static int take_group(void *ctx, const void *data, size_t size)
{
	struct vpa_export *x = ctx;

	return vpa_groups_put(x->groups, data, size, &x->err);
}

static int begin_tap(void *ctx, const struct vpa_tap_view *view)
{
	struct vpa_export *x = ctx;

	x->view = *view;
	x->model = view->context->model;
	if (vpa_ex_ops_new(x) || vpa_ex_host_new(x) || vpa_ex_tracks_new(x))
		return VPT_ENOMEM;
	vpa_ex_string(x, ""); /* the first text is number 0 */
	return x->pf.failed;
}

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

/* Where sequences begin: nothing is earlier, but for what a damaged file claims. */
static uint64_t earliest(const struct vpa_export *x)
{
	uint64_t t = vpt_trace_times_from(x->trace, 0), window = x->model->window_start_ns;

	return t < window || !window ? (t == UINT64_MAX ? 0 : t) : window;
}

/* The first packets: when there is something to say, that is with the first chunk. */
static void begin_file(struct vpa_export *x)
{
	struct vpt_clock clock;
	uint64_t realtime = x->view.report->unix_offset_ns;
	struct vpt_pf_clocks clocks;

	if (x->begun)
		return;
	clock = choose_clock(x->trace);
	if (clock.boottime_ns)
		x->shift_ns = clock.boottime_ns - clock.trace_ns;
	x->start_ns = earliest(x);
	clocks.boottime_ns = x->start_ns + x->shift_ns;
	clocks.monotonic_ns = 0;
	if (clock.monotonic_ns)
		clocks.monotonic_ns = x->start_ns + clock.monotonic_ns - clock.trace_ns;
	clocks.realtime_ns = realtime ? x->start_ns + realtime : 0;
	vpt_pf_clocks(&x->pf, &x->meta, &clocks);
	vpa_ex_meta_begin(x);
	vpt_pf_sequence(&x->pf, &x->gpu, SEQUENCE_GPU, x->start_ns + x->shift_ns, 0);
	x->begun = 1;
}

struct vpt_pf_sequence *vpa_ex_annotations(struct vpa_export *x)
{
	if (!x->has_annotations)
		vpt_pf_sequence(&x->pf, &x->annotations, SEQUENCE_ANNOTATIONS,
			x->start_ns + x->shift_ns, 0);
	x->has_annotations = 1;
	return &x->annotations;
}

static int tap_chunk(void *ctx, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct vpa_export *x = ctx;
	size_t i;
	int rc;

	if (x->options->stop && x->options->stop())
		return vpt_fail(&x->err, VPT_EIO, "interrupted");
	begin_file(x);
	rc = vpa_ex_ops_lanes(x, b);
	if (!rc)
		rc = vpa_ex_host_add(x, b);
	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_KERNEL || s->kind == VPT_COPY)
			rc = vpa_ex_ops_add(x, b, s);
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

static int tap_ops(void *ctx, const struct vpa_ops *ops)
{
	struct vpa_export *x = ctx;

	begin_file(x);
	return vpa_ex_tracks_ops(x, ops);
}

static int tap_gap(void *ctx, const struct vpa_gap *gap)
{
	struct vpa_export *x = ctx;

	begin_file(x);
	return vpa_ex_tracks_gap(x, gap);
}

static int tap_range(void *ctx, const struct vpa_range *range)
{
	struct vpa_export *x = ctx;

	begin_file(x);
	return vpa_ex_tracks_range(x, range);
}

static int tap_end(void *ctx)
{
	struct vpa_export *x = ctx;
	int rc;

	begin_file(x);
	rc = vpa_ex_ops_release(x, UINT64_MAX);
	if (!rc)
		rc = vpa_ex_host_end(x);
	if (rc)
		return rc;
	vpa_ex_tracks_end(x);
	vpa_ex_meta_end(x);
	if (vpt_pf_finish(&x->pf))
		return x->pf.failed;
	return vpa_groups_flush(x->groups, &x->err);
}

static void free_export(struct vpa_export *x)
{
	vpa_ex_ops_free(x);
	vpa_ex_host_free(x);
	vpa_ex_tracks_free(x);
	vpa_ex_counters_free(x);
	vpt_pf_sequence_free(&x->meta);
	vpt_pf_sequence_free(&x->gpu);
	vpt_pf_sequence_free(&x->annotations);
	vpt_pf_sequence_free(&x->counters);
	vpt_pf_free(&x->pf);
	vpa_groups_free(x->groups);
	vpt_strings_free(&x->texts);
	vpt_free(x->text_of_name);
	vpt_free(x->short_names);
	vpa_arena_free(&x->arena);
	vpa_index_free(&x->pids);
	vpt_free(x);
}

static unsigned usual_jobs(void)
{
	enum { JOBS_USUAL_MAX = 4 };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores < 1 ? 1 : cores > JOBS_USUAL_MAX ? JOBS_USUAL_MAX : (unsigned)cores;
}

static void tell_totals(
	const struct vpa_export *x, const struct vpa_report *r, struct vpa_export_totals *t)
{
	*t = (struct vpa_export_totals){.kernels = x->expected.kernels,
		.copies = x->expected.memcpys + x->expected.memsets,
		.calls = x->expected.api_calls,
		.ranges = x->expected.nvtx_ranges + x->expected.cpu_ops,
		.gaps = x->expected.gaps,
		.packets = x->pf.packets,
		.raw_bytes = x->pf.bytes,
		.complete = r->verdict.complete};
}

int vpa_export_perfetto(const struct vpt_trace *trace, const char *path,
	const struct vpa_options *analysis, const struct vpa_export_options *options,
	struct vpt_sink *sink, struct vpa_export_totals *totals, struct vpt_err *err)
{
	struct vpa_export *x = vpt_calloc(1, sizeof(*x));
	struct vpa_options pass = *analysis;
	struct vpa_report *report = NULL;
	uint64_t before = sink->written_bytes;
	int rc;

	*totals = (struct vpa_export_totals){0};
	if (!x)
		return vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	x->options = options;
	x->trace = trace;
	x->expected.first_gpu_ns = UINT64_MAX;
	vpt_pf_init(&x->pf, GROUP_BYTES, take_group, x);
	x->tap = (struct vpa_tap){
		x, begin_tap, tap_chunk, tap_ops, tap_gap, tap_range, tap_end, options->min_gap_ns};
	pass.tap = &x->tap;
	rc = vpa_groups_start(sink, options->container, options->level,
		options->jobs ? options->jobs : usual_jobs(), &x->groups, err);
	if (!rc)
		rc = vpa_analyze(trace, path, &pass, &report, err);
	/* What the pass knows of a failure of ours is only that there was one. */
	if (rc && x->err.code && err)
		*err = x->err;
	if (rc && x->err.code)
		rc = x->err.code;
	if (!rc) {
		tell_totals(x, report, totals);
		totals->bytes = sink->written_bytes - before;
	}
	vpa_report_free(report);
	free_export(x);
	return rc;
}
