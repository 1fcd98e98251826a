/* machine.c - the GPUs and processes of a file, and their numbers. */
#include "analysis/export/perfetto/lanes/machine.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"

#include <stdio.h>
#include <string.h>

struct vpa_ex_machine {
	struct vpa_ex_gpu *gpus; /* by device of the model */
	size_t gpu_cap;
	struct vpa_index pids; /* processes that have been described */
};

int vpa_ex_machine_new(struct vpa_ex_out *x)
{
	x->machine = vpt_calloc(1, sizeof(*x->machine));
	return x->machine ? VPT_OK : VPT_ENOMEM;
}

void vpa_ex_machine_free(struct vpa_ex_machine *m)
{
	if (!m)
		return;
	vpt_free(m->gpus);
	vpa_index_free(&m->pids);
	vpt_free(m);
}

/* ---- GPUs ---- */

const struct vpa_gpu *vpa_ex_gpu_row(const struct vpa_ex_out *x, uint32_t device)
{
	return vpa_report_gpu(x->view.report, x->model->devices[device]);
}

uint32_t vpa_ex_gpu_place(const struct vpa_ex_out *x, const struct vpa_gpu *g)
{
	const struct vpa_report *r = x->view.report;
	uint32_t place = 0;
	size_t i;

	for (i = 0; i < r->gpu_count; i++) {
		const struct vpa_gpu *other = &r->gpus[i];
		int order = strcmp(other->pci, g->pci);

		if (!order)
			order = strcmp(other->uuid, g->uuid);
		place += order < 0 || (!order && other->device < g->device);
	}
	return place;
}

/* Among those of all traces: by its address, else as this trace's own. */
static uint32_t place_among_all(
	const struct vpa_ex_out *x, const struct vpa_gpu *g, int64_t ordinal)
{
	const struct vpa_export_options *o = x->options;
	int is_shared = g && vpa_gpu_has_address(g);
	size_t i;

	for (i = 0; i < o->gpu_count; i++)
		if (is_shared ? o->gpu_owners[i] == VPA_GPU_SHARED &&
					vpa_gpu_is_same(&o->gpus[i], g)
			      : o->gpu_owners[i] == o->trace_number && o->gpus[i].device == ordinal)
			return (uint32_t)i;
	return (uint32_t)o->gpu_count + (ordinal > 0 ? (uint32_t)ordinal : 0);
}

static uint32_t number_of(const struct vpa_ex_out *x, const struct vpa_gpu *g, int64_t ordinal)
{
	if (x->options->gpus)
		return place_among_all(x, g, ordinal);
	if (g)
		return vpa_ex_gpu_place(x, g);
	return ordinal > 0 ? (uint32_t)ordinal : 0;
}

static int is_taken(const struct vpa_ex_machine *m, uint32_t gpu_id)
{
	size_t i;

	for (i = 0; i < m->gpu_cap; i++)
		if (m->gpus[i].known && m->gpus[i].gpu_id == gpu_id)
			return 1;
	return 0;
}

const struct vpa_ex_gpu *vpa_ex_gpu_of(struct vpa_ex_out *x, uint32_t device)
{
	struct vpa_ex_machine *m = x->machine;
	struct vpa_ex_gpu *g;
	const struct vpa_gpu *row;
	int64_t ordinal = x->model->devices[device];

	if (vpt_grow_zeroed(&m->gpus, &m->gpu_cap, (size_t)device + 1, sizeof(*m->gpus))) {
		x->pf.failed = VPT_ENOMEM;
		return NULL;
	}
	g = &m->gpus[device];
	if (g->known)
		return g;
	row = vpa_ex_gpu_row(x, device);
	g->gpu_id = number_of(x, row, ordinal);
	while (is_taken(m, g->gpu_id))
		g->gpu_id++;
	g->known = 1;
	return g;
}

/* ---- processes ---- */

/* The position of the newest process among all: by rank, as each rank traces one process, with
 * any others after it as they come. */
static uint64_t order_of_process(const struct vpa_ex_out *x)
{
	uint64_t place = vpa_ex_fact_number(x, VPT_METADATA_RANK) + x->machine->pids.count - 1;

	return place < INT32_MAX ? place : INT32_MAX;
}

uint64_t vpa_ex_process(struct vpa_ex_out *x, int64_t pid)
{
	size_t before = x->machine->pids.count;
	const char *command = vpa_ex_fact(x, VPT_METADATA_COMMAND), *name;
	struct vpt_pb *b = &x->pf.out;
	char path[64];
	uint64_t uuid;

	pid = vpa_ex_pid(x, pid);
	name = vpa_process_name(x->view.report, pid);
	snprintf(path, sizeof(path), "process %lld", (long long)pid);
	uuid = vpa_ex_uuid(x, path);
	if (vpa_index_put(&x->machine->pids, (uint64_t)pid, 0) == UINT32_MAX)
		x->pf.failed = VPT_ENOMEM;
	if (x->machine->pids.count == before)
		return uuid;
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(b, VPT_PF_TRACK_UUID, uuid);
	vpt_pb_begin(b, VPT_PF_TRACK_PROCESS);
	vpt_pb_uint(b, VPT_PF_PROCESS_PID, (uint64_t)pid);
	if (command)
		vpt_pb_text(b, VPT_PF_PROCESS_CMDLINE, command, strlen(command), VPT_PF_TEXT_MAX);
	if (name)
		vpt_pb_text(b, VPT_PF_PROCESS_NAME, name, strlen(name), 200);
	vpt_pb_end(b);
	vpt_pb_uint(b, VPT_PF_TRACK_RANK, order_of_process(x));
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	return uuid;
}

uint32_t vpa_ex_process_row(const struct vpa_ex_out *x, int64_t pid)
{
	return vpa_index_find(&x->machine->pids, (uint64_t)vpa_ex_pid(x, pid), 0);
}
