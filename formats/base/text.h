/* text.h - texts of any bytes, not NUL-terminated, and what to ask of them. */
#ifndef VPT_FORMATS_BASE_TEXT_H
#define VPT_FORMATS_BASE_TEXT_H

#include <stddef.h>
#include <string.h>

struct vpt_text {
	const char *text; /* any bytes, not NUL-terminated; borrowed */
	size_t len;
};

/* Those of a C string; NULL is an empty one. */
static inline struct vpt_text vpt_text_from(const char *words)
{
	return (struct vpt_text){words ? words : "", words ? strlen(words) : 0};
}

/* Whether the text is this word; NULL is none. */
static inline int vpt_text_is(struct vpt_text text, const char *word)
{
	return text.text && text.len == strlen(word) && !memcmp(text.text, word, text.len);
}

/* Whether the word is somewhere in the text. */
static inline int vpt_text_holds(struct vpt_text text, const char *word)
{
	return text.len && memmem(text.text, text.len, word, strlen(word)) != NULL;
}

/* The order of two C strings, as strcmp() has it; NULL is the empty one. */
static inline int vpt_text_order(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Whether both are the same text; NULL is the empty one. */
static inline int vpt_same_text(const char *a, const char *b)
{
	return !vpt_text_order(a, b);
}

/* Whether a path is standard input or output, which "-" names; NULL is not. */
static inline int vpt_is_standard(const char *path)
{
	return path && !strcmp(path, "-");
}

/* A path without its folders: what follows the last slash. */
static inline const char *vpt_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The digits of a number that is a macro, for a text that states it. */
#define VPT_TEXT_OF(number)  VPT_TEXT_OF_(number)
#define VPT_TEXT_OF_(number) #number

/* Whatever the locale. */
static inline int vpt_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

#endif
