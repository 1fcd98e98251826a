/* json_key.h - the value of one key of a flat JSON object, whose other members are not read.
 *
 * For annotations, of which most keys never matter. The objects are untrusted text: what is no such value is empty or 0. Keys
 * are given with their quotes, "\"flop\"". */
#ifndef VPA_ANALYSIS_BASE_JSON_KEY_H
#define VPA_ANALYSIS_BASE_JSON_KEY_H

#include "formats/base/text.h"

#include <stdint.h>

/* A string up to its next quote, or the digits of a number. Empty: neither, or there is no such key. Borrows the object. */
struct vpt_text vpa_json_key_text(struct vpt_text object, const char *key);

/* The same as a number. 0: it has other characters than digits, or is 2^63 or more. */
uint64_t vpa_json_key_number(struct vpt_text object, const char *key);

#endif
