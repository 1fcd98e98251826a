/* cmd_check.c - verifies a file. Decodes every chunk, which verifies its zstd checksum, and compares the chunk's header and its
 * row of the contents with its rows.
 *
 * Most captures are complete, and sound_rows.h shows it. As soon as anything is in doubt, check starts again and observes an
 * analysis: it lists damage with its place, then prints the verdict of that analysis, so that both commands agree. */
#include "analysis/analyze.h"
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"
#include "analysis/folds/observer.h"
#include "analysis/join/prefetch.h"
#include "analysis/names/long_names.h"
#include "analysis/trust/completeness.h"
#include "analysis/trust/sound_rows.h"
#include "formats/chunk/chunk.h"
#include "formats/file/contents.h"

#include <string.h>

enum { MEMORY, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[MEMORY] = VPA_MEMORY_OPTION,
};

struct check {
	const char *path;
	const struct vpt_trace *trace;
	struct vpt_out out;
	int is_quiet;  /* only counts */
	int has_names; /* the contents count ranges by name */
	struct vpt_contents_counts listed;
	size_t listed_chunks; /* so far */
	struct vpt_contents_ranges found;
	int is_good;               /* shown without an analysis */
	struct vpa_report *report; /* else its verdict is of interest */
	size_t seen;               /* chunks so far */
	uint64_t events, unknown_sections;
	uint64_t next_sequence;
	size_t damaged, torn, wrong; /* chunks */
	uint64_t missing;
	int gap_explained; /* a damaged place since the last good chunk */
};

#define SAY(c, ...) ((c)->is_quiet ? (void)0 : vpt_out_print(&(c)->out, __VA_ARGS__))

static void report(struct check *c, const char *text)
{
	vpt_out_text(&c->out, text, strlen(text));
	vpt_out_bytes(&c->out, "\n", 1);
}

/* Reports claims of the header that the rows contradict. Sections of a newer version count in the header
 * but cannot be counted here. */
static void compare(
	struct check *c, size_t index, const struct vpt_chunk_info *info, const struct vpt_batch *b)
{
	struct {
		const char *name;
		uint64_t claimed, found;
	} facts[3] = {{"t_min", info->t_min_ns, 0}, {"t_max", info->t_max_ns, 0},
		{"event count", info->event_count, 0}};
	int differs = 0;
	size_t i;

	facts[0].found = b->t_min_ns;
	facts[1].found = b->t_max_ns;
	facts[2].found = b->event_count;
	for (i = 0; i < 3 && !b->unknown_sections; i++)
		if (facts[i].claimed != facts[i].found) {
			SAY(c, "chunk %zu at offset %llu: its header says %s %llu, its rows %llu\n",
				index, (unsigned long long)info->offset, facts[i].name,
				(unsigned long long)facts[i].claimed,
				(unsigned long long)facts[i].found);
			differs = 1;
		}
	c->wrong += (size_t)differs;
}

/* Reports what the file's contents say of a chunk and its rows contradict. What is new in a chunk depends on those before it,
 * which may be damaged. */
static void compare_contents(
	struct check *c, size_t index, const struct vpt_chunk_info *info, const struct vpt_batch *b)
{
	const struct vpt_contents *contents = vpt_reader_contents(vpt_trace_reader(c->trace));
	struct vpt_contents_known known = {0};
	struct vpt_contents_entry found;
	unsigned column;

	if (!contents || b->unknown_sections)
		return;
	vpt_contents_describe(b, &known, &found);
	vpt_contents_known_free(&known);
	for (column = VPT_CONTENTS_FIRST; column < VPT_CONTENTS_COLUMNS; column++) {
		uint64_t listed = contents->items[index].values[column];

		if (column == VPT_CONTENTS_NEWS || listed == found.values[column])
			continue;
		SAY(c,
			"chunk %zu at offset %llu: the contents say %llu in column %u, its rows "
			"%llu\n",
			index, (unsigned long long)info->offset, (unsigned long long)listed,
			vpt_contents_number(column), (unsigned long long)found.values[column]);
		c->wrong++;
		return;
	}
}

/* A sum that differs where names or numbers do. Long names are left out, since the analysis may have cut them. */
static uint64_t weigh(struct vpt_text name, uint64_t rows)
{
	return name.len < VPA_NAME_USUAL ? vpt_hash(name.text, name.len) * rows : 0;
}

/* Reports a chunk of which the contents count other ranges than it has. */
static void compare_ranges(
	struct check *c, size_t index, const struct vpt_chunk_info *info, const struct vpt_batch *b)
{
	uint64_t listed = 0, found = 0;
	size_t i;
	int rc = VPT_OK;

