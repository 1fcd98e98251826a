/* range_seek.c - counts rows of ranges by name. */
#include "analysis/pipeline/range_seek.h"

#include "analysis/join/prefetch.h"
#include "analysis/names/range_names.h"
#include "formats/base/memory.h"
#include "formats/file/contents.h"

/* A file of few chunks is read from its beginning. */
enum { CHUNKS_LEAST = 8 };

static enum vpa_range_match match_name(const struct vpa_range_seek *s, struct vpt_text recorded)
{
	struct vpt_text shown = recorded;

	shown.len = vpa_range_name_len(recorded.text, recorded.len);
	return vpa_range_choice_match(&s->choice, shown, recorded);
}

static int match_names(struct vpa_range_seek *s, const struct vpt_batch *b)
{
	size_t i;

	if (vpt_grow(&s->matches, &s->match_cap, b->strings.count, 1))
		return VPT_ENOMEM;
	for (i = 0; i < b->strings.count; i++)
		s->matches[i] = (uint8_t)match_name(s, vpt_batch_text(b, i));
	return VPT_OK;
}

static int count_chunk(struct vpa_range_seek *s, const struct vpt_batch *b)
{
	struct vpa_range_ends *ends;
	size_t i;
	uint32_t row;

	if (match_names(s, b) || vpt_grow(&s->ends, &s->cap, s->count + 1, sizeof(*s->ends)))
		return VPT_ENOMEM;
	ends = &s->ends[s->count++];
	*ends = (struct vpa_range_ends){0, 0};
	for (i = 0; i < b->section_count; i++) {
		const struct vpt_section *ranges = &b->sections[i];
		const uint64_t *names = ranges->col[VPT_RANGE_NAME];

		for (row = 0; ranges->kind == VPT_RANGE && row < ranges->row_count; row++) {
			if (names[row] >= b->strings.count)
				continue;
			ends->whole += s->matches[names[row]] == VPA_RANGE_WHOLE;
			ends->name += s->matches[names[row]] == VPA_RANGE_NAME;
		}
	}
	return VPT_OK;
}

/* Finds the chunk in which the instance may end. */
static void find_target(struct vpa_range_seek *s)
{
	uint64_t ended = 0;

	for (s->target = 0; s->target < s->count; s->target++) {
		ended += s->whole ? s->ends[s->target].whole : s->ends[s->target].name;
		if (ended >= s->number)
			break;
	}
	s->is_known = s->target < s->count;
}

/* Whether chunks that have not been looked at change nothing: any may have a range that is called as all of "NAME:2". */
static int is_enough(const struct vpa_range_seek *s)
{
	return s->whole && s->choice.name_len == strlen(s->choice.text);
}

/* Counts by the contents of the file. VPT_END: they do not say it. */
static int read_contents(struct vpa_range_seek *s, const struct vpt_contents *contents)
{
	struct vpt_contents_counts counts;
	size_t i;
	int rc = contents ? vpt_contents_counts_begin(&counts, contents) : VPT_END;

	if (rc)
		return rc;
	if (vpt_grow(&s->ends, &s->cap, contents->count, sizeof(*s->ends)))
		rc = VPT_ENOMEM;
	while (!rc && s->count < contents->count) {
		struct vpa_range_ends *ends = &s->ends[s->count];

		rc = vpt_contents_counts_next(&counts);
		*ends = (struct vpa_range_ends){0, 0};
		for (i = 0; !rc && i < counts.count; i++) {
			enum vpa_range_match match = match_name(s, counts.items[i].name);
			uint32_t rows = (uint32_t)counts.items[i].rows;

			ends->whole += match == VPA_RANGE_WHOLE ? rows : 0;
			ends->name += match == VPA_RANGE_NAME ? rows : 0;
		}
		s->whole |= ends->whole != 0;
		s->count += !rc;
	}
	vpt_contents_counts_end(&counts);
	return rc;
}

/* Counts by reading. VPT_EDATA: a chunk is damaged. */
static int read_chunks(struct vpa_range_seek *s, const struct vpt_trace *trace, unsigned jobs)
{
	size_t i, count = vpt_trace_chunks(trace);
	struct vpa_prefetch *chunks = NULL;
	struct vpt_batch *b;
	int rc = vpa_prefetch_start(trace, NULL, jobs, 0, &chunks, NULL);

	s->count = 0;
	s->whole = 0;
	for (i = 0; i < count && !rc && !is_enough(s); i++) {
		rc = vpa_prefetch_next(chunks, &b, NULL);
		if (!rc)
			rc = count_chunk(s, b);
		s->whole |= !rc && s->ends[i].whole;
	}
	vpa_prefetch_stop(chunks);
	return rc;
}

int vpa_range_seek(
	const struct vpt_trace *trace, const char *text, unsigned jobs, struct vpa_range_seek *out)
{
	const struct vpt_reader *reader = vpt_trace_reader(trace);
	int rc;

	*out = (struct vpa_range_seek){.is_known = 0};
	vpa_range_choice_init(&out->choice, text, 0);
	if (!reader || vpt_trace_chunks(trace) < CHUNKS_LEAST)
		return VPT_OK;
	rc = read_contents(out, vpt_reader_contents(reader));
	if (rc == VPT_END)
		rc = read_chunks(out, trace, jobs);
	out->number = out->whole ? 1 : out->choice.number;
	if (!rc)
		find_target(out);
	return rc == VPT_EDATA ? VPT_OK : rc;
}

void vpa_range_seek_free(struct vpa_range_seek *s)
{
	vpa_range_choice_free(&s->choice);
	vpt_free(s->ends);
	vpt_free(s->matches);
	*s = (struct vpa_range_seek){.is_known = 0};
}

void vpa_range_seek_leave(const struct vpa_range_seek *s, const struct vpt_trace *trace,
	size_t from, struct vpa_range_choice *choice)
{
	const struct vpt_reader *reader = vpt_trace_reader(trace);
	size_t i;

	if (!s->is_known)
		return;
	vpa_range_choice_know(choice, s->whole);
	for (i = 0; i < from; i++) {
		uint64_t t_max_ns = vpt_reader_info(reader, i)->t_max_ns;

		choice->left += s->whole ? s->ends[i].whole : s->ends[i].name;
		if (t_max_ns > choice->left_ns)
			choice->left_ns = t_max_ns;
	}
}
