/* finding.h - what a finding is made of, and where findings come from.
 *
 * A finding says what to change, and what that could save at most. A saving is worth a line from a share of the window and
 * one of the active time on, so that a GPU that hardly works raises none; and no two findings sell the same time. */
#ifndef VPA_ANALYSIS_FINDING_H
#define VPA_ANALYSIS_FINDING_H

#include "analysis/report.h"

enum { VPA_FINDINGS_MAX = 32 };

/* Room for them in the report. 0 or VPT_ENOMEM. */
int vpa_findings_begin(struct vpa_report *r);

/* A new finding, its other members the caller's to fill; `id` and `status` are constants. NULL: there are too many, or no
 * memory. */
struct vpa_finding *vpa_finding_add(struct vpa_report *r, const char *id, const char *status);
/* Of more than three the first count; of none that stands for several ("(other)"), or is there already. */
void vpa_finding_evidence(struct vpa_finding *f, const char *text);
const struct vpa_finding *vpa_finding_find(const struct vpa_report *r, const char *id);

/* Time that a repair would save at most. */
struct vpa_saving {
	uint64_t ns;      /* of all devices together */
	uint64_t from_ns; /* the bound is a range, from here to ns; 0: it is one number */
	/* The device that would gain most, and what. NULL: not known by device; then as much of it as of busy time. */
	const struct vpa_device *device;
	uint64_t device_ns;
	uint64_t
		blocks_ns; /* of ns: in the measured blocks that the report shows, all devices; 0: none, or not known */
};

/* Whether time is 1 % of the windows or more. */
int vpa_is_window_share(const struct vpa_report *r, uint64_t ns);
/* Whether it takes 1 % of the windows and 2 % of the active time. */
int vpa_saving_is_worth(const struct vpa_report *r, const struct vpa_saving *s);
/* "fail" from a tenth of the windows on, else "warn". */
const char *vpa_saving_status(const struct vpa_report *r, const struct vpa_saving *s);
/* Writes the gain, what it is of, and what that means in FPS. */
void vpa_finding_saves(
	const struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s);

/* ns / 1e6 */
static inline double vpa_in_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* 100 * part / whole; 0 where whole is 0. */
static inline double vpa_per_cent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* The windows of all devices; their active time. */
uint64_t vpa_windows_ns(const struct vpa_report *r);
uint64_t vpa_active_ns(const struct vpa_report *r);

/* ---- where findings come from ---- */

void vpa_find_work(struct vpa_report *r);   /* what bounds the run, and what work costs */
void vpa_find_idle(struct vpa_report *r);   /* what the devices waited for */
void vpa_find_blocks(struct vpa_report *r); /* blocks, steps and stages */

#endif
