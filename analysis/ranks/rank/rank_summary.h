/* rank_summary.h - one rank of a job, as few numbers: who it is, its collectives, and what it did between them.
 *
 *	capture ---> rank: identity, names, collectives, and its time, cut at their edges
 *
 *	           start of A      end of A   start of B         end of B
 *	   ----------|--------------|-----------|-------------------|---> the rank's clock
 *	     parts     parts          parts       parts
 *
 * A rank is (capture, process, device): one capture may hold several. Its time from its first op to its last is cut at
 * the starts and ends of its collectives, the *marks*; each stretch between two marks is a sum of *parts*, exact to the
 * nanosecond: what ran, else why nothing ran. Everything else that is said of several ranks comes from this. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_SUMMARY_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_SUMMARY_H

#include "analysis/base/arena.h"
#include "analysis/names/collective_kinds.h"
#include "analysis/ranks/rank/rank_gauges.h"
#include "analysis/ranks/rank/rank_slab.h"
#include "analysis/ranks/rank/rank_times.h"
#include "analysis/report/rows/unit_kind.h"
#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Ops that end later are left out, so that two times of a rank, and of its clock beside another's, differ by a number
 * with a sign. */
#define VPA_RANK_LATEST_NS (UINT64_MAX >> 3)

/* Frames in a second are fewer, so that those of all ranks together are a number. */
#define VPA_RANK_FPS_MOST 1e18

/* What a stretch of a rank's time is, the first that holds. */
enum vpa_part_class {
	VPA_TIME_COMPUTE, /* a kernel runs that is no collective; kind: enum vpa_family */
	VPA_TIME_COMM,    /* a collective runs beside nothing; kind 0 */
	VPA_TIME_COPY,    /* a copy or memset runs; kind: VPT_COPYKIND_* */
	VPA_TIME_IDLE,    /* nothing runs; kind: enum vpa_cause, NOT_IDLE: not recorded */
	VPA_TIME_CLASSES
};

struct vpa_part_name {
	enum vpa_part_class klass;
	unsigned kind;
	const char *place; /* the range around it, see place.h; NULL: none */
};

struct vpa_rank_part {
	uint32_t name; /* index in the rank's part_names */
	uint64_t ns;
};

/* The moment that a collective starts or ends, and what the rank did since the mark before: the parts from the end of
 * that one's on. */
struct vpa_rank_mark {
	uint64_t time_ns;
	size_t part_end;
};

/* What two collectives of different ranks have in common if they are one. */
struct vpa_collective_key {
	enum vpa_collective_kind kind;
	const char
		*group; /* the communicator, as the job names it; NULL: not known, then by stream */
	const char *text; /* the kernel's name, or the collective's; never NULL */
	uint64_t bytes;   /* of the message; 0: not known */
	uint64_t blocks;  /* of the kernel's grid; 0: not known */
	uint32_t
		lane; /* its stream, in the order in which streams of the rank first had a collective */
};

struct vpa_rank_collective {
	uint64_t start_ns, end_ns; /* of the kernel, on the rank's clock */
	uint32_t key;              /* index in the rank's keys */
};

/* Kinds of ops in terms: families that changes of a pipeline are likely to be about, the most frequent one first. */
enum vpa_busy_kind {
	VPA_BUSY_GEMM,
	VPA_BUSY_ATTENTION,
	VPA_BUSY_GLUE, /* elementwise, reductions, layouts */
	VPA_BUSY_NORM, /* and what stands beside attention */
	VPA_BUSY_COPY,
	VPA_BUSY_CONV,
	VPA_BUSY_QUANT,
	VPA_BUSY_OTHER,
	VPA_BUSY_KINDS
};

/* Of a kernel of this family, or of a copy. */
enum vpa_busy_kind vpa_busy_kind_of(enum vpa_part_class klass, unsigned family);

/* Why a collective starts when it does: not before `ns` after the end of an earlier one, whatever that waited for. */
struct vpa_rank_term {
	uint32_t after; /* index of a collective of the rank; VPA_RANK_START: the rank's first_ns */
	/* What `ns` consists of, as shares of VPA_TERM_WHOLE: ops that are no collectives, by kind, and host code between
	 * calls; the rest are calls and delays. 0 of a rank that has no paces. */
	uint8_t work[VPA_BUSY_KINDS], code;
	int64_t ns;
};

enum {
	VPA_TERM_WHOLE = 255,
	VPA_PACE_TERM_NS = 1024 /* terms of a pace are later than they say by less than that */
};

/* When collectives would start if other things took no time: what limits a rank that has less of them. */
enum vpa_pace {
	VPA_PACE_HOST, /* no op but collectives takes any */
	VPA_PACE_HALF, /* host code between calls takes half its time */
	VPA_PACE_GPU,  /* it takes none */
	VPA_PACES
};

