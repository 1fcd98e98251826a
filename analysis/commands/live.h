/* live.h - a capture that is being recorded, as it is now.
 *
 *	the file so far -> a report of its last seconds -> vpa_live_take() -> one line
 *
 * All figures are those of ordinary reports, of a window that reaches back over the last units. So a line says what a
 * report would say, and each line costs as much as its window, however long the capture is. */
#ifndef VPA_ANALYSIS_COMMANDS_LIVE_H
#define VPA_ANALYSIS_COMMANDS_LIVE_H

#include "analysis/report/report.h"
#include "formats/io/io.h"

#include <stddef.h>
#include <stdint.h>

enum { VPA_LIVE_GPUS = 64 };

/* Units of one kind, counted over all windows so far. */
struct vpa_live_units {
	uint64_t done;
	uint64_t last_start_ns, last_end_ns; /* on the trace clock */
	uint64_t last_ns;                    /* how long the last one took */
};

struct vpa_live_gpu {
	int64_t device;
	double busy;                      /* of the window; below 0: it has not worked in it */
	double memory_used, memory_total; /* bytes; below 0: not sampled */
	double power_w, temperature_c;    /* mean, highest; below 0: not sampled */
};

struct vpa_live {
	uint64_t start_ns, now_ns; /* of the capture; the end of what is in the file */
	int is_simulated;
	uint64_t target_millifps; /* 0: none */
	/* What a line counts: blocks, else steps, else iterations. A window seldom has all of a request. */
	enum vpa_unit_kind kind;
	struct vpa_live_units units;
	uint64_t span_ns; /* of the units of the window, and how many they are */
	uint64_t span_units;
	int is_late;        /* the last block took longer than its frames last at the target */
	double fps;         /* 0: unavailable */
	double units_per_s; /* 0: unavailable */
	double cpu_percent; /* of one core; below 0: not sampled */
	uint64_t ops;       /* kernels, copies and memsets of the window */
	struct vpa_live_gpu gpus[VPA_LIVE_GPUS];
	size_t gpu_count;
};

/* Where the next window begins, relative to the capture's start: it has all units that are not counted yet, and the
 * last ones before them. `period_ns`: the time from line to line. */
uint64_t vpa_live_window_from(const struct vpa_live *l, uint64_t period_ns);

/* Takes the report of that window; *l is all zeros before the first. has_ended: nothing will follow. */
void vpa_live_take(
	struct vpa_live *l, const struct vpa_report *r, uint64_t start_ns, int has_ended);

/* The line, without its end, in ASCII. What is not known is left out. Where it would be longer than `columns`, its parts are brief, and
 * as many as need be are left out; the time, what is simulated and FPS stay, and may then be longer. */
struct vpa_live_line {
	char text[512];
};
struct vpa_live_line vpa_live_line(const struct vpa_live *l, size_t columns);

/* The same for Prometheus: metrics in its text format. `is_recorded`: the capture goes on. */
int vpa_live_metrics(
	const struct vpa_live *l, int is_recorded, struct vpt_sink *sink, struct vpt_err *err);

#endif
