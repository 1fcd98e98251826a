/* retime_program.c - the program that a seed makes, and its script. */
#include "tests/support/model/retime_model.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/event_schema.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, EVENTS = 3, TEXT = 32768 };

const struct model_kind model_kinds[MODEL_CALL_KINDS] = {
	[MODEL_LAUNCH] = {"cudaLaunchKernel", 1, 0, 0},
	[MODEL_COPY] = {"cudaMemcpyAsync", 1, 1, 0},
	[MODEL_BLOCKING_COPY] = {"cudaMemcpy", 1, 1, 0},
	[MODEL_DEVICE_SYNC] = {"cudaDeviceSynchronize", 0, 0, 1},
	[MODEL_STREAM_SYNC] = {"cudaStreamSynchronize", 0, 0, 1},
	[MODEL_EVENT_SYNC] = {"cudaEventSynchronize", 0, 0, 1},
	[MODEL_RECORD] = {"cudaEventRecord", 0, 0, 0},
	[MODEL_STREAM_WAIT] = {"cudaStreamWaitEvent", 0, 0, 0},
	[MODEL_QUERY] = {"cudaEventQuery", 0, 0, 0},
};

/* Threads 0 and 1 are of process 1, thread 2 of process 2; stream 3 too. Stream 2 is of another device. */
const int model_thread_pid[MODEL_THREADS] = {1, 1, 2};
const int model_stream_pid[MODEL_STREAMS] = {1, 1, 1, 2};
const int model_stream_gpu[MODEL_STREAMS] = {0, 0, 1, 2};

/* ---- the program ---- */

static int below(struct vpt_random *r, int limit)
{
	return (int)vpt_random_below(r, (uint64_t)limit);
}

/* A length near one of the thresholds. */
static int64_t some_ns(struct vpt_random *r)
{
	static const int64_t usual[] = {0, 1, 700, 1499, 1500, 1501, 2000, 3000, 3999, 4001, 5001,
		7999, 8000, 8001, 15000, 20001, 40000, 99999, 100000, 100001, 250000};

	return usual[below(r, COUNT(usual))] + (below(r, 3) ? 0 : below(r, 700));
}

static int by_call(const void *a, const void *b)
{
	const struct model_call *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->thread - y->thread;
}

static int by_op(const void *a, const void *b)
{
	const struct model_op *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->stream - y->stream;
}

static int by_range(const void *a, const void *b)
{
	const struct model_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? 1 : -1;
}

static int stream_of_thread(struct vpt_random *r, int thread)
{
	return model_thread_pid[thread] == 2 ? 3 : below(r, 3);
}

static void make_calls(struct retime_model *m, struct vpt_random *r)
{
	int threads = 1 + below(r, MODEL_THREADS), thread, i;
	int count = 4 + below(r, MODEL_CALLS - 4);
	int64_t at[MODEL_THREADS] = {1000, 1000 + some_ns(r), 1000 + some_ns(r)};

	for (i = 0; i < count; i++) {
		struct model_call *c = &m->calls[m->call_count++];

		thread = below(r, threads);
		c->thread = thread;
		c->kind = below(r, 2) ? MODEL_LAUNCH
				      : (enum model_call_kind)below(r, MODEL_CALL_KINDS);
		c->stream = stream_of_thread(r, thread);
		c->event = below(r, EVENTS);
		c->start = at[thread];
		c->end = c->start + some_ns(r);
		at[thread] = c->end + some_ns(r) + (c->end == c->start);
	}
	qsort(m->calls, (size_t)m->call_count, sizeof(*m->calls), by_call);
}

static int is_new(const struct retime_model *m, const struct model_op *o)
{
	int i;

	for (i = 0; i < m->op_count; i++)
		if (!by_op(&m->ops[i], o))
			return 0;
	return 1;
}

/* Ops that follow their launches and their streams, and others that follow nothing. */
static void make_ops(struct retime_model *m, struct vpt_random *r)
{
	static const char *const names[] = {"gemm", "softmax", "conv"};
	int64_t last[MODEL_STREAMS] = {0};
	int i;

	for (i = 0; i < m->call_count && m->op_count < MODEL_OPS - 2; i++) {
		const struct model_call *c = &m->calls[i];
		struct model_op o = {.call = i, .stream = c->stream};

		if (!model_kinds[c->kind].launches || !below(r, 8))
			continue;
		o.is_kernel = !model_kinds[c->kind].copies;
		o.name = names[below(r, COUNT(names))];
		o.copy_kind = below(r, 2) ? VPT_COPYKIND_DTOH : VPT_COPYKIND_HTOD;
		o.is_pageable = below(r, 2);
		o.bytes = below(r, 2) ? 4 : 2 << 20;
		o.start = (below(r, 2) ? c->start : c->end) + some_ns(r);
		if (o.start < last[o.stream] && below(r, 8))
			o.start = last[o.stream] + (below(r, 2) ? 900 : some_ns(r));
		o.end = o.start + some_ns(r);
		if (!below(r, 16))
			o.call = NONE;
		last[o.stream] = o.end;
		if (is_new(m, &o))
			m->ops[m->op_count++] = o;
	}
	if (!m->op_count)
		m->ops[m->op_count++] = (struct model_op){
			.start = 2000, .end = 3000, .call = NONE, .is_kernel = 1, .name = "gemm"};
	qsort(m->ops, (size_t)m->op_count, sizeof(*m->ops), by_op);
}

