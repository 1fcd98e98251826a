/* kineto_rows.c - one event of the PyTorch profiler becomes one row.
 *
 * The category decides the kind, by table. Each event ends in exactly one place: a row, a name, or
 * one of the counts skipped, unknown_category and malformed; numbers and texts that had to be bent
 * are counted besides. The profiler does not say which process an op belongs to, so streams are of
 * process -1. Left out: Python frames, flow arrows and the device's copies of annotations, which
 * repeat what rows say. */
#include "formats/import/kineto.h"

#include "formats/calls.h"

#include <string.h>
#include <strings.h>

/* Makes a row of an event. 0: it cannot be one; or VPT_KINETO_NOT_MEANT. */
typedef int put_fn(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

static struct vpt_text no_text(void)
{
	struct vpt_text none = {NULL, 0};

	return none;
}

/* ---- numbers ---- */

/* Member `key` at a scale; 0 if it is absent or no number, the latter counted. */
static int number_at(struct vpt_kineto_rows *r, struct json_object *object, const char *key,
	int scale, int64_t *value)
{
	enum vpt_kineto_number how =
		vpt_kineto_number(vpt_kineto_member(object, key), scale, value);

	r->stats->bad_numbers += how == VPT_KINETO_ROUNDED || how == VPT_KINETO_BAD;
	return how == VPT_KINETO_EXACT || how == VPT_KINETO_ROUNDED;
}

int vpt_kineto_integer(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key, int64_t *value)
{
	return number_at(r, object, key, 0, value);
}

/* A number of 64 bits that went as text because JSON readers keep only 63. */
static int wide(struct json_object *object, uint64_t *value)
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

uint64_t vpt_kineto_natural(struct vpt_kineto_rows *r, struct json_object *object, const char *key)
{
	uint64_t large;
	int64_t value;

	if (wide(vpt_kineto_member(object, key), &large))
		return large;
	if (!vpt_kineto_integer(r, object, key, &value))
		return 0;
	r->stats->bad_numbers += value < 0;
	return value < 0 ? 0 : (uint64_t)value;
}

/* The first of two spellings that is there. */
static uint64_t natural_of(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key, const char *other)
{
	return vpt_kineto_natural(r, object, vpt_kineto_member(object, key) ? key : other);
}

/* An id for which the profiler writes -1, signed or not, where there is none. */
int64_t vpt_kineto_optional_id(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key)
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

/* Text of the form "... (FIRST -> SECOND)" or "... (FIRST)": what stands inside the last
 * parentheses. */
static void split_parentheses(struct vpt_text name, struct vpt_text *first, struct vpt_text *second)
{
	const char *open = memrchr(name.text, '(', name.len), *arrow, *end;

	*first = *second = no_text();
	if (!open)
		return;
	open++;
	end = memchr(open, ')', (size_t)(name.text + name.len - open));
	if (!end)
		return;
	arrow = memmem(open, (size_t)(end - open), " -> ", 4);
	first->text = open;
	first->len = (size_t)((arrow ? arrow : end) - open);
	if (!arrow)
		return;
	second->text = arrow + 4;
	second->len = (size_t)(end - second->text);
}

int vpt_kineto_same_word(const char *word, struct vpt_text text)
{
	return text.text && strlen(word) == text.len && !strncasecmp(word, text.text, text.len);
}

/* The number of a word of names.def, 0 (unknown in every set) if it is none. */
static uint64_t word_number(enum vpt_unit unit, struct vpt_text text)
{
	enum { WORDS = 16 };
	uint64_t number;

	for (number = 0; number < WORDS; number++) {
		const char *word = vpt_word(unit, number);

		if (word && vpt_kineto_same_word(word, text))
			return number;
	}
	return 0;
}

/* ---- threads ---- */

/* The entry of the thread an event names. NULL: it names none, or there is no memory. */
static struct vpt_kineto_thread *thread_of(struct vpt_kineto_rows *r, struct json_object *event)
{
	struct vpt_kineto_thread *thread;
	int64_t pid, tid;

	if (!vpt_kineto_integer(r, event, "pid", &pid) ||
		!vpt_kineto_integer(r, event, "tid", &tid))
		return NULL;
	thread = vpt_kineto_threads_get(&r->threads, pid, tid);
	r->no_memory |= !thread;
	return thread;
}

uint64_t vpt_kineto_thread_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_kineto_thread *thread = thread_of(r, e->object);

	if (!thread)
		return 0;
	if (!thread->lane)
		thread->lane = vpt_collect_thread(r->collect, thread->pid, thread->tid);
	return thread->lane;
}

