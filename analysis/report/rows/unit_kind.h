/* unit_kind.h - what a range is in a video pipeline, the kinds of unit that a user counts in, and their names. Which unit a
 * report has is decided by ../../pipeline/unit.h. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_UNIT_KIND_H
#define VPA_ANALYSIS_REPORT_ROWS_UNIT_KIND_H

#include <stddef.h>

/* Kinds of scopes, see ../../pipeline/range_scopes.h. */
enum vpa_scope_kind {
	VPA_SCOPE_NONE,
	VPA_SCOPE_REQUEST,   /* one requested video */
	VPA_SCOPE_BLOCK,     /* a group of frames that is generated together */
	VPA_SCOPE_STEP,      /* a denoising iteration, or another one that is called a step */
	VPA_SCOPE_CONTEXT,   /* the pass that writes the KV cache */
	VPA_SCOPE_ITERATION, /* of a profiler's loop: never a denoising step */
	VPA_SCOPE_STAGE,     /* any other named part of the pipeline */
	VPA_SCOPE_FRAMES,    /* of marks, as all that follow: frames are ready */
	VPA_SCOPE_FACT,      /* something about the request, see vpa_fact_read() */
	VPA_SCOPE_MEMORY,    /* what an allocator holds, see ../../folds/said/memory_labels.c */
	VPA_SCOPE_RECOMPILE, /* why the compiler ran again, see ../../folds/said/compilations.c */
	VPA_SCOPE_KINDS
};

static inline int vpa_scope_is_of_marks(enum vpa_scope_kind kind)
{
	return kind >= VPA_SCOPE_FRAMES;
}

/* What says that a range is one. */
enum vpa_scope_source {
	VPA_SOURCE_NONE, /* it is no range */
	VPA_SOURCE_ANNOTATION,
	VPA_SOURCE_RULE,
	/* A marked span, see ../../past/marked_spans.h: counts if there is no other source. */
	VPA_SOURCE_MARKS,
	VPA_SOURCE_PLACE, /* a plain part of a block, see ../../pipeline/pipeline.h */
	VPA_SOURCES
};

/* "annotation", "rule" ... "none"; NULL: there is no such source. */
const char *vpa_scope_source_choice(size_t i);

/* "block", "context" ... "none" */
const char *vpa_scope_kind_name(enum vpa_scope_kind kind);

enum vpa_unit_kind {
	VPA_UNIT_BLOCK,     /* measured blocks, by their period */
	VPA_UNIT_REQUEST,   /* requests, from one to the next */
	VPA_UNIT_STEP,      /* marked steps, from one to the next */
	VPA_UNIT_ITERATION, /* of a profiler or of training, where no steps are marked */
	VPA_UNIT_INFERRED,  /* inferred steps, by their period; a "request" is a GPU */
	/* Instances of a range, by their time on a GPU, which is their "request"; of ranges in a series, from one to the next. */
	VPA_UNIT_INSTANCE,
	VPA_UNIT_WINDOW, /* the window; a single one */
	VPA_UNIT_ROUND,  /* inferred rounds of steps, from one to the next; a "request" is a GPU */
	VPA_UNIT_KINDS
};

/* Words for a unit of the kind. */
struct vpa_unit_words {
	/* "inferred step", "an inferred step"; of the window, where it begins and ends. */
	const char *name, *a_name;
	const char *title; /* "INFERRED STEP" */
	/* "step", "a step": where it is said elsewhere that they are inferred. "pass": an instance. */
	const char *noun, *a_noun;
	const char *mean, *rate; /* "The mean step", "steps/s" */
};
const struct vpa_unit_words *vpa_unit_words(enum vpa_unit_kind kind);
/* The name. */
const char *vpa_unit_kind_name(enum vpa_unit_kind kind);
/* The same, as a choice of a field; NULL: there is no such kind. */
const char *vpa_unit_kind_choice(size_t i);

/* What the gain of a finding is a part of. */
enum vpa_base {
	VPA_BASE_NONE,   /* there is no gain */
	VPA_BASE_ACTIVE, /* the time from the first op of any device to the last */
	VPA_BASE_IDLE,   /* the windows' idle time */
	VPA_BASE_UNIT, /* + enum vpa_unit_kind: the mean one of the report, of requests also the only one */
	VPA_BASES = VPA_BASE_UNIT + VPA_UNIT_KINDS
};

static inline enum vpa_base vpa_base_of_unit(enum vpa_unit_kind kind)
{
	return (enum vpa_base)(VPA_BASE_UNIT + (unsigned)kind);
}

/* "steps/s": of a unit; NULL: the base is none. */
const char *vpa_base_rate(enum vpa_base base);

/* "active", "idle", or the unit's name; "" for VPA_BASE_NONE. */
const char *vpa_base_name(enum vpa_base base);

/* Work that makes frames, but comes after the last block. */
enum vpa_rest {
	VPA_REST_NONE,
	VPA_REST_VAE,
	VPA_REST_FRAMES, /* their copies */
	VPA_REST_BOTH,
	VPA_REST_EITHER, /* in a report of an earlier version, which does not say which */
	VPA_RESTS
};

/* "the VAE's work", "the copies of frames", ...; "" for VPA_REST_NONE. */
const char *vpa_rest_name(enum vpa_rest rest);
/* The same, then "comes" or "come". */
const char *vpa_rest_comes(enum vpa_rest rest);

#endif
