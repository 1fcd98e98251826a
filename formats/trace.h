/* trace.h - any file that holds GPU events, opened for reading: a capture of ours, what PyTorch's profiler
 * wrote, or an Nsight Systems export. What follows sees chunks and never asks where they came from. */
#ifndef VPT_FORMATS_TRACE_H
#define VPT_FORMATS_TRACE_H

#include "formats/batch.h"
#include "formats/capture.h"
#include "formats/import/import.h"
#include "formats/reader.h"

struct vpt_trace;

enum vpt_trace_format { VPT_FORMAT_CAPTURE, VPT_FORMAT_KINETO, VPT_FORMAT_NSIGHT };

/* Opens `path` and finds out what it is from its bytes. VPT_EDATA: not a trace, with a sentence that says
 * what to do where that is known; VPT_EUNSUPPORTED: this build lacks the importer. */
int vpt_trace_open(const char *path, struct vpt_trace **out, struct vpt_err *err);

/* The same for a source, which is taken (closed with the trace, and on failure). */
int vpt_trace_open_source(struct vpt_source *src, struct vpt_trace **out, struct vpt_err *err);
void vpt_trace_close(struct vpt_trace *t); /* accepts NULL */

enum vpt_trace_format vpt_trace_format(const struct vpt_trace *t);
const char *vpt_trace_format_name(const struct vpt_trace *t); /* "vptrace", "kineto", "nsight" */
const struct vpt_header *vpt_trace_header(const struct vpt_trace *t);

size_t vpt_trace_chunks(const struct vpt_trace *t);

/* A lower bound of the times that chunks from `index` on can still bring: the smallest t_min among them;
 * ~0 when there are none. Costs nothing. */
uint64_t vpt_trace_times_from(const struct vpt_trace *t, size_t index);

/* Decodes chunk `index`. VPT_EDATA: it is damaged, go on. Any thread with its own decoder and batch. */
int vpt_trace_chunk(const struct vpt_trace *t, struct vpt_decoder *d, size_t index,
	struct vpt_batch *out, struct vpt_err *err);

/* NULL for the other kind of file. */
const struct vpt_reader *vpt_trace_reader(const struct vpt_trace *t);
const struct vpt_import_stats *vpt_trace_import_stats(const struct vpt_trace *t);

/* Of the file or input that it was read from. */
uint64_t vpt_trace_size_bytes(const struct vpt_trace *t);

#endif
