/* shared_options.h - options that several commands have: a row of the table for each, and what those of an
 * analysis set. Where the words depend on the command, the row takes them.
 *
 *	[OUTPUT] = VPA_OUTPUT_OPTION,
 *	[FROM] = VPA_FROM_OPTION("the capture's start"), */
#ifndef VPA_ANALYSIS_COMMANDS_BASE_SHARED_OPTIONS_H
#define VPA_ANALYSIS_COMMANDS_BASE_SHARED_OPTIONS_H

#include "analysis/commands/base/analyzer_command.h"
#include "analysis/report/analysis_options.h"

/* clang-format off */

/* ---- the output, and how the work is done ---- */

#define VPA_OUTPUT_OPTION \
	{"output", 'o', VPT_OUTPUT, "FILE", "-", "write to FILE, not to standard output"}
#define VPA_SUMMARY_OUTPUT_OPTION \
	{"output", 'o', VPT_OUTPUT, "FILE", NULL, "the summary to write, NAME.vps"}
/* `usual` is the default, one of `words`. */
#define VPA_FORMAT_OPTION(words, usual, more) \
	{"format", 'f', VPT_CHOICE, words, usual, "output format" more}
#define VPA_TOP_OPTION(help) \
	{"top", 'n', VPT_NUMBER, "1..1000000", NULL, help}
#define VPA_NO_PAGER_OPTION(more) \
	{"no-pager", '\0', VPT_FLAG, NULL, NULL, \
		"print a long report at once, without a pager" more}
#define VPA_FAIL_IF_OPTION(such) \
	{"fail-if", '\0', VPT_TEXTS, "CONDITION", NULL, "exit with 4 if it holds" such}
#define VPA_FORCE_OPTION \
	{"force", '\0', VPT_FLAG, NULL, NULL, "allow -o to replace an existing file"}
#define VPA_COLOR_OPTION \
	{"color", '\0', VPT_CHOICE, "auto|always|never", "auto", "use colors; auto obeys NO_COLOR"}
#define VPA_SAFE_OPTION \
	{"safe", '\0', VPT_FLAG, NULL, NULL, \
		"csv: prefix text that a spreadsheet would evaluate with '"}
#define VPA_NO_PROGRESS_OPTION \
	{"no-progress", '\0', VPT_FLAG, NULL, NULL, "show no progress on a terminal"}
#define VPA_JOBS_OPTION \
	{"jobs", 'j', VPT_NUMBER, "0..256", "0", "threads; 0: one per core, up to 4"}
/* For every command that reads traces; main() applies it. */
#define VPA_MEMORY_OPTION \
	{"memory", '\0', VPT_MEMORY_MIB, "0..16777216", "0", \
		"memory limit in MiB; 0: 512, plus 32 for each MiB of the file"}

/* All of these: their numbers in the command's enum, and their rows. */
#define VPA_WORK_IDS JOBS, MEMORY, FORCE
#define VPA_WORK_OPTIONS \
	[JOBS] = VPA_JOBS_OPTION, \
	[MEMORY] = VPA_MEMORY_OPTION, \
	[FORCE] = VPA_FORCE_OPTION

/* ---- the window ---- */

#define VPA_FROM_OPTION(origin) \
	{"from", '\0', VPT_DURATION, NULL, NULL, "window start, relative to " origin}
#define VPA_TO_OPTION(origin) \
	{"to", '\0', VPT_DURATION, NULL, NULL, "window end, relative to " origin}
#define VPA_RANGE_OPTION(window) \
	{"range", 'r', VPT_TEXT, "NAME", NULL, \
		"limit the " window " to the first NVTX range called NAME, with NAME:2 to the second"}
#define VPA_REQUEST_OPTION(window) \
	{"request", '\0', VPT_NUMBER, "1..1000000", NULL, \
		"limit the " window " to the request of this number, by start, without those inside another"}
#define VPA_RULES_OPTION(where) \
	{"rules", '\0', VPT_INPUT, "FILE", NULL, \
		"rules for kernel families, ranges and Python files; see " where}

/* All of these. */
#define VPA_WINDOW_IDS FROM, TO, RANGE, REQUEST, RULES
#define VPA_WINDOW_OPTIONS(origin, window, rules) \
	[FROM] = VPA_FROM_OPTION(origin), \
	[TO] = VPA_TO_OPTION(origin), \
	[RANGE] = VPA_RANGE_OPTION(window), \
	[REQUEST] = VPA_REQUEST_OPTION(window), \
	[RULES] = VPA_RULES_OPTION(rules)

/* ---- blocks ---- */

#define VPA_TARGET_OPTION \
	{"target", '\0', VPT_TEXT, "FPS", NULL, \
		"required frames per second, such as 16 or 23.976"}
#define VPA_FRAMES_PER_BLOCK_OPTION(trace) \
	{"frames-per-block", '\0', VPT_NUMBER, "1..1000000", NULL, \
		"frames per block where " trace " gives none"}
#define VPA_LATENTS_PER_BLOCK_OPTION(trace) \
	{"latents-per-block", '\0', VPT_NUMBER, "1..1000000", NULL, \
		"latent frames per block where " trace " gives none"}

/* All but the target. */
#define VPA_BLOCK_IDS WARMUP, FRAMES_PER_BLOCK, FIRST_BLOCK_FRAMES, LATENTS_PER_BLOCK, VAE_FACTOR
#define VPA_BLOCK_OPTIONS(trace) \
	[WARMUP] = {"warmup", '\0', VPT_NUMBER, "0..1000000", NULL, \
		"blocks to skip at the start of a request (until the period settles, 1 or more)"}, \
	[FRAMES_PER_BLOCK] = VPA_FRAMES_PER_BLOCK_OPTION(trace), \
	[FIRST_BLOCK_FRAMES] = {"first-block-frames", '\0', VPT_NUMBER, "1..1000000", NULL, \
		"the same for the first block of a request"}, \
	[LATENTS_PER_BLOCK] = VPA_LATENTS_PER_BLOCK_OPTION(trace), \
	[VAE_FACTOR] = {"vae-factor", '\0', VPT_NUMBER, "1..1000", NULL, \
		"frames per latent frame; the first latent frame of a request gives one"}

/* clang-format on */

/* Sets in `out` what the options of the window and of blocks, and --jobs, say; options that the command
 * does not have set nothing. The texts are borrowed from `args`. 0, or VPT_EINVAL with a sentence if they
 * contradict each other. */
int vpa_shared_options_read(
	const struct vpt_args *args, struct vpa_options *out, struct vpt_err *err);

/* Reads the file of --rules, if it is given, into *text, and sets out->rules to it. The caller frees *text with
 * vpt_free() when `out` is used no longer, also after a failure. 0, VPT_EIO, VPT_EDATA or VPT_ENOMEM. */
int vpa_rules_option_read(
	const struct vpt_args *args, struct vpa_options *out, char **text, struct vpt_err *err);

#endif
