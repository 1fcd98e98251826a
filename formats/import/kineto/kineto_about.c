/* kineto_about.c - what a file says about itself, in members of the document beside its events. */
#include "formats/import/kineto/kineto_parts.h"

#include "formats/base/count.h"
#include "formats/import/kineto/event/kineto_event.h"
#include "formats/import/kineto/kineto_own.h"

#include <string.h>

struct member {
	const char *key;
	void (*take)(struct vpt_kineto_rows *r, const struct member *m,
		const struct vpt_kineto_value *value);
	enum vpt_metadata fact; /* what it is in a capture's META rows */
};

static void take_meta(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	const char *key = vpt_metadata_key(m->fact);
	struct vpt_meta row;
	size_t len = value ? strnlen(value->text, value->len) : 0;

	/* Our own files list all facts by name, including these. */
	if (!len || value->type == VPT_KINETO_NULL || r->own.is_own)
		return;
	row.key = vpt_collect_string(r->collect, key, strlen(key));
	row.value = vpt_collect_string(r->collect, value->text, len);
	vpt_collect_put(r->collect, VPT_META, 0, &row);
}

static void take_base(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	int64_t ns;

	(void)m;
	if (vpt_kineto_number(value, 0, &ns) == VPT_KINETO_EXACT && ns > 0)
		r->base_ns = ns;
	else
		r->stats->bad_numbers++;
}

static void take_devices(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	(void)m;
	vpt_kineto_devices(r, value);
}

static void take_own(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	(void)m;
	vpt_kineto_own_begin(r, value);
}

static void take_own_end(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	(void)m;
	vpt_kineto_own_end(r, value);
}

static void take_own_parts(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	(void)m;
	vpt_kineto_own_parts(r, value);
}

static void take_distributed(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	static const struct member parts[] = {
		{"rank", NULL, VPT_METADATA_RANK},
		{"world_size", NULL, VPT_METADATA_WORLD_SIZE},
		{"backend", NULL, VPT_METADATA_BACKEND},
	};
	size_t i;

	(void)m;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		take_meta(r, &parts[i], vpt_kineto_member(value, parts[i].key));
}

/* Each member of the document that is needed: name, function, key in META. */
#define MEMBERS(X)                                                                                 \
	X("vptrace", take_own, VPT_METADATA_NONE)                                                  \
	X("vptraceEnd", take_own_end, VPT_METADATA_NONE)                                           \
	X("vptraceParts", take_own_parts, VPT_METADATA_NONE)                                       \
	X("vptraceIncomplete", take_meta, VPT_METADATA_MISSING_PARTS)                              \
	X("baseTimeNanoseconds", take_base, VPT_METADATA_NONE)                                     \
	X("deviceProperties", take_devices, VPT_METADATA_NONE)                                     \
	X("distributedInfo", take_distributed, VPT_METADATA_NONE)                                  \
	X("cuda_runtime_version", take_meta, VPT_METADATA_CUDA_RUNTIME)                            \
	X("cuda_driver_version", take_meta, VPT_METADATA_CUDA_DRIVER)                              \
	X("cupti_version", take_meta, VPT_METADATA_CUPTI)                                          \
	X("traceName", take_meta, VPT_METADATA_TRACE_NAME)                                         \
	X("trace_id", take_meta, VPT_METADATA_TRACE_ID)                                            \
	X("host_name", take_meta, VPT_METADATA_HOST)                                               \
	X("hostname", take_meta, VPT_METADATA_HOST) /* of older versions */                        \
	/* what the profiler was set to record; each of these slows the program down */            \
	X("record_shapes", take_meta, VPT_METADATA_TORCH_RECORD_SHAPES)                            \
	X("profile_memory", take_meta, VPT_METADATA_TORCH_PROFILE_MEMORY)                          \
	X("with_stack", take_meta, VPT_METADATA_TORCH_WITH_STACK)                                  \
	X("with_flops", take_meta, VPT_METADATA_TORCH_WITH_FLOPS)                                  \
	X("with_modules", take_meta, VPT_METADATA_TORCH_WITH_MODULES)

static const struct member members[] = {
#define MEMBER(name, take, fact) {name, take, fact},
	MEMBERS(MEMBER)
#undef MEMBER
};

const char *const vpt_kineto_about_names[] = {
	"traceEvents",
#define MEMBER(name, take, fact) name,
	MEMBERS(MEMBER)
#undef MEMBER
		NULL,
};

static const struct member *find(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(members); i++)
		if (!strcmp(name, members[i].key))
			return &members[i];
	return NULL;
}

int vpt_kineto_about_knows(const char *name)
{
	return find(name) != NULL;
}

void vpt_kineto_about(
	struct vpt_kineto_rows *r, const char *name, const struct vpt_kineto_value *value)
{
	const struct member *m = find(name);

	m->take(r, m, value);
}
