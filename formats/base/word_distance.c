/* word_distance.c - the edit distance with swaps, a row of the table at a time: the first i letters of one word against all
 * beginnings of the other. */
#include "formats/base/word_distance.h"

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t vpt_word_distance(struct vpt_text a, struct vpt_text b)
{
	size_t rows[3][VPT_WORD_LETTERS_MAX + 1], i, j;

	if (a.len > VPT_WORD_LETTERS_MAX || b.len > VPT_WORD_LETTERS_MAX)
		return VPT_WORD_LETTERS_MAX;
	for (j = 0; j <= b.len; j++)
		rows[0][j] = j;
	for (i = 1; i <= a.len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= b.len; j++) {
			row[j] = above[j - 1] + (a.text[i - 1] != b.text[j - 1]);
			row[j] = lesser(row[j], lesser(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a.text[i - 1] == b.text[j - 2] &&
				a.text[i - 2] == b.text[j - 1])
				row[j] = lesser(row[j], second[j - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}
