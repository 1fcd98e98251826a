/* cmd_trend.c - archived reports over time: how figures move, and where they changed. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/shared_options.h"
#include "formats/cli/terminal.h"

#include "analysis/compare/baseline.h"
#include "analysis/render/fields/run_tags.h"
#include "analysis/render/text_page.h"
#include "analysis/trend/trend.h"
#include "formats/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT, OUTPUT, TAG, MEMORY, FORCE, COLOR, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[FORMAT] = VPA_FORMAT_OPTION(
		"text|html|csv|json", "text", "; html: one page that needs nothing else"),
	[OUTPUT] = VPA_OUTPUT_OPTION,
	[TAG] = {"tag", '\0', VPT_TEXTS, "KEY=VALUE", NULL,
		"only reports of captures with this tag; may be given several times"},
	[MEMORY] = VPA_MEMORY_OPTION,
	[FORCE] = VPA_FORCE_OPTION,
	[COLOR] = VPA_COLOR_OPTION,
};

/* Whether the report has the tag, "key=value". */
static int has_tag(const struct vpa_report *r, const char *tag)
{
	size_t key_len = strcspn(tag, "="), at = 0;
	const struct vpa_pair *pair;

	while ((pair = vpa_tag_next(r, &at)) != NULL) {
		const char *key = vpa_tag_of(pair->key);

		if (strlen(key) == key_len && !strncmp(key, tag, key_len) &&
			!strcmp(pair->value, tag + key_len + 1))
			return 1;
	}
	return 0;
}

static int is_wanted(const struct vpt_args *args, const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < args->given_count; i++)
		if (args->given[i].option == TAG && !has_tag(r, args->given[i].text))
			return 0;
	return 1;
}

static int check_tags(const struct vpt_args *args, struct vpt_err *err)
{
	size_t i;

	for (i = 0; i < args->given_count; i++)
		if (args->given[i].option == TAG && !strchr(args->given[i].text, '='))
			return vpt_fail(err, VPT_EINVAL,
				"--tag: expected KEY=VALUE, such as model=wan, found \"%.60s\"",
				args->given[i].text);
	return VPT_OK;
}

static int add_file(
	const struct vpt_args *args, const char *path, struct vpa_trend *t, struct vpt_err *err)
{
	struct vpa_report *report = NULL;
	char *text = NULL;
	size_t len;
	int rc = vpa_file_read(path, &text, &len, err);

	if (!rc)
		rc = vpa_baseline_read(text, len, path, &report, err);
	if (!rc && is_wanted(args, report) && vpa_trend_add(t, report))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a trend");
	vpa_report_free(report);
	vpt_free(text);
	return rc;
}

static int is_json(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".json");
}

/* A folder may hold other JSON files: what is no report is counted, and said once. */
static int add_folder(
	const struct vpt_args *args, const char *path, struct vpa_trend *t, struct vpt_err *err)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_json, alphasort), i, others = 0, rc = VPT_OK;
	char file[4096];

	if (count < 0)
		return vpt_fail(err, VPT_EIO, "%.200s: %s", path, strerror(errno));
	for (i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (!rc)
			rc = add_file(args, file, t, err);
		if (rc == VPT_EDATA) {
			others++;
			rc = VPT_OK;
		}
		free(entries[i]);
	}
	free(entries);
	if (!rc && others)
		vpa_say("%.200s: %d of %d JSON files are no reports of vptrace-analyze: left out",
			path, others, count);
	return rc;
}

static int read_reports(const struct vpt_args *args, struct vpa_trend *t, struct vpt_err *err)
{
	struct stat st;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < args->operand_count && !rc; i++) {
		const char *path = args->operands[i];

		rc = !stat(path, &st) && S_ISDIR(st.st_mode) ? add_folder(args, path, t, err)
							     : add_file(args, path, t, err);
	}
	if (!rc && !t->count)
		return vpt_fail(err, VPT_EINVAL,
			"expected reports of analyze --format json%s, found none",
			vpt_has(args, TAG) ? " with these tags" : "");
	if (!rc && vpa_trend_find(t))
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a trend");
	return rc;
}

static int render(const struct vpt_args *args, const struct vpa_trend *t, struct vpt_err *err)
{
	struct vpa_page page;
	char command[4096];
	struct vpt_out o;
	int rc = vpt_out_open(&o, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), err);

	if (rc)
		return rc;
	if (vpt_is(args, FORMAT, "csv")) {
		o.failed = vpa_trend_csv(t, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "json")) {
		o.failed = vpa_trend_json(t, o.sink, &o.err);
	} else if (vpt_is(args, FORMAT, "html")) {
		vpa_command_line(args, command, sizeof(command));
		o.failed = vpa_trend_html(t, command, o.sink, &o.err);
	} else {
		vpa_page_init(&page, o.sink, vpt_terminal_width(&o),
			vpt_terminal_colour(&o, vpt_text_of(args, COLOR)), &o.err);
		vpa_trend_put(&page, t);
		o.failed = page.rc;
	}
	return vpt_out_close(&o, 1, err);
}

static int run(const struct vpt_args *args)
{
	struct vpa_trend t = {.count = 0};
	struct vpt_err err = {0};
	int rc = check_tags(args, &err);

	if (!rc)
		rc = vpa_out_check(args, vpt_text_of(args, OUTPUT), vpt_has(args, FORCE), &err);
	if (!rc)
		rc = read_reports(args, &t, &err);
	if (!rc)
		rc = render(args, &t, &err);
	vpa_trend_free(&t);
	return rc ? vpa_failed(&err) : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_trend = {
	.program = VPA_PROGRAM,
	.name = "trend",
	.usage = "REPORT.json|FOLDER... [options]",
	.help = "show how archived reports move over time, and where they changed",
	.about =
		"Each file is a report of analyze --format json; a folder is all files *.json in\n"
		"it. Reports are in order of the time of their captures. A row has FPS, steps per\n"
		"second, the period of blocks, idle time, peak memory, and energy in J per frame,\n"
		"or else of the whole capture. \"commit\" is the capture's tag of this name.\n"
		"\n"
		"A change is a place before and after which a figure differs more than chance\n"
		"explains: of 2,000 orders of the same values, at most one in twenty has a split\n"
		"as clear. That takes at least three reports on either side, and seven in all.",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 1,
	.more_operands = 1,
	.run = run,
};
