/* findings_work.c - conclusions about the work itself: what bounds the run, exposed time, and
 * kernels that could be cheaper. */
#include "analysis/advice/finding.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/advice/hidden_copies.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/model/gpu_peak.h"
#include "analysis/names/collective_kinds.h"
#include "analysis/names/families.h"
#include "analysis/report/device_limit.h"
#include "analysis/report/rows/unit_kind.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

/* Exposed copies and communication are worth a line from this share of the active time. */
static const double exposed_share = 0.05;

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Whether the largest kind of what counts as copies are memsets. */
static int is_mostly_memsets(const struct vpa_report *r)
{
	return r->copy_count && r->copies[0].kind == VPT_COPYKIND_MEMSET;
}

/* ---- what bounds the run ---- */

static const char *bound_title(const struct vpa_report *r, enum vpa_device_limit limit,
	const struct vpa_load *load, const char *usual)
{
	if (limit == VPA_LIMIT_WORK && vpa_device_limit_is_of_part(load))
		return "while it worked, the GPU was the limit: cheaper work shortens only that "
		       "part of the window";
	if (limit == VPA_LIMIT_COPIES && is_mostly_memsets(r))
		return "memsets are the limit: the GPU clears memory, and does not wait for the "
		       "host";
	return usual;
}

static void find_bound(struct vpa_report *r)
{
	static const struct {
		enum vpa_finding_id id;
		const char *title;
	} bounds[] = {
		[VPA_LIMIT_WORK] = {VPA_FOUND_GPU_BOUND,
			"the GPU is the limit: make its work cheaper, not the host faster"},
		[VPA_LIMIT_COPIES] = {VPA_FOUND_COPY_BOUND,
			"copies are the limit: the GPU waits for data, not for the host"},
		[VPA_LIMIT_COMM] = {VPA_FOUND_COMM_BOUND, "communication is the limit: the GPU "
							  "waits for other GPUs, not for the host"},
		[VPA_LIMIT_PEERS] = {VPA_FOUND_PEER_BOUND,
			"other ranks are the limit: this one finishes its work first"},
		[VPA_LIMIT_FAULTS] = {VPA_FOUND_FAULT_BOUND,
			"unified memory is the limit: move the data before the kernels need it"},
	};
	struct vpa_load load = vpa_load_of_all(r);
	enum vpa_device_limit limit = vpa_device_limit_of(&load);
	struct vpa_finding *f;

	if (!vpa_device_limit_is_bound(limit))
		return;
	f = vpa_finding_add(r, bounds[limit].id, VPA_FINDING_INFO);
	if (!f)
		return;
	f->title = bound_title(r, limit, &load, bounds[limit].title);
	f->measured = vpa_arena_printf(&r->arena,
		"busy %s %% of the time from the first to the last op, %s %% of the window",
		vpa_percent(load.busy_ns, load.active_ns).text,
		vpa_percent(load.busy_ns, load.window_ns).text);
	f->threshold = limit == VPA_LIMIT_WORK ? "90 % of active, 25 % of the window"
					       : "25 % of active, and more than anything else";
}

/* ---- exposed time ---- */

struct exposed {
	enum vpa_finding_id id;
	const char *title, *what, *caveat;
	uint64_t (*ns)(const struct vpa_device *d);
	enum vpa_family family;
	uint64_t from_ns; /* lower end of the bound; 0: it is one number */
	double times;     /* so much of it can be saved; 0: all */
};

static uint64_t wait_ns(const struct vpa_device *d)
{
	return vpa_earlier(d->comm_wait_ns, d->exposed_comm_ns);
}

static uint64_t transfer_ns(const struct vpa_device *d)
{
	return d->exposed_comm_ns - wait_ns(d);
}

static uint64_t copy_ns(const struct vpa_device *d)
{
	return d->exposed_copy_ns;
}

static struct vpa_saving saving_of(const struct vpa_report *r, const struct exposed *e)
{
	struct vpa_saving s = {.from_ns = e->from_ns};
	size_t d;

	for (d = 0; d < r->device_count; d++) {
		uint64_t ns = e->ns(&r->devices[d]);

		if (e->times > 0)
			ns = vpt_sat_u64(e->times * (double)ns + 0.5);
		vpt_sat_add_to(&s.ns, ns);
		if (!s.device || ns > s.device_ns) {
			s.device = &r->devices[d];
			s.device_ns = ns;
		}
	}
	s.base_ns = vpa_gain_unit_busy(r, s.ns, e->family);
	return s;
}

