/* test_tracer_rank.c - which process of which job this is, as launchers say it. */
#include "formats/base/count.h"
#include "tracer/settings/rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "NAME=value NAME=value" and nothing else. */
static void set_environment(const char *text)
{
	char *copy = strdup(text), *rest = NULL, *word;

	clearenv();
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		*value = '\0';
		setenv(word, value + 1, 1);
	}
	free(copy);
}

static void the_first_launcher_with_a_rank_is_believed(void **state)
{
	static const struct {
		const char *rule, *environment;
		struct vtr_place expected;
	} cases[] = {
		{"none", "", {-1, -1, -1, -1, -1}},
		{"sizes without a rank are nothing", "WORLD_SIZE=8 LOCAL_RANK=1",
			{-1, -1, -1, -1, -1}},
		{"torchrun", "RANK=9 WORLD_SIZE=16 LOCAL_RANK=1 LOCAL_WORLD_SIZE=8 GROUP_RANK=1",
			{9, 16, 1, 8, 1}},
		{"torchrun below Slurm, which has a task a node",
			"SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=0 SLURM_NODEID=1 "
			"SLURM_STEP_ID=0 RANK=9 WORLD_SIZE=16",
			{9, 16, -1, -1, -1}},
		{"Open MPI",
			"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 "
			"OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 "
			"OMPI_COMM_WORLD_NODE_RANK=1",
			{3, 4, 1, 2, -1}},
		{"Slurm",
			"SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 SLURM_NTASKS_PER_NODE=4 "
			"SLURM_NODEID=1 SLURM_STEP_ID=0",
			{5, 8, 1, 4, 1}},
		{"Slurm with as many tasks as it likes on each node",
			"SLURM_PROCID=9 SLURM_NTASKS=11 SLURM_LOCALID=1 SLURM_NODEID=2 "
			"SLURM_STEP_ID=0 SLURM_STEP_TASKS_PER_NODE=4(x2),3",
			{9, 11, 1, 3, 2}},
		{"Slurm with a list that is none",
			"SLURM_PROCID=9 SLURM_NTASKS=11 SLURM_LOCALID=1 SLURM_NODEID=2 "
			"SLURM_STEP_ID=0 SLURM_STEP_TASKS_PER_NODE=4(x0),(",
			{9, 11, 1, -1, 2}},
		{"the script of sbatch is no rank",
			"SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_LOCALID=0 SLURM_NODEID=0",
			{-1, -1, -1, -1, -1}},
		{"MPICH's mpiexec in a job of Slurm",
			"SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_LOCALID=0 SLURM_NODEID=0 "
			"SLURM_STEP_ID=1 PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=4",
			{2, 4, 2, 4, -1}},
		{"srun with PMI of its own",
			"SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_NODEID=1 "
			"SLURM_STEP_ID=1 SLURM_STEP_TASKS_PER_NODE=2(x2) PMI_RANK=2 PMI_SIZE=4",
			{2, 4, 0, 2, 1}},
		{"MPICH", "PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2",
			{2, 4, 0, 2, -1}},
		{"PMIx says only the rank", "PMIX_RANK=2", {2, -1, -1, -1, -1}},
		{"what is no number is not known",
			"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=8x "
			"SLURM_NTASKS_PER_NODE=4(x2) SLURM_LOCALID=-1 SLURM_NODEID=",
			{0, -1, -1, -1, -1}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vtr_place found;

		set_environment(cases[i].environment);
		vtr_place(&found);
		if (memcmp(&found, &cases[i].expected, sizeof(found)))
			fail_msg("%s: found %ld of %ld, %ld of %ld, node %ld", cases[i].rule,
				found.rank, found.world, found.local_rank, found.local_world,
				found.node);
		assert_int_equal(vtr_rank(), cases[i].expected.rank);
	}
}

static void a_job_has_an_id(void **state)
{
	static const struct {
		const char *environment, *expected;
	} cases[] = {
		{"", ""},
		{"TORCHELASTIC_RUN_ID=a-b SLURM_JOB_ID=7", "torchrun:a-b"},
		{"TORCHELASTIC_RUN_ID=none SLURM_JOB_ID=7 SLURM_STEP_ID=0", "slurm:7.0"},
		{"TORCHELASTIC_RUN_ID=none", ""},
		{"SLURM_JOB_ID=7 MASTER_ADDR=a MASTER_PORT=1", "slurm:7"},
		{"OMPI_MCA_ess_base_jobid=123 MASTER_ADDR=a MASTER_PORT=1", "openmpi:123"},
		{"PMIX_NAMESPACE=prterun-a-1@1", "openmpi:prterun-a-1@1"},
		{"MASTER_ADDR=10.0.0.1 MASTER_PORT=29500", "master:10.0.0.1:29500"},
		{"MASTER_ADDR=10.0.0.1", ""},
	};
	char long_id[VTR_JOB_MAX * 2], found[VTR_JOB_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		set_environment(cases[i].environment);
		assert_int_equal(vtr_job(found), *cases[i].expected != '\0');
		assert_string_equal(found, cases[i].expected);
	}
	memset(long_id, 'x', sizeof(long_id));
	long_id[sizeof(long_id) - 1] = '\0';
	setenv("TORCHELASTIC_RUN_ID", long_id, 1);
	assert_int_equal(vtr_job(found), 1);
	assert_int_equal(strlen(found), VTR_JOB_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_launcher_with_a_rank_is_believed),
		cmocka_unit_test(a_job_has_an_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
