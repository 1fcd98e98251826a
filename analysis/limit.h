/* limit.h - what keeps a device from being done sooner: its work, its copies, its peers, or whoever should feed it.
 *
 * Shares are of the time from the first to the last op, *active*. A device that works for less than a quarter of the
 * window, most of which lies before its first or after its last op, is limited by nothing that a trace shows. */
#ifndef VPA_ANALYSIS_LIMIT_H
#define VPA_ANALYSIS_LIMIT_H

#include "analysis/report.h"

enum vpa_limit {
	VPA_LIMIT_IDLE, /* it waits for the host, or for reasons that its idle time's causes tell */
	VPA_LIMIT_UNUSED, /* hardly used in this window */
	VPA_LIMIT_WORK,   /* busy for 90 % of active */
	/* No kernel hides it; a quarter of active, and more than the idle time and than any family of kernels: */
	VPA_LIMIT_COPIES,
	VPA_LIMIT_COMM,
	VPA_LIMIT_PEERS /* the same as communication, and half of it or more waits for other ranks */
};

/* Times of a device, or of several added up. */
struct vpa_load {
	uint64_t window_ns, active_ns, busy_ns;
	uint64_t copy_ns, comm_ns; /* no kernel, no compute beside them */
	uint64_t wait_ns;          /* of comm_ns, at most: waiting for other ranks */
	uint64_t family_ns;        /* the largest kernel family but communication */
};

enum vpa_limit vpa_limit_of(const struct vpa_load *load);
/* Whether it is what the device does, not what it waits for. */
int vpa_limit_is_bound(enum vpa_limit limit);
const char *vpa_limit_text(enum vpa_limit limit);  /* the key: "host", "unused", "gpu" ... */
const char *vpa_limit_words(enum vpa_limit limit); /* "GPU-BOUND"; NULL where causes have to tell */

/* Of all devices of the report. */
struct vpa_load vpa_load_of_all(const struct vpa_report *r);
struct vpa_load vpa_load_of_device(const struct vpa_report *r, const struct vpa_device *d);
/* Of measured blocks, over their devices. What of copies and communication is hidden there is taken to be as much as in
 * the window. */
struct vpa_load vpa_load_of_blocks(const struct vpa_report *r, const struct vpa_blocks *b);

/* Exclusive time of a kernel family in the window, and in measured blocks. */
uint64_t vpa_family_ns(const struct vpa_report *r, const char *family);
uint64_t vpa_family_blocks_ns(const struct vpa_blocks *b, const char *family);

/* `part` of `whole` of `ns`; 0 where whole is 0. */
static inline uint64_t vpa_portion(uint64_t ns, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)ns * part / whole) : 0;
}

#endif
