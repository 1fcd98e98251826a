/* flight_file.c - a capture from the frames of a ring: they are copied as they are; only the header
 * and the last chunk are new. */
#include "tracer/flight/flight_file.h"

#include "formats/base/memory.h"
#include "formats/file/capture_writer.h"
#include "formats/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct copy {
	struct vtr_flight_view *view;
	struct vpt_sink *sink;
	unsigned char *buffer;
	struct vtr_image_frame first, last;
};

static void put_fact(struct vpt_batch *b, enum vpt_metadata fact, const char *value)
{
	const char *key = vpt_metadata_key(fact);
	struct vpt_meta row = {.key = vpt_batch_string(b, key, strlen(key)),
		.value = vpt_batch_string(b, value, strlen(value))};

	vpt_batch_put(b, VPT_META, 0, &row);
}

static int lacks_the_end(const struct copy *c, const struct vtr_flight_why *why)
{
	return why->is_cut_off && (!why->asked_ns || c->last.complete_until_ns < why->asked_ns);
}

/* When the file ends: with its newest chunk, or later if that is not all. */
static uint64_t end_of_file(const struct copy *c, const struct vtr_flight_why *why)
{
	return why->is_cut_off && why->asked_ns > c->last.cut_ns ? why->asked_ns : c->last.cut_ns;
}

/* What a running recording had not got by then is a loss of this file. */
static void put_loss(const struct copy *c, const struct vtr_flight_why *why, struct vpt_batch *b)
{
	uint64_t from_ns = why->held_ns, to_ns = end_of_file(c, why);

	if (lacks_the_end(c, why) && (!from_ns || c->last.complete_until_ns < from_ns))
		from_ns = c->last.complete_until_ns;
	if (!from_ns)
		return;
	from_ns = from_ns < c->first.from_ns ? c->first.from_ns : from_ns;
	to_ns = from_ns < to_ns ? to_ns : from_ns + 1;
	vpt_batch_put(b, VPT_LOSS, 0,
		&(struct vpt_loss){.start_ns = from_ns,
			.duration_ns = to_ns - from_ns,
			.loss_kind = VPT_LOSSKIND_UNDELIVERED});
}

/* The last chunk: counts of the kept chunks alone, the end, and why the file was written. */
static int put_last(struct copy *c, const struct vtr_flight_why *why, struct vpt_writer *writer,
	struct vpt_err *err)
{
	const uint64_t *before = c->first.before, *with = c->last.with;
	struct vpt_stats stats = {.received = with[0] - before[0],
		.dropped = with[1] - before[1],
		.invalid = with[2] - before[2]};
	struct vpt_clock clock = {.trace_ns = end_of_file(c, why)};
	struct vpt_batch b;
	char text[32];
	int rc;

	vpt_batch_init(&b);
	b.flags = VPT_BATCH_LAST;
	put_fact(&b, VPT_METADATA_RING, why->ring);
	put_fact(&b, VPT_METADATA_RING_CAUSE, why->cause);
	if (!why->is_complete) {
		snprintf(text, sizeof(text), "%" PRIu64, c->last.complete_until_ns);
		put_fact(&b, VPT_METADATA_RING_COMPLETE, text);
	}
	put_loss(c, why, &b);
	vpt_batch_put(&b, VPT_STATS, 0, &stats);
	vpt_batch_put(&b, VPT_CLOCK, 0, &clock);
	rc = vpt_batch_error(&b) ? vpt_fail(err, VPT_ENOMEM, "no memory for a last chunk") : VPT_OK;
	vpt_writer_number(writer, c->last.number + 1);
	if (!rc)
		rc = vpt_writer_put(writer, &b, err);
	vpt_batch_free(&b);
	return rc;
}

/* The header needs the first frame's beginning: read that one first. */
static int begin(struct copy *c, struct vpt_writer **writer, struct vpt_err *err)
{
	struct vpt_header header = c->view->header;
	int64_t to_unix_ns = (int64_t)(header.t0_unix_ns - header.t0_ns);
	int rc = c->view->frame(c->view, c->view->first, &c->first, c->buffer, err);

	if (rc)
		return rc;
	c->last = c->first;
	header.t0_ns = c->first.from_ns;
	header.t0_unix_ns =
		header.t0_unix_ns ? header.t0_ns + (uint64_t)to_unix_ns : header.t0_unix_ns;
	header.capture_id ^= c->first.from_ns << 1; /* a recording of its own */
	header.flags |= VPT_FLAGS_RING;
	return vpt_writer_open(c->sink, &header, 1, writer, err);
}

static int copy_about(struct copy *c, struct vpt_err *err)
{
	unsigned char *about = vpt_alloc(VTR_IMAGE_ABOUT_BYTES, 1);
	size_t bytes = 0;
	int rc = about ? c->view->about(c->view, about, &bytes, err)
		       : vpt_fail(err, VPT_ENOMEM, "no memory for a ring's opening chunk");

	if (!rc && bytes)
		rc = vpt_sink_write(c->sink, about, bytes, err);
	vpt_free(about);
	return rc;
}

static int copy_frames(struct copy *c, struct vpt_err *err)
{
	uint64_t number = c->view->first, end = number + c->view->count;
	int rc = vpt_sink_write(c->sink, c->buffer, (size_t)c->first.bytes, err);

	for (number++; number < end && !rc; number++) {
		rc = c->view->frame(c->view, number, &c->last, c->buffer, err);
		if (!rc)
			rc = vpt_sink_write(c->sink, c->buffer, (size_t)c->last.bytes, err);
	}
	return rc;
}

int vtr_flight_write(struct vtr_flight_view *view, const struct vtr_flight_why *why,
	struct vpt_sink *sink, struct vpt_err *err)
{
	struct copy c = {.view = view, .sink = sink};
	struct vpt_writer *writer = NULL;
	int rc;

	if (!view->count)
		return vpt_fail(err, VPT_EDATA, "nothing has been recorded yet");
	c.buffer = vpt_alloc(view->most_bytes, 1);
	if (!c.buffer)
		return vpt_fail(err, VPT_ENOMEM, "no memory to write a ring");
	rc = begin(&c, &writer, err);
	if (!rc)
		rc = copy_about(&c, err);
	if (!rc)
		rc = copy_frames(&c, err);
	if (!rc)
		rc = put_last(&c, why, writer, err);
	vpt_writer_free(writer);
	vpt_free(c.buffer);
	return rc;
}
