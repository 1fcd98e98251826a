/* any_trace.h - opens any supported trace for reading: a capture of ours, a trace from PyTorch's
 * profiler, or an Nsight Systems export. Callers see chunks, whatever the format. */
#ifndef VPT_FORMATS_IMPORT_ANY_TRACE_H
#define VPT_FORMATS_IMPORT_ANY_TRACE_H

#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"
#include "formats/file/capture_reader.h"
#include "formats/import/import.h"

struct vpt_trace;

enum vpt_trace_format {
	VPT_FORMAT_CAPTURE,
#define VPT_FORMAT(id, name) VPT_FORMAT_##id,
#include "formats/import/importers.def"
};

/* Opens `path` and detects the format from its bytes. VPT_EDATA: not a trace; the message says what
 * to do if that is known. VPT_EUNSUPPORTED: this build lacks the importer. */
int vpt_trace_open(const char *path, struct vpt_trace **out, struct vpt_err *err);

/* The same for a source. Takes it: closes it with the trace, and on failure. */
int vpt_trace_open_source(struct vpt_source *src, struct vpt_trace **out, struct vpt_err *err);
void vpt_trace_close(struct vpt_trace *t); /* accepts NULL */

enum vpt_trace_format vpt_trace_format(const struct vpt_trace *t);
const char *vpt_trace_format_name(const struct vpt_trace *t); /* "vptrace", "kineto", "nsight" */
const struct vpt_header *vpt_trace_header(const struct vpt_trace *t);

/* Where the window begins: the start that the header gives, unless the header is damaged or its start cannot be
 * true; then the earliest time in the file. */
uint64_t vpt_trace_start(const struct vpt_trace *t);
/* Whether the header gives a start after everything in the file. */
int vpt_trace_start_is_doubted(const struct vpt_trace *t);

size_t vpt_trace_chunks(const struct vpt_trace *t);

/* A lower bound on the times in chunks from `index` on: the smallest t_min among them, ~0 if there
 * are none. A table lookup. */
uint64_t vpt_trace_times_from(const struct vpt_trace *t, size_t index);

/* Decodes chunk `index`. VPT_EDATA: it is damaged; go on with the next. Any thread, with its own
 * decoder and batch. */
int vpt_trace_chunk(const struct vpt_trace *t, struct vpt_decoder *d, size_t index,
	struct vpt_batch *out, struct vpt_err *err);

/* The reader is NULL for an imported file, the statistics for a capture. */
const struct vpt_reader *vpt_trace_reader(const struct vpt_trace *t);
const struct vpt_import_stats *vpt_trace_import_stats(const struct vpt_trace *t);

/* The size of the file or input. */
uint64_t vpt_trace_size_bytes(const struct vpt_trace *t);

#endif
