/* range_rules.c - a user's rules for ranges, see range_scopes.h. They share a file with the kernel
 * families; each reader skips the other's lines. */
#include "analysis/pipeline/range_scopes.h"

#include "analysis/names/range_names.h"
#include "analysis/names/rule_file.h"
#include "formats/base/text.h"

#include <string.h>

enum { FIELDS = 4, SUBJECT_MAX = 1024 };

struct target {
	enum vpa_scope_kind kind;
	char name[VPA_SCOPE_NAME_MAX]; /* "" if it has none */
	/* The label member that each group of the expression sets; NONE: no member. */
	enum field { NONE, INDEX, FRAMES, LATENTS, TIMESTEP } fields[FIELDS];
};

/* A list and nothing else: a type of its own, so that the compiler tells the kinds apart. */
struct vpa_range_rules {
	struct vpa_rule_list list;
};

static const char *const field_names[] = {[NONE] = "-",
	[INDEX] = "index",
	[FRAMES] = "frames",
	[LATENTS] = "latents",
	[TIMESTEP] = "timestep"};

/* Parses "(index,frames)" after a kind. 0 if it is invalid. */
static int read_fields(struct target *target, const char *text, size_t len)
{
	size_t count = 0, field, part;

	if (len < 3 || text[0] != '(' || text[len - 1] != ')')
		return 0;
	memset(target->fields, 0, sizeof(target->fields));
	for (text++, len -= 2; count < FIELDS; count++) {
		const char *comma = memchr(text, ',', len);

		part = comma ? (size_t)(comma - text) : len;
		for (field = NONE; field <= TIMESTEP; field++)
			if (vpt_text_is((struct vpt_text){text, part}, field_names[field]))
				break;
		if (field > TIMESTEP)
			return 0;
		target->fields[count] = (enum field)field;
		if (!comma)
			return 1;
		text += part + 1;
		len -= part + 1;
	}
	return 0;
}

/* Parses the text between "range " and the tab: "block(index,frames)", "stage vae_decode". 0 if it
 * is invalid. */
static int read_target(struct vpt_text range, void *out)
{
	static const enum vpa_scope_kind kinds[] = {VPA_SCOPE_NONE, VPA_SCOPE_REQUEST,
		VPA_SCOPE_BLOCK, VPA_SCOPE_STEP, VPA_SCOPE_CONTEXT, VPA_SCOPE_STAGE};
	struct target *target = out;
	const char *text = range.text;
	size_t len = range.len, word = 0, i;

	while (word < len && text[word] != '(' && text[word] != ' ')
		word++;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (vpt_text_is((struct vpt_text){text, word}, vpa_scope_kind_name(kinds[i])))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return 0;
	target->kind = kinds[i];
	target->fields[0] = INDEX;
	text += word;
	len -= word;
	if (!len)
		return 1;
	if (*text == '(')
		return read_fields(target, text, len);
	if (target->kind != VPA_SCOPE_STAGE || len < 2 || len > sizeof(target->name))
		return 0;
	memcpy(target->name, text + 1, len - 1);
	return 1;
}

static const struct vpa_rule_kind ranges = {
	.prefix = VPA_RANGE_RULE,
	.read = read_target,
	.target_bytes = sizeof(struct target),
	.expected =
		"\"range\" and request, block, step, context, stage or none, a tab and a pattern",
};

struct vpa_range_rules *vpa_range_rules_read(const char *text, size_t len, struct vpt_err *err)
{
	return (struct vpa_range_rules *)vpa_rule_list_read(&ranges, text, len, err);
}

void vpa_range_rules_free(struct vpa_range_rules *r)
{
	vpa_rule_list_free((struct vpa_rule_list *)r);
}

/* ---- matching ---- */

static int in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static int inside_word(const char *text, size_t at)
{
	return at && text[at] && in_word(text[at - 1]) && in_word(text[at]);
}

/* The first match that neither begins nor ends inside a word. */
static int find(const regex_t *regex, const char *text, regmatch_t *groups)
{
	size_t from = 0, i;

	while (!regexec(regex, text + from, FIELDS + 1, groups, from ? REG_NOTBOL : 0)) {
		size_t begin = from + (size_t)groups[0].rm_so, end = from + (size_t)groups[0].rm_eo;

		for (i = 0; i <= FIELDS; i++)
			if (groups[i].rm_so >= 0) {
				groups[i].rm_so += (regoff_t)from;
				groups[i].rm_eo += (regoff_t)from;
			}
		if (!inside_word(text, begin) && !inside_word(text, end))
			return 1;
		if (!text[begin])
			return 0;
		from = begin + 1;
	}
	return 0;
}

/* A group as a whole number; -1 if it is not one. */
static int64_t number_of(const char *text, const regmatch_t *group)
{
	int64_t value = 0;
	regoff_t i;

	if (group->rm_so < 0 || group->rm_eo == group->rm_so || group->rm_eo - group->rm_so > 15)
		return -1;
	for (i = group->rm_so; i < group->rm_eo; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

static void fill(const struct target *target, const char *text, const regmatch_t *groups,
	struct vpa_scope_label *out)
{
	int64_t *const members[] = {[INDEX] = &out->index,
		[FRAMES] = &out->frames,
		[LATENTS] = &out->latents,
		[TIMESTEP] = &out->timestep};
	size_t i;

	*out = vpa_no_scope();
	out->kind = target->kind;
	if (target->kind == VPA_SCOPE_NONE)
		return;
	out->source = VPA_SOURCE_RULE;
	out->name = target->name[0] ? target->name : NULL;
	for (i = 0; i < FIELDS; i++)
		if (target->fields[i] != NONE)
			*members[target->fields[i]] = number_of(text, &groups[i + 1]);
}

int vpa_scope_of_rules(
	const struct vpa_range_rules *r, const char *name, size_t len, struct vpa_scope_label *out)
{
	char text[SUBJECT_MAX];
	regmatch_t groups[FIELDS + 1];
	struct vpa_scope_label named;
	size_t i;

	if (!r || !r->list.count)
		return 0;
	len = vpa_range_name_len(name, len);
	len = len < sizeof(text) - 1 ? len : sizeof(text) - 1;
	for (i = 0; i < len; i++)
		text[i] = name[i] ? name[i] : '?';
	text[len] = '\0';
	for (i = 0; i < r->list.count && !find(&r->list.regexes[i], text, groups); i++)
		;
	if (i == r->list.count)
		return 0;
	fill(vpa_rule_target(&r->list, i), text, groups, out);
	out->is_diffusion = out->kind != VPA_SCOPE_NONE &&
			    (out->timestep >= 0 || out->frames >= 0 || out->latents >= 0 ||
				    vpa_scope_is_diffusion(text));
	if (out->name) {
		vpa_scope_builtin(out->name, strlen(out->name), &named);
		out->work = named.work;
		out->is_diffusion |= named.is_diffusion;
	}
	return 1;
}

void vpa_scope_of_name(
	const struct vpa_range_rules *r, const char *name, size_t len, struct vpa_scope_label *out)
{
	if (!vpa_scope_of_rules(r, name, len, out))
		vpa_scope_builtin(name, vpa_range_name_len(name, len), out);
}
