/* run_summary.c - each file with its size and its verdict, or why there is none.
 *
 * `vptrace-analyze check` decodes every chunk, prints what is missing, and ends with a line
 * "FILE: WORD: counts". */
#include "tracer/command/run_parts.h"

#include "tracer/command/processes/process_list.h"
#include "tracer/command/base/run_program.h"
#include "tracer/command/processes/running_processes.h"
#include "tracer/command/base/say.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ANSWER_BYTES = 1 << 16, MARKS_SAID = 3 };

/* ---- a file's line ---- */

static void put_size(const char *path, char out[32])
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
	struct stat st;
	double size = stat(path, &st) ? 0 : (double)st.st_size;
	size_t unit = 0;

	while (size >= 999.5 && unit < 4) {
		size /= 1000;
		unit++;
	}
	snprintf(out, 32, "%.*f %s", unit && size < 99.95, size, units[unit]);
}

/* The last line of an answer, or "". */
static const char *last_line(char *answer)
{
	size_t len = strlen(answer);
	char *line;

	while (len && answer[len - 1] == '\n')
		answer[--len] = '\0';
	line = strrchr(answer, '\n');
	return line ? line + 1 : answer;
}

/* "good, 7,416 events" from the counts after the file's name, and what the answer says before. A
 * capture that lacks something is described by that alone. Returns whether the file has events, or may
 * have. */
static int put_verdict(char *answer, char *out, size_t size)
{
	static const char *const words[] = {"good", "incomplete", "damaged"};
	static const char empty[] = "0 chunks, 0 events;";
	const char *last = last_line(answer), *counts = NULL;
	int has_events, is_good;
	char mark[24];
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]) && !counts; i++) {
		snprintf(mark, sizeof(mark), ": %s: ", words[i]);
		counts = strstr(last, mark);
	}
	has_events = !counts || strncmp(counts + strlen(mark), empty, strlen(empty)) != 0;
	is_good = counts && i == 1;
	if (counts && (last == answer || is_good)) {
		counts += strlen(mark);
		counts += strspn(counts, "0123456789");
		counts += strncmp(counts, " chunks, ", 9) ? 0 : 9;
	}
	if (!counts)
		snprintf(out, size, "its verdict is not known");
	else if (last == answer || is_good)
		snprintf(out, size, "%s, %.*s%s%.*s", words[i - 1], (int)strcspn(counts, ";"),
			counts, last == answer ? "" : ": ",
			last == answer ? 0 : (int)strcspn(answer, "\n"), answer);
	else
		snprintf(out, size, "%s: %.*s", words[i - 1], (int)strcspn(answer, "\n"), answer);
	return has_events;
}

static int is_empty(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !st.st_size;
}

/* Returns whether something was recorded in it. `rank`: -1, or the one that it is of. `by`: the process that wrote it, or
 * NULL. */
static int say_file(const char *path, long rank, const struct vtr_traced *by, const char *analyzer)
{
	const char *const argv[] = {"vptrace-analyze", "check", path, NULL};
	char *answer = malloc(ANSWER_BYTES), size[32], verdict[1024], of[32] = "";
	int rc = answer ? vtr_program_ask(analyzer, argv, answer, ANSWER_BYTES) : -1;
	int has_events = rc != 1;

	put_size(path, size);
	if (rc < 0)
		snprintf(verdict, sizeof(verdict), "not checked: vptrace-analyze cannot be run");
	else if (rc == 1 && is_empty(path) && by && by->started && !by->ended)
		snprintf(verdict, sizeof(verdict),
			"nothing: process %ld ended without a stop, before it had written anything",
			by->pid);
	else if (rc == 1)
		snprintf(verdict, sizeof(verdict), "cannot be read");
	else
		has_events = put_verdict(answer, verdict, sizeof(verdict));
	if (rank >= 0)
		snprintf(of, sizeof(of), "rank %ld: ", rank);
	vtr_say("%s%s: %s, %s", of, path, size, verdict);
	free(answer);
	return has_events;
}

/* ---- what the processes said ---- */

