/* print.h - formatted text into a sink. An error is kept: what is printed after it is ignored.
 *
 *	struct vpt_print p = {.sink = sink, .err = err};
 *
 *	vpt_print(&p, "%s: %zu\n", name, count);
 *	return p.rc; */
#ifndef VPT_FORMATS_IO_PRINT_H
#define VPT_FORMATS_IO_PRINT_H

#include "formats/io/io.h"

#include <stdarg.h>

struct vpt_print {
	struct vpt_sink *sink; /* borrowed, like err */
	struct vpt_err *err;
	int rc; /* of the first text that could not be written; 0: none */
};

/* Text of any length. */
VPT_PRINTF(2, 3)
void vpt_print(struct vpt_print *p, const char *fmt, ...);
void vpt_print_list(struct vpt_print *p, const char *fmt, va_list list);

#endif
