/* job_compare_fields.c - the keys of a comparison of two jobs, "vptrace.compare-ranks/1", as tables of fields.h. */
#include "analysis/compare/render/job_compare_pages.h"

#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/render/fields/fields.h"

static VPA_WORDS(schema_choice, VPA_COMPARE_RANKS_SCHEMA);

/* ---- sides ---- */

static const struct vpa_job *job_at(const struct vpa_at *at)
{
	return ((const struct vpa_job_side *)at->row)->job;
}

VPA_NUMBER(ranks_number, void, job_at(at)->rank_count);
VPA_NUMBER(machines_number, void, job_at(at)->clocks.count);

VPA_NUMBER(unit_number, void, job_at(at)->unit);
VPA_NUMBER(late_number, struct vpa_job_side, row->late.kind);

static const char *job_text(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	(void)offset;
	(void)bytes;
	return job_at(at)->job;
}

#define ROW struct vpa_job_side
static const struct vpa_field side_fields[] = {
	{"job", COMPUTED(TEXT), NULL, "id of the job; null: not known", .null = VPA_NULL_TEXT,
		.text = job_text},
	{"ranks", COMPUTED(U64), "ranks", "captures of ranks", .number = ranks_number},
	{"machines", COMPUTED(U64), "machines", "clocks of machines", .number = machines_number},
	{"complete", FLAG(complete), NULL, "no rank and no record is missing"},
	{"unit", .look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT, COMPUTED(CHOICE), NULL,
		"what most ranks' reports count in", .number = unit_number,
		.choice = vpa_unit_kind_choice},
	{"unit_ns", U64(unit_ns), "ns", "length of one, the mean over ranks"},
	{"fps", REAL(fps), "frames/s",
		"of the job, or of a rank, the mean, where it is not known of both; null: not "
		"known",
		.null = VPA_NULL_NOT_POSITIVE},
	{"wait_share", SHARE(wait_share), "fraction", "of a rank's time that it waits for others"},
	{"efficiency", SHARE(efficiency), "fraction", "beside --base; null: there is none",
		.null = VPA_NULL_NEGATIVE},
	{"late", COMPUTED(CHOICE), NULL,
		"none: the ranks keep step; one rank, several or all make the others wait",
		.number = late_number, .choice = vpa_late_kind_choice},
	{"late_ranks", TEXT_OR_NULL(late_ranks), NULL, "which; null: none, or all"},
	{"late_by", TEXT_OR_NULL(late_by), NULL,
		"what they do more of than the ranks that wait; null: none are late"},
	{"late_place", TEXT_OR_NULL(late_place), NULL, "the range around it; null: none"},
};
static TABLE(side, "side", "one of the jobs", side_fields);
#undef ROW

/* ---- what changed ---- */

static VPA_WORDS(part_choice, "transfers", "waits", "host", "idle", "copies", "compute");

#define ROW struct vpa_compared_job_part
static const struct vpa_field part_fields[] = {
	{"part", .choice = part_choice, CHOICE(vpa_scaling_part, part), NULL,
		"transfers and waits: of communication that nothing hides; host: host code and "
		"launches; idle: other idle time; copies, compute"},
	{"a_ns", I64(a_ns), "ns", "of a unit of A, the mean over ranks"},
	{"b_ns", I64(b_ns), "ns", "the same of B"},
	{"delta_ns", CHANGE(delta_ns), "ns", "b - a"},
};
static TABLE(part, "part", "a part of the mean unit", part_fields);
#undef ROW

static const char *late_class_text(
	const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	(void)offset;
	(void)bytes;
	return vpa_job_part_words(&((const struct vpa_compared_late *)at->row)->part);
}

#define ROW struct vpa_compared_late
static const struct vpa_field late_fields[] = {
	{"class", .choice = vpa_late_class_choice, CHOICE(vpa_late_class, part.klass), NULL,
		"as in ranks"},
	{"what", .look = VPA_LOOK_SINGLE, COMPUTED(TEXT), NULL, "in words",
		.text = late_class_text},
	{"place", TEXT_OR_NULL(part.place), NULL, "range around it; null: none"},
	{"a_ns", I64(a_ns), "ns", "in a unit of A, summed over waits of all ranks"},
	{"b_ns", I64(b_ns), "ns", "the same of B"},
	{"delta_ns", CHANGE(delta_ns), "ns", "b - a"},
};
static TABLE(late, "late_by", "what ranks are later by than those that wait for them", late_fields);
#undef ROW

#define ROW struct vpa_compared_setup
static const struct vpa_field setup_fields[] = {
	{"name", TEXT(name), NULL, "what differs"},
	{"a", TEXT_OR_NULL(a), NULL, "on the first rank of A; null: not set"},
	{"b", TEXT_OR_NULL(b), NULL, "on the first rank of B; null: not set"},
};
static TABLE(setup, "setup", "a fact that differs", setup_fields);
#undef ROW

/* ---- the comparison ---- */

static VPA_WORDS(verdict_choice, "same", "faster", "slower", "unlike");

#define ROW struct vpa_job_comparison
static const struct vpa_field comparison_fields[] = {
	{"schema", COMPUTED(CHOICE), NULL, "name and version of this schema",
		.number = vpa_first_choice, .choice = schema_choice},
	{"verdict", .choice = verdict_choice, CHOICE(vpa_job_verdict, verdict), NULL,
		"B beside A; unlike: they count in different units"},
	{"speedup", REAL(speedup), "times", "A's unit over B's; null: unlike",
		.null = VPA_NULL_NOT_POSITIVE},
	{"a", INSIDE(OBJECT, side, a), NULL, "what was"},
	{"b", INSIDE(OBJECT, side, b), NULL, "what is"},
	{"parts", ROWS(part, parts, part_count), NULL,
		"the mean unit; the changes sum to that of unit_ns; empty: unlike"},
	{"late_by", ROWS(late, late, late_count), NULL, "by change; empty: unlike"},
	{"setup", ROWS(setup, setup, setup_count), NULL, "what differs in the set-up"},
};
TABLE(vpa_fields_job_comparison, "compare_ranks",
	"two jobs of several ranks: every difference is b - a", comparison_fields);
#undef ROW

int vpa_compare_jobs_json(
	const struct vpa_job_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_at whole = {NULL, c, NULL};

	return vpa_fields_json(&vpa_fields_job_comparison, &whole, sink, err);
}
