/* nsight.c - Nsight Systems' SQLite exports.
 *
 * The export is a set of tables that grew over the years: newer versions have more columns, and a
 * table exists only if the tool had rows for it. So a list of fields describes each table, and one
 * function turns a row's cells into a row of ours; an absent cell reads as its default. This file
 * has the tables of texts and the order of reading; nsight_import.h has the others.
 *
 * Left out: CPU samples, OS calls, names of processes and streams. */
#include "formats/import/nsight/nsight_import.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char magic[16] = "SQLite format 3";

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

/* Prefers the symbol to the label, which is prose. */
static int word_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_text text = cell[1].text.len ? cell[1].text : cell[2].text;

	return vpt_nsight_names_add(ctx, 0, cell[0].number, text.text, text.len);
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

/* The table names every thread of the machine; only threads with rows are needed. */
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
		name, fields, COUNT(fields), 0, row, NULL                                          \
	}

static const struct vpt_nsight_table strings = TABLE("StringIds", string_fields, string_row);
static const struct vpt_nsight_table thread_names = TABLE("ThreadNames", thread_fields, thread_row);

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

static int read_each(struct vpt_nsight *im, struct vpt_nsight_db *db,
	const struct vpt_nsight_table *table, struct vpt_err *err)
{
	int rc = VPT_OK;

	for (; !rc && table->name; table++)
		rc = vpt_nsight_scan(db, table, im, err);
	return rc;
}

static int read_tables(struct vpt_nsight *im, struct vpt_nsight_db *db, struct vpt_err *err)
{
	int rc = read_texts(im, db, err);

	if (!rc)
		rc = read_each(im, db, vpt_nsight_session, err);
	if (!rc)
		rc = vpt_nsight_scan(db, &vpt_nsight_nvtx_domains, im, err);
	vpt_nsight_names_sort(&im->domains);
	if (!rc)
		rc = read_each(im, db, vpt_nsight_tables, err);
	if (!rc)
		rc = read_each(im, db, vpt_nsight_lifetimes, err);
	if (!rc)
		rc = read_each(im, db, vpt_nsight_metrics, err);
	if (!rc)
		rc = vpt_nsight_scan(db, &vpt_nsight_nvtx, im, err);
	if (rc)
		return rc;
	vpt_nsight_put_unmatched(im);
	vpt_nsight_put_losses(im);
	vpt_nsight_put_meta(im);
	if (im->thread_count)
		qsort(im->threads, im->thread_count, sizeof(*im->threads), compare_threads);
	return vpt_nsight_scan(db, &thread_names, im, err);
}

/* ---- the importer ---- */

static int has_one(struct vpt_nsight_db *db, const struct vpt_nsight_table *table)
{
	while (table->name && !vpt_nsight_has(db, table->name))
		table++;
	return table->name != NULL;
}

/* Whether the file has a table that only this tool writes. */
static int is_export(struct vpt_nsight_db *db)
{
	return has_one(db, vpt_nsight_tables) || has_one(db, vpt_nsight_session) ||
	       vpt_nsight_has(db, vpt_nsight_nvtx.name);
}

/* nvprof's databases have tables of the same names, with other columns. */
static int is_nvprof(struct vpt_nsight_db *db)
{
	return vpt_nsight_has(db, "StringTable") && !vpt_nsight_has(db, strings.name);
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
	if (is_nvprof(db)) {
		rc = vpt_fail(err, VPT_EDATA,
			"%s was made by nvprof, whose databases are not read: expected an export "
			"of Nsight Systems; record with nsys profile, then nsys export --type "
			"sqlite",
			src->name);
		goto out;
	}
	if (!is_export(db)) {
		rc = vpt_fail(err, VPT_EDATA,
			"%s is an SQLite database but not an Nsight Systems export: expected a "
			"table CUPTI_ACTIVITY_KIND_KERNEL or NVTX_EVENTS%s%s%s%s",
			src->name,
			vpt_nsight_is_view(db, "CUPTI_ACTIVITY_KIND_KERNEL") ||
					vpt_nsight_is_view(db, vpt_nsight_nvtx.name)
				? ", found views, which are not read"
				: "",
			vpt_nsight_damage(db) ? "; found damage in " : "",
			vpt_nsight_damage(db) ? vpt_nsight_damage(db) : "",
			vpt_nsight_damage(db) ? "; " VPT_NSIGHT_AGAIN : "");
		goto out;
	}
	vpt_collect_times_are_exact(c);
	rc = read_tables(im, db, err);
	if (!rc && !im->rows && vpt_nsight_damage(db))
		rc = vpt_fail(err, VPT_EDATA,
			"expected readable tables, found damage in %s; " VPT_NSIGHT_AGAIN,
			vpt_nsight_damage(db));
	if (!rc && im->utc_ns)
		vpt_collect_realtime(c, (uint64_t)im->utc_ns);
out:
	vpt_nsight_close(db);
	vpt_nsight_free(im);
	return rc;
}

const struct vpt_importer vpt_import_nsight = {
	.name = "nsight",
	.help = "Nsight Systems (nsys export --type sqlite)",
	.probe = probe,
	.read = read_export,
};