static void find_exposed(struct vpa_report *r, const struct exposed *e)
{
	struct vpa_saving s = saving_of(r, e);
	struct vpa_finding *f;

	if (!vpa_saving_is_worth(r, &s) || (double)s.ns < exposed_share * (double)vpa_active_ns(r))
		return;
	f = vpa_finding_add(r, e->id, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = e->title;
	f->measured = vpa_arena_printf(&r->arena, "%s %s, %s %% of the window", e->what,
		vpa_duration(s.ns).text, vpa_percent(s.ns, vpa_windows_ns(r)).text);
	f->threshold = "5 % of active, 1 % of the window";
	f->caveat = f->note = e->caveat;
	vpa_finding_saves(r, f, &s);
}

/* ---- gradients that are reduced too often ---- */

/* How many passes of an optimizer step reduce the gradients; 0: one, or not known. Iterations tell passes apart where threads do not. */
static size_t reducing_passes(const struct vpa_report *r)
{
	if (r->reducing.passes)
		return r->reducing.passes;
	return r->reducing.by_optimizer && vpa_unit_reduces_in_each(r) ? vpa_unit_cycle(r) : 0;
}

/* Of what is exposed, that of all passes but the last. */
static int find_repeated_reductions(struct vpa_report *r, const struct exposed *e)
{
	struct exposed repeated = *e;
	size_t passes = reducing_passes(r);
	struct vpa_finding *f;

	if (!passes)
		return 0;
	repeated.id = VPA_FOUND_REPEATED_REDUCTIONS;
	repeated.times = (double)(passes - 1) / (double)passes;
	repeated.what = "exposed communication in passes whose gradients are reduced again:";
	repeated.title = vpa_arena_printf(&r->arena,
		"reduce gradients in the last of %zu passes only: no_sync() in the others, since "
		"the optimizer runs after %zu",
		passes, passes);
	find_exposed(r, &repeated);
	f = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_REPEATED_REDUCTIONS);
	if (!f)
		return 0;
	f->words = vpa_arena_printf(&r->arena, "no_sync() but in the last of %zu passes", passes);
	f->note = vpa_arena_printf(&r->arena,
		"the same all-reduces run in each of %zu passes; gradients add up without them",
		passes);
	return 1;
}

/* ---- small collectives ---- */

/* Calls of a device, that many or more in a unit, are many. */
enum { MANY_COLLECTIVES = 8 };

/* How many calls that move next to nothing a GPU makes in a unit, or in the window: most of what it communicates. 0: few,
 * or others take longer. */
static double small_collectives(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	double calls = 0, window_ns = 0, units_ns = (double)unit.span_ns, devices = 0;
	uint64_t small_ns = 0, all_ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		devices += d->comm_small_calls > 0;
		calls += (double)d->comm_small_calls;
		vpt_sat_add_to(&small_ns, d->comm_small_ns);
		vpt_sat_add_to(&all_ns, d->comm_ns - vpa_earlier(d->comm_wait_ns, d->comm_ns));
		window_ns = (double)d->active_ns > window_ns ? (double)d->active_ns : window_ns;
	}
	if (small_ns < all_ns / 2 || !(devices > 0))
		return 0;
	calls /= devices;
	if (unit.units > 0 && units_ns > 0 && window_ns > 0)
		calls *= least(units_ns, window_ns) / window_ns / unit.units;
	return calls >= MANY_COLLECTIVES ? calls : 0;
}

/* "120 calls in a step of at most 30 us each" */
static const char *small_collectives_text(struct vpa_report *r, double calls)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t all = 0, ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++) {
		vpt_sat_add_to(&all, r->devices[i].comm_small_calls);
		vpt_sat_add_to(&ns, r->devices[i].comm_small_ns);
	}
	return vpa_arena_printf(&r->arena,
		"about %.0f small calls %s%s on a GPU, %s each without waiting", calls,
		unit.units > 0 ? "in each " : "in the window",
		unit.units > 0 ? vpa_unit_kind_name(unit.kind) : "", vpa_duration(ns / all).text);
}

