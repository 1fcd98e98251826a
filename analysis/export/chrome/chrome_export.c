/* chrome_export.c - a trace as Chrome's JSON, in the form that PyTorch's profiler writes: for chrome://tracing, Perfetto, and the
 * tools that read the profiler's files, such as Holistic Trace Analysis.
 *
 * Events that the profiler has a form for are written in that form. Other columns are added as members
 * of our own, which other tools ignore; vptrace-analyze reads them back, so the report of an export is
 * the report of its input. README.md lists what is lost. This file writes what surrounds the events:
 *
 * {"schemaVersion":1, "vptrace":{..}, "baseTimeNanoseconds":.., "traceEvents":[..], "deviceProperties":[..], .. ,
 *  "vptraceEnd":{..}}
 *
 * The profiler's members about the run as a whole come after the events, when all are known. The
 * members vptrace and vptraceEnd hold what it has no members for: the exact window, and facts by
 * name. */
#include "analysis/export/chrome/chrome_ranges.h"
#include "analysis/export/chrome/chrome_python.h"
#include "analysis/export/chrome/chrome_rows.h"

#include "formats/base/count.h"

/* Readers that store microseconds as doubles keep nanoseconds up to here: 52 days. */
static const uint64_t EXACT_NS = 1ull << 52;

/* The current export. */
struct chrome {
	struct vpa_chrome x;
	struct vpa_chrome_gpu *gpu;
	struct vpa_chrome_iterations iterations;
	/* Events of the ranges that are open, without what follows their start. */
	struct vpa_line open;
	int has_last; /* the capture's stop was met */
	struct vpt_device *devices;
	size_t device_count;
	char **device_texts;       /* JSON: name, uuid, pci of each */
	struct vpa_line described; /* the devices of this trace, as JSON */
	struct vpa_index worked;   /* devices that had ops, of a part */
	uint32_t
		newest_worked; /* of these, as the model numbers them: the last one, and one; 0: none */
};

/* ---- before the events ---- */

/* Of several traces, the first. */
static void begin_parts(struct vpa_chrome *x)
{
	struct vpa_line *l = &x->out;

	if (x->part->number)
		return;
	vpa_line_words(l, "{\"schemaVersion\":1,\n\"vptraceParts\":{\"version\":1},\n"
			  "\"displayTimeUnit\":\"ms\",\n");
	if (x->part->base_ns) {
		vpa_line_words(l, "\"baseTimeNanoseconds\":");
		vpa_line_unsigned(l, x->part->base_ns);
		vpa_line_words(l, ",\n");
	}
	vpa_line_words(l, "\"traceEvents\":[");
}

static void begin_file(struct vpa_chrome *x)
{
	const struct vpa_model *m = x->c->view.context->model;
	const struct vpa_report *r = x->c->view.report;
	uint64_t base;
	struct vpa_line *l = &x->out;

	if (m->window_start_ns > EXACT_NS)
		x->shift_ns = m->window_start_ns;
	vpa_line_words(l, "{\"schemaVersion\":1,\n\"vptrace\":{\"version\":1,\"start_ns\":");
	vpa_line_unsigned(l, m->window_start_ns);
	vpa_line_words(l, ",\"shift_ns\":");
	vpa_line_unsigned(l, x->shift_ns);
	if (r->has_realtime) {
		vpa_line_words(l, ",\"unix_offset_ns\":");
		vpa_line_signed(l, r->unix_offset_ns);
	}
	vpa_line_words(l, "},\n\"displayTimeUnit\":\"ms\",\n");
	base = r->unix_offset_ns + x->shift_ns;
	if (r->has_realtime && base <= INT64_MAX) {
		vpa_line_words(l, "\"baseTimeNanoseconds\":");
		vpa_line_unsigned(l, base);
		vpa_line_words(l, ",\n");
	}
	vpa_line_words(l, "\"traceEvents\":[");
}

