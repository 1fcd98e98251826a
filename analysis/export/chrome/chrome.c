/* chrome.c - the pass over a trace, and what stands around its events.
 *
 * {"schemaVersion":1, "vptrace":{..}, "baseTimeNanoseconds":.., "traceEvents":[..], "deviceProperties":[..], .. ,
 *  "vptraceEnd":{..}}
 *
 * What the profiler writes about the run as a whole is written behind the events, when all of it is known. The members
 * vptrace and vptraceEnd hold what it has no words for: the exact window, and facts by name. */
#include "analysis/export/chrome/parts.h"

#include "formats/json.h"

/* Readers that make doubles of microseconds keep nanoseconds up to here: 52 days. */
static const uint64_t EXACT_NS = 1ull << 52;

void vpa_chrome_event(struct vpa_chrome *x)
{
	vpa_line_words(&x->out, x->has_event ? ",\n" : "\n");
	x->has_event = 1;
}

void vpa_chrome_string(struct vpa_chrome *x, struct vpa_line *l, uint64_t id)
{
	struct vpt_text t = vpt_batch_text(x->batch, id);
	struct vpa_pieces *p = &x->strings;
	size_t at;

	if (id >= p->count) {
		vpa_line_words(l, "\"?\"");
		return;
	}
	if (vpa_pieces_put(p, id, l))
		return;
	at = vpa_pieces_begin(p);
	vpa_line_json(&p->text, t.text, t.len);
	vpa_pieces_end(p, id, at, l);
}

/* ---- before the events ---- */

