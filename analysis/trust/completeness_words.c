/* completeness_words.c - says what a file lacks, and what to do about it. What the analysis finds: verdict_reasons.c.
 *
 * A sentence says what is missing; a remedy names the variable and the value that would have
 * avoided it. Only recordings by our tracer or Nsight Systems get remedies: other tools' options
 * are not known here. */
#include "analysis/base/numbers.h"
#include "analysis/trust/completeness.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How much longer than usual a flush may take on a busy machine. */
enum { SLOW_NS = 1000000000 };

struct judging {
	const struct vpa_completeness *n;
	void (*say)(void *ctx, const struct vpa_remark *remark);
	void *ctx;
	int complete;
};

VPT_PRINTF(4, 5)
static void say(struct judging *j, int is_missing, const char *remedy, const char *fmt, ...)
{
	struct vpa_remark r = {.is_missing = is_missing};
	va_list args;

	va_start(args, fmt);
	if (vsnprintf(r.text, sizeof(r.text), fmt, args) < 0)
		r.text[0] = '\0';
	va_end(args);
	snprintf(r.remedy, sizeof(r.remedy), "%s", remedy);
	j->complete &= !is_missing;
	if (j->say)
		j->say(j->ctx, &r);
}

/* Counts that need only a sentence; "%" is replaced by the number. */
static const struct {
	enum vpa_completeness_count count;
	const char *one, *many, *remedy;
} sentences[] = {
	{VPA_READING_START,
		"the file's header gives a start after all of its events: the first event's time "
		"is used",
		"the file's header gives a start after all of its events: the first event's time "
		"is used",
		""},
	{VPA_READING_CUT_OUT, "a chunk is missing from the middle of the file",
		"chunks are missing from the middle of the file in % places", ""},
	{VPA_READING_WRONG, "a chunk does not hold the events that its header counts",
		"% chunks do not hold the events that their headers count", ""},
	{VPA_READING_TORN, "the file ends inside a chunk: its complete part is used",
		"chunks end early in % places: their complete parts are used",
		"if a copy truncated the file, copy it again"},
	{VPA_READING_NEWER, "a required section of a newer format version was left out",
		"% required sections of a newer format version were left out",
		"use a newer vptrace-analyze"},
	{VPA_READING_TRUNCATED,
		"the file ends in the middle or is damaged: events after that point are missing",
		"the file ends in the middle or is damaged: events after that point are missing",
		"if a copy truncated the file, copy it again; else export it again"},
	{VPA_READING_INTERRUPTED,
		"a change of the file was never finished (a journal stands beside it): it was read "
		"as it was before, and what the change was to add is missing",
		"a change of the file was never finished (a journal stands beside it): it was read "
		"as it was before, and what the change was to add is missing",
		"let nsys export finish, or export again with nsys export --type sqlite"},
	{VPA_READING_MALFORMED,
		"1 malformed event was left out: it lacks a time, a duration, a name or a number",
		"% malformed events were left out: they lack a time, a duration, a name or a "
		"number",
		""},
	{VPA_READING_VIEWS, "a table of the export is an SQL view, which is not read",
		"% tables of the export are SQL views, which are not read",
		"export again with nsys export --type sqlite, or convert them to tables"},
	{VPA_READING_TOO_LONG,
		"a table of the export has a text or row longer than 16 MiB: it and the rows "
		"after it are missing",
		"% tables of the export have a text or row longer than 16 MiB: they and the rows "
		"after them are missing",
		"delete or shorten those rows"},
	{VPA_READING_ANOTHER_GZIP,
		"the gzip data ends, and after zeros another gzip follows, which was ignored",
		"the gzip data ends, and after zeros another gzip follows, which was ignored",
		"if it belongs to the trace, unpack both and join them"},
	{VPA_READING_UNCLEAR,
		"1 operation may have been launched by any of several processes: what the GPU "
		"waited for before it is unknown",
		"% operations may have been launched by any of several processes: what the GPU "
		"waited for before them is unknown",
		"analyze the file of each process by itself"},
	{VPA_READING_TOO_LONG_OPS,
		"1 operation lasts over several later ones of the same stream, which cannot be: it "
		"was cut where the next one begins",
		"% operations last over several later ones of the same stream, which cannot be: "
		"they were cut where the next one begins",
		""},
	{VPA_READING_FAR, "1 event was left out: its time is an hour or more away from all others",
		"% events were left out: their times are an hour or more away from all others", ""},
	{VPA_READING_MIXED,
		"1 operation was left out: the file does not say which of several processes it is "
		"of",
		"% operations were left out: the file does not say which of several processes they "
		"are of",
		"analyze the file of each process by itself"},
	{VPA_READING_PARTS,
		"records are missing from 1 of the traces that were merged into this file",
		"records are missing from % of the traces that were merged into this file",
		"report each of them by itself to see which, and why"},
};

