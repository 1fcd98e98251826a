/* coarse.c - two captures of one process, with profiles of their own.
 *
 *	host_coarse CAPTURE PROFILE GRAPHS CAPTURE PROFILE GRAPHS
 *
 * In each it launches 20 kernels, and as often a graph of 10 more. Prints the result of each stop. */
#include "tests/host/host.h"

#include "tracer/vptrace.h"

#include <string.h>

enum { KERNELS = 20, NODES = 10 };

static struct host_gpu gpu;
static cudaStream_t stream;
static cudaGraphExec_t exec;

static enum vptrace_profile profile_of(const char *name)
{
	return !strcmp(name, "coarse") ? VPTRACE_PROFILE_COARSE
	       : !strcmp(name, "lite") ? VPTRACE_PROFILE_LITE
				       : VPTRACE_PROFILE_DEFAULT;
}

static void make_graph(void)
{
	cudaGraph_t graph;
	int i;

	HOST_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (i = 0; i < NODES; i++)
		host_launch(gpu.attention, 1000, stream);
	HOST_CHECK(cudaStreamEndCapture(stream, &graph));
	HOST_CHECK(cudaGraphInstantiate(&exec, graph, 0));
}

static void record(char **argv)
{
	struct vptrace_options o = {
		.struct_bytes = sizeof(o), .path = argv[0], .profile = profile_of(argv[1])};
	long graphs = host_number(argv[2], "GRAPHS");
	int i;

	HOST_CHECK(vptrace_start(&o));
	for (i = 0; i < KERNELS; i++)
		host_launch(gpu.gemm, 1000, stream);
	for (; graphs > 0; graphs--)
		HOST_CHECK(cudaGraphLaunch(exec, stream));
	printf("stop %d\n", vptrace_stop(NULL));
}

int main(int argc, char **argv)
{
	if (argc != 7)
		return 2;
	gpu = host_open();
	HOST_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	make_graph();
	record(argv + 1);
	record(argv + 4);
	return 0;
}
