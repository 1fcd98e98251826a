/* host_code.h - the host's own code in idle time that counts to a wait.
 *
 * A call that held the host back before a gap has the gap's first time, whatever the host did in it: without the
 * call it would have come that much earlier. Where it ran code of its own, such as work on what it had waited
 * for, less of that code or a launch before it would save the same time. */
#ifndef VPA_ANALYSIS_REPORT_HOST_CODE_H
#define VPA_ANALYSIS_REPORT_HOST_CODE_H

#include "analysis/report/report.h"

struct vpa_host_code {
	uint64_t ns; /* all of it, on all devices */
	/* The place with most of it. */
	struct vpa_place place;
	uint64_t place_ns;
	const char *call;    /* that held the host before most of that; NULL: not known */
	const char *inside;  /* that the host was in for most of that; NULL: in none */
	enum vpa_cause host; /* what it is: VPA_CAUSE_HOST_CODE, or what the host did instead */
	/* The line with most of it, at the place if that has most of it; the share is of `ns`. Its file is
	 * NULL: not known. */
	struct vpa_top_line top;
};

/* The host's own code in the idle time of causes, a bit each. `wanted`: only in rows with such a place of the cause;
 * NULL: in all. */
struct vpa_host_code vpa_host_code_of(const struct vpa_report *r, uint32_t causes,
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place),
	unsigned part);

/* The same for anything else that the host did, of the cause `host`. */
struct vpa_host_code vpa_instead_of(
	const struct vpa_report *r, enum vpa_cause cause, enum vpa_cause host);

/* What else the host did for half of the causes' `ns` or more, such as allocate memory. Its ns is 0: nothing. */
struct vpa_host_code vpa_host_call_of(const struct vpa_report *r, uint32_t causes,
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place),
	unsigned part, uint64_t ns);

/* The same as a note; NULL: nothing. */
const char *vpa_host_call_note(struct vpa_report *r, uint32_t causes,
	int (*wanted)(const struct vpa_report *r, unsigned part, const struct vpa_place *place),
	unsigned part, uint64_t ns);

/* Whether what the host did has a remedy of its own: to be done earlier, or once. */
static inline int vpa_host_call_has_remedy(enum vpa_cause host)
{
	return host == VPA_CAUSE_ALLOCATION || host == VPA_CAUSE_MODULE_LOAD ||
	       host == VPA_CAUSE_GRAPH_BUILD;
}

/* Whether most of it is at its place, which is then worth a word. */
static inline int vpa_host_code_has_place(const struct vpa_host_code *h)
{
	return h->place.text && h->place.kind != VPA_PLACE_SEVERAL && h->place_ns >= h->ns / 2;
}

/* What to do about it, as the title of a finding; in the report's arena. `reads`: the waits read a few bytes back, which
 * may as well stay on the device. Else the work after a wait may need what it waited for. */
const char *vpa_host_code_title(struct vpa_report *r, const struct vpa_host_code *h, int reads);
/* What it is of the cause's `ns`, as a note. */
const char *vpa_host_code_note(struct vpa_report *r, const struct vpa_host_code *h, uint64_t ns);

#endif
