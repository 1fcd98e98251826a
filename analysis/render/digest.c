/* digest.c - sums that several sections of the page share: idle time by cause and by place, over all
 * devices.
 *
 * Places are few, the largest first. Small ones that a fold has merged are in the sums only. */
#include "analysis/render/digest.h"

#include "analysis/render/kernel_names.h"
#include "analysis/report/main_line.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>

int vpa_is_edge(enum vpa_cause cause)
{
	return cause == VPA_CAUSE_BEFORE_FIRST_WORK || cause == VPA_CAUSE_AFTER_LAST_WORK;
}

enum vpa_cause vpa_known_cause(enum vpa_cause cause)
{
	return (unsigned)cause < VPA_CAUSES ? cause : VPA_CAUSE_NOT_IDLE;
}

/* Adds to a place. A sum of many places is not a place. */
static void add_place(
	struct vpa_idle_place *places, size_t *count, size_t room, const struct vpa_idle_part *part)
{
	struct vpa_idle_place *p = places, *end = p + *count;

	if (part->place.kind == VPA_PLACE_SEVERAL)
		return;
	for (; p < end; p++)
		if (p->cause == part->cause && vpt_same_text(p->call, part->call) &&
			!vpa_place_compare(&p->place, &part->place))
			break;
	if (p == end) {
		if (*count == room)
			return;
		*p = (struct vpa_idle_place){
			.cause = part->cause, .call = part->call, .place = part->place};
		++*count;
	}
	p->ns += part->ns;
	vpt_sat_add_to(&p->gaps, part->gaps);
	p->is_inside_others |=
		part->is_inside_others ||
		(p->inside && part->inside && !vpt_same_text(p->inside, part->inside));
	if (part->inside_ns > p->inside_ns)
		p->inside = part->inside;
	vpt_sat_add_to(&p->inside_ns, part->inside_ns);
}

static void add_device(struct vpa_digest *d, const struct vpa_device *dev)
{
	size_t i;

	vpt_sat_add_to(&d->windows_ns, vpa_device_window_ns(dev));
	vpt_sat_add_to(&d->active_ns, dev->active_ns);
	vpt_sat_add_to(&d->busy_ns, dev->busy_ns);
	vpt_sat_add_to(&d->idle_ns, dev->idle_ns);
	vpt_sat_add_to(&d->gaps, dev->gaps);
	vpt_sat_add_to(&d->window_idle_ns, dev->window_idle_ns);
	vpt_sat_add_to(&d->cpu_wait_ns, dev->cpu_wait_ns);
	for (i = 0; i < dev->cause_count; i++) {
		struct vpa_idle_part part = dev->causes[i];

		part.cause = vpa_known_cause(part.cause);
		vpt_sat_add_to(&d->cause_ns[part.cause], part.ns);
		vpt_sat_add_to(&d->cause_gaps[part.cause], part.gaps);
		vpt_sat_add_to(&d->window_gaps, part.gaps);
		add_place(d->places, &d->place_count, VPA_PLACES, &part);
	}
	for (i = 0; i < dev->before_first_work_count; i++) {
		struct vpa_idle_part part = dev->before_first_work[i];

		part.cause = vpa_known_cause(part.cause);
		add_place(d->heads, &d->head_count, VPA_HEADS, &part);
	}
}

/* Insertion sorts: there are few places, and equal ones keep their order on every machine. */
static void sort_places(struct vpa_idle_place *places, size_t count)
{
	size_t i, at;

	for (i = 1; i < count; i++) {
		struct vpa_idle_place p = places[i];

		for (at = i; at && places[at - 1].ns < p.ns; at--)
			places[at] = places[at - 1];
		places[at] = p;
	}
}

static void sort_causes(struct vpa_digest *d)
{
	unsigned cause;
	size_t at;

	for (cause = 0; cause < VPA_CAUSES; cause++) {
		if (!d->cause_ns[cause])
			continue;
		for (at = d->cause_count++; at; at--) {
			if (d->cause_ns[d->causes[at - 1]] >= d->cause_ns[cause])
				break;
			d->causes[at] = d->causes[at - 1];
		}
		d->causes[at] = (enum vpa_cause)cause;
	}
}

