/* nsight_rig.h - what tests of Nsight Systems exports share: databases made by SQL, and their rows as text. */
#ifndef TESTS_IMPORT_NSIGHT_RIG_H
#define TESTS_IMPORT_NSIGHT_RIG_H

#include "formats/import/import.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/skip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

static inline unsigned char *build(const char *sql, size_t *size)
{
	sqlite3_int64 bytes = 0;
	sqlite3 *db = NULL;
	unsigned char *data;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	data = sqlite3_serialize(db, "main", &bytes, 0);
	assert_non_null(data);
	sqlite3_close(db);
	*size = (size_t)bytes;
	return data;
}

struct loaded {
	int rc;
	struct vpt_collect *collect;
	struct vpt_import_stats stats;
	struct vpt_err err;
};

static inline void load_source(struct vpt_source *src, struct loaded *l)
{
	memset(l, 0, sizeof(*l));
	l->collect = vpt_collect_new();
	assert_non_null(l->collect);
	l->rc = vpt_import_nsight.read(src, l->collect, &l->stats, &l->err);
	if (!l->rc)
		assert_int_equal(vpt_collect_finish(l->collect, &l->err), 0);
	vpt_source_close(src);
}

static inline void load(const void *data, size_t size, struct loaded *l)
{
	struct vpt_source *src;

	assert_int_equal(vpt_source_memory(data, size, &src, NULL), 0);
	load_source(src, l);
}

/* How many rows of a kind there are, or of those whose column has (or has not) the value. */
static inline size_t count_rows(
	const struct loaded *l, enum vpt_kind kind, int column, uint64_t value, int equal)
{
	struct vpt_batch b;
	size_t chunk, i, n = 0;
	uint32_t row;

	vpt_batch_init(&b);
	for (chunk = 0; chunk < vpt_collect_chunks(l->collect); chunk++) {
		assert_int_equal(vpt_collect_chunk(l->collect, chunk, &b, NULL), 0);
		for (i = 0; i < b.section_count; i++)
			for (row = 0; b.sections[i].kind == kind && row < b.sections[i].row_count;
				row++)
				n += column < 0 ||
				     (b.sections[i].col[column][row] == value) == equal;
	}
	vpt_batch_free(&b);
	return n;
}

/* pid 7: globalPid 7 << 24 = 117440512, thread 9 of it 117440521; pid 8: 134217728, thread 8
 * 134217736. */
#define STRINGS                                                                                    \
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"                             \
	"INSERT INTO StringIds VALUES (1,'gemm'),(2,'_Z4gemmv'),(3,'cudaLaunchKernel_v7000'),"     \
	"(4,'cudaNewThing_v99000'),(5,'step 1'),(6,'Buffer flush'),(7,'{\"k\":1}'),(8,'worker');"
#define OLD_KERNELS                                                                                \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "  \
	"contextId INTEGER, streamId INTEGER, correlationId INTEGER, demangledName INTEGER);"
#define CALLS                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid "         \
	"INTEGER, "                                                                                \
	"correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
#define NVTX                                                                                       \
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, category "       \
	"INTEGER, "                                                                                \
	"color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "      \
	"domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, "            \
	"uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText "  \
	"TEXT);"
#define SYNCS                                                                                      \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId "  \
	"INTEGER, "                                                                                \
	"contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType " \
	"INTEGER, "                                                                                \
	"eventId INTEGER, eventSyncId INTEGER);"
#define COPIES                                                                                     \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "  \
	"streamId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, "  \
	"dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER);"
#define META "meta  key='source' value='Nsight Systems'\n"

#endif
