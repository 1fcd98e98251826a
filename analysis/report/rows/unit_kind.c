/* unit_kind.c - the names of kinds of scopes and units, and of work after the last block. */
#include "analysis/report/rows/unit_kind.h"

#include "analysis/base/choices.h"

const struct vpa_unit_words *vpa_unit_words(enum vpa_unit_kind kind)
{
	static const struct vpa_unit_words words[VPA_UNIT_KINDS] = {
		[VPA_UNIT_BLOCK] = {"block", "a block", "BLOCK", "block", "a block",
			"The mean block", "blocks/s"},
		[VPA_UNIT_REQUEST] = {"request", "a request", "REQUEST", "request", "a request",
			"The mean request", "requests/s"},
		[VPA_UNIT_STEP] = {"step", "a step", "STEP", "step", "a step", "The mean step",
			"steps/s"},
		[VPA_UNIT_ITERATION] = {"iteration", "an iteration", "ITERATION", "iteration",
			"an iteration", "The mean iteration", "iterations/s"},
		[VPA_UNIT_INFERRED] = {"inferred step", "an inferred step", "INFERRED STEP", "step",
			"a step", "The mean step", "steps/s"},
		[VPA_UNIT_INSTANCE] = {"instance", "an instance", "INSTANCE", "pass", "a pass",
			"The mean instance", "instances/s"},
		[VPA_UNIT_WINDOW] = {"window", "from the first op to the last", "WINDOW", "window",
			"the window", "The window", "windows/s"},
		[VPA_UNIT_ROUND] = {"round", "a round", "ROUND", "round", "a round",
			"The mean round", "rounds/s"},
	};

	return &words[kind];
}

const char *vpa_unit_kind_name(enum vpa_unit_kind kind)
{
	return vpa_unit_words(kind)->name;
}

VPA_NAMES(vpa_unit_kind_choice, vpa_unit_kind_name, VPA_UNIT_KINDS);

const char *vpa_base_rate(enum vpa_base base)
{
	return base < VPA_BASE_UNIT
		       ? NULL
		       : vpa_unit_words((enum vpa_unit_kind)(base - VPA_BASE_UNIT))->rate;
}

const char *vpa_base_name(enum vpa_base base)
{
	static const char *const names[] = {
		[VPA_BASE_NONE] = "", [VPA_BASE_ACTIVE] = "active", [VPA_BASE_IDLE] = "idle"};

	return base < VPA_BASE_UNIT
		       ? names[base]
		       : vpa_unit_kind_name((enum vpa_unit_kind)(base - VPA_BASE_UNIT));
}

VPA_WORDS(
	vpa_scope_source_choice, [VPA_SOURCE_NONE] = "none", [VPA_SOURCE_ANNOTATION] = "annotation",
	[VPA_SOURCE_RULE] = "rule", [VPA_SOURCE_MARKS] = "marks", [VPA_SOURCE_PLACE] = "place");

const char *vpa_scope_kind_name(enum vpa_scope_kind kind)
{
	static const char *const names[VPA_SCOPE_KINDS] = {[VPA_SCOPE_NONE] = "none",
		[VPA_SCOPE_REQUEST] = "request",
		[VPA_SCOPE_BLOCK] = "block",
		[VPA_SCOPE_STEP] = "step",
		[VPA_SCOPE_CONTEXT] = "context",
		[VPA_SCOPE_ITERATION] = "iteration",
		[VPA_SCOPE_STAGE] = "stage",
		[VPA_SCOPE_FRAMES] = "frames",
		[VPA_SCOPE_FACT] = "fact",
		[VPA_SCOPE_MEMORY] = "memory",
		[VPA_SCOPE_RECOMPILE] = "recompile"};

	return (unsigned)kind < VPA_SCOPE_KINDS ? names[kind] : "none";
}

#define VAE    "the VAE's work"
#define FRAMES "the copies of frames"

VPA_WORDS_OF(enum vpa_rest,
	vpa_rest_name, [VPA_REST_NONE] = "", [VPA_REST_VAE] = VAE, [VPA_REST_FRAMES] = FRAMES,
	[VPA_REST_BOTH] = VAE " and " FRAMES, [VPA_REST_EITHER] = VAE " or " FRAMES);

VPA_WORDS_OF(enum vpa_rest, vpa_rest_comes, [VPA_REST_NONE] = "", [VPA_REST_VAE] = VAE " comes",
	[VPA_REST_FRAMES] = FRAMES " come", [VPA_REST_BOTH] = VAE " and " FRAMES " come",
	[VPA_REST_EITHER] = VAE " or " FRAMES " come");
