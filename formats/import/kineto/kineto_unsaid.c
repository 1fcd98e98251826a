/* kineto_unsaid.c - collectives of which only their kernels say what they are.
 *
 *	record_param_comms   [--------------]     thread, time
 *	cudaLaunchKernelExC         [--]          thread, time, correlation
 *	ncclDevKernel_...                   [==]  correlation, what it is
 *
 * A launch whose number another one has, as in a file of several ranks, belongs to no kernel for sure. */
#include "formats/import/kineto/kineto_parts.h"

#include "formats/base/memory.h"
#include "formats/base/search.h"
#include "formats/calls.h"

#include <stdlib.h>

struct vpt_kineto_unsaid_range {
	uint64_t lane;
	struct vpt_range row;
};

struct vpt_kineto_unsaid_launch {
	uint64_t correlation, lane, start_ns;
};

struct vpt_kineto_unsaid_kernel {
	uint64_t correlation, start_ns, text;
};

void vpt_kineto_unsaid_range(
	struct vpt_kineto_rows *r, uint64_t lane, const struct vpt_range *range)
{
	struct vpt_kineto_unsaid *u = &r->unsaid;

	if (vpt_grow(&u->ranges, &u->range_cap, u->range_count + 1, sizeof(*u->ranges)))
		r->no_memory = 1;
	else
		u->ranges[u->range_count++] = (struct vpt_kineto_unsaid_range){lane, *range};
}

void vpt_kineto_unsaid_launch(
	struct vpt_kineto_rows *r, uint64_t lane, const struct vpt_call *launch)
{
	struct vpt_kineto_unsaid *u = &r->unsaid;

	if (!u->range_count || !launch->correlation ||
		!vpt_call_launches(vpt_call_class((uint32_t)launch->id)))
		return;
	if (vpt_grow(&u->launches, &u->launch_cap, u->launch_count + 1, sizeof(*u->launches)))
		r->no_memory = 1;
	else
		u->launches[u->launch_count++] = (struct vpt_kineto_unsaid_launch){
			launch->correlation, lane, launch->start_ns};
}

void vpt_kineto_unsaid_kernel(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, uint64_t correlation)
{
	struct vpt_kineto_unsaid *u = &r->unsaid;
	char text[VPT_KINETO_COLLECTIVE_BYTES];
	size_t len = u->range_count && correlation ? vpt_kineto_collective(e->args, text) : 0;

	if (!len)
		return;
	if (vpt_grow(&u->kernels, &u->kernel_cap, u->kernel_count + 1, sizeof(*u->kernels)))
		r->no_memory = 1;
	else
		u->kernels[u->kernel_count++] = (struct vpt_kineto_unsaid_kernel){
			correlation, e->start_ns, vpt_collect_string(r->collect, text, len)};
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_correlation(const void *a, const void *b)
{
	const struct vpt_kineto_unsaid_launch *x = a, *y = b;

	return compare(x->correlation, y->correlation);
}

static int by_start(const void *a, const void *b)
{
	const struct vpt_kineto_unsaid_kernel *x = a, *y = b;
	int order = compare(x->start_ns, y->start_ns);

	return order ? order : compare(x->correlation, y->correlation);
}

static int by_lane(const void *a, const void *b)
{
	const struct vpt_kineto_unsaid_range *x = a, *y = b;
	int order = compare(x->lane, y->lane);

	return order ? order : compare(x->row.start_ns, y->row.start_ns);
}

/* NULL: none has this number, or several have. */
static const struct vpt_kineto_unsaid_launch *find_launch(
	const struct vpt_kineto_unsaid *u, uint64_t correlation)
{
	size_t low = 0, high = u->launch_count;

	VPT_SEARCH(low, high, middle, u->launches[middle].correlation < correlation);
	if (low == u->launch_count || u->launches[low].correlation != correlation ||
		(low + 1 < u->launch_count && u->launches[low + 1].correlation == correlation))
		return NULL;
	return &u->launches[low];
}

/* The last range of the thread that had begun, if it is open at the launch. */
static struct vpt_range *find_range(
	const struct vpt_kineto_unsaid *u, const struct vpt_kineto_unsaid_launch *launch)
{
	const struct vpt_kineto_unsaid_range key = {launch->lane, {.start_ns = launch->start_ns}};
	size_t low = 0, high = u->range_count;
	struct vpt_range *row;

	VPT_SEARCH(low, high, middle, by_lane(&u->ranges[middle], &key) <= 0);
	if (!low || u->ranges[low - 1].lane != launch->lane)
		return NULL;
	row = &u->ranges[low - 1].row;
	return launch->start_ns - row->start_ns < row->duration_ns ? row : NULL;
}

static void say(const struct vpt_kineto_unsaid *u, const struct vpt_kineto_unsaid_kernel *kernel)
{
	const struct vpt_kineto_unsaid_launch *launch = find_launch(u, kernel->correlation);
	struct vpt_range *row = launch ? find_range(u, launch) : NULL;

	if (!row || row->payload)
		return;
	row->payload = VPT_PAYLOAD_JSON;
	row->value = kernel->text;
}

void vpt_kineto_unsaid_end(struct vpt_kineto_rows *r)
{
	struct vpt_kineto_unsaid *u = &r->unsaid;
	size_t i;

	if (u->kernel_count && u->launch_count) {
		qsort(u->ranges, u->range_count, sizeof(*u->ranges), by_lane);
		qsort(u->launches, u->launch_count, sizeof(*u->launches), by_correlation);
		qsort(u->kernels, u->kernel_count, sizeof(*u->kernels), by_start);
		for (i = 0; i < u->kernel_count; i++)
			say(u, &u->kernels[i]);
	}
	for (i = 0; i < u->range_count; i++)
		vpt_collect_put(r->collect, VPT_RANGE, u->ranges[i].lane, &u->ranges[i].row);
}

void vpt_kineto_unsaid_free(struct vpt_kineto_unsaid *u)
{
	vpt_free(u->ranges);
	vpt_free(u->launches);
	vpt_free(u->kernels);
	*u = (struct vpt_kineto_unsaid){0};
}
