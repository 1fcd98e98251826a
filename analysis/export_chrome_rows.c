/* export_chrome_rows.c - rows as events of PyTorch's profiler.
 *
 * What all rows of a section have in common, where they stand and the words for their lane, is laid out once; so are
 * names and launch configurations, once a chunk. A row is then mostly copying.
 *
 * Rows of the same start and end are written in the opposite order: of those the first is the innermost in a capture,
 * and the outermost in a file of the profiler's. */
#include "analysis/export_chrome_parts.h"

#include "analysis/demangle.h"
#include "formats/calls.h"

#include <ctype.h>

typedef void put_fn(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row);

static void words(struct vpa_chrome *x, const char *text)
{
	vpa_line_words(&x->out, text);
}

/* ---- members ---- */

/* JSON readers keep whole numbers up to 2^63; what is larger goes as text. */
static void put_natural(struct vpa_line *l, uint64_t value)
{
	int quoted = value > INT64_MAX;

	vpa_line_put(l, "\"", (size_t)quoted);
	vpa_line_unsigned(l, value);
	vpa_line_put(l, "\"", (size_t)quoted);
}

static void natural(struct vpa_line *l, const char *label, uint64_t value)
{
	vpa_line_words(l, label);
	put_natural(l, value);
}

/* A member that is left out where it is 0. */
static void optional(struct vpa_line *l, const char *label, uint64_t value)
{
	if (value)
		natural(l, label, value);
}

static void integer(struct vpa_line *l, const char *label, uint64_t value)
{
	vpa_line_words(l, label);
	vpa_line_signed(l, value);
}

static void put_times(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	vpa_chrome_time(x, s->col[0][row]);
	words(x, ",\"dur\":");
	vpa_line_micros(&x->out, s->col[1][row]);
}

/* The event so far: phase, category and a name to come; then the place and the times. */
static void begin(struct vpa_chrome *x, const char *phase_and_category)
{
	vpa_chrome_event(x);
	words(x, phase_and_category);
	words(x, ",\"name\":");
}

static void put_place(struct vpa_chrome *x)
{
	vpa_line_put(&x->out, x->place.data, x->place.size);
}

static void begin_args(struct vpa_chrome *x)
{
	words(x, ",\"args\":{");
	vpa_line_put(&x->out, x->args.data, x->args.size);
}

static void end_args(struct vpa_chrome *x)
{
	words(x, "}}");
}

/* ---- flow arrows ---- */

/* From a launch to its op. What the section's place says is where it stands. */
static void put_flow(struct vpa_chrome *x, const char *begin_with, uint64_t correlation,
	uint64_t time_ns, const char *end_with)
{
	vpa_chrome_event(x);
	natural(&x->out, begin_with, correlation + x->flow_base);
	put_place(x);
	vpa_chrome_time(x, time_ns);
	words(x, end_with);
}

static void flow_ends(struct vpa_chrome *x, uint64_t correlation, uint64_t time_ns)
{
	if (correlation)
		put_flow(x, "{\"ph\":\"f\",\"id\":", correlation, time_ns,
			",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\"}");
}

/* ---- lanes ---- */

/* Whose flows these are: 0 for the first process met, and for those that are not known, so that ids are the
 * profiler's own. */
static uint64_t flow_base(struct vpa_chrome *x, uint64_t pid)
{
	enum { PROCESS_SHIFT = 40 };

	return pid == UINT64_MAX ? 0 : (uint64_t)vpa_index_put(&x->pids, pid, 1) << PROCESS_SHIFT;
}

static int is_new(struct vpa_chrome *x, uint64_t a, uint64_t b)
{
	size_t before = x->named.count;

	vpa_index_put(&x->named, a, b);
	return x->named.count != before;
}

static void name_event(struct vpa_chrome *x, const char *what, uint64_t pid, uint64_t tid)
{
	vpa_chrome_event(x);
	words(x, "{\"ph\":\"M\",\"name\":\"");
	words(x, what);
	integer(&x->out, "\",\"pid\":", pid);
	integer(&x->out, ",\"tid\":", tid);
	words(x, ",\"args\":{");
}

/* The program's name, of the command that is known of the run. */
static struct vpt_text command(const struct vpa_chrome *x)
{
	const struct vpa_report *r = x->view.report;
	struct vpt_text text = {"process", 7};
	size_t i;

	for (i = 0; i < r->meta_count; i++) {
		const char *value = r->meta[i].value, *slash;

		if (strcmp(r->meta[i].key, "command") || !*value)
			continue;
		text.text = value;
		text.len = strcspn(value, " ");
		slash = memrchr(value, '/', text.len);
		if (slash) {
			text.len -= (size_t)(slash + 1 - value);
			text.text = slash + 1;
		}
	}
	return text;
}

enum { NAMES_PROCESS = 1ull << 62, NAMES_DEVICE = 1ull << 61 };

