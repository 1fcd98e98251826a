/* choices.h - the names of numbered values, as a function of the number that returns NULL if there is none. */
#ifndef VPA_ANALYSIS_BASE_CHOICES_H
#define VPA_ANALYSIS_BASE_CHOICES_H

#include "formats/base/count.h"

#include <stddef.h>

/* Defines `name`, a function of a list of words: static VPA_WORDS(side_choice, "a", "b"); */
#define VPA_WORDS(name, ...) VPA_WORDS_OF(size_t, name, __VA_ARGS__)

/* The same for values of an enum, or of another type. */
#define VPA_WORDS_OF(type, name, ...)                                                              \
	const char *name(type i)                                                                   \
	{                                                                                          \
		static const char *const words[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return i < COUNT(words) ? words[i] : NULL;                                         \
	}                                                                                          \
	_Static_assert(1, "takes the semicolon")

/* The same for the first `count` values of an enum, whose words are those of the function `text`. */
#define VPA_NAMES(name, text, count)                                                               \
	const char *name(size_t i)                                                                 \
	{                                                                                          \
		return i < (count) ? text((unsigned)i) : NULL;                                     \
	}                                                                                          \
	_Static_assert(1, "takes the semicolon")

#endif
