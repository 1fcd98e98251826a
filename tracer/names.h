/* names.h - the strings of a capture's ranges, numbered once for the whole process.
 *
 * Application threads put names in; they take no lock, never allocate and never call the system:
 * the table is one reservation of address space made by vtr_names_init(), and an insertion is a
 * compare-and-swap. The same bytes give the same number for the life of the process. Nothing is
 * ever removed, so a text stays valid; the number of distinct names and their bytes are capped, their
 * bytes by the limit of budget.h too, and what the caps refuse is counted. */
#ifndef VPTRACE_TRACER_NAMES_H
#define VPTRACE_TRACER_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum {
	VTR_NAMES_MAX = 65536,         /* distinct names */
	VTR_NAME_BYTES_MAX = 4096,     /* of one name; longer ones are cut */
	VTR_NAMES_BYTES_MAX = 16 << 20 /* of all names */
};

/* Name 0 is "", name 1 stands for all that the caps refused. */
enum { VTR_NAME_EMPTY = 0, VTR_NAME_REFUSED = 1 };

/* Called by the library's constructor, before anything else. 0, or -1 when there is no address
 * space: every name is then VTR_NAME_REFUSED. */
int vtr_names_init(void);

/* The number of a text. Any thread, at any time. NULL is "". */
uint32_t vtr_name(const char *text, size_t len);

/* The number of a C string. Faster where the same text stands at the same address again. Any
 * thread. NULL is "". */
uint32_t vtr_name_of(const char *text);

/* The text of a number that vtr_name() returned, and its length. Any thread. Not NUL-terminated;
 * never NULL. */
const char *vtr_name_text(uint32_t name, size_t *len);

uint32_t vtr_names_count(void);   /* numbers below this are in use */
uint64_t vtr_names_refused(void); /* puts that a cap answered with VTR_NAME_REFUSED */

#endif
