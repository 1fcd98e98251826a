/* main.c - vptrace-manual FOLDER: writes the manual pages and completions of vptrace-analyze and
 * vptrace.
 *
 * The build runs it. FOLDER/man1, FOLDER/bash and FOLDER/zsh are there already. */
#include "formats/cli/manual/manual.h"

#include <string.h>

static FILE *begin(const char *folder, const char *name)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out)
		fprintf(stderr, "vptrace-manual: %s: cannot write\n", path);
	return out;
}

/* 0, or 1 where the file is not whole. */
static int end(FILE *out, const char *name)
{
	int failed = ferror(out);

	failed |= fclose(out);
	if (failed)
		fprintf(stderr, "vptrace-manual: %s: cannot write\n", name);
	return failed != 0;
}

static int write_one(const char *folder, const char *name, const struct vpt_program *program,
	void (*write)(FILE *out, const struct vpt_program *program))
{
	FILE *out = begin(folder, name);

	if (!out)
		return 1;
	write(out, program);
	return end(out, name);
}

static int write_command(const char *folder, const struct vpt_command *c)
{
	const struct vpt_program *program =
		strcmp(c->program, vpa_program.name) ? &vtr_program : &vpa_program;
	char name[100];
	FILE *out;

	snprintf(name, sizeof(name), "man1/%s-%s.1", program->name, c->name);
	out = begin(folder, name);
	if (!out)
		return 1;
	vpt_manual_man_command(out, program, c);
	return end(out, name);
}

int main(int argc, char **argv)
{
	const struct vpt_command *const *c;
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: vptrace-manual FOLDER\n");
		return 2;
	}
	failed |= write_one(argv[1], "man1/vptrace-analyze.1", &vpa_program, vpt_manual_man);
	failed |= write_one(argv[1], "bash/vptrace-analyze", &vpa_program, vpt_manual_bash);
	failed |= write_one(argv[1], "zsh/_vptrace-analyze", &vpa_program, vpt_manual_zsh);
	failed |= write_one(argv[1], "man1/vptrace.1", &vtr_program, vpt_manual_man);
	failed |= write_one(argv[1], "bash/vptrace", &vtr_program, vpt_manual_bash);
	failed |= write_one(argv[1], "zsh/_vptrace", &vtr_program, vpt_manual_zsh);
	for (c = vtr_program.commands; *c && !failed; c++)
		failed |= write_command(argv[1], *c);
	return failed;
}
