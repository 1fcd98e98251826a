/* rank_archive.c - exports of several traces in one archive.
 *
 * Perfetto merges the members of an archive onto one timeline. Traces of one machine share its clocks;
 * those of machines that the manifest separates it aligns by the time of day, which each member gives
 * first. Before anything is written, each trace is read for its machine and GPUs, which all need. */
#include "analysis/export/perfetto/rank_archive.h"

#include "formats/base/json_writer.h"
#include "formats/base/memory.h"
#include "formats/perfetto/tar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rank {
	const char *path;
	char member[VPT_TAR_NAME_MAX + 1];
	char host[256];
	struct vpa_gpu *gpus; /* their texts are its own */
	size_t gpu_count, gpu_cap;
};

struct ranks {
	struct rank *items;
	size_t count;
};

/* ---- a file without name ---- */

struct spool {
	struct vpt_sink sink;
	int fd;
};

static int spool_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct spool *s = (struct spool *)sink;
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(s->fd, (const char *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return vpt_fail(
				err, VPT_EIO, "cannot write a temporary file: %s", strerror(errno));
		done += (size_t)n;
	}
	sink->written_bytes += size;
	return VPT_OK;
}

/* Spools are on the stack: only the file is closed. */
static int spool_finish(struct vpt_sink *sink, int commit, struct vpt_err *err)
{
	(void)commit;
	(void)err;
	close(((struct spool *)sink)->fd);
	return VPT_OK;
}

static int spool_open(struct spool *s, const char *folder, struct vpt_err *err)
{
	const char *usual = getenv("TMPDIR");
	char path[4096];

	if (!folder)
		folder = usual && *usual ? usual : "/tmp";
	*s = (struct spool){.sink = {.write = spool_write, .finish = spool_finish}};
	snprintf(path, sizeof(path), "%s/.vptrace-XXXXXX", folder);
	s->fd = mkstemp(path);
	if (s->fd < 0)
		return vpt_fail(err, VPT_EIO, "%.200s: cannot create a temporary file: %s", folder,
			strerror(errno));
	unlink(path);
	return VPT_OK;
}

static int spool_copy(struct spool *s, struct vpt_sink *to, struct vpt_err *err)
{
	enum { PIECE = 256 << 10 };
	char *piece = vpt_alloc(PIECE, 1);
	uint64_t at = 0;
	int rc = piece ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory to copy a file");

	while (!rc && at < s->sink.written_bytes) {
		ssize_t n = pread(s->fd, piece, PIECE, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			rc = vpt_fail(err, VPT_EIO, "cannot read a temporary file: %s",
				n ? strerror(errno) : "it became shorter");
		else
			rc = vpt_sink_write(to, piece, (size_t)n, err);
		at += n > 0 ? (uint64_t)n : 0;
	}
	vpt_free(piece);
	return rc;
}

/* ---- names of members ---- */

static int is_taken(const struct ranks *r, size_t before, const char *name)
{
	size_t i;

	for (i = 0; i < before; i++)
		if (!strcmp(r->items[i].member, name))
			return 1;
	return 0;
}

/* "dir/trace-r0.zst" becomes "trace-r0.pftrace"; a name that is taken gets a number. */
static void name_member(struct ranks *r, size_t index, const char *suffix)
{
	static const char *const endings[] = {".gz", ".json", ".zst", ".sqlite"};
	enum { STEM_MAX = 64 };
	const char *path = r->items[index].path, *slash = strrchr(path, '/');
	char stem[STEM_MAX + 1], *name = r->items[index].member;
	size_t len, i, n;

	path = slash ? slash + 1 : path;
	len = strlen(path);
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		n = strlen(endings[i]);
		if (len > n && !strncmp(path + len - n, endings[i], n))
			len -= n;
	}
	len = len < STEM_MAX ? len : STEM_MAX;
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		stem[i] = c > ' ' && c < 0x7f ? (char)c : '_';
	}
	stem[len] = '\0';
	snprintf(name, VPT_TAR_NAME_MAX + 1, "%s%s", len ? stem : "trace", suffix);
	for (n = 2; is_taken(r, index, name); n++)
		snprintf(name, VPT_TAR_NAME_MAX + 1, "%s-%zu%s", len ? stem : "trace", n, suffix);
}

