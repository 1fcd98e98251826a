/* vptrace_nvtx.h - says what a video pipeline is doing: request, stage, block, step, frames ready.
 * For C and C++.
 *
 *	vptrace_request_push("a cat on a skateboard");
 *	vptrace_stage_push("text encoding"); ... vptrace_pop();
 *	for (block = 0; block < blocks; block++) {
 *		vptrace_block_push(block, 12, 3);                // frames, latent frames
 *		for (step = 0; step < steps; step++) {
 *			vptrace_step_push(step, timestep[step]); ... vptrace_pop();
 *		}
 *		vptrace_context_push(block); ... vptrace_pop();  // writes the KV cache
 *		vptrace_pop();
 *		vptrace_frames_ready(block, 12);
 *	}
 *	vptrace_pop();
 *
 * With NVTX's headers these are NVTX ranges of the domain "vptrace" with payloads, so other tools
 * show them too. Without the headers, with VPTRACE_NO_NVTX defined, or without an NVTX tool, they
 * go to libvptrace.so if the process has loaded it before the first call. Otherwise a call costs a
 * load and a branch.
 *
 * Every push needs a vptrace_pop() on the same thread. Indexes count from 0. An unknown number is
 * negative. Strings may be NULL and are copied. Any thread may call any function; none fails. No
 * linking is needed, except -ldl with a C library older than glibc 2.34. */
#ifndef VPTRACE_NVTX_H
#define VPTRACE_NVTX_H

#include "vptrace.h"

#include <dlfcn.h>
#include <string.h>

#if !defined(VPTRACE_NO_NVTX) && defined(__has_include)
/* An NVTX included earlier may be older than this extension, from another folder: they cannot be
 * mixed. */
#if __has_include(<nvtx3/nvToolsExtPayload.h>) && (!defined(NVTX_VERSION) || defined(NVTX_NULLPTR))
#include <nvtx3/nvToolsExtPayload.h>
#define VPTRACE_WITH_NVTX 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the functions ---- */

/* One requested video; `name` is the prompt, or an id. NULL: "request". */
static inline void vptrace_request_push(const char *name);

/* A part of a request that is not a block: "text encoding", "VAE decoding" ... NULL: "stage". */
static inline void vptrace_stage_push(const char *name);

/* One generated block: its index in the request, its video frames, its latent frames. */
static inline void vptrace_block_push(int64_t index, int64_t frames, int64_t latents);

/* One denoising iteration: its index in the block, and the schedule's timestep. */
static inline void vptrace_step_push(int64_t index, double timestep);

/* The pass that writes the KV cache of block `index`. */
static inline void vptrace_context_push(int64_t index);

/* Ends this thread's last push. */
static inline void vptrace_pop(void);

/* Marks the moment when the frames of block `index` are ready to be shown. */
static inline void vptrace_frames_ready(int64_t index, int64_t frames);

/* ---- the plumbing: do not call anything below ---- */

enum { VPTRACE_TO_UNKNOWN = 0, VPTRACE_TO_NOBODY = 1, VPTRACE_TO_LIBRARY = 2, VPTRACE_TO_NVTX = 3 };

struct vptrace_target_ {
	int to; /* VPTRACE_TO_*; the rest is set before it */
	void (*push)(const char *name, const struct vptrace_note *note);
	void (*mark)(const char *name, const struct vptrace_note *note);
	void (*pop)(void);
	void *domain; /* NVTX's; schema: its id of struct vptrace_note; 0: none */
	uint64_t schema;
};

/* One per program or library, however many of its files include this. */
__attribute__((weak, visibility("hidden"))) struct vptrace_target_ vptrace_target_;

#ifdef VPTRACE_WITH_NVTX

static inline void vptrace_entry_(
	nvtxPayloadSchemaEntry_t *entry, const char *name, uint64_t type, uint64_t offset)
{
	memset(entry, 0, sizeof(*entry));
	entry->name = name;
	entry->type = type;
	entry->offset = offset;
}

