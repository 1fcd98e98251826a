/* family_automaton.c - makes the automaton of families.def: patterns into pieces, pieces into a tree, the tree into
 * an automaton. A program of the build runs it; only where none can, the analyzer does at its first name, in a fraction
 * of a millisecond. */
#include "analysis/names/family_automaton.h"

#include "analysis/names/nvcc_file_names.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { PATTERN_MAX = 256 };

static const char *const patterns[VPA_RULES] = {
#define VPA_RULE(FAMILY, BACKEND, pattern) pattern,
#include "analysis/names/families.def"
#define VPA_MARK(MARK, pattern) pattern,
#include "analysis/names/families.def"
};

static struct vpa_automaton automaton;

static struct {
	unsigned nodes, columns, pieces, classes, links;
} counts = {.nodes = 1, .pieces = 1, .classes = 1};

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
	for (i = 1; i < counts.classes; i++)
		if (!memcmp(automaton.classes[i], set, sizeof(set)))
			return i;
	assert(i < VPA_CLASSES_MAX);
	memcpy(automaton.classes[i], set, sizeof(set));
	counts.classes++;
	return i;
}

static int is_any(const char *p)
{
	return p[0] == '.' && p[1] == '*';
}

/* The span between two fragments: nothing, ".*", or a class with its quantifier. */
static void read_span(const char **at, struct vpa_piece *piece)
{
	if (is_any(*at)) {
		piece->before = VPA_SPAN_ANY;
		*at += 2;
	} else if (**at == '[') {
		piece->klass = (uint8_t)read_class(at);
		piece->before = **at == '*'   ? VPA_SPAN_RUN
				: **at == '+' ? VPA_SPAN_RUN_1
					      : VPA_SPAN_ONE;
		*at += piece->before != VPA_SPAN_ONE;
	}
}

static unsigned add_node(unsigned parent, unsigned column)
{
	unsigned node = counts.nodes++;

	assert(node < VPA_NODES_MAX);
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
static unsigned read_fragment(const char **at, struct vpa_piece *piece)
{
	const char *p = *at;
	unsigned node = 0, next;

	for (; *p && *p != '[' && *p != '$' && !is_any(p); p++) {
		uint8_t *column;

		assert(!is_operator(*p));
		p += *p == '\\';
		column = &automaton.column[(unsigned char)*p];
		if (!*column)
			*column = (uint8_t)++counts.columns;
		assert(*column < VPA_COLUMNS_MAX);
		next = vpa_automaton_child(&automaton, node, *column);
		node = next ? next : add_node(node, *column);
		piece->len++;
	}
	assert(piece->len);
	*at = p;
	return node;
}

/* Files a piece under its fragment; shares a link that another pattern begins with too. */
static unsigned add_piece(unsigned node, struct vpa_piece piece)
{
	unsigned i;

	for (i = automaton.first[node]; i; i = automaton.pieces[i].same) {
		const struct vpa_piece *old = &automaton.pieces[i];

		if (old->completes == VPA_NOTHING_YET && piece.completes == VPA_NOTHING_YET &&
			old->previous == piece.previous && old->before == piece.before &&
			old->klass == piece.klass && old->anchored == piece.anchored &&
			old->word == piece.word)
			return i;
	}
	assert(counts.pieces < VPA_PIECES_MAX && counts.links + 1 < VPA_LINKS_MAX);
	if (piece.previous || piece.completes == VPA_NOTHING_YET)
		piece.link = (uint16_t)++counts.links;
	piece.same = automaton.first[node];
	automaton.first[node] = (uint16_t)counts.pieces;
	automaton.pieces[counts.pieces] = piece;
	return counts.pieces++;
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
		struct vpa_piece piece = {.anchored = (uint8_t)anchored,
			.word = (uint8_t)word,
			.previous = (uint16_t)previous};

		read_span(&pattern, &piece);
		node = read_fragment(&pattern, &piece);
		piece.last = *pattern == '$';
		pattern += piece.last;
		piece.completes = (uint16_t)(*pattern ? VPA_NOTHING_YET : completes);
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
	static uint16_t queue[VPA_NODES_MAX];
	unsigned head = 0, tail = 1, node, child, other;

	for (; head < tail; head++) {
		node = queue[head];
		for (child = automaton.child[node]; child; child = automaton.sibling[child]) {
			other = node ? vpa_automaton_step(&automaton, automaton.fail[node],
					       automaton.from[child])
				     : 0;
			automaton.fail[child] = (uint16_t)other;
			automaton.rest[child] = automaton.hit[other];
			automaton.hit[child] =
				automaton.first[child] ? (uint16_t)child : automaton.hit[other];
			queue[tail++] = (uint16_t)child;
		}
	}
}

const struct vpa_automaton *vpa_automaton_build(void)
{
	unsigned i;

	for (i = 0; i < VPA_RULES; i++)
		add_pattern(patterns[i], i);
	add_pattern(VPA_NVCC_PREFIX, VPA_NVCC_FILE_NAME);
	close_automaton();
	return &automaton;
}

#ifdef VPA_BUILD_AT_RUN_TIME
#include <pthread.h>

static void build(void)
{
	vpa_automaton_build();
}

const struct vpa_automaton *vpa_automaton(void)
{
	static pthread_once_t built = PTHREAD_ONCE_INIT;

	pthread_once(&built, build);
	return &automaton;
}
#endif
