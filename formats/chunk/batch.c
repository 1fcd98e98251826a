/* batch.c - fills a chunk row by row.
 *
 * Rows of one kind and lane usually come in runs, so each kind remembers the section it used last;
 * a small hash finds the others. Sections and tables keep their memory from chunk to chunk. */
#include "formats/chunk/batch.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/capture_layout.h"

#include <string.h>

struct vpt_batch_index {
	int failed;
	uint32_t last[VPT_KIND_LIMIT]; /* 1 + section used last, by kind */
	struct vpt_map sections;       /* by kind and lane */
	struct vpt_map config_rows;    /* rows of CONFIG, by content */
	/* rows of CONFIG once more, each contiguous, since they are often compared */
	struct vpt_config *configs;
	size_t config_cap;
	uint32_t config_count;
	size_t table_bytes; /* rough size so far of the rows that are not events */
};

/* The index of a batch that had no memory for one, so that the failure sticks. Never written. */
static struct vpt_batch_index no_index = {.failed = VPT_ENOMEM};

void vpt_batch_init(struct vpt_batch *b)
{
	memset(b, 0, sizeof(*b));
	b->t_min_ns = UINT64_MAX;
}

/* How many values all sections together keep between chunks; the rest is freed. Otherwise a file
 * whose large section changes place from chunk to chunk would leave a large allocation in every
 * slot. 32 MiB, far more than any chunk that we write. */
enum { KEPT_VALUES_MAX = 4 << 20 };

/* The thresholds of vpt_batch_crowded(). */
enum {
	CROWDED_EVENTS = 4 * VPT_CHUNK_EVENTS,
	CROWDED_STRINGS = 2 * VPT_CHUNK_STRINGS,
	CROWDED_BYTES = 2 * VPT_CHUNK_PAYLOAD
};

static void trim_sections(struct vpt_batch *b)
{
	size_t i, kept = 0;

	for (i = 0; i < b->section_cap; i++) {
		struct vpt_section *s = &b->sections[i];

		kept += s->data_cap;
		if (kept <= KEPT_VALUES_MAX)
			continue;
		kept -= s->data_cap;
		vpt_free(s->data);
		memset(s, 0, sizeof(*s));
	}
}

void vpt_batch_reset(struct vpt_batch *b)
{
	struct vpt_batch_index *x;

	if (b->index == &no_index)
		b->index = NULL;
	x = b->index;
	b->sequence = b->t_max_ns = 0;
	b->t_min_ns = UINT64_MAX;
	b->lost_events = b->flags = b->event_count = 0;
	b->zero_is_time = 0;
	b->unknown_sections = b->skipped_critical = 0;
	b->section_count = 0;
	b->decoded = 0;
	trim_sections(b);
	vpt_strings_reset(&b->strings);
	vpt_stack_table_reset(&b->stacks);
	if (!x)
		return;
	x->failed = 0;
	x->table_bytes = 0;
	x->config_count = 0;
	memset(x->last, 0, sizeof(x->last));
	vpt_map_reset(&x->sections);
	vpt_map_reset(&x->config_rows);
}

void vpt_batch_free(struct vpt_batch *b)
{
	size_t i;

	for (i = 0; i < b->section_cap; i++)
		vpt_free(b->sections[i].data);
	vpt_free(b->sections);
	vpt_free(b->payload);
	vpt_strings_free(&b->strings);
	vpt_stack_table_free(&b->stacks);
	if (b->index && b->index != &no_index) {
		vpt_map_free(&b->index->sections);
		vpt_map_free(&b->index->config_rows);
		vpt_free(b->index->configs);
		vpt_free(b->index);
	}
	vpt_batch_init(b);
}

const struct vpt_section *vpt_batch_find(const struct vpt_batch *b, enum vpt_kind kind)
{
	size_t i;

	for (i = 0; i < b->section_count; i++)
		if (b->sections[i].kind == kind)
			return &b->sections[i];
	return NULL;
}

/* The target of all columns that hold only zeros. Never written, so until someone reads it, it
 * costs only address space. */
static uint64_t zeros[VPT_ROWS_MAX];

/* Lays all columns out over data, `cap` rows each, even those not present yet. */
static void place_columns(struct vpt_section *s, unsigned columns, uint32_t cap)
{
	unsigned c;

	for (c = 0; c < columns; c++)
		s->col[c] = s->present & 1u << c ? s->data + (size_t)c * cap : zeros;
	for (; c < VPT_COLUMNS_MAX; c++)
		s->col[c] = NULL;
	s->row_cap = cap;
}