/* ---- ops ---- */

/* Whose stream it is stands only in files of ours. */
uint64_t vpt_kineto_stream_lane(
	struct vpt_kineto_rows *r, struct json_object *args, int64_t device, int64_t stream)
{
	int64_t pid = -1;

	vpt_kineto_integer(r, args, "process", &pid);
	return vpt_collect_stream(
		r->collect, pid, device, vpt_kineto_natural(r, args, "context"), stream);
}

/* The args tell; older versions only show the device as the process and the stream as the thread.
 */
int vpt_kineto_device_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *device)
{
	if (vpt_kineto_member(e->args, "device"))
		return vpt_kineto_integer(r, e->args, "device", device);
	return vpt_kineto_integer(r, e->object, "pid", device);
}

int vpt_kineto_stream_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *stream)
{
	if (vpt_kineto_member(e->args, "stream"))
		return vpt_kineto_integer(r, e->args, "stream", stream);
	return vpt_kineto_integer(r, e->object, "tid", stream);
}

static void triple(struct vpt_kineto_rows *r, struct json_object *args, const char *key,
	uint64_t *x, uint64_t *y, uint64_t *z)
{
	struct json_object *array = vpt_kineto_member(args, key);
	uint64_t *const out[] = {x, y, z};
	int64_t value;
	size_t i;

	if (!json_object_is_type(array, json_type_array))
		return;
	for (i = 0; i < 3 && i < json_object_array_length(array); i++) {
		if (vpt_kineto_number(json_object_array_get_idx(array, i), 0, &value) ==
				VPT_KINETO_EXACT &&
			value >= 0)
			*out[i] = (uint64_t)value;
		else
			r->stats->bad_numbers++;
	}
}

static uint64_t kernel_config(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	/* In files of ours the name as CUDA knows it stands beside the one for people. */
	struct vpt_text mangled = vpt_kineto_text(vpt_kineto_member(e->args, "mangled name"));
	struct vpt_config c = {.name = vpt_kineto_put_text(r, mangled.text ? mangled : e->name)};

	triple(r, e->args, "grid", &c.grid_x, &c.grid_y, &c.grid_z);
	triple(r, e->args, "block", &c.block_x, &c.block_y, &c.block_z);
	triple(r, e->args, "cluster", &c.cluster_x, &c.cluster_y, &c.cluster_z);
	c.registers = vpt_kineto_natural(r, e->args, "registers per thread");
	/* Static and dynamic memory are written as one sum; files of ours tell the latter apart. */
	c.static_shared = vpt_kineto_natural(r, e->args, "shared memory");
	c.dynamic_shared = vpt_kineto_natural(r, e->args, "dynamic shared memory");
	if (c.dynamic_shared <= c.static_shared)
		c.static_shared -= c.dynamic_shared;
	c.local = vpt_kineto_natural(r, e->args, "local memory per thread");
	c.graph = natural_of(r, e->args, "graph id", "graph_id");
	return vpt_collect_config(r->collect, &c);
}

static int put_kernel(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_kernel k = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	int64_t device, stream;

	if (!e->name.text || !vpt_kineto_device_of(r, e, &device) ||
		!vpt_kineto_stream_of(r, e, &stream))
		return 0;
	k.config = kernel_config(r, e);
	k.correlation = vpt_kineto_natural(r, e->args, "correlation");
	k.graph_node = natural_of(r, e->args, "graph node id", "graph_node_id");
	vpt_kineto_put_joined(
		r, e, VPT_KERNEL, vpt_kineto_stream_lane(r, e->args, device, stream), &k);
	return 1;
}

static void put_transfer(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	struct vpt_copy *c, int64_t device, int64_t stream)
{
	c->start_ns = e->start_ns;
	c->duration_ns = e->duration_ns;
	c->correlation = vpt_kineto_natural(r, e->args, "correlation");
	c->bytes = vpt_kineto_natural(r, e->args, "bytes");
	c->asynchronous = vpt_kineto_natural(r, e->args, "asynchronous");
	c->value = vpt_kineto_natural(r, e->args, "value");
	c->graph_node = natural_of(r, e->args, "graph node id", "graph_node_id");
	vpt_kineto_put_joined(
		r, e, VPT_COPY, vpt_kineto_stream_lane(r, e->args, device, stream), c);
}

