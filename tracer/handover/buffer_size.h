/* buffer_size.h - how large a buffer a thread gets from us when CUPTI asks.
 *
 * CUPTI keeps a buffer until every record in it has its end. Beside a GPU that is never idle no flush
 * brings back the buffer in use: its newest record is of work that still runs. If the process dies, that
 * buffer is lost. So a thread gets an eighth of what it has filled in the last flush interval: buffers
 * of a busy thread fill in an eighth of an interval, large enough that few are needed. */
#ifndef VPTRACE_TRACER_HANDOVER_BUFFER_SIZE_H
#define VPTRACE_TRACER_HANDOVER_BUFFER_SIZE_H

#include "tracer/handover/buffer_pool.h"

#include <stddef.h>
#include <stdint.h>

enum { VTR_BUFFER_LEAST_BYTES = 16 << 10, VTR_BUFFERS_AN_INTERVAL = 8 };

/* What a thread got lately: in the interval since `since_ns`, and in the one before. Zeros: nothing. */
struct vtr_buffer_rate {
	uint64_t since_ns, bytes, bytes_before;
};

/* The size of a thread's next buffer at `now_ns`, which it is counted to have got: a multiple of 4 KiB,
 * VTR_BUFFER_LEAST_BYTES to VTR_BUFFER_BYTES. `interval_ns` 0: the largest, always. */
static inline size_t vtr_buffer_size(
	struct vtr_buffer_rate *r, uint64_t now_ns, uint64_t interval_ns)
{
	uint64_t elapsed_ns = now_ns - r->since_ns, size;

	if (!interval_ns)
		return VTR_BUFFER_BYTES;
	if (elapsed_ns >= interval_ns) {
		r->bytes_before = elapsed_ns < 2 * interval_ns ? r->bytes : 0;
		r->bytes = 0;
		r->since_ns = elapsed_ns < 2 * interval_ns ? r->since_ns + interval_ns : now_ns;
		elapsed_ns = now_ns - r->since_ns;
	}
	/* The last whole interval: all of this one, and the rest from the one before. */
	size = r->bytes + (uint64_t)((double)r->bytes_before * (double)(interval_ns - elapsed_ns) /
				     (double)interval_ns);
	size = size / VTR_BUFFERS_AN_INTERVAL / 4096 * 4096;
	size = size < VTR_BUFFER_LEAST_BYTES ? VTR_BUFFER_LEAST_BYTES : size;
	size = size < VTR_BUFFER_BYTES ? size : VTR_BUFFER_BYTES;
	r->bytes += size;
	return (size_t)size;
}

#endif
