/* rank_read.c - observes the pass over a trace: each device's ops and gaps become the stretches of its timeline, and its
 * communication its collectives. Names become texts at the end, while the pass still has them. */
#include "analysis/ranks/rank/rank_read.h"

#include "analysis/analyze.h"
#include "analysis/base/index.h"
#include "analysis/base/sort.h"
#include "analysis/folds/observer.h"
#include "analysis/model/collective_facts.h"
#include "analysis/ranks/rank/rank_parts.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"
#include "formats/chunk/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device {
	struct vpa_rank_timeline timeline;
	struct vpa_index parts; /* class and kind, place: rows are the rank's part_names */
	struct vpa_index keys;  /* kernel and blocks, payload and lane: rows are the rank's keys */
	struct vpa_index lanes; /* streams */
	struct vpa_rank_collective *collectives;
	size_t collective_count, collective_cap;
	uint64_t first_ns, last_ns;
	int64_t pid;
	int worked;
};

struct reading {
	struct vpa_observer_view view;
	/* Places without their numbers: texts; and, by place of the model, 1 + which of them. */
	struct vpt_strings places;
	struct vpa_index place_ids;
	uint32_t *place_of;
	size_t place_cap;
	/* By name of ranges: 1: they are no calls that make communicators, 2: they are. */
	unsigned char *inits_of_names;
	size_t init_name_cap;
	struct vpa_index processes; /* rows of */
	struct process {
		uint64_t init_ns, inits;
	} * inits;
	size_t process_cap;
	struct device *devices; /* by index in the model */
	size_t device_count, device_cap;
	struct vpa_rank_list ranks;
	struct vpt_err err;
	int is_whole; /* no window is asked for */
};

static struct device *device_at(struct reading *r, uint32_t index)
{
	if (vpt_grow_zeroed(&r->devices, &r->device_cap, (size_t)index + 1, sizeof(*r->devices)))
		return NULL;
	if (r->device_count <= index)
		r->device_count = (size_t)index + 1;
	return &r->devices[index];
}

/* ---- during the pass ---- */

/* "step 12" is "step *": where the same is done again is one place. UINT32_MAX: no memory. */
static uint32_t add_place(struct reading *r, uint32_t place)
{
	struct vpa_arena texts = {.failed = 0};
	const char *from = vpa_fold_place(&texts, r->view.context->model, place).text;
	char text[256];
	size_t used = 0;
	uint64_t id;

	for (; from && *from && used + 1 < sizeof(text); text[used++] = *from++)
		if (vpt_is_digit(*from)) {
			from += strspn(from, "0123456789");
			text[used++] = '*';
			if (!*from || used + 1 == sizeof(text))
				break;
		}
	id = texts.failed ? VPT_NO_ID : vpt_strings_put(&r->places, text, used);
	vpa_arena_free(&texts);
	return id == VPT_NO_ID ? UINT32_MAX : (uint32_t)id;
}

/* The number of a place in r->places; UINT32_MAX: no memory. */
static uint32_t place_of(struct reading *r, uint32_t place)
{
	uint32_t row = vpa_index_row(
		&r->place_ids, place, 0, &r->place_of, &r->place_cap, sizeof(*r->place_of));

	if (row == UINT32_MAX)
		return row;
	if (!r->place_of[row]) {
		uint32_t id = add_place(r, place);

		if (id == UINT32_MAX)
			return id;
		r->place_of[row] = id + 1;
	}
	return r->place_of[row] - 1;
}

static int put_stretch(struct reading *r, struct device *d, enum vpa_part_class klass,
	unsigned kind, uint32_t place, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t id = place_of(r, place);
	uint32_t part =
		id == UINT32_MAX ? id : vpa_index_put(&d->parts, (uint64_t)klass << 32 | kind, id);

	return part == UINT32_MAX
		       ? VPT_ENOMEM
		       : vpa_rank_timeline_put(&d->timeline, klass, start_ns, end_ns, part);
}

