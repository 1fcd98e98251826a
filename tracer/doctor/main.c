/* main.c - vptrace-doctor: the probes, the checks, the answer. `vptrace doctor` runs it. */
#include "formats/base/text.h"
#include "formats/cli/help.h"
#include "formats/cli/process.h"
#include "tracer/command/base/say.h"
#include "tracer/doctor/checks/checks.h"
#include "tracer/doctor/checks/self_test_capture.h"
#include "tracer/command/base/doctor.h"
#include "tracer/command/target_program.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ENTRY(name) {#name, vtr_check_##name},
static const struct {
	const char *name;
	void (*run)(const struct vtr_patient *p, struct vtr_answer *a);
} checks[] = {VTR_CHECKS(ENTRY){"self-test", vtr_check_self_test}};
#undef ENTRY

static struct vtr_patient patient;

/* ---- the folder of the self-test ---- */

static void remove_folder(void)
{
	char path[PATH_MAX + 300];
	struct dirent *entry;
	DIR *folder = *patient.folder ? opendir(patient.folder) : NULL;

	while (folder && (entry = readdir(folder)) != NULL)
		if (snprintf(path, sizeof(path), "%s/%s", patient.folder, entry->d_name) <
			(int)sizeof(path))
			unlink(path);
	if (folder)
		closedir(folder);
	if (*patient.folder)
		rmdir(patient.folder);
	patient.folder[0] = '\0';
}

static void make_folder(void)
{
	const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp"};
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i] || *folders[i] != '/' || strlen(folders[i]) > PATH_MAX - 64)
			continue;
		snprintf(patient.folder, sizeof(patient.folder), "%s/vptrace-doctor-XXXXXX",
			folders[i]);
		if (mkdtemp(patient.folder)) {
			snprintf(patient.capture, sizeof(patient.capture), "%.4000s/self-test.zst",
				patient.folder);
			return;
		}
	}
	patient.folder[0] = '\0';
}

/* ---- the options ---- */

/* The library stops at the first invalid variable; we take that away and ask again. */
static void resolve_options(void)
{
	struct vpt_err err = {0};
	char name[80];
	size_t len;

	while (vtr_options_resolve(NULL, &patient.options, &err)) {
		len = strcspn(err.text, ":");
		snprintf(name, sizeof(name), "%.*s", (int)len, err.text);
		if (patient.invalid_count < VTR_INVALID_MAX)
			patient.invalid[patient.invalid_count++] = err;
		if (!getenv(name) || unsetenv(name))
			return;
	}
}

/* ---- the command that is to be recorded ---- */

/* Of "python3 -u -W error -I x.py" the letters that hide modules from it. */
static void take_flags(const char *const *words, size_t count)
{
	size_t i, used = 0;
	const char *c;

	for (i = 0; i < count && words[i][0] == '-' && words[i][1] && words[i][1] != '-'; i++) {
		for (c = words[i] + 1; *c && !strchr("cmWX", *c); c++)
			if (strchr("IESs", *c) && used < sizeof(patient.python_flags) - 2 &&
				!strchr(patient.python_flags, *c))
				used += (size_t)sprintf(
					patient.python_flags + used, "%s%c", used ? "" : "-", *c);
		if (*c == 'c' || *c == 'm')
			return;
		i += *c && !c[1]; /* its value is the next word */
	}
}

static void look_at_command(const struct vpt_args *args)
{
	static char python[PATH_MAX];
	static struct vpt_err err;

	if (!args->operand_count)
		return;
	patient.command = args->operands[0];
	if (vtr_target_find(patient.command, patient.command_path, python, &err))
		patient.command_problem = err.text;
	if (!*python || patient.python)
		return;
	patient.python = python;
	if (!strncmp(vpt_file_name(patient.command), "python", 6))
		take_flags(args->operands + 1, args->operand_count - 1);
}

/* ---- the probes ---- */

static int64_t realtime_ahead_ns(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return ((int64_t)real.tv_sec - mono.tv_sec) * 1000000000 + real.tv_nsec - mono.tv_nsec;
}

