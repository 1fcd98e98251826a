/* commands_common.c - what nearly all commands need: messages, small files, signals, reports with their progress. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/retime/predictions.h"

#include "analysis/analyze.h"
#include "analysis/trust/completeness.h"
#include "formats/base/cost_limits.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* ---- messages ---- */

int vpa_out_check(const struct vpt_args *args, const char *path, int force, struct vpt_err *err)
{
	struct vpt_out o;
	int rc = vpa_inputs_check(args, path, err);

	if (rc || vpt_is_standard(path))
		return rc;
	rc = vpt_out_open(&o, path, force, err);
	return rc ? rc : vpt_out_close(&o, 0, err);
}

void vpa_say(const char *fmt, ...)
{
	struct vpt_err line;
	char text[sizeof(line.text)];
	va_list list;

	va_start(list, fmt);
	vsnprintf(text, sizeof(text), fmt, list);
	va_end(list);
	vpt_fail(&line, VPT_OK, "%s", text); /* paths are input too: no control bytes */
	fprintf(stderr, "vptrace-analyze: %s\n", line.text);
}

int vpa_failed(const struct vpt_err *err)
{
	enum { LIMIT_WORDS = 100 }; /* of a long message, its end gives way to these */

	if (err->code == VPT_EGONE)
		return VPT_EXIT_FAILED;
	if (err->code == VPT_ENOMEM && vpt_memory_was_refused())
		vpa_say("%.*s: the limit of %llu MiB of memory is reached; --memory raises it",
			(int)sizeof(err->text) - LIMIT_WORDS, err->text,
			(unsigned long long)(vpt_limits_memory_bytes() >> 20));
	else
		vpa_say("%s", err->text);
	return err->code == VPT_EINVAL ? VPT_EXIT_MISUSED : VPT_EXIT_FAILED;
}

const char *vpa_input_name(const char *operand)
{
	return !vpt_is_standard(operand) ? operand : "standard input";
}

/* ---- small files ---- */

int vpa_file_read(const char *path, char **text, size_t *len, struct vpt_err *err)
{
	enum { BYTES_MAX = 4 << 20 };
	struct vpt_source *src;
	char *data = NULL;
	int rc;

	*text = NULL;
	*len = 0;
	rc = vpt_source_open(path, &src, err);
	if (rc)
		return rc;
	if (src->size_bytes > BYTES_MAX)
		rc = vpt_fail(err, VPT_EDATA, "%.200s: expected at most %d MiB, found %llu bytes",
			path, BYTES_MAX >> 20, (unsigned long long)src->size_bytes);
	else
		data = vpt_alloc((size_t)src->size_bytes + 1, 1);
	if (!rc && !data)
		rc = vpt_fail(err, VPT_ENOMEM, "%.200s: no memory to read it", path);
	if (!rc)
		rc = src->read_at(src, 0, data, (size_t)src->size_bytes, len, err);
	vpt_source_close(src);
	if (rc) {
		vpt_free(data);
		return rc;
	}
	data[*len] = '\0';
	*text = data;
	return VPT_OK;
}

/* ---- signals ---- */

static volatile sig_atomic_t interrupting;

static void remember(int number)
{
	interrupting = number;
}

void vpa_interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = remember};

	/* The second one kills: a file system that hangs must not make the command immortal. */
	action.sa_flags = (int)SA_RESETHAND;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int vpa_interrupted(void)
{
	return interrupting != 0;
}

int vpa_interrupt_die(void)
{
	if (interrupting) {
		signal(interrupting, SIG_DFL);
		raise(interrupting);
	}
	return VPT_EXIT_FAILED;
}

/* ---- traces ---- */

static void say_remark(void *ctx, const struct vpa_remark *remark)
{
	if (remark->is_missing)
		vpa_say("%s: %s", (const char *)ctx, remark->text);
}

int vpa_say_missing(const char *path, const struct vpa_completeness *n)
{
	return !vpa_completeness_judge(n, say_remark, (void *)(uintptr_t)path);
}

/* ---- progress ---- */

static int64_t since_ms(const struct timespec *then, const struct timespec *now)
{
	return (now->tv_sec - then->tv_sec) * 1000 + (now->tv_nsec - then->tv_nsec) / 1000000;
}

static void show_progress(void *ctx, uint64_t done, uint64_t total)
{
	enum { SILENT_MS = 500, EVERY_MS = 100 };
	struct vpa_progress *p = ctx;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (since_ms(&p->began, &now) < SILENT_MS || since_ms(&p->shown, &now) < EVERY_MS || !total)
		return;
	p->shown = now;
	p->visible = 1;
	fprintf(stderr, "\rreading: %3u %% of %llu chunks ",
		(unsigned)((double)done / (double)total * 100), (unsigned long long)total);
	fflush(stderr);
}

void vpa_progress_begin(struct vpa_progress *p, struct vpa_options *options, int wanted)
{
	*p = (struct vpa_progress){.visible = 0};
	clock_gettime(CLOCK_MONOTONIC, &p->began);
	if (!wanted || !isatty(STDERR_FILENO))
		return;
	options->progress = show_progress;
	options->progress_ctx = p;
}

void vpa_progress_end(struct vpa_progress *p)
{
	if (p->visible)
		fputs("\r\033[K", stderr);
	p->visible = 0;
}

int vpa_trace_report(const char *operand, struct vpa_options *options, int progress,
	struct vpa_report **out, struct vpt_err *err)
{
	struct vpa_progress shown;
	struct vpt_trace *trace = NULL;
	int rc = vpt_trace_open(operand, &trace, err);

	if (rc)
		return rc;
	vpa_progress_begin(&shown, options, progress);
	rc = vpa_analyze(trace, vpa_input_name(operand), options, out, err);
	if (!rc && options->predict)
		rc = vpa_predict(trace, options->jobs, VPA_REPLAYED_BY_REPORT, *out, err);
	if (!rc && options->asked_count)
		rc = vpa_predict_asked(trace, options->jobs, VPA_REPLAYED_BY_REPORT,
			options->asked_changes, options->asked_count, *out, err);
	vpa_progress_end(&shown);
	vpt_trace_close(trace);
	return rc;
}

void vpa_memory_bound(const struct vpt_args *args)
{
	const struct vpt_command *c = args->command;
	unsigned i;

	for (i = 0; i < c->option_count; i++)
		if (c->options[i].type == VPT_MEMORY_MIB)
			vpt_limits_memory(vpt_number_of(args, i) << 20);
}
