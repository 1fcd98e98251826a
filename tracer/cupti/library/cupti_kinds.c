/* cupti_kinds.c - enabling and disabling, in order. */
#include "tracer/cupti/library/cupti_kinds.h"

#include <stdio.h>

enum { LITE = 1 << VPTRACE_PROFILE_LITE, DEFAULT = 1 << VPTRACE_PROFILE_DEFAULT };
enum { FULL = 1 << VPTRACE_PROFILE_FULL, COARSE = 1 << VPTRACE_PROFILE_COARSE };
enum { NEVER = 0, MOST = DEFAULT | FULL | COARSE, EVERY = MOST | LITE };

/* In the order of enabling. */
static const struct {
	uint32_t kind;
	int profiles;
	int dump; /* also report existing objects */
} kinds[] = {
#define VTR_CUPTI_KIND(KIND, number, record, TIMES, OP, decode, PROFILES, existing)                \
	{VTR_KIND_##KIND, PROFILES, existing},
#include "tracer/cupti/library/cupti_kinds.def"
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void enable_kind(struct vtr_kinds *k, uint32_t kind, int dump)
{
	const struct vtr_cupti_functions *fn = &k->library->fn;
	int rc = 1;

	dump = dump && fn->enable_and_dump;
	/* A record of unknown size would end its buffer. */
	if (k->sizes->bytes[kind]) {
		rc = dump ? fn->enable_and_dump(kind) : fn->enable(kind);
		/* Inside cuInit CUPTI may not know the existing objects yet. */
		if (rc && dump) {
			rc = fn->enable(kind);
			k->undumped |= rc ? 0 : vtr_kind_bit(kind);
		}
	}
	if (rc)
		k->refused |= vtr_kind_bit(kind);
	else
		k->enabled |= vtr_kind_bit(kind);
}

void vtr_kinds_dump_late(struct vtr_kinds *k)
{
	uint32_t kind;

	for (kind = 0; k->undumped && kind < VTR_KINDS; kind++)
		if (k->undumped & vtr_kind_bit(kind) && !k->library->fn.enable_and_dump(kind))
			k->undumped &= ~vtr_kind_bit(kind);
}

/* Enables or disables the wanted calls one by one. Returns the number that the library accepted.
 */
static unsigned set_calls(struct vtr_kinds *k, uint8_t enable)
{
	const struct vtr_cupti_functions *fn = &k->library->fn;
	unsigned accepted = 0;
	uint32_t cbid;

	for (cbid = 0; cbid < VTR_CBIDS; cbid++) {
		if (vtr_calls_find(k->calls, VTR_DOMAIN_RUNTIME, cbid))
			accepted += !fn->enable_runtime(cbid, enable);
		if (vtr_calls_find(k->calls, VTR_DOMAIN_DRIVER, cbid))
			accepted += !fn->enable_driver(cbid, enable);
	}
	if (k->watched && fn->enable_driver(k->watched, enable))
		k->watched = 0;
	return accepted;
}

void vtr_kinds_enable_calls(struct vtr_kinds *k)
{
	const struct vtr_cupti_functions *fn = &k->library->fn;

	if (k->library->api >= VTR_CUPTI_BY_CALL && fn->enable_runtime && fn->enable_driver) {
		k->said_by_call = k->by_call = set_calls(k, 1) > 0;
		if (k->by_call)
			return;
	}
	enable_kind(k, VTR_KIND_RUNTIME, 0);
	enable_kind(k, VTR_KIND_DRIVER, 0);
}

void vtr_kinds_enable(struct vtr_kinds *k)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		if (kinds[i].profiles & 1 << k->profile)
			enable_kind(k, kinds[i].kind, kinds[i].dump);
	/* Each query of a pending event would make a record. */
	if (k->enabled & vtr_kind_bit(VTR_KIND_SYNCHRONIZATION) && k->library->fn.all_sync_records)
		k->library->fn.all_sync_records(0);
}

void vtr_kinds_again(struct vtr_kinds *k)
{
	const struct vtr_cupti_functions *fn = &k->library->fn;
	uint32_t kind;

	if (k->by_call) {
		/* The whole domain may be on, and each call would make a record. */
		fn->disable(VTR_KIND_RUNTIME);
		fn->disable(VTR_KIND_DRIVER);
		set_calls(k, 1);
	}
	for (kind = 0; kind < VTR_KINDS; kind++)
		if (k->enabled & vtr_kind_bit(kind))
			fn->enable(kind);
	if (k->enabled & vtr_kind_bit(VTR_KIND_SYNCHRONIZATION) && fn->all_sync_records)
		fn->all_sync_records(0);
}

/* Kinds that PyTorch's profiler may have enabled too. */
#define SHARED                                                                                     \
	(vtr_kind_bit(VTR_KIND_CONCURRENT_KERNEL) | vtr_kind_bit(VTR_KIND_MEMCPY) |                \
		vtr_kind_bit(VTR_KIND_MEMSET) | vtr_kind_bit(VTR_KIND_RUNTIME) |                   \
		vtr_kind_bit(VTR_KIND_DRIVER) | vtr_kind_bit(VTR_KIND_SYNCHRONIZATION) |           \
		vtr_kind_bit(VTR_KIND_OVERHEAD))

void vtr_kinds_disable(struct vtr_kinds *k)
{
	uint64_t ours = k->enabled & ~(k->shared ? SHARED : 0);
	uint32_t kind;

	for (kind = 0; kind < VTR_KINDS; kind++)
		if (ours & vtr_kind_bit(kind))
			k->library->fn.disable(kind);
	if (k->by_call && !k->shared)
		set_calls(k, 0);
	k->enabled = k->undumped = 0;
	k->by_call = 0;
}

void vtr_kinds_list(uint64_t which, char *out, size_t size)
{
	size_t used = 0;
	uint32_t kind;

	*out = '\0';
	for (kind = 0; kind < VTR_KINDS && used < size; kind++)
		if (which & vtr_kind_bit(kind) && vtr_kind_name(kind))
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
				vtr_kind_name(kind));
}
