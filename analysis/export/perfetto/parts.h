/* parts.h - the parts of a Perfetto export. For this folder alone.
 *
 *	chunk         --> ops*.c       each op once, in order of start           sequence 2
 *	              --> host*.c      calls, ranges and marks of each thread    16 and up, one a thread
 *	              --> counters.c   samples                                   5
 *	folds' events --> tracks.c     stages, blocks, attention, gaps           4
 *	report        --> meta.c       what it is all about, totals              1
 *
 * Each thread has a sequence of its own: what a thread did is known in order, what several did is not. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_PARTS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_PARTS_H

#include "analysis/export/exporter.h"
#include "analysis/index.h"
#include "analysis/resolver_maps.h"
#include "analysis/stages.h"
#include "analysis/tap.h"
#include "formats/perfetto.h"

/* Annotations of track events; the names stand in perfetto.c. */
enum vpa_ex_arg_name {
	EX_ARG_CORRELATION,
	EX_ARG_RETURN_CODE,
	EX_ARG_DOMAIN,
	EX_ARG_PAYLOAD,
	EX_ARG_COLOR,
	EX_ARG_NVTX_CATEGORY,
	EX_ARG_OPS,
	EX_ARG_BUSY,
	EX_ARG_NVTX,
	EX_ARG_STAGE,
	EX_ARG_STEP,
	EX_ARG_BLOCK,
	EX_ARG_ATTENTION_NS,
	EX_ARG_IMPL,
	EX_ARG_ID,
	EX_ARG_GPU,
	EX_ARG_CAUSE,
	EX_ARG_CAUSE_NS,
	EX_ARG_THEN,
	EX_ARG_THEN_NS,
	EX_ARG_CALL,
	EX_ARG_RANGE,
	EX_ARG_PREVIOUS,
	EX_ARG_NEXT,
	EX_ARG_DEVICE,
	EX_ARG_STREAM,
	EX_ARG_GRID,
	EX_ARG_WORKGROUP,
	EX_ARG_REGISTERS,
	EX_ARG_STATIC,
	EX_ARG_DYNAMIC,
	EX_ARG_NODE,
	EX_ARG_BYTES,
	EX_ARGS
};

enum vpa_ex_category {
	EX_CUDA_API,
	EX_NVTX,
	EX_CPU_OP,
	EX_PIPELINE,
	EX_STEP,
	EX_BLOCK,
	EX_ATTENTION,
	EX_IDLE,
	EX_COUNTER,
	EX_KERNEL,
	EX_MEMCPY,
	EX_MEMSET,
	EX_CATEGORIES
};

enum vpa_ex_arg_type { EX_UINT = 3, EX_INT = 4, EX_DOUBLE = 5, EX_TEXT = 17 };

struct vpa_ex_arg {
	uint8_t name, type;
	uint64_t value; /* a double's bits; of EX_TEXT an id of vpa_export.texts */
};

enum { EX_ARGS_MAX = 10 };

struct vpa_ex_event {
	uint64_t time_ns; /* trace clock */
	uint64_t track;   /* 0: the sequence's own */
	uint32_t name;    /* of vpa_export.texts */
	uint8_t type, category, arg_count;
	uint8_t is_cuda; /* 1: a call of CUDA's */
	struct vpa_ex_arg args[EX_ARGS_MAX];
	const uint32_t *ops; /* numbers of the ops that it launched, or its own */
	size_t op_count;
	const uint32_t *waits; /* of those that it waited for */
	size_t wait_count;
};

/* Spans of one kind on a GPU, side by side where they overlap. */
struct vpa_ex_track {
	struct vpa_ex_lane {
		uint64_t uuid, end_ns;
	} * lanes;
	size_t count, cap;
	/* A tree over the lanes' ends, for there may be one for each of tens of thousands of ranges: node k has the least of
	 * nodes 2k and 2k + 1, lane i is node leaf_count + i. */
	uint64_t *least;
	size_t leaf_count; /* a power of two, or 0 */
};

enum vpa_ex_gpu_track {
	EX_TRACK_STAGES,
	EX_TRACK_STEPS,
	EX_TRACK_BLOCKS,
	EX_TRACK_ATTENTION,
	EX_TRACK_GAPS,
	EX_GPU_TRACKS
};

struct vpa_ex_gpu {
	int known;
	uint32_t gpu_id;
	uint64_t root; /* track; 0: none yet */
	struct vpa_ex_track tracks[EX_GPU_TRACKS];
};

