/* device_limit.h - what keeps a device from finishing sooner: its work, its copies, its peers, or the host
 * that feeds it.
 *
 * Shares are of *active*, the time from the first to the last op. A device that works for less than
 * a quarter of the window, most of which lies before its first or after its last op, has no limit
 * that a trace can show. */
#ifndef VPA_ANALYSIS_REPORT_DEVICE_LIMIT_H
#define VPA_ANALYSIS_REPORT_DEVICE_LIMIT_H

#include "analysis/report/report.h"

#include "formats/base/saturate.h"

enum vpa_device_limit {
	VPA_LIMIT_IDLE, /* it waits for the host, or for reasons given by its idle time's causes */
	VPA_LIMIT_UNUSED, /* hardly used in this window */
	VPA_LIMIT_WORK,   /* busy for 90 % of active */
	/* Exposed (no kernel runs beside it); a quarter of active, more than the idle time and more
	 * than any kernel family: */
	VPA_LIMIT_COPIES,
	VPA_LIMIT_COMM,
	VPA_LIMIT_PEERS, /* as communication, and at least half of it waits for other ranks */
	VPA_LIMIT_FAULTS /* as work, but half of the kernels' time waits for unified memory */
};

/* Times of one device, or summed over several. */
struct vpa_load {
	uint64_t window_ns, active_ns, busy_ns;
	/* exposed: copies beside no kernel, communication beside no compute */
	uint64_t copy_ns, comm_ns;
	uint64_t wait_ns;             /* part of comm_ns, at most: waiting for other ranks */
	uint64_t kernel_ns, fault_ns; /* of kernels: their sum; part of it, see struct vpa_device */
	uint64_t family_ns;           /* the largest kernel family except communication */
};

enum vpa_device_limit vpa_device_limit_of(const struct vpa_load *load);
/* Whether the limit is what the device does, not what it waits for. */
int vpa_device_limit_is_bound(enum vpa_device_limit limit);
const char *vpa_device_limit_text(
	enum vpa_device_limit limit); /* the key: "host", "unused", "gpu" ... */
const char *vpa_device_limit_words(
	enum vpa_device_limit limit); /* "GPU-BOUND"; NULL if the causes decide */
/* Whether what bounds a device bounds only a part of the window: at least a tenth of that is before its first op or
 * after its last. A device that is bound by its work is else busy for at least four fifths of the window. */
int vpa_device_limit_is_of_part(const struct vpa_load *load);

/* What a device does itself: busy without communication that no compute hides, which may be a wait for
 * another device. No remedy of idle time makes it shorter. The most that any device does. */
uint64_t vpa_work_ns(const struct vpa_device *d);
uint64_t vpa_most_work_ns(const struct vpa_report *r);
/* Whether it does at least a quarter of the work of the device that does most. Others, such as one for a text
 * encoder, decide little about how long the run takes. */
int vpa_device_matters(const struct vpa_report *r, const struct vpa_device *d);

/* Whether devices work one after the other: together they work nearly all the time, and hardly ever two at once. No host is
 * to blame for their waits. */
int vpa_devices_take_turns(const struct vpa_report *r);

/* Summed over the devices that matter; of one device. */
struct vpa_load vpa_load_of_all(const struct vpa_report *r);
struct vpa_load vpa_load_of_device(const struct vpa_report *r, const struct vpa_device *d);
/* Of a part of the window, summed over devices; families: its busy time by enum vpa_family. Assumes that the same share
 * of copies and communication is hidden there as in the window, and of busy time doubted. */
struct vpa_load vpa_load_of_part(
	const struct vpa_report *r, const uint64_t *families, uint64_t busy_ns, uint64_t idle_ns);

/* How much of comm_wait_ns ran beside compute, at least: what is not exposed. *all: all of it did. */
uint64_t vpa_hidden_wait_ns(const struct vpa_report *r, const struct vpa_device *d, int *all);

/* Exclusive time of a kernel family in the window. */
uint64_t vpa_family_ns(const struct vpa_report *r, enum vpa_family family);

/* `part` of `whole` of `ns`; 0 where whole is 0. */
static inline uint64_t vpa_portion(uint64_t ns, uint64_t part, uint64_t whole)
{
	return vpt_sat_scale(ns, part, whole);
}

#endif
