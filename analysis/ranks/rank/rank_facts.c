/* rank_facts.c - META rows, and the row of the GPU. */
#include "analysis/ranks/rank/rank_parts.h"

#include "analysis/base/sort.h"
#include "analysis/pipeline/unit.h"
#include "analysis/ranks/rank/rank_unit.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *copy(struct vpa_rank *rank, const char *text)
{
	return text && *text ? vpa_arena_text(&rank->arena, text, strlen(text)) : NULL;
}

/* A natural number of at most nine digits; -1: it is none. */
static int64_t natural(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return len && len <= 9 && strspn(text, "0123456789") == len ? strtol(text, NULL, 10) : -1;
}

static int begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* What should not differ among the ranks of a job. */
static int is_setup(const char *key)
{
	static const enum vpt_metadata facts[] = {VPT_METADATA_CUDA_DRIVER,
		VPT_METADATA_CUDA_RUNTIME, VPT_METADATA_DRIVER, VPT_METADATA_CUDA,
		VPT_METADATA_CUPTI, VPT_METADATA_NCCL, VPT_METADATA_BACKEND};
	static const char *const prefixes[] = {"NCCL_", "TORCH_NCCL_", VPT_METADATA_ENV "NCCL_",
		VPT_METADATA_ENV "TORCH_NCCL_", "nccl.", "nccl_"};
	size_t i;

	for (i = 0; i < COUNT(facts); i++)
		if (!strcmp(key, vpt_metadata_key(facts[i])))
			return 1;
	for (i = 0; i < COUNT(prefixes); i++)
		if (begins(key, prefixes[i]))
			return 1;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct vpa_rank_fact *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Where a file has several ranks, what it says of the process of this one: the key without "process.PID.", NULL: it is not about it. */
static const char *own_key(const struct vpa_rank *rank, const char *key)
{
	char prefix[40];

	snprintf(prefix, sizeof(prefix), VPT_METADATA_PROCESS "%" PRId64 ".", rank->pid);
	return key && begins(key, prefix) ? key + strlen(prefix) : NULL;
}

static const char *own_text(
	const struct vpa_rank *rank, const struct vpa_report *r, const char *name)
{
	char key[80];

	snprintf(key, sizeof(key), VPT_METADATA_PROCESS "%" PRId64 ".%s", rank->pid, name);
	return vpa_meta_of_key(r, key);
}

/* What is said of the process, else of the file. */
static const char *text_of(
	const struct vpa_rank *rank, const struct vpa_report *r, enum vpt_metadata fact)
{
	const char *own = own_text(rank, r, vpt_metadata_key(fact));

	return own ? own : vpa_meta(r, fact);
}

static int add_facts(struct vpa_rank *rank, const struct vpa_report *r)
{
	size_t i;

	rank->facts = vpt_calloc(r->meta_count + 1, sizeof(*rank->facts));
	if (!rank->facts)
		return VPT_ENOMEM;
	for (i = 0; i < r->meta_count; i++) {
		const struct vpa_pair *m = &r->meta[i];
		const char *own = own_key(rank, m->key), *key = own ? own : m->key;

		/* Later rows of a key correct earlier ones, and what is said of the process what is said of the file. */
		if (key && m->value && is_setup(key) && vpa_meta_of_key(r, m->key) == m->value &&
			(own || !own_text(rank, r, key)))
			rank->facts[rank->fact_count++] = (struct vpa_rank_fact){copy(rank, key),
				vpa_arena_text(&rank->arena, m->value, strlen(m->value))};
	}
	return vpa_sort(rank->facts, rank->fact_count, sizeof(*rank->facts), by_name);
}

static void add_unit(struct vpa_rank *rank, const struct vpa_report *r, int is_of_rank)
{
	struct vpa_mean_unit u = vpa_mean_unit_of(r);

	rank->unit = u.kind;
	rank->units = is_of_rank ? vpt_sat_u64(u.units + 0.5) : 0;
	rank->unit_ns = vpa_mean_unit_ns(&u);
	rank->units_from_ns = u.start_ns;
	rank->units_to_ns = u.end_ns;
	rank->fps = is_of_rank ? vpa_result_fps(r) : 0;
	rank->is_end_to_end = rank->fps > 0 && !(vpa_unit_fps(r, VPA_UNIT_BLOCK) > 0);
	if (rank->units && rank->unit_ns && u.kind != VPA_UNIT_WINDOW)
		return;
	rank->unit = VPA_UNIT_WINDOW;
	rank->units = 1;
	rank->unit_ns = vpt_sat_sub(rank->last_ns, rank->first_ns);
	rank->units_from_ns = rank->units_to_ns = 0;
}

/* Unit and stages: what the file says of them, which holds for all of it, else what the report does. */
static int count_and_name(
	struct vpa_rank *rank, const struct vpa_report *r, struct vpa_rank_company company)
{
	const char *unit = company.is_whole ? own_text(rank, r, "unit") : NULL;
	const char *stages = company.is_whole ? own_text(rank, r, "stages") : NULL;

	if (!unit || !vpa_rank_unit_read(rank, unit)) {
		add_unit(rank, r, company.is_one_process);
		vpa_rank_take_rate(rank, r);
	}
	if (stages)
		return vpa_rank_stages_read(rank, stages);
	return company.is_only ? vpa_rank_take_stages(rank, r) : VPT_OK;
}

int vpa_rank_describe(
	struct vpa_rank *rank, const struct vpa_report *r, struct vpa_rank_company company)
{
	const char *job = text_of(rank, r, VPT_METADATA_JOB_ID);
	const char *number = own_text(rank, r, vpt_metadata_key(VPT_METADATA_RANK));
	const char *local = own_text(rank, r, vpt_metadata_key(VPT_METADATA_LOCAL_RANK));
	const struct vpa_gpu *gpu = vpa_report_gpu(r, rank->device);

	rank->capture = copy(rank, r->path);
	rank->host = copy(rank, text_of(rank, r, VPT_METADATA_HOST));
	rank->boot_id = copy(rank, text_of(rank, r, VPT_METADATA_BOOT_ID));
	rank->job = copy(rank, job ? job : text_of(rank, r, VPT_METADATA_JOB));
	rank->world_size = natural(text_of(rank, r, VPT_METADATA_WORLD_SIZE));
	if (company.is_only && !number)
		number = vpa_meta(r, VPT_METADATA_RANK);
	if (company.is_only && !local)
		local = vpa_meta(r, VPT_METADATA_LOCAL_RANK);
	rank->rank = natural(number);
	rank->local_rank = natural(local);
	if (gpu) {
		rank->gpu = copy(rank, gpu->name);
		rank->gpu_uuid = copy(rank, gpu->uuid);
		rank->gpu_pci = copy(rank, gpu->pci);
	}
	rank->simulated = r->simulated;
	rank->complete = r->verdict.complete;
	if (!rank->complete && r->verdict.reason_count)
		rank->missing = copy(rank, r->verdict.reasons[0]);
	rank->has_realtime = r->has_realtime;
	rank->unix_offset_ns = r->unix_offset_ns;
	vpa_rank_measure(rank, r);
	if (count_and_name(rank, r, company))
		return VPT_ENOMEM;
	return add_facts(rank, r) || rank->arena.failed ? VPT_ENOMEM : VPT_OK;
}

void vpa_rank_number_device(struct vpa_rank *rank, const struct vpa_report *r)
{
	int64_t device = natural(own_text(rank, r, "device"));

	if (device >= 0)
		rank->device = device;
}
