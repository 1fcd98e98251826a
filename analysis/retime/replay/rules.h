/* rules.h - the changes of all worlds, as bits: which of them a call or op is meant by. Private to effects.c, change_walk.c
 * and new_graphs.c. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_RULES_H
#define VPA_ANALYSIS_RETIME_REPLAY_RULES_H

#include "analysis/names/families.h"
#include "analysis/retime/replay/effects.h"
#include "analysis/retime/tape/tape.h"
#include "formats/calls.h"
#include "formats/event_schema.h"

/* ---- cover.c: in which ranges a moment of a thread is: of each pattern, the range that began last of those around it
 * whose names match.
 *
 * Only ranges whose names match some pattern are kept, in a lane for each thread and, for those of a whole process, for
 * each process. Each range knows what was open in its lane when it began. */

/* A range in its lane. */
struct vpa_cover_range {
	uint64_t start_ns, end_ns;
	uint32_t range; /* number, from 1 */
	uint32_t
		below; /* the one that began last of those that were open when this one began; NONE */
};

struct vpa_cover {
	const struct vpa_tape *t;
	size_t place_count;
	uint32_t *first_place, *places; /* by name + 1: the ends of its patterns in `places` */
	struct vpa_cover_range *ranges; /* by lane, then start */
	uint32_t *lanes; /* the first range of each; one more is the end of the last */
	uint32_t lane_count;
};

/* `patterns`: `count` of them, each another one. The caller calls vpa_cover_free(), whatever this returns. 0 or
 * VPT_ENOMEM. */
int vpa_cover_find(
	const struct vpa_tape *t, const char *const *patterns, size_t count, struct vpa_cover *out);
void vpa_cover_free(struct vpa_cover *c);

/* Where a thread's moments are, which must come in order. */
struct vpa_whereabouts {
	uint32_t own, wide;  /* the innermost range in each lane, as last found; NONE */
	uint64_t until_ns;   /* all ranges around are open until then */
	uint32_t *ranges;    /* by pattern: the number of the range, from 1; 0: none */
	uint32_t own_cursor; /* in its lane: the first range that begins later */
	uint32_t wide_cursor;
	uint64_t same_until_ns; /* until then nothing ends or begins; 0: not known */
	int is_known;
};

/* The same as vpa_cover_at(), where something may have ended or begun. */
int vpa_cover_find_at(
	const struct vpa_cover *c, uint32_t thread, uint64_t ns, struct vpa_whereabouts *w);

/* Finds where a moment of a thread is. Returns whether `ranges` may have changed since the last call. */
static inline int vpa_cover_at(
	const struct vpa_cover *c, uint32_t thread, uint64_t ns, struct vpa_whereabouts *w)
{
	return ns >= w->same_until_ns && vpa_cover_find_at(c, thread, ns, w);
}

/* Whether a name matches a pattern as of a shell, or is the same text. */
int vpa_name_matches(const struct vpa_tape *t, uint32_t name, const char *pattern);

/* Sets of rules: `words` words each. */
enum vpa_rule_set {
	VPA_RULES_NOW,   /* a call itself is changed: drop, delete, pin */
	VPA_RULES_AFTER, /* the call after it */
	VPA_RULES_SMALL, /* the wait after a small read too */
	VPA_RULES_HOST,  /* host code */
	VPA_RULES_SKIP,
	VPA_RULES_GRAPH,
	VPA_RULES_OP, /* the ops */
	VPA_RULES_ASIDE,
	VPA_RULES_EVERYWHERE,
	VPA_RULES_SMALL_READS, /* meant are small reads */
	VPA_RULES_CAPTURED,    /* meant is what a capture records */
	VPA_RULES_ADAPTERS,    /* meant are adapters */
	VPA_RULES_UNPACKING,   /* and what unpacks weights */
	VPA_RULES_REDUCTIONS,  /* and all-reduces that are done again */
	VPA_RULES_RECOMPUTED,  /* and what is computed again */
	VPA_RULES_STOPS,       /* and stops of the host */
	VPA_RULE_SETS
};

