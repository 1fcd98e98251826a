/* ranks_fields.c - the keys of a job as JSON, "vptrace.ranks/1", as tables of fields.h. */
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/ranks/late_ranks.h"
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/names/families.h"
#include "analysis/render/fields/fields.h"

static const char *schema_choice(size_t i)
{
	return i ? NULL : VPA_RANKS_SCHEMA;
}

const char *vpa_late_class_choice(size_t i)
{
	static const char *const names[VPA_LATE_CLASSES] = {
		"compute", "comm", "copy", "idle", "began", "ended", "clock"};

	return i < VPA_LATE_CLASSES ? names[i] : NULL;
}

/* ---- parts ---- */

static const char *part_text(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	const struct vpa_job_part *part = at->row;

	(void)offset;
	(void)bytes;
	if (part->klass == VPA_LATE_IDLE)
		return part->kind ? vpa_cause_text((enum vpa_cause)part->kind) : "not recorded";
	return part->klass == VPA_LATE_COMPUTE || part->klass == VPA_LATE_COPY
		       ? vpa_job_part_words(part)
		       : NULL;
}

#define ROW struct vpa_job_part
static const struct vpa_field part_fields[] = {
	{"class", .choice = vpa_late_class_choice, CHOICE(vpa_late_class, klass), NULL,
		"compute, comm, copy, idle: what the last rank did more of since the collective "
		"before; began: there was none; ended: it left that one later; clock: its clock "
		"runs at another speed"},
	{"what", COMPUTED(TEXT), NULL,
		"kernel family, kind of copy or cause of idle time; null: the class says it",
		.null = VPA_NULL_TEXT, .text = part_text},
	{"place", TEXT_OR_NULL(place), NULL, "range around it; null: none"},
	{"ns", I64(ns), "ns", "summed over waits; below 0: less of it than the waiting ranks"},
};
static const struct vpa_fields part =
	FIELDS("late_by", "what ranks are later by than those that wait for them", part_fields);
#undef ROW

/* ---- ranks ---- */

static const struct vpa_rank *rank_at(const struct vpa_at *at)
{
	return ((const struct vpa_job_rank *)at->row)->rank;
}

enum { CAPTURE, HOST, GPU, CLOCK_REASON };

static const char *rank_text(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	const struct vpa_rank *r = rank_at(at);

	(void)bytes;
	switch (offset) {
	case CAPTURE:
		return r->capture;
	case HOST:
		return r->host;
	case GPU:
		return r->gpu;
	default:
		return r->clock.reason;
	}
}

static uint64_t compute_number(const struct vpa_at *at)
{
	return rank_at(at)->class_ns[VPA_TIME_COMPUTE];
}

static uint64_t copy_number(const struct vpa_at *at)
{
	return rank_at(at)->class_ns[VPA_TIME_COPY];
}

static uint64_t comm_number(const struct vpa_at *at)
{
	return rank_at(at)->class_ns[VPA_TIME_COMM];
}

static uint64_t idle_number(const struct vpa_at *at)
{
	return rank_at(at)->class_ns[VPA_TIME_IDLE];
}

static uint64_t complete_number(const struct vpa_at *at)
{
	return rank_at(at)->complete != 0;
}

static uint64_t units_number(const struct vpa_at *at)
{
	const struct vpa_rank *r = rank_at(at);

	return r->unit == VPA_UNIT_WINDOW ? 0 : r->units;
}

/* ---- what it is idle for, and its stages ---- */

static const char *cause_text(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	const struct vpa_cause_time *c = at->row;

	(void)offset;
	(void)bytes;
	return c->cause ? vpa_cause_text(c->cause) : "not recorded";
}

#define ROW struct vpa_cause_time
static const struct vpa_field idle_fields[] = {
	{"cause", COMPUTED(TEXT), NULL, "cause of idle time, or \"not recorded\"",
		.text = cause_text, .look = VPA_LOOK_CAUSE},
	{"ns", U64(ns), "ns", "of a unit"},
};
static const struct vpa_fields idle =
	FIELDS("idle_by", "why a rank's GPU was idle, of a unit", idle_fields);