static void name_process(struct vpa_chrome *x, uint64_t pid, int is_device)
{
	enum { BEHIND_PROCESSES = 5000000 };
	struct vpt_text text = command(x);

	if (!is_new(x, pid, (uint64_t)(is_device ? NAMES_DEVICE : NAMES_PROCESS)))
		return;
	name_event(x, "process_name", pid, 0);
	words(x, "\"name\":");
	vpa_line_json(&x->out, text.text, text.len);
	end_args(x);
	name_event(x, "process_labels", pid, 0);
	words(x, is_device ? "\"labels\":\"GPU " : "\"labels\":\"CPU");
	if (is_device)
		vpa_line_signed(&x->out, pid);
	words(x, "\"");
	end_args(x);
	name_event(x, "process_sort_index", pid, 0);
	integer(&x->out, "\"sort_index\":", is_device ? BEHIND_PROCESSES + pid : pid);
	end_args(x);
}

static void name_lane(
	struct vpa_chrome *x, uint64_t pid, uint64_t tid, uint64_t name, int is_stream)
{
	if ((!name && !is_stream) ||
		!is_new(x, pid, tid + (uint64_t)(is_stream ? NAMES_DEVICE : 0)))
		return;
	name_event(x, "thread_name", pid, tid);
	words(x, "\"name\":");
	if (name) {
		vpa_chrome_string(x, &x->out, name);
	} else {
		words(x, "\"stream ");
		vpa_line_signed(&x->out, tid);
		words(x, "\"");
	}
	end_args(x);
}

static uint64_t lane_value(const struct vpa_chrome *x, uint32_t row, unsigned column)
{
	static const uint64_t unknown[VPT_LANE_COLUMNS] = {[VPT_LANE_PID] = UINT64_MAX,
		[VPT_LANE_TID] = UINT64_MAX,
		[VPT_LANE_DEVICE] = UINT64_MAX,
		[VPT_LANE_STREAM] = UINT64_MAX};

	return row == UINT32_MAX ? unknown[column] : x->lanes.section->col[column][row];
}

static void put_place_of(struct vpa_line *l, uint64_t pid, uint64_t tid)
{
	l->size = 0;
	integer(l, ",\"pid\":", pid);
	integer(l, ",\"tid\":", tid);
	vpa_line_words(l, ",\"ts\":");
}

/* What the lane `key` is, among the arguments; every member ends with a comma. */
static void put_lane_args(struct vpa_chrome *x, struct vpa_line *l, uint32_t lane)
{
	uint64_t pid = lane_value(x, lane, VPT_LANE_PID);

	if (lane_value(x, lane, VPT_LANE_LANE_TYPE) == VPT_LANETYPE_THREAD) {
		integer(l, "\"process\":", pid);
		integer(l, ",\"thread\":", lane_value(x, lane, VPT_LANE_TID));
		vpa_line_words(l, ",");
		return;
	}
	integer(l, "\"device\":", lane_value(x, lane, VPT_LANE_DEVICE));
	natural(l, ",\"context\":", lane_value(x, lane, VPT_LANE_CONTEXT));
	integer(l, ",\"stream\":", lane_value(x, lane, VPT_LANE_STREAM));
	if (pid != UINT64_MAX)
		integer(l, ",\"process\":", pid);
	vpa_line_words(l, ",");
}

static void begin_stream(struct vpa_chrome *x, uint32_t lane)
{
	uint64_t device = lane_value(x, lane, VPT_LANE_DEVICE);
	uint64_t stream = lane_value(x, lane, VPT_LANE_STREAM);

	x->flow_base = flow_base(x, lane_value(x, lane, VPT_LANE_PID));
	name_process(x, device, 1);
	name_lane(x, device, stream, lane_value(x, lane, VPT_LANE_NAME), 1);
	put_place_of(&x->place, device, stream);
	put_lane_args(x, &x->args, lane);
}

static void begin_thread(struct vpa_chrome *x, uint32_t lane)
{
	uint64_t pid = lane_value(x, lane, VPT_LANE_PID), tid = lane_value(x, lane, VPT_LANE_TID);

	x->flow_base = flow_base(x, pid);
	name_process(x, pid, 0);
	name_lane(x, pid, tid, lane_value(x, lane, VPT_LANE_NAME), 0);
	put_place_of(&x->place, pid, tid);
}

static void begin_section(struct vpa_chrome *x, const struct vpt_section *s)
{
	uint32_t lane = s->lane ? vpa_chunk_lane(&x->lanes, s->lane) : UINT32_MAX;
	unsigned use = vpt_kind_desc(s->kind)->lanes;

	x->args.size = 0;
	if (use == VPT_LANES_ANY && s->lane)
		use = lane_value(x, lane, VPT_LANE_LANE_TYPE) == VPT_LANETYPE_THREAD
			      ? VPT_LANES_THREAD
			      : VPT_LANES_STREAM;
	if (use == VPT_LANES_STREAM)
		begin_stream(x, lane);
	else if (use == VPT_LANES_THREAD)
		begin_thread(x, lane);
	else
		put_place_of(&x->place, lane_value(x, lane, VPT_LANE_DEVICE), 0);
	if (use == VPT_LANES_THREAD && vpt_kind_desc(s->kind)->lanes == VPT_LANES_ANY)
		put_lane_args(x, &x->args, lane);
}

