/* perfetto_packets.c - packets, sequences, clocks and interned data of Perfetto traces.
 *
 * Outside the first sequence, a packet's time is the distance from the packet before. If time would
 * run backwards, the packet has an absolute time instead, which costs some bytes and leaves the
 * other distances alone; readers sort. Interned data goes into a packet of its own, right before
 * the first packet that refers to it. */
#include "formats/perfetto/perfetto_packets.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

enum {
	REALTIME = 1, /* clocks */
	MONOTONIC = 3,
	BOOTTIME = 6,
	DISTANCE = 64,
	STATE_CLEARED = 1, /* flags */
	NEEDS_STATE = 2
};

void vpt_pf_init(struct vpt_pf *p, size_t group_bytes,
	int (*take)(void *ctx, const void *data, size_t size), void *ctx)
{
	*p = (struct vpt_pf){.group_bytes = group_bytes, .take = take, .ctx = ctx, .generation = 1};
}

void vpt_pf_hand_over(struct vpt_pf *p)
{
	if (!p->failed)
		p->failed = p->out.failed;
	if (!p->failed && p->out.size)
		p->failed = p->take(p->ctx, p->out.data, p->out.size);
	p->bytes += p->out.size;
	vpt_pb_reset(&p->out);
}

int vpt_pf_finish(struct vpt_pf *p)
{
	vpt_pf_hand_over(p);
	return p->failed;
}

void vpt_pf_free(struct vpt_pf *p)
{
	vpt_pb_free(&p->out);
}

/* ---- clocks ---- */

static void put_clock(struct vpt_pb *b, unsigned id, uint64_t time_ns, int is_distance)
{
	vpt_pb_begin(b, VPT_PF_SNAPSHOT_CLOCKS);
	vpt_pb_uint(b, VPT_PF_CLOCK_ID, id);
	vpt_pb_uint(b, VPT_PF_CLOCK_TIME, time_ns);
	if (is_distance)
		vpt_pb_uint(b, VPT_PF_CLOCK_INCREMENTAL, 1);
	vpt_pb_end(b);
}

static void put_first(struct vpt_pb *b, uint32_t id)
{
	vpt_pb_begin(b, VPT_PF_TRACE_PACKET);
	vpt_pb_uint(b, VPT_PF_PACKET_SEQUENCE, id);
	vpt_pb_uint(b, VPT_PF_PACKET_FLAGS, STATE_CLEARED);
	vpt_pb_uint(b, VPT_PF_PACKET_FIRST, 1);
}

void vpt_pf_clocks(
	struct vpt_pf *p, struct vpt_pf_sequence *first, const struct vpt_pf_clocks *clocks)
{
	struct vpt_pb *b = &p->out;

	*first = (struct vpt_pf_sequence){.id = VPT_PF_FIRST_SEQUENCE, .generation = p->generation};
	put_first(b, first->id);
	vpt_pb_begin(b, VPT_PF_PACKET_CLOCK_SNAPSHOT);
	put_clock(b, BOOTTIME, clocks->boottime_ns, 0);
	if (clocks->monotonic_ns)
		put_clock(b, MONOTONIC, clocks->monotonic_ns, 0);
	if (clocks->realtime_ns)
		put_clock(b, REALTIME, clocks->realtime_ns, 0);
	vpt_pb_uint(b, VPT_PF_SNAPSHOT_PRIMARY, BOOTTIME);
	vpt_pb_end(b);
	vpt_pf_end(p);
}

static void put_stack_defaults(struct vpt_pb *b, const struct vpt_pf_sequence *s)
{
	enum { NANOSECONDS = 1 };

	vpt_pb_begin(b, VPT_PF_DEFAULTS_STACK_SAMPLES);
	vpt_pb_string(b, VPT_PF_SAMPLE_DEFAULTS_SOURCE, s->stack_source);
	if (s->stacks_weigh) {
		vpt_pb_begin(b, VPT_PF_SAMPLE_DEFAULTS_WEIGHT);
		vpt_pb_string(b, VPT_PF_WEIGHT_NAME, "wall time");
		vpt_pb_uint(b, VPT_PF_WEIGHT_UNIT, NANOSECONDS);
		vpt_pb_end(b);
	}
	vpt_pb_end(b);
}

