/* job.h - several ranks as one job: who waits for whom, and for what.
 *
 *	         a_w      a_l = last     first end   end
 *	waiter    |---- wait ----|-transfer--|-skew--|        kernel = wait + transfer + skew
 *	last one                 |-transfer--|
 *
 * Of a collective, the arrival of a rank is the start of its kernel. The rank that arrives last is to blame for the waits
 * of the others: since the end of the collective before that both were in, it did more of something than each waiter.
 * The differences, part by part, sum to the wait exactly; a part of which it did less is below 0.
 *
 * All of it is integers in nanoseconds. A wait shorter than the clocks' uncertainty is not known from 0: it counts as
 * `unsure`, and nobody is to blame. */
#ifndef VPA_ANALYSIS_RANKS_JOB_H
#define VPA_ANALYSIS_RANKS_JOB_H

#include "analysis/ranks/job_change.h"
#include "analysis/ranks/alignment/matching.h"
#include "analysis/ranks/alignment/rank_clocks.h"
#include "analysis/report/rows/causes.h"
#include "formats/base/error.h"

/* Besides the classes of a rank's parts, what makes a rank late. */
enum vpa_late_class {
	VPA_LATE_COMPUTE,
	VPA_LATE_COMM,
	VPA_LATE_COPY,
	VPA_LATE_IDLE,
	VPA_LATE_BEGAN, /* before the first collective that both were in: nothing to compare since */
	VPA_LATE_ENDED, /* it left the collective before later */
	VPA_LATE_CLOCK, /* its clock runs at another speed */
	VPA_LATE_CLASSES
};

/* A reason, and by how much of it the last rank was later than waiters. */
struct vpa_job_part {
	enum vpa_late_class klass;
	unsigned kind;     /* of compute, copies and idle time as in struct vpa_part_name */
	const char *place; /* NULL: none */
	int64_t ns;
};

/* What is known of each rank, and how much it differs between them; found by figures/job_metrics.h. */
enum vpa_metric {
	VPA_METRIC_FPS,           /* frames/s */
	VPA_METRIC_BPS,           /* blocks/s */
	VPA_METRIC_PERIOD,        /* of a unit, as all times are: ns */
	VPA_METRIC_BUSY,          /* its GPU runs something */
	VPA_METRIC_COMPUTES,      /* something that is no collective and no copy */
	VPA_METRIC_WAITS,         /* for other ranks */
	VPA_METRIC_IDLE,          /* its GPU runs nothing */
	VPA_METRIC_MEMORY,        /* B, at most: in use on the GPU */
	VPA_METRIC_ALLOCATED,     /* B, at most: by PyTorch */
	VPA_METRIC_RESERVED,      /* B, at most */
	VPA_METRIC_POWER,         /* W */
	VPA_METRIC_TEMPERATURE,   /* C, at most */
	VPA_METRIC_SM_CLOCK,      /* MHz */
	VPA_METRIC_CLOCK_LIMITED, /* % of the time in which the GPU is not idle */
	VPA_METRICS,
	VPA_METRIC_CAUSE = VPA_METRICS, /* idle for one reason */
	VPA_METRIC_KINDS
};

struct vpa_job_rank {
	const struct vpa_rank *rank;
	int64_t device;              /* as in the rank */
	int64_t number;              /* its rank; where none is known, its place in the list */
	uint64_t matched, unmatched; /* collectives */
	uint64_t
		at_least; /* part of matched: a rank of the group lacks it, or may have no capture, so waits may be longer */
	/* How long the rank of its groups that goes on longest does after this one's last op, and in how many collectives of
	 * those groups; 0: its capture does not end early. */
	uint64_t cut_ns, cut_collectives;
	/* Sums over its matched collectives. Transfer may be below 0 where clocks or times are wrong. */
	uint64_t wait_ns, unsure_ns, skew_ns;
	int64_t transfer_ns;
	uint64_t last;     /* collectives that it was the last of, by more than the uncertainty */
	uint64_t blame_ns; /* waits of others that it is to blame for */
	/* Part of these: before the first collective of the one that waits and the one that it waits for. */
	uint64_t start_wait_ns, start_blame_ns;
	struct vpa_job_part *parts; /* they sum to blame_ns; the largest first */
	size_t part_count;
	double metrics[VPA_METRICS];        /* below 0: not known */
	struct vpa_cause_time *idle_causes; /* of a unit; those that the rank has, by cause */
	size_t idle_cause_count;
	struct vpa_rank_stage *stages; /* the rank's */
	size_t stage_count;
};

