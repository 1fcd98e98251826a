/* finding_changes.c - the change that a finding asks for, in the words of ../../retime/replay/change.h.
 *
 * A change is what the remedy does to calls and ops. Of host code half is taken, as in the order of findings, but all of what another
 * thread can do; of launches all,
 * since a CUDA graph leaves nearly none. A wait with long code after it stays: that code most likely needs
 * what was waited for. A small read takes the code along that works with the value: what follows it is neither a launch's usual
 * code nor longer than the code that causes count as the wait's. Copies that overlap kernels take no time of their own; what
 * waits for them still does. How long a kernel of fused attention takes is not in the trace; it has the arithmetic of
 * the two products and less traffic, so it is taken to be as long as they are, and brings at least that. So is a convolution that copies
 * no columns, whose library may be slower at it than at the product. A newer back-end of attention
 * brings at least what its authors measured. Of the code before the
 * first op the long stretches are taken; other host code is then what is shorter, so that no stretch is taken twice. */
#include "analysis/advice/finding.h"

#include "analysis/advice/findings.h"
#include "analysis/advice/findings/findings_first_use.h"
#include "analysis/advice/first_work.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <string.h>

#define DELETE_READS "delete small-reads; host 0 over 100us under 1ms after small-reads"

static const struct {
	const char *change;
	int at_least;
} changes[VPA_FOUND_COUNT] = {
	[VPA_FOUND_SMALL_READS] = {DELETE_READS, 0},
	[VPA_FOUND_SYNC_DRAIN] = {"drop syncs under 1ms", 0},
	[VPA_FOUND_BLOCKING_COPY] = {"drop copies under 1ms", 0},
	[VPA_FOUND_HOST_WAITS] = {DELETE_READS "; drop copies under 1ms; drop syncs under 1ms", 0},
	[VPA_FOUND_HOST_STALL] = {"host 0.5 over 100us", 0},
	[VPA_FOUND_LAUNCH_RATE] = {"host 0 per launch", 0},
	[VPA_FOUND_LAUNCH_BLOCKING] = {"drop launches", 0},
	[VPA_FOUND_ALLOCATION] = {"delete allocations", 0},
	[VPA_FOUND_MODULE_LOAD] = {"delete loads", 0},
	[VPA_FOUND_GRAPH_BUILD] = {"delete graph-builds", 0},
	[VPA_FOUND_REPEATED_REDUCTIONS] = {"delete reductions", 0},
	[VPA_FOUND_EAGER_ATTENTION] = {"scale eager-softmax 0", 1},
	[VPA_FOUND_FLASH_2_ON_HOPPER] = {NULL, 1},
	[VPA_FOUND_MEM_EFFICIENT_ATTENTION] = {NULL, 1},
	[VPA_FOUND_FP32_GEMM] = {NULL, 1},
	[VPA_FOUND_FP32_CONV] = {NULL, 1},
	[VPA_FOUND_TF32_GEMM] = {NULL, 1},
	[VPA_FOUND_TF32_CONV] = {NULL, 1},
	[VPA_FOUND_VOL2COL] = {"scale *2col* 0", 0},
	[VPA_FOUND_UNMERGED_ADAPTER] = {"delete adapters", 0},
	[VPA_FOUND_QUANTISING] = {"scale quant 0", 0},
	[VPA_FOUND_RECOMPUTATION] = {"delete recomputation", 0},
};

/* The kind of copies that take most time, or both of what goes out and back. NULL: none. */
static const char *main_copies(struct vpa_report *r)
{
	const struct vpa_copy_row *most = NULL;
	size_t i;

	/* Frames that come and go can only be copied beside kernels. */
	if (vpa_copies_go_both_ways(r) && !vpa_uploads_are_weights(r))
		return NULL;
	if (vpa_copies_come_back_once(r))
		return "scale DtoH 0";
	if (vpa_copies_go_both_ways(r))
		return "scale HtoD 0; scale DtoH 0";
	for (i = 0; i < r->copy_count; i++)
		if (!most || r->copies[i].total_ns > most->total_ns)
			most = &r->copies[i];
	return most ? vpa_arena_printf(
			      &r->arena, "scale %s 0", vpt_word(VPT_UNIT_COPY_KIND, most->kind))
		    : NULL;
}

/* Attention as in the block with least of it: how long its kernels take with fewer keys is in the trace. Of attention that is not
 * fused the products grow too, which are not told apart from others. NULL: not known. */
static const char *steady_attention(struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);
	uint64_t least_ns = UINT64_MAX, all_ns = 0;
	const char *text = NULL;
	size_t i, count = 0;

	for (i = 0; q && i < q->blocks.count; i++) {
		const struct vpa_block_row *b = &q->blocks.series[i];

		if (b->warmup)
			continue;
		if (b->eager_ns)
			return NULL;
		least_ns = vpa_earlier(b->attention_ns, least_ns);
		vpt_sat_add_to(&all_ns, b->attention_ns);
		count++;
	}
	for (i = 0; all_ns && i < r->family_count; i++)
		if (vpa_family_has_backend(r->families[i].family))
			text = vpa_arena_printf(&r->arena, "%s%sscale %s %s", text ? text : "",
				text ? "; " : "", vpa_family_name(r->families[i].family),
				vpa_fixed((double)least_ns * (double)count / (double)all_ns, 6)
					.text);
	return text;
}

