/* perfetto.h - Perfetto's trace format, as far as this project writes it: packets, their sequences and clocks, and
 * what is said once and then referred to by number. What the packets tell is up to the caller.
 *
 *	vpt_pf_init(&p, 1 << 20, take_group, ctx);
 *	vpt_pf_clocks(&p, &meta, &snapshot);          the first packet of a file
 *	vpt_pf_sequence(&p, &gpu, 2, start_ns, 0);    then each sequence
 *	vpt_pf_begin(&p, &gpu, time_ns);              a packet ...
 *	vpt_pb_begin(&p.out, VPT_PF_RENDER_STAGE);    ... with its fields
 *	...
 *	vpt_pf_end(&p);
 *
 * A file is a row of packets, and any number of whole packets is a file. Times are nanoseconds on CLOCK_BOOTTIME. */
#ifndef VPT_FORMATS_PERFETTO_H
#define VPT_FORMATS_PERFETTO_H

#include "formats/protobuf.h"

/* Fields of a packet. */
enum {
	VPT_PF_TIME = 8,
	VPT_PF_SEQUENCE = 10,
	VPT_PF_TRACK_EVENT = 11,
	VPT_PF_INTERNED = 12,
	VPT_PF_FLAGS = 13,
	VPT_PF_SYSTEM_INFO = 45,
	VPT_PF_COMPRESSED = 50,
	VPT_PF_RENDER_STAGE = 53,
	VPT_PF_TRACK = 60,
	VPT_PF_ATTRIBUTES = 126,
	VPT_PF_GPU_INFO = 128
};

/* Tables of interned data. */
enum {
	VPT_PF_CATEGORIES = 1,
	VPT_PF_NAMES = 2,
	VPT_PF_ARG_NAMES = 3,
	VPT_PF_CONTEXTS = 23,
	VPT_PF_SPECIFICATIONS = 24,
	VPT_PF_TEXTS = 29,
	VPT_PF_KERNELS = 1000,
	VPT_PF_KERNEL_ARG_NAMES = 1001
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
	uint64_t last_ns;
	struct vpt_pf_name {
		uint64_t key; /* the caller's number, and the table */
		uint32_t iid; /* 0: free */
	} * names;
	size_t name_count, name_slots;
	uint32_t newest[4]; /* iids given so far, by table */
};

struct vpt_pf {
	struct vpt_pb out; /* the group at hand: whole packets, and the one being written */
	size_t group_bytes;
	/* Takes a group of whole packets. 0 or why not: then nothing more is written. */
	int (*take)(void *ctx, const void *data, size_t size);
	void *ctx;
	int failed;
	uint64_t packets, bytes;
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

/* Begins a packet; what is put into p->out until vpt_pf_end() are its fields. */
void vpt_pf_begin(struct vpt_pf *p, struct vpt_pf_sequence *s, uint64_t time_ns);
void vpt_pf_begin_timeless(struct vpt_pf *p, struct vpt_pf_sequence *s);
void vpt_pf_end(struct vpt_pf *p);

/* The number that `key` has in a table of the sequence: names, categories, texts and names of arguments. It is new if
 * *is_new, and must be told with vpt_pf_tell() before it is used, while no packet is begun. 0: no memory. */
uint32_t vpt_pf_intern(
	struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint64_t key, int *is_new);
void vpt_pf_tell(struct vpt_pf *p, struct vpt_pf_sequence *s, unsigned table, uint32_t iid,
	const char *text, size_t len);

/* Bytes to hash into numbers that mean the same in every file: FNV-1a. Begin with 0. */
uint64_t vpt_pf_hash(uint64_t before, const void *data, size_t size);

#endif
