/* test_standin_ranks.c - simulated processes of one job: where they meet, and when their kernels
 * end, from the stand-in's own log.
 *
 * Each case starts a process for each rank, which runs the same case. The logs then say of each
 * collective of each rank: start, end, and what makes them up. */
#include "tests/standin/include/standin_nccl.h"
#include "tests/standin/clients/rig.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MAX = 8, OPS_MAX = 4096, MS = 1000000 };

/* A kernel of NCCL as a rank's log has it; times on that rank's clock. */
struct met {
	uint64_t start_ns, end_ns, bytes, comm, sequence, last_ns, transfer_ns, skew_ns;
	char name[96];
};
static struct met found[RANKS_MAX][OPS_MAX];
static unsigned counts[RANKS_MAX];

/* ---- a job ---- */

static const char *text_of_rank(const char *name, unsigned rank)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s.%u", rig_file(name), rank);
	return path;
}

static pid_t start(const char *name, unsigned rank, unsigned ranks, const char *words)
{
	char text[16];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%u", rank);
	setenv("RANK", text, 1);
	snprintf(text, sizeof(text), "%u", ranks);
	setenv("WORLD_SIZE", text, 1);
	setenv("VPT_STANDIN_LOG", text_of_rank("log", rank), 1);
	setenv("VPT_STANDIN_RANK", words, 1);
	execl("/proc/self/exe", "case", name, (char *)NULL);
	_exit(2);
}

static void read_log(unsigned rank)
{
	char line[1024];
	FILE *f = fopen(text_of_rank("log", rank), "re");

	counts[rank] = 0;
	while (f && fgets(line, sizeof(line), f)) {
		struct met *m = &found[rank][counts[rank]];

		RIG_TRUE(counts[rank] < OPS_MAX);
		counts[rank] +=
			sscanf(line,
				"%" SCNu64 " %" SCNu64 " %*u kernel %95s %*u %*u %" SCNu64
				" %*u %*u 0x%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64
				" %" SCNu64,
				&m->start_ns, &m->end_ns, m->name, &m->bytes, &m->comm,
				&m->sequence, &m->last_ns, &m->transfer_ns, &m->skew_ns) == 9;
	}
	if (f)
		fclose(f);
}

/* Runs the case `name` with `ranks` processes; words[r]: VPT_STANDIN_RANK, NULL: none. Each must end
 * with 0. */
static void run_job(const char *name, unsigned ranks, const char *const *words)
{
	pid_t pids[RANKS_MAX];
	unsigned r;

	unlink(rig_file("world"));
	setenv("VPT_STANDIN_WORLD", rig_file("world"), 1);
	for (r = 0; r < ranks; r++)
		pids[r] = start(name, r, ranks, words && words[r] ? words[r] : "");
	for (r = 0; r < ranks; r++) {
		int status = -1;

		RIG_EQUAL(waitpid(pids[r], &status, 0), pids[r]);
		RIG_EQUAL(status, 0);
		read_log(r);
	}
}

/* In a rank's process; -1 in the one that runs the job. */
static int own_rank(void)
{
	return getenv("RANK") ? atoi(getenv("RANK")) : -1;
}

static ncclComm_t join(const char *id_text, int ranks, int rank)
{
	ncclUniqueId id = {{0}};
	ncclComm_t comm;

	snprintf(id.internal, sizeof(id.internal), "%s", id_text);
	RIG_EQUAL(ncclCommInitRank(&comm, ranks, id, rank), ncclSuccess);
	return comm;
}

static void reduce(ncclComm_t comm, size_t bytes, cudaStream_t stream)
{
	RIG_EQUAL(ncclAllReduce(NULL, NULL, bytes, ncclInt8, ncclSum, comm, stream), ncclSuccess);
}

/* Every kernel is wait + transfer + skew, and its last arrival is the last arrival of all ranks. */
static void check_sums(unsigned ranks)
{
	for (unsigned r = 0; r < ranks; r++)
		for (unsigned i = 0; i < counts[r]; i++) {
			const struct met *m = &found[r][i];
			uint64_t last = 0, present = 0;

			RIG_TRUE(m->last_ns >= m->start_ns);
			RIG_EQUAL(m->end_ns - m->start_ns,
				m->last_ns - m->start_ns + m->transfer_ns + m->skew_ns);
			if (strstr(m->name, "SendRecv"))
				continue;
			for (unsigned o = 0; o < ranks; o++)
				for (unsigned k = 0; k < counts[o]; k++)
					if (found[o][k].comm == m->comm &&
						found[o][k].sequence == m->sequence &&
						!strstr(found[o][k].name, "SendRecv")) {
						present++;
						if (found[o][k].start_ns > last)
							last = found[o][k].start_ns;
					}
			RIG_TRUE(present >= 2);
			RIG_EQUAL(m->last_ns, last);
		}
}