/* "Memcpy HtoD (Pageable -> Device)": the second word is the direction. */
static uint64_t second_word(struct vpt_text name)
{
	const char *space = memchr(name.text, ' ', name.len), *end = name.text + name.len, *stop;
	struct vpt_text word = {space ? space + 1 : end, 0};

	stop = memchr(word.text, ' ', (size_t)(end - word.text));
	word.len = (size_t)((stop ? stop : end) - word.text);
	return word_number(VPT_UNIT_COPY_KIND, word);
}

/* The name tells, CUDA's way or ROCm's; where it is that of the call, `kind` does, in words or in HIP's numbers. */
static uint64_t direction(const struct vpt_kineto_event *e)
{
	struct vpt_text kind = vpt_kineto_text(vpt_kineto_member(e->args, "kind"));
	uint64_t found = second_word(e->name);

	if (!found)
		found = vpt_kineto_spelled_direction(e->name);
	if (!found && kind.len)
		found = word_number(VPT_UNIT_COPY_KIND, kind);
	if (!found)
		found = vpt_kineto_spelled_direction(kind);
	return found ? found : vpt_kineto_numbered_direction(kind);
}

/* 1 + the device at the other end of a peer copy, 0 for any other. */
static uint64_t peer_of(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t device)
{
	int64_t from = vpt_kineto_optional_id(r, e->args, "fromDevice"),
		to = vpt_kineto_optional_id(r, e->args, "toDevice");
	int64_t peer = vpt_kineto_optional_id(r, e->args, "peer device");

	if (peer >= 0)
		return 1 + (uint64_t)peer;
	if (from < 0 || to < 0 || from == to)
		return 0;
	return 1 + (uint64_t)(from == device ? to : from);
}

static int put_memcpy(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_text source, target;
	struct vpt_copy c = {0};
	int64_t device, stream;

	if (!e->name.text || !vpt_kineto_device_of(r, e, &device) ||
		!vpt_kineto_stream_of(r, e, &stream))
		return 0;
	split_parentheses(e->name, &source, &target);
	c.copy_kind = direction(e);
	c.source_memory = word_number(VPT_UNIT_MEMORY_KIND, source);
	c.target_memory = word_number(VPT_UNIT_MEMORY_KIND, target);
	c.peer = peer_of(r, e, device);
	put_transfer(r, e, &c, device, stream);
	return 1;
}

static int put_memset(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_copy c = {.copy_kind = VPT_COPYKIND_MEMSET};
	struct vpt_text target, none;
	int64_t device, stream;

	if (!e->name.text || !vpt_kineto_device_of(r, e, &device) ||
		!vpt_kineto_stream_of(r, e, &stream))
		return 0;
	split_parentheses(e->name, &target, &none);
	c.target_memory = word_number(VPT_UNIT_MEMORY_KIND, target);
	put_transfer(r, e, &c, device, stream);
	return 1;
}

/* ---- what happens on threads ---- */

static int put_call(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_call c = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	const char *known;
	int64_t result;
	uint64_t lane;

	lane = e->name.text ? vpt_kineto_thread_lane(r, e) : 0;
	if (!lane)
		return 0;
	c.id = vpt_call_find(e->name.text, e->name.len);
	known = vpt_call_name((uint32_t)c.id);
	if (!known || strlen(known) != e->name.len || memcmp(known, e->name.text, e->name.len))
		c.name = vpt_kineto_put_text(r, e->name);
	c.correlation = vpt_kineto_natural(r, e->args, "correlation");
	if (vpt_kineto_integer(r, e->args, "result", &result))
		c.result = (uint64_t)result;
	vpt_kineto_put_joined(r, e, VPT_CALL, lane, &c);
	return 1;
}

static int put_range(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, const char *domain)
{
	struct vpt_range g = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	uint64_t lane = e->name.text ? vpt_kineto_thread_lane(r, e) : 0;

	if (!lane)
		return 0;
	g.range_kind = VPT_RANGEKIND_PUSH_POP;
	g.name = vpt_kineto_put_text(r, e->name);
	g.domain = vpt_collect_string(r->collect, domain, strlen(domain));
	if (!vpt_kineto_own_range(r, e, lane, &g))
		vpt_collect_put(r->collect, VPT_RANGE, lane, &g);
	return 1;
}