/* ---- kernels ---- */

static void put_triple(struct vpa_line *l, const char *label, const struct vpt_section *s,
	unsigned column, uint32_t row)
{
	natural(l, label, s->col[column][row]);
	natural(l, ",", s->col[column + 1][row]);
	natural(l, ",", s->col[column + 2][row]);
	vpa_line_words(l, "]");
}

static void put_config(struct vpa_line *l, const struct vpt_section *s, uint32_t row)
{
	uint64_t fixed = s->col[VPT_CONFIG_STATIC_SHARED][row],
		 dynamic = s->col[VPT_CONFIG_DYNAMIC_SHARED][row];

	natural(l, ",\"registers per thread\":", s->col[VPT_CONFIG_REGISTERS][row]);
	natural(l, ",\"shared memory\":", fixed + dynamic);
	put_triple(l, ",\"grid\":[", s, VPT_CONFIG_GRID_X, row);
	put_triple(l, ",\"block\":[", s, VPT_CONFIG_BLOCK_X, row);
	optional(l, ",\"dynamic shared memory\":", dynamic);
	optional(l, ",\"local memory per thread\":", s->col[VPT_CONFIG_LOCAL][row]);
	if (s->col[VPT_CONFIG_CLUSTER_X][row])
		put_triple(l, ",\"cluster\":[", s, VPT_CONFIG_CLUSTER_X, row);
	optional(l, ",\"graph id\":", s->col[VPT_CONFIG_GRAPH][row]);
}

static int is_mangled(struct vpt_text t)
{
	return t.len > 2 && !memcmp(t.text, "_Z", 2);
}

/* A name for people, as the profiler writes it. */
static void put_kernel_name(struct vpa_chrome *x, struct vpa_line *l, struct vpt_text t)
{
	const char *text, *name;

	if (!is_mangled(t)) {
		vpa_line_json(l, t.text, t.len);
		return;
	}
	text = vpa_arena_text(&x->arena, t.text, t.len);
	name = vpa_demangle(&x->arena, text);
	vpa_line_json(l, name, strlen(name));
	l->failed |= x->arena.failed;
	vpa_arena_free(&x->arena);
}

static struct vpt_text config_name(const struct vpa_chrome *x, uint64_t config)
{
	return vpt_batch_text(x->batch, x->configs->col[VPT_CONFIG_NAME][config]);
}

static void kernel_name(struct vpa_chrome *x, uint64_t config)
{
	struct vpa_pieces *p = &x->kernel_names;
	size_t at;

	if (config >= p->count) {
		words(x, "\"?\"");
		return;
	}
	if (vpa_pieces_put(p, config, &x->out))
		return;
	at = vpa_pieces_begin(p);
	put_kernel_name(x, &p->text, config_name(x, config));
	vpa_pieces_end(p, config, at, &x->out);
}

static void kernel_args(struct vpa_chrome *x, uint64_t config)
{
	struct vpa_pieces *p = &x->kernel_args;
	size_t at;

	if (config >= p->count || vpa_pieces_put(p, config, &x->out))
		return;
	at = vpa_pieces_begin(p);
	put_config(&p->text, x->configs, (uint32_t)config);
	if (is_mangled(config_name(x, config))) {
		vpa_line_words(&p->text, ",\"mangled name\":");
		vpa_line_json(&p->text, config_name(x, config).text, config_name(x, config).len);
	}
	vpa_pieces_end(p, config, at, &x->out);
}

static void put_kernel(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t config = s->col[VPT_KERNEL_CONFIG][row];
	uint64_t correlation = s->col[VPT_KERNEL_CORRELATION][row];

	begin(x, "{\"ph\":\"X\",\"cat\":\"kernel\"");
	kernel_name(x, config);
	put_place(x);
	put_times(x, s, row);
	begin_args(x);
	natural(&x->out, "\"correlation\":", correlation);
	kernel_args(x, config);
	optional(&x->out, ",\"graph node id\":", s->col[VPT_KERNEL_GRAPH_NODE][row]);
	end_args(x);
	flow_ends(x, correlation, s->col[VPT_KERNEL_START][row]);
	x->totals.kernels++;
}

/* ---- copies ---- */

/* "pageable" as the profiler writes it: "Pageable". */
static void put_memory(struct vpa_line *l, uint64_t memory)
{
	const char *word = vpt_word(VPT_UNIT_MEMORY_KIND, memory);
	char first;

	word = word ? word : "unknown";
	first = (char)toupper((unsigned char)*word);
	vpa_line_put(l, &first, 1);
	vpa_line_words(l, word + 1);
}

