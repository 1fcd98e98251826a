/* test_standin_graphs.c - graphs on the simulated device: their times, their place in the queue,
 * and what breaks a capture. */
#include "tests/standin/clients/rig.h"

enum { US = 1000 };

/*	a ------> c ---> d      a 10 us, b 40 us, c 20 us, d 5 us
 *	 \-> b ---------/
 *
 * Launched at t0: a starts at 8000 + 2000; b and c at its end; d after b. The stream's next kernel
 * follows d. */
static void graphs_follow_their_dependencies(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t s = rig_stream(0), t = rig_stream(0);
	cudaEvent_t fork, join;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	size_t nodes = 0;
	struct rig_op op[5];
	uint64_t t0;

	RIG_EQUAL(cudaEventCreate(&fork), 0);
	RIG_EQUAL(cudaEventCreate(&join), 0);
	RIG_EQUAL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), 0);
	rig_launch(k, 10 * US, s);
	RIG_EQUAL(cudaEventRecord(fork, s), 0);
	RIG_EQUAL(cudaStreamWaitEvent(t, fork, 0), 0);
	rig_launch(k, 40 * US, t);
	rig_launch(k, 20 * US, s);
	RIG_EQUAL(cudaEventRecord(join, t), 0);
	RIG_EQUAL(cudaStreamWaitEvent(s, join, 0), 0);
	rig_launch(k, 5 * US, s);
	RIG_EQUAL(cudaStreamEndCapture(s, &graph), 0);
	RIG_EQUAL(cudaGraphGetNodes(graph, NULL, &nodes), 0);
	RIG_EQUAL(nodes, 4);
	RIG_EQUAL(rig_ops(op, 5), 0);
	t0 = standin_now();
	RIG_EQUAL(cudaGraphInstantiate(&exec, graph, 0), 0);
	RIG_EQUAL(standin_now() - t0, 1000000);
	RIG_EQUAL(cudaGraphDestroy(graph), 0);
	t0 = standin_now();
	RIG_EQUAL(cudaGraphLaunch(exec, s), 0);
	RIG_EQUAL(standin_now() - t0, 8000);
	rig_launch(k, 1 * US, s);
	RIG_EQUAL(rig_ops(op, 5), 5);
	rig_op_is(&op[0], t0 + 10000, 10 * US);
	rig_op_is(&op[1], t0 + 20000, 40 * US);
	rig_op_is(&op[2], t0 + 20000, 20 * US);
	rig_op_is(&op[3], t0 + 60000, 5 * US);
	rig_op_is(&op[4], t0 + 65000, 1 * US);
	RIG_EQUAL(op[1].correlation, op[0].correlation);
	RIG_TRUE(op[0].graph && op[0].graph_node != op[1].graph_node);
	RIG_EQUAL(cudaGraphExecDestroy(exec), 0);
}

static void graph_is_one_launch_in_the_queue(void)
{
	cudaKernel_t k = rig_kernel("k");
	cudaStream_t s = rig_stream(0);
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	uint64_t t0;

	RIG_EQUAL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), 0);
	for (int i = 0; i < 20; i++)
		rig_launch(k, 1000 * US, s);
	RIG_EQUAL(cudaStreamEndCapture(s, &graph), 0);
	RIG_EQUAL(cudaGraphInstantiateWithFlags(&exec, graph, 0), 0);
	t0 = standin_now();
	for (int i = 0; i < STANDIN_QUEUE; i++)
		RIG_EQUAL(cudaGraphLaunch(exec, s), 0);
	RIG_EQUAL(standin_now() - t0, 8000 * STANDIN_QUEUE);
	RIG_EQUAL(cudaGraphLaunch(exec, s), 0);
	RIG_EQUAL(standin_now() - t0, 8000 + 2000 + UINT64_C(20) * 1000 * US);
}

/* What is not allowed while a stream captures breaks the capture, as it does on a real device. */
static void synchronising_breaks_a_capture(void)
{
	enum cudaStreamCaptureStatus status;
	cudaStream_t s = rig_stream(0);
	cudaGraph_t graph;

	RIG_EQUAL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), 0);
	RIG_EQUAL(cudaStreamIsCapturing(s, &status), 0);
	RIG_EQUAL(status, cudaStreamCaptureStatusActive);
	RIG_EQUAL(cudaStreamIsCapturing(NULL, &status), cudaErrorStreamCaptureImplicit);
	RIG_EQUAL(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
	RIG_EQUAL(cudaStreamIsCapturing(s, &status), 0);
	RIG_EQUAL(status, cudaStreamCaptureStatusInvalidated);
	RIG_EQUAL(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
	RIG_TRUE(!graph);
	RIG_EQUAL(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
	RIG_EQUAL(cudaGetLastError(), 0);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
}

#define CASE(name, environment)                                                                    \
	{                                                                                          \
#name, environment, name, 0                                                        \
	}

static const struct rig_case cases[] = {
	CASE(graphs_follow_their_dependencies, ""),
	CASE(graph_is_one_launch_in_the_queue, ""),
	CASE(synchronising_breaks_a_capture, ""),
};

int main(int argc, char **argv)
{
	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
