/* tape.h - the calls and ops of a trace in the order in which they happened, joined: what a replay runs over.
 *
 *	chunks -> rows -> calls (outermost ones), ops, ranges: by start
 *	       -> each op with the call that launched it, each call with its ops
 *
 * A part of the trace is in memory at a time, about 130 bytes for a call or op. What came before a part begins again with
 * it, so that its first calls and ops have what they hang on. */
#ifndef VPA_ANALYSIS_RETIME_TAPE_H
#define VPA_ANALYSIS_RETIME_TAPE_H

#include "formats/base/error.h"
#include "formats/chunk/strings.h"

#include <stddef.h>
#include <stdint.h>

struct vpt_trace;

/* "No such row" in every member that is a row number. */
#define VPA_TAPE_NONE UINT32_MAX

struct vpa_tape_op {
	uint64_t start_ns, end_ns;
	uint64_t bytes;        /* of a copy or memset */
	uint32_t call;         /* that launched it; NONE: not known, or it began before that call */
	uint32_t stream, name; /* name: of a kernel; 0: a copy or memset */
	uint8_t is_kernel, copy_kind, source_memory, target_memory;
	uint8_t family; /* enum vpa_family, of a kernel */
	/* Filled in by edges.h. */
	uint8_t binding;   /* enum vpa_binding: what explains its start */
	uint32_t event;    /* the op of another stream that it waits for; NONE */
	uint32_t row;      /* as it was read, until they are in order */
	uint32_t blocks;   /* of a kernel's grid along x, saturated; 0: not known */
	int64_t launch_ns; /* from its anchor to its start, at least; VPA_EDGE_NONE: no such edge */
	int64_t stream_ns; /* the same from the end of the op before it on its stream */
	int64_t event_ns;  /* the same from the end of `event` */
	uint32_t anchor;   /* 1: of the call's end; 0: of its start */
};

struct vpa_tape_call {
	uint64_t start_ns, end_ns; /* the end is cut where the thread's next call begins earlier */
	uint32_t thread, name;
	uint32_t op, op_count;    /* ops[launched[op]] and the following, by start */
	uint8_t klass;            /* enum vpt_call_class */
	uint8_t is_nested_launch; /* a call inside it launches */
	/* Filled in by edges.h. */
	uint8_t waits;    /* enum vpa_wait: what explains its end */
	uint8_t can_fill; /* 0: it returned although the queue was full, so that does not hold it */
	uint32_t before;  /* the call whose end its gap follows; NONE: the start of the tape */
	uint32_t target, target_count; /* targets[] of the edges: ops whose ends it waits for */
	uint32_t next;                 /* of its thread; NONE */
	uint32_t launch;               /* number, of those with ops */
	uint64_t gap_ns;               /* host code before it */
	uint64_t cost_ns;
	int64_t after_ns; /* from the end of what it waits for to its own end */
};

struct vpa_tape_stream {
	int64_t pid, device, stream;
	uint32_t gpu; /* number of (pid, device) */
};

struct vpa_tape_thread {
	int64_t pid, tid;
	uint32_t process; /* number of the pid */
	uint32_t name;    /* 0: none */
};

struct vpa_tape_range {
	uint64_t start_ns, end_ns; /* the end is ~0 of one that was never closed */
	uint32_t thread, name;
	int64_t pid;
	uint8_t is_wide; /* of the whole process: opened and closed by any thread */
	uint8_t is_open; /* at the end of this part */
};

/* The Python stack of a thread, until its next one. */
struct vpa_tape_sample {
	uint64_t ns;
	uint64_t lines; /* of those asked for, a bit for each that is in the stack */
	uint32_t thread;
	uint8_t is_exact; /* known to hold until then; else it is a guess, if that comes soon */
};

