/* job_facts.c - what tells the captures of a job's ranks apart, and what may be set differently
 * for some of them. */
#include "tracer/capture/capture_state.h"

#include "formats/base/count.h"
#include "tracer/capture/capture.h"
#include "tracer/guest/environment.h"
#include "tracer/guest/system_file.h"
#include "tracer/settings/rank.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES_MAX = 128, NAME_MAX_BYTES = 64, VALUE_MAX_BYTES = 256 };

static void put_number(struct vtr_capture *c, enum vpt_metadata fact, long number)
{
	char text[24];

	if (number < 0)
		return;
	snprintf(text, sizeof(text), "%ld", number);
	vtr_capture_fact(c, fact, text);
}

/* "NAME=value" as the fact "env.NAME", if it is one of NCCL's. */
static int put_variable(struct vtr_capture *c, const char *variable)
{
	static const char *const prefixes[] = {"NCCL_", "TORCH_NCCL_"};
	size_t name = strcspn(variable, "="), i;
	char key[NAME_MAX_BYTES + 8], value[VALUE_MAX_BYTES + 1];

	for (i = 0; i < COUNT(prefixes); i++)
		if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
			break;
	if (i == COUNT(prefixes) || !variable[name] || name > NAME_MAX_BYTES)
		return 0;
	snprintf(key, sizeof(key), VPT_METADATA_ENV "%.*s", (int)name, variable);
	snprintf(value, sizeof(value), "%s", variable + name + 1);
	vtr_capture_meta(c, key, value);
	return 1;
}

static void put_variables(struct vtr_capture *c)
{
	char **v;
	int count = 0;

	for (v = vtr_environment_trusted() ? environ : NULL; v && *v && count < VARIABLES_MAX; v++)
		count += put_variable(c, *v);
}

void vtr_job_facts(struct vtr_capture *c)
{
	struct vtr_place place;
	char job[VTR_JOB_MAX], boot[64];

	vtr_place(&place);
	put_number(c, VPT_METADATA_WORLD_SIZE, place.world);
	put_number(c, VPT_METADATA_LOCAL_RANK, place.local_rank);
	put_number(c, VPT_METADATA_LOCAL_WORLD_SIZE, place.local_world);
	put_number(c, VPT_METADATA_NODE_RANK, place.node);
	if (vtr_job(job))
		vtr_capture_fact(c, VPT_METADATA_JOB, job);
	if (vtr_environment("TORCHELASTIC_RESTART_COUNT"))
		vtr_capture_fact(c, VPT_METADATA_JOB_RESTARTS,
			vtr_environment("TORCHELASTIC_RESTART_COUNT"));
	if (vtr_system_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)))
		vtr_capture_fact(c, VPT_METADATA_BOOT_ID, boot);
	put_variables(c);
}
