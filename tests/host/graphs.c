/* graphs.c - a traced program with one large CUDA graph, that says what it did and what the tracer and the stand-in counted,
 * one NAME VALUE a line.
 *
 *	host_graphs CAPTURE NODES LAUNCHES
 *
 * It captures a graph of NODES kernels, half of them in one operator and half in another, instantiates it, launches it LAUNCHES
 * times and destroys it, as fast as it can: each node is reported four times (made, made again and cloned by the instantiation,
 * destroyed) and is a kernel in each launch. */
#include "tests/host/host.h"
#include "tests/standin/standin.h"

#include "tracer/vptrace.h"

static cudaGraphExec_t make(const struct host_gpu *gpu, cudaStream_t stream, long nodes)
{
	/* As PyTorch's emit_nvtx() names them. */
	static const char *const operators[] = {
		"aten::mm, sizes = [[64, 32], [32, 64]]", "aten::softmax, sizes = [[64, 64]]"};
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	long i = 0, part;

	vptrace_range_push("capture");
	HOST_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (part = 0; part < 2; part++) {
		vptrace_range_push(operators[part]);
		for (; i < (part + 1) * nodes / 2; i++)
			host_launch(i % 3 ? gpu->gemm : gpu->attention, 1000, stream);
		vptrace_range_pop();
	}
	HOST_CHECK(cudaStreamEndCapture(stream, &graph));
	HOST_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	vptrace_range_pop();
	HOST_CHECK(cudaGraphDestroy(graph));
	return exec;
}

static void print(const struct vptrace_stats *stats, const struct standin_counts *counts)
{
	printf("received %llu\nwritten %llu\ndropped %llu\ncupti_dropped %llu\n",
		(unsigned long long)stats->received, (unsigned long long)stats->written,
		(unsigned long long)stats->dropped, (unsigned long long)stats->cupti_dropped);
	printf("cupti_records %llu\nfiltered %llu\n", (unsigned long long)stats->cupti_records,
		(unsigned long long)stats->filtered);
	printf("kernels %llu\nrecords %llu\ndelivered %llu\nlost %llu\n",
		(unsigned long long)counts->kernels, (unsigned long long)counts->records,
		(unsigned long long)counts->delivered, (unsigned long long)counts->dropped);
}

int main(int argc, char **argv)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options)};
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	struct standin_counts counts;
	struct host_gpu gpu;
	cudaStream_t stream;
	cudaGraphExec_t exec;
	long launches;

	if (argc != 4)
		return 2;
	options.path = argv[1];
	HOST_CHECK(vptrace_start(&options));
	gpu = host_open();
	HOST_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	exec = make(&gpu, stream, host_number(argv[2], "NODES"));
	for (launches = host_number(argv[3], "LAUNCHES"); launches > 0; launches--)
		HOST_CHECK(cudaGraphLaunch(exec, stream));
	HOST_CHECK(cudaStreamSynchronize(stream));
	HOST_CHECK(cudaGraphExecDestroy(exec));
	printf("stop %d\n", vptrace_stop(&stats));
	standin_counts(&counts);
	print(&stats, &counts);
	return 0;
}
