/* range_note.h - a range's role in a video pipeline, as the JSON text that captures keep.
 *
 *	{"kind":"block","index":3,"frames":12,"latents":3}
 *	{"kind":"step","index":2,"timestep":500}
 *	{"kind":"step","index":4,"timestep":0,"context":1}        the pass that writes the KV cache
 *	{"kind":"frames","index":3,"frames":12}                   of a mark
 *	{"kind":"range"}                                          "block1" is that of a model
 *	{"kind":"fact","name":"height","value":"480"}             of a mark
 *
 * Fields that do not apply (negative in struct vptrace_note) are left out. */
#ifndef VPTRACE_TRACER_RANGES_WORDS_RANGE_NOTE_H
#define VPTRACE_TRACER_RANGES_WORDS_RANGE_NOTE_H

#include "tracer/vptrace.h"

#include <stddef.h>

enum { VTR_NOTE_TEXT_MAX = 192 };

/* Returns the length without the NUL; 0 for a kind that is unknown. */
size_t vtr_note_text(const struct vptrace_note *note, char out[VTR_NOTE_TEXT_MAX]);

/* A fact about a request, as a mark's JSON text: {"kind":"fact","name":"height","value":"480"}. Quotes,
 * backslashes and control bytes become "?"; both texts are cut to what vptrace_fact() allows. Returns the
 * length without the NUL. */
enum { VTR_FACT_NAME_MAX = 64, VTR_FACT_VALUE_MAX = 128, VTR_FACT_TEXT_MAX = 240 };
size_t vtr_fact_text(const char *name, const char *value, char out[VTR_FACT_TEXT_MAX]);

#endif
