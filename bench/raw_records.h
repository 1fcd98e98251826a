/* raw_records.h - writes rows as CUPTI's activity records, as a tool would that saves them
 * unchanged.
 *
 * Sizes and the order of fields are those of CUDA 13's kernel, runtime, memcpy and memset records;
 * ranges take 32 bytes, samples 24. Names are pointers; the strings are not counted, which favours
 * this side. */
#ifndef VPT_BENCH_RAW_RECORDS_H
#define VPT_BENCH_RAW_RECORDS_H

#include "formats/chunk/batch.h"

#include <string.h>

struct raw_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t partitioned_wanted, partitioned_used;
	uint64_t start_ns, end_ns, completed_ns;
	uint32_t device, context, stream, grid[3], block[3];
	uint32_t static_shared, dynamic_shared, local_thread, local_total, correlation;
	uint64_t grid_id, name, reserved, queued_ns, submitted_ns;
	uint8_t launch_type, carveout_wanted, carveout_set, padding;
	uint32_t shared_used;
	uint64_t graph_node;
	uint32_t shared_limit, graph;
	uint64_t access_policy;
	uint32_t channel, channel_type, cluster[3], cluster_policy;
	uint64_t local_total_64;
	uint32_t cluster_max, clusters_active, priority, padding_end;
};
struct raw_call {
	uint32_t kind, callback;
	uint64_t start_ns, end_ns;
	uint32_t process, thread, correlation, result;
};
struct raw_memcpy {
	uint32_t kind;
	uint8_t copy_kind, source, target, flags;
	uint64_t bytes, start_ns, end_ns;
	uint32_t device, context, stream, correlation, runtime_correlation, padding;
	uint64_t reserved, graph_node;
	uint32_t graph, channel, channel_type, padding_end;
	uint64_t copies;
};
struct raw_memset {
	uint32_t kind, value;
	uint64_t bytes, start_ns, end_ns;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	uint64_t reserved, graph_node;
	uint32_t graph, channel, channel_type, padding_end;
};
struct raw_range {
	uint64_t start_ns, end_ns;
	uint32_t name, domain, thread, kind;
};
struct raw_sample {
	uint64_t time_ns, value;
	uint32_t series, padding;
};
_Static_assert(sizeof(struct raw_kernel) == 216, "as in CUPTI");
_Static_assert(sizeof(struct raw_call) == 40, "as in CUPTI");
_Static_assert(sizeof(struct raw_memcpy) == 96, "as in CUPTI");
_Static_assert(sizeof(struct raw_memset) == 88, "as in CUPTI");
_Static_assert(sizeof(struct raw_range) == 32, "as said above");

#define RAW_MAX sizeof(struct raw_kernel)

/* An address where the strings of a real process could be. */
static inline uint64_t raw_name(uint64_t id)
{
	return UINT64_C(0x7f3a5c000000) + id * 272;
}

static inline size_t raw_put_kernel(const struct vpt_batch *b, const struct vpt_section *s,
	uint32_t row, const struct vpt_lane *lane, void *out)
{
	const struct vpt_section *c = vpt_batch_find(b, VPT_CONFIG);
	uint64_t config = s->col[VPT_KERNEL_CONFIG][row], start = s->col[VPT_KERNEL_START][row];
	struct raw_kernel r = {.kind = 10,
		.start_ns = start,
		.end_ns = start + s->col[VPT_KERNEL_DURATION][row],
		.device = (uint32_t)lane->device,
		.context = (uint32_t)lane->context,
		.stream = (uint32_t)lane->stream,
		.correlation = (uint32_t)s->col[VPT_KERNEL_CORRELATION][row],
		.graph_node = s->col[VPT_KERNEL_GRAPH_NODE][row]};
	unsigned i;

	/* CUPTI numbers grids consecutively, like launches. */
	r.grid_id = r.correlation;
	if (c && config < c->row_count) {
		r.name = raw_name(c->col[VPT_CONFIG_NAME][config]);
		r.registers = (uint16_t)c->col[VPT_CONFIG_REGISTERS][config];
		r.static_shared = (uint32_t)c->col[VPT_CONFIG_STATIC_SHARED][config];
		r.dynamic_shared = (uint32_t)c->col[VPT_CONFIG_DYNAMIC_SHARED][config];
		r.graph = (uint32_t)c->col[VPT_CONFIG_GRAPH][config];
		for (i = 0; i < 3; i++) {
			r.grid[i] = (uint32_t)c->col[VPT_CONFIG_GRID_X + i][config];
			r.block[i] = (uint32_t)c->col[VPT_CONFIG_BLOCK_X + i][config];
			r.cluster[i] = (uint32_t)c->col[VPT_CONFIG_CLUSTER_X + i][config];
		}
	}
	memcpy(out, &r, sizeof(r));
	return sizeof(r);
}

