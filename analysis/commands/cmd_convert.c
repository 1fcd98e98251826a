/* cmd_convert.c - converts any trace to our own format: smaller than other tools' files, and readable
 * without their libraries.
 *
 * Works chunk by chunk, so memory does not grow with a capture. Left out: unreadable chunks, which are
 * reported, and additions of a newer version of the format. The copy records what is missing from it,
 * so that its verdict is that of the original. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/trust/completeness.h"
#include "formats/file/capture_writer.h"

#include <stdio.h>

enum { OUTPUT, LEVEL, MEMORY, FORCE, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[OUTPUT] = {"output", 'o', VPT_OUTPUT, "FILE", NULL,
		"write the capture to FILE; - is standard output"},
	[LEVEL] = {"level", 'l', VPT_NUMBER, "1..22", "1",
		"zstd level; a higher level is smaller and slower"},
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = VPA_FORCE_OPTION,
};

struct conversion {
	const char *path;
	const struct vpt_trace *trace;
	struct vpt_decoder *decoder;
	struct vpt_batch batch;
	struct vpt_writer *writer;
	struct vpa_completeness reading;
	struct vpt_batch notes; /* of what is missing */
	uint64_t holes;         /* reported */
	uint64_t events;
	int lossy;
};

/* Chunks of the file's own size fit the format, unless the file lied. */
static int put(struct conversion *c, struct vpt_batch *b, struct vpt_err *err)
{
	int rc = vpt_writer_put(c->writer, b, err);

	return rc == VPT_EINVAL && err ? err->code = VPT_EDATA : rc;
}

/* Writes a chunk that says so in place of unreadable ones. */
static int put_hole(struct conversion *c, struct vpt_err *err)
{
	int rc;

	if (c->holes == c->reading.holes)
		return VPT_OK;
	c->holes = c->reading.holes;
	vpt_batch_reset(&c->notes);
	vpa_completeness_tell_hole(&c->reading, &c->notes);
	rc = vpt_batch_error(&c->notes);
	return rc ? rc : put(c, &c->notes, err);
}

/* 0, or a failure after which nothing more can be written. */
static int convert_chunk(struct conversion *c, size_t index, struct vpt_err *err)
{
	int rc = vpt_trace_chunk(c->trace, c->decoder, index, &c->batch, err);

	if (rc == VPT_EDATA) {
		vpa_say("%s: left out: %s", c->path, err->text);
		return vpa_completeness_damage(&c->reading, index, err->text);
	}
	if (!rc)
		rc = vpa_completeness_chunk(&c->reading, index, &c->batch);
	if (!rc)
		rc = put_hole(c, err);
	if (rc)
		return rc;
	if (c->batch.unknown_sections) {
		vpa_say("%s: chunk %zu: left out %u sections of a newer format version", c->path,
			index, c->batch.unknown_sections);
		c->lossy = 1;
	}
	c->events += c->batch.event_count;
	return put(c, &c->batch, err);
}

/* What the copy does not show by itself: its file is whole. */
static int convert_end(struct conversion *c, struct vpt_err *err)
{
	int rc = put_hole(c, err);

	if (!rc)
		rc = vpa_completeness_end(&c->reading);
	vpt_batch_reset(&c->notes);
	if (rc || !vpa_completeness_tell_counts(&c->reading, &c->notes))
		return rc;
	c->notes.flags = c->reading.has_end ? VPT_BATCH_LAST : 0;
	rc = vpt_batch_error(&c->notes);
	return rc ? rc : put(c, &c->notes, err);
}

/* The window begins where it did, even if the header is unreadable. */
static int convert_all(struct conversion *c, int level, struct vpt_out *o, struct vpt_err *err)
{
	struct vpt_header header = *vpt_trace_header(c->trace);
	size_t count = vpt_trace_chunks(c->trace), i;
	int rc;

	header.t0_ns = vpt_trace_start(c->trace);
	if (vpt_trace_start_is_doubted(c->trace))
		header.t0_unix_ns = 0; /* which is that of another moment */
	rc = vpt_writer_open(o->sink, &header, level, &c->writer, err);
	vpa_completeness_begin(&c->reading, c->trace);
	for (i = 0; i < count && !rc && !vpa_interrupted(); i++)
		rc = convert_chunk(c, i, err);
	return rc || vpa_interrupted() ? rc : convert_end(c, err);
}

static void say_result(const struct conversion *c, const char *output, uint64_t bytes)
{
	char a_piece[48] = "";

	if (c->events)
		snprintf(a_piece, sizeof(a_piece), " (%.2f B/event)",
			(double)bytes / (double)c->events);
	vpa_say("wrote %llu events, %llu bytes%s to %s", (unsigned long long)c->events,
		(unsigned long long)bytes, a_piece, output);
}

static int run_conversion(struct conversion *c, const struct vpt_args *args, struct vpt_err *err)
{
	const char *output = vpt_text_of(args, OUTPUT);
	uint64_t bytes = 0;
	struct vpt_out o;
	int rc = vpt_out_open(&o, output, vpt_has(args, FORCE), err);

	if (rc)
		return rc;
	if (o.to_terminal) {
		vpt_out_close(&o, 0, NULL);
		return vpt_fail(
			err, VPT_EINVAL, "a capture is not written to a terminal: use -o FILE");
	}
	if (!o.to_stdout)
		vpa_interrupt_catch();
	o.failed = convert_all(c, (int)vpt_number_of(args, LEVEL), &o, &o.err);
	vpt_writer_free(c->writer);
	bytes = o.sink->written_bytes;
	rc = vpt_out_close(&o, !vpa_interrupted(), err);
	if (!rc && !vpa_interrupted())
		c->lossy |= vpa_say_missing(c->path, &c->reading);
	vpa_completeness_free(&c->reading);
	if (!rc && !vpa_interrupted())
		say_result(c, o.to_stdout ? "standard output" : output, bytes);
	return rc;
}

static int run(const struct vpt_args *args)
{
	struct conversion c = {.path = vpa_input_name(args->operands[0])};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	int rc = VPT_OK;

	vpt_batch_init(&c.batch);
	vpt_batch_init(&c.notes);
	if (!vpt_has(args, OUTPUT))
		rc = vpt_fail(&err, VPT_EINVAL, "convert: expected -o FILE, the capture to write");
	/* Before an import of minutes, not after it. */
	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = vpt_trace_open(args->operands[0], &trace, &err);
	if (!rc) {
		c.trace = trace;
		c.decoder = vpt_decoder_new();
		rc = c.decoder ? run_conversion(&c, args, &err)
			       : vpt_fail(&err, VPT_ENOMEM, "no memory for a decoder");
	}
	vpt_decoder_free(c.decoder);
	vpt_batch_free(&c.batch);
	vpt_batch_free(&c.notes);
	vpt_trace_close(trace);
	if (rc)
		return vpa_failed(&err);
	if (vpa_interrupted())
		return vpa_interrupt_die();
	return c.lossy ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_convert = {
	.program = VPA_PROGRAM,
	.name = "convert",
	.usage = "FILE -o trace.zst [options]",
	.help = "convert any trace to a vptrace capture",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
