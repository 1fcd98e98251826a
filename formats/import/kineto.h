/* kineto.h - the parts of the PyTorch profiler importer, private to it.
 *
 *	source --> bytes (gunzip) --> document (one JSON value at a time) --> rows --> collector
 *	kineto_bytes.c         kineto.c                         kineto_rows.c
 *
 * kineto_value.c turns single JSON values into integers and checks text;
 * kineto_threads.c keeps the names of threads until their rows have come;
 * kineto_flows.c joins what has no correlation ids; kineto_own.c reads what our exports add. */
#ifndef VPT_FORMATS_IMPORT_KINETO_H
#define VPT_FORMATS_IMPORT_KINETO_H

#include "formats/import/import.h"
#include "formats/strings.h"

#include <json-c/json.h>

#include <stddef.h>
#include <stdint.h>

/* ---- bytes: the text of a plain or gzip source, block by block ---- */

struct vpt_kineto_inflate;

struct vpt_kineto_bytes {
	const unsigned char *cur, *end; /* text not yet taken; the taker moves cur */
	uint64_t end_offset;            /* offset of `end` in the text */
	int torn;                       /* the gzip ended early or is damaged */
	int gzip;                       /* the source is compressed */

	struct vpt_source *src; /* borrowed */
	uint64_t offset;        /* of the source, next to be read */
	int finished;
	uint64_t text_max;                  /* bytes of text that a gzip may unpack to */
	struct vpt_kineto_inflate *inflate; /* NULL unless gzip */
	unsigned char *block;
};

/* Begins at the start of `src`, which stays the caller's. 0, VPT_EIO or VPT_ENOMEM; call close
 * either way. */
int vpt_kineto_bytes_open(struct vpt_kineto_bytes *b, struct vpt_source *src, struct vpt_err *err);
void vpt_kineto_bytes_close(struct vpt_kineto_bytes *b);

/* Asks for more once cur has reached end. 0: at least one byte is there; VPT_END: no more, and
 * b->torn tells whether there should have been; VPT_EIO, VPT_ENOMEM. */
int vpt_kineto_bytes_fill(struct vpt_kineto_bytes *b, struct vpt_err *err);

static inline uint64_t vpt_kineto_bytes_offset(const struct vpt_kineto_bytes *b)
{
	return b->end_offset - (uint64_t)(b->end - b->cur);
}

/* ---- values ---- */

enum vpt_kineto_number {
	VPT_KINETO_EXACT,
	VPT_KINETO_ROUNDED, /* the value was rounded, half to even */
	VPT_KINETO_ABSENT,  /* no value, or null */
	VPT_KINETO_BAD      /* no number, not finite, or beyond int64_t */
};

/* Digits times 10^scale as an integer, by decimal arithmetic on the text: "1.5" at scale 3 is 1500.
 * Understands a sign, a point and an exponent. *value is set unless BAD. */
enum vpt_kineto_number vpt_kineto_decimal(const char *text, size_t len, int scale, int64_t *value);

/* The same of a JSON number or of a string that holds one. */
enum vpt_kineto_number vpt_kineto_number(struct json_object *object, int scale, int64_t *value);

/* Member `key` of an object; NULL if there is none or `object` is no object. */
struct json_object *vpt_kineto_member(struct json_object *object, const char *key);

/* The bytes of a string, borrowed; text NULL if it is none. */
struct vpt_text vpt_kineto_text(struct json_object *object);

/* Whether this is valid UTF-8 without control characters. */
int vpt_kineto_text_is_clean(struct vpt_text text);

/* ---- threads ---- */

struct vpt_kineto_thread {
	int64_t pid, tid;
	uint64_t lane; /* of the collector; 0 until it has a row */
	uint64_t name; /* of the collector's strings; 0 until it is named */
	int used;
};

/* All zeros is an empty table. */
struct vpt_kineto_threads {
	struct vpt_kineto_thread *slots;
	size_t slot_count, count;
};

/* The entry of a thread, made on first use; valid until the next get. NULL when there is no memory.
 */
struct vpt_kineto_thread *vpt_kineto_threads_get(
	struct vpt_kineto_threads *all, int64_t pid, int64_t tid);

/* Names the lanes of the threads that have rows, however late the names came. */
void vpt_kineto_threads_name_lanes(const struct vpt_kineto_threads *all, struct vpt_collect *c);

void vpt_kineto_threads_free(struct vpt_kineto_threads *all);

/* ---- rows ---- */

/* What a file that vptrace-analyze wrote says of itself; all zeros in others. */
struct vpt_kineto_own {
	int is_own;
	uint64_t start_ns, end_ns; /* of the capture; 0: not told */
	uint64_t shift_ns;         /* times are told from here */
	int has_realtime;
	uint64_t unix_offset_ns; /* see vpt_collect_realtime(); undefined if it has none */
};

/* ---- flows: arrows that stand for correlation ids where rows have none ---- */