static int put_annotation(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	return put_range(r, e, "");
}

static int put_operator(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	return put_range(r, e, "cpu_op");
}

/* ---- events ---- */

/* In the order of frequency. NULL: understood, not needed. Several names are those of older
 * versions. */
static const struct category {
	const char *name;
	put_fn *put;   /* a span, phase X */
	put_fn *point; /* a moment, phase i or C */
} categories[] = {
	{"python_function", NULL, NULL},
	{"cpu_op", put_operator, NULL},
	{"cuda_runtime", put_call, NULL},
	{"kernel", put_kernel, NULL},
	{"user_annotation", put_annotation, vpt_kineto_own_mark},
	{"gpu_memcpy", put_memcpy, NULL},
	{"gpu_memset", put_memset, NULL},
	{"cuda_driver", put_call, NULL},
	{"cuda_sync", vpt_kineto_put_sync, NULL},
	{"overhead", vpt_kineto_put_overhead, NULL},
	{"runtime", put_call, NULL},
	{"memcpy", put_memcpy, NULL},
	{"memset", put_memset, NULL},
	{"operator", put_operator, NULL},
	{"gpu_user_annotation", NULL, NULL},
	{"cpu_instant_event", NULL, vpt_kineto_put_memory},
	{"cuda_event", vpt_kineto_put_record, NULL},
	{"cuda_profiler_range", NULL, NULL},
	{"external_correlation", NULL, NULL},
	{"collective_comm", NULL, NULL},
	{"gpu_pm_counter", NULL, NULL},
	{"user_defined", NULL, NULL},
	{"trace", NULL, NULL},
	{"ac2g", NULL, NULL},
	{"async_cpu_to_gpu", NULL, NULL},
	{"async_gpu", NULL, NULL},
	{"counter", NULL, vpt_kineto_own_counter},
	{"vptrace", vpt_kineto_own_other, vpt_kineto_own_other},
	{"fwdbwd", NULL, NULL},
	{"forward_backward", NULL, NULL},
};

