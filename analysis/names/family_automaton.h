/* family_automaton.h - the patterns of families.def as one automaton.
 *
 * The literal fragments of the patterns form one Aho-Corasick automaton, a step or two per byte. A
 * single fragment is a rule by itself; the others are links of a chain:
 *
 *	chunk_[a-z_]*(fwd|bwd)_kernel        "chunk_" <--[a-z_]*-- "fwd_kernel"
 *	                                              <--[a-z_]*-- "bwd_kernel"
 *
 * A link matches if the one before it matched and all bytes between are in the class. Only the
 * latest match is remembered. That is exact as long as a fragment cannot overlap the next one of
 * its chain; the tests compare the table with regexec(3).
 *
 * A program of the build makes it (main.c), since that takes as long as the analysis of a short trace. */
#ifndef VPA_ANALYSIS_NAMES_FAMILY_AUTOMATON_H
#define VPA_ANALYSIS_NAMES_FAMILY_AUTOMATON_H

#include <stdint.h>

enum {
	VPA_RULES = 0
#define VPA_RULE(FAMILY, BACKEND, pattern) +1
#include "analysis/names/families.def"
#define VPA_MARK(MARK, pattern) +1
#include "analysis/names/families.def"
	,
	/* values of `completes` that are no rule */
	VPA_NOTHING_YET = VPA_RULES,
	VPA_NVCC_FILE_NAME,

	VPA_NODES_MAX = 4352,
	VPA_COLUMNS_MAX = 80, /* distinct bytes in fragments, and column 0 for all others */
	VPA_PIECES_MAX = 1024,
	VPA_CLASSES_MAX = 24,
	VPA_LINKS_MAX = 320
};

enum vpa_span { VPA_SPAN_NONE, VPA_SPAN_ONE, VPA_SPAN_RUN, VPA_SPAN_RUN_1, VPA_SPAN_ANY };

/* A fragment and its context on both sides. Piece 0 means "none". */
struct vpa_piece {
	uint16_t completes; /* rule, in the order of families.def, marks after all families */
	uint16_t same;      /* next piece with this fragment */
	uint16_t previous;  /* of the chain */
	uint16_t link;      /* its index in a scan; 0: nothing follows it */
	uint8_t len;
	uint8_t anchored;      /* only at the start of the name */
	uint8_t word;          /* no lower-case letter may precede it */
	uint8_t last;          /* only at the end of the name */
	uint8_t before, klass; /* enum vpa_span, and the class of the span's bytes */
	uint8_t after_class;   /* class of the one byte after it; 0: any or none */
};

/* A tree of fragments: the first child of a node, the next child of its parent, the column that leads
 * to it. `fail` is the node of the longest suffix that is in the tree. Only the root has a row: its
 * children are many, those of others few. */
struct vpa_automaton {
	uint16_t root[VPA_COLUMNS_MAX];
	uint16_t child[VPA_NODES_MAX], sibling[VPA_NODES_MAX], fail[VPA_NODES_MAX];
	uint8_t from[VPA_NODES_MAX];
	uint16_t hit[VPA_NODES_MAX];   /* node of the longest fragment that ends here; 0: none */
	uint16_t rest[VPA_NODES_MAX];  /* node of the next shorter fragment that ends here */
	uint16_t first[VPA_NODES_MAX]; /* first piece of that fragment */
	uint8_t column[256];
	struct vpa_piece pieces[VPA_PIECES_MAX];
	uint64_t classes[VPA_CLASSES_MAX][4];
};

/* The child of a node in this column; 0: none. */
static inline unsigned vpa_automaton_child(
	const struct vpa_automaton *a, unsigned node, unsigned column)
{
	unsigned child = node ? a->child[node] : a->root[column];

	while (node && child && a->from[child] != column)
		child = a->sibling[child];
	return child;
}

/* Where a byte of this column leads: if not further down, then from the longest suffix of the text
 * read so far. */
static inline unsigned vpa_automaton_step(
	const struct vpa_automaton *a, unsigned node, unsigned column)
{
	unsigned next = vpa_automaton_child(a, node, column);

	while (!next && node) {
		node = a->fail[node];
		next = vpa_automaton_child(a, node, column);
	}
	return next;
}

/* Makes it of the patterns, in static memory. Call it once. */
const struct vpa_automaton *vpa_automaton_build(void);

/* The automaton, never NULL. Any thread. */
const struct vpa_automaton *vpa_automaton(void);

#endif
