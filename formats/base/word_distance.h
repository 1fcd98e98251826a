/* word_distance.h - how far a mistyped word is from one that is known. */
#ifndef VPT_FORMATS_BASE_WORD_DISTANCE_H
#define VPT_FORMATS_BASE_WORD_DISTANCE_H

#include "formats/base/text.h"

#include <stddef.h>

enum { VPT_WORD_LETTERS_MAX = 40 };

/* How many letters must be added, dropped, replaced or swapped with their neighbour to turn one word into the other;
 * VPT_WORD_LETTERS_MAX, if either word has more letters than that. Allocates nothing. */
size_t vpt_word_distance(struct vpt_text a, struct vpt_text b);

#endif
