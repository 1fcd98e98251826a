/* finding.h - the parts of a finding, and the functions that add findings.
 *
 * A finding says what to change and the most that could save. A saving is worth a line only above a
 * share of the window and of the active time, so an almost unused GPU raises none. No two findings
 * claim the same time, see finding_claims.c. */
#ifndef VPA_ANALYSIS_ADVICE_FINDING_H
#define VPA_ANALYSIS_ADVICE_FINDING_H

#include "analysis/base/numbers.h"
#include "analysis/report/report.h"

enum { VPA_FINDINGS_MAX = 32, VPA_CANDIDATES_MAX = VPA_FINDINGS_MAX };

/* Allocates room for findings and candidates in the report. 0 or VPT_ENOMEM. */
int vpa_findings_begin(struct vpa_report *r);

/* Adds a finding; the caller fills the other members. NULL: too many findings, or no memory. */
struct vpa_finding *vpa_finding_add(
	struct vpa_report *r, enum vpa_finding_id id, enum vpa_finding_status status);
/* Makes the last finding a candidate. */
void vpa_finding_is_candidate(struct vpa_report *r);
/* Makes a candidate a finding again, unless there are too many. */
void vpa_finding_promote(struct vpa_report *r, const struct vpa_finding *candidate);
/* Adds a name as evidence. Keeps the first three; skips NULL, and names already listed. */
void vpa_finding_evidence(struct vpa_finding *f, const char *text);
/* Appends to its note; NULL: nothing. */
void vpa_finding_add_note(struct vpa_report *r, struct vpa_finding *f, const char *more);
/* Says where so much of it is: in or before a range. An amount of less than half says nothing. */
void vpa_finding_is_at(struct vpa_report *r, struct vpa_finding *f, const struct vpa_place *at,
	enum vpa_amount amount);
/* The same of kernels or copies, of which the range launched `ns` of `all_ns`, if that is more than half. */
void vpa_finding_work_is_at(struct vpa_report *r, struct vpa_finding *f, const struct vpa_place *at,
	uint64_t ns, uint64_t all_ns);
/* NULL: there is none. */
const struct vpa_finding *vpa_finding_find(const struct vpa_report *r, enum vpa_finding_id id);

/* The most time that a fix would save. */
struct vpa_saving {
	uint64_t ns;      /* of all devices together */
	uint64_t from_ns; /* the bound is a range from here to ns; 0: it is one number */
	/* The device that would gain most, and how much. NULL: not known per device; the gain is
	 * then spread by busy time. */
	const struct vpa_device *device;
	uint64_t device_ns;
	/* Part of ns inside the units of gain_unit.h, all devices; 0: none, or not known. */
	uint64_t base_ns;
};

/* From the first op of any device to the last one of any, without pauses as far as known: how long the run
 * takes. With one device, its active time. */
uint64_t vpa_run_ns(const struct vpa_report *r);
/* The most that a remedy of idle time saves on any device: the run takes at least as long as the work of the
 * device that does most. While that one works, time that another device is idle can at best be used to
 * overlap work. */
uint64_t vpa_idle_most_ns(const struct vpa_report *r);
/* Limits a device's gain of a cause to that; of head and tail of the window, to what all devices wait for. */
void vpa_limit_gain(const struct vpa_report *r, struct vpa_gain_row *gain);

/* Whether the time is at least 1 % of the windows. */
int vpa_is_window_share(const struct vpa_report *r, uint64_t ns);
/* The device that works most: it stands for savings that are not known per device. There must be one. */
const struct vpa_device *vpa_busiest_device(const struct vpa_report *r);
/* How long a device was idle for the causes, a bit each. */
uint64_t vpa_device_idle_ns(const struct vpa_device *d, uint32_t causes);
/* Whether the saving is at least 1 % of the windows and 2 % of the active time. */
int vpa_saving_is_worth(const struct vpa_report *r, const struct vpa_saving *s);
/* Whether a predicted gain is worth a line. */
int vpa_prediction_is_worth(double gain_ms, double base_ms);
/* Whether a prediction of a saving with this bound can be worth a line. */
int vpa_saving_may_be_worth(const struct vpa_report *r, const struct vpa_saving *s);
/* "fail" from a tenth of the windows, else "warn". */
enum vpa_finding_status vpa_saving_status(const struct vpa_report *r, const struct vpa_saving *s);
/* Fills in the gain, what it is a part of, and what it means in FPS or steps per second. The note begins with the
 * device that gains most of it, if there are several and that one is hardly busy. */
void vpa_finding_saves(struct vpa_report *r, struct vpa_finding *f, const struct vpa_saving *s);

