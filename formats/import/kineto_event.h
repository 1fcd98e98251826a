/* kineto_event.h - one event of the profiler: its members as numbers and texts, its lane.
 *
 * What is absent reads as 0; what is there and cannot be taken as it is, is counted in the
 * statistics of the import. */
#ifndef VPT_FORMATS_IMPORT_KINETO_EVENT_H
#define VPT_FORMATS_IMPORT_KINETO_EVENT_H

#include "formats/import/kineto_import.h"
#include "formats/import/kineto_value.h"

#include <stdint.h>

/* An event of phase X, i or C, its common members taken out. All of it is borrowed. */
struct vpt_kineto_event {
	struct json_object *object;
	struct json_object *args; /* NULL if there are none */
	struct vpt_text name;     /* text NULL if there is none */
	uint64_t start_ns, duration_ns;
};

/* ---- numbers: member `key` of an object, which may be NULL ---- */

/* The member times 10^scale. Returns 0 if it is absent or no number; *value may then stay as it
 * was. */
int vpt_kineto_scaled(struct vpt_kineto_rows *r, struct json_object *object, const char *key,
	int scale, int64_t *value);

/* The same at scale 0. */
int vpt_kineto_integer(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key, int64_t *value);

/* A count or id where absent means 0; a negative one reads as 0 and is counted. */
uint64_t vpt_kineto_natural(struct vpt_kineto_rows *r, struct json_object *object, const char *key);

/* The same of the first of two spellings that is there. */
uint64_t vpt_kineto_natural_of(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key, const char *other);

/* An id for which the profiler writes -1, signed or not, where there is none: then -1. */
int64_t vpt_kineto_optional_id(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key);

/* ---- text ---- */

/* The collector's id of a text; bad ones are counted. */
uint64_t vpt_kineto_put_text(struct vpt_kineto_rows *r, struct vpt_text text);

/* Whether a text is a word, in any case. */
int vpt_kineto_same_word(const char *word, struct vpt_text text);

/* ---- lanes ---- */

/* The entry of the thread that an object's pid and tid name. NULL: it names none, or there is no
 * memory. */
struct vpt_kineto_thread *vpt_kineto_thread_of(
	struct vpt_kineto_rows *r, struct json_object *object);

/* The lane of that thread; 0 if there is none. */
uint64_t vpt_kineto_thread_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

/* The lane of a stream; `args` may say more of it. */
uint64_t vpt_kineto_stream_lane(
	struct vpt_kineto_rows *r, struct json_object *args, int64_t device, int64_t stream);

/* Which device and stream an op is of. Return 0 if the event does not say. */
int vpt_kineto_device_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *device);
int vpt_kineto_stream_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *stream);

#endif
