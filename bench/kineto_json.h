/* kineto_json.h - writes rows as the JSON of PyTorch's profiler, one event per line.
 *
 * An event has the members that the profiler gives it, including derived ones (occupancy,
 * bandwidth, the id of the surrounding operator), and there is an arrow from each launch to its op.
 * "Lean" omits derived members and arrows, so that the JSON has the same content as a capture.
 * White space and operators' inputs are always omitted. */
#ifndef VPT_BENCH_KINETO_JSON_H
#define VPT_BENCH_KINETO_JSON_H

#include "formats/io/json_writer.h"
#include "formats/calls.h"
#include "formats/chunk/batch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct kineto_row {
	const struct vpt_batch *batch;
	const struct vpt_section *section;
	const struct vpt_lane *lane;
	uint32_t row;
	int lean;
	uint64_t t0_ns;
	uint64_t operator_id; /* replaces the profiler's: increases with every range */
	uint64_t sm_count;
};

static inline uint64_t kineto_value(const struct kineto_row *k, unsigned column)
{
	return k->section->col[column][k->row];
}

static inline void kineto_time(struct vpt_json *j, const struct kineto_row *k)
{
	vpt_json_fixed(j, "ts", (double)(int64_t)(kineto_value(k, 0) - k->t0_ns) / 1e3, 3);
}

static inline void kineto_head(struct vpt_json *j, const struct kineto_row *k, const char *category,
	struct vpt_text name, int64_t pid, int64_t tid)
{
	vpt_json_string(j, "ph", "X");
	vpt_json_string(j, "cat", category);
	vpt_json_text(j, "name", name.text, name.len);
	vpt_json_i64(j, "pid", pid);
	vpt_json_i64(j, "tid", tid);
	kineto_time(j, k);
	vpt_json_fixed(j, "dur", (double)(int64_t)kineto_value(k, 1) / 1e3, 3);
}

/* One end of the arrow from a launch to its op, an event of its own. */
static inline void kineto_arrow(
	struct vpt_json *j, const struct kineto_row *k, int at_op, uint64_t correlation)
{
	if (k->lean || !correlation)
		return;
	vpt_json_newline(j);
	vpt_json_object(j, NULL);
	vpt_json_string(j, "ph", at_op ? "f" : "s");
	vpt_json_u64(j, "id", correlation);
	vpt_json_i64(j, "pid", (int64_t)(at_op ? k->lane->device : k->lane->pid));
	vpt_json_i64(j, "tid", (int64_t)(at_op ? k->lane->stream : k->lane->tid));
	kineto_time(j, k);
	vpt_json_string(j, "cat", "ac2g");
	vpt_json_string(j, "name", "ac2g");
	if (at_op)
		vpt_json_string(j, "bp", "e");
	vpt_json_end(j);
}

static inline void kineto_operator(struct vpt_json *j, const struct kineto_row *k)
{
	if (!k->lean)
		vpt_json_u64(j, "External id", k->operator_id);
}

static inline void kineto_where(
	struct vpt_json *j, const struct kineto_row *k, uint64_t correlation)
{
	kineto_operator(j, k);
	vpt_json_i64(j, "device", (int64_t)k->lane->device);
	vpt_json_u64(j, "context", k->lane->context);
	vpt_json_i64(j, "stream", (int64_t)k->lane->stream);
	vpt_json_u64(j, "correlation", correlation);
}

static inline void kineto_size(struct vpt_json *j, const char *key, const struct vpt_section *c,
	unsigned column, uint64_t row)
{
	unsigned i;

	vpt_json_array(j, key);
	for (i = 0; i < 3; i++)
		vpt_json_u64(j, NULL, c->col[column + i][row]);
	vpt_json_end(j);
}

static inline void kineto_load(
	struct vpt_json *j, const struct kineto_row *k, const struct vpt_section *c, uint64_t row)
{
	double blocks = 1, threads = 1, warps;
	unsigned i;

	if (k->lean || !k->sm_count)
		return;
	for (i = 0; i < 3; i++) {
		blocks *= (double)c->col[VPT_CONFIG_GRID_X + i][row];
		threads *= (double)c->col[VPT_CONFIG_BLOCK_X + i][row];
	}
	blocks /= (double)k->sm_count;
	warps = blocks * threads / 32;
	vpt_json_fixed(j, "blocks per SM", blocks, 6);
	vpt_json_fixed(j, "warps per SM", warps, 6);
	vpt_json_fixed(j, "est. achieved occupancy %", warps < 64 ? warps * 100 / 64 : 100, 0);
}

static inline void kineto_kernel(struct vpt_json *j, const struct kineto_row *k)
{
	const struct vpt_section *c = vpt_batch_find(k->batch, VPT_CONFIG);
	uint64_t config = kineto_value(k, VPT_KERNEL_CONFIG);
	int known = c && config < c->row_count;
	struct vpt_text name =
		vpt_batch_text(k->batch, known ? c->col[VPT_CONFIG_NAME][config] : VPT_NO_ID);

	kineto_head(j, k, "kernel", name, (int64_t)k->lane->device, (int64_t)k->lane->stream);
	vpt_json_object(j, "args");
	kineto_where(j, k, kineto_value(k, VPT_KERNEL_CORRELATION));
	if (known) {
		vpt_json_u64(j, "registers per thread", c->col[VPT_CONFIG_REGISTERS][config]);
		vpt_json_u64(j, "shared memory",
			c->col[VPT_CONFIG_STATIC_SHARED][config] +
				c->col[VPT_CONFIG_DYNAMIC_SHARED][config]);
		kineto_load(j, k, c, config);
		kineto_size(j, "grid", c, VPT_CONFIG_GRID_X, config);
		kineto_size(j, "block", c, VPT_CONFIG_BLOCK_X, config);
	}
	vpt_json_end(j);
}

