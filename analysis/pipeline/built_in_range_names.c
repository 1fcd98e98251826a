/* built_in_range_names.c - what the names of ranges mean in frameworks that generate videos.
 *
 * Names are compared word by word with a table, always the whole name, so that a name which merely contains the word
 * "block" does not match. A user's rules, which come first, are in range_rules.c. */
#include "analysis/pipeline/range_scopes.h"

#include "formats/base/count.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A name is split into words of letters and numbers; "N" matches a number that is the index, "M"
 * one that is skipped, "T" a timestep; "V" a verb of making video, "P" a part of it, see `classes`. Case does not matter. A name
 * with numbers that is one stage has a name for all of them.
 *
 * A part without a number is a block where a verb is before it, "generate_chunk"; a "section 3" alone may be one of anything. */
static const struct {
	enum vpa_scope_kind kind;
	enum vpa_stage_work work;
	const char *words, *name;
} names[] = {
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "block N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "block N of M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "block N M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "chunk N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "chunk N of M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "chunk N M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "V P", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "V P N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "V P N of M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "V P N M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "diffusion P N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "latent P N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "video P N", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "video P N of M", NULL},
	{VPA_SCOPE_BLOCK, VPA_WORK_OTHER, "video P N M", NULL},
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
	{VPA_SCOPE_STAGE, VPA_WORK_PROMPT, "text encode", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_PROMPT, "text encoder", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_PROMPT, "text encoding", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_PROMPT, "encode prompt", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_PROMPT, "prompt encode", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "scheduler step", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "to host", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "postprocess", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "post process", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "postprocess video", NULL},
	/* From the profiling guide of diffusers. */
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "transformer forward", NULL},
	/* Stages of FastVideo's and SGLang's pipelines have the names of their classes. */
	{VPA_SCOPE_STAGE, VPA_WORK_OTHER, "inputvalidationstage", NULL},
	{VPA_SCOPE_STAGE, VPA_WORK_PROMPT, "textencodingstage", NULL},
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

static const struct {
	char letter;
	const char *words[6];
} classes[] = {
	{'V', {"generate", "generating", "denoise", "denoising", "sample", "sampling"}},
	{'P', {"block", "chunk", "clip", "section", "segment"}},
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

/* Whether a word is one of the class of that letter, or the word of a pattern itself. */
static int is_word(const struct word *word, const char *pattern, size_t len)
{
	size_t i, k;

	for (i = 0; len == 1 && i < COUNT(classes); i++)
		for (k = 0; *pattern == classes[i].letter && k < COUNT(classes[i].words) &&
			    classes[i].words[k];
			k++)
			if (vpt_text_is(
				    (struct vpt_text){word->text, word->len}, classes[i].words[k]))
				return 1;
	return word->len == len && !memcmp(word->text, pattern, len);
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
		else if (!wants_number && !is_word(word, pattern, len))
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

/* Whether a class prepares data: "AugmentationPipeline", "DataPipeline", "ImagePreprocessPipeline". */
static int prepares_data(const char *name, size_t len)
{
	static const char *const words[] = {"augment", "data", "preproc"};
	size_t i, at;

	for (i = 0; i < COUNT(words); i++)
		for (at = 0; at + strlen(words[i]) <= len; at++)
			if (!strncasecmp(name + at, words[i], strlen(words[i])))
				return 1;
	return 0;
}

/* "WanPipeline.__call__", "LTXPipeline.forward": a pipeline of diffusers, or of a class called so, is called for a request. */
static int is_pipeline_call(const char *name, size_t len)
{
	static const char *const calls[] = {"Pipeline.__call__", "Pipeline.forward"};
	size_t i, n, k;

	for (i = 0; i < COUNT(calls); i++) {
		n = strlen(calls[i]);
		if (len < n || len > NAME_MAX || memcmp(name + len - n, calls[i], n))
			continue;
		for (k = 0; k < len - n &&
			    (is_letter(name[k]) || vpt_is_digit(name[k]) ||
				    (name[k] >= 'A' && name[k] <= 'Z') || name[k] == '_');
			k++)
			;
		if (k == len - n)
			return !prepares_data(name, k);
	}
	return 0;
}

void vpa_scope_builtin(const char *name, size_t len, struct vpa_scope_label *out)
{
	char text[NAME_MAX + 1];
	struct words w;
	size_t i;

	*out = vpa_no_scope();
	if (is_pipeline_call(name, len)) {
		snprintf(text, sizeof(text), "%.*s", (int)len, name);
		out->kind = VPA_SCOPE_REQUEST;
		out->work = VPA_WORK_WHOLE;
		out->source = VPA_SOURCE_RULE;
		out->is_diffusion = vpa_scope_is_diffusion(text);
		return;
	}
	if (!cut(name, len, &w))
		return;
	for (i = 0; i < COUNT(names); i++) {
		/* All begin with a letter, most with another one. Those of classes have capitals. */
		if (names[i].words[0] != w.items[0].text[0] && names[i].words[0] != 'V')
			continue;
		if (matches(names[i].words, &w, out)) {
			out->kind = names[i].kind;
			out->work = names[i].work;
			out->name = names[i].name;
			out->source = VPA_SOURCE_RULE;
			out->is_diffusion = out->timestep >= 0 || vpa_scope_is_diffusion(w.text);
			return;
		}
		*out = vpa_no_scope();
	}
}
