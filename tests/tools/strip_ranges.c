/* strip_ranges.c - a trace without its ranges and marks, written as a capture: what a program that marks
 * nothing would have left.
 *
 *	strip_ranges FILE CAPTURE */
#include "formats/io/io.h"
#include "formats/chunk/batch.h"
#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"

#include <stdio.h>

/* Empties the sections of these kinds. STATS would miss what is gone. */
static void strip(struct vpt_batch *b)
{
	size_t i;

	for (i = 0; i < b->section_count; i++) {
		struct vpt_section *s = &b->sections[i];

		if (s->kind != VPT_RANGE && s->kind != VPT_MARK && s->kind != VPT_OPEN &&
			s->kind != VPT_STATS)
			continue;
		if (s->kind == VPT_RANGE || s->kind == VPT_MARK)
			b->event_count -= s->row_count;
		s->row_count = 0;
	}
}

static int copy(const struct vpt_trace *trace, struct vpt_writer *writer, struct vpt_err *err)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_batch batch;
	size_t i;
	int rc = decoder ? VPT_OK : VPT_ENOMEM;

	vpt_batch_init(&batch);
	for (i = 0; i < vpt_trace_chunks(trace) && !rc; i++) {
		rc = vpt_trace_chunk(trace, decoder, i, &batch, err);
		strip(&batch);
		if (!rc)
			rc = vpt_writer_put(writer, &batch, err);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return rc;
}

int main(int argc, char **argv)
{
	struct vpt_trace *trace = NULL;
	struct vpt_writer *writer = NULL;
	struct vpt_sink *sink = NULL;
	struct vpt_err err = {0};
	int rc = argc == 3 ? vpt_trace_open(argv[1], &trace, &err) : VPT_EINVAL;

	if (!rc)
		rc = vpt_sink_open(argv[2], 0, &sink, &err);
	if (!rc)
		rc = vpt_writer_open(sink, vpt_trace_header(trace), 0, &writer, &err);
	if (!rc)
		rc = copy(trace, writer, &err);
	vpt_writer_free(writer);
	if (sink && sink->finish(sink, !rc, &err) && !rc)
		rc = VPT_EIO;
	vpt_trace_close(trace);
	if (rc)
		fprintf(stderr, "strip_ranges: %s\n",
			argc == 3 ? err.text : "expected FILE CAPTURE");
	return rc ? 1 : 0;
}
