/* output_check.c - looks at the output's folder and name, and tries to write there. */
#include "tracer/command/output_check.h"

#include "tracer/files/capture_file.h"
#include "formats/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIAL_BYTES = 4096, PIECE_BYTES = 4096 };

/* Whether a sequence other than %% and %h stands before `end`: that part differs between
 * processes. */
static int varies(const char *pattern, const char *end)
{
	const char *p;

	for (p = pattern; p < end; p++)
		if (*p == '%' && *++p != '%' && *p != 'h')
			return 1;
	return 0;
}

void vtr_output_folder(const struct vtr_options *options, char out[VTR_PATH_MAX])
{
	const char *pattern = getenv("VPTRACE_OUTPUT");
	size_t len;

	out[0] = '\0';
	if (pattern && varies(pattern, vpt_file_name(pattern)))
		return;
	snprintf(out, VTR_PATH_MAX, "%s", options->path);
	len = (size_t)(vpt_file_name(out) - out);
	out[len > 1 ? len - 1 : len] = '\0';
	if (!len)
		snprintf(out, VTR_PATH_MAX, ".");
}

int vtr_output_check_folder(const char *folder, struct vpt_err *err)
{
	struct stat st;

	if (!*folder)
		return VPT_OK;
	if (stat(folder, &st))
		return vpt_fail(err, VPT_EINVAL,
			"there is no folder %.300s for the output: create it", folder);
	if (!S_ISDIR(st.st_mode))
		return vpt_fail(
			err, VPT_EINVAL, "%.300s is not a folder: choose another output", folder);
	if (eaccess(folder, W_OK | X_OK))
		return vpt_fail(err, VPT_EINVAL,
			"the folder %.300s cannot be written: choose another output with -o",
			folder);
	return VPT_OK;
}

/* A file without a name; where the file system has none, one whose name is removed at once. */
static int open_trial(const char *folder)
{
	char path[PATH_MAX + 32];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		snprintf(path, sizeof(path), "%s/.vptrace-trial-XXXXXX", folder);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	return fd;
}

int vtr_output_try(const char *folder, size_t bytes, int all)
{
	int fd = open_trial(folder), rc = fd < 0 ? errno : 0;
	char piece[PIECE_BYTES];
	size_t written, wanted;
	ssize_t n;

	memset(piece, 1, sizeof(piece));
	/* A short write has no reason yet; the next one has. */
	for (written = 0; !rc && written < bytes && (all || !written); written += (size_t)n) {
		wanted = bytes - written < sizeof(piece) ? bytes - written : sizeof(piece);
		n = write(fd, piece, wanted);
		if (n > 0)
			continue;
		rc = n < 0 ? errno : ENOSPC;
		n = 0;
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Whether the output has one name, which options->path is. */
static int has_one_name(void)
{
	const char *pattern = getenv("VPTRACE_OUTPUT");

	return pattern && *vpt_file_name(pattern) && !varies(pattern, strchr(pattern, '\0'));
}

int vtr_output_is_newer(const struct vtr_options *options, time_t since)
{
	struct stat st;

	return has_one_name() && !lstat(options->path, &st) && S_ISREG(st.st_mode) &&
	       st.st_mtime >= since;
}

static int check_name(const struct vtr_options *options, struct vpt_err *err)
{
	struct stat st;

	if (!has_one_name())
		return VPT_OK;
	if (!stat(options->path, &st) && S_ISDIR(st.st_mode))
		return vpt_fail(err, VPT_EINVAL,
			"%.300s is a folder: write %.300s/ for the default name in it, or choose "
			"another output",
			options->path, options->path);
	return vtr_capture_file_check(options->path, options->overwrite, err);
}

int vtr_output_check(const struct vtr_options *options, struct vpt_err *err)
{
	char folder[VTR_PATH_MAX];
	int rc, error;

	vtr_output_folder(options, folder);
	rc = vtr_output_check_folder(folder, err);
	if (!rc)
		rc = check_name(options, err);
	if (rc || !*folder)
		return rc;
	error = vtr_output_try(folder, TRIAL_BYTES, 0);
	if (error)
		return vpt_fail(err, VPT_EINVAL,
			"the folder %.300s cannot be written: %s: make room there, or choose "
			"another output with -o",
			folder, strerror(error));
	return VPT_OK;
}
