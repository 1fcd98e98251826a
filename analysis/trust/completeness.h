/* completeness.h - what is known to be missing from a trace, found while its chunks are read.
 *
 *	vpa_completeness_begin(&n, trace)        the file's header, what an importer left out
 *	vpa_completeness_chunk(&n, i, batch)     each chunk, in order
 *	vpa_completeness_damage(&n, i, text)     or that it cannot be read
 *	vpa_completeness_end(&n)                 the end mark, or that there is none
 *	vpa_completeness_judge(&n, say, ctx)     a sentence for each thing that is missing
 *
 * Every command judges files by these rules, so their exit codes agree. Checks of events against
 * each other (operations without a launch, clocks) need the analysis and are in verdict.h. */
#ifndef VPA_ANALYSIS_TRUST_COMPLETENESS_H
#define VPA_ANALYSIS_TRUST_COMPLETENESS_H

#include "analysis/base/intervals.h"
#include "formats/import/any_trace.h"
#include "formats/metadata.h"

/* Counts that `convert` carries from capture to capture as META rows: VPT_METADATA_MISSING_DAMAGED ... */
#define VPA_READING_COUNTS(X)                                                                      \
	X(DAMAGED, damaged)                                                                        \
	X(TORN, torn)                                                                              \
	X(CUT_OUT, cut_out)                                                                        \
	X(WRONG, wrong)                                                                            \
	X(HEADER, header)                                                                          \
	X(START, start)                                                                            \
	X(NEWER, newer)                                                                            \
	X(TRUNCATED, truncated)                                                                    \
	X(INTERRUPTED, interrupted)                                                                \
	X(MALFORMED, malformed)                                                                    \
	X(UNKNOWN, unknown)                                                                        \
	X(VIEWS, views)                                                                            \
	X(TOO_LONG, too_long)                                                                      \
	X(UNREADABLE, unreadable)                                                                  \
	X(ANOTHER_GZIP, another_gzip)                                                              \
	X(UNCLEAR, unclear)                                                                        \
	X(TOO_LONG_OPS, too_long_ops)                                                              \
	X(MIXED, mixed)                                                                            \
	X(FAR, far)                                                                                \
	X(PARTS, parts)                                                                            \
	X(END, end)

enum vpa_completeness_count {
#define VPA_READING_ID(NAME, name) VPA_READING_##NAME,
	VPA_READING_COUNTS(VPA_READING_ID)
#undef VPA_READING_ID
		VPA_READING_COUNT
};

/* The tracer's default VPTRACE_FLUSH_MS, if a capture does not give it. */
enum { VPA_READING_FLUSH_MS = 1000 };

enum { VPA_READING_TEXT = 512, VPA_READING_LOSSES = 11 };

/* Which limit ended the capture. */
enum vpa_capture_end {
	VPA_END_NO_LIMIT,
	VPA_END_DURATION,
	VPA_END_MAX_BYTES,
	VPA_END_WINDOW /* its last window has closed */
};

/* Why a flight recorder was written: `ring.cause` of FORMAT.md. */
enum vpa_ring_cause {
	VPA_RING_UNSAID,
	VPA_RING_REQUEST,
	VPA_RING_END,
	VPA_RING_DEATH,
	VPA_RING_LEAVE, /* vptrace run ended before the process */
	VPA_RING_MARK   /* any other: a mark, a slow span */
};

