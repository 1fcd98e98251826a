/* completeness.c - whether the trace is complete. Chunks show it by their numbers, their LOSS, STATS and
 * META rows, and the last one by its mark; an importer by its counts.
 *
 * An unreadable place is bounded by its neighbours. Records come in the chunk in which they end, at
 * most one chunk late. So what is missing began after the chunk before it did, and ended before the
 * chunk after it does. If the end is missing, everything older than a flush of the tracer is
 * there. */
#include "analysis/trust/completeness.h"

#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/clocks.h"
#include "formats/file/contents.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum vpt_metadata facts[VPA_READING_COUNT] = {
#define FACT(NAME, name) [VPA_READING_##NAME] = VPT_METADATA_MISSING_##NAME,
	VPA_READING_COUNTS(FACT)
#undef FACT
};

static const char prefix[] = "missing.";

/* ---- unreadable places ---- */

static void begin_damage(struct vpa_completeness *n)
{
	if (!n->in_damage)
		n->lost_from_ns = n->previous_ns;
	n->in_damage = 1;
}

/* No row lies between the newest one and those of the chunks from `index` on. */
static void set_hole(struct vpa_completeness *n, size_t index)
{
	uint64_t until_ns = vpt_trace_times_from(n->trace, index);

	n->holes++;
	if (!n->in_damage)
		n->hole.start_ns = n->newest_ns;
	if (!n->newest_ns || until_ns == UINT64_MAX)
		n->hole.start_ns = n->hole.end_ns = n->newest_ns ? n->newest_ns : until_ns;
	else
		n->hole.end_ns = until_ns > n->hole.start_ns ? until_ns : n->hole.start_ns;
}

int vpa_completeness_damage(struct vpa_completeness *n, size_t index, const char *text)
{
	if (!n->counts[VPA_READING_DAMAGED]++)
		snprintf(n->first_damage, sizeof(n->first_damage), "%s", text);
	set_hole(n, index + 1);
	begin_damage(n);
	n->has_end = 0;
	return VPT_OK;
}

/* Chunks are numbered: removed chunks leave a gap in the numbers. */
static void check_sequence(struct vpa_completeness *n, size_t index)
{
	const struct vpt_reader *reader = vpt_trace_reader(n->trace);
	const struct vpt_chunk_info *info = reader ? vpt_reader_info(reader, index) : NULL;

	if (!info)
		return;
	if (!vpt_sequence_follows(vpt_trace_header(n->trace), n->next_sequence, info->sequence) &&
		!n->in_damage) {
		n->counts[VPA_READING_CUT_OUT]++;
		set_hole(n, index);
		begin_damage(n);
	}
	n->next_sequence = info->sequence + 1;
}

/* ---- rows ---- */