/* What a process could not do, each sentence once. */
static void say_processes(const struct vtr_list *list)
{
	const char *before = "";
	size_t i;

	for (i = 0; i < list->process_count; i++) {
		const struct vtr_traced *t = &list->processes[i];
		const char *text = *t->end_text ? t->end_text : t->start_text;

		if (!*text || !strcmp(text, before))
			continue;
		vtr_say("process %ld: %s", t->pid, text);
		before = text;
	}
}

/* Marks that no process had a use for, in one line. */
static void say_marks(const struct vtr_list *list)
{
	char *text = NULL;
	size_t size, said = 0, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	for (i = 0; i < list->mark_count; i++)
		if (list->marks[i].why && said++ < MARKS_SAID)
			fprintf(out, "%s%s", said > 1 ? "; " : "", list->marks[i].why);
	if (said > MARKS_SAID)
		fprintf(out, "; and %zu more", said - MARKS_SAID);
	if (!fclose(out) && said)
		vtr_say("marks: %s", text);
	free(text);
}

/* Returns how many processes still run. */
static size_t say_running(void)
{
	struct vtr_running running;
	char more[48] = "";

	vtr_running_find(&running);
	if (running.count > 1)
		snprintf(more, sizeof(more), " and %zu more", running.count - 1);
	if (running.count)
		vtr_say("process %ld (%s)%s still run%s, but the command has ended: what is "
			"recorded from now on is not in this summary",
			running.pid, running.name, more, running.count > 1 ? "" : "s");
	return running.count;
}

/* Processes that began to record and have ended, and of which there is neither a file nor an end:
 * whether they had anything to write is not known. Returns their number. */
static size_t say_lost(const struct vtr_list *list)
{
	const char *flush = getenv("VPTRACE_FLUSH_MS");
	size_t lost = 0, i;
	char more[48] = "";
	long first = 0;

	for (i = list->process_count; i-- > 0;) {
		const struct vtr_traced *t = &list->processes[i];

		if (!t->started || t->ended || t->start_code || vtr_list_has_file(list, t->pid) ||
			vtr_running_has(t->pid))
			continue;
		first = t->pid;
		lost++;
	}
	if (lost > 1)
		snprintf(more, sizeof(more), " and %zu more", lost - 1);
	if (lost)
		vtr_say("process %ld%s ended without a stop, and had written nothing: at most the "
			"records of its last %s ms (VPTRACE_FLUSH_MS) are missing, and of the "
			"GPU's work an eighth more; it died, or called _exit() in place of exit()",
			first, more, flush && *flush ? flush : "1000");
	return lost;
}

static int has_failed(const struct vtr_list *list)
{
	size_t i;

	for (i = 0; i < list->process_count; i++)
		if (list->processes[i].start_code || list->processes[i].end_code)
			return 1;
	return 0;
}

/* How the command ended; "" if it ended well. */
static void put_ending(const struct vtr_ending *ending, char *out, size_t size)
{
	int by = ending->killed_by, shell = ending->status - VTR_EXIT_SIGNAL;

	*out = '\0';
	if (by)
		snprintf(out, size, "the command was killed by signal %d (%s)", by, strsignal(by));
	else if (shell > 0 && shell < NSIG)
		snprintf(out, size,
			"the command ended with exit status %d, as a shell does after signal %d "
			"(%s)",
			ending->status, shell, strsignal(shell));
	else if (ending->status)
		snprintf(out, size, "the command ended with exit status %d", ending->status);
}

/* No process has loaded CUDA or called NVTX. */
static void say_unused(const struct vtr_list *list, const char *how_it_ended, const char *simulated)
{
	char more[48] = "";

	if (list->marked_count > 1)
		snprintf(more, sizeof(more), " and %zu more", list->marked_count - 1);
	if (getenv("VPTRACE_SIMULATE") && !list->marked_count)
		vtr_say("nothing was recorded: no Python imported what is marked; see --mark%s%s",
			*how_it_ended ? "; " : "", how_it_ended);
	else if (list->marked_count)
		vtr_say("nothing was recorded: no process used CUDA. Marks were hit in process "
			"%ld%s, but are kept only with CUDA calls: %s. If the program should use "
			"the GPU, check which device it chose (PyTorch: "
			"torch.cuda.is_available()), and run vptrace doctor%s%s. "
			"To record the marks alone: %s",
			list->marked_pid, more, list->marked, *how_it_ended ? "; " : "",
			how_it_ended, simulated);
	else if (*how_it_ended)
		vtr_say("nothing was recorded: %s before any process used CUDA or NVTX",
			how_it_ended);
	else
		vtr_say("nothing was recorded: no process used CUDA or NVTX. If one should have, "
			"check that it was started by this command, as this user, and inherits "
			"its environment, and run vptrace doctor");
}

