/* kineto_rows.c - turns one event of the PyTorch profiler into one row.
 *
 * A table maps the category to the kind. Each event ends up in exactly one place: a row, a name, or
 * one of the counts skipped, unknown_category and malformed. Numbers and texts that had to be
 * changed are counted as well. The profiler does not write the process of an op, so streams belong
 * to process -1. Left out: flow arrows, and the device's copies of annotations, which repeat what rows
 * say. */
#include "formats/import/kineto/kineto_parts.h"

#include "formats/import/kineto/kineto_flows.h"
#include "formats/import/kineto/kineto_own.h"
#include "formats/import/kineto/kineto_put.h"

#include <stdio.h>
#include <string.h>

#define WORD(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* In order of frequency. NULL: known but not needed. Where a kind has several names, some are those
 * of older versions. */
static const struct category {
	struct vpt_text name;
	vpt_kineto_put *put;   /* a span, phase X */
	vpt_kineto_put *point; /* a moment, phase i or C */
} categories[] = {
	{WORD("python_function"), vpt_kineto_put_python, NULL},
	{WORD("cpu_op"), vpt_kineto_put_operator, NULL},
	{WORD("cuda_runtime"), vpt_kineto_put_call, NULL},
	{WORD("ac2g"), NULL, NULL},
	{WORD("kernel"), vpt_kineto_put_kernel, NULL},
	{WORD("cpu_instant_event"), NULL, vpt_kineto_put_memory},
	{WORD("user_annotation"), vpt_kineto_put_annotation, vpt_kineto_own_mark},
	{WORD("gpu_memcpy"), vpt_kineto_put_memcpy, NULL},
	{WORD("gpu_memset"), vpt_kineto_put_memset, NULL},
	{WORD("cuda_driver"), vpt_kineto_put_call, NULL},
	{WORD("cuda_sync"), vpt_kineto_put_sync, NULL},
	{WORD("overhead"), vpt_kineto_put_overhead, NULL},
	{WORD("runtime"), vpt_kineto_put_call, NULL},
	/* of other devices than CUDA's; what their calls do is known by what has their ids */
	{WORD("xpu_runtime"), vpt_kineto_put_call, NULL},
	{WORD("xpu_driver"), vpt_kineto_put_call, NULL},
	{WORD("privateuse1_runtime"), vpt_kineto_put_call, NULL},
	{WORD("privateuse1_driver"), vpt_kineto_put_call, NULL},
	{WORD("mtia_runtime"), vpt_kineto_put_call, NULL},
	{WORD("glow_runtime"), vpt_kineto_put_call, NULL},
	{WORD("memcpy"), vpt_kineto_put_memcpy, NULL},
	{WORD("memset"), vpt_kineto_put_memset, NULL},
	{WORD("operator"), vpt_kineto_put_operator, NULL},
	{WORD("gpu_user_annotation"), NULL, NULL},
	{WORD("cuda_event"), vpt_kineto_put_record, NULL},
	{WORD("cuda_profiler_range"), NULL, NULL},
	{WORD("external_correlation"), NULL, NULL},
	{WORD("collective_comm"), NULL, NULL},
	{WORD("gpu_pm_counter"), NULL, NULL},
	{WORD("user_defined"), NULL, NULL},
	{WORD("trace"), NULL, NULL},
	{WORD("async_cpu_to_gpu"), NULL, NULL},
	{WORD("async_gpu"), NULL, NULL},
	{WORD("counter"), NULL, vpt_kineto_own_counter},
	{WORD("vptrace"), vpt_kineto_own_other, vpt_kineto_own_other},
	{WORD("fwdbwd"), NULL, NULL},
	{WORD("forward_backward"), NULL, NULL},
};

static const struct category *find_category(struct vpt_text name)
{
	size_t i;

	for (i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		if (categories[i].name.len == name.len &&
			vpt_kineto_same_word(categories[i].name.text, name))
			return &categories[i];
	return NULL;
}

/* Rounds start and duration separately. A negative duration is kept; it wraps. */
static int read_times(struct vpt_kineto_rows *r, struct vpt_kineto_event *e, int needs_duration)
{
	int64_t start, duration = 0;

	if (!vpt_kineto_scaled(r, e->object, "ts", 3, &start) ||
		__builtin_add_overflow(start, (int64_t)r->own.shift_ns, &start) || start < 0)
		return 0;
	if (!vpt_kineto_scaled(r, e->object, "dur", 3, &duration) && needs_duration)
		return 0;
	/* Our own files place an event without a time where other readers do no harm with it. */
	if (r->own.is_own && vpt_kineto_member(e->object, "no time")) {
		start = 0;
		vpt_collect_zero_is_no_time(r->collect);
	}
	e->start_ns = (uint64_t)start;
	e->duration_ns = (uint64_t)duration;
	return 1;
}

static void put_event(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	vpt_kineto_put *put, int needs_duration)
{
	struct vpt_kineto_event e = {.object = object};
	int done;

	e.args = vpt_kineto_member(object, "args");
	e.name = vpt_kineto_text(vpt_kineto_member(object, "name"));
	done = read_times(r, &e, needs_duration) ? put(r, &e) : 0;
	if (done == VPT_KINETO_NOT_MEANT)
		r->stats->skipped++;
	else if (!done)
		r->stats->malformed++;
	else {
		r->last_start_ns = e.start_ns;
		r->has_rows = 1;
	}
}

/* Other tools write Chrome's JSON, too, with events of no category; the names of their processes differ. */
static const char *tool_of(struct vpt_text process)
{
	static const struct {
		const char *begin, *tool;
	} tools[] = {
		{"/device:", "JAX or TensorFlow"},
		{"/host:", "JAX or TensorFlow"},
		{"Ascend Hardware", "torch_npu (Ascend)"},
		{"CANN", "torch_npu (Ascend)"},
	};
	size_t i, len;

	for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		len = strlen(tools[i].begin);
		if (process.len >= len && !memcmp(process.text, tools[i].begin, len))
			return tools[i].tool;
	}
	return NULL;
}