static volatile sig_atomic_t stopped; /* the signal */

static void run(struct vtr_probe *probe, void (*body)(int to, void *ctx))
{
	if (!stopped)
		vtr_probe_run(probe, patient.timeout_s, body, &patient);
}

static void run_probes(void)
{
	int64_t before = realtime_ahead_ns();

	if (*patient.library)
		run(&patient.load, vtr_probe_load);
	run(&patient.cuda, vtr_probe_cuda);
	if (vtr_probe_value(&patient.load, "version", 0) && *patient.folder) {
		run(&patient.self, vtr_probe_self);
		if (*patient.analyzer && vtr_probe_value(&patient.self, "stop", 0))
			vtr_metadata_read(&patient);
	}
	if (vtr_probe_value(&patient.self, "device", 0))
		run(&patient.nvml, vtr_probe_nvml);
	run(&patient.system, vtr_probe_system);
	run(&patient.python_ran, vtr_probe_python);
	patient.clock_step_ns = realtime_ahead_ns() - before;
}

static void free_probes(void)
{
	vtr_probe_reset(&patient.load);
	vtr_probe_reset(&patient.cuda);
	vtr_probe_reset(&patient.self);
	vtr_probe_reset(&patient.nvml);
	vtr_probe_reset(&patient.system);
	vtr_probe_reset(&patient.python_ran);
}

/* ---- the command ---- */

static void on_signal(int number)
{
	stopped = number;
	vtr_probe_abandon = 1;
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

static int examine(const struct vpt_args *args)
{
	static struct vtr_answer answer; /* it is large */
	int failed;
	size_t i;

	patient.python = vpt_text_of(args, VTR_DOCTOR_PYTHON);
	patient.timeout_s = (unsigned)vpt_number_of(args, VTR_DOCTOR_TIMEOUT);
	look_at_command(args);
	catch_signals();
	make_folder();
	resolve_options();
	run_probes();
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]) && !stopped; i++) {
		answer.check = checks[i].name;
		checks[i].run(&patient, &answer);
	}
	free_probes();
	remove_folder();
	if (stopped) {
		signal(stopped, SIG_DFL);
		raise(stopped);
	}
	failed = vpt_has(args, VTR_DOCTOR_JSON) ? vtr_answer_json(&answer)
						: vtr_answer_text(&answer);
	return failed || vtr_answer_worst(&answer, NULL) == VTR_STATUS_FAIL ? VPT_EXIT_FAILED
									    : VPT_EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct vpt_err err = {0};
	struct vpt_args args;
	int rc;

	if (vpt_process_begin(&err)) {
		fprintf(stderr, "vptrace doctor: %s\n", err.text);
		return VPT_EXIT_FAILED;
	}
	if (argc < VTR_WORDS) {
		vtr_say("this program is run by vptrace doctor");
		return VPT_EXIT_MISUSED;
	}
	patient.version = argv[VTR_WORD_VERSION];
	patient.library = argv[VTR_WORD_LIBRARY];
	patient.analyzer = argv[VTR_WORD_ANALYZER];
	patient.site = argv[VTR_WORD_SITE];
	patient.problem = argv[VTR_WORD_PROBLEM];
	rc = vpt_args_read(&vtr_command_doctor, argc - VTR_WORDS, argv + VTR_WORDS, &args, &err);
	if (args.wants_help) {
		rc = vpt_help_print(&vtr_command_doctor, &err) ? VPT_EXIT_FAILED : VPT_EXIT_DONE;
		if (rc)
			vtr_say("%s", err.text);
	} else if (rc) {
		vtr_say("%s", err.text);
		fprintf(stderr, "see vptrace doctor --help\n");
		rc = err.code == VPT_EINVAL ? VPT_EXIT_MISUSED : VPT_EXIT_FAILED;
	} else {
		rc = examine(&args);
	}
	vpt_args_free(&args);
	return rc;
}
