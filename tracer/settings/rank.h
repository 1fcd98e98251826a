/* rank.h - which of a job's processes this is, from the variables of its launcher. */
#ifndef VPTRACE_TRACER_SETTINGS_RANK_H
#define VPTRACE_TRACER_SETTINGS_RANK_H

#include <stddef.h>

enum { VTR_JOB_MAX = 256 };

/* A number that the launcher does not give is -1; so are all, without a rank. */
struct vtr_place {
	long rank, world;             /* in the job */
	long local_rank, local_world; /* on this host */
	long node;                    /* this host's number */
};

/* Reads torchrun's variables, Open MPI's, Slurm's, PMI's or PMIx's: those of the first of them that
 * gives a rank, since a launcher within another one counts differently. */
void vtr_place(struct vtr_place *out);

/* The rank alone; -1: none. */
long vtr_rank(void);

/* What processes of one job have in common and no other job has, as "torchrun:ID", "slurm:JOB.STEP",
 * "openmpi:ID" or "master:ADDRESS:PORT". Longer ids are cut at VTR_JOB_MAX - 1 bytes. Returns 1, or
 * 0 and "": the environment does not say. */
int vtr_job(char out[VTR_JOB_MAX]);

#endif