/* ---- machines and GPUs ---- */

static void ask_meta(struct rank *r, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_META);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++) {
		struct vpt_text key = vpt_batch_text(b, s->col[VPT_META_KEY][row]);
		struct vpt_text value = vpt_batch_text(b, s->col[VPT_META_VALUE][row]);

		if (key.len == 4 && !memcmp(key.text, "host", 4))
			snprintf(r->host, sizeof(r->host), "%.*s",
				value.len < 255 ? (int)value.len : 255, value.text);
	}
}

static char *copy_text(const struct vpt_batch *b, uint64_t string)
{
	struct vpt_text t = vpt_batch_text(b, string);

	return vpt_strndup(t.text, t.len);
}

static int ask_gpus(struct rank *r, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_DEVICE);
	uint32_t row;

	if (!s)
		return VPT_OK;
	if (vpt_grow(&r->gpus, &r->gpu_cap, s->row_count, sizeof(*r->gpus)))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count; row++) {
		struct vpa_gpu *g = &r->gpus[r->gpu_count++];

		*g = (struct vpa_gpu){.device = (int64_t)s->col[VPT_DEVICE_DEVICE][row],
			.name = copy_text(b, s->col[VPT_DEVICE_NAME][row]),
			.uuid = copy_text(b, s->col[VPT_DEVICE_UUID][row]),
			.pci = copy_text(b, s->col[VPT_DEVICE_PCI][row]),
			.compute_major = (uint32_t)s->col[VPT_DEVICE_COMPUTE_MAJOR][row],
			.compute_minor = (uint32_t)s->col[VPT_DEVICE_COMPUTE_MINOR][row],
			.sm_count = (uint32_t)s->col[VPT_DEVICE_SM_COUNT][row],
			.memory_bytes = s->col[VPT_DEVICE_MEMORY][row],
			.simulated = s->col[VPT_DEVICE_SIMULATED][row] != 0};
		if (!g->name || !g->uuid || !g->pci)
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Reads them from the first intact chunk, which has all. */
static int ask(struct rank *r, struct vpt_err *err)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_trace *trace = NULL;
	struct vpt_batch batch;
	size_t i;
	int rc = decoder ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory to read a trace"),
	    known = 0;

	vpt_batch_init(&batch);
	if (!rc)
		rc = vpt_trace_open(r->path, &trace, err);
	for (i = 0; !rc && !known && i < vpt_trace_chunks(trace); i++) {
		known = !vpt_trace_chunk(trace, decoder, i, &batch, NULL);
		if (!known)
			continue;
		ask_meta(r, &batch);
		if (ask_gpus(r, &batch))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory to read a trace");
	}
	vpt_trace_close(trace);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return rc;
}

/* ---- the manifest ---- */

static int has_machines(const struct ranks *r)
{
	size_t i;

	for (i = 1; i < r->count; i++)
		if (strcmp(r->items[i].host, r->items[0].host) != 0)
			return 1;
	return 0;
}