static int put_collective(struct reading *r, struct device *d, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	uint32_t payload =
		vpa_collective_payload(r->view.context->model, stretch, ops->launch_start_ns[i]);
	uint32_t lane = vpa_index_put(&d->lanes, ops->stream[i], 0), key;

	key = lane == UINT32_MAX
		      ? lane
		      : vpa_index_put(&d->keys, (uint64_t)ops->kernel[i] << 32 | ops->blocks[i],
				(uint64_t)payload << 32 | lane);
	if (key == UINT32_MAX || vpt_grow(&d->collectives, &d->collective_cap,
					 d->collective_count + 1, sizeof(*d->collectives)))
		return VPT_ENOMEM;
	d->collectives[d->collective_count++] = (struct vpa_rank_collective){
		.start_ns = ops->start_ns[i], .end_ns = ops->end_ns[i], .key = key};
	return VPT_OK;
}

static int put_op(struct reading *r, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	struct device *d = device_at(r, ops->device[i]);
	enum vpa_part_class klass = ops->kind[i] != VPA_KERNEL ? VPA_TIME_COPY
				    : ops->is_comm[i]          ? VPA_TIME_COMM
							       : VPA_TIME_COMPUTE;
	unsigned kind = klass == VPA_TIME_COPY      ? ops->copy[i].kind
			: klass == VPA_TIME_COMPUTE ? ops->family[i]
						    : 0;

	if (!d)
		return VPT_ENOMEM;
	if (ops->end_ns[i] > VPA_RANK_LATEST_NS)
		return VPT_OK;
	if (!d->worked) {
		d->worked = 1;
		d->first_ns = ops->start_ns[i];
		d->pid = r->view.context->model->streams[ops->stream[i]].pid;
	}
	if (ops->end_ns[i] > d->last_ns)
		d->last_ns = ops->end_ns[i];
	if (klass == VPA_TIME_COMM && put_collective(r, d, ops, i, stretch))
		return VPT_ENOMEM;
	return put_stretch(r, d, klass, kind, klass == VPA_TIME_COMM ? 0 : stretch->place,
		ops->start_ns[i], ops->end_ns[i]);
}

static int take_ops(void *ctx, const struct vpa_ops *ops)
{
	size_t i, k = 0;
	int rc = VPT_OK;

	for (i = 0; i < ops->count && !rc; i++)
		rc = put_op(ctx, ops, i, vpa_ops_stretch(ops, i, &k));
	return rc;
}

static int take_gap(void *ctx, const struct vpa_gap *gap)
{
	struct device *d = device_at(ctx, gap->device);
	size_t i;
	int rc = d ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < gap->piece_count && !rc; i++) {
		const struct vpa_cause_piece *p = &gap->pieces[i];

		/* An earlier wait holds the hosts of all ranks alike: they differ in what they did after it. */
		rc = put_stretch(ctx, d, VPA_TIME_IDLE, p->host ? p->host : p->cause,
			p->host ? p->host_place : p->place, p->start_ns, p->end_ns);
	}
	return rc;
}

static int is_init_name(const struct vpa_model *m, const struct vpa_range *range)
{
	static const char *const calls[] = {"ncclCommInit", "ncclCommSplit"};
	struct vpt_text name = vpa_name(m, range->name);
	size_t i;

	for (i = 0; i < COUNT(calls); i++)
		if (name.len >= strlen(calls[i]) && !memcmp(name.text, calls[i], strlen(calls[i])))
			return vpt_text_is(vpa_name(m, range->domain), "NCCL");
	return 0;
}

/* Of the whole capture: what a rank waits there is before its first op. */
static int take_range(void *ctx, const struct vpa_range *range)
{
	struct reading *r = ctx;
	const struct vpa_model *m = r->view.context->model;
	uint32_t row;

	if (vpt_grow_zeroed(&r->inits_of_names, &r->init_name_cap, (size_t)range->name + 1,
		    sizeof(*r->inits_of_names)))
		return VPT_ENOMEM;
	if (!r->inits_of_names[range->name])
		r->inits_of_names[range->name] = (unsigned char)(1 + is_init_name(m, range));
	if (r->inits_of_names[range->name] != 2 || range->nested || range->unmatched)
		return VPT_OK;
	row = vpa_index_row(&r->processes, (uint64_t)m->threads[range->thread].pid, 0, &r->inits,
		&r->process_cap, sizeof(*r->inits));
	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	vpt_sat_add_to(&r->inits[row].init_ns, vpt_sat_sub(range->end_ns, range->start_ns));
	r->inits[row].inits++;
	return VPT_OK;
}

