/* recorded_facts.c - devices and META rows: repeated at intervals, so that a part of a trace has them
 * too. */
#include "analysis/trust/verdict.h"

#include "analysis/trust/completeness.h"

#include <string.h>

enum { META_MAX = 1024, GPUS_MAX = 1024 };

static const char *keep(struct vpa_report *r, const struct vpt_batch *b, uint64_t string)
{
	struct vpt_text t = vpt_batch_text(b, string);

	return string ? vpa_arena_text(&r->arena, t.text, t.len) : "";
}

/* Makes room for one more: there is room for a power of two. */
static int make_gpu_room(struct vpa_report *r)
{
	size_t count = r->gpu_count;
	struct vpa_gpu *gpus;

	if (count & (count - 1))
		return VPT_OK;
	gpus = vpa_arena_alloc(&r->arena, count ? 2 * count : 1, sizeof(*gpus));
	if (!gpus)
		return VPT_ENOMEM;
	if (count)
		memcpy(gpus, r->gpus, count * sizeof(*gpus));
	r->gpus = gpus;
	return VPT_OK;
}

static int read_devices(
	struct vpa_report *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t row;
	size_t i;

	for (row = 0; row < s->row_count; row++) {
		int64_t device = (int64_t)s->col[VPT_DEVICE_DEVICE][row];

		for (i = 0; i < r->gpu_count && r->gpus[i].device != device; i++)
			;
		r->simulated |= s->col[VPT_DEVICE_SIMULATED][row] != 0;
		/* rows are repeated at intervals */
		if (i < r->gpu_count || r->gpu_count >= GPUS_MAX)
			continue;
		if (make_gpu_room(r))
			return VPT_ENOMEM;
		r->gpus[r->gpu_count++] = (struct vpa_gpu){.device = device,
			.name = keep(r, b, s->col[VPT_DEVICE_NAME][row]),
			.uuid = keep(r, b, s->col[VPT_DEVICE_UUID][row]),
			.pci = keep(r, b, s->col[VPT_DEVICE_PCI][row]),
			.compute_major = (uint32_t)s->col[VPT_DEVICE_COMPUTE_MAJOR][row],
			.compute_minor = (uint32_t)s->col[VPT_DEVICE_COMPUTE_MINOR][row],
			.sm_count = (uint32_t)s->col[VPT_DEVICE_SM_COUNT][row],
			.sm_threads = s->col[VPT_DEVICE_SM_THREADS][row],
			.sm_registers = s->col[VPT_DEVICE_SM_REGISTERS][row],
			.sm_shared = s->col[VPT_DEVICE_SM_SHARED][row],
			.memory_bytes = s->col[VPT_DEVICE_MEMORY][row],
			.simulated = s->col[VPT_DEVICE_SIMULATED][row] != 0};
	}
	return VPT_OK;
}

static int read_meta(struct vpa_report *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t row;
	size_t i;

	if (!r->meta) {
		r->meta = vpa_arena_alloc(&r->arena, META_MAX, sizeof(*r->meta));
		if (!r->meta)
			return VPT_ENOMEM;
	}
	for (row = 0; row < s->row_count && r->meta_count < META_MAX; row++) {
		const char *key = keep(r, b, s->col[VPT_META_KEY][row]);
		const char *value = keep(r, b, s->col[VPT_META_VALUE][row]);

		/* about the file, not the run */
		if (vpa_completeness_is_key(key))
			continue;
		for (i = 0; i < r->meta_count && strcmp(r->meta[i].key, key); i++)
			;
		r->meta[i] = (struct vpa_pair){key, value}; /* the newest value wins */
		r->meta_count += i == r->meta_count;
	}
	return VPT_OK;
}

int vpa_recorded_facts_read(struct vpa_report *r, const struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_DEVICE)
			rc = read_devices(r, b, s);
		else if (s->kind == VPT_META)
			rc = read_meta(r, b, s);
	}
	return rc;
}
