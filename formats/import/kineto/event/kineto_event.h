/* kineto_event.h - one event of the profiler: its members as numbers and texts, and its lane.
 *
 * An absent member reads as 0. A member that cannot be used as it is counts in the import's
 * statistics. */
#ifndef VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_EVENT_H
#define VPT_FORMATS_IMPORT_KINETO_EVENT_KINETO_EVENT_H

#include "formats/import/kineto/event/kineto_import.h"
#include "formats/import/kineto/text/kineto_value.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* An event of phase X, i or C, with its common members extracted. All borrowed. */
struct vpt_kineto_event {
	const struct vpt_kineto_value *object;
	const struct vpt_kineto_value *args; /* NULL if there are none */
	struct vpt_text name;                /* text NULL if there is none */
	uint64_t start_ns, duration_ns;
};

/* ---- numbers: member `key` of an object, which may be NULL ---- */

/* A number that was found already, times 10^scale; NULL: there is none. Returns 0 if it is absent or not a
 * number; *value may then be unchanged. */
int vpt_kineto_scaled_in(struct vpt_kineto_rows *r, const struct vpt_kineto_value *number,
	int scale, int64_t *value);
/* A count or id that is 0 if absent. A negative one reads as 0 and is counted. */
uint64_t vpt_kineto_natural_in(struct vpt_kineto_rows *r, const struct vpt_kineto_value *number);

/* The same of a member. These are inline, so that the length of its name is a constant. */
static inline int vpt_kineto_scaled(struct vpt_kineto_rows *r,
	const struct vpt_kineto_value *object, const char *key, int scale, int64_t *value)
{
	return vpt_kineto_scaled_in(r, vpt_kineto_member(object, key), scale, value);
}

static inline int vpt_kineto_integer(struct vpt_kineto_rows *r,
	const struct vpt_kineto_value *object, const char *key, int64_t *value)
{
	return vpt_kineto_scaled_in(r, vpt_kineto_member(object, key), 0, value);
}

static inline uint64_t vpt_kineto_natural(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, const char *key)
{
	return vpt_kineto_natural_in(r, vpt_kineto_member(object, key));
}

/* The same for a member with two spellings; the first one present is used. */
uint64_t vpt_kineto_natural_of(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	const char *key, const char *other);

/* An id, or -1 if there is none: the profiler then writes -1, signed or unsigned. */
int64_t vpt_kineto_optional_id(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, const char *key);

/* ---- text ---- */

/* Interns a text in the collector; counts a bad one. */
uint64_t vpt_kineto_put_text(struct vpt_kineto_rows *r, struct vpt_text text);

/* Whether a text equals a word, ignoring case. */
static inline int vpt_kineto_same_word(const char *word, struct vpt_text text)
{
	return text.text && strlen(word) == text.len && !strncasecmp(word, text.text, text.len);
}

/* ---- lanes ---- */

/* The entry of the thread that an object's pid and tid identify. NULL: they identify none, or there
 * is no memory. */
struct vpt_kineto_thread *vpt_kineto_thread_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object);

/* The lane of that thread; 0 if there is none. */
uint64_t vpt_kineto_thread_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

/* The lane of a stream; the event identifies its process and context. Only our own files name the
 * process. */
uint64_t vpt_kineto_stream_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	int64_t device, int64_t stream);
/* The same of another context. */
uint64_t vpt_kineto_context_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	int64_t device, uint64_t context, int64_t stream);

/* The device and the stream of an op. Return 0 if the event does not name it. */
int vpt_kineto_device_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *device);
int vpt_kineto_stream_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *stream);

#endif
