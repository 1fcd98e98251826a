/* model.h - events as analysis sees them: joined, ordered, with names known for the whole trace.
 *
 *	chunk -> resolver: lanes, calls, ranges, ops        (resolver.h)
 *	      -> each op once, in order of start, with its launch and range
 *	      -> each gap of a device once, with what it waited for (idle.h, gap_causes.h)
 *	      -> folds: tables                              (fold.h)
 *
 * Calls, ranges and lanes are freed once nothing can refer to them, so memory does not grow with
 * the trace: an idle device may ask what the host has done since its last op, but for half a minute
 * at most. Pointers passed to a fold are valid during the call only; names, kernels, lanes and
 * devices are numbered and kept. */
#ifndef VPA_ANALYSIS_MODEL_MODEL_H
#define VPA_ANALYSIS_MODEL_MODEL_H

#include "analysis/base/index.h"
#include "analysis/base/rare.h"
#include "analysis/model/stack_lines.h"
#include "analysis/names/families.h"
#include "analysis/report/report.h"
#include "formats/calls.h"
#include "formats/chunk/strings.h"
#include "formats/event_schema.h"

enum vpa_op_kind { VPA_KERNEL, VPA_MEMCPY, VPA_MEMSET };

#define VPA_NONE UINT32_MAX

/* What most folds need to know about an op. */
enum vpa_role {
	VPA_ROLE_COPY, /* or a memset */
	VPA_ROLE_GLUE, /* elementwise, reduce and the like */
	VPA_ROLE_OTHER,
	VPA_ROLE_GEMM,
	VPA_ROLE_CONV,
	VPA_ROLE_SOFTMAX, /* of eager attention */
	VPA_ROLE_FUSED,   /* an attention kernel */
	VPA_ROLE_AUX      /* a helper of an attention kernel */
};

/* Bits of what a kernel is to those beside it, with VPA_PART_* of adapter.h. Copies and memsets have none. */
enum {
	VPA_TRAIT_FUSIBLE = 1,  /* a compiler fuses it with its neighbours, see unpacking.h */
	VPA_TRAIT_UNPACKS = 64, /* begins to unpack weights */
	VPA_TRAIT_MOVES = 128   /* joins tensors or changes their type */
};

/* Bits of vpa_call.state. The first four say what is known of a launch's ops:
 *
 *	WAITS | MISSED   none was released; it began in the window
 *	WAITS            the same, but it began outside, was captured, or may be no launch: only its
 *	                 name is known
 *	MET, no WAITS    the first one has been released
 *	SHOWN too        and the first one has been passed to the folds
 *
 * MISSED stays: a launch without op has MISSED and not MET. A graph's launch never has WAITS, since
 * the number of its ops is unknown: its block counts it as waiting all the time. */
enum {
	VPA_CALL_WAITS = 1,   /* counted in its block's `waiting`; until its first op */
	VPA_CALL_MISSED = 2,  /* was counted in launches_without_op; not if it was captured */
	VPA_CALL_MET = 4,     /* an op that it launched has been released */
	VPA_CALL_SHOWN = 8,   /* such an op has been passed to the folds */
	VPA_CALL_NESTED = 16, /* inside another call of its thread */
	/* Has an op from or to pageable memory, or encloses a call that has one: a copy then waits,
	 * even if its name says it is asynchronous. */
	VPA_CALL_PAGEABLE = 32,
	VPA_CALL_SUBMITS = 64, /* encloses a call that puts work on a device */
	VPA_CALL_NONE = 128 /* A query: kept in the history for its place, not counted as a call. */
};

enum { VPA_SMALL_BYTES = 64 }; /* a scalar or a few, as read by .item() and .tolist() */

/* A CUDA call on a thread: the part not kept in its block's columns, see past_calls.h. */
struct vpa_call {
	uint32_t name; /* id in vpa_model.names */
	uint16_t slot; /* index in its block */
	uint8_t klass; /* enum vpt_call_class */
	uint8_t state;
};

/* What a range instance did on one device. */
struct vpa_projection {
	struct vpa_projection *next; /* on another device */
	uint64_t first_ns, last_ns;  /* from the start of its first op to the end of its last */
	uint64_t busy_ns;            /* union of its own ops */
	/* The device's idle time so far, at its first and at its newest op. */
	uint64_t idle_first_ns, idle_last_ns;
	uint64_t ops;
	uint32_t device; /* VPA_NONE: unused */
};

