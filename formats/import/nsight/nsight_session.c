/* nsight_session.c - the tables of an export that describe the session: its start, the program, the
 * machine, the GPUs. */
#include "formats/base/count.h"
#include "formats/import/nsight/nsight_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the session ---- */

static void copy_text(char *to, size_t size, struct vpt_text text)
{
	size_t len = text.len < size ? text.len : size - 1;

	memcpy(to, text.text, len);
	to[len] = '\0';
}

static int begins(struct vpt_text text, const char *word)
{
	return text.len >= strlen(word) && !memcmp(text.text, word, strlen(word));
}

static const struct vpt_nsight_field session_fields[] = {
	{"utcEpochNs", VPT_CELL_COUNT, VPT_NEEDED, 0},
};

static int session_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;

	im->utc_ns = cell[0].number;
	return VPT_OK;
}

static const struct vpt_nsight_field pair_fields[] = {
	{"name", VPT_CELL_TEXT, VPT_NEEDED, 0},
	{"value", VPT_CELL_TEXT, VPT_NEEDED, 0},
};

static int pair_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_text name = cell[0].text, value = cell[1].text;
	size_t used = strlen(im->command);

	if (vpt_text_is(name, "EXPORT_PRODUCT_VERSION"))
		copy_text(im->version, sizeof(im->version), value);
	else if (vpt_text_is(name, "Hostname") ||
		 (vpt_text_is(name, "DEVICE_DISPLAY_NAME") && !im->host[0]))
		copy_text(im->host, sizeof(im->host), value);
	else if (vpt_text_is(name, "PROCESS_0:COMMAND") && !used)
		copy_text(im->command, sizeof(im->command), value);
	else if (begins(name, "PROCESS_0:ARGUMENT_") && used && used + 2 < sizeof(im->command)) {
		im->command[used] = ' ';
		copy_text(im->command + used + 1, sizeof(im->command) - used - 1, value);
	}
	return VPT_OK;
}

void vpt_nsight_put_meta(struct vpt_nsight *im)
{
	char text[100];

	snprintf(text, sizeof(text), "Nsight Systems%s%s", im->version[0] ? " " : "", im->version);
	vpt_collect_fact(im->out, VPT_METADATA_SOURCE, text);
	if (im->host[0])
		vpt_collect_fact(im->out, VPT_METADATA_HOST, im->host);
	if (im->command[0])
		vpt_collect_fact(im->out, VPT_METADATA_COMMAND, im->command);
	if (im->graphs) {
		snprintf(text, sizeof(text), "%" PRIu64, im->graphs);
		vpt_collect_fact(im->out, VPT_METADATA_GRAPHS_WHOLE, text);
	}
	if (im->unnamed) {
		snprintf(text, sizeof(text), "%" PRIu64, im->unnamed);
		vpt_collect_fact(im->out, VPT_METADATA_EVENTS_UNNAMED, text);
	}
	if (im->diagnostic[0])
		vpt_collect_fact(im->out,
			im->severity > 1 ? VPT_METADATA_TOOL_WARNING : VPT_METADATA_TOOL_DOUBT,
			im->diagnostic);
}

/* ---- devices ---- */

enum { O_GPU, O_CUDA, O_PID, O_UUID };

static const struct vpt_nsight_field ordinal_fields[] = {
	[O_GPU] = {"gpuId", VPT_CELL_COUNT, VPT_NEEDED, 0},
	[O_CUDA] = {"cudaId", VPT_CELL_COUNT, VPT_NEEDED, 0},
	[O_PID] = {"pid", VPT_CELL_COUNT, VPT_OPTIONAL, -1},
	[O_UUID] = {"uuid", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
};

/* A GPU may have different CUDA ordinals in different processes. */
static int ordinal_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	size_t i;

	for (i = 0; i < im->ordinal_count; i++)
		if (im->ordinals[i].gpu == cell[O_GPU].number &&
			im->ordinals[i].ordinal == cell[O_CUDA].number &&
			im->ordinals[i].pid == cell[O_PID].number)
			return VPT_OK;
	if (i == VPT_NSIGHT_ORDINALS_MAX)
		return VPT_OK;
	im->ordinals[i].gpu = cell[O_GPU].number;
	im->ordinals[i].ordinal = cell[O_CUDA].number;
	im->ordinals[i].pid = cell[O_PID].number;
	copy_text(im->ordinals[i].uuid, sizeof(im->ordinals[i].uuid), cell[O_UUID].text);
	im->ordinal_count++;
	return VPT_OK;
}