/* Whether a rank has paces, and how its folded detail has them. */
enum vpa_paces {
	VPA_PACES_NONE,  /* an older version wrote it, and what its terms consist of is not known */
	VPA_PACES_ALONE, /* an older version wrote it, with times that are whole */
	VPA_PACES_BESIDE, /* with times beside those of the recorded terms */
};

#define VPA_RANK_START UINT32_MAX

/* What a rank did between its collectives. Much larger than the rest: of ranks that wait for their job it is folded, see
 * rank_fold.h. All zeros is empty. */
struct vpa_rank_detail {
	struct vpa_rank_mark *marks; /* by time */
	size_t mark_count, mark_cap;
	uint32_t *
		mark_of; /* of collective i, 2 * i and 2 * i + 1: the marks where it starts and ends */
	size_t mark_of_cap;
	struct vpa_rank_part *parts;
	size_t part_count, part_cap;
	/* By mark, of what is read from bytes: how long ops but collectives ran in the stretch before it, nothing ran, and nothing
	 * ran since the host was late. */
	struct vpa_rank_sums {
		int64_t busy_ns, idle_ns, host_ns;
	} * sums;
	size_t sum_cap;
	/* By collective, then that of the rank's last_ns: where its terms end in `terms`. A time is the latest of what its
	 * terms say, see rank_parts.h. Only if the rank has_terms. */
	size_t *term_ends;
	size_t term_end_cap;
	struct vpa_rank_term *terms;
	size_t term_cap;
	/* The same in each pace, without shares of ops. Only if the rank has_paces. */
	struct vpa_rank_pace {
		size_t *term_ends;
		size_t term_end_cap;
		struct vpa_rank_term *terms;
		size_t term_cap;
	} paces[VPA_PACES];
};

static inline uint32_t vpa_start_mark(const struct vpa_rank_detail *d, size_t collective)
{
	return d->mark_of[2 * collective];
}

static inline uint32_t vpa_end_mark(const struct vpa_rank_detail *d, size_t collective)
{
	return d->mark_of[2 * collective + 1];
}

void vpa_rank_detail_free(struct vpa_rank_detail *d);

/* What time of this part counts as: all bits of it, or none. */
struct vpa_rank_sums vpa_part_counts_as(const struct vpa_part_name *name);

/* Whoever wants to see what a rank without overlaps did while it is read, a few collectives at a time, since all of it takes more
 * memory than a processor has near: take() gets the next `count` collectives, of which `first` is the first. Collective first + i
 * starts at mark 2 * i of `d` and ends at the next one; sums are of starts; other members of `d` are not set. 0, or an error that ends
 * the reading. */
struct vpa_stretch_taker {
	int (*take)(void *ctx, const struct vpa_rank_detail *d, size_t first, size_t count);
	void *ctx;
};

struct vpa_rank_fact {
	const char *name, *value;
};

struct vpa_rank {
	struct vpa_arena arena; /* of all texts */
	/* Who it is. Texts are NULL and numbers -1 where nothing says so. */
	const char *capture, *host, *boot_id, *job, *gpu, *gpu_uuid, *gpu_pci;
	int64_t rank, world_size, local_rank, pid, device;
	/* Of ranks whose host's name alone says where they ran: which of the machines by that name, see
	 * ../alignment/machines.h. */
	uint32_t machine;
	struct vpa_rank_fact *facts; /* set-up that should be the same on all ranks, by name */
	size_t fact_count;
	int simulated;       /* as in struct vpa_report */
	int complete;        /* 0: records are missing */
	const char *missing; /* the verdict's first reason; NULL: none */

	int has_realtime;
	uint64_t unix_offset_ns;    /* CLOCK_REALTIME = the rank's clock + this, which may wrap */
	uint64_t first_ns, last_ns; /* of its ops */
	uint64_t class_ns[VPA_TIME_CLASSES]; /* they sum to last_ns - first_ns */
	uint64_t *part_ns;                   /* by part name, the same */

	/* What its report counts in; of VPA_UNIT_WINDOW there is one. */
	enum vpa_unit_kind unit;
	uint64_t units, unit_ns;             /* unit_ns: the mean one */
	uint64_t units_from_ns, units_to_ns; /* the stretch that they are of; both 0: not known */
	double fps;                          /* as RESULT of its report has them; 0: not known */
	int is_end_to_end;        /* these are of all of a request, not of its steady part */
	uint64_t blocks_per_1e9s; /* of units that are blocks; 0: not known */
	struct vpa_rank_gauge gauges[VPA_GAUGES];
	struct vpa_rank_clock clock;
	struct vpa_rank_stage *stages;
	size_t stage_count;
	/* What its host spent in NCCL's calls that make communicators: each waits for all ranks of it. */
	uint64_t init_ns, inits;

