/* shell_word.h - a word of a command line that is printed to be typed again. */
#ifndef VPTRACE_TRACER_COMMAND_BASE_SHELL_WORD_H
#define VPTRACE_TRACER_COMMAND_BASE_SHELL_WORD_H

#include <stddef.h>
#include <stdio.h>

/* Writes `len` bytes of `text`, between single quotes if a shell would not read them as one word. Nothing for
 * none. */
void vtr_put_word(FILE *out, const char *text, size_t len);

#endif