static void begin_file(struct vpa_chrome *x)
{
	const struct vpa_model *m = x->view.context->model;
	const struct vpa_report *r = x->view.report;
	uint64_t base;
	struct vpa_line *l = &x->out;

	if (x->begun)
		return;
	x->begun = 1;
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

static int is_known(const struct vpa_chrome *x, uint64_t device)
{
	size_t i;

	for (i = 0; i < x->device_count; i++)
		if (x->devices[i].device == device)
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
static int read_devices(struct vpa_chrome *x, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_DEVICE);
	uint32_t row;
	unsigned i;

	for (row = 0; s && row < s->row_count && x->device_count < DEVICES_MAX; row++) {
		uint64_t *device;

		if (is_known(x, s->col[VPT_DEVICE_DEVICE][row]))
			continue;
		if (!x->devices) {
			x->devices = vpt_calloc(DEVICES_MAX, sizeof(*x->devices));
			x->device_texts = vpt_calloc(
				(size_t)DEVICES_MAX * DEVICE_TEXTS, sizeof(*x->device_texts));
		}
		if (!x->devices || !x->device_texts)
			return VPT_ENOMEM;
		device = (uint64_t *)&x->devices[x->device_count];
		for (i = 0; i < VPT_DEVICE_COLUMNS; i++)
			device[i] = s->col[i][row];
		for (i = 0; i < DEVICE_TEXTS; i++) {
			char **text = &x->device_texts[x->device_count * DEVICE_TEXTS + i];

			*text = keep_text(b, device[device_texts[i]]);
			if (!*text)
				return VPT_ENOMEM;
		}
		x->device_count++;
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

static void put_devices(struct vpa_chrome *x)
{
	enum { WARP = 32 };
	struct vpa_line *l = &x->out;
	size_t i;

	vpa_line_words(l, ",\n\"deviceProperties\":[");
	for (i = 0; i < x->device_count; i++) {
		const struct vpt_device *d = &x->devices[i];
		char **texts = x->device_texts + i * DEVICE_TEXTS;

		put_member(l, i ? ",\n{\"id\":" : "\n{\"id\":", d->device);
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
	vpa_line_words(l, "]");
}

/* ---- what is known of the run ---- */

static const char *meta(const struct vpa_chrome *x, const char *key)
{
	const struct vpa_report *r = x->view.report;
	size_t i;

	for (i = 0; i < r->meta_count; i++)
		if (!strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

/* A whole number as such, else text. */
static void put_value(struct vpa_line *l, const char *value)
{
	size_t len = strlen(value);

	if (len && len < 18 && strspn(value, "0123456789") == len && (*value != '0' || len == 1))
		vpa_line_words(l, value);
	else
		vpa_line_json(l, value, len);
}

struct known {
	const char *member, *key;
};

static int put_known(struct vpa_chrome *x, const struct known *known, size_t count, int skip_comma)
{
	size_t i;
	int put = 0;

	for (i = 0; i < count; i++) {
		const char *value = meta(x, known[i].key);

		if (!value)
			continue;
		vpa_line_words(&x->out, known[i].member + (!put && skip_comma));
		put_value(&x->out, value);
		put++;
	}
	return put;
}

/* Members that the profiler has for facts of ours. */
static void put_facts(struct vpa_chrome *x)
{
	static const struct known distributed[] = {{",\"backend\":", "backend"},
		{",\"rank\":", "rank"}, {",\"world_size\":", "world_size"}};
	static const struct known members[] = {{",\n\"cuda_runtime_version\":", "cuda_runtime"},
		{",\n\"cuda_driver_version\":", "cuda_driver"}, {",\n\"cupti_version\":", "cupti"},
		{",\n\"hostname\":", "hostname"}, {",\n\"trace_id\":", "trace_id"},
		{",\n\"traceName\":", "trace_name"},
		{",\n\"record_shapes\":", "torch_record_shapes"},
		{",\n\"profile_memory\":", "torch_profile_memory"},
		{",\n\"with_stack\":", "torch_with_stack"},
		{",\n\"with_flops\":", "torch_with_flops"},
		{",\n\"with_modules\":", "torch_with_modules"}};
	size_t before = x->out.size;

	vpa_line_words(&x->out, ",\n\"distributedInfo\":{");
	if (!put_known(x, distributed, 3, 1))
		x->out.size = before;
	else
		vpa_line_words(&x->out, "}");
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

static void put_end(struct vpa_chrome *x)
{
	const struct vpa_report *r = x->view.report;
	const struct vpa_verdict *v = &r->verdict;
	struct vpa_line *l = &x->out;
	/* Where parts of the input are missing, nobody knows what they held. */
	int whole = x->has_last && !x->windowed && !x->options->no_api && !v->damaged_chunks &&
		    !v->torn_chunks && !v->unknown_sections;
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
	for (i = 0; i < v->told_count; i++)
		put_fact(l, &v->told[i], i + r->meta_count == 0);
	vpa_line_words(l, "]}}\n");
}

/* ---- the pass ---- */

static int failed(const struct vpa_chrome *x)
{
	return x->out.failed || x->place.failed || x->args.failed || x->open.failed ||
			       x->strings.text.failed || x->kernel_names.text.failed ||
			       x->kernel_args.text.failed || x->lanes.failed
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static int begin_tap(void *ctx, const struct vpa_tap_view *view)
{
	struct vpa_chrome *x = ctx;

	x->view = *view;
	x->records = vpt_calloc(VPA_CHROME_RECORDS, sizeof(*x->records));
	return x->records ? vpa_chrome_gpu_new(x) : VPT_ENOMEM;
}

static int tap_chunk(void *ctx, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct vpa_chrome *x = ctx;
	int rc;

	(void)times_from_ns;
	if (x->options->stop && x->options->stop())
		return vpt_fail(&x->err, VPT_EIO, "interrupted");
	begin_file(x);
	x->has_last |= (b->flags & VPT_BATCH_LAST) != 0;
	rc = read_devices(x, b);
	if (!rc)
		rc = vpa_chrome_chunk(x, b);
	return rc ? rc : failed(x);
}

static int tap_ops(void *ctx, const struct vpa_ops *ops)
{
	begin_file(ctx);
	return vpa_chrome_gpu_ops(ctx, ops);
}

static int tap_range(void *ctx, const struct vpa_range *range)
{
	begin_file(ctx);
	return vpa_chrome_gpu_range(ctx, range);
}

static int tap_end(void *ctx)
{
	struct vpa_chrome *x = ctx;
	int rc;

	begin_file(x);
	vpa_chrome_open(x, x->view.report->window_end_ns);
	vpa_line_words(&x->out, "\n]");
	put_devices(x);
	put_facts(x);
	put_end(x);
	rc = failed(x);
	x->raw_bytes += x->out.size;
	if (!rc)
		rc = vpa_groups_put(x->groups, x->out.data, x->out.size, &x->err);
	return rc ? rc : vpa_groups_flush(x->groups, &x->err);
}

static void free_export(struct vpa_chrome *x)
{
	size_t i;

	for (i = 0; x->device_texts && i < (size_t)DEVICES_MAX * DEVICE_TEXTS; i++)
		vpt_free(x->device_texts[i]);
	vpt_free(x->device_texts);
	vpt_free(x->devices);
	vpt_free(x->records);
	vpt_free(x->out.data);
	vpt_free(x->place.data);
	vpt_free(x->args.data);
	vpt_free(x->open.data);
	vpa_pieces_free(&x->strings);
	vpa_pieces_free(&x->kernel_names);
	vpa_pieces_free(&x->kernel_args);
	vpa_chunk_lanes_free(&x->lanes);
	vpa_index_free(&x->named);
	vpa_index_free(&x->pids);
	vpa_arena_free(&x->arena);
	vpa_chrome_gpu_free(x);
	vpa_groups_free(x->groups);
	vpt_free(x);
}

int vpa_export_chrome(const struct vpt_trace *trace, const char *path,
	const struct vpa_options *analysis, const struct vpa_export_options *options,
	struct vpt_sink *sink, struct vpa_export_totals *totals, struct vpt_err *err)
{
	struct vpa_chrome *x = vpt_calloc(1, sizeof(*x));
	struct vpa_options pass = *analysis;
	struct vpa_report *report = NULL;
	uint64_t before = sink->written_bytes;
	int rc;

	*totals = (struct vpa_export_totals){0};
	if (!x)
		return vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	x->options = options;
	x->trace = trace;
	x->windowed = analysis->has_from || analysis->has_to || analysis->range;
	x->tap = (struct vpa_tap){.ctx = x,
		.begin = begin_tap,
		.chunk = tap_chunk,
		.ops = tap_ops,
		.range = tap_range,
		.end = tap_end};
	pass.tap = &x->tap;
	rc = vpa_groups_start(
		sink, options->container, options->level, options->jobs, &x->groups, err);
	if (!rc)
		rc = vpa_analyze(trace, path, &pass, &report, err);
	rc = vpa_tap_outcome(rc, &x->err, err);
	if (!rc) {
		*totals = x->totals;
		totals->raw_bytes = x->raw_bytes;
		totals->bytes = sink->written_bytes - before;
		totals->complete = report->verdict.complete;
	}
	vpa_report_free(report);
	free_export(x);
	return rc;
}