static void say_nothing(
	const struct vtr_list *list, const char *how_it_ended, const char *simulated)
{
	const char *what = "nothing was recorded";
	const char *why = "CUDA or NVTX was loaded, but nothing was launched and no range was made";

	if (!list->process_count) {
		say_unused(list, how_it_ended, simulated);
		return;
	}
	if (has_failed(list)) {
		why = "the tracer failed, see above";
	} else if (getenv("VPTRACE_SNAPSHOT_ON")) {
		what = "no file was written";
		why = "no event of --snapshot-on occurred";
	}
	vtr_say("%s: %s%s%s", what, why, *how_it_ended ? "; " : "", how_it_ended);
}

/* ---- the report ---- */

static const char *largest(const struct vtr_list *list)
{
	const char *best = NULL;
	off_t most = -1;
	struct stat st;
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (!stat(list->files[i].path, &st) && st.st_size > most) {
			most = st.st_size;
			best = list->files[i].path;
		}
	return best;
}

/* The page of "run.zst" is "run.html". */
static void name_page(const char *path, char *page, size_t size)
{
	size_t len = strlen(path);

	if (len > 4 && !strcmp(path + len - 4, ".zst") && path[len - 5] != '/')
		len -= 4;
	snprintf(page, size, "%.*s.html", (int)len, path);
}

/* "ranks.html" in the folder of a capture. */
static void name_job_page(const char *path, char *page, size_t size)
{
	const char *slash = strrchr(path, '/');

	snprintf(page, size, "%.*sranks.html", slash ? (int)(slash + 1 - path) : 0, path);
}

static void show_report(const char *path, const char *analyzer, struct vtr_wanted wanted)
{
	const char *argv[12] = {"vptrace-analyze", "analyze", "--no-progress", path};
	const char *overwrite = getenv("VPTRACE_OVERWRITE");
	char page[PATH_MAX + 8];
	size_t used = 4;
	int rc;

	if (wanted.target) {
		argv[used++] = "--target";
		argv[used++] = wanted.target;
	}
	if (wanted.report == VTR_REPORT_HTML) {
		name_page(path, page, sizeof(page));
		argv[used++] = "--format=html";
		argv[used++] = "-o";
		argv[used++] = page;
		/* Who lets the capture be replaced lets its page be replaced too. */
		if (overwrite && !strcmp(overwrite, "1"))
			argv[used++] = "--force";
	}
	rc = vtr_program_show(analyzer, argv);
	if (rc != 0 && rc != 3)
		vtr_say("no report: vptrace-analyze failed on %s", path);
	else if (wanted.report == VTR_REPORT_HTML)
		vtr_say("report: %s", page);
}

/* Whether the analyzer can report on several ranks together. */
static int knows_ranks(const char *analyzer)
{
	static const char about[] = "vptrace-analyze ranks - ";
	const char *const argv[] = {"vptrace-analyze", "ranks", "--help", NULL};
	char *answer = malloc(ANSWER_BYTES);
	int knows = answer && *analyzer && !vtr_program_ask(analyzer, argv, answer, ANSWER_BYTES) &&
		    !strncmp(answer, about, sizeof(about) - 1);

	free(answer);
	return knows;
}

/* The report of all ranks; their page is "ranks.html" beside the first one's file. Returns 0 if there is none, as of ranks
 * that used no GPU. */