#undef ROW

#define ROW struct vpa_rank_stage
static const struct vpa_field stage_fields[] = {
	{"name", TEXT(name), NULL, "stage of the pipeline, which lies in no other one"},
	{"in_blocks", FLAG(in_blocks), NULL, "time_ns is of a measured block, all its instances"},
	{"instances", U64(count), "instances", "that time_ns is of"},
	{"time_ns", U64(time_ns), "ns",
		"from its first op to its last, of a block or of an instance, the mean"},
};
static const struct vpa_fields stage = FIELDS("stage", "a stage of a rank", stage_fields);
#undef ROW

/* What a rank may not have: below 0. */
#define FIGURE(m) .type = VPA_FIELD_REAL, .null = VPA_NULL_NEGATIVE, .offset = AT(double, m)
/* One of the texts of the rank itself. */
#define COMPUTED_TEXT(n) .type = VPA_FIELD_TEXT, .offset = (n)
#define ROW              struct vpa_job_rank
static const struct vpa_field rank_fields[] = {
	{"rank", I64(number), "id", "its number; where no capture says it, its place in order"},
	{"capture", COMPUTED_TEXT(CAPTURE), NULL, "path of its capture, as given; null: not known",
		.null = VPA_NULL_TEXT, .text = rank_text},
	{"host", COMPUTED_TEXT(HOST), NULL, "name of its machine; null: not known",
		.null = VPA_NULL_TEXT, .text = rank_text},
	{"gpu", COMPUTED_TEXT(GPU), NULL, "name of its GPU; null: not known", .null = VPA_NULL_TEXT,
		.text = rank_text},
	{"device", NATURAL(device), "id", "CUDA's device number; null: not known"},
	{"complete", COMPUTED(FLAG), NULL, "no records are missing", .number = complete_number},
	{"compute_ns", COMPUTED(U64), "ns", "a kernel ran that is no collective",
		.number = compute_number},
	{"exposed_comm_ns", COMPUTED(U64), "ns", "a collective ran and no such kernel",
		.number = comm_number},
	{"copy_ns", COMPUTED(U64), "ns", "only copies ran", .number = copy_number},
	{"idle_ns", COMPUTED(U64), "ns",
		"nothing ran; the four sum to the time from its first op to its last",
		.number = idle_number},
	{"collectives", U64(matched), "collectives", "matched with other ranks"},
	{"unmatched", U64(unmatched), "collectives", "without a partner"},
	{"cut_ns", U64(cut_ns), "ns",
		"how long other ranks go on after its last op; 0: its capture does not end early"},
	{"at_least", U64(at_least), "collectives",
		"matched, but some rank of the group lacks them: waits are at least those"},
	{"wait_ns", U64(wait_ns), "ns", "waited for the last rank, over its collectives"},
	{"start_wait_ns", U64(start_wait_ns), "ns",
		"part of wait_ns: in its first collectives with the ranks that it waits for"},
	{"unsure_ns", U64(unsure_ns), "ns", "waits below the clocks' uncertainty, not in wait_ns"},
	{"transfer_ns", I64(transfer_ns), "ns",
		"from the last arrival to the first end; below 0: times are wrong"},
	{"end_skew_ns", U64(skew_ns), "ns", "from the first end to its own"},
	{"last", U64(last), "collectives", "collectives to which it came last, and others waited"},
	{"blame_ns", U64(blame_ns), "ns", "waits of other ranks for it"},
	{"late_by", ROWS(part, parts, part_count), NULL, "by ns, descending; sums to blame_ns"},
	{"fps", FIGURE(metrics[VPA_METRIC_FPS]), "frames/s",
		"as RESULT of its report; null: not known"},
	{"blocks_per_s", FIGURE(metrics[VPA_METRIC_BPS]), "blocks/s", "null: it has no blocks"},
	{"units", COMPUTED(U64), "units", "of its report; 0: it has none", .number = units_number},
	{"unit_ns", FIGURE(metrics[VPA_METRIC_PERIOD]), "ns",
		"length of one, the mean; null: it has none, or of another kind than most ranks"},
	{"memory_used_bytes", FIGURE(metrics[VPA_METRIC_MEMORY]), "bytes",
		"in use on its GPU, at most; null: no samples"},
	{"memory_allocated_bytes", FIGURE(metrics[VPA_METRIC_ALLOCATED]), "bytes",
		"by PyTorch, at most; null: no samples"},
	{"memory_reserved_bytes", FIGURE(metrics[VPA_METRIC_RESERVED]), "bytes",
		"by PyTorch with what it keeps, at most; null: no samples"},
	{"power_w", FIGURE(metrics[VPA_METRIC_POWER]), "W", "by time, the mean; null: no samples"},
	{"temperature_c", FIGURE(metrics[VPA_METRIC_TEMPERATURE]), "C",
		"at most; null: no samples"},
	{"sm_clock_mhz", FIGURE(metrics[VPA_METRIC_SM_CLOCK]), "MHz",
		"by time, the mean; null: no samples"},
	{"clock_limited_percent", FIGURE(metrics[VPA_METRIC_CLOCK_LIMITED]), "%",
		"of the time in which its GPU was not idle, something limited its clocks; "
		"null: no samples"},
	{"clock_reason", COMPUTED_TEXT(CLOCK_REASON), NULL,
		"what limited them most; null: nothing, or not known", .null = VPA_NULL_TEXT,
		.text = rank_text},
	{"idle_by", ROWS(idle, idle_causes, idle_cause_count), NULL, "by cause"},
	{"stages", ROWS(stage, stages, stage_count), NULL, "in the order in which they begin"},
};
static const struct vpa_fields rank = FIELDS("rank", "a rank", rank_fields);
#undef ROW

