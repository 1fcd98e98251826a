/* fields_system.c - where the trace was recorded: GPUs, and the run's metadata.
 *
 * Facts that every tool records have a key of their own, whatever the tool calls them. The other pairs
 * are versions, or tags if their key has the prefix "tag.". */
#include "analysis/render/fields/fields.h"

#include "analysis/model/gpu_arch.h"
#include "analysis/render/fields/run_tags.h"

#include "formats/base/count.h"
#include "formats/chunk/strings.h"

#include <stdio.h>
#include <string.h>

/* ---- GPUs ---- */

static const char *capability(const struct vpa_at *at, size_t offset, char bytes[VPA_FIELD_BYTES])
{
	const struct vpa_gpu *g = at->row;

	(void)offset;
	if (!g->compute_major || vpa_gpu_is_amd(g))
		return NULL;
	/* Two unsigned numbers: independent of the locale. */
	snprintf(bytes, VPA_FIELD_BYTES, "%u.%u", g->compute_major, g->compute_minor);
	return bytes;
}

#define ROW struct vpa_gpu
static const struct vpa_field gpu_fields[] = {
	{"device", GPU(device), "id", "CUDA's device number"},
	{"name", TEXT(name), NULL, "the model"},
	{"uuid", TEXT(uuid), NULL, "UUID; empty: not recorded"},
	{"pci", TEXT(pci), NULL, "PCI bus id; empty: not recorded"},
	{"compute_capability", COMPUTED(TEXT), NULL,
		"compute capability, such as \"9.0\"; null: not known or not NVIDIA's",
		.null = VPA_NULL_TEXT, .text = capability, .undone = VPA_UNDONE_CAPABILITY},
	{"sm_count", KNOWN_COUNT(sm_count), "count", "multiprocessors; null: not known"},
	{"memory_bytes", KNOWN(memory_bytes), "bytes", "device memory; null: not known"},
	{"simulated", FLAG(simulated), NULL, "no GPU: a stand-in made up its times"},
};
static TABLE(gpu, "gpu", "a GPU of the machine", gpu_fields);
#undef ROW

/* ---- metadata ---- */

enum fact { FACT_HOST, FACT_COMMAND, FACT_DRIVER, FACT_CUPTI, FACT_RANK, FACTS };

/* The tools' names for them, best first. */
static const enum vpt_metadata fact_names[FACTS][3] = {
	[FACT_HOST] = {VPT_METADATA_HOST},
	[FACT_COMMAND] = {VPT_METADATA_COMMAND},
	[FACT_DRIVER] = {VPT_METADATA_CUDA_DRIVER, VPT_METADATA_DRIVER,
		VPT_METADATA_DRIVER_VERSION},
	[FACT_CUPTI] = {VPT_METADATA_CUPTI, VPT_METADATA_CUPTI_VERSION},
	[FACT_RANK] = {VPT_METADATA_RANK},
};

/* The name of a fact here; VPT_METADATA_NONE: not recorded. */
static enum vpt_metadata fact_name(const struct vpa_report *r, enum fact fact)
{
	size_t name;

	for (name = 0; name < COUNT(fact_names[0]) && fact_names[fact][name]; name++)
		if (vpa_meta(r, fact_names[fact][name]))
			return fact_names[fact][name];
	return VPT_METADATA_NONE;
}

static const char *fact_text(const struct vpa_at *at, size_t fact, char bytes[VPA_FIELD_BYTES])
{
	(void)bytes;
	return vpa_meta(at->report, fact_name(at->report, (enum fact)fact));
}

static int is_fact(const enum vpt_metadata names[FACTS], const char *key)
{
	unsigned fact;

	for (fact = 0; fact < FACTS; fact++)
		if (names[fact] && !strcmp(vpt_metadata_key(names[fact]), key))
			return 1;
	return 0;
}

const char *vpa_system_key(const struct vpa_field *f)
{
	return vpt_metadata_key(fact_names[f->offset][0]);
}

int vpa_system_has(const char *key)
{
	size_t fact, name;

	for (fact = 0; fact < FACTS; fact++)
		for (name = 0; name < COUNT(fact_names[0]) && fact_names[fact][name]; name++)
			if (!strcmp(vpt_metadata_key(fact_names[fact][name]), key))
				return 1;
	return 0;
}

/* Writes the pairs without a key of their own: with `tags` those with the prefix, else the others. Only
 * the first pair of each key, so that no key is repeated. */
static int put_pairs(const struct vpa_report *r, struct vpt_json *j, int tags)
{
	struct vpt_strings seen = {0};
	enum vpt_metadata names[FACTS];
	unsigned fact;
	int rc = VPT_OK;
	size_t i;

	for (fact = 0; fact < FACTS; fact++)
		names[fact] = fact_name(r, (enum fact)fact);
	for (i = 0; i < r->meta_count && !rc; i++) {
		const struct vpa_pair *p = &r->meta[i];
		size_t before = seen.count;

		if (!p->key || (vpa_tag_of(p->key) != NULL) != tags || is_fact(names, p->key))
			continue;
		if (vpt_strings_put(&seen, p->key, strlen(p->key)) == VPT_NO_ID)
			rc = VPT_ENOMEM;
		else if (seen.count > before)
			vpt_json_string(j, tags ? vpa_tag_of(p->key) : p->key, p->value);
	}
	vpt_strings_free(&seen);
	return rc;
}

static int put_versions(const struct vpa_at *at, struct vpt_json *j)
{
	return put_pairs(at->report, j, 0);
}

static int put_tags(const struct vpa_at *at, struct vpt_json *j)
{
	return put_pairs(at->report, j, 1);
}

#define FACT(type_, fact)                                                                          \
	.type = VPA_FIELD_##type_, .null = VPA_NULL_TEXT, .text = fact_text, .offset = FACT_##fact

#define ROW struct vpa_report
static const struct vpa_field system_fields[] = {
	{"host", FACT(TEXT, HOST), NULL, "name of the machine; null: not recorded"},
	{"command", FACT(TEXT, COMMAND), NULL, "command line of the program; null: not recorded"},
	{"gpus", ROWS(gpu, gpus, gpu_count), NULL, "GPUs of the machine"},
	{"driver", FACT(TEXT, DRIVER), NULL, "version of the CUDA driver; null: not recorded"},
	{"cupti", FACT(TEXT, CUPTI), NULL, "version of CUPTI; null: not recorded"},
	{"versions", COMPUTED(MAP), NULL, "all other metadata of the capture, by its key",
		.put = put_versions},
	{"rank", FACT(ID, RANK), NULL, "rank of the process in a distributed run; null: none"},
	{"tags", COMPUTED(MAP), NULL, "tags that the program gave the capture", .put = put_tags,
		.prefix = VPT_METADATA_TAG},
};
TABLE(vpa_fields_system, "system", "where the trace was recorded", system_fields);
#undef ROW
