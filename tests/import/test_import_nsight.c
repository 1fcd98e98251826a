/* test_import_nsight.c - Nsight Systems exports, made here row by row, and the shared real ones.
 *
 * A case is SQL that builds a database and the rows that must come out, one a line in alphabetical
 * order: the kind, its lane, and every column that is not 0.
 * Long, since each case carries the SQL of its database. */
#include "tests/import/nsight_rig.h"

#include <cmocka.h>

/* ---- databases ---- */

static void load_sql(const char *sql, struct loaded *l)
{
	size_t size;
	unsigned char *data = build(sql, &size);

	load(data, size, l);
	sqlite3_free(data);
}

/* ---- rows as text ---- */

struct text {
	char *lines[200];
	size_t count;
	char line[2000];
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	size_t used = strlen(t->line);
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->line + used, sizeof(t->line) - used, fmt, args);
	va_end(args);
}

static void add_lane(struct text *t, const struct vpt_batch *b, uint64_t key)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	uint32_t i;

	for (i = 0; key && s && i < s->row_count; i++) {
		if (s->col[VPT_LANE_KEY][i] != key)
			continue;
		if (s->col[VPT_LANE_LANE_TYPE][i] == VPT_LANETYPE_THREAD)
			add(t, "%d.%d", (int)s->col[VPT_LANE_PID][i], (int)s->col[VPT_LANE_TID][i]);
		else
			add(t, "%d:%d:%d:%d", (int)s->col[VPT_LANE_PID][i],
				(int)s->col[VPT_LANE_DEVICE][i], (int)s->col[VPT_LANE_CONTEXT][i],
				(int)s->col[VPT_LANE_STREAM][i]);
		if (s->col[VPT_LANE_NAME][i]) {
			struct vpt_text name = vpt_batch_text(b, s->col[VPT_LANE_NAME][i]);

			add(t, "(%.*s)", (int)name.len, name.text);
		}
		return;
	}
	add(t, "%s", key ? "?" : "-");
}

static void add_value(struct text *t, const struct vpt_batch *b, const struct vpt_column_desc *col,
	uint64_t value)
{
	const struct vpt_section *configs = vpt_batch_find(b, VPT_CONFIG);
	const char *word = vpt_word((enum vpt_unit)col->unit, value);
	struct vpt_text text = vpt_batch_text(b, value);
	unsigned i;

	if (col->unit == VPT_UNIT_STRING) {
		add(t, " %s='%.*s'", col->name, (int)text.len, text.text);
	} else if (col->unit == VPT_UNIT_CONFIG) {
		text = vpt_batch_text(b, configs->col[VPT_CONFIG_NAME][value]);
		add(t, " %.*s[", (int)text.len, text.text);
		for (i = 1; i < VPT_CONFIG_COLUMNS; i++)
			add(t, "%s%d", i > 1 ? "," : "", (int)configs->col[i][value]);
		add(t, "]");
	} else if (col->unit == VPT_UNIT_LANE) {
		add(t, " %s=", col->name);
		add_lane(t, b, value);
	} else if (word) {
		add(t, " %s", word);
	} else {
		add(t, " %s=%lld", col->name, (long long)value);
	}
}

