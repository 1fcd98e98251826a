/* idle.h - device time: when each GPU worked, when it stood idle, and why.
 *
 * A device is busy while any of its ops runs, on any stream, of any process; a gap is a longest stretch of the
 * window in which none does. The stretch before its first op and the one after its last are gaps too. */
#ifndef VPA_ANALYSIS_IDLE_H
#define VPA_ANALYSIS_IDLE_H

#include "analysis/gain.h"
#include "analysis/late.h"
#include "analysis/resolver.h"

/* Pieces in order of time. */
struct vpa_cause_pieces {
	struct vpa_cause_piece *items;
	size_t count, cap;
};

/* The gap that was explained last, and room for the work. */
struct vpa_answer {
	struct vpa_cause_pieces pieces;
	struct vpa_cause_pieces host_pieces; /* see struct vpa_gap */
	struct vpa_cause_pieces part;        /* of a gap that a pause cuts */
	struct vpa_cuts cuts, spare;
};

/* What a stream is known by to the gaps before its next op. */
struct vpa_idle_stream {
	uint64_t end_ns; /* latest end of its ops; 0 before the first */
	uint64_t id;     /* correlation id of its newest op */
	/* When the newest op was launched; where that is not known, when it began. And the same of the newest of another
	 * launch. 0: none. */
	uint64_t since_ns, other_since_ns;
};

enum { USED_KINDS = 64 };

/* What a stretch of time is covered by, most telling first: compute hides communication, both hide copies. */
struct vpa_idle_device {
	int seen; /* had an op of positive duration */
	uint64_t ops, first_ns;
	uint64_t
		cursor_ns; /* busy or accounted for until here; the window's start before the first op */
	uint64_t compute_end_ns,
		work_end_ns; /* ends of compute, and of compute and communication */
	uint64_t busy_ns, compute_ns, work_ns;
	uint64_t idle_ns; /* sum of the gaps so far, head included */
	uint64_t gaps, longest_gap_ns, histogram[VPA_GAP_BUCKETS]; /* without head and tail */
	uint64_t kernel_ns, small_grid_ns, same_stream_overlaps;
	uint32_t sm_count; /* 0: unknown */
	uint8_t newest; /* the op of the batch at hand that ended last; VPA_NO_OP: it is `last` */
	uint8_t has_last;
	struct vpa_op last; /* of former batches, without its launch and ranges */
	struct vpa_gain gain;
	uint8_t *used; /* by kernel: 1 if the device has run it */
	size_t used_count;
	/* The same of copies and memsets: a bit for each pair of memories, by kind and direction. */
	uint64_t used_copies[USED_KINDS];
};

struct vpa_idle {
	struct vpa_resolver *resolver;
	struct vpa_idle_device *devices;
	size_t device_count, device_cap;
	struct vpa_idle_stream *streams;
	size_t stream_cap;
	uint64_t paused_until_ns; /* no pause ends later, as far as is known */
	struct vpa_answer answer;
	int (*gap)(void *ctx, const struct vpa_gap *gap);
	void (*grown)(
		void *ctx); /* devices were met for the first time: their SMs may be told now */
	void *ctx;
};

/* A gap together with what it refers to. */
struct vpa_whole_gap {
	struct vpa_gap gap;
	struct vpa_op before, gating;
	struct vpa_cause_piece piece;
};

/* Takes the next ops: fills in what struct vpa_ops leaves to idle.h, and answers their gaps. Those that need more
 * than gap_cause are handed to gap(). */
int vpa_idle_ops(struct vpa_idle *s, struct vpa_ops *ops);

/* Op `i` began before the window, or with it: those of its name in the window are not the first, and its stream knows it.
 * 0 or VPT_ENOMEM. */
int vpa_idle_early(struct vpa_idle *s, const struct vpa_ops *ops, size_t i);

/* The batch is going: what devices have to remember of it is copied. */
void vpa_idle_done(struct vpa_idle *s, const struct vpa_ops *ops);

/* The gap that ends with op `i` of the batch at hand; its answer only where there is a gap_cause. */
void vpa_idle_gap(
	const struct vpa_idle *s, const struct vpa_ops *ops, size_t i, struct vpa_whole_gap *out);

/* How much of [start, end) was recorded: pauses are not. */
uint64_t vpa_idle_recorded_around(const struct vpa_idle *s, uint64_t start_ns, uint64_t end_ns);

static inline uint64_t vpa_idle_recorded_ns(
	const struct vpa_idle *s, uint64_t start_ns, uint64_t end_ns)
{
	return s->resolver->paused.count ? vpa_idle_recorded_around(s, start_ns, end_ns)
					 : end_ns - start_ns;
}

/* Calls that end before `until_ns` may be forgotten: what they mean to gaps that are to come is counted. */
void vpa_idle_pass(struct vpa_idle *s, uint64_t until_ns);

/* The window ends: hands out each device's tail. */
int vpa_idle_end(struct vpa_idle *s, uint64_t window_end_ns);

/* No gap will begin before this moment any more, but for devices that have stood idle for 30 s while another worked:
 * what they will ask for may have been forgotten. */
uint64_t vpa_idle_frontier(const struct vpa_idle *s);

void vpa_idle_free(struct vpa_idle *s);

#endif
