/* range_scopes.c - names and annotations of ranges.
 *
 * Built-in names are compared word by word with a
 * table, always the whole name, so that a name which merely contains the word "block" does not
 * match. A user's rules are in range_rules.c. */
#include "analysis/pipeline/range_scopes.h"

#include "analysis/pipeline/annotation.h"
#include "formats/base/count.h"
#include "formats/base/text.h"

#include <string.h>
#include <strings.h>

/* The kind of a word; "range" is none. Returns whether it is one. */
static int kind_of_word(struct vpt_text word, enum vpa_scope_kind *out)
{
	unsigned i;

	for (i = VPA_SCOPE_NONE + 1; i < VPA_SCOPE_KINDS; i++)
		if (vpt_text_is(word, vpa_scope_kind_name((enum vpa_scope_kind)i)))
			break;
	if (i == VPA_SCOPE_KINDS && !vpt_text_is(word, "range"))
		return 0;
	*out = i == VPA_SCOPE_KINDS ? VPA_SCOPE_NONE : (enum vpa_scope_kind)i;
	return 1;
}

static void clear(struct vpa_scope_label *out)
{
	*out = (struct vpa_scope_label){.index = -1, .frames = -1, .latents = -1, .timestep = -1};
}

/* ---- annotations ---- */

struct annotation {
	struct vpa_scope_label label;
	struct vpa_fact fact;
	int64_t context, component;
	int has_kind;
};

static void take_text(struct annotation *a, const struct vpa_annotation_member *m)
{
	if (vpt_text_is(m->key, "kind") && kind_of_word(m->text, &a->label.kind))
		a->has_kind = 1;
	if (vpt_text_is(m->key, "name"))
		a->fact.name = m->text;
	else if (vpt_text_is(m->key, "value"))
		a->fact.value = m->text;
}

static void take_number(struct annotation *a, const struct vpa_annotation_member *m)
{
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {{"index", &a->label.index}, {"frames", &a->label.frames},
		{"latents", &a->label.latents}, {"timestep", &a->label.timestep},
		{"context", &a->context}, {"component", &a->component}};
	size_t i;

	for (i = 0; i < COUNT(numbers); i++)
		if (vpt_text_is(m->key, numbers[i].key))
			*numbers[i].value = m->number;
}

/* 0, or VPT_EDATA: no such object, or no known kind. */
static int read_annotation(const char *text, size_t len, struct annotation *a)
{
	struct vpa_annotation_reader r = vpa_annotation_begin((struct vpt_text){text, len});
	struct vpa_annotation_member m;

	*a = (struct annotation){.context = -1};
	clear(&a->label);
	while (vpa_annotation_next(&r, &m))
		if (m.is_text)
			take_text(a, &m);
		else
			take_number(a, &m);
	return r.failed || !a->has_kind ? VPT_EDATA : VPT_OK;
}

int vpa_fact_read(const char *text, size_t len, struct vpa_fact *out)
{
	struct annotation a;

	*out = (struct vpa_fact){{"", 0}, {"", 0}};
	if (read_annotation(text, len, &a) || a.label.kind != VPA_SCOPE_FACT || !a.fact.name.len ||
		!a.fact.value.len)
		return VPT_EDATA;
	*out = a.fact;
	return VPT_OK;
}

int vpa_scope_read(const char *text, size_t len, struct vpa_scope_label *out)
{
	struct annotation a;

	clear(out);
	if (read_annotation(text, len, &a))
		return VPT_EDATA;
	if (a.label.kind == VPA_SCOPE_STEP && a.context > 0)
		a.label.kind = VPA_SCOPE_CONTEXT;
	a.label.source = VPA_SOURCE_ANNOTATION;
	a.label.is_component = a.component > 0;
	a.label.is_diffusion = a.label.kind == VPA_SCOPE_STEP ||
			       a.label.kind == VPA_SCOPE_CONTEXT ||
			       a.label.kind == VPA_SCOPE_BLOCK || a.label.kind == VPA_SCOPE_FRAMES;
	*out = a.label;
	return VPT_OK;
}

/* ---- built-in names ---- */

/* A name is split into words of letters and numbers; "N" matches a number that is the index, "M"
 * one that is skipped, "T" a timestep. Letters are compared without case. A name with numbers that
 * is one stage has a name for all of them. */