	for (; c->has_names && !rc && c->listed_chunks <= index; c->listed_chunks++)
		rc = vpt_contents_counts_next(&c->listed);
	c->has_names &= !rc;
	vpt_contents_ranges_reset(&c->found);
	if (!c->has_names || vpt_contents_ranges_add(&c->found, b) || c->found.too_many)
		return;
	for (i = 0; i < c->listed.count; i++)
		listed += weigh(c->listed.items[i].name, c->listed.items[i].rows);
	for (i = 0; i < b->strings.count; i++)
		if (c->found.counts[i])
			found += weigh(vpt_strings_get(&b->strings, i), c->found.counts[i]);
	if (listed == found)
		return;
	SAY(c, "chunk %zu at offset %llu: the contents count other ranges than its rows have\n",
		index, (unsigned long long)info->offset);
	c->wrong++;
}

/* Chunks are numbered, so removed chunks leave a hole. */
static void check_sequence(struct check *c, size_t index, const struct vpt_chunk_info *info)
{
	if (!vpt_sequence_follows(vpt_trace_header(c->trace), c->next_sequence, info->sequence) &&
		!c->gap_explained) {
		SAY(c, "chunk %zu at offset %llu: expected number %llu, found %llu\n", index,
			(unsigned long long)info->offset, (unsigned long long)c->next_sequence,
			(unsigned long long)info->sequence);
		c->missing++;
	}
	c->next_sequence = info->sequence + 1;
	c->gap_explained = 0;
}

static int check_whole(void *ctx, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct check *c = ctx;
	const struct vpt_reader *reader = vpt_trace_reader(c->trace);
	size_t index = c->seen++;
	const struct vpt_chunk_info *info = reader ? vpt_reader_info(reader, index) : NULL;
	struct vpt_batch measured = *b;

	(void)times_from_ns;
	if (info)
		vpt_batch_measure(&measured);
	c->unknown_sections += b->unknown_sections;
	if (b->flags & VPT_BATCH_TORN) {
		SAY(c,
			"chunk %zu at offset %llu: torn: the file ends inside it; %u bytes of "
			"content were announced\n",
			index, (unsigned long long)info->offset, info->content_size);
		c->torn++;
	} else if (info) {
		compare(c, index, info, &measured);
		compare_contents(c, index, info, &measured);
		compare_ranges(c, index, info, &measured);
	}
	if (info)
		check_sequence(c, index, info);
	c->events += measured.event_count;
	return VPT_OK;
}

static int list_damage(void *ctx, const char *text)
{
	struct check *c = ctx;

	report(c, text);
	c->seen++;
	c->damaged++;
	c->gap_explained = 1;
	return VPT_OK;
}

static int is_bad(const struct check *c)
{
	return c->damaged || c->torn || c->wrong || c->missing;
}

/* Leaves reasons that cost nothing to the report. */
static void list_missing(struct check *c)
{
	const struct vpa_verdict *v = &c->report->verdict;
	size_t i;

	for (i = 0; i < v->reason_count && !v->complete; i++) {
		vpt_out_text(&c->out, v->reasons[i], strlen(v->reasons[i]));
		if (v->remedies[i])
			vpt_out_print(&c->out, ": %s", v->remedies[i]);
		vpt_out_print(&c->out, "\n");
	}
}

static const char *word_of(const struct check *c, int bad)
{
	if (bad)
		return "damaged";
	return c->is_good || c->report->verdict.complete ? "good" : "incomplete";
}

static void summarize_capture(struct check *c, int bad)
{
	size_t count = vpt_trace_chunks(c->trace);
	int header = vpt_reader_header_damaged(vpt_trace_reader(c->trace));

	if (c->unknown_sections)
		vpt_out_print(&c->out, "%llu sections of a newer format version were not checked\n",
			(unsigned long long)c->unknown_sections);
	vpt_out_text(&c->out, c->path, strlen(c->path));
	vpt_out_print(&c->out,
		": %s: %zu chunks, %llu events; %zu damaged, %zu torn, %zu with a wrong header, "
		"%llu out of sequence%s\n",
		word_of(c, bad || header), count, (unsigned long long)c->events, c->damaged,
		c->torn, c->wrong, (unsigned long long)c->missing,
		header ? ", file header damaged" : "");
}

static void summarize_import(struct check *c)
{
	const struct vpt_import_stats *s = vpt_trace_import_stats(c->trace);

	vpt_out_text(&c->out, c->path, strlen(c->path));
	vpt_out_print(&c->out,
		": %s: %s trace, %llu records, %llu events; %llu skipped, %llu of an unknown "
		"category, %llu malformed, %llu unreadable\n",
		s->truncated ? "truncated" : word_of(c, 0), vpt_trace_format_name(c->trace),
		(unsigned long long)s->events, (unsigned long long)c->events,
		(unsigned long long)s->skipped, (unsigned long long)s->unknown_category,
		(unsigned long long)s->malformed, (unsigned long long)s->unreadable);
}

