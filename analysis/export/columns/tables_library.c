/* tables_library.c - the functions of libvptrace_tables.so.
 *
 * A trace may have been sent by somebody else, and the program is not ours: memory is bounded as in vptrace-analyze, and the
 * program's locale does not matter. The analysis runs in one thread at a time. */
#include "analysis/export/columns/tables_library.h"

#include "analysis/analyze.h"
#include "analysis/export/columns/column_store.h"
#include "analysis/render/renderer.h"
#include "analysis/retime/predictions.h"
#include "formats/base/cost_limits.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "formats/import/any_trace.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* The state of a thread that is in the library. */
struct visit {
	locale_t own, former;
};

static void enter(struct visit *v)
{
	static int bounded;

	pthread_mutex_lock(&one_at_a_time);
	if (!bounded)
		vpt_limits_memory((uint64_t)VPA_TABLES_MEMORY_GIB << 30);
	bounded = 1;
	v->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	v->former = v->own ? uselocale(v->own) : (locale_t)0;
}

static void leave(const struct visit *v)
{
	if (v->own) {
		uselocale(v->former);
		freelocale(v->own);
	}
	pthread_mutex_unlock(&one_at_a_time);
}

static int say(int rc, const struct vpt_err *err, char *message, size_t message_bytes)
{
	if (rc == VPT_ENOMEM && vpt_memory_was_refused())
		snprintf(message, message_bytes,
			"%.300s: the limit of %d GiB of memory is reached; ask for fewer tables",
			err->text, VPA_TABLES_MEMORY_GIB);
	else if (rc)
		snprintf(message, message_bytes, "%s", err->text);
	return rc;
}

int vptrace_tables_load(const char *path, const char *tables, const char *range, uint64_t request,
	struct vpa_store **out, char *message, size_t message_bytes)
{
	const struct vpa_store_options o = {tables, range, request};
	struct vpt_err err = {0};
	struct visit visit;
	int rc;

	enter(&visit);
	rc = say(vpa_store_load(path, &o, out, &err), &err, message, message_bytes);
	leave(&visit);
	return rc;
}

void vptrace_tables_free(struct vpa_store *t)
{
	vpa_store_drop(t);
}

int vptrace_tables_complete(const struct vpa_store *t)
{
	return vpa_store_is_complete(t);
}

const char *vptrace_tables_name(const struct vpa_store *t, size_t number)
{
	const struct vpa_stored_table *table = vpa_store_table(t, number);

	return table ? table->name : NULL;
}

int vptrace_tables_stream(struct vpa_store *t, const char *name, struct ArrowArrayStream *out,
	char *message, size_t message_bytes)
{
	const struct vpa_stored_table *table = vpa_store_find(t, name);
	struct vpt_err err = {0};
	int rc;

	if (!table)
		rc = vpt_fail(&err, VPT_EINVAL, "expected a table that was loaded, found \"%.60s\"",
			name);
	else
		rc = vpa_arrow_stream(t, table, out);
	if (rc == VPT_ENOMEM)
		vpt_fail(&err, rc, "no memory for a stream of rows");
	return say(rc, &err, message, message_bytes);
}

/* ---- the report ---- */

/* As cmd_analyze.c makes it. */
static int make_report(
	const char *path, const struct vpa_options *o, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpa_report *report = NULL;
	struct vpt_trace *trace = NULL;
	int rc = vpt_trace_open(path, &trace, err);

	if (!rc)
		rc = vpa_analyze(trace, path, o, &report, err);
	if (!rc)
		rc = vpa_predict(trace, o->jobs, VPA_REPLAYED_BY_REPORT, report, err);
	if (!rc)
		rc = vpa_render_json(report, sink, err);
	vpa_report_free(report);
	vpt_trace_close(trace);
	return rc;
}

int vptrace_tables_report(const char *path, const char *range, uint64_t request, char **out,
	char *message, size_t message_bytes)
{
	const struct vpa_options o = {.range = range,
		.request = request,
		.step_parts = 1,
		.only_sums = 1,
		.kernel_sources = 1,
		.predict = 1,
		.stage_spans = 1};
	struct vpt_buffer text = {0};
	struct vpt_sink *sink = NULL;
	struct vpt_err err = {0};
	struct visit visit;
	int rc;

	enter(&visit);
	rc = vpt_sink_memory(&text, &sink, &err);
	if (!rc)
		rc = make_report(path, &o, sink, &err);
	if (!rc)
		rc = vpt_sink_write(sink, "", 1, &err);
	if (sink)
		sink->finish(sink, !rc, NULL);
	*out = rc ? NULL : text.data;
	rc = say(rc, &err, message, message_bytes);
	leave(&visit);
	return rc;
}

void vptrace_tables_free_text(char *text)
{
	vpt_free(text);
}

/* ---- capsules ---- */

struct ArrowArrayStream *vptrace_tables_new_stream(
	struct vpa_store *t, const char *name, char *message, size_t message_bytes)
{
	struct ArrowArrayStream *stream = vpt_calloc(1, sizeof(*stream));

	if (!stream) {
		snprintf(message, message_bytes, "no memory for a stream of rows");
		return NULL;
	}
	if (!vptrace_tables_stream(t, name, stream, message, message_bytes))
		return stream;
	vpt_free(stream);
	return NULL;
}

void vptrace_tables_end_capsule(void *capsule)
{
	void *(*pointer_of)(void *, const char *);
	struct ArrowArrayStream *stream;

	/* POSIX's way to make a function of a symbol. */
	*(void **)(&pointer_of) = dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer");
	stream = pointer_of ? pointer_of(capsule, "arrow_array_stream") : NULL;
	if (!stream)
		return;
	if (stream->release)
		stream->release(stream);
	vpt_free(stream);
}
