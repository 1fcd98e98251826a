/* idle_devices.h - what each device did, over all its streams: busy and idle time, and the length
 * of the gap before each op. idle_gaps.h explains the gaps. */
#ifndef VPA_ANALYSIS_IDLE_IDLE_DEVICES_H
#define VPA_ANALYSIS_IDLE_IDLE_DEVICES_H

#include "analysis/idle/gap_causes.h"

/* What the gaps before a stream's next op need to know about it. */
struct vpa_idle_stream {
	/* Ops that began and ended while another ran, which ends at `outer_ns`: how many, one after the
	 * other; when the first began and the last ended. last_id: correlation id of the op that ends
	 * last, of those that did not begin after all others. */
	uint64_t outer_ns, inside, inside_start_ns, inside_end_ns, last_id;
	uint64_t end_ns; /* latest end of its ops; 0 before the first */
	uint64_t id;     /* correlation id of its newest op */
	/* When the newest op was launched; if that is unknown, when it began. other_since_ns: the
	 * same for the newest op of another launch. 0: none. */
	uint64_t since_ns, other_since_ns;
};

enum { USED_KINDS = 64 };

/* What covers a stretch of time, highest priority first: compute hides communication, both hide
 * copies. */
struct vpa_idle_device {
	uint64_t too_long_ops, doubted_ns; /* of the report's device */
	int seen;                          /* had an op of positive duration */
	uint64_t ops, first_ns;
	/* Busy or accounted for up to here; the window's start before the first op. */
	uint64_t cursor_ns;
	/* Ends of compute, and of compute and communication together. */
	uint64_t compute_end_ns, work_end_ns;
	uint64_t busy_ns, compute_ns, work_ns;
	uint64_t idle_ns; /* sum of the gaps so far, head included */
	uint64_t gaps, longest_gap_ns, histogram[VPA_GAP_BUCKETS]; /* without head and tail */
	uint64_t kernel_ns, small_grid_ns, same_stream_overlaps;
	uint32_t sm_count; /* 0: unknown */
	uint8_t newest; /* the op of the current batch that ended last; VPA_NO_OP: it is `last` */
	uint8_t has_last;
	struct vpa_op last; /* of earlier batches, without its launch and ranges */
	struct vpa_gain gain;
	uint8_t *used; /* by kernel: 1 if the device has run it */
	size_t used_cap, kernels_used;
	/* The same for copies and memsets: one bit per pair of memories, by kind and direction. */
	uint64_t used_copies[USED_KINDS];
};

/* The two devices whose ops end last: the second is the answer for the first. */
struct vpa_idle_ends {
	uint32_t device[2];
	uint64_t end_ns[2]; /* 0: none yet */
};

struct vpa_idle {
	struct vpa_resolver *resolver;
	/* Of the ops of earlier runs that began before newest_start_ns; of all of them. */
	struct vpa_idle_ends before, all;
	uint64_t newest_start_ns;
	struct vpa_idle_device *devices;
	size_t device_count, device_cap;
	struct vpa_idle_stream *streams;
	size_t stream_cap;
	uint64_t paused_until_ns; /* as far as is known, no pause ends later */
	/* Set by the owner. 1: emits each gap that the host made on its own. */
	int each;
	size_t stretch; /* of the current batch: that of the op explained last */
	struct vpa_gain_gap
		late; /* the gap that is being counted: between two of them its ns are 0 */
	struct vpa_answer answer;
	struct vpa_cause_pieces part, host_part; /* of a gap that a pause splits */
	int (*gap)(void *ctx, const struct vpa_gap *gap);
	/* A device was seen for the first time: its SM count may be set now. */
	void (*grown)(void *ctx);
	void *ctx;
};

/* Makes room for a device and a stream with these numbers. 0 or VPT_ENOMEM. */
int vpa_idle_room(struct vpa_idle *s, uint32_t device, uint32_t stream);

/* Takes ops of one stream, from `begin` up to `end` at most, as a new run of the batch; returns
 * where the run ends. `*other` is the first of ops->others from `begin` on; it is advanced past the
 * run. */
size_t vpa_idle_run(
	struct vpa_idle *s, struct vpa_ops *ops, size_t begin, size_t end, size_t *other);

/* Lists the ops that are the first of their name on their device. `other` is the first of
 * ops->others from `begin` on. 0 or VPT_ENOMEM. */
int vpa_idle_find_firsts(
	struct vpa_idle *s, struct vpa_ops *ops, size_t begin, size_t end, size_t other);

/* The device has run op `i`; nothing else is noted of it. 0 or VPT_ENOMEM. */
int vpa_idle_use(struct vpa_idle *s, const struct vpa_ops *ops, size_t i);

/* The run's gaps are explained: notes when its ops end. */
void vpa_idle_note_ends(
	struct vpa_idle *s, const struct vpa_ops *ops, const struct vpa_op_run *run);

/* The latest end of the ops of other devices that began before op `i` of the newest run; 0: there is none. */
static inline uint64_t vpa_idle_others_end(
	const struct vpa_idle *s, const struct vpa_ops *ops, size_t i)
{
	const struct vpa_idle_ends *e =
		ops->start_ns[i] > s->newest_start_ns ? &s->all : &s->before;

	return e->end_ns[e->device[0] == ops->device[i]];
}

/* Notes the id and launch time of the stream's newest op. */
static inline void vpa_idle_note_launch(
	struct vpa_idle_stream *stream, uint64_t id, uint64_t since_ns)
{
	if (!id || id != stream->id) {
		stream->other_since_ns = stream->since_ns;
		stream->id = id;
	}
	stream->since_ns = since_ns;
}

#endif
