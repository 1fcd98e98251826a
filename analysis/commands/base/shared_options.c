/* shared_options.c - the options of an analysis, found by their names in the command's own table. */
#include "analysis/commands/base/shared_options.h"

#include "formats/cli/target.h"

#include <string.h>

/* The last value given; NULL: none, or the command has no such option. */
static const struct vpt_given *find(const struct vpt_args *args, const char *name)
{
	unsigned i;

	for (i = 0; i < args->command->option_count; i++)
		if (!strcmp(args->command->options[i].name, name))
			return vpt_given_of(args, i);
	return NULL;
}

static int has_number(const struct vpt_args *args, const char *name, uint64_t *out)
{
	const struct vpt_given *given = find(args, name);

	if (given)
		*out = given->number;
	return given != NULL;
}

int vpa_shared_options_read(
	const struct vpt_args *args, struct vpa_options *out, struct vpt_err *err)
{
	const struct vpt_given *range = find(args, "range"), *target = find(args, "target");
	uint64_t jobs = 0;
	int rc;

	has_number(args, "jobs", &jobs);
	out->jobs = (unsigned)jobs;
	out->has_from = has_number(args, "from", &out->from_ns);
	out->has_to = has_number(args, "to", &out->to_ns);
	out->range = range ? range->text : NULL;
	if (has_number(args, "request", &out->request) && range)
		return vpt_fail(err, VPT_EINVAL, "--range and --request cannot be combined");
	out->has_warmup = has_number(args, "warmup", &out->warmup);
	has_number(args, "frames-per-block", &out->frames_per_block);
	has_number(args, "first-block-frames", &out->first_block_frames);
	has_number(args, "latents-per-block", &out->latents_per_block);
	has_number(args, "vae-factor", &out->vae_factor);
	if (out->first_block_frames && !out->frames_per_block)
		return vpt_fail(
			err, VPT_EINVAL, "--first-block-frames requires --frames-per-block");
	rc = target ? vpt_target_read(target->text, &out->target_millifps, err) : VPT_OK;
	return rc ? rc : vpa_window_check(find(args, "from"), find(args, "to"), out->range, err);
}

int vpa_rules_option_read(
	const struct vpt_args *args, struct vpa_options *out, char **text, struct vpt_err *err)
{
	const struct vpt_given *rules = find(args, "rules");
	int rc;

	*text = NULL;
	rc = rules ? vpa_file_read(rules->text, text, &out->rules_len, err) : VPT_OK;
	out->rules = *text;
	return rc;
}

int vpa_window_check(const struct vpt_given *from, const struct vpt_given *to, const char *range,
	struct vpt_err *err)
{
	if (to && !to->number)
		return vpt_fail(err, VPT_EINVAL,
			"--to %.60s is the start of the trace: the window is empty", to->text);
	if (from && to && from->number >= to->number)
		return vpt_fail(err, VPT_EINVAL,
			"--from %.60s is not before --to %.60s: the window is empty", from->text,
			to->text);
	if (range && (from || to))
		return vpt_fail(err, VPT_EINVAL, "--range cannot be combined with --from or --to");
	return VPT_OK;
}