static int take_begin(void *ctx, const struct vpa_observer_view *view)
{
	((struct reading *)ctx)->view = *view;
	return VPT_OK;
}

/* ---- at its end ---- */

static int name_parts(struct reading *r, const struct device *d, struct vpa_rank *rank)
{
	size_t i;

	rank->part_names = vpt_calloc(d->parts.count + 1, sizeof(*rank->part_names));
	rank->part_ns = vpt_calloc(d->parts.count + 1, sizeof(*rank->part_ns));
	if (!rank->part_names || !rank->part_ns)
		return VPT_ENOMEM;
	rank->part_name_count = d->parts.count;
	for (i = 0; i < d->parts.count; i++) {
		const struct vpa_index_entry *e = &d->parts.entries[i];

		struct vpt_text place = vpt_strings_get(&r->places, e->b);

		rank->part_names[i] = (struct vpa_part_name){(enum vpa_part_class)(e->a >> 32),
			(unsigned)(e->a & UINT32_MAX),
			place.len ? vpa_arena_text(&rank->arena, place.text, place.len) : NULL};
	}
	return VPT_OK;
}

static int name_keys(struct reading *r, const struct device *d, struct vpa_rank *rank)
{
	const struct vpa_model *m = r->view.context->model;
	size_t i;

	rank->keys = vpt_calloc(d->keys.count + 1, sizeof(*rank->keys));
	if (!rank->keys)
		return VPT_ENOMEM;
	rank->key_count = d->keys.count;
	for (i = 0; i < d->keys.count; i++) {
		const struct vpa_index_entry *e = &d->keys.entries[i];
		struct vpa_collective_said said;

		vpa_collective_describe(&rank->arena, vpa_name(m, m->kernels[e->a >> 32].name),
			vpa_name(m, (uint32_t)(e->b >> 32)), &said);
		/* With a communicator the stream says nothing more. */
		rank->keys[i] = (struct vpa_collective_key){.kind = said.kind,
			.group = said.group,
			.text = said.text,
			.bytes = said.bytes,
			.blocks = e->a & UINT32_MAX,
			.lane = said.group ? 0 : (uint32_t)(e->b & UINT32_MAX)};
	}
	return VPT_OK;
}

static int put_collectives(const struct device *d, struct vpa_rank *rank)
{
	size_t i;
	int rc = d->collective_count > UINT32_MAX / 4
			 ? VPT_ENOMEM
			 : vpa_rank_begin_collectives(rank, d->collective_count, NULL);

	for (i = 0; i < d->collective_count && !rc; i++)
		rc = vpa_rank_put_collective(rank, d->collectives[i]);
	return rc ? rc : vpa_rank_set_marks(rank, &rank->detail);
}

static void set_inits(const struct reading *r, struct vpa_rank *rank)
{
	uint32_t row = vpa_index_find(&r->processes, (uint64_t)rank->pid, 0);

	if (row == UINT32_MAX)
		return;
	rank->inits = r->inits[row].inits;
	rank->init_ns = r->inits[row].init_ns;
}

static int end_device(struct reading *r, uint32_t index, struct vpa_rank_company company)
{
	struct device *d = &r->devices[index];
	struct vpa_rank *rank = vpa_rank_add(&r->ranks);
	uint32_t unknown;
	int rc;

	if (!rank)
		return VPT_ENOMEM;
	rank->pid = d->pid;
	rank->device = r->view.context->model->devices[index];
	rank->first_ns = d->first_ns;
	rank->last_ns = d->last_ns;
	set_inits(r, rank);
	unknown = vpa_index_put(&d->parts, (uint64_t)VPA_TIME_IDLE << 32 | VPA_CAUSE_NOT_IDLE, 0);
	if (unknown == UINT32_MAX)
		return VPT_ENOMEM;
	rc = name_parts(r, d, rank);
	if (!rc)
		rc = name_keys(r, d, rank);
	if (!rc)
		rc = put_collectives(d, rank);
	if (!rc)
		rc = vpa_rank_timeline_cut(
			&d->timeline, rank->first_ns, rank->last_ns, unknown, rank);
	return rc ? rc : vpa_rank_describe(rank, r->view.report, company);
}