/* What the finding saves is a part of the mean unit, after all. */
void vpa_finding_is_of_unit(const struct vpa_report *r, struct vpa_finding *f, double gain_ms);

/* How much of the time before the first work is part of the only marked request; 0: none. */
uint64_t vpa_request_head_ns(const struct vpa_report *r, uint64_t head_ns);
/* Fills in that part as the gain. */
void vpa_finding_saves_head(
	const struct vpa_report *r, struct vpa_finding *f, struct vpa_saving *s);

/* Whether the replay with its change saves less than would be seen in the base: something else takes the time then. */
int vpa_finding_vanishes(const struct vpa_finding *f);

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

/* The active time, summed over all devices. */
uint64_t vpa_active_ns(const struct vpa_report *r);

/* What most of the attention is, where a newer back-end for it has a finding: "is FlashAttention 2, slower on this GPU than 3"; and how
 * long. NULL: nothing, and 0. */
const char *vpa_old_attention(const struct vpa_report *r, uint64_t *ns);

/* How long kernels unpack weights of few bits for products that read others. */
uint64_t vpa_unpacking_ns(const struct vpa_report *r);
/* Whether most operands that kernels quantise for products of few bits have several kernels each; else one casts each. */
int vpa_packs_in_several(const struct vpa_report *r);

/* Stretches of host code that are a part of it worth a word, and that are rare where they are. NULL: there are none. */
const struct vpa_pauses *vpa_rare_pauses(const struct vpa_report *r);
/* "30.0 ms to 33.0 ms"; "30.2 ms" where both read the same. */
struct vpa_label vpa_pause_lengths(const struct vpa_pauses *p);

/* ---- the functions that add findings ---- */

void vpa_find_work(struct vpa_report *r);       /* what bounds the run, and what work costs */
void vpa_find_attention(struct vpa_report *r);  /* of that, attention */
void vpa_find_quantising(struct vpa_report *r); /* and kernels that quantise */
void vpa_find_adapter(struct vpa_report *r);    /* and adapters beside layers */
void vpa_find_kernels(struct vpa_report *r);    /* kinds of kernels; part of the work */
void vpa_find_precisions(struct vpa_report *r); /* FP32 without need; part of these */
void vpa_find_moves(struct vpa_report *r); /* what joins tensors or casts them; part of these */
/* Says where most copies to the GPU are made, how much a unit copies, and whether they are the same each time. `f`: of copies
 * that nothing hides, if most of these go to the GPU, or as many back; is_copy_less: its title asks for less; `s`: what it saves without
 * them. */
void vpa_finding_of_uploads(
	struct vpa_report *r, struct vpa_finding *f, int is_copy_less, const struct vpa_saving *s);
/* All copies of a kind: VPT_COPYKIND_HTOD ... */
struct vpa_copy_sum {
	uint64_t count, bytes, ns;
};
struct vpa_copy_sum vpa_copies_of(const struct vpa_report *r, unsigned kind);
/* Whether as many bytes are copied to the GPU as to the host, to a tenth: what is offloaded goes both ways, frames mostly only one. */
int vpa_copies_go_both_ways(const struct vpa_report *r);
/* The part of the time of copies that is of weights which go out and back, on their way back: 0 to 1. */
double vpa_needless_copies(const struct vpa_report *r);
/* Whether what comes back had gone to the GPU, and hardly anything of it goes there again: to keep it there would save only the way
 * back. */
int vpa_copies_come_back_once(const struct vpa_report *r);

/* Whether what goes to the GPU looks like the tensors of a network, not like frames: many of 1 MiB and more in each unit, of several
 * sizes. */
int vpa_uploads_are_weights(const struct vpa_report *r);
void vpa_find_idle(struct vpa_report *r);      /* what the devices waited for */
void vpa_find_again(struct vpa_report *r);     /* what could be done once; before blocks */
void vpa_find_blocks(struct vpa_report *r);    /* blocks, steps and stages */
void vpa_find_counters(struct vpa_report *r);  /* clocks, memory, disk, CPU quota */
void vpa_find_uneven(struct vpa_report *r);    /* units that take longer than others; after those */
void vpa_find_not_named(struct vpa_report *r); /* the window's ends; after all others of time */
void vpa_find_model(struct vpa_report *r);     /* what the run says of its models */
void vpa_find_gpus(struct vpa_report *r);      /* whether one GPU can reach the target */

/* Fills in what each finding adds to those before it. */
void vpa_findings_claim(struct vpa_report *r);

/* Whether a name means only itself in a change, where patterns are read too. Not if it is NULL. */
int vpa_is_plain_name(const char *name);

/* Fills in the changes that findings and candidates ask for, see ../retime/replay/change.h. */
void vpa_finding_changes(struct vpa_report *r);

#endif
