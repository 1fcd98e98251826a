/* cupti_configs.c - two caches: launch shapes by content, in front of kernel names by pointer.
 *
 *	record -> shape (name pointer, grid, block ...) -> row of CONFIG
 *	            four places each; believed within one buffer and one chunk
 *	name pointer -> our copy -> row of STRING
 *	            a table; compared once a buffer
 *
 * A video model launches a few hundred shapes again and again: what costs is the comparison of a
 * shape, eight words. */
#include "tracer/cupti_configs.h"

#include "formats/memory.h"

#include <string.h>

enum {
	SHAPES = 2048, /* a power of two */
	PLACES = 4,    /* where one shape may stand */
	SHAPE_WORDS = 8,
	NAME_SLOTS = 1 << 15,
	NAMES_MAX = NAME_SLOTS / 2,
	NAME_BYTES_MAX = 65535,
	NAMES_BYTES_MAX = 8 << 20
};

struct shape {
	uint64_t words[SHAPE_WORDS];
	uint64_t buffer; /* in which the name was last compared; 0: unused */
	uint64_t chunk;
	uint64_t config;
};

struct name {
	const char *pointer; /* CUPTI's; NULL: slot unused */
	char *copy;
	size_t len;
	uint64_t buffer, chunk;
	uint64_t string;
};

struct vtr_configs {
	struct shape shapes[SHAPES];
	uint32_t hashes[SHAPES]; /* of shapes, apart: most comparisons end here */
	uint32_t next_place;
	struct name names[NAME_SLOTS];
	size_t name_count, name_bytes;
	uint64_t buffer; /* number of the buffer at hand */
};

struct vtr_configs *vtr_configs_new(void)
{
	return vpt_calloc(1, sizeof(struct vtr_configs));
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
	if (c)
		forget_names(c);
	vpt_free(c);
}

void vtr_configs_begin(struct vtr_configs *c)
{
	forget_names(c);
	memset(c->shapes, 0, sizeof(c->shapes));
	memset(c->hashes, 0, sizeof(c->hashes));
}

void vtr_configs_buffer(struct vtr_configs *c)
{
	c->buffer++;
}

/* ---- names ---- */

static struct name *name_slot(struct vtr_configs *c, const char *pointer)
{
	size_t slot = (size_t)vpt_hash_mix((uintptr_t)pointer) % NAME_SLOTS;

	while (c->names[slot].pointer && c->names[slot].pointer != pointer)
		slot = (slot + 1) % NAME_SLOTS;
	return &c->names[slot];
}

/* Makes the copy of a name what its pointer shows now. 0 or -1: no memory. */
static int copy_name(struct vtr_configs *c, struct name *n, const char *pointer)
{
	size_t len = strnlen(pointer, NAME_BYTES_MAX);
	char *copy = vpt_strndup(pointer, len);

	if (!copy)
		return -1;
	c->name_count += !n->pointer;
	c->name_bytes += len;
	vpt_free(n->copy);
	*n = (struct name){.pointer = pointer, .copy = copy, .len = len};
	return 0;
}

static uint64_t string_of(struct vtr_configs *c, struct vtr_recorder *r, const char *pointer)
{
	struct name *n;

	if (!pointer)
		return 0;
	if (c->name_count >= NAMES_MAX || c->name_bytes >= NAMES_BYTES_MAX)
		forget_names(c);
	n = name_slot(c, pointer);
	if (n->buffer != c->buffer) {
		if ((!n->pointer || strncmp(n->copy, pointer, n->len + 1)) &&
			copy_name(c, n, pointer))
			return vpt_batch_string(
				vtr_recorder_batch(r), pointer, strnlen(pointer, NAME_BYTES_MAX));
		n->buffer = c->buffer;
	}
	if (n->chunk != vtr_recorder_chunk(r)) {
		n->string = vpt_batch_string(vtr_recorder_batch(r), n->copy, n->len);
		n->chunk = vtr_recorder_chunk(r);
	}
	return n->string;
}

/* ---- shapes ---- */

static inline uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static uint64_t make_config(
	struct vtr_configs *c, struct vtr_recorder *r, const struct vtr_record_kernel *k)
{
	struct vpt_config row = {.name = string_of(c, r, k->name),
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

/* What tells shapes apart, as words. Fields that stand side by side in the record are taken
 * together. */
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

static inline uint64_t hash_of(const uint64_t words[SHAPE_WORDS])
{
	const uint64_t a = 0x9e3779b97f4a7c15u, b = 0xd6e8feb86659fd93u;
	/* Two chains of multiplications instead of one: they run side by side. */
	uint64_t even = ((words[0] * a + words[2]) * a + words[4]) * a + words[6];
	uint64_t odd = ((words[1] * b + words[3]) * b + words[5]) * b + words[7];

	return vpt_hash_mix(even ^ odd * a);
}

/* The place of a shape; a new one takes that of another. */
static inline struct shape *find_shape(struct vtr_configs *c, const uint64_t words[SHAPE_WORDS])
{
	uint64_t mixed = hash_of(words);
	uint32_t hash = (uint32_t)mixed | 1, i;
	uint32_t first = (uint32_t)(mixed >> 32) % (SHAPES / PLACES) * PLACES;

	for (i = first; i < first + PLACES; i++)
		if (c->hashes[i] == hash &&
			!memcmp(c->shapes[i].words, words, sizeof(c->shapes[i].words)))
			return &c->shapes[i];
	i = first + c->next_place++ % PLACES;
	c->hashes[i] = hash;
	memcpy(c->shapes[i].words, words, sizeof(c->shapes[i].words));
	c->shapes[i].buffer = 0;
	return &c->shapes[i];
}

uint64_t vtr_configs_kernel(
	struct vtr_configs *c, struct vtr_recorder *r, const struct vtr_record_kernel *k)
{
	uint64_t words[SHAPE_WORDS];
	struct shape *s;

	shape_of(k, words);
	s = find_shape(c, words);
	if (s->buffer != c->buffer || s->chunk != vtr_recorder_chunk(r)) {
		s->config = make_config(c, r, k);
		s->buffer = c->buffer;
		s->chunk = vtr_recorder_chunk(r);
	}
	return s->config;
}

uint64_t vtr_configs_graph(struct vtr_configs *c, struct vtr_recorder *r, uint32_t graph)
{
	struct vtr_record_kernel whole;

	memset(&whole, 0, sizeof(whole));
	whole.name = "CUDA graph";
	whole.graph = graph;
	return vtr_configs_kernel(c, r, &whole);
}