struct vpa_job_metric {
	enum vpa_metric kind;
	enum vpa_cause cause; /* of VPA_METRIC_CAUSE */
	size_t known;         /* ranks that have it; the others are in no figure here */
	double least, mean, most;
	size_t least_rank, most_rank,
		rank; /* indexes in job->ranks; rank: that stands out; rank_count: they are alike */
	int differs;  /* least and most differ by more than VPA_METRIC_DIFFERS % of the mean */
	const char *why; /* of the rank that stands out; NULL: not known */
};

enum { VPA_METRIC_DIFFERS = 10 };

/* What the job makes in a second, see figures/job_rates.h. */
enum vpa_rates_of {
	VPA_RATES_UNKNOWN,     /* no rank has a rate */
	VPA_RATES_OF_JOB,      /* all ranks work on the same units: the rate is that of each */
	VPA_RATES_OF_REPLICAS, /* sets of ranks work on units of their own: it is their sum */
	VPA_RATES_OF_RANK,     /* the captures do not say which: it is that of a rank, the mean */
	VPA_RATES_KINDS
};

struct vpa_job_rates {
	enum vpa_rates_of of;
	double fps, bps;   /* frames and blocks per second; 0: not known */
	int is_end_to_end; /* fps is of whole requests, of some rank or all */
	size_t replicas;   /* sets of ranks that work on units of their own; 0: not known */
};

/* A fact of the set-up that is not the same on all ranks. */
struct vpa_job_difference {
	const char *name, *most, *value; /* NULL: not set; most: of most ranks */
	const char *ranks;               /* those that have `value`: "3, 5 to 7" */
};

/* What a change would bring, by replaying all ranks together. */
enum vpa_fix_kind {
	VPA_FIX_HOST_CODE, /* no rank's GPU waits for its host's code and launches */
	VPA_FIX_LIKE_MEDIAN, /* these ranks, or all, take no longer between collectives than the median */
	VPA_FIX_ASKED        /* all changes that the user asks about, together */
};

enum { VPA_FIXES_MOST = 8, VPA_FIX_RANKS_MOST = 3 };

struct vpa_job_fix {
	enum vpa_fix_kind kind;
	const char *ranks; /* "0, 6"; NULL: all */
	size_t members
		[VPA_FIX_RANKS_MOST]; /* indexes in job->ranks, most to blame first; none: all */
	size_t member_count;
	double share;     /* of a unit's time that is gone */
	uint64_t unit_ns; /* of a unit, with the change */
};

/* What a job takes longer than its share of one rank alone, see scaling.h. */
enum vpa_scaling_part {
	VPA_SCALING_TRANSFERS,
	VPA_SCALING_WAITS,
	VPA_SCALING_HOST, /* host code and launches that do not divide */
	VPA_SCALING_IDLE, /* other idle time */
	VPA_SCALING_COPIES,
	VPA_SCALING_COMPUTE, /* that does not shrink */
	VPA_SCALING_PARTS
};

struct vpa_scaling {
	const char *capture;                /* of the base; NULL: not known */
	int is_weak;                        /* each rank does units of its own */
	uint64_t one_ns, many_ns, ideal_ns; /* of a unit: alone, of the job, and what it would be */
	double speedup, efficiency;
	int64_t part_ns[VPA_SCALING_PARTS]; /* they sum to many_ns - ideal_ns */
};

struct vpa_job_group {
	const char *name; /* NULL: not known */
	size_t rank_count, row_count;
	enum vpa_collective_kind kind; /* of most of its time */
	uint64_t wait_ns, transfer_ns;
	/* Found with the patterns. Of its calls of a size that four collectives or more have, that which transfers for most of the
	 * time, its median transfer, and how much goes over the bus in that time. 0: no such call; below 0: it is not known. */
	enum vpa_collective_kind call;
	uint64_t call_bytes, call_ns;
	double bus_gb_per_s;
	/* The fastest of its calls by that. */
	enum vpa_collective_kind fastest_call;
	uint64_t fastest_bytes;
	double bus_gb_per_s_most;
	int is_compared; /* another group of as many ranks makes that call, so that a slow link would show */
};