static void dump_section(struct text *t, const struct vpt_batch *b, const struct vpt_section *s)
{
	const struct vpt_kind_desc *kind = vpt_kind_desc(s->kind);
	uint32_t row;
	unsigned i;

	for (row = 0; row < s->row_count; row++) {
		t->line[0] = '\0';
		add(t, "%s ", kind->name);
		if (kind->lanes != VPT_LANES_NONE)
			add_lane(t, b, s->lane);
		for (i = 0; i < kind->n_columns; i++) {
			struct vpt_column_desc col = kind->columns[i];

			/* The value of a JSON payload is a string, which only the column before it
			 * tells. */
			if (s->kind == VPT_RANGE && i == VPT_RANGE_VALUE &&
				(s->col[VPT_RANGE_PAYLOAD][row] == VPT_PAYLOAD_JSON ||
					s->col[VPT_RANGE_PAYLOAD][row] == VPT_PAYLOAD_BLOB))
				col.unit = VPT_UNIT_STRING;
			if (s->col[i][row] || col.unit == VPT_UNIT_CONFIG)
				add_value(t, b, &col, s->col[i][row]);
		}
		assert_true(t->count < COUNT(t->lines));
		t->lines[t->count++] = strdup(t->line);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All events, and the devices and facts; the caller frees the text. */
static char *dump(const struct loaded *l)
{
	struct text t = {.count = 0};
	size_t chunk, i, size = 1;
	struct vpt_batch b;
	char *all;

	vpt_batch_init(&b);
	for (chunk = 0; chunk < vpt_collect_chunks(l->collect); chunk++) {
		assert_int_equal(vpt_collect_chunk(l->collect, chunk, &b, NULL), 0);
		for (i = 0; i < b.section_count; i++) {
			const struct vpt_kind_desc *kind = vpt_kind_desc(b.sections[i].kind);

			if (kind->flags & VPT_KIND_EVENT || kind->type == VPT_DEVICE ||
				kind->type == VPT_META)
				dump_section(&t, &b, &b.sections[i]);
		}
	}
	vpt_batch_free(&b);
	if (t.count)
		qsort(t.lines, t.count, sizeof(t.lines[0]), compare_lines);
	for (i = 0; i < t.count; i++)
		size += strlen(t.lines[i]) + 1;
	all = calloc(1, size);
	assert_non_null(all);
	for (i = 0; i < t.count; i++) {
		strcat(strcat(all, t.lines[i]), "\n");
		free(t.lines[i]);
	}
	return all;
}

/* ---- what rows become ---- */

static const struct {
	const char *rule, *sql, *rows;
} cases[] = {
	{"a kernel has a stream of its process, a configuration, a node and a launch",
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
		"INTEGER, "
		"contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
		"demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread "
		"INTEGER,"
		"gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, "
		"blockZ INTEGER,"
		"staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread "
		"INTEGER,"
		"graphNodeId INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER, "
		"clusterZ INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
		"(100,150,0,1,7,42,117440512,1,1,2,32,10,11,12,13,14,15,16,17,18,99,5,2,3,4);",
		"kernel 7:0:1:7 start_ns=100 duration_ns=50 "
		"gemm[10,11,12,13,14,15,16,17,32,18,2,3,4,5] "
		"correlation=42 graph_node=99\n" META},
	{"an old export without process, node and cluster reads as unknown process",
		STRINGS OLD_KERNELS
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,1,2,7,42,1);",
		"kernel -1:1:2:7 start_ns=100 duration_ns=50 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0] "
		"correlation=42\n" META},
	{"a name that does not resolve gives way to the next",
		STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, "
			"deviceId INTEGER, "
			"streamId INTEGER, demangledName INTEGER, mangledName INTEGER);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,77,2);",
		"kernel -1:0:0:7 start_ns=1 duration_ns=1 "
		"_Z4gemmv[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n" META},
	{"equal streams of two processes are two lanes",
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId "
		"INTEGER, "
		"contextId INTEGER, streamId INTEGER, globalPid INTEGER, value INTEGER, bytes "
		"INTEGER, "
		"memKind INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1,2,0,1,7,117440512,255,64,2), "
		"(1,2,0,1,7,134217728,0,64,1);",
		"copy 7:0:1:7 start_ns=1 duration_ns=1 memset device value=255 bytes=64\n"
		"copy 8:1:1:7 start_ns=1 duration_ns=1 memset pinned bytes=64\n"
		"meta  key='processes.gpus' value='GPU 1 is GPU 0 of process 8'\n" META},
	{"kinds of copies and memories are the tool's numbers",
		COPIES
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
		"(1,2,0,7,117440512,8,1,0,2,NULL,NULL),(3,4,0,7,117440512,8,12,4,6,NULL,NULL),"
		"(5,6,0,7,117440512,8,10,2,2,0,3),(7,8,0,7,117440512,8,99,99,99,NULL,NULL);",
		"copy 7:0:0:-1(unified memory) start_ns=3 duration_ns=1 unified DtoH managed "
		"managed "
		"static bytes=8\n"
		"copy 7:0:0:7 start_ns=1 duration_ns=1 HtoD pageable device bytes=8\n"
		"copy 7:0:0:7 start_ns=5 duration_ns=1 PtoP device device peer=4 bytes=8\n"
		"copy 7:0:0:7 start_ns=7 duration_ns=1 bytes=8\n" META},
	{"unless the file says in words what its numbers mean",
		COPIES
		"CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT, label TEXT);"
		"INSERT INTO ENUM_CUDA_MEM_KIND VALUES (3,NULL,'Device'),(1,'X_KIND_PAGEABLE','p'),"
		"(7,'X_KIND_MANAGED_STATIC',NULL);"
		"CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);"
		"INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES "
		"(21,'','Device-to-Host'),(22,'K_UVM_HTOD','');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
		"(1,2,0,7,117440512,8,21,3,1,NULL,NULL),(3,4,0,7,117440512,8,22,7,2,NULL,NULL);",
		"copy 7:0:0:-1(unified memory) start_ns=3 duration_ns=1 unified HtoD managed "
		"static bytes=8\n"
		"copy 7:0:0:7 start_ns=1 duration_ns=1 DtoH device pageable bytes=8\n" META},
	{"calls of the table lose their decoration, others keep their whole name",
		STRINGS CALLS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER AS SELECT * FROM "
		"CUPTI_ACTIVITY_KIND_RUNTIME;"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,117440521,42,3,0),"
		"(30,40,117440521,43,4,-5);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_DRIVER VALUES (12,18,117440521,44,3,4294967295);",
		"call 7.9 start_ns=10 duration_ns=10 cudaLaunchKernel correlation=42\n"
		"call 7.9 start_ns=12 duration_ns=6 cudaLaunchKernel correlation=44 result=-1\n"
		"call 7.9 start_ns=30 duration_ns=10 name='cudaNewThing_v99000' correlation=43 "
		"result=-5\n" META},
	{"threads are named when they did something, the last name wins",
		STRINGS CALLS
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
		"(10,20,117440521,42,3,0),(10,20,134217736,1,3,0);"
		"CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
		"INSERT INTO ThreadNames VALUES (1,0,117440521),(8,0,117440521),(8,0,117440522);",
		"call 7.9(worker) start_ns=10 duration_ns=10 cudaLaunchKernel correlation=42\n"
		"call 8.8 start_ns=10 duration_ns=10 cudaLaunchKernel correlation=1\n" META},
	{"ranges have inline or registered text, a domain of their process, colour and category",
		STRINGS NVTX
		"INSERT INTO NVTX_EVENTS (start,end,eventType,category,color,text,globalTid,textId,"
		"domainId) VALUES (10,20,59,3,-16777216,'inline',117440521,NULL,0),"
		"(11,19,59,NULL,NULL,NULL,117440521,5,1),(12,18,59,NULL,NULL,'x',134217736,NULL,1),"
		"(-50,NULL,75,NULL,NULL,'mine',117440521,NULL,1);",
		META "range 7.9 start_ns=10 duration_ns=10 name='inline' category=3 "
		     "colour=4278190080\n"
		     "range 7.9 start_ns=11 duration_ns=8 name='step 1' domain='mine'\n"
		     "range 8.8 start_ns=12 duration_ns=6 name='x' domain='domain 1'\n"},
	{"a start/end range may end on another thread, a mark has no end",
		NVTX
		"INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid,endGlobalTid) VALUES "
		"(10,20,60,'a',117440521,134217736),(11,21,71,'b',117440521,117440521),"
		"(15,NULL,34,'m',117440521,NULL),(5,NULL,33,'category',117440521,NULL);",
		"mark 7.9 time_ns=15 name='m'\n" META
		"range 7.9 start_ns=10 duration_ns=10 start/end end_thread=8.8 name='a'\n"
		"range 7.9 start_ns=11 duration_ns=10 start/end name='b'\n"},
	{"a range that never ended lasts to the last end and says so",
		NVTX "INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid) VALUES "
		     "(10,NULL,59,'open',117440521),(11,90,59,'shut',117440521);",
		META "range 7.9 start_ns=10 duration_ns=80 name='open' unmatched=1\n"
		     "range 7.9 start_ns=11 duration_ns=79 name='shut'\n"},
	{"a range from before the session is cut at its start",
		NVTX "INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid) VALUES "
		     "(-10,30,59,'early',117440521),(-10,-5,59,'gone',117440521);",
		META "range 7.9 duration_ns=30 name='early'\n"},
	{"a payload is whichever value is there, as 64 bits",
		STRINGS NVTX "INSERT INTO NVTX_EVENTS (start,end,globalTid,uint64Value) VALUES "
			     "(1,2,117440521,5);"
			     "INSERT INTO NVTX_EVENTS (start,end,globalTid,int64Value) VALUES "
			     "(2,3,117440521,-5);"
			     "INSERT INTO NVTX_EVENTS (start,end,globalTid,doubleValue) VALUES "
			     "(3,4,117440521,2.0);"
			     "INSERT INTO NVTX_EVENTS (start,end,globalTid,uint32Value) VALUES "
			     "(4,5,117440521,7);"
			     "INSERT INTO NVTX_EVENTS (start,end,globalTid,int32Value) VALUES "
			     "(5,6,117440521,-1);"
			     "INSERT INTO NVTX_EVENTS (start,end,globalTid,floatValue) VALUES "
			     "(6,7,117440521,1.0);"
			     "INSERT INTO NVTX_EVENTS (start,end,globalTid,jsonTextId) VALUES "
			     "(7,8,117440521,7);",
		META "range 7.9 start_ns=1 duration_ns=1 uint64 value=5\n"
		     "range 7.9 start_ns=2 duration_ns=1 int64 value=-5\n"
		     "range 7.9 start_ns=3 duration_ns=1 double value=4611686018427387904\n"
		     "range 7.9 start_ns=4 duration_ns=1 uint32 value=7\n"
		     "range 7.9 start_ns=5 duration_ns=1 int32 value=4294967295\n"
		     "range 7.9 start_ns=6 duration_ns=1 float value=1065353216\n"
		     "range 7.9 start_ns=7 duration_ns=1 json value='{\"k\":1}'\n"},
	{"an oldest NVTX table without type, thread and domain still gives ranges",
		"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT);"
		"INSERT INTO NVTX_EVENTS VALUES (1,2,'x');",
		META "range -1.-1 start_ns=1 duration_ns=1 name='x'\n"},
	{"waits on streams stand on the stream, others on no lane",
		SYNCS "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "
		      "(1,2,0,1,7,10,117440512,3,4294967295,0),(3,4,0,1,8,11,117440512,2,5,6),"
		      "(5,6,0,1,4294967295,12,117440512,4,4294967295,4294967295),"
		      "(7,8,0,1,7,13,117440512,1,0,9);",
		META
		"sync - start_ns=5 duration_ns=1 context correlation=12 context=1\n"
		"sync - start_ns=7 duration_ns=1 event correlation=13 context=1 event=1 sync_id=9\n"
		"sync 7:0:1:7 start_ns=1 duration_ns=1 stream correlation=10 context=1 "
		"stream=7:0:1:7\n"
		"sync 7:0:1:8 start_ns=3 duration_ns=1 stream waits for event correlation=11 "
		"context=1 "
		"event=6 sync_id=6\n"},
	{"CUDA events keep their event where no device time was collected",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER, "
		"contextId "
		"INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId "
		"INTEGER, "
		"eventSyncId INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (9,0,1,7,3,117440512,4,5),"
		"(NULL,0,1,7,3,117440512,4,6);",
		"event 7:0:1:7 event=5 sync_id=6 correlation=3\n"
		"event 7:0:1:7 time_ns=9 event=5 sync_id=5 correlation=3\n" META},
	{"so do those of exports from before there was one",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, "
		"streamId INTEGER, correlationId INTEGER, globalPid INTEGER, eventId INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,1,7,3,117440512,4);",
		"event 7:0:1:7 event=5 correlation=3\n" META},
	{"overhead goes by the words of its name, else by its type",
		STRINGS
		"CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, "
		"nameId INTEGER, returnValue INTEGER);"
		"INSERT INTO PROFILER_OVERHEAD VALUES (1,3,117440521,6,0);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, "
		"correlationId INTEGER,"
		"nameId INTEGER, overheadType INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (4,6,9,NULL,8),(7,9,9,1,77);",
		META "overhead - start_ns=4 duration_ns=2 command buffer full correlation=9\n"
		     "overhead - start_ns=7 duration_ns=2 correlation=9\n"
		     "overhead 7.9 start_ns=1 duration_ns=2 buffer flush\n"},
	{"only a plain statement about CUDA is loss",
		OLD_KERNELS
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,150,0,1,7,0,NULL);"
		"CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, text "
		"TEXT);"
		"INSERT INTO DIAGNOSTIC_EVENT VALUES (5,1,'Not all CUDA events might have been "
		"collected.'),"
		"(900,1,'12 CUDA events were dropped'),(7,1,'No CUDA events lost'),"
		"(8,1,'Number of CUDA events lost: 0'),(9,1,'OpenGL events were lost');",
		"kernel -1:0:1:7 start_ns=100 duration_ns=50 [0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"loss - start_ns=150 dropped count=12\nmeta  key='events.unnamed' value='1'\n" META
		"meta  key='tool.warning' value='12 CUDA events were dropped'\n"},
	{"a graph that was recorded as one piece is work like a kernel, unless its nodes are there",
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
		"INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
		"INTEGER, demangledName INTEGER, graphNodeId INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (110,120,0,1,7,6,117440512,1,21),"
		"(120,130,0,1,7,6,117440512,1,22),(140,150,0,1,7,8,117440512,1,NULL);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, "
		"deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "
		"globalPid INTEGER, graphId INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10,90,0,1,7,5,117440512,3),"
		"(110,130,0,1,7,6,117440512,3),(200,210,0,1,7,6,134217728,3);",
		"kernel 7:0:1:7 start_ns=10 duration_ns=80 CUDA "
		"graph[0,0,0,0,0,0,0,0,0,0,0,0,0,3] correlation=5\n"
		"kernel 7:0:1:7 start_ns=110 duration_ns=10 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0] "
		"correlation=6 graph_node=21\n"
		"kernel 7:0:1:7 start_ns=120 duration_ns=10 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0] "
		"correlation=6 graph_node=22\n"
		"kernel 7:0:1:7 start_ns=140 duration_ns=10 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0] "
		"correlation=8\n"
		"kernel 8:1:1:7 start_ns=200 duration_ns=10 CUDA "
		"graph[0,0,0,0,0,0,0,0,0,0,0,0,0,3] correlation=6\n"
		"meta  key='graphs.whole' value='2'\n"
		"meta  key='processes.gpus' value='GPU 1 is GPU 0 of process 8'\n" META},
	{"tables of newer versions have an ending",
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
		"INTEGER, streamId INTEGER, shortName INTEGER);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V2 (start INTEGER, end INTEGER, deviceId "
		"INTEGER, streamId INTEGER, shortName INTEGER);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_3 (start INTEGER, end INTEGER, deviceId "
		"INTEGER, streamId INTEGER, shortName INTEGER);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_VX (start INTEGER, end INTEGER, deviceId "
		"INTEGER, streamId INTEGER, shortName INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V2 VALUES (1,2,0,7,1);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_3 VALUES (3,4,0,7,1);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_VX VALUES (5,6,0,7,1);",
		"kernel -1:0:0:7 start_ns=1 duration_ns=1 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"kernel -1:0:0:7 start_ns=3 duration_ns=1 "
		"gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n" META},
	{"an oldest export has one name, and a name that is missing is counted",
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
		"INTEGER, streamId INTEGER, name INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1),(3,4,0,7,99);",
		"kernel -1:0:0:7 start_ns=1 duration_ns=1 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"kernel -1:0:0:7 start_ns=3 duration_ns=1 [0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"meta  key='events.unnamed' value='1'\n" META},
	{"page faults and migrations stand in the device's unified memory",
		COPIES
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
		"(1,2,0,4294967295,117440512,8,11,4,4,NULL,NULL),"
		"(3,4,0,0,117440512,8,12,4,4,NULL,NULL),(5,6,0,7,117440512,8,13,4,4,NULL,NULL);"
		"CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid "
		"INTEGER, deviceId INTEGER, address INTEGER, numberOfPageFaults INTEGER);"
		"INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (7,9,117440512,0,4096,12);",
		"copy 7:0:0:-1(unified memory) start_ns=1 duration_ns=1 unified HtoD managed "
		"managed bytes=8\n"
		"copy 7:0:0:-1(unified memory) start_ns=3 duration_ns=1 unified DtoH managed "
		"managed bytes=8\n"
		"copy 7:0:0:-1(unified memory) start_ns=5 duration_ns=1 unified DtoD managed "
		"managed bytes=8\n" META
		"overhead 7:0:0:-1(unified memory) start_ns=7 duration_ns=2 page faults\n"},
	{"a text of the tool about CUDA is kept, a warning before a doubt, an error before it",
		OLD_KERNELS
		"CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
		"INSERT INTO DIAGNOSTIC_EVENT VALUES (1,1,'CUDA injection initialized'),"
		"(1,2,'Not all CUDA events might have been collected.'),"
		"(1,2,'CUDA device 0: a first warning'),(1,3,'CUPTI initialization failed'),"
		"(1,3,'CUDA: a second error'),(1,3,'OpenGL: an error');",
		META "meta  key='tool.warning' value='CUPTI initialization failed'\n"},
	{"a doubt is kept as one",
		OLD_KERNELS
		"CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
		"INSERT INTO DIAGNOSTIC_EVENT VALUES "
		"(1,2,'CUDA profiling might have not been started correctly.');",
		META "meta  key='tool.doubt' value='CUDA profiling might have not been started "
		     "correctly.'\n"},
	{"two processes that see one GPU each call it 0",
		STRINGS
		"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT, busLocation TEXT);"
		"INSERT INTO TARGET_INFO_GPU VALUES (0,'H100','a','0000:01:00.0'),"
		"(1,'H100','b','0000:02:00.0');"
		"CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
		"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,0,7),(1,0,8),(1,1,7);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
		"INTEGER, streamId INTEGER, globalPid INTEGER, shortName INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,117440512,1),"
		"(1,2,0,7,134217728,1),(3,4,1,7,117440512,1);",
		"device  device=2 name='H100' uuid='GPU-b' pci='0000:02:00.0'\n"
		"device  name='H100' uuid='GPU-a' pci='0000:01:00.0'\n"
		"kernel 7:0:0:7 start_ns=1 duration_ns=1 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"kernel 7:2:0:7 start_ns=3 duration_ns=1 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"kernel 8:2:0:7 start_ns=1 duration_ns=1 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"
		"meta  key='processes.gpus' value='GPU 2 is GPU 0 of process 8, GPU 2 is GPU 1 of "
		"process 7'\n" META},
	{"graphs recorded by node: kernels know theirs, nodes come, are cloned and go",
		"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
		"INSERT INTO StringIds VALUES (1,'gemm'),(2,'Graph Node Creation'),(3,'Graph Node "
		"Destruction'),(4,'Graph Destruction'),(5,'Graph Instantiation');"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId "
		"INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
		"INTEGER, demangledName INTEGER, graphNodeId INTEGER, graphId INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
		"(500,600,0,1,7,3,117440512,1,21,5);"
		"CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, nameId INTEGER, "
		"eventClass INTEGER, globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId "
		"INTEGER);"
		"INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (10,11,2,1,117440521,20,NULL),"
		"(20,21,2,1,117440521,21,20),(900,NULL,3,1,117440521,21,NULL),"
		"(30,31,2,1,117440521,NULL,NULL);"
		"CREATE TABLE CUDA_GRAPH_EVENTS (start INTEGER, end INTEGER, nameId INTEGER, "
		"eventClass INTEGER, globalTid INTEGER, graphId INTEGER, graphExecId INTEGER);"
		"INSERT INTO CUDA_GRAPH_EVENTS VALUES (40,41,5,1,117440521,5,6),"
		"(950,951,4,1,117440521,5,NULL);",
		"graph 7.9 time_ns=10 node created node=20\n"
		"graph 7.9 time_ns=20 node cloned node=21 origin=20\n"
		"graph 7.9 time_ns=900 node destroyed node=21\n"
		"graph 7.9 time_ns=950 graph destroyed graph=5\n"
		"kernel 7:0:1:7 start_ns=500 duration_ns=100 gemm[0,0,0,0,0,0,0,0,0,0,0,0,0,5] "
		"correlation=3 graph_node=21\n" META},
	{"of the GPUs' metrics those that say how busy they are",
		"CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, "
		"uuid TEXT);"
		"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3,0,7,NULL);"
		"CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName "
		"TEXT, metricId INTEGER, metricName TEXT);"
		"INSERT INTO TARGET_INFO_GPU_METRICS VALUES "
		"(259,1,'GH100',0,'GPC Clock Frequency [MHz]'),"
		"(259,1,'GH100',1,'SMs Active [Throughput %]'),"
		"(259,1,'GH100',2,'Tensor Active [Throughput %]'),"
		"(259,1,'GH100',3,'NVLink RX Bandwidth [Throughput %]'),"
		"(259,1,'GH100',4,'SMs Active'),"
		"(257,1,'GH100',1,'SMs Active [Throughput %]');"
		"CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId "
		"INTEGER, "
		"metricId INTEGER, value INTEGER);"
		"INSERT INTO GPU_METRICS VALUES (0,100,259,0,1980),(0,100,259,1,85),"
		"(0,100,259,2,40),(0,100,259,3,7),(0,200,259,1,0),(0,200,257,1,50),"
		"(0,300,259,2,NULL);"
		"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);",
		/* 85 and 40 as bits of a double */
		"counter -1:0:0:-1(SMs Active) time_ns=100 value=4635681760191971328\n"
		"counter -1:0:0:-1(SMs Active) time_ns=200\n"
		"counter -1:0:0:-1(Tensor Active) time_ns=100 value=4630826316843712512\n" META},
	{"memory of two processes comes and goes",
		"CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, "
		"deviceId INTEGER, contextId INTEGER, address INTEGER, pc INTEGER, bytes INTEGER, "
		"memKind INTEGER, memoryOperationType INTEGER, name TEXT, correlationId INTEGER, "
		"streamId INTEGER, localMemoryPoolAddress INTEGER);"
		"CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);"
		"INSERT INTO ENUM_CUDA_MEM_KIND VALUES "
		"(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device');"
		"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES "
		"(10,117440512,0,1,4096,0,512,2,0,NULL,5,NULL,NULL),"
		"(20,134217728,1,2,8192,0,64,2,1,NULL,6,9,777),"
		"(30,134217728,1,2,8192,0,NULL,2,1,NULL,6,9,777),"
		"(40,134217728,1,2,8192,0,64,99,7,NULL,6,9,777);"
		"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);",
		"memory 7:0:1:-1 time_ns=10 allocate device address=4096 bytes=512 correlation=5\n"
		"memory 8:1:2:9 time_ns=20 free device address=8192 bytes=64 pool=777 "
		"correlation=6\n"
		"memory 8:1:2:9 time_ns=40 address=8192 bytes=64 pool=777 correlation=6\n" META},
	{"a binary payload is kept as the tool writes it",
		"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text "
		"TEXT, globalTid INTEGER, binaryData TEXT);"
		"INSERT INTO NVTX_EVENTS VALUES (1,5,59,'x',117440521,'AQID');",
		META "range 7.9 start_ns=1 duration_ns=4 name='x' blob value='AQID'\n"},
	{"devices are numbered as CUDA does, facts about the session are kept",
		"CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
		"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1,0,7),(1,0,8);"
		"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT, "
		"totalMemory INTEGER, "
		"smCount INTEGER, uuid TEXT, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, "
		"threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER, computeMinor "
		"INTEGER);"
		"INSERT INTO TARGET_INFO_GPU VALUES (0,'unused','p0',1,1,'u0',1,1,1,1,1,1),"
		"(1,'H100','0000:01:00.0',80,132,'ab-cd',228,65536,32,64,9,0);"
		"CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
		"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','2026.2');"
		"CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
		"INSERT INTO META_DATA_CAPTURE VALUES "
		"('DEVICE_DISPLAY_NAME','shown'),('PROCESS_0:COMMAND','python'),"
		"('PROCESS_0:ENVIRONMENT_VARIABLE','SECRET=1'),('PROCESS_0:ARGUMENT_0','x.py');"
		"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
		"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','node1');",
		"device  name='H100' uuid='GPU-ab-cd' pci='0000:01:00.0' compute_major=9 "
		"sm_count=132 "
		"sm_threads=2048 sm_registers=65536 sm_shared=228 memory_bytes=80\n"
		"meta  key='command' value='python x.py'\n"
		"meta  key='host' value='node1'\n"
		"meta  key='source' value='Nsight Systems 2026.2'\n"},
	{"a view in a table's place is not looked at",
		NVTX "INSERT INTO NVTX_EVENTS (start,end,globalTid) VALUES (1,2,117440521);"
		     "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end UNION "
		     "SELECT 3, 4;",
		META "range 7.9 start_ns=1 duration_ns=1\n"},
};

