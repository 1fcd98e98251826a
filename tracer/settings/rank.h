/* rank.h - which of a job's processes this is. */
#ifndef VPTRACE_TRACER_SETTINGS_RANK_H
#define VPTRACE_TRACER_SETTINGS_RANK_H

/* The rank that torchrun, MPI or Slurm gave in the environment; -1: none did. */
long vtr_rank(void);

#endif
