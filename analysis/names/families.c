/* families.c - kernel name matcher.
 *
 * Some hundred patterns distinguish the names, and one scan of a name tests all of them: the
 * literal fragments of families.def form one Aho-Corasick automaton, a step or two per byte. A
 * single fragment is a rule by itself; the others are links of a chain:
 *
 *	chunk_[a-z_]*(fwd|bwd)_kernel        "chunk_" <--[a-z_]*-- "fwd_kernel"
 *	                                              <--[a-z_]*-- "bwd_kernel"
 *
 * A link matches if the one before it matched and all bytes between are in the class. Only the
 * latest match is remembered. That is exact as long as a fragment cannot overlap the next one of
 * its chain; the tests compare the table with regexec(3).
 *
 * The automaton is built at the first call, in static memory, in a fraction of a millisecond. Not done
 * here: demangling (patterns consist of identifiers, which mangling keeps), and kernels identified
 * by their neighbours instead of their name (eager attention). */
#include "analysis/names/families.h"

#include "analysis/names/number_format.h"
#include "analysis/names/nvcc_file_names.h"
#include "formats/base/error.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* ---- the table ---- */

enum { IS_ATTENTION = 1, BESIDE_ATTENTION = 2, IS_COMM = 4, IS_GLUE = 8 };

static const struct {
	const char *name;
	unsigned flags;
} families[] = {
#define VPA_FAMILY(NAME, name, flags) {name, flags},
#include "analysis/names/families.def"
};

