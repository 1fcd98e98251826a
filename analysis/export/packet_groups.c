/* packet_groups.c - compression on several cores.
 *
 * A ring of groups: the caller fills one after the other, threads compress the full ones, and before
 * the caller refills one it writes its result. So the output is in the order of the ring, whichever
 * thread finishes first. */
#include "analysis/export/exporter.h"

#include "analysis/base/jobs.h"
#include "formats/base/memory.h"

#include <pthread.h>

enum { JOBS_MAX = 64, GROUPS_A_JOB = 2 };

enum group_state { GROUP_EMPTY, GROUP_FULL, GROUP_TAKEN, GROUP_PACKED };

struct group {
	enum group_state state;
	int failed;
	struct vpt_pb raw, packed;
};

struct vpa_groups {
	struct vpt_sink *sink;
	struct group ring[JOBS_MAX * GROUPS_A_JOB];
	size_t count;
	size_t next;  /* to be filled */
	size_t taken; /* to be packed, counted without end as `put` is */
	size_t put;
	struct vpt_packer *packers[JOBS_MAX]; /* [0] is the caller's, without threads */
	unsigned packer_count;
	pthread_t threads[JOBS_MAX];
	unsigned thread_count, started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int has_lock, stopping;
	int failed;
};

static void *work(void *arg)
{
	struct vpa_groups *g = arg;
	struct vpt_packer *packer;

	pthread_mutex_lock(&g->lock);
	packer = g->packers[g->started++];
	for (;;) {
		struct group *group;

		while (!g->stopping && g->taken == g->put)
			pthread_cond_wait(&g->changed, &g->lock);
		if (g->stopping)
			break;
		group = &g->ring[g->taken++ % g->count];
		group->state = GROUP_TAKEN;
		pthread_mutex_unlock(&g->lock);
		group->failed =
			vpt_packer_run(packer, group->raw.data, group->raw.size, &group->packed);
		pthread_mutex_lock(&g->lock);
		group->state = GROUP_PACKED;
		pthread_cond_broadcast(&g->changed);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

int vpa_groups_start(struct vpt_sink *sink, enum vpt_container kind, int level, unsigned jobs,
	struct vpa_groups **out, struct vpt_err *err)
{
	struct vpa_groups *g;

	*out = NULL;
	if (!vpt_container_available(kind))
		return vpt_fail(err, VPT_EUNSUPPORTED,
			"this build has no libdeflate or zlib: use --compress zstd or none");
	g = vpt_calloc(1, sizeof(*g));
	if (!g)
		return vpt_fail(err, VPT_ENOMEM, "no memory to compress");
	g->sink = sink;
	jobs = vpa_jobs(jobs, JOBS_MAX);
	g->has_lock = !pthread_mutex_init(&g->lock, NULL) && !pthread_cond_init(&g->changed, NULL);
	while (g->packer_count < jobs &&
		(g->packers[g->packer_count] = vpt_packer_new(kind, level)) != NULL)
		g->packer_count++;
	if (!g->packer_count) {
		vpa_groups_free(g);
		return vpt_fail(err, VPT_ENOMEM, "no memory to compress");
	}
	g->count = 1;
	while (jobs > 1 && g->has_lock && g->thread_count < g->packer_count &&
		!pthread_create(&g->threads[g->thread_count], NULL, work, g))
		g->thread_count++;
	if (g->thread_count)
		g->count = (size_t)g->thread_count * GROUPS_A_JOB;
	*out = g;
	return VPT_OK;
}

/* Waits for a group and writes its compressed bytes. */
static int write_group(struct vpa_groups *g, struct group *group, struct vpt_err *err)
{
	int rc;

	if (g->thread_count) {
		pthread_mutex_lock(&g->lock);
		while (group->state == GROUP_FULL || group->state == GROUP_TAKEN)
			pthread_cond_wait(&g->changed, &g->lock);
		pthread_mutex_unlock(&g->lock);
	}
	if (group->state == GROUP_EMPTY)
		return VPT_OK;
	group->state = GROUP_EMPTY;
	rc = group->failed ? vpt_fail(err, group->failed, "no memory to compress")
			   : vpt_sink_write(g->sink, group->packed.data, group->packed.size, err);
	return rc;
}

int vpa_groups_put(struct vpa_groups *g, const void *data, size_t size, struct vpt_err *err)
{
	struct group *group = &g->ring[g->next];

	if (!g->failed)
		g->failed = write_group(g, group, err);
	if (g->failed)
		return g->failed;
	if (!g->thread_count) {
		group->failed = vpt_packer_run(g->packers[0], data, size, &group->packed);
		group->state = GROUP_PACKED;
		return g->failed = write_group(g, group, err);
	}
	vpt_pb_reset(&group->raw);
	vpt_pb_raw(&group->raw, data, size);
	if (group->raw.failed)
		return g->failed = vpt_fail(err, VPT_ENOMEM, "no memory to compress");
	pthread_mutex_lock(&g->lock);
	group->state = GROUP_FULL;
	g->put++;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
	g->next = (g->next + 1) % g->count;
	return VPT_OK;
}

int vpa_groups_flush(struct vpa_groups *g, struct vpt_err *err)
{
	size_t i;

	for (i = 0; i < g->count && !g->failed; i++)
		g->failed = write_group(g, &g->ring[(g->next + i) % g->count], err);
	return g->failed;
}

void vpa_groups_free(struct vpa_groups *g)
{
	size_t i;

	if (!g)
		return;
	if (g->has_lock) {
		pthread_mutex_lock(&g->lock);
		g->stopping = 1;
		pthread_cond_broadcast(&g->changed);
		pthread_mutex_unlock(&g->lock);
	}
	for (i = 0; i < g->thread_count; i++)
		pthread_join(g->threads[i], NULL);
	for (i = 0; i < g->packer_count; i++)
		vpt_packer_free(g->packers[i]);
	for (i = 0; i < g->count; i++) {
		vpt_pb_free(&g->ring[i].raw);
		vpt_pb_free(&g->ring[i].packed);
	}
	if (g->has_lock) {
		pthread_cond_destroy(&g->changed);
		pthread_mutex_destroy(&g->lock);
	}
	vpt_free(g);
}
