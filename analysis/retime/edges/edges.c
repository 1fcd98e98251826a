/* edges.c - finds the edges of calls and ops. */
#include "analysis/retime/edges/edges_finding.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"

#include <string.h>

uint32_t *vpa_new_rows(size_t count)
{
	uint32_t *rows = vpt_alloc(count ? count : 1, sizeof(*rows));

	if (rows)
		memset(rows, 0xff, count * sizeof(*rows));
	return rows;
}

int vpa_lengths_add(struct vpa_lengths *l, int64_t ns)
{
	if (vpt_grow(&l->ns, &l->cap, l->count + 1, sizeof(*l->ns)))
		return VPT_ENOMEM;
	l->ns[l->count++] = ns;
	return VPT_OK;
}

int64_t vpa_lengths_middle(struct vpa_lengths *l, int64_t none)
{
	int64_t ns = none;

	if (l->count)
		ns = vpa_nth(l->ns, l->count, (l->count - 1) / 2);
	vpt_free(l->ns);
	*l = (struct vpa_lengths){0};
	return ns;
}

int vpa_edges_find(struct vpa_tape *t, struct vpa_edges *out)
{
	struct vpa_edges_finding f = {.t = t, .e = out};
	int rc;

	*out = (struct vpa_edges){0};
	f.last = vpa_new_rows(t->stream_count);
	f.synced = vpa_new_rows(t->stream_count);
	f.pending = vpa_new_rows(t->stream_count);
	rc = f.last && f.synced && f.pending ? VPT_OK : VPT_ENOMEM;
	if (!rc)
		rc = vpa_edges_of_calls(&f);
	if (!rc)
		rc = vpa_edges_of_ops(&f);
	vpt_free(f.last);
	vpt_free(f.synced);
	vpt_free(f.pending);
	vpt_free(f.prior);
	vpt_free(f.followed);
	vpt_free(f.waits);
	vpt_free(f.returns);
	vpt_free(f.short_cost);
	vpt_free(f.event_op);
	vpa_index_free(&f.events);
	return rc;
}

void vpa_edges_free(struct vpa_edges *e)
{
	vpt_free(e->targets);
	*e = (struct vpa_edges){0};
}
