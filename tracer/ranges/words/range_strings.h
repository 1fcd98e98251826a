/* range_strings.h - interns the strings of ranges, once for the whole process.
 *
 * Application threads intern names without locks, allocation or system calls: vtr_names_init()
 * reserves the table's address space once, and an insertion is a compare-and-swap. The same bytes
 * give the same number for the life of the process. Nothing is ever removed, so a text stays valid.
 * The number of distinct names and their bytes are capped, their bytes by the limit of budget.h
 * too; refusals are counted. */
#ifndef VPTRACE_TRACER_RANGES_WORDS_RANGE_STRINGS_H
#define VPTRACE_TRACER_RANGES_WORDS_RANGE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

enum {
	VTR_NAMES_MAX = 65536,         /* distinct names */
	VTR_NAME_BYTES_MAX = 4096,     /* of one name; longer ones are cut */
	VTR_NAMES_BYTES_MAX = 16 << 20 /* of all names */
};

/* Name 0 is "", name 1 stands for all refused names. */
enum { VTR_NAME_EMPTY = 0, VTR_NAME_REFUSED = 1 };

/* Called by the library's constructor, before anything else. 0; -1: no address space, and every
 * name becomes VTR_NAME_REFUSED. */
int vtr_names_init(void);

/* The number of a text. Any thread, at any time. NULL is "". */
uint32_t vtr_name(const char *text, size_t len);

/* The number of a C string. Faster for the same text at the same address. Any thread. NULL is
 * "". */
uint32_t vtr_name_of(const char *text);

/* The text of a number that vtr_name() returned, and its length. Any thread. Not NUL-terminated;
 * never NULL. */
const char *vtr_name_text(uint32_t name, size_t *len);

uint32_t vtr_names_count(void);   /* numbers below this are in use */
uint64_t vtr_names_refused(void); /* calls that a cap answered with VTR_NAME_REFUSED */

#endif
