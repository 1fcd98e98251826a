/* install_places.c - a build's folder has everything beside the program; an installation has it at fixed
 * places relative to bin, and may have been moved as a whole. */
#include "tracer/command/base/install_places.h"

#include "tracer/vptrace.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the program's folder, set by the build. */
#ifndef VPT_LIBRARY_FOLDER
#define VPT_LIBRARY_FOLDER "../lib"
#endif
#ifndef VPT_DATA_FOLDER
#define VPT_DATA_FOLDER "../share"
#endif
#ifndef VPT_LIBEXEC_FOLDER
#define VPT_LIBEXEC_FOLDER "../libexec"
#endif

int vtr_places_absolute(const char *name, char out[PATH_MAX])
{
	char folder[PATH_MAX];
	struct stat st;
	int n;

	out[0] = '\0';
	if (!*name || stat(name, &st))
		return 0;
	if (*name == '/')
		n = snprintf(out, PATH_MAX, "%s", name);
	else if (getcwd(folder, sizeof(folder)))
		n = snprintf(out, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", name);
	else
		n = PATH_MAX;
	if (n >= PATH_MAX)
		out[0] = '\0';
	return out[0] != '\0';
}

/* The folder of this program's file. */
static int own_folder(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return -1;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return -1;
	slash[slash == out] = '\0';
	return 0;
}

/* Whether FOLDER/NAME is there. Folders lose their links and dots; the file's own name stays, since
 * a link to a version is how it is known. */
static int is_there(const char *folder, const char *name, char out[PATH_MAX])
{
	const char *last = vpt_file_name(name);
	char within[2 * PATH_MAX], real[PATH_MAX];

	snprintf(within, sizeof(within), "%s/%.*s", folder, (int)(last - name), name);
	if (!realpath(within, real) || snprintf(out, PATH_MAX, "%s/%s", real, last) >= PATH_MAX ||
		access(out, F_OK))
		out[0] = '\0';
	return *out != '\0';
}

/* The first of the names, from the program's folder, that is there; "" if none is. */
static void find(const char *const *names, char out[PATH_MAX])
{
	char folder[PATH_MAX];

	out[0] = '\0';
	if (own_folder(folder))
		return;
	while (*names && !is_there(folder, *names, out))
		names++;
}

void vtr_places_analyzer(char out[PATH_MAX])
{
	static const char *const names[] = {"vptrace-analyze", NULL};

	find(names, out);
	if (*out && access(out, X_OK))
		out[0] = '\0';
}

void vtr_places_doctor(char out[PATH_MAX])
{
	static const char *const names[] = {"vptrace-doctor",
		VPT_LIBEXEC_FOLDER "/vptrace/vptrace-doctor", "../libexec/vptrace/vptrace-doctor",
		NULL};

	find(names, out);
}

static int find_library(char out[PATH_MAX], struct vpt_err *err)
{
	/* The name for the linker may belong to another package than the library. */
	static const char *const names[] = {"libvptrace.so", VPT_LIBRARY_FOLDER "/libvptrace.so",
		"../lib/libvptrace.so", VPT_LIBRARY_FOLDER "/" VPTRACE_SONAME,
		"../lib/" VPTRACE_SONAME, NULL};
	const char *named = getenv("VPTRACE_LIBRARY");

	if (named && *named) {
		if (!vtr_places_absolute(named, out))
			return vpt_fail(
				err, VPT_EINVAL, "VPTRACE_LIBRARY: there is no file %.300s", named);
	} else {
		find(names, out);
	}
	if (!*out)
		return vpt_fail(err, VPT_EINVAL,
			"libvptrace.so is neither beside this program nor in %s: install it, or "
			"set VPTRACE_LIBRARY to its path",
			VPT_LIBRARY_FOLDER);
	if (access(out, R_OK))
		return vpt_fail(err, VPT_EINVAL, "%.300s cannot be read", out);
	return VPT_OK;
}

int vtr_places_find(struct vtr_places *out, struct vpt_err *err)
{
	static const char *const sites[] = {VPT_DATA_FOLDER "/vptrace/python/site",
		"../tracer/python/site", "../vptrace_site", NULL};
	int rc;

	memset(out, 0, sizeof(*out));
	rc = find_library(out->library, err);
	vtr_places_analyzer(out->analyzer);
	find(sites, out->site);
	return rc;
}
