/* fuzz_marks.c - any bytes as a mark file, as `vptrace run` reads it before the command runs. */
#include "tests/fuzz/fuzz.h"

#include "tracer/command/marks/mark_lines.h"
#include "tracer/command/marks/mark_values.h"

#include <stdlib.h>
#include <string.h>

/* The bytes with a NUL after them, in memory of their own. */
static char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (text) {
		memcpy(text, data, size);
		text[size] = '\0';
	}
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	struct vpt_err err = {0};
	size_t i, ascii = 0;
	int rc, is_unsure = 0;

	if (!text)
		return 0;
	rc = vtr_mark_lines_check("fuzz", text, size, &err);
	FUZZ_EXPECT(rc ? !strncmp(err.text, "fuzz:", 5) || rc == VPT_ENOMEM : !err.text[0]);
	free(text);
	text = text_of(data, size);
	for (i = 0; text && text[i]; i++)
		ascii += (unsigned char)text[i] < 0x80;
	if (text && ascii == i)
		vtr_mark_value_mistake(text, &is_unsure);
	free(text);
	return 0;
}
