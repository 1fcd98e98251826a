/* host.h - what the programs that tests trace have in common: a GPU stream with one kernel,
 * launched in loops.
 *
 * They are hosts in the tracer's sense: programs that use CUDA and mark their work. On the stand-in
 * they need no GPU. */
#ifndef VPT_TESTS_HOST_H
#define VPT_TESTS_HOST_H

#include "tests/standin/include/standin_cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define HOST_CHECK(call)                                                                           \
	do {                                                                                       \
		int host_rc = (int)(call);                                                         \
		if (host_rc) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, host_rc);    \
			exit(9);                                                                   \
		}                                                                                  \
	} while (0)

static const char host_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			       ".visible .entry gemm_kernel(.param .u64 ns) { ret; }\n"
			       ".visible .entry attention_kernel(.param .u64 ns) { ret; }\n";

struct host_gpu {
	cudaKernel_t gemm, attention;
};

static inline struct host_gpu host_open(void)
{
	struct host_gpu gpu;
	cudaLibrary_t library;

	HOST_CHECK(cudaLibraryLoadData(&library, host_ptx, NULL, NULL, 0, NULL, NULL, 0));
	HOST_CHECK(cudaLibraryGetKernel(&gpu.gemm, library, "gemm_kernel"));
	HOST_CHECK(cudaLibraryGetKernel(&gpu.attention, library, "attention_kernel"));
	return gpu;
}

static inline void host_launch(cudaKernel_t kernel, uint64_t duration_ns, cudaStream_t stream)
{
	void *arguments[] = {&duration_ns};
	dim3 grid = {132, 1, 1}, block = {256, 1, 1};

	HOST_CHECK(cudaLaunchKernel((const void *)kernel, grid, block, arguments, 0, stream));
}

static inline long host_number(const char *text, const char *what)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text || *end || n < 0) {
		fprintf(stderr, "%s: expected a number, found '%s'\n", what, text);
		exit(2);
	}
	return n;
}

#endif
