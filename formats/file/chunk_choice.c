/* chunk_choice.c - chooses by the contents: see chunk_choice.h. */
#include "formats/file/chunk_choice.h"

#include "formats/base/memory.h"
#include "formats/base/map.h"

#include <string.h>

/* Read beside those that a window needs: records come at most one chunk late. */
enum { MARGIN = 2, AROUND = 2 };

/* How far the times of one chunk may be beyond those of the last one. */
#define FAR_NS 60000000000u

/* Kinds whose rows matter wherever they are. */
static const uint8_t everywhere[] = {VPT_MEMORY, VPT_OVERHEAD, VPT_LOSS, VPT_GRAPH, VPT_SAMPLE};

/* Kinds of which the last chunk that has them matters. */
static const uint8_t at_last[] = {VPT_STATS, VPT_CLOCK};

static int has(const uint64_t *values, unsigned kind)
{
	return values[VPT_CONTENTS_ROWS + kind] != 0;
}

static int has_facts(const uint64_t *values)
{
	size_t k;

	for (k = 0; k < sizeof(everywhere); k++)
		if (has(values, everywhere[k]))
			return 1;
	return values[VPT_CONTENTS_NEWS] || values[VPT_CONTENTS_ODD];
}

static void use(struct vpt_chunk_choice *c, size_t i, enum vpt_chunk_use how)
{
	if (c->uses[i] < how)
		c->uses[i] = (uint8_t)how;
}

static void choose_facts(struct vpt_chunk_choice *c)
{
	size_t i, k;

	for (i = 0; i < c->count; i++)
		if (!i || i + 1 == c->count || has_facts(vpt_chunk_contents(c, i)))
			use(c, i, VPT_CHUNK_KNOWN);
	for (k = 0; k < sizeof(at_last); k++) {
		for (i = c->count; i-- > 0 && !has(vpt_chunk_contents(c, i), at_last[k]);)
			;
		if (i < c->count)
			use(c, i, VPT_CHUNK_KNOWN);
	}
}

/* The chunks that overlap a window, and their ids. */
struct core {
	uint64_t from_ns, to_ns;
	size_t begin, end;
	uint64_t calls[2], ops[2];
};

static int is_before(const uint64_t *values, const struct core *c)
{
	return values[VPT_CONTENTS_T_MAX] < c->from_ns;
}

static int is_after(const uint64_t *values, const struct core *c)
{
	return values[VPT_CONTENTS_FIRST] > c->to_ns;
}

static void widen(uint64_t to[2], uint64_t from, uint64_t until)
{
	to[0] = from < to[0] ? from : to[0];
	to[1] = until > to[1] ? until : to[1];
}

static int meet(const uint64_t a[2], uint64_t from, uint64_t until)
{
	return from <= a[1] && until >= a[0];
}

/* Whether calls of the chunk launched ops of the window, or its ops were launched there. */
static int is_joined(const uint64_t *values, const struct core *c)
{
	return meet(c->ops, values[VPT_CONTENTS_CALLS_FROM], values[VPT_CONTENTS_CALLS_TO]) ||
	       meet(c->calls, values[VPT_CONTENTS_OPS_FROM], values[VPT_CONTENTS_OPS_TO]);
}

static void find_core(const struct vpt_chunk_choice *choice, struct core *c)
{
	size_t i, count = choice->count;

	c->begin = count;
	c->end = 0;
	c->calls[0] = c->ops[0] = UINT64_MAX;
	c->calls[1] = c->ops[1] = 0;
	for (i = 0; i < count; i++) {
		const uint64_t *values = vpt_chunk_contents(choice, i);

		if (is_before(values, c) || is_after(values, c))
			continue;
		c->begin = i < c->begin ? i : c->begin;
		if (values[VPT_CONTENTS_T_MIN] <= c->to_ns)
			c->end = i + 1;
		widen(c->calls, values[VPT_CONTENTS_CALLS_FROM], values[VPT_CONTENTS_CALLS_TO]);
		widen(c->ops, values[VPT_CONTENTS_OPS_FROM], values[VPT_CONTENTS_OPS_TO]);
	}
	for (i = 0; i < c->begin; i++)
		if (is_joined(vpt_chunk_contents(choice, i), c))
			c->begin = i;
	c->begin -= c->begin < MARGIN ? c->begin : MARGIN;
	c->end = c->end + MARGIN < count ? c->end + MARGIN : count;
}

/* Whether there are several devices or processes: which of them has used a kernel before, or launched an op, is
 * then not known. Whether some times are far beyond the file's end. */
static int is_involved(const struct vpt_chunk_choice *choice)
{
	size_t i, count = choice->count;
	uint64_t devices = 0, last_ns = vpt_chunk_contents(choice, count - 1)[VPT_CONTENTS_T_MAX];

	for (i = 0; i < count; i++) {
		const uint64_t *values = vpt_chunk_contents(choice, i);

		devices |= values[VPT_CONTENTS_DEVICES];
		if (values[VPT_CONTENTS_T_MAX] > last_ns &&
			values[VPT_CONTENTS_T_MAX] - last_ns > FAR_NS)
			return 1;
	}
	return __builtin_popcountll(devices << 16) > 1 || __builtin_popcountll(devices >> 48) > 1;
}

