/* cmd_watch.c - one line every few seconds of a capture that is being recorded.
 *
 * Each line opens the file anew and analyzes its last seconds, so the program that records is not touched. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"

#include "analysis/analyze.h"
#include "analysis/commands/live.h"
#include "formats/base/text.h"
#include "formats/cli/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EVERY,
	TARGET,
	ONCE,
	PROMETHEUS,
	FRAMES_PER_BLOCK,
	LATENTS_PER_BLOCK,
	JOBS,
	MEMORY,
	OPTIONS
};

static const struct vpt_option options[OPTIONS] = {
	[EVERY] = {"every", '\0', VPT_DURATION, NULL, "2s",
		"time from line to line, at least 100ms"},
	[TARGET] = VPA_TARGET_OPTION,
	[ONCE] = {"once", '\0', VPT_FLAG, NULL, NULL, "print one line and end"},
	[PROMETHEUS] = {"prometheus", '\0', VPT_OUTPUT, "FILE", NULL,
		"also write metrics to FILE at each line, replacing it, for the textfile collector "
		"of node_exporter"},
	[FRAMES_PER_BLOCK] = VPA_FRAMES_PER_BLOCK_OPTION("the trace"),
	[LATENTS_PER_BLOCK] = VPA_LATENTS_PER_BLOCK_OPTION("the trace"),
	[JOBS] = VPA_JOBS_OPTION,
	[MEMORY] = VPA_MEMORY_OPTION,
};

/* A capture without a lock, as over a network, counts as recorded for so long after it has grown. */
enum { GROWN_S = 10 };
enum { EVERY_LEAST_MS = 100 };

enum state { RECORDED, ENDED, CUT_OFF };

struct watch {
	const struct vpt_args *args;
	struct vpa_options options;
	struct vpa_live live;
	struct vpt_out out;
	enum state state;
	int was_locked;    /* so a file system that has locks */
	uint64_t shown_ns; /* what the last line was of */
	int is_open;       /* the terminal's line has something in it */
};

/* Whether the file has grown lately. Clocks of two machines may differ by more: then it has not ended yet. */
static int has_grown(const char *path)
{
	struct stat st;
	time_t now = time(NULL);

	return !stat(path, &st) && st.st_mtime > now - GROWN_S;
}

/* Whether the file has the chunk of a stop, all of it: its head comes first, and says which chunk it is. */
static int has_stop(const struct vpt_reader *reader)
{
	size_t count = vpt_reader_chunks(reader);
	const struct vpt_chunk_info *last = count ? vpt_reader_info(reader, count - 1) : NULL;

	return last && last->state == VPT_CHUNK_WHOLE && last->flags & VPT_BATCH_LAST;
}

/* Whether the capture goes on, as far as its file shows. */
static enum state state_of(struct watch *w, const struct vpt_trace *trace)
{
	const struct vpt_reader *reader = vpt_trace_reader(trace);
	int is_locked;

	if (!reader || has_stop(reader))
		return ENDED;
	is_locked = vpt_reader_is_recorded(reader);
	w->was_locked |= is_locked;
	return is_locked || (!w->was_locked && has_grown(w->args->operands[0])) ? RECORDED
										: CUT_OFF;
}

/* Before a capture's first chunk its file cannot be read yet. */
static int is_too_early(const struct watch *w, const char *path)
{
	struct stat st;

	return !w->live.now_ns && !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size;
}

static int look(struct watch *w, struct vpt_err *err)
{
	const char *path = w->args->operands[0];
	struct vpa_report *report = NULL;
	struct vpt_trace *trace = NULL;
	int rc = is_too_early(w, path) ? VPT_END : vpt_trace_open(path, &trace, err);

	if (rc)
		return rc == VPT_END ? VPT_OK : rc;
	w->options.from_ns = vpa_live_window_from(&w->live, vpt_number_of(w->args, EVERY));
	w->options.has_from = w->options.from_ns != 0;
	w->state = state_of(w, trace);
	rc = vpa_analyze(trace, path, &w->options, &report, err);
	if (!rc)
		vpa_live_take(&w->live, report, vpt_trace_start(trace), w->state != RECORDED);
	vpa_report_free(report);
	vpt_trace_close(trace);
	return rc;
}

/* On a terminal each line replaces the one before. Elsewhere there is none while the file does not grow. */
static void show(struct watch *w)
{
	size_t columns = w->out.to_terminal ? vpt_terminal_width(&w->out) - 1 : SIZE_MAX;
	struct vpa_live_line line = vpa_live_line(&w->live, columns);

	if (w->out.to_terminal)
		vpt_out_print(&w->out, "\r\033[K%.*s", (int)columns, line.text);
	else if (!w->shown_ns || w->live.now_ns != w->shown_ns)
		vpt_out_print(&w->out, "%s\n", line.text);
	vpt_out_flush(&w->out);
	w->is_open = w->out.to_terminal;
	w->shown_ns = w->live.now_ns;
}

