/* run.c - `vptrace run` from its checks to its summary. */
#include "tracer/command/run.h"

#include "formats/base/text.h"
#include "formats/cli/target.h"
#include "tracer/command/run_parts.h"
#include "tracer/command/base/install_places.h"
#include "tracer/command/output_check.h"
#include "tracer/command/processes/process_list.h"
#include "tracer/command/run_variables.h"
#include "tracer/command/target_program.h"
#include "tracer/command/base/say.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static enum vtr_report wanted_report(const struct vpt_args *args)
{
	if (!vpt_has(args, VTR_RUN_REPORT))
		return VTR_REPORT_NONE;
	return vpt_is(args, VTR_RUN_REPORT, "html") ? VTR_REPORT_HTML : VTR_REPORT_TEXT;
}

static int check_live(const struct vpt_args *args, const char *analyzer, struct vpt_err *err)
{
	if (!vpt_has(args, VTR_RUN_LIVE))
		return VPT_OK;
	if (!*analyzer)
		return vpt_fail(err, VPT_EINVAL,
			"--live: vptrace-analyze is not beside this program: install it there");
	if (vpt_has(args, VTR_RUN_RING))
		return vpt_fail(err, VPT_EINVAL,
			"--live and --ring cannot be combined: a ring is written when the command "
			"ends");
	return vtr_live_check(vpt_text_of(args, VTR_RUN_LIVE), err);
}

static int check_target(const struct vpt_args *args, struct vpt_err *err)
{
	const char *target = vpt_text_of(args, VTR_RUN_TARGET);
	uint64_t millifps;

	return target ? vpt_target_read(target, &millifps, err) : VPT_OK;
}

static int check_report(enum vtr_report report, const char *analyzer, struct vpt_err *err)
{
	if (report != VTR_REPORT_NONE && !*analyzer)
		return vpt_fail(err, VPT_EINVAL,
			"--report: vptrace-analyze is not beside this program: install it there");
	if (report == VTR_REPORT_HTML && !vtr_summary_knows_html(analyzer))
		return vpt_fail(err, VPT_EINVAL,
			"--report=html: this vptrace-analyze writes no HTML; use --report");
	return VPT_OK;
}

/* A capture is one file for each process, and standard output is the command's. */
static int check_output(const struct vpt_args *args, struct vpt_err *err)
{
	const char *name = vpt_text_of(args, VTR_RUN_OUTPUT);

	if (!name)
		name = getenv("VPTRACE_OUTPUT");
	if (vpt_is_standard(name))
		return vpt_fail(err, VPT_EINVAL,
			"--output: expected a file name, found \"-\": a capture cannot go to "
			"standard output, which is the command's; ./- is a file of that name");
	return VPT_OK;
}

/* Everything that can be known before the command runs. 0 or an exit status. */
static int prepare(const struct vpt_args *args, struct vtr_places *places, char path[PATH_MAX],
	struct vpt_err *err)
{
	char python[PATH_MAX];
	int rc = vtr_target_find(args->operands[0], path, python, err);

	if (rc)
		return rc;
	if (check_output(args, err) || vtr_places_find(places, err) ||
		vtr_variables_set(args, places, python, err) ||
		check_live(args, places->analyzer, err) || check_target(args, err) ||
		check_report(wanted_report(args), places->analyzer, err))
		return err->code == VPT_ENOMEM ? VPT_EXIT_FAILED : VPT_EXIT_MISUSED;
	return 0;
}

/* A ring that outlives its process needs somebody who holds it. */
static struct vtr_rings *hold_rings(void)
{
	const char *ring = getenv("VPTRACE_RING");
	struct vtr_rings *rings = NULL;
	struct vpt_err err = {0};

	if (ring && *ring && vtr_rings_listen(&rings, &err))
		vtr_say("%s; the ring of a process that dies is lost", err.text);
	return rings;
}

/* Why a process that recorded is not in the list. */
static void say_unlisted(const char *path, int error)
{
	if (error)
		vtr_say("%s was written by a process that could not report to this one: %s in the "
			"folder for temporary files; set TMPDIR to another one",
			path, strerror(error));
	else
		vtr_say("%s was written by a process that could not report to this one: it may run "
			"as another user",
			path);
}

