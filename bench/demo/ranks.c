/* ranks.c - starts a process for each rank, with the environment that torchrun gives, and for the
 * simulated GPU a file in which they meet. */
#include "bench/demo/ranks.h"

#include "bench/demo/plants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_number(const char *name, uint64_t number, int replace)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	setenv(name, text, replace);
}

/* Ranks of one node follow one another. */
static void say_place(const struct demo_options *o, uint64_t rank)
{
	uint64_t of_node = (o->ranks + o->nodes - 1) / o->nodes, node = rank / of_node;
	uint64_t left = o->ranks - node * of_node, here = left < of_node ? left : of_node;

	set_number("RANK", rank, 1);
	set_number("WORLD_SIZE", o->ranks, 1);
	set_number("LOCAL_RANK", rank % of_node, 1);
	set_number("LOCAL_WORLD_SIZE", here, 1);
	set_number("GROUP_RANK", node, 1);
	set_number("VPT_STANDIN_DEVICES", of_node, 0);
	setenv("MASTER_ADDR", "localhost", 0);
	setenv("MASTER_PORT", "29500", 0);
	setenv("TORCHELASTIC_RUN_ID", "demo", 0);
}

/* A host has one clock: that of the last of its ranks that was given one. */
static int64_t of_host(const struct demo_options *o, uint64_t rank, enum demo_plant_kind kind)
{
	uint64_t of_node = (o->ranks + o->nodes - 1) / o->nodes, first = rank - rank % of_node;
	int64_t found = 0;

	for (uint64_t r = first; r < first + of_node && r < o->ranks; r++)
		found = demo_plant(o->plants, r, kind, found);
	return found;
}

static void say_faults(const struct demo_options *o, uint64_t rank)
{
	uint64_t of_node = (o->ranks + o->nodes - 1) / o->nodes;
	int64_t offset_ms = of_host(o, rank, DEMO_PLANT_OFFSET);
	char words[256];

	snprintf(words, sizeof(words),
		"host=%llu,late=%lld,link=%lld,skew=%lld,offset=%lld,drift=%lld",
		(unsigned long long)(rank / of_node),
		(long long)demo_plant(o->plants, rank, DEMO_PLANT_LATE, 0),
		(long long)demo_plant(o->plants, rank, DEMO_PLANT_LINK, 100),
		(long long)demo_plant(o->plants, rank, DEMO_PLANT_SKEW, 0),
		(long long)offset_ms * 1000000, (long long)of_host(o, rank, DEMO_PLANT_DRIFT));
	setenv("VPT_STANDIN_RANK", words, 1);
	if (demo_plant(o->plants, rank, DEMO_PLANT_UNTRACED, 0)) {
		unsetenv("CUDA_INJECTION64_PATH");
		unsetenv("NVTX_INJECTION64_PATH");
	}
}

static pid_t start_rank(const struct demo_options *o, uint64_t rank, char **argv, int argc)
{
	char number[24];
	char **words;
	pid_t pid = fork();

	if (pid)
		return pid;
	say_place(o, rank);
	say_faults(o, rank);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)rank);
	words = calloc((size_t)argc + 3, sizeof(*words));
	if (words) {
		memcpy(words, argv, (size_t)argc * sizeof(*words));
		words[argc] = (char[]){"--rank"};
		words[argc + 1] = number;
		execv("/proc/self/exe", words);
	}
	perror("demo: a rank could not be started");
	_exit(1);
}

/* The file in which simulated ranks meet. */
static int make_world(char *path, size_t size)
{
	const char *folder = getenv("TMPDIR");
	int file;

	snprintf(path, size, "%s/vptrace-demo-XXXXXX", folder && *folder ? folder : "/tmp");
	file = mkstemp(path);
	if (file < 0) {
		perror("demo: no file in which the ranks could meet");
		return -1;
	}
	close(file);
	setenv("VPT_STANDIN_WORLD", path, 1);
	return 0;
}

int demo_run_ranks(const struct demo_options *o, char **argv, int argc)
{
	char world[4096];
	int failed = 0, status;
	uint64_t rank;

	if (make_world(world, sizeof(world)))
		return 1;
	for (rank = 0; rank < o->ranks; rank++)
		failed |= start_rank(o, rank, argv, argc) < 0;
	while (wait(&status) > 0)
		failed |= status != 0;
	unlink(world);
	if (failed)
		fprintf(stderr, "demo: a rank failed\n");
	return failed;
}
