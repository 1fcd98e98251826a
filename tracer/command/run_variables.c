/* run_variables.c - the environment of the command.
 *
 * CUDA and NVTX each load one library that a variable names. Another NVTX tool can be chained;
 * another CUDA tool cannot, and most of them need CUPTI for themselves. */
#include "tracer/command/run_variables.h"

#include "tracer/command/options/marks.h"
#include "tracer/command/output_check.h"
#include "tracer/command/run.h"
#include "tracer/command/base/say.h"
#include "tracer/settings/capture_options.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUE_MAX = 3 * PATH_MAX };

static int set(const char *name, const char *value, struct vpt_err *err)
{
	return setenv(name, value, 1) ? vpt_fail(err, VPT_ENOMEM, "no memory for the environment")
				      : VPT_OK;
}

static int is_ours(const char *path)
{
	return !strncmp(vpt_file_name(path), "libvptrace.so", 13);
}

/* ---- other tools ---- */

/* What NVIDIA's tools leave in the environment of the programs that they start. */
static const struct {
	const char *variable; /* the beginning of its name */
	const char *part;     /* of its value; NULL: any */
	const char *tool;
} tools[] = {
	{"NSYS_", NULL, "Nsight Systems (nsys)"},
	{"CUDA_INJECTION64_PATH=", "ToolsInjection", "Nsight Systems (nsys)"},
	{"NVTX_INJECTION64_PATH=", "ToolsInjection", "Nsight Systems (nsys)"},
	{"LD_PRELOAD=", "ToolsInjection", "Nsight Systems (nsys)"},
	{"NV_TPS_LAUNCH_", NULL, "Nsight Compute (ncu)"},
	{"NV_COMPUTE_PROFILER_", NULL, "Nsight Compute (ncu)"},
	{"LD_PRELOAD=", "TreeLauncher", "Nsight Compute (ncu)"},
	{"NV_SANITIZER_", NULL, "compute-sanitizer"},
	{"CUDA_INJECTION64_PATH=", "sanitizer", "compute-sanitizer"},
};

int vtr_variables_check_tools(struct vpt_err *err)
{
	char **v;
	size_t i;

	for (v = environ; v && *v; v++)
		for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
			if (!strncmp(*v, tools[i].variable, strlen(tools[i].variable)) &&
				(!tools[i].part || strstr(*v, tools[i].part)))
				return vpt_fail(err, VPT_EINVAL,
					"%s is in the environment (%.*s) and needs CUPTI for "
					"itself: run one tool at a time",
					tools[i].tool, (int)strcspn(*v, "="), *v);
	return VPT_OK;
}

/* The NVTX tool of the environment that is not ours; NULL: none. */
static const char *other_nvtx_tool(void)
{
	const char *nvtx = getenv("NVTX_INJECTION64_PATH");

	return nvtx && *nvtx && !is_ours(nvtx) ? nvtx : NULL;
}

int vtr_variables_check_injections(struct vpt_err *err)
{
	const char *cuda = getenv("CUDA_INJECTION64_PATH"), *nvtx = other_nvtx_tool();
	const char *chained = getenv("VPTRACE_NVTX_CHAIN");

	if (cuda && *cuda && !is_ours(cuda))
		return vpt_fail(err, VPT_EINVAL,
			"CUDA_INJECTION64_PATH names another tool, %.200s, and CUDA loads only "
			"one: run with env -u CUDA_INJECTION64_PATH",
			cuda);
	if (nvtx && chained && *chained && strcmp(chained, nvtx) != 0)
		return vpt_fail(err, VPT_EINVAL,
			"NVTX_INJECTION64_PATH and VPTRACE_NVTX_CHAIN name two other tools, and "
			"only one can be chained: unset one of them");
	return VPT_OK;
}

static int set_injections(const char *library, struct vpt_err *err)
{
	const char *nvtx = other_nvtx_tool();
	int rc = vtr_variables_check_injections(err);

	if (!rc && nvtx)
		rc = set("VPTRACE_NVTX_CHAIN", nvtx, err);
	if (!rc)
		rc = set("CUDA_INJECTION64_PATH", library, err);
	if (!rc)
		rc = set("NVTX_INJECTION64_PATH", library, err);
	/* A traced parent's note that it set the variable by itself. */
	unsetenv("VPTRACE_NVTX_OWN");
	return rc;
}