/* Decides which range around a moment is its place: the innermost of the lowest level present. */
enum vpa_range_level {
	VPA_LEVEL_ANNOTATION, /* NVTX, or an annotation by PyTorch's profiler */
	VPA_LEVEL_OPERATOR,   /* an operator that the profiler recorded on its own */
	VPA_LEVEL_FUNCTION,   /* a Python function */
	VPA_LEVEL_ITERATION   /* of the profiler's schedule: used only if no other range is open */
};

/* Ranges nested more deeply are counted but not joined with what runs in them. */
enum { VPA_NESTING_MAX = 256 };

/* In vpa_range.kind: not a range but a fork on the way to a range's parents, see timeline.c. Its
 * end is 0. */
enum { VPA_RANGE_FORK = 15 };

/* An instance of an NVTX range. */
struct vpa_range {
	/* The innermost range of the same timeline when this one was opened. It may have ended
	 * since, if ranges overlap without nesting, or be a fork. Do not follow it: call
	 * vpa_range_around(), which returns what is open. */
	struct vpa_range *parent;
	uint64_t start_ns, end_ns; /* end ~0 while it is open */
	union {
		uint64_t launches;
		struct vpa_range *before; /* of a fork: the parent before start_ns */
	};
	uint32_t name, domain; /* ids in vpa_model.names; ranges are summed by name */
	uint32_t thread;
	uint32_t references;
	uint32_t payload;   /* id of an annotation's JSON text; 0: not annotated */
	uint32_t scope;     /* private to pipeline.h; 0: not judged yet */
	uint32_t recorded;  /* 1 + id of its full name in vpa_model.recorded; 0: that is `name` */
	uint8_t kind : 4;   /* VPT_RANGEKIND_* */
	uint8_t level : 3;  /* enum vpa_range_level */
	uint8_t nested : 1; /* a part of another of its name on its thread */
	uint8_t unmatched : 1;
	uint8_t like_operator : 1; /* imported as one, or called so: too many and too short to be a unit */
	uint8_t says_shapes : 1; /* the program annotates the shapes of its inputs */
	uint8_t loads : 1;       /* its name says so: vpa_range_loads() */
	/* enum vpa_scope_kind: what it is in its place, which its name alone does not decide.
	 * Private to pipeline.h: call vpa_pipeline_kind(). */
	uint8_t placed;
	uint8_t cut; /* some work launched in it ran past the window's end */
	struct vpa_projection gpu;
};

/* A moment that the program marked. Of NVTX marks of domain "vptrace" with a JSON payload, that is an annotation; else 0. */
struct vpa_mark {
	uint64_t time_ns;
	uint32_t thread, name, domain, payload;
};

/* One op as a struct, for code that looks at few of them. */
struct vpa_op {
	uint64_t start_ns, end_ns; /* clipped to the window */
	uint64_t correlation;
	uint64_t bytes;          /* of copies and memsets */
	uint64_t graph_node;     /* the node of a CUDA graph; 0: none */
	struct vpa_call *launch; /* NULL: no launch record */
	uint32_t stream, device; /* indexes of the stream and its device */
	uint32_t kernel;         /* index into vpa_model.kernels; VPA_NONE for copies */
	uint32_t blocks;         /* grid size of a kernel, saturated; 0: unknown */
	uint32_t shape;          /* of its launch, a row of vpa_model.shapes; VPA_NONE: not known */
	uint8_t kind;            /* enum vpa_op_kind */
	uint8_t copy_kind, source_memory, target_memory;
	uint8_t is_comm; /* 1: a kernel that works between devices */
	uint8_t family;  /* enum vpa_family */
	uint8_t role;    /* enum vpa_role */
	uint8_t traits;  /* VPA_TRAIT_*, VPA_PART_* */
};

/* Indexes of ops and ends of runs are stored in bytes. */
enum { VPA_OPS_MAX = 240, VPA_NO_OP = 255 };
_Static_assert((int)VPA_OPS_MAX < (int)VPA_NO_OP, "bytes");

/* A batch of ops as columns, in order of start. The columns have the meaning of struct vpa_op's
 * members. */
