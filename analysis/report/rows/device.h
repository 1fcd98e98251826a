/* device.h - the report's rows of devices and of their idle time: why each was idle, and its gaps. Part of
 * report.h; ../../folds/gaps/device_table.c, gap_table.c, gain_table.c and findings_first_use.c define the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_DEVICE_H
#define VPA_ANALYSIS_REPORT_ROWS_DEVICE_H

#include "analysis/report/rows/host_stop.h"
#include "analysis/report/rows/causes.h"
#include "analysis/report/rows/code_line.h"
#include "analysis/report/rows/place.h"

#include "formats/base/saturate.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VPA_GAP_BUCKETS 7
extern const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS]; /* "lt_1us" ... "gt_10ms" */
extern const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1];

/* A part of a device's idle time. `call`: NULL if there is none; "(other)" in a row that sums small ones up, whose place
 * is several. */
struct vpa_idle_part {
	enum vpa_cause cause;
	struct vpa_place place;
	const char *call;
	const char *inside; /* the call the host was in during most of inside_ns */
	/* Part of ns: the host was in another call, which began later because of the cause. */
	uint64_t inside_ns;
	uint64_t ns, gaps;              /* gaps: those with such a piece */
	const struct vpa_top_line *top; /* NULL: nothing is known */
	int is_inside_others;           /* of inside_ns a part is in other calls */
	/* Part of ns: long host code after a wait; not to wait would have saved it too. In which call the host
	 * waited before most of it. */
	uint64_t instead_ns;
	const char *instead;
};

/* Of a part of idle time, what the host did in it, if it counts to an earlier call, which had held the host:
 * with less of this, too, the next launch would have come earlier. Names are as in struct vpa_idle_part. */
struct vpa_instead_row {
	enum vpa_cause cause;
	struct vpa_place place;
	const char *call;
	enum vpa_cause host; /* the cause that the time had without that call: what the host did */
	struct vpa_place host_place;
	const char *host_call;          /* NULL: in none */
	uint64_t ns, gaps;              /* gaps: those with such a piece */
	const struct vpa_top_line *top; /* of the host's own code; NULL: nothing is known */
};

/* A collective needs some 10 us however little it moves. In so much time NVLink moves a megabyte. */
enum { VPA_SMALL_COMM_NS = 30000 };

struct vpa_device {
	int64_t device;
	uint64_t ops; /* of positive duration */
	uint64_t streams;
	/* From the first to the last op, without pauses. */
	uint64_t first_ns, last_ns, active_ns, busy_ns, idle_ns, gaps, longest_gap_ns;
	uint64_t histogram[VPA_GAP_BUCKETS];
	uint64_t kernel_ns; /* sum of durations, overlaps counted twice */
	uint64_t same_stream_overlaps;
	/* Ops that lasted over several later ones of their stream, which cannot be; how much of busy_ns
	 * may be of them alone, at most. */
	uint64_t too_long_ops, doubted_ns;
	/* Part of kernel_ns: pages of unified memory were on their way. */
	uint64_t fault_ns;
	uint64_t compute_ns, exposed_comm_ns, exposed_copy_ns; /* sum to busy_ns */
	uint64_t window_idle_ns;                               /* with head and tail */
	/* Kernel time with fewer blocks than the device has SMs; informational. */
	uint64_t small_grid_ns;
	/* By ns, descending: the most the device would save without a cause, see gain.h. */
	struct vpa_gain_row {
		enum vpa_cause cause;
		uint64_t ns;
		uint64_t shared_ns; /* part of ns assigned to another cause that gains it too */
	} * gains;
	size_t gain_count;
	/* The same for parts of the waits, causes sync and blocking copy: reads of a few bytes, other blocking copies,
	 * other synchronisations; and for all waits. What is not shared of the parts is at most what is not shared
	 * of all. */
	struct vpa_wait_gain {
		struct vpa_gain_row row;
		uint64_t claim_ns; /* part of its ns that is not long code of the host */
	} small_reads, large_copies, other_syncs, waits;
	uint64_t half_code_ns;  /* what the device would save if host code took half its time */
	uint64_t small_read_ns; /* how long such reads themselves ran: sum of durations */
	/* Of idle time in the host's own code: the thread could run, but no CPU was free. */
	uint64_t cpu_wait_ns;
	struct vpa_idle_part *causes; /* by ns, descending; they sum to window_idle_ns */
	size_t cause_count;
	/* By ns, descending: part of causes. NULL: not known, as in a report of an older version. */
	struct vpa_instead_row *instead;
	size_t instead_count;
	/* The time before the first work, by what the thread that launched it did, as far as
	 * known. */
	struct vpa_idle_part *before_first_work;
	size_t before_first_work_count;
	uint64_t comm_ns; /* communication: sum of durations */
	/* Parts of comm_ns: of calls whose bytes the trace has; and what a transfer does not take, see ../../folds/collectives.c. */
	uint64_t comm_sized_ns, comm_wait_ns;
	/* The place of launch with most of comm_wait_ns, how much of it, and all of comm_ns that was launched right there. */
	struct vpa_place comm_wait_place;
	uint64_t comm_wait_place_ns, comm_place_ns;
	/* Calls whose transfer takes at most VPA_SMALL_COMM_NS: how many, and how long these take without what is waiting. */
	uint64_t comm_small_calls, comm_small_ns;
	/* first_use_ns: part of idle time, see ../../folds/gaps/first_use_table.c. Of it: before the first work; of cause module
	 * load, and of cause first use. */
	uint64_t first_use_ns, first_use_head_ns, first_use_load_ns, first_use_code_ns;
};

