/* ring_chunk.h - what a chunk needs besides its rows to go into a flight recorder's ring: its
 * description, and the opening chunk that repeats facts and devices. The writer's thread only. */
#ifndef VPTRACE_TRACER_FLIGHT_RING_CHUNK_H
#define VPTRACE_TRACER_FLIGHT_RING_CHUNK_H

#include "formats/file/capture_writer.h"
#include "tracer/flight/flight.h"
#include "tracer/write/run_description.h"

/* All zeros but for the batch, which is initialised. */
struct vtr_ring_chunk {
	struct vpt_batch opening;
	uint64_t cut_ns, complete_until_ns; /* see flight_image.h */
};

/* Before a chunk is put: writes the opening chunk again if a fact or a device is new, and describes
 * the chunk, which has this number. `counts`: received, dropped, invalid, with this chunk. Without
 * memory the opening chunk stays as it is, and the next call tries again. */
void vtr_ring_chunk_describe(struct vtr_ring_chunk *c, struct vtr_flight *flight,
	struct vtr_about *about, struct vpt_writer *writer, uint64_t number,
	const uint64_t counts[3]);

#endif
