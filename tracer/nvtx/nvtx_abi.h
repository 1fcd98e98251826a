/* nvtx_abi.h - the binary interface between NVTX's headers in the host and a tool: our own
 * declarations.
 *
 * NVTX 3 is compiled into every library that uses it; NVTX 2 is a library. At its first call,
 * either looks for a tool and hands it tables of slots, one table per module, one slot per
 * function, into which the tool writes its own functions. Numbers and layouts have not changed
 * since they were introduced; with VPT_LAYOUT_CHECKS, tests/layout/ compares them with NVTX's
 * headers. */
#ifndef VPTRACE_TRACER_NVTX_NVTX_ABI_H
#define VPTRACE_TRACER_NVTX_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

/* A function of any signature. */
typedef void (*vtr_nvtx_function)(void);

enum { VTR_NVTX_TABLE_CALLBACKS = 1, VTR_NVTX_TABLE_VERSION = 3, VTR_NVTX_VERSION = 3 };

/* The argument of InitializeInjectionNvtx2(): returns a table by its number. */
typedef const void *(*vtr_nvtx_get_table)(uint32_t table);

struct vtr_nvtx_callbacks { /* VTR_NVTX_TABLE_CALLBACKS */
	size_t struct_bytes;
	/* Gives the slots of a module: table[id] points to the slot of callback `id`; ids begin at
	 * 1. Returns 1, or 0: no such module. */
	int (*module)(int module, vtr_nvtx_function ***table, unsigned *count);
};

struct vtr_nvtx_version { /* VTR_NVTX_TABLE_VERSION */
	size_t struct_bytes;
	uint32_t version, reserved;
	void (*set_tool_version)(uint32_t version);
};

enum vtr_nvtx_module {
	VTR_NVTX_CORE = 1,
	VTR_NVTX_CUDA = 2,
	VTR_NVTX_CUDART = 4,
	VTR_NVTX_CORE2 = 5,
	VTR_NVTX_MODULES = 7
};

enum vtr_nvtx_core {
	VTR_NVTX_MARK_EX = 1,
	VTR_NVTX_MARK_A,
	VTR_NVTX_MARK_W,
	VTR_NVTX_START_EX,
	VTR_NVTX_START_A,
	VTR_NVTX_START_W,
	VTR_NVTX_END,
	VTR_NVTX_PUSH_EX,
	VTR_NVTX_PUSH_A,
	VTR_NVTX_PUSH_W,
	VTR_NVTX_POP,
	VTR_NVTX_NAME_CATEGORY_A,
	VTR_NVTX_NAME_CATEGORY_W,
	VTR_NVTX_NAME_THREAD_A,
	VTR_NVTX_NAME_THREAD_W,
	VTR_NVTX_CORE_COUNT
};

enum vtr_nvtx_core2 {
	VTR_NVTX_DOMAIN_MARK = 1,
	VTR_NVTX_DOMAIN_START,
	VTR_NVTX_DOMAIN_END,
	VTR_NVTX_DOMAIN_PUSH,
	VTR_NVTX_DOMAIN_POP,
	VTR_NVTX_DOMAIN_RESOURCE_CREATE,
	VTR_NVTX_DOMAIN_RESOURCE_DESTROY,
	VTR_NVTX_DOMAIN_NAME_CATEGORY_A,
	VTR_NVTX_DOMAIN_NAME_CATEGORY_W,
	VTR_NVTX_DOMAIN_STRING_A,
	VTR_NVTX_DOMAIN_STRING_W,
	VTR_NVTX_DOMAIN_CREATE_A,
	VTR_NVTX_DOMAIN_CREATE_W,
	VTR_NVTX_DOMAIN_DESTROY,
	VTR_NVTX_INITIALIZE,
	VTR_NVTX_CORE2_COUNT
};

enum { VTR_NVTX_CU_STREAM_A = 5, VTR_NVTX_CU_STREAM_W = 6, VTR_NVTX_CUDA_COUNT = 9 };
enum { VTR_NVTX_CUDA_STREAM_A = 3, VTR_NVTX_CUDA_STREAM_W = 4, VTR_NVTX_CUDART_COUNT = 7 };

/* ---- what an event carries ---- */

enum { VTR_NVTX_COLOUR_ARGB = 1 };
enum { VTR_NVTX_TEXT_ASCII = 1, VTR_NVTX_TEXT_WIDE = 2, VTR_NVTX_TEXT_REGISTERED = 3 };
enum { VTR_NVTX_NUMBER_MAX = 6 }; /* payload types 1 to 6 equal those of events.def */
#define VTR_NVTX_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)
enum { VTR_NVTX_NO_TRACKING = -2 }; /* a push or pop that was not counted */