struct vpa_ops {
	size_t count;
	int one_stream; /* 1: all ops are of one stream */
	uint64_t start_ns[VPA_OPS_MAX], end_ns[VPA_OPS_MAX], correlation[VPA_OPS_MAX];
	struct vpa_call *launch[VPA_OPS_MAX];
	uint64_t launch_start_ns[VPA_OPS_MAX]; /* without a launch record: ~0 */
	uint64_t launch_end_ns[VPA_OPS_MAX];   /* the same */
	uint32_t launch_name[VPA_OPS_MAX];     /* 0 without a launch record */
	uint32_t stream[VPA_OPS_MAX], device[VPA_OPS_MAX];
	uint32_t kernel[VPA_OPS_MAX], blocks[VPA_OPS_MAX], shape[VPA_OPS_MAX];
	uint64_t graph_node[VPA_OPS_MAX];
	uint8_t kind[VPA_OPS_MAX], is_comm[VPA_OPS_MAX];
	uint8_t family[VPA_OPS_MAX], role[VPA_OPS_MAX], traits[VPA_OPS_MAX];
	uint8_t first_of_launch[VPA_OPS_MAX]; /* 1: its launch's first op to be passed on */
	struct vpa_copy {
		uint64_t bytes;
		uint8_t kind, source_memory, target_memory;
	} copy[VPA_OPS_MAX]; /* undefined for kernels */
	/* Indexes of the ops that are not kernels, or are kernels that work between devices. */
	uint8_t others[VPA_OPS_MAX];
	size_t other_count;
	/* Indexes of the ops whose role is not GLUE, OTHER or GEMM. */
	uint8_t specials[VPA_OPS_MAX + 1];
	size_t special_count;
	/* Consecutive ops that one thread launched between the same two steps of its innermost
	 * range, and of its process's. Each stretch begins where the previous one ends. */
	struct vpa_op_stretch {
		uint64_t from_ns, until_ns; /* the launches begin in [from, until) */
		struct vpa_range *range, *process_range;
		uint32_t place;  /* name of the range that is the launches' place; 0: none */
		uint32_t thread; /* VPA_NONE: no launch records, hence no ranges */
		uint8_t end;
	} stretches[VPA_OPS_MAX];
	size_t stretch_count;
	int graph_launches;          /* 1: some launches may be of graphs */
	int nested_launches;         /* 1: some launches are inside another call */
	uint8_t firsts[VPA_OPS_MAX]; /* ops that are the first of their name on their device */
	size_t first_count;
	int all_first; /* 1: first_of_launch is 1 for all */

	/* The members below are filled by idle.h. */
	/* Idle time of the op's device in the window, up to its start. */
	uint64_t idle_ns[VPA_OPS_MAX];
	uint64_t gap_ns[VPA_OPS_MAX]; /* length of the gap that ends with the op; 0: none */
	/* The op whose end opened that gap; VPA_NO_OP: not in this batch. */
	uint8_t gap_before[VPA_OPS_MAX];
	/* What the gap's last stretch waited for: its call and place are the launch's. Most gaps are only that, and
	 * began after the launch had returned. 0: no gap, or one that is emitted on its own. */
	uint8_t gap_cause[VPA_OPS_MAX];
	/* 1: the gap has stretches before that, see vpa_ops_gap(). */
	uint8_t has_late[VPA_OPS_MAX];
	size_t late_count; /* how many have */
	struct vpa_late {
		/* Of the host's own code; in the launch call; until the launch had reached the device. */
		uint32_t code_ns, call_ns, latency_ns;
		uint32_t place; /* of the code */
		uint8_t cause;  /* of the code: VPA_CAUSE_LAUNCH_RATE or _HOST_CODE */
	} late[VPA_OPS_MAX];
	/* Consecutive ops of one stream. */
	struct vpa_op_run {
		uint8_t begin, end; /* [begin, end) */
		/* Each begins after all earlier ops on the device have ended, those of earlier
		 * batches included. */
		uint8_t serial;
		/* A gap with cause VPA_CAUSE_SCHEDULING precedes each op but the first; check the
		 * first on its own. */
		uint8_t calm;
		uint64_t
			longest_ns; /* of the gaps before its ops but the first; 0: there are none */
	} runs[VPA_OPS_MAX];
	size_t run_count;
};

