/* families.c - kernel name matcher.
 *
 * Some hundred patterns distinguish the names, and one scan of a name tests all of them with the automaton that
 * family_automaton.h describes. Not done here: demangling (patterns consist of identifiers, which mangling keeps), and
 * kernels identified by their neighbours instead of their name (eager attention). */
#include "analysis/names/families.h"

#include "analysis/names/family_automaton.h"
#include "analysis/names/number_format.h"
#include "analysis/names/nvcc_file_names.h"
#include "formats/base/error.h"

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
} rules[VPA_RULES] = {
#define VPA_RULE(FAMILY, BACKEND, pattern) {VPA_FAMILY_##FAMILY, VPA_BACKEND_##BACKEND},
#include "analysis/names/families.def"
#define VPA_MARK(MARK, pattern) {VPA_FAMILY_COUNT + (unsigned)VPA_MARK_##MARK, VPA_BACKEND_NONE},
#include "analysis/names/families.def"
};

static int in_class(const struct vpa_automaton *a, unsigned klass, char byte)
{
	unsigned char c = (unsigned char)byte;

	return (int)(a->classes[klass][c >> 6] >> (c & 63) & 1);
}

/* ---- scanning a name ---- */

static int is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

struct scan {
	const struct vpa_automaton *automaton;
	const char *name;
	uint32_t len;
	unsigned rule;                  /* the first that matched so far; VPA_RULES: none */
	unsigned marks;                 /* as in the class */
	uint32_t end[VPA_LINKS_MAX];    /* end of a link's last match; 0: no match yet */
	uint32_t looked[VPA_LINKS_MAX]; /* the span before a link was checked up to here ... */
	uint32_t alien[VPA_LINKS_MAX];  /* ... and here ends its last byte outside the class */
};

/* Whether all bytes between the previous link's end and `start` are in the class. Each byte is
 * checked once per link. */
static int span_holds(struct scan *s, const struct vpa_piece *piece, uint32_t start)
{
	uint32_t from = s->end[s->automaton->pieces[piece->previous].link];
	uint32_t *looked = &s->looked[piece->link], *alien = &s->alien[piece->link], i;

	if (!from || from > start || (piece->before == VPA_SPAN_RUN_1 && from == start) ||
		(piece->before == VPA_SPAN_ONE && from + 1 != start))
		return 0;
	if (piece->before == VPA_SPAN_NONE)
		return from == start;
	if (piece->before == VPA_SPAN_ANY)
		return 1;
	for (i = from > *looked ? from : *looked; i < start; i++)
		if (!in_class(s->automaton, piece->klass, s->name[i]))
			*alien = i + 1;
	*looked = start > *looked ? start : *looked;
	return *alien <= from;
}

static int piece_holds(struct scan *s, const struct vpa_piece *piece, uint32_t end)
{
	uint32_t start = end - piece->len;

	if ((piece->anchored && start) || (piece->last && end != s->len))
		return 0;
	if (piece->word && start && is_lower(s->name[start - 1]))
		return 0;
	if (piece->previous && !span_holds(s, piece, start))
		return 0;
	if (!piece->previous && piece->before &&
		(!start || !in_class(s->automaton, piece->klass, s->name[start - 1])))
		return 0;
	return !piece->after_class ||
	       (end < s->len && in_class(s->automaton, piece->after_class, s->name[end]));
}

/* Tests all fragments that end before `end`, the longest first, so that a link is compared with
 * what came before it and not with a part of itself. Returns where to read on. */
static uint32_t meet(struct scan *s, unsigned node, uint32_t end)
{
	const struct vpa_automaton *a = s->automaton;
	unsigned i;

	for (; node; node = a->rest[node])
		for (i = a->first[node]; i; i = a->pieces[i].same) {
			const struct vpa_piece *piece = &a->pieces[i];

			/* Skip rules that come after the one that already matched. */
			if (piece->completes < VPA_RULES && piece->completes > s->rule &&
				rules[piece->completes].family < VPA_FAMILY_COUNT)
				continue;
			if (!piece_holds(s, piece, end))
				continue;
			if (piece->completes == VPA_NVCC_FILE_NAME)
				return (uint32_t)vpa_nvcc_file_name_end(
					s->name, s->len, end - piece->len);
			if (piece->completes == VPA_NOTHING_YET)
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
	const struct vpa_automaton *a = vpa_automaton();
	struct scan s = {.automaton = a, .name = name, .rule = VPA_RULES};
	unsigned node = 0;
	uint32_t i, next;

	memset(out, 0, sizeof(*out));
	s.len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX - 1;
	for (i = 0; i < s.len;) {
		node = vpa_automaton_step(a, node, a->column[(unsigned char)name[i++]]);
		if (!a->hit[node])
			continue;
		next = meet(&s, a->hit[node], i);
		if (next != i)
			node = 0;
		i = next;
	}
	if (s.rule < VPA_RULES) {
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