static void copy_name(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t kind = s->col[VPT_COPY_COPY_KIND][row];
	const char *word = vpt_word(VPT_UNIT_COPY_KIND, kind);

	if (kind == VPT_COPYKIND_MEMSET) {
		words(x, "\"Memset (");
	} else {
		words(x, "\"Memcpy ");
		words(x, word ? word : "unknown");
		words(x, " (");
		put_memory(&x->out, s->col[VPT_COPY_SOURCE_MEMORY][row]);
		words(x, " -> ");
	}
	put_memory(&x->out, s->col[VPT_COPY_TARGET_MEMORY][row]);
	words(x, ")\"");
}

static void put_copy(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t correlation = s->col[VPT_COPY_CORRELATION][row];
	uint64_t bytes = s->col[VPT_COPY_BYTES][row], ns = s->col[VPT_COPY_DURATION][row];
	int is_memset = s->col[VPT_COPY_COPY_KIND][row] == VPT_COPYKIND_MEMSET;

	begin(x, is_memset ? "{\"ph\":\"X\",\"cat\":\"gpu_memset\""
			   : "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\"");
	copy_name(x, s, row);
	put_place(x);
	put_times(x, s, row);
	begin_args(x);
	natural(&x->out, "\"correlation\":", correlation);
	natural(&x->out, ",\"bytes\":", bytes);
	if (ns && ns <= INT64_MAX) {
		words(x, ",\"memory bandwidth (GB/s)\":");
		/* Three decimals take the writer's fast way. */
		vpa_line_double(&x->out, (double)(bytes * 1000 / ns) / 1000);
	}
	optional(&x->out, ",\"graph node id\":", s->col[VPT_COPY_GRAPH_NODE][row]);
	optional(&x->out, ",\"asynchronous\":", s->col[VPT_COPY_ASYNCHRONOUS][row]);
	optional(&x->out, ",\"value\":", s->col[VPT_COPY_VALUE][row]);
	if (s->col[VPT_COPY_PEER][row])
		natural(&x->out, ",\"peer device\":", s->col[VPT_COPY_PEER][row] - 1);
	end_args(x);
	flow_ends(x, correlation, s->col[VPT_COPY_START][row]);
	x->totals.copies++;
}

/* ---- calls ---- */

static int is_driver(const char *name, size_t len)
{
	return len > 2 && !memcmp(name, "cu", 2) && isupper((unsigned char)name[2]);
}

static void put_call(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t id = s->col[VPT_CALL_ID][row], own = s->col[VPT_CALL_NAME][row];
	uint64_t correlation = s->col[VPT_CALL_CORRELATION][row];
	const char *known = vpt_call_name(id > UINT32_MAX ? 0 : (uint32_t)id);
	struct vpt_text name = {known ? known : "", known ? strlen(known) : 0};

	if (own)
		name = vpt_batch_text(x->batch, own);
	begin(x, is_driver(name.text, name.len) ? "{\"ph\":\"X\",\"cat\":\"cuda_driver\""
						: "{\"ph\":\"X\",\"cat\":\"cuda_runtime\"");
	if (own) {
		vpa_chrome_string(x, &x->out, own);
	} else {
		words(x, "\"");
		vpa_line_put(&x->out, name.text, name.len);
		words(x, "\"");
	}
	put_place(x);
	put_times(x, s, row);
	begin_args(x);
	natural(&x->out, "\"correlation\":", correlation);
	if (s->col[VPT_CALL_RESULT][row])
		integer(&x->out, ",\"result\":", s->col[VPT_CALL_RESULT][row]);
	end_args(x);
	if (correlation && known && vpt_call_launches(vpt_call_class((uint32_t)id)))
		put_flow(x, "{\"ph\":\"s\",\"id\":", correlation, s->col[VPT_CALL_START][row],
			",\"cat\":\"ac2g\",\"name\":\"ac2g\"}");
	x->totals.calls++;
}

/* ---- ranges and marks ---- */

/* What a range, an open one and a mark have in common, by their column. */
struct nvtx_columns {
	int kind, domain, category, colour, payload, value, schema; /* -1: it has none */
};

static const struct nvtx_columns range_columns = {VPT_RANGE_RANGE_KIND, VPT_RANGE_DOMAIN,
	VPT_RANGE_CATEGORY, VPT_RANGE_COLOUR, VPT_RANGE_PAYLOAD, VPT_RANGE_VALUE, VPT_RANGE_SCHEMA};
static const struct nvtx_columns open_columns = {
	VPT_OPEN_RANGE_KIND, VPT_OPEN_DOMAIN, -1, -1, VPT_OPEN_PAYLOAD, VPT_OPEN_VALUE, -1};
static const struct nvtx_columns mark_columns = {-1, VPT_MARK_DOMAIN, VPT_MARK_CATEGORY,
	VPT_MARK_COLOUR, VPT_MARK_PAYLOAD, VPT_MARK_VALUE, VPT_MARK_SCHEMA};

