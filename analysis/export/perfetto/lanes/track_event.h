/* track_event.h - track events: slices, marks and their arguments. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_TRACK_EVENT_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_TRACK_EVENT_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

/* Arguments of track events; track_event.c has their names. */
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
	EX_ARG_HOST,
	EX_ARG_HOST_RANGE,
	EX_ARG_PREVIOUS,
	EX_ARG_NEXT,
	EX_ARG_LINE,
	EX_ARG_LINE_SHARE,
	EX_ARG_LINE_SAMPLES,
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

enum vpa_ex_arg_type {
	EX_UINT = VPT_PF_ANNOTATION_UINT,
	EX_INT = VPT_PF_ANNOTATION_INT,
	EX_DOUBLE = VPT_PF_ANNOTATION_DOUBLE,
	EX_TEXT = VPT_PF_ANNOTATION_TEXT
};

struct vpa_ex_arg {
	uint8_t name, type;
	uint64_t value; /* EX_DOUBLE: its bits; EX_TEXT: an id of vpa_ex_out.texts */
};

enum { EX_ARGS_MAX = 15 };

struct vpa_ex_event {
	uint64_t time_ns; /* trace clock */
	uint64_t track;   /* 0: the sequence's own */
	uint32_t name;    /* of vpa_ex_out.texts */
	uint8_t type, category, arg_count;
	struct vpa_ex_arg args[EX_ARGS_MAX];
	const uint32_t *ops; /* numbers of the ops it launched, or the op's own number */
	size_t op_count;
	const uint32_t *waits; /* numbers of the ops it waited for */
	size_t wait_count;
};

void vpa_ex_add_arg(struct vpa_ex_event *e, enum vpa_ex_arg_name name, enum vpa_ex_arg_type type,
	uint64_t value);
void vpa_ex_add_double(struct vpa_ex_event *e, enum vpa_ex_arg_name name, double value);
void vpa_ex_add_text(
	struct vpa_ex_event *e, enum vpa_ex_arg_name name, uint32_t text); /* 0: none */
void vpa_ex_event(struct vpa_ex_out *x, struct vpt_pf_sequence *s, const struct vpa_ex_event *e);
/* Emits the begin and the end of a span. */
void vpa_ex_span(struct vpa_ex_out *x, struct vpt_pf_sequence *s, struct vpa_ex_event *begin,
	uint64_t end_ns);

void vpa_ex_tell_tables(struct vpa_ex_out *x, struct vpt_pf_sequence *s);
/* Emits the categories and the names of arguments once per generation of a sequence. Their numbers
 * are those of the enums, from 1. */
static inline void vpa_ex_tables(struct vpa_ex_out *x, struct vpt_pf_sequence *s)
{
	if (__builtin_expect(s->tables != x->pf.generation, 0))
		vpa_ex_tell_tables(x, s);
}

#endif
