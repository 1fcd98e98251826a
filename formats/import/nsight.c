/* nsight.c - Nsight Systems' SQLite exports.
 *
 * The export is a set of tables that grew over the years: later ones have more columns, and a table
 * is only there if the tool had something to put into it. So every table is described by a list of
 * fields and read by one function that turns a row's cells into a row of ours; what is absent reads
 * as a default. Here stand the tables that describe the session, and the order of reading; events
 * are in nsight_rows.c, nsight_nvtx.c and nsight_objects.c.
 *
 * Left out: CPU samples, OS calls, GPU metrics, names of processes and streams. */
#include "formats/import/nsight.h"

#include "formats/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char magic[16] = "SQLite format 3";

/* ---- shared by the row functions ---- */

int64_t vpt_nsight_pid(int64_t global)
{
	return global == -1 ? -1 : (int64_t)((uint64_t)global >> 24 & 0xffffff);
}

int vpt_nsight_thread(struct vpt_nsight *im, int64_t global, uint64_t *lane)
{
	size_t at = ((uint64_t)global ^ (uint64_t)global >> 24) % VPT_NSIGHT_THREAD_CACHE;
	struct vpt_nsight_thread *slot = &im->cache[at];

	if (!slot->lane || slot->id != global) {
		if (vpt_grow(&im->threads, &im->thread_cap, im->thread_count + 1,
			    sizeof(*im->threads)))
			return VPT_ENOMEM;
		slot->id = global;
		slot->lane = vpt_collect_thread(
			im->out, vpt_nsight_pid(global), global == -1 ? -1 : global & 0xffffff);
		im->threads[im->thread_count++] = *slot;
	}
	*lane = slot->lane;
	return VPT_OK;
}

void vpt_nsight_note(struct vpt_nsight *im, int64_t end_ns)
{
	if ((uint64_t)end_ns > im->last_ns)
		im->last_ns = (uint64_t)end_ns;
	im->rows++;
}

struct vpt_nsight_name *vpt_nsight_find_string(struct vpt_nsight *im, const struct vpt_cell *id)
{
	return id->known ? vpt_nsight_names_find(&im->strings, 0, id->number) : NULL;
}

uint64_t vpt_nsight_text(struct vpt_nsight *im, struct vpt_text text)
{
	im->stats->bad_text += (uint64_t)!vpt_nsight_clean(text);
	return vpt_collect_string(im->out, text.text, text.len);
}

uint64_t vpt_nsight_string(struct vpt_nsight *im, struct vpt_nsight_name *name)
{
	if (name->string == UINT64_MAX)
		name->string = vpt_nsight_text(im, vpt_nsight_name_text(&im->strings, name));
	return name->string;
}

/* ---- texts by number ---- */

static const struct vpt_nsight_field string_fields[] = {
	{"id", VPT_CELL_BITS, VPT_NEEDED, 0},
	{"value", VPT_CELL_TEXT, VPT_NEEDED, 0},
};

static int string_row(void *ctx, const struct vpt_cell *cell)
{
	return vpt_nsight_names_add(ctx, 0, cell[0].number, cell[1].text.text, cell[1].text.len);
}