static int show_ranks(const struct vtr_list *list, const char *analyzer, enum vtr_report report)
{
	const char **argv = calloc(list->file_count + 8, sizeof(*argv));
	const char *overwrite = getenv("VPTRACE_OVERWRITE");
	char page[PATH_MAX + 16];
	size_t used = 0;
	int rc;

	if (!argv)
		return 0;
	argv[used++] = "vptrace-analyze";
	argv[used++] = "ranks";
	argv[used++] = "--no-progress";
	if (report == VTR_REPORT_HTML) {
		name_job_page(vtr_ranks_first(list), page, sizeof(page));
		argv[used++] = "--format=html";
		argv[used++] = "-o";
		argv[used++] = page;
		if (overwrite && !strcmp(overwrite, "1"))
			argv[used++] = "--force";
	}
	vtr_ranks_arguments(list, argv + used);
	rc = vtr_program_show(analyzer, argv);
	if (rc != 0 && rc != 3)
		vtr_say("no report of all ranks, see above; the report of the largest file:");
	else if (report == VTR_REPORT_HTML)
		vtr_say("report: %s", page);
	free(argv);
	return rc == 0 || rc == 3;
}

/* The command for the report of all ranks, and that report if it is wanted. Returns 0 if there is
 * none. */
static int say_ranks(const struct vtr_list *list, const char *analyzer, enum vtr_report report)
{
	char *words =
		vtr_ranks_count(list) > 1 && knows_ranks(analyzer) ? vtr_ranks_words(list) : NULL;

	if (!words)
		return 0;
	if (vtr_ranks_world(list) > (long)vtr_ranks_count(list))
		vtr_say("these %zu of %ld ranks in one report: vptrace-analyze ranks %s",
			vtr_ranks_count(list), vtr_ranks_world(list), words);
	else
		vtr_say("all ranks in one report: vptrace-analyze ranks %s", words);
	free(words);
	return report == VTR_REPORT_NONE || show_ranks(list, analyzer, report);
}

/* Each rank has a launcher: that of the first one says the command for all. Returns whether a report on standard output is
 * this launcher's to show: of several at once nobody could read one. */
static int say_other_ranks(const struct vtr_list *list, const char *analyzer)
{
	char *words;

	if (list->file_count && vtr_rank_of(list, list->files[0].pid) > 0)
		return 0;
	words = knows_ranks(analyzer) ? vtr_ranks_words_of_others(list) : NULL;
	if (words)
		vtr_say("the %ld ranks in one report, once all have ended: vptrace-analyze ranks "
			"%s",
			vtr_ranks_world(list), words);
	free(words);
	return 1;
}

int vtr_summary_knows_html(const char *analyzer)
{
	const char *const argv[] = {"vptrace-analyze", "analyze", "--help", NULL};
	char *answer = malloc(ANSWER_BYTES);
	int knows = answer && !vtr_program_ask(analyzer, argv, answer, ANSWER_BYTES) &&
		    strstr(answer, "|html");

	free(answer);
	return knows;
}

int vtr_summary(struct vtr_list *list, const char *analyzer, struct vtr_wanted wanted,
	const struct vtr_ending *ending, const char *simulated)
{
	size_t recorded = 0, lost, running, i;
	int has_ranks = vtr_ranks_count(list) > 1, is_one = vtr_ranks_is_one(list), failed;
	char text[256];

	if (has_ranks)
		vtr_ranks_sort(list);
	for (i = 0; i < list->file_count; i++)
		recorded += (size_t)say_file(list->files[i].path,
			has_ranks || is_one ? vtr_rank_of(list, list->files[i].pid) : -1,
			vtr_list_process(list, list->files[i].pid), analyzer);
	if (has_ranks)
		vtr_ranks_say_missing(list);
	failed = !recorded && has_failed(list);
	say_processes(list);
	say_marks(list);
	lost = say_lost(list);
	running = say_running();
	put_ending(ending, text, sizeof(text));
	if (failed || (!lost && !running && !list->file_count))
		say_nothing(list, text, simulated);
	else if (lost && !list->file_count && *text)
		vtr_say("%s", text);
	if (ending->killed_by == SIGKILL && !recorded)
		vtr_say("if nobody sent signal %d, the system ran out of memory: see dmesg",
			SIGKILL);
	if (has_ranks && say_ranks(list, analyzer, wanted.report))
		wanted.report = VTR_REPORT_NONE;
	if (is_one && list->file_count && !say_other_ranks(list, analyzer) &&
		wanted.report == VTR_REPORT_TEXT)
		wanted.report = VTR_REPORT_NONE;
	if (wanted.report != VTR_REPORT_NONE && largest(list))
		show_report(largest(list), analyzer, wanted);
	return failed ? -1 : 0;
}