static void take_metadata(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object)
{
	struct vpt_text kind = vpt_kineto_text(vpt_kineto_member(object, "name")), name;
	struct vpt_kineto_thread *thread;

	name = vpt_kineto_text(vpt_kineto_member(vpt_kineto_member(object, "args"), "name"));
	if (vpt_kineto_same_word("process_name", kind) && name.text) {
		vpt_kineto_name_process(r, object, name);
		r->other = r->other ? r->other : tool_of(name);
	}
	if (r->own.is_merged && vpt_kineto_same_word("vptrace_rank", kind)) {
		vpt_kineto_own_rank(r, object);
		return;
	}
	if (!vpt_kineto_same_word("thread_name", kind)) {
		r->stats->skipped++;
		return;
	}
	thread = name.text ? vpt_kineto_thread_of(r, object) : NULL;
	if (thread)
		thread->name = vpt_kineto_put_text(r, name);
	else
		r->stats->malformed++;
}

static int is_phase(struct vpt_text phase, const char *phases)
{
	return phase.len == 1 && memchr(phases, *phase.text, strlen(phases));
}

/* The arrow is also counted as skipped, so an invalid one needs no count of its own. */
static void take_flow(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object)
{
	struct vpt_kineto_event e = {.object = object};

	if (read_times(r, &e, 0))
		vpt_kineto_flow(r, &e);
}

/* Whether this is an arrow from a call to its op. */
static int is_flow(struct vpt_text phase, struct vpt_text category)
{
	return is_phase(phase, "sf") && (vpt_kineto_same_word("ac2g", category) ||
						vpt_kineto_same_word("async_cpu_to_gpu", category));
}

/* The function that makes the row of an event of this phase and category. *known is 0 if the
 * category is unknown. */
static vpt_kineto_put *put_of(struct vpt_text phase, struct vpt_text category_name, int *known)
{
	const struct category *category = find_category(category_name);

	*known = is_phase(phase, "iIRstfP") || (category && is_phase(phase, "XC"));
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

	/* While rows wait for arrows, an event that is or may be one is needed. */
	if (r->flows.row_count &&
		(is_flow(phase, category) || (is_phase(phase, "sf") && !category.text)))
		return 0;
	/* Nor is a moment whose category does not come second known to be needless. */
	if (is_phase(phase, "i") && !category.text)
		return 0;
	return !put_of(phase, category, &known) && known;
}

/* Lists the first unknown categories by name. */
static void count_unknown(struct vpt_import_stats *stats, struct vpt_text name)
{
	enum { LONGEST = 30 };
	char *list = stats->unknown_names;
	size_t used = strlen(list), size = sizeof(stats->unknown_names);
	struct vpt_text word = {name.text, name.len < LONGEST ? name.len : LONGEST};

	stats->unknown_category++;
	if (!word.len || used + 2 + word.len >= size || memmem(list, used, word.text, word.len))
		return;
	snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", (int)word.len, word.text);
}

void vpt_kineto_rows_event(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event)
{
	struct vpt_text phase = vpt_kineto_text(vpt_kineto_member(event, "ph"));
	struct vpt_text name = vpt_kineto_text(vpt_kineto_member(event, "cat"));
	vpt_kineto_put *put;
	int known;

	r->stats->events++;
	if (phase.len != 1) {
		r->stats->malformed++;
	} else if (is_phase(phase, "M")) {
		take_metadata(r, event);
	} else {
		put = put_of(phase, name, &known);
		if (put)
			put_event(r, event, put,
				is_phase(phase, "X") && put != vpt_kineto_put_record);
		else if (known)
			r->stats->skipped++;
		else
			count_unknown(r->stats, name);
		if (r->flows.row_count && is_flow(phase, name))
			take_flow(r, event);
	}
}
