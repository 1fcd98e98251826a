/* shell_word.h - a word of a command line that is printed to be typed again. */
#ifndef VPT_FORMATS_CLI_SHELL_WORD_H
#define VPT_FORMATS_CLI_SHELL_WORD_H

#include <stddef.h>
#include <stdio.h>

/* Writes `len` bytes of `text`, between single quotes if a shell would not read them as one word. */
void vpt_put_word(FILE *out, const char *text, size_t len);

#endif
