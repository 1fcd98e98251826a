/* main.c - prints the automaton of families.def as C, for the build. */
#include "analysis/names/family_automaton.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static unsigned at(const void *numbers, size_t width, size_t i)
{
	return width == 1 ? ((const uint8_t *)numbers)[i] : ((const uint16_t *)numbers)[i];
}

/* A row of the table, without the zeros at its end. */
static void put_row(const char *name, const void *numbers, size_t width, size_t size_bytes)
{
	size_t count = size_bytes / width, i;

	while (count > 1 && !at(numbers, width, count - 1))
		count--;
	printf("\t.%s = {", name);
	for (i = 0; i < count; i++)
		printf("%s%u", !i ? "" : i % 24 ? ", " : ",\n\t\t", at(numbers, width, i));
	printf("},\n");
}

static void put_pieces(const struct vpa_piece *pieces)
{
	size_t i;

	printf("\t.pieces = {{0},\n");
	for (i = 1; i < VPA_PIECES_MAX && pieces[i].len; i++)
		printf("\t\t{%u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u},\n", pieces[i].completes,
			pieces[i].same, pieces[i].previous, pieces[i].link, pieces[i].len,
			pieces[i].anchored, pieces[i].word, pieces[i].last, pieces[i].before,
			pieces[i].klass, pieces[i].after_class);
	printf("\t},\n");
}

static void put_classes(const uint64_t classes[][4])
{
	size_t i;

	printf("\t.classes = {\n");
	for (i = 0; i < VPA_CLASSES_MAX; i++)
		printf("\t\t{%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 "},\n",
			classes[i][0], classes[i][1], classes[i][2], classes[i][3]);
	printf("\t},\n");
}

int main(void)
{
	const struct vpa_automaton *a = vpa_automaton_build();
	const struct {
		const char *name;
		const void *numbers;
		size_t width, size_bytes;
	} rows[] = {
#define ROW(name) {#name, a->name, sizeof(a->name[0]), sizeof(a->name)}
		ROW(root),
		ROW(child),
		ROW(sibling),
		ROW(fail),
		ROW(from),
		ROW(hit),
		ROW(rest),
		ROW(first),
		ROW(column),
	};
	size_t i;

	printf("/* Made of families.def by analysis/names/main.c. */\n"
	       "#include \"analysis/names/family_automaton.h\"\n\n"
	       "static const struct vpa_automaton made = {\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		put_row(rows[i].name, rows[i].numbers, rows[i].width, rows[i].size_bytes);
	put_pieces(a->pieces);
	put_classes(a->classes);
	printf("};\n\n"
	       "const struct vpa_automaton *vpa_automaton(void)\n{\n\treturn &made;\n}\n");
	return fflush(stdout) ? 1 : 0;
}
