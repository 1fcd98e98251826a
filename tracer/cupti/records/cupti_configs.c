/* cupti_configs.c - two caches: launch shapes by content, in front of kernel names by pointer.
 *
 *	record -> shape (name pointer, grid, block ...) -> row of CONFIG
 *	            four places each; believed within one buffer and one chunk
 *	name pointer -> our copy -> row of STRING
 *	            a table; compared once a buffer
 *
 * A video model launches the same few hundred shapes repeatedly, so the cost is comparing a shape,
 * eight words. In the next buffer a shape is trusted again once its name has been compared, once
 * for all shapes of that name. Models repeat whole sequences of launches, so we first try the shape
 * that followed the last few shapes before: no hash, and no branch that the processor cannot
 * predict. */
#include "tracer/cupti/records/cupti_decoder.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "tracer/clock/capture_clock.h"
#include "tracer/guest/own_memory.h"

#include <stdio.h>
#include <string.h>

enum {
	SHAPES = 2048, /* a power of two */
	PLACES = 4,    /* places for one shape */
	PASTS = 8192,  /* a power of two: successors of that many short sequences */
	PAST_SHIFT = 3,
	SHAPE_WORDS = 8,
	NAME_SLOTS = 1 << 15,
	NAMES_MAX = NAME_SLOTS / 2,
	NAME_BYTES_MAX = 65535,
	NAMES_BYTES_MAX = 8 << 20,
	TRUSTED_NS = 20000000
};

/* What is compared and what is found: one cache line each. */
enum { LINE = 64 };

struct shape {
	_Alignas(LINE) uint64_t words[SHAPE_WORDS];
};

struct place {
	_Alignas(LINE) uint64_t believed; /* in what epoch; 0: unused */
	uint64_t config;
	uint64_t chunk; /* in which that and its string are valid */
	uint64_t string;
	struct name *name; /* its name's slot; may belong to another name by now */
};

struct name {
	const char *pointer; /* CUPTI's; NULL: slot unused */
	char *copy;
	size_t len;
	uint64_t buffer, chunk;
	uint64_t string;
	uint64_t read_ns; /* CLOCK_MONOTONIC when it was last read */
};

struct vtr_configs {
	struct shape shapes[SHAPES];
	struct place places[SHAPES];
	uint16_t next[PASTS]; /* the place that last followed this history */
	uint32_t past;        /* the last three places or so, mixed */
	uint32_t next_place;
	struct name names[NAME_SLOTS];
	size_t name_count, name_bytes;
	uint64_t buffer; /* number of the current buffer */
	uint64_t epoch;  /* of that buffer and the chunk below */
	uint64_t chunk;
	void *memory;              /* in which this struct is aligned to a cache line */
	char text[NAME_BYTES_MAX]; /* a name just read */
	uint64_t now_ns;           /* CLOCK_MONOTONIC at the beginning of the buffer */
};

struct vtr_configs *vtr_configs_new(void)
{
	char *memory = vpt_calloc(1, sizeof(struct vtr_configs) + LINE);
	struct vtr_configs *c;

	if (!memory)
		return NULL;
	c = (struct vtr_configs *)(memory + (LINE - (uintptr_t)memory % LINE));
	c->memory = memory;
	return c;
}

static void forget_names(struct vtr_configs *c)
{
	size_t i;

	for (i = 0; i < NAME_SLOTS; i++)
		vpt_free(c->names[i].copy);
	memset(c->names, 0, sizeof(c->names));
	c->name_count = c->name_bytes = 0;
}

void vtr_configs_free(struct vtr_configs *c)
{
	if (!c)
		return;
	forget_names(c);
	vpt_free(c->memory);
}

void vtr_configs_begin(struct vtr_configs *c)
{
	forget_names(c);
	memset(c->places, 0, sizeof(c->places));
}

void vtr_configs_buffer(struct vtr_configs *c)
{
	c->now_ns = vtr_clock_ns(CLOCK_MONOTONIC);
	c->buffer++;
	c->epoch++;
}

/* ---- names ---- */

static struct name *name_slot(struct vtr_configs *c, const char *pointer)
{
	size_t slot = (size_t)vpt_hash_number((uintptr_t)pointer) % NAME_SLOTS;

	while (c->names[slot].pointer && c->names[slot].pointer != pointer)
		slot = (slot + 1) % NAME_SLOTS;
	return &c->names[slot];
}

