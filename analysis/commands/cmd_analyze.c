/* cmd_analyze.c - the report: where the device's time went, and why it was idle.
 *
 * Reads the trace, fills a report and renders it. Checks the output's path before the work and opens it
 * after, so that no partial file can remain. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/fail_if.h"
#include "analysis/commands/base/pager.h"
#include "analysis/commands/base/shared_options.h"
#include "formats/cli/terminal.h"

#include "analysis/render/renderer.h"
#include "analysis/render/text_page.h"
#include "analysis/report/report.h"
#include "formats/base/memory.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FORMAT,
	OUTPUT,
	TOP,
	MIN_GAP,
	VPA_WINDOW_IDS,
	TARGET,
	VPA_BLOCK_IDS,
	VPA_WORK_IDS,
	NO_PREDICT,
	NO_PROGRESS,
	COLOR,
	NO_PAGER,
	FULL,
	BRIEF,
	ONLY,
	FAIL_IF,
	OPTIONS
};

/* clang-format off */
static const char top_help[] = "maximum rows per table (as many as fit a page; json "
	VPT_TEXT_OF(VPA_TOP_USUAL) ", html " VPT_TEXT_OF(VPA_TOP_PAGE) ")";
/* clang-format on */

/* "text|json|..." */
#define RENDERER_WORD(name) "|" #name
static const char formats[] = VPA_RENDERERS(RENDERER_WORD);

static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = {"format", 'f', VPT_CHOICES, formats + 1, "text",
		"output format; md: Markdown of at most 60 lines; html: one page that needs "
		"nothing else; several, separated by commas, make -o NAME.txt, .json, .md, .html"},
	[OUTPUT] = VPA_OUTPUT_OPTION,
	[TOP] = VPA_TOP_OPTION(top_help),
	[MIN_GAP] = {"min-gap", '\0', VPT_DURATION, NULL, NULL,
		"list gaps at least this long (5 times the median, from 10us to 1ms, or the tenth "
		"longest)"},
	VPA_WINDOW_OPTIONS("the capture's start", "window", "above"),
	[TARGET] = VPA_TARGET_OPTION,
	VPA_BLOCK_OPTIONS("the trace"),
	VPA_WORK_OPTIONS,
	[NO_PREDICT] = {"no-predict", '\0', VPT_FLAG, NULL, NULL,
		"make no predictions, which take another pass over the trace; see what-if --help"},
	[NO_PROGRESS] = VPA_NO_PROGRESS_OPTION,
	[COLOR] = VPA_COLOR_OPTION,
	[NO_PAGER] = VPA_NO_PAGER_OPTION("; see above"),
	[FULL] = {"full", '\0', VPT_FLAG, NULL, NULL,
		"text: print every section, not only the first screen"},
	[BRIEF] = {"brief", '\0', VPT_FLAG, NULL, NULL,
		"text: print the first screen, at most 40 lines; the default"},
	[ONLY] = {"only", '\0', VPT_TEXT, "SECTION", NULL,
		"text: print only this section; see above"},
	[FAIL_IF] = VPA_FAIL_IF_OPTION(", such as fps<16, period>750ms or idle:sync>5%; see above"),
};

/* ---- the work ---- */

/* The forms that the report is to have. */
struct forms {
	const struct vpa_renderer *at[8];
	char *paths[8]; /* where each goes */
	size_t count;
};

static void free_forms(struct forms *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		vpt_free(f->paths[i]);
}

/* "NAME.html"; NAME alone if there is one form. NULL: no memory. */
static char *path_of(const char *name, const struct vpa_renderer *renderer, int is_alone)
{
	const char *ending = !strcmp(renderer->name, "text") ? "txt" : renderer->name;
	size_t size = strlen(name) + strlen(ending) + 2;
	char *path = vpt_alloc(size, 1);

	if (path)
		snprintf(path, size, is_alone ? "%s" : "%s.%s", name, ending);
	return path;
}

static int read_forms(const struct vpt_args *args, struct forms *f, struct vpt_err *err)
{
	const char *list = vpt_text_of(args, FORMAT), *name = vpt_text_of(args, OUTPUT);
	int is_alone = !strchr(list, ',');
	char word[16];

	if (!is_alone && !strcmp(name, "-"))
		return vpt_fail(err, VPT_EINVAL,
			"--format %.60s: several formats are several files: use -o NAME", list);
	for (; *list; list += *list == ',') {
		size_t len = strcspn(list, ","), i;

		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		list += len;
		for (i = 0; i < f->count && strcmp(f->at[i]->name, word) != 0; i++)
			;
		if (i < f->count || f->count == sizeof(f->at) / sizeof(f->at[0]))
			return vpt_fail(err, VPT_EINVAL, "--format: %s is there twice", word);
		f->at[f->count] = vpa_renderer_find(word);
		f->paths[f->count] = path_of(name, f->at[f->count], is_alone);
		if (!f->paths[f->count++])
			return vpt_fail(err, VPT_ENOMEM, "no memory for a file name");
	}
	return VPT_OK;
}

