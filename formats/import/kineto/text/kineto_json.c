/* kineto_json.c - the text of a profiler's file as JSON: values, and anchors after unreadable ones. */
#include "formats/import/kineto/text/kineto_json.h"

#include "formats/import/kineto/text/kineto_scan.h"

#include <string.h>

enum {
	VALUE_BYTES = 16 << 20, /* of one event or member */
	AHEAD_BYTES = 256,      /* an anchor is recognized in */
	AGAIN_BASE = 16 << 20,  /* bytes that may be read again in any file */
	AGAIN_TIMES = 4,        /* and for each byte of it */
	FOUND_BYTES = 24        /* of the text, shown where it is unreadable */
};

/* ---- bytes ---- */

/* Makes the next byte available. */
static int need_byte(struct vpt_kineto_json *j)
{
	return j->bytes.cur < j->bytes.end ? 0 : vpt_kineto_bytes_fill(&j->bytes, j->err);
}

int vpt_kineto_json_peek(struct vpt_kineto_json *j, int *c)
{
	int rc;

	j->bytes.keep = NULL;
	while (!(rc = need_byte(j)) && vpt_is_space(*j->bytes.cur))
		j->bytes.cur++;
	*c = rc ? 0 : *j->bytes.cur;
	return rc;
}

/* Notes where the text is unreadable, at `cur` or the byte that is kept, and what stands there. */
static void note_fault(struct vpt_kineto_json *j, const unsigned char *at)
{
	static const char hex[] = "0123456789abcdef";
	const size_t before = (size_t)(j->bytes.cur - at);
	size_t used = 0;
	const unsigned char *p;
	int rc = 0;

	while (!rc && j->bytes.end - at < FOUND_BYTES) {
		rc = vpt_kineto_bytes_fill(&j->bytes, j->err);
		at = j->bytes.cur - before;
	}
	j->fault.at = vpt_kineto_bytes_offset(&j->bytes) - (uint64_t)(j->bytes.cur - at);
	for (p = at; p < j->bytes.end && p < at + FOUND_BYTES && used + 5 < sizeof(j->fault.found);
		p++) {
		if (*p >= 0x20 && *p < 0x7f) {
			j->fault.found[used++] = (char)*p;
			continue;
		}
		j->fault.found[used++] = '\\';
		j->fault.found[used++] = 'x';
		j->fault.found[used++] = hex[*p >> 4];
		j->fault.found[used++] = hex[*p & 15];
	}
	j->fault.found[used] = '\0';
}

int vpt_kineto_json_wrong(struct vpt_kineto_json *j, const char *words)
{
	const char *what = j->bytes.packer ? "decompressed text" : "file";

	note_fault(j, j->bytes.cur);
	return vpt_fail(j->err, VPT_EDATA, "expected %s at byte %llu of the %s, found byte 0x%02x",
		words, (unsigned long long)j->fault.at, what, *j->bytes.cur);
}

int vpt_kineto_json_expect(struct vpt_kineto_json *j, char wanted, const char *words)
{
	int c, rc = vpt_kineto_json_peek(j, &c);

	if (rc)
		return rc;
	if (c != wanted)
		return vpt_kineto_json_wrong(j, words);
	j->bytes.cur++;
	return 0;
}

/* ---- values ---- */

/* Keeps the bytes from here on, so that it is possible to come back. */
static void begin_value(struct vpt_kineto_json *j)
{
	j->bytes.keep = j->bytes.cur;
	j->begin = vpt_kineto_bytes_offset(&j->bytes);
}

static int too_long(struct vpt_kineto_json *j)
{
	note_fault(j, j->bytes.cur);
	return vpt_fail(j->err, VPT_EDATA,
		"the JSON value at byte %llu is longer than %d MiB, or has more than %d parts",
		(unsigned long long)j->begin, VALUE_BYTES >> 20, VPT_KINETO_VALUES_MAX);
}

/* Makes more bytes of the newest value available than `had`: twice as many if they come, so that a long
 * value is parsed few times. */
static int need_more(struct vpt_kineto_json *j, size_t had)
{
	int rc = 0;

	while (!rc && (size_t)(j->bytes.end - j->bytes.keep) <= 2 * had)
		rc = vpt_kineto_bytes_fill(&j->bytes, j->err);
	return rc == VPT_END && (size_t)(j->bytes.end - j->bytes.keep) > had ? 0 : rc;
}

/* Parses the newest value. */
static int parse(struct vpt_kineto_json *j)
{
	size_t had = 0;
	int rc;

	do {
		rc = need_more(j, had);
		if (rc) {
			j->bytes.cur = j->bytes.end;
			note_fault(j, j->bytes.keep);
			return rc;
		}
		had = (size_t)(j->bytes.end - j->bytes.keep);
		j->bytes.cur = j->bytes.keep;
		rc = vpt_kineto_parse(&j->parser, &j->bytes.cur, j->bytes.end);
	} while (rc == VPT_END && had <= VALUE_BYTES);
	if (j->bytes.cur - j->bytes.keep <= VALUE_BYTES)
		return rc;
	j->bytes.cur = j->bytes.keep + VALUE_BYTES;
	j->parser.wrong = NULL;
	return VPT_EDATA;
}