	struct vpa_part_name *part_names; /* by class, kind and place */
	size_t part_name_count;
	struct vpa_collective_key *keys;
	size_t key_count;
	size_t collective_count; /* by start */
	int has_overlaps;        /* 0: each one takes time, and ends before the next one starts */
	struct vpa_rank_times times;
	uint16_t *key_low, *key_high; /* of each; key_high NULL: there are at most 65,536 keys */
	struct vpa_slab *slab;        /* which keys and times are parts of */
	int has_terms;                /* 0: why its collectives start when they do is not known */
	enum vpa_paces has_paces;
	int has_lengths; /* its folded detail is from before version 6, see file/rank_columns.h */
	struct vpa_rank_detail detail;
	struct vpa_rank_folded {
		unsigned char
			*packed; /* NULL: in a file; or not folded, then the detail is above */
		size_t packed_size, size;
		struct vpa_slab *slab; /* which it is a part of; NULL: it is a block of its own */
		const char *path;      /* of the file; NULL: none */
		uint64_t at;           /* its byte in the file */
	} folded;
};

static inline uint64_t vpa_rank_start_ns(const struct vpa_rank *r, size_t collective)
{
	return vpa_rank_times_start(&r->times, collective);
}

static inline uint64_t vpa_rank_end_ns(const struct vpa_rank *r, size_t collective)
{
	return vpa_rank_times_end(&r->times, collective);
}

static inline struct vpa_item_times vpa_rank_item_times(const struct vpa_rank *r, size_t collective)
{
	return vpa_rank_times_of(&r->times, collective);
}

static inline uint32_t vpa_rank_key_index(const struct vpa_rank *r, size_t collective)
{
	return r->key_low[collective] | (r->key_high ? (uint32_t)r->key_high[collective] << 16 : 0);
}

static inline const struct vpa_collective_key *vpa_rank_key(
	const struct vpa_rank *r, size_t collective)
{
	return &r->keys[vpa_rank_key_index(r, collective)];
}

/* Makes room for `count` collectives of a rank that has none, and for its keys: in *slab, see rank_slab.h; NULL: in one of its own. 0
 * or VPT_ENOMEM. */
int vpa_rank_begin_collectives(struct vpa_rank *r, size_t count, struct vpa_slab **slab);
/* Puts the next one, after the one that ends at `before_ns`; starts ascend. 0 or VPT_ENOMEM. */
static inline int vpa_rank_put_after(
	struct vpa_rank *r, uint64_t before_ns, struct vpa_rank_collective c)
{
	if (vpa_rank_times_put(&r->times, c.start_ns, c.end_ns))
		return VPT_ENOMEM;
	r->has_overlaps |=
		c.start_ns == c.end_ns || (r->collective_count && c.start_ns <= before_ns);
	r->key_low[r->collective_count] = (uint16_t)c.key;
	if (r->key_high)
		r->key_high[r->collective_count] = (uint16_t)(c.key >> 16);
	r->collective_count++;
	return VPT_OK;
}

/* The same, whatever is before it. */
static inline int vpa_rank_put_collective(struct vpa_rank *r, struct vpa_rank_collective c)
{
	size_t count = r->collective_count;

	return vpa_rank_put_after(r, count ? vpa_rank_end_ns(r, count - 1) : 0, c);
}

/* Sets the marks of the rank's collectives, without parts: a mark for each moment at which one starts or ends. What `d` had
 * is overwritten; its memory is used again. 0 or VPT_ENOMEM. */
int vpa_rank_set_marks(const struct vpa_rank *r, struct vpa_rank_detail *d);

/* Whether its detail is folded: it is read from a summary, or part of a job. */
static inline int vpa_rank_is_folded(const struct vpa_rank *r)
{
	return r->folded.packed || r->folded.path;
}

/* Drops what is packed. */
void vpa_rank_drop_folded(struct vpa_rank *r);
void vpa_rank_free(struct vpa_rank *r); /* what it points to */

/* Ranks, each in memory of its own. All zeros is empty. */
struct vpa_rank_list {
	struct vpa_rank **items;
	size_t count, cap;
	unsigned jobs;         /* threads for work on all of them, see rank_threads.h */
	struct vpa_slab *slab; /* of the ranks that are read into it; NULL: none yet */
	const char **unread;   /* files that could not be read: a sentence each */
	size_t unread_count, unread_cap;
};

/* Appends an empty rank. NULL: no memory. */
struct vpa_rank *vpa_rank_add(struct vpa_rank_list *list);
/* Names a file that could not be read. 0 or VPT_ENOMEM. */
int vpa_rank_list_unread(struct vpa_rank_list *list, const char *sentence);
void vpa_rank_list_free(struct vpa_rank_list *list);

#endif