static uint64_t column(const struct vpt_section *s, int index, uint32_t row)
{
	return index < 0 ? 0 : s->col[index][row];
}

static void put_real(struct vpa_line *l, uint64_t type, uint64_t bits)
{
	uint32_t narrow_bits = (uint32_t)bits;
	float narrow;
	double wide;

	memcpy(&wide, &bits, sizeof(wide));
	if (type == VPT_PAYLOAD_FLOAT) {
		memcpy(&narrow, &narrow_bits, sizeof(narrow));
		wide = (double)narrow;
	}
	vpa_line_double(l, wide);
}

/* The payload for people; where that does not hold all of its bits, they stand beside it. */
static void put_payload(struct vpa_chrome *x, struct vpa_line *l, uint64_t type, uint64_t value)
{
	const char *word = vpt_word(VPT_UNIT_PAYLOAD, type);
	struct vpt_text blob;
	size_t i;

	if (!type || !word)
		return;
	vpa_line_words(l, "\"payload type\":\"");
	vpa_line_words(l, word);
	vpa_line_words(l, "\",\"payload\":");
	switch (type) {
	case VPT_PAYLOAD_JSON:
		vpa_chrome_string(x, l, value);
		break;
	case VPT_PAYLOAD_BLOB:
		blob = vpt_batch_text(x->batch, value);
		vpa_line_words(l, "\"");
		for (i = 0; i < blob.len; i++) {
			unsigned char c = (unsigned char)blob.text[i];

			vpa_line_put(l, &"0123456789abcdef"[c >> 4], 1);
			vpa_line_put(l, &"0123456789abcdef"[c & 15], 1);
		}
		vpa_line_words(l, "\"");
		break;
	case VPT_PAYLOAD_DOUBLE:
	case VPT_PAYLOAD_FLOAT:
		put_real(l, type, value);
		vpa_line_words(l, ",\"payload bits\":\"");
		vpa_line_hex(l, value);
		vpa_line_words(l, "\"");
		break;
	case VPT_PAYLOAD_INT64:
		vpa_line_signed(l, value);
		break;
	case VPT_PAYLOAD_INT32:
		vpa_line_signed(l, (uint64_t)(int64_t)(int32_t)value);
		break;
	default:
		put_natural(l, value);
	}
	vpa_line_words(l, ",");
}

static int is_operator(const struct vpa_chrome *x, uint64_t domain)
{
	struct vpt_text t = vpt_batch_text(x->batch, domain);

	return t.len == 6 && !memcmp(t.text, "cpu_op", 6);
}

/* Every member ends with a comma. */
static void put_nvtx(struct vpa_chrome *x, struct vpa_line *l, const struct nvtx_columns *c,
	const struct vpt_section *s, uint32_t row)
{
	uint64_t domain = column(s, c->domain, row);

	if (domain && !is_operator(x, domain)) {
		vpa_line_words(l, "\"domain\":");
		vpa_chrome_string(x, l, domain);
		vpa_line_words(l, ",");
	}
	if (column(s, c->kind, row) == VPT_RANGEKIND_START_END)
		vpa_line_words(l, "\"process wide\":1,");
	if (column(s, c->category, row)) {
		natural(l, "\"category\":", column(s, c->category, row));
		vpa_line_words(l, ",");
	}
	if (column(s, c->colour, row)) {
		natural(l, "\"colour\":", column(s, c->colour, row));
		vpa_line_words(l, ",");
	}
	put_payload(x, l, column(s, c->payload, row), column(s, c->value, row));
	if (column(s, c->schema, row)) {
		natural(l, "\"payload schema\":", column(s, c->schema, row));
		vpa_line_words(l, ",");
	}
}

/* The arguments end with a comma, or with the bracket that opened them. */
static void end_nvtx(struct vpa_line *l)
{
	if (l->size && !l->failed && l->data[l->size - 1] == ',')
		l->size--;
	vpa_line_words(l, "}}");
}

static const char *range_category(const struct vpa_chrome *x, uint64_t domain)
{
	return is_operator(x, domain) ? "{\"ph\":\"X\",\"cat\":\"cpu_op\""
				      : "{\"ph\":\"X\",\"cat\":\"user_annotation\"";
}

static void put_range(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t ends_on = s->col[VPT_RANGE_END_THREAD][row];
	uint32_t lane;

	begin(x, range_category(x, s->col[VPT_RANGE_DOMAIN][row]));
	vpa_chrome_string(x, &x->out, s->col[VPT_RANGE_NAME][row]);
	put_place(x);
	put_times(x, s, row);
	begin_args(x);
	put_nvtx(x, &x->out, &range_columns, s, row);
	if (ends_on) {
		lane = vpa_chunk_lane(&x->lanes, ends_on);
		integer(&x->out, "\"end process\":", lane_value(x, lane, VPT_LANE_PID));
		integer(&x->out, ",\"end thread\":", lane_value(x, lane, VPT_LANE_TID));
		words(x, ",");
	}
	if (s->col[VPT_RANGE_UNMATCHED][row])
		words(x, "\"unmatched\":1,");
	end_nvtx(&x->out);
	x->totals.ranges++;
}