/* ---- devices ---- */

enum { DEVICES_MAX = 1024, DEVICE_NAME = 0, DEVICE_UUID, DEVICE_PCI, DEVICE_TEXTS };

static const unsigned device_texts[DEVICE_TEXTS] = {
	[DEVICE_NAME] = VPT_DEVICE_NAME,
	[DEVICE_UUID] = VPT_DEVICE_UUID,
	[DEVICE_PCI] = VPT_DEVICE_PCI,
};

static int is_known(const struct chrome *f, uint64_t device)
{
	size_t i;

	for (i = 0; i < f->device_count; i++)
		if (f->devices[i].device == device)
			return 1;
	return 0;
}

/* A JSON string of its own, NUL-terminated. */
static char *keep_text(const struct vpt_batch *b, uint64_t id)
{
	struct vpt_text t = vpt_batch_text(b, id);
	struct vpa_line l = {0};

	vpa_line_json(&l, t.text, t.len);
	vpa_line_put(&l, "", 1);
	if (l.failed)
		vpt_free(l.data);
	return l.failed ? NULL : l.data;
}

/* Rows that describe a GPU for the first time; they are repeated now and then. */
static int read_devices(struct chrome *f, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_DEVICE);
	uint32_t row;
	unsigned i;

	for (row = 0; s && row < s->row_count && f->device_count < DEVICES_MAX; row++) {
		uint64_t *device;

		if (is_known(f, s->col[VPT_DEVICE_DEVICE][row]))
			continue;
		if (!f->devices) {
			f->devices = vpt_calloc(DEVICES_MAX, sizeof(*f->devices));
			f->device_texts = vpt_calloc(
				(size_t)DEVICES_MAX * DEVICE_TEXTS, sizeof(*f->device_texts));
		}
		if (!f->devices || !f->device_texts)
			return VPT_ENOMEM;
		device = (uint64_t *)&f->devices[f->device_count];
		for (i = 0; i < VPT_DEVICE_COLUMNS; i++)
			device[i] = s->col[i][row];
		for (i = 0; i < DEVICE_TEXTS; i++) {
			char **text = &f->device_texts[f->device_count * DEVICE_TEXTS + i];

			*text = keep_text(b, device[device_texts[i]]);
			if (!*text)
				return VPT_ENOMEM;
		}
		f->device_count++;
	}
	return VPT_OK;
}

static void put_member(struct vpa_line *l, const char *label, uint64_t value)
{
	vpa_line_words(l, label);
	vpa_line_signed(l, value);
}

static void put_text(struct vpa_line *l, const char *label, const char *json)
{
	if (!strcmp(json, "\"\""))
		return;
	vpa_line_words(l, label);
	vpa_line_words(l, json);
}

static void put_device(struct vpa_line *l, const struct vpt_device *d, char **texts)
{
	enum { WARP = 32 };

	put_member(l, "\n{\"id\":", d->device);
	vpa_line_words(l, ",\"name\":");
	vpa_line_words(l, texts[DEVICE_NAME]);
	put_member(l, ",\"totalGlobalMem\":", d->memory_bytes);
	put_member(l, ",\"computeMajor\":", d->compute_major);
	put_member(l, ",\"computeMinor\":", d->compute_minor);
	put_member(l, ",\"maxThreadsPerMultiprocessor\":", d->sm_threads);
	put_member(l, ",\"regsPerMultiprocessor\":", d->sm_registers);
	put_member(l, ",\"warpSize\":", WARP);
	put_member(l, ",\"sharedMemPerMultiprocessor\":", d->sm_shared);
	put_member(l, ",\"numSms\":", d->sm_count);
	put_text(l, ",\"uuid\":", texts[DEVICE_UUID]);
	put_text(l, ",\"pci\":", texts[DEVICE_PCI]);
	if (d->simulated)
		put_member(l, ",\"simulated\":", d->simulated);
	vpa_line_words(l, "}");
}