/* ---- when they end ---- */

static void kernels_end_when_the_last_rank_has_come(void)
{
	int rank = own_rank();
	ncclComm_t comm;

	if (rank >= 0) {
		standin_work((uint64_t)rank * 3 * MS); /* the others wait in ncclCommInitRank */
		comm = join("all", 3, rank);
		RIG_EQUAL(standin_now(), STANDIN_EPOCH_NS + 6 * MS + STANDIN_INIT_NS);
		standin_work(rank == 1 ? 500000 : 0);
		reduce(comm, 3000000, NULL);
		RIG_EQUAL(cudaStreamSynchronize(NULL), 0);
		RIG_EQUAL(ncclCommDestroy(comm), ncclSuccess);
		return;
	}
	run_job("kernels_end_when_the_last_rank_has_come", 3, NULL);
	check_sums(3);
	for (unsigned r = 0; r < 3; r++) {
		/* 4 of 3 MB pass a link at 100 GB/s; a launch takes 3 us, and 2 until it starts. */
		uint64_t t0 = STANDIN_EPOCH_NS + 6 * MS + STANDIN_INIT_NS + 5000;

		RIG_EQUAL(counts[r], 1);
		RIG_EQUAL(found[r][0].start_ns, t0 + (r == 1 ? 500000 : 0));
		RIG_EQUAL(found[r][0].last_ns, t0 + 500000);
		RIG_EQUAL(found[r][0].transfer_ns, STANDIN_LINK_NS + 40000);
		RIG_EQUAL(found[r][0].end_ns, t0 + 500000 + STANDIN_LINK_NS + 40000);
	}
}

static void a_message_concerns_two_ranks(void)
{
	int rank = own_rank();
	ncclComm_t comm;

	if (rank >= 0) {
		comm = join("all", 3, rank);
		standin_work(rank == 0 ? 2 * MS : 0);
		/* 0 to 1 late; 1 to 2 after that, in a kernel of its own. */
		if (rank == 0)
			RIG_EQUAL(ncclSend(NULL, 100000, ncclInt8, 1, comm, NULL), 0);
		if (rank == 1)
			RIG_EQUAL(ncclRecv(NULL, 100000, ncclInt8, 0, comm, NULL), 0);
		if (rank == 1)
			RIG_EQUAL(ncclSend(NULL, 100000, ncclInt8, 2, comm, NULL), 0);
		if (rank == 2)
			RIG_EQUAL(ncclRecv(NULL, 100000, ncclInt8, 1, comm, NULL), 0);
		return;
	}
	run_job("a_message_concerns_two_ranks", 3, NULL);
	RIG_EQUAL(counts[0], 1);
	RIG_EQUAL(counts[1], 2);
	RIG_EQUAL(counts[2], 1);
	RIG_EQUAL(found[0][0].last_ns, found[0][0].start_ns);
	RIG_EQUAL(found[1][0].last_ns, found[0][0].start_ns);
	RIG_EQUAL(found[1][0].end_ns, found[0][0].end_ns);
	RIG_EQUAL(found[1][0].end_ns - found[1][0].last_ns, STANDIN_LINK_NS + 1000);
	RIG_EQUAL(found[1][1].start_ns, found[1][0].end_ns);
	RIG_EQUAL(found[2][0].last_ns, found[1][1].start_ns);
	RIG_EQUAL(found[2][0].start_ns, found[1][0].start_ns);
	check_sums(3);
}

static void a_group_is_one_kernel(void)
{
	int rank = own_rank();
	ncclComm_t comm;

	if (rank >= 0) {
		comm = join("all", 2, rank);
		ncclGroupStart();
		reduce(comm, 1000, NULL);
		reduce(comm, 99000, NULL);
		RIG_EQUAL(ncclGroupEnd(), 0);
		ncclGroupStart();
		for (int peer = 0; peer < 2; peer++) {
			RIG_EQUAL(ncclSend(NULL, 700, ncclBfloat16, peer, comm, NULL), 0);
			RIG_EQUAL(ncclRecv(NULL, 700, ncclBfloat16, peer, comm, NULL), 0);
		}
		RIG_EQUAL(ncclGroupEnd(), 0);
		return;
	}
	run_job("a_group_is_one_kernel", 2, NULL);
	for (unsigned r = 0; r < 2; r++) {
		RIG_EQUAL(counts[r], 2);
		RIG_EQUAL(found[r][0].bytes, 100000);
		RIG_EQUAL(found[r][0].transfer_ns, STANDIN_LINK_NS + 1000);
		RIG_EQUAL(found[r][1].bytes, 2800);
		RIG_EQUAL(found[r][1].transfer_ns, STANDIN_LINK_NS + 14); /* to the other rank */
		RIG_TRUE(!strcmp(found[r][1].name,
			"_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE"));
	}
}

