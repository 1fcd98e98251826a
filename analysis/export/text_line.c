/* text_line.c - the rarer parts of a line. Text and doubles go through the JSON writer. */
#include "analysis/export/text_line.h"

#include "formats/base/json_writer.h"

/* A sink that appends to a line. */
struct line_sink {
	struct vpt_sink base;
	struct vpa_line *line;
};

static int line_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct vpa_line *l = ((struct line_sink *)sink)->line;

	vpa_line_put(l, data, size);
	return l->failed ? vpt_fail(err, VPT_ENOMEM, "no memory for text") : VPT_OK;
}

void vpa_line_json(struct vpa_line *l, const char *text, size_t len)
{
	struct line_sink sink = {.base.write = line_write, .line = l};
	struct vpt_json j;

	vpt_json_init(&j, &sink.base, 0);
	vpt_json_text(&j, NULL, text, len);
	vpt_json_finish(&j, NULL);
}

void vpa_line_double(struct vpa_line *l, double value)
{
	struct line_sink sink = {.base.write = line_write, .line = l};
	struct vpt_json j;

	vpt_json_init(&j, &sink.base, 0);
	vpt_json_double(&j, NULL, value);
	vpt_json_finish(&j, NULL);
}

const char vpa_digit_pairs[] = "0001020304050607080910111213141516171819"
			       "2021222324252627282930313233343536373839"
			       "4041424344454647484950515253545556575859"
			       "6061626364656667686970717273747576777879"
			       "8081828384858687888990919293949596979899";

void vpa_line_micros(struct vpa_line *l, uint64_t ns)
{
	char decimals[4] = {'.'};
	uint64_t rest;

	if (ns >> 63) {
		vpa_line_put(l, "-", 1);
		ns = 0 - ns;
	}
	rest = ns % 1000;
	vpa_line_unsigned(l, ns / 1000);
	decimals[1] = (char)('0' + rest / 100);
	decimals[2] = (char)('0' + rest / 10 % 10);
	decimals[3] = (char)('0' + rest % 10);
	vpa_line_put(l, decimals, sizeof(decimals));
}

void vpa_line_hex(struct vpa_line *l, uint64_t value)
{
	char text[18], *end = text + sizeof(text), *p = end;

	do
		*--p = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	*--p = 'x';
	*--p = '0';
	vpa_line_put(l, p, (size_t)(end - p));
}
