/* self_forcing_chunks.h - the state of the simulated run, its noise, and its chunks.
 *
 * Ops and the second thread's rows are pending until the host's clock passes their end. See
 * self_forcing.h. */
#ifndef VPT_BENCH_SELF_FORCING_CHUNKS_H
#define VPT_BENCH_SELF_FORCING_CHUNKS_H

#include "bench/self_forcing_tables.h"
#include "formats/capture_layout.h"
#include "formats/chunk/batch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
	SF_MAIN = 1,
	SF_FRAMES_THREAD,
	SF_COMPUTE,
	SF_COPY_STREAM,    /* lane keys */
	SF_QUEUE = 1024,   /* launches that may wait for the device */
	SF_PENDING = 4096, /* ops made but not put yet; a power of two */
	SF_ASIDE = 64,
	SF_DEPTH = 8,
	SF_PID = 4242
};

#define SF_T0 UINT64_C(1767225600000000000) /* the trace clock at the start */

/* A pending op. Ids are local to a chunk, so its row is made only when it is put. */
struct sf_op {
	uint64_t start_ns, end_ns, correlation;
	uint16_t what; /* row of sf_kernels or sf_copies */
	uint8_t level; /* of the VAE's resolution */
	uint8_t is_copy;
};

struct sf_queue {
	struct sf_op ops[SF_PENDING];
	size_t head, tail;
	uint64_t free_ns; /* when the device finishes all of them */
};

/* A row of the second thread, pending until the host's clock passes its end. */
struct sf_aside {
	uint64_t start_ns, end_ns, correlation;
	uint32_t call; /* 0: the range around the calls */
};

struct sf_range {
	uint64_t start_ns;
	char name[24];
	int muted; /* opened after the last requested event */
};

struct sf_stream {
	uint64_t random, now_ns, correlation, launches, made, wanted;
	uint64_t call_start_ns;     /* of the main thread's last call */
	uint64_t started[SF_QUEUE]; /* device start of the last launches */
	struct sf_queue compute, copy;
	struct sf_aside aside[SF_ASIDE];
	size_t aside_head, aside_tail;
	struct sf_range stack[SF_DEPTH];
	unsigned depth, block;
	uint64_t chunk_ns, chunk_start_ns, clock_ns, chunks;
	uint64_t config_ids[SF_KERNEL_COUNT][SF_LEVELS], config_stamps[SF_KERNEL_COUNT][SF_LEVELS];
	struct vpt_batch batch;
	int (*emit)(void *ctx, struct vpt_batch *batch);
	void *ctx;
	int rc;
};

/* ---- noise ---- */