/* ---- groups, clocks, set-up ---- */

static const char *collective_choice(size_t i)
{
	return i < VPA_COLLECTIVE_KINDS ? vpa_collective_name((enum vpa_collective_kind)i) : NULL;
}

#define GROUP_RATE(m) .type = VPA_FIELD_REAL, .null = VPA_NULL_NOT_POSITIVE, .offset = AT(double, m)
#define ROW           struct vpa_job_group
static const struct vpa_field group_fields[] = {
	{"name", TEXT_OR_NULL(name), NULL, "communicator; null: not known, then one of a stream"},
	{"kind", .choice = collective_choice, WORD(vpa_collective_kind, kind), NULL,
		"the collective that takes most of its time"},
	{"ranks", SIZE(rank_count), "ranks", "how many ranks are in it"},
	{"collectives", SIZE(row_count), "collectives", "how many are matched"},
	{"wait_ns", U64(wait_ns), "ns", "waits in it, summed over ranks"},
	{"transfer_ns", U64(transfer_ns), "ns", "transfers of one rank"},
	{"call", .choice = collective_choice, WORD(vpa_collective_kind, call), NULL,
		"of its calls, by kind and bytes, that which transfers for most of the time"},
	{"call_bytes", U64(call_bytes), "bytes", "of its message; 0: not known"},
	{"call_ns", U64(call_ns), "ns",
		"its transfer, the median; 0: no call has four collectives or more"},
	{"bus_gb_per_s", GROUP_RATE(bus_gb_per_s), "GB/s",
		"of the bus, as NCCL counts it, in that time; null: not known"},
	{"bus_gb_per_s_most", GROUP_RATE(bus_gb_per_s_most), "GB/s",
		"the same of the fastest of its calls; null: not known"},
	{"compared", FLAG(is_compared), NULL,
		"another group of as many ranks makes that call: a slow link would show"},
};
static const struct vpa_fields group = FIELDS("group", "a communicator", group_fields);
#undef ROW

#define ROW struct vpa_clock
static const struct vpa_field clock_fields[] = {
	{"host", TEXT_OR_NULL(name), NULL, "name of the machine; null: not known"},
	{"placed", FLAG(is_placed), NULL, "collectives, or nothing, lay it onto the first one"},
	{"offset_ns", I64(offset_ns), "ns",
		"of its first op from that of the first clock, on that clock"},
	{"drift_ns_per_s", I64(ppb), "ns/s", "by how much less than the first one it counts"},
	{"uncertainty_ns", U64(uncertainty_ns), "ns", "of the offset"},
	{"ends", SIZE(ends), "collectives", "collectives that place it"},
};
static const struct vpa_fields clock_row = FIELDS("clock", "a clock", clock_fields);
#undef ROW

