/* ring_chunk.c - the opening chunk has all facts and devices, so a ring's other chunks have none:
 * an older value there would win over a newer one here. */
#include "tracer/flight/flight.h"

#include "tracer/clock/capture_clock.h"

#include <string.h>

static void put_opening(struct vtr_ring_chunk *c, struct vtr_flight *flight,
	struct vtr_about *about, struct vpt_writer *writer)
{
	struct vpt_err err = {0};
	int rc;

	vpt_batch_reset(&c->opening);
	vtr_about_again(about);
	vtr_about_put(about, &c->opening);
	rc = vpt_batch_error(&c->opening);
	if (!rc) {
		vtr_flight_describe_about(flight);
		vpt_writer_number(writer, VPT_SEQUENCE_OPENING);
		rc = vpt_writer_put(writer, &c->opening, &err);
	}
	if (rc)
		vtr_about_again(about);
}

void vtr_ring_chunk_describe(struct vtr_ring_chunk *c, struct vtr_flight *flight,
	struct vtr_about *about, struct vpt_writer *writer, uint64_t number,
	const uint64_t counts[3])
{
	struct vtr_image_frame frame = {
		.to_ns = vtr_now(), .cut_ns = c->cut_ns, .complete_until_ns = c->complete_until_ns};

	memcpy(frame.with, counts, sizeof(frame.with));
	if (vtr_about_is_fresh(about))
		put_opening(c, flight, about, writer);
	vpt_writer_number(writer, number);
	vtr_flight_describe(flight, &frame);
}