static int has_layout(const struct forms *f)
{
	size_t i;

	for (i = 0; i < f->count && !f->at[i]->has_layout; i++)
		;
	return i < f->count;
}

/* Checks --full, --brief and --only, which exclude each other and formats without their layout. */
static int check_form(const struct vpt_args *args, const struct forms *f, struct vpt_err *err)
{
	static const unsigned forms[] = {FULL, BRIEF, ONLY};
	const char *only = vpt_text_of(args, ONLY), *first = NULL;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *name = options[forms[i]].name;

		if (!vpt_has(args, forms[i]))
			continue;
		if (!has_layout(f))
			return vpt_fail(err, VPT_EINVAL,
				"--%s applies to the text report, not to --format %s", name,
				vpt_text_of(args, FORMAT));
		if (first)
			return vpt_fail(
				err, VPT_EINVAL, "--%s and --%s cannot be combined", first, name);
		first = name;
	}
	if (!only)
		return VPT_OK;
	if (!vpa_text_has_section(only))
		return vpt_fail(err, VPT_EINVAL, "--only: expected one of %s, found \"%.60s\"",
			vpa_text_section_names().text, only);
	return VPT_OK;
}

static int analyze(const struct vpt_args *args, struct vpa_options *options_out,
	struct vpa_report **report, struct vpt_err *err)
{
	const char *path = args->operands[0];
	char *rules_text;
	int rc = vpa_rules_option_read(args, options_out, &rules_text, err);

	if (!rc)
		rc = vpa_trace_report(path, options_out, !vpt_has(args, NO_PROGRESS), report, err);
	vpt_free(rules_text);
	options_out->rules = NULL;
	return rc;
}

static int render(const struct vpt_args *args, const struct vpa_renderer *renderer,
	const char *path, const struct vpa_report *report, struct vpt_err *err)
{
	struct vpt_out o;
	int rc = vpt_out_open(&o, path, vpt_has(args, FORCE), err);
	struct vpa_text form = {.full = vpt_has(args, FULL), .only = vpt_text_of(args, ONLY)};
	char command[4096];

	if (rc)
		return rc;
	form.width = vpt_terminal_width(&o);
	form.colour = vpt_terminal_colour(&o, vpt_text_of(args, COLOR));
	vpa_command_line(args, command, sizeof(command));
	form.command = command;
	if (renderer->has_layout && !vpt_has(args, NO_PAGER))
		o.failed = vpa_pager_begin(&o, &o.err);
	if (!o.failed)
		o.failed = renderer->render(report, &form, o.sink, &o.err);
	return vpt_out_close(&o, 1, err);
}

/* The changes that conditions ask about. */
struct asked {
	struct vpa_condition conditions[8];
	const char *changes[8];
};

static int read_asked(const struct vpt_args *args, struct vpa_options *o, struct asked *asked,
	struct vpt_err *err)
{
	int rc = vpa_fail_if_changes(args, FAIL_IF, asked->conditions, asked->changes,
		sizeof(asked->changes) / sizeof(asked->changes[0]), &o->asked_count, err);

	o->asked_changes = asked->changes;
	if (!rc && o->asked_count && vpt_has(args, NO_PREDICT))
		return vpt_fail(err, VPT_EINVAL,
			"--no-predict and --fail-if predicted:... cannot be combined");
	return rc;
}

/* One heap for all threads, and a mapping of its own for what is large: memory is then what is in use, for any number
 * of threads. The folds allocate seldom, so threads do not wait for each other. */
static void keep_heap_small(void)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 1 << 18);
#endif
}