static void end_line(struct watch *w)
{
	if (w->is_open)
		vpt_out_print(&w->out, "\n");
	w->is_open = 0;
}

/* Others may read it: the collector is another user. */
static int write_metrics(const struct watch *w, struct vpt_err *err)
{
	const char *path = vpt_text_of(w->args, PROMETHEUS);
	struct vpt_sink *sink;
	int rc;

	if (!path)
		return VPT_OK;
	rc = vpt_sink_open(path, VPT_SINK_FORCE, &sink, err);
	if (rc)
		return rc;
	rc = vpa_live_metrics(&w->live, w->state == RECORDED, sink, err);
	rc = sink->finish(sink, !rc, rc ? NULL : err) || rc ? VPT_EIO : VPT_OK;
	if (!rc)
		chmod(path, 0644);
	return rc;
}

/* The signals that end a watch are taken here alone, so that none comes just before the wait and is slept over. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void wait_for_next(const struct watch *w)
{
	uint64_t ns = vpt_number_of(w->args, EVERY);
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	sigset_t none;

	sigemptyset(&none);
	ppoll(NULL, 0, &t, &none);
}

static int take_line(struct watch *w, struct vpt_err *err)
{
	int rc = look(w, err);

	if (!rc)
		show(w);
	if (!rc)
		rc = w->out.failed ? w->out.failed : write_metrics(w, err);
	return rc;
}

/* A signal ends it, after a last look. */
static int watch(struct watch *w, struct vpt_err *err)
{
	int is_last, rc;

	do {
		is_last = vpt_has(w->args, ONCE) || vpa_interrupted();
		rc = take_line(w, err);
		if (!rc && !is_last && w->state == RECORDED)
			wait_for_next(w);
	} while (!rc && !is_last && w->state == RECORDED);
	end_line(w);
	return rc;
}

static int check_options(const struct vpt_args *args, struct vpt_err *err)
{
	const char *path = vpt_text_of(args, PROMETHEUS);

	if (vpt_is_standard(args->operands[0]))
		return vpt_fail(err, VPT_EINVAL,
			"standard input cannot be watched: expected the file that grows");
	if (vpt_number_of(args, EVERY) < EVERY_LEAST_MS * (uint64_t)1000000)
		return vpt_fail(
			err, VPT_EINVAL, "--every: expected at least %d ms", EVERY_LEAST_MS);
	return path ? vpa_out_check(args, path, 1, err) : VPT_OK;
}

static int run(const struct vpt_args *args)
{
	struct watch w = {.args = args};
	struct vpt_err err = {0};
	int rc = check_options(args, &err), closed;

	w.options.top = 1;
	w.options.step_parts = w.options.only_sums = 1;
	w.options.has_warmup = 1;
	if (!rc)
		rc = vpa_shared_options_read(args, &w.options, &err);
	if (!rc)
		rc = vpt_out_open(&w.out, "-", 0, &err);
	if (rc)
		return vpa_failed(&err);
	vpa_interrupt_catch();
	block_signals();
	rc = watch(&w, &err);
	closed = vpt_out_close(&w.out, 1, rc && !w.out.failed ? NULL : &err);
	rc = rc ? rc : closed;
	if (rc)
		return vpa_failed(&err);
	if (w.state == CUT_OFF)
		vpa_say("the capture ends without a stop: its process exited or was killed");
	return w.state == CUT_OFF ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_watch = {
	.program = VPA_PROGRAM,
	.name = "watch",
	.usage = "FILE [options]",
	.help = "follow a capture while it is recorded: a line every few seconds",
	.about = "FILE may be a capture of another terminal, or on a network file system. A line "
		 "gives the\n"
		 "time since the start, and of the last blocks (without blocks: steps) frames and "
		 "blocks\n"
		 "per second, how many have ended, how long the last one took, what the GPUs were "
		 "busy, the\n"
		 "memory of the GPU that uses most, the power of all, the highest temperature, and "
		 "the\n"
		 "processors that the program uses. The figures are those of a report of the last "
		 "seconds.\n"
		 "On a terminal each line replaces the one before, and leaves out what has no "
		 "room.\n"
		 "\n"
		 "Ends with the capture, or by Ctrl-C. Exit code 3: the capture has ended without "
		 "a stop.\n",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
