/* idle_limit.c - groups of causes. */
#include "analysis/pipeline/unit_limit.h"

#include "analysis/base/choices.h"
#include "formats/base/saturate.h"

/* In the order of causes.def. */
static const enum vpa_cause_group groups[VPA_CAUSES] = {
	[VPA_CAUSE_NOT_IDLE] = VPA_GROUP_NONE,
	[VPA_CAUSE_BEFORE_FIRST_WORK] = VPA_GROUP_NONE,
	[VPA_CAUSE_AFTER_LAST_WORK] = VPA_GROUP_NONE,
	[VPA_CAUSE_RECORDS_LOST] = VPA_GROUP_RECORDING,
	[VPA_CAUSE_NO_LAUNCH] = VPA_GROUP_RECORDING,
	[VPA_CAUSE_CLOCKS] = VPA_GROUP_RECORDING,
	[VPA_CAUSE_INSIDE_GRAPH] = VPA_GROUP_STARTS,
	[VPA_CAUSE_SYNC] = VPA_GROUP_WAITS,
	[VPA_CAUSE_BLOCKING_COPY] = VPA_GROUP_WAITS,
	[VPA_CAUSE_ALLOCATION] = VPA_GROUP_CALLS,
	[VPA_CAUSE_MODULE_LOAD] = VPA_GROUP_SETUP,
	[VPA_CAUSE_FIRST_USE] = VPA_GROUP_SETUP,
	[VPA_CAUSE_GRAPH_BUILD] = VPA_GROUP_SETUP,
	[VPA_CAUSE_OTHER_CALL] = VPA_GROUP_CALLS,
	[VPA_CAUSE_LAUNCH_RATE] = VPA_GROUP_PACE,
	[VPA_CAUSE_HOST_CODE] = VPA_GROUP_PACE,
	[VPA_CAUSE_LAUNCH_CALL] = VPA_GROUP_PACE,
	[VPA_CAUSE_LAUNCH_LATENCY] = VPA_GROUP_PACE,
	[VPA_CAUSE_DEPENDENCY] = VPA_GROUP_STREAMS,
	[VPA_CAUSE_GRAPH_START] = VPA_GROUP_STARTS,
	[VPA_CAUSE_SCHEDULING] = VPA_GROUP_STARTS,
	[VPA_CAUSE_QUEUED] = VPA_GROUP_QUEUED,
	[VPA_CAUSE_PROFILER] = VPA_GROUP_RECORDING,
};

VPA_WORDS_OF(enum vpa_cause_group, vpa_cause_group_words, [VPA_GROUP_NONE] = "nothing",
	[VPA_GROUP_PACE] = "the host's pace", [VPA_GROUP_WAITS] = "waits of the host",
	[VPA_GROUP_SETUP] = "set-up by the host", [VPA_GROUP_CALLS] = "other calls of the host",
	[VPA_GROUP_STREAMS] = "waits of GPUs for each other",
	[VPA_GROUP_STARTS] = "the time that the GPU needs to start work",
	[VPA_GROUP_QUEUED] = "queued work that started late",
	[VPA_GROUP_RECORDING] = "the recording");

uint32_t vpa_cause_group_causes(enum vpa_cause_group group)
{
	uint32_t causes = 0;
	unsigned i;

	for (i = 0; i < VPA_CAUSES; i++)
		causes |= (uint32_t)(groups[i] == group) << i;
	return causes;
}

struct vpa_idle_limit vpa_idle_limit_of(const uint64_t *cause_ns)
{
	struct vpa_idle_limit out = {.group = VPA_GROUP_NONE, .is_largest = 1};
	uint64_t group_ns[VPA_GROUPS] = {0};
	unsigned i;

	for (i = 0; i < VPA_CAUSES; i++)
		vpt_sat_add_to(&group_ns[groups[i]], cause_ns[i]);
	for (i = VPA_GROUP_NONE + 1; i < VPA_GROUPS; i++)
		if (group_ns[i] > out.group_ns) {
			out.group = (enum vpa_cause_group)i;
			out.group_ns = group_ns[i];
		}
	for (i = 0; i < VPA_CAUSES && out.group; i++)
		if (groups[i] == out.group && cause_ns[i] > out.cause_ns) {
			out.cause = (enum vpa_cause)i;
			out.cause_ns = cause_ns[i];
		}
	for (i = 0; i < VPA_CAUSES; i++)
		out.is_largest &= groups[i] == VPA_GROUP_NONE || cause_ns[i] <= out.cause_ns;
	return out;
}