/* Calls that move next to nothing cost what a call costs, and make the GPUs wait for each other each time. */
static void name_small_collectives(struct vpa_report *r)
{
	struct vpa_finding *comm = (struct vpa_finding *)vpa_finding_find(
				   r, VPA_FOUND_EXPOSED_COMM),
			   *wait = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_PEER_WAIT);
	double calls = comm || wait ? small_collectives(r) : 0;
	const char *text = calls > 0 ? small_collectives_text(r, calls) : NULL;

	if (comm && text) {
		comm->id = VPA_FOUND_SMALL_COLLECTIVES;
		comm->title = "many small collectives: join them, as DDP's buckets or one "
			      "all-reduce of several tensors do";
		comm->note = text;
		comm->caveat = "where the bytes of a call are not recorded, a short one is taken "
			       "for small";
	}
	if (wait && text)
		wait->note = vpa_arena_printf(&r->arena,
			"%s; %s: fewer and larger ones wait less often", wait->note, text);
}

/* What copies inside a GPU are of its memory's rate: each byte is read and written. "": not known. */
static const char *memory_share(struct vpa_report *r, const struct vpa_copy_row *c)
{
	double peak = -1;
	size_t i;

	for (i = 0; i < r->gpu_count && !(peak > 0); i++)
		peak = vpa_gpu_peak_gb_per_s(&r->gpus[i]);
	if (!(peak > 0) || c->kind != VPT_COPYKIND_DTOD)
		return "";
	return vpa_arena_printf(&r->arena, ", %.0f of the memory's %.0f with reading and writing",
		2 * c->gb_per_s, peak);
}

/* Fills in what most of the exposed copies are, and what the two ends of the bound assume. */
static void note_copies(struct vpa_report *r, struct vpa_finding *f, const char *done)
{
	const struct vpa_copy_row *c = r->copies;
	const char *range = "";

	if (f->gain_from_ms > 0)
		range = vpa_arena_printf(&r->arena,
			"the smaller gain if they run beside kernels, the larger one if nothing "
			"is %s; ",
			done);
	if (is_mostly_memsets(r))
		f->note = vpa_arena_printf(&r->arena, "%smostly memsets, %s at %s GB/s", range,
			vpa_bytes(c->bytes).text, vpa_fixed(c->gb_per_s, 1).text);
	else
		f->note = vpa_arena_printf(&r->arena, "%smostly %s, %s to %s, %s at %s GB/s%s",
			range, vpt_word(VPT_UNIT_COPY_KIND, c->kind),
			vpt_word(VPT_UNIT_MEMORY_KIND, c->source),
			vpt_word(VPT_UNIT_MEMORY_KIND, c->target), vpa_bytes(c->bytes).text,
			vpa_fixed(c->gb_per_s, 1).text, memory_share(r, c));
}

/* Which way most copies go, in words; NULL: between GPUs, or not known. */
static const char *way_of(const struct vpa_copy_row *c)
{
	return c->kind == VPT_COPYKIND_HTOD   ? "to the GPU"
	       : c->kind == VPT_COPYKIND_DTOH ? "to the host"
					      : NULL;
}

/* The largest kind of copies determines the advice. */
static void name_copies(struct vpa_report *r, int is_too_much, const struct vpa_saving *s)
{
	struct vpa_finding *f = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_EXPOSED_COPY);
	const struct vpa_copy_row *c = r->copies;
	int is_pageable;

	if (!f || !r->copy_count)
		return;
	is_pageable = c->source == VPT_MEMKIND_PAGEABLE || c->target == VPT_MEMKIND_PAGEABLE;
	vpa_finding_evidence(f, "C1");
	if (is_mostly_memsets(r)) {
		f->title = "clear less memory: do not clear large buffers in the loop, and none "
			   "that a kernel writes as a whole (torch.empty)";
		note_copies(r, f, "cleared");
		return;
	}
	if (way_of(c))
		f->title = vpa_arena_printf(&r->arena,
			"overlap copies %s: kernels hide them with pinned memory and a separate "
			"stream; or offload less",
			way_of(c));
	if (is_too_much)
		f->title = "copy less: keep reused data on the GPU; there is too little compute to "
			   "hide these copies";
	if (is_too_much && is_pageable)
		f->title = "pin the memory that is copied, or copy less: pageable copies are slow, "
			   "and the host waits for them";
	if (c->kind == VPT_COPYKIND_DTOD)
		f->title = "copy less inside the GPU: use views instead of clones, and kernels "
			   "that write where the result is read";
	note_copies(r, f, "copied");
	if (c->kind == VPT_COPYKIND_HTOD ||
		(c->kind == VPT_COPYKIND_DTOH && vpa_copies_go_both_ways(r)))
		vpa_finding_of_uploads(r, f, is_too_much && !is_pageable, s);
}