static int run(const struct vpt_args *args)
{
	struct vpa_options o = {0};
	struct forms forms = {.count = 0};
	struct asked asked;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};
	size_t i;
	int rc = read_forms(args, &forms, &err), code = VPT_EXIT_DONE;

	keep_heap_small();
	o.only_screen = !vpt_has(args, FULL) && !vpt_has(args, ONLY);
	for (i = 0; i < forms.count; i++) {
		if (forms.at[i]->top > o.top)
			o.top = forms.at[i]->top;
		o.overview |= forms.at[i]->needs_overview;
		o.only_screen &= forms.at[i]->has_layout;
	}
	o.kernel_sources = !o.only_screen;
	if (vpt_has(args, TOP))
		o.top = vpt_number_of(args, TOP);
	o.step_parts = 1; /* findings say what they gain in a step */
	o.predict = o.stage_spans = !vpt_has(args, NO_PREDICT);
	o.min_gap_ns = vpt_number_of(args, MIN_GAP);
	if (vpt_has(args, MIN_GAP) && !o.min_gap_ns)
		o.min_gap_ns = 1; /* "0" asks for all gaps, a zero field for the default */
	if (!rc)
		rc = vpa_shared_options_read(args, &o, &err);
	if (!rc)
		rc = check_form(args, &forms, &err);
	if (!rc)
		rc = vpa_fail_if_read(args, FAIL_IF, 1, &err);
	if (!rc)
		rc = read_asked(args, &o, &asked, &err);
	for (i = 0; i < forms.count && !rc; i++)
		rc = vpa_out_check(args, forms.paths[i], vpt_has(args, FORCE), &err);
	if (!rc)
		rc = analyze(args, &o, &report, &err);
	for (i = 0; i < forms.count && !rc; i++)
		rc = render(args, forms.at[i], forms.paths[i], report, &err);
	free_forms(&forms);
	if (!rc)
		code = vpa_fail_if_exit(args, FAIL_IF, report, NULL, report->verdict.complete);
	vpa_report_free(report);
	return rc ? vpa_failed(&err) : code;
}

static void print_sections(struct vpt_out *o)
{
	const struct vpa_words names = vpa_text_section_names();
	const char *name;
	size_t len, used = 0;

	vpt_out_print(o, "Sections of a text report, for --only:\n");
	for (name = names.text; *name; name += len + (name[len] == ' ')) {
		len = strcspn(name, " ");
		if (used && used + len + 1 > 78) {
			vpt_out_print(o, "\n");
			used = 0;
		}
		vpt_out_print(o, "%s%.*s", used ? " " : "  ", (int)len, name);
		used += len + (used ? 1 : 2);
	}
	vpt_out_print(o, "\n");
}

const struct vpt_command vpa_cmd_analyze = {
	.program = VPA_PROGRAM,
	.name = "analyze",
	.usage = "FILE... [options]",
	.help = "report where the time went and why the GPU was idle; the default command",
	.about = "Several files, a folder or an archive are the ranks of one job: ranks reports "
		 "them\n"
		 "together, with its own options; see ranks --help.\n"
		 "\n"
		 "A rules file has one rule per line: a target, a tab, and a POSIX extended\n"
		 "regular expression. The first rule that matches a name applies. The built-in\n"
		 "rules come last.\n"
		 "\n"
		 "  attention           my_fused_attn          a kernel's family; see classify "
		 "--help\n"
		 "  range block         ^clip ([0-9]+)$        a range; the group is its index\n"
		 "  range step(index,timestep)  ([0-9]+) t=([0-9]+)\n"
		 "  range stage vae_decode      decode_tile\n"
		 "  range none          ^warmup\n"
		 "  frame framework     ^/opt/engine/          a file of Python; or: frame user\n"
		 "\n"
		 "A range is a request, block, step, context (the pass that writes the KV\n"
		 "cache), stage or none. The words in parentheses name the groups: index,\n"
		 "frames, latents, timestep, or - for none. A match must not begin or end inside\n"
		 "a word. Annotations of vptrace take precedence over rules. The report names the\n"
		 "innermost line of a stack that is in a user's file.\n"
		 "\n"
		 "A CONDITION is a figure, < or >, and a value. Figures are fps, bps, steps/s,\n"
		 "s/it, latents/s, fps-end-to-end, denoise-rate, period, busy and idle. fps is\n"
		 "that of RESULT, steady or else end to end. busy and idle are percent of the\n"
		 "mean block; without blocks, of the mean step or of the window. busy:FAMILY and\n"
		 "idle:CAUSE are parts of them. --fail-if may be given several times.\n"
		 "predicted:CHANGE is by how many percent of its time the mean block would be\n"
		 "shorter with a change that what-if takes, as in predicted:host 0.5>5%.\n"
		 "\n"
		 "On a terminal, a text report longer than the screen is shown through a pager:\n"
		 "$VPTRACE_PAGER, else $PAGER, else less. An empty value and cat mean none. If\n"
		 "LESS is unset, it is set to FRX. The exit status does not depend on the pager.",
	.more = print_sections,
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