/* Adds the columns of `wanted` to the section: zeros in all rows, including the one being put. */
static void add_columns(struct vpt_section *s, uint32_t wanted)
{
	unsigned columns = vpt_kind_desc(s->kind)->n_columns, c;

	for (c = 0; c < columns; c++) {
		if (!(wanted & ~s->present & 1u << c))
			continue;
		s->col[c] = s->data + (size_t)c * s->row_cap;
		memset(s->col[c], 0, (s->row_count + (size_t)1) * sizeof(*s->col[c]));
	}
	s->present |= wanted;
}

static struct vpt_section *new_section(
	struct vpt_batch *b, const struct vpt_kind_desc *kind, uint64_t lane, size_t values)
{
	struct vpt_section *s;

	if (vpt_grow_zeroed(
		    &b->sections, &b->section_cap, b->section_count + 1, sizeof(*b->sections)))
		return NULL;
	s = &b->sections[b->section_count];
	if (vpt_grow(&s->data, &s->data_cap, values, sizeof(*s->data)))
		return NULL;
	s->kind = kind->type;
	s->lane = lane;
	s->aux = 0;
	s->row_count = 0;
	s->is_packed = 0;
	b->section_count++;
	return s;
}

struct vpt_section *vpt_batch_section(struct vpt_batch *b, const struct vpt_kind_desc *kind,
	uint64_t lane, uint32_t rows, uint32_t present)
{
	size_t used = 0;
	struct vpt_section *s;
	unsigned c;

	s = new_section(b, kind, lane, (size_t)rows * (unsigned)__builtin_popcount(present));
	if (!s)
		return NULL;
	for (c = 0; c < VPT_COLUMNS_MAX; c++)
		s->col[c] = c >= kind->n_columns ? NULL
			    : present & 1u << c  ? s->data + used++ * rows
						 : zeros;
	s->present = present;
	s->row_count = s->row_cap = rows;
	b->decoded = 1;
	return s;
}

/* Doubles a section: moves each column to its place in the larger layout, last column first. */
static int grow_section(struct vpt_section *s)
{
	unsigned columns = vpt_kind_desc(s->kind)->n_columns, c;
	uint32_t before = s->row_cap;
	size_t cap = s->data_cap / columns;

	/* Memory kept from an earlier chunk may hold far more rows than this section began with. */
	if (cap <= before) {
		if (vpt_grow(
			    &s->data, &s->data_cap, (size_t)before * 2 * columns, sizeof(*s->data)))
			return VPT_ENOMEM;
		cap = s->data_cap / columns;
	}
	if (cap > VPT_ROWS_MAX)
		cap = VPT_ROWS_MAX;
	for (c = columns; c-- > 0;)
		if (s->present & 1u << c)
			memmove(s->data + c * cap, s->data + (size_t)c * before,
				(size_t)s->row_count * sizeof(*s->data));
	place_columns(s, columns, (uint32_t)cap);
	return VPT_OK;
}

static uint64_t hash_section(enum vpt_kind kind, uint64_t lane)
{
	return vpt_hash_pair(lane, kind);
}

/* Adds the section for rows of this kind and lane. NULL: no memory, or too many sections. */
static struct vpt_section *add_section(
	struct vpt_batch *b, const struct vpt_kind_desc *kind, uint64_t lane)
{
	uint32_t first = (uint32_t)(kind->flags & VPT_KIND_TABLE ? 8 : 32);
	struct vpt_section *s;

	/* Reserve one for STRING, which is not in the list. If memory runs out after the map has
	 * the number, the batch has failed and nobody looks it up. */
	if (b->section_count >= VPT_SECTIONS_MAX - 1 ||
		vpt_map_put(&b->index->sections, hash_section(kind->type, lane),
			(uint32_t)b->section_count))
		return NULL;
	s = new_section(b, kind, lane, (size_t)first * kind->n_columns);
	if (!s)
		return NULL;
	s->present = kind->type == VPT_KERNEL ? VPT_KERNEL_USUAL
		     : kind->type == VPT_CALL ? VPT_CALL_USUAL
					      : 1;
	place_columns(s, kind->n_columns, first);
	return s;
}

/* The section for rows of this kind and lane, added if there is none. NULL as above. */
static struct vpt_section *find_section(
	struct vpt_batch *b, const struct vpt_kind_desc *kind, uint64_t lane)
{
	struct vpt_batch_index *x = b->index;
	uint64_t hash = hash_section(kind->type, lane), at = hash;
	uint32_t n;

