/* test_import_nsight_damage.c - files that are no exports of Nsight Systems, damaged ones, what stands beside a
 * database, and a source that fails. */
#include "tests/import/nsight_rig.h"

#include <cmocka.h>

/* ---- files that are not what they claim ---- */

static void expect_refusal(const void *data, size_t size, int code, const char *words)
{
	struct loaded l;

	load(data, size, &l);
	assert_int_equal(l.rc, code);
	if (!strstr(l.err.text, words))
		fail_msg("expected '%s' in '%s'", words, l.err.text);
	vpt_collect_free(l.collect);
}

static void other_files_are_refused_in_words(void **state)
{
	unsigned char noise[4096];
	unsigned char *data;
	size_t size;

	(void)state;
	memset(noise, 0xa5, sizeof(noise));
	memcpy(noise, "SQLite format 3", 16);
	expect_refusal(noise, sizeof(noise), VPT_EDATA, "file is not a database");
	expect_refusal(noise, 50, VPT_EDATA, "SQLite database");
	expect_refusal(noise, 0, VPT_EDATA, "not an Nsight Systems export");
	data = build("CREATE TABLE recipes (id INTEGER, StringIds TEXT); CREATE VIEW NVTX_EVENTS "
		     "AS SELECT 1;",
		&size);
	expect_refusal(data, size, VPT_EDATA,
		"is an SQLite database but not an Nsight Systems export: expected a table "
		"CUPTI_ACTIVITY_KIND_KERNEL or NVTX_EVENTS");
	sqlite3_free(data);
	data = build("CREATE TABLE StringTable (_id_ INTEGER, value TEXT); CREATE TABLE "
		     "CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER, start INT, end INT);",
		&size);
	expect_refusal(data, size, VPT_EDATA, "was made by nvprof, whose databases are not read");
	sqlite3_free(data);
}

static void probe_knows_the_magic_alone(void **state)
{
	static const unsigned char head[16] = "SQLite format 3";

	(void)state;
	assert_true(vpt_import_nsight.probe(head, 16));
	assert_false(vpt_import_nsight.probe(head, 15));
	assert_false(vpt_import_nsight.probe((const unsigned char *)"{\"traceEvents\": 1", 17));
}

/* 10,000 kernels, then a table that comes later in the file. */
static unsigned char *build_long(size_t *size)
{
	return build(STRINGS OLD_KERNELS
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<10000) "
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i*10,i*10+5,0,1,7,i,1 FROM n;" NVTX
		"INSERT INTO NVTX_EVENTS (start,end,globalTid) VALUES (1,2,117440521);",
		size);
}

static void a_cut_file_gives_what_came_before_the_cut(void **state)
{
	size_t size, kernels;
	unsigned char *data = build_long(&size);
	struct loaded l;
	char words[200];

	(void)state;
	load(data, size / 2, &l);
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.stats.truncated, 1);
	kernels = count_rows(&l, VPT_KERNEL, -1, 0, 0);
	assert_in_range(kernels, 4000, 6000);
	vpt_collect_free(l.collect);

	/* Its schema is cut too. The header gives the length. */
	snprintf(words, sizeof(words),
		"expected an SQLite database of %zu bytes, as its header says, found 600: the file "
		"was cut; copy it again, or export it again with nsys export --type sqlite",
		size);
	expect_refusal(data, 600, VPT_EDATA, words);
	sqlite3_free(data);
}

/* Damaged beyond reading, at its full length. */
static void a_damaged_schema_is_refused_with_advice(void **state)
{
	size_t size;
	unsigned char *data = build_long(&size);

	(void)state;
	memset(data + 100, 0xff, 1024);
	expect_refusal(data, size, VPT_EDATA,
		"expected a readable SQLite database, found: database disk image is malformed; "
		"copy "
		"it again, or export it again with nsys export --type sqlite");
	sqlite3_free(data);
}

/* The schema is whole, none of the tables is. */
static void damage_in_all_tables_is_refused_with_advice(void **state)
{
	size_t size;
	unsigned char *data = build_long(&size);

	(void)state;
	memset(data + 4096, 0xff, size - 4096);
	expect_refusal(data, size, VPT_EDATA,
		": database disk image is malformed; copy it again, or export it again with nsys "
		"export --type sqlite");
	sqlite3_free(data);
}

static void a_damaged_page_ends_its_table_only(void **state)
{
	size_t size, kernels;
	unsigned char *data = build_long(&size);
	struct loaded l;

	(void)state;
	memset(data + size / 2 / 4096 * 4096, 0xff, 4096);
	load(data, size, &l);
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.stats.truncated, 1);
	kernels = count_rows(&l, VPT_KERNEL, -1, 0, 0);
	assert_in_range(kernels, 4000, 6000);
	assert_int_equal(count_rows(&l, VPT_RANGE, -1, 0, 0), 1);
	vpt_collect_free(l.collect);
	sqlite3_free(data);
}

