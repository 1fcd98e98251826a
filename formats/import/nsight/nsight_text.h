/* nsight_text.h - the texts of an Nsight Systems export: those that rows refer to by number, and
 * those that translate to one of our words. */
#ifndef VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_TEXT_H
#define VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_TEXT_H

#include "formats/chunk/batch.h"

/* A text that rows refer to by number. `owner` keeps the numbers of several processes apart. */
struct vpt_nsight_name {
	int64_t owner, id;
	size_t offset;
	uint32_t len;
	int32_t number;  /* our number for the text; -1: not looked up yet */
	uint64_t string; /* its id in the collector; ~0: not interned yet */
};

struct vpt_nsight_names {
	struct vpt_nsight_name *at;
	size_t count, cap;
	char *text;
	size_t text_size, text_cap;
};

void vpt_nsight_names_free(struct vpt_nsight_names *names);

/* Adds a name; find works after sort. Of equal (owner, id), the first one added wins. 0 or
 * VPT_ENOMEM. */
int vpt_nsight_names_add(
	struct vpt_nsight_names *names, int64_t owner, int64_t id, const char *text, size_t len);
void vpt_nsight_names_sort(struct vpt_nsight_names *names);
struct vpt_nsight_name *vpt_nsight_names_find(
	struct vpt_nsight_names *names, int64_t owner, int64_t id); /* NULL if there is none */

static inline struct vpt_text vpt_nsight_name_text(
	const struct vpt_nsight_names *names, const struct vpt_nsight_name *name)
{
	return (struct vpt_text){names->text + name->offset, name->len};
}

/* Whether text is UTF-8 without control characters. */
int vpt_nsight_clean(struct vpt_text text);

/* ---- words ---- */

/* Tables ENUM_*: what the numbers of a column mean in this file. */
enum vpt_nsight_words {
	VPT_NSIGHT_COPY,
	VPT_NSIGHT_MEMORY,
	VPT_NSIGHT_SYNC,
	VPT_NSIGHT_OVERHEAD,
	VPT_NSIGHT_WORDS
};

const char *vpt_nsight_words_table(enum vpt_nsight_words set); /* "ENUM_CUDA_MEM_KIND" */

/* Our number for the first word of the set that occurs in `text`, ignoring case; 0 if none does. */
int32_t vpt_nsight_match(enum vpt_nsight_words set, struct vpt_text text);

/* Our number for the file's number `id`: by the text in the file's own table or, if the file has no
 * such table (`names` empty), by the numbers that all known versions share. 0: unknown. */
uint64_t vpt_nsight_word(enum vpt_nsight_words set, struct vpt_nsight_names *names, int64_t id);

/* Whether `word`, in lower case, occurs in the text, ignoring case. */
int vpt_nsight_has_word(struct vpt_text text, const char *word);

#endif