#define ROW struct vpa_job_difference
static const struct vpa_field difference_fields[] = {
	{"name", TEXT(name), NULL, "what differs"},
	{"value", TEXT_OR_NULL(value), NULL, "on these ranks; null: not set"},
	{"most", TEXT_OR_NULL(most), NULL, "on most ranks; null: not set"},
	{"ranks", TEXT(ranks), NULL, "which ranks"},
};
static const struct vpa_fields difference =
	FIELDS("difference", "a set-up that some ranks do not share", difference_fields);
#undef ROW

/* ---- patterns ---- */

static const char *pattern_choice(size_t i)
{
	static const char *const names[VPA_PATTERNS] = {"turns", "truncated", "slow-link",
		"late-sender", "late-receiver", "late-peer", "ulysses", "ring-attention",
		"cfg-parallel", "pipeline", "lockstep"};

	return i < VPA_PATTERNS ? names[i] : NULL;
}

#define ROW struct vpa_job_pattern
static const struct vpa_field pattern_fields[] = {
	{"pattern", .choice = pattern_choice, WORD(vpa_pattern_kind, kind), NULL,
		"turns: a few ranks come last in turns; truncated: the capture of a rank ends "
		"while "
		"others go on; slow-link: what ranks exchange takes longer than elsewhere, and "
		"nobody is late; late-sender, late-receiver, late-peer: of a message between two; "
		"ulysses, ring-attention, cfg-parallel, pipeline: how ranks share the work, see "
		"DEFINITIONS.md; lockstep: a group without a name is several that work in step"},
	{"ranks", TEXT(ranks), NULL,
		"which ranks; of lockstep and cfg-parallel sets, with ; between them"},
	{"peers", TEXT_OR_NULL(peers), NULL,
		"who waits for them; of pipeline who waits longest; null: nobody in particular"},
	{"group", TEXT_OR_NULL(group), NULL, "communicator; null: not known"},
	{"collective", .choice = collective_choice, WORD(vpa_collective_kind, collective), NULL,
		"of slow-link: the call that transfers longer"},
	{"collectives", U64(collectives), "collectives", "in which it shows"},
	{"per_layer", U64(a_layer), "collectives", "of ulysses: for each attention; else 0"},
	{"changes", U64(changes), "changes", "of turns: how often another of the ranks comes last"},
	{"bytes", U64(bytes), "bytes",
		"of a message: of slow-link of the call that costs most, of ulysses and "
		"ring-attention the mean; 0: not known"},
	{"usual_ns", U64(usual_ns), "ns",
		"of slow-link: a transfer elsewhere, the median; of pipeline what a rank of it "
		"computes, the median"},
	{"found_ns", U64(found_ns), "ns",
		"of slow-link: a transfer there, the median; of pipeline what the rank does that "
		"computes most"},
	{"ns", U64(ns), "ns",
		"waits for these ranks; of slow-link what transfers take more than elsewhere; of "
		"truncated how long another rank goes on; of ulysses, ring-attention and "
		"cfg-parallel what its transfers take of a rank; of pipeline what the rank in "
		"`peers` waits"},
	{"busiest", TEXT_OR_NULL(busiest), NULL,
		"of pipeline: the rank that computes most, a tenth more than the median or more; "
		"null: none does"},
};
static const struct vpa_fields pattern =
	FIELDS("pattern", "what several collectives have in common", pattern_fields);
#undef ROW

/* ---- changes ---- */