static void put_mark(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	begin(x, "{\"ph\":\"i\",\"cat\":\"user_annotation\",\"s\":\"t\"");
	vpa_chrome_string(x, &x->out, s->col[VPT_MARK_NAME][row]);
	put_place(x);
	vpa_chrome_time(x, s->col[VPT_MARK_TIME][row]);
	begin_args(x);
	put_nvtx(x, &x->out, &mark_columns, s, row);
	end_nvtx(&x->out);
}

/* The ranges that are open when the chunk closes, kept until more is known. Between two of them stands a NUL, and the
 * start of each in front: what it lasts is told when the trace's end is known. */
static void keep_open(struct vpa_chrome *x, const struct vpt_section *s)
{
	struct vpa_line *l = &x->open;
	uint32_t row, lane;
	struct vpa_line place = {0};

	l->size = 0;
	for (row = 0; s && row < s->row_count; row++) {
		uint64_t start = s->col[VPT_OPEN_START][row];

		lane = vpa_chunk_lane(&x->lanes, s->col[VPT_OPEN_LANE][row]);
		put_place_of(&place, lane_value(x, lane, VPT_LANE_PID),
			lane_value(x, lane, VPT_LANE_TID));
		vpa_line_put(l, (const char *)&start, sizeof(start));
		vpa_line_words(l, range_category(x, s->col[VPT_OPEN_DOMAIN][row]));
		vpa_line_words(l, ",\"name\":");
		vpa_chrome_string(x, l, s->col[VPT_OPEN_NAME][row]);
		vpa_line_words(l, ",\"args\":{\"open\":1,");
		put_nvtx(x, l, &open_columns, s, row);
		end_nvtx(l);
		if (l->size && !l->failed)
			l->size--; /* the event goes on */
		vpa_line_put(l, place.data, place.size);
		vpa_line_put(l, "", 1);
	}
	l->failed |= place.failed;
	vpt_free(place.data);
}

void vpa_chrome_open(struct vpa_chrome *x, uint64_t end_ns)
{
	const char *p = x->open.data, *end = p + x->open.size;
	uint64_t start;

	for (; p < end; p += strlen(p) + 1) {
		memcpy(&start, p, sizeof(start));
		p += sizeof(start);
		vpa_chrome_event(x);
		words(x, p);
		vpa_chrome_time(x, start);
		words(x, ",\"dur\":");
		vpa_line_micros(&x->out, end_ns > start ? end_ns - start : 0);
		words(x, "}");
	}
}

/* ---- waits and overhead ---- */

static const char *const sync_names[] = {
	[VPT_SYNCKIND_UNKNOWN] = "Unknown Sync",
	[VPT_SYNCKIND_EVENT] = "Event Sync",
	[VPT_SYNCKIND_STREAM_WAIT] = "Stream Wait Event",
	[VPT_SYNCKIND_STREAM] = "Stream Sync",
	[VPT_SYNCKIND_CONTEXT] = "Context Sync",
};

static const char *const overhead_names[] = {
	[VPT_OVERHEADKIND_UNKNOWN] = "Overhead",
	[VPT_OVERHEADKIND_COMPILER] = "Driver Compiler",
	[VPT_OVERHEADKIND_FLUSH] = "Buffer Flush",
	[VPT_OVERHEADKIND_INSTRUMENTATION] = "Instrumentation",
	[VPT_OVERHEADKIND_RESOURCE] = "Resource",
	[VPT_OVERHEADKIND_MODULE_LOADING] = "Runtime Triggered Module Loading",
	[VPT_OVERHEADKIND_LAZY_LOADING] = "Lazy Function Loading",
	[VPT_OVERHEADKIND_COMMAND_BUFFER_FULL] = "Command Buffer Full",
	[VPT_OVERHEADKIND_BUFFER_REQUEST] = "Activity Buffer Request",
	[VPT_OVERHEADKIND_UVM_INIT] = "UVM Activity Init",
};

/* The word of a number, as a JSON string; numbers of the future are the table's first. */
#define PUT_WORD(x, table, number)                                                                 \
	put_word(x, (table)[(number) < sizeof(table) / sizeof(*(table)) ? (number) : 0])

static void put_word(struct vpa_chrome *x, const char *word)
{
	words(x, "\"");
	words(x, word);
	words(x, "\"");
}