/* Appends those of this trace; of a part those that worked: a profiler describes all of a host in each rank. */
static void put_devices(const struct chrome *f, struct vpa_line *l)
{
	size_t i;

	for (i = 0; i < f->device_count; i++) {
		if (f->x.part && vpa_index_find(&f->worked, f->devices[i].device, 0) == UINT32_MAX)
			continue;
		if (l->size)
			vpa_line_words(l, ",");
		put_device(l, &f->devices[i], f->device_texts + i * DEVICE_TEXTS);
	}
}

static void put_device_properties(struct vpa_line *l, const struct vpa_line *devices)
{
	vpa_line_words(l, ",\n\"deviceProperties\":[");
	vpa_line_put(l, devices->data, devices->size);
	vpa_line_words(l, "]");
}

/* ---- facts of the run ---- */

/* Writes a whole number as a number, anything else as text. */
static void put_value(struct vpa_line *l, const char *value)
{
	size_t len = strlen(value);

	if (len && len < 18 && strspn(value, "0123456789") == len && (*value != '0' || len == 1))
		vpa_line_words(l, value);
	else
		vpa_line_json(l, value, len);
}

struct known {
	const char *member;
	enum vpt_metadata fact;
};

static int put_known(struct vpa_chrome *x, const struct known *known, size_t count, int skip_comma)
{
	size_t i;
	int put = 0;

	for (i = 0; i < count; i++) {
		const char *value = vpa_meta(x->c->view.report, known[i].fact);

		if (!value)
			continue;
		vpa_line_words(&x->out, known[i].member + (!put && skip_comma));
		put_value(&x->out, value);
		put++;
	}
	return put;
}

/* Of several ranks, what they have in common. */
static void put_distributed(struct vpa_chrome *x)
{
	static const struct known one[] = {{",\"backend\":", VPT_METADATA_BACKEND},
		{",\"rank\":", VPT_METADATA_RANK}, {",\"world_size\":", VPT_METADATA_WORLD_SIZE}};
	static const struct known several[] = {{",\"backend\":", VPT_METADATA_BACKEND},
		{",\"world_size\":", VPT_METADATA_WORLD_SIZE}};
	size_t before = x->out.size;

	vpa_line_words(&x->out, ",\n\"distributedInfo\":{");
	if (!put_known(x, x->part ? several : one, x->part ? COUNT(several) : COUNT(one), 1))
		x->out.size = before;
	else
		vpa_line_words(&x->out, "}");
}

/* The profiler's members for facts that we have. */
static void put_facts(struct vpa_chrome *x)
{
	static const struct known members[] = {
		{",\n\"cuda_runtime_version\":", VPT_METADATA_CUDA_RUNTIME},
		{",\n\"cuda_driver_version\":", VPT_METADATA_CUDA_DRIVER},
		{",\n\"cupti_version\":", VPT_METADATA_CUPTI},
		{",\n\"hostname\":", VPT_METADATA_HOST},
		{",\n\"trace_id\":", VPT_METADATA_TRACE_ID},
		{",\n\"traceName\":", VPT_METADATA_TRACE_NAME},
		{",\n\"record_shapes\":", VPT_METADATA_TORCH_RECORD_SHAPES},
		{",\n\"profile_memory\":", VPT_METADATA_TORCH_PROFILE_MEMORY},
		{",\n\"with_stack\":", VPT_METADATA_TORCH_WITH_STACK},
		{",\n\"with_flops\":", VPT_METADATA_TORCH_WITH_FLOPS},
		{",\n\"with_modules\":", VPT_METADATA_TORCH_WITH_MODULES}};

	put_distributed(x);
	put_known(x, members, sizeof(members) / sizeof(*members), 0);
}

