/* any_trace.c - detects the format of a file, and gives captures and imports one interface. */
#include "formats/import/any_trace.h"

#include "formats/base/cost_limits.h"
#include "formats/base/memory.h"
#include "formats/import/refused_formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

struct vpt_trace {
	enum vpt_trace_format format;
	struct vpt_reader *reader;
	struct vpt_collect *collect;
	struct vpt_import_stats stats;
	uint64_t *times_from; /* by chunk */
	uint64_t start_ns;
	int start_is_doubted;
	uint64_t size_bytes;
};

/* A format that this build cannot read has NULL as its importer; the entry names the missing
 * package. */
static const struct known {
	enum vpt_trace_format format;
	const struct vpt_importer *importer;
	const char *magic;
	size_t magic_len;
	const char *missing;
} importers[] = {
#define VPT_IMPORTER(id, name)          {VPT_FORMAT_##id, &vpt_import_##name, NULL, 0, NULL},
#define VPT_MISSING(id, magic, package) {VPT_FORMAT_##id, NULL, magic, sizeof(magic) - 1, package},
#include "formats/import/importers.def"
};

static int not_a_trace(const unsigned char *head, size_t head_size, const char *name, uint64_t size,
	struct vpt_err *err)
{
	const char *reason;

	if (!size)
		return vpt_fail(
			err, VPT_EDATA, "the file is empty: expected " VPT_TRACE_FILES(" "));
	reason = vpt_foreign_reason(head, head_size, name);
	if (reason)
		return vpt_fail(err, VPT_EDATA, "%s", reason);
	return vpt_fail(err, VPT_EDATA, "unknown trace format: expected " VPT_TRACE_FILES(" "));
}

static int import(struct vpt_trace *t, const struct vpt_importer *importer, struct vpt_source *src,
	struct vpt_err *err)
{
	int rc;

	t->collect = vpt_collect_new();
	if (!t->collect)
		return vpt_fail(err, VPT_ENOMEM, "no memory for an import");
	rc = importer->read(src, t->collect, &t->stats, err);
	if (!rc)
		rc = vpt_collect_finish(t->collect, err);
	t->stats.doubts = *vpt_collect_doubts(t->collect);
	return rc;
}

/* What the first frames of a zstd file hold: *held bytes; 0: nothing that can be read, since the first block is
 * damaged or, if *is_cut, the file ends inside it. 0 or VPT_ENOMEM. */
static int zstd_head(struct vpt_source *src, unsigned char *head, size_t size, size_t *held,
	int *is_cut, struct vpt_err *err)
{
	enum { FIRST_BLOCK = (128 << 10) + 1024 };
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	char *bytes = vpt_alloc(FIRST_BLOCK, 1);
	ZSTD_outBuffer out = {head, size, 0};
	ZSTD_inBuffer in = {bytes, 0, 0};
	size_t rc = 0, got = 0;

	if (zstd && bytes && !src->read_at(src, 0, bytes, FIRST_BLOCK, &got, NULL) &&
		!ZSTD_isError(
			ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, VPT_WINDOW_LOG_MAX))) {
		in.size = got;
		do {
			got = in.pos + out.pos;
			rc = ZSTD_decompressStream(zstd, &out, &in);
		} while (!ZSTD_isError(rc) && out.pos < out.size && in.pos + out.pos > got);
	}
	*held = out.pos;
	*is_cut = !out.pos && rc && !ZSTD_isError(rc) && in.pos == in.size && in.size < FIRST_BLOCK;
	rc = zstd && bytes;
	ZSTD_freeDCtx(zstd);
	vpt_free(bytes);
	return rc ? VPT_OK : vpt_fail(err, VPT_ENOMEM, "no memory to unpack the head of a file");
}

/* The importer of a format that begins so. */
static const struct known *find_format(const unsigned char *head, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(importers) / sizeof(importers[0]); i++) {
		const struct vpt_importer *importer = importers[i].importer;

		if (importer ? importer->probe(head, size)
			     : size >= importers[i].magic_len &&
					!memcmp(head, importers[i].magic, importers[i].magic_len))
			return &importers[i];
	}
	return NULL;
}

