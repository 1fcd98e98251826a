/* output.c - what a command prints: a file or standard output, as a whole or not at all. */
#include "formats/cli/command.h"

#include "formats/io/print.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"

#include <stdarg.h>
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
	struct vpt_print p = {o->sink, &o->err, o->failed};
	va_list list;

	va_start(list, fmt);
	vpt_print_list(&p, fmt, list);
	va_end(list);
	o->failed = p.rc;
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