static void put_fact(struct vpa_line *l, const struct vpa_pair *fact, int is_first)
{
	vpa_line_words(l, is_first ? "\n[" : ",\n[");
	vpa_line_json(l, fact->key, strlen(fact->key));
	vpa_line_words(l, ",");
	vpa_line_json(l, fact->value, strlen(fact->value));
	vpa_line_words(l, "]");
}

static void put_end(struct chrome *f)
{
	struct vpa_chrome *x = &f->x;
	const struct vpa_report *r = x->c->view.report;
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_line *l = &x->out;
	/* If parts of the input are missing, their contents are unknown. */
	int whole = f->has_last && !x->c->windowed && !x->c->options->no_api &&
		    !v->damaged_chunks && !v->torn_chunks && !v->unknown_sections;
	size_t i;

	vpa_line_words(l, ",\n\"vptraceEnd\":{\"end_ns\":");
	vpa_line_unsigned(l, r->window_end_ns);
	vpa_line_words(l, ",\"received\":");
	vpa_line_unsigned(l, whole ? v->received : x->rows + v->dropped);
	vpa_line_words(l, ",\"dropped\":");
	vpa_line_unsigned(l, v->dropped);
	vpa_line_words(l, ",\"meta\":[");
	for (i = 0; i < r->meta_count; i++)
		put_fact(l, &r->meta[i], i == 0);
	for (i = 0; i < v->reading_meta_count; i++)
		put_fact(l, &v->reading_meta[i], i + r->meta_count == 0);
	vpa_line_words(l, "]}}\n");
}

/* What is missing from parts is not in the file: whoever reads it is to know that something is. */
static void put_incomplete(struct vpa_chrome *x)
{
	size_t count = x->part->incomplete + !x->c->view.report->verdict.complete;

	if (count)
		put_member(&x->out, ",\n\"vptraceIncomplete\":", count);
}

/* ---- the pass ---- */

