/* cmd_schema.c - documents the events of a capture and of `cat`, and what commands print as JSON, each from the table
 * that writes it. */
#include "analysis/commands/base/analyzer_command.h"

#include "analysis/commands/base/shared_options.h"
#include "analysis/compare/render/compare_pages.h"
#include "analysis/compare/render/job_compare_pages.h"
#include "analysis/export/schema_names.h"
#include "analysis/ranks/render/ranks_pages.h"
#include "analysis/render/fields/fields.h"
#include "analysis/retime/what_if/what_if_pages.h"
#include "formats/base/count.h"
#include "formats/io/json_writer.h"
#include "formats/event_schema.h"

enum { OF, FORMAT, OPTIONS };

static const struct vpt_option options[OPTIONS] = {
	[OF] = {"of", '\0', VPT_CHOICE, "events|report|compare|what-if|ranks|compare-ranks",
		"events",
		"which schema: the events of a capture, or the JSON of analyze, compare, what-if, "
		"ranks, or compare of two jobs"},
	[FORMAT] = VPA_FORMAT_OPTION(
		"text|json", "text", "; of what a command prints as JSON, json is a JSON Schema"),
};

static const struct {
	const char *of, *id;
	const struct vpa_fields *fields;
} answers[] = {
	{"report", VPA_REPORT_SCHEMA, &vpa_fields_report},
	{"compare", VPA_COMPARE_SCHEMA, &vpa_fields_comparison},
	{"what-if", VPA_WHAT_IF_SCHEMA, &vpa_fields_what_if},
	{"ranks", VPA_RANKS_SCHEMA, &vpa_fields_ranks},
	{"compare-ranks", VPA_COMPARE_RANKS_SCHEMA, &vpa_fields_job_comparison},
};

static const struct {
	unsigned flag;
	const char *name, *text;
} flags[] = {
	{VPT_KIND_EVENT, "event", "event"},
	{VPT_KIND_SPAN, "span", "span"},
	{VPT_KIND_OP, "op", "work on a device"},
	{VPT_KIND_TABLE, "table", "table"},
	{VPT_KIND_CRITICAL, "critical", "critical"},
};

enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };

static void print_kind(struct vpt_out *o, const struct vpt_kind_desc *kind)
{
	const char *separator = "";
	unsigned i;

	vpt_out_print(o, "\n%s, kind %u: %s\n  ", kind->name, kind->type, kind->help);
	for (i = 0; i < FLAGS; i++)
		if (kind->flags & flags[i].flag) {
			vpt_out_print(o, "%s%s", separator, flags[i].text);
			separator = ", ";
		}
	vpt_out_print(o, "%slane: %s\n", separator, vpa_lanes_name(kind->lanes));
	for (i = 0; i < kind->n_columns; i++) {
		const struct vpt_column_desc *c = &kind->columns[i];

		vpt_out_print(o, "  %2u  %-16s %-5s  %-13s  %s\n", c->id, c->name,
			vpa_encoding_name(c->enc), vpa_unit_name(c->unit), c->help);
	}
}

static void print_text(struct vpt_out *o)
{
	unsigned type;

	vpt_out_print(o,
		"vptrace event schema, capture format %d.%d\n"
		"each kind: its columns by id, name, encoding, unit, meaning\n",
		VPT_MAJOR, VPT_MINOR);
	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (vpt_kind_desc(type))
			print_kind(o, vpt_kind_desc(type));
}

static void put_kind(struct vpt_json *j, const struct vpt_kind_desc *kind)
{
	unsigned i;

	vpt_json_object(j, NULL);
	vpt_json_string(j, "kind", kind->name);
	vpt_json_u64(j, "type", kind->type);
	vpt_json_string(j, "help", kind->help);
	vpt_json_string(j, "lane", vpa_lanes_name(kind->lanes));
	vpt_json_array(j, "flags");
	for (i = 0; i < FLAGS; i++)
		if (kind->flags & flags[i].flag)
			vpt_json_string(j, NULL, flags[i].name);
	vpt_json_end(j);
	vpt_json_array(j, "columns");
	for (i = 0; i < kind->n_columns; i++) {
		const struct vpt_column_desc *c = &kind->columns[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "column", c->name);
		vpt_json_u64(j, "id", c->id);
		vpt_json_string(j, "encoding", vpa_encoding_name(c->enc));
		vpt_json_string(j, "unit", vpa_unit_name(c->unit));
		vpt_json_string(j, "help", c->help);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

static int print_json(struct vpt_out *o)
{
	struct vpt_json j;
	unsigned type;

	vpt_json_init(&j, o->sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "schema", "vptrace.events/1");
	vpt_json_u64(&j, "major", VPT_MAJOR);
	vpt_json_u64(&j, "minor", VPT_MINOR);
	vpt_json_array(&j, "kinds");
	for (type = 0; type < VPT_KIND_LIMIT; type++)
		if (vpt_kind_desc(type))
			put_kind(&j, vpt_kind_desc(type));
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, &o->err);
}

static int run(const struct vpt_args *args)
{
	const int json = vpt_is(args, FORMAT, "json");
	struct vpt_err err = {0};
	struct vpt_out o;
	size_t i;

	if (vpt_out_open(&o, "-", 0, &err))
		return vpa_failed(&err);
	for (i = 0; i < COUNT(answers); i++)
		if (vpt_is(args, OF, answers[i].of))
			o.failed = (json ? vpa_fields_schema : vpa_fields_list)(
				answers[i].fields, answers[i].id, o.sink, &o.err);
	if (vpt_is(args, OF, "events") && json)
		o.failed = print_json(&o);
	else if (vpt_is(args, OF, "events"))
		print_text(&o);
	return vpt_out_close(&o, 1, &err) ? vpa_failed(&err) : VPT_EXIT_DONE;
}

const struct vpt_command vpa_cmd_schema = {
	.program = VPA_PROGRAM,
	.name = "schema",
	.usage = "[options]",
	.help = "print every kind of event with its columns, or every key of the JSON output",
	.options = options,
	.option_count = OPTIONS,
	.operand_count = 0,
	.run = run,
};