/* ---- who is waited for ---- */

/* Whether this rank does hardly any work in the ranges of this name, where it waits most. What they launch runs beside each other for
 * `busy_ns`: without the collectives of the place that is work, and so may be as much as compute hides of communication, at most. */
static int only_waits_in(const struct vpa_report *r, const struct vpa_device *d, const char *name)
{
	static const double own_share = 0.05;
	uint64_t busy_ns = 0, own_ns;
	size_t i;

	for (i = 0; i < r->range_count; i++)
		if (!strcmp(r->ranges[i].name, name))
			vpt_sat_add_to(&busy_ns, r->ranges[i].busy_ns);
	own_ns = vpt_sat_add(vpt_sat_sub(busy_ns, d->comm_place_ns),
		vpt_sat_sub(d->comm_ns, d->exposed_comm_ns));
	return busy_ns && (double)own_ns <= own_share * (double)d->comm_wait_place_ns;
}

/* Where the rank waits, and whether others work there and it does not: of one GPU, since others of the trace may do that work. */
static void name_peers(struct vpa_report *r)
{
	struct vpa_finding *f = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_PEER_WAIT);
	const struct vpa_device *d = r->devices;
	const char *name;

	if (!f || r->device_count != 1)
		return;
	if (d->comm_sized_ns == d->comm_ns)
		f->caveat = f->note = "a transfer is taken to be as fast as the fastest of its "
				      "kind: what all calls wait is not in it";
	name = d->comm_wait_place.text;
	vpa_finding_work_is_at(r, f, &d->comm_wait_place, d->comm_wait_place_ns, d->comm_wait_ns);
	if (!f->where)
		return;
	/* The words have no room for it. */
	f->note = vpa_arena_printf(&r->arena, "%s of it %s; %s",
		vpa_part_word(d->comm_wait_place_ns, d->comm_wait_ns), f->where, f->caveat);
	if (!only_waits_in(r, d, name))
		return;
	f->title = vpa_arena_printf(&r->arena,
		"other ranks work in %.60s while this one waits: share that work among all ranks",
		name);
	f->words = "share the work of other ranks";
	f->note = vpa_arena_printf(&r->arena,
		"this rank launches hardly any work in %.60s: give it a part of what the others "
		"do; if that cannot be, find the late one: vptrace-analyze ranks",
		name);
}

/* ---- how to send less ---- */

/* Whether a collective adds or moves FP32, as its name says: "..._Sum_f32_RING_LL", of older libraries "..._Sum_float". */
static int sends_fp32(const char *name)
{
	return strstr(name, "_f32") || strstr(name, "_float");
}

/* What can be sent less of: it depends on what the collective is for. A backward pass exchanges gradients; without one, ranks share
 * the work of one pass. */
static const char *send_less(struct vpa_report *r)
{
	const struct vpa_kernel_row *most = NULL;
	enum vpa_collective_kind kind;
	int trains = 0;
	size_t i;

	for (i = 0; i < r->kernel_names; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];

		trains |= vpa_is_marked(k->marks, VPA_MARK_BACKWARD) ||
			  k->family == VPA_FAMILY_OPTIMIZER;
		if (k->family == VPA_FAMILY_COMM && (!most || k->exclusive_ns > most->exclusive_ns))
			most = k;
	}
	/* Then it may be that each pass sums gradients, which is not seen. */
	if (trains && r->reducing.by_optimizer)
		return "no_sync() in all passes but the last where gradients accumulate, gradients "
		       "in BF16, larger batches";
	if (most && sends_fp32(most->name))
		return trains ? "gradients in BF16, larger batches" : "BF16 in place of FP32";
	if (trains)
		return "larger batches, gradients accumulated over several passes with no_sync()";
	kind = most ? vpa_collective_kind_of(most->name, strlen(most->name)) : VPA_COLLECTIVE_OTHER;
	if (kind == VPA_COLLECTIVE_ALL_TO_ALL || kind == VPA_COLLECTIVE_SEND_RECV)
		return "the two passes of guidance on GPUs of their own, fewer GPUs for one "
		       "sequence (Ulysses, ring), FP8";
	/* As FSDP does for each layer, in training to save memory. */
	if (kind == VPA_COLLECTIVE_ALL_GATHER)
		return "whole weights on each GPU where they fit, in place of shards";
	return "fewer GPUs for one model or sequence, FP8";
}

