/* report.c - facts about any report: where its buckets begin, which request represents it, which line a
 * place or a call waited at. */
#include "analysis/report/report.h"

#include "analysis/base/choices.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <stdio.h>

const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS] = {
	"lt_1us", "1_5us", "5_20us", "20_100us", "100us_1ms", "1_10ms", "gt_10ms"};
const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1] = {
	0, 1000, 5000, 20000, 100000, 1000000, 10000000, UINT64_MAX};

const char *vpa_finding_text(enum vpa_finding_id id)
{
	static const char *const texts[] = {
#define VPA_FINDING_ID(name, text) text,
#include "analysis/report/rows/finding_ids.def"
	};

	return texts[id];
}

/* Above 0: a has more to measure than b; 0: as much. */
static int compare_requests(const struct vpa_request *a, const struct vpa_request *b)
{
	if (a->blocks.measured != b->blocks.measured)
		return a->blocks.measured > b->blocks.measured ? 1 : -1;
	if (a->blocks.count != b->blocks.count)
		return a->blocks.count > b->blocks.count ? 1 : -1;
	return (a->steps.count > b->steps.count) - (a->steps.count < b->steps.count);
}

/* How fast it was, as far as known. */
static double rate_of(const struct vpa_request *q)
{
	return q->blocks.fps > 0       ? q->blocks.fps
	       : q->fps_end_to_end > 0 ? q->fps_end_to_end
	       : q->steps.steps_per_s > 0
		       ? q->steps.steps_per_s
		       : 1e9 / (double)(q->end_ns > q->start_ns ? q->end_ns - q->start_ns : 1);
}

enum { LOOKED_AT = 64 }; /* requests after the first are compared at most */

/* The one with the median rate; of two in the middle the slower, of equal ones the earlier. */
static const struct vpa_request *median_of(const struct vpa_request *const *all, size_t count)
{
	size_t at, i;

	for (at = 0; at < count; at++) {
		double rate = rate_of(all[at]);
		size_t slower = 0;

		for (i = 0; i < count; i++)
			slower += rate_of(all[i]) < rate || (!(rate_of(all[i]) > rate) && i < at);
		if (slower == (count - 1) / 2)
			return all[at];
	}
	return NULL;
}

const struct vpa_gpu *vpa_report_gpu(const struct vpa_report *r, int64_t device)
{
	size_t i;

	for (i = 0; i < r->gpu_count; i++)
		if (r->gpus[i].device == device)
			return &r->gpus[i];
	return NULL;
}

const struct vpa_device *vpa_report_device(const struct vpa_report *r, int64_t device)
{
	size_t i;

	for (i = 0; i < r->device_count; i++)
		if (r->devices[i].device == device)
			return &r->devices[i];
	return NULL;
}

const struct vpa_request *vpa_main_request(const struct vpa_report *r)
{
	const struct vpa_request *best = NULL, *steady[LOOKED_AT];
	size_t i, count = 0;

	for (i = 0; i < r->request_count; i++)
		if (!best || compare_requests(&r->requests[i], best) > 0)
			best = &r->requests[i];
	for (i = 1; i < r->request_count && count < LOOKED_AT; i++)
		if (!compare_requests(&r->requests[i], best))
			steady[count++] = &r->requests[i];
	return count ? median_of(steady, count) : best;
}

VPA_WORDS_OF(enum vpa_attention_kind, vpa_attention_kind_name, [VPA_ATTENTION_UNKNOWN] = "unknown",
	[VPA_ATTENTION_SELF] = "self", [VPA_ATTENTION_CROSS] = "cross");

void vpa_report_free(struct vpa_report *r)
{
	if (!r)
		return;
	vpa_arena_free(&r->arena);
	vpt_free(r);
}

const struct vpa_counter *vpa_find_counter(
	const struct vpa_report *r, int64_t device, enum vpt_series series)
{
	size_t i;

	for (i = 0; i < r->counter_count; i++)
		if (r->counters[i].device == device && r->counters[i].series == series)
			return &r->counters[i];
	return NULL;
}

const struct vpa_top_line *vpa_top_line_of_place(const struct vpa_report *r, int64_t device,
	enum vpa_cause cause, const struct vpa_place *place, const char *call)
{
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &r->devices[d].causes[i];

			if (part->top && r->devices[d].device == device && part->cause == cause &&
				!vpa_place_compare(&part->place, place) &&
				vpt_same_text(part->call, call))
				return part->top;
		}
	return NULL;
}

const struct vpa_top_line *vpa_top_line_of_call(const struct vpa_report *r, const char *call)
{
	const struct vpa_idle_part *best = NULL;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &r->devices[d].causes[i];

			if (part->top && part->top->line.file && part->call && call &&
				!strcmp(part->call, call) && (!best || part->ns > best->ns))
				best = part;
		}
	return best ? best->top : NULL;
}

const char *vpa_process_name(const struct vpa_report *r, int64_t pid)
{
	char key[40];
	const char *name;

	snprintf(key, sizeof(key), VPT_METADATA_PROCESS "%" PRId64, pid);
	name = vpa_meta_of_key(r, key);
	return name ? name : vpa_meta(r, VPT_METADATA_COMMAND);
}
