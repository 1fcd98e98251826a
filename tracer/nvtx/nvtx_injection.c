/* nvtx_injection.c - the tracer as NVTX's tool: the core functions, and how they get into NVTX's
 * slots.
 *
 * Each function does our work, then calls the chained tool's function of the same slot. A range's
 * start is stamped as late and its end as early as possible, to exclude the tool's time. The
 * payload extension is nvtx_payload.c. */
#include "tracer/nvtx/nvtx_injection.h"

#include "tracer/nvtx/nvtx_event.h"
#include "tracer/nvtx/nvtx_tool.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/ranges/thread_names.h"

static _Atomic unsigned attached;
static void (*when_attached)(void);

typedef void text_fn(const char *text);
typedef void wide_fn(const wchar_t *text);
typedef int push_fn(const char *text);
typedef int push_wide_fn(const wchar_t *text);
typedef void event_fn(const struct vtr_nvtx_event *event);
typedef int push_event_fn(const struct vtr_nvtx_event *event);
typedef int pop_fn(void);
typedef uint64_t start_fn(const char *text);
typedef uint64_t start_wide_fn(const wchar_t *text);
typedef uint64_t start_event_fn(const struct vtr_nvtx_event *event);
typedef void end_fn(uint64_t id);
typedef void thread_fn(uint32_t tid, const char *name);
typedef void thread_wide_fn(uint32_t tid, const wchar_t *name);
typedef void domain_event_fn(void *domain, const struct vtr_nvtx_event *event);
typedef int domain_push_fn(void *domain, const struct vtr_nvtx_event *event);
typedef int domain_pop_fn(void *domain);
typedef uint64_t domain_start_fn(void *domain, const struct vtr_nvtx_event *event);
typedef void domain_end_fn(void *domain, uint64_t id);
typedef void *string_fn(void *domain, const char *text);
typedef void *string_wide_fn(void *domain, const wchar_t *text);
typedef void *create_fn(const char *name);
typedef void *create_wide_fn(const wchar_t *name);
typedef void stream_fn(void *stream, const char *name);
typedef void stream_wide_fn(void *stream, const wchar_t *name);

#define CORE(id, type)  VTR_NVTX_TOOL(VTR_NVTX_CORE, id, type *)
#define CORE2(id, type) VTR_NVTX_TOOL(VTR_NVTX_CORE2, id, type *)

/* The result of an NVTX push or pop without effect. */
static int level(int depth)
{
	return depth < 0 ? VTR_NVTX_NO_TRACKING : depth;
}

/* ---- marks ---- */

static void mark_a(const char *text)
{
	text_fn *tool = CORE(VTR_NVTX_MARK_A, text_fn);

	vtr_mark(&(struct vtr_attributes){.name = vtr_name_of(text)});
	if (tool)
		tool(text);
}

static void mark_w(const wchar_t *text)
{
	wide_fn *tool = CORE(VTR_NVTX_MARK_W, wide_fn);

	vtr_mark(&(struct vtr_attributes){.name = vtr_nvtx_wide(text)});
	if (tool)
		tool(text);
}

static void mark_ex(const struct vtr_nvtx_event *event)
{
	struct vtr_nvtx_event copy;
	event_fn *tool = CORE(VTR_NVTX_MARK_EX, event_fn);
	struct vtr_attributes a;

	vtr_nvtx_event(event, NULL, &a);
	vtr_mark(&a);
	if (tool)
		tool(vtr_nvtx_event_for_tool(event, &copy));
}

static void domain_mark(void *domain, const struct vtr_nvtx_event *event)
{
	struct vtr_nvtx_event copy;
	domain_event_fn *tool = CORE2(VTR_NVTX_DOMAIN_MARK, domain_event_fn);
	struct vtr_attributes a;

	vtr_nvtx_event(event, domain, &a);
	vtr_mark(&a);
	if (tool)
		tool(vtr_nvtx_handle_for_tool(domain), vtr_nvtx_event_for_tool(event, &copy));
}

/* ---- push and pop ---- */

static int push_a(const char *text)
{
	push_fn *tool = CORE(VTR_NVTX_PUSH_A, push_fn);

	if (tool)
		tool(text);
	return level(vtr_range_push(&(struct vtr_attributes){.name = vtr_name_of(text)}));
}

static int push_w(const wchar_t *text)
{
	push_wide_fn *tool = CORE(VTR_NVTX_PUSH_W, push_wide_fn);

	if (tool)
		tool(text);
	return level(vtr_range_push(&(struct vtr_attributes){.name = vtr_nvtx_wide(text)}));
}

static int push_ex(const struct vtr_nvtx_event *event)
{
	struct vtr_nvtx_event copy;
	push_event_fn *tool = CORE(VTR_NVTX_PUSH_EX, push_event_fn);
	struct vtr_attributes a;

	if (tool)
		tool(vtr_nvtx_event_for_tool(event, &copy));
	vtr_nvtx_event(event, NULL, &a);
	return level(vtr_range_push(&a));
}