/* What several collectives have in common and has a name; found by patterns.h. */
enum vpa_pattern_kind {
	VPA_PATTERN_TURNS,     /* a few ranks come last in turns */
	VPA_PATTERN_TRUNCATED, /* the capture of a rank ends while the others go on */
	VPA_PATTERN_SLOW_LINK, /* what some ranks exchange takes longer than elsewhere, and nobody is late */
	VPA_PATTERN_LATE_SENDER,   /* of a message between two */
	VPA_PATTERN_LATE_RECEIVER, /* the same */
	VPA_PATTERN_LATE_PEER, /* the same, where each of them sends and receives, or the trace does not say who does */
	VPA_PATTERN_ULYSSES,  /* ranks exchange parts before and after attention, all with all */
	VPA_PATTERN_RING,     /* they pass keys and values on beside attention */
	VPA_PATTERN_CFG,      /* halves of them compute the two passes of guidance */
	VPA_PATTERN_PIPELINE, /* they pass results on from one to the next; `peers` waits longest */
	VPA_PATTERN_LOCKSTEP, /* a group without a name is several that work in step */
	VPA_PATTERNS
};

/* Texts are in the arena of the job, or of its list of ranks. */
struct vpa_job_pattern {
	enum vpa_pattern_kind kind;
	const char *ranks; /* "2, 5"; of LOCKSTEP its sets of ranks: "0 to 3; 4 to 7" */
	const char *peers; /* of messages: who waits; NULL: nobody in particular */
	const char *group; /* the communicator; NULL: not known */
	enum vpa_collective_kind collective; /* of SLOW_LINK: what takes longer */
	uint64_t collectives;                /* in which it shows */
	uint64_t a_layer;                    /* of ULYSSES: exchanges for each attention */
	uint64_t changes;                    /* of TURNS: how often another rank comes last */
	/* Of a message: of SLOW_LINK of the call that costs most, of ULYSSES and RING the mean; 0: not known. */
	uint64_t bytes;
	/* Of SLOW_LINK: a transfer elsewhere and there, the medians. Of PIPELINE: what a rank of it computes, the median, and what the one
	 * does that computes most. */
	uint64_t usual_ns, found_ns;
	/* Of PIPELINE: that one, and its index in job->ranks, if it computes a tenth more than the median; NULL: none does. */
	const char *busiest;
	size_t busiest_rank;
	/* What it is about, summed: waits; of SLOW_LINK what transfers take more than elsewhere; of TRUNCATED how long others go
	 * on; of ULYSSES, RING and CFG what its transfers take of a
	 * rank; of PIPELINE what `peers` waits. */
	uint64_t ns;
};

struct vpa_job {
	struct vpa_arena arena;
	struct vpa_rank_list list; /* owned */
	struct vpa_matching matching;
	struct vpa_clocks clocks;
	struct vpa_job_rank *ranks; /* as in the list, which is ordered by rank */
	size_t rank_count;
	struct vpa_job_group *groups;
	size_t group_count;
	int64_t world_size;       /* -1: not known */
	size_t missing;           /* ranks of the world that are not there */
	const char *missing_text; /* "3, 5 to 7" */
	const char *late_ranks;   /* those of late_ranks.h, "3, 5"; NULL: it names none */
	/* Captures left out, since another one is of the same rank: a sentence each. */
	const char **duplicates;
	size_t duplicate_count;
	/* Ranks whose host has the name of another machine, as clocks tell: "4 to 7"; NULL: none. */
	const char *namesakes;
	const char *
		apart; /* ranks that worked a minute or more before or after the first one, by the clocks of their machines */
	const char *job; /* its id; NULL: not known */
	struct vpa_job_difference *differences;
	size_t difference_count;
	int simulated;     /* as in struct vpa_report */
	size_t incomplete; /* ranks whose captures lack records */

	struct vpa_job_rows *row_table; /* until patterns are found, see job_rows.h */
	uint64_t rows, at_least;        /* collectives; of them, some rank is missing, or may be */
	uint64_t unmatched;
	uint64_t negative; /* collectives that end somewhere before they have started everywhere */
	uint64_t wait_ns, unsure_ns, skew_ns, blame_ns; /* sums over ranks */
	int64_t transfer_ns;
	uint64_t uncertainty_ns;            /* the largest of two clocks of one collective */
	int64_t class_ns[VPA_LATE_CLASSES]; /* of blame */
	struct vpa_job_part *parts; /* of all ranks, they sum to blame_ns; the largest first */
	size_t part_count;
	struct vpa_job_pattern
		*patterns; /* by kind, then by ns; none before they were looked for */
	size_t pattern_count, pattern_cap;
	const char *
		slow_link_ranks; /* those in each of several groups that are slow beside others; NULL: none */

