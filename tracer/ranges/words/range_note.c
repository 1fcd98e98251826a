/* range_note.c - a note, and a fact, as JSON. Numbers are written without the host's locale, whatever it is. */
#include "tracer/ranges/words/range_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {[VPTRACE_NOTE_REQUEST] = "request",
	[VPTRACE_NOTE_STAGE] = "stage",
	[VPTRACE_NOTE_BLOCK] = "block",
	[VPTRACE_NOTE_STEP] = "step",
	[VPTRACE_NOTE_CONTEXT] = "step",
	[VPTRACE_NOTE_FRAMES] = "frames",
	[VPTRACE_NOTE_RANGE] = "range"};

/* A timestep to a millionth, finer than any schedule's, without trailing zeros. */
static size_t put_decimal(char *out, size_t size, double value)
{
	uint64_t millionths = (uint64_t)(value * 1e6 + 0.5);
	uint64_t whole = millionths / 1000000, rest = millionths % 1000000;
	int n = snprintf(out, size, "%" PRIu64 ".%06" PRIu64, whole, rest);
	size_t len = (size_t)n;

	while (out[len - 1] == '0')
		len--;
	len -= out[len - 1] == '.';
	out[len] = '\0';
	return len;
}

size_t vtr_note_text(const struct vptrace_note *note, char out[VTR_NOTE_TEXT_MAX])
{
	const struct {
		const char *name;
		int64_t value;
	} fields[] = {{"index", note->index}, {"frames", note->frames}, {"latents", note->latents}};
	size_t len, i;

	if (note->kind <= 0 || note->kind >= (int64_t)(sizeof(kinds) / sizeof(kinds[0])))
		return 0;
	len = (size_t)snprintf(out, VTR_NOTE_TEXT_MAX, "{\"kind\":\"%s\"", kinds[note->kind]);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].value >= 0)
			len += (size_t)snprintf(out + len, VTR_NOTE_TEXT_MAX - len,
				",\"%s\":%" PRId64, fields[i].name, fields[i].value);
	if (note->timestep >= 0 && note->timestep < 1e9) {
		memcpy(out + len, ",\"timestep\":", 12);
		len += 12;
		len += put_decimal(out + len, VTR_NOTE_TEXT_MAX - len, note->timestep);
	}
	if (note->kind == VPTRACE_NOTE_CONTEXT) {
		memcpy(out + len, ",\"context\":1", 12);
		len += 12;
	}
	out[len++] = '}';
	out[len] = '\0';
	return len;
}

/* At most `max` bytes of a text, as they may stand between quotes. */
static size_t put_text(char *out, const char *text, size_t max)
{
	size_t len;

	for (len = 0; len < max && text[len]; len++) {
		unsigned char byte = (unsigned char)text[len];

		out[len] = byte < 0x20 || byte == '"' || byte == '\\' ? '?' : text[len];
	}
	return len;
}

static size_t put_plain(char *out, const char *text)
{
	size_t len = strlen(text);

	memcpy(out, text, len);
	return len;
}

size_t vtr_fact_text(const char *name, const char *value, char out[VTR_FACT_TEXT_MAX])
{
	size_t len = put_plain(out, "{\"kind\":\"fact\",\"name\":\"");

	len += put_text(out + len, name, VTR_FACT_NAME_MAX);
	len += put_plain(out + len, "\",\"value\":\"");
	len += put_text(out + len, value, VTR_FACT_VALUE_MAX);
	len += put_plain(out + len, "\"}");
	out[len] = '\0';
	return len;
}