/* Reads what was recorded, before the waits of the chunk are written. */
static void read_records(struct vpa_chrome *x, const struct vpt_section *s)
{
	uint32_t lane = vpa_chunk_lane(&x->lanes, s->lane), row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t sync_id = s->col[VPT_EVENT_SYNC_ID][row];

		if (sync_id)
			x->records[sync_id % VPA_CHROME_RECORDS] = (struct vpa_chrome_record){
				sync_id, s->col[VPT_EVENT_CORRELATION][row],
				lane_value(x, lane, VPT_LANE_DEVICE),
				lane_value(x, lane, VPT_LANE_CONTEXT),
				lane_value(x, lane, VPT_LANE_STREAM)};
	}
}

/* What a wait waits for: by its own stream, else by that of the record it names. The profiler's own ids of records are
 * the recording call's; so are those that came from it. */
static struct vpa_chrome_record waits_for(
	const struct vpa_chrome *x, const struct vpt_section *s, uint32_t row, uint32_t lane)
{
	uint64_t sync_id = s->col[VPT_SYNC_SYNC_ID][row];
	struct vpa_chrome_record none = {.correlation = UINT64_MAX, .stream = UINT64_MAX};
	struct vpa_chrome_record w = x->records[sync_id % VPA_CHROME_RECORDS];

	if (!sync_id || w.sync_id != sync_id)
		w = none;
	if (sync_id && vpt_trace_format(x->trace) == VPT_FORMAT_KINETO)
		w.correlation = sync_id;
	if (lane != UINT32_MAX) {
		w.device = lane_value(x, lane, VPT_LANE_DEVICE);
		w.context = lane_value(x, lane, VPT_LANE_CONTEXT);
		w.stream = lane_value(x, lane, VPT_LANE_STREAM);
	}
	return w;
}

static void put_sync(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t kind = s->col[VPT_SYNC_SYNC_KIND][row], other = s->col[VPT_SYNC_STREAM][row];
	struct vpa_chrome_record w =
		waits_for(x, s, row, other ? vpa_chunk_lane(&x->lanes, other) : UINT32_MAX);

	begin(x, "{\"ph\":\"X\",\"cat\":\"cuda_sync\"");
	PUT_WORD(x, sync_names, kind);
	put_place(x);
	put_times(x, s, row);
	begin_args(x);
	words(x, "\"cuda_sync_kind\":");
	PUT_WORD(x, sync_names, kind);
	natural(&x->out, ",\"correlation\":", s->col[VPT_SYNC_CORRELATION][row]);
	if (!s->lane || lane_value(x, vpa_chunk_lane(&x->lanes, s->lane), VPT_LANE_LANE_TYPE) ==
				VPT_LANETYPE_THREAD)
		words(x, ",\"stream\":-1");
	natural(&x->out, ",\"sync context\":", s->col[VPT_SYNC_CONTEXT][row]);
	integer(&x->out, ",\"wait_on_stream\":", w.stream);
	integer(&x->out, ",\"wait_on_cuda_event_record_corr_id\":", w.correlation);
	integer(&x->out, ",\"wait_on_cuda_event_id\":", s->col[VPT_SYNC_EVENT][row] - 1);
	optional(&x->out, ",\"cuda_event_sync_id\":", s->col[VPT_SYNC_SYNC_ID][row]);
	if (w.stream != UINT64_MAX && other != s->lane) {
		integer(&x->out, ",\"wait_on_device\":", w.device);
		natural(&x->out, ",\"wait_on_context\":", w.context);
	}
	end_args(x);
}

/* A CUDA event, as the profiler writes it: an empty span on its stream. */
static void put_record(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	begin(x, "{\"ph\":\"X\",\"cat\":\"cuda_event\"");
	words(x, "\"cudaEvent\"");
	put_place(x);
	vpa_chrome_time(x, s->col[VPT_EVENT_TIME][row]);
	words(x, ",\"dur\":0");
	begin_args(x);
	integer(&x->out, "\"event_id\":", s->col[VPT_EVENT_EVENT][row] - 1);
	natural(&x->out, ",\"correlation\":", s->col[VPT_EVENT_CORRELATION][row]);
	natural(&x->out, ",\"cuda_event_sync_id\":", s->col[VPT_EVENT_SYNC_ID][row]);
	end_args(x);
}

static void put_overhead(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	begin(x, "{\"ph\":\"X\",\"cat\":\"overhead\"");
	PUT_WORD(x, overhead_names, s->col[VPT_OVERHEAD_OVERHEAD_KIND][row]);
	put_place(x);
	put_times(x, s, row);
	begin_args(x);
	natural(&x->out, "\"correlation\":", s->col[VPT_OVERHEAD_CORRELATION][row]);
	end_args(x);
}

/* ---- the rest ---- */

static void put_counter(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint32_t lane = vpa_chunk_lane(&x->lanes, s->lane);

	begin(x, "{\"ph\":\"C\",\"cat\":\"counter\"");
	vpa_chrome_string(x, &x->out, lane_value(x, lane, VPT_LANE_NAME));
	words(x, ",\"unit\":");
	vpa_chrome_string(x, &x->out, lane_value(x, lane, VPT_LANE_LANE_UNIT));
	put_place(x);
	vpa_chrome_time(x, s->col[VPT_COUNTER_TIME][row]);
	words(x, ",\"args\":{\"value\":");
	put_real(&x->out, VPT_PAYLOAD_DOUBLE, s->col[VPT_COUNTER_VALUE][row]);
	end_args(x);
}