static inline uint64_t sf_random(struct sf_stream *g)
{
	uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* `base` with a roughly normal deviation of `permille`, never below a quarter of `base`; 1 in 2,048
 * is a tail, up to four times as long. The sum of four uniform 16-bit numbers has a standard
 * deviation of 37,837. */
static inline uint64_t sf_noisy(struct sf_stream *g, uint64_t base, unsigned permille)
{
	uint64_t r = sf_random(g), tail = sf_random(g);
	int64_t sum =
		(int64_t)((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48)) -
		131070;
	int64_t value = (int64_t)base + (int64_t)(base * permille) * sum / 37837000;

	if (value < (int64_t)(base / 4))
		value = (int64_t)(base / 4);
	if (!(tail & 2047))
		value += (int64_t)(base * (tail >> 32 & 1023) / 341);
	return (uint64_t)value;
}

static inline uint64_t sf_cpu_stamp(struct sf_stream *g, uint64_t t)
{
	uint64_t r = sf_random(g);

	t -= t % 10;
	return r % 40 ? t : t + (r >> 32) % 10;
}

static inline uint64_t sf_gpu_stamp(struct sf_stream *g, uint64_t t)
{
	uint64_t r = sf_random(g) & 15;

	return t / 32 * 32 + (r == 0) - (r == 1);
}

/* ---- chunks ---- */

static inline uint64_t sf_string(struct sf_stream *g, const char *text)
{
	return vpt_batch_string(&g->batch, text, strlen(text));
}

static inline uint64_t sf_config(struct sf_stream *g, unsigned what, unsigned level)
{
	const struct sf_kernel *k = &sf_kernels[what];
	struct vpt_config c = {0};

	if (g->config_stamps[what][level] == g->chunks + 1)
		return g->config_ids[what][level];
	c.name = sf_string(g, k->name);
	c.grid_x = (uint64_t)k->grid_x << (2 * level);
	c.grid_y = k->grid_y;
	c.grid_z = 1;
	c.block_x = k->block;
	c.block_y = c.block_z = 1;
	c.static_shared = k->static_shared;
	c.dynamic_shared = k->dynamic_shared;
	c.registers = k->registers;
	c.cluster_x = c.cluster_y = c.cluster_z = k->call == SF_CALL_LAUNCH ? 0 : 1;
	g->config_stamps[what][level] = g->chunks + 1;
	return g->config_ids[what][level] = vpt_batch_config(&g->batch, &c);
}

static inline void sf_put_op(struct sf_stream *g, uint64_t lane, const struct sf_op *op)
{
	uint64_t duration_ns = op->end_ns - op->start_ns;

	if (op->is_copy) {
		const struct sf_copy *c = &sf_copies[op->what];
		struct vpt_copy row = {.start_ns = op->start_ns,
			.duration_ns = duration_ns,
			.copy_kind = c->copy_kind,
			.source_memory = c->source,
			.target_memory = c->target,
			.asynchronous = 1,
			.correlation = op->correlation,
			.bytes = c->bytes};

		vpt_batch_put(&g->batch, VPT_COPY, lane, &row);
	} else {
		struct vpt_kernel row = {.start_ns = op->start_ns,
			.duration_ns = duration_ns,
			.config = sf_config(g, op->what, op->level),
			.correlation = op->correlation};

		vpt_batch_put(&g->batch, VPT_KERNEL, lane, &row);
	}
}

static inline void sf_put_call(struct sf_stream *g, uint64_t lane, uint32_t call, uint64_t start,
	uint64_t end, uint64_t correlation)
{
	struct vpt_call row = {.start_ns = start,
		.duration_ns = end - start,
		.id = call,
		.correlation = correlation};

	/* A call that is not in the table of calls has number 0 and is recorded by name. */
	if (call == SF_CALL_ATTRIBUTE)
		row.name = sf_string(g, "cudaFuncSetAttribute");
	vpt_batch_put(&g->batch, VPT_CALL, lane, &row);
}

static inline void sf_put_range(
	struct sf_stream *g, uint64_t lane, const char *name, uint64_t start, uint64_t end)
{
	struct vpt_range row = {
		.start_ns = start, .duration_ns = end - start, .name = sf_string(g, name)};

	vpt_batch_put(&g->batch, VPT_RANGE, lane, &row);
}

/* Puts the rows that have ended by now. Calls come first: an op is never in an earlier chunk than
 * its call. */
static inline void sf_release(struct sf_stream *g)
{
	struct sf_queue *q;

	for (; g->aside_head < g->aside_tail; g->aside_head++) {
		const struct sf_aside *a = &g->aside[g->aside_head % SF_ASIDE];

		if (a->end_ns > g->now_ns)
			break;
		if (a->call)
			sf_put_call(g, SF_FRAMES_THREAD, a->call, a->start_ns, a->end_ns,
				a->correlation);
		else
			sf_put_range(g, SF_FRAMES_THREAD, "frames", a->start_ns, a->end_ns);
	}
	for (q = &g->compute; q; q = q == &g->compute ? &g->copy : NULL)
		for (; q->head < q->tail && q->ops[q->head % SF_PENDING].end_ns <= g->now_ns;
			q->head++)
			sf_put_op(g, q == &g->compute ? SF_COMPUTE : SF_COPY_STREAM,
				&q->ops[q->head % SF_PENDING]);
}

static inline void sf_put_open(struct sf_stream *g)
{
	size_t i;

	for (i = 0; i < g->depth; i++) {
		struct vpt_open row = {.lane = SF_MAIN, .start_ns = g->stack[i].start_ns};

		if (g->stack[i].muted)
			continue;
		row.name = sf_string(g, g->stack[i].name);
		vpt_batch_put(&g->batch, VPT_OPEN, 0, &row);
	}
	for (i = g->aside_head; i < g->aside_tail; i++) {
		const struct sf_aside *a = &g->aside[i % SF_ASIDE];
		struct vpt_open row = {.lane = SF_FRAMES_THREAD, .start_ns = a->start_ns};

		if (a->call || a->start_ns > g->now_ns)
			continue;
		row.name = sf_string(g, "frames");
		vpt_batch_put(&g->batch, VPT_OPEN, 0, &row);
	}
}

static inline void sf_put_lanes(struct sf_stream *g)
{
	static const struct {
		uint64_t key, type;
		int64_t tid, device, stream;
		const char *name;
	} lanes[] = {
		{SF_MAIN, VPT_LANETYPE_THREAD, SF_PID, -1, -1, "python3"},
		{SF_FRAMES_THREAD, VPT_LANETYPE_THREAD, SF_PID + 7, -1, -1, "frames"},
		{SF_COMPUTE, VPT_LANETYPE_STREAM, -1, 0, 7, ""},
		{SF_COPY_STREAM, VPT_LANETYPE_STREAM, -1, 0, 13, "copies"},
	};
	size_t i;

	for (i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		struct vpt_lane row = {.key = lanes[i].key,
			.lane_type = lanes[i].type,
			.pid = SF_PID,
			.tid = (uint64_t)lanes[i].tid,
			.device = (uint64_t)lanes[i].device,
			.context = lanes[i].stream < 0 ? 0 : 1,
			.stream = (uint64_t)lanes[i].stream,
			.name = sf_string(g, lanes[i].name)};

		vpt_batch_put(&g->batch, VPT_LANE, 0, &row);
	}
}

static inline void sf_put_about(struct sf_stream *g)
{
	static const char *const pairs[][2] = {
		{"simulated", "yes: made by bench_generate, no GPU was measured"},
		{"pipeline", "Self-Forcing, 7 blocks, 4 steps and a context pass, 30 layers"},
		{"host", "simulated"},
	};
	struct vpt_device device = {.compute_major = 9,
		.sm_count = 132,
		.sm_threads = 2048,
		.sm_registers = 65536,
		.sm_shared = 233472,
		.memory_bytes = UINT64_C(85029158912),
		.simulated = 1};
	size_t i;

	device.name = sf_string(g, "simulated H100");
	device.uuid = sf_string(g, "GPU-00000000-0000-0000-0000-000000000000");
	device.pci = sf_string(g, "0000:00:00.0");
	vpt_batch_put(&g->batch, VPT_DEVICE, 0, &device);
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct vpt_meta row = {.key = sf_string(g, pairs[i][0])};

		row.value = sf_string(g, pairs[i][1]);
		vpt_batch_put(&g->batch, VPT_META, 0, &row);
	}
}

static inline void sf_put_clock(struct sf_stream *g)
{
	struct vpt_clock row = {.trace_ns = g->now_ns,
		.realtime_ns = g->now_ns,
		.monotonic_ns = g->now_ns - SF_T0 + UINT64_C(86400000000000)};

	row.boottime_ns = row.monotonic_ns;
	vpt_batch_put(&g->batch, VPT_CLOCK, 0, &row);
	g->clock_ns = g->now_ns;
}

static inline void sf_close_chunk(struct sf_stream *g, uint32_t flags)
{
	sf_release(g);
	sf_put_open(g);
	sf_put_lanes(g);
	if (!(g->chunks % 16))
		sf_put_about(g);
	if (flags & VPT_BATCH_LAST)
		sf_put_clock(g);
	g->batch.flags = flags;
	if (!g->rc)
		g->rc = vpt_batch_error(&g->batch);
	if (!g->rc)
		g->rc = g->emit(g->ctx, &g->batch);
	vpt_batch_reset(&g->batch);
	g->chunks++;
	g->chunk_start_ns = g->now_ns;
}

#endif
