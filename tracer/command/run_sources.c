/* run_sources.c - a table of options and variables is filled from below: the file, then what wins over it.
 *
 * What the file says becomes part of the arguments, as if it stood on the command line, so that all else need not know. */
#include "tracer/command/run_parts.h"

#include "formats/base/memory.h"
#include "tracer/command/options/config_file.h"
#include "tracer/command/run.h"
#include "tracer/settings/capture_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static int is_variable_of_option(const char *variable)
{
	unsigned i;

	for (i = 0; i < VTR_RUN_OPTIONS; i++)
		if (vtr_run_variable(i) && !strcmp(vtr_run_variable(i), variable))
			return 1;
	return 0;
}

/* Options first, by number, then the variables that are none. */
static int list_names(const struct vpt_command *run, struct vtr_sources *s, struct vpt_err *err)
{
	size_t i;

	s->all = vpt_calloc(VTR_RUN_OPTIONS + vtr_options_count(), sizeof(*s->all));
	if (!s->all)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the options");
	for (i = 0; i < VTR_RUN_OPTIONS; i++)
		s->all[s->count++] = (struct vtr_source){
			.name = run->options[i].name, .variable = vtr_run_variable((unsigned)i)};
	for (i = 0; i < vtr_options_count(); i++) {
		const char *variable = vtr_options_variable(i);

		if (!is_variable_of_option(variable))
			s->all[s->count++] =
				(struct vtr_source){.name = variable, .variable = variable};
	}
	return VPT_OK;
}

/* Options of the launcher itself, which a file cannot have. */
static int is_only_on_line(size_t i)
{
	return i == VTR_RUN_CONFIG || i == VTR_RUN_DRY_RUN;
}

/* Whether a key means the name: max_bytes is max-bytes. */
static int means(const char *key, const char *name)
{
	for (; *key && *name; key++, name++)
		if (*key != *name && !(*key == '_' && *name == '-'))
			return 0;
	return !*key && !*name;
}

static struct vtr_source *find(
	const struct vtr_sources *s, const struct vtr_config_value *v, struct vpt_err *err)
{
	const char *near;
	size_t i;

	for (i = 0; i < s->count; i++)
		if (!is_only_on_line(i) && means(v->key, s->all[i].name))
			return &s->all[i];
	near = vpt_nearest(v->key, &s->all[0].name, s->count, sizeof(*s->all));
	vpt_fail(err, VPT_EINVAL, "%.200s:%u: unknown option %.60s%s%s%s", s->file, v->line, v->key,
		near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return NULL;
}

/* ---- values ---- */

/* Adds a value to those of the source, after a comma. */
static int add_value(struct vtr_source *source, const char *text, struct vpt_err *err)
{
	char *value;

	if (asprintf(&value, "%s%s%s", source->value ? source->value : "", source->value ? "," : "",
		    text) < 0)
		return vpt_fail(err, VPT_ENOMEM, "no memory for --%s", source->name);
	free(source->value);
	source->value = value;
	return VPT_OK;
}

static int fail_type(const struct vtr_sources *s, const struct vtr_config_value *v,
	const char *expected, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EINVAL, "%.200s:%u: %.60s: expected %s, found %s%.60s%s", s->file,
		v->line, v->key, expected, v->in_array ? "[" : "", v->text, v->in_array ? "]" : "");
}

/* The value as the option would have it on the command line; NULL: it would not stand there. */
static int as_argument(const struct vtr_sources *s, const struct vpt_option *o,
	const struct vtr_config_value *v, const char **text, struct vpt_err *err)
{
	int is_optional = o->type == VPT_MODE || o->type == VPT_MAYBE;

	if (v->in_array && !vpt_option_is_list(o))
		return fail_type(s, v, "one value", err);
	if (o->type == VPT_FLAG && !v->is_word)
		return fail_type(s, v, "true or false", err);
	if (v->is_word && o->type != VPT_FLAG && !is_optional)
		return fail_type(s, v, "a string or a number", err);
	*text = v->text;
	if (v->is_word)
		*text = strcmp(v->text, "true") ? NULL : "";
	return VPT_OK;
}

/* An option's value: it is checked and added, unless something wins over it. */
static int take_option(struct vpt_args *args, const struct vtr_sources *s, size_t i,
	const struct vtr_config_value *v, struct vpt_err *err)
{
	const struct vpt_option *o = &args->command->options[i];
	char where[300];
	const char *text = NULL;
	int rc = as_argument(s, o, v, &text, err);

	if (rc || s->all[i].origin > VTR_FROM_FILE || !text)
		return rc;
	rc = vpt_args_add(args, (unsigned)i, o->type == VPT_FLAG ? NULL : text, err);
	snprintf(where, sizeof(where), "%.200s:%u", s->file, v->line);
	if (rc)
		vpt_err_at(err, where);
	return rc;
}

static int take_variable(const struct vtr_sources *s, struct vtr_source *source,
	const struct vtr_config_value *v, struct vpt_err *err)
{
	if (v->in_array)
		return fail_type(s, v, "one value", err);
	if (source->origin <= VTR_FROM_FILE && setenv(source->name, v->text, 1))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the environment");
	return VPT_OK;
}