static const struct rule {
	unsigned family; /* or VPA_FAMILY_COUNT + a mark: these do not compete with the rules */
	enum vpa_backend backend;
	const char *pattern;
} rules[] = {
#define VPA_RULE(FAMILY, BACKEND, pattern) {VPA_FAMILY_##FAMILY, VPA_BACKEND_##BACKEND, pattern},
#include "analysis/names/families.def"
#define VPA_MARK(MARK, pattern)                                                                    \
	{VPA_FAMILY_COUNT + (unsigned)VPA_MARK_##MARK, VPA_BACKEND_NONE, pattern},
#include "analysis/names/families.def"
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* ---- the automaton, read-only after build() ---- */

enum {
	NODES_MAX = 4096,
	COLUMNS_MAX = 80, /* distinct bytes in fragments, and column 0 for all others */
	PIECES_MAX = 1024,
	CLASSES_MAX = 24,
	LINKS_MAX = 256,
	PATTERN_MAX = 256,
	/* values of `completes` that are no rule */
	NOTHING_YET = RULES,
	NVCC_FILE_NAME
};

enum span { SPAN_NONE, SPAN_ONE, SPAN_RUN, SPAN_RUN_1, SPAN_ANY };

/* A fragment and its context on both sides. Piece 0 means "none". */
struct piece {
	uint16_t completes; /* rule */
	uint16_t same;      /* next piece with this fragment */
	uint16_t previous;  /* of the chain */
	uint16_t link;      /* its index in struct scan; 0: nothing follows it */
	uint8_t len;
	uint8_t anchored;      /* only at the start of the name */
	uint8_t word;          /* no lower-case letter may precede it */
	uint8_t last;          /* only at the end of the name */
	uint8_t before, klass; /* enum span, and the class of the span's bytes */
	uint8_t after_class;   /* class of the one byte after it; 0: any or none */
};

/* A tree of fragments: the first child of a node, the next child of its parent, the column that leads
 * to it. `fail` is the node of the longest suffix that is in the tree. Only the root has a row: its
 * children are many, those of others few, and a table of all would take longer to fill than a trace's
 * names to read. */
static struct {
	uint16_t root[COLUMNS_MAX];
	uint16_t child[NODES_MAX], sibling[NODES_MAX], fail[NODES_MAX];
	uint8_t from[NODES_MAX];
	uint16_t hit[NODES_MAX];   /* node of the longest fragment that ends here; 0: none */
	uint16_t rest[NODES_MAX];  /* node of the next shorter fragment that ends here */
	uint16_t first[NODES_MAX]; /* first piece of that fragment */
	uint8_t column[256];
	struct piece pieces[PIECES_MAX];
	uint64_t classes[CLASSES_MAX][4];
	unsigned nodes, columns, piece_count, class_count, links;
} automaton;

static pthread_once_t built = PTHREAD_ONCE_INIT;

static int in_class(unsigned klass, char byte)
{
	unsigned char c = (unsigned char)byte;

	return (int)(automaton.classes[klass][c >> 6] >> (c & 63) & 1);
}

/* ---- building: patterns into pieces ---- */

/* The number of the class spelled "[...]" at *at; advances *at past it. */
static unsigned read_class(const char **at)
{
	const char *p = *at + 1;
	uint64_t set[4] = {0};
	unsigned i, c, inverted = *p == '^';

	for (p += inverted; *p != ']'; p++) {
		unsigned last = (unsigned char)*p;

		assert(*p);
		c = last;
		if (p[1] == '-' && p[2] != ']') {
			p += 2;
			last = (unsigned char)*p;
		}
		for (; c <= last; c++)
			set[c >> 6] |= (uint64_t)1 << (c & 63);
	}
	*at = p + 1;
	for (i = 0; inverted && i < 4; i++)
		set[i] = ~set[i];
	for (i = 1; i < automaton.class_count; i++)
		if (!memcmp(automaton.classes[i], set, sizeof(set)))
			return i;
	assert(i < CLASSES_MAX);
	memcpy(automaton.classes[i], set, sizeof(set));
	automaton.class_count++;
	return i;
}

static int is_any(const char *p)
{
	return p[0] == '.' && p[1] == '*';
}

/* The span between two fragments: nothing, ".*", or a class with its quantifier. */
static void read_span(const char **at, struct piece *piece)
{
	if (is_any(*at)) {
		piece->before = SPAN_ANY;
		*at += 2;
	} else if (**at == '[') {
		piece->klass = (uint8_t)read_class(at);
		piece->before = **at == '*' ? SPAN_RUN : **at == '+' ? SPAN_RUN_1 : SPAN_ONE;
		*at += piece->before != SPAN_ONE;
	}
}

/* The child of a node in this column; 0: none. */
static unsigned child_of(unsigned node, unsigned column)
{
	unsigned child = node ? automaton.child[node] : automaton.root[column];

	while (node && child && automaton.from[child] != column)
		child = automaton.sibling[child];
	return child;
}

/* Where a byte of this column leads: if not further down, then from the longest suffix of the text
 * read so far. */
static unsigned step(unsigned node, unsigned column)
{
	unsigned next = child_of(node, column);

	while (!next && node) {
		node = automaton.fail[node];
		next = child_of(node, column);
	}
	return next;
}

static unsigned add_node(unsigned parent, unsigned column)
{
	unsigned node = automaton.nodes++;

	assert(node < NODES_MAX);
	if (!parent)
		automaton.root[column] = (uint16_t)node;
	automaton.from[node] = (uint8_t)column;
	automaton.sibling[node] = automaton.child[parent];
	automaton.child[parent] = (uint16_t)node;
	return node;
}

/* Whether a byte stands for itself only after a backslash. */
static int is_operator(char c)
{
	switch (c) {
	case '*':
	case '+':
	case '?':
	case '|':
	case '^':
	case '$':
	case '.':
	case ')':
		return 1;
	default:
		return 0;
	}
}

/* The node at the end of the literal text at *at; advances *at past the text. */
static unsigned read_fragment(const char **at, struct piece *piece)
{
	const char *p = *at;
	unsigned node = 0, next;

	for (; *p && *p != '[' && *p != '$' && !is_any(p); p++) {
		uint8_t *column;

		assert(!is_operator(*p));
		p += *p == '\\';
		column = &automaton.column[(unsigned char)*p];
		if (!*column)
			*column = (uint8_t)++automaton.columns;
		assert(*column < COLUMNS_MAX);
		next = child_of(node, *column);
		node = next ? next : add_node(node, *column);
		piece->len++;
	}
	assert(piece->len);
	*at = p;
	return node;
}

/* Files a piece under its fragment; shares a link that another pattern begins with too. */
static unsigned add_piece(unsigned node, struct piece piece)
{
	unsigned i;

	for (i = automaton.first[node]; i; i = automaton.pieces[i].same) {
		const struct piece *old = &automaton.pieces[i];

		if (old->completes == NOTHING_YET && piece.completes == NOTHING_YET &&
			old->previous == piece.previous && old->before == piece.before &&
			old->klass == piece.klass && old->anchored == piece.anchored &&
			old->word == piece.word)
			return i;
	}
	assert(automaton.piece_count < PIECES_MAX && automaton.links + 1 < LINKS_MAX);
	if (piece.previous || piece.completes == NOTHING_YET)
		piece.link = (uint16_t)++automaton.links;
	piece.same = automaton.first[node];
	automaton.first[node] = (uint16_t)automaton.piece_count;
	automaton.pieces[automaton.piece_count] = piece;
	return automaton.piece_count++;
}

static int is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* One pattern without alternatives. */
static void add_chain(const char *pattern, unsigned completes)
{
	unsigned anchored = *pattern == '^', word = (unsigned)is_lower(*pattern), previous = 0,
		 node;

	pattern += anchored;
	pattern += is_any(pattern) ? 2 : 0;
	do {
		struct piece piece = {.anchored = (uint8_t)anchored,
			.word = (uint8_t)word,
			.previous = (uint16_t)previous};

		read_span(&pattern, &piece);
		node = read_fragment(&pattern, &piece);
		piece.last = *pattern == '$';
		pattern += piece.last;
		piece.completes = (uint16_t)(*pattern ? NOTHING_YET : completes);
		if (*pattern == '[') {
			const char *end = pattern;
			unsigned klass = read_class(&end);

			if (!*end) {
				piece.after_class = (uint8_t)klass;
				piece.completes = (uint16_t)completes;
				pattern = end;
			}
		}
		previous = add_piece(node, piece);
		anchored = word = 0;
	} while (*pattern);
}

/* Where the alternative at p ends: the "|" or ")" of its own group. */
static const char *find_alternative_end(const char *p)
{
	unsigned depth = 0;

	for (; *p && (depth || (*p != '|' && *p != ')')); p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '(')
			depth++;
		else if (*p == ')')
			depth--;
	}
	return p;
}

static void add_pattern(const char *pattern, unsigned completes);

/* Adds a pattern that consists of three texts. */
static void add_joined(const char *head, size_t head_len, const char *alternative, size_t len,
	const char *tail, unsigned completes)
{
	char text[PATTERN_MAX];

	memcpy(text, head, head_len);
	memcpy(text + head_len, alternative, len);
	strcpy(text + head_len + len, tail);
	add_pattern(text, completes);
}

/* Expands the alternatives of the first "(...)" and adds each. */
static void add_pattern(const char *pattern, unsigned completes)
{
	const char *open = pattern, *close, *tail, *alt, *end;

	while (*open && *open != '(')
		open += *open == '\\' && open[1] ? 2 : 1;
	if (!*open) {
		add_chain(pattern, completes);
		return;
	}
	for (close = open; *close != ')';) {
		close = find_alternative_end(close + 1);
		assert(*close);
	}
	assert(strlen(pattern) < PATTERN_MAX);
	tail = close + 1 + (close[1] == '?');
	for (alt = open; alt != close; alt = end) {
		end = find_alternative_end(alt + 1);
		add_joined(pattern, (size_t)(open - pattern), alt + 1, (size_t)(end - alt - 1),
			tail, completes);
	}
	if (close[1] == '?')
		add_joined(pattern, (size_t)(open - pattern), "", 0, tail, completes);
}

/* Turns the tree into an automaton, breadth first: what a node needs of its suffix is known by then. */
static void close_automaton(void)
{
	static uint16_t queue[NODES_MAX];
	unsigned head = 0, tail = 1, node, child, other;

	for (; head < tail; head++) {
		node = queue[head];
		for (child = automaton.child[node]; child; child = automaton.sibling[child]) {
			other = node ? step(automaton.fail[node], automaton.from[child]) : 0;
			automaton.fail[child] = (uint16_t)other;
			automaton.rest[child] = automaton.hit[other];
			automaton.hit[child] =
				automaton.first[child] ? (uint16_t)child : automaton.hit[other];
			queue[tail++] = (uint16_t)child;
		}
	}
}

static void build(void)
{
	unsigned i;

	automaton.nodes = automaton.piece_count = automaton.class_count = 1;
	for (i = 0; i < RULES; i++)
		add_pattern(rules[i].pattern, i);
	add_pattern(VPA_NVCC_PREFIX, NVCC_FILE_NAME);
	close_automaton();
}

/* ---- scanning a name ---- */

struct scan {
	const char *name;
	uint32_t len;
	unsigned rule;              /* the first that matched so far; RULES: none */
	unsigned marks;             /* as in the class */
	uint32_t end[LINKS_MAX];    /* end of a link's last match; 0: no match yet */
	uint32_t looked[LINKS_MAX]; /* the span before a link was checked up to here ... */
	uint32_t alien[LINKS_MAX];  /* ... and here ends its last byte outside the class */
};

/* Whether all bytes between the previous link's end and `start` are in the class. Each byte is
 * checked once per link. */
static int span_holds(struct scan *s, const struct piece *piece, uint32_t start)
{
	uint32_t from = s->end[automaton.pieces[piece->previous].link];
	uint32_t *looked = &s->looked[piece->link], *alien = &s->alien[piece->link], i;

	if (!from || from > start || (piece->before == SPAN_RUN_1 && from == start) ||
		(piece->before == SPAN_ONE && from + 1 != start))
		return 0;
	if (piece->before == SPAN_NONE)
		return from == start;
	if (piece->before == SPAN_ANY)
		return 1;
	for (i = from > *looked ? from : *looked; i < start; i++)
		if (!in_class(piece->klass, s->name[i]))
			*alien = i + 1;
	*looked = start > *looked ? start : *looked;
	return *alien <= from;
}

static int piece_holds(struct scan *s, const struct piece *piece, uint32_t end)
{
	uint32_t start = end - piece->len;

	if ((piece->anchored && start) || (piece->last && end != s->len))
		return 0;
	if (piece->word && start && is_lower(s->name[start - 1]))
		return 0;
	if (piece->previous && !span_holds(s, piece, start))
		return 0;
	if (!piece->previous && piece->before &&
		(!start || !in_class(piece->klass, s->name[start - 1])))
		return 0;
	return !piece->after_class || (end < s->len && in_class(piece->after_class, s->name[end]));
}

/* Tests all fragments that end before `end`, the longest first, so that a link is compared with
 * what came before it and not with a part of itself. Returns where to read on. */
static uint32_t meet(struct scan *s, unsigned node, uint32_t end)
{
	unsigned i;

	for (; node; node = automaton.rest[node])
		for (i = automaton.first[node]; i; i = automaton.pieces[i].same) {
			const struct piece *piece = &automaton.pieces[i];

			/* Skip rules that come after the one that already matched. */
			if (piece->completes < RULES && piece->completes > s->rule &&
				rules[piece->completes].family < VPA_FAMILY_COUNT)
				continue;
			if (!piece_holds(s, piece, end))
				continue;
			if (piece->completes == NVCC_FILE_NAME)
				return (uint32_t)vpa_nvcc_file_name_end(
					s->name, s->len, end - piece->len);
			if (piece->completes == NOTHING_YET)
				s->end[piece->link] = end;
			else if (rules[piece->completes].family >= VPA_FAMILY_COUNT)
				s->marks |= 1u
					    << (rules[piece->completes].family - VPA_FAMILY_COUNT);
			else
				s->rule = piece->completes;
		}
	return end;
}

/* A helper of an attention does not multiply, and a product in FP32 is one of the usual cores', though their names hold the same
 * words as those that do. */
static int can_use_tensor_cores(const struct vpa_kernel_class *k, const char *name, size_t len)
{
	return (vpa_family_is_attention(k->family) || k->family == VPA_FAMILY_GEMM ||
		       k->family == VPA_FAMILY_CONV) &&
	       vpa_precision_of(name, len) != VPA_PRECISION_FP32;
}

void vpa_classify(const char *name, size_t len, struct vpa_kernel_class *out)
{
	struct scan s = {.name = name, .rule = RULES};
	unsigned node = 0;
	uint32_t i, next;

	memset(out, 0, sizeof(*out));
	pthread_once(&built, build);
	s.len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX - 1;
	for (i = 0; i < s.len;) {
		node = step(node, automaton.column[(unsigned char)name[i++]]);
		if (!automaton.hit[node])
			continue;
		next = meet(&s, automaton.hit[node], i);
		if (next != i)
			node = 0;
		i = next;
	}
	if (s.rule < RULES) {
		out->family = (enum vpa_family)rules[s.rule].family;
		out->backend = rules[s.rule].backend;
	}
	out->marks = s.marks;
	if (vpa_is_marked(s.marks, VPA_MARK_TENSOR_CORES) && !can_use_tensor_cores(out, name, len))
		out->marks &= ~(1U << VPA_MARK_TENSOR_CORES);
}

int vpa_is_product_shape(uint64_t shared_bytes, uint64_t registers)
{
	enum { TILES = 20 << 10, SMALL_TILES = 8 << 10, SUMS = 96 };

	return shared_bytes >= TILES || (shared_bytes >= SMALL_TILES && registers >= SUMS);
}

/* ---- families ---- */

const char *vpa_family_name(enum vpa_family family)
{
	return families[family < VPA_FAMILY_COUNT ? family : VPA_FAMILY_UNKNOWN].name;
}

int vpa_family_find(const char *name, size_t len, enum vpa_family *out)
{
	unsigned i;

	*out = VPA_FAMILY_UNKNOWN;
	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		if (strlen(families[i].name) == len && !memcmp(families[i].name, name, len)) {
			*out = (enum vpa_family)i;
			return VPT_OK;
		}
	return VPT_EINVAL;
}

static int has_flag(enum vpa_family family, unsigned flags)
{
	return family < VPA_FAMILY_COUNT && (families[family].flags & flags) != 0;
}

int vpa_family_is_attention(enum vpa_family family)
{
	return has_flag(family, IS_ATTENTION);
}

int vpa_family_is_comm(enum vpa_family family)
{
	return has_flag(family, IS_COMM);
}

int vpa_family_is_glue(enum vpa_family family)
{
	return has_flag(family, IS_GLUE);
}

int vpa_family_has_backend(enum vpa_family family)
{
	return has_flag(family, IS_ATTENTION | BESIDE_ATTENTION);
}

const char *vpa_backend_name(enum vpa_backend backend)
{
	static const char *const names[VPA_BACKENDS] = {
#define VPA_BACKEND(NAME, name) [VPA_BACKEND_##NAME] = (name),
#include "analysis/names/families.def"
	};

	return names[backend];
}