	const struct vpa_job_change *asked; /* what the user asks about; borrowed */
	size_t asked_count;
	const char *asked_text; /* these, as given, with "; " between them; NULL: none */
	uint64_t asked_ns;      /* what they take away, summed over ranks */
	int asked_is_bound; /* what other things they let wait is not known of some rank: they bring at most this */
	int is_replayed;           /* 0: some rank cannot be replayed, so nothing is predicted */
	uint64_t replay_error_ns;  /* of an end of a collective, in the unchanged replay, at most */
	struct vpa_job_fix *fixes; /* by share, descending; also those that bring nothing */
	size_t fix_count;

	/* Found by figures/: all zeros before. */
	struct vpa_job_rates rates;
	struct vpa_job_metric *
		metrics; /* by kind, causes after IDLE, by mean; those that two ranks or more have */
	size_t metric_count;

	const struct vpa_scaling *scaling; /* NULL: there is no base */
	enum vpa_unit_kind unit;           /* of most ranks */
	uint64_t units, unit_ns;           /* of a rank; the mean over ranks */
	uint64_t span_ns; /* from the first op to the last, the mean over these ranks */
	/* Before that, in NCCL's calls that make communicators: how much later than the others these ranks came, and what the others
	 * waited there, the median; 0 and NULL: less than a fiftieth of the time and than a unit, or not known. */
	uint64_t init_late_ns;
	const char *init_late_ranks;
	/* What a rank waits at the start, the mean; 0: less than a fiftieth of the time. It happens once, so it is not in unit_ns,
	 * span_ns, and what is said of a unit. */
	uint64_t start_ns;
};

/* Makes a job of ranks, which it takes over: they are folded, and freed with it, and on failure. 0, VPT_EINVAL: fewer than two
 * ranks; VPT_EDATA: the detail of one is no detail; VPT_EIO: it cannot be read; VPT_ENOMEM. */
int vpa_job_new(struct vpa_rank_list *ranks, struct vpa_job **out, struct vpt_err *err);
/* The same, and replays it with these changes too, which must stay until it is freed. VPT_EINVAL also: one is of a rank that is not
 * there. */
int vpa_job_new_asked(struct vpa_rank_list *ranks, const struct vpa_job_change *asked,
	size_t asked_count, struct vpa_job **out, struct vpt_err *err);
/* The same of the summary of one rank, of which is said what it knows alone. */
int vpa_job_new_alone(struct vpa_rank_list *ranks, struct vpa_job **out, struct vpt_err *err);
void vpa_job_free(struct vpa_job *job); /* accepts NULL */

/* In words: "its GPU was idle", "it started later" ... */
const char *vpa_late_words(enum vpa_late_class klass);

/* What a rank waits, and what others wait for it, as far as a unit has that. */
static inline uint64_t vpa_job_wait_of(const struct vpa_job *job, const struct vpa_job_rank *r)
{
	return r->wait_ns - (job->start_ns ? r->start_wait_ns : 0);
}

static inline uint64_t vpa_job_blame_of(const struct vpa_job *job, const struct vpa_job_rank *r)
{
	return r->blame_ns - (job->start_ns ? r->start_blame_ns : 0);
}

/* All of what ranks wait at the start; 0 where job->start_ns is. */
uint64_t vpa_job_start_wait(const struct vpa_job *job);
/* A rank's unit without what it waited at the start. */
uint64_t vpa_job_unit_of(const struct vpa_job *job, const struct vpa_job_rank *r);

/* A time of a rank, from its first op to its last, as that of one unit: each part has the same share of a unit as of all, so
 * that parts of a unit add up to it, whatever came before the first and after the last. */
static inline double vpa_job_per_unit(const struct vpa_job *job, double ns)
{
	return job->units && job->unit_ns && job->span_ns
		       ? ns * (double)job->unit_ns / (double)job->span_ns
		       : ns;
}

/* The same for a time of one rank: of one whose capture ends early, of the units that it has. */
double vpa_job_rank_per_unit(const struct vpa_job *job, const struct vpa_job_rank *r, double ns);

#endif