static void begin_sequence(struct vpt_pf *p, struct vpt_pf_sequence *s)
{
	struct vpt_pb *b = &p->out;

	s->generation = p->generation;
	put_first(b, s->id);
	vpt_pb_begin(b, VPT_PF_PACKET_CLOCK_SNAPSHOT);
	put_clock(b, DISTANCE, s->last_ns, 1);
	put_clock(b, BOOTTIME, s->last_ns, 0);
	vpt_pb_uint(b, VPT_PF_SNAPSHOT_PRIMARY, BOOTTIME);
	vpt_pb_end(b);
	vpt_pb_begin(b, VPT_PF_PACKET_DEFAULTS);
	vpt_pb_uint(b, VPT_PF_DEFAULTS_CLOCK_ID, DISTANCE);
	if (s->track) {
		vpt_pb_begin(b, VPT_PF_DEFAULTS_EVENT);
		vpt_pb_uint(b, VPT_PF_EVENT_DEFAULTS_TRACK, s->track);
		vpt_pb_end(b);
	}
	if (s->stack_source)
		put_stack_defaults(b, s);
	vpt_pb_end(b);
	vpt_pf_end(p);
}

static void make_head(struct vpt_pf_sequence *s, uint32_t id)
{
	uint8_t *to = s->head;

	/* At most 1 + 5 + 2 bytes, which fit. */
	*to++ = VPT_PF_PACKET_SEQUENCE << 3;
	to = vpt_pb_varint_at(to, id);
	*to++ = VPT_PF_PACKET_FLAGS << 3;
	*to++ = NEEDS_STATE;
	s->head_size = (uint8_t)(to - s->head);
}

void vpt_pf_sequence(
	struct vpt_pf *p, struct vpt_pf_sequence *s, uint32_t id, uint64_t start_ns, uint64_t track)
{
	*s = (struct vpt_pf_sequence){.id = id, .last_ns = start_ns, .track = track};
	make_head(s, id);
	begin_sequence(p, s);
}

void vpt_pf_stack_sequence(struct vpt_pf *p, struct vpt_pf_sequence *s, uint32_t id,
	uint64_t start_ns, const char *source, int weigh)
{
	*s = (struct vpt_pf_sequence){
		.id = id, .last_ns = start_ns, .stack_source = source, .stacks_weigh = weigh};
	make_head(s, id);
	begin_sequence(p, s);
}

void vpt_pf_resume_more(struct vpt_pf *p, struct vpt_pf_sequence *s)
{
	/* The first sequence refers to nothing. */
	if (s->id == VPT_PF_FIRST_SEQUENCE)
		s->generation = p->generation;
	else
		begin_sequence(p, s);
}

void vpt_pf_sequence_free(struct vpt_pf_sequence *s)
{
	vpt_free(s->names);
	vpt_map_free(&s->names_by_key);
	*s = (struct vpt_pf_sequence){0};
}

/* ---- packets ---- */

uint8_t *vpt_pf_former_time_at(uint8_t *to, uint64_t time_ns)
{
	*to++ = VPT_PF_PACKET_TIMESTAMP << 3;
	to = vpt_pb_varint_at(to, time_ns);
	to = vpt_pb_varint_at(to, VPT_PF_PACKET_CLOCK_ID << 3);
	*to++ = BOOTTIME;
	return to;
}

