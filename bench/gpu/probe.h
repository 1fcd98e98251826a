/* probe.h - shared by the two probes: a stream, an empty kernel, clocks, medians, and the output of
 * results.
 *
 * A probe prints one "NAME<tab>VALUE<tab>UNIT" per line on standard output, which table.py
 * collects. run.sh compiles the probes; the same binary runs on the simulated GPU and on a real
 * one. They are not part of the library. */
#ifndef VPT_BENCH_GPU_PROBE_H
#define VPT_BENCH_GPU_PROBE_H

#include "tests/standin/include/standin_cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROBE_BATCH = 400 }; /* launches that fit into a device's queue, so that none waits */

/* Reports a failure and exits: a probe has nothing to save. */
#define PROBE_CHECK(call)                                                                          \
	do {                                                                                       \
		int probe_rc = (int)(call);                                                        \
		if (probe_rc) {                                                                    \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call,        \
				probe_rc);                                                         \
			exit(9);                                                                   \
		}                                                                                  \
	} while (0)

/* On the simulated GPU the argument is how long the kernel takes; a real one returns at once. */
static const char probe_ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
				".visible .entry probe_empty(.param .u64 ns) { ret; }\n";

struct probe_gpu {
	cudaLibrary_t library;
	cudaKernel_t empty;
	cudaStream_t stream;
};

static inline cudaKernel_t probe_kernel(cudaLibrary_t *library, const char *ptx, const char *name)
{
	cudaKernel_t kernel;

	PROBE_CHECK(cudaLibraryLoadData(library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	PROBE_CHECK(cudaLibraryGetKernel(&kernel, *library, name));
	return kernel;
}

static inline struct probe_gpu probe_open(void)
{
	struct probe_gpu gpu;

	PROBE_CHECK(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
	gpu.empty = probe_kernel(&gpu.library, probe_ptx, "probe_empty");
	return gpu;
}

static inline void probe_launch(cudaKernel_t kernel, cudaStream_t stream)
{
	uint64_t ns = 1000;
	void *arguments[] = {&ns};
	dim3 grid = {1, 1, 1}, block = {32, 1, 1};

	PROBE_CHECK(cudaLaunchKernel((const void *)kernel, grid, block, arguments, 0, stream));
}

static inline uint64_t probe_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Nanoseconds that the host spends in a launch: the mean over `launches`, in batches that fit the
 * device's queue. Excludes the waits between batches. */
static inline double probe_launch_ns(const struct probe_gpu *gpu, unsigned launches)
{
	uint64_t spent = 0, from;
	unsigned done, i;

	for (done = 0; done < launches; done += i) {
		from = probe_now_ns();
		for (i = 0; i < PROBE_BATCH && done + i < launches; i++)
			probe_launch(gpu->empty, gpu->stream);
		spent += probe_now_ns() - from;
		PROBE_CHECK(cudaStreamSynchronize(gpu->stream));
	}
	return (double)spent / launches;
}

/* A graph of `nodes` empty kernels in sequence. */
static inline cudaGraphExec_t probe_graph(const struct probe_gpu *gpu, unsigned nodes)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	unsigned i;

	PROBE_CHECK(cudaStreamBeginCapture(gpu->stream, cudaStreamCaptureModeThreadLocal));
	for (i = 0; i < nodes; i++)
		probe_launch(gpu->empty, gpu->stream);
	PROBE_CHECK(cudaStreamEndCapture(gpu->stream, &graph));
	PROBE_CHECK(cudaGraphInstantiate(&exec, graph, 0));
	PROBE_CHECK(cudaGraphDestroy(graph));
	return exec;
}

static inline int probe_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the median; sorts `values`. */
static inline double probe_median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), probe_compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static inline double probe_resident_mib(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");
	double mib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS:", 6))
			mib = atof(line + 6) / 1024;
	if (f)
		fclose(f);
	return mib;
}

static inline double probe_device_free_mib(void)
{
	size_t free_bytes, total;

	PROBE_CHECK(cudaMemGetInfo(&free_bytes, &total));
	return (double)free_bytes / 1048576;
}

static inline void probe_say(const char *name, double value, const char *unit)
{
	printf("%s\t%.6g\t%s\n", name, value, unit);
	fflush(stdout);
}

static inline void probe_say_of(const char *who, const char *what, double value, const char *unit)
{
	printf("%s.%s\t%.6g\t%s\n", who, what, value, unit);
	fflush(stdout);
}

static inline unsigned probe_number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!*text || *end || !n || n > 100000000) {
		fprintf(stderr, "expected a number of 1 to 100000000, found '%s'\n", text);
		exit(2);
	}
	return (unsigned)n;
}

#endif
