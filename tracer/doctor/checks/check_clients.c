/* check_clients.c - who else wants CUPTI: in a process only one client has its callbacks. */
#include "tracer/command/run_variables.h"
#include "tracer/doctor/checks/checks.h"
#include "tracer/guest/system_file.h"
#include "tracer/vptrace.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the environment ---- */

static void find_environment(struct vtr_answer *a)
{
	const char *nvtx = getenv("NVTX_INJECTION64_PATH");
	struct vpt_err err = {0};

	if (vtr_variables_check_tools(&err))
		vtr_find(a, VTR_STATUS_FAIL,
			"Start vptrace outside of that tool, or unset the variable.", "%s",
			err.text);
	if (vtr_variables_check_injections(&err))
		vtr_find(a, VTR_STATUS_FAIL, "Or unset the variable.", "%s", err.text);
	else if (nvtx && *nvtx && !strstr(nvtx, "libvptrace.so"))
		vtr_find(a, VTR_STATUS_OK, NULL,
			"NVTX_INJECTION64_PATH names another tool, %s: vptrace run chains it, and "
			"both receive the ranges",
			nvtx);
}

/* Variables of PyTorch's profiler (Kineto). */
static void find_kineto(struct vtr_answer *a)
{
	const char *teardown = getenv("TEARDOWN_CUPTI");
	char **v;

	for (v = environ; v && *v; v++)
		if (!strncmp(*v, "KINETO_USE_DAEMON=", 18) && strcmp(*v + 18, "0") != 0)
			vtr_find(a, VTR_STATUS_WARN,
				"unset KINETO_USE_DAEMON while vptrace records, or request no "
				"profile then.",
				"%s: a daemon may start torch.profiler in a program at any time, "
				"which takes CUPTI's records",
				*v);
		else if (!strncmp(*v, "KINETO_", 7))
			vtr_find(a, VTR_STATUS_OK, NULL,
				"%s is set for torch.profiler, which needs CUPTI while it profiles",
				*v);
	if (teardown)
		vtr_find(a, VTR_STATUS_OK, NULL,
			"TEARDOWN_CUPTI=%s: torch.profiler %s CUPTI after a profile", teardown,
			strcmp(teardown, "0") != 0 ? "gives back" : "keeps");
}

/* ---- other processes ---- */

static const struct {
	const char *comm, *fact;
} others[] = {
	{"nv-hostengine", "DCGM (nv-hostengine) runs: its profiling metrics use the GPU's "
			  "counters, which vptrace does not"},
	{"dcgm-exporter", "dcgm-exporter runs: its profiling metrics use the GPU's counters, which "
			  "vptrace does not"},
	{"nsys", "Nsight Systems (nsys) runs: vptrace cannot trace programs that it started"},
	{"ncu", "Nsight Compute (ncu) runs: vptrace cannot trace programs that it started"},
	{"compute-sanitiz",
		"compute-sanitizer runs: vptrace cannot trace programs that it started"},
	{"cuda-gdb", "cuda-gdb runs: vptrace cannot trace programs that it started"},
};

enum { OTHERS = sizeof(others) / sizeof(others[0]) };

static void find_processes(struct vtr_answer *a)
{
	char path[64], comm[64];
	struct dirent *entry;
	unsigned seen = 0;
	DIR *proc = opendir("/proc");
	size_t i;

	while (proc && (entry = readdir(proc)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		if (!vtr_system_file(path, comm, sizeof(comm)))
			continue;
		for (i = 0; i < OTHERS; i++)
			if (!strcmp(comm, others[i].comm) && !(seen & 1u << i)) {
				seen |= 1u << i;
				vtr_find(a, VTR_STATUS_OK, NULL, "%s (process %.20s)",
					others[i].fact, entry->d_name);
			}
	}
	if (proc)
		closedir(proc);
}

/* ---- CUPTI's own answer ---- */

void vtr_check_clients(const struct vtr_patient *p, struct vtr_answer *a)
{
	const char *start = vtr_probe_value(&p->self, "start", 0);
	const char *error = vtr_probe_value(&p->self, "start_error", 0);
	int rc = start ? atoi(start) : VPTRACE_ENOCUPTI;

	if (start && !rc)
		vtr_find(a, VTR_STATUS_OK, NULL, "CUPTI accepted a subscriber");
	else if (rc == VPTRACE_ETAKEN && error)
		vtr_find_words(a, VTR_STATUS_FAIL, error,
			"Run one tool at a time; env -u unsets a variable for one command.");
	else
		vtr_find(a, VTR_STATUS_WARN,
			rc == VPTRACE_EDENIED ? "See the line permissions."
					      : "See the lines driver, cupti and self-test.",
			"unknown: CUPTI could not be asked for a subscription");
	find_environment(a);
	find_kineto(a);
	find_processes(a);
}
