/* rig.h - what tests of the stand-in share. Each case runs in its own process, because settings are
 * read once per process.
 *
 * The program starts itself again for every case, with the case's environment; a failed check ends
 * that process with a message. Only for test programs linked with the stand-in's libcudart and
 * libcuda. */
#ifndef VPT_STANDIN_RIG_H
#define VPT_STANDIN_RIG_H

#include "tests/standin/include/standin_cuda.h"
#include "tests/standin/standin.h"

struct rig_case {
	const char *name;
	const char *environment; /* "NAME=value NAME=value", or "" */
	void (*run)(void);
	int signal; /* that must end the process; 0: it ends normally */
};

enum { RIG_SKIP = 77 };

/* main() of a test program. */
int rig_main(int argc, char **argv, const struct rig_case *cases, unsigned count);

/* Ends the process unless the two are equal. */
#define RIG_EQUAL(found, expected)                                                                 \
	rig_equal((uint64_t)(found), (uint64_t)(expected), #found, __FILE__, __LINE__)
void rig_equal(uint64_t found, uint64_t expected, const char *what, const char *file, int line);
#define RIG_TRUE(condition) rig_equal(!!(condition), 1, #condition, __FILE__, __LINE__)

/* A file of this case, removed at its end. */
const char *rig_file(const char *name);

/* A kernel of this name, loaded from PTX. */
cudaKernel_t rig_kernel(const char *name);
/* Launches one block of it that runs for `ns`. */
void rig_launch(cudaKernel_t kernel, uint64_t ns, cudaStream_t stream);

cudaStream_t rig_stream(unsigned flags);

/* Ops as VPT_STANDIN_LOG lists them. */
struct rig_op {
	uint64_t start_ns, end_ns;
	unsigned stream, correlation, device;
	uint64_t bytes, graph_node;
	unsigned graph;
	char kind[16], name[64];
};
/* Checks an op's start and duration. */
void rig_op_is(const struct rig_op *op, uint64_t start_ns, uint64_t duration_ns);
/* The ops so far, at most `room`; returns their number. */
unsigned rig_ops(struct rig_op *ops, unsigned room);

#endif