struct vpa_completeness {
	const struct vpt_trace *trace; /* borrowed */
	/* Includes those carried from the file it was converted from. */
	uint64_t counts[VPA_READING_COUNT];
	uint64_t carried[VPA_READING_COUNT];
	char first_damage[VPA_READING_TEXT], unknown_names[VPA_READING_TEXT];
	uint64_t unknown_sections;
	uint64_t rows, ops;                  /* of events, LOSS excluded; of KERNEL and COPY */
	uint64_t received, dropped, invalid; /* of the newest STATS */
	uint64_t header_lost;                /* sum of lost_events of chunk headers */
	uint64_t losses, lost_events; /* LOSS rows for records, and the sum of their counts */
	uint64_t losses_by_kind[VPA_READING_LOSSES]; /* by VPT_LOSSKIND_* */
	uint64_t unfinished, refused;                /* what LOSS rows of that kind count */
	int has_stats;
	int has_end;     /* the newest chunk is marked as the capture's last */
	int is_recorded; /* a tracer is writing the capture now, so it has no end yet */
	/* From META rows: */
	int is_tracers;     /* recorded by our tracer, not by another tool */
	int is_ranges_only; /* only ranges were requested */
	char unavailable[VPA_READING_TEXT],
		failure[VPA_READING_TEXT], /* why CUPTI's records are missing */
		taken[VPA_READING_TEXT];   /* who else received them, for a time */
	/* What the tool that recorded says of its own records: what is wrong, what might be. */
	char warning[320], doubt[320];
	int zero_is_time;               /* see clocks.h */
	uint64_t clocks_disagree_ns;    /* see clocks.h; 0: not known to */
	uint64_t whole_graphs, unnamed; /* launches of graphs as a whole; events without a name */
	uint64_t memory_limit_bytes;    /* 0: not given */
	enum vpa_capture_end ended;
	uint64_t windows_missed; /* windows of the capture that were not recorded */
	uint64_t unmatched;      /* ranges that were cut: their threads closed too few */
	uint64_t queued; /* ops without times that ran after the capture had ended by its limit */
	char ring[32];   /* how much a flight recorder was to keep; "": it is none */
	enum vpa_ring_cause ring_cause; /* why it was written */
	char ring_mark[256];            /* the same, in the file's words */
	uint64_t after_gzip_bytes;      /* after the end of an import's gzip, and no gzip */
	char gpus
		[VPA_READING_TEXT]; /* which GPUs have another number than their process gives them */
	/* Work of the GPU that ended later may be missing from it; 0: none is. */
	uint64_t complete_until_ns;
	uint64_t undelivered_ns; /* since when it is missing from it; 0: that is not known */
	uint64_t flush_ms;       /* records reach the file within this time */
	/* When records may be missing; all of the time if that is unknown. */
	struct vpa_intervals lost;
	/* The newest unreadable place: no row of any other chunk lies in it. Empty if there is no
	 * such time. */
	struct vpa_interval hole;
	uint64_t holes; /* unreadable places so far; several in a row are one interval */

	/* While chunks are read. */
	uint64_t next_sequence;
	uint64_t previous_ns, newest_ns; /* t_min of the newest chunk with rows; t_max of all */
	uint64_t lost_from_ns; /* Records may be missing from here until a chunk with rows ends. */
	int in_damage;
};

void vpa_completeness_begin(struct vpa_completeness *n, const struct vpt_trace *trace);
/* 0 or VPT_ENOMEM; so are those below. */
int vpa_completeness_chunk(struct vpa_completeness *n, size_t index, const struct vpt_batch *b);
/* A chunk that is not read, by what the contents say of it, see ../../formats/file/contents.h. */
int vpa_completeness_left(struct vpa_completeness *n, size_t index, const uint64_t *values);
int vpa_completeness_damage(struct vpa_completeness *n, size_t index, const char *text);
int vpa_completeness_end(struct vpa_completeness *n);
void vpa_completeness_free(struct vpa_completeness *n);

struct vpa_remark {
	int is_missing;   /* records are missing: the trace is not complete */
	char text[700];   /* one sentence, no full stop */
	char remedy[160]; /* what to do; "": no remedy known */
};

/* Calls `say` with each remark, most important first. Returns whether the trace is complete, as far
 * as its file shows. */
int vpa_completeness_judge(const struct vpa_completeness *n,
	void (*say)(void *ctx, const struct vpa_remark *remark), void *ctx);

/* Adds to a copy of the trace what is missing, since the copy's own file will be intact. If chunks
 * cannot be read (`holes` has grown): a LOSS row before the next one. */
void vpa_completeness_tell_hole(const struct vpa_completeness *n, struct vpt_batch *out);
/* At the end: adds the counts as META rows. Returns whether there were any. */
int vpa_completeness_tell_counts(const struct vpa_completeness *n, struct vpt_batch *out);
/* The META row of a count. */
enum vpt_metadata vpa_completeness_fact(enum vpa_completeness_count count);
/* Whether a META row with this key is one of these. */
int vpa_completeness_is_key(const char *key);

#endif
