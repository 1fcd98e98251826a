/* resolver_maps.c - numbering. A chunk's own numbers are looked up once per chunk; after that an
 * event costs an array access. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"
#include "analysis/names/kernel_rules.h"
#include "analysis/names/range_names.h"

#include "analysis/model/adapter.h"
#include "analysis/model/launch_shape.h"
#include "analysis/model/unpacking.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum {
	/* Programs that build a new name for every range must not fill memory: names beyond this
	 * many, or this many bytes, all become one name. */
	NAMES_MAX = 1 << 18,
	NAMES_BYTES = 16 << 20,
	/* Each thread and stream has its own memory and is visited once per chunk: those beyond
	 * this limit share one. */
	LANES_MAX = 8192,
	PROCESSES_MAX = 256,
	DEVICES_MAX = 256
};

struct vpa_resolver_maps *vpa_maps_new(void)
{
	return vpt_calloc(1, sizeof(struct vpa_resolver_maps));
}

void vpa_maps_free(struct vpa_resolver_maps *m)
{
	if (!m)
		return;
	vpt_free(m->names);
	vpt_free(m->range_names);
	vpt_free(m->configs);
	vpa_index_free(&m->lanes);
	vpt_free(m->lane_of);
	vpt_free(m->kernel_of_name);
	vpt_free(m->classes);
	vpt_free(m);
}

static int is_full(const struct vpt_strings *names, size_t len)
{
	return names->count >= NAMES_MAX || names->size + len > NAMES_BYTES;
}

static int intern(struct vpa_resolver *r, const char *text, size_t len, uint32_t *name)
{
	struct vpt_strings *names = &r->model->names;
	uint64_t id;

	if (!names->count && vpt_strings_put(names, "", 0) == VPT_NO_ID)
		return VPT_ENOMEM;
	id = vpt_strings_find(names, text, len);
	if (id != VPT_NO_ID) {
		*name = (uint32_t)id;
		return VPT_OK;
	}
	if (r->sink.grow_names && r->sink.grow_names(r->sink.ctx))
		return VPT_ENOMEM;
	if (is_full(names, len)) {
		static const char many[] = "(too many different names)";

		r->names_left_out++;
		if (!r->maps->too_many) {
			id = vpt_strings_put(names, many, sizeof(many) - 1);
			if (id == VPT_NO_ID)
				return VPT_ENOMEM;
			r->maps->too_many = (uint32_t)id;
		}
		*name = r->maps->too_many;
		return VPT_OK;
	}
	id = vpt_strings_put(names, text, len);
	if (id == VPT_NO_ID)
		return VPT_ENOMEM;
	*name = (uint32_t)id;
	return VPT_OK;
}

int vpa_maps_new_name(
	struct vpa_resolver *r, const struct vpt_batch *b, uint64_t string, uint32_t *name)
{
	struct vpa_resolver_maps *m = r->maps;
	enum vpt_domain domain;
	struct vpt_text text;

	text = vpt_batch_text(b, string);
	if (intern(r, text.text, text.len, name))
		return VPT_ENOMEM;
	if (string < m->name_count)
		m->names[string] = *name;
	domain = vpt_domain_of(text);
	if (domain != VPT_DOMAINS)
		m->domains[domain] = *name;
	return VPT_OK;
}

/* Interns the full name of a range that is summed by a part of it. Beyond the limit only that part
 * is kept. */
static int record(struct vpa_resolver *r, struct vpt_text text, uint32_t *recorded)
{
	struct vpt_strings *names = &r->model->recorded;
	uint64_t id;

	*recorded = 0;
	if (is_full(names, text.len) && vpt_strings_find(names, text.text, text.len) == VPT_NO_ID)
		return VPT_OK;
	id = vpt_strings_put(names, text.text, text.len);
	if (id == VPT_NO_ID)
		return VPT_ENOMEM;
	*recorded = (uint32_t)id + 1;
	return VPT_OK;
}

int vpa_maps_new_range_name(struct vpa_resolver *r, const struct vpt_batch *b, uint64_t string,
	struct vpa_range_name *name)
{
	struct vpt_text text = vpt_batch_text(b, string);
	size_t len = vpa_range_name_len(text.text, text.len);
	int rc;

