/* plain.c - a program that knows nothing of the tracer: CUDA, and NVTX where its headers are there.
 *
 *	host_plain LAUNCHES      prints whether it has ranges
 *
 * With CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH naming libvptrace.so it is traced all the
 * same. Without CUDA (LAUNCHES 0) its ranges are. */
#include "tests/host/host.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define PUSH(name) nvtxRangePushA(name)
#define POP()      nvtxRangePop()
#define RANGES     1
#else
#define PUSH(name) ((void)(name))
#define POP()      ((void)0)
#define RANGES     0
#endif

int main(int argc, char **argv)
{
	struct host_gpu gpu;
	long i, launches = argc > 1 ? host_number(argv[1], "LAUNCHES") : 10;

	PUSH("plain request");
	if (launches) {
		gpu = host_open();
		for (i = 0; i < launches; i++)
			host_launch(gpu.gemm, 1000, NULL);
		HOST_CHECK(cudaDeviceSynchronize());
	}
	POP();
	printf("ranges %d\n", RANGES);
	return 0;
}