void vpt_pf_begin(struct vpt_pf *p, struct vpt_pf_sequence *s, uint64_t time_ns)
{
	struct vpt_pb *b = &p->out;

	vpt_pf_resume(p, s);
	vpt_pb_begin(b, VPT_PF_TRACE_PACKET);
	if (s->id != VPT_PF_FIRST_SEQUENCE && time_ns >= s->last_ns) {
		vpt_pb_uint(b, VPT_PF_PACKET_TIMESTAMP, time_ns - s->last_ns);
		s->last_ns = time_ns;
	} else {
		vpt_pb_uint(b, VPT_PF_PACKET_TIMESTAMP, time_ns);
		vpt_pb_uint(b, VPT_PF_PACKET_CLOCK_ID, BOOTTIME);
	}
	vpt_pb_uint(b, VPT_PF_PACKET_SEQUENCE, s->id);
	if (s->id != VPT_PF_FIRST_SEQUENCE)
		vpt_pb_uint(b, VPT_PF_PACKET_FLAGS, NEEDS_STATE);
}

void vpt_pf_begin_timeless(struct vpt_pf *p, struct vpt_pf_sequence *s)
{
	vpt_pf_resume(p, s);
	vpt_pb_begin(&p->out, VPT_PF_TRACE_PACKET);
	vpt_pb_uint(&p->out, VPT_PF_PACKET_SEQUENCE, s->id);
	if (s->id != VPT_PF_FIRST_SEQUENCE)
		vpt_pb_uint(&p->out, VPT_PF_PACKET_FLAGS, NEEDS_STATE);
}

void vpt_pf_end(struct vpt_pf *p)
{
	vpt_pb_end(&p->out);
	p->packets++;
	if (p->out.size >= p->group_bytes || p->out.failed)
		vpt_pf_hand_over(p);
}

/* ---- interned data ---- */

/* The name with this key and hash; NULL: none. */
static inline struct vpt_pf_name *find_name(
	const struct vpt_pf_sequence *s, uint64_t hash, uint64_t key)
{
	uint64_t at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&s->names_by_key, hash, &at)) != VPT_MAP_NONE)
		if (s->names[n].key == key)
			return &s->names[n];
	return NULL;
}

static struct vpt_pf_name *add_name(struct vpt_pf_sequence *s, uint64_t hash, uint64_t key)
{
	if (vpt_grow(&s->names, &s->name_cap, s->name_count + 1, sizeof(*s->names)) ||
		vpt_map_put(&s->names_by_key, hash, (uint32_t)s->name_count))
		return NULL;
	s->names[s->name_count] = (struct vpt_pf_name){.key = key};
	return &s->names[s->name_count++];
}

/* Where a table counts its numbers. Of the tables in use, 1, 2, 3, 5, 6, 7, 18, 29 and 48, only 2 and
 * 18 have the same last four bits. */
static unsigned slot_of(unsigned table)
{
	return table == VPT_PF_INTERNED_FILES ? 8 : table & 15;
}

uint32_t vpt_pf_intern(
	struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint64_t key, int *is_new)
{
	unsigned which = slot_of(table);
	uint64_t hash = vpt_hash_number(key << 4 | which);
	struct vpt_pf_name *name = find_name(s, hash, key << 4 | which);

	*is_new = 0;
	if (!name) {
		name = add_name(s, hash, key << 4 | which);
		if (!name) {
			p->failed = VPT_ENOMEM;
			return 0;
		}
		name->iid = ++s->newest[which];
	}
	*is_new = name->emitted != p->generation;
	name->emitted = p->generation;
	return name->iid;
}

void vpt_pf_tell(struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint32_t iid,
	const char *text, size_t len)
{
	struct vpt_pb *b = &p->out;

	vpt_pf_begin_timeless(p, s);
	vpt_pb_begin(b, VPT_PF_PACKET_INTERNED);
	vpt_pb_begin(b, table);
	vpt_pb_uint(b, VPT_PF_NAMED_IID, iid);
	vpt_pb_text(b, VPT_PF_NAMED_NAME, text, len, VPT_PF_TEXT_MAX);
	vpt_pb_end(b);
	vpt_pb_end(b);
	vpt_pf_end(p);
}

uint64_t vpt_pf_hash(uint64_t before, const void *data, size_t size)
{
	const unsigned char *s = data;
	uint64_t h = before ? before : 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < size; i++)
		h = (h ^ s[i]) * 0x100000001b3u;
	return h;
}
