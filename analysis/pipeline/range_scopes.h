/* range_scopes.h - what a range is in a video pipeline: a request, a block, a denoising step, a stage.
 * Each of these is a scope.
 *
 * There are three sources, best first: an annotation (JSON in our own ranges), the user's rules,
 * the built-in names. All of it is untrusted text: input that does not parse as expected is no
 * scope; nothing is guessed. */
#ifndef VPA_ANALYSIS_PIPELINE_RANGE_SCOPES_H
#define VPA_ANALYSIS_PIPELINE_RANGE_SCOPES_H

#include "analysis/report/rows/unit_kind.h"
#include "formats/base/error.h"
#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>

/* What a stage works on, if its name says so: decides what an FPS includes, and what the stage may
 * contain. */
enum vpa_stage_work {
	VPA_WORK_OTHER,
	VPA_WORK_VAE,
	VPA_WORK_PROMPT, /* a text encoder's */
	/* All of the denoising, or of a request: may contain blocks; such a request is also a row
	 * of the stages. */
	VPA_WORK_WHOLE
};

enum { VPA_SCOPE_NAME_MAX = 64 };

struct vpa_scope_label {
	enum vpa_scope_kind kind;
	enum vpa_scope_source source;
	enum vpa_stage_work work;
	/* Its words are those of a diffusion pipeline, or it is annotated as a step or block of one: then steps
	 * are denoising steps. "step 3" by itself may be one of any loop. */
	int is_diffusion;
	int is_component;                         /* of stages: the program calls it a component */
	int64_t index, frames, latents, timestep; /* -1: not given */
	/* A rule's name for all its matches, valid as long as the rules; NULL: each has its own
	 * name. */
	const char *name;
};

/* The label of a range that is no scope. */
static inline struct vpa_scope_label vpa_no_scope(void)
{
	return (struct vpa_scope_label){.index = -1, .frames = -1, .latents = -1, .timestep = -1};
}

/* ---- scopes in their context ----
 *
 * A name alone is not enough: inside a step, "block 7" is a transformer layer. */

/* What a range began in: bits. */
enum vpa_scope_inside {
	VPA_INSIDE_REQUEST = 1,
	/* A pushed one: blocks with a start and an end of their own may overlap others. */
	VPA_INSIDE_BLOCK = 2,
	VPA_INSIDE_STEP = 4,  /* or a context pass; a profiler's iteration may hold steps */
	VPA_INSIDE_STAGE = 8, /* except one that may contain blocks */
	/* The block, or the stage, is annotated: a name further inside does not override it. */
	VPA_INSIDE_ANNOTATED_BLOCK = 16,
	VPA_INSIDE_ANNOTATED_STAGE = 32
};

/* Whether a name that would make a range a scope means something else in `inside`; annotations
 * always hold. `nests`: it is a push/pop range. */
int vpa_scope_is_misplaced(const struct vpa_scope_label *label, unsigned inside, int nests);

/* The bits for ranges that begin inside such a range, which itself began in `inside`. */
unsigned vpa_scope_inside(const struct vpa_scope_label *label, unsigned inside, int nests);

/* ---- annotations ---- */

/* Reads an annotation: a flat JSON object such as {"kind":"block","index":3,"frames":12}. Skips
 * unknown fields, and fields that should be but are not whole numbers of up to 15 digits. 0, or
 * VPT_EDATA and a label of kind NONE: no such object, or no known kind. 0 and NONE: a range that is
 * nothing else, whatever its name. */
int vpa_scope_read(const char *text, size_t len, struct vpa_scope_label *out);

/* Reads an annotation of kind FACT: {"kind":"fact","name":"height","value":"480"}. The texts are borrowed from `text`
 * as they stand there. 0, or VPT_EDATA: it is none, or has no name or no value. */
struct vpa_fact {
	struct vpt_text name, value;
};
int vpa_fact_read(const char *text, size_t len, struct vpa_fact *out);

/* ---- built-in names: built_in_range_names.c ---- */

/* The meaning of a built-in name: "block 3", "vae_decode", "ProfilerStep#12". The whole name must
 * be in the table; `transformer_block.5` is not. Kind NONE: no meaning. */
void vpa_scope_builtin(const char *name, size_t len, struct vpa_scope_label *out);

/* Whether a text has a word of diffusion pipelines, such as "denoise" or "latents". */
int vpa_scope_is_diffusion(const char *text);

/* ---- a user's rules: range_rules.c ----
 *
 * They share a file with the kernel families, one rule per line: the word "range" and a kind, a
 * tab, and a POSIX extended regular expression. The first match wins, before all built-in names.
 *
 *	range block	^clip ([0-9]+)$
 *	range block(index,frames)	^part ([0-9]+) of ([0-9]+) frames
 *	range step(index,timestep)	denoise ([0-9]+) t=([0-9]+)
 *	range context	cache_update
 *	range stage vae_decode	(tiled_)?decode
 *	range request	generate
 *	range none	^warmup
 *
 * Names in parentheses say what the groups of the expression capture: index, frames, latents,
 * timestep, or - for nothing; without parentheses the first group is the index. A word after
 * "stage" names the stage. A match must not begin or end inside a word (letters, digits, _). */
struct vpa_range_rules;

/* Reads range rules from `len` bytes, borrowed for the call; skips other lines. The caller frees
 * the result with vpa_range_rules_free(). NULL and a message with the line number if a line is
 * wrong (VPT_EDATA) or there is no memory (VPT_ENOMEM). Zero rules are fine. */
struct vpa_range_rules *vpa_range_rules_read(const char *text, size_t len, struct vpt_err *err);
void vpa_range_rules_free(struct vpa_range_rules *rules); /* accepts NULL */

/* The meaning of a name by the user's rules (NULL: none), else by the built-in ones, without what
 * emit_nvtx() appends, see range_names.h. A rule sees the first 1,023 bytes, with NUL as "?". */
void vpa_scope_of_name(const struct vpa_range_rules *rules, const char *name, size_t len,
	struct vpa_scope_label *out);

/* The same by the user's rules only. Returns whether one matches; else sets nothing. */
int vpa_scope_of_rules(const struct vpa_range_rules *rules, const char *name, size_t len,
	struct vpa_scope_label *out);

#endif