static void replays_meet_each_time(void)
{
	int rank = own_rank();
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	ncclComm_t comm;

	if (rank >= 0) {
		comm = join("all", 2, rank);
		stream = rig_stream(0);
		RIG_EQUAL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
		reduce(comm, 800, stream);
		reduce(comm, 1600, stream);
		RIG_EQUAL(cudaStreamEndCapture(stream, &graph), 0);
		RIG_EQUAL(cudaGraphInstantiate(&exec, graph, 0), 0);
		for (int i = 0; i < 3; i++) {
			standin_work(rank == i % 2 ? MS : 0);
			RIG_EQUAL(cudaGraphLaunch(exec, stream), 0);
		}
		return;
	}
	run_job("replays_meet_each_time", 2, NULL);
	RIG_EQUAL(counts[0], 6);
	RIG_EQUAL(counts[1], 6);
	check_sums(2);
	RIG_EQUAL(found[1][0].last_ns - found[1][0].start_ns, MS);
	RIG_EQUAL(found[0][1].last_ns, found[0][1].start_ns);
	RIG_EQUAL(found[0][5].sequence, 6); /* 0 was ncclCommInitRank */
}

/* ---- planted faults ---- */

static void faults_of_one_rank_show_where_they_should(void)
{
	static const char *const words[] = {NULL, "link=150,skew=700", "late=9"};
	int rank = own_rank();

	if (rank >= 0) {
		reduce(join("all", 3, rank), 3000000, NULL);
		return;
	}
	run_job("faults_of_one_rank_show_where_they_should", 3, words);
	check_sums(3);
	for (unsigned r = 0; r < 3; r++) {
		RIG_EQUAL(found[r][0].start_ns,
			STANDIN_EPOCH_NS + 9 * MS + STANDIN_INIT_NS * 3 / 2 + 5000);
		RIG_EQUAL(found[r][0].transfer_ns, (STANDIN_LINK_NS + 40000) * 3 / 2);
		RIG_EQUAL(found[r][0].skew_ns, r == 1 ? 700 : 0);
	}
}

/* What a clock shows at a time on the clock of all. */
static uint64_t shown(uint64_t ns, int64_t offset_ns, int64_t drift_ppm)
{
	return STANDIN_EPOCH_NS + (uint64_t)offset_ns + ns +
	       (uint64_t)((int64_t)ns / 1000 * drift_ppm / 1000);
}

static void clocks_differ_and_moments_do_not(void)
{
	static const char *const words[] = {
		"offset=500000000,drift=50", "offset=-500000000,drift=-50", NULL};
	int rank = own_rank();
	ncclComm_t comm;

	if (rank >= 0) {
		comm = join("all", 3, rank);
		for (int i = 0; i < 50; i++) {
			standin_work((uint64_t)(i * 7 + rank * 5) % 11 * 1000000);
			reduce(comm, 100000, NULL);
			RIG_EQUAL(cudaStreamSynchronize(NULL), 0);
		}
		return;
	}
	run_job("clocks_differ_and_moments_do_not", 3, words);
	for (unsigned i = 0; i < 50; i++) {
		uint64_t end = found[2][i].end_ns - STANDIN_EPOCH_NS;

		/* Within the rounding of a clock. */
		RIG_TRUE(found[0][i].end_ns + 2 - shown(end, 500 * MS, 50) <= 4);
		RIG_TRUE(found[1][i].end_ns + 2 - shown(end, -500 * MS, -50) <= 4);
	}
	RIG_EQUAL(counts[2], 50);
	RIG_TRUE(found[2][49].end_ns - STANDIN_EPOCH_NS > 200 * MS);
}

/* ---- who does not come ---- */

static void a_rank_that_has_ended_fails_the_others(void)
{
	int rank = own_rank();
	ncclComm_t comm;

	if (rank >= 0) {
		comm = join("all", 3, rank);
		reduce(comm, 1000, NULL);
		if (rank == 1)
			_exit(0);
		RIG_EQUAL(ncclAllReduce(NULL, NULL, 1, ncclInt8, ncclSum, comm, NULL),
			ncclRemoteError);
		return;
	}
	run_job("a_rank_that_has_ended_fails_the_others", 3, NULL);
	RIG_EQUAL(counts[0], 1);
}

