/* scopes.h - what a range is to a video pipeline: a request, a block, a denoising step, a stage. Any of them is a scope.
 *
 * Three sources, best first: an annotation (JSON that our own ranges carry), the user's rules, the
 * built-in names. All of it is text from a file that nobody vouches for: whatever does not read as
 * expected is none of these, and nothing is ever guessed. */
#ifndef VPA_ANALYSIS_SCOPES_H
#define VPA_ANALYSIS_SCOPES_H

#include "formats/error.h"

#include <stddef.h>
#include <stdint.h>

enum vpa_scope_kind {
	VPA_SCOPE_NONE,
	VPA_SCOPE_REQUEST,   /* one video asked for */
	VPA_SCOPE_BLOCK,     /* a group of frames that is generated together */
	VPA_SCOPE_STEP,      /* a denoising iteration */
	VPA_SCOPE_CONTEXT,   /* the pass that writes the KV cache */
	VPA_SCOPE_ITERATION, /* of a loop that a profiler knows: never a step of the denoising */
	VPA_SCOPE_STAGE, /* any other named part of the pipeline: a stage in the word's own sense */
	VPA_SCOPE_FRAMES, /* of marks: frames are ready */
	VPA_SCOPE_KINDS
};

enum vpa_scope_source {
	VPA_SOURCE_NONE,
	VPA_SOURCE_ANNOTATION,
	VPA_SOURCE_RULE,
	VPA_SOURCE_MARKS /* of a lap, see laps.h: counts where there is no other */
};

/* What a stage works on, where its name tells: decides what lies inside an FPS, and what may stand in it. */
enum vpa_stage_work {
	VPA_WORK_OTHER,
	VPA_WORK_VAE,
	VPA_WORK_WHOLE /* all of the denoising, or of a request: blocks may stand in it; such a request is a row of the stages too */
};

enum { VPA_SCOPE_NAME_MAX = 64 };

struct vpa_scope_label {
	enum vpa_scope_kind kind;
	enum vpa_scope_source source;
	enum vpa_stage_work work;
	int64_t index, frames, latents, timestep; /* -1: not told */
	/* What a rule calls all that it matches, good as long as the rules; NULL: each by its own name. */
	const char *name;
};

const char *vpa_scope_kind_name(enum vpa_scope_kind kind); /* "block", "context" ... */

/* ---- what stands where ----
 *
 * A name alone does not tell: inside a step, "block 7" is a transformer layer. */

/* What a range began in: bits. */
enum vpa_scope_inside {
	VPA_INSIDE_REQUEST = 1,
	/* That was pushed: blocks with a start and an end of their own may overlap others. */
	VPA_INSIDE_BLOCK = 2,
	VPA_INSIDE_STEP = 4,  /* or a context pass; a profiler's iteration may hold steps */
	VPA_INSIDE_STAGE = 8, /* but for one that may hold blocks */
	/* The block, or the stage, is annotated: a name further in does not put it aside. */
	VPA_INSIDE_ANNOTATED_BLOCK = 16,
	VPA_INSIDE_ANNOTATED_STAGE = 32
};

/* Whether a name that would make a range something means something else in `inside`; annotations mean what they say.
 * `nests`: it is a push/pop range. */
int vpa_scope_is_misplaced(const struct vpa_scope_label *label, unsigned inside, int nests);

/* What begins in such a range, which began in `inside`, is inside of. */
unsigned vpa_scope_inside(const struct vpa_scope_label *label, unsigned inside, int nests);

/* ---- annotations, names ---- */

/* Reads an annotation: a flat JSON object such as {"kind":"block","index":3,"frames":12}. Fields that
 * are not known, or no whole number of up to 15 digits where one is expected, are passed over. 0, or VPT_EDATA and a label of
 * kind NONE: no such object, or no kind that is known. */
int vpa_scope_read(const char *text, size_t len, struct vpa_scope_label *out);

/* What a built-in name says: "block 3", "vae_decode", "ProfilerStep#12". The whole name must be one
 * of the table's; `transformer_block.5` is none. Kind NONE: it says nothing. */
void vpa_scope_builtin(const char *name, size_t len, struct vpa_scope_label *out);

/* ---- a user's rules ----
 *
 * They stand in the same file as the kernel families, one a line: the word "range" and a kind, a tab,
 * and a POSIX extended regular expression. The first that matches decides, before all built-in names.
 *
 *	range block	^clip ([0-9]+)$
 *	range block(index,frames)	^part ([0-9]+) of ([0-9]+) frames
 *	range step(index,timestep)	denoise ([0-9]+) t=([0-9]+)
 *	range context	cache_update
 *	range stage vae_decode	(tiled_)?decode
 *	range request	generate
 *	range none	^warmup
 *
 * Names in parentheses say what the groups of the expression capture: index, frames, latents, timestep,
 * or - for nothing; without them the first group is the index. A word behind "stage" names it. A
 * match must not begin or end inside a word (letters, digits, _). */
struct vpa_scope_rules;

/* Whether a line of a rules file is one of these. */
int vpa_scope_is_rule(const char *line, size_t len);

/* Reads them from `len` bytes, borrowed for the call; other lines are passed over. The caller frees the
 * result with vpa_scope_rules_free(). NULL and a sentence with the line's number if a line is wrong
 * (VPT_EDATA) or there is no memory (VPT_ENOMEM). No rule at all is fine. */
struct vpa_scope_rules *vpa_scope_rules_read(const char *text, size_t len, struct vpt_err *err);
void vpa_scope_rules_free(struct vpa_scope_rules *rules); /* accepts NULL */

/* What a name says by the user's rules (NULL: none), else by the built-in ones: without what emit_nvtx() puts behind it, see
 * range_names.h. A rule sees the first 1,023 bytes, and a NUL in them as "?". */
void vpa_scope_of_name(const struct vpa_scope_rules *rules, const char *name, size_t len,
	struct vpa_scope_label *out);

#endif