/* A SYNC or EVENT row, by its call. */
struct vpa_tape_sync {
	uint64_t ns, correlation, sync_id;
	uint32_t call; /* NONE: not known */
	uint32_t
		stream; /* that is waited for; of an event: that it was recorded on; NONE: not known */
	uint32_t waiting; /* the stream that waits; NONE: the host */
	uint8_t kind;     /* VPT_SYNCKIND_* */
	uint8_t is_event;
};

struct vpa_tape {
	struct vpt_strings names;
	struct vpa_tape_call *calls; /* by start, outer before inner */
	size_t call_count;
	struct vpa_tape_op *ops; /* by start */
	size_t op_count, op_cap;
	uint32_t *launched;            /* ops by call */
	struct vpa_tape_range *ranges; /* by start */
	size_t range_count, range_cap;
	struct vpa_tape_thread *threads;
	size_t thread_count, thread_cap;
	struct vpa_tape_stream *streams;
	size_t stream_count, stream_cap;
	uint32_t gpu_count, process_count;
	struct vpa_tape_sync *syncs;
	size_t sync_count, sync_cap;
	struct vpa_tape_sample *samples; /* by thread, then time */
	size_t sample_count, sample_cap;
	const char *const *lines; /* that were asked for, as FILE:LINE */
	size_t line_count;
	uint64_t start_ns; /* of the first call or op */
	/* What is to be measured: before it there is only what it hangs on, and after it not all is known. From 0 on in the
	 * first part, up to ~0 in the last one. */
	uint64_t from_ns, to_ns;
	uint64_t window_from_ns, window_to_ns;   /* of the limits */
	uint64_t measured_ops, ops_without_call; /* of those that count */
};

/* Whether what begins then says something of what is measured. */
static inline int vpa_tape_counts(const struct vpa_tape *t, uint64_t ns)
{
	return ns >= t->from_ns && ns < t->to_ns && ns >= t->window_from_ns && ns < t->window_to_ns;
}

/* Whether threads of one process may have launched the work of a stream of another: of one of them it is not known
 * which process it is. */
static inline int vpa_tape_may_own(int64_t thread_pid, int64_t stream_pid)
{
	return thread_pid == stream_pid || thread_pid == -1 || stream_pid == -1;
}

enum { VPA_TAPE_LINES = 64 };

/* What of a trace is read. */
struct vpa_tape_limits {
	const char *const *lines; /* of which samples of stacks are kept, as FILE:LINE; borrowed */
	size_t line_count;        /* at most VPA_TAPE_LINES */
	uint64_t part;            /* calls and ops in memory, about */
	uint64_t most;            /* in all, about: of a larger trace parts are left out, evenly */
	/* What is outside counts neither as known nor as unknown; of a long trace only chunks around it are read. 0: all. */
	uint64_t window_from_ns, window_to_ns;
};

struct vpa_tape_reading;

/* 0, VPT_ENOMEM or VPT_EIO. */
int vpa_tape_open(const struct vpt_trace *trace, unsigned jobs,
	const struct vpa_tape_limits *limits, struct vpa_tape_reading **out, struct vpt_err *err);
/* The next part with calls and ops, until the next call. VPT_END: there is none. VPT_EUNSUPPORTED: rows of one time are so far
 * apart that no part has all of them. VPT_ENOMEM; VPT_EIO. Damaged chunks are left out. */
int vpa_tape_next(struct vpa_tape_reading *r, struct vpa_tape **out, struct vpt_err *err);
void vpa_tape_close(struct vpa_tape_reading *r); /* accepts NULL */

/* Whether all of the trace has been read that has calls, and ops. */
int vpa_tape_has_calls(const struct vpa_tape_reading *r);
int vpa_tape_has_ops(const struct vpa_tape_reading *r);
/* How many ops were in parts without calls, which are not handed over: none of them has its call. */
uint64_t vpa_tape_unjoined_ops(const struct vpa_tape_reading *r);
double vpa_tape_share(const struct vpa_tape_reading
		*r); /* of the chunks around the window, that were not left out */

#endif