/* A process of another user cannot write to the list, but may have recorded. */
static void find_unlisted(struct vtr_list *list, time_t since)
{
	struct vtr_options *options;
	struct vpt_err err = {0};

	if (list->process_count || list->file_count)
		return;
	options = malloc(sizeof(*options));
	if (options && !vtr_options_resolve(NULL, options, &err) &&
		vtr_output_is_newer(options, since)) {
		say_unlisted(options->path, list->error);
		vtr_list_file(list, 0, options->path);
	}
	free(options);
}

/* Somebody who presses Ctrl-C twice still wants what the rings hold. */
static void write_rings(struct vtr_rings *rings, struct vtr_list *list)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set, before;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	vtr_rings_write(rings, list);
	vtr_rings_free(rings);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Where a standard stream is closed, the next file would get its number, and our messages. What the
 * command inherits stays as it is. */
static void occupy_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Prints what would be run, and with which options. */
static int print_dry_run(
	const struct vpt_args *args, const char *path, const struct vtr_sources *sources)
{
	struct vpt_err err = {0};
	struct vpt_out out;
	size_t i;
	int rc = vpt_out_open(&out, "-", 0, &err);

	if (!rc) {
		vpt_out_print(&out, "%-22s ", "command");
		vpt_out_text(&out, path, strlen(path));
		for (i = 1; i < args->operand_count; i++) {
			vpt_out_print(&out, " ");
			vpt_out_text(&out, args->operands[i], strlen(args->operands[i]));
		}
		vpt_out_print(&out, "\n");
		vtr_sources_print(sources, &out);
		rc = vpt_out_close(&out, 1, &err);
	}
	if (rc)
		vtr_say("%s", err.text);
	return rc ? VPT_EXIT_FAILED : VPT_EXIT_DONE;
}

static int run(const struct vpt_args *args, const struct vtr_places *places, const char *path,
	const char *simulated)
{
	struct vtr_rings *rings;
	struct vtr_list list;
	int rc, listed, is_known = 0;
	struct vtr_ending ending;
	time_t since = time(NULL);
	pid_t live = -1;

	occupy_standard_streams();
	listed = !vtr_list_create(&list);
	rings = hold_rings();
	if (listed && vpt_has(args, VTR_RUN_LIVE))
		live = vtr_live_start(list.path, places->analyzer, vpt_text_of(args, VTR_RUN_LIVE),
			vpt_text_of(args, VTR_RUN_TARGET));
	/* The operands end with NULL, see vpt_args_read(). */
	rc = vtr_child_run(path, (char *const *)(uintptr_t)args->operands, &ending.killed_by);
	ending.status = rc;
	if (live > 0)
		vtr_live_end(live);
	if (!listed)
		vtr_say("no summary: no temporary file could be created; set TMPDIR");
	else if (vtr_list_take(&list))
		vtr_say("no summary: the command has removed a temporary file of vptrace; set "
			"TMPDIR");
	else
		is_known = 1;
	write_rings(rings, &list);
	if (is_known) {
		find_unlisted(&list, since);
		vtr_pythons_check(&list);
	}
	if (is_known &&
		vtr_summary(&list, places->analyzer,
			(struct vtr_wanted){wanted_report(args), vpt_text_of(args, VTR_RUN_TARGET)},
			&ending, simulated) &&
		!rc)
		rc = VPT_EXIT_FAILED;
	vtr_list_free(&list);
	return rc;
}

int vtr_run(struct vpt_args *args)
{
	struct vtr_sources sources;
	struct vtr_places places;
	struct vpt_err err = {0};
	char path[PATH_MAX], *simulated = vtr_simulated_run(args);
	int rc = vtr_sources_take(args, &sources, &err);

	if (rc)
		rc = err.code == VPT_ENOMEM ? VPT_EXIT_FAILED : VPT_EXIT_MISUSED;
	else
		rc = prepare(args, &places, path, &err);
	if (rc) {
		vtr_sources_explain(&sources, &err);
		vtr_say("%s", err.text);
	} else if (vpt_has(args, VTR_RUN_DRY_RUN)) {
		rc = print_dry_run(args, path, &sources);
	} else {
		rc = run(args, &places, path, simulated ? simulated : "vptrace run --simulate");
	}
	vtr_sources_free(&sources);
	free(simulated);
	return rc;
}
