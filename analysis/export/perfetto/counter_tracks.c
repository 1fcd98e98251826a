/* counter_tracks.c - samples as counter tracks, one per series, with the series' name and unit.
 *
 * A device's series with one of the names below and a matching unit becomes Perfetto's own form: a
 * counter of the GPU, its frequency, or the memory in use. Perfetto has had the first two for as long
 * as ops that are not slices.
 *
 * An unchanged value is left out, but repeated once a second and at the end of the trace. The samples
 * of a chunk are sorted by time, and a GPU's counters of the same time form one packet. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/base/index.h"
#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/join/resolver_maps.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SEQUENCE_COUNTERS = 5 };

/* What a series is to Perfetto. */
enum form { OWN_TRACK, GPU_COUNTER, GPU_FREQUENCY, GPU_MEMORY, PROCESS_MEMORY, ALLOCATOR };

/* Units of Perfetto's counters. */
enum { PER_CENT = 37, WATT = 29, CELSIUS = 34, MEGAHERTZ = 15, MEGABYTE = 9, SECOND = 22 };

static const struct quantity {
	enum vpt_series series; /* with its own unit */
	enum form form;
	double scale;                        /* to Perfetto's unit */
	const char *description;             /* of ALLOCATOR: the track's name */
	unsigned id, numerator, denominator; /* of GPU_COUNTER */
} quantities[] = {
	{VPT_SERIES_GPU_UTILIZATION, GPU_COUNTER, 1, "time in which some kernel ran", 1, PER_CENT,
		0},
	{VPT_SERIES_MEMORY_UTILIZATION, GPU_COUNTER, 1, "time in which memory was read or written",
		2, PER_CENT, 0},
	{VPT_SERIES_POWER, GPU_COUNTER, 1, "of the whole board", 3, WATT, 0},
	{VPT_SERIES_TEMPERATURE, GPU_COUNTER, 1, "of the GPU", 4, CELSIUS, 0},
	{VPT_SERIES_MEMORY_CLOCK, GPU_COUNTER, 1, "frequency of the memory", 5, MEGAHERTZ, 0},
	{VPT_SERIES_PCIE_RECEIVED, GPU_COUNTER, 1, "received over PCIe", 6, MEGABYTE, SECOND},
	{VPT_SERIES_PCIE_SENT, GPU_COUNTER, 1, "sent over PCIe", 7, MEGABYTE, SECOND},
	{VPT_SERIES_SM_CLOCK, GPU_FREQUENCY, 1e3, NULL, 0, 0, 0},
	{VPT_SERIES_MEMORY_USED, GPU_MEMORY, 1, NULL, 0, 0, 0},
	{VPT_SERIES_MEMORY_OF_PROCESS, PROCESS_MEMORY, 1, NULL, 0, 0, 0},
	{VPT_SERIES_TORCH_ALLOCATED, ALLOCATOR, 1, "Allocated", 0, 0, 0},
	{VPT_SERIES_TORCH_RESERVED, ALLOCATOR, 1, "Reserved", 0, 0, 0},
};
enum { QUANTITIES = sizeof(quantities) / sizeof(*quantities) };

struct series {
	uint64_t uuid;                   /* track; 0: none */
	const struct quantity *quantity; /* NULL: a track of its own */
	uint32_t gpu_id;
	int64_t pid;
	uint64_t parent;                   /* track, of ALLOCATOR */
	uint64_t emitted_ns, emitted_bits; /* the sample that was written last */
	int has_emitted;
};

/* A sample to be written. */
struct sample {
	uint64_t time_ns, bits;
	uint32_t series, order;
	uint32_t packet; /* shared by a GPU's counters; 0: a packet of its own */
};

struct vpa_ex_counters {
	struct vpa_ex_out *x;
	struct vpt_pf_sequence sequence;
	int begun;             /* the sequence is */
	struct vpa_index keys; /* of lanes already described */
	struct series *items;  /* by row of keys */
	size_t cap;
	uint32_t *emitted; /* generation, by GPU: its counters */
	size_t emitted_cap;
	struct sample *samples; /* of the current chunk */
	size_t count, sample_cap;
};

