/* check_library.c - which libvptrace.so programs get, and whether it is the one of this `vptrace`.
 */
#include "tracer/doctor/checks/checks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is_archive(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char start[8] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, start, sizeof(start));

	if (fd >= 0)
		close(fd);
	return n == sizeof(start) && !memcmp(start, "!<arch>\n", sizeof(start));
}

static void check_version(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *version = vtr_probe_value(&p->load, "version", 0);
	const char *missing = vtr_probe_value(&p->load, "missing", 0);
	char real[PATH_MAX] = "", shown[PATH_MAX + 8] = "";

	if (realpath(p->library, real) && strcmp(real, p->library) != 0)
		snprintf(shown, sizeof(shown), " -> %s", strrchr(real, '/') + 1);
	if (!version)
		vtr_find(a, VTR_STATUS_FAIL, "Install vptrace again, or unset VPTRACE_LIBRARY.",
			"%s is not libvptrace.so: it has no function vptrace_version", p->library);
	else if (strcmp(version, p->version) != 0)
		vtr_find(a, VTR_STATUS_FAIL,
			"Install both from one build, or set VPTRACE_LIBRARY to the library of "
			"this program's version.",
			"%s%s is version %s, this program is %s", p->library, shown, version,
			p->version);
	else if (missing)
		vtr_find(a, VTR_STATUS_FAIL, "Install vptrace again, or unset VPTRACE_LIBRARY.",
			"%s%s is too old: it has no function %s", p->library, shown, missing);
	else
		vtr_find(a, VTR_STATUS_OK, NULL, "%s%s, version %s, like this program", p->library,
			shown, version);
}

void vtr_check_library(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *error = vtr_probe_value(&p->load, "error", 0);
	char failure[512];

	if (!*p->library)
		vtr_find_words(a, VTR_STATUS_FAIL, p->problem,
			"Install vptrace again, or set VPTRACE_LIBRARY to its library's path.");
	else if (is_archive(p->library))
		vtr_find(a, VTR_STATUS_FAIL, "Set VPTRACE_LIBRARY to libvptrace.so, or unset it.",
			"%s is the static library, which no program can load", p->library);
	else if (error)
		vtr_find(a, VTR_STATUS_FAIL,
			"Install vptrace again for this system, or unset VPTRACE_LIBRARY.",
			"it cannot be loaded: %s", error);
	else if (vtr_probe_failed(&p->load, failure, sizeof(failure)))
		vtr_find(a, VTR_STATUS_FAIL,
			"Install vptrace again for this system, or unset VPTRACE_LIBRARY.",
			"%s: %s", p->library, failure);
	else
		check_version(p, a);
	if (!*p->analyzer)
		vtr_find(a, VTR_STATUS_WARN,
			"Install vptrace-analyze beside vptrace: without it no capture is checked "
			"or reported here.",
			"vptrace-analyze is not beside vptrace");
}
