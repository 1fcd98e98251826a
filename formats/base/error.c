/* error.c - formats error messages. Text from a file may hold anything, so control bytes are
 * replaced here, once, before they can reach a terminal. */
#include "formats/base/error.h"

#include <stdarg.h>
#include <stdio.h>

static void escape_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

int vpt_fail(struct vpt_err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, fmt);
	if (vsnprintf(err->text, sizeof(err->text), fmt, args) < 0)
		err->text[0] = '\0';
	va_end(args);
	escape_controls(err->text);
	return code;
}

void vpt_err_at(struct vpt_err *err, const char *where)
{
	struct vpt_err old;

	if (!err)
		return;
	old = *err;
	/* `where` is cut to 200 characters so that the fault itself always has room. */
	vpt_fail(err, old.code, "%.200s: %s", where, old.text);
}