static int take_file(struct vpt_args *args, struct vtr_sources *s, const struct vtr_config *c,
	struct vpt_err *err)
{
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < c->count && !rc; i++) {
		const struct vtr_config_value *v = &c->values[i];
		struct vtr_source *source = find(s, v, err);
		size_t number;

		if (!source)
			return VPT_EINVAL;
		number = (size_t)(source - s->all);
		rc = number < VTR_RUN_OPTIONS ? take_option(args, s, number, v, err)
					      : take_variable(s, source, v, err);
		if (rc || source->origin > VTR_FROM_FILE)
			continue;
		if (source->origin != VTR_FROM_FILE)
			source->line = v->line;
		source->origin = VTR_FROM_FILE;
		rc = add_value(source, v->text, err);
	}
	return rc;
}

/* ---- what wins over the file ---- */

static int note_line(const struct vpt_args *args, struct vtr_sources *s, struct vpt_err *err)
{
	int rc = VPT_OK;
	size_t i;

	for (i = args->default_count; i < args->given_count && !rc; i++) {
		struct vtr_source *source = &s->all[args->given[i].option];
		const char *text = args->given[i].text;

		source->origin = VTR_FROM_COMMAND_LINE;
		if (text && *text)
			rc = add_value(source, text, err);
		else if (!source->value)
			rc = add_value(source, "true", err);
	}
	return rc;
}

static int note_environment(struct vtr_sources *s, struct vpt_err *err)
{
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < s->count && !rc; i++) {
		struct vtr_source *source = &s->all[i];
		const char *text = source->variable ? getenv(source->variable) : NULL;

		if (source->origin != VTR_FROM_DEFAULT || !text || !*text)
			continue;
		source->origin = VTR_FROM_ENVIRONMENT;
		rc = add_value(source, text, err);
	}
	return rc;
}

static int note_defaults(const struct vpt_args *args, struct vtr_sources *s, struct vpt_err *err)
{
	char text[64];
	int rc = VPT_OK;
	size_t i, k;

	for (i = 0; i < s->count && !rc; i++) {
		struct vtr_source *source = &s->all[i];
		const char *fallback =
			i < VTR_RUN_OPTIONS ? args->command->options[i].fallback : NULL;

		if (source->origin != VTR_FROM_DEFAULT)
			continue;
		if (i == VTR_RUN_OUTPUT)
			fallback = "vptrace-<command>-<pid>.zst";
		for (k = 0; !fallback && source->variable && k < vtr_options_count(); k++)
			if (!strcmp(vtr_options_variable(k), source->variable)) {
				vtr_options_default(k, text, sizeof(text));
				fallback = *text ? text : NULL;
			}
		if (fallback)
			rc = add_value(source, fallback, err);
	}
	return rc;
}

int vtr_sources_take(struct vpt_args *args, struct vtr_sources *out, struct vpt_err *err)
{
	struct vtr_config config = {.values = NULL};
	int rc;

	*out = (struct vtr_sources){.file = vpt_text_of(args, VTR_RUN_CONFIG)};
	rc = list_names(args->command, out, err);
	if (!rc)
		rc = note_line(args, out, err);
	if (!rc)
		rc = note_environment(out, err);
	if (!rc && out->file)
		rc = vtr_config_read(out->file, &config, err);
	if (!rc)
		rc = take_file(args, out, &config, err);
	if (!rc)
		rc = note_defaults(args, out, err);
	out->texts = config.bytes;
	config.bytes = NULL;
	vtr_config_free(&config);
	return rc;
}

void vtr_sources_explain(const struct vtr_sources *s, struct vpt_err *err)
{
	const char *text = err->text + (strncmp(err->text, "--", 2) ? 0 : 2);
	size_t len = strcspn(text, ": "), i;
	char where[300];

	for (i = 0; i < s->count; i++) {
		const struct vtr_source *source = &s->all[i];

		if (source->origin != VTR_FROM_FILE || strlen(source->name) != len ||
			strncmp(source->name, text, len) != 0)
			continue;
		snprintf(where, sizeof(where), "%.200s:%u", s->file, source->line);
		vpt_err_at(err, where);
		return;
	}
}

void vtr_sources_print(const struct vtr_sources *s, struct vpt_out *out)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct vtr_source *source = &s->all[i];
		const char *value = source->value ? source->value : "-";
		int len = (int)strlen(value);

		vpt_out_print(out, "%-22s ", source->name);
		vpt_out_text(out, value, (size_t)len);
		vpt_out_print(out, "%*s ", len < 30 ? 30 - len : 0, "");
		if (source->origin == VTR_FROM_FILE) {
			vpt_out_text(out, s->file, strlen(s->file));
			vpt_out_print(out, ":%u\n", source->line);
		} else if (source->origin == VTR_FROM_ENVIRONMENT)
			vpt_out_print(out, "environment, %s\n", source->variable);
		else
			vpt_out_print(out, "%s\n",
				source->origin == VTR_FROM_DEFAULT ? "default" : "command line");
	}
}

void vtr_sources_free(struct vtr_sources *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		free(s->all[i].value);
	vpt_free(s->all);
	vpt_free(s->texts);
	*s = (struct vtr_sources){.file = NULL};
}
