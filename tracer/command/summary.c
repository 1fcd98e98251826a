/* summary.c - each file with its size and its verdict, or why there is none.
 *
 * `vptrace-analyze check` decodes every chunk, prints what is missing, and ends with a line
 * "FILE: WORD: counts". */
#include "tracer/command/summary.h"

#include "tracer/command/analyzer.h"
#include "tracer/command/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ANSWER_BYTES = 1 << 16 };

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

/* "good, 7,416 events" from the counts after the file's name; a capture that lacks something is
 * described by what the answer says first. */
static void put_verdict(char *answer, char *out, size_t size)
{
	static const char *const words[] = {"good", "incomplete", "damaged"};
	const char *last = last_line(answer), *counts = NULL;
	char mark[24];
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]) && !counts; i++) {
		snprintf(mark, sizeof(mark), ": %s: ", words[i]);
		counts = strstr(last, mark);
	}
	if (counts && last == answer) {
		counts += strlen(mark);
		counts += strspn(counts, "0123456789");
		counts += strncmp(counts, " chunks, ", 9) ? 0 : 9;
	}
	if (!counts)
		snprintf(out, size, "its verdict is not known");
	else if (last == answer)
		snprintf(out, size, "%s, %.*s", words[i - 1], (int)strcspn(counts, ";"), counts);
	else
		snprintf(out, size, "%s: %.*s", words[i - 1], (int)strcspn(answer, "\n"), answer);
}

static void say_file(const char *path, const char *analyzer)
{
	const char *const argv[] = {"vptrace-analyze", "check", path, NULL};
	char *answer = malloc(ANSWER_BYTES), size[32], verdict[1024];
	int rc = answer ? vtr_analyzer_ask(analyzer, argv, answer, ANSWER_BYTES) : -1;

	put_size(path, size);
	if (rc < 0)
		snprintf(verdict, sizeof(verdict), "not checked: vptrace-analyze cannot be run");
	else if (rc == 1)
		snprintf(verdict, sizeof(verdict), "cannot be read");
	else
		put_verdict(answer, verdict, sizeof(verdict));
	vtr_say("%s: %s, %s", path, size, verdict);
	free(answer);
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

static int has_file(const struct vtr_list *list, long pid)
{
	size_t i;

	for (i = 0; i < list->file_count; i++)
		if (list->files[i].pid == pid)
			return 1;
	return 0;
}

/* Processes that began to record, and of which there is neither a file nor an end: whether they had
 * anything to write is not known. Returns their number. */
static size_t say_lost(const struct vtr_list *list)
{
	const char *flush = getenv("VPTRACE_FLUSH_MS");
	size_t lost = 0, i;
	char more[48] = "";
	long first = 0;

	for (i = list->process_count; i-- > 0;) {
		const struct vtr_traced *t = &list->processes[i];

		if (!t->started || t->ended || t->start_code || has_file(list, t->pid))
			continue;
		first = t->pid;
		lost++;
	}
	if (lost > 1)
		snprintf(more, sizeof(more), " and %zu more", lost - 1);
	if (lost)
		vtr_say("process %ld%s ended without a stop, and had written nothing: at most the "
			"records of its last %s ms (VPTRACE_FLUSH_MS) are missing",
			first, more, flush && *flush ? flush : "1000");
	return lost;
}

static void say_nothing(const struct vtr_list *list)
{
	size_t i;

	if (!list->process_count) {
		vtr_say("nothing was recorded: no process used CUDA or NVTX. If one should have, "
			"check that it was started by this command and inherits its environment, "
			"and run vptrace doctor");
		return;
	}
	if (getenv("VPTRACE_SNAPSHOT_ON")) {
		vtr_say("no file was written: no event of --snapshot-on occurred");
		return;
	}
	for (i = 0; i < list->process_count; i++)
		if (list->processes[i].start_code || list->processes[i].end_code)
			break;
	vtr_say("nothing was recorded: %s", i < list->process_count
						    ? "the tracer failed, see above"
						    : "CUDA or NVTX was loaded, but nothing was "
						      "launched and no range was made");
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

static void show_report(const char *path, const char *analyzer, enum vtr_report report)
{
	char page[PATH_MAX + 8];
	const char *overwrite = getenv("VPTRACE_OVERWRITE");
	const char *const text[] = {
		"vptrace-analyze", "analyze", "--brief", "--no-progress", path, NULL};
	/* Who lets the capture be replaced lets its page be replaced too. */
	const char *const html[] = {"vptrace-analyze", "analyze", "--format", "html",
		"--no-progress", "-o", page, path,
		overwrite && !strcmp(overwrite, "1") ? "--force" : NULL, NULL};
	int rc;

	name_page(path, page, sizeof(page));
	rc = vtr_analyzer_show(analyzer, report == VTR_REPORT_HTML ? html : text);
	if (rc != 0 && rc != 3)
		vtr_say("no report: vptrace-analyze failed on %s", path);
	else if (report == VTR_REPORT_HTML)
		vtr_say("report: %s", page);
}

int vtr_summary_knows_html(const char *analyzer)
{
	const char *const argv[] = {"vptrace-analyze", "analyze", "--help", NULL};
	char *answer = malloc(ANSWER_BYTES);
	int knows = answer && !vtr_analyzer_ask(analyzer, argv, answer, ANSWER_BYTES) &&
		    strstr(answer, "|html");

	free(answer);
	return knows;
}

void vtr_summary(const struct vtr_list *list, const char *analyzer, enum vtr_report report)
{
	size_t i;

	for (i = 0; i < list->file_count; i++)
		say_file(list->files[i].path, analyzer);
	say_processes(list);
	if (say_lost(list) == 0 && !list->file_count)
		say_nothing(list);
	if (report != VTR_REPORT_NONE && largest(list))
		show_report(largest(list), analyzer, report);
}
