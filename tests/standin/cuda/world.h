/* world.h - the processes of one simulated job, and where they meet.
 *
 * VPT_STANDIN_WORLD names a file that the processes of a job share. Each has its own virtual clock;
 * they learn of one another only where a collective makes them:
 *
 *	rank 0   launches ....... [arrival       |transfer|        kernel of rank r = from its own arrival
 *	rank 1   launches [arrival               |transfer|        to the last arrival + transfer + own skew
 *	                                    last arrival
 *
 * A launch posts its arrival, which is known when the kernel is queued, and waits in real time until
 * all others have posted theirs. So every time is a function of arrivals alone, whatever the
 * machine's scheduler does, and no process is ever more than one meeting ahead of another.
 *
 * All functions need the simulation's lock, except sim_world_true_ns() and sim_world_local_ns(). */
#ifndef VPT_STANDIN_WORLD_H
#define VPT_STANDIN_WORLD_H

#include <stdint.h>

enum { SIM_RANKS_MAX = 64, SIM_COMMS_MAX = 32, SIM_MESSAGES_MAX = 16 };

/* The members of a communicator, as one of them sees it. Lives as long as the process. */
struct sim_comm;

/* What one kernel of a communicator does. Members of a collective must agree on `what`. */
struct sim_collective {
	struct sim_comm *comm;
	uint64_t bytes;       /* of this rank's message */
	uint64_t transfer_ns; /* from the last arrival to the end */
	uint64_t what;        /* names the operation and its size */
	uint8_t sends[SIM_RANKS_MAX],
		receives[SIM_RANKS_MAX]; /* messages by peer; none at all: every member meets every other */
};

struct sim_met {
	uint64_t
		sequence; /* of the collective in its communicator, or of the group of messages; from 0 */
	uint64_t last_ns; /* the last arrival */
	uint64_t transfer_ns, skew_ns, end_ns;
};

/* Enters a communicator: the members give the same `id`, which is not 0, and their number in it.
 * Returns NULL after a sentence on stderr. */
struct sim_comm *sim_comm_open(uint64_t id, unsigned ranks, unsigned rank);
unsigned sim_comm_ranks(const struct sim_comm *comm);
unsigned sim_comm_rank(const struct sim_comm *comm);
uint64_t sim_comm_id(const struct sim_comm *comm);

/* A collective of the same contents, kept as long as the process. NULL: no memory. */
const struct sim_collective *sim_collective_keep(const struct sim_collective *c);

/* Arrives at `arrival_ns` and waits for the others. Returns 0, or CUDA's error number after a
 * sentence on stderr: a member has ended, did not come in time, or does something else. */
int sim_meet(const struct sim_collective *c, uint64_t arrival_ns, struct sim_met *out);

/* This process's clock and that of all processes, which begins with 0. */
uint64_t sim_world_true_ns(uint64_t local_ns);
uint64_t sim_world_local_ns(uint64_t true_ns);

/* Whether VPT_STANDIN_RANK has `word`; `value` (may be NULL) becomes its number, or stays. */
int sim_rank_word(const char *word, int64_t *value);

#endif
