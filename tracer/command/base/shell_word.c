/* shell_word.c - a word that is read again. */
#include "tracer/command/base/shell_word.h"

#include <string.h>

void vtr_put_word(FILE *out, const char *text, size_t len)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+=:@,%";
	size_t i;

	if (len && strspn(text, plain) >= len) {
		fwrite(text, 1, len, out);
		return;
	}
	for (i = 0; i < len; i++)
		fprintf(out, !i ? "'%s" : "%s",
			text[i] == '\'' ? "'\\''" : (char[]){text[i], '\0'});
	fputs(len ? "'" : "", out);
}
