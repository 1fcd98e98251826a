/* check_profiling_right.c - whether the driver lets this user trace. CUPTI's own answer decides; the
 * rest explains it. */
#include "tracer/doctor/checks/checks.h"
#include "tracer/guest/system_file.h"
#include "tracer/vptrace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SYS_ADMIN = 21, PERFMON = 38 }; /* capabilities(7) */

/* What NVreg_RestrictProfilingToAdminUsers has set: 1, 0; -1: unknown. */
static int is_restricted(void)
{
	static const char *const keys[] = {
		"RmProfilingAdminOnly: ", "RestrictProfilingToAdminUsers: "};
	char text[16384];
	const char *at;
	size_t i;

	if (!vtr_system_file("/proc/driver/nvidia/params", text, sizeof(text)))
		return -1;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		at = strstr(text, keys[i]);
		if (at)
			return atoi(at + strlen(keys[i])) != 0;
	}
	return -1;
}

static int has_capability(int number)
{
	char text[4096];
	const char *at;

	vtr_system_file("/proc/self/status", text, sizeof(text));
	at = strstr(text, "CapEff:");
	return at && strtoull(at + 7, NULL, 16) >> number & 1;
}

static const char *container(void)
{
	char text[4096];

	if (!access("/.dockerenv", F_OK))
		return "docker";
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return "Kubernetes";
	if (getenv("APPTAINER_CONTAINER") || getenv("SINGULARITY_CONTAINER"))
		return "Apptainer";
	vtr_system_file("/proc/1/cgroup", text, sizeof(text));
	if (strstr(text, "docker") || strstr(text, "kubepods") || strstr(text, "containerd") ||
		strstr(text, "lxc"))
		return "a container";
	return NULL;
}

void vtr_check_permissions(const struct vtr_patient *p, struct vtr_answer *a)
{
	static const char *const words[] = {
		[0] = "the driver lets every user trace",
		[1] = "the driver restricts the GPU's counters to administrators "
		      "(NVreg_RestrictProfilingToAdminUsers=1)",
	};
	const char *start = vtr_probe_value(&p->self, "start", 0), *where = container();
	const char *error = vtr_probe_value(&p->self, "start_error", 0);
	int restricted = is_restricted(), rc = start ? atoi(start) : VPTRACE_ENOCUPTI;
	int admin = has_capability(SYS_ADMIN) || has_capability(PERFMON);

	if (start && !rc)
		vtr_find(a, VTR_STATUS_OK, NULL, "this user may trace%s%s",
			restricted < 0 ? "" : "; ", restricted < 0 ? "" : words[restricted]);
	else if (rc == VPTRACE_EDENIED && error)
		vtr_find_words(a, VTR_STATUS_FAIL, error, NULL);
	else if (restricted == 1 && !admin)
		vtr_find(a, VTR_STATUS_WARN,
			"If tracing is refused: docker run --cap-add SYS_ADMIN in a container; for "
			"all users: options nvidia NVreg_RestrictProfilingToAdminUsers=0 in "
			"/etc/modprobe.d/nvidia.conf, then restart.",
			"%s", words[1]);
	else
		vtr_find(a, VTR_STATUS_WARN,
			rc == VPTRACE_ETAKEN ? "See the line clients."
					     : "See the lines driver, cupti and self-test.",
			"unknown: CUPTI could not be asked%s%s", restricted < 0 ? "" : "; ",
			restricted < 0 ? "" : words[restricted]);
	vtr_find(a, VTR_STATUS_OK, NULL, "user %ld, %s CAP_SYS_ADMIN, %s CAP_PERFMON%s%s",
		(long)geteuid(), has_capability(SYS_ADMIN) ? "with" : "without",
		has_capability(PERFMON) ? "with" : "without", where ? ", in " : "",
		where ? where : "");
}