/* A kind that the profiler has no form for: its columns by name, words as their numbers. */
static void put_other(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	int is_span = kind->flags & VPT_KIND_SPAN, i;
	const char *word = NULL;

	for (i = 1; i < kind->n_columns && !word; i++)
		word = vpt_word((enum vpt_unit)kind->columns[i].unit, s->col[i][row]);
	begin(x, is_span ? "{\"ph\":\"X\",\"cat\":\"vptrace\""
			 : "{\"ph\":\"i\",\"cat\":\"vptrace\",\"s\":\"t\"");
	words(x, "\"");
	words(x, kind->name);
	words(x, word ? ": " : "");
	words(x, word ? word : "");
	words(x, "\"");
	put_place(x);
	vpa_chrome_time(x, s->col[0][row]);
	if (is_span) {
		words(x, ",\"dur\":");
		vpa_line_micros(&x->out, s->col[1][row]);
	}
	begin_args(x);
	words(x, "\"kind\":\"");
	words(x, kind->name);
	words(x, "\"");
	for (i = is_span ? 2 : 1; i < kind->n_columns; i++) {
		if (!s->col[i][row])
			continue;
		words(x, ",\"");
		words(x, kind->columns[i].name);
		words(x, "\":");
		if (kind->columns[i].unit == VPT_UNIT_STRING)
			vpa_chrome_string(x, &x->out, s->col[i][row]);
		else
			put_natural(&x->out, s->col[i][row]);
	}
	end_args(x);
}

static put_fn *const put_fns[VPT_KIND_LIMIT] = {
	[VPT_KERNEL] = put_kernel,
	[VPT_COPY] = put_copy,
	[VPT_CALL] = put_call,
	[VPT_RANGE] = put_range,
	[VPT_MARK] = put_mark,
	[VPT_COUNTER] = put_counter,
	[VPT_SYNC] = put_sync,
	[VPT_OVERHEAD] = put_overhead,
	[VPT_MEMORY] = put_other,
	[VPT_EVENT] = put_record,
	[VPT_LOSS] = put_other,
	[VPT_GRAPH] = put_other,
};

static int in_window(const struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	const struct vpa_model *m = x->view.context->model;
	uint64_t start = s->col[0][row], end = start;

	/* An end before its start wraps; such a row stands where it begins. */
	if (vpt_kind_desc(s->kind)->flags & VPT_KIND_SPAN && start + s->col[1][row] > start)
		end = start + s->col[1][row];
	return start < m->window_end_ns && end >= m->window_start_ns;
}

static int same_times(const struct vpt_section *s, uint32_t a, uint32_t b)
{
	return s->col[0][a] == s->col[0][b] &&
	       (!(vpt_kind_desc(s->kind)->flags & VPT_KIND_SPAN) || s->col[1][a] == s->col[1][b]);
}

static int put_section(struct vpa_chrome *x, const struct vpt_section *s)
{
	enum { GROUP_BYTES = 1 << 20 };
	put_fn *put = put_fns[s->kind];
	uint32_t row, end, i;
	int rc = VPT_OK;

	begin_section(x, s);
	for (row = 0; row < s->row_count && !rc; row = end) {
		for (end = row + 1; end < s->row_count && same_times(s, row, end);)
			end++;
		for (i = end; i-- > row;)
			if (!x->windowed || in_window(x, s, i)) {
				put(x, s, i);
				x->rows += s->kind != VPT_LOSS;
			}
		if (x->out.size >= GROUP_BYTES) {
			x->raw_bytes += x->out.size;
			rc = vpa_groups_put(x->groups, x->out.data, x->out.size, &x->err);
			x->out.size = 0;
		}
	}
	return rc;
}

int vpa_chrome_chunk(struct vpa_chrome *x, const struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	x->batch = b;
	x->configs = vpt_batch_find(b, VPT_CONFIG);
	vpa_chunk_lanes_read(&x->lanes, b);
	vpa_pieces_reset(&x->strings, b->strings.count);
	vpa_pieces_reset(&x->kernel_names, x->configs ? x->configs->row_count : 0);
	vpa_pieces_reset(&x->kernel_args, x->configs ? x->configs->row_count : 0);
	for (i = 0; i < b->section_count; i++)
		if (b->sections[i].kind == VPT_EVENT)
			read_records(x, &b->sections[i]);
	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (put_fns[s->kind] && !(x->options->no_api && s->kind == VPT_CALL))
			rc = put_section(x, s);
	}
	keep_open(x, vpt_batch_find(b, VPT_OPEN));
	return rc;
}