/* A gap that may get an id in the end. */
struct vpa_ex_gap {
	uint64_t start_ns, end_ns;
	uint32_t device;
	uint8_t cause, then; /* the largest and the second; VPA_CAUSE_NOT_IDLE: there is none */
	uint64_t cause_ns, then_ns;
	uint32_t call, range, previous, next; /* texts; 0: none */
};

struct vpa_export {
	const struct vpa_export_context *c;
	const struct vpa_export_options *options;
	const struct vpt_trace *trace;
	struct vpa_tap_view view;
	struct vpa_model *model;
	struct vpt_pf pf;
	struct vpt_pf_sequence meta, gpu, annotations, counters;
	int has_annotations, has_counters;

	uint64_t shift_ns;                    /* CLOCK_BOOTTIME = trace clock + this */
	uint64_t residual_ns;                 /* how far the clocks have drifted apart since */
	uint64_t op_salt;                     /* upper half of the ops' numbers, 24 bits, not 0 */
	uint8_t op_salt_bytes[VPT_PB_VARINT]; /* encoded, above 28 bits of number */
	uint8_t op_salt_size;
	uint64_t identity;        /* of the process: a hash of where and when it ran */
	uint64_t start_ns;        /* where the sequences begin, trace clock */
	int64_t pid;              /* where a lane does not know its own */
	struct vpt_strings texts; /* all names; id 0 is "" */
	uint32_t *text_of_name;   /* 1 + text, by name of the model */
	size_t text_of_name_cap;
	uint32_t *short_names; /* 1 + text of the name without templates, by kernel */
	size_t short_name_cap;
	struct vpa_arena arena;

	struct vpa_index pids;   /* processes that have been described */
	struct vpa_ex_gpu *gpus; /* by device of the model */
	size_t gpu_cap;
	struct vpa_ex_ops *ops;
	struct vpa_ex_host *host;
	struct vpa_ex_tracks *tracks;
	struct vpa_ex_series *series;

	/* What must be found again in the file, counted in the model's events. */
	struct vpa_ex_expected {
		uint64_t kernels, kernel_ns, memcpys, memsets, zero_length, api_calls, api_ns,
			nvtx_ranges, nvtx_ns, cpu_ops, cpu_op_ns, gaps, gap_ns, attention_kernels,
			submissions, counter_samples, first_gpu_ns, last_gpu_end_ns;
	} expected;
	/* What could not be shown as it was. */
	uint64_t nest_clamps, clamped_ns[EX_CATEGORIES], late_slices;
	uint64_t joined; /* pairs of a call and an op */
};

/* ---- perfetto.c ---- */

uint32_t vpa_ex_text(struct vpa_export *x, const char *text, size_t len);
uint32_t vpa_ex_string(struct vpa_export *x, const char *text);
uint32_t vpa_ex_name(struct vpa_export *x, uint32_t model_name);
uint32_t vpa_ex_short_name(struct vpa_export *x, uint32_t kernel);
/* A number for a track that is the same in every export of this process. Never 0. */
uint64_t vpa_ex_uuid(const struct vpa_export *x, const char *path);
void vpa_ex_add_arg(struct vpa_ex_event *e, enum vpa_ex_arg_name name, enum vpa_ex_arg_type type,
	uint64_t value);
void vpa_ex_event(struct vpa_export *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e);
/* The number of a text in a sequence; it is told where it has not been. */
uint32_t vpa_ex_text_iid(
	struct vpa_export *x, struct vpt_pf_sequence *s, unsigned table, uint32_t text);
void vpa_ex_tell_tables(struct vpa_export *x, struct vpt_pf_sequence *s);
/* Sees to it that a sequence knows all categories and names of arguments, whose numbers are those of the enums, from 1. */
static inline void vpa_ex_tables(struct vpa_export *x, struct vpt_pf_sequence *s)
{
	if (__builtin_expect(s->tables != x->pf.generation, 0))
		vpa_ex_tell_tables(x, s);
}
/* The number of an op, alike in no two files. */
static inline uint64_t vpa_ex_op_id(const struct vpa_export *x, uint32_t number)
{
	return x->op_salt << 32 | number;
}
/* The same, encoded; there must be room for VPT_PB_VARINT bytes. As the salt is not 0 there are more than four of them, and
 * all but four are alike in 2^28 ops: those are encoded once. */
static inline uint8_t *vpa_ex_op_id_at(const struct vpa_export *x, uint8_t *to, uint32_t number)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint32_t low = vpt_pb_spread(number) | 0x80808080u;

	if (__builtin_expect(number < 1u << 28, 1)) {
		memcpy(to, &low, sizeof(low));
		memcpy(to + sizeof(low), x->op_salt_bytes, 4);
		return to + sizeof(low) + x->op_salt_size;
	}
	return vpt_pb_varint_at(to, vpa_ex_op_id(x, number));
