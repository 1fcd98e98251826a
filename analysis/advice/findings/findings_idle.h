/* findings_idle.h - what findings of idle time share, and those that findings_idle.c calls from other files. Private to this folder. */
#ifndef VPA_ANALYSIS_ADVICE_FINDINGS_FINDINGS_IDLE_H
#define VPA_ANALYSIS_ADVICE_FINDINGS_FINDINGS_IDLE_H

#include "analysis/advice/finding.h"
#include "analysis/report/host_code.h"

/* ---- idle_sum.c: what findings know of a cause of idle time, summed over devices: how long they waited, where, and what
 * they would save without it.
 *
 * Causes sync and blocking copy are waits of the host. Their remedies cross the two: a read of a few bytes is a
 * blocking copy, or a copy to pinned memory and a synchronisation. So waits are also summed by part. */

/* What is summed: a cause, or of the waits a part or all. */
enum vpa_waits {
	VPA_WAITS_NONE,   /* all of a cause */
	VPA_WAITS_READS,  /* of a few bytes */
	VPA_WAITS_COPIES, /* other blocking copies */
	VPA_WAITS_SYNCS,  /* other synchronisations */
	VPA_WAITS_ALL,
	VPA_WAITS_COUNT
};

struct vpa_idle_sum {
	enum vpa_cause cause; /* of a part: that with most of it */
	enum vpa_waits part;
	struct vpa_saving saving;
	uint64_t shared_ns; /* part of the saving that others save too */
	uint64_t claim_ns;  /* of waits: part of the saving, see struct vpa_wait_gain */
	uint64_t
		half_ns; /* of host code: what the device that saves most would, if it took half its time */
	uint64_t ns, pieces; /* how long the devices waited for the cause, in how many gaps */
	const struct vpa_idle_part *top; /* the largest that is not a sum of small ones */
	struct vpa_host_code code;       /* of ns: the host's own code */
	/* Of a part: what else the host did for most of ns. Its ns is 0: nothing that has a remedy of its own. */
	struct vpa_host_code call;
};

/* Whether idle time at a place is of the part, if it is of one of its causes. */
int vpa_waits_take_place(const struct vpa_report *r, unsigned part, const struct vpa_place *place);

struct vpa_idle_sum vpa_idle_sum_of(const struct vpa_report *r, enum vpa_cause cause);
struct vpa_idle_sum vpa_idle_sum_of_waits(const struct vpa_report *r, enum vpa_waits part);

/* A wait whose time is mostly that of another call: where it was, and what would be saved without that call. */
struct vpa_idle_sum vpa_idle_sum_of_call(
	const struct vpa_report *r, const struct vpa_idle_sum *wait);

/* The causes that it is of, a bit each. */
uint32_t vpa_idle_sum_causes(const struct vpa_idle_sum *sum);

/* If first use has a finding of its own, that has its time: of a gain that is less than the pieces, its share. */
void vpa_idle_sum_leave_first_use(const struct vpa_report *r, struct vpa_idle_sum *sum);

/* ---- findings_stops.c ---- */

/* If stops of the host have a finding, or trials of kernels, these have their time. */
void vpa_idle_sum_leave_stops(const struct vpa_report *r, struct vpa_idle_sum *sum);
/* Says of host code that it is rare pauses, for a part. */
void vpa_note_pauses(struct vpa_report *r);
/* The finding; before all others about idle time. */
void vpa_find_stops(struct vpa_report *r);

/* The sum of the causes' times, a bit each. */
static inline uint64_t vpa_sum_of_causes(const uint64_t cause_ns[VPA_CAUSES], uint32_t causes)
{
	uint64_t ns = 0;
	unsigned k;

	for (k = 0; k < VPA_CAUSES; k++)
		if (causes >> k & 1)
			vpt_sat_add_to(&ns, cause_ns[k]);
	return ns;
}

/* ---- findings_trials.c ---- */

/* How long devices waited for the causes, a bit each, between trials of kernels; 0: these have no finding. */
uint64_t vpa_trials_idle(const struct vpa_report *r, uint32_t causes);
/* The finding; before those of causes. */
void vpa_find_trials(struct vpa_report *r);

/* ---- findings_gpus.c ---- */

/* Whether others wait for a GPU that is full; before the findings of causes. */
void vpa_find_balance(struct vpa_report *r);

/* The part of the saving that no other cause has. */
static inline uint64_t vpa_idle_sum_own(const struct vpa_idle_sum *sum)
{
	return sum->saving.ns - sum->shared_ns;
}

/* Whether it is worth a line: what no other cause has; of waits what is not long code of the host, since they can
 * go away whole. */
static inline int vpa_idle_sum_is_worth(const struct vpa_report *r, const struct vpa_idle_sum *sum)
{
	const struct vpa_saving own = {
		.ns = sum->part == VPA_WAITS_NONE ? vpa_idle_sum_own(sum) : sum->claim_ns};

	return vpa_saving_is_worth(r, &own);
}

/* What to do about a cause. `course`: unavoidable in small amounts; `of_recording`: a problem of
 * the trace, the program would gain nothing. */
struct vpa_advice {
	enum vpa_cause cause;
	int course, of_recording;
	enum vpa_finding_id id;
	const char *title;
};

/* Of a cause. */
const struct vpa_advice *vpa_advice_of(enum vpa_cause cause);

/* Adds a finding. NULL: there are too many. */
struct vpa_finding *vpa_find_cause(
	struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum);
/* A candidate: it may be worth a line, but for others that would save the same time. Only a replay can tell. */
void vpa_find_candidate(
	struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum);

/* Whether a gain is larger than `most_ns`, the largest that is listed, by as much as is worth a line. */
int vpa_gain_is_hidden(const struct vpa_report *r, uint64_t gain_ns, uint64_t most_ns);

/* ---- findings_waits.c ---- */

/* Findings and candidates of the waits. Returns the largest gain that is listed. */
uint64_t vpa_find_waits(struct vpa_report *r);
/* Which copies they are. NULL: not known, or of several parts. */
const char *vpa_wait_copies(struct vpa_report *r, enum vpa_waits part);
/* Launches that return only when their kernels have ended: the GPU waits for the host before each of them. */
void vpa_find_launch_blocking(struct vpa_report *r);
/* Whether idle time of a cause is what that finding is about: how long a launch takes is not known then. */
int vpa_is_launch_blocked(const struct vpa_report *r, enum vpa_cause cause);

/* ---- thread_waits.c: ranges whose names say that a thread waits for another one in them ---- */

/* Whether a range with this name is such a wait: "queue.put", "Thread.join", "lock.acquire". The trace does not say what for:
 * no CUDA call is in it, as in the host's own code. */
int vpa_is_thread_wait(const char *range);

#endif