static void put_file(struct vpt_json *j, const struct ranks *r, size_t index, int machines)
{
	const struct rank *it = &r->items[index];

	vpt_json_object(j, NULL);
	vpt_json_string(j, "path", it->member);
	if (machines) {
		vpt_json_object(j, "machine");
		vpt_json_string(j, "name", *it->host ? it->host : "unknown");
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static int put_manifest(const struct ranks *r, struct vpt_sink *sink, struct vpt_err *err)
{
	static const char name[] = "perfetto_manifest.json";
	struct vpt_buffer text = {0};
	struct vpt_sink *memory;
	struct vpt_json j;
	size_t i;
	int machines = has_machines(r), rc = vpt_sink_memory(&text, &memory, err);

	if (rc)
		return rc;
	vpt_json_init(&j, memory, 1);
	vpt_json_object(&j, NULL);
	vpt_json_object(&j, "perfetto_manifest");
	vpt_json_u64(&j, "version", 1);
	vpt_json_array(&j, "files");
	for (i = 0; i < r->count; i++)
		put_file(&j, r, i, machines);
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

/* The GPUs of a machine, each once. */
static size_t gpus_of(const struct ranks *r, const char *host, struct vpa_gpu *out)
{
	size_t count = 0, i, k, m;

	for (i = 0; i < r->count; i++) {
		const struct rank *it = &r->items[i];

		for (k = 0; k < it->gpu_count && !strcmp(it->host, host); k++) {
			for (m = 0;
				m < count && (strcmp(out[m].pci, it->gpus[k].pci) != 0 ||
						     strcmp(out[m].uuid, it->gpus[k].uuid) != 0);
				m++)
				;
			if (m == count)
				out[count++] = it->gpus[k];
		}
	}
	return count;
}

static int put_rank(const struct ranks *r, size_t index, const struct vpa_export_job *job,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err)
{
	const struct rank *it = &r->items[index];
	struct vpa_export_options options = *job->options;
	struct vpa_export_job own = *job;
	struct vpt_trace *trace = NULL;
	struct vpa_gpu *gpus;
	struct spool spool;
	size_t i, all = 0;
	int rc = spool_open(&spool, folder, err);

	if (rc)
		return rc;
	for (i = 0; i < r->count; i++)
		all += r->items[i].gpu_count;
	gpus = vpt_alloc(all + 1, sizeof(*gpus));
	rc = gpus ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory to export a trace");
	if (!rc) {
		options.gpus = gpus;
		options.gpu_count = gpus_of(r, it->host, gpus);
		rc = vpt_trace_open(it->path, &trace, err);
	}
	own.trace = trace;
	own.path = it->path;
	own.options = &options;
	own.sink = &spool.sink;
	if (!rc)
		rc = vpa_export(&own, totals, err);
	vpt_trace_close(trace);
	vpt_free(gpus);
	if (!rc)
		rc = vpt_tar_begin(job->sink, it->member, spool.sink.written_bytes, err);
	if (!rc)
		rc = spool_copy(&spool, job->sink, err);
	if (!rc)
		rc = vpt_tar_end(job->sink, spool.sink.written_bytes, err);
	spool.sink.finish(&spool.sink, 0, NULL);
	return rc;
}

static void add_totals(struct vpa_export_totals *sum, const struct vpa_export_totals *t)
{
	sum->kernels += t->kernels;
	sum->copies += t->copies;
	sum->calls += t->calls;
	sum->ranges += t->ranges;
	sum->gaps += t->gaps;
	sum->packets += t->packets;
	sum->raw_bytes += t->raw_bytes;
	sum->complete &= t->complete;
}

static void free_ranks(struct ranks *r)
{
	size_t i, k;

	for (i = 0; i < r->count; i++) {
		for (k = 0; k < r->items[i].gpu_count; k++) {
			vpt_free((void *)(uintptr_t)r->items[i].gpus[k].name);
			vpt_free((void *)(uintptr_t)r->items[i].gpus[k].uuid);
			vpt_free((void *)(uintptr_t)r->items[i].gpus[k].pci);
		}
		vpt_free(r->items[i].gpus);
	}
	vpt_free(r->items);
}

int vpa_export_ranks(const struct vpa_export_job *job, const char *const *paths, size_t count,
	const char *folder, struct vpa_export_totals *totals, struct vpt_err *err)
{
	struct ranks r = {vpt_calloc(count + 1, sizeof(*r.items)), count};
	struct vpt_sink *sink = job->sink;
	uint64_t before = sink->written_bytes;
	size_t i;
	int rc = VPT_OK;

	*totals = (struct vpa_export_totals){.complete = 1};
	if (!r.items)
		return vpt_fail(err, VPT_ENOMEM, "no memory to export traces");
	for (i = 0; i < count && !rc; i++) {
		r.items[i].path = paths[i];
		name_member(&r, i, vpt_container_suffix(job->options->container));
		rc = ask(&r.items[i], err);
	}
	if (!rc)
		rc = put_manifest(&r, sink, err);
	for (i = 0; i < count && !rc; i++) {
		struct vpa_export_totals one;

		rc = put_rank(&r, i, job, folder, &one, err);
		add_totals(totals, &one);
	}
	if (!rc)
		rc = vpt_tar_finish(sink, err);
	totals->bytes = sink->written_bytes - before;
	free_ranks(&r);
	return rc;
}
