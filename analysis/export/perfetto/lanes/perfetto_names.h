/* perfetto_names.h - the state that all parts of an export to Perfetto share. Private to this folder.
 *
 *	chunk         --> op_slices.c        each op once, in order of start           sequence 2
 *	              --> host_slices.c       calls, ranges and marks of each thread    16 and up, one per thread
 *	              --> counter_tracks.c   samples of counters                       5
 *	              --> stack_slices.c     Python stacks                             6 and 7
 *	folds' events --> result_tracks.c     stages, blocks, attention                 4
 *	              --> gap_slices.c       idle gaps                                 4
 *	report        --> export_metadata.c       metadata, totals                          1
 *
 * Each thread has its own sequence: rows are in order within a thread, not across threads. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_PERFETTO_NAMES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_PERFETTO_NAMES_H

#include "analysis/export/exporter.h"
#include "formats/perfetto/perfetto_packets.h"

#include <string.h>

enum { EX_NO_INDEX = UINT32_MAX };

/* Categories of track events. */
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

/* What the file must contain, counted from the model's events. */
struct vpa_ex_expected {
	uint64_t kernels, kernel_ns, memcpys, memsets, zero_length, api_calls, api_ns, nvtx_ranges,
		nvtx_ns, cpu_ops, cpu_op_ns, gaps, gap_ns, attention_kernels, submissions,
		counter_samples, stack_samples, first_gpu_ns, last_gpu_end_ns;
};

/* Counts of what had to be changed to fit the format. */
struct vpa_ex_bent {
	uint64_t nest_clamps, clamped_ns[EX_CATEGORIES], late_slices;
};

struct vpa_ex_out {
	const struct vpa_export_context *c;
	const struct vpa_export_options *options; /* c->options */
	struct vpa_observer_view view;            /* c->view */
	struct vpa_model *model;                  /* c->view.context->model */
	struct vpt_pf pf;
	struct vpt_pf_sequence meta, gpu, annotations;
	int has_annotations;
	uint64_t shift_ns; /* see vpa_ex_time() */
	/* The trace clock gains ppb in a thousand million on that of the file, since even_ns. */
	int64_t ppb;
	uint64_t even_ns;
	uint64_t start_ns; /* where the sequences begin, trace clock */

	/* The process, see vpa_ex_identify(). */
	uint64_t identity;                    /* a hash of where and when it ran */
	int64_t pid;                          /* for lanes without one */
	uint64_t op_salt;                     /* upper half of the ops' numbers, 24 bits, not 0 */
	uint8_t op_salt_bytes[VPT_PB_VARINT]; /* encoded, above 28 bits of number */
	uint8_t op_salt_size;

	struct vpt_strings texts; /* all names; id 0 is "" */
	uint32_t *text_of_name;   /* 1 + text, by name of the model */
	size_t text_of_name_cap;
	uint32_t *short_names; /* 1 + text of the name without templates, by kernel */
	size_t short_name_cap;
	struct vpa_arena arena;

	/* Parts that other parts use through their headers. */
	struct vpa_ex_machine *machine;
	struct vpa_ex_links *links;
	struct vpa_ex_tracks *tracks;
	struct vpa_ex_gaps *gaps;
	struct vpa_call_waits *call_waits;

	struct vpa_ex_expected expected;
	struct vpa_ex_bent bent;
	uint64_t joined; /* pairs of a call and an op */
};

/* A moment of the trace as CLOCK_BOOTTIME of the file. Never falls, so that what nests and follows still does. */
static inline uint64_t vpa_ex_time(const struct vpa_ex_out *x, uint64_t t_ns)
{
	uint64_t at_ns = t_ns + x->shift_ns;

	return __builtin_expect(x->ppb != 0, 0)
		       ? at_ns + (uint64_t)vpa_drift_ns((int64_t)(t_ns - x->even_ns), x->ppb)
		       : at_ns;
}

/* How long it is from one moment to a later one, in the file. */
static inline uint64_t vpa_ex_length(const struct vpa_ex_out *x, uint64_t from_ns, uint64_t to_ns)
{
	return vpa_ex_time(x, to_ns) - vpa_ex_time(x, from_ns);
}

/* ---- facts of the run ---- */

const char *vpa_ex_fact(
	const struct vpa_ex_out *x, enum vpt_metadata fact); /* of META; NULL: none */
const char *vpa_ex_either(
	const struct vpa_ex_out *x, enum vpt_metadata fact, enum vpt_metadata other);
uint64_t vpa_ex_fact_number(const struct vpa_ex_out *x, enum vpt_metadata fact); /* 0: none */
/* Sets the process and the members that identify it. */
void vpa_ex_identify(struct vpa_ex_out *x);
int64_t vpa_ex_pid(const struct vpa_ex_out *x, int64_t pid);

/* ---- names; without memory they set pf.failed ---- */

uint32_t vpa_ex_text(struct vpa_ex_out *x, const char *text, size_t len);
uint32_t vpa_ex_string(struct vpa_ex_out *x, const char *text);
uint32_t vpa_ex_name(struct vpa_ex_out *x, uint32_t model_name);
uint32_t vpa_ex_short_name(struct vpa_ex_out *x, uint32_t kernel);
/* A track's number, the same in every export of this process. Never 0. */
uint64_t vpa_ex_uuid(const struct vpa_ex_out *x, const char *path);

/* ---- sequences ---- */

/* Interns a text in a table of a sequence, emitting it on first use. Returns its number. */
uint32_t vpa_ex_text_iid(
	struct vpa_ex_out *x, struct vpt_pf_sequence *s, unsigned table, uint32_t text);
/* Begin and end a packet of interned data; the caller writes the data in between. */
void vpa_ex_begin_interned(struct vpa_ex_out *x, struct vpt_pf_sequence *s);
void vpa_ex_end_interned(struct vpa_ex_out *x);
/* The sequence of the analysis's tracks, begun on first use. */
struct vpt_pf_sequence *vpa_ex_annotations(struct vpa_ex_out *x);

/* ---- ops ---- */

/* The number of an op, unique across files. */
static inline uint64_t vpa_ex_op_id(const struct vpa_ex_out *x, uint32_t number)
{
	return x->op_salt << 32 | number;
}
/* The same, encoded; needs room for VPT_PB_VARINT bytes. Since the salt is not 0 it has more than four
 * bytes, and all but the first four are the same for 2^28 ops: these are encoded once. */
static inline uint8_t *vpa_ex_op_id_at(const struct vpa_ex_out *x, uint8_t *to, uint32_t number)
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

#endif