static void rows_become_rows(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct loaded l;
		char *rows;

		load_sql(cases[i].sql, &l);
		if (l.rc)
			fail_msg("%s: %s", cases[i].rule, l.err.text);
		rows = dump(&l);
		if (strcmp(rows, cases[i].rows)) {
			fprintf(stderr, "expected:\n%s\nfound:\n%s\n", cases[i].rows, rows);
			fail_msg("%s", cases[i].rule);
		}
		assert_int_equal(l.stats.truncated, 0);
		free(rows);
		vpt_collect_free(l.collect);
	}
}

/* A virtual table runs a module's code, and is no table of the tool's. */
static void a_virtual_table_is_not_looked_at(void **state)
{
	struct loaded l;

	(void)state;
	if (!sqlite3_compileoption_used("ENABLE_RTREE"))
		vpt_skip("this SQLite has no virtual tables of R-trees");
	load_sql("CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING rtree_i32(id, start, end);"
		 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,5,9);" NVTX
		 "INSERT INTO NVTX_EVENTS (start,end,globalTid) VALUES (1,2,117440521);",
		&l);
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.stats.events, 1);
	assert_int_equal(count_rows(&l, VPT_KERNEL, -1, 0, 0), 0);
	assert_int_equal(count_rows(&l, VPT_RANGE, -1, 0, 0), 1);
	vpt_collect_free(l.collect);
}

