/* kineto_json.h - rows as the JSON that PyTorch's profiler writes, without its white space, its flow events and
 * what it derives (occupancy, bandwidth, external ids): smaller than the real thing, in favour of this side. */
#ifndef VPT_BENCH_KINETO_JSON_H
#define VPT_BENCH_KINETO_JSON_H

#include "formats/batch.h"
#include "formats/calls.h"
#include "formats/json.h"

#include <ctype.h>
#include <stdio.h>

struct kineto_row {
	const struct vpt_batch *batch;
	const struct vpt_section *section;
	const struct vpt_lane *lane;
	uint32_t row;
	uint64_t t0_ns;
};

static inline uint64_t kineto_value(const struct kineto_row *k, unsigned column)
{
	return k->section->col[column][k->row];
}

static inline void kineto_head(struct vpt_json *j, const struct kineto_row *k, const char *category,
	struct vpt_text name, int64_t pid, int64_t tid)
{
	vpt_json_string(j, "ph", "X");
	vpt_json_string(j, "cat", category);
	vpt_json_text(j, "name", name.text, name.len);
	vpt_json_i64(j, "pid", pid);
	vpt_json_i64(j, "tid", tid);
	vpt_json_fixed(j, "ts", (double)(int64_t)(kineto_value(k, 0) - k->t0_ns) / 1e3, 3);
	vpt_json_fixed(j, "dur", (double)(int64_t)kineto_value(k, 1) / 1e3, 3);
}

static inline void kineto_where(struct vpt_json *j, const struct kineto_row *k, uint64_t correlation)
{
	vpt_json_i64(j, "device", (int64_t)k->lane->device);
	vpt_json_u64(j, "context", k->lane->context);
	vpt_json_i64(j, "stream", (int64_t)k->lane->stream);
	vpt_json_u64(j, "correlation", correlation);
}

static inline void kineto_kernel(struct vpt_json *j, const struct kineto_row *k)
{
	const struct vpt_section *c = vpt_batch_find(k->batch, VPT_CONFIG);
	uint64_t config = kineto_value(k, VPT_KERNEL_CONFIG), i;
	int known = c && config < c->row_count;
	struct vpt_text name = vpt_batch_text(k->batch, known ? c->col[VPT_CONFIG_NAME][config] : VPT_NO_ID);

	kineto_head(j, k, "kernel", name, (int64_t)k->lane->device, (int64_t)k->lane->stream);
	vpt_json_object(j, "args");
	kineto_where(j, k, kineto_value(k, VPT_KERNEL_CORRELATION));
	if (known) {
		vpt_json_u64(j, "registers per thread", c->col[VPT_CONFIG_REGISTERS][config]);
		vpt_json_u64(j, "shared memory",
			c->col[VPT_CONFIG_STATIC_SHARED][config] + c->col[VPT_CONFIG_DYNAMIC_SHARED][config]);
		vpt_json_array(j, "grid");
		for (i = 0; i < 3; i++)
			vpt_json_u64(j, NULL, c->col[VPT_CONFIG_GRID_X + i][config]);
		vpt_json_end(j);
		vpt_json_array(j, "block");
		for (i = 0; i < 3; i++)
			vpt_json_u64(j, NULL, c->col[VPT_CONFIG_BLOCK_X + i][config]);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static inline void kineto_copy(struct vpt_json *j, const struct kineto_row *k)
{
	const char *direction = vpt_word(VPT_UNIT_COPY_KIND, kineto_value(k, VPT_COPY_COPY_KIND));
	int memset_row = kineto_value(k, VPT_COPY_COPY_KIND) == VPT_COPYKIND_MEMSET;
	char text[64];
	int len = snprintf(text, sizeof(text), memset_row ? "Memset (Device)" : "Memcpy %s", direction ? direction : "?");

	kineto_head(j, k, memset_row ? "gpu_memset" : "gpu_memcpy", (struct vpt_text){text, (size_t)len},
		(int64_t)k->lane->device, (int64_t)k->lane->stream);
	vpt_json_object(j, "args");
	kineto_where(j, k, kineto_value(k, VPT_COPY_CORRELATION));
	vpt_json_u64(j, "bytes", kineto_value(k, VPT_COPY_BYTES));
	vpt_json_end(j);
}

static inline void kineto_call(struct vpt_json *j, const struct kineto_row *k)
{
	const char *known = vpt_call_name((uint32_t)kineto_value(k, VPT_CALL_ID));
	struct vpt_text name = vpt_batch_text(k->batch, kineto_value(k, VPT_CALL_NAME));

	if (!name.len && known)
		name = (struct vpt_text){known, strlen(known)};
	kineto_head(j, k, name.len > 2 && isupper((unsigned char)name.text[2]) ? "cuda_driver" : "cuda_runtime", name,
		(int64_t)k->lane->pid, (int64_t)k->lane->tid);
	vpt_json_object(j, "args");
	vpt_json_u64(j, "cbid", kineto_value(k, VPT_CALL_ID));
	vpt_json_u64(j, "correlation", kineto_value(k, VPT_CALL_CORRELATION));
	vpt_json_end(j);
}

/* One event; kinds other than kernel, copy, call and range are left out. */
static inline void kineto_put(struct vpt_json *j, const struct kineto_row *k)
{
	vpt_json_object(j, NULL);
	if (k->section->kind == VPT_KERNEL)
		kineto_kernel(j, k);
	else if (k->section->kind == VPT_COPY)
		kineto_copy(j, k);
	else if (k->section->kind == VPT_CALL)
		kineto_call(j, k);
	else if (k->section->kind == VPT_RANGE)
		kineto_head(j, k, "user_annotation", vpt_batch_text(k->batch, kineto_value(k, VPT_RANGE_NAME)),
			(int64_t)k->lane->pid, (int64_t)k->lane->tid);
	vpt_json_end(j);
	vpt_json_newline(j);
}

#endif
