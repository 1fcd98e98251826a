/* kineto_own.c - reads back what vptrace-analyze adds to the profiler's format when it exports a
 * capture.
 *
 * Rows that the profiler's format cannot express are events of the category "vptrace", with the
 * columns of events.def as arguments, by name. None of this is trusted more than the rest of the
 * file. */
#include "formats/import/kineto/kineto_own.h"
#include "formats/import/kineto/kineto_parts.h"
#include "formats/import/kineto/kineto_put.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the whole file ---- */

void vpt_kineto_own_begin(struct vpt_kineto_rows *r, const struct vpt_kineto_value *value)
{
	int64_t offset = 0;

	if (vpt_kineto_natural(r, value, "version") != 1)
		return;
	r->own.is_own = 1;
	vpt_collect_gpus_are_numbered(r->collect);
	vpt_collect_times_are_exact(r->collect);
	r->own.start_ns = vpt_kineto_natural(r, value, "start_ns");
	r->own.shift_ns = vpt_kineto_natural(r, value, "shift_ns");
	r->own.has_realtime = vpt_kineto_member(value, "unix_offset_ns") != NULL;
	vpt_kineto_integer(r, value, "unix_offset_ns", &offset);
	r->own.unix_offset_ns = (uint64_t)offset;
}

void vpt_kineto_own_parts(struct vpt_kineto_rows *r, const struct vpt_kineto_value *value)
{
	r->own.is_merged = vpt_kineto_natural(r, value, "version") == 1;
}

void vpt_kineto_own_rank(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event)
{
	static const char *const members[] = {"unit", "stages"};
	const struct vpt_kineto_value *args = vpt_kineto_member(event, "args");
	const struct vpt_kineto_value *facts = vpt_kineto_member(args, "facts");
	const struct vpt_kineto_value *pair = vpt_kineto_element(facts, 0);
	size_t i;

	for (; pair; pair = vpt_kineto_next(facts, pair)) {
		struct vpt_text key = vpt_kineto_text(vpt_kineto_element(pair, 0));
		struct vpt_text value = vpt_kineto_text(vpt_kineto_element(pair, 1));

		if (key.text && value.text)
			vpt_kineto_say_of_process(r, event, key, value);
	}
	for (i = 0; i < COUNT(members); i++) {
		struct vpt_text value = vpt_kineto_text(vpt_kineto_member(args, members[i]));

		if (value.text)
			vpt_kineto_say_of_process(r, event, vpt_text_from(members[i]), value);
	}
	vpt_kineto_devices_of_process(r, event, vpt_kineto_member(args, "devices"));
}

static void put_facts(struct vpt_kineto_rows *r, const struct vpt_kineto_value *pairs)
{
	const struct vpt_kineto_value *pair = vpt_kineto_element(pairs, 0);

	for (; pair; pair = vpt_kineto_next(pairs, pair)) {
		struct vpt_text key = vpt_kineto_text(vpt_kineto_element(pair, 0));
		struct vpt_text value = vpt_kineto_text(vpt_kineto_element(pair, 1));
		struct vpt_meta m;

		if (!key.text || !value.text)
			continue;
		m.key = vpt_kineto_put_text(r, key);
		m.value = vpt_kineto_put_text(r, value);
		vpt_collect_put(r->collect, VPT_META, 0, &m);
	}
}

void vpt_kineto_own_end(struct vpt_kineto_rows *r, const struct vpt_kineto_value *value)
{
	struct vpt_stats stats = {0};

	if (!r->own.is_own)
		return;
	r->own.end_ns = vpt_kineto_natural(r, value, "end_ns");
	put_facts(r, vpt_kineto_member(value, "meta"));
	stats.received = vpt_kineto_natural(r, value, "received");
	stats.dropped = vpt_kineto_natural(r, value, "dropped");
	vpt_collect_put(r->collect, VPT_STATS, 0, &stats);
}

void vpt_kineto_own_device(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, struct vpt_device *device)
{
	struct vpt_text uuid = vpt_kineto_text(vpt_kineto_member(object, "uuid"));
	struct vpt_text pci = vpt_kineto_text(vpt_kineto_member(object, "pci"));

	if (uuid.text)
		device->uuid = vpt_kineto_put_text(r, uuid);
	if (pci.text)
		device->pci = vpt_kineto_put_text(r, pci);
	device->simulated = vpt_kineto_natural(r, object, "simulated");
}