static int open_import(struct vpt_trace *t, struct vpt_source *src, const struct known *known,
	int is_zstd, struct vpt_err *err)
{
	t->format = known->format;
	if (!known->importer)
		return vpt_fail(err, VPT_EUNSUPPORTED,
			"this vptrace-analyze was built without %s, which this kind of file "
			"requires",
			known->missing);
	if (is_zstd && !known->importer->reads_zstd)
		return vpt_fail(err, VPT_EUNSUPPORTED,
			"a file compressed by zstd: unpack it with: zstd -d FILE");
	return import(t, known->importer, src, err);
}

static int packed_reason(const char *reason, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EDATA, "a file compressed by zstd, and in it %s", reason);
}

static int unreadable(int is_cut, uint64_t size, struct vpt_err *err)
{
	static const char remedy[] = "nothing of it can be read; if a copy truncated or damaged "
				     "the file, copy it again";

	return is_cut ? vpt_fail(err, VPT_EDATA,
				"a file compressed by zstd ends at byte %" PRIu64
				", inside its first block: %s",
				size, remedy)
		      : vpt_fail(err, VPT_EDATA,
				"a file compressed by zstd, whose first block is damaged: %s",
				remedy);
}

/* Takes the source. */
static int open_as(struct vpt_trace *t, struct vpt_source *src, struct vpt_err *err)
{
	unsigned char head[4096];
	const struct known *known;
	const char *reason, *name = src->name ? src->name : "";
	char name_copy[256];
	uint64_t size = src->size_bytes;
	size_t got = 0;
	int rc = src->read_at(src, 0, head, sizeof(head), &got, err), compressed, is_cut = 0;

	if (rc)
		goto out;
	compressed = vpt_is_zstd(head, got);
	if (compressed)
		rc = zstd_head(src, head, sizeof(head), &got, &is_cut, err);
	if (rc)
		goto out;
	reason = vpt_foreign_reason(head, got, NULL);
	known = reason ? NULL : find_format(head, got);
	if (known)
		rc = open_import(t, src, known, compressed, err);
	else if (reason)
		rc = compressed ? packed_reason(reason, err)
				: vpt_fail(err, VPT_EDATA, "%s", reason);
	if (known || reason)
		goto out;
	/* A damaged first frame hides the magic, but the file may still contain our chunks. */
	snprintf(name_copy, sizeof(name_copy), "%s", name);
	t->format = VPT_FORMAT_CAPTURE;
	rc = vpt_reader_open(src, &t->reader, err);
	if (rc == VPT_EDATA && !compressed)
		rc = not_a_trace(head, got, name_copy, size, err);
	if (rc == VPT_EDATA && compressed && !got)
		return unreadable(is_cut, size, err);
	reason = compressed ? vpt_foreign_reason(head, got, "") : NULL;
	return rc == VPT_EDATA && reason ? packed_reason(reason, err) : rc;
out:
	vpt_source_close(src);
	return rc;
}

static int list_times(struct vpt_trace *t, struct vpt_err *err)
{
	size_t count = vpt_trace_chunks(t), i;

	t->times_from = vpt_alloc(count + 1, sizeof(*t->times_from));
	if (!t->times_from)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the times of %zu chunks", count);
	t->times_from[count] = UINT64_MAX;
	for (i = count; i-- > 0;) {
		uint64_t t_min = t->reader ? vpt_reader_info(t->reader, i)->t_min_ns
					   : vpt_collect_t_min(t->collect, i);

		t->times_from[i] = t_min < t->times_from[i + 1] ? t_min : t->times_from[i + 1];
	}
	return VPT_OK;
}