static int take_losses(struct vpa_completeness *n, const struct vpt_section *s)
{
	uint32_t row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t kind = s->col[VPT_LOSS_LOSS_KIND][row];
		uint64_t start = s->col[VPT_LOSS_START][row];
		uint64_t length = s->col[VPT_LOSS_DURATION][row];

		if (kind == VPT_LOSSKIND_PAUSED || kind == VPT_LOSSKIND_CAP)
			continue;
		if (kind == VPT_LOSSKIND_UNREADABLE) {
			begin_damage(n);
			continue;
		}
		if (kind == VPT_LOSSKIND_UNFINISHED) { /* the rows exist, without times */
			n->unfinished += s->col[VPT_LOSS_COUNT][row];
		} else if (kind == VPT_LOSSKIND_UNDELIVERED) {
			n->undelivered_ns = start;
		} else {
			n->losses++;
			n->losses_by_kind[kind < VPA_READING_LOSSES ? kind : 0]++;
			vpt_sat_add_to(&n->lost_events, s->col[VPT_LOSS_COUNT][row]);
			if (kind == VPT_LOSSKIND_REFUSED)
				vpt_sat_add_to(&n->refused, s->col[VPT_LOSS_COUNT][row]);
		}
		if (length ? vpa_intervals_add(&n->lost, start, start + length)
			   : vpa_intervals_add(&n->lost, 0, UINT64_MAX))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

static void take_stats(struct vpa_completeness *n, const struct vpt_section *s)
{
	uint32_t row;

	n->has_stats = 1;
	n->received = n->dropped = n->invalid = 0;
	for (row = 0; row < s->row_count; row++) {
		/* a row for the whole capture: the others are its parts */
		if (!s->col[VPT_STATS_LANE][row])
			n->received = n->dropped = n->invalid = 0;
		n->received += s->col[VPT_STATS_RECEIVED][row];
		n->dropped += s->col[VPT_STATS_DROPPED][row];
		n->invalid += s->col[VPT_STATS_INVALID][row];
		if (!s->col[VPT_STATS_LANE][row])
			return;
	}
}

/* ---- META rows ---- */

enum meta_form {
	TEXT,   /* cut to the member's size */
	NUMBER, /* uint64_t */
	MARK,   /* int: 1 where there is such a row */
	PROFILE,
	ENDED,
	RING_CAUSE
};

#define AT(m)    offsetof(struct vpa_completeness, m)
#define WORDS(m) TEXT, AT(m), sizeof(((struct vpa_completeness *)0)->m)

static const struct meta {
	enum vpt_metadata fact;
	enum meta_form form;
	size_t at, size;
} metas[] = {
	{VPT_METADATA_TRACER, MARK, AT(is_tracers), 0},
	{VPT_METADATA_PROFILE, PROFILE, 0, 0},
	{VPT_METADATA_CUPTI_UNAVAILABLE, WORDS(unavailable)},
	{VPT_METADATA_CUPTI_FAILURE, WORDS(failure)},
	{VPT_METADATA_CUPTI_TAKEN, WORDS(taken)},
	{VPT_METADATA_PROCESSES_GPUS, WORDS(gpus)},
	{VPT_METADATA_TOOL_WARNING, WORDS(warning)},
	{VPT_METADATA_TOOL_DOUBT, WORDS(doubt)},
	{VPT_METADATA_CLOCK_FROM_ZERO, MARK, AT(zero_is_time), 0},
	{VPT_METADATA_CLOCK_DISAGREES, NUMBER, AT(clocks_disagree_ns), 0},
	{VPT_METADATA_GRAPHS_WHOLE, NUMBER, AT(whole_graphs), 0},
	{VPT_METADATA_EVENTS_UNNAMED, NUMBER, AT(unnamed), 0},
	{VPT_METADATA_CAPTURE_ENDED, ENDED, 0, 0},
	{VPT_METADATA_RING, WORDS(ring)},
	{VPT_METADATA_RING_CAUSE, RING_CAUSE, 0, 0},
	{VPT_METADATA_RING_COMPLETE, NUMBER, AT(complete_until_ns), 0},
	{VPT_METADATA_WINDOWS_MISSED, NUMBER, AT(windows_missed), 0},
	{VPT_METADATA_RANGES_UNMATCHED, NUMBER, AT(unmatched), 0},
	{VPT_METADATA_CAPTURE_QUEUED, NUMBER, AT(queued), 0},
	{VPT_METADATA_MEMORY_LIMIT, NUMBER, AT(memory_limit_bytes), 0},
	{VPT_METADATA_FLUSH, NUMBER, AT(flush_ms), 0},
	{VPT_METADATA_MISSING_FIRST_DAMAGE, WORDS(first_damage)},
	{VPT_METADATA_MISSING_CATEGORIES, WORDS(unknown_names)},
};

/* The number of a word, from 0; `count`: it is none of them. */
static unsigned word_of(const char *text, const char *const *words, unsigned count)
{
	unsigned i;

	for (i = 0; i < count && strcmp(text, words[i]) != 0; i++)
		;
	return i;
}

static enum vpa_capture_end end_of(const char *text)
{
	static const char *const words[] = {[VPA_END_NO_LIMIT] = "",
		[VPA_END_DURATION] = VPT_CAPTURE_DURATION,
		[VPA_END_MAX_BYTES] = VPT_CAPTURE_MAX_BYTES,
		[VPA_END_WINDOW] = VPT_CAPTURE_WINDOW};
	unsigned end = word_of(text, words, COUNT(words));

	return end < COUNT(words) ? (enum vpa_capture_end)end : VPA_END_NO_LIMIT;
}

static enum vpa_ring_cause ring_cause_of(const char *text)
{
	static const char *const words[] = {[VPA_RING_UNSAID] = "",
		[VPA_RING_REQUEST] = VPT_RING_REQUEST,
		[VPA_RING_END] = VPT_RING_END,
		[VPA_RING_DEATH] = VPT_RING_DEATH,
		[VPA_RING_LEAVE] = VPT_RING_LEAVE};

	return (enum vpa_ring_cause)word_of(text, words, COUNT(words));
}

static void take_value(struct vpa_completeness *n, const struct meta *m, const char *text)
{
	char *at = (char *)n + m->at;

	switch (m->form) {
	case TEXT:
		snprintf(at, m->size, "%s", text);
		break;
	case NUMBER:
		*(uint64_t *)(void *)at = strtoull(text, NULL, 10);
		break;
	case MARK:
		*(int *)(void *)at = 1;
		break;
	case PROFILE:
		n->is_ranges_only = !strcmp(text, VPT_PROFILE_NONE);
		break;
	case ENDED:
		n->ended = end_of(text);
		break;
	case RING_CAUSE:
		n->ring_cause = ring_cause_of(text);
		snprintf(n->ring_mark, sizeof(n->ring_mark), "%.255s", text);
		break;
	}
}

static void take_meta(struct vpa_completeness *n, struct vpt_text key, struct vpt_text value)
{
	char text[VPA_READING_TEXT];
	size_t i;

	snprintf(
		text, sizeof(text), "%.*s", (int)(value.len < 4096 ? value.len : 4096), value.text);
	for (i = 0; i < COUNT(metas); i++)
		if (vpt_text_is(key, vpt_metadata_key(metas[i].fact)))
			take_value(n, &metas[i], text);
	for (i = 0; i < VPA_READING_COUNT; i++) {
		uint64_t count;

		if (!vpt_text_is(key, vpt_metadata_key(facts[i])))
			continue;
		count = strtoull(text, NULL, 10);
		n->counts[i] += count - n->carried[i];
		n->carried[i] = count;
	}
}

/* ---- chunks ---- */

static int take_section(
	struct vpa_completeness *n, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t row;

	switch (s->kind) {
	case VPT_LOSS:
		return take_losses(n, s);
	case VPT_STATS:
		take_stats(n, s);
		return VPT_OK;
	case VPT_META:
		for (row = 0; row < s->row_count; row++)
			take_meta(n, vpt_batch_text(b, s->col[VPT_META_KEY][row]),
				vpt_batch_text(b, s->col[VPT_META_VALUE][row]));
		return VPT_OK;
	default:
		n->ops += s->kind == VPT_KERNEL || s->kind == VPT_COPY ? s->row_count : 0;
		return VPT_OK;
	}
}

/* Rows of events, without LOSS and SAMPLE, which are no records; `*all` includes them. */
static uint64_t count_rows(const struct vpt_batch *b, uint64_t *all)
{
	uint64_t rows = 0;
	size_t i;

	*all = 0;
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (!(vpt_kind_desc(s->kind)->flags & VPT_KIND_EVENT))
			continue;
		*all += s->row_count;
		rows += s->kind == VPT_LOSS || s->kind == VPT_SAMPLE ? 0 : s->row_count;
	}
	return rows;
}