struct vtr_nvtx_event {
	uint16_t version, size; /* size: of the host's version of the struct */
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t payload_count; /* of VTR_NVTX_PAYLOAD_EXTENDED */
	uint64_t payload;      /* a number's bits, or a struct vtr_nvtx_blob * */
	int32_t text_type;
	int32_t pad;
	const void *text;
};

/* ---- extensions ---- */

struct vtr_nvtx_segment {
	size_t id, slot_count;
	intptr_t *
		/* 0: still empty; otherwise a function, or a small number of NVTX's own */
		slots;
};

struct vtr_nvtx_extension {
	uint16_t version, struct_bytes, module, compatibility;
	size_t segment_count;
	struct vtr_nvtx_segment *segments;
	intptr_t (*get_function)(uint32_t id);
	const void *info;
};

enum {
	VTR_NVTX_PAYLOAD_MODULE = 2,
	VTR_NVTX_PAYLOAD_SLOTS = 63,
	VTR_NVTX_SLOT_STATES = 15 /* values up to this are states, not functions */
};

enum vtr_nvtx_payload_slot {
	VTR_NVTX_SCHEMA_REGISTER = 0,
	VTR_NVTX_ENUM_REGISTER = 1,
	VTR_NVTX_MARK_PAYLOAD = 2,
	VTR_NVTX_PUSH_PAYLOAD = 3,
	VTR_NVTX_POP_PAYLOAD = 4,
	VTR_NVTX_START_PAYLOAD = 5,
	VTR_NVTX_END_PAYLOAD = 6,
	VTR_NVTX_DOMAIN_ENABLED = 7,
	VTR_NVTX_SCOPE_REGISTER = 12
};

struct vtr_nvtx_blob {
	uint64_t schema;
	size_t bytes; /* SIZE_MAX: use the schema's size */
	const void *data;
};

enum {
	VTR_NVTX_SCHEMA_HAS_NAME = 1 << 1,
	VTR_NVTX_SCHEMA_HAS_TYPE = 1 << 2,
	VTR_NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
	VTR_NVTX_SCHEMA_HAS_COUNT = 1 << 5,
	VTR_NVTX_SCHEMA_HAS_SIZE = 1 << 6,
	VTR_NVTX_SCHEMA_HAS_ID = 1 << 8,
	VTR_NVTX_ENUM_HAS_ENTRIES = 1 << 2,
	VTR_NVTX_ENUM_HAS_COUNT = 1 << 3,
	VTR_NVTX_ENUM_HAS_SIZE = 1 << 4,
	VTR_NVTX_ENUM_HAS_ID = 1 << 5
};
enum { VTR_NVTX_SCHEMA_STATIC = 1 };
enum {
	VTR_NVTX_FIRST_STATIC_ID = 1 << 24, /* smaller ids: NVTX's own types */
	/* flags of pointers, offsets and arrays */
	VTR_NVTX_ENTRY_NOT_A_NUMBER = 0x7e
};

enum vtr_nvtx_type {
	VTR_NVTX_CHAR = 1,
	VTR_NVTX_UCHAR,
	VTR_NVTX_SHORT,
	VTR_NVTX_USHORT,
	VTR_NVTX_INT,
	VTR_NVTX_UINT,
	VTR_NVTX_LONG,
	VTR_NVTX_ULONG,
	VTR_NVTX_LONGLONG,
	VTR_NVTX_ULONGLONG,
	VTR_NVTX_INT8,
	VTR_NVTX_UINT8,
	VTR_NVTX_INT16,
	VTR_NVTX_UINT16,
	VTR_NVTX_INT32,
	VTR_NVTX_UINT32,
	VTR_NVTX_INT64,
	VTR_NVTX_UINT64,
	VTR_NVTX_FLOAT,
	VTR_NVTX_DOUBLE,
	VTR_NVTX_SIZE = 22,
	VTR_NVTX_ADDRESS,
	VTR_NVTX_BYTE = 32,
	VTR_NVTX_FLOAT32 = 43,
	VTR_NVTX_FLOAT64
};
#define VTR_NVTX_FIRST_DYNAMIC_ID                                                                  \
	(UINT64_C(1) << 32) /* smaller ids: chosen by the host, per domain */

struct vtr_nvtx_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

struct vtr_nvtx_schema {
	uint64_t fields; /* VTR_NVTX_SCHEMA_HAS_* */
	const char *name;
	uint64_t type, flags;
	const void *entries;
	size_t entry_count, static_bytes, alignment;
	uint64_t id;
	void *extension;
};

struct vtr_nvtx_enum {
	uint64_t fields; /* VTR_NVTX_ENUM_HAS_* */
	const char *name;
	const void *entries;
	size_t entry_count, value_bytes;
	uint64_t id;
	void *extension;
};

struct vtr_nvtx_scope {
	size_t struct_bytes;
	const char *path;
	uint64_t parent, id;
};

#endif