static inline size_t raw_put_copy(
	const struct vpt_section *s, uint32_t row, const struct vpt_lane *lane, void *out)
{
	uint64_t start = s->col[VPT_COPY_START][row], end = start + s->col[VPT_COPY_DURATION][row];

	if (s->col[VPT_COPY_COPY_KIND][row] == VPT_COPYKIND_MEMSET) {
		struct raw_memset r = {.kind = 2,
			.start_ns = start,
			.end_ns = end,
			.value = (uint32_t)s->col[VPT_COPY_VALUE][row],
			.bytes = s->col[VPT_COPY_BYTES][row],
			.device = (uint32_t)lane->device,
			.context = (uint32_t)lane->context,
			.stream = (uint32_t)lane->stream,
			.correlation = (uint32_t)s->col[VPT_COPY_CORRELATION][row],
			.graph_node = s->col[VPT_COPY_GRAPH_NODE][row]};

		memcpy(out, &r, sizeof(r));
		return sizeof(r);
	} else {
		struct raw_memcpy r = {.kind = 1,
			.start_ns = start,
			.end_ns = end,
			.copy_kind = (uint8_t)s->col[VPT_COPY_COPY_KIND][row],
			.source = (uint8_t)s->col[VPT_COPY_SOURCE_MEMORY][row],
			.target = (uint8_t)s->col[VPT_COPY_TARGET_MEMORY][row],
			.flags = (uint8_t)s->col[VPT_COPY_ASYNCHRONOUS][row],
			.bytes = s->col[VPT_COPY_BYTES][row],
			.device = (uint32_t)lane->device,
			.context = (uint32_t)lane->context,
			.stream = (uint32_t)lane->stream,
			.correlation = (uint32_t)s->col[VPT_COPY_CORRELATION][row],
			.copies = 1,
			.graph_node = s->col[VPT_COPY_GRAPH_NODE][row]};

		memcpy(out, &r, sizeof(r));
		return sizeof(r);
	}
}

/* Writes one row to `out`, which has RAW_MAX bytes. Returns its size; 0 for kinds that are
 * omitted. */
static inline size_t raw_put(const struct vpt_batch *b, const struct vpt_section *s, uint32_t row,
	const struct vpt_lane *lane, void *out)
{
	uint64_t start = s->col[0][row];
	uint64_t end = start + (vpt_kind_desc(s->kind)->flags & VPT_KIND_SPAN ? s->col[1][row] : 0);

	if (s->kind == VPT_KERNEL)
		return raw_put_kernel(b, s, row, lane, out);
	if (s->kind == VPT_COPY)
		return raw_put_copy(s, row, lane, out);
	if (s->kind == VPT_CALL) {
		struct raw_call r = {.kind = 4,
			.start_ns = start,
			.end_ns = end,
			.callback = (uint32_t)(s->col[VPT_CALL_ID][row] +
					       s->col[VPT_CALL_NAME][row] * 256),
			.process = (uint32_t)lane->pid,
			.thread = (uint32_t)lane->tid,
			.correlation = (uint32_t)s->col[VPT_CALL_CORRELATION][row],
			.result = (uint32_t)s->col[VPT_CALL_RESULT][row]};

		memcpy(out, &r, sizeof(r));
		return sizeof(r);
	}
	if (s->kind == VPT_RANGE) {
		struct raw_range r = {start, end, (uint32_t)s->col[VPT_RANGE_NAME][row],
			(uint32_t)s->col[VPT_RANGE_DOMAIN][row], (uint32_t)lane->tid,
			(uint32_t)s->col[VPT_RANGE_RANGE_KIND][row]};

		memcpy(out, &r, sizeof(r));
		return sizeof(r);
	}
	if (s->kind == VPT_COUNTER) {
		struct raw_sample r = {start, s->col[VPT_COUNTER_VALUE][row], (uint32_t)s->lane, 0};

		memcpy(out, &r, sizeof(r));
		return sizeof(r);
	}
	return 0;
}

#endif