	name->is_wide = vpa_range_is_process_wide(text.text, len) != 0;
	name->like_operator = vpa_range_names_operator(text.text, len) != 0;
	name->loads = vpa_range_loads(text.text, len) != 0;
	name->mark = (uint16_t)vpa_marked_span_mark_of(text.text, len);
	if (len == text.len)
		rc = vpa_maps_name(r, b, string, &name->name);
	else
		rc = intern(r, text.text, len, &name->name) || record(r, text, &name->recorded);
	if (!rc && string < r->maps->name_count)
		r->maps->range_names[string] = *name;
	return rc ? VPT_ENOMEM : VPT_OK;
}

enum { SILENT = 0x80 };

/* Whether a name has one of these words, which end with NULL: some tools add a version. */
static int has_word(struct vpt_text name, const char *const *words)
{
	for (; *words; words++)
		if (memmem(name.text, name.len, *words, strlen(*words)))
			return 1;
	return 0;
}

/* Whether calls of this name put nothing on a device, though their class does not say so. Other
 * calls of class OTHER that are known only by name may do so, and are kept for long. */
static int is_silent(struct vpt_text name)
{
	static const char *const words[] = {"Attribute", "Get", "Set", "Create", "Destroy", NULL};

	return has_word(name, words);
}

/* The class of calls known only by name, computed once per name. */
static int find_class(
	struct vpa_resolver *r, uint32_t name, enum vpt_call_class *klass, int *silent)
{
	struct vpa_resolver_maps *m = r->maps;
	struct vpt_text text = vpa_name(r->model, name);

	if (vpt_grow_zeroed(&m->classes, &m->class_cap, (size_t)name + 1, sizeof(*m->classes)))
		return VPT_ENOMEM;
	if (!m->classes[name])
		m->classes[name] = (uint8_t)((1 + vpt_call_class_of(text.text, text.len)) |
					     (is_silent(text) ? SILENT : 0));
	*klass = (enum vpt_call_class)((m->classes[name] & (SILENT - 1)) - 1);
	*silent = (m->classes[name] & SILENT) != 0;
	return VPT_OK;
}

static uint8_t sets_up(enum vpt_call_class klass)
{
	return klass == VPT_CALL_MODULE_LOAD || klass == VPT_CALL_GRAPH_BUILD ||
	       klass == VPT_CALL_BEGIN_CAPTURE || klass == VPT_CALL_END_CAPTURE;
}

static uint8_t is_query(enum vpt_call_class klass)
{
	return klass == VPT_CALL_QUERY || klass == VPT_CALL_EVENT_RECORD;
}

/* Whether such a call only needs adding to the history. */
static int is_usual(enum vpt_call_class klass)
{
	return klass != VPT_CALL_SYNC && klass != VPT_CALL_BLOCKING_COPY &&
	       klass != VPT_CALL_STREAM_WAIT && !sets_up(klass);
}

/* The kind for this class, without its name; `known`: it has a number. */
static struct vpa_call_kind kind_of(enum vpt_call_class klass, int known)
{
	struct vpa_call_kind kind = {.known = 1,
		.launches = vpt_call_launches(klass) != 0,
		.blocks = klass == VPT_CALL_SYNC || klass == VPT_CALL_BLOCKING_COPY,
		.queries = is_query(klass),
		.sets_up = sets_up(klass),
		.usual = known && is_usual(klass)};

	/* Other calls known only by name may put work on a device, and are kept for long. */
	kind.unknown = !known && klass == VPT_CALL_OTHER;
	kind.call.klass = (uint8_t)klass;
	kind.call.state = kind.queries ? VPA_CALL_NONE : kind.launches ? VPA_CALL_MISSED : 0;
	/* The number of ops of a graph launch is unknown, so it waits its full time. */
	if (kind.launches && klass != VPT_CALL_GRAPH_LAUNCH)
		kind.call.state |= VPA_CALL_WAITS;
	return kind;
}

/* What a call that blocks waits for, by its name. */
static void find_wait(const struct vpa_resolver *r, struct vpa_call_kind *kind)
{
	static const char *const all[] = {
		"DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize", NULL};
	static const char *const event[] = {"EventSynchronize", NULL};
	struct vpt_text name = vpa_name(r->model, kind->call.name);

	kind->for_all = kind->blocks && has_word(name, all);
	kind->for_event = kind->blocks && has_word(name, event);
}