/* Replaces the copy of a name by the text just read. 0 or -1: no memory. */
static int copy_name(struct vtr_configs *c, struct name *n, const char *pointer, size_t len)
{
	char *copy = vpt_strndup(c->text, len);

	if (!copy)
		return -1;
	c->name_count += !n->pointer;
	c->name_bytes += len;
	vpt_free(n->copy);
	*n = (struct name){.pointer = pointer, .copy = copy, .len = len};
	return 0;
}

/* Reads a pointer's current text into c->text. Returns the length. */
static size_t read_name(struct vtr_configs *c, const char *pointer)
{
	ssize_t len = vtr_foreign_text(pointer, c->text, sizeof(c->text));

	if (len < 0)
		len = snprintf(c->text, sizeof(c->text), "(name gone)");
	return (size_t)len;
}

/* Reading a name costs some microseconds, so one read a moment ago counts as unchanged. */
static int is_trusted(const struct vtr_configs *c, const struct name *n)
{
	return n->pointer && c->now_ns - n->read_ns < TRUSTED_NS;
}

/* The string of a name in the open chunk, and the name's slot, NULL: none. */
static uint64_t string_of(
	struct vtr_configs *c, struct vtr_recorder *r, const char *pointer, struct name **slot)
{
	struct name *n;

	*slot = NULL;
	if (!pointer)
		return 0;
	if (c->name_count >= NAMES_MAX || c->name_bytes >= NAMES_BYTES_MAX)
		forget_names(c);
	n = name_slot(c, pointer);
	if (n->buffer != c->buffer) {
		if (!is_trusted(c, n)) {
			size_t len = read_name(c, pointer);

			if ((!n->pointer || n->len != len || memcmp(n->copy, c->text, len)) &&
				copy_name(c, n, pointer, len))
				return vpt_batch_string(vtr_recorder_batch(r), c->text, len);
			n->read_ns = c->now_ns;
		}
		n->buffer = c->buffer;
	}
	if (n->chunk != vtr_recorder_chunk(r)) {
		n->string = vpt_batch_string(vtr_recorder_batch(r), n->copy, n->len);
		n->chunk = vtr_recorder_chunk(r);
	}
	*slot = n;
	return n->string;
}

/* ---- shapes ---- */

static inline uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static uint64_t make_config(
	struct vtr_recorder *r, const struct vtr_record_kernel *k, uint64_t string)
{
	struct vpt_config row = {.name = string,
		.grid_x = k->grid_x,
		.grid_y = k->grid_y,
		.grid_z = k->grid_z,
		.block_x = k->block_x,
		.block_y = k->block_y,
		.block_z = k->block_z,
		.static_shared = k->static_shared,
		.dynamic_shared = k->dynamic_shared,
		.registers = k->registers,
		.local = k->local_thread,
		.cluster_x = k->cluster_x,
		.cluster_y = k->cluster_y,
		.cluster_z = k->cluster_z,
		.graph = k->graph};

	return vpt_batch_config(vtr_recorder_batch(r), &row);
}

/* The identity of a shape, as words. Adjacent fields of the record are read together. */
static inline void shape_of(const struct vtr_record_kernel *k, uint64_t words[SHAPE_WORDS])
{
	words[0] = (uintptr_t)k->name;
	memcpy(&words[1], &k->grid_x, 4 * sizeof(*words)); /* grid, block, both shared memories */
	words[5] = pair(k->local_thread, k->graph);
	memcpy(&words[6], &k->cluster_x, sizeof(*words));
	words[7] = pair(k->cluster_z, k->registers);
}

_Static_assert(offsetof(struct vtr_record_kernel, dynamic_shared) + 4 ==
		       offsetof(struct vtr_record_kernel, grid_x) + 32,
	"grid, block and shared memory are 32 bytes in one piece");

/* Local memory and clusters mostly follow from the rest: they are compared but not hashed. There is no key: shapes that
 * collide replace each other in PLACES places, so each look-up takes as many steps, whoever chose them. */
static inline size_t hash_of(const uint64_t words[SHAPE_WORDS])
{
	uint64_t h = (words[0] ^ words[3] << 32) * 0x9e3779b97f4a7c15u;

	h ^= (words[1] ^ words[2] << 24) * 0xd6e8feb86659fd93u;
	h ^= (words[4] ^ words[5]) * 0xff51afd7ed558ccdu;
	return (size_t)(h >> 40);
}

