/* stream.c - streams and events: when work may start, when it is done, and who waits for it.
 *
 * A stream is one number, the time at which everything queued on it so far is done; an event is the
 * time at which it is recorded. Both are known when the call is made, so waiting for an event is
 * taking the larger of two numbers. */
#include "tests/standin/cuda/device_state.h"

#include <stdlib.h>

static uint32_t next_stream_id = SIM_FIRST_STREAM_ID;
static uint32_t next_event_id = 1;
static uint64_t event_records;

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int is_legacy(CUstream s)
{
	return s == &s->context->legacy;
}

static int is_blocking(CUstream s)
{
	return !is_legacy(s) && !(s->flags & CU_STREAM_NON_BLOCKING);
}

int sim_stream_find(CUstream *stream)
{
	CUcontext context;
	int error;

	if ((uintptr_t)*stream <= 2) {
		error = sim_current_or_primary(&context);
		*stream = error ? NULL : &context->legacy;
		return error;
	}
	return (*stream)->magic == SIM_STREAM_MAGIC ? 0 : CUDA_ERROR_INVALID_HANDLE;
}

uint32_t sim_stream_id(CUstream stream)
{
	return stream->id;
}

CUcontext sim_stream_context(CUstream stream)
{
	return stream->context;
}

int sim_stream_priority(CUstream stream)
{
	return stream->priority;
}

unsigned sim_stream_flags(CUstream stream)
{
	return stream->flags;
}

/* ---- the schedule ---- */

static uint64_t ready(CUstream s)
{
	if (is_legacy(s))
		return later(s->ready_ns, s->context->blocking_ready_ns);
	if (is_blocking(s))
		return later(s->ready_ns, s->context->legacy.ready_ns);
	return s->ready_ns;
}

uint64_t sim_earliest(CUstream stream, uint64_t queued_ns)
{
	return later(queued_ns + STANDIN_SUBMIT_NS, ready(stream));
}

void sim_stream_done(CUstream s, uint64_t end_ns)
{
	s->ready_ns = later(s->ready_ns, end_ns);
	s->context->ready_ns = later(s->context->ready_ns, end_ns);
	if (is_blocking(s))
		s->context->blocking_ready_ns = later(s->context->blocking_ready_ns, end_ns);
}

void sim_queue_wait(struct sim_call *call, CUcontext context)
{
	uint64_t start, end = context->queue[context->launches % STANDIN_QUEUE];

	sim_spend(call);
	start = standin_now();
	if (end <= start)
		return;
	sim_wait_until(end);
	if (sim_watcher())
		sim_watcher()->overhead(
			&(struct sim_overhead){start, standin_now(), call->tid, call->correlation});
}

void sim_queue_put(CUcontext context, uint64_t end_ns)
{
	context->queue[context->launches++ % STANDIN_QUEUE] = end_ns;
}

int sim_run(struct sim_op *op, struct sim_met *met)
{
	int error;

	if (!op->work->collective) {
		op->end_ns = op->start_ns + op->work->duration_ns;
		return 0;
	}
	error = sim_meet(op->work->collective, op->start_ns, met);
	if (!error)
		op->end_ns = met->end_ns;
	return error;
}

void sim_op_done(struct sim_op *op, const struct sim_met *met)
{
	static uint64_t ops;

	op->number = ++ops;
	sim_log_op(op, met);
	if (op->work->type != SIM_HOST && sim_watcher())
		sim_watcher()->op(op);
	if (op->work->type == SIM_HOST)
		sim_host_later(op->end_ns, op->work->function, op->work->data);
}

int sim_submit(
	struct sim_call *call, CUstream stream, const struct sim_work *work, uint64_t *end_ns)
{
	CUcontext context = stream->context;
	struct sim_op op = {.work = work,
		.device = (uint32_t)context->device,
		.context = context->id,
		.stream = stream->id,
		.correlation = call->correlation};
	struct sim_met met;
	int error;

	if (end_ns)
		*end_ns = 0;
	if (stream->capture)
		return sim_capture_work(stream, work);
	if (work->type != SIM_HOST)
		sim_queue_wait(call, context);
	sim_spend(call);
	op.start_ns = sim_earliest(stream, standin_now());
	error = sim_run(&op, &met);
	if (error)
		return error;
	sim_stream_done(stream, op.end_ns);
	if (work->type != SIM_HOST)
		sim_queue_put(context, op.end_ns);
	sim_op_done(&op, &met);
	if (end_ns)
		*end_ns = op.end_ns;
	return 0;
}

void sim_block(struct sim_call *call, uint64_t done_ns, struct sim_sync *sync)
{
	uint64_t start;

	sim_spend(call);
	start = standin_now();
	if (done_ns > start)
		sim_wait_until(done_ns + (sim_is_virtual() ? STANDIN_WAKE_NS : 0));
	if (!sync || !sim_watcher())
		return;
	sync->start_ns = start;
	sync->end_ns = standin_now();
	sync->correlation = call->correlation;
	sim_watcher()->sync(sync);
}

/* ---- streams ---- */