/* Whether a launch of a CUDA graph has run it. */
static inline int vpa_op_is_of_graph(const struct vpa_ops *o, size_t i)
{
	return o->graph_node[i] || (o->launch[i] && o->launch[i]->klass == VPT_CALL_GRAPH_LAUNCH);
}

/* The stretch of op `i`. Pass in *k the stretch of an earlier op, or 0; it returns the op's own. */
static inline const struct vpa_op_stretch *vpa_ops_stretch(
	const struct vpa_ops *o, size_t i, size_t *k)
{
	while (o->stretches[*k].end <= i)
		++*k;
	return &o->stretches[*k];
}

/* A stretch of a gap that has a gap_cause. */
struct vpa_gap_stretch {
	uint64_t start_ns, end_ns;
	uint32_t call, place;
	uint8_t cause;
};

enum { VPA_GAP_STRETCHES = 4 };

/* The stretches of the gap that ends with op `i` before its last one, in order; returns how many. `place`: that of
 * the op's launch. */
static inline size_t vpa_ops_late(const struct vpa_ops *o, size_t i, uint32_t place,
	struct vpa_gap_stretch out[VPA_GAP_STRETCHES])
{
	const struct vpa_late *late = &o->late[i];
	uint64_t at = o->start_ns[i] - o->gap_ns[i];
	uint32_t call = o->launch_name[i];
	size_t n = 0;

	if (!o->has_late[i])
		return 0;
	if (late->code_ns)
		out[n++] = (struct vpa_gap_stretch){
			at, at + late->code_ns, 0, late->place, late->cause};
	at += late->code_ns;
	if (late->call_ns)
		out[n++] = (struct vpa_gap_stretch){
			at, at + late->call_ns, call, place, VPA_CAUSE_LAUNCH_CALL};
	at += late->call_ns;
	if (late->latency_ns)
		out[n++] = (struct vpa_gap_stretch){
			at, at + late->latency_ns, call, place, VPA_CAUSE_LAUNCH_LATENCY};
	return n;
}

/* The length of its last stretch. */
static inline uint64_t vpa_ops_last_ns(const struct vpa_ops *o, size_t i)
{
	const struct vpa_late *late = &o->late[i];

	return o->has_late[i] ? o->gap_ns[i] - late->code_ns - late->call_ns - late->latency_ns
			      : o->gap_ns[i];
}

/* All stretches of the gap; 0 if there is none, or it is emitted on its own. */
static inline size_t vpa_ops_gap(const struct vpa_ops *o, size_t i, uint32_t place,
	struct vpa_gap_stretch out[VPA_GAP_STRETCHES])
{
	size_t n = vpa_ops_late(o, i, place, out);

	if (!o->gap_cause[i])
		return 0;
	out[n++] = (struct vpa_gap_stretch){o->start_ns[i] - vpa_ops_last_ns(o, i), o->start_ns[i],
		o->launch_name[i], place, o->gap_cause[i]};
	return n;
}

/* An op of a batch as a struct. */
static inline struct vpa_op vpa_ops_get(const struct vpa_ops *o, size_t i)
{
	int is_copy = o->kind[i] != VPA_KERNEL;

	return (struct vpa_op){.start_ns = o->start_ns[i],
		.end_ns = o->end_ns[i],
		.correlation = o->correlation[i],
		.bytes = is_copy ? o->copy[i].bytes : 0,
		.launch = o->launch[i],
		.stream = o->stream[i],
		.device = o->device[i],
		.kernel = o->kernel[i],
		.blocks = o->blocks[i],
		.shape = o->shape[i],
		.kind = o->kind[i],
		.copy_kind = is_copy ? o->copy[i].kind : 0,
		.source_memory = is_copy ? o->copy[i].source_memory : 0,
		.target_memory = is_copy ? o->copy[i].target_memory : 0,
		.graph_node = o->graph_node[i],
		.is_comm = o->is_comm[i],
		.family = o->family[i],
		.role = o->role[i],
		.traits = o->traits[i]};
}

/* The class of a call by its effect on its thread. */
static inline enum vpt_call_class vpa_call_effect(const struct vpa_call *call)
{
	if (call->klass != VPT_CALL_COPY)
		return (enum vpt_call_class)call->klass;
	return call->state & VPA_CALL_PAGEABLE ? VPT_CALL_BLOCKING_COPY : VPT_CALL_COPY;
}

