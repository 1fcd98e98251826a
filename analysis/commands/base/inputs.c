/* inputs.c - which files a command reads, so that none of them is replaced by its own report.
 *
 * Files are compared as the file system knows them, by device and number: a link to an input, another
 * spelling of its path and a redirection are the input. */
#include "analysis/commands/base/analyzer_command.h"

#include "formats/base/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a path leads to; "-" is `standard`. 0, or -1: no regular file, no folder. */
static int identify(const char *path, int standard, struct stat *st)
{
	int failed = !vpt_is_standard(path) ? stat(path, st) : fstat(standard, st);

	return failed || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) ? -1 : 0;
}

/* The folder that a path's last part is in. */
static int identify_folder(const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	char folder[4096] = ".";

	if (vpt_is_standard(path) || (slash && (size_t)(slash - path) >= sizeof(folder)))
		return -1;
	if (slash) {
		memcpy(folder, path, (size_t)(slash - path));
		strcpy(folder + (slash - path), slash == path ? "/" : "");
	}
	return identify(folder, -1, st);
}

static int is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int check_input(
	const char *input, const char *output, const struct stat *to, struct vpt_err *err)
{
	struct stat from;

	if (!identify(input, STDIN_FILENO, &from) && is_same(&from, to))
		return !vpt_is_standard(output)
			       ? vpt_fail(err, VPT_EINVAL,
					 "%.200s: is an input of this command, %.200s: write to "
					 "another file",
					 output, vpa_input_name(input))
			       : vpt_fail(err, VPT_EINVAL,
					 "standard output: leads into an input of this command, "
					 "%.200s: write to another file",
					 vpa_input_name(input));
	if (S_ISDIR(to->st_mode) && !identify_folder(input, &from) && is_same(&from, to))
		return vpt_fail(err, VPT_EINVAL,
			"%.200s: is the folder of an input of this command, %.200s: write to "
			"another one",
			output, input);
	return VPT_OK;
}

int vpa_inputs_check(const struct vpt_args *args, const char *output, struct vpt_err *err)
{
	struct stat to;
	int rc = VPT_OK;
	size_t i;

	if (identify(output, STDOUT_FILENO, &to))
		return VPT_OK;
	for (i = 0; i < args->operand_count && !rc; i++)
		rc = check_input(args->operands[i], output, &to, err);
	for (i = 0; i < args->given_count && !rc; i++)
		if (vpt_option_is_input(&args->command->options[args->given[i].option]))
			rc = check_input(args->given[i].text, output, &to, err);
	return rc;
}