static const struct vpt_nsight_field word_fields[] = {
	{"id", VPT_CELL_BITS, VPT_NEEDED, 0},
	{"name", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
	{"label", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
};

/* The symbol where there is one, since labels are prose. */
static int word_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_text text = cell[1].text.len ? cell[1].text : cell[2].text;

	return vpt_nsight_names_add(ctx, 0, cell[0].number, text.text, text.len);
}

/* ---- the session ---- */

static void copy_text(char *to, size_t size, struct vpt_text text)
{
	size_t len = text.len < size ? text.len : size - 1;

	memcpy(to, text.text, len);
	to[len] = '\0';
}

static int is(struct vpt_text text, const char *word)
{
	return text.len == strlen(word) && !memcmp(text.text, word, text.len);
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

	if (is(name, "EXPORT_PRODUCT_VERSION"))
		copy_text(im->version, sizeof(im->version), value);
	else if (is(name, "Hostname") || (is(name, "DEVICE_DISPLAY_NAME") && !im->host[0]))
		copy_text(im->host, sizeof(im->host), value);
	else if (is(name, "PROCESS_0:COMMAND") && !used)
		copy_text(im->command, sizeof(im->command), value);
	else if (begins(name, "PROCESS_0:ARGUMENT_") && used && used + 2 < sizeof(im->command)) {
		im->command[used] = ' ';
		copy_text(im->command + used + 1, sizeof(im->command) - used - 1, value);
	}
	return VPT_OK;
}

static void put_meta(struct vpt_nsight *im)
{
	char text[100];

	snprintf(text, sizeof(text), "Nsight Systems%s%s", im->version[0] ? " " : "", im->version);
	vpt_collect_meta(im->out, "source", text);
	if (im->host[0])
		vpt_collect_meta(im->out, "hostname", im->host);
	if (im->command[0])
		vpt_collect_meta(im->out, "command", im->command);
	if (im->graphs) {
		snprintf(text, sizeof(text),
			"%" PRIu64 " launches recorded as a whole, without their kernels",
			im->graphs);
		vpt_collect_meta(im->out, "cuda graphs", text);
	}
}

/* ---- devices ---- */

static const struct vpt_nsight_field ordinal_fields[] = {
	{"gpuId", VPT_CELL_COUNT, VPT_NEEDED, 0},
	{"cudaId", VPT_CELL_COUNT, VPT_NEEDED, 0},
};

/* A GPU may be different CUDA devices to different processes. */
static int ordinal_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	size_t i;

	for (i = 0; i < im->ordinal_count; i++)
		if (im->ordinals[i].gpu == cell[0].number &&
			im->ordinals[i].ordinal == cell[1].number)
			return VPT_OK;
	if (im->ordinal_count == VPT_NSIGHT_GPUS_MAX)
		return VPT_OK;
	im->ordinals[im->ordinal_count].gpu = cell[0].number;
	im->ordinals[im->ordinal_count++].ordinal = cell[1].number;
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

/* The tool writes the bare number where CUDA's tools write "GPU-" before it. */
static uint64_t put_uuid(struct vpt_nsight *im, struct vpt_text uuid)
{
	char text[80] = "GPU-";

	if (!uuid.len || begins(uuid, "GPU-"))
		return vpt_nsight_text(im, uuid);
	copy_text(text + 4, sizeof(text) - 4, uuid);
	return vpt_nsight_text(im, (struct vpt_text){text, strlen(text)});
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
	row.uuid = put_uuid(im, cell[G_UUID].text);
	row.pci = vpt_nsight_text(im, cell[G_PCI].text);
	for (i = 0; i < im->ordinal_count; i++) {
		if (im->ordinals[i].gpu != cell[G_ID].number)
			continue;
		row.device = (uint64_t)im->ordinals[i].ordinal;
		vpt_collect_put(im->out, VPT_DEVICE, 0, &row);
		put++;
	}
	/* Where the file knows which GPUs are CUDA devices, one that is none was not used. */
	if (!put && !im->ordinal_count) {
		row.device = (uint64_t)cell[cell[G_CUDA].known ? G_CUDA : G_ID].number;
		vpt_collect_put(im->out, VPT_DEVICE, 0, &row);
	}
	return VPT_OK;
}

/* ---- names of threads ---- */

static int compare_threads(const void *pa, const void *pb)
{
	const struct vpt_nsight_thread *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

static const struct vpt_nsight_field thread_fields[] = {
	{"globalTid", VPT_CELL_BITS, VPT_NEEDED, 0},
	{"nameId", VPT_CELL_BITS, VPT_NEEDED, 0},
};

/* The table names every thread of the machine; only those that did something are of interest. */
static int thread_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_nsight_name *name = vpt_nsight_find_string(im, &cell[1]);
	struct vpt_nsight_thread key = {.id = cell[0].number}, *found = NULL;

	if (name && im->thread_count)
		found = bsearch(&key, im->threads, im->thread_count, sizeof(key), compare_threads);
	if (found)
		vpt_collect_name_lane(im->out, found->lane, vpt_nsight_string(im, name));
	return VPT_OK;
}

/* ---- the order of reading ---- */

#define TABLE(name, fields, row)                                                                   \
	{                                                                                          \
		name, fields, COUNT(fields), 0, row                                                \
	}

static const struct vpt_nsight_table strings = TABLE("StringIds", string_fields, string_row);
static const struct vpt_nsight_table thread_names = TABLE("ThreadNames", thread_fields, thread_row);

static const struct vpt_nsight_table descriptions[] = {
	TABLE("TARGET_INFO_SESSION_START_TIME", session_fields, session_row),
	TABLE("META_DATA_EXPORT", pair_fields, pair_row),
	TABLE("META_DATA_CAPTURE", pair_fields, pair_row),
	TABLE("TARGET_INFO_SYSTEM_ENV", pair_fields, pair_row),
	TABLE("TARGET_INFO_CUDA_DEVICE", ordinal_fields, ordinal_row),
	TABLE("TARGET_INFO_GPU", gpu_fields, gpu_row),
};

static int read_texts(struct vpt_nsight *im, struct vpt_nsight_db *db, struct vpt_err *err)
{
	int rc = vpt_nsight_scan(db, &strings, &im->strings, err), set;

	vpt_nsight_names_sort(&im->strings);
	for (set = 0; !rc && set < VPT_NSIGHT_WORDS; set++) {
		struct vpt_nsight_table table = TABLE(
			vpt_nsight_words_table((enum vpt_nsight_words)set), word_fields, word_row);

		rc = vpt_nsight_scan(db, &table, &im->words[set], err);
		vpt_nsight_names_sort(&im->words[set]);
	}
	return rc;
}

static int read_tables(struct vpt_nsight *im, struct vpt_nsight_db *db, struct vpt_err *err)
{
	const struct vpt_nsight_table *table;
	int rc = read_texts(im, db, err);
	size_t i;

	for (i = 0; !rc && i < COUNT(descriptions); i++)
		rc = vpt_nsight_scan(db, &descriptions[i], im, err);
	if (!rc)
		rc = vpt_nsight_scan(db, &vpt_nsight_nvtx_domains, im, err);
	vpt_nsight_names_sort(&im->domains);
	for (table = vpt_nsight_tables; !rc && table->name; table++)
		rc = vpt_nsight_scan(db, table, im, err);
	for (table = vpt_nsight_objects; !rc && table->name; table++)
		rc = vpt_nsight_scan(db, table, im, err);
	if (!rc)
		rc = vpt_nsight_scan(db, &vpt_nsight_nvtx, im, err);
	if (rc)
		return rc;
	vpt_nsight_put_unmatched(im);
	vpt_nsight_put_losses(im);
	put_meta(im);
	if (im->thread_count)
		qsort(im->threads, im->thread_count, sizeof(*im->threads), compare_threads);
	return vpt_nsight_scan(db, &thread_names, im, err);
}

/* ---- the importer ---- */

/* Whether any table stands in the file that only this tool writes. */
static int is_export(struct vpt_nsight_db *db)
{
	const struct vpt_nsight_table *table;
	size_t i;

	for (table = vpt_nsight_tables; table->name; table++)
		if (vpt_nsight_has(db, table->name))
			return 1;
	for (i = 0; i < COUNT(descriptions); i++)
		if (vpt_nsight_has(db, descriptions[i].name))
			return 1;
	return vpt_nsight_has(db, vpt_nsight_nvtx.name);
}

static void free_import(struct vpt_nsight *im)
{
	int set;

	if (!im)
		return;
	vpt_nsight_names_free(&im->strings);
	for (set = 0; set < VPT_NSIGHT_WORDS; set++)
		vpt_nsight_names_free(&im->words[set]);
	vpt_nsight_names_free(&im->domains);
	vpt_free(im->threads);
	vpt_free(im->unmatched);
	vpt_free(im->losses);
	vpt_free(im);
}

static int probe(const unsigned char *head, size_t size)
{
	return size >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

static int read_export(struct vpt_source *src, struct vpt_collect *c,
	struct vpt_import_stats *stats, struct vpt_err *err)
{
	struct vpt_nsight_db *db = NULL;
	struct vpt_nsight *im;
	int rc;

	*stats = (struct vpt_import_stats){0};
	im = vpt_calloc(1, sizeof(*im));
	if (!im)
		return vpt_fail(err, VPT_ENOMEM, "no memory for an Nsight Systems import");
	im->out = c;
	im->stats = stats;
	rc = vpt_nsight_open(src, stats, &db, err);
	if (rc)
		goto out;
	if (!is_export(db)) {
		rc = vpt_fail(err, VPT_EDATA,
			"%s is an SQLite database but not an Nsight Systems export: expected a "
			"table "
			"CUPTI_ACTIVITY_KIND_KERNEL or NVTX_EVENTS%s%s%s",
			src->name,
			vpt_nsight_is_view(db, "CUPTI_ACTIVITY_KIND_KERNEL") ||
					vpt_nsight_is_view(db, vpt_nsight_nvtx.name)
				? ", found views, which are not read"
				: "",
			vpt_nsight_damage(db) ? "; found damage in " : "",
			vpt_nsight_damage(db) ? vpt_nsight_damage(db) : "");
		goto out;
	}
	rc = read_tables(im, db, err);
	if (!rc && !im->rows && vpt_nsight_damage(db))
		rc = vpt_fail(err, VPT_EDATA, "expected readable tables, found damage in %s",
			vpt_nsight_damage(db));
	if (!rc && im->utc_ns)
		vpt_collect_realtime(c, (uint64_t)im->utc_ns);
out:
	vpt_nsight_close(db);
	free_import(im);
	return rc;
}

const struct vpt_importer vpt_import_nsight = {
	.name = "nsight",
	.help = "Nsight Systems (nsys export --type sqlite)",
	.probe = probe,
	.read = read_export,
};