static void make_ranges(struct retime_model *m, struct vpt_random *r)
{
	static const char *const names[] = {"r1", "r2", "x"};
	int64_t last = m->calls[m->call_count - 1].end;
	int count = below(r, MODEL_RANGES), i;

	for (i = 0; i < count; i++) {
		struct model_range *range = &m->ranges[m->range_count++];

		range->is_wide = !below(r, 3);
		range->thread = below(r, 2);
		range->name = names[below(r, COUNT(names))];
		range->start = 900 + (int64_t)vpt_random_below(r, (uint64_t)last);
		range->end = range->start + 1 + (int64_t)vpt_random_below(r, (uint64_t)last / 2);
		range->end += i; /* no two of the same end */
	}
	qsort(m->ranges, (size_t)m->range_count, sizeof(*m->ranges), by_range);
}

void retime_model_random(struct retime_model *m, uint64_t seed)
{
	struct vpt_random random = {seed};

	memset(m, 0, sizeof(*m));
	make_calls(m, &random);
	make_ops(m, &random);
	make_ranges(m, &random);
}

/* ---- as a script ---- */

static const char *const stream_name[MODEL_STREAMS] = {"s1", "s2", "s3", "s4"};

static int put_call(const struct model_call *c, int number, char *out, size_t size)
{
	int used = snprintf(out, size, "call t%d %s %" PRId64 "-%" PRId64 " corr %d\n", c->thread,
		model_kinds[c->kind].name, c->start, c->end, number);
	const char *stream = stream_name[c->stream];

	out += used;
	size -= (size_t)used;
	if (c->kind == MODEL_STREAM_SYNC)
		used += snprintf(out, size,
			"sync t%d stream %" PRId64 "-%" PRId64 " corr %d waits %s\n", c->thread,
			c->start, c->end, number, stream);
	else if (c->kind == MODEL_EVENT_SYNC)
		used += snprintf(out, size,
			"sync t%d event %" PRId64 "-%" PRId64 " corr %d waits %s sync_id %d\n",
			c->thread, c->start, c->end, number, stream, c->event + 1);
	else if (c->kind == MODEL_RECORD)
		used += snprintf(out, size, "event %s %" PRId64 " event 1 sync_id %d corr %d\n",
			stream, c->start, c->event + 1, number);
	else if (c->kind == MODEL_STREAM_WAIT)
		used += snprintf(out, size,
			"sync %s \"stream waits for event\" %" PRId64 "-%" PRId64
			" corr %d sync_id %d\n",
			stream, c->start, c->end, number, c->event + 1);
	return used;
}

static int put_op(const struct model_op *o, char *out, size_t size)
{
	if (o->is_kernel)
		return snprintf(out, size, "kernel %s %" PRId64 "-%" PRId64 " corr %d \"%s\"\n",
			stream_name[o->stream], o->start, o->end, o->call + 1, o->name);
	return snprintf(out, size,
		"copy %s %s %s %" PRId64 "-%" PRId64 " corr %d bytes %" PRId64 "\n",
		stream_name[o->stream], o->copy_kind == VPT_COPYKIND_DTOH ? "DtoH" : "HtoD",
		o->copy_kind == VPT_COPYKIND_DTOH
			? (o->is_pageable ? "device->pageable" : "device->pinned")
			: (o->is_pageable ? "pageable->device" : "pinned->device"),
		o->start, o->end, o->call + 1, o->bytes);
}

char *retime_model_script(const struct retime_model *m)
{
	char *script = vpt_calloc(TEXT, 1);
	size_t used = 0;
	int i;

	if (!script)
		abort();
	for (i = 0; i < MODEL_THREADS; i++)
		used += (size_t)snprintf(script + used, TEXT - used, "thread t%d pid %d tid %d\n",
			i, model_thread_pid[i], 100 + i);
	for (i = 0; i < MODEL_STREAMS; i++)
		used += (size_t)snprintf(script + used, TEXT - used,
			"stream %s device %d context %d stream %d pid %d\n", stream_name[i],
			model_stream_gpu[i] == 1, 1, i, model_stream_pid[i]);
	for (i = 0; i < m->call_count; i++)
		used += (size_t)put_call(&m->calls[i], i + 1, script + used, TEXT - used);
	for (i = 0; i < m->op_count; i++)
		used += (size_t)put_op(&m->ops[i], script + used, TEXT - used);
	for (i = 0; i < m->range_count; i++)
		used += (size_t)snprintf(script + used, TEXT - used,
			"%s t%d %" PRId64 "-%" PRId64 " \"%s\"\n",
			m->ranges[i].is_wide ? "startend" : "range", m->ranges[i].thread,
			m->ranges[i].start, m->ranges[i].end, m->ranges[i].name);
	if (used >= TEXT)
		abort();
	return script;
}
