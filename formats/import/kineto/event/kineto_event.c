/* kineto_event.c - one event of the profiler: its members as numbers and texts, and its lane.
 *
 * Values that are changed or left out are counted here, so that the makers of rows need not. */
#include "formats/import/kineto/event/kineto_event.h"

#include <string.h>

/* ---- numbers ---- */

int vpt_kineto_scaled_in(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *number, int scale, int64_t *value)
{
	enum vpt_kineto_number how = vpt_kineto_number(number, scale, value);

	r->stats->bad_numbers += how == VPT_KINETO_ROUNDED || how == VPT_KINETO_BAD;
	return how == VPT_KINETO_EXACT || how == VPT_KINETO_ROUNDED;
}

/* A 64-bit number that was written as text because JSON readers keep only 63 bits. */
static int wide(const struct vpt_kineto_value *object, uint64_t *value)
{
	struct vpt_text text = vpt_kineto_text(object);
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < text.len; i++)
		if (text.text[i] < '0' || text.text[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(text.text[i] - '0'), &v))
			return 0;
	*value = v;
	return text.len != 0;
}

uint64_t vpt_kineto_natural_in(struct vpt_kineto_rows *r, const struct vpt_kineto_value *number)
{
	uint64_t large;
	int64_t value;

	if (wide(number, &large))
		return large;
	if (!vpt_kineto_scaled_in(r, number, 0, &value))
		return 0;
	r->stats->bad_numbers += value < 0;
	return value < 0 ? 0 : (uint64_t)value;
}

uint64_t vpt_kineto_natural_of(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	const char *key, const char *other)
{
	return vpt_kineto_natural(r, object, vpt_kineto_member(object, key) ? key : other);
}

int64_t vpt_kineto_optional_id(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, const char *key)
{
	int64_t value;

	if (!vpt_kineto_integer(r, object, key, &value) || value < 0 || value == UINT32_MAX)
		return -1;
	return value;
}

/* ---- text ---- */

uint64_t vpt_kineto_put_text(struct vpt_kineto_rows *r, struct vpt_text text)
{
	r->stats->bad_text += !vpt_kineto_text_is_clean(text);
	return vpt_collect_string(r->collect, text.text, text.len);
}

/* ---- lanes ---- */

static int is_integer(const struct vpt_kineto_value *value)
{
	return value && value->type == VPT_KINETO_INTEGER;
}

static int is_written_so(const struct vpt_kineto_value *value, const char *text, uint32_t len)
{
	return is_integer(value) && value->len == len && !memcmp(value->text, text, len);
}

/* Remembers what was read without a complaint. */
static void remember(struct vpt_kineto_rows *r, const struct vpt_kineto_value *pid,
	const struct vpt_kineto_value *tid, const struct vpt_kineto_thread *thread)
{
	struct vpt_kineto_last_thread *last = &r->last_thread;

	if (!is_integer(pid) || !is_integer(tid) || pid->len > sizeof(last->pid) ||
		tid->len > sizeof(last->tid))
		return;
	memcpy(last->pid, pid->text, pid->len);
	memcpy(last->tid, tid->text, tid->len);
	last->pid_len = pid->len;
	last->tid_len = tid->len;
	last->thread = (uint32_t)(thread - r->threads.at);
}

static struct vpt_kineto_thread *find_thread(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *event)
{
	const struct vpt_kineto_value *pid_value = vpt_kineto_member(event, "pid"),
				      *tid_value = vpt_kineto_member(event, "tid");
	const struct vpt_kineto_last_thread *last = &r->last_thread;
	uint64_t complaints = r->stats->bad_numbers;
	struct vpt_kineto_thread *thread;
	int64_t pid, tid;

	if (last->pid_len && is_written_so(pid_value, last->pid, last->pid_len) &&
		is_written_so(tid_value, last->tid, last->tid_len))
		return &r->threads.at[last->thread];
	if (!vpt_kineto_pid(r, event, &pid) || !vpt_kineto_tid(r, event, &tid))
		return NULL;
	thread = vpt_kineto_threads_get(&r->threads, pid, tid);
	r->no_memory |= !thread;
	if (thread && r->stats->bad_numbers == complaints)
		remember(r, pid_value, tid_value, thread);
	return thread;
}

struct vpt_kineto_thread *vpt_kineto_thread_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *event)
{
	struct vpt_kineto_thread *thread = find_thread(r, event);

	if (thread && !thread->lane)
		vpt_kineto_process_seen(r, event);
	return thread;
}

uint64_t vpt_kineto_thread_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_kineto_thread *thread = vpt_kineto_thread_of(r, e->object);

	if (!thread)
		return 0;
	if (!thread->lane)
		thread->lane = vpt_collect_thread(r->collect, thread->pid, thread->tid);
	return thread->lane;
}

uint64_t vpt_kineto_context_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	int64_t device, uint64_t context, int64_t stream)
{
	int64_t pid = -1;

	if (!r->own.is_own)
		return vpt_kineto_owned_lane(r, e->object, device, context, stream);
	vpt_kineto_integer(r, e->args, "process", &pid);
	return vpt_collect_stream(r->collect, pid, device, context, stream);
}

uint64_t vpt_kineto_stream_lane(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t device, int64_t stream)
{
	return vpt_kineto_context_lane(
		r, e, device, vpt_kineto_natural(r, e->args, "context"), stream);
}

/* It is in the arguments; older versions only write the device as the process and the stream as the
 * thread. */
int vpt_kineto_device_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *device)
{
	if (vpt_kineto_member(e->args, "device"))
		return vpt_kineto_integer(r, e->args, "device", device);
	return vpt_kineto_number_in(r, e->object, "pid", device);
}

/* The same. Newer versions can draw an op of a CUDA graph on another lane; "stream" and the thread are
 * then that lane. */
int vpt_kineto_stream_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *stream)
{
	static const char *const keys[] = {"original_stream", "stream"};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (vpt_kineto_member(e->args, keys[i]))
			return vpt_kineto_integer(r, e->args, keys[i], stream);
	return vpt_kineto_number_in(r, e->object, "tid", stream);
}
