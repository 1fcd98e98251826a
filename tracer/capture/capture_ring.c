/* capture_ring.c - a capture's flight recorder. */
#include "tracer/capture/capture_state.h"

#include "tracer/flight/flight_handover.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/settings/output_name.h"

#include <time.h>

/* What a snapshot may take besides the disk: CUPTI's flush and the end of a chunk. */
enum { SNAPSHOT_NS = 2000000000 };

static uint64_t patience_ns(const struct vtr_options *options)
{
	return (uint64_t)options->stop_timeout_ms * 1000000;
}

/* A ring of time may need as much as all the rest. */
int vtr_capture_ring_make(struct vtr_capture_ring *r, const struct vtr_options *options,
	struct vtr_writer_options *o, struct vpt_err *err)
{
	const struct vtr_ring *ring = &options->ring;
	struct vtr_flight_options fo = {
		.data_bytes = ring->bytes ? ring->bytes : options->memory_limit_bytes,
		.keep_ns = ring->keep_ns,
		.patience_ns = patience_ns(options),
		.header = o->header,
		.path = options->path,
		.ring = ring->text};
	int rc = vtr_flight_new(&fo, &r->flight, err);

	if (!rc)
		rc = vtr_snapshots_new(options, r->flight, &r->snapshots, err);
	if (rc)
		return rc;
	vtr_flight_hand_over(vtr_flight_descriptor(r->flight));
	o->flight = r->flight;
	o->sink = vtr_flight_sink(r->flight);
	o->chunk_bytes = fo.data_bytes / VTR_RING_CHUNKS;
	o->seen = vtr_snapshots_seen;
	o->seen_ctx = r->snapshots;
	return VPT_OK;
}

int vtr_capture_ring_take(struct vtr_capture_ring *r, const struct vtr_options *options,
	const char *path, struct vpt_err *err)
{
	char name[VTR_PATH_MAX];
	int rc;

	if (!r->snapshots)
		return vpt_fail(err, VPT_EDATA, "the capture has no ring: set VPTRACE_RING");
	if (path && *path) {
		rc = vtr_output_expand(path, options->rank, name, sizeof(name), err);
		if (rc) {
			vpt_err_at(err, "vptrace_snapshot");
			return rc;
		}
	}
	return vtr_snapshots_take(r->snapshots, path && *path ? name : NULL,
		vtr_clock_ns(CLOCK_MONOTONIC) + 2 * patience_ns(options) + SNAPSHOT_NS, err);
}

int vtr_capture_ring_end(struct vtr_capture_ring *r, const struct vtr_options *options,
	int writer_ended, struct vpt_err *err)
{
	int rc;

	if (!r->snapshots)
		return VPT_OK;
	rc = vtr_snapshots_finish(r->snapshots,
		writer_ended && vtr_snapshot_at_end(&options->snapshot_on),
		vtr_clock_ns(CLOCK_MONOTONIC) + patience_ns(options), err);
	if (rc == -1) {
		r->hangs = 1;
		return vpt_fail(err, VPT_EIO, "%.200s: writing did not end within %u ms",
			options->path, options->stop_timeout_ms);
	}
	/* Else the launcher tries. */
	if (!rc && writer_ended)
		vtr_flight_settle(r->flight);
	return rc;
}

void vtr_capture_ring_free(struct vtr_capture_ring *r)
{
	vtr_snapshots_free(r->snapshots);
	vtr_flight_free(r->flight);
}
