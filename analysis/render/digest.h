/* digest.h - sums that several sections of the page share: idle time by cause and by place, over all
 * devices. */
#ifndef VPA_ANALYSIS_RENDER_DIGEST_H
#define VPA_ANALYSIS_RENDER_DIGEST_H

#include "analysis/pipeline/unit_limit.h"
#include "analysis/render/text_page.h"
#include "analysis/report/host_code.h"
#include "analysis/report/overview.h"
#include "analysis/report/report.h"
#include "analysis/report/similar_names.h"

/* A place that opened idle time, over all devices. */
struct vpa_idle_place {
	enum vpa_cause cause;
	const char *call;
	struct vpa_place place;
	uint64_t ns, gaps;
	const char *inside; /* the host was in this call for inside_ns of it, or most of that */
	uint64_t inside_ns;
	int is_inside_others; /* and in others */
};

enum { VPA_PLACES = 256, VPA_HEADS = 32 };

struct vpa_digest {
	const struct vpa_report *report;
	uint64_t window_ns, windows_ns; /* the window; the sum of the devices' windows */
	uint64_t active_ns, busy_ns, idle_ns, window_idle_ns, gaps, window_gaps;
	uint64_t edge_ns;     /* of the window's idle time: its heads and tails */
	uint64_t cpu_wait_ns; /* of the hosts' own code */
	uint64_t cause_ns[VPA_CAUSES], cause_gaps[VPA_CAUSES];
	enum vpa_cause causes[VPA_CAUSES]; /* those with idle time, by ns, falling */
	size_t cause_count;
	/* By ns, falling; those beyond the maximum are in the sums only. */
	struct vpa_idle_place places[VPA_PLACES];
	size_t place_count;
	struct vpa_host_code code[VPA_CAUSES]; /* the host's own code in the time of waits */
	struct vpa_label unknown;              /* vpa_unknown_label() */
	/* What the hosts did before the first work, by ns, falling. */
	struct vpa_idle_place heads[VPA_HEADS];
	size_t head_count;
	enum vpa_device_limit limit; /* of all devices together */
	int gpu_bound;               /* their work limits them, not what they wait for */
	unsigned decimals;           /* of milliseconds, for this window */
};

void vpa_digest_of(const struct vpa_report *r, struct vpa_digest *d);
/* Idle time of a cause in the call of its largest place, summed over all ranges; ns is 0 if there is
 * none. *ranges: their number. */
struct vpa_idle_place vpa_call_of(const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges);
/* The largest place of a cause; NULL: none known. */
const struct vpa_idle_place *vpa_first_place(const struct vpa_digest *d, enum vpa_cause cause);
/* The sum of the places of a cause that differ from its largest only in the numbers of the range's
 * name: "IO 190", "IO 200". *ranges: these names. */
struct vpa_idle_place vpa_similar_of(
	const struct vpa_digest *d, enum vpa_cause cause, struct vpa_alike *ranges);
enum vpa_cause vpa_known_cause(enum vpa_cause cause); /* "unknown" for a number out of range */
int vpa_is_edge(enum vpa_cause cause);                /* head or tail of the window */
/* "cudaMemcpy in to_host", "before step 3", in at most `columns`. Empty if neither is known. */
struct vpa_label vpa_place_label(const char *call, const struct vpa_place *place, size_t columns);
/* A family's name; for kernels without a family also their names. */
const char *vpa_family_text(const struct vpa_digest *d, enum vpa_family family);
/* The same of a part that is one, else the part's name. */
const char *vpa_part_text(const struct vpa_digest *d, const struct vpa_block_part *part);

/* "GPU-BOUND", "limited by sync: host waited for the GPU"; where another cause is larger alone, "limited by the host's
 * pace, most of it launch rate: host launches too slowly". */
struct vpa_label vpa_limit_sentence(const struct vpa_unit_limit *limit);
/* The call in which the host spent most of a cause's time that earlier waits turned into idle time;
 * ns is 0 if that is at most a quarter of the cause. */
struct vpa_idle_place vpa_inside_of(const struct vpa_digest *d, enum vpa_cause cause);

/* The host's own code in a cause's idle time; ns is 0 if that is less than a quarter of the cause. */
struct vpa_host_code vpa_code_of(const struct vpa_digest *d, enum vpa_cause cause);

/* The same of a part of blocks: how long that took, 0 if that is less than a quarter of it. */
uint64_t vpa_part_code_ns(const struct vpa_block_part *part);
/* " in post_process": its place, if that has most of it; else empty. */
struct vpa_label vpa_code_place(const struct vpa_host_code *code, size_t columns);

/* The line with most of a cause's largest place, or, if that has less than half of the cause, of it and those that
 * differ from it by a number, see main_line.h. The share is of the place's time, or, if the place has no name, of
 * the cause's. Its file is NULL: no line is known, or these places have less than half. */
struct vpa_top_line vpa_line_of_cause(const struct vpa_digest *d, enum vpa_cause cause);

/* ---- how much of a report the page shows ---- */

/* Sentences of the verdict at the top; the others are in NOTES. */
enum { VPA_REASONS = 3 };

/* Rows per table: --top if given, else `usual`. */
static inline size_t vpa_rows(const struct vpa_report *r, size_t usual)
{
	return r->top ? r->top : usual;
}

/* ---- numbers in the units of the page ---- */

static inline struct vpa_num vpa_mean(uint64_t total_ns, uint64_t count)
{
	return count ? vpa_duration(total_ns / count) : vpa_missing();
}

/* Three digits: "0.123", "1.23", "24.0", "140". */
static inline struct vpa_num vpa_rate(double rate)
{
	if (rate < 0)
		return vpa_missing();
	return vpa_fixed(rate, rate < 1 ? 3 : rate < 10 ? 2 : rate < 100 ? 1 : 0);
}

/* Milliseconds: "0"; "<0.01", of a time that would round to 0; "12.34". */
struct vpa_num vpa_ms(uint64_t ns, const struct vpa_digest *d);

#endif