static void judge_counts(struct judging *j)
{
	char text[240];
	size_t i;

	for (i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		uint64_t count = j->n->counts[sentences[i].count];
		const char *words = count == 1 ? sentences[i].one : sentences[i].many;
		const char *number = strchr(words, '%');

		if (!count)
			continue;
		if (number)
			snprintf(text, sizeof(text), "%.*s%" PRIu64 "%s", (int)(number - words),
				words, count, number + 1);
		else
			snprintf(text, sizeof(text), "%s", words);
		say(j, 1, sentences[i].remedy, "%s", text);
	}
}

static void judge_damage(struct judging *j)
{
	const struct vpa_completeness *n = j->n;
	uint64_t damaged = n->counts[VPA_READING_DAMAGED],
		 unreadable = n->counts[VPA_READING_UNREADABLE];

	if (n->counts[VPA_READING_HEADER])
		say(j, 1, "", "the file's header is damaged: start, process and clock are unknown");
	if (damaged)
		say(j, 1, "", "%" PRIu64 " damaged chunk%s left out (%s)", damaged,
			vpa_plural(damaged), n->first_damage);
	if (unreadable)
		say(j, 1, "", "%" PRIu64 " event%s no valid JSON and left out (%s%s)", unreadable,
			unreadable == 1 ? " is" : "s are",
			unreadable == 1 ? "" : "first: ", n->first_damage);
	if (n->after_gzip_bytes)
		say(j, 0, "", "%" PRIu64 " bytes that follow the end of the gzip data were ignored",
			n->after_gzip_bytes);
	judge_counts(j);
}

static void judge_unmatched(struct judging *j)
{
	uint64_t count = j->n->unmatched;

	if (count)
		say(j, 1,
			"end each range in a finally clause or by a context manager, so that an "
			"exception does not skip its pop",
			"%" PRIu64 " unmatched push%s: more than 256 ranges were open on a thread, "
			"so the oldest were ended early; the others are complete",
			count, vpa_plural_es(count));
}

/* Events of unknown categories do not matter as long as GPU work is among the others. */
static void judge_unknown(struct judging *j)
{
	uint64_t unknown = j->n->counts[VPA_READING_UNKNOWN];
	const char *names = j->n->unknown_names;

	if (unknown)
		say(j, !j->n->ops, "", "%" PRIu64 " event%s of unknown categories left out%s%s%s%s",
			unknown, vpa_plural(unknown), names[0] ? " (" : "", names,
			names[0] ? ")" : "",
			j->n->ops ? "" : ", and the others include no GPU work");
}

/* Ranks that each see one GPU all call it GPU 0. */
static void judge_gpus(struct judging *j)
{
	if (j->n->gpus[0])
		say(j, 0, "", "processes call different GPUs by one number: here %s", j->n->gpus);
}

static void judge_end(struct judging *j)
{
	if (j->n->is_recorded)
		say(j, 1, "wait for the end of the program, or call vptrace_stop()",
			"the capture is still being recorded: records of the last moments are not "
			"in the file yet");
	else if (j->n->counts[VPA_READING_END])
		say(j, 1,
			"let the program exit normally or call vptrace_stop(); check for free disk "
			"space",
			"the capture ends without a stop: its process exited or was killed, or the "
			"file could no longer be written; later records are missing");
}

