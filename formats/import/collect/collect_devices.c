/* collect_devices.c - one number for each GPU of a foreign trace.
 *
 * A CUDA ordinal belongs to a process. So a GPU is (process, ordinal), until the UUIDs or PCI addresses of
 * DEVICE rows show that two are one. Its number is the ordinal; where another GPU has that already, the
 * smallest number that no process uses. */
#include "formats/import/collect/collect.h"

#include "formats/base/memory.h"
#include "formats/import/collect/collect_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONE SIZE_MAX

enum { GPUS_MAX = 256 }; /* beyond it ordinals stay as they are */

struct gpu {
	int64_t who, ordinal; /* who: a process, -1, or an unknown owner */
	int64_t number;
	size_t described; /* its DEVICE row, NONE: none */
	size_t same_as;   /* an earlier one that is the same GPU; NONE: none */
	size_t before;    /* GPUs before it with its ordinal */
};

struct numbering {
	struct vpt_collect *c;
	struct gpu *gpus;
	size_t count, cap;
	int clash; /* two have one ordinal */
};

static uint64_t *device_row(const struct vpt_collect *c, size_t i)
{
	return vpt_collect_row_at(c, VPT_DEVICE, i);
}

/* ---- which GPUs there are ---- */

/* Gives the lanes of owners their process. One that is not known is the only process that launches. */
static void place_owners(struct vpt_collect *c)
{
	size_t i;

	for (i = 0; i < c->lane_count; i++) {
		uint32_t owner = vpt_collect_owner_of(&c->lanes[i]);

		if (owner >= c->owner_count)
			continue;
		if (c->owners[owner] != -1 || c->launching == 1)
			c->lanes[i].pid = (uint64_t)c->owners[owner];
	}
}

static int has_device(const struct vpt_lane *lane)
{
	return (int64_t)lane->device >= 0 &&
	       (lane->lane_type == VPT_LANETYPE_STREAM ||
		       (lane->lane_type == VPT_LANETYPE_SERIES && (int64_t)lane->pid != -1));
}

static size_t find_gpu(const struct numbering *n, int64_t who, int64_t ordinal)
{
	size_t i;

	for (i = 0; i < n->count; i++)
		if (n->gpus[i].who == who && n->gpus[i].ordinal == ordinal)
			return i;
	return NONE;
}

/* Marks the lanes that have ops: what only waits on a lane does not make it a GPU's. */
static void mark_used(const struct vpt_collect *c, uint8_t kind, unsigned char *used)
{
	const struct vpt_collect_rows *rows = &c->kinds[kind];
	size_t width = 1 + (size_t)vpt_kind_desc(kind)->n_columns, i;

	for (i = 0; i < rows->count; i++)
		if (rows->values[i * width] <= c->lane_count)
			used[rows->values[i * width]] = 1;
}

static int add_gpu(struct numbering *n, struct gpu gpu)
{
	size_t k;

	for (k = 0; k < n->count; k++)
		gpu.before += n->gpus[k].ordinal == gpu.ordinal;
	n->clash |= gpu.before != 0;
	if (vpt_grow(&n->gpus, &n->cap, n->count + 1, sizeof(*n->gpus)))
		return VPT_ENOMEM;
	n->gpus[n->count++] = gpu;
	return VPT_OK;
}

static int list_gpus(struct numbering *n)
{
	const struct vpt_collect *c = n->c;
	unsigned char *used = vpt_calloc(c->lane_count + 1, 1);
	size_t i;
	int rc = used ? VPT_OK : VPT_ENOMEM;

	if (!rc) {
		mark_used(c, VPT_KERNEL, used);
		mark_used(c, VPT_COPY, used);
	}
	for (i = 0; !rc && i < c->lane_count && n->count < GPUS_MAX; i++) {
		struct gpu gpu = {.who = (int64_t)c->lanes[i].pid,
			.ordinal = (int64_t)c->lanes[i].device,
			.number = (int64_t)c->lanes[i].device,
			.described = NONE,
			.same_as = NONE};

		if (has_device(&c->lanes[i]) &&
			(used[i + 1] || c->lanes[i].lane_type == VPT_LANETYPE_SERIES) &&
			find_gpu(n, gpu.who, gpu.ordinal) == NONE)
			rc = add_gpu(n, gpu);
	}
	vpt_free(used);
	return rc;
}

/* ---- which are one ---- */

