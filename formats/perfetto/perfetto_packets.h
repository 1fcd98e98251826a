/* perfetto_packets.h - writes Perfetto's trace format: packets, their sequences and clocks, and interned
 * data. The caller decides what the packets contain.
 *
 *	vpt_pf_init(&p, 1 << 20, take_group, ctx);
 *	vpt_pf_clocks(&p, &meta, &snapshot);          the first packet of a file
 *	vpt_pf_sequence(&p, &gpu, 2, start_ns, 0);    then each sequence
 *	vpt_pf_begin(&p, &gpu, time_ns);              a packet ...
 *	vpt_pb_begin(&p.out, VPT_PF_PACKET_RENDER);    ... with its fields
 *	...
 *	vpt_pf_end(&p);
 *
 * A file is a sequence of packets, and any number of whole packets is a file. Times are nanoseconds
 * on CLOCK_BOOTTIME. */
#ifndef VPT_FORMATS_PERFETTO_PERFETTO_PACKETS_H
#define VPT_FORMATS_PERFETTO_PERFETTO_PACKETS_H

#include "formats/base/map.h"
#include "formats/perfetto/protobuf.h"

/* Fields of messages: VPT_PF_PACKET_TIMESTAMP. */
enum {
#define VPT_PF_FIELD(message, field, number) VPT_PF_##message##_##field = number,
#include "formats/perfetto/perfetto_fields.def"
#undef VPT_PF_FIELD
};

/* Types of a track event. */
enum { VPT_PF_SLICE_BEGIN = 1, VPT_PF_SLICE_END = 2, VPT_PF_INSTANT = 3, VPT_PF_COUNTER = 4 };

enum { VPT_PF_API_CUDA = 4 }; /* of VPT_PF_EVENT_API and VPT_PF_CONTEXT_API */

enum {
	VPT_PF_FIRST_SEQUENCE = 1, /* for packets that belong to no other; its times are absolute */
	VPT_PF_TEXT_MAX = 16 << 10 /* longer names are cut, so that packets stay small */
};

/* Packets that share interned data; their times are encoded as distances. */
struct vpt_pf_sequence {
	uint32_t id;
	uint32_t generation; /* that of struct vpt_pf when the sequence last began */
	uint64_t last_ns, track;
	struct vpt_pf_name {
		uint64_t key; /* the caller's number, and the table */
		uint32_t iid;
		uint32_t emitted; /* the generation in which it was last emitted */
	} * names;
	size_t name_count, name_cap;
	struct vpt_map names_by_key;
	uint32_t newest[16]; /* iids assigned so far, by table */
	/* the caller's: the generation in which it last emitted its fixed data; 0: never */
	uint32_t tables;
	uint8_t head[8]; /* the fields common to all packets but the first, encoded */
	uint8_t head_size;
	const char *stack_source; /* of a sequence of stack samples; NULL: of another one */
	int stacks_weigh;
};

struct vpt_pf {
	struct vpt_pb out; /* the current group: whole packets, and the one being written */
	size_t group_bytes;
	/* Takes a group of whole packets. Returns 0, or an error code that ends the writing. */
	int (*take)(void *ctx, const void *data, size_t size);
	void *ctx;
	int failed;
	uint64_t packets, bytes;
	/* After every restart_bytes bytes all sequences restart: each begins again with its next
	 * packet and emits its interned data again, under the same numbers. 0: never. */
	uint64_t restart_bytes, restart_at;
	uint32_t generation; /* 1 + the number of restarts */
};

struct vpt_pf_clocks {
	uint64_t boottime_ns, monotonic_ns, realtime_ns; /* one instant; 0: unknown */
};

/* A group is handed to `take` once it has `group_bytes` or more. */
void vpt_pf_init(struct vpt_pf *p, size_t group_bytes,
	int (*take)(void *ctx, const void *data, size_t size), void *ctx);
/* Hands over the last group. 0 or the first failure. */
int vpt_pf_finish(struct vpt_pf *p);
void vpt_pf_free(struct vpt_pf *p);

/* Writes the first packet of a file; begins the first sequence. */
void vpt_pf_clocks(
	struct vpt_pf *p, struct vpt_pf_sequence *first, const struct vpt_pf_clocks *clocks);

/* Begins the sequence `id`, 2 or more. Times cost least if they never fall and begin at `start_ns`.
 * `track` is the track of track events that name none; 0: all name one. */
void vpt_pf_sequence(struct vpt_pf *p, struct vpt_pf_sequence *s, uint32_t id, uint64_t start_ns,
	uint64_t track);
/* The same for a sequence of stack samples. `source` names who took them, and is borrowed for as long
 * as the sequence is in use. With `weigh` a sample has a weight, in nanoseconds. */