static const char *fix_choice(size_t i)
{
	static const char *const names[] = {"host-code", "like-median", "asked"};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

#define ROW struct vpa_job_fix
static const struct vpa_field fix_fields[] = {
	{"change", .choice = fix_choice, WORD(vpa_fix_kind, kind), NULL,
		"host-code: no GPU waits for its host's code and launches; like-median: these "
		"ranks "
		"take no longer between collectives than the median of their group, of all ranks "
		"each one does; asked: all of --change"},
	{"ranks", TEXT_OR_NULL(ranks), NULL, "which ranks; null: all"},
	{"saves_share", SHARE(share), "fraction", "of a unit's time"},
	{"unit_ns", U64(unit_ns), "ns", "length of a unit, with the change"},
};
static const struct vpa_fields fix =
	FIELDS("fix", "a change, predicted by replaying all ranks together", fix_fields);
#undef ROW

/* ---- scaling ---- */

#define ROW struct vpa_scaling
static const struct vpa_field scaling_fields[] = {
	{"base", TEXT_OR_NULL(capture), NULL, "path of the base's capture; null: not known"},
	{"weak", FLAG(is_weak), NULL, "each rank does units of its own"},
	{"one_ns", U64(one_ns), "ns", "a unit of the base"},
	{"many_ns", U64(many_ns), "ns", "a unit of the job, the mean over ranks"},
	{"ideal_ns", U64(ideal_ns), "ns", "what a unit of the job would take at full efficiency"},
	{"speedup", REAL(speedup), "times", "one_ns / many_ns; weak: times the ranks"},
	{"efficiency", SHARE(efficiency), "fraction", "ideal_ns / many_ns"},
	{"transfers_ns", I64(part_ns[VPA_SCALING_TRANSFERS]), "ns",
		"communication that nothing hides, without waits; the parts sum to many_ns - "
		"ideal_ns"},
	{"waits_ns", I64(part_ns[VPA_SCALING_WAITS]), "ns", "waits for other ranks"},
	{"host_ns", I64(part_ns[VPA_SCALING_HOST]), "ns", "host code and launches"},
	{"idle_ns", I64(part_ns[VPA_SCALING_IDLE]), "ns", "other idle time"},
	{"copies_ns", I64(part_ns[VPA_SCALING_COPIES]), "ns", "copies that nothing hides"},
	{"compute_ns", I64(part_ns[VPA_SCALING_COMPUTE]), "ns", "compute"},
};
static const struct vpa_fields scaling =
	FIELDS("scaling", "a job beside one rank alone", scaling_fields);
#undef ROW

/* ---- metrics ---- */

static const char *metric_choice(size_t i)
{
	return i < VPA_METRIC_KINDS ? vpa_metric_name((enum vpa_metric)i) : NULL;
}

static const char *metric_text(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	const struct vpa_job_metric *m = at->row;

	(void)bytes;
	if (offset)
		return vpa_metric_unit(m->kind);
	return m->kind != VPA_METRIC_CAUSE ? NULL
	       : m->cause                  ? vpa_cause_text(m->cause)
					   : "not recorded";
}

static int stands_out(const struct vpa_at *at)
{
	const struct vpa_job *job = at->above->row;

	return ((const struct vpa_job_metric *)at->row)->rank < job->rank_count;
}

static uint64_t number_of(const struct vpa_at *at, size_t i)
{
	const struct vpa_job *job = at->above->row;

	return i < job->rank_count ? (uint64_t)job->ranks[i].number : 0;
}

static uint64_t rank_number(const struct vpa_at *at)
{
	return number_of(at, ((const struct vpa_job_metric *)at->row)->rank);
}

static uint64_t least_number(const struct vpa_at *at)
{
	return number_of(at, ((const struct vpa_job_metric *)at->row)->least_rank);
}

static uint64_t most_number(const struct vpa_at *at)
{
	return number_of(at, ((const struct vpa_job_metric *)at->row)->most_rank);
}

#define ROW struct vpa_job_metric
static const struct vpa_field metric_fields[] = {
	{"metric", .choice = metric_choice, WORD(vpa_metric, kind), NULL,
		"fps, blocks_per_s; period, busy, computes, waits, idle, idle_cause: of a unit; "
		"memory_used, memory_allocated, memory_reserved, temperature: at most; power, "
		"sm_clock: by time; clock_limited: share of the time"},
	{"cause", COMPUTED_TEXT(0), NULL, "of idle_cause: which; null: another metric",
		.null = VPA_NULL_TEXT, .text = metric_text},
	{"unit", COMPUTED_TEXT(1), NULL, "of min, mean and max", .text = metric_text,
		.look = VPA_LOOK_SINGLE | VPA_LOOK_UNIT},
	{"known", SIZE(known), "ranks", "that have it; the others count in no number here"},
	{"min", REAL(least), "unit", "of the ranks that have it"},
	{"mean", REAL(mean), "unit", "of them"},
	{"max", REAL(most), "unit", "of them"},
	{"min_rank", COMPUTED(U64), "id", "the first rank with the least", .number = least_number},
	{"max_rank", COMPUTED(U64), "id", "the first rank with the most", .number = most_number},
	{"rank", COMPUTED(U64), "id",
		"the one that stands out, by the bad end of the metric or, where none is, the "
		"far one; null: the ranks are alike",
		.number = rank_number, .known = stands_out},
	{"differs", FLAG(differs), NULL, "min and max differ by more than 10 % of the mean"},
	{"why", TEXT_OR_NULL(why), NULL, "of the rank that stands out; null: not known"},
};
static const struct vpa_fields metric =
	FIELDS("metric", "how much ranks differ in one thing", metric_fields);
#undef ROW

static const char *rates_choice(size_t i)
{
	static const char *const names[VPA_RATES_KINDS] = {"unknown", "job", "replicas", "rank"};

	return i < VPA_RATES_KINDS ? names[i] : NULL;
}

/* ---- the job ---- */

const char *vpa_late_kind_choice(size_t i)
{
	static const char *const names[] = {"none", "one", "several", "all"};

	return i < 4 ? names[i] : NULL;
}

static uint64_t late_number(const struct vpa_at *at)
{
	return vpa_late_ranks_of(at->row).kind;
}

#define ROW struct vpa_job
static const struct vpa_field job_fields[] = {
	{"schema", COMPUTED(CHOICE), NULL, "name and version of this schema",
		.number = vpa_first_choice, .choice = schema_choice},
	{"simulated", KNOWN_FLAG(simulated), NULL,
		"no GPU ran: a stand-in made up every device time; null: not known"},
	{"job", TEXT_OR_NULL(job), NULL, "id of the job; null: not known"},
	{"world_size", NATURAL(world_size), "ranks", "ranks of the job; null: not known"},
	{"missing", SIZE(missing), "ranks", "ranks without a capture"},
	{"missing_ranks", TEXT_OR_NULL(missing_text), NULL, "which; null: none, or not known"},
	{"damaged", TEXTS(list.unread, list.unread_count), NULL,
		"files that could not be read, each with the reason"},
	{"duplicates", TEXTS(duplicates, duplicate_count), NULL,
		"captures left out, since another one is of the same rank, or since they are of "
		"another run"},
	{"namesakes", TEXT_OR_NULL(namesakes), NULL,
		"ranks whose host has the name of another machine, as clocks tell; null: none"},
	{"apart", TEXT_OR_NULL(apart), NULL,
		"ranks that worked a minute or more before or after the first one, by the clocks "
		"of "
		"their hosts; null: none"},
	{"late", COMPUTED(CHOICE), NULL,
		"none: the ranks keep step; one rank, several or all make the others wait",
		.number = late_number, .choice = vpa_late_kind_choice},
	{"late_ranks", TEXT_OR_NULL(late_ranks), NULL, "which; null: none, or all"},
	{"unit", .choice = vpa_unit_kind_choice, WORD(vpa_unit_kind, unit), NULL,
		"what most ranks' reports count in"},
	{"units", U64(units), "units", "of a rank, the mean"},
	{"unit_ns", U64(unit_ns), "ns", "length of one, the mean"},
	{"late_start_ns", U64(init_late_ns), "ns",
		"waited in NCCL's calls that make communicators, before the first collective, for "
		"the ranks that came last, the median; in no unit, and no other wait; 0: less than "
		"a fiftieth of the time and than a unit, or not known"},
	{"late_start_ranks", TEXT_OR_NULL(init_late_ranks), NULL,
		"those that came last there; null: none"},
	{"start_wait_ns", U64(start_ns), "ns",
		"waited before a rank's first collectives with the others, the mean; it is once, "
		"so "
		"not in unit_ns, fixes and scaling; 0: less than a fiftieth of the time"},
	{"collectives", U64(rows), "collectives", "matched, each once"},
	{"at_least", U64(at_least), "collectives",
		"part of them: a rank of the group lacks them, or has no capture, as far as is "
		"known; "
		"their waits may be longer"},
	{"unmatched", U64(unmatched), "collectives", "kernels of collectives without a partner"},
	{"negative", U64(negative), "collectives",
		"collectives that end on a rank before they have started on all"},
	{"by_stream", FLAG(matching.is_by_stream), NULL,
		"no trace names communicators: they were told apart by stream"},
	{"wait_ns", U64(wait_ns), "ns", "waits, summed over ranks"},
	{"unsure_ns", U64(unsure_ns), "ns", "waits below the clocks' uncertainty, not in wait_ns"},
	{"transfer_ns", I64(transfer_ns), "ns", "transfers, summed over ranks"},
	{"end_skew_ns", U64(skew_ns), "ns", "summed over ranks"},
	{"ends_agree_ns", U64(clocks.bias_ns), "ns",
		"how much later or earlier a rank leaves collectives than the others, at most"},
	{"replayed", FLAG(is_replayed), NULL,
		"all ranks could be replayed together; if not, nothing is predicted"},
	{"replay_error_ns", U64(replay_error_ns), "ns",
		"how far an end of a collective is from the recording in the unchanged replay, at "
		"most"},
	{"fixes", ROWS(fix, fixes, fix_count), NULL, "by saves_share, descending"},
	{"asked", TEXT_OR_NULL(asked_text), NULL, "the changes of --change; null: none"},
	{"asked_ns", U64(asked_ns), "ns",
		"what they take away of all ranks; 0: no rank has such time"},
	{"asked_is_bound", FLAG(asked_is_bound), NULL,
		"some rank's summary is by an older version: the changes bring at most what is "
		"predicted"},
	{"scaling", POINTER(scaling, scaling), NULL, "beside --base; null: there is none"},
	{"clocks", ROWS(clock_row, clocks.items, clocks.count), NULL, "one for each machine"},
	{"differences", ROWS(difference, differences, difference_count), NULL, "of the set-up"},
	{"late_by", ROWS(part, parts, part_count), NULL, "of all ranks; sums to wait_ns"},
	{"patterns", ROWS(pattern, patterns, pattern_count), NULL, "by kind, then by ns"},
	{"slow_link_ranks", TEXT_OR_NULL(slow_link_ranks), NULL,
		"those in each group that is slow beside others, where there are several; null: "
		"none"},
	{"groups", ROWS(group, groups, group_count), NULL, "communicators"},
	{"ranks", ROWS(rank, ranks, rank_count), NULL, "by number"},
	{"fps", POSITIVE(rates.fps), "frames/s", "as rates_of says; null: not known"},
	{"blocks_per_s", POSITIVE(rates.bps), "blocks/s", "likewise; null: not known"},
	{"rates_of", .choice = rates_choice, WORD(vpa_rates_of, rates.of), NULL,
		"job: all ranks work on the same units, the rate is that of each; replicas: sets "
		"of ranks work on units of their own, it is their sum; rank: the captures do not "
		"say which, it is that of a rank, the mean; unknown: no rank has a rate"},
	{"replicas", SIZE(rates.replicas), "sets",
		"of ranks that work on units of their own; 0: not known"},
	{"fps_is_end_to_end", FLAG(rates.is_end_to_end), NULL,
		"fps is of whole requests, not of their steady part"},
	{"metrics", ROWS(metric, metrics, metric_count), NULL,
		"what two ranks or more have; causes after idle"},
};
const struct vpa_fields vpa_fields_ranks = FIELDS("ranks", "ranks of one job", job_fields);
#undef ROW

int vpa_ranks_json(const struct vpa_job *job, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_at whole = {NULL, job, NULL};

	return vpa_fields_json(&vpa_fields_ranks, &whole, sink, err);
}