static const struct {
	enum vpa_scope_kind kind;
	enum vpa_stage_work work;
	const char *words, *name;
} names[] = {
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "block N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "block N of M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "block N M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "video block N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "latent block N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "generate block N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "diffusion block N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "chunk N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "chunk N of M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "chunk N M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "video chunk N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "generate chunk N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "step N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "step N of M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "step N M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "step N to M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "step N t T", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "step N timestep T", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoise N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoise step", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoise step N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoise step N of M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoise step N M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoise step N t T", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoising step", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoising step N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoising step N of M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "denoising step N M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "diffusion step", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "diffusion step N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "diffusion step N of M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "diffusion step N M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "sampling step N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "sampling step N of M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "sampling step N M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "inference step N", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "inference step N of M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "inference step N M", NULL},
	{VPA_SCOPE_STEP, VPA_WORK_OTHER, "timestep T", NULL},
	{VPA_SCOPE_ITERATION, VPA_WORK_OTHER, "profilerstep N", NULL},
	{VPA_SCOPE_CONTEXT, VPA_WORK_OTHER, "context pass", NULL},
	{VPA_SCOPE_CONTEXT, VPA_WORK_OTHER, "kv pass", NULL},
	{VPA_SCOPE_CONTEXT, VPA_WORK_OTHER, "kv cache pass", NULL},
	{VPA_SCOPE_CONTEXT, VPA_WORK_OTHER, "cache pass", NULL},
	{VPA_SCOPE_REQUEST, VPA_WORK_OTHER, "request", NULL},
	{VPA_SCOPE_REQUEST, VPA_WORK_OTHER, "request N", NULL},
	{VPA_SCOPE_REQUEST, VPA_WORK_WHOLE, "pipeline call", NULL},
	{VPA_SCOPE_REQUEST, VPA_WORK_OTHER, "generate video", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "vae", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "vae decode", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "vae decoder", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "vae decoding", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "decode vae", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "decode latents", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "vae encode", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "text encode", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "text encoder", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "text encoding", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "encode prompt", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "prompt encode", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "scheduler step", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "to host", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "postprocess", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "post process", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "postprocess video", NULL},
	/* From the profiling guide of diffusers. */
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "transformer forward", NULL},
	/* Stages of FastVideo's and SGLang's pipelines have the names of their classes. */
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "inputvalidationstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "textencodingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "imageencodingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "encodingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "conditioningstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "timesteppreparationstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "latentpreparationstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "denoisingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "dmddenoisingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "causaldmddenoisingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "causaldmddenosingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "ltx M denoisingstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "decodingstage", NULL},
	/* Ranges inside FastVideo's models, and its regions, without the prefixes in `prefixes`. */
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "dit", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "vae temporal chunk M", "vae.temporal_chunk"},
	{VPA_SCOPE_STAGE, VPA_WORK_VAE, "vae decode clip tile M M", "vae.decode_clip.tile"},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "denoise pass pos", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "denoise pass neg", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "denoise pass modality", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "denoise pass stg", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "denoise scheduler update", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "model loading", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "profiler region model loading", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "inference denoising", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_WHOLE, "profiler region inference denoising", NULL},
};

/* What a name may begin with besides its words. Elsewhere a dot joins the names of modules
 * ("model.block.5"), so a name with dots matches nothing. */
static const struct {
	const char *text;
	int may_have_dots; /* after the prefix */
} prefixes[] = {
	{"vp.", 0}, /* our own */
	{"VP.", 0},
	{"ltx2.", 1}, /* FastVideo's models and regions */
	{"minimax_h3.", 1},
	{"fastvideo.region::", 0},
};

enum { WORDS_MAX = 6, NAME_MAX = 63 };

struct words {
	char text[NAME_MAX + 1]; /* in lower case */
	struct word {
		const char *text;
		size_t len;
		int is_number;
	} items[WORDS_MAX];
	size_t count;
};

