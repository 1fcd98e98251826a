/* target_program.c - looks at a program before it runs.
 *
 * Environment variables reach the tracer through the dynamic loader. A static program has none, and
 * in a setuid program the loader, CUDA and the tracer ignore the environment. */
#include "tracer/command/target_program.h"

#include "formats/base/text.h"
#include "formats/cli/command.h"
#include "tracer/command/base/run_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPTS_MAX = 4, LINE_MAX_BYTES = 256, HEADERS_MAX = 256 };

static int check(const char *path, int depth, char python[PATH_MAX], struct vpt_err *err);

/* ---- finding it ---- */

static int is_executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* What somebody may have meant who gave a name that is not a command. */
static void put_hint(const char *name, char *out, size_t size)
{
	size_t len = strlen(name);

	*out = '\0';
	if (len > 3 && !strcmp(name + len - 3, ".py") && !access(name, R_OK))
		snprintf(out, size, "; to run it with Python: python3 %.300s", name);
	else if (strchr(name, '=') && !strchr(name, '/'))
		snprintf(out, size, "; to set a variable: env %.300s COMMAND", name);
	else if (strchr(name, ' '))
		snprintf(out, size,
			"; give its words without quotes around them, or: sh -c '%.300s'", name);
	else if (!strchr(name, '/') && !access(name, X_OK))
		snprintf(out, size, "; to run the file in this folder: ./%.300s", name);
}

/* A name with a folder is a path; another one is looked up in PATH, where a file that is not
 * executable is passed over, but remembered. */
static int look_up(const char *name, char path[PATH_MAX], struct vpt_err *err)
{
	const char *folders = getenv("PATH"), *end;
	char seen[PATH_MAX] = "", hint[400];
	struct stat st;

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		if (!stat(path, &st))
			snprintf(seen, sizeof(seen), "%s", path);
		if (is_executable(path))
			return 0;
		folders = NULL;
	} else if (!folders) {
		folders = "/bin:/usr/bin";
	}
	for (; folders && *name; folders = *end ? end + 1 : NULL) {
		end = folders + strcspn(folders, ":");
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - folders), folders,
			    end > folders ? "/" : "", name) >= PATH_MAX)
			continue;
		if (is_executable(path))
			return 0;
		if (!stat(path, &st) && S_ISREG(st.st_mode))
			snprintf(seen, sizeof(seen), "%s", path);
	}
	put_hint(name, hint, sizeof(hint));
	if (!*seen) {
		vpt_fail(err, VPT_EINVAL, "%.300s: command not found%s", name, hint);
		return VTR_EXIT_NOT_FOUND;
	}
	vpt_fail(err, VPT_EINVAL, "%.300s: %s%s", seen,
		!stat(seen, &st) && S_ISDIR(st.st_mode) ? "is a folder" : "is not executable",
		hint);
	return VTR_EXIT_CANNOT_EXECUTE;
}

/* ---- looking at it ---- */

static int refuse(struct vpt_err *err, const char *path, const char *why)
{
	vpt_fail(err, VPT_EINVAL, "%.300s %s", path, why);
	return VPT_EXIT_MISUSED;
}

static int check_rights(const char *path, struct vpt_err *err)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
		((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
			st.st_gid != getegid()))
		return refuse(err, path,
			"runs with its owner's rights (setuid), so it ignores the variables that "
			"load "
			"the tracer: run vptrace as that user, or trace a copy without the bit");
	if (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return refuse(err, path,
			"has file capabilities, so it ignores the variables that load the tracer: "
			"run vptrace as root, or trace a copy without them");
	return 0;
}

static int check_elf(int fd, const Elf64_Ehdr *header, const char *path, struct vpt_err *err)
{
	Elf64_Phdr segment;
	unsigned i;

	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(err, path, "is a 32-bit program, which cannot be traced");
	for (i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		off_t at = (off_t)(header->e_phoff + (Elf64_Off)i * header->e_phentsize);

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return 0; /* the kernel will say what is wrong with it */
		if (segment.p_type == PT_INTERP)
			return 0;
	}
	return refuse(err, path,
		"is a static program, which cannot be traced: link it dynamically, or call "
		"vptrace_start() in it");
}

/* "#!/usr/bin/env -S python3 -u" runs two programs: env and what it looks up. */
static int check_script(
	const char *path, char *line, int depth, char python[PATH_MAX], struct vpt_err *err)
{
	char *rest = line + 2, *program = strtok_r(rest, " \t", &rest), found[PATH_MAX];
	const char *word;
	struct vpt_err ignored;
	int rc;

	if (!program || depth == SCRIPTS_MAX)
		return 0;
	if (access(program, F_OK) && errno == ENOENT) {
		vpt_fail(err, VPT_EINVAL,
			"%.300s: its first line names %.300s, which is not there%s", path, program,
			program[strlen(program) - 1] == '\r' ? ": it ends with a carriage return, "
							       "which Windows writes; remove it"
							     : "");
		return VTR_EXIT_NOT_FOUND;
	}
	rc = check(program, depth + 1, python, err);
	if (rc || strcmp(vpt_file_name(program), "env") != 0)
		return rc;
	do {
		word = strtok_r(NULL, " \t", &rest);
	} while (word && (*word == '-' || strchr(word, '=')));
	if (!word || look_up(word, found, &ignored))
		return 0;
	return check(found, depth + 1, python, err);
}

/* "python3.11", but not "python3-config". */
static int is_python(const char *path)
{
	const char *name = vpt_file_name(path);

	return !strncmp(name, "python", 6) && !name[6 + strspn(name + 6, "0123456789.")];
}

static int check(const char *path, int depth, char python[PATH_MAX], struct vpt_err *err)
{
	union {
		Elf64_Ehdr elf;
		char line[LINE_MAX_BYTES];
	} start;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc = 0;
	ssize_t n;

	if (is_python(path))
		snprintf(python, PATH_MAX, "%s", path);
	if (fd < 0)
		return check_rights(path, err); /* it may be executable all the same */
	n = read(fd, &start, sizeof(start) - 1);
	start.line[n > 0 ? n : 0] = '\0';
	if (n > 2 && !memcmp(start.line, "#!", 2)) {
		start.line[strcspn(start.line, "\n")] = '\0';
		rc = check_script(path, start.line, depth, python, err);
	} else {
		rc = check_rights(path, err);
		if (!rc && n >= (ssize_t)sizeof(start.elf) &&
			!memcmp(start.elf.e_ident, ELFMAG, SELFMAG))
			rc = check_elf(fd, &start.elf, path, err);
	}
	close(fd);
	return rc;
}

int vtr_target_find(
	const char *command, char path[PATH_MAX], char python[PATH_MAX], struct vpt_err *err)
{
	int rc = look_up(command, path, err);
	struct vpt_err ignored;

	*python = '\0';
	if (!rc)
		rc = check(path, 0, python, err);
	if (!rc && !*python && look_up("python3", python, &ignored))
		*python = '\0';
	return rc;
}
