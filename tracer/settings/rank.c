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
	const char *started;    /* NULL, or what it sets for the processes that are ranks alone */
	const char *local_list; /* NULL, or a variable with the local worlds of all nodes */
} launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", NULL, NULL},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_LOCAL_SIZE", NULL, NULL, NULL},
	/* The script of sbatch has a rank too, 0, but belongs to no step. */
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_NODEID",
		"SLURM_STEP_ID", "SLURM_STEP_TASKS_PER_NODE"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL, NULL, NULL},
	{"PMIX_RANK", NULL, NULL, NULL, NULL, NULL, NULL},
};

enum { SLURM = 2, PMI = 3 };

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

static int gives_rank(const struct launcher *l)
{
	return number_of(l->rank) >= 0 && (!l->started || vtr_environment(l->started));
}

/* Of "4(x2),3", nodes 0 and 1 have 4, node 2 has 3; -1: it does not say. */
static long entry_of(const char *list, long node)
{
	char *rest;

	while (list && node >= 0 && *list >= '0' && *list <= '9') {
		long count = strtol(list, &rest, 10), times = 1;

		if (!strncmp(rest, "(x", 2)) {
			times = strtol(rest + 2, &rest, 10);
			rest += *rest == ')';
		}
		if (node < times)
			return count;
		node -= times < 1 ? node + 1 : times;
		list = *rest == ',' ? rest + 1 : NULL;
	}
	return -1;
}

/* MPICH's launcher starts one process a node as a step of Slurm, and the ranks from that: all of a node have its
 * variables. Where srun starts the ranks, both say the same, and Slurm's say more. */
static int is_within_a_step(const struct launcher *slurm)
{
	const struct launcher *pmi = &launchers[PMI];

	return slurm == &launchers[SLURM] && gives_rank(pmi) &&
	       (number_of(pmi->rank) != number_of(slurm->rank) ||
		       number_of(pmi->world) != number_of(slurm->world));
}

void vtr_place(struct vtr_place *out)
{
	const struct launcher *l = launchers;
	long listed;

	while (l < launchers + COUNT(launchers) && (!gives_rank(l) || is_within_a_step(l)))
		l++;
	*out = (struct vtr_place){-1, -1, -1, -1, -1};
	if (l == launchers + COUNT(launchers))
		return;
	*out = (struct vtr_place){number_of(l->rank), number_of(l->world), number_of(l->local_rank),
		number_of(l->local_world), number_of(l->node)};
	listed = l->local_list ? entry_of(vtr_environment(l->local_list), out->node) : -1;
	if (listed > 0)
		out->local_world = listed;
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
