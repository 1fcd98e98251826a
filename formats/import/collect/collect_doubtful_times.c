/* collect_doubtful_times.c - times of ops in a foreign trace that cannot be.
 *
 * A profiler that converts a device's time wrongly gives an op a length that runs over the ops behind it, and
 * hides all idle time, or puts ops before their launches.
 *
 *	- An op lasts too long if two or more later ones of its stream, one after the other, end before
 *	  it does. The next kernel may begin early (programmatic dependent launch) and overlap it, but
 *	  not the one behind that. It is cut at the start of the next. Nodes of a graph are not
 *	  compared: they may run at once.
 *	- The clocks of a process and a GPU disagree if at least 3 of its ops there, and a tenth of those
 *	  with a launch, begin before their launch by more than rounding explains. META
 *	  "clock.disagrees_ns" then says by how much at least: what any op waited for is unknown.
 *
 * Left out: rows that are far away, see collect_strays.c. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/base/run_sort.h"
#include "formats/clocks.h"
#include "formats/import/collect/collect_state.h"

#include <inttypes.h>
#include <stdio.h>

struct op {
	uint64_t lane, start, end, correlation;
	uint64_t *row; /* its lane, then its columns */
	int is_node;
};

struct ops {
	struct op *at;
	size_t count;
};

/* Both kinds of ops begin with START and DURATION. */
static void list_ops(const struct vpt_collect *c, uint8_t kind, unsigned correlation, unsigned node,
	struct ops *ops)
{
	size_t i;

	for (i = 0; i < c->kinds[kind].count; i++) {
		uint64_t *row = vpt_collect_row_at(c, kind, i), start = row[1],
			 end = row[1] + row[2];

		if ((start || c->zero_is_time) && end >= start)
			ops->at[ops->count++] = (struct op){
				row[0], start, end, row[1 + correlation], row, row[1 + node] != 0};
	}
}

/* ---- too long ---- */

static int is_op_after(const void *pa, const void *pb, void *unused)
{
	const struct op *a = pa, *b = pb;

	(void)unused;
	if (a->lane != b->lane)
		return a->lane > b->lane;
	if (a->start != b->start)
		return a->start > b->start;
	return a->end < b->end;
}

/* Whether the two ops after this one ran during it, one after the other. */
static int is_too_long(const struct vpt_collect *c, const struct op *op)
{
	const struct op *next = op + 1, *third = op + 2;

	return op->lane == third->lane && op->lane && op->lane <= c->lane_count &&
	       (int64_t)c->lanes[op->lane - 1].stream != -1 && next->end < op->end &&
	       third->end < op->end && next->start > op->start && third->start >= next->end &&
	       !op->is_node && !next->is_node && !third->is_node && op->correlation &&
	       next->correlation && op->correlation != next->correlation;
}

static int cut_long(struct vpt_collect *c, struct ops *ops)
{
	size_t i;

	if (vpt_run_sort(ops->at, ops->count, sizeof(*ops->at), is_op_after, NULL))
		return VPT_ENOMEM;
	for (i = 0; i + 2 < ops->count; i++) {
		struct op *op = &ops->at[i];

		if (!is_too_long(c, op))
			continue;
		op->row[2] = ops->at[i + 1].start - op->start;
		c->doubts.cut_ops++;
	}
	return VPT_OK;
}

/* ---- before the launch ---- */

/* Of the ops of a process on a device. */
struct leads {
	uint64_t pid, device;
	uint64_t launched, premature, lead_ns;
};

struct launch {
	uint64_t pid, id, start;
};

struct comparing {
	struct vpt_collect *c;
	struct launch *launches;
	struct leads *leads;
	size_t launch_count, launch_cap, lead_count, lead_cap;
	struct vpt_map by_id,
		by_clocks; /* `launches` by process and id, `leads` by process and device */
};

/* If one process launches, all ids are its own, and some lanes may not say so. */
static uint64_t pid_of(const struct vpt_collect *c, uint64_t lane)
{
	return c->launching > 1 && lane && lane <= c->lane_count ? c->lanes[lane - 1].pid
								 : (uint64_t)-1;
}

static struct launch *find_launch(const struct comparing *g, uint64_t pid, uint64_t id)
{
	uint64_t hash = vpt_hash_pair(pid, id), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&g->by_id, hash, &at)) != VPT_MAP_NONE)
		if (g->launches[n].pid == pid && g->launches[n].id == id)
			return &g->launches[n];
	return NULL;
}