/* ---- hostile values ---- */

static const struct {
	const char *rule, *sql;
	unsigned kernels, malformed, bad_numbers;
} values[] = {
	{"times that are text, NULL, negative or fractions make a row malformed",
		OLD_KERNELS
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
		"('x',2,0,1,7,0,1),(NULL,2,0,1,7,0,1),"
		"(-1,2,0,1,7,0,1),(1,-2,0,1,7,0,1),(1.5,2,0,1,7,0,1),(1,x'00',0,1,7,0,1),"
		"(9223372036854775807,9223372036854775807,0,1,7,0,1);",
		1, 6, 0},
	{"another column of the wrong type reads as default",
		OLD_KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,'a','b','c','d',1),"
			    "(3,4,-1,-1,-1,-1,1);",
		2, 0, 8},
	{"a row that ends before it starts is kept",
		OLD_KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9,2,0,1,7,0,1);", 1, 0,
		0},
	{"a kernel without a name is kept",
		OLD_KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
			    "(1,2,0,1,7,0,1234),(3,4,0,1,7,0,NULL);",
		2, 0, 0},
	{"a table without a start has only malformed rows",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (end INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1);",
		0, 1, 0},
	{"a range on no thread is malformed, an end that is text too",
		NVTX "INSERT INTO NVTX_EVENTS (start,end,globalTid) VALUES "
		     "(1,2,NULL),(1,'x',117440521);",
		0, 2, 1},
};