int vpa_maps_call_kind(struct vpa_resolver *r, const struct vpt_batch *b, uint64_t id,
	uint64_t string, struct vpa_call_kind *kind)
{
	struct vpa_resolver_maps *m = r->maps;
	const char *known;
	enum vpt_call_class klass;

	if (!string && id < 256 && m->call_kinds[id].known) {
		*kind = m->call_kinds[id];
		return VPT_OK;
	}
	known = id < UINT32_MAX ? vpt_call_name((uint32_t)id) : NULL;
	klass = vpt_call_class(id < UINT32_MAX ? (uint32_t)id : 0);
	if (string || id >= 256) {
		uint32_t name;
		int silent = 0;

		if (vpa_maps_name(r, b, string, &name) ||
			(!known && find_class(r, name, &klass, &silent)))
			return VPT_ENOMEM;
		*kind = kind_of(klass, known != NULL);
		kind->unknown &= (uint8_t)!silent;
		kind->call.name = name;
		find_wait(r, kind);
		return VPT_OK;
	}
	*kind = kind_of(klass, known != NULL);
	known = known ? known : "unknown call";
	if (intern(r, known, strlen(known), &kind->call.name))
		return VPT_ENOMEM;
	find_wait(r, kind);
	m->call_kinds[id] = *kind;
	return VPT_OK;
}

static enum vpa_role role_of(const struct vpa_kernel *kernel)
{
	switch (kernel->klass.family) {
	case VPA_FAMILY_GEMM:
		return VPA_ROLE_GEMM;
	case VPA_FAMILY_CONV:
		return VPA_ROLE_CONV;
	case VPA_FAMILY_EAGER_SOFTMAX:
		return VPA_ROLE_SOFTMAX;
	case VPA_FAMILY_ATTENTION_AUX:
		return VPA_ROLE_AUX;
	default:
		return kernel->is_attention ? VPA_ROLE_FUSED
		       : kernel->is_glue    ? VPA_ROLE_GLUE
					    : VPA_ROLE_OTHER;
	}
}

static uint8_t traits_of(const struct vpa_kernel *kernel, struct vpt_text name)
{
	const struct vpa_kernel_class *k = &kernel->klass;
	uint8_t traits = vpa_adapter_part(k, name);

	if (vpa_is_fusible(k))
		traits |= VPA_TRAIT_FUSIBLE;
	if (vpa_unpacking_part(k, name) == VPA_UNPACKING_BEGINS)
		traits |= VPA_TRAIT_UNPACKS;
	if (vpa_is_marked(k->marks, VPA_MARK_CAT) || vpa_is_marked(k->marks, VPA_MARK_CAST))
		traits |= VPA_TRAIT_MOVES;
	return traits;
}

/* The kernel with a name, classified on first use. The products of a nameless compiler are a kernel of
 * their own. */
static int kernel_of(struct vpa_resolver *r, uint32_t name, int is_product, uint32_t *kernel)
{
	size_t at = 2 * (size_t)name + (is_product != 0);
	struct vpa_resolver_maps *m = r->maps;
	struct vpa_model *model = r->model;
	struct vpt_text text = vpa_name(model, name);
	struct vpa_kernel *k;

	if (vpt_grow_zeroed(&m->kernel_of_name, &m->kernel_of_name_cap, at + 1, sizeof(uint32_t)))
		return VPT_ENOMEM;
	if (!m->kernel_of_name[at]) {
		if (vpa_resolver_let_grow(r) || vpt_grow(&model->kernels, &model->kernel_cap,
							model->kernel_count + 1, sizeof(*k)))
			return VPT_ENOMEM;
		k = &model->kernels[model->kernel_count++];
		k->name = name;
		vpa_rules_classify(r->rules, text.text, text.len, &k->klass);
		if (is_product)
			k->klass.family = VPA_FAMILY_GEMM;
		k->is_comm = vpa_family_is_comm(k->klass.family) != 0;
		k->is_attention = vpa_family_is_attention(k->klass.family) != 0;
		k->is_glue = vpa_family_is_glue(k->klass.family) != 0;
		k->role = (uint8_t)role_of(k);
		k->traits = traits_of(k, text);
		m->kernel_of_name[at] = (uint32_t)model->kernel_count;
	}
	*kernel = m->kernel_of_name[at] - 1;
	return VPT_OK;
}