/* Whether a call, or a call inside it, put work on a device. */
static inline int vpa_call_submits(const struct vpa_call *call)
{
	return call->state & VPA_CALL_SUBMITS ||
	       vpt_call_launches((enum vpt_call_class)call->klass);
}

/* A distinct kernel name. */
struct vpa_kernel {
	uint32_t name;                          /* id in vpa_model.names */
	uint8_t is_comm, is_attention, is_glue; /* of its family, see families.h */
	uint8_t role;                           /* enum vpa_role */
	uint8_t traits;                         /* VPA_TRAIT_*, VPA_PART_* */
	struct vpa_kernel_class klass;
};

struct vpa_stream {
	uint64_t key;
	int64_t pid, stream;
	uint64_t context;
	uint32_t device;
};

struct vpa_thread {
	uint64_t key;
	int64_t pid, tid;
	uint32_t name;
	uint32_t process; /* index of its process */
};

struct vpa_model {
	struct vpt_strings names; /* of everything; id 0 is "" */
	/* full names of ranges that are summed by a part of their name */
	struct vpt_strings recorded;
	struct vpa_kernel *kernels;
	size_t kernel_count, kernel_cap;
	/* Launches of kernels that differ in kernel, grid size or what a block takes, see launch_shape.h. */
	struct vpa_index shapes;
	struct vpa_stream *streams;
	size_t stream_count, stream_cap;
	struct vpa_thread *threads;
	size_t thread_count, thread_cap;
	struct vpa_stacks stacks; /* of Python */
	int64_t *devices;         /* CUDA ordinal by index */
	size_t device_count, device_cap;
	uint64_t window_start_ns, window_end_ns; /* the end is ~0 until known */
	uint64_t capture_end_ns;                 /* the newest clock point so far; 0: unknown */
	int zero_is_time; /* 1: an op at 0 is one; 0: its time was not read */
	int clocks_disagree; /* 1: an op does not wait for its launch as their times say, see clocks.h */
	int has_shapes;      /* 1: an annotation so far says shapes */
	int has_flop;        /* 1: an annotation so far says how many operations a range does */
	int has_traffic;   /* 1: one says how much memory a range reads and writes */
	int has_operators; /* 1: a range so far is an operator, see vpa_range_is_operator() */
};

/* An op that begins after this is too late to be one of the capture: its times must be wrong. */
static inline uint64_t vpa_ops_until(const struct vpa_model *m)
{
	const uint64_t hour_ns = UINT64_C(3600000000000);

	return m->capture_end_ns && m->capture_end_ns < UINT64_MAX - hour_ns
		       ? m->capture_end_ns + hour_ns
		       : UINT64_MAX;
}

/* Whether an op's times can be true. */
static inline int vpa_is_op_valid(const struct vpa_model *m, uint64_t start_ns, uint64_t end_ns)
{
	return (start_ns || m->zero_is_time) && end_ns >= start_ns && start_ns <= vpa_ops_until(m);
}

/* Whether some time of an op lies in the window, or its moment, if it has no length. */
static inline int vpa_is_op_in_window(const struct vpa_model *m, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns > start_ns)
		return start_ns < m->window_end_ns && end_ns > m->window_start_ns;
	return start_ns <= m->window_end_ns && end_ns >= m->window_start_ns;
}

static inline struct vpt_text vpa_name(const struct vpa_model *m, uint32_t id)
{
	return vpt_strings_get(&m->names, id);
}

/* A range's full name, as recorded. */
static inline struct vpt_text vpa_range_name(
	const struct vpa_model *m, const struct vpa_range *range)
{
	return range->recorded ? vpt_strings_get(&m->recorded, range->recorded - 1)
			       : vpt_strings_get(&m->names, range->name);
}

/* The index of the CUDA device with this ordinal; VPA_NONE: none. */
static inline uint32_t vpa_find_device(const struct vpa_model *m, int64_t ordinal)
{
	uint32_t i;

	for (i = 0; i < m->device_count; i++)
		if (m->devices[i] == ordinal)
			return i;
	return VPA_NONE;
}

static inline unsigned vpa_is_special(enum vpa_role role)
{
	return role == VPA_ROLE_COPY || role >= VPA_ROLE_CONV;
}