static void values_are_not_trusted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(values); i++) {
		char sql[4000];
		struct loaded l;

		snprintf(sql, sizeof(sql), "%s%s", STRINGS, values[i].sql);
		load_sql(sql, &l);
		if (l.rc || count_rows(&l, VPT_KERNEL, -1, 0, 0) != values[i].kernels ||
			l.stats.malformed != values[i].malformed ||
			l.stats.bad_numbers != values[i].bad_numbers)
			fail_msg("%s: rc %d, %zu kernels, %d malformed, %d bad numbers",
				values[i].rule, l.rc,
				l.rc ? 0 : count_rows(&l, VPT_KERNEL, -1, 0, 0),
				(int)l.stats.malformed, (int)l.stats.bad_numbers);
		vpt_collect_free(l.collect);
	}
}

static void bad_text_is_kept_and_counted_once_a_string(void **state)
{
	struct loaded l;
	char *rows;

	(void)state;
	load_sql("CREATE TABLE StringIds (id INTEGER, value TEXT);"
		 "INSERT INTO StringIds VALUES (-9,CAST(x'61ff62' AS TEXT)),(5,'unused'||char(7)),"
		 "(-9,'second of its number');" NVTX
		 "INSERT INTO NVTX_EVENTS (start,end,globalTid,textId) VALUES "
		 "(1,2,117440521,-9),(3,4,117440521,-9);"
		 "INSERT INTO NVTX_EVENTS (start,end,globalTid,text) VALUES "
		 "(5,6,117440521,'a'||char(10)),"
		 "(7,8,117440521,'ok '||char(233)||char(8364)||char(128512));",
		&l);
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.stats.bad_text, 2);
	rows = dump(&l);
	assert_non_null(strstr(rows, "name='a\xff"
				     "b'"));
	assert_null(strstr(rows, "second"));
	free(rows);
	vpt_collect_free(l.collect);
}