static uint32_t block_count(const struct vpt_section *s, uint64_t row)
{
	uint64_t x = s->col[VPT_CONFIG_GRID_X][row], y = s->col[VPT_CONFIG_GRID_Y][row];
	uint64_t z = s->col[VPT_CONFIG_GRID_Z][row], n;

	if (__builtin_mul_overflow(x, y, &n) || __builtin_mul_overflow(n, z, &n) || n > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)n;
}

static int is_product(const struct vpt_section *s, uint64_t row)
{
	return vpa_is_product_shape(vpt_sat_add(s->col[VPT_CONFIG_STATIC_SHARED][row],
					    s->col[VPT_CONFIG_DYNAMIC_SHARED][row]),
		s->col[VPT_CONFIG_REGISTERS][row]);
}

/* Which launch it is among those of the trace. */
static int launch_shape(struct vpa_resolver *r, const struct vpt_section *s, uint64_t row,
	struct vpa_config_entry *entry)
{
	struct vpa_launch_shape shape = vpa_launch_shape_of(s, row);

	shape.kernel = entry->kernel;
	return vpa_launch_shape_put(&r->model->shapes, &shape, &entry->shape);
}

int vpa_maps_new_config(void *resolver, uint64_t config, struct vpa_config_entry *entry)
{
	struct vpa_resolver *r = resolver;
	const struct vpt_section *s = vpt_batch_find(r->batch, VPT_CONFIG);
	int is_there = s && config < s->row_count;
	const struct vpa_kernel *kernel;
	uint32_t name;

	/* The file may refer to a row that does not exist. */
	if (is_there ? vpa_maps_name(r, r->batch, s->col[VPT_CONFIG_NAME][config], &name)
		     : intern(r, "?", 1, &name))
		return VPT_ENOMEM;
	if (kernel_of(r, name, 0, &entry->kernel))
		return VPT_ENOMEM;
	kernel = &r->model->kernels[entry->kernel];
	if (vpa_is_marked(kernel->klass.marks, VPA_MARK_NAMELESS) && is_there &&
		is_product(s, config) && kernel_of(r, name, 1, &entry->kernel))
		return VPT_ENOMEM;
	kernel = &r->model->kernels[entry->kernel];
	entry->blocks = is_there ? block_count(s, config) : 0;
	entry->shape = VPA_NONE;
	if (is_there && launch_shape(r, s, config, entry))
		return VPT_ENOMEM;
	entry->state = is_there && kernel->is_comm ? VPA_CONFIG_COMM : VPA_CONFIG_PLAIN;
	entry->family = (uint8_t)kernel->klass.family;
	entry->role = kernel->role;
	entry->traits = kernel->traits;
	if (is_there)
		r->maps->configs[config] = *entry;
	return VPT_OK;
}

/* ---- lanes ---- */

static int device_index(struct vpa_model *m, int64_t ordinal, uint32_t *index)
{
	*index = vpa_find_device(m, ordinal);
	if (*index != VPA_NONE)
		return VPT_OK;
	/* No machine has this many; the rest of a file that claims more becomes "unknown". */
	if (m->device_count == DEVICES_MAX)
		ordinal = -1;
	else if (m->device_count > DEVICES_MAX) {
		*index = DEVICES_MAX;
		return VPT_OK;
	}
	if (vpt_grow(&m->devices, &m->device_cap, m->device_count + 1, sizeof(*m->devices)))
		return VPT_ENOMEM;
	m->devices[m->device_count] = ordinal;
	*index = (uint32_t)m->device_count++;
	return VPT_OK;
}

static int process_index(struct vpa_resolver *r, int64_t pid, uint32_t *index)
{
	uint32_t i;

	/* As with devices: the rest becomes one unknown process. */
	if (r->process_count >= PROCESSES_MAX)
		pid = -1;
	for (i = 0; i < r->process_count; i++)
		if (r->processes[i].pid == pid) {
			*index = i;
			return VPT_OK;
		}
	if (vpt_grow(&r->processes, &r->process_cap, r->process_count + 1, sizeof(*r->processes)))
		return VPT_ENOMEM;
	r->processes[r->process_count] = (struct vpa_process){.pid = pid,
		.main_thread = VPA_NONE,
		.first_id = UINT64_MAX,
		.captured_from_ns = UINT64_MAX,
		.ranges = {.is_wide = 1}};
	*index = (uint32_t)r->process_count++;
	return VPT_OK;
}