static int domain_push(void *domain, const struct vtr_nvtx_event *event)
{
	struct vtr_nvtx_event copy;
	domain_push_fn *tool = CORE2(VTR_NVTX_DOMAIN_PUSH, domain_push_fn);
	struct vtr_attributes a;

	if (tool)
		tool(vtr_nvtx_handle_for_tool(domain), vtr_nvtx_event_for_tool(event, &copy));
	vtr_nvtx_event(event, domain, &a);
	return level(vtr_range_push(&a));
}

static int pop(void)
{
	pop_fn *tool = CORE(VTR_NVTX_POP, pop_fn);
	int depth = vtr_range_pop(VTR_NAME_EMPTY);

	if (tool)
		tool();
	return level(depth);
}

static int domain_pop(void *domain)
{
	domain_pop_fn *tool = CORE2(VTR_NVTX_DOMAIN_POP, domain_pop_fn);
	int depth = vtr_range_pop(vtr_nvtx_handle_name(VTR_NVTX_DOMAIN, domain));

	if (tool)
		tool(vtr_nvtx_handle_for_tool(domain));
	return level(depth);
}

/* ---- start and end: the host gets our id; we keep the tool's ---- */

static uint64_t start_a(const char *text)
{
	start_fn *tool = CORE(VTR_NVTX_START_A, start_fn);
	uint64_t tools = tool ? tool(text) : 0;
	uint64_t id = vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of(text)});

	return vtr_nvtx_range_id(id, tools);
}

static uint64_t start_w(const wchar_t *text)
{
	start_wide_fn *tool = CORE(VTR_NVTX_START_W, start_wide_fn);
	uint64_t tools = tool ? tool(text) : 0;
	uint64_t id = vtr_range_start(&(struct vtr_attributes){.name = vtr_nvtx_wide(text)});

	return vtr_nvtx_range_id(id, tools);
}

static uint64_t start_ex(const struct vtr_nvtx_event *event)
{
	struct vtr_nvtx_event copy;
	start_event_fn *tool = CORE(VTR_NVTX_START_EX, start_event_fn);
	uint64_t tools = tool ? tool(vtr_nvtx_event_for_tool(event, &copy)) : 0;
	struct vtr_attributes a;

	vtr_nvtx_event(event, NULL, &a);
	return vtr_nvtx_range_id(vtr_range_start(&a), tools);
}

static uint64_t domain_start(void *domain, const struct vtr_nvtx_event *event)
{
	struct vtr_nvtx_event copy;
	domain_start_fn *tool = CORE2(VTR_NVTX_DOMAIN_START, domain_start_fn);
	uint64_t tools =
		tool ? tool(vtr_nvtx_handle_for_tool(domain), vtr_nvtx_event_for_tool(event, &copy))
		     : 0;
	struct vtr_attributes a;

	vtr_nvtx_event(event, domain, &a);
	return vtr_nvtx_range_id(vtr_range_start(&a), tools);
}

static void end(uint64_t id)
{
	end_fn *tool = CORE(VTR_NVTX_END, end_fn);
	uint64_t tools = vtr_nvtx_range_id_of_tool(id);

	vtr_range_end(id);
	if (tool && tools)
		tool(tools);
}

static void domain_end(void *domain, uint64_t id)
{
	domain_end_fn *tool = CORE2(VTR_NVTX_DOMAIN_END, domain_end_fn);
	uint64_t tools = vtr_nvtx_range_id_of_tool(id);

	vtr_range_end(id);
	if (tool && tools)
		tool(vtr_nvtx_handle_for_tool(domain), tools);
}

/* ---- names ---- */

static void name_thread_a(uint32_t tid, const char *name)
{
	thread_fn *tool = CORE(VTR_NVTX_NAME_THREAD_A, thread_fn);

	vtr_thread_name(tid, vtr_name_of(name));
	if (tool)
		tool(tid, name);
}

static void name_thread_w(uint32_t tid, const wchar_t *name)
{
	thread_wide_fn *tool = CORE(VTR_NVTX_NAME_THREAD_W, thread_wide_fn);

	vtr_thread_name(tid, vtr_nvtx_wide(name));
	if (tool)
		tool(tid, name);
}

static void *string_a(void *domain, const char *text)
{
	string_fn *tool = CORE2(VTR_NVTX_DOMAIN_STRING_A, string_fn);
	void *tools = tool ? tool(vtr_nvtx_handle_for_tool(domain), text) : NULL;

	return vtr_nvtx_handle(VTR_NVTX_STRING, vtr_name_of(text), tools);
}

static void *string_w(void *domain, const wchar_t *text)
{
	string_wide_fn *tool = CORE2(VTR_NVTX_DOMAIN_STRING_W, string_wide_fn);
	void *tools = tool ? tool(vtr_nvtx_handle_for_tool(domain), text) : NULL;

	return vtr_nvtx_handle(VTR_NVTX_STRING, vtr_nvtx_wide(text), tools);
}