static void the_session_start_is_the_clock(void **state)
{
	struct loaded l;

	(void)state;
	load_sql(OLD_KERNELS
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,1,7,0,1);"
		"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
		"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1754324972242076786);",
		&l);
	assert_int_equal(l.rc, 0);
	assert_true(vpt_collect_header(l.collect)->t0_unix_ns == 1754324972242076787u);
	vpt_collect_free(l.collect);
}

/* ---- failures underneath ---- */

static int allocations_left;

static void *scarce(void *ptr, size_t size)
{
	return allocations_left-- > 0 ? realloc(ptr, size) : NULL;
}

static void no_memory_is_said(void **state)
{
	static const struct vpt_memory_ops ops = {.resize = scarce, .release = free};
	size_t size;
	unsigned char *data = build(cases[8].sql, &size);
	int n, rc = VPT_ENOMEM;

	(void)state;
	for (n = 0; rc; n++) {
		struct vpt_import_stats stats;
		struct vpt_collect *c = vpt_collect_new();
		struct vpt_source *src;
		struct vpt_err err;

		assert_non_null(c);
		assert_int_equal(vpt_source_memory(data, size, &src, NULL), 0);
		vpt_memory_use(&ops);
		allocations_left = n;
		rc = vpt_import_nsight.read(src, c, &stats, &err);
		/* The collector remembers a failure of its own until it is finished. */
		if (!rc)
			rc = vpt_collect_finish(c, &err);
		vpt_memory_use(NULL);
		assert_true(rc == 0 || rc == VPT_ENOMEM);
		vpt_collect_free(c);
		vpt_source_close(src);
		assert_true(n < 1000);
	}
	assert_true(n > 5);
	sqlite3_free(data);
}