struct vpa_ex_counters *vpa_ex_counters_new(struct vpa_ex_out *x)
{
	struct vpa_ex_counters *all = vpt_calloc(1, sizeof(*all));

	if (all)
		all->x = x;
	return all;
}

void vpa_ex_counters_free(struct vpa_ex_counters *all)
{
	if (!all)
		return;
	vpt_pf_sequence_free(&all->sequence);
	vpa_index_free(&all->keys);
	vpt_free(all->items);
	vpt_free(all->emitted);
	vpt_free(all->samples);
	vpt_free(all);
}

/* Whatever the case. */
static int is_word(const char *word, const struct vpt_text *text)
{
	return strlen(word) == text->len && !strncasecmp(word, text->text, text->len);
}

static const struct quantity *find_quantity(
	const struct vpt_text *name, const struct vpt_text *unit)
{
	size_t i;

	for (i = 0; i < QUANTITIES; i++)
		if (is_word(vpt_series_name(quantities[i].series), name) &&
			vpt_text_is(*unit, vpt_series_unit(quantities[i].series)))
			return &quantities[i];
	return NULL;
}

static const struct quantity *choose_quantity(
	const struct vpa_ex_out *x, const struct vpt_text *name, const struct vpt_text *unit)
{
	const struct quantity *q = find_quantity(name, unit);

	if (q && x->options->gpu_as_slices && (q->form == GPU_COUNTER || q->form == GPU_FREQUENCY))
		return NULL;
	return q;
}

static uint64_t series_uuid(const struct vpa_ex_out *x, uint64_t key)
{
	char path[64];

	snprintf(path, sizeof(path), "series %llx", (unsigned long long)key);
	return vpa_ex_uuid(x, path);
}