/* Launches that a change means by what all their ops are a chain of. */
struct vpa_chain_rules {
	enum vpa_change_what what;
	enum vpa_rule_set set;
	uint8_t chain; /* a bit, see chain_ops.h */
};
enum { VPA_CHAIN_RULES = 4 };
extern const struct vpa_chain_rules vpa_chain_rules[VPA_CHAIN_RULES];

enum { VPA_COPY_KINDS = 256 }; /* whatever a byte holds */

/* Launches of a thread that become one. */
struct vpa_graph_run {
	uint32_t first, last; /* the first and last launch */
	uint64_t host_ns;     /* of its calls and the code between them */
	uint8_t is_captured;
};

struct vpa_rule {
	const struct vpa_change *change;
	uint32_t place, outer; /* numbers of patterns; NONE: everywhere */
	uint32_t world;
	uint32_t aside; /* number of the stream */
	uint32_t line;  /* number, of those of the tape; NONE: any */
	double *rate;   /* bytes in a nanosecond; 0: not known; NULL: the factor counts */
	uint64_t *hits;
	uint8_t *skipped;           /* by number of a range, from 1: 1: it does not run */
	struct vpa_graph_run *runs; /* by first */
	size_t run_count, run_cap;
};

struct vpa_effects {
	const struct vpa_tape *t;
	const struct vpa_edges *e;
	struct vpa_rule *rules;
	size_t rule_count, words;
	uint64_t *sets;      /* VPA_RULE_SETS of them */
	uint64_t *copy_kind; /* by kind: rules that mean copies of it */
	uint64_t *families;  /* by family: rules that mean its kernels */
	uint64_t *of_place;  /* by pattern: rules there */
	uint32_t *
		name_row; /* by name, as a call's, then as a kernel's: 1 + row of `names`; 0: not asked yet */
	uint64_t *
		names; /* by row: rules that mean calls or kernels of the name, or calls of its class */
	size_t name_rows, name_cap;
	struct vpa_cover cover;
	uint64_t host_least_ns,
		host_most_ns; /* of stretches of host code that some rule is about */
	uint8_t *chains;      /* by op, see chain_ops.h; NULL: no rule is about chains */
	int copies_matter;    /* some rule is about what a call copies */
	int chains_matter;    /* or about chains of ops */
	int captures_matter;  /* or about what a capture records */
	int stops_matter;     /* or about stops of the host */
	uint64_t launch_ns;   /* usual time of a launch of a kernel; only if stops matter */
	uint32_t asides;
	int failed; /* no memory for a row of names */
};

static inline uint64_t *vpa_rule_set(const struct vpa_effects *x, enum vpa_rule_set set)
{
	return &x->sets[(size_t)set * x->words];
}

static inline int vpa_rule_has(const uint64_t *set, size_t rule)
{
	return set[rule / 64] >> rule % 64 & 1;
}

static inline void vpa_rule_add(uint64_t *set, size_t rule)
{
	set[rule / 64] |= (uint64_t)1 << rule % 64;
}

enum { VPA_KERNEL_CLASS = 255 }; /* beside those of calls */

/* The same as vpa_rules_of_name(), of a name that nobody has asked for. */
const uint64_t *vpa_rules_find_name(struct vpa_effects *x, uint32_t name, uint8_t klass);

/* The rules that mean calls of a name, which have that class, or kernels. */
static inline const uint64_t *vpa_rules_of_name(struct vpa_effects *x, uint32_t name, uint8_t klass)
{
	uint32_t row = x->name_row[2 * (size_t)name + (klass == VPA_KERNEL_CLASS)];

	return row ? &x->names[(row - 1) * x->words] : vpa_rules_find_name(x, name, klass);
}

/* Finds the runs of a rule that makes graphs, when those of earlier rules are known. 0 or VPT_ENOMEM. */
int vpa_graphs_find(struct vpa_effects *x, size_t rule);

/* The walk of one world only, with the rules before `to`, which counts nothing. NULL: no memory. */
struct vpa_walk *vpa_walk_part(struct vpa_effects *x, size_t from, size_t to);
/* Where the last call of the walk began: the number of the range of a pattern, from 1; 0: none. */
uint32_t vpa_walk_place(const struct vpa_walk *w, uint32_t thread, uint32_t place);

#endif
