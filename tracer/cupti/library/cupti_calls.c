/* cupti_calls.c - the table from CUPTI's call ids to ours, built at each start.
 *
 * A call without a number of ours is recorded by name if the name shows that it puts work on a
 * device: every version of CUDA adds ways to copy, and an op without its call cannot be
 * explained. */
#include "tracer/cupti/library/cupti_calls.h"

#include "formats/calls.h"

#include <string.h>

/* Prefixes, after "cuda" or "cu", of calls that are recorded even if calls.def does not list
 * them. */
static const char *const work[] = {"Launch", "Memcpy", "Memset", "MemPrefetch", "GraphLaunch"};

/* Calls of class OTHER that are recorded: they queue host functions or move memory. */
static const char *const also[] = {"LaunchHostFunc", "StreamAddCallback", "MemPrefetch"};

static const char *after_prefix(const char *name)
{
	if (!strncmp(name, "cuda", 4))
		return name + 4;
	return !strncmp(name, "cu", 2) ? name + 2 : "";
}

static int begins_with_any(const char *name, const char *const *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return 1;
	return 0;
}

#define BEGINS_WITH(name, list) begins_with_any(name, list, sizeof(list) / sizeof((list)[0]))

/* "cuMemcpyDtoA_v2_ptds" is cuMemcpyDtoA: the first underscore begins the version and variant. */
static uint32_t bare_bytes(const char *name)
{
	return (uint32_t)strcspn(name, "_");
}

static int wanted(const char *name, uint32_t number, enum vptrace_profile profile)
{
	enum vpt_call_class klass = vpt_call_class(number);
	const char *rest = after_prefix(name);

	if (vpt_call_launches(klass) || (!number && BEGINS_WITH(rest, work)))
		return 1;
	return profile != VPTRACE_PROFILE_LITE &&
	       ((klass != VPT_CALL_OTHER && klass != VPT_CALL_QUERY) || BEGINS_WITH(rest, also));
}

void vtr_calls_learn(
	const struct vtr_cupti_functions *fn, enum vptrace_profile profile, struct vtr_calls *out)
{
	uint32_t domain, cbid;

	memset(out, 0, sizeof(*out));
	for (domain = VTR_DOMAIN_DRIVER; domain <= VTR_DOMAIN_RUNTIME; domain++)
		for (cbid = 1; cbid < VTR_CBIDS; cbid++) {
			struct vtr_call *call = &out->of[domain - VTR_DOMAIN_DRIVER][cbid];
			const char *name = NULL;

			if (fn->callback_name(domain, cbid, &name) || !name)
				continue;
			call->number = (uint16_t)vpt_call_find(name, strlen(name));
			call->wanted = (uint16_t)wanted(name, call->number, profile);
			if (!call->number && call->wanted) {
				call->name = name;
				call->name_bytes = bare_bytes(name);
			}
		}
}