/* The payload's layout is struct vptrace_note. */
static inline int vptrace_find_nvtx_(struct vptrace_target_ *t)
{
	nvtxPayloadSchemaEntry_t entries[5];
	nvtxPayloadSchemaAttr_t attr;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("vptrace");

	if (!domain)
		return 0;
	t->domain = (void *)domain;
	vptrace_entry_(&entries[0], "kind", NVTX_PAYLOAD_ENTRY_TYPE_INT64, 0);
	vptrace_entry_(&entries[1], "index", NVTX_PAYLOAD_ENTRY_TYPE_INT64, 8);
	vptrace_entry_(&entries[2], "frames", NVTX_PAYLOAD_ENTRY_TYPE_INT64, 16);
	vptrace_entry_(&entries[3], "latents", NVTX_PAYLOAD_ENTRY_TYPE_INT64, 24);
	vptrace_entry_(&entries[4], "timestep", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, 32);
	memset(&attr, 0, sizeof(attr));
	attr.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	attr.name = "vptrace";
	attr.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	attr.entries = entries;
	attr.numEntries = 5;
	attr.payloadStaticSize = sizeof(struct vptrace_note);
	t->schema = nvtxPayloadSchemaRegister(domain, &attr);
	return 1;
}

static inline nvtxDomainHandle_t vptrace_domain_(void)
{
	return (nvtxDomainHandle_t)__atomic_load_n(&vptrace_target_.domain, __ATOMIC_RELAXED);
}

static inline void vptrace_nvtx_event_(
	const char *name, const struct vptrace_note *note, int is_mark)
{
	uint64_t schema = __atomic_load_n(&vptrace_target_.schema, __ATOMIC_RELAXED);
	nvtxEventAttributes_t event;
	nvtxPayloadData_t data;

	memset(&event, 0, sizeof(event));
	event.version = NVTX_VERSION;
	event.size = (uint16_t)sizeof(event);
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = name;
	if (schema) {
		data.schemaId = schema;
		data.size = sizeof(*note);
		data.payload = note;
		event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
		event.reserved0 = 1; /* the number of payloads */
		event.payload.ullValue = (uint64_t)(uintptr_t)&data;
	}
	if (is_mark)
		nvtxDomainMarkEx(vptrace_domain_(), &event);
	else
		nvtxDomainRangePushEx(vptrace_domain_(), &event);
}

#endif

static inline void *vptrace_symbol_(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		symbol = dlsym(NULL, name); /* linked into the program, or loaded for all to see */
	return symbol;
}

/* NULL if the program is not linked with the library. dlsym() finds no symbols of a static one. */
extern void vptrace_linked_push_(const char *name, const struct vptrace_note *note) __asm__(
	"vptrace_note_push") __attribute__((weak));
extern void vptrace_linked_mark_(const char *name, const struct vptrace_note *note) __asm__(
	"vptrace_note_mark") __attribute__((weak));
extern void vptrace_linked_pop_(void) __asm__("vptrace_range_pop") __attribute__((weak));

static inline int vptrace_find_library_(struct vptrace_target_ *t)
{
	void *library, *push, *mark, *pop;

	t->push = vptrace_linked_push_;
	t->mark = vptrace_linked_mark_;
	t->pop = vptrace_linked_pop_;
	if (t->push && t->mark && t->pop)
		return 1;
	library = dlopen(VPTRACE_SONAME, RTLD_LAZY | RTLD_NOLOAD);
	push = vptrace_symbol_(library, "vptrace_note_push");
	mark = vptrace_symbol_(library, "vptrace_note_mark");
	pop = vptrace_symbol_(library, "vptrace_range_pop");
	if (!push || !mark || !pop)
		return 0;
	memcpy(&t->push, &push, sizeof(push));
	memcpy(&t->mark, &mark, sizeof(mark));
	memcpy(&t->pop, &pop, sizeof(pop));
	return 1;
}

/* Finds the listener once. Threads that do so at the same time get the same result. */
static inline int vptrace_find_(void)
{
	struct vptrace_target_ found;

	memset(&found, 0, sizeof(found));
	found.to = VPTRACE_TO_NOBODY;
#ifdef VPTRACE_WITH_NVTX
	if (vptrace_find_nvtx_(&found))
		found.to = VPTRACE_TO_NVTX;
#endif
	if (found.to == VPTRACE_TO_NOBODY && vptrace_find_library_(&found))
		found.to = VPTRACE_TO_LIBRARY;
	__atomic_store_n(&vptrace_target_.domain, found.domain, __ATOMIC_RELAXED);
	__atomic_store_n(&vptrace_target_.schema, found.schema, __ATOMIC_RELAXED);
	__atomic_store_n(&vptrace_target_.push, found.push, __ATOMIC_RELAXED);
	__atomic_store_n(&vptrace_target_.mark, found.mark, __ATOMIC_RELAXED);
	__atomic_store_n(&vptrace_target_.pop, found.pop, __ATOMIC_RELAXED);
	__atomic_store_n(&vptrace_target_.to, found.to, __ATOMIC_RELEASE);
	return found.to;
}