static int new_thread(struct vpa_resolver *r, uint64_t key, int64_t pid, int64_t tid, uint32_t name)
{
	struct vpa_model *m = r->model;
	struct vpa_thread *t;
	size_t need = m->thread_count + 1;

	if (vpa_resolver_let_grow(r) ||
		vpt_grow(&m->threads, &m->thread_cap, need, sizeof(*m->threads)) ||
		vpt_grow(&r->pasts, &r->past_cap, need, sizeof(*r->pasts)))
		return VPT_ENOMEM;
	t = &m->threads[m->thread_count];
	*t = (struct vpa_thread){.key = key, .pid = pid, .tid = tid, .name = name};
	r->pasts[m->thread_count] = (struct vpa_thread_past){.submitted = VPA_NOWHERE};
	if (process_index(r, pid, &t->process))
		return VPT_ENOMEM;
	if (tid == pid && tid > 0)
		r->processes[t->process].main_thread = (uint32_t)m->thread_count;
	m->thread_count++;
	return VPT_OK;
}

/* Adds a thread, or returns the one that stands for all beyond the limit. */
static int add_thread(struct vpa_resolver *r, uint64_t key, int64_t pid, int64_t tid, uint32_t name,
	uint32_t *index)
{
	struct vpa_model *m = r->model;

	*index = (uint32_t)(m->thread_count < LANES_MAX ? m->thread_count : LANES_MAX);
	if (m->thread_count < LANES_MAX)
		return new_thread(r, key, pid, tid, name);
	r->lanes_left_out++;
	return m->thread_count > LANES_MAX ? VPT_OK : new_thread(r, 0, -1, -1, 0);
}

static int new_stream(struct vpa_resolver *r, uint64_t key, int64_t pid, int64_t device,
	uint64_t context, int64_t stream)
{
	struct vpa_model *m = r->model;
	struct vpa_stream *s;
	size_t need = m->stream_count + 1;

	if (vpa_resolver_let_grow(r) ||
		vpt_grow(&m->streams, &m->stream_cap, need, sizeof(*m->streams)) ||
		vpt_grow(&r->waits, &r->waits_cap, need, sizeof(*r->waits)) ||
		vpt_grow(&r->backlogs, &r->backlog_cap, need, sizeof(*r->backlogs)))
		return VPT_ENOMEM;
	s = &m->streams[m->stream_count];
	*s = (struct vpa_stream){.key = key, .pid = pid, .stream = stream, .context = context};
	memset(&r->waits[m->stream_count], 0, sizeof(*r->waits));
	r->backlogs[m->stream_count] = (struct vpa_backlog){0};
	if (device_index(m, device, &s->device))
		return VPT_ENOMEM;
	m->stream_count++;
	return VPT_OK;
}

/* The same for a stream. */
static int add_stream(struct vpa_resolver *r, uint64_t key, int64_t pid, int64_t device,
	uint64_t context, int64_t stream, uint32_t *index)
{
	struct vpa_model *m = r->model;

	*index = (uint32_t)(m->stream_count < LANES_MAX ? m->stream_count : LANES_MAX);
	if (m->stream_count < LANES_MAX)
		return new_stream(r, key, pid, device, context, stream);
	r->lanes_left_out++;
	return m->stream_count > LANES_MAX ? VPT_OK : new_stream(r, 0, -1, -1, 0, -1);
}

static int add_lane(struct vpa_resolver *r, uint64_t key, uint8_t type, uint32_t index)
{
	struct vpa_resolver_maps *m = r->maps;
	uint32_t row =
		vpa_index_row(&m->lanes, key, type, &m->lane_of, &m->lane_cap, sizeof(*m->lane_of));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	m->lane_of[row] = index;
	return VPT_OK;
}

/* Finds a lane of this type; makes one up if no LANE row describes it, or describes it as something
 * else. Key 0 means no lane and gets one of each type. */