/* All zeros is empty. */
struct vpt_kineto_flows {
	struct vpt_kineto_waiting *rows;
	struct vpt_kineto_arrow *arrows;
	size_t row_count, row_cap, arrow_count, arrow_cap;
};

struct vpt_kineto_rows {
	struct vpt_collect *collect;    /* borrowed */
	struct vpt_import_stats *stats; /* borrowed */
	struct vpt_kineto_threads threads;
	struct vpt_kineto_own own;
	struct vpt_kineto_flows flows;
	uint64_t last_start_ns; /* of the latest row, 0 before the first */
	int no_memory;          /* sticky */
};

/* Puts one element of traceEvents, or counts why not. */
void vpt_kineto_rows_event(struct vpt_kineto_rows *r, struct json_object *event);

/* Whether an event of this phase and category would only be counted as skipped. */
int vpt_kineto_rows_needless(
	const struct vpt_kineto_rows *r, struct vpt_text phase, struct vpt_text category);

/* An event of phase X, i or C, its common members taken out. */
struct vpt_kineto_event {
	struct json_object *object;
	struct json_object *args; /* NULL if there are none */
	struct vpt_text name;     /* text NULL if there is none */
	uint64_t start_ns, duration_ns;
};

/* Member `key` as a whole number; 0 if it is absent or none, the latter counted. */
int vpt_kineto_integer(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key, int64_t *value);

/* A count or id where absent means 0; a negative one is bent to 0 and counted. */
uint64_t vpt_kineto_natural(struct vpt_kineto_rows *r, struct json_object *object, const char *key);

/* An id for which the profiler writes -1, signed or not, where there is none. */
int64_t vpt_kineto_optional_id(
	struct vpt_kineto_rows *r, struct json_object *object, const char *key);

/* VPT_COPYKIND_* of a copy: named by ROCm, "CopyHostToDevice", or a hipMemcpyKind in digits. Else 0, unknown. */
uint64_t vpt_kineto_spelled_direction(struct vpt_text text);
uint64_t vpt_kineto_numbered_direction(struct vpt_text text);

/* Whether a text is a word, in any case. */
int vpt_kineto_same_word(const char *word, struct vpt_text text);

/* The collector's id of a text; bad ones are counted. */
uint64_t vpt_kineto_put_text(struct vpt_kineto_rows *r, struct vpt_text text);

/* The lane of the thread that an event names, 0 if it names none; of the stream that arguments tell more of. */
uint64_t vpt_kineto_thread_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
uint64_t vpt_kineto_stream_lane(
	struct vpt_kineto_rows *r, struct json_object *args, int64_t device, int64_t stream);

/* Which device and stream an op is of; 0: it does not tell. */
int vpt_kineto_device_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *device);
int vpt_kineto_stream_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, int64_t *stream);

/* kineto_waits.c: each puts a row; 0 if the event lacks what the kind needs. */
int vpt_kineto_put_sync(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
int vpt_kineto_put_record(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
int vpt_kineto_put_overhead(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

/* Puts deviceProperties: an array of objects, one a GPU. */
void vpt_kineto_rows_devices(struct vpt_kineto_rows *r, struct json_object *devices);

/* Puts a row of KERNEL, COPY or CALL; one whose event has no correlation id waits for an arrow. */
void vpt_kineto_put_joined(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	enum vpt_kind kind, uint64_t lane, const void *row);
/* Takes one end of an arrow, unless it lacks what it needs. */
void vpt_kineto_flow(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
/* The file is read: puts what waits, with the ids that were found. */
void vpt_kineto_flows_end(struct vpt_kineto_rows *r);
void vpt_kineto_flows_free(struct vpt_kineto_flows *f);

/* ---- what only files of ours hold: kineto_own.c ---- */

/* The members "vptrace" and "vptraceEnd". */
void vpt_kineto_own_begin(struct vpt_kineto_rows *r, struct json_object *value);
void vpt_kineto_own_end(struct vpt_kineto_rows *r, struct json_object *value);

/* What NVTX told of a range besides its name. Returns 1 if the range never ended, and so is put already. */
int vpt_kineto_own_range(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, uint64_t lane,
	struct vpt_range *range);
/* The lane of the thread that the arguments name; 0: none. */
uint64_t vpt_kineto_own_thread(struct vpt_kineto_rows *r, struct json_object *args);
void vpt_kineto_own_device(
	struct vpt_kineto_rows *r, struct json_object *object, struct vpt_device *device);

/* Put a row; 0 if the event lacks what the kind needs. */
int vpt_kineto_own_mark(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
int vpt_kineto_own_counter(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
/* kineto_memory.c */
enum { VPT_KINETO_NOT_MEANT = 2 }; /* in place of 1 or 0: nobody expects a row of this event */
int vpt_kineto_put_memory(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);
int vpt_kineto_own_other(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

#endif
