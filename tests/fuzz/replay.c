/* replay.c - a fuzz target as an ordinary test: runs it over every file of the folders given, and over cuts of
 * each, so that compilers without libFuzzer check them too. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CUTS = 8, SECONDS_MAX = 20 };

/* A copy of its own lets the address sanitizer see a read behind the end. */
static void run_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(1);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);

	*size = f && data ? fread(data, 1, 1 << 20, f) : 0;
	if (!f || ferror(f)) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return data;
}

static void run_file(const char *path)
{
	struct timespec begin, end;
	size_t size, i;
	uint8_t *data = read_file(path, &size);

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (i = 0; i <= CUTS; i++)
		run_copy(data, size * (CUTS - i) / CUTS);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	if (end.tv_sec - begin.tv_sec > SECONDS_MAX) {
		fprintf(stderr, "%s: took %ld s\n", path, (long)(end.tv_sec - begin.tv_sec));
		exit(1);
	}
	free(data);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
	int a, i, files = 0;

	for (a = 1; a < argc; a++) {
		struct dirent **entries;
		int n = scandir(argv[a], &entries, NULL, by_name);
		char path[4096];

		if (n < 0) {
			perror(argv[a]);
			return 1;
		}
		for (i = 0; i < n; i++) {
			snprintf(path, sizeof(path), "%s/%s", argv[a], entries[i]->d_name);
			if (entries[i]->d_name[0] != '.' &&
				strcmp(entries[i]->d_name, "README.md")) {
				run_file(path);
				files++;
			}
			free(entries[i]);
		}
		free(entries);
	}
	printf("%d files\n", files);
	return files ? 0 : 1;
}
