/* sound_parts.h - what the files of sound_rows.h share. */
#ifndef VPA_ANALYSIS_TRUST_SOUND_PARTS_H
#define VPA_ANALYSIS_TRUST_SOUND_PARTS_H

#include "analysis/base/index.h"
#include "analysis/names/long_names.h"
#include "analysis/trust/sound_rows.h"

/* A lane, or the process for ranges of all its threads. */
struct vpa_sound_lane {
	/* Of its ops: the latest start and the latest end of any before this chunk. Of its calls: the latest end. */
	uint64_t start_ns, end_ns;
	const struct vpt_section *kernels, *copies; /* of this chunk; NULL: none */
	int overlaps;                               /* its kernels in this chunk do */
	/* Of its ranges: no row of an earlier chunk has a later time; the same with this one. */
	uint64_t settled_ns, newest_ns;
	size_t ranges, opens; /* rows of this chunk: more than that are not open at once */
	int is_touched;       /* stands in vpa_sound.touched */
};

/* A range that is open at the end of a chunk. */
struct vpa_sound_open {
	uint64_t start_ns, name, domain; /* hashes of the texts */
	uint32_t lane;
	int is_known; /* a later chunk says what became of it */
};

struct vpa_sound_opens {
	struct vpa_sound_open *items;
	size_t count, cap;
};

enum { VPA_SOUND_KINDS = 1024 }; /* numbers of calls, see formats/calls.def */

enum vpa_sound_fact {
	VPA_SOUND_WIDE = 1,  /* a range of this name is one of all threads */
	VPA_SOUND_SILENT = 2 /* a call of this name launches nothing */
};

/* What a call still waits for. An op takes all but MORE. */
enum vpa_sound_state {
	VPA_SOUND_NOTHING = 0,
	VPA_SOUND_KERNEL = 1, /* launches a kernel: one that never comes is missed */
	VPA_SOUND_MORE = 2,   /* a graph that has some of its ops */
	VPA_SOUND_GRAPH = 3,  /* launches a graph: likewise, and any number of ops */
	VPA_SOUND_OP = 4      /* may put one op on a device */
};

/* Calls by id: that of id k is in slot k % slot_count, until a newer one takes it. */
struct vpa_sound_calls {
	uint64_t *words;     /* 8 times the id, and its state */
	uint64_t *starts_ns; /* of the same calls */
	size_t slot_count;   /* a power of two */
	uint64_t newest_id;
	uint64_t launches, met; /* calls that must have an op, and those that have one */
	uint8_t states_of[VPA_SOUND_KINDS]; /* by the call's number */
};

/* Ops whose calls must come with the next chunk. */
struct vpa_sound_ops {
	struct {
		uint64_t id, start_ns;
	} * items;
	size_t count, cap;
};

struct vpa_sound {
	struct vpa_long_names long_names;
	struct vpa_index names; /* hash and length of each text so far */
	uint64_t name_bytes;
	uint8_t *name_facts; /* by string of the chunk: bits of vpa_sound_fact */
	size_t fact_cap;
	struct vpa_index lanes; /* by key and type */
	struct vpa_sound_lane *lane_of;
	size_t lane_cap;
	uint32_t *touched; /* lanes with rows in this chunk */
	size_t touched_count, touched_cap;
	int has_pid;
	uint64_t pid;
	uint64_t start_ns, clock_ns; /* of the capture; its newest clock point, 0: none */
	uint64_t newest_op_ns;       /* the latest start of any */
	struct vpa_sound_calls calls;
	struct vpa_sound_ops early;          /* ops before their calls */
	struct vpa_sound_opens open, opened; /* by the chunk before and by this one */
	struct vpa_sound_nest {              /* ranges in no other so far */
		uint64_t start_ns, end_ns;
		size_t depth; /* of those in it, and it */
	} * nests;
	size_t nest_cap;
};

/* The lane that a LANE row has described, with rows in this chunk from now on. VPT_END: none has. */
int vpa_sound_lane(struct vpa_sound *s, uint64_t key, unsigned type, uint32_t *lane);

/* The files' parts of a chunk. 0, VPT_END: something is in doubt; VPT_ENOMEM. */
int vpa_sound_take_calls(struct vpa_sound *s, const struct vpt_batch *b);
int vpa_sound_take_ops(struct vpa_sound *s, const struct vpt_batch *b);
int vpa_sound_take_ranges(struct vpa_sound *s, const struct vpt_batch *b);

#endif