static int find_lane(struct vpa_resolver *r, uint64_t key, uint8_t type, uint32_t *index)
{
	uint32_t row = vpa_index_find(&r->maps->lanes, key, type);
	int rc;

	if (row != UINT32_MAX) {
		*index = r->maps->lane_of[row];
		return VPT_OK;
	}
	if (type == VPT_LANETYPE_THREAD)
		rc = add_thread(r, key, -1, -1, 0, index);
	else
		rc = add_stream(r, key, -1, -1, 0, -1, index);
	return rc ? rc : add_lane(r, key, type, *index);
}

uint32_t vpa_maps_find(const struct vpa_resolver *r, uint64_t key, uint8_t type)
{
	uint32_t row = key ? vpa_index_find(&r->maps->lanes, key, type) : UINT32_MAX;

	return row != UINT32_MAX ? r->maps->lane_of[row] : VPA_NONE;
}

int vpa_maps_thread(struct vpa_resolver *r, uint64_t key, uint32_t *index)
{
	struct vpa_unsettled *u = &r->threads;
	int rc = find_lane(r, key, VPT_LANETYPE_THREAD, index);

	if (rc || r->pasts[*index].is_unsettled)
		return rc;
	if (vpt_grow(&u->items, &u->cap, u->count + 1, sizeof(*u->items)))
		return VPT_ENOMEM;
	u->items[u->count++] = *index;
	r->pasts[*index].is_unsettled = 1;
	return VPT_OK;
}

int vpa_maps_stream(struct vpa_resolver *r, uint64_t key, uint32_t *index)
{
	return find_lane(r, key, VPT_LANETYPE_STREAM, index);
}

static int read_lane(struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s,
	uint32_t row)
{
	uint64_t key = s->col[VPT_LANE_KEY][row], type = s->col[VPT_LANE_LANE_TYPE][row];
	int64_t pid = (int64_t)s->col[VPT_LANE_PID][row];
	uint32_t index, name;
	int rc;

	if ((type != VPT_LANETYPE_THREAD && type != VPT_LANETYPE_STREAM) || !key)
		return VPT_OK;
	if (vpa_index_find(&r->maps->lanes, key, type) != UINT32_MAX)
		return VPT_OK;
	rc = vpa_maps_name(r, b, s->col[VPT_LANE_NAME][row], &name);
	if (rc)
		return rc;
	if (type == VPT_LANETYPE_THREAD)
		rc = add_thread(r, key, pid, (int64_t)s->col[VPT_LANE_TID][row], name, &index);
	else
		rc = add_stream(r, key, pid, (int64_t)s->col[VPT_LANE_DEVICE][row],
			s->col[VPT_LANE_CONTEXT][row], (int64_t)s->col[VPT_LANE_STREAM][row],
			&index);
	return rc ? rc : add_lane(r, key, (uint8_t)type, index);
}

int vpa_maps_begin_chunk(struct vpa_resolver *r, const struct vpt_batch *b)
{
	struct vpa_resolver_maps *m = r->maps;
	const struct vpt_section *lanes = vpt_batch_find(b, VPT_LANE),
				 *configs = vpt_batch_find(b, VPT_CONFIG);
	size_t config_count = configs ? configs->row_count : 0;
	uint32_t row;
	int rc = VPT_OK;

	r->batch = b;
	if (vpt_grow(&m->names, &m->name_cap, b->strings.count, sizeof(*m->names)) ||
		vpt_grow(&m->range_names, &m->range_name_cap, b->strings.count,
			sizeof(*m->range_names)) ||
		vpt_grow(&m->configs, &m->config_cap, config_count, sizeof(*m->configs)))
		return VPT_ENOMEM;
	m->name_count = b->strings.count;
	if (m->name_count) {
		memset(m->names, 0xff, m->name_count * sizeof(*m->names));
		memset(m->range_names, 0xff, m->name_count * sizeof(*m->range_names));
	}
	m->config_count = config_count;
	if (config_count)
		memset(m->configs, 0, config_count * sizeof(*m->configs));
	r->queue.configs =
		(struct vpa_op_configs){m->configs, config_count, vpa_maps_new_config, r};
	for (row = 0; lanes && !rc && row < lanes->row_count; row++)
		rc = read_lane(r, b, lanes, row);
	return rc;
}
