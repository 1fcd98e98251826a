/* plain.c - a program that knows nothing of the stand-in: linked to its libcudart, it runs on the
 * real one as well. Prints the runtime's version and the seconds since 1970. */
#include "tests/standin/include/standin_cuda.h"

#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec t;
	int version = 0, count = 0;

	cudaGetDeviceCount(&count); /* fails without a driver, which is no matter here */
	if (cudaRuntimeGetVersion(&version) || clock_gettime(CLOCK_REALTIME, &t))
		return 1;
	printf("%d %lld\n", version, (long long)t.tv_sec);
	return 0;
}