static void name_comm(struct vpa_report *r)
{
	struct vpa_finding *f = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_EXPOSED_COMM);

	if (!f)
		return;
	f->words = "overlap communication, or send less";
	f->note = vpa_arena_printf(&r->arena, "%s%s%s", f->note ? f->note : "",
		f->note ? "; or " : "or ", send_less(r));
}

static void find_unhidden(struct vpa_report *r)
{
	/* Exposed copies can overlap at most that. The rest must be removed. */
	struct vpa_hidden_copies hidden = vpa_hidden_copies_of(r, 0);
	int is_too_much = hidden.left_ns > 0;
	const struct exposed kinds[] = {
		{VPA_FOUND_EXPOSED_COPY,
			"overlap copies with kernels: pinned memory, a separate stream, fewer "
			"offloads",
			"exposed copies and memsets:", NULL, copy_ns,
			is_mostly_memsets(r) ? VPA_FAMILY_MEMSET : VPA_FAMILY_MEMCPY,
			is_too_much ? hidden.saved_ns : 0, 0},
		{VPA_FOUND_EXPOSED_COMM,
			"overlap communication with compute: asynchronous collectives, smaller "
			"buckets",
			"exposed communication:", NULL, transfer_ns, VPA_FAMILY_COMM, 0, 0},
		{VPA_FOUND_PEER_WAIT,
			"find the rank that is late: vptrace-analyze ranks, with the captures of "
			"all",
			"communication that may be waiting for other ranks:",
			"assumes that calls of one kernel and grid move equal amounts; a longer "
			"transfer looks like waiting",
			wait_ns, VPA_FAMILY_COMM, 0, 0},
	};
	struct vpa_saving copies = saving_of(r, &kinds[0]);
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].id != VPA_FOUND_EXPOSED_COMM ||
			!find_repeated_reductions(r, &kinds[i]))
			find_exposed(r, &kinds[i]);
	name_copies(r, is_too_much, &copies);
	name_peers(r);
	name_small_collectives(r);
	name_comm(r);
}

/* ---- work that could be cheaper ---- */

/* Such a convolution copies its input into columns, each value once for each of the filter's, and multiplies these. Without it
 * something else has to convolve, so all of it is the bound, and the copies are what is likely saved. */
static void find_unfused_conv(struct vpa_report *r)
{
	const struct vpa_column_convs *c = &r->column_convs;
	uint64_t total = c->total_ns;
	struct vpa_saving s = {.ns = vpa_earlier(total, vpa_busy_ns(r))};
	struct vpa_finding *f;

	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_VOL2COL, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "convolutions run as vol2col and a product, not in cuDNN: check their dtype, "
		   "layout and padding";
	s.base_ns =
		vpa_gain_unit_busy(r, s.ns, VPA_FAMILY_CONV); /* the copies are of that family */
	vpa_finding_saves(r, f, &s);
	f->base_likely_ms = f->base_gain_ms * (double)c->copy_ns / (double)total;
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " convolution%s, %s with products, of it %s in vol2col", c->count,
		vpa_plural(c->count), vpa_duration(total).text, vpa_duration(c->copy_ns).text);
	f->note = f->measured;
	f->threshold = "1 % of the window, 2 % of active";
}

/* If a GPU mostly waits, the cost of its work matters little. */
static void note_little_work(struct vpa_report *r, size_t from)
{
	uint64_t busy = vpa_busy_ns(r), active = vpa_active_ns(r);
	size_t i;

	if (busy >= active / 2)
		return;
	for (i = from; i < r->finding_count; i++)
		r->findings[i].note = vpa_arena_printf(&r->arena,
			"the GPU is busy only %s %% of its active time%s%.300s",
			vpa_percent(busy, active).text, r->findings[i].note ? "; " : "",
			r->findings[i].note ? r->findings[i].note : "");
}

void vpa_find_work(struct vpa_report *r)
{
	size_t from;

	find_bound(r);
	from = r->finding_count;
	find_unhidden(r);
	vpa_find_attention(r);
	vpa_find_kernels(r);
	vpa_find_quantising(r);
	vpa_find_adapter(r);
	find_unfused_conv(r);
	note_little_work(r, from);
}