static int failed(const struct chrome *f)
{
	const struct vpa_chrome *x = &f->x;

	return x->out.failed || f->described.failed || (x->part && x->part->gpus->failed) ||
			       x->place.failed || x->args.failed || f->open.failed ||
			       x->strings.text.failed || x->kernel_names.text.failed ||
			       x->kernel_args.text.failed || x->lanes.failed
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static int begin(void *state, const struct vpa_export_context *c)
{
	struct chrome *f = state;

	f->x.c = c;
	f->x.records = vpt_calloc(VPA_CHROME_RECORDS, sizeof(*f->x.records));
	f->gpu = vpa_chrome_gpu_new(&f->x);
	f->x.python = vpa_chrome_python_new(&f->x);
	if (!f->x.records || !f->gpu || !f->x.python)
		return VPT_ENOMEM;
	f->x.part = c->options->part;
	if (f->x.part) {
		/* Events of others come before. */
		f->x.has_event = f->x.part->number > 0;
		begin_parts(&f->x);
	} else {
		begin_file(&f->x);
	}
	return VPT_OK;
}

static int take_chunk(void *state, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct chrome *f = state;
	int rc;

	(void)times_from_ns;
	f->has_last |= (b->flags & VPT_BATCH_LAST) != 0;
	rc = read_devices(f, b);
	if (!rc)
		rc = vpa_chrome_chunk(&f->x, b);
	if (!rc)
		vpa_chrome_keep_open(&f->x, &f->open, vpt_batch_find(b, VPT_OPEN));
	return rc ? rc : failed(f);
}

static int take_ops(void *state, const struct vpa_ops *ops)
{
	struct chrome *f = state;
	const struct vpa_model *m = f->x.c->view.context->model;
	size_t i;

	for (i = 0; f->x.part && i < ops->count; i++) {
		if (f->newest_worked == ops->device[i] + 1)
			continue;
		f->newest_worked = ops->device[i] + 1;
		if (vpa_index_put(&f->worked, (uint64_t)m->devices[ops->device[i]], 0) ==
			UINT32_MAX)
			return VPT_ENOMEM;
	}
	return vpa_chrome_gpu_ops(f->gpu, ops);
}

static int take_range(void *state, const struct vpa_range *range)
{
	struct chrome *f = state;
	int rc = vpa_chrome_iterations_take(&f->iterations, f->x.c, range);

	return rc ? rc : vpa_chrome_gpu_range(f->gpu, range);
}

static int end(void *state)
{
	struct chrome *f = state;
	struct vpa_chrome *x = &f->x;
	int rc;

	vpa_chrome_open(x, &f->open, x->c->view.report->window_end_ns);
	vpa_chrome_python_end(x->python, x->c->view.report->window_end_ns);
	vpa_chrome_iterations_put(&f->iterations, x);
	put_devices(f, &f->described);
	if (!x->part) {
		vpa_line_words(&x->out, "\n]");
		vpa_chrome_python_frames(x->python);
		put_device_properties(&x->out, &f->described);
		put_facts(x);
		put_end(f);
	} else {
		vpa_chrome_put_part(x, &f->described);
		put_devices(f, x->part->gpus);
	}
	if (x->part && x->part->number + 1 == x->part->count) {
		vpa_line_words(&x->out, "\n]");
		put_device_properties(&x->out, x->part->gpus);
		put_distributed(x);
		put_incomplete(x);
		vpa_line_words(&x->out, "}\n");
	}
	rc = failed(f);
	x->c->totals->raw_bytes += x->out.size;
	return rc ? rc : vpa_groups_put(x->c->groups, x->out.data, x->out.size, x->c->err);
}

static void free_state(void *state)
{
	struct chrome *f = state;
	struct vpa_chrome *x = &f->x;
	size_t i;

	for (i = 0; f->device_texts && i < (size_t)DEVICES_MAX * DEVICE_TEXTS; i++)
		vpt_free(f->device_texts[i]);
	vpt_free(f->device_texts);
	vpt_free(f->devices);
	vpt_free(f->open.data);
	vpt_free(f->described.data);
	vpa_index_free(&f->worked);
	vpa_chrome_gpu_free(f->gpu);
	vpa_chrome_iterations_free(&f->iterations);
	vpa_chrome_python_free(x->python);
	vpt_free(x->records);
	vpt_free(x->out.data);
	vpt_free(x->place.data);
	vpt_free(x->args.data);
	vpa_pieces_free(&x->strings);
	vpa_pieces_free(&x->kernel_names);
	vpa_pieces_free(&x->kernel_args);
	vpa_chunk_lanes_free(&x->lanes);
	vpa_index_free(&x->named);
	vpa_index_free(&x->pids);
}

/* The profiler has no events for gaps. */
const struct vpa_exporter vpa_exporter_chrome = {
	.name = "chrome",
	.help = "JSON as PyTorch's profiler writes it. vptrace-analyze reports the same from it,\n"
		"except for damage, a missing stop, samples of Python stacks, and names that are "
		"not\n"
		"UTF-8. Stacks that are known at every moment become calls of functions. Blocks,\n"
		"or else steps, are iterations too, ProfilerStep#N: TensorBoard and HTA need "
		"them.\n"
		"Several ranks become one file on one clock: \"[rank 3] 100\" are the processes "
		"of\n"
		"rank 3.",
	.opens = "open it at https://ui.perfetto.dev or chrome://tracing, or as a trace of "
		 "PyTorch's profiler",
	.packings = {{"gzip", VPT_CONTAINER_GZIP, ".pt.trace.json.gz"},
		{"none", VPT_CONTAINER_NONE, ".pt.trace.json"}},
	.level = VPA_EXPORT_LEVEL,
	.state_bytes = sizeof(struct chrome),
	.begin = begin,
	.chunk = take_chunk,
	.ops = take_ops,
	.range = take_range,
	.end = end,
	.free = free_state,
	.archive = vpa_chrome_merge,
};
