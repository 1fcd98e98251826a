/* shell_word.c - a word that is read again. */
#include "formats/cli/shell_word.h"

#include <string.h>

void vpt_put_word(FILE *out, const char *text, size_t len)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+=:@,%";
	size_t i;

	if (len && strspn(text, plain) >= len) {
		fwrite(text, 1, len, out);
		return;
	}
	putc('\'', out);
	for (i = 0; i < len; i++)
		if (text[i] == '\'')
			fputs("'\\''", out);
		else
			putc(text[i], out);
	putc('\'', out);
}