/* Suggests twice the limit that was too low. */
static void memory_remedy(const struct vpa_completeness *n, char *out, size_t size)
{
	uint64_t mib = n->memory_limit_bytes ? n->memory_limit_bytes >> 20 : 256;

	snprintf(out, size, "record with VPTRACE_MEMORY=%" PRIu64 "M (%s %" PRIu64 "M)", mib * 2,
		n->memory_limit_bytes ? "it was" : "the default is", mib);
}

static void judge_losses(struct judging *j)
{
	const struct vpa_completeness *n = j->n;
	uint64_t dropped = n->has_stats ? n->dropped : n->header_lost;
	uint64_t lost =
		vpt_sat_sub(dropped > n->lost_events ? dropped : n->lost_events, n->refused);
	char remedy[160] = "";

	if (!lost && n->losses == n->losses_by_kind[VPT_LOSSKIND_REFUSED])
		return;
	if (!n->is_tracers) {
		/* Their options are not known here. */
	} else if (n->losses_by_kind[VPT_LOSSKIND_UNKNOWN] && !lost && !n->taken[0] &&
		   !n->failure[0]) {
		snprintf(remedy, sizeof(remedy), "let vptrace_stop() wait: VPTRACE_STOP_MS=60000");
	} else if (n->losses_by_kind[VPT_LOSSKIND_DROPPED] ||
		   n->losses_by_kind[VPT_LOSSKIND_RING_FULL] || lost) {
		memory_remedy(n, remedy, sizeof(remedy));
	}
	if (lost)
		say(j, 1, remedy, "%" PRIu64 " record%s lost while recording", lost,
			vpa_plural(lost));
	else
		say(j, 1, remedy,
			"records are missing for parts of the window; their number is unknown");
}

/* Since when GPU work may be missing at the end of a flight recorder's file, as a span; 0: none is. */
static uint64_t missing_at_end(const struct vpa_completeness *n)
{
	uint64_t from_ns = n->undelivered_ns ? n->undelivered_ns : n->complete_until_ns;

	return n->ring[0] && from_ns && from_ns < n->newest_ns ? n->newest_ns - from_ns : 0;
}

/* Whether it is missing. Of a process that has died, what came after the tracer's last flush is. */
static int is_missing_at_end(const struct vpa_completeness *n)
{
	int has_died = n->ring_cause == VPA_RING_DEATH || n->ring_cause == VPA_RING_LEAVE;
	uint64_t flush_ns = (n->flush_ms ? n->flush_ms : VPA_READING_FLUSH_MS) * 1000000;

	return n->undelivered_ns || (has_died && missing_at_end(n) > 2 * flush_ns + SLOW_NS);
}

static void judge_undelivered(struct judging *j)
{
	const struct vpa_completeness *n = j->n;

	if (is_missing_at_end(n))
		say(j, 1,
			n->undelivered_ns ? "take it, or make its mark, after a synchronization of "
					    "the device"
					  : "",
			"GPU work of its last %s is missing: it had not been delivered when the "
			"file was written",
			vpa_duration(missing_at_end(n)).text);
}

static void judge_unfinished(struct judging *j)
{
	uint64_t count = j->n->unfinished;

	if (count)
		say(j, 1,
			"synchronize the device before vptrace_stop(), leave VPTRACE_SYNC on, or "
			"let it wait longer with VPTRACE_STOP_MS",
			"%" PRIu64
			" operation%s not ended when recording stopped: %s times are unknown",
			count, count == 1 ? " had" : "s had", count == 1 ? "its" : "their");
}

static void judge_refused(struct judging *j)
{
	uint64_t count = j->n->refused;

	if (count)
		say(j, 1, "raise --max-bytes",
			"%" PRIu64 " record%s no room in the file: launched or begun before it "
			"was full",
			count, count == 1 ? " had" : "s had");
}

static void judge_cupti(struct judging *j)
{
	const struct vpa_completeness *n = j->n;

	if (n->failure[0])
		say(j, 1, "", "GPU work is missing from some point on: %s", n->failure);
	if (n->taken[0])
		say(j, 1, "do not use torch.profiler and vptrace at the same time",
			"GPU work is missing for a time: %s", n->taken);
	if (n->unavailable[0] && !n->ops)
		say(j, 1, "", "recording of GPU work was refused: %s", n->unavailable);
}

