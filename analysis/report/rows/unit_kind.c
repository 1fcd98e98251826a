/* unit_kind.c - the names of kinds of scopes and units, and of work after the last block. */
#include "analysis/report/rows/unit_kind.h"

const char *vpa_unit_kind_name(enum vpa_unit_kind kind)
{
	static const char *const names[] = {[VPA_UNIT_BLOCK] = "block",
		[VPA_UNIT_REQUEST] = "request",
		[VPA_UNIT_STEP] = "step",
		[VPA_UNIT_ITERATION] = "iteration",
		[VPA_UNIT_INFERRED] = "inferred step",
		[VPA_UNIT_INSTANCE] = "instance",
		[VPA_UNIT_WINDOW] = "window"};

	return kind < VPA_UNIT_KINDS ? names[kind] : "";
}

const char *vpa_base_name(enum vpa_base base)
{
	static const char *const names[] = {
		[VPA_BASE_NONE] = "", [VPA_BASE_ACTIVE] = "active", [VPA_BASE_IDLE] = "idle"};

	return base < VPA_BASE_UNIT
		       ? names[base]
		       : vpa_unit_kind_name((enum vpa_unit_kind)(base - VPA_BASE_UNIT));
}

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

const char *vpa_rest_name(enum vpa_rest rest)
{
	static const char *const names[] = {[VPA_REST_NONE] = "",
		[VPA_REST_VAE] = VAE,
		[VPA_REST_FRAMES] = FRAMES,
		[VPA_REST_BOTH] = VAE " and " FRAMES,
		[VPA_REST_EITHER] = VAE " or " FRAMES};

	return names[rest];
}

const char *vpa_rest_comes(enum vpa_rest rest)
{
	static const char *const clauses[] = {[VPA_REST_NONE] = "",
		[VPA_REST_VAE] = VAE " comes",
		[VPA_REST_FRAMES] = FRAMES " come",
		[VPA_REST_BOTH] = VAE " and " FRAMES " come",
		[VPA_REST_EITHER] = VAE " or " FRAMES " come"};

	return clauses[rest];
}