/* The row of this process for this ordinal. Rows of no process are in the order of the ranks, if they have
 * one number again and again. */
static size_t describe(const struct numbering *n, const struct gpu *gpu)
{
	const struct vpt_collect_rows *rows = &n->c->kinds[VPT_DEVICE];
	size_t i, common = NONE, skip = gpu->before;

	for (i = 0; i < rows->count; i++) {
		const uint64_t *row = device_row(n->c, i);

		if ((int64_t)row[1 + VPT_DEVICE_DEVICE] != gpu->ordinal)
			continue;
		if ((int64_t)row[0] == gpu->who && gpu->who != -1)
			return i;
		if ((int64_t)row[0] == -1 && (common == NONE || skip)) {
			skip -= common != NONE;
			common = i;
		}
	}
	return common;
}

static int are_one(const struct numbering *n, const struct gpu *a, const struct gpu *b)
{
	static const unsigned columns[] = {VPT_DEVICE_UUID, VPT_DEVICE_PCI};
	const uint64_t *row_a, *row_b;
	size_t i;

	if (a->described == NONE || b->described == NONE)
		return 0;
	row_a = device_row(n->c, a->described);
	row_b = device_row(n->c, b->described);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		uint64_t id = row_a[1 + columns[i]];

		/* A row of no process is not known to be about this one. */
		if (id && (int64_t)row_a[0] != -1 && (int64_t)row_b[0] != -1)
			return id == row_b[1 + columns[i]];
	}
	return 0;
}

static int is_taken(const struct numbering *n, int64_t number, size_t until)
{
	size_t i;

	for (i = 0; i < n->count; i++)
		if (n->gpus[i].ordinal == number || (i < until && n->gpus[i].number == number))
			return 1;
	return 0;
}

static void number_gpus(struct numbering *n)
{
	size_t i, k;
	int64_t next = 0;

	for (i = 0; i < n->count; i++) {
		struct gpu *gpu = &n->gpus[i];
		int is_first = 1;

		gpu->described = describe(n, gpu);
		for (k = 0; k < i && gpu->same_as == NONE; k++) {
			if (n->gpus[k].same_as == NONE && are_one(n, &n->gpus[k], gpu))
				gpu->same_as = k;
			is_first &= n->gpus[k].number != gpu->ordinal;
		}
		if (gpu->same_as != NONE) {
			gpu->number = n->gpus[gpu->same_as].number;
		} else if (!is_first) {
			while (is_taken(n, next, i))
				next++;
			gpu->number = next;
		}
	}
}

/* ---- the result ---- */

/* The name of a process: text of META "process.PID"; len 0: it has none. */
static struct vpt_text name_of(const struct vpt_collect *c, int64_t pid)
{
	const struct vpt_collect_rows *rows = &c->kinds[VPT_META];
	char key[40];
	size_t i;

	snprintf(key, sizeof(key), "process.%" PRId64, pid);
	for (i = 0; i < rows->count; i++) {
		const uint64_t *row = rows->values + i * (1 + (size_t)VPT_META_COLUMNS);

		if (vpt_text_is(vpt_strings_get(&c->strings, row[1 + VPT_META_KEY]), key))
			return vpt_strings_get(&c->strings, row[1 + VPT_META_VALUE]);
	}
	return (struct vpt_text){"", 0};
}

/* "200 (name)", or only the name if the number was made up. */
static void describe_process(const struct numbering *n, int64_t who, char *out, size_t size)
{
	enum { SHORT = 40 };
	struct vpt_text name = name_of(n->c, who);
	int len = (int)(name.len < SHORT ? name.len : SHORT);

	if (who < 0)
		snprintf(out, size, "another process");
	else if (!len)
		snprintf(out, size, "process %" PRId64, who);
	else if (who > VPT_COLLECT_PID_MAX)
		snprintf(out, size, "process %.*s", len, name.text);
	else
		snprintf(out, size, "process %" PRId64 " (%.*s)", who, len, name.text);
}

/* "GPU 1 is GPU 0 of process 200 (name)", for each that has another number than its process gives it. */
static void say_numbers(struct numbering *n)
{
	char text[400], process[80];
	size_t i, used = 0;

	for (i = 0; i < n->count && used < sizeof(text) - 160; i++) {
		const struct gpu *gpu = &n->gpus[i];

		if (gpu->number == gpu->ordinal)
			continue;
		describe_process(n, gpu->who, process, sizeof(process));
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"%sGPU %" PRId64 " is GPU %" PRId64 " of %s", used ? ", " : "", gpu->number,
			gpu->ordinal, process);
	}
	if (used)
		vpt_collect_fact(n->c, VPT_METADATA_PROCESSES_GPUS, text);
}