static inline void kineto_copy(struct vpt_json *j, const struct kineto_row *k)
{
	const char *direction = vpt_word(VPT_UNIT_COPY_KIND, kineto_value(k, VPT_COPY_COPY_KIND));
	int memset_row = kineto_value(k, VPT_COPY_COPY_KIND) == VPT_COPYKIND_MEMSET;
	char text[64];
	int len = snprintf(text, sizeof(text), memset_row ? "Memset (Device)" : "Memcpy %s",
		direction ? direction : "?");

	kineto_head(j, k, memset_row ? "gpu_memset" : "gpu_memcpy",
		(struct vpt_text){text, (size_t)len}, (int64_t)k->lane->device,
		(int64_t)k->lane->stream);
	vpt_json_object(j, "args");
	kineto_where(j, k, kineto_value(k, VPT_COPY_CORRELATION));
	vpt_json_u64(j, "bytes", kineto_value(k, VPT_COPY_BYTES));
	if (!k->lean && kineto_value(k, VPT_COPY_DURATION))
		vpt_json_fixed(j, "memory bandwidth (GB/s)",
			(double)kineto_value(k, VPT_COPY_BYTES) /
				(double)kineto_value(k, VPT_COPY_DURATION),
			6);
	vpt_json_end(j);
}

static inline void kineto_call(struct vpt_json *j, const struct kineto_row *k)
{
	const char *known = vpt_call_name((uint32_t)kineto_value(k, VPT_CALL_ID));
	struct vpt_text name = vpt_batch_text(k->batch, kineto_value(k, VPT_CALL_NAME));

	if (!name.len && known)
		name = (struct vpt_text){known, strlen(known)};
	kineto_head(j, k,
		name.len > 2 && isupper((unsigned char)name.text[2]) ? "cuda_driver"
								     : "cuda_runtime",
		name, (int64_t)k->lane->pid, (int64_t)k->lane->tid);
	vpt_json_object(j, "args");
	kineto_operator(j, k);
	vpt_json_u64(j, "cbid", kineto_value(k, VPT_CALL_ID));
	vpt_json_u64(j, "correlation", kineto_value(k, VPT_CALL_CORRELATION));
	vpt_json_end(j);
}

static inline void kineto_range(struct vpt_json *j, const struct kineto_row *k)
{
	kineto_head(j, k, "user_annotation",
		vpt_batch_text(k->batch, kineto_value(k, VPT_RANGE_NAME)), (int64_t)k->lane->pid,
		(int64_t)k->lane->tid);
	if (k->lean)
		return;
	vpt_json_object(j, "args");
	kineto_operator(j, k);
	vpt_json_u64(j, "Ev Idx", k->operator_id);
	vpt_json_end(j);
}

/* The profiler writes more about its allocator, but for two series in one event. */
static inline void kineto_sample(struct vpt_json *j, const struct kineto_row *k)
{
	uint64_t bits = kineto_value(k, VPT_COUNTER_VALUE);
	double value;

	memcpy(&value, &bits, sizeof(value));
	vpt_json_string(j, "ph", "i");
	vpt_json_string(j, "cat", "cpu_instant_event");
	vpt_json_string(j, "name", "[memory]");
	kineto_time(j, k);
	vpt_json_object(j, "args");
	vpt_json_fixed(j, "Total Allocated", value, 0);
	vpt_json_end(j);
}

/* Writes one event and its end of an arrow. Omits kinds other than kernel, copy, call, range and
 * sample. */
static inline void kineto_put(struct vpt_json *j, const struct kineto_row *k)
{
	static const struct {
		void (*put)(struct vpt_json *j, const struct kineto_row *k);
		unsigned correlation; /* its column; 0: none */
		int is_op;
	} kinds[] = {
		[VPT_KERNEL] = {kineto_kernel, VPT_KERNEL_CORRELATION, 1},
		[VPT_CALL] = {kineto_call, VPT_CALL_CORRELATION, 0},
		[VPT_COPY] = {kineto_copy, VPT_COPY_CORRELATION, 1},
		[VPT_RANGE] = {kineto_range, 0, 0},
		[VPT_COUNTER] = {kineto_sample, 0, 0},
	};
	unsigned kind = k->section->kind, column;

	if (kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[kind].put)
		return;
	vpt_json_object(j, NULL);
	kinds[kind].put(j, k);
	vpt_json_end(j);
	column = kinds[kind].correlation;
	if (column && (kinds[kind].is_op || vpt_call_launches(vpt_call_class(
						    (uint32_t)kineto_value(k, VPT_CALL_ID)))))
		kineto_arrow(j, k, kinds[kind].is_op, kineto_value(k, column));
	vpt_json_newline(j);
}

#endif