	if (b->decoded)
		return NULL;
	while ((n = vpt_map_next(&x->sections, hash, &at)) != VPT_MAP_NONE)
		if (b->sections[n].kind == kind->type && b->sections[n].lane == lane)
			break;
	if (n == VPT_MAP_NONE) {
		n = (uint32_t)b->section_count;
		if (!add_section(b, kind, lane))
			return NULL;
	}
	x->last[kind->type] = n + 1;
	return &b->sections[n];
}

static struct vpt_batch_index *make_index(struct vpt_batch *b)
{
	if (!b->index)
		b->index = vpt_calloc(1, sizeof(*b->index));
	if (!b->index)
		b->index = &no_index;
	return b->index;
}

/* A section with room for a row of this kind and lane: `s`, which got the last row, or another one.
 * NULL: none. */
static struct vpt_section *make_room(
	struct vpt_batch *b, struct vpt_section *s, const struct vpt_kind_desc *kind, uint64_t lane)
{
	if (!s || s->lane != lane)
		s = find_section(b, kind, lane);
	if (s && s->row_count < s->row_cap)
		return s;
	if (!s || s->row_count >= VPT_ROWS_MAX || grow_section(s)) {
		b->index->failed =
			b->decoded || (s && s->row_count >= VPT_ROWS_MAX) ? VPT_EINVAL : VPT_ENOMEM;
		return NULL;
	}
	return s;
}

/* The columns that a section gets with its first row that has a value in an absent column. */
static uint32_t columns_with(const struct vpt_section *s, unsigned column)
{
	return s->kind == VPT_KERNEL ? VPT_KERNEL_ALL
	       : s->kind == VPT_CALL ? VPT_CALL_ALL
				     : s->present | 1u << column;
}

/* Stores a row of any kind in a section with room. */
static void store_row(struct vpt_section *s, unsigned columns, const uint64_t *values)
{
	unsigned c;

	for (c = 0; c < columns; c++) {
		if (!(s->present & 1u << c)) {
			if (!values[c])
				continue;
			add_columns(s, columns_with(s, c));
		}
		s->col[c][s->row_count] = values[c];
	}
	s->row_count++;
}

/* The fast path for most KERNEL and CALL rows, which are nearly all rows. */
static inline int store_fast(struct vpt_section *s, const uint64_t *row)
{
	if (s->kind == VPT_KERNEL)
		return (!(row[VPT_KERNEL_GRAPH_NODE] | row[VPT_KERNEL_FLAGS]) &&
			       vpt_section_append(s, VPT_KERNEL_USUAL, row)) ||
		       vpt_section_append(s, VPT_KERNEL_ALL, row);
	if (s->kind == VPT_CALL)
		return (!(row[VPT_CALL_NAME] | row[VPT_CALL_RESULT]) &&
			       vpt_section_append(s, VPT_CALL_USUAL, row)) ||
		       vpt_section_append(s, VPT_CALL_ALL, row);
	return 0;
}

static __attribute__((noinline)) struct vpt_section *put_slow(
	struct vpt_batch *b, enum vpt_kind type, uint64_t lane, const uint64_t *row)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(type);
	struct vpt_batch_index *x = make_index(b);
	struct vpt_section *s;

	if (x->failed)
		return NULL;
	s = make_room(b, x->last[type] ? &b->sections[x->last[type] - 1] : NULL, kind, lane);
	if (!s)
		return NULL;
	store_row(s, kind->n_columns, row);
	if (kind->flags & VPT_KIND_EVENT)
		b->event_count++;
	else
		x->table_bytes += kind->n_columns * (size_t)2;
	return s;
}

struct vpt_section *vpt_batch_put(
	struct vpt_batch *b, enum vpt_kind type, uint64_t lane, const void *row)
{
	const struct vpt_batch_index *x = b->index;
	struct vpt_section *s;

	if (x && !x->failed && x->last[type]) {
		s = &b->sections[x->last[type] - 1];
		if (s->lane == lane && store_fast(s, row)) {
			b->event_count++;
			return s;
		}
	}
	return put_slow(b, type, lane, row);
}

uint64_t vpt_batch_string(struct vpt_batch *b, const char *text, size_t len)
{
	struct vpt_batch_index *x = make_index(b);
	uint64_t id;

	if (x->failed)
		return 0;
	if (!b->strings.count && vpt_strings_put(&b->strings, "", 0) == VPT_NO_ID)
		goto fail;
	if (!len)
		return 0;
	id = vpt_strings_put(&b->strings, text, len < VPT_STRING_MAX ? len : VPT_STRING_MAX);
	if (id != VPT_NO_ID)
		return id;
fail:
	x->failed = VPT_ENOMEM;
	return 0;
}