/* ---- the reading ---- */

void vpa_completeness_begin(struct vpa_completeness *n, const struct vpt_trace *trace)
{
	const struct vpt_import_stats *s = vpt_trace_import_stats(trace);
	const struct vpt_reader *reader = vpt_trace_reader(trace);

	*n = (struct vpa_completeness){.trace = trace, .newest_ns = vpt_trace_start(trace)};
	n->counts[VPA_READING_START] = vpt_trace_start_is_doubted(trace) != 0;
	n->counts[VPA_READING_HEADER] = reader && vpt_reader_header_damaged(reader);
	if (!s)
		return;
	n->counts[VPA_READING_TRUNCATED] = s->truncated != 0;
	n->counts[VPA_READING_INTERRUPTED] = s->interrupted != 0;
	n->counts[VPA_READING_MALFORMED] = s->malformed;
	n->counts[VPA_READING_UNKNOWN] = s->unknown_category;
	snprintf(n->unknown_names, sizeof(n->unknown_names), "%s", s->unknown_names);
	n->counts[VPA_READING_VIEWS] = s->views;
	n->counts[VPA_READING_TOO_LONG] = s->too_long;
	n->counts[VPA_READING_UNREADABLE] = s->unreadable;
	snprintf(n->first_damage, sizeof(n->first_damage), "%s", s->first_unreadable);
	n->counts[VPA_READING_ANOTHER_GZIP] = s->another_gzip != 0;
	n->after_gzip_bytes = s->another_gzip ? 0 : s->after_gzip;
	n->counts[VPA_READING_UNCLEAR] = s->doubts.unclear_ops;
	n->counts[VPA_READING_MIXED] = s->doubts.mixed_ops;
	n->counts[VPA_READING_FAR] = s->doubts.far_rows;
	n->counts[VPA_READING_TOO_LONG_OPS] = s->doubts.cut_ops;
}