#else
	return vpt_pb_varint_at(to, vpa_ex_op_id(x, number));
#endif
}
int64_t vpa_ex_pid(const struct vpa_export *x, int64_t pid);

/* ---- meta.c ---- */

void vpa_ex_meta_begin(struct vpa_export *x);
void vpa_ex_meta_end(struct vpa_export *x);
/* The track of a process, described when it is asked for first. */
uint64_t vpa_ex_process(struct vpa_export *x, int64_t pid);
struct vpa_ex_gpu *vpa_ex_gpu_of(struct vpa_export *x, uint32_t device); /* NULL: no memory */
/* The row of the report about a device; NULL: none. */
const struct vpa_gpu *vpa_ex_gpu_row(const struct vpa_export *x, uint32_t device);
const char *vpa_ex_fact(const struct vpa_export *x, const char *key); /* of META; NULL: none */

/* ---- ops.c ---- */

int vpa_ex_ops_new(struct vpa_export *x);
int vpa_ex_ops_lanes(struct vpa_export *x, const struct vpt_batch *b);
int vpa_ex_ops_add(struct vpa_export *x, const struct vpt_batch *b, const struct vpt_section *s);
/* A section of EVENT or SYNC. */
int vpa_ex_ops_syncs(struct vpa_export *x, const struct vpt_section *s);
int vpa_ex_ops_release(struct vpa_export *x, uint64_t until_ns);
/* Numbers of the ops that a call has waited for; NULL: none that is known. */
struct vpa_ex_waiting_call {
	uint64_t correlation, start_ns, end_ns;
	int64_t pid; /* -1: not known */
};
const uint32_t *vpa_ex_syncs_of(
	struct vpa_export *x, const struct vpa_ex_waiting_call *call, size_t *count);
/* No call that began before will ask any more, but for a late one. */
void vpa_ex_syncs_forget(struct vpa_export *x, uint64_t before_ns);
void vpa_ex_ops_free(struct vpa_export *x);

/* ---- host.c ---- */

int vpa_ex_host_new(struct vpa_export *x);
int vpa_ex_host_add(struct vpa_export *x, const struct vpt_batch *b);
/* An op that call `correlation` launched has got its number. */
void vpa_ex_host_join(struct vpa_export *x, uint32_t stream, uint64_t correlation, uint32_t number);
int vpa_ex_host_release(struct vpa_export *x, uint64_t times_from_ns);
int vpa_ex_host_end(struct vpa_export *x);
void vpa_ex_host_free(struct vpa_export *x);

/* ---- tracks.c ---- */

int vpa_ex_tracks_new(struct vpa_export *x);
int vpa_ex_tracks_ops(void *ctx, const struct vpa_ops *ops);
int vpa_ex_tracks_gap(void *ctx, const struct vpa_gap *gap);
int vpa_ex_tracks_range(void *ctx, const struct vpa_range *range);
/* Adds which block, step or stage a range on a thread is, if it is one: by an annotation (a text; 0: none), else by its name.
 * *inside (enum vpa_stage_inside) is what it began in, and becomes what begins in it. */
void vpa_ex_stage_args(struct vpa_export *x, uint32_t name, uint32_t annotation, unsigned *inside,
	struct vpa_ex_event *e);
void vpa_ex_tracks_end(struct vpa_export *x);
void vpa_ex_tracks_free(struct vpa_export *x);
struct vpt_pf_sequence *vpa_ex_annotations(struct vpa_export *x);
/* A lane that is free at `start_ns`, made if there is none. `described` are the fields of a new one besides its
 * number. NULL: no memory. */
struct vpa_ex_lane *vpa_ex_lane(struct vpa_export *x, struct vpa_ex_track *t, uint64_t start_ns,
	uint64_t end_ns, const char *path, void (*describe)(struct vpa_export *x, const void *ctx),
	const void *ctx);
void vpa_ex_track_free(struct vpa_ex_track *t);
/* Begin and end of a span. */
void vpa_ex_span(struct vpa_export *x, struct vpt_pf_sequence *s, struct vpa_ex_event *begin,
	uint64_t end_ns);

/* ---- counters.c ---- */

int vpa_ex_counters_add(struct vpa_export *x, const struct vpt_batch *b);
/* The window's end is known: what each series was then. */
int vpa_ex_counters_end(struct vpa_export *x);
void vpa_ex_counters_free(struct vpa_export *x);

#endif
