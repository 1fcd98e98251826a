/* perfetto.h - Perfetto's trace format, as far as this project writes it: packets, their sequences and clocks, and
 * what is said once and then referred to by number. What the packets tell is up to the caller.
 *
 *	vpt_pf_init(&p, 1 << 20, take_group, ctx);
 *	vpt_pf_clocks(&p, &meta, &snapshot);          the first packet of a file
 *	vpt_pf_sequence(&p, &gpu, 2, start_ns, 0);    then each sequence
 *	vpt_pf_begin(&p, &gpu, time_ns);              a packet ...
 *	vpt_pb_begin(&p.out, VPT_PF_PACKET_RENDER);    ... with its fields
 *	...
 *	vpt_pf_end(&p);
 *
 * A file is a row of packets, and any number of whole packets is a file. Times are nanoseconds on CLOCK_BOOTTIME. */
#ifndef VPT_FORMATS_PERFETTO_H
#define VPT_FORMATS_PERFETTO_H

#include "formats/protobuf.h"

/* Fields of messages: VPT_PF_PACKET_TIMESTAMP. */
enum {
#define VPT_PF_FIELD(message, field, number) VPT_PF_##message##_##field = number,
#include "formats/perfetto_fields.def"
#undef VPT_PF_FIELD
};

/* Types of a track event. */
enum { VPT_PF_SLICE_BEGIN = 1, VPT_PF_SLICE_END = 2, VPT_PF_INSTANT = 3, VPT_PF_COUNTER = 4 };

enum {
	VPT_PF_FIRST_SEQUENCE = 1, /* of what belongs to no other; its times are absolute */
	VPT_PF_TEXT_MAX = 16 << 10 /* longer names are cut, so that packets stay small */
};

/* Packets that refer to each other's interned data, with times told as distances. */
struct vpt_pf_sequence {
	uint32_t id;
	uint32_t generation; /* of struct vpt_pf when it was begun */
	uint64_t last_ns, track;
	struct vpt_pf_name {
		uint64_t key;  /* the caller's number, and the table */
		uint32_t iid;  /* 0: free */
		uint32_t told; /* the generation in which it was */
	} * names;
	size_t name_count, name_slots;
	uint32_t newest[4]; /* iids given so far, by table */
	uint32_t
		tables; /* the caller's: in which generation it told what it always tells; 0: never */
	uint8_t head[8]; /* what all packets but the first have, encoded */
	uint8_t head_size;
};

struct vpt_pf {
	struct vpt_pb out; /* the group at hand: whole packets, and the one being written */
	size_t group_bytes;
	/* Takes a group of whole packets. 0 or why not: then nothing more is written. */
	int (*take)(void *ctx, const void *data, size_t size);
	void *ctx;
	int failed;
	uint64_t packets, bytes;
	/* So many bytes after each other all sequences begin anew and tell their interned data again, with the same numbers;
	 * each does with its next packet. 0: never. */
	uint64_t restart_bytes, restart_at;
	uint32_t generation; /* how often they have, from 1 */
};

struct vpt_pf_clocks {
	uint64_t boottime_ns, monotonic_ns, realtime_ns; /* one instant; 0: unknown */
};

/* Groups are handed over when they have at least `group_bytes`. */
void vpt_pf_init(struct vpt_pf *p, size_t group_bytes,
	int (*take)(void *ctx, const void *data, size_t size), void *ctx);
/* Hands over what is left. 0 or the first failure. */
int vpt_pf_finish(struct vpt_pf *p);
void vpt_pf_free(struct vpt_pf *p);

/* The packet that a file begins with; it begins the first sequence. */
void vpt_pf_clocks(
	struct vpt_pf *p, struct vpt_pf_sequence *first, const struct vpt_pf_clocks *clocks);

/* Begins a sequence of this number, 2 or more. Its times are cheapest when they do not fall and begin at `start_ns`.
 * `track` is what its track events are about that do not say; 0: they all do. */
void vpt_pf_sequence(struct vpt_pf *p, struct vpt_pf_sequence *s, uint32_t id, uint64_t start_ns,
	uint64_t track);
void vpt_pf_sequence_free(struct vpt_pf_sequence *s);

/* To be called before what an event refers to is interned: sequences begin anew here and nowhere else. */
static inline void vpt_pf_next(struct vpt_pf *p)
{
	if (__builtin_expect(p->bytes >= p->restart_at, 0) && p->restart_bytes) {
		p->restart_at = p->bytes + p->restart_bytes;
		p->generation++;
	}
}

/* Says once more what a sequence begins with, if that was in a former generation. */
void vpt_pf_resume_more(struct vpt_pf *p, struct vpt_pf_sequence *s);
static inline void vpt_pf_resume(struct vpt_pf *p, struct vpt_pf_sequence *s)
{
	if (__builtin_expect(s->generation != p->generation, 0))
		vpt_pf_resume_more(p, s);
}

/* Begins a packet; what is put into p->out until vpt_pf_end() are its fields. */
void vpt_pf_begin(struct vpt_pf *p, struct vpt_pf_sequence *s, uint64_t time_ns);
void vpt_pf_begin_timeless(struct vpt_pf *p, struct vpt_pf_sequence *s);
void vpt_pf_end(struct vpt_pf *p);

/* ---- packets by hand, where there are many ----
 *
 *	to = vpt_pf_packet_at(&p, 200);          room for a packet of at most so many bytes; NULL: no memory
 *	...                                      fields from there on
 *	to = vpt_pf_time_at(&s, to, time_ns);    when, and which sequence, which must have been resumed
 *	vpt_pf_packet_end(&p, to);
 *
 * Time stands last, and what differs from packet to packet best does right before it: so that what is alike from one to the next
 * is one long stretch for a compressor. What a thread did repeats, so there distances are padded to three bytes, which are enough
 * for 2 ms: packets of a kind then have one length, what repeats does so at one distance, and a compressor says that once. */
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

/* The number that `key` has in a table of the sequence: names, categories, texts and names of arguments. It is new in this
 * generation if *is_new, and must be told with vpt_pf_tell() before it is used, while no packet is begun. 0: no memory. */
uint32_t vpt_pf_intern(
	struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint64_t key, int *is_new);
void vpt_pf_tell(struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint32_t iid,
	const char *text, size_t len);

/* Bytes to hash into numbers that mean the same in every file: FNV-1a. Begin with 0. */
uint64_t vpt_pf_hash(uint64_t before, const void *data, size_t size);

#endif
