/* other_python.c - calls CUDA, in a process without Python, or with -DMINOR=N one that looks like
 * Python 3.N. Prints how many samplers there are at its begin and at its end. */
#include <dirent.h>
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

static int samplers(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder))) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		f = fopen(path, "r");
		if (f && fgets(name, sizeof(name), f))
			count += !strcmp(name, "vptrace-stacks\n");
		if (f)
			fclose(f);
	}
	if (folder)
		closedir(folder);
	return count;
}

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
