/* digest.h - what several sections of the page say of the same sums: idle time by cause and by place, over all devices. */
#ifndef VPA_ANALYSIS_RENDER_DIGEST_H
#define VPA_ANALYSIS_RENDER_DIGEST_H

#include "analysis/limit.h"
#include "analysis/render/page.h"
#include "analysis/report.h"

/* A place where idle time was opened, over all devices. */
struct vpa_idle_place {
	enum vpa_cause cause;
	const char *call, *range;
	uint64_t ns, gaps;
	const char *inside; /* the host was in this call for inside_ns of it */
	uint64_t inside_ns;
};

enum { VPA_PLACES = 256, VPA_HEADS = 32 };

/* What several sections say of the same sums. */
struct vpa_digest {
	uint64_t window_ns, windows_ns; /* one, and one for each device */
	uint64_t active_ns, busy_ns, idle_ns, window_idle_ns, gaps, window_gaps;
	uint64_t edge_ns; /* of the window's idle time: its heads and tails */
	uint64_t cause_ns[VPA_CAUSES], cause_gaps[VPA_CAUSES];
	enum vpa_cause causes[VPA_CAUSES]; /* by ns, falling; those with any */
	size_t cause_count;
	/* By ns, falling; later ones are in the sums only. */
	struct vpa_idle_place places[VPA_PLACES];
	size_t place_count;
	struct vpa_label unknown; /* vpa_unknown_label() */
	/* What the hosts did before the first work, by ns, falling. */
	struct vpa_idle_place heads[VPA_HEADS];
	size_t head_count;
	enum vpa_limit limit; /* of all devices together */
	int gpu_bound;        /* it is what they do, not what they wait for */
	unsigned decimals;    /* of a millisecond, for this window */
};

void vpa_digest_of(const struct vpa_report *r, struct vpa_digest *d);
/* Idle time of one cause in one call but in many ranges, each with little of it: the
 * sum over the ranges, whose number is set. For the call of the cause's largest place; no ns if
 * there is none. */
struct vpa_idle_place vpa_call_of(const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges);
/* The largest place of a cause; NULL: none is known. */
const struct vpa_idle_place *vpa_first_place(const struct vpa_digest *d, enum vpa_cause cause);
/* The places of a cause that differ from its largest in the range's numbers alone, added up: "IO 190", "IO 200". Their
 * number is set. */
struct vpa_idle_place vpa_alike_of(
	const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges);
enum vpa_cause vpa_known_cause(enum vpa_cause cause); /* "unknown" for a number out of range */
int vpa_is_edge(enum vpa_cause cause);                /* head or tail of the window */
/* "cudaMemcpy in to_host", "before step 3"; in at most `columns`. Empty where neither is known. */
struct vpa_label vpa_place(const char *call, const char *range, size_t columns);
/* A family's name; of the kernels of none also what they are called. NULL is "?". */
const char *vpa_family_text(const struct vpa_digest *d, const char *family);

/* "host waited for the GPU (sync)"; the key alone where both are the same. */
struct vpa_label vpa_cause_label(enum vpa_cause cause);
struct vpa_label vpa_cause_sentence(enum vpa_cause cause); /* "sync: host waited for the GPU" */
/* The call in which most of a cause's time was spent that earlier waits made idle time; no ns where that is at most a
 * quarter of the cause. */
struct vpa_idle_place vpa_inside_of(const struct vpa_digest *d, enum vpa_cause cause);

/* What devices with such a load are limited by, if they are bound: "the work itself", "copies that no kernel hides ...". */
void vpa_limit_cause(struct vpa_words *w, const struct vpa_report *r, enum vpa_limit limit,
	struct vpa_load load);

/* ---- how much of a report the page shows ---- */

/* Sentences of the verdict at the top; NOTES has the others. */
enum { VPA_REASONS = 3 };

/* Rows of a table: those of --top where it was given, else the usual number. */
static inline size_t vpa_rows(const struct vpa_report *r, size_t usual)
{
	return r->top ? r->top : usual;
}

/* ---- its numbers, in the units of the page ---- */

static inline struct vpa_num vpa_mean(uint64_t total_ns, uint64_t count)
{
	return count ? vpa_duration(total_ns / count) : (struct vpa_num){"-"};
}

static inline struct vpa_num vpa_ms(uint64_t ns, const struct vpa_digest *d)
{
	return vpa_scaled(ns, 1000000, d->decimals);
}

#endif