/* Rows after damage say until when records may be missing. */
static int end_damage(struct vpa_completeness *n, uint64_t rows, uint64_t t_max_ns)
{
	int rc = VPT_OK;

	if (rows && n->in_damage) {
		rc = vpa_intervals_add(&n->lost, n->lost_from_ns, t_max_ns);
		n->in_damage = 0;
	}
	return rc;
}

static void count_chunk(struct vpa_completeness *n, uint64_t rows, uint64_t t_min_ns,
	uint64_t t_max_ns, uint64_t lost)
{
	n->rows += rows;
	n->header_lost += lost;
	if (rows && t_min_ns != UINT64_MAX)
		n->previous_ns = t_min_ns;
	if (t_max_ns > n->newest_ns)
		n->newest_ns = t_max_ns;
}

int vpa_completeness_chunk(struct vpa_completeness *n, size_t index, const struct vpt_batch *b)
{
	int is_torn = (b->flags & VPT_BATCH_TORN) != 0, rc;
	uint64_t all, rows = count_rows(b, &all);
	size_t i;

	check_sequence(n, index);
	rc = end_damage(n, rows, b->t_max_ns);
	for (i = 0; i < b->section_count && !rc; i++)
		rc = take_section(n, b, &b->sections[i]);
	count_chunk(n, rows, b->t_min_ns, b->t_max_ns, b->lost_events);
	n->unknown_sections += b->unknown_sections;
	n->counts[VPA_READING_NEWER] += b->skipped_critical;
	n->counts[VPA_READING_TORN] += (uint64_t)is_torn;
	n->counts[VPA_READING_WRONG] += !is_torn && !b->unknown_sections && all != b->event_count;
	if (is_torn)
		begin_damage(n);
	n->has_end = !is_torn && b->flags & VPT_BATCH_LAST;
	return rc;
}

int vpa_completeness_left(struct vpa_completeness *n, size_t index, const uint64_t *values)
{
	const uint64_t *of_kind = values + VPT_CONTENTS_ROWS;
	uint64_t rows = values[VPT_CONTENTS_EVENTS] - of_kind[VPT_LOSS] - of_kind[VPT_SAMPLE];
	int rc;

	check_sequence(n, index);
	rc = end_damage(n, rows, values[VPT_CONTENTS_T_MAX]);
	n->ops += of_kind[VPT_KERNEL] + of_kind[VPT_COPY];
	count_chunk(n, rows, values[VPT_CONTENTS_T_MIN], values[VPT_CONTENTS_T_MAX],
		values[VPT_CONTENTS_LOST]);
	n->has_end = (values[VPT_CONTENTS_FLAGS] & VPT_BATCH_LAST) != 0;
	return rc;
}

/* Whether all losses have times: one that no LOSS row describes has none. */
static int knows_when(const struct vpa_completeness *n)
{
	static const enum vpa_completeness_count anywhere[] = {VPA_READING_NEWER, VPA_READING_WRONG,
		VPA_READING_TRUNCATED, VPA_READING_MALFORMED, VPA_READING_UNKNOWN,
		VPA_READING_VIEWS, VPA_READING_MIXED, VPA_READING_UNREADABLE, VPA_READING_FAR,
		VPA_READING_PARTS};
	uint64_t dropped = n->has_stats ? n->dropped : n->header_lost;
	size_t i;

	for (i = 0; i < sizeof(anywhere) / sizeof(anywhere[0]); i++)
		if (n->counts[anywhere[i]])
			return 0;
	return dropped <= n->lost_events && !((n->failure[0] || n->taken[0]) && !n->losses) &&
	       !(n->unavailable[0] && !n->ops);
}