/* ---- real traces ---- */

/* The number behind "key": in a line, at or after the file's name. */
static size_t expected(const char *line, const char *key)
{
	char quoted[40];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = strstr(line, quoted);
	assert_non_null(at);
	return strtoul(at + strlen(quoted), NULL, 10);
}

static int compare_trace(const char *folder, const char *line)
{
	const char *name = strstr(line, "\"trace\": \""), *end;
	struct vpt_source *src;
	struct loaded l;
	char path[1000];

	name = name ? name + strlen("\"trace\": \"") : "";
	end = strstr(name, ".sqlite\"");
	if (!end)
		return 0;
	snprintf(path, sizeof(path), "%s/traces/%.*s.sqlite", folder, (int)(end - name), name);
	if (vpt_source_open(path, &src, NULL))
		return 0;
	load_source(src, &l);
	if (l.rc)
		fail_msg("%s: %s", path, l.err.text);
	assert_int_equal(l.stats.truncated, 0);
	assert_int_equal(l.stats.malformed, 0);
	assert_int_equal(
		count_rows(&l, VPT_RANGE, VPT_RANGE_UNMATCHED, 0, 1), expected(line, "ranges"));
	assert_int_equal(count_rows(&l, VPT_KERNEL, -1, 0, 0), expected(line, "kernels"));
	assert_int_equal(count_rows(&l, VPT_COPY, VPT_COPY_COPY_KIND, VPT_COPYKIND_MEMSET, 0),
		expected(line, "memcpy"));
	assert_int_equal(count_rows(&l, VPT_COPY, VPT_COPY_COPY_KIND, VPT_COPYKIND_MEMSET, 1),
		expected(line, "memset"));
	assert_int_equal(count_rows(&l, VPT_COPY, VPT_COPY_COPY_KIND, VPT_COPYKIND_UNKNOWN, 1), 0);
	vpt_collect_free(l.collect);
	return 1;
}

static void shared_traces_give_the_expected_counts(void **state)
{
	const char *shared = getenv("VPT_SHARED"), *source = getenv("VPT_SOURCE_DIR");
	char folder[500], path[600], line[8000];
	int compared = 0;
	FILE *f;

	(void)state;
	if (shared)
		snprintf(folder, sizeof(folder), "%s", shared);
	else
		snprintf(folder, sizeof(folder), "%s/../shared", source ? source : ".");
	snprintf(path, sizeof(path), "%s/traces/expected.jsonl", folder);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		compared += compare_trace(folder, line);
	if (f)
		fclose(f);
	if (!compared) {
		vpt_skip("no real traces in %s", folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_become_rows),
		cmocka_unit_test(a_virtual_table_is_not_looked_at),
		cmocka_unit_test(values_are_not_trusted),
		cmocka_unit_test(bad_text_is_kept_and_counted_once_a_string),
		cmocka_unit_test(the_session_start_is_the_clock),
		cmocka_unit_test(no_memory_is_said),
		cmocka_unit_test(shared_traces_give_the_expected_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