static int is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Splits a name into words; 0 if it cannot match the table. */
static int cut(const char *name, size_t len, struct words *w)
{
	int may_have_dots = 0;
	const char *p;
	size_t i, n;

	w->count = 0;
	for (i = 0; i < COUNT(prefixes); i++) {
		n = strlen(prefixes[i].text);
		if (len <= n || memcmp(name, prefixes[i].text, n))
			continue;
		name += n;
		len -= n;
		may_have_dots = prefixes[i].may_have_dots;
		break;
	}
	if (!len || len > NAME_MAX || (!may_have_dots && memchr(name, '.', len)))
		return 0;
	for (i = 0; i < len; i++) {
		if ((unsigned char)name[i] < 0x20 || (unsigned char)name[i] >= 0x7f)
			return 0;
		w->text[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
	}
	w->text[len] = '\0';
	for (p = w->text; *p;) {
		struct word *word = &w->items[w->count];

		if (!vpt_is_digit(*p) && !is_letter(*p)) {
			p++;
			continue;
		}
		if (w->count == WORDS_MAX)
			return 0;
		*word = (struct word){.text = p, .is_number = vpt_is_digit(*p)};
		while (word->is_number ? vpt_is_digit(*p) : is_letter(*p))
			p++;
		word->len = (size_t)(p - word->text);
		w->count++;
	}
	return w->count > 0;
}

static int64_t number_of(const struct word *word)
{
	int64_t value = 0;
	size_t i;

	for (i = 0; i < word->len && i < 15; i++)
		value = value * 10 + (word->text[i] - '0');
	return i == word->len ? value : -1;
}

static int matches(const char *pattern, const struct words *w, struct vpa_scope_label *out)
{
	size_t i;

	for (i = 0; i < w->count && *pattern; i++) {
		const struct word *word = &w->items[i];
		size_t len = strcspn(pattern, " ");
		int wants_number = len == 1 && strchr("NMT", *pattern);

		if (wants_number != word->is_number)
			return 0;
		if (*pattern == 'N')
			out->index = number_of(word);
		else if (*pattern == 'T')
			out->timestep = number_of(word);
		else if (!wants_number && (word->len != len || memcmp(word->text, pattern, len)))
			return 0;
		pattern += len;
		pattern += *pattern == ' ';
	}
	return i == w->count && !*pattern;
}

int vpa_scope_is_diffusion(const char *text)
{
	static const char *const words[] = {"denois", "denosing", "diffusion", "timestep", "latent",
		"vae", "video", "scheduler"};
	size_t i;

	for (; *text; text++)
		for (i = 0; i < COUNT(words); i++)
			if (!strncasecmp(text, words[i], strlen(words[i])))
				return 1;
	return 0;
}

void vpa_scope_builtin(const char *name, size_t len, struct vpa_scope_label *out)
{
	struct words w;
	size_t i;

	clear(out);
	if (!cut(name, len, &w))
		return;
	for (i = 0; i < COUNT(names); i++) {
		if (matches(names[i].words, &w, out)) {
			out->kind = names[i].kind;
			out->work = names[i].work;
			out->name = names[i].name;
			out->source = VPA_SOURCE_RULE;
			out->is_diffusion =
				out->timestep >= 0 || vpa_scope_is_diffusion(names[i].words);
			return;
		}
		clear(out);
	}
}

/* ---- scopes in their context ---- */

int vpa_scope_is_misplaced(const struct vpa_scope_label *label, unsigned inside, int nests)
{
	if (label->source != VPA_SOURCE_RULE)
		return 0;
	switch (label->kind) {
	case VPA_SCOPE_REQUEST:
		return (inside & VPA_INSIDE_REQUEST) != 0;
	case VPA_SCOPE_BLOCK:
		return inside & (VPA_INSIDE_STEP | VPA_INSIDE_STAGE) ||
		       (nests && inside & VPA_INSIDE_BLOCK);
	case VPA_SCOPE_STEP:
	case VPA_SCOPE_CONTEXT:
	case VPA_SCOPE_ITERATION:
		return (inside & VPA_INSIDE_STEP) != 0;
	default:
		return 0;
	}
}

/* Sets `bit` if `holds`, else clears it; a name does not override an annotation. */
static unsigned set_inside(unsigned inside, const struct vpa_scope_label *label, unsigned bit,
	unsigned annotated, int holds)
{
	int is_annotation = label->source == VPA_SOURCE_ANNOTATION;

	if (inside & annotated && !is_annotation)
		return inside;
	return (inside & ~(bit | annotated)) | (holds ? bit : 0) | (is_annotation ? annotated : 0);
}

unsigned vpa_scope_inside(const struct vpa_scope_label *label, unsigned inside, int nests)
{
	switch (label->kind) {
	case VPA_SCOPE_REQUEST:
		return inside | VPA_INSIDE_REQUEST;
	case VPA_SCOPE_BLOCK:
		/* What is inside a block is not inside the steps and parts around it. */
		inside &= VPA_INSIDE_REQUEST | VPA_INSIDE_BLOCK | VPA_INSIDE_ANNOTATED_BLOCK;
		return set_inside(
			inside, label, VPA_INSIDE_BLOCK, VPA_INSIDE_ANNOTATED_BLOCK, nests);
	case VPA_SCOPE_STEP:
	case VPA_SCOPE_CONTEXT:
		return inside | VPA_INSIDE_STEP;
	case VPA_SCOPE_STAGE:
		return set_inside(inside, label, VPA_INSIDE_STAGE, VPA_INSIDE_ANNOTATED_STAGE,
			label->work != VPA_WORK_WHOLE);
	default:
		return inside;
	}
}