void vpa_digest_of(const struct vpa_report *r, struct vpa_digest *d)
{
	struct vpa_load load = vpa_load_of_all(r);
	unsigned cause;
	size_t i;

	memset(d, 0, sizeof(*d));
	d->report = r;
	d->window_ns = vpa_window_ns(r);
	for (i = 0; i < r->device_count; i++)
		add_device(d, &r->devices[i]);
	for (cause = VPA_HELD_FIRST; cause < VPA_HELD_FIRST + VPA_HELD; cause++)
		d->code[cause] = vpa_host_code_of(r, (uint32_t)1 << cause, NULL, 0);
	sort_places(d->places, d->place_count);
	sort_places(d->heads, d->head_count);
	sort_causes(d);
	d->edge_ns =
		d->cause_ns[VPA_CAUSE_BEFORE_FIRST_WORK] + d->cause_ns[VPA_CAUSE_AFTER_LAST_WORK];
	d->unknown = vpa_unknown_label(r);
	d->limit = vpa_device_limit_of(&load);
	d->gpu_bound = vpa_device_limit_is_bound(d->limit);
	d->decimals = d->window_ns < 10000000 ? 3 : d->window_ns < 1000000000 ? 2 : 1;
}

const char *vpa_family_text(const struct vpa_digest *d, enum vpa_family family)
{
	return family == VPA_FAMILY_UNKNOWN ? d->unknown.text : vpa_family_name(family);
}

const char *vpa_part_text(const struct vpa_digest *d, const struct vpa_block_part *part)
{
	enum vpa_family family = vpa_part_family(part->part);

	return family < VPA_FAMILY_COUNT ? vpa_family_text(d, family)
					 : vpa_block_part_name(part->part);
}

struct vpa_label vpa_place_label(const char *call, const struct vpa_place *place, size_t columns)
{
	const char *word = place->kind == VPA_PLACE_BEFORE ? VPA_BEFORE_TEXT : "in ";
	const char *range = vpa_place_range(place);
	struct vpa_label where = {{0}}, first, second;
	size_t width, len;

	if (place->kind == VPA_PLACE_SEVERAL)
		return where;
	if (!range || vpt_same_text(call, range))
		return vpa_fit(call, columns);
	len = strlen(word);
	if (!call) {
		first = vpa_fit(range, columns > len ? columns - len : 0);
		snprintf(where.text, sizeof(where.text), "%s%.490s", word, first.text);
		return where;
	}
	width = vpa_columns(call);
	if (width > columns / 2)
		width = columns / 2;
	first = vpa_fit(call, width);
	second = vpa_fit(range, columns > width + len + 1 ? columns - width - len - 1 : 0);
	snprintf(where.text, sizeof(where.text), "%.240s %s%.240s", first.text, word, second.text);
	return where;
}

/* "sync: host waited for the GPU" */
static struct vpa_label cause_sentence(enum vpa_cause cause)
{
	const char *key = vpa_cause_text(cause), *words = vpa_cause_words(cause);
	struct vpa_label out = {{0}};

	if (cause == VPA_CAUSE_QUEUED)
		snprintf(out.text, sizeof(out.text),
			"queued work that started late; the trace does not say why");
	else if (!strcmp(key, words) || strchr(key, '('))
		snprintf(out.text, sizeof(out.text), "%s", key);
	else
		snprintf(out.text, sizeof(out.text), "%s: %s", key, words);
	return out;
}

struct vpa_label vpa_limit_sentence(const struct vpa_unit_limit *limit)
{
	const struct vpa_idle_limit *idle = &limit->idle;
	struct vpa_label out = {{0}};

	if (vpa_device_limit_words(limit->bound))
		snprintf(out.text, sizeof(out.text), "%s", vpa_device_limit_words(limit->bound));
	else if (!idle->group)
		snprintf(out.text, sizeof(out.text), "idle, cause unknown");
	else
		snprintf(out.text, sizeof(out.text), "limited by %s%s%.400s",
			idle->is_largest ? "" : vpa_cause_group_words(idle->group),
			idle->is_largest ? "" : ", most of it ", cause_sentence(idle->cause).text);
	return out;
}

struct vpa_idle_place vpa_inside_of(const struct vpa_digest *d, enum vpa_cause cause)
{
	struct vpa_idle_place sum = {.cause = cause};
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < d->place_count; i++) {
		const struct vpa_idle_place *p = &d->places[i];

		if (p->cause != cause || !p->inside)
			continue;
		sum.is_inside_others |=
			p->is_inside_others || (sum.call && !vpt_same_text(sum.call, p->inside));
		vpt_sat_add_to(&sum.ns, p->inside_ns);
		if (p->inside_ns > most) {
			most = p->inside_ns;
			sum.call = p->inside;
		}
	}
	if (sum.ns <= d->cause_ns[cause] / 4)
		sum.ns = 0;
	return sum;
}

