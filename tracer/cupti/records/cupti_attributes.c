/* cupti_attributes.c - reading and setting CUPTI's attributes. */
#include "tracer/cupti/records/cupti_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 0: unknown. */
static uint64_t read_number(const struct vtr_cupti_functions *fn, uint32_t attribute, size_t size)
{
	uint64_t value = 0;

	if (!fn->get_attribute || fn->get_attribute(attribute, &size, &value))
		return 0;
	return value;
}

static int write_number(
	const struct vtr_cupti_functions *fn, uint32_t attribute, size_t size, uint64_t value)
{
	return fn->set_attribute(attribute, &size, &value);
}

void vtr_cupti_attributes_set(const struct vtr_cupti_functions *fn, uint32_t api,
	uint64_t device_buffers, struct vtr_cupti_attributes *out)
{
	memset(out, 0, sizeof(*out));
	if (api >= VTR_CUPTI_PER_THREAD &&
		!read_number(fn, VTR_ATTRIBUTE_PER_THREAD_BUFFERS, sizeof(uint8_t)))
		out->one_for_all =
			write_number(fn, VTR_ATTRIBUTE_PER_THREAD_BUFFERS, sizeof(uint8_t), 1) != 0;
	write_number(fn, VTR_ATTRIBUTE_ZEROED_BUFFERS, sizeof(uint8_t), 1);
	if (device_buffers &&
		write_number(fn, VTR_ATTRIBUTE_DEVICE_LIMIT, sizeof(size_t), device_buffers))
		out->refused_limit = device_buffers;
	out->device_bytes = read_number(fn, VTR_ATTRIBUTE_DEVICE_BYTES, sizeof(size_t));
	out->device_limit = read_number(fn, VTR_ATTRIBUTE_DEVICE_LIMIT, sizeof(size_t));
	out->device_ready = read_number(fn, VTR_ATTRIBUTE_DEVICE_READY, sizeof(size_t));
}

void vtr_cupti_attributes_describe(const struct vtr_cupti_attributes *a, struct vtr_recorder *r)
{
	char text[160];

	if (a->one_for_all)
		vtr_recorder_fact(r, VPT_METADATA_CUPTI_BUFFERS,
			"one for all threads: CUPTI refuses to change it");
	if (a->device_bytes && a->device_limit) {
		snprintf(text, sizeof(text),
			"%" PRIu64 " bytes each, %" PRIu64 " at first, %" PRIu64
			" at most for a context",
			a->device_bytes, a->device_ready, a->device_limit);
		vtr_recorder_fact(r, VPT_METADATA_CUPTI_DEVICE_BUFFERS, text);
	}
	if (a->refused_limit) {
		snprintf(text, sizeof(text), "CUPTI refused a limit of %" PRIu64, a->refused_limit);
		vtr_recorder_fact(r, VPT_METADATA_CUPTI_DEVICE_BUFFERS_REFUSED, text);
	}
}
