/* rig.c - runs each case of a test in a process of its own; see rig.h. Some run at a time, since they mostly wait, and
 * end in their order. */
#include "tests/standin/clients/rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LANES = 4 };

struct running {
	pid_t child;
	char folder[256];
};

static struct running *running; /* of each case, once it has begun */
static const struct rig_case *first_case;
static unsigned case_count, begun;

void rig_equal(uint64_t found, uint64_t expected, const char *what, const char *file, int line)
{
	if (found == expected)
		return;
	fprintf(stderr, "%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 "\n", file,
		line, what, found, found, expected);
	fflush(stderr);
	_exit(1);
}

const char *rig_file(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("RIG_FOLDER"), name);
	return path;
}

/* Puts "NAME=value NAME=value" into the environment; "NAME=@file" means a file beside the
 * stand-in's libraries. */
static void set_environment(const char *text)
{
	char *copy = strdup(text), *rest = NULL, path[512];

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		if (*value == '@') {
			snprintf(path, sizeof(path), "%s/standin/%s", getenv("VPT_BIN"), value + 1);
			if (access(path, R_OK)) {
				fprintf(stderr, "skipped: no %s in this build\n", path);
				_exit(RIG_SKIP);
			}
			value = path;
		}
		setenv(word, value, 1);
	}
	free(copy);
}

static void begin_case(const struct rig_case *c, struct running *r)
{
	char log[512];

	snprintf(r->folder, sizeof(r->folder), "%s/rigXXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(r->folder));
	r->child = fork();
	if (r->child)
		return;
	snprintf(log, sizeof(log), "%s/ops", r->folder);
	setenv("RIG_FOLDER", r->folder, 1);
	setenv("VPT_STANDIN_LOG", log, 1);
	set_environment(c->environment);
	execl("/proc/self/exe", "case", c->name, (char *)NULL);
	_exit(2);
}

static void run_case(void **state)
{
	const struct rig_case *c = *state;
	struct running *r = &running[c - first_case];
	char remove[512];
	int status = 0;

	for (; begun < case_count && begun < c - first_case + LANES; begun++)
		begin_case(&first_case[begun], &running[begun]);
	assert_int_equal(waitpid(r->child, &status, 0), r->child);
	snprintf(remove, sizeof(remove), "rm -rf '%s'", r->folder);
	assert_int_equal(system(remove), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == RIG_SKIP)
		skip();
	if (c->signal) {
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), c->signal);
		return;
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int rig_main(int argc, char **argv, const struct rig_case *cases, unsigned count)
{
	struct CMUnitTest *tests;
	int failed;

	for (unsigned i = 0; argc == 2 && i < count; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	first_case = cases;
	case_count = count;
	running = calloc(count, sizeof(*running));
	tests = calloc(count, sizeof(*tests));
	if (!tests || !running)
		return 1;
	for (unsigned i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){
			cases[i].name, run_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
	failed = _cmocka_run_group_tests("standin", tests, count, NULL, NULL);
	free(tests);
	free(running);
	return failed;
}

cudaKernel_t rig_kernel(const char *name)
{
	cudaLibrary_t library;
	cudaKernel_t kernel;
	char ptx[256];

	snprintf(ptx, sizeof(ptx), ".visible .entry %s(.param .u64 ns)\n{ ret; }\n", name);
	RIG_EQUAL(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0), 0);
	RIG_EQUAL(cudaLibraryGetKernel(&kernel, library, name), 0);
	return kernel;
}

void rig_launch(cudaKernel_t kernel, uint64_t ns, cudaStream_t stream)
{
	const dim3 grid = {2, 1, 1}, block = {64, 1, 1};
	void *arguments[] = {&ns};

	RIG_EQUAL(cudaLaunchKernel(kernel, grid, block, arguments, 0, stream), 0);
}

unsigned rig_ops(struct rig_op *ops, unsigned room)
{
	unsigned count = 0;
	FILE *f;

	fflush(NULL);
	f = fopen(rig_file("ops"), "re");
	if (!f)
		return 0;
	while (count < room &&
		fscanf(f, "%" SCNu64 " %" SCNu64 " %u %15s %63s %u %u %" SCNu64 " %u %" SCNu64,
			&ops[count].start_ns, &ops[count].end_ns, &ops[count].stream,
			ops[count].kind, ops[count].name, &ops[count].correlation,
			&ops[count].device, &ops[count].bytes, &ops[count].graph,
			&ops[count].graph_node) == 10)
		count++;
	fclose(f);
	return count;
}

void rig_op_is(const struct rig_op *op, uint64_t start_ns, uint64_t duration_ns)
{
	RIG_EQUAL(op->start_ns, start_ns);
	RIG_EQUAL(op->end_ns - op->start_ns, duration_ns);
}

cudaStream_t rig_stream(unsigned flags)
{
	cudaStream_t s;

	RIG_EQUAL(cudaStreamCreateWithFlags(&s, flags), 0);
	return s;
}