struct vpa_host_code vpa_code_of(const struct vpa_digest *d, enum vpa_cause cause)
{
	struct vpa_host_code code = d->code[cause];

	if (code.ns < d->cause_ns[cause] / 4)
		code.ns = 0;
	return code;
}

uint64_t vpa_part_code_ns(const struct vpa_block_part *part)
{
	size_t i;

	for (i = 0; i < part->instead_count; i++)
		if (part->instead[i].host == VPA_CAUSE_HOST_CODE)
			return part->instead[i].ns < part->ns / 4 ? 0 : part->instead[i].ns;
	return 0;
}

struct vpa_label vpa_code_place(const struct vpa_host_code *code, size_t columns)
{
	struct vpa_label where = {{0}}, at;

	if (!vpa_host_code_has_place(code))
		return where;
	at = vpa_place_label(NULL, &code->place, columns);
	snprintf(where.text, sizeof(where.text), " %.500s", at.text);
	return where;
}

struct vpa_top_line vpa_line_of_cause(const struct vpa_digest *d, enum vpa_cause cause)
{
	const struct vpa_idle_place *first = vpa_first_place(d, cause);
	struct vpa_idle_part key;
	struct vpa_similar at;

	if (!first)
		return (struct vpa_top_line){.samples = 0};
	key = (struct vpa_idle_part){.cause = cause, .place = first->place, .call = first->call};
	at = vpa_same_places(d->report, &key, NULL, 0);
	if (at.ns < d->cause_ns[cause] / 2)
		at = vpa_similar_places(d->report, &key, NULL, 0);
	if (at.ns < d->cause_ns[cause] / 2)
		return (struct vpa_top_line){.samples = 0};
	return key.place.text || key.call ? at.top
					  : vpa_main_line_among(at.top, at.ns, d->cause_ns[cause]);
}

/* ---- places ---- */

const struct vpa_idle_place *vpa_first_place(const struct vpa_digest *d, enum vpa_cause cause)
{
	size_t i;

	for (i = 0; i < d->place_count; i++)
		if (d->places[i].cause == cause)
			return &d->places[i];
	return NULL;
}

struct vpa_idle_place vpa_call_of(const struct vpa_digest *d, enum vpa_cause cause, size_t *ranges)
{
	const struct vpa_idle_place *first = vpa_first_place(d, cause);
	struct vpa_idle_place sum = {.cause = cause};
	size_t i;

	*ranges = 0;
	if (!first || !first->call || vpt_same_text(first->call, first->place.text))
		return sum;
	sum.call = first->call;
	for (i = 0; i < d->place_count; i++) {
		if (d->places[i].cause != cause || !vpt_same_text(d->places[i].call, sum.call))
			continue;
		vpt_sat_add_to(&sum.ns, d->places[i].ns);
		vpt_sat_add_to(&sum.gaps, d->places[i].gaps);
		*ranges += 1;
	}
	return sum;
}

struct vpa_idle_place vpa_similar_of(
	const struct vpa_digest *d, enum vpa_cause cause, struct vpa_alike *ranges)
{
	const struct vpa_idle_place *first = vpa_first_place(d, cause);
	struct vpa_idle_place sum = {.cause = cause};
	size_t i;

	*ranges = (struct vpa_alike){.count = 0};
	if (!first || !first->place.text)
		return sum;
	sum.call = first->call;
	sum.place = first->place;
	for (i = 0; i < d->place_count; i++) {
		const struct vpa_idle_place *p = &d->places[i];

		if (p->cause != cause || !vpt_same_text(p->call, sum.call) || !p->place.text ||
			p->place.kind != sum.place.kind ||
			vpa_compare_alike(p->place.text, sum.place.text))
			continue;
		vpt_sat_add_to(&sum.ns, p->ns);
		vpt_sat_add_to(&sum.gaps, p->gaps);
		vpa_alike_add(ranges, p->place.text);
	}
	return sum;
}

/* ---- limits ---- */

/* ---- numbers in the units of the page ---- */

struct vpa_num vpa_ms(uint64_t ns, const struct vpa_digest *d)
{
	struct vpa_num n = ns ? vpa_scaled(ns, 1000000, d->decimals) : (struct vpa_num){"0"};
	size_t len = strlen(n.text);

	if (!ns || strpbrk(n.text, "123456789"))
		return n;
	n.text[len - 1] = '1';
	memmove(n.text + 1, n.text, len + 1);
	n.text[0] = '<';
	return n;
}