static inline int vptrace_to_(void)
{
	int to = __atomic_load_n(&vptrace_target_.to, __ATOMIC_ACQUIRE);

	return to == VPTRACE_TO_UNKNOWN ? vptrace_find_() : to;
}

/* Writes "<word> <index>", or only the word if the index is negative. */
static inline const char *vptrace_numbered_(char out[48], const char *word, int64_t index)
{
	char digits[24];
	size_t len = strlen(word), count = 0;

	memcpy(out, word, len);
	if (index >= 0) {
		out[len++] = ' ';
		do {
			digits[count++] = (char)('0' + index % 10);
			index /= 10;
		} while (index);
		while (count)
			out[len++] = digits[--count];
	}
	out[len] = 0;
	return out;
}

/* `name` NULL: `word` and the note's index. */
static inline void vptrace_note_(
	const char *name, const char *word, const struct vptrace_note *note)
{
	int to = vptrace_to_(), is_mark = note->kind == VPTRACE_NOTE_FRAMES;
	char text[48];

	if (to == VPTRACE_TO_NOBODY)
		return;
	if (!name)
		name = vptrace_numbered_(text, word, note->index);
	if (to == VPTRACE_TO_LIBRARY && is_mark)
		__atomic_load_n(&vptrace_target_.mark, __ATOMIC_RELAXED)(name, note);
	else if (to == VPTRACE_TO_LIBRARY)
		__atomic_load_n(&vptrace_target_.push, __ATOMIC_RELAXED)(name, note);
#ifdef VPTRACE_WITH_NVTX
	if (to == VPTRACE_TO_NVTX)
		vptrace_nvtx_event_(name, note, is_mark);
#endif
}

static inline struct vptrace_note vptrace_make_note_(enum vptrace_note_kind kind, int64_t index,
	int64_t frames, int64_t latents, double timestep)
{
	struct vptrace_note note;

	note.kind = kind;
	note.index = index;
	note.frames = frames;
	note.latents = latents;
	note.timestep = timestep;
	return note;
}

/* ---- the functions, defined ---- */

static inline void vptrace_request_push(const char *name)
{
	struct vptrace_note note = vptrace_make_note_(VPTRACE_NOTE_REQUEST, -1, -1, -1, -1);

	vptrace_note_(name, "request", &note);
}

static inline void vptrace_stage_push(const char *name)
{
	struct vptrace_note note = vptrace_make_note_(VPTRACE_NOTE_STAGE, -1, -1, -1, -1);

	vptrace_note_(name, "stage", &note);
}

static inline void vptrace_block_push(int64_t index, int64_t frames, int64_t latents)
{
	struct vptrace_note note =
		vptrace_make_note_(VPTRACE_NOTE_BLOCK, index, frames, latents, -1);

	vptrace_note_(NULL, "block", &note);
}

static inline void vptrace_step_push(int64_t index, double timestep)
{
	struct vptrace_note note = vptrace_make_note_(VPTRACE_NOTE_STEP, index, -1, -1, timestep);

	vptrace_note_(NULL, "step", &note);
}

static inline void vptrace_context_push(int64_t index)
{
	struct vptrace_note note = vptrace_make_note_(VPTRACE_NOTE_CONTEXT, index, -1, -1, -1);

	vptrace_note_("context pass", NULL, &note);
}

static inline void vptrace_pop(void)
{
	int to = vptrace_to_();

	if (to == VPTRACE_TO_LIBRARY)
		__atomic_load_n(&vptrace_target_.pop, __ATOMIC_RELAXED)();
#ifdef VPTRACE_WITH_NVTX
	if (to == VPTRACE_TO_NVTX)
		nvtxDomainRangePop(vptrace_domain_());
#endif
}

static inline void vptrace_frames_ready(int64_t index, int64_t frames)
{
	struct vptrace_note note = vptrace_make_note_(VPTRACE_NOTE_FRAMES, index, frames, -1, -1);

	vptrace_note_("frames ready", NULL, &note);
}

#ifdef __cplusplus
}
#endif

#endif
