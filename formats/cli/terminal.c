/* terminal.c - the size of the terminal, and whether it has colours. */
#include "formats/cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned vpt_terminal_width(const struct vpt_out *o)
{
	enum { LEAST = 40, USUAL = 80, MOST = 400 };
	const char *columns = getenv("COLUMNS");
	unsigned long width = 0;
	struct winsize size;

	if (o->to_terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width && o->to_stdout && columns && *columns >= '0' && *columns <= '9')
		width = strtoul(columns, NULL, 10);
	if (!width)
		return USUAL;
	return width < LEAST ? LEAST : width > MOST ? MOST : (unsigned)width;
}

unsigned vpt_terminal_height(const struct vpt_out *o)
{
	struct winsize size;

	if (!o->to_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_row;
}

int vpt_terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !strcmp(term, "dumb");
}

int vpt_terminal_colour(const struct vpt_out *o, const char *choice)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(choice, "auto") != 0)
		return !strcmp(choice, "always");
	return o->to_terminal && !(no_color && *no_color) && !vpt_terminal_is_dumb();
}
