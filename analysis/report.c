/* report.c - facts about any report: where its buckets begin, which request represents it, which line a
 * place or a call waited at. */
#include "analysis/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/memory.h"

const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS] = {
	"lt_1us", "1_5us", "5_20us", "20_100us", "100us_1ms", "1_10ms", "gt_10ms"};
const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1] = {
	0, 1000, 5000, 20000, 100000, 1000000, 10000000, UINT64_MAX};

const struct vpa_request *vpa_main_request(const struct vpa_report *r)
{
	const struct vpa_request *best = NULL;
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		const struct vpa_request *q = &r->requests[i];

		if (!best || q->blocks.measured > best->blocks.measured ||
			(q->blocks.measured == best->blocks.measured &&
				(q->blocks.count > best->blocks.count ||
					(q->blocks.count == best->blocks.count &&
						q->steps.count > best->steps.count))))
			best = q;
	}
	return best;
}

void vpa_report_free(struct vpa_report *r)
{
	if (!r)
		return;
	vpa_arena_free(&r->arena);
	vpt_free(r);
}

const struct vpa_counter *vpa_find_counter(
	const struct vpa_report *r, int64_t device, const char *name)
{
	size_t i;

	for (i = 0; i < r->counter_count; i++)
		if (r->counters[i].device == device && !strcmp(r->counters[i].name, name))
			return &r->counters[i];
	return NULL;
}

static int is_same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

const struct vpa_top_line *vpa_top_line_of_place(const struct vpa_report *r, int64_t device,
	enum vpa_cause cause, const char *range, const char *call)
{
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &r->devices[d].causes[i];

			if (part->top && r->devices[d].device == device && part->cause == cause &&
				is_same(part->range, range) && is_same(part->call, call))
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

	snprintf(key, sizeof(key), "process.%" PRId64, pid);
	name = vpa_meta(r, key);
	return name ? name : vpa_meta(r, "command");
}
