/* rank_archive.c - exports of several traces in one archive.
 *
 * Perfetto merges the members of an archive onto one timeline; those of machines that the manifest
 * separates it aligns by the time of day, which each member gives first: that of the first rank's machine,
 * where collectives tell it. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/export/perfetto/archive_members.h"
#include "analysis/export/temporary_file.h"
#include "formats/io/json_writer.h"
#include "formats/base/memory.h"
#include "formats/perfetto/tar.h"

#include <stdio.h>
#include <string.h>

/* ---- the manifest ---- */

/* Machines of one name, as two boots of one are, get the number of their first member. */
static void put_machine(struct vpt_json *j, const struct vpa_archive *a, size_t index)
{
	const struct vpa_archive_member *m = &a->members[a->members[index].machine];
	const char *host = *m->host ? m->host : "unknown";
	char name[300];
	size_t i;

	snprintf(name, sizeof(name), "%s", host);
	for (i = 0; i < a->members[index].machine; i++)
		if (a->members[i].machine == i && !strcmp(a->members[i].host, m->host))
			snprintf(
				name, sizeof(name), "%s #%zu", host, a->members[index].machine + 1);
	vpt_json_object(j, "machine");
	vpt_json_string(j, "name", name);
	vpt_json_end(j);
}

static void put_file(struct vpt_json *j, const struct vpa_archive *a, size_t index)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "path", a->members[index].name);
	if (vpa_archive_has_machines(a))
		put_machine(j, a, index);
	vpt_json_end(j);
}

static int put_manifest(const struct vpa_archive *a, struct vpt_sink *sink, struct vpt_err *err)
{
	static const char name[] = "perfetto_manifest.json";
	struct vpt_buffer text = {0};
	struct vpt_sink *memory;
	struct vpt_json j;
	size_t i;
	int rc = vpt_sink_memory(&text, &memory, err);

	if (rc)
		return rc;
	vpt_json_init(&j, memory, 1);
	vpt_json_object(&j, NULL);
	vpt_json_object(&j, "perfetto_manifest");
	vpt_json_u64(&j, "version", 1);
	vpt_json_array(&j, "files");
	for (i = 0; i < a->count; i++)
		put_file(&j, a, i);
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_end(&j);
	rc = vpt_json_finish(&j, err);
	memory->finish(memory, !rc, NULL);
	if (rc)
		return rc;
	rc = vpt_tar_begin(sink, name, text.size, err);
	if (!rc)
		rc = vpt_sink_write(sink, text.data, text.size, err);
	if (!rc)
		rc = vpt_tar_end(sink, text.size, err);
	vpt_free(text.data);
	return rc;
}

/* ---- one by one ---- */

static int export_member(const struct vpa_archive *a, size_t index,
	const struct vpa_export_job *job, struct vpt_sink *sink, struct vpa_export_totals *totals,
	struct vpt_err *err)
{
	struct vpa_export_options options = *job->options;
	struct vpa_export_job own = *job;
	struct vpt_trace *trace = NULL;
	struct vpa_gpu *gpus;
	size_t *owners;
	int rc;

	if (vpa_archive_gpus(a, index, &gpus, &owners, &options.gpu_count))
		return vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	options.gpus = gpus;
	options.gpu_owners = owners;
	options.trace_number = index;
	options.clock = a->members[index].clock;
	rc = vpt_trace_open(a->members[index].path, &trace, err);
	own.trace = trace;
	own.path = a->members[index].path;
	own.options = &options;
	own.sink = sink;
	if (!rc)
		rc = vpa_export(&own, totals, err);
	vpt_trace_close(trace);
	vpt_free(owners);
	vpt_free(gpus);
	return rc;
}

static int put_bytes(void *sink, const void *data, size_t size, struct vpt_err *err)
{
	return vpt_sink_write(sink, data, size, err);
}

static int put_member(const struct vpa_archive *a, size_t index, const struct vpa_export_job *job,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err)
{
	struct vpa_temporary spool;
	int rc = vpa_temporary_open(&spool, folder, err);

	if (rc)
		return rc;
	vpa_temporary_hide(&spool);
	rc = export_member(a, index, job, &spool.sink, totals, err);
	if (!rc)
		rc = vpt_tar_begin(
			job->sink, a->members[index].name, spool.sink.written_bytes, err);
	if (!rc)
		rc = vpa_temporary_copy(&spool, put_bytes, job->sink, err);
	if (!rc)
		rc = vpt_tar_end(job->sink, spool.sink.written_bytes, err);
	vpa_temporary_close(&spool);
	return rc;
}

int vpa_export_ranks(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err)
{
	struct vpa_archive a;
	struct vpt_sink *sink = job->sink;
	uint64_t before = sink->written_bytes;
	size_t i;
	int rc;

	*totals = (struct vpa_export_totals){.complete = 1};
	rc = vpa_archive_read(&a, paths, count, vpt_container_suffix(job->options->container),
		job->analysis, err);
	totals->aligned = a.aligned;
	totals->uncertainty_ns = a.uncertainty_ns;
	totals->unaligned = a.unaligned;
	if (!rc)
		rc = put_manifest(&a, sink, err);
	for (i = 0; i < count && !rc; i++) {
		struct vpa_export_totals one;

		rc = put_member(&a, i, job, folder, &one, err);
		vpa_export_totals_add(totals, &one);
	}
	if (!rc)
		rc = vpt_tar_finish(sink, err);
	totals->bytes = sink->written_bytes - before;
	vpa_archive_free(&a);
	return rc;
}