enum {
	G_ID,
	G_CUDA,
	G_NAME,
	G_UUID,
	G_PCI,
	G_MEMORY,
	G_SMS,
	G_SHARED,
	G_REGISTERS,
	G_WARP,
	G_WARPS,
	G_MAJOR,
	G_MINOR
};

static const struct vpt_nsight_field gpu_fields[] = {
	[G_ID] = {"id", VPT_CELL_COUNT, VPT_NEEDED, 0},
	[G_CUDA] = {"cuDevice", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_NAME] = {"name", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
	[G_UUID] = {"uuid", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
	[G_PCI] = {"busLocation", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
	[G_MEMORY] = {"totalMemory", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_SMS] = {"smCount", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_SHARED] = {"maxShmemPerSm", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_REGISTERS] = {"maxRegistersPerSm", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_WARP] = {"threadsPerWarp", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_WARPS] = {"maxWarpsPerSm", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_MAJOR] = {"computeMajor", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[G_MINOR] = {"computeMinor", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
};

/* The tool writes the bare number; CUDA's tools prefix it with "GPU-". */
static uint64_t put_uuid(struct vpt_nsight *im, struct vpt_text uuid)
{
	char text[80] = "GPU-";

	if (!uuid.len || begins(uuid, "GPU-"))
		return vpt_nsight_text(im, uuid);
	copy_text(text + 4, sizeof(text) - 4, uuid);
	return vpt_nsight_text(im, vpt_text_from(text));
}

static int gpu_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_device row = {.sm_count = (uint64_t)cell[G_SMS].number,
		.sm_threads = (uint64_t)cell[G_WARP].number * (uint64_t)cell[G_WARPS].number,
		.sm_registers = (uint64_t)cell[G_REGISTERS].number,
		.sm_shared = (uint64_t)cell[G_SHARED].number,
		.memory_bytes = (uint64_t)cell[G_MEMORY].number,
		.compute_major = (uint64_t)cell[G_MAJOR].number,
		.compute_minor = (uint64_t)cell[G_MINOR].number};
	size_t i, put = 0;

	if (im->gpu_count++ >= VPT_NSIGHT_GPUS_MAX)
		return VPT_OK;
	row.name = vpt_nsight_text(im, cell[G_NAME].text);
	row.pci = vpt_nsight_text(im, cell[G_PCI].text);
	for (i = 0; i < im->ordinal_count; i++) {
		const char *uuid = im->ordinals[i].uuid;

		if (im->ordinals[i].gpu != cell[G_ID].number)
			continue;
		row.uuid = put_uuid(
			im, cell[G_UUID].text.len ? cell[G_UUID].text : vpt_text_from(uuid));
		row.device = (uint64_t)im->ordinals[i].ordinal;
		vpt_collect_device(im->out, im->ordinals[i].pid, &row);
		put++;
	}
	/* If the file says which GPUs are CUDA devices, a GPU that is not one was not used. */
	if (!put && !im->ordinal_count) {
		row.uuid = put_uuid(im, cell[G_UUID].text);
		row.device = (uint64_t)cell[cell[G_CUDA].known ? G_CUDA : G_ID].number;
		vpt_collect_device(im->out, -1, &row);
	}
	return VPT_OK;
}

/* ---- the tables ---- */

#define TABLE(name, fields, row)                                                                   \
	{                                                                                          \
		name, fields, COUNT(fields), 0, row, NULL                                          \
	}

const struct vpt_nsight_table vpt_nsight_session[] = {
	TABLE("TARGET_INFO_SESSION_START_TIME", session_fields, session_row),
	TABLE("META_DATA_EXPORT", pair_fields, pair_row),
	TABLE("META_DATA_CAPTURE", pair_fields, pair_row),
	TABLE("TARGET_INFO_SYSTEM_ENV", pair_fields, pair_row),
	TABLE("TARGET_INFO_CUDA_DEVICE", ordinal_fields, ordinal_row),
	TABLE("TARGET_INFO_GPU", gpu_fields, gpu_row),
	{0},
};
