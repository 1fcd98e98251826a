/* facts.c - what the program said of the run, in keys of its own, and paths of files that belong to the capture.
 *
 * Facts of the tracer have their place elsewhere in a report, and what another tool wrote is not the program's. */
#include "analysis/folds/fold.h"

#include "formats/metadata.h"

#include <string.h>

/* Keys that the tracer's module writes for the program, or that programs commonly have. */
static const enum vpt_metadata shown[] = {VPT_METADATA_MEMORY_HISTORY, VPT_METADATA_TORCH_TRACE,
	VPT_METADATA_PIPELINE, VPT_METADATA_MODEL, VPT_METADATA_GIT_COMMIT, VPT_METADATA_COMMIT};

/* Keys that begin like these are shown elsewhere, or are the tracer's. */
static const char *const others[] = {
	VPT_METADATA_TAG, VPT_METADATA_ENV, VPT_METADATA_PROCESS, "model.", "cupti.", "missing."};

static int is_of_program(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (!strcmp(key, vpt_metadata_key(shown[i])))
			return 1;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(key, others[i], strlen(others[i])))
			return 0;
	for (i = VPT_METADATA_NONE; i < VPT_METADATA_COUNT; i++)
		if (!strcmp(key, vpt_metadata_key((enum vpt_metadata)i)))
			return 0;
	return 1;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_said *said = &out->said;
	size_t i;

	(void)state;
	(void)c;
	said->facts = vpa_arena_alloc(&out->arena, out->meta_count + 1, sizeof(*said->facts));
	if (!said->facts)
		return VPT_ENOMEM;
	for (i = 0; i < out->meta_count; i++) {
		const struct vpa_pair *fact = &out->meta[i];

		/* The newest value of a key counts. */
		if (fact->key && fact->value && is_of_program(fact->key) &&
			vpa_meta_of_key(out, fact->key) == fact->value)
			said->facts[said->fact_count++] =
				(struct vpa_fact_of_run){fact->key, fact->value};
	}
	return VPT_OK;
}

const struct vpa_fold vpa_fold_facts = {
	.name = "facts",
	.help = "what the program said of the run",
	.state_bytes = 1,
	.finish = finish,
};
