/* plain_output.c - what help.c prints with, on standard output and libc alone. */
#include "analysis/commands/command.h"

#include <stdarg.h>
#include <stdio.h>

void vpa_out_print(struct vpa_out *o, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	o->failed |= vprintf(fmt, list) < 0;
	va_end(list);
}