int vpt_kineto_json_value(struct vpt_kineto_json *j, const struct vpt_kineto_value **out)
{
	int rc;

	*out = NULL;
	begin_value(j);
	rc = parse(j);
	if (!rc)
		*out = j->parser.values;
	if (rc == VPT_ENOMEM)
		return vpt_fail(j->err, VPT_ENOMEM, "no memory to parse JSON");
	if (rc != VPT_EDATA)
		return rc;
	if (!j->parser.wrong)
		return too_long(j);
	note_fault(j, j->bytes.cur);
	return vpt_fail(j->err, VPT_EDATA, "invalid JSON at byte %llu: %s",
		(unsigned long long)j->fault.at, j->parser.wrong);
}

/* What a byte is outside of strings. Of letters, only those of true, false, null, NaN and infinities are
 * allowed: a quote too many turns the text inside out, and names soon show it. */
enum { BAD, PLAIN, SPACE, QUOTE, OPEN, CLOSE, COMMA };

static const unsigned char classes[256] = {
	[' '] = SPACE,
	['\n'] = SPACE,
	['\r'] = SPACE,
	['\t'] = SPACE,
	['0' ... '9'] = PLAIN,
	[':'] = PLAIN,
	['+'] = PLAIN,
	['-'] = PLAIN,
	['.'] = PLAIN,
	['a'] = PLAIN,
	['e'] = PLAIN,
	['f'] = PLAIN,
	['i'] = PLAIN,
	['l'] = PLAIN,
	['n'] = PLAIN,
	['r'] = PLAIN,
	['s'] = PLAIN,
	['t'] = PLAIN,
	['u'] = PLAIN,
	['y'] = PLAIN,
	['E'] = PLAIN,
	['I'] = PLAIN,
	['N'] = PLAIN,
	['"'] = QUOTE,
	['{'] = OPEN,
	['['] = OPEN,
	['}'] = CLOSE,
	[']'] = CLOSE,
	[','] = COMMA,
};

struct skip {
	uint64_t depth;
	uint64_t
		objects; /* a bit for each of the innermost 64 brackets, the lowest of the last: 1 is '{' */
	int in_string, escaped, is_bad;
};

/* Whether an object may begin here: in another one that is after a ':' only. Nothing before `first` is looked
 * at. */
static int may_open(const struct skip *s, const unsigned char *p, const unsigned char *first)
{
	if (!s->depth || !(s->objects & 1))
		return 1;
	while (p > first && vpt_is_space(p[-1]))
		p--;
	return p == first || p[-1] == ':';
}

static int open_bracket(struct skip *s, const unsigned char *p, const unsigned char *first)
{
	if (!may_open(s, p, first))
		return 0;
	s->depth++;
	s->objects = s->objects << 1 | (*p == '{');
	return 1;
}

static int close_bracket(struct skip *s, unsigned char bracket)
{
	enum { KNOWN = 64 };

	if (s->depth <= KNOWN && (s->objects & 1) != (bracket == '}'))
		return 0;
	s->depth--;
	s->objects >>= 1;
	return 1;
}

/* The end of the value: the ',' or bracket after it, or `end` if neither comes before. */
static const unsigned char *skip_within(struct skip *s, const unsigned char *p,
	const unsigned char *end, const unsigned char *first)
{
	for (; p < end; p++) {
		if (s->in_string) {
			if (!s->escaped)
				p = vpt_scan_string(p, '"');
			if (p == end)
				break;
			s->in_string = s->escaped || *p != '"';
			s->escaped = !s->escaped && *p == '\\';
			continue;
		}
		while (classes[*p] == PLAIN)
			p++;
		if (p == end)
			break;
		switch (classes[*p]) {
		case SPACE:
			p = vpt_scan_space(p + 1) - 1;
			continue;
		case QUOTE:
			s->in_string = 1;
			continue;
		case OPEN:
			s->is_bad = !open_bracket(s, p, first);
			break;
		case BAD:
			s->is_bad = 1;
			break;
		default:
			if (!s->depth)
				return p;
			if (classes[*p] == CLOSE)
				s->is_bad = !close_bracket(s, *p);
		}
		if (s->is_bad)
			return p;
	}
	return p;
}

int vpt_kineto_json_skip(struct vpt_kineto_json *j)
{
	struct skip s = {0};
	int rc;

	begin_value(j);
	do {
		rc = need_byte(j);
		if (rc == VPT_END)
			note_fault(j, j->bytes.keep);
		if (rc)
			return rc;
		j->bytes.cur = skip_within(&s, j->bytes.cur, j->bytes.end, j->bytes.keep);
		/* Nobody comes back to a member this long. */
		if (j->bytes.cur - j->bytes.keep > VALUE_BYTES)
			begin_value(j);
	} while (j->bytes.cur == j->bytes.end);
	return s.is_bad ? vpt_kineto_json_wrong(j, "JSON") : 0;
}