static void begin_comparing(struct check *c)
{
	const struct vpt_reader *reader = vpt_trace_reader(c->trace);
	const struct vpt_contents *contents = reader ? vpt_reader_contents(reader) : NULL;

	c->has_names = contents && !vpt_contents_counts_begin(&c->listed, contents);
}

static void end_comparing(struct check *c)
{
	vpt_contents_counts_end(&c->listed);
	vpt_contents_ranges_free(&c->found);
}

/* ---- without an analysis ---- */

/* What is known of a capture in which nothing is in doubt so far. */
struct look {
	struct check *check;
	struct vpa_completeness reading;
	struct vpa_sound *sound;
};

/* A chunk that is no worse than good. */
static int look_at_chunk(struct look *l, size_t index, struct vpt_batch *b)
{
	int rc = vpt_chunk_unpack(b);

	if (!rc)
		rc = vpa_completeness_chunk(&l->reading, index, b);
	if (!rc)
		rc = vpa_sound_chunk(l->sound, b);
	if (!rc)
		rc = check_whole(l->check, b, 0);
	return rc ? rc : is_bad(l->check) ? VPT_END : VPT_OK;
}

/* Ends with VPT_END where something is in doubt. */
static int look_at_chunks(struct look *l, struct vpa_prefetch *chunks)
{
	size_t i, count = vpt_trace_chunks(l->check->trace);
	struct vpt_batch *b;
	int rc = VPT_OK;

	for (i = 0; i < count && !rc; i++) {
		rc = vpa_prefetch_next(chunks, &b, NULL);
		if (!rc)
			rc = look_at_chunk(l, i, b);
	}
	if (!rc)
		rc = vpa_completeness_end(&l->reading);
	if (rc)
		return rc;
	return vpa_sound_end(l->sound, &l->reading) ? VPT_OK : VPT_END;
}

/* Shows that a capture is good, or leaves it to the analysis, as whatever fails here. */
static void look_at_capture(struct check *c)
{
	struct check quiet = {.trace = c->trace, .is_quiet = 1};
	struct look l = {.check = &quiet, .sound = vpa_sound_new(c->trace)};
	struct vpa_prefetch *chunks = NULL;

	begin_comparing(&quiet);
	vpa_completeness_begin(&l.reading, c->trace);
	if (l.sound && !vpa_prefetch_start(c->trace, NULL, 0, 0, &chunks, NULL) &&
		!look_at_chunks(&l, chunks)) {
		c->is_good = 1;
		c->events = quiet.events;
	}
	vpa_prefetch_stop(chunks);
	end_comparing(&quiet);
	vpa_completeness_free(&l.reading);
	vpa_sound_free(l.sound);
}

/* ---- the command ---- */

static int check_trace(struct check *c, int *bad, struct vpt_err *err)
{
	const struct vpa_observer observer = {
		.ctx = c, .chunk = check_whole, .damage = list_damage};
	const struct vpa_options analysis = {.observer = &observer};
	int rc = VPT_OK, failed;

	if (vpt_trace_reader(c->trace))
		look_at_capture(c);
	begin_comparing(c);
	if (!c->is_good)
		rc = vpa_analyze(c->trace, c->path, &analysis, &c->report, err);
	end_comparing(c);
	*bad = is_bad(c);
	if (!rc && !c->is_good)
		list_missing(c);
	if (!rc && vpt_trace_reader(c->trace))
		summarize_capture(c, *bad);
	else if (!rc)
		summarize_import(c);
	*bad |= !rc && !c->is_good && !c->report->verdict.complete;
	failed = vpt_out_close(&c->out, 1, rc ? NULL : err);
	return rc ? rc : failed;
}

static int run(const struct vpt_args *args)
{
	struct check c = {.path = vpa_input_name(args->operands[0])};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	int rc, bad = 0;

	rc = vpt_trace_open(args->operands[0], &trace, &err);
	if (rc)
		goto out;
	c.trace = trace;
	rc = vpt_out_open(&c.out, "-", 0, &err);
	if (!rc)
		rc = check_trace(&c, &bad, &err);
out:
	vpa_report_free(c.report);
	vpt_trace_close(trace);
	if (rc)
		return vpa_failed(&err);
	return bad ? VPT_EXIT_DAMAGED : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_check = {
	.program = VPA_PROGRAM,
	.name = "check",
	.usage = "FILE [options]",
	.help = "decode everything and list what is damaged",
	.about = "Exit code 0: the file is complete; 3: something is damaged, torn or missing.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.run = run,
};
