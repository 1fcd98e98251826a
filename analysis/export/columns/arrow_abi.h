/* arrow_abi.h - the Arrow C data interface and C stream interface, as their specifications give them, for every consumer to
 * include: https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html. */
#ifndef VPA_ANALYSIS_EXPORT_COLUMNS_ARROW_ABI_H
#define VPA_ANALYSIS_EXPORT_COLUMNS_ARROW_ABI_H

#include <stdint.h>

/* The guards are those of the specifications, so that other headers may have the structs too. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *); /* NULL: released */
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	/* 0 or an errno. get_next() gives a released array at the end. */
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif
#endif
