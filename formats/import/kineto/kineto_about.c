/* kineto_about.c - what a file says about itself, in members of the document beside its events. */
#include "formats/import/kineto/kineto_parts.h"

#include "formats/base/count.h"
#include "formats/import/kineto/kineto_event.h"
#include "formats/import/kineto/kineto_own.h"

#include <string.h>

struct member {
	const char *key;
	void (*take)(struct vpt_kineto_rows *r, const struct member *m,
		const struct vpt_kineto_value *value);
	const char *meta; /* its name in a capture's META rows */
};

static void take_meta(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	struct vpt_meta row;
	size_t len = value ? strnlen(value->text, value->len) : 0;

	/* Our own files list all facts by name, including these. */
	if (!len || value->type == VPT_KINETO_NULL || r->own.is_own)
		return;
	row.key = vpt_collect_string(r->collect, m->meta, strlen(m->meta));
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

static void take_distributed(
	struct vpt_kineto_rows *r, const struct member *m, const struct vpt_kineto_value *value)
{
	static const struct member parts[] = {
		{"rank", NULL, "rank"},
		{"world_size", NULL, "world_size"},
		{"backend", NULL, "backend"},
	};
	size_t i;

	(void)m;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		take_meta(r, &parts[i], vpt_kineto_member(value, parts[i].key));
}

/* Each member of the document that is needed: name, function, name in META. */
#define MEMBERS(X)                                                                                 \
	X("vptrace", take_own, NULL)                                                               \
	X("vptraceEnd", take_own_end, NULL)                                                        \
	X("baseTimeNanoseconds", take_base, NULL)                                                  \
	X("deviceProperties", take_devices, NULL)                                                  \
	X("distributedInfo", take_distributed, NULL)                                               \
	X("cuda_runtime_version", take_meta, "cuda_runtime")                                       \
	X("cuda_driver_version", take_meta, "cuda_driver")                                         \
	X("cupti_version", take_meta, "cupti")                                                     \
	X("traceName", take_meta, "trace_name")                                                    \
	X("trace_id", take_meta, "trace_id")                                                       \
	X("host_name", take_meta, "host")                                                          \
	X("hostname", take_meta, "host") /* of older versions */                                   \
	/* what the profiler was set to record; each of these slows the program down */            \
	X("record_shapes", take_meta, "torch_record_shapes")                                       \
	X("profile_memory", take_meta, "torch_profile_memory")                                     \
	X("with_stack", take_meta, "torch_with_stack")                                             \
	X("with_flops", take_meta, "torch_with_flops")                                             \
	X("with_modules", take_meta, "torch_with_modules")

static const struct member members[] = {
#define MEMBER(name, take, meta) {name, take, meta},
	MEMBERS(MEMBER)
#undef MEMBER
};

const char *const vpt_kineto_about_names[] = {
	"traceEvents",
#define MEMBER(name, take, meta) name,
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