int sim_stream_create(struct sim_call *call, CUstream *out, unsigned flags, int priority)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);
	CUstream s;

	*out = NULL;
	if (error)
		return error;
	s = calloc(1, sizeof(*s));
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*s = (struct CUstream_st){.magic = SIM_STREAM_MAGIC,
		.context = context,
		.id = next_stream_id++,
		.flags = flags,
		.priority = priority,
		.next = context->streams};
	context->streams = s;
	*out = s;
	sim_tell(&(struct sim_resource){.id = SIM_STREAM_CREATED, .context = context, .stream = s});
	if (sim_watcher())
		sim_watcher()->stream(s, call->correlation);
	return 0;
}

int sim_stream_destroy(struct sim_call *call, CUstream stream)
{
	int error = sim_stream_find(&stream);

	if (error || is_legacy(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	sim_spend(call);
	sim_tell(&(struct sim_resource){
		.id = SIM_STREAM_DESTROY, .context = stream->context, .stream = stream});
	for (CUstream *at = &stream->context->streams; *at; at = &(*at)->next) {
		if (*at != stream)
			continue;
		*at = stream->next;
		break;
	}
	stream->magic = 0;
	free(stream);
	return 0;
}

int sim_stream_synchronize(struct sim_call *call, CUstream stream)
{
	int error = sim_stream_find(&stream);

	if (!error)
		error = sim_capture_forbids(stream->context, stream);
	if (!error)
		sim_block(call, ready(stream),
			&(struct sim_sync){.type = SIM_SYNC_STREAM,
				.context = stream->context->id,
				.stream = stream->id,
				.event = UINT32_MAX});
	return error;
}

int sim_stream_query(struct sim_call *call, CUstream stream)
{
	int error = sim_stream_find(&stream);

	if (!error)
		error = sim_capture_forbids(stream->context, stream);
	if (error)
		return error;
	sim_spend(call);
	return ready(stream) > standin_now() ? CUDA_ERROR_NOT_READY : 0;
}

int sim_stream_wait(struct sim_call *call, CUstream stream, CUevent event)
{
	uint64_t entry = call->entry_ns;
	int error = sim_stream_find(&stream);

	if (error || !event || event->magic != SIM_EVENT_MAGIC)
		return error ? error : CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture && event->capture != stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	sim_spend(call);
	if (event->capture)
		sim_capture_join(stream, event);
	else
		sim_stream_done(stream, event->time_ns);
	if (!event->capture && sim_watcher())
		sim_watcher()->sync(&(struct sim_sync){.type = SIM_SYNC_WAIT,
			.start_ns = entry,
			.end_ns = standin_now(),
			.correlation = call->correlation,
			.context = stream->context->id,
			.stream = stream->id,
			.event = event->id,
			.event_record = event->record});
	return 0;
}

/* ---- events ---- */

int sim_event_create(CUevent *out, unsigned flags)
{
	CUcontext context;
	int error = sim_current_or_primary(&context);

	*out = error ? NULL : calloc(1, sizeof(**out));
	if (!*out)
		return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
	sim_may_stay(*out);
	(*out)->magic = SIM_EVENT_MAGIC;
	(*out)->id = next_event_id++;
	(*out)->flags = flags;
	return 0;
}

int sim_event_destroy(CUevent event)
{
	if (!event || event->magic != SIM_EVENT_MAGIC)
		return CUDA_ERROR_INVALID_HANDLE;
	event->magic = 0;
	free(event);
	return 0;
}

int sim_event_record(struct sim_call *call, CUevent event, CUstream stream)
{
	int error = sim_stream_find(&stream);

	if (error || !event || event->magic != SIM_EVENT_MAGIC)
		return error ? error : CUDA_ERROR_INVALID_HANDLE;
	sim_spend(call);
	event->capture = stream->capture;
	if (stream->capture)
		event->frontier = stream->frontier;
	if (stream->capture)
		return 0;
	event->time_ns = later(standin_now(), ready(stream));
	event->record = ++event_records;
	if (sim_watcher())
		sim_watcher()->event(&(struct sim_event_record){call->correlation,
			stream->context->id, stream->id, event->id,
			(uint32_t)stream->context->device, event->time_ns, event->record});
	return 0;
}

static int usable(CUevent event)
{
	if (!event || event->magic != SIM_EVENT_MAGIC)
		return CUDA_ERROR_INVALID_HANDLE;
	return event->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0;
}

int sim_event_synchronize(struct sim_call *call, CUevent event)
{
	CUcontext context;
	int error = usable(event);

	if (!error)
		error = sim_current_or_primary(&context);
	if (!error)
		sim_block(call, event->time_ns,
			&(struct sim_sync){.type = SIM_SYNC_EVENT,
				.context = context->id,
				.stream = UINT32_MAX,
				.event = event->id,
				.event_record = event->record});
	return error;
}

int sim_event_query(struct sim_call *call, CUevent event)
{
	int error = usable(event);

	if (error)
		return error;
	sim_spend(call);
	return event->time_ns > standin_now() ? CUDA_ERROR_NOT_READY : 0;
}

int sim_event_elapsed(float *ms, CUevent start, CUevent end)
{
	int error = usable(start) ? usable(start) : usable(end);

	if (error)
		return error;
	if (!start->record || !end->record || (start->flags | end->flags) & cudaEventDisableTiming)
		return CUDA_ERROR_INVALID_HANDLE;
	if (start->time_ns > standin_now() || end->time_ns > standin_now())
		return CUDA_ERROR_NOT_READY;
	*ms = (float)((double)(int64_t)(end->time_ns - start->time_ns) / 1e6);
	return 0;
}
