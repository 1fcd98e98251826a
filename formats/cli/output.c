/* output.c - what a command prints: a file or standard output, as a whole or not at all. */
#include "formats/cli/command.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int vpt_out_open(struct vpt_out *o, const char *path, int force, struct vpt_err *err)
{
	memset(o, 0, sizeof(*o));
	o->to_stdout = vpt_is_standard(path);
	o->to_terminal = o->to_stdout && isatty(STDOUT_FILENO);
	return vpt_sink_open(path, force ? VPT_SINK_FORCE : 0, &o->sink, err);
}

void vpt_out_bytes(struct vpt_out *o, const void *data, size_t size)
{
	if (!o->failed)
		o->failed = vpt_sink_write(o->sink, data, size, &o->err);
}

void vpt_out_print(struct vpt_out *o, const char *fmt, ...)
{
	char stack[512], *text = stack;
	va_list list;
	int len;

	va_start(list, fmt);
	len = vsnprintf(stack, sizeof(stack), fmt, list);
	va_end(list);
	if (len >= (int)sizeof(stack)) {
		text = vpt_alloc((size_t)len + 1, 1);
		if (!text) {
			o->failed = vpt_fail(
				&o->err, VPT_ENOMEM, "no memory for a line of %d bytes", len);
			return;
		}
		va_start(list, fmt);
		len = vsnprintf(text, (size_t)len + 1, fmt, list);
		va_end(list);
	}
	if (len > 0)
		vpt_out_bytes(o, text, (size_t)len);
	if (text != stack)
		vpt_free(text);
}

void vpt_out_text(struct vpt_out *o, const char *text, size_t len)
{
	struct vpt_shown shown;
	size_t i;

	for (i = 0; i < len && !o->failed;) {
		i += vpt_utf8_show(text + i, len - i, &shown);
		vpt_out_bytes(o, shown.bytes, shown.len);
	}
}

void vpt_out_flush(struct vpt_out *o)
{
	if (!o->failed && o->sink->flush)
		o->failed = o->sink->flush(o->sink, &o->err);
}

int vpt_out_close(struct vpt_out *o, int commit, struct vpt_err *err)
{
	int rc = o->failed, finished;

	if (rc && err)
		*err = o->err;
	if (!o->sink)
		return rc;
	finished = o->sink->finish(o->sink, commit && !rc, rc ? NULL : err);
	o->sink = NULL;
	return rc ? rc : finished;
}