/* The device's window: without pauses, except for the parts of them in which it ran ops. */
static inline uint64_t vpa_device_window_ns(const struct vpa_device *d)
{
	return vpt_sat_add(d->busy_ns, d->window_idle_ns);
}

/* Stretches of idle time in which the host stood still, see host_stop.h: they have the causes of where it was. */
struct vpa_host_stops {
	uint64_t count, places; /* 0: there are none */
	uint64_t ns, shortest_ns, longest_ns;
	uint64_t cause_ns[VPA_CAUSES]; /* of ns */
	struct vpa_cause_time *causes; /* the same, of those with time, by ns, descending */
	size_t cause_count;
	struct vpa_stop_clock clock; /* by which they end */
};

enum { VPA_PAUSES_MOST = 4, VPA_PAUSE_PLACES = 8 };

/* Stretches of host code of 5 ms and longer whose lengths differ by a fifth of the longest at most. If they are rare where they
 * are, something stops the code now and then, as garbage collection does. */
struct vpa_pauses {
	uint64_t count, ns, shortest_ns, longest_ns;
	const char **places; /* the ranges that they are in; at most VPA_PAUSE_PLACES */
	size_t place_count;
};

struct vpa_gap_piece {
	enum vpa_cause cause;
	const char *call; /* see struct vpa_idle_part */
	struct vpa_place place;
	uint64_t ns;
	/* What the host did in the longest part of it, if the call is an earlier one; else 0. */
	enum vpa_cause host;
	struct vpa_place host_place;
	/* Of long host code: how much of it not to wait would have saved too, the call that the host had waited in before most of
	 * that, and where; NULL: in none. */
	const char *instead;
	struct vpa_place instead_place;
	uint64_t instead_ns;
	int is_partly; /* of host code of 1 ms and more: the place does not cover all of it, to a tenth */
};

enum { VPA_LONG_GAPS = 256 };

/* One of the longest gaps, and what most of it waited for. */
struct vpa_long_gap {
	uint64_t start_ns, end_ns;
	enum vpa_cause cause;
	const char *call; /* NULL: none */
	struct vpa_place place;
	/* Of the pass: that launched what ends it; all ones: none, or not known. */
	uint32_t thread;
};

struct vpa_gap_row {
	char id[16]; /* "G1": by duration, descending */
	int64_t device;
	uint64_t start_ns, duration_ns;
	enum vpa_cause cause;       /* of most of the gap */
	const char *call;           /* of the longest piece with that cause; NULL: none */
	struct vpa_place place;     /* the same piece's */
	int64_t pid, tid;           /* of the launching thread; -1: unknown */
	const char *after, *before; /* names of the ops around it; NULL at head and tail */
	struct vpa_gap_piece *pieces;
	size_t piece_count;
	const struct vpa_top_line
		*top; /* its own, or of all gaps with its cause, call and range; or NULL */
	/* Of the time that counts to an earlier wait: the host ran its own code. place_ns: of that, at one place,
	 * that of more than half if there is one. */
	struct vpa_gap_code {
		uint64_t ns, place_ns;
		struct vpa_place place;
	} code;
};

#endif
