/* rank.c - looks up the variables of launchers, the most specific first. */
#include "tracer/settings/rank.h"

#include "formats/base/count.h"
#include "tracer/guest/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

static const struct launcher {
	const char *rank, *world, *local_rank, *local_world, *node;
} launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_LOCAL_SIZE", NULL},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_NODEID"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL},
	{"PMIX_RANK", NULL, NULL, NULL, NULL},
};

/* Only digits: "" and "0x1" are no ranks. */
static int is_number(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return len && len <= DIGITS_MAX && strspn(text, "0123456789") == len;
}

static long number_of(const char *name)
{
	const char *text = name ? vtr_environment(name) : NULL;

	return is_number(text) ? strtol(text, NULL, 10) : -1;
}

void vtr_place(struct vtr_place *out)
{
	const struct launcher *l = launchers;

	while (l < launchers + COUNT(launchers) && number_of(l->rank) < 0)
		l++;
	*out = (struct vtr_place){-1, -1, -1, -1, -1};
	if (l == launchers + COUNT(launchers))
		return;
	*out = (struct vtr_place){number_of(l->rank), number_of(l->world), number_of(l->local_rank),
		number_of(l->local_world), number_of(l->node)};
}

long vtr_rank(void)
{
	struct vtr_place place;

	vtr_place(&place);
	return place.rank;
}

/* torchrun's id is this word where its user gave none. */
static int is_id(const char *text)
{
	return text && strcmp(text, "none") != 0;
}

int vtr_job(char out[VTR_JOB_MAX])
{
	static const struct {
		const char *form, *first, *second; /* NULL: the form has one part */
	} ids[] = {
		{"torchrun:%s", "TORCHELASTIC_RUN_ID", NULL},
		{"slurm:%s.%s", "SLURM_JOB_ID", "SLURM_STEP_ID"},
		{"slurm:%s", "SLURM_JOB_ID", NULL},
		{"openmpi:%s", "OMPI_MCA_ess_base_jobid", NULL},
		{"openmpi:%s", "PMIX_NAMESPACE", NULL},
		{"master:%s:%s", "MASTER_ADDR", "MASTER_PORT"},
	};
	size_t i;

	for (i = 0; i < COUNT(ids); i++) {
		const char *first = vtr_environment(ids[i].first);
		const char *second = ids[i].second ? vtr_environment(ids[i].second) : "";

		if (!is_id(first) || !second)
			continue;
		snprintf(out, VTR_JOB_MAX, ids[i].form, first, second);
		return 1;
	}
	out[0] = '\0';
	return 0;
}