static void a_rank_that_never_comes_fails_the_others(void)
{
	ncclUniqueId id = {"all"};
	ncclComm_t comm;

	if (own_rank() == 0)
		RIG_EQUAL(ncclCommInitRank(&comm, 2, id, 0), ncclRemoteError);
	if (own_rank() < 0)
		run_job("a_rank_that_never_comes_fails_the_others", 1, NULL);
}

static void ranks_that_disagree_fail(void)
{
	int rank = own_rank();

	if (rank < 0)
		run_job("ranks_that_disagree_fail", 2, NULL);
	else
		RIG_EQUAL(ncclAllReduce(NULL, NULL, rank ? 8 : 4, ncclInt8, ncclSum,
				  join("all", 2, rank), NULL),
			ncclRemoteError);
}

static void a_rank_alone_needs_no_world(void)
{
	ncclUniqueId id = {"alone"};
	ncclComm_t comm;

	reduce(join("one", 1, 0), 1000, NULL);
	RIG_EQUAL(ncclCommInitRank(&comm, 2, id, 0), ncclSystemError);
}

/* ---- any job, any machine ---- */

/* Random host code and collectives of two communicators and rings of messages, the same on all
 * ranks except for the host code. */
static void play_at_random(int rank, int ranks)
{
	struct vpt_random all = {1}, own = {(uint64_t)rank + 2};
	ncclComm_t comms[2];
	cudaStream_t stream = rig_stream(cudaStreamNonBlocking);

	comms[0] = join("all", ranks, rank);
	comms[1] = join(rank % 2 ? "odd" : "even", ranks / 2, rank / 2);
	for (int i = 0; i < 300; i++) {
		uint64_t what = vpt_random(&all) % 4, bytes = vpt_random(&all) % 1000000;

		standin_work(vpt_random(&own) % 200000);
		if (what == 3) {
			ncclGroupStart();
			ncclSend(NULL, bytes, ncclInt8, (rank + 1) % ranks, comms[0], stream);
			ncclRecv(NULL, bytes, ncclInt8, (rank + ranks - 1) % ranks, comms[0],
				stream);
			RIG_EQUAL(ncclGroupEnd(), 0);
		} else {
			reduce(comms[what % 2], bytes, what == 2 ? stream : NULL);
		}
		if (vpt_random(&own) % 8 == 0)
			RIG_EQUAL(cudaDeviceSynchronize(), 0);
	}
	RIG_EQUAL(ncclCommDestroy(comms[0]), 0);
	RIG_EQUAL(ncclCommDestroy(comms[1]), 0);
}

static void repeated_runs_are_alike_under_load(void)
{
	static struct met first[RANKS_MAX][OPS_MAX];
	int rank = own_rank();
	pid_t load[6];

	if (rank >= 0) {
		play_at_random(rank, 4);
		return;
	}
	run_job("repeated_runs_are_alike_under_load", 4, NULL);
	check_sums(4);
	RIG_EQUAL(counts[0], 300);
	memcpy(first, found, sizeof(first));
	for (unsigned i = 0; i < 6; i++) {
		load[i] = fork();
		if (!load[i])
			alarm(120); /* whatever becomes of this process */
		for (volatile unsigned turns = 0; !load[i]; turns++)
			continue;
	}
	run_job("repeated_runs_are_alike_under_load", 4, NULL);
	for (unsigned i = 0; i < 6; i++)
		kill(load[i], SIGKILL);
	RIG_TRUE(!memcmp(first, found, sizeof(first)));
}

#define CASE(name)                                                                                 \
	{                                                                                          \
#name, "", name, 0                                                                 \
	}
static const struct rig_case cases[] = {
	CASE(kernels_end_when_the_last_rank_has_come),
	CASE(a_message_concerns_two_ranks),
	CASE(a_group_is_one_kernel),
	CASE(replays_meet_each_time),
	CASE(faults_of_one_rank_show_where_they_should),
	CASE(clocks_differ_and_moments_do_not),
	CASE(a_rank_that_has_ended_fails_the_others),
	{"a_rank_that_never_comes_fails_the_others", "VPT_STANDIN_WAIT_S=1",
		a_rank_that_never_comes_fails_the_others, 0},
	CASE(ranks_that_disagree_fail),
	CASE(a_rank_alone_needs_no_world),
	CASE(repeated_runs_are_alike_under_load),
};

int main(int argc, char **argv)
{
	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