/* The last chunk of a capture that is being recorded may be half written: that is no damage. */
static void judge_recording(struct vpa_completeness *n)
{
	n->is_recorded = vpt_reader_is_recorded(vpt_trace_reader(n->trace));
	if (!n->is_recorded)
		return;
	n->counts[VPA_READING_END] = 1;
	if (n->in_damage && n->counts[VPA_READING_TORN] > n->carried[VPA_READING_TORN])
		n->counts[VPA_READING_TORN]--;
}

int vpa_completeness_end(struct vpa_completeness *n)
{
	uint64_t flush_ns = (n->flush_ms ? n->flush_ms : VPA_READING_FLUSH_MS) * 1000000;
	int rc = VPT_OK;

	if (vpt_trace_reader(n->trace) && !n->has_end)
		judge_recording(n);
	if (vpt_trace_reader(n->trace) && !n->has_end && !n->in_damage) {
		/* The copy of a file that ended inside a chunk ends with the part that was
		 * complete. */
		if (n->carried[VPA_READING_TORN])
			begin_damage(n);
		else
			n->counts[VPA_READING_END] = 1;
	}
	if (n->complete_until_ns)
		rc = vpa_intervals_add(&n->lost, n->complete_until_ns, UINT64_MAX);
	if (!rc && n->counts[VPA_READING_END])
		rc = vpa_intervals_add(&n->lost,
			n->newest_ns > flush_ns ? n->newest_ns - flush_ns : 0, UINT64_MAX);
	if (!rc && n->in_damage)
		rc = vpa_intervals_add(&n->lost, n->lost_from_ns, UINT64_MAX);
	if (!rc && !knows_when(n))
		rc = vpa_intervals_add(&n->lost, 0, UINT64_MAX);
	return rc;
}

void vpa_completeness_free(struct vpa_completeness *n)
{
	vpa_intervals_free(&n->lost);
}

/* ---- for a copy ---- */

static void put_fact(struct vpt_batch *out, enum vpt_metadata fact, const char *value)
{
	const char *key = vpt_metadata_key(fact);
	struct vpt_meta row = {.key = vpt_batch_string(out, key, strlen(key)),
		.value = vpt_batch_string(out, value, strlen(value))};

	vpt_batch_put(out, VPT_META, 0, &row);
}

void vpa_completeness_tell_hole(const struct vpa_completeness *n, struct vpt_batch *out)
{
	struct vpt_loss row = {.start_ns = n->hole.start_ns,
		.duration_ns = n->hole.end_ns - n->hole.start_ns,
		.loss_kind = VPT_LOSSKIND_UNREADABLE};

	vpt_batch_put(out, VPT_LOSS, 0, &row);
}

int vpa_completeness_tell_counts(const struct vpa_completeness *n, struct vpt_batch *out)
{
	int put = n->first_damage[0] && !n->carried[VPA_READING_DAMAGED] &&
		  !n->carried[VPA_READING_UNREADABLE];
	char text[24];
	unsigned i;

	if (put)
		put_fact(out, VPT_METADATA_MISSING_FIRST_DAMAGE, n->first_damage);
	if (n->unknown_names[0] && !n->carried[VPA_READING_UNKNOWN])
		put_fact(out, VPT_METADATA_MISSING_CATEGORIES, n->unknown_names);
	for (i = 0; i < VPA_READING_COUNT; i++) {
		if (n->counts[i] == n->carried[i])
			continue;
		snprintf(text, sizeof(text), "%" PRIu64, n->counts[i]);
		put_fact(out, facts[i], text);
		put = 1;
	}
	return put;
}

int vpa_completeness_is_key(const char *key)
{
	return !strncmp(key, prefix, sizeof(prefix) - 1);
}

enum vpt_metadata vpa_completeness_fact(enum vpa_completeness_count count)
{
	return facts[count];
}
