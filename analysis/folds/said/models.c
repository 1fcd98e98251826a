/* models.c - the networks that the program gave: how many parameters, of what type.
 *
 * They are facts of the run, as vptrace.model() of the Python module writes them:
 *
 *	model.NAME.parameters   1300000000
 *	model.NAME.bytes        2600000000
 *	model.NAME.dtypes       bfloat16:1299999000 float32:1000
 *	model.NAME.stage        transformer
 *
 * The first one makes a network; "model.parameters" is that of one without a name. */
#include "analysis/folds/fold.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

static const char prefix[] = "model", suffix[] = ".parameters";

static const double most_parameters = 1e18;

/* A number as people write it: "1300000000", "1.3e9". UINT64_MAX: it is none. */
static uint64_t number_of(const char *text)
{
	char *end;
	double value = text && *text ? strtod(text, &end) : -1;

	return value >= 0 && value < most_parameters && !*end ? vpt_sat_u64(value) : UINT64_MAX;
}

/* The newest value of "model.NAME" and what follows. `len`: of both words. */
static const char *fact_of(struct vpa_report *out, const char *key, size_t len, const char *what)
{
	const char *whole = vpa_arena_printf(&out->arena, "%.*s%s", (int)len, key, what);

	return whole ? vpa_meta_of_key(out, whole) : NULL;
}

/* The length of "model.NAME" where the key is that of a network's parameters; 0: it is another one. */
static size_t model_of(const char *key)
{
	size_t len = strlen(key), end = sizeof(suffix) - 1;

	if (len < sizeof(prefix) - 1 + end || strncmp(key, prefix, sizeof(prefix) - 1) != 0 ||
		strcmp(key + len - end, suffix) != 0)
		return 0;
	len -= end;
	return len == sizeof(prefix) - 1 || key[sizeof(prefix) - 1] == '.' ? len : 0;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_model_size *a = pa, *b = pb;

	if (a->parameters != b->parameters)
		return a->parameters > b->parameters ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int add(struct vpa_report *out, const char *key, size_t len, uint64_t parameters)
{
	struct vpa_model_size *row = &out->said.models[out->said.model_count];
	size_t skipped = len > sizeof(prefix) - 1 ? sizeof(prefix) : 0; /* the point too */

	*row = (struct vpa_model_size){
		.name = vpa_arena_text(&out->arena, key + skipped, len - skipped),
		.parameters = parameters,
		.bytes = number_of(fact_of(out, key, len, ".bytes")),
		.dtypes = fact_of(out, key, len, ".dtypes"),
		.stage = fact_of(out, key, len, ".stage")};
	out->said.model_count++;
	return row->name ? VPT_OK : VPT_ENOMEM;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	size_t i, len;
	int rc = VPT_OK;

	(void)state;
	(void)c;
	out->said.models =
		vpa_arena_alloc(&out->arena, out->meta_count + 1, sizeof(*out->said.models));
	if (!out->said.models)
		return VPT_ENOMEM;
	for (i = 0; i < out->meta_count && !rc; i++) {
		const struct vpa_pair *fact = &out->meta[i];
		uint64_t parameters = number_of(fact->value);

		len = fact->key ? model_of(fact->key) : 0;
		/* The newest value of a key counts. */
		if (len && parameters != UINT64_MAX &&
			vpa_meta_of_key(out, fact->key) == fact->value)
			rc = add(out, fact->key, len, parameters);
	}
	qsort(out->said.models, out->said.model_count, sizeof(*out->said.models), compare_rows);
	return rc;
}

const struct vpa_fold vpa_fold_models = {
	.name = "models",
	.help = "the networks that the program gave: parameters, bytes, types",
	.state_bytes = 1,
	.finish = finish,
};
