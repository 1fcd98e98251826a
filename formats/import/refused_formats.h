/* refused_formats.h - names files that are no trace that can be read, and the command that helps. */
#ifndef VPT_FORMATS_IMPORT_REFUSED_FORMATS_H
#define VPT_FORMATS_IMPORT_REFUSED_FORMATS_H

#include <stddef.h>

enum { VPT_FOREIGN_HEAD = 512 }; /* bytes that are looked at */

/* Whether a zstd frame, or a skippable one, begins here. */
int vpt_is_zstd(const unsigned char *head, size_t size);

/* What a file is, and what to do: a sentence without full stop; NULL: it is none of these. By its first bytes;
 * also by its name, unless that is NULL, and by less certain signs: then ask only about a file that has no
 * known format. */
const char *vpt_foreign_reason(const unsigned char *head, size_t size, const char *name);

#endif