/* How long the stretches of host code before the first op are that are most of that time, as a power of ten in ms, and where
 * they are. 0: it is something else, or they are short. If host code has a finding, its change is about them too. */
static unsigned long_head_ms(const struct vpa_report *r, const char **place)
{
	uint64_t all_ns, mean_ns;
	const struct vpa_idle_part *most = vpa_first_work_largest(r, &all_ns);
	unsigned ms = 1;

	if (!most || most->cause != VPA_CAUSE_HOST_CODE || !most->gaps ||
		most->ns / r->device_count < all_ns / r->device_count / 2 ||
		vpa_finding_find(r, VPA_FOUND_HOST_STALL))
		return 0;
	mean_ns = most->ns / most->gaps;
	while (mean_ns / 10 >= (uint64_t)ms * 1000000)
		ms *= 10;
	*place = most->place.kind == VPA_PLACE_IN ? most->place.text : NULL;
	return mean_ns >= 1000000 ? ms : 0;
}

int vpa_is_plain_name(const char *name)
{
	return name && strlen(name) < 100 && !strpbrk(name, ";*?[]()!@+\\\n");
}

static const char *first_work_change(struct vpa_report *r)
{
	const char *place = NULL;
	unsigned ms = long_head_ms(r, &place);

	if (!ms || !vpa_finding_find(r, VPA_FOUND_BEFORE_FIRST_WORK))
		return NULL;
	return vpa_arena_printf(&r->arena, "host 0.5 over %ums%s%s", ms,
		vpa_is_plain_name(place) ? " in " : "", vpa_is_plain_name(place) ? place : "");
}

/* Host code that neither the change above has nor a warm-up takes. */
static const char *host_change(struct vpa_report *r, const char *all)
{
	const char *place = NULL;
	uint64_t ms = long_head_ms(r, &place);

	if (!vpa_finding_find(r, VPA_FOUND_BEFORE_FIRST_WORK))
		ms = 0;
	if (!ms && vpa_finding_find(r, VPA_FOUND_FIRST_USE))
		ms = vpa_first_use_longer_ns(r) / 1000000;
	/* Stops of the host have their own change, too. */
	if (vpa_finding_find(r, VPA_FOUND_HOST_STOPS) &&
		r->host_stops.cause_ns[VPA_CAUSE_HOST_CODE] && (!ms || ms > VPA_STOP_NS / 1000000))
		ms = VPA_STOP_NS / 1000000;
	return ms ? vpa_arena_printf(&r->arena, "%s under %" PRIu64 "ms", all, ms) : all;
}

/* Its evidence is the name of the stage or range. */
static const char *again_change(struct vpa_report *r, const struct vpa_finding *f)
{
	return f->evidence_count && vpa_is_plain_name(f->evidence[0])
		       ? vpa_arena_printf(&r->arena, "skip 1/1 %s", f->evidence[0])
		       : NULL;
}

static void set_changes(struct vpa_report *r, struct vpa_finding *all, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct vpa_finding *f = &all[i];
		/* What moves data has its own, and so have what loads it and weights that do not fit. */
		int has_own = f->change != NULL;

		if (!has_own)
			f->change = changes[f->id].change;
		f->predicted_at_least = changes[f->id].at_least;
		if (f->id == VPA_FOUND_BEFORE_FIRST_WORK)
			f->change = first_work_change(r);
		if ((f->id == VPA_FOUND_PROMPT_AGAIN || f->id == VPA_FOUND_WORK_AGAIN) &&
			!f->is_asked)
			f->change = again_change(r, f);
		/* What unpacks with kernels of other families has to go as a whole. */
		if (f->id == VPA_FOUND_QUANTISING && r->unpacking.other_kernels)
			f->change = "delete unpacking; scale quant 0";
		/* The replay tells passes by threads. */
		if (f->id == VPA_FOUND_REPEATED_REDUCTIONS && !r->reducing.passes)
			f->change = NULL;
		/* The kernels of a chain that packs have no name of their own. */
		if (f->id == VPA_FOUND_QUANTISING && r->quantised.kernels)
			f->change = NULL;
		if (f->id == VPA_FOUND_HOST_STALL && !has_own)
			f->change =
				host_change(r, f->is_of_results ? "host 0 over 100us" : f->change);
		f->takes_half =
			f->change &&
			(f->id == VPA_FOUND_BEFORE_FIRST_WORK ||
				(f->id == VPA_FOUND_HOST_STALL && !has_own && !f->is_of_results));
		if (f->id == VPA_FOUND_EXPOSED_COPY && !has_own)
			f->change = main_copies(r);
		if (f->id == VPA_FOUND_ATTENTION_GROWTH) {
			/* A range, of which this is the lower end. */
			f->change = steady_attention(r);
			f->predicted_at_least = f->gain_from_ms > 0;
		}
	}
}

void vpa_finding_changes(struct vpa_report *r)
{
	set_changes(r, r->findings, r->finding_count);
	set_changes(r, r->candidates, r->candidate_count);
}