/* A limit that was asked for is no loss. */
static void judge_window(struct judging *j)
{
	static const char *const limits[] = {[VPA_END_DURATION] = "--duration",
		[VPA_END_MAX_BYTES] = "--max-bytes",
		[VPA_END_WINDOW] = "--capture: its last window has closed"};
	uint64_t missed = j->n->windows_missed;

	if (j->n->ended != VPA_END_NO_LIMIT)
		say(j, 0, "", "ended by %s", limits[j->n->ended]);
	if (j->n->queued)
		say(j, 0, "",
			"%" PRIu64 " operation%s launched before the end and ran after it: no part "
			"of the recording",
			j->n->queued, j->n->queued == 1 ? " was" : "s were");
	if (missed)
		say(j, 1, "choose a range that is longer, or opens less often",
			"%" PRIu64 " window%s not recorded: they opened faster than they could be "
			"written",
			missed, missed == 1 ? " was" : "s were");
}

/* Why a flight recorder was written, as the end of a sentence. */
static void describe_cause(const struct vpa_completeness *n, char *out, size_t size)
{
	static const char *const known[] = {[VPA_RING_UNSAID] = "on request",
		[VPA_RING_REQUEST] = "on request",
		[VPA_RING_END] = "at the end",
		[VPA_RING_DEATH] = "after the process had died",
		[VPA_RING_LEAVE] = "by vptrace run, which ended before the process"};

	if (n->ring_cause == VPA_RING_MARK)
		snprintf(out, size, "on %s", n->ring_mark);
	else
		snprintf(out, size, "%s", known[n->ring_cause]);
}

/* What a flight recorder has dropped it was asked to drop. */
static void judge_ring(struct judging *j)
{
	const struct vpa_completeness *n = j->n;
	char when[sizeof(n->ring_mark) + 4];
	uint64_t start_ns = vpt_trace_start(n->trace);

	if (!n->ring[0])
		return;
	describe_cause(n, when, sizeof(when));
	say(j, 0, "", "the last %s of a longer run (flight recorder of %s, written %s)",
		vpa_duration(vpt_sat_sub(n->newest_ns, start_ns)).text, n->ring, when);
	if (missing_at_end(n) && !is_missing_at_end(n))
		say(j, 0, "", "GPU work of its last %s may be missing",
			vpa_duration(missing_at_end(n)).text);
}

/* What another tool did not record, or says of its own records. */
static void judge_tool(struct judging *j)
{
	const struct vpa_completeness *n = j->n;
	const char *said = n->warning[0] ? n->warning : n->ops ? "" : n->doubt;

	if (said[0])
		say(j, 0, "", "the tool that recorded says: \"%s\"", said);
	if (n->whole_graphs)
		say(j, 0, "record with nsys profile --cuda-graph-trace=node",
			"%" PRIu64 " launch%s of CUDA graphs %s recorded as a whole: %s exact, the "
			"kernels inside are unknown",
			n->whole_graphs, vpa_plural_es(n->whole_graphs),
			n->whole_graphs == 1 ? "is" : "are",
			n->whole_graphs == 1 ? "its times are" : "their times are");
	if (n->unnamed)
		say(j, 0, "", "%" PRIu64 " event%s no name in the file", n->unnamed,
			n->unnamed == 1 ? " has" : "s have");
}

int vpa_completeness_judge(const struct vpa_completeness *n,
	void (*say_remark)(void *ctx, const struct vpa_remark *remark), void *ctx)
{
	struct judging j = {n, say_remark, ctx, 1};

	judge_cupti(&j);
	judge_damage(&j);
	judge_end(&j);
	judge_losses(&j);
	judge_unmatched(&j);
	judge_unfinished(&j);
	judge_refused(&j);
	judge_undelivered(&j);
	judge_tool(&j);
	judge_unknown(&j);
	judge_gpus(&j);
	judge_window(&j);
	judge_ring(&j);
	return j.complete;
}
