/* late_python.c - calls CUDA, loads Python after that, and runs some in the thread that goes on to call
 * CUDA. Prints how many samplers there are before and after.
 * Usage: late_python LIBPYTHON SECONDS [local]: local hides the library's symbols from others. */
#include "tests/stacks/samplers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char program[] = "import time\n"
			      "def late(seconds):\n"
			      "    end = time.monotonic() + seconds\n"
			      "    while time.monotonic() < end:\n"
			      "        sum(range(100))\n";

static void *symbol(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(1);
	}
	return found;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int how = argc > 3 && !strcmp(argv[3], "local") ? RTLD_LOCAL : RTLD_GLOBAL;
	int (*allocate)(void **, size_t);
	void (*initialize)(int);
	int (*run)(const char *, void *);
	void *library, *found, *p;
	double end;

	if (argc < 3)
		return 2;
	found = symbol(dlopen("libcudart.so.13", RTLD_NOW), "cudaMalloc");
	memcpy(&allocate, &found, sizeof(allocate));
	allocate(&p, 64);
	usleep(300000);
	printf("%d ", samplers());
	library = dlopen(argv[1], RTLD_NOW | how);
	found = symbol(library, "Py_InitializeEx");
	memcpy(&initialize, &found, sizeof(initialize));
	found = symbol(library, "PyRun_SimpleStringFlags");
	memcpy(&run, &found, sizeof(run));
	*(int *)symbol(library, "Py_NoSiteFlag") = 1;
	initialize(0);
	if (run(program, NULL))
		return 1;
	for (end = now() + atof(argv[2]); now() < end;) {
		allocate(&p, 64);
		run("late(.05)\n", NULL);
	}
	printf("%d\n", samplers());
	return 0;
}