static struct vpa_rank_company company_of(const struct reading *r)
{
	struct vpa_rank_company out = {.is_one_process = 1, .is_whole = r->is_whole};
	const struct device *first = NULL;
	size_t i, count = 0;

	for (i = 0; i < r->device_count; i++) {
		if (!r->devices[i].worked)
			continue;
		first = first ? first : &r->devices[i];
		out.is_one_process &= r->devices[i].pid == first->pid;
		count++;
	}
	out.is_only = count == 1;
	return out;
}

static int take_end(void *ctx)
{
	struct reading *r = ctx;
	struct vpa_rank_company company = company_of(r);
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < r->device_count && !rc; i++)
		if (r->devices[i].worked)
			rc = end_device(r, (uint32_t)i, company);
	return rc;
}

static void free_reading(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->device_count; i++) {
		struct device *d = &r->devices[i];

		vpa_rank_timeline_free(&d->timeline);
		vpa_index_free(&d->parts);
		vpa_index_free(&d->keys);
		vpa_index_free(&d->lanes);
		vpt_free(d->collectives);
	}
	vpt_free(r->devices);
	vpt_free(r->inits_of_names);
	vpt_free(r->inits);
	vpa_index_free(&r->processes);
	vpt_strings_free(&r->places);
	vpa_index_free(&r->place_ids);
	vpt_free(r->place_of);
	vpa_rank_list_free(&r->ranks);
}

/* Appends the ranks of `from`, which is empty afterwards. */
static int move(struct vpa_rank_list *from, struct vpa_rank_list *to)
{
	size_t i;

	if (vpt_grow(&to->items, &to->cap, to->count + from->count, sizeof(struct vpa_rank *)))
		return VPT_ENOMEM;
	for (i = 0; i < from->count; i++)
		to->items[to->count++] = from->items[i];
	from->count = 0;
	return VPT_OK;
}

static void say_missing(const struct vpa_verdict *v, char out[VPA_RANKS_MISSING])
{
	const char *reason = v->reason_count ? v->reasons[0] : "records are missing";

	snprintf(out, VPA_RANKS_MISSING, "%s", v->complete ? "" : reason);
}

int vpa_ranks_read(const struct vpt_trace *trace, const char *capture,
	const struct vpa_options *options, struct vpa_rank_list *out,
	char missing[VPA_RANKS_MISSING], struct vpt_err *err)
{
	struct reading r = {.is_whole = !options->has_from && !options->has_to && !options->range &&
					!options->request};
	const struct vpa_observer observer = {.ctx = &r,
		.begin = take_begin,
		.ops = take_ops,
		.gap = take_gap,
		.range = take_range,
		.end = take_end};
	struct vpa_options o = *options;
	struct vpa_report *report = NULL;
	size_t i;
	int rc;

	o.observer = &observer;
	/* The unit's figures are of its parts. */
	o.step_parts = o.only_sums = 1;
	rc = vpt_strings_put(&r.places, "", 0) == 0 ? VPT_OK : VPT_ENOMEM;
	if (rc)
		vpt_fail(err, rc, "no memory for the ranks of a trace");
	else
		rc = vpa_analyze(trace, capture, &o, &report, err);
	/* A window cuts collectives: the replay has whole ones. */
	if (!rc && r.is_whole)
		rc = vpa_condense(trace, o.jobs, r.ranks.items, r.ranks.count, err);
	for (i = 0; !rc && i < r.ranks.count; i++)
		vpa_rank_number_device(r.ranks.items[i], report);
	if (!rc && move(&r.ranks, out))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for the ranks of a trace");
	if (!rc && missing)
		say_missing(&report->verdict, missing);
	vpa_report_free(report);
	free_reading(&r);
	return rc;
}