_Static_assert(sizeof(struct vpt_config) == VPT_CONFIG_COLUMNS * sizeof(uint64_t) &&
		       (int)VPT_CONFIG_COLUMNS <= (int)VPT_HASH_WORDS_MAX,
	"a configuration is hashed as words");

static int add_config(struct vpt_batch *b, uint64_t hash, const struct vpt_config *config)
{
	struct vpt_batch_index *x = b->index;

	if (vpt_grow(&x->configs, &x->config_cap, (size_t)x->config_count + 1,
		    sizeof(*x->configs)) ||
		vpt_map_put(&x->config_rows, hash, x->config_count))
		return VPT_ENOMEM;
	vpt_batch_put(b, VPT_CONFIG, 0, config);
	if (!x->failed)
		x->configs[x->config_count++] = *config;
	return x->failed;
}

uint64_t vpt_batch_config(struct vpt_batch *b, const struct vpt_config *config)
{
	struct vpt_batch_index *x = make_index(b);
	uint64_t hash = vpt_hash_words((const uint64_t *)config, VPT_CONFIG_COLUMNS), at = hash;
	uint32_t row;
	int rc;

	if (x->failed)
		return 0;
	while ((row = vpt_map_next(&x->config_rows, hash, &at)) != VPT_MAP_NONE)
		if (!memcmp(&x->configs[row], config, sizeof(*config)))
			return row;
	row = x->config_count;
	rc = add_config(b, hash, config);
	if (rc)
		x->failed = rc;
	return rc ? 0 : row;
}

uint64_t vpt_batch_frame(struct vpt_batch *b, const struct vpt_frame *frame)
{
	struct vpt_batch_index *x = make_index(b);
	size_t before = b->stacks.frames.count;
	uint64_t id;

	if (x->failed)
		return 0;
	id = vpt_stack_table_frame(&b->stacks, frame);
	if (id == VPT_NO_ID)
		x->failed = VPT_ENOMEM;
	else if (id == before)
		vpt_batch_put(b, VPT_FRAME, 0, frame);
	return x->failed ? 0 : id;
}

uint64_t vpt_batch_stack(struct vpt_batch *b, uint64_t caller, uint64_t frame)
{
	struct vpt_batch_index *x = make_index(b);
	const struct vpt_stack row = {.caller = caller, .frame = frame}, empty = {0};
	size_t before = b->stacks.stacks.count;
	uint64_t id;

	if (x->failed)
		return 0;
	id = vpt_stack_table_stack(&b->stacks, caller, frame);
	if (id == VPT_NO_ID)
		x->failed = VPT_ENOMEM;
	if (!before)
		vpt_batch_put(b, VPT_STACK, 0, &empty);
	if (id == (before ? before : 1))
		vpt_batch_put(b, VPT_STACK, 0, &row);
	return x->failed ? 0 : id;
}

int vpt_batch_error(const struct vpt_batch *b)
{
	return b->index ? b->index->failed : VPT_OK;
}

size_t vpt_batch_side_bytes(const struct vpt_batch *b)
{
	return (b->index ? b->index->table_bytes : 0) + b->strings.size;
}

int vpt_batch_full(const struct vpt_batch *b)
{
	/* event_count alone bounds the rows of events. */
	return b->event_count >= VPT_CHUNK_EVENTS || b->strings.count >= VPT_CHUNK_STRINGS ||
	       b->stacks.depth_count >= VPT_CHUNK_STACKS ||
	       b->section_count >= VPT_SECTIONS_MAX / 2 ||
	       vpt_batch_side_bytes(b) >= VPT_CHUNK_PAYLOAD;
}

static size_t less(size_t of, size_t by)
{
	return of > by ? of - by : 0;
}

size_t vpt_batch_space(const struct vpt_batch *b)
{
	enum { EVENT_STRINGS = 4, EVENT_SIDE_BYTES = 512 };
	size_t events = less(CROWDED_EVENTS, b->event_count);
	size_t strings = less(CROWDED_STRINGS, b->strings.count) / EVENT_STRINGS;
	size_t side = less(CROWDED_BYTES, vpt_batch_side_bytes(b)) / EVENT_SIDE_BYTES;

	events = strings < events ? strings : events;
	return side < events ? side : events;
}

int vpt_batch_crowded(const struct vpt_batch *b)
{
	return b->event_count >= CROWDED_EVENTS || b->strings.count >= CROWDED_STRINGS ||
	       b->stacks.depth_count >= 2 * VPT_CHUNK_STACKS ||
	       b->section_count >= VPT_SECTIONS_MAX / 4 * 3 ||
	       vpt_batch_side_bytes(b) >= CROWDED_BYTES;
}