/* ---- lanes ---- */

static uint64_t thread_named(struct vpt_kineto_rows *r, const struct vpt_kineto_value *args,
	const char *process_key, const char *thread_key)
{
	int64_t pid, tid;

	if (!vpt_kineto_integer(r, args, process_key, &pid) ||
		!vpt_kineto_integer(r, args, thread_key, &tid))
		return 0;
	return vpt_collect_thread(r->collect, pid, tid);
}

uint64_t vpt_kineto_own_thread(struct vpt_kineto_rows *r, const struct vpt_kineto_value *args)
{
	return thread_named(r, args, "process", "thread");
}

static uint64_t any_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	const struct vpt_kind_desc *kind)
{
	int64_t device, stream;

	if (kind->lanes == VPT_LANES_THREAD)
		return vpt_kineto_thread_lane(r, e);
	if (vpt_kineto_integer(r, e->args, "device", &device) &&
		vpt_kineto_integer(r, e->args, "stream", &stream))
		return vpt_kineto_stream_lane(r, e, device, stream);
	return vpt_kineto_own_thread(r, e->args);
}

/* ---- ranges and marks ---- */

struct payload {
	uint64_t type, value;
};

/* The number of a payload type's word; 0 if there is no such word. */
static uint64_t payload_type(struct vpt_text word)
{
	uint64_t number;

	for (number = VPT_PAYLOAD_UINT64; number <= VPT_PAYLOAD_JSON; number++)
		if (vpt_text_is(word, vpt_word(VPT_UNIT_PAYLOAD, number)))
			return number;
	return VPT_PAYLOAD_NONE;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Interns bytes written as pairs of hexadecimal digits; stops at the first pair that is not one. */
static uint64_t put_bytes(struct vpt_kineto_rows *r, struct vpt_text text)
{
	char *bytes = vpt_alloc(text.len / 2 + 1, 1);
	size_t len = 0;
	uint64_t id;

	if (!bytes) {
		r->no_memory = 1;
		return 0;
	}
	while (2 * len + 1 < text.len && digit(text.text[2 * len]) >= 0 &&
		digit(text.text[2 * len + 1]) >= 0) {
		bytes[len] = (char)(digit(text.text[2 * len]) << 4 | digit(text.text[2 * len + 1]));
		len++;
	}
	id = vpt_collect_string(r->collect, bytes, len);
	vpt_free(bytes);
	return id;
}

static struct payload payload_of(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	const struct vpt_kineto_value *value = vpt_kineto_member(e->args, "payload");
	struct vpt_text text = vpt_kineto_text(value);
	struct vpt_text bits = vpt_kineto_text(vpt_kineto_member(e->args, "payload bits"));
	struct payload p = {
		payload_type(vpt_kineto_text(vpt_kineto_member(e->args, "payload type"))), 0};
	int64_t number = 0;

	switch (p.type) {
	case VPT_PAYLOAD_NONE:
		break;
	case VPT_PAYLOAD_JSON:
		p.value = text.text ? vpt_kineto_put_text(r, text) : 0;
		break;
	case VPT_PAYLOAD_BLOB:
		p.value = text.text ? put_bytes(r, text) : 0;
		break;
	case VPT_PAYLOAD_DOUBLE:
	case VPT_PAYLOAD_FLOAT:
		p.value = bits.text ? strtoull(bits.text, NULL, 16) : 0;
		break;
	case VPT_PAYLOAD_INT64:
	case VPT_PAYLOAD_INT32:
		vpt_kineto_integer(r, e->args, "payload", &number);
		p.value = p.type == VPT_PAYLOAD_INT32 ? (uint32_t)number : (uint64_t)number;
		break;
	default:
		p.value = vpt_kineto_natural(r, e->args, "payload");
	}
	return p;
}

int vpt_kineto_own_range(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, uint64_t lane,
	struct vpt_range *range)
{
	struct vpt_text domain = vpt_kineto_text(vpt_kineto_member(e->args, "domain"));
	struct payload p = {0};
	struct vpt_open open;

	/* The profiler's own ranges lack these arguments and have many others that are not
	 * needed. */
	if (!r->own.is_own && !r->own.is_merged)
		return 0;
	if (vpt_kineto_natural(r, e->args, "iteration"))
		return 1; /* repeats a range for other readers */
	p = payload_of(r, e);
	if (domain.text)
		range->domain = vpt_kineto_put_text(r, domain);
	if (vpt_kineto_natural(r, e->args, "process wide"))
		range->range_kind = VPT_RANGEKIND_START_END;
	range->category = vpt_kineto_natural(r, e->args, "category");
	range->colour = vpt_kineto_natural(r, e->args, "colour");
	range->schema = vpt_kineto_natural(r, e->args, "payload schema");
	range->unmatched = vpt_kineto_natural(r, e->args, "unmatched");
	/* Of a merged file the number is that of the process on its own machine. */
	if (r->own.is_own)
		range->end_thread = thread_named(r, e->args, "end process", "end thread");
	range->payload = p.type;
	range->value = p.value;
	if (!vpt_kineto_natural(r, e->args, "open"))
		return 0;
	open = (struct vpt_open){.lane = lane,
		.start_ns = range->start_ns,
		.name = range->name,
		.domain = range->domain,
		.range_kind = range->range_kind,
		.payload = range->payload,
		.value = range->value};
	vpt_collect_put(r->collect, VPT_OPEN, 0, &open);
	return 1;
}

int vpt_kineto_own_mark(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_text domain = vpt_kineto_text(vpt_kineto_member(e->args, "domain"));
	struct payload p = payload_of(r, e);
	struct vpt_mark m = {.time_ns = e->start_ns, .payload = p.type, .value = p.value};
	uint64_t lane = e->name.text ? vpt_kineto_thread_lane(r, e) : 0;

	if (!lane)
		return 0;
	m.name = vpt_kineto_put_text(r, e->name);
	if (domain.text)
		m.domain = vpt_kineto_put_text(r, domain);
	m.category = vpt_kineto_natural(r, e->args, "category");
	m.colour = vpt_kineto_natural(r, e->args, "colour");
	m.schema = vpt_kineto_natural(r, e->args, "payload schema");
	vpt_collect_put(r->collect, VPT_MARK, lane, &m);
	return 1;
}

/* ---- the rest ---- */

int vpt_kineto_own_counter(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	const struct vpt_kineto_value *sample = vpt_kineto_find(e->args, "value");
	struct vpt_text unit = vpt_kineto_text(vpt_kineto_member(e->object, "unit"));
	struct vpt_counter c = {.time_ns = e->start_ns};
	double value;
	int64_t device = -1;
	uint64_t lane;

	if (!e->name.text || !sample)
		return 0;
	/* JSON cannot express every double: those are null. */
	value = sample->type == VPT_KINETO_NULL ? (double)NAN : vpt_kineto_double(sample);
	vpt_kineto_integer(r, e->object, "pid", &device);
	memcpy(&c.value, &value, sizeof(value));
	lane = vpt_collect_series(r->collect, -1, device, vpt_kineto_put_text(r, e->name),
		unit.text ? vpt_kineto_put_text(r, unit) : 0);
	vpt_collect_put(r->collect, VPT_COUNTER, lane, &c);
	return 1;
}

int vpt_kineto_own_other(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_text name = vpt_kineto_text(vpt_kineto_member(e->args, "kind")), text;
	const struct vpt_kind_desc *kind = NULL;
	uint64_t row[VPT_COLUMNS_MAX] = {e->start_ns};
	unsigned type, i;

	for (type = 0; type < VPT_KIND_LIMIT && !kind; type++)
		if (vpt_kind_desc(type) && vpt_kind_desc(type)->flags & VPT_KIND_EVENT &&
			vpt_text_is(name, vpt_kind_desc(type)->name))
			kind = vpt_kind_desc(type);
	if (!kind)
		return 0;
	i = 1;
	if (kind->flags & VPT_KIND_SPAN)
		row[i++] = e->duration_ns;
	for (; i < kind->n_columns; i++) {
		const struct vpt_column_desc *column = &kind->columns[i];

		switch (column->unit) {
		case VPT_UNIT_STRING:
			text = vpt_kineto_text(vpt_kineto_member(e->args, column->name));
			row[i] = text.text ? vpt_kineto_put_text(r, text) : 0;
			break;
		case VPT_UNIT_CONFIG:
		case VPT_UNIT_LANE: /* ids of other tables are written in another form */
			break;
		default:
			row[i] = vpt_kineto_natural(r, e->args, column->name);
		}
	}
	vpt_collect_put(r->collect, kind->type, any_lane(r, e, kind), row);
	return 1;
}