static void a_file_in_write_ahead_mode_opens(void **state)
{
	size_t size;
	unsigned char *data = build_long(&size);
	struct loaded l;

	(void)state;
	data[18] = data[19] = 2;
	load(data, size, &l);
	assert_int_equal(l.rc, 0);
	assert_int_equal(count_rows(&l, VPT_KERNEL, -1, 0, 0), 10000);
	vpt_collect_free(l.collect);
	sqlite3_free(data);
}

/* ---- what stands beside the file ---- */

/* Copies a file, up to `size` bytes of it. */
static void copy_file(const char *from, const char *to, size_t size)
{
	static char bytes[4 << 20];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t n;

	assert_non_null(in);
	assert_non_null(out);
	n = fread(bytes, 1, size < sizeof(bytes) ? size : sizeof(bytes), in);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	fclose(in);
	fclose(out);
}

static void run_sql(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

#define ROWS(from, to)                                                                             \
	"WITH RECURSIVE n(i) AS (VALUES(" from ") UNION ALL SELECT i+1 FROM n WHERE i < " to       \
	") INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i+1, 0, 1, 7, i, 1 FROM n;"

/* In a new folder, a database "a" of 50 kernels that a process is about to change, copied to "b" at that
 * moment with the file of changes. `log_bytes`: as much of that as is copied. Returns the path of "b". */
static const char *interrupt(
	const char *folder, const char *mode, const char *change, const char *log, size_t log_bytes)
{
	static char b[200];
	char a[200], from[220], to[220];
	sqlite3 *db = NULL;

	snprintf(a, sizeof(a), "%s/a", folder);
	snprintf(b, sizeof(b), "%s/b", folder);
	unlink(a);
	assert_int_equal(sqlite3_open(a, &db), SQLITE_OK);
	run_sql(db, "PRAGMA page_size = 1024; PRAGMA cache_size = 4;");
	run_sql(db, STRINGS OLD_KERNELS ROWS("1", "50"));
	run_sql(db, mode);
	run_sql(db, change);
	copy_file(a, b, SIZE_MAX);
	snprintf(from, sizeof(from), "%s%s", a, log);
	snprintf(to, sizeof(to), "%s%s", b, log);
	copy_file(from, to, log_bytes);
	sqlite3_close(db);
	return b;
}

/* Loads it twice: the folder must not have changed. */
static void expect_kernels(const char *path, size_t kernels, int interrupted)
{
	struct vpt_source *src;
	struct loaded l;
	int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(vpt_source_open(path, &src, NULL), 0);
		load_source(src, &l);
		if (l.rc)
			fail_msg("%s", l.err.text);
		assert_int_equal(count_rows(&l, VPT_KERNEL, -1, 0, 0), kernels);
		assert_int_equal(l.stats.interrupted, interrupted);
		assert_int_equal(l.stats.truncated, 0);
		vpt_collect_free(l.collect);
	}
}

static void changes_beside_the_file_are_undone_or_added(void **state)
{
	char folder[] = "/tmp/vptrace-nsight-XXXXXX", log[64];
	const char *path;

	(void)state;
	assert_non_null(mkdtemp(folder));
	/* All rows deleted and some others added, which fills the cache, but not committed. */
	path = interrupt(folder, "PRAGMA journal_mode = DELETE",
		"BEGIN; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;" ROWS("100", "2000"), "-journal",
		SIZE_MAX);
	expect_kernels(path, 50, 1);
	/* A journal that begins with 0 is done with. */
	snprintf(log, sizeof(log), "%s/b-journal", folder);
	path = interrupt(folder, "PRAGMA journal_mode = PERSIST",
		"DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start <= 20", "-journal", SIZE_MAX);
	expect_kernels(path, 30, 0);
	unlink(log);
	/* Committed, but only in the log. */
	path = interrupt(folder, "PRAGMA journal_mode = WAL",
		"PRAGMA wal_autocheckpoint = 0; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start "
		"<= 10;" ROWS("100", "2000"),
		"-wal", SIZE_MAX);
	expect_kernels(path, 1941, 0);
	/* Of a log that was cut, what was committed before. */
	path = interrupt(folder, "PRAGMA journal_mode = WAL",
		"PRAGMA wal_autocheckpoint = 0; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start "
		"<= 10;" ROWS("100", "2000"),
		"-wal", 20000);
	expect_kernels(path, 40, 0);
	/* Bytes that are no log are none. */
	snprintf(log, sizeof(log), "%s/b-wal", folder);
	copy_file(path, log, 5000);
	expect_kernels(path, 50, 0);
	unlink(log);
	unlink(path);
	snprintf(log, sizeof(log), "%s/a", folder);
	unlink(log);
	assert_int_equal(rmdir(folder), 0);
}

