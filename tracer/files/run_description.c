/* run_description.c - keys with values, and GPUs: few, so searches are linear. */
#include "tracer/files/run_description.h"

#include "formats/base/memory.h"

#include <string.h>

enum { META_MAX = 1024, META_KEY_MAX = 256, META_VALUE_MAX = 4096, DEVICES_MAX = 256 };

struct vtr_meta {
	char *key, *value;
	int fresh; /* not in the file yet */
};

void vtr_about_device(struct vtr_about *a, const struct vtr_device *device)
{
	size_t i;

	for (i = 0; i < a->device_count && a->devices[i].device != device->device; i++)
		;
	if (i < a->device_count && !memcmp(&a->devices[i], device, sizeof(*device)))
		return;
	if (i == a->device_count) {
		if (i == DEVICES_MAX ||
			vpt_grow(&a->devices, &a->device_cap, i + 1, sizeof(*a->devices)) ||
			vpt_grow(&a->device_fresh, &a->device_fresh_cap, i + 1,
				sizeof(*a->device_fresh)))
			return;
		a->device_count++;
	}
	a->devices[i] = *device;
	a->device_fresh[i] = 1;
}

void vtr_about_fact(struct vtr_about *a, const char *key, const char *value)
{
	struct vtr_meta m = {vpt_strndup(key, strnlen(key, META_KEY_MAX)),
		vpt_strndup(value, strnlen(value, META_VALUE_MAX)), 1};
	size_t i;

	for (i = 0; m.key && i < a->meta_count && strcmp(a->metas[i].key, m.key); i++)
		;
	if (!m.key || !m.value || i == META_MAX ||
		(i == a->meta_count &&
			vpt_grow(&a->metas, &a->meta_cap, i + 1, sizeof(*a->metas)))) {
		vpt_free(m.key);
		vpt_free(m.value);
		return;
	}
	if (i == a->meta_count) {
		a->meta_count++;
	} else {
		m.fresh = a->metas[i].fresh || strcmp(a->metas[i].value, m.value) != 0;
		vpt_free(a->metas[i].key);
		vpt_free(a->metas[i].value);
	}
	a->metas[i] = m;
}

static uint64_t text(struct vpt_batch *batch, const char *s)
{
	return vpt_batch_string(batch, s, strlen(s));
}

static void put_devices(struct vtr_about *a, struct vpt_batch *batch)
{
	size_t i;

	for (i = 0; i < a->device_count; i++) {
		const struct vtr_device *d = &a->devices[i];
		struct vpt_device row = {.device = d->device,
			.compute_major = d->compute_major,
			.compute_minor = d->compute_minor,
			.sm_count = d->sm_count,
			.sm_threads = d->sm_threads,
			.sm_registers = d->sm_registers,
			.sm_shared = d->sm_shared,
			.memory_bytes = d->memory_bytes,
			.simulated = d->simulated != 0};

		if (!a->device_fresh[i])
			continue;
		a->device_fresh[i] = 0;
		row.name = text(batch, d->name);
		row.uuid = text(batch, d->uuid);
		row.pci = text(batch, d->pci);
		vpt_batch_put(batch, VPT_DEVICE, 0, &row);
	}
}

static void put_metas(struct vtr_about *a, struct vpt_batch *batch)
{
	size_t i;

	for (i = 0; i < a->meta_count; i++) {
		struct vpt_meta row;

		if (!a->metas[i].fresh)
			continue;
		a->metas[i].fresh = 0;
		row.key = text(batch, a->metas[i].key);
		row.value = text(batch, a->metas[i].value);
		vpt_batch_put(batch, VPT_META, 0, &row);
	}
}

void vtr_about_put(struct vtr_about *a, struct vpt_batch *batch)
{
	put_devices(a, batch);
	put_metas(a, batch);
}

int vtr_about_is_fresh(const struct vtr_about *a)
{
	size_t i;
	int fresh = 0;

	for (i = 0; i < a->meta_count; i++)
		fresh |= a->metas[i].fresh;
	for (i = 0; i < a->device_count; i++)
		fresh |= a->device_fresh[i];
	return fresh;
}

void vtr_about_again(struct vtr_about *a)
{
	size_t i;

	for (i = 0; i < a->meta_count; i++)
		a->metas[i].fresh = 1;
	for (i = 0; i < a->device_count; i++)
		a->device_fresh[i] = 1;
}

void vtr_about_free(struct vtr_about *a)
{
	size_t i;

	for (i = 0; i < a->meta_count; i++) {
		vpt_free(a->metas[i].key);
		vpt_free(a->metas[i].value);
	}
	vpt_free(a->metas);
	vpt_free(a->devices);
	vpt_free(a->device_fresh);
	*a = (struct vtr_about){0};
}
