/* print.c - see print.h. Text of usual length needs no memory. */
#include "formats/io/print.h"

#include "formats/base/memory.h"

#include <stdio.h>

void vpt_print_list(struct vpt_print *p, const char *fmt, va_list list)
{
	char stack[512], *text = stack;
	va_list again;
	int len;

	if (p->rc)
		return;
	va_copy(again, list);
	len = vsnprintf(stack, sizeof(stack), fmt, list);
	if (len >= (int)sizeof(stack)) {
		text = vpt_alloc((size_t)len + 1, 1);
		if (text)
			len = vsnprintf(text, (size_t)len + 1, fmt, again);
		else
			p->rc = vpt_fail(
				p->err, VPT_ENOMEM, "no memory for a line of %d bytes", len);
	}
	va_end(again);
	if (text && len > 0)
		p->rc = vpt_sink_write(p->sink, text, (size_t)len, p->err);
	if (text != stack)
		vpt_free(text);
}

void vpt_print(struct vpt_print *p, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	vpt_print_list(p, fmt, list);
	va_end(list);
}