/* A name need not say which GPU it is of (NULL: of none). */
static void describe_track(struct vpa_ex_out *x, const struct series *s,
	const struct vpa_ex_gpu *gpu, const struct vpt_text *name, const struct vpt_text *unit)
{
	struct vpt_pb *out = &x->pf.out;
	uint64_t process = vpa_ex_process(x, s->pid);
	char text[300];
	int len;

	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(out, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(out, VPT_PF_TRACK_UUID, s->uuid);
	vpt_pb_uint(out, VPT_PF_TRACK_PARENT, process);
	if (gpu) {
		len = snprintf(text, sizeof(text), "%.*s (GPU %u)",
			name->len < 250 ? (int)name->len : 250, name->text, gpu->gpu_id);
		vpt_pb_text(out, VPT_PF_TRACK_NAME, text, (size_t)len, VPT_PF_TEXT_MAX);
	} else {
		vpt_pb_text(out, VPT_PF_TRACK_NAME, name->text, name->len, VPT_PF_TEXT_MAX);
	}
	vpt_pb_begin(out, VPT_PF_TRACK_COUNTER);
	if (unit->len)
		vpt_pb_text(out, VPT_PF_COUNTER_UNIT, unit->text, unit->len, 100);
	vpt_pb_end(out);
	vpt_pb_end(out);
	vpt_pf_end(&x->pf);
}

/* The parent of an allocator's tracks, described on first use. */
static uint64_t allocator_track(struct vpa_ex_counters *all, const struct series *s)
{
	enum { EXPLICIT = 3 };
	struct vpa_ex_out *x = all->x;
	struct vpt_pb *out = &x->pf.out;
	uint64_t process = vpa_ex_process(x, s->pid), uuid;
	char name[64], path[96];
	size_t i;

	snprintf(name, sizeof(name), "GPU %u - PyTorch memory", s->gpu_id);
	snprintf(path, sizeof(path), "%llx %s", (unsigned long long)process, name);
	uuid = vpa_ex_uuid(x, path);
	for (i = 0; i < all->keys.count; i++)
		if (all->items[i].parent == uuid)
			return uuid;
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(out, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(out, VPT_PF_TRACK_UUID, uuid);
	vpt_pb_uint(out, VPT_PF_TRACK_PARENT, process);
	vpt_pb_string(out, VPT_PF_TRACK_NAME, name);
	vpt_pb_uint(out, VPT_PF_TRACK_CHILD_ORDERING, EXPLICIT);
	vpt_pb_end(out);
	vpt_pf_end(&x->pf);
	return uuid;
}

static void describe_allocator(struct vpa_ex_out *x, const struct series *s)
{
	enum { SIZE_BYTES = 3 };
	struct vpt_pb *out = &x->pf.out;

	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(out, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(out, VPT_PF_TRACK_UUID, s->uuid);
	vpt_pb_uint(out, VPT_PF_TRACK_PARENT, s->parent);
	vpt_pb_string(out, VPT_PF_TRACK_NAME, s->quantity->description);
	vpt_pb_begin(out, VPT_PF_TRACK_COUNTER);
	vpt_pb_uint(out, VPT_PF_COUNTER_UNIT_NUMBER, SIZE_BYTES);
	vpt_pb_string(out, VPT_PF_COUNTER_SHARE_KEY, "torchmem");
	vpt_pb_end(out);
	vpt_pb_end(out);
	vpt_pf_end(&x->pf);
}

/* Describes a series from the current chunk. */
static void describe(
	struct vpa_ex_counters *all, const struct vpt_batch *b, uint64_t key, struct series *out)
{
	struct vpa_ex_out *x = all->x;
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	struct vpt_text name = {"counter", 7}, unit = {"", 0};
	uint32_t row, device = VPA_NONE;
	const struct vpa_ex_gpu *gpu;

	*out = (struct series){.uuid = series_uuid(x, key), .pid = -1};
	for (row = 0; s && row < s->row_count; row++) {
		if (s->col[VPT_LANE_KEY][row] != key ||
			s->col[VPT_LANE_LANE_TYPE][row] != VPT_LANETYPE_SERIES)
			continue;
		name = vpt_batch_text(b, s->col[VPT_LANE_NAME][row]);
		unit = vpt_batch_text(b, s->col[VPT_LANE_LANE_UNIT][row]);
		out->pid = (int64_t)s->col[VPT_LANE_PID][row];
		device = vpa_find_device(x->model, (int64_t)s->col[VPT_LANE_DEVICE][row]);
	}
	gpu = device != VPA_NONE ? vpa_ex_gpu_of(x, device) : NULL;
	if (gpu) {
		out->quantity = choose_quantity(x, &name, &unit);
		out->gpu_id = gpu->gpu_id;
	}
	if (!out->quantity) {
		describe_track(x, out, gpu, &name, &unit);
	} else if (out->quantity->form == PROCESS_MEMORY) {
		vpa_ex_process(x, out->pid);
	} else if (out->quantity->form == ALLOCATOR) {
		out->parent = allocator_track(all, out);
		describe_allocator(x, out);
	}
}

/* Emits the specifications of a GPU's counters. */
static int tell_counters(struct vpa_ex_counters *s, uint32_t gpu_id)
{
	enum { GROUP_SYSTEM = 1, LOOKS_FORWARD = 2 };
	struct vpa_ex_out *x = s->x;
	struct vpt_pb *b = &x->pf.out;
	size_t i;

	if (vpt_grow_zeroed(&s->emitted, &s->emitted_cap, (size_t)gpu_id + 1, sizeof(*s->emitted)))
		return x->pf.failed = VPT_ENOMEM;
	if (s->emitted[gpu_id] == x->pf.generation)
		return VPT_OK;
	s->emitted[gpu_id] = x->pf.generation;
	vpt_pf_begin_timeless(&x->pf, &s->sequence);
	vpt_pb_begin(b, VPT_PF_PACKET_INTERNED);
	vpt_pb_begin(b, VPT_PF_INTERNED_COUNTERS);
	vpt_pb_uint(b, VPT_PF_COUNTER_DESCRIPTOR_IID, gpu_id + 1);
	vpt_pb_begin(b, VPT_PF_COUNTER_DESCRIPTOR_DESCRIPTOR);
	for (i = 0; i < QUANTITIES; i++) {
		const struct quantity *q = &quantities[i];

		if (q->form != GPU_COUNTER)
			continue;
		vpt_pb_begin(b, VPT_PF_COUNTERS_SPECS);
		vpt_pb_uint(b, VPT_PF_COUNTER_SPEC_ID, q->id);
		vpt_pb_string(b, VPT_PF_COUNTER_SPEC_NAME, vpt_series_name(q->series));
		vpt_pb_string(b, VPT_PF_COUNTER_SPEC_DESCRIPTION, q->description);
		vpt_pb_uint(b, VPT_PF_COUNTER_SPEC_NUMERATORS, q->numerator);
		if (q->denominator)
			vpt_pb_uint(b, VPT_PF_COUNTER_SPEC_DENOMINATORS, q->denominator);
		vpt_pb_uint(b, VPT_PF_COUNTER_SPEC_GROUPS, GROUP_SYSTEM);
		vpt_pb_uint(b, VPT_PF_COUNTER_SPEC_DIRECTION, LOOKS_FORWARD);
		vpt_pb_end(b);
	}
	vpt_pb_begin(b, VPT_PF_COUNTERS_GROUPS);
	vpt_pb_uint(b, VPT_PF_COUNTER_GROUP_ID, 1);
	vpt_pb_string(b, VPT_PF_COUNTER_GROUP_NAME, "Device");
	vpt_pb_end(b);
	vpt_pb_end(b);
	vpt_pb_uint(b, VPT_PF_COUNTER_DESCRIPTOR_GPU, gpu_id);
	vpt_pb_end(b);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	return x->pf.failed;
}

/* The value as a whole number that is not negative; 0 if it cannot be one. */
static uint64_t whole(double value)
{
	return value >= 0.5 && value < 9e18 ? vpt_sat_u64(value + 0.5) : 0;
}

static double value_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void put_quantity(struct vpa_ex_out *x, const struct series *s, double value)
{
	struct vpt_pb *b = &x->pf.out;

	value *= s->quantity->scale;
	switch (s->quantity->form) {
	case GPU_FREQUENCY:
		vpt_pb_begin(b, VPT_PF_PACKET_GPU_FREQUENCY);
		vpt_pb_uint(b, VPT_PF_GPU_FREQUENCY_GPU, s->gpu_id);
		vpt_pb_uint(b, VPT_PF_GPU_FREQUENCY_KHZ, whole(value) & UINT32_MAX);
		break;
	case GPU_MEMORY:
	case PROCESS_MEMORY:
		vpt_pb_begin(b, VPT_PF_PACKET_GPU_MEMORY);
		vpt_pb_uint(b, VPT_PF_GPU_MEMORY_GPU, s->gpu_id);
		if (s->quantity->form == PROCESS_MEMORY)
			vpt_pb_uint(b, VPT_PF_GPU_MEMORY_PID, (uint64_t)vpa_ex_pid(x, s->pid));
		vpt_pb_uint(b, VPT_PF_GPU_MEMORY_SIZE, whole(value));
		break;
	default:
		return;
	}
	vpt_pb_end(b);
}

/* Counters of one GPU at one time. */
static void put_counters(struct vpa_ex_counters *all, const struct sample *samples, size_t count)
{
	const struct series *items = all->items;
	struct vpt_pb *b = &all->x->pf.out;
	size_t i;

	vpt_pb_begin(b, VPT_PF_PACKET_GPU_COUNTER);
	vpt_pb_uint(b, VPT_PF_GPU_COUNTERS_DESCRIPTOR, items[samples[0].series].gpu_id + 1);
	for (i = 0; i < count; i++) {
		const struct quantity *q = items[samples[i].series].quantity;

		vpt_pb_begin(b, VPT_PF_GPU_COUNTERS_COUNTERS);
		vpt_pb_uint(b, VPT_PF_GPU_COUNTER_ID, q->id);
		vpt_pb_double(b, VPT_PF_GPU_COUNTER_DOUBLE, value_of(samples[i].bits) * q->scale);
		vpt_pb_end(b);
	}
	vpt_pb_end(b);
}

static int is_counter(const struct series *s)
{
	return s->quantity && s->quantity->form == GPU_COUNTER;
}

/* The number of samples from `first` that form one packet. */
static size_t packet_of(const struct sample *first, size_t left)
{
	size_t n = 1;

	while (first->packet && n < left && first[n].time_ns == first->time_ns &&
		first[n].packet == first->packet)
		n++;
	return n;
}

static void put_packet(struct vpa_ex_counters *all, const struct sample *first, size_t count)
{
	struct vpa_ex_out *x = all->x;
	const struct series *s = &all->items[first->series];
	struct vpt_pb *b = &x->pf.out;

	vpt_pf_next(&x->pf);
	if (is_counter(s) && tell_counters(all, s->gpu_id))
		return;
	vpt_pf_begin(&x->pf, &all->sequence, vpa_ex_time(x, first->time_ns));
	if (is_counter(s)) {
		put_counters(all, first, count);
	} else if (s->quantity && s->quantity->form != ALLOCATOR) {
		put_quantity(x, s, value_of(first->bits));
	} else {
		vpt_pb_begin(b, VPT_PF_PACKET_TRACK_EVENT);
		vpt_pb_uint(b, VPT_PF_EVENT_TYPE, VPT_PF_COUNTER);
		vpt_pb_uint(b, VPT_PF_EVENT_TRACK, s->uuid);
		vpt_pb_double(b, VPT_PF_EVENT_DOUBLE, value_of(first->bits));
		vpt_pb_end(b);
	}
	vpt_pf_end(&x->pf);
}

/* By time, then by packet, then in order of arrival. */
static int compare(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->packet != b->packet)
		return a->packet < b->packet ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int put_samples(struct vpa_ex_counters *all)
{
	size_t i, n;

	if (all->count)
		qsort(all->samples, all->count, sizeof(*all->samples), compare);
	for (i = 0; i < all->count && !all->x->pf.failed; i += n) {
		n = packet_of(&all->samples[i], all->count - i);
		put_packet(all, &all->samples[i], n);
	}
	all->count = 0;
	return all->x->pf.failed;
}

/* ---- rows in ---- */

static int keep_sample(
	struct vpa_ex_counters *all, uint32_t series, uint64_t time_ns, uint64_t bits)
{
	struct series *s = &all->items[series];

	if (vpt_grow(&all->samples, &all->sample_cap, all->count + 1, sizeof(*all->samples)))
		return VPT_ENOMEM;
	all->samples[all->count] = (struct sample){
		time_ns, bits, series, (uint32_t)all->count, is_counter(s) ? s->gpu_id + 1 : 0};
	all->count++;
	s->has_emitted = 1;
	s->emitted_ns = time_ns;
	s->emitted_bits = bits;
	all->x->expected.counter_samples++;
	return VPT_OK;
}

static int add_section(
	struct vpa_ex_counters *all, const struct vpt_batch *b, const struct vpt_section *s)
{
	const uint64_t again_ns = 1000000000;
	struct vpa_ex_out *x = all->x;
	size_t before = all->keys.count;
	uint32_t at = vpa_index_put(&all->keys, s->lane, 0), row;
	int rc = VPT_OK;

	if (at == UINT32_MAX ||
		vpt_grow(&all->items, &all->cap, (size_t)at + 1, sizeof(*all->items)))
		return VPT_ENOMEM;
	if (all->keys.count > before)
		describe(all, b, s->lane, &all->items[at]);
	if (!all->begun)
		vpt_pf_sequence(
			&x->pf, &all->sequence, SEQUENCE_COUNTERS, vpa_ex_time(x, x->start_ns), 0);
	all->begun = 1;
	for (row = 0; row < s->row_count && !rc; row++) {
		uint64_t time = s->col[VPT_COUNTER_TIME][row];
		uint64_t bits = s->col[VPT_COUNTER_VALUE][row];
		const struct series *now = &all->items[at];

		if (!vpa_in_window(x->model, time))
			continue;
		if (now->has_emitted && bits == now->emitted_bits && time >= now->emitted_ns &&
			time - now->emitted_ns < again_ns)
			continue;
		rc = keep_sample(all, at, time, bits);
	}
	return rc ? rc : x->pf.failed;
}

int vpa_ex_counters_add(struct vpa_ex_counters *all, const struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_COUNTER)
			rc = add_section(all, b, &b->sections[i]);
	return rc ? rc : put_samples(all);
}

int vpa_ex_counters_end(struct vpa_ex_counters *all)
{
	uint64_t end = all->x->model->window_end_ns;
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < all->keys.count && !rc; i++)
		if (all->items[i].has_emitted && all->items[i].emitted_ns < end)
			rc = keep_sample(all, i, end, all->items[i].emitted_bits);
	return rc ? rc : put_samples(all);
}