void vpt_pf_stack_sequence(struct vpt_pf *p, struct vpt_pf_sequence *s, uint32_t id,
	uint64_t start_ns, const char *source, int weigh);
void vpt_pf_sequence_free(struct vpt_pf_sequence *s);

/* Call this before interning the data of an event: only here may a restart begin. */
static inline void vpt_pf_next(struct vpt_pf *p)
{
	if (__builtin_expect(p->bytes >= p->restart_at, 0) && p->restart_bytes) {
		p->restart_at = p->bytes + p->restart_bytes;
		p->generation++;
	}
}

/* Begins a sequence again after a restart. */
void vpt_pf_resume_more(struct vpt_pf *p, struct vpt_pf_sequence *s);
static inline void vpt_pf_resume(struct vpt_pf *p, struct vpt_pf_sequence *s)
{
	if (__builtin_expect(s->generation != p->generation, 0))
		vpt_pf_resume_more(p, s);
}

/* Begins a packet; its fields are what the caller puts into p->out until vpt_pf_end(). */
void vpt_pf_begin(struct vpt_pf *p, struct vpt_pf_sequence *s, uint64_t time_ns);
void vpt_pf_begin_timeless(struct vpt_pf *p, struct vpt_pf_sequence *s);
void vpt_pf_end(struct vpt_pf *p);

/* ---- packets by hand, the fast way for many ----
 *
 *	to = vpt_pf_packet_at(&p, 200);          room for a packet of at most 200 bytes; NULL: no memory
 *	...                                      fields from there on
 *	to = vpt_pf_time_at(&s, to, time_ns);    time and sequence, which must have been resumed
 *	vpt_pf_packet_end(&p, to);
 *
 * The time comes last, and fields that vary from packet to packet should come right before it: then
 * the bytes that stay the same form one long stretch for a compressor. Threads repeat themselves,
 * so there the distances are padded to three bytes, enough for 2 ms: packets of a kind then have
 * one length and repeat at a fixed distance, which compresses well. */
enum { VPT_PF_PACKET_HEAD = 2, VPT_PF_PACKET_REST = 40 };

static inline uint8_t *vpt_pf_packet_at(struct vpt_pf *p, size_t bytes)
{
	if (!vpt_pb_room(&p->out, bytes + VPT_PF_PACKET_REST))
		return NULL;
	return p->out.data + p->out.size + VPT_PF_PACKET_HEAD;
}

uint8_t *vpt_pf_former_time_at(uint8_t *to, uint64_t time_ns);

static inline uint8_t *vpt_pf_any_time_at(
	struct vpt_pf_sequence *s, uint8_t *to, uint64_t time_ns, int padded)
{
	uint64_t distance_ns = time_ns - s->last_ns;

	memcpy(to, s->head, sizeof(s->head));
	to += s->head_size;
	if (__builtin_expect(time_ns < s->last_ns, 0))
		return vpt_pf_former_time_at(to, time_ns);
	s->last_ns = time_ns;
	*to++ = VPT_PF_PACKET_TIMESTAMP << 3;
	return padded ? vpt_pb_padded_at(to, distance_ns) : vpt_pb_varint_at(to, distance_ns);
}

static inline uint8_t *vpt_pf_time_at(struct vpt_pf_sequence *s, uint8_t *to, uint64_t time_ns)
{
	return vpt_pf_any_time_at(s, to, time_ns, 0);
}

static inline uint8_t *vpt_pf_padded_time_at(
	struct vpt_pf_sequence *s, uint8_t *to, uint64_t time_ns)
{
	return vpt_pf_any_time_at(s, to, time_ns, 1);
}

void vpt_pf_hand_over(struct vpt_pf *p);

static inline void vpt_pf_packet_end(struct vpt_pf *p, uint8_t *end)
{
	uint8_t *start = p->out.data + p->out.size;

	start[0] = VPT_PF_TRACE_PACKET << 3 | 2;
	end = vpt_pb_close_at(start + VPT_PF_PACKET_HEAD, end);
	p->out.size = (size_t)(end - p->out.data);
	p->packets++;
	if (__builtin_expect(p->out.size >= p->group_bytes, 0))
		vpt_pf_hand_over(p);
}

/* Interns `key` in a table of the sequence (a VPT_PF_INTERNED_ number of perfetto_packets.c's list) and
 * returns its number; 0: no memory. If *is_new, it is new in this generation: emit it with
 * vpt_pf_tell() before use, while no packet is open. */
uint32_t vpt_pf_intern(
	struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint64_t key, int *is_new);
void vpt_pf_tell(struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint32_t iid,
	const char *text, size_t len);

/* Continues an FNV-1a hash, whose value is the same in every file. Begin with `before` 0. */
uint64_t vpt_pf_hash(uint64_t before, const void *data, size_t size);

#endif