/* "FIRST" or "FIRST:former value". */
static int prepend(const char *name, const char *first, struct vpt_err *err)
{
	const char *former = getenv(name);
	char *value;
	int rc;

	if (!former || !*former)
		return set(name, first, err);
	if (asprintf(&value, "%s:%s", first, former) < 0)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the environment");
	rc = set(name, value, err);
	free(value);
	return rc;
}

/* ---- the output's name ---- */

/* The current folder as a pattern: its own percent signs are doubled. */
static int put_folder(char *out, size_t size, struct vpt_err *err)
{
	char folder[PATH_MAX];
	size_t used = 0, i;

	if (!getcwd(folder, sizeof(folder)))
		return vpt_fail(
			err, VPT_EINVAL, "the current folder no longer exists: cd to another one");
	for (i = 0; folder[i] && used + 3 < size; i++) {
		out[used++] = folder[i];
		if (folder[i] == '%')
			out[used++] = '%';
	}
	if (!used || out[used - 1] != '/')
		out[used++] = '/';
	out[used] = '\0';
	return VPT_OK;
}

/* Children may change their folder: a relative name means the launcher's. */
static int set_output(const char *given, struct vpt_err *err)
{
	const char *name = given ? given : getenv("VPTRACE_OUTPUT");
	char value[VALUE_MAX];
	size_t used;
	int rc;

	if (given && !*given)
		return vpt_fail(err, VPT_EINVAL, "--output: expected a file name, found none");
	if (name && *name == '/')
		return set("VPTRACE_OUTPUT", name, err);
	rc = put_folder(value, sizeof(value), err);
	if (rc)
		return rc;
	used = strlen(value);
	snprintf(value + used, sizeof(value) - used, "%s", name ? name : "");
	return set("VPTRACE_OUTPUT", value, err);
}

/* ---- options ---- */

static int is_flag(const struct vpt_args *args, unsigned option)
{
	return args->command->options[option].type == VPT_FLAG;
}

/* Whether the library reads the option's text as it is. */
static int is_text(const struct vpt_args *args, unsigned option)
{
	return vtr_run_variable(option) && option != VTR_RUN_OUTPUT && !is_flag(args, option);
}

static int set_flags(const struct vpt_args *args, struct vpt_err *err)
{
	int rc = VPT_OK;
	unsigned i;

	for (i = 0; i < VTR_RUN_OPTIONS && !rc; i++)
		if (vtr_run_variable(i) && is_flag(args, i) && vpt_has(args, i))
			rc = set(vtr_run_variable(i), "1", err);
	return rc;
}

/* A default gives way to a variable that the user has set. */
static int set_texts(const struct vpt_args *args, struct vpt_err *err)
{
	const struct vpt_option *options = args->command->options;
	int rc = VPT_OK;
	unsigned i;

	for (i = 0; i < VTR_RUN_OPTIONS && !rc; i++) {
		const char *text = is_text(args, i) ? vpt_text_of(args, i) : NULL;

		if (text && (text != options[i].fallback || !getenv(vtr_run_variable(i))))
			rc = set(vtr_run_variable(i), text, err);
	}
	return rc;
}

/* What several options of one name say, as one list with commas. */
static int join(const struct vpt_args *args, enum vtr_run_option option, const char *variable,
	struct vpt_err *err)
{
	const struct vpt_option *o = &args->command->options[option];
	char *all = NULL;
	size_t size, count = 0, i;
	FILE *out = open_memstream(&all, &size);
	int rc;

	if (!out)
		return vpt_fail(err, VPT_ENOMEM, "no memory for --%s", o->name);
	for (i = 0; i < args->given_count; i++)
		if (args->given[i].option == option && args->given[i].text != o->fallback)
			fprintf(out, "%s%s", count++ ? "," : "", args->given[i].text);
	rc = fclose(out) ? vpt_fail(err, VPT_ENOMEM, "no memory for --%s", o->name) : VPT_OK;
	if (!rc && count)
		rc = set(variable, all, err);
	free(all);
	return rc;
}

/* A comma separates tags, so no value has one. */
static int set_tags(const struct vpt_args *args, struct vpt_err *err)
{
	size_t i;

	for (i = 0; i < args->given_count; i++) {
		const struct vpt_given *g = &args->given[i];

		if (g->option == VTR_RUN_TAG && (!*g->text || strchr(g->text, ',')))
			return vpt_fail(err, VPT_EINVAL,
				"--tag: expected KEY=VALUE without a comma, found \"%.100s\"; "
				"give --tag once for each",
				g->text);
	}
	return join(args, VTR_RUN_TAG, "VPTRACE_TAGS", err);
}