/* The end of the last event of a capture, as its chunks claim; 0: unknown. */
static uint64_t latest(const struct vpt_reader *r)
{
	uint64_t t_max = 0;
	size_t i;

	for (i = 0; i < vpt_reader_chunks(r); i++) {
		const struct vpt_chunk_info *info = vpt_reader_info(r, i);

		if (info->state != VPT_CHUNK_DAMAGED && info->t_max_ns > t_max)
			t_max = info->t_max_ns;
	}
	return t_max;
}

/* A window that begins after every event would be empty, and the capture would look complete. */
static void find_start(struct vpt_trace *t)
{
	uint64_t last = t->reader ? latest(t->reader) : 0, first = t->times_from[0];
	int is_damaged = t->reader && vpt_reader_header_damaged(t->reader);

	t->start_ns = vpt_trace_header(t)->t0_ns;
	t->start_is_doubted = last && last <= t->start_ns && first < t->start_ns;
	if (t->start_is_doubted || (is_damaged && first != UINT64_MAX))
		t->start_ns = first;
}

int vpt_trace_open_source(struct vpt_source *src, struct vpt_trace **out, struct vpt_err *err)
{
	struct vpt_trace *t = vpt_calloc(1, sizeof(*t));
	uint64_t size = src->size_bytes;
	int rc;

	*out = NULL;
	vpt_limits_add_file(size);
	if (!t) {
		vpt_source_close(src);
		return vpt_fail(err, VPT_ENOMEM, "no memory to open a trace");
	}
	t->size_bytes = size;
	rc = open_as(t, src, err);
	if (!rc)
		rc = list_times(t, err);
	if (!rc) {
		find_start(t);
		*out = t;
		t = NULL;
	}
	vpt_trace_close(t);
	return rc;
}

int vpt_trace_open(const char *path, struct vpt_trace **out, struct vpt_err *err)
{
	struct vpt_source *src;
	int rc;

	*out = NULL;
	rc = vpt_source_open(path, &src, err);
	if (rc)
		return rc;
	rc = vpt_trace_open_source(src, out, err);
	if (rc)
		vpt_err_at(err, !vpt_is_standard(path) ? path : "standard input");
	return rc;
}

void vpt_trace_close(struct vpt_trace *t)
{
	if (!t)
		return;
	vpt_reader_free(t->reader);
	vpt_collect_free(t->collect);
	vpt_free(t->times_from);
	vpt_free(t);
}

enum vpt_trace_format vpt_trace_format(const struct vpt_trace *t)
{
	return t->format;
}

const char *vpt_trace_format_name(const struct vpt_trace *t)
{
	static const char *const names[] = {
		"vptrace",
#define VPT_FORMAT(id, name) #name,
#include "formats/base/text.h"
#include "formats/import/importers.def"
	};

	return names[t->format];
}

const struct vpt_header *vpt_trace_header(const struct vpt_trace *t)
{
	return t->reader ? vpt_reader_header(t->reader) : vpt_collect_header(t->collect);
}

uint64_t vpt_trace_start(const struct vpt_trace *t)
{
	return t->start_ns;
}

int vpt_trace_start_is_doubted(const struct vpt_trace *t)
{
	return t->start_is_doubted;
}

size_t vpt_trace_chunks(const struct vpt_trace *t)
{
	return t->reader ? vpt_reader_chunks(t->reader) : vpt_collect_chunks(t->collect);
}

uint64_t vpt_trace_times_from(const struct vpt_trace *t, size_t index)
{
	return t->times_from[index];
}

int vpt_trace_chunk(const struct vpt_trace *t, struct vpt_decoder *d, size_t index,
	struct vpt_batch *out, struct vpt_err *err)
{
	return t->reader ? vpt_reader_chunk(t->reader, d, index, out, err)
			 : vpt_collect_chunk(t->collect, index, out, err);
}

const struct vpt_reader *vpt_trace_reader(const struct vpt_trace *t)
{
	return t->reader;
}

uint64_t vpt_trace_size_bytes(const struct vpt_trace *t)
{
	return t->size_bytes;
}

const struct vpt_import_stats *vpt_trace_import_stats(const struct vpt_trace *t)
{
	return t->collect ? &t->stats : NULL;
}