static inline int same_shape(const struct shape *s, const uint64_t words[SHAPE_WORDS])
{
	const uint64_t *a = s->words;

	return !((a[0] ^ words[0]) | (a[1] ^ words[1]) | (a[2] ^ words[2]) | (a[3] ^ words[3]) |
		 (a[4] ^ words[4]) | (a[5] ^ words[5]) | (a[6] ^ words[6]) | (a[7] ^ words[7]));
}

/* The place for a shape that is not trusted now: its old one if known, else another shape's. */
static size_t find_place(struct vtr_configs *c, const uint64_t words[SHAPE_WORDS], size_t first)
{
	size_t i;

	for (i = first; i < first + PLACES; i++)
		if (c->places[i].believed && same_shape(&c->shapes[i], words))
			return i;
	i = first + c->next_place++ % PLACES;
	memcpy(c->shapes[i].words, words, sizeof(c->shapes[i].words));
	c->places[i] = (struct place){0};
	return i;
}

static __attribute__((noinline)) size_t learn_shape(struct vtr_configs *c, struct vtr_recorder *r,
	const struct vtr_record_kernel *k, const uint64_t words[SHAPE_WORDS], size_t first)
{
	struct name *name;
	uint64_t string = string_of(c, r, k->name, &name);
	struct place *p = &c->places[find_place(c, words, first)];

	if (p->chunk != c->chunk || p->string != string) {
		p->config = make_config(r, k, string);
		p->string = string;
		p->chunk = c->chunk;
	}
	p->name = name;
	p->believed = c->epoch;
	return (size_t)(p - c->places);
}

/* Trusts a known shape again if its name was compared in this buffer, or a moment ago. 0: it was
 * not. */
static inline int believe_again(struct vtr_configs *c, struct place *p, const char *pointer)
{
	struct name *n = p->name;

	if (!n || p->chunk != c->chunk || n->pointer != pointer || n->chunk != c->chunk ||
		n->string != p->string || (n->buffer != c->buffer && !is_trusted(c, n)))
		return 0;
	n->buffer = c->buffer;
	p->believed = c->epoch;
	return 1;
}

/* Whether a place holds this shape and is valid now. */
static inline int holds(
	struct vtr_configs *c, size_t place, const uint64_t words[SHAPE_WORDS], const char *pointer)
{
	struct place *p = &c->places[place];

	return same_shape(&c->shapes[place], words) &&
	       (p->believed == c->epoch || believe_again(c, p, pointer));
}

/* Looks up a shape that was not predicted. */
static __attribute__((noinline)) size_t search_shape(struct vtr_configs *c, struct vtr_recorder *r,
	const struct vtr_record_kernel *k, const uint64_t words[SHAPE_WORDS])
{
	size_t first = hash_of(words) % (SHAPES / PLACES) * PLACES, i;

	for (i = first; i < first + PLACES; i++)
		if (holds(c, i, words, k->name))
			return i;
	return learn_shape(c, r, k, words, first);
}

uint64_t vtr_configs_kernel(
	struct vtr_configs *c, struct vtr_recorder *r, const struct vtr_record_kernel *k)
{
	uint64_t words[SHAPE_WORDS];
	size_t place = c->next[c->past];

	if (c->chunk != vtr_recorder_chunk(r)) {
		c->chunk = vtr_recorder_chunk(r);
		c->epoch++;
	}
	shape_of(k, words);
	if (!holds(c, place, words, k->name)) {
		place = search_shape(c, r, k, words);
		c->next[c->past] = (uint16_t)place;
	}
	c->past = (uint32_t)(c->past << PAST_SHIFT ^ place) % PASTS;
	/* The batch and the buffers evict all this from the nearer caches between two kernels. */
	__builtin_prefetch(&c->shapes[c->next[c->past]]);
	__builtin_prefetch(&c->places[c->next[c->past]]);
	return c->places[place].config;
}

uint64_t vtr_configs_graph(struct vtr_configs *c, struct vtr_recorder *r, uint32_t graph)
{
	struct vtr_record_kernel whole;

	memset(&whole, 0, sizeof(whole));
	whole.name = "CUDA graph";
	whole.graph = graph;
	return vtr_configs_kernel(c, r, &whole);
}