/* Of calls inside each other, which share an id, the outermost is the launch. */
static int list_launches(struct comparing *g)
{
	size_t i;

	for (i = 0; i < g->c->kinds[VPT_CALL].count; i++) {
		const uint64_t *row = vpt_collect_row_at(g->c, VPT_CALL, i);
		struct launch call = {pid_of(g->c, row[0]), row[1 + VPT_CALL_CORRELATION], row[1]};
		struct launch *known;

		if (!vpt_collect_is_launch(row))
			continue;
		known = find_launch(g, call.pid, call.id);
		if (known) {
			known->start = call.start < known->start ? call.start : known->start;
			continue;
		}
		if (vpt_grow(&g->launches, &g->launch_cap, g->launch_count + 1,
			    sizeof(*g->launches)) ||
			vpt_map_put(&g->by_id, vpt_hash_pair(call.pid, call.id),
				(uint32_t)g->launch_count))
			return VPT_ENOMEM;
		g->launches[g->launch_count++] = call;
	}
	return VPT_OK;
}

static struct leads *leads_of(struct comparing *g, uint64_t pid, uint64_t device)
{
	uint64_t hash = vpt_hash_pair(pid, device), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&g->by_clocks, hash, &at)) != VPT_MAP_NONE)
		if (g->leads[n].pid == pid && g->leads[n].device == device)
			return &g->leads[n];
	if (vpt_grow(&g->leads, &g->lead_cap, g->lead_count + 1, sizeof(*g->leads)) ||
		vpt_map_put(&g->by_clocks, hash, (uint32_t)g->lead_count))
		return NULL;
	g->leads[g->lead_count] = (struct leads){.pid = pid, .device = device};
	return &g->leads[g->lead_count++];
}

static int count_leads(struct comparing *g, const struct ops *ops)
{
	size_t i;

	for (i = 0; i < ops->count; i++) {
		const struct op *op = &ops->at[i];
		uint64_t pid = pid_of(g->c, op->lane), lead;
		const struct launch *launch =
			op->correlation ? find_launch(g, pid, op->correlation) : NULL;
		struct leads *l;

		if (!launch || !op->lane || op->lane > g->c->lane_count)
			continue;
		l = leads_of(g, pid, g->c->lanes[op->lane - 1].device);
		if (!l)
			return VPT_ENOMEM;
		lead = launch->start > op->start ? launch->start - op->start : 0;
		l->launched++;
		l->premature += lead > VPT_ROUNDED_NS;
		l->lead_ns = lead > l->lead_ns ? lead : l->lead_ns;
	}
	return VPT_OK;
}

static int compare_clocks(struct vpt_collect *c, const struct ops *ops)
{
	struct comparing g = {.c = c};
	uint64_t lead_ns = 0;
	char text[24];
	size_t i;
	int rc = list_launches(&g);

	if (!rc)
		rc = count_leads(&g, ops);
	for (i = 0; i < g.lead_count; i++)
		if (vpt_clocks_disagree(g.leads[i].premature, g.leads[i].launched) &&
			g.leads[i].lead_ns > lead_ns)
			lead_ns = g.leads[i].lead_ns;
	vpt_map_free(&g.by_id);
	vpt_map_free(&g.by_clocks);
	vpt_free(g.launches);
	vpt_free(g.leads);
	if (rc || !lead_ns)
		return rc;
	snprintf(text, sizeof(text), "%" PRIu64, lead_ns);
	vpt_collect_fact(c, VPT_METADATA_CLOCK_DISAGREES, text);
	return c->failed;
}

int vpt_collect_doubt_times(struct vpt_collect *c)
{
	struct ops ops = {.count = 0};
	size_t count = c->kinds[VPT_KERNEL].count + c->kinds[VPT_COPY].count;
	int rc;

	if (!count)
		return VPT_OK;
	ops.at = vpt_alloc(count, sizeof(*ops.at));
	if (!ops.at)
		return VPT_ENOMEM;
	list_ops(c, VPT_KERNEL, VPT_KERNEL_CORRELATION, VPT_KERNEL_GRAPH_NODE, &ops);
	list_ops(c, VPT_COPY, VPT_COPY_CORRELATION, VPT_COPY_GRAPH_NODE, &ops);
	rc = cut_long(c, &ops);
	if (!rc)
		rc = compare_clocks(c, &ops);
	vpt_free(ops.at);
	return rc;
}