static const struct category *find_category(struct vpt_text name)
{
	size_t i;

	for (i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		if (vpt_kineto_same_word(categories[i].name, name))
			return &categories[i];
	return NULL;
}

/* Start and duration are rounded each by itself. A negative duration stays one, by wrapping. */
static int read_times(struct vpt_kineto_rows *r, struct vpt_kineto_event *e)
{
	int64_t start, duration = 0;

	if (!number_at(r, e->object, "ts", 3, &start) ||
		__builtin_add_overflow(start, (int64_t)r->own.shift_ns, &start) || start < 0)
		return 0;
	if (vpt_kineto_member(e->object, "dur") && !number_at(r, e->object, "dur", 3, &duration))
		return 0;
	/* An event that has no time stands where others' readers do not stumble over it. */
	if (r->own.is_own && vpt_kineto_member(e->object, "no time"))
		start = 0;
	e->start_ns = (uint64_t)start;
	e->duration_ns = (uint64_t)duration;
	return 1;
}

static void put_event(struct vpt_kineto_rows *r, struct json_object *object, put_fn *put)
{
	struct vpt_kineto_event e = {.object = object};
	int done;

	e.args = vpt_kineto_member(object, "args");
	e.name = vpt_kineto_text(vpt_kineto_member(object, "name"));
	done = read_times(r, &e) ? put(r, &e) : 0;
	if (done == VPT_KINETO_NOT_MEANT)
		r->stats->skipped++;
	else if (!done)
		r->stats->malformed++;
	else
		r->last_start_ns = e.start_ns;
}

static void take_metadata(struct vpt_kineto_rows *r, struct json_object *object)
{
	struct vpt_text kind = vpt_kineto_text(vpt_kineto_member(object, "name")), name;
	struct vpt_kineto_thread *thread;

	name = vpt_kineto_text(vpt_kineto_member(vpt_kineto_member(object, "args"), "name"));
	if (!vpt_kineto_same_word("thread_name", kind)) {
		r->stats->skipped++;
		return;
	}
	thread = name.text ? thread_of(r, object) : NULL;
	if (thread)
		thread->name = vpt_kineto_put_text(r, name);
	else
		r->stats->malformed++;
}

static int is_phase(struct vpt_text phase, const char *phases)
{
	return phase.len == 1 && memchr(phases, *phase.text, strlen(phases));
}

/* Besides being counted as skipped: nothing is lost with an arrow that makes no sense. */
static void take_flow(struct vpt_kineto_rows *r, struct json_object *object)
{
	struct vpt_kineto_event e = {.object = object};

	if (read_times(r, &e))
		vpt_kineto_flow(r, &e);
}

/* Arrows from calls to what they put on a device. */
static int is_flow(struct vpt_text phase, struct vpt_text category)
{
	return is_phase(phase, "sf") && (vpt_kineto_same_word("ac2g", category) ||
						vpt_kineto_same_word("async_cpu_to_gpu", category));
}

/* How an event of this phase and category becomes a row. *known is 0 where nobody here knows it. */
static put_fn *put_of(struct vpt_text phase, struct vpt_text category_name, int *known)
{
	const struct category *category = find_category(category_name);

	*known = is_phase(phase, "iIRstf") || (category && is_phase(phase, "XC"));
	if (!category)
		return NULL;
	return is_phase(phase, "X")    ? category->put
	       : is_phase(phase, "iC") ? category->point
				       : NULL;
}

int vpt_kineto_rows_needless(
	const struct vpt_kineto_rows *r, struct vpt_text phase, struct vpt_text category)
{
	int known;

	/* While rows wait for arrows, one is looked at, and so is what may be one. */
	if (r->flows.row_count &&
		(is_flow(phase, category) || (is_phase(phase, "sf") && !category.text)))
		return 0;
	return !put_of(phase, category, &known) && known;
}

void vpt_kineto_rows_event(struct vpt_kineto_rows *r, struct json_object *event)
{
	struct vpt_text phase = vpt_kineto_text(vpt_kineto_member(event, "ph"));
	struct vpt_text name = vpt_kineto_text(vpt_kineto_member(event, "cat"));
	put_fn *put;
	int known;

	r->stats->events++;
	if (phase.len != 1) {
		r->stats->malformed++;
	} else if (is_phase(phase, "M")) {
		take_metadata(r, event);
	} else {
		put = put_of(phase, name, &known);
		if (put)
			put_event(r, event, put);
		else
			*(known ? &r->stats->skipped : &r->stats->unknown_category) += 1;
		if (r->flows.row_count && is_flow(phase, name))
			take_flow(r, event);
	}
}

/* ---- devices ---- */

void vpt_kineto_rows_devices(struct vpt_kineto_rows *r, struct json_object *devices)
{
	size_t count, i;

	if (!json_object_is_type(devices, json_type_array))
		return;
	count = json_object_array_length(devices);
	for (i = 0; i < count; i++) {
		struct json_object *object = json_object_array_get_idx(devices, i);
		struct vpt_text name = vpt_kineto_text(vpt_kineto_member(object, "name"));
		struct vpt_device d = {0};
		int64_t id;

		if (!vpt_kineto_integer(r, object, "id", &id))
			continue;
		d.device = (uint64_t)id;
		d.name = name.text ? vpt_kineto_put_text(r, name) : 0;
		/* ROCm may know no name; only AMD's GPUs have waves of 64. */
		if (!name.len && vpt_kineto_natural(r, object, "warpSize") == 64)
			d.name = vpt_collect_string(r->collect, "AMD GPU", 7);
		d.compute_major = vpt_kineto_natural(r, object, "computeMajor");
		d.compute_minor = vpt_kineto_natural(r, object, "computeMinor");
		d.sm_count = vpt_kineto_natural(r, object, "numSms");
		d.sm_threads = vpt_kineto_natural(r, object, "maxThreadsPerMultiprocessor");
		d.sm_registers = vpt_kineto_natural(r, object, "regsPerMultiprocessor");
		d.sm_shared = vpt_kineto_natural(r, object, "sharedMemPerMultiprocessor");
		d.memory_bytes = vpt_kineto_natural(r, object, "totalGlobalMem");
		vpt_kineto_own_device(r, object, &d);
		vpt_collect_put(r->collect, VPT_DEVICE, 0, &d);
	}
}
