/* resolver_backlogs.c - ops without a launch: those that were queued before the recording began lack
 * nothing, see struct vpa_backlog. */
#include "analysis/join/resolver_parts.h"

/* Whether an op of its stream before it has a launch. */
static int follows_launch(const struct vpa_resolver *r, const struct vpa_ops *ops, size_t i)
{
	uint32_t stream = ops->stream[i];

	if (r->backlogs[stream].is_over)
		return 1;
	while (i--)
		if (ops->stream[i] == stream && ops->launch[i])
			return 1;
	return 0;
}

/* An op that began before every recorded call was launched before the recording. */
void vpa_resolver_count_without_launch(struct vpa_resolver *r, const struct vpa_ops *ops, size_t i)
{
	struct vpa_backlog *backlog = &r->backlogs[ops->stream[i]];
	uint64_t start_ns = ops->start_ns[i], id = ops->correlation[i];

	if (ops->kind[i] == VPA_MEMCPY && vpt_copy_is_migration(ops->copy[i].kind))
		return; /* has none by nature */
	r->ops_without_launch++;
	if (start_ns < r->first_unlaunched_ns)
		r->first_unlaunched_ns = start_ns;
	if (start_ns < r->first_call_ns) {
		r->early_ops++;
		r->last_early_ns = start_ns;
	} else if (id && !follows_launch(r, ops, i)) {
		backlog->count++;
		backlog->newest_id = vpa_later(backlog->newest_id, id);
	}
}

/* The smallest id of the calls that may have launched a stream's ops; ~0: none. */
static uint64_t first_id(const struct vpa_resolver *r, uint32_t stream)
{
	uint64_t id = r->first_left_id;
	size_t i;

	for (i = 0; i < r->process_count; i++)
		if (vpa_may_launch(&r->processes[i], r->model->streams[stream].pid))
			id = vpa_earlier(id, r->processes[i].first_id);
	return id;
}

uint64_t vpa_resolver_launched_before(const struct vpa_resolver *r)
{
	uint64_t count = 0, id;
	uint32_t i;

	if (r->first_call_ns != UINT64_MAX && r->first_call_ns > r->last_early_ns)
		count = r->early_ops;
	for (i = 0; i < r->model->stream_count; i++) {
		id = first_id(r, i);
		if (id != UINT64_MAX && r->backlogs[i].newest_id < id)
			count += r->backlogs[i].count;
	}
	return count;
}

/* Ends the backlogs of the streams of ops with a launch. */
void vpa_resolver_end_backlogs(struct vpa_resolver *r, const struct vpa_ops *ops)
{
	size_t i;

	if (ops->one_stream && ops->count && r->backlogs[ops->stream[0]].is_over)
		return;
	for (i = 0; i < ops->count; i++)
		r->backlogs[ops->stream[i]].is_over |= ops->launch[i] != NULL;
}