/* A copy's other device has the number that the copy's process gives it. */
static void renumber_peers(struct numbering *n)
{
	const struct vpt_collect_rows *rows = &n->c->kinds[VPT_COPY];
	size_t i;

	for (i = 0; i < rows->count; i++) {
		uint64_t *row = rows->values + i * (1 + (size_t)VPT_COPY_COLUMNS);
		uint64_t *peer = &row[1 + VPT_COPY_PEER];
		size_t gpu = *peer && row[0] && row[0] <= n->c->lane_count
				     ? find_gpu(n, (int64_t)n->c->lanes[row[0] - 1].pid,
					       (int64_t)(*peer - 1))
				     : NONE;

		if (gpu != NONE)
			*peer = (uint64_t)n->gpus[gpu].number + 1;
	}
}

static void renumber_lanes(struct numbering *n)
{
	size_t i;

	for (i = 0; i < n->c->lane_count; i++) {
		struct vpt_lane *lane = &n->c->lanes[i];
		size_t gpu = has_device(lane)
				     ? find_gpu(n, (int64_t)lane->pid, (int64_t)lane->device)
				     : NONE;

		if (gpu != NONE)
			lane->device = (uint64_t)n->gpus[gpu].number;
	}
}

/* Keeps one row for each GPU; of others, that no lane uses, the first of each number. */
static int renumber_rows(struct numbering *n)
{
	struct vpt_collect_rows *rows = &n->c->kinds[VPT_DEVICE];
	struct vpt_collect_rows old = *rows;
	size_t width = 1 + (size_t)VPT_DEVICE_COLUMNS, i, k;

	*rows = (struct vpt_collect_rows){0};
	for (i = 0; i < n->count; i++) {
		struct vpt_device row;

		if (n->gpus[i].same_as != NONE || n->gpus[i].described == NONE)
			continue;
		memcpy(&row, old.values + n->gpus[i].described * width + 1, sizeof(row));
		row.device = (uint64_t)n->gpus[i].number;
		vpt_collect_put(n->c, VPT_DEVICE, 0, &row);
	}
	for (i = 0; i < old.count; i++) {
		const uint64_t *row = old.values + i * width;
		int is_known = is_taken(n, (int64_t)row[1 + VPT_DEVICE_DEVICE], n->count);

		for (k = 0; k < rows->count && !is_known; k++)
			is_known = rows->values[k * width + 1 + VPT_DEVICE_DEVICE] ==
				   row[1 + VPT_DEVICE_DEVICE];
		if (!is_known && rows->count < GPUS_MAX)
			vpt_collect_put(n->c, VPT_DEVICE, 0, row + 1);
	}
	vpt_free(old.values);
	return n->c->failed;
}

/* Neither an owner nor the process of a series is a column's value. */
static void clean(struct vpt_collect *c)
{
	size_t i;

	for (i = 0; i < c->lane_count; i++)
		if ((int64_t)c->lanes[i].pid < -1 || c->lanes[i].lane_type == VPT_LANETYPE_SERIES)
			if (c->lanes[i].lane_type != VPT_LANETYPE_THREAD)
				c->lanes[i].pid = (uint64_t)-1;
	for (i = 0; i < c->kinds[VPT_DEVICE].count; i++)
		device_row(c, i)[0] = 0;
}

/* Whether some rows are of a process: several may then describe one GPU, or another of its number. */
static int describes_processes(struct vpt_collect *c)
{
	size_t i;

	for (i = 0; i < c->kinds[VPT_DEVICE].count; i++)
		if ((int64_t)device_row(c, i)[0] != -1)
			return 1;
	return 0;
}

int vpt_collect_number_devices(struct vpt_collect *c)
{
	struct numbering n = {.c = c};
	int rc;

	place_owners(c);
	rc = c->gpus_are_numbered ? VPT_OK : list_gpus(&n);
	if (!rc && (n.clash || (!c->gpus_are_numbered && describes_processes(c)))) {
		number_gpus(&n);
		say_numbers(&n);
		renumber_peers(&n);
		renumber_lanes(&n);
		rc = renumber_rows(&n);
	}
	clean(c);
	vpt_free(n.gpus);
	return rc ? rc : c->failed;
}
