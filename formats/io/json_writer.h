/* json_writer.h - a streaming JSON writer.
 *
 * Sticky: calls after a failure do nothing; vpt_json_finish() reports it. The output is always
 * valid UTF-8 JSON: invalid bytes become U+FFFD, control characters and U+2028/9 are escaped,
 * NaN and infinities become null. Numbers look the same in every locale. `key` is NULL inside an
 * array. */
#ifndef VPT_FORMATS_IO_JSON_WRITER_H
#define VPT_FORMATS_IO_JSON_WRITER_H

#include "formats/base/error.h"
#include "formats/io/io.h"

#include <stdint.h>

struct vpt_json {
	struct vpt_sink *sink; /* borrowed */
	struct vpt_err err;
	int failed; /* the code of the first failure */
	int pretty; /* 1: two spaces per level, one member per line */
	int depth;
	unsigned char has_member[64]; /* by depth; deeper nesting is a failure */
	size_t used;
	char buf[16384];
};

void vpt_json_init(struct vpt_json *j, struct vpt_sink *sink, int pretty);

void vpt_json_object(struct vpt_json *j, const char *key);
void vpt_json_array(struct vpt_json *j, const char *key);
void vpt_json_end(struct vpt_json *j); /* closes the innermost object or array */

void vpt_json_u64(struct vpt_json *j, const char *key, uint64_t value);
void vpt_json_i64(struct vpt_json *j, const char *key, int64_t value);
/* Shortest decimal that reads back as the same double. */
void vpt_json_double(struct vpt_json *j, const char *key, double value);
/* With `decimals` digits after the point, for numbers that people read. */
void vpt_json_fixed(struct vpt_json *j, const char *key, double value, int decimals);
void vpt_json_bool(struct vpt_json *j, const char *key, int value);
void vpt_json_null(struct vpt_json *j, const char *key);
void vpt_json_text(struct vpt_json *j, const char *key, const char *text, size_t len);
void vpt_json_string(struct vpt_json *j, const char *key, const char *text); /* NULL: null */

/* A line end between top-level values (JSON lines). */
void vpt_json_newline(struct vpt_json *j);

/* Writes what is left to the sink. 0, or the first failure with its message. */
int vpt_json_finish(struct vpt_json *j, struct vpt_err *err);

#endif