/* The bytes of the file's header and of every page's, and some others, changed one at a time. */
static void damage_anywhere_is_survived(void **state)
{
	size_t size, at;
	unsigned char *data = build(STRINGS OLD_KERNELS CALLS NVTX SYNCS
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,1,7,0,1),(3,4,0,1,7,0,1);"
		"INSERT INTO NVTX_EVENTS (start,end,globalTid) VALUES (1,2,117440521);",
		&size);
	unsigned refused = 0, read = 0;

	(void)state;
	for (at = 0; at < size; at += at < 110 || at % 4096 < 16 ? 1 : 61) {
		unsigned char was = data[at];
		struct loaded l;

		data[at] = (unsigned char)(was ^ (at % 2 ? 0xff : 0x05));
		load(data, size, &l);
		assert_true(l.rc == 0 || (l.rc == VPT_EDATA && l.err.text[0]));
		refused += l.rc != 0;
		read += l.rc == 0;
		vpt_collect_free(l.collect);
		data[at] = was;
	}
	assert_true(refused > 10 && read > 100);
	sqlite3_free(data);
}

/* Sets all children of an interior B-tree page. Its header: type 5, at 3 the number of cells, at 8
 * the rightmost child, from 12 on where each cell is; a cell begins with its child. */
static void point_children(unsigned char *page, unsigned child)
{
	const unsigned char number[4] = {0, 0, (unsigned char)(child >> 8), (unsigned char)child};
	unsigned cells = (unsigned)page[3] << 8 | page[4], i;

	memcpy(page + 8, number, 4);
	for (i = 0; i < cells; i++)
		memcpy(page + ((unsigned)page[12 + 2 * i] << 8 | page[13 + 2 * i]), number, 4);
}

/* A tree of few pages whose nodes all point to the next level's only node has rows without end. */
static void a_table_without_end_is_given_up(void **state)
{
	size_t size, root = 4096;
	unsigned char *data = build_long(&size);
	unsigned leaf;
	struct loaded l;

	(void)state;
	while (root < size && data[root] != 5)
		root += 4096;
	assert_true(root + 10 * 4096 < size);
	leaf = (unsigned)(root / 4096) +
	       2; /* pages are numbered from 1; the leaves follow the root */
	for (; leaf < root / 4096 + 8; leaf++) {
		memcpy(data + (leaf - 1) * 4096, data + root, 4096);
		point_children(data + (leaf - 1) * 4096, leaf + 1);
	}
	point_children(data + root, (unsigned)(root / 4096) + 2);
	load(data, size, &l);
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.stats.truncated, 1);
	assert_true(count_rows(&l, VPT_KERNEL, -1, 0, 0) > 50000);
	vpt_collect_free(l.collect);
	sqlite3_free(data);
}

/* ---- failures underneath ---- */

struct failing {
	struct vpt_source base;
	struct vpt_source *real;
	int reads_left;
};

static int failing_read(struct vpt_source *src, uint64_t offset, void *buf, size_t size,
	size_t *got, struct vpt_err *err)
{
	struct failing *f = (struct failing *)src;

	*got = 0;
	if (f->reads_left-- <= 0)
		return vpt_fail(err, VPT_EIO, "the disk is on fire");
	return f->real->read_at(f->real, offset, buf, size, got, err);
}

static void failing_close(struct vpt_source *src)
{
	vpt_source_close(((struct failing *)src)->real);
}

static void a_source_that_fails_is_an_io_error_in_its_words(void **state)
{
	size_t size;
	unsigned char *data = build_long(&size);
	int reads;

	(void)state;
	for (reads = 1; reads < 40; reads += 3) {
		struct failing f = {.reads_left = reads};
		struct loaded l;

		assert_int_equal(vpt_source_memory(data, size, &f.real, NULL), 0);
		f.base = *f.real;
		f.base.read_at = failing_read;
		f.base.close = failing_close;
		load_source(&f.base, &l);
		assert_int_equal(l.rc, VPT_EIO);
		assert_string_equal(l.err.text, "the disk is on fire");
		vpt_collect_free(l.collect);
	}
	sqlite3_free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_are_refused_in_words),
		cmocka_unit_test(probe_knows_the_magic_alone),
		cmocka_unit_test(a_cut_file_gives_what_came_before_the_cut),
		cmocka_unit_test(a_damaged_schema_is_refused_with_advice),
		cmocka_unit_test(damage_in_all_tables_is_refused_with_advice),
		cmocka_unit_test(a_damaged_page_ends_its_table_only),
		cmocka_unit_test(a_file_in_write_ahead_mode_opens),
		cmocka_unit_test(changes_beside_the_file_are_undone_or_added),
		cmocka_unit_test(damage_anywhere_is_survived),
		cmocka_unit_test(a_table_without_end_is_given_up),
		cmocka_unit_test(a_source_that_fails_is_an_io_error_in_its_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