static void *create_a(const char *name)
{
	create_fn *tool = CORE2(VTR_NVTX_DOMAIN_CREATE_A, create_fn);

	return vtr_nvtx_handle(VTR_NVTX_DOMAIN, vtr_name_of(name), tool ? tool(name) : NULL);
}

static void *create_w(const wchar_t *name)
{
	create_wide_fn *tool = CORE2(VTR_NVTX_DOMAIN_CREATE_W, create_wide_fn);

	return vtr_nvtx_handle(VTR_NVTX_DOMAIN, vtr_nvtx_wide(name), tool ? tool(name) : NULL);
}

/* Names of streams are for the other tool: CUPTI numbers streams, and these are pointers. */
static void cu_stream_a(void *stream, const char *name)
{
	stream_fn *tool = VTR_NVTX_TOOL(VTR_NVTX_CUDA, VTR_NVTX_CU_STREAM_A, stream_fn *);

	if (tool)
		tool(stream, name);
}

static void cu_stream_w(void *stream, const wchar_t *name)
{
	stream_wide_fn *tool = VTR_NVTX_TOOL(VTR_NVTX_CUDA, VTR_NVTX_CU_STREAM_W, stream_wide_fn *);

	if (tool)
		tool(stream, name);
}

static void cuda_stream_a(void *stream, const char *name)
{
	stream_fn *tool = VTR_NVTX_TOOL(VTR_NVTX_CUDART, VTR_NVTX_CUDA_STREAM_A, stream_fn *);

	if (tool)
		tool(stream, name);
}

static void cuda_stream_w(void *stream, const wchar_t *name)
{
	stream_wide_fn *tool =
		VTR_NVTX_TOOL(VTR_NVTX_CUDART, VTR_NVTX_CUDA_STREAM_W, stream_wide_fn *);

	if (tool)
		tool(stream, name);
}

/* ---- attaching ---- */

#define HOOK(module, id, function)                                                                 \
	{                                                                                          \
		VTR_NVTX_##module, VTR_NVTX_##id, (vtr_nvtx_function)(function)                    \
	}

static const struct {
	int module;
	unsigned id;
	vtr_nvtx_function function;
} hooks[] = {
	HOOK(CORE, MARK_EX, mark_ex),
	HOOK(CORE, MARK_A, mark_a),
	HOOK(CORE, MARK_W, mark_w),
	HOOK(CORE, START_EX, start_ex),
	HOOK(CORE, START_A, start_a),
	HOOK(CORE, START_W, start_w),
	HOOK(CORE, END, end),
	HOOK(CORE, PUSH_EX, push_ex),
	HOOK(CORE, PUSH_A, push_a),
	HOOK(CORE, PUSH_W, push_w),
	HOOK(CORE, POP, pop),
	HOOK(CORE, NAME_THREAD_A, name_thread_a),
	HOOK(CORE, NAME_THREAD_W, name_thread_w),
	HOOK(CORE2, DOMAIN_MARK, domain_mark),
	HOOK(CORE2, DOMAIN_START, domain_start),
	HOOK(CORE2, DOMAIN_END, domain_end),
	HOOK(CORE2, DOMAIN_PUSH, domain_push),
	HOOK(CORE2, DOMAIN_POP, domain_pop),
	HOOK(CORE2, DOMAIN_STRING_A, string_a),
	HOOK(CORE2, DOMAIN_STRING_W, string_w),
	HOOK(CORE2, DOMAIN_CREATE_A, create_a),
	HOOK(CORE2, DOMAIN_CREATE_W, create_w),
	HOOK(CUDA, CU_STREAM_A, cu_stream_a),
	HOOK(CUDA, CU_STREAM_W, cu_stream_w),
	HOOK(CUDART, CUDA_STREAM_A, cuda_stream_a),
	HOOK(CUDART, CUDA_STREAM_W, cuda_stream_w),
};

int InitializeInjectionNvtx2(vtr_nvtx_get_table get_table)
{
	const struct vtr_nvtx_callbacks *callbacks =
		get_table ? get_table(VTR_NVTX_TABLE_CALLBACKS) : NULL;
	const struct vtr_nvtx_version *version =
		get_table ? get_table(VTR_NVTX_TABLE_VERSION) : NULL;
	unsigned i, count;

	if (!callbacks || callbacks->struct_bytes < sizeof(*callbacks))
		return 1;
	if (version && version->struct_bytes >= sizeof(*version) && version->set_tool_version)
		version->set_tool_version(VTR_NVTX_VERSION);
	vtr_nvtx_tool_attach(get_table, callbacks);
	for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		vtr_nvtx_function **table = NULL;

		if (callbacks->module(hooks[i].module, &table, &count) && table &&
			hooks[i].id < count && table[hooks[i].id])
			*table[hooks[i].id] = hooks[i].function;
	}
	atomic_fetch_add_explicit(&attached, 1, memory_order_relaxed);
	if (when_attached)
		when_attached();
	return 1;
}

void vtr_nvtx_when_attached(void (*then)(void))
{
	when_attached = then;
}

unsigned vtr_nvtx_attached(void)
{
	return atomic_load_explicit(&attached, memory_order_relaxed);
}