/* Without the Python files there are no marks: the default gives way, a wish is refused. */
static int miss_site(const struct vpt_args *args, struct vpt_err *err)
{
	static const char text[] = "the folder with the Python files of marks is missing: expected "
				   "share/vptrace/python/site in an installation, or "
				   "tracer/python/site beside the build's folder";
	const char *fallback = args->command->options[VTR_RUN_MARK].fallback;
	const char *wanted = getenv("VPTRACE_MARK");

	if (!strcmp(wanted, "none"))
		return VPT_OK;
	if (vpt_text_of(args, VTR_RUN_MARK) != fallback || strcmp(wanted, fallback) != 0)
		return vpt_fail(err, VPT_EINVAL,
			"VPTRACE_MARK: %s; put it there, or use --mark none", text);
	vtr_say("no marks: %s", text);
	return set("VPTRACE_MARK", "none", err);
}

/* Children may change their folder here too. */
static int set_marks(
	const struct vpt_args *args, const char *site, const char *python, struct vpt_err *err)
{
	char *marks;
	int rc;

	if (!*site)
		return miss_site(args, err);
	rc = vtr_marks_resolve(getenv("VPTRACE_MARK"), site, python, &marks, err);
	if (!rc)
		rc = set("VPTRACE_MARK", marks, err);
	free(marks);
	return rc;
}

/* Without a GPU there is nothing but ranges, and nobody but Python to start the tracer. */
static int set_simulate(const struct vpt_args *args, struct vpt_err *err)
{
	const char *profile = vpt_text_of(args, VTR_RUN_PROFILE);
	int rc;

	if (profile != args->command->options[VTR_RUN_PROFILE].fallback &&
		strcmp(profile, "none") != 0)
		return vpt_fail(err, VPT_EINVAL,
			"--simulate records no GPU work: use it without --profile %.60s", profile);
	rc = set("VPTRACE_SIMULATE", "1", err);
	return rc ? rc : set("VPTRACE_PROFILE", "none", err);
}

static int set_options(const struct vpt_args *args, struct vpt_err *err)
{
	int rc = set_texts(args, err);

	if (!rc && vpt_has(args, VTR_RUN_SIMULATE))
		rc = set_simulate(args, err);
	if (!rc)
		rc = set_flags(args, err);
	return rc ? rc : set_output(vpt_text_of(args, VTR_RUN_OUTPUT), err);
}

/* The library's own sentence about a variable, with the option's name where it came from one. */
static int name_option(const struct vpt_args *args, struct vpt_err *err)
{
	char text[sizeof(err->text)];
	size_t len;
	unsigned i;

	for (i = 0; i < VTR_RUN_OPTIONS; i++) {
		const struct vpt_option *option = &args->command->options[i];
		const char *given = is_text(args, i) ? vpt_text_of(args, i) : NULL;

		len = given ? strlen(vtr_run_variable(i)) : 0;
		if (!given || given == option->fallback ||
			strncmp(err->text, vtr_run_variable(i), len) || err->text[len] != ':')
			continue;
		snprintf(text, sizeof(text), "--%s%s", option->name, err->text + len);
		snprintf(err->text, sizeof(err->text), "%s", text);
		break;
	}
	return VPT_EINVAL;
}

int vtr_variables_set(const struct vpt_args *args, const struct vtr_places *places,
	const char *python, struct vpt_err *err)
{
	struct vtr_options *options;
	int rc = vtr_variables_check_tools(err);

	if (!rc)
		rc = set_injections(places->library, err);
	if (!rc)
		rc = set_options(args, err);
	if (rc)
		return rc;
	if (vpt_has(args, VTR_RUN_PRELOAD))
		rc = prepend("LD_PRELOAD", places->library, err);
	if (!rc)
		rc = join(args, VTR_RUN_MARK, "VPTRACE_MARK", err);
	if (!rc)
		rc = set_tags(args, err);
	if (!rc && *places->site) /* even without marks: it ends captures */
		rc = prepend("PYTHONPATH", places->site, err);
	if (!rc && set_marks(args, places->site, python, err))
		rc = name_option(args, err);
	options = malloc(sizeof(*options));
	if (!rc && !options)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for the options");
	if (!rc && vtr_options_resolve(NULL, options, err))
		rc = name_option(args, err);
	if (!rc)
		rc = vtr_output_check(options, err);
	free(options);
	return rc;
}