/* ---- anchors ---- */

void vpt_kineto_json_rewind(struct vpt_kineto_json *j)
{
	uint64_t back = j->bytes.keep ? (uint64_t)(j->bytes.cur - j->bytes.keep) : 0;

	if (back && j->again + back <= AGAIN_BASE + AGAIN_TIMES * j->bytes.end_offset) {
		j->again += back;
		j->bytes.cur = j->bytes.keep + 1;
	}
	j->bytes.keep = NULL;
}

int vpt_kineto_json_look_ahead(struct vpt_kineto_json *j)
{
	int rc = 0;

	j->bytes.keep = j->bytes.cur;
	while (!rc && j->bytes.end - j->bytes.cur < AHEAD_BYTES)
		rc = vpt_kineto_bytes_fill(&j->bytes, j->err);
	j->bytes.keep = NULL;
	return rc == VPT_END && j->bytes.cur < j->bytes.end ? 0 : rc;
}

static const unsigned char *skip_space(const unsigned char *p, const unsigned char *end)
{
	while (p < end && vpt_is_space(*p))
		p++;
	return p;
}

/* Whether `"NAME" :` with one of these names begins at `p`. */
static int is_name(const unsigned char *p, const unsigned char *end, const char *const *names)
{
	for (; p < end && *p == '"' && *names; names++) {
		size_t len = strlen(*names);
		const unsigned char *after = p + 1 + len;

		if ((size_t)(end - p) < len + 3 || memcmp(p + 1, *names, len) || *after != '"')
			continue;
		after = skip_space(after + 1, end);
		return after < end && *after == ':';
	}
	return 0;
}

int vpt_kineto_json_begins_with(const struct vpt_kineto_json *j, const char *name)
{
	const char *const names[] = {name, NULL};

	return is_name(skip_space(j->bytes.cur + 1, j->bytes.end), j->bytes.end, names);
}

/* Whether the events end with the ']' at `p`: after an event, or before what is no part of one. */
static int is_end(const struct vpt_kineto_json *j, const unsigned char *p, const unsigned char *end,
	const struct vpt_kineto_anchors *wanted)
{
	p = skip_space(p + 1, end);
	if (p < end && *p == ',')
		return is_name(skip_space(p + 1, end), end, wanted->names);
	if (p < end && *p == '}')
		p = skip_space(p + 1, end);
	return p == j->bytes.end && j->bytes.finished;
}

static int is_event(const unsigned char *p, const unsigned char *end)
{
	static const char *const first[] = {
		"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp", "s", NULL};

	return is_name(skip_space(p + 1, end), end, first);
}

/* The anchor at `cur`; 0: there is none. */
static int anchor_here(const struct vpt_kineto_json *j, const struct vpt_kineto_anchors *wanted)
{
	const unsigned char *p = j->bytes.cur, *end = j->bytes.end, *next;

	if (end - p > AHEAD_BYTES)
		end = p + AHEAD_BYTES;
	switch (*p) {
	case '{':
		return is_event(p, end) ? VPT_KINETO_AT_EVENT : 0;
	case '}':
		next = skip_space(p + 1, end);
		return wanted->in_events && next < end && *next == ']' ? VPT_KINETO_AT_EVENTS_END
								       : 0;
	case ']':
		return wanted->in_events && is_end(j, p, end, wanted) ? VPT_KINETO_AT_EVENTS_END
								      : 0;
	case '"':
		return !wanted->in_events && is_name(p, end, wanted->names) ? VPT_KINETO_AT_MEMBER
									    : 0;
	default:
		return 0;
	}
}

int vpt_kineto_json_begins_event(struct vpt_kineto_json *j)
{
	return !vpt_kineto_json_look_ahead(j) && is_event(j->bytes.cur, j->bytes.end);
}

static int may_be_anchor(unsigned char c)
{
	return c == '{' || c == '}' || c == '"' || c == ']';
}

int vpt_kineto_json_anchor(struct vpt_kineto_json *j, const struct vpt_kineto_anchors *wanted,
	enum vpt_kineto_anchor *anchor)
{
	int rc, found;

	for (;; j->bytes.cur++) {
		while (j->bytes.cur < j->bytes.end && !may_be_anchor(*j->bytes.cur))
			j->bytes.cur++;
		if (j->bytes.end - j->bytes.cur < AHEAD_BYTES) {
			rc = vpt_kineto_json_look_ahead(j);
			if (rc)
				return rc;
		}
		found = anchor_here(j, wanted);
		if (found)
			break;
	}
	if (found == VPT_KINETO_AT_EVENTS_END && *j->bytes.cur == '}')
		j->bytes.cur = skip_space(j->bytes.cur + 1, j->bytes.end);
	*anchor = (enum vpt_kineto_anchor)found;
	return 0;
}