/* Describes a chunk of a file without contents. What cannot be decoded must be read by all. */
static int make_entry(const struct vpt_reader *r, struct vpt_decoder *d, size_t i,
	struct vpt_batch *b, struct vpt_contents_known *known, struct vpt_contents_entry *entry,
	struct vpt_err *err)
{
	int rc = vpt_reader_info(r, i)->state == VPT_CHUNK_WHOLE ? vpt_reader_chunk(r, d, i, b, err)
								 : VPT_EDATA;

	if (rc == VPT_EDATA) {
		memset(entry, 0, sizeof(*entry));
		entry->values[VPT_CONTENTS_ODD] = 1;
		entry->values[VPT_CONTENTS_T_MAX] = UINT64_MAX;
		return VPT_OK;
	}
	return rc ? rc : vpt_contents_describe(b, known, entry);
}

static int make_contents(const struct vpt_reader *r, struct vpt_contents *out, struct vpt_err *err)
{
	struct vpt_contents_known known = {0};
	struct vpt_decoder *d = vpt_decoder_new();
	struct vpt_batch b;
	size_t i, count = vpt_reader_chunks(r);
	int rc = d && !vpt_grow(&out->items, &out->cap, count, sizeof(*out->items)) ? VPT_OK
										    : VPT_ENOMEM;

	vpt_batch_init(&b);
	for (i = 0; i < count && !rc; i++)
		rc = make_entry(r, d, i, &b, &known, &out->items[i], err);
	out->count = i;
	vpt_batch_free(&b);
	vpt_contents_known_free(&known);
	vpt_decoder_free(d);
	return rc;
}

static int begin(
	const struct vpt_reader *r, struct vpt_chunk_choice *out, int makes, struct vpt_err *err)
{
	int rc = VPT_OK;

	memset(out, 0, sizeof(*out));
	out->contents = r ? vpt_reader_contents(r) : NULL;
	if (!r || vpt_reader_chunks(r) < VPT_CONTENTS_LEAST || (!out->contents && !makes))
		return VPT_END;
	if (!out->contents) {
		rc = make_contents(r, &out->made, err);
		out->contents = &out->made;
	}
	out->count = vpt_reader_chunks(r);
	out->uses = rc ? NULL : vpt_calloc(out->count, 1);
	if (!rc && !out->uses)
		rc = VPT_ENOMEM;
	return rc == VPT_ENOMEM ? vpt_fail(err, rc, "no memory to choose chunks") : rc;
}

static void end(struct vpt_chunk_choice *c)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		c->read += c->uses[i] != VPT_CHUNK_LEFT;
}

int vpt_choose_for_facts(const struct vpt_reader *r, struct vpt_chunk_choice *out)
{
	int rc = begin(r, out, 0, NULL);

	if (rc)
		return rc == VPT_END ? VPT_OK : rc;
	choose_facts(out);
	end(out);
	return VPT_OK;
}

int vpt_choose_for_window(const struct vpt_reader *r, uint64_t from_ns, uint64_t to_ns,
	struct vpt_chunk_choice *out, struct vpt_err *err)
{
	struct core core = {.from_ns = from_ns, .to_ns = to_ns};
	int rc = begin(r, out, 1, err);
	size_t i;

	if (rc)
		return rc == VPT_END ? VPT_OK : rc;
	choose_facts(out);
	find_core(out, &core);
	if (is_involved(out))
		core.begin = 0;
	out->until_ns = to_ns;
	for (i = 0; i < out->count; i++) {
		const uint64_t *values = vpt_chunk_contents(out, i);

		if (i >= core.begin && i < core.end && values[VPT_CONTENTS_T_MAX] > out->until_ns)
			out->until_ns = values[VPT_CONTENTS_T_MAX];
		if (i >= core.begin && (i < core.end || out->uses[i] || !is_after(values, &core) ||
					       is_joined(values, &core)))
			use(out, i, VPT_CHUNK_READ);
	}
	end(out);
	return VPT_OK;
}

int vpt_choose_around(
	const struct vpt_reader *r, uint64_t from_ns, uint64_t to_ns, struct vpt_chunk_choice *out)
{
	size_t count = r ? vpt_reader_chunks(r) : 0, first = count, last = 0, i;

	memset(out, 0, sizeof(*out));
	if (!to_ns || count < VPT_CONTENTS_LEAST)
		return VPT_OK;
	for (i = 0; i < count; i++) {
		const struct vpt_chunk_info *info = vpt_reader_info(r, i);

		if (info->t_max_ns >= from_ns && first == count)
			first = i;
		if (info->t_min_ns <= to_ns)
			last = i;
	}
	first = first > AROUND ? first - AROUND : 0;
	last = last + AROUND < count ? last + AROUND : count - 1;
	if (first > last || last + 1 - first >= count / 2)
		return VPT_OK;
	out->uses = vpt_calloc(count, 1);
	if (!out->uses)
		return VPT_ENOMEM;
	out->count = count;
	out->read = last + 1 - first;
	memset(out->uses + first, VPT_CHUNK_READ, out->read);
	return VPT_OK;
}

void vpt_chunk_choice_free(struct vpt_chunk_choice *c)
{
	vpt_free(c->uses);
	vpt_contents_free(&c->made);
	memset(c, 0, sizeof(*c));
}
