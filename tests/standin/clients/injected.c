/* injected.c - a library for CUDA_INJECTION64_PATH: it leaves a mark in the environment. */
#include <stdlib.h>

int InitializeInjection(void);

int InitializeInjection(void)
{
	const char *before = getenv("STANDIN_INJECTED");

	setenv("STANDIN_INJECTED", before ? "again" : "once", 1);
	return 1;
}
