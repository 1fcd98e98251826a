/* other_python.c - calls CUDA, in a process without Python, or with -DMINOR=N one that looks like
 * Python 3.N. Prints how many samplers there are at its begin and at its end. */
#include "tests/stacks/samplers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef MINOR
extern long _PyRuntime[1 << 12], PyCode_Type[64];
extern const unsigned long Py_Version;
long _PyRuntime[1 << 12], PyCode_Type[64];
const unsigned long Py_Version = 3 << 24 | MINOR << 16;
#endif

int main(void)
{
	void *cuda = dlopen("libcudart.so.13", RTLD_NOW), *p, *found;
	int (*allocate)(void **, size_t);

	if (!cuda || !(found = dlsym(cuda, "cudaMalloc")))
		return 1;
	memcpy(&allocate, &found, sizeof(allocate));
	allocate(&p, 64);
	printf("%d ", samplers());
	usleep(400000);
	printf("%d\n", samplers());
	return 0;
}