/* The innermost of the range and its parents that is open at `at_ns`, which is not before the
 * range's start; NULL: none. */
static inline struct vpa_range *vpa_range_open_at(struct vpa_range *range, uint64_t at_ns)
{
	while (range && range->end_ns <= at_ns)
		range = range->kind == VPA_RANGE_FORK && at_ns < range->start_ns ? range->before
										 : range->parent;
	return range;
}

/* The same, beginning with its parent. */
static inline struct vpa_range *vpa_range_around(const struct vpa_range *range, uint64_t at_ns)
{
	return vpa_range_open_at(range->parent, at_ns);
}

/* Whether it is one call of an operator: of PyTorch's profiler; of emit_nvtx(), which gives a range a full name beside the one
 * by which it is summed; or a range that says the shapes of its inputs. */
static inline int vpa_range_is_operator(const struct vpa_range *range)
{
	return range->level == VPA_LEVEL_OPERATOR || range->recorded || range->says_shapes;
}

/* The innermost range of an op: the one opened last, on its thread or process-wide. */
static inline const struct vpa_range *vpa_inner_range(
	const struct vpa_range *own, const struct vpa_range *wide)
{
	if (!own || !wide)
		return own ? own : wide;
	return wide->start_ns > own->start_ns ? wide : own;
}

/* Set in a place if no range was open around the time and the place is that of the next launch. */
#define VPA_BEFORE 0x80000000u

/* A part of a gap, and what the device waited for in it. */
struct vpa_cause_piece {
	uint64_t start_ns, end_ns;
	uint32_t call;  /* name; 0: none */
	uint32_t place; /* name of a range, perhaps with VPA_BEFORE; 0: none */
	/* Name of the call that the host was in, if the cause is an earlier call; 0: in none. */
	uint32_t inside;
	uint8_t cause; /* enum vpa_cause */
	/* If the cause is an earlier call that held the host: the cause that the time had without
	 * it, which is what the host did in it, and its place. 0: no such call. */
	uint8_t host;
	uint8_t base; /* the cause of this time before credit, records and first use */
	/* Host code, whose whole stretch lasts 1 ms or longer or has no call before; an allocation of more than 100 us. */
	uint8_t is_long;
	uint8_t is_setup;  /* first use made it what it is */
	uint8_t is_partly; /* of long host code: its place does not cover all of it, to a tenth */
	uint32_t host_place;
	/* Long code of the host after a wait that it need not have waited in: the call, and the place
	 * where it began. Not waiting would have saved the piece too. 0: none. */
	uint32_t instead_call, instead_place;
	/* The call that the cause is about, which may have begun and ended before the gap: the one
	 * that held the host, else the launch. Both 0: none. */
	uint64_t call_start_ns, call_end_ns;
};

/* Whether it is the host's own work, which no wait before it made necessary. */
static inline int vpa_piece_is_long_work(const struct vpa_cause_piece *p)
{
	return p->is_long && (p->cause == VPA_CAUSE_HOST_CODE || p->cause == VPA_CAUSE_ALLOCATION);
}

/* Pieces in order of time. */
struct vpa_cause_pieces {
	struct vpa_cause_piece *items;
	size_t count, cap;
};

/* A stretch of the window in which a device ran nothing, and what it waited for. */
struct vpa_gap {
	uint64_t start_ns, end_ns;
	uint32_t device;
	uint32_t thread; /* the launching one; VPA_NONE: unknown */
	/* The headline: the cause of most of it, with the call and place of the longest piece of
	 * that cause. Folds call vpa_cause_headline() for it. */
	enum vpa_cause cause;
	uint32_t call, place;
	/* In order of time; they cover the gap. Valid during the call only. */
	const struct vpa_cause_piece *pieces;
	size_t piece_count;
	/* Of a gap before the device's first work: what the thread that launched it did. May not
	 * cover the gap. */
	const struct vpa_cause_piece *host_pieces;
	size_t host_piece_count;
	/* The op whose end opened it; NULL at the window's start. Do not follow its launch and
	 * ranges: they may have been freed. */
	const struct vpa_op *before;
	const struct vpa_op *gating; /* the op that ended it; NULL at the window's end */
	int first_use;               /* that op is the first of its name on the device */
};

#endif
