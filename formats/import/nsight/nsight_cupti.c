/* nsight_cupti.c - rows of CUPTI's tables in an Nsight Systems export: work on devices, calls,
 * synchronisation, overhead, and the losses that the tool reports. One list of fields and one
 * function per table. */
#include "formats/import/nsight/nsight_import.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/calls.h"

#include <stdlib.h>
#include <string.h>

static const int64_t INVALID_ID = 0xffffffff; /* how the tool writes "no stream", "no event" */

/* ---- work on a device ---- */

/* The first fields of every table about a stream. */
enum {
	OP_START,
	OP_END,
	OP_DEVICE,
	OP_CONTEXT,
	OP_STREAM,
	OP_CORRELATION,
	OP_PID,
	OP_NODE,
	OP_FIELDS
};

#define FIELDS_OF_LANES                                                                            \
	[OP_DEVICE] = {"deviceId", VPT_CELL_COUNT, VPT_OPTIONAL, -1},                              \
	[OP_CONTEXT] = {"contextId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},                             \
	[OP_STREAM] = {"streamId", VPT_CELL_COUNT, VPT_OPTIONAL, -1},                              \
	[OP_CORRELATION] = {"correlationId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},                     \
	[OP_PID] = {"globalPid", VPT_CELL_BITS, VPT_OPTIONAL, 0},                                  \
	[OP_NODE] = {"graphNodeId", VPT_CELL_BITS, VPT_OPTIONAL, 0}

#define FIELDS_OF_OPS                                                                              \
	[OP_START] = {"start", VPT_CELL_TIME, VPT_NEEDED, 0},                                      \
	[OP_END] = {"end", VPT_CELL_TIME, VPT_NEEDED, 0}, FIELDS_OF_LANES

static int has_stream(const struct vpt_cell *cell)
{
	return cell[OP_STREAM].known && cell[OP_STREAM].number != INVALID_ID;
}

static uint64_t stream_lane(struct vpt_nsight *im, const struct vpt_cell *cell)
{
	return vpt_collect_stream(im->out,
		cell[OP_PID].known ? vpt_nsight_pid(cell[OP_PID].number) : -1,
		cell[OP_DEVICE].number, (uint64_t)cell[OP_CONTEXT].number,
		has_stream(cell) ? cell[OP_STREAM].number : -1);
}

static uint64_t duration(const struct vpt_cell *cell)
{
	return (uint64_t)cell[OP_END].number - (uint64_t)cell[OP_START].number;
}

static uint64_t word_of(
	struct vpt_nsight *im, enum vpt_nsight_words set, const struct vpt_cell *cell)
{
	return cell->known ? vpt_nsight_word(set, &im->words[set], cell->number) : 0;
}

static int compare_launches(const void *pa, const void *pb)
{
	const struct vpt_nsight_launch *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

static struct vpt_nsight_launch launch_of(const struct vpt_cell *cell)
{
	return (struct vpt_nsight_launch){
		cell[OP_PID].known ? cell[OP_PID].number : -1, cell[OP_CORRELATION].number};
}

/* Notes that nodes of a graph's launch are recorded. 0 or VPT_ENOMEM. */
static int note_node(struct vpt_nsight *im, const struct vpt_cell *cell)
{
	struct vpt_nsight_launch launch = launch_of(cell);

	if (!cell[OP_NODE].number || !launch.correlation ||
		(im->node_count &&
			!compare_launches(&launch, &im->node_launches[im->node_count - 1])))
		return VPT_OK;
	if (vpt_grow(&im->node_launches, &im->node_cap, im->node_count + 1,
		    sizeof(*im->node_launches)))
		return VPT_ENOMEM;
	im->node_launches[im->node_count++] = launch;
	im->nodes_are_sorted = 0;
	return VPT_OK;
}

static int has_nodes(struct vpt_nsight *im, const struct vpt_cell *cell)
{
	struct vpt_nsight_launch launch = launch_of(cell);

	if (!im->node_count || !launch.correlation)
		return 0;
	if (!im->nodes_are_sorted)
		qsort(im->node_launches, im->node_count, sizeof(launch), compare_launches);
	im->nodes_are_sorted = 1;
	return bsearch(&launch, im->node_launches, im->node_count, sizeof(launch),
		       compare_launches) != NULL;
}

/* The driver moves pages on no stream; what the tool writes in that column varies. */
static uint64_t migration_lane(struct vpt_nsight *im, const struct vpt_cell *cell)
{
	static const char name[] = "unified memory";
	uint64_t lane = vpt_collect_stream(im->out,
		cell[OP_PID].known ? vpt_nsight_pid(cell[OP_PID].number) : -1,
		cell[OP_DEVICE].number, 0, -1);

	vpt_collect_name_lane(im->out, lane, vpt_collect_string(im->out, name, sizeof(name) - 1));
	return lane;
}

/* From K_CONFIG on, in the order of struct vpt_config after its name. */
enum {
	K_DEMANGLED = OP_FIELDS,
	K_MANGLED,
	K_SHORT,
	K_NAME, /* of old exports */
	K_CONFIG,
	K_FIELDS = K_CONFIG + VPT_CONFIG_COLUMNS - 1
};

#define CONFIG_FIELD(COL, column)                                                                  \
	[K_CONFIG + VPT_CONFIG_##COL - 1] = {column, VPT_CELL_COUNT, VPT_OPTIONAL, 0}

static const struct vpt_nsight_field kernel_fields[] = {
	FIELDS_OF_OPS,
	[K_DEMANGLED] = {"demangledName", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[K_MANGLED] = {"mangledName", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[K_SHORT] = {"shortName", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[K_NAME] = {"name", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	CONFIG_FIELD(GRID_X, "gridX"),
	CONFIG_FIELD(GRID_Y, "gridY"),
	CONFIG_FIELD(GRID_Z, "gridZ"),
	CONFIG_FIELD(BLOCK_X, "blockX"),
	CONFIG_FIELD(BLOCK_Y, "blockY"),
	CONFIG_FIELD(BLOCK_Z, "blockZ"),
	CONFIG_FIELD(STATIC_SHARED, "staticSharedMemory"),
	CONFIG_FIELD(DYNAMIC_SHARED, "dynamicSharedMemory"),
	CONFIG_FIELD(REGISTERS, "registersPerThread"),
	CONFIG_FIELD(LOCAL, "localMemoryPerThread"),
	CONFIG_FIELD(CLUSTER_X, "clusterX"),
	CONFIG_FIELD(CLUSTER_Y, "clusterY"),
	CONFIG_FIELD(CLUSTER_Z, "clusterZ"),
	CONFIG_FIELD(GRAPH, "graphId"),
};
_Static_assert(COUNT(kernel_fields) == K_FIELDS, "a column of CONFIG has no field");
_Static_assert((int)K_FIELDS <= (int)VPT_NSIGHT_FIELDS_MAX, "raise VPT_NSIGHT_FIELDS_MAX");

static int kernel_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	uint64_t columns[VPT_CONFIG_COLUMNS] = {0};
	struct vpt_nsight_name *name = NULL;
	struct vpt_config config;
	struct vpt_kernel row = {.start_ns = (uint64_t)cell[OP_START].number,
		.duration_ns = duration(cell),
		.correlation = (uint64_t)cell[OP_CORRELATION].number,
		.graph_node = (uint64_t)cell[OP_NODE].number};
	int i;

	for (i = K_DEMANGLED; i <= K_NAME && !name; i++)
		name = vpt_nsight_find_string(im, &cell[i]);
	if (name)
		columns[VPT_CONFIG_NAME] = vpt_nsight_string(im, name);
	else
		im->unnamed++;
	if (note_node(im, cell))
		return VPT_ENOMEM;
	for (i = 1; i < VPT_CONFIG_COLUMNS; i++)
		columns[i] = (uint64_t)cell[K_CONFIG + i - 1].number;
	memcpy(&config, columns, sizeof(config));
	row.config = vpt_collect_config(im->out, &config);
	vpt_collect_put(im->out, VPT_KERNEL, stream_lane(im, cell), &row);
	vpt_nsight_note(im, cell[OP_END].number);
	return VPT_OK;
}

enum { C_BYTES = OP_FIELDS, C_KIND, C_SOURCE, C_TARGET, C_SOURCE_DEVICE, C_TARGET_DEVICE };

static const struct vpt_nsight_field copy_fields[] = {
	FIELDS_OF_OPS,
	[C_BYTES] = {"bytes", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[C_KIND] = {"copyKind", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[C_SOURCE] = {"srcKind", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[C_TARGET] = {"dstKind", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[C_SOURCE_DEVICE] = {"srcDeviceId", VPT_CELL_COUNT, VPT_OPTIONAL, -1},
	[C_TARGET_DEVICE] = {"dstDeviceId", VPT_CELL_COUNT, VPT_OPTIONAL, -1},
};

/* 1 + the end of a peer copy that is not the device it ran on; 0: neither. */
static uint64_t peer_of(const struct vpt_cell *cell)
{
	int64_t here = cell[OP_DEVICE].number;

	if (cell[C_TARGET_DEVICE].known && cell[C_TARGET_DEVICE].number != here)
		return 1 + (uint64_t)cell[C_TARGET_DEVICE].number;
	if (cell[C_SOURCE_DEVICE].known && cell[C_SOURCE_DEVICE].number != here)
		return 1 + (uint64_t)cell[C_SOURCE_DEVICE].number;
	return 0;
}

static int copy_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_copy row = {.start_ns = (uint64_t)cell[OP_START].number,
		.duration_ns = duration(cell),
		.copy_kind = word_of(im, VPT_NSIGHT_COPY, &cell[C_KIND]),
		.source_memory = word_of(im, VPT_NSIGHT_MEMORY, &cell[C_SOURCE]),
		.target_memory = word_of(im, VPT_NSIGHT_MEMORY, &cell[C_TARGET]),
		.correlation = (uint64_t)cell[OP_CORRELATION].number,
		.bytes = (uint64_t)cell[C_BYTES].number,
		.graph_node = (uint64_t)cell[OP_NODE].number};

	if (row.copy_kind == VPT_COPYKIND_PTOP)
		row.peer = peer_of(cell);
	vpt_collect_put(im->out, VPT_COPY,
		vpt_copy_is_migration(row.copy_kind) ? migration_lane(im, cell)
						     : stream_lane(im, cell),
		&row);
	vpt_nsight_note(im, cell[OP_END].number);
	return note_node(im, cell);
}

enum { M_BYTES = OP_FIELDS, M_VALUE, M_KIND };

static const struct vpt_nsight_field memset_fields[] = {
	FIELDS_OF_OPS,
	[M_BYTES] = {"bytes", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[M_VALUE] = {"value", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[M_KIND] = {"memKind", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
};

static int memset_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_copy row = {.start_ns = (uint64_t)cell[OP_START].number,
		.duration_ns = duration(cell),
		.copy_kind = VPT_COPYKIND_MEMSET,
		.target_memory = word_of(im, VPT_NSIGHT_MEMORY, &cell[M_KIND]),
		.value = (uint64_t)cell[M_VALUE].number,
		.correlation = (uint64_t)cell[OP_CORRELATION].number,
		.bytes = (uint64_t)cell[M_BYTES].number,
		.graph_node = (uint64_t)cell[OP_NODE].number};

	vpt_collect_put(im->out, VPT_COPY, stream_lane(im, cell), &row);
	vpt_nsight_note(im, cell[OP_END].number);
	return note_node(im, cell);
}

enum { GRAPH_ID = OP_FIELDS };

static const struct vpt_nsight_field graph_fields[] = {
	FIELDS_OF_OPS,
	[GRAPH_ID] = {"graphId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
};

/* By default the tool records a graph launch as a whole: its time, but none of its kernels. It keeps its
 * stream busy like a kernel. If the nodes are there too, they are the work. */
static int graph_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_config config = {.name = vpt_collect_string(im->out, "CUDA graph", 10),
		.graph = (uint64_t)cell[GRAPH_ID].number};
	struct vpt_kernel row = {.start_ns = (uint64_t)cell[OP_START].number,
		.duration_ns = duration(cell),
		.correlation = (uint64_t)cell[OP_CORRELATION].number};

	if (has_nodes(im, cell)) {
		im->stats->skipped++;
		return VPT_OK;
	}
	row.config = vpt_collect_config(im->out, &config);
	vpt_collect_put(im->out, VPT_KERNEL, stream_lane(im, cell), &row);
	vpt_nsight_note(im, cell[OP_END].number);
	im->graphs++;
	return VPT_OK;
}

enum { S_KIND = OP_FIELDS, S_EVENT, S_SYNC_ID };

static const struct vpt_nsight_field sync_fields[] = {
	FIELDS_OF_OPS,
	[S_KIND] = {"syncType", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[S_EVENT] = {"eventId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[S_SYNC_ID] = {"eventSyncId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
};

static uint64_t valid_id(const struct vpt_cell *cell, uint64_t add)
{
	return cell->known && cell->number != INVALID_ID ? (uint64_t)cell->number + add : 0;
}

static int sync_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	uint64_t lane = 0;
	struct vpt_sync row = {.start_ns = (uint64_t)cell[OP_START].number,
		.duration_ns = duration(cell),
		.sync_kind = word_of(im, VPT_NSIGHT_SYNC, &cell[S_KIND]),
		.correlation = (uint64_t)cell[OP_CORRELATION].number,
		.context = (uint64_t)cell[OP_CONTEXT].number,
		.event = valid_id(&cell[S_EVENT], 1),
		.sync_id = valid_id(&cell[S_SYNC_ID], 0)};

	if (has_stream(cell) &&
		(row.sync_kind == VPT_SYNCKIND_STREAM || row.sync_kind == VPT_SYNCKIND_STREAM_WAIT))
		lane = stream_lane(im, cell);
	/* For a wait of a stream, the row has only the event, not the stream waited for. */
	row.stream = row.sync_kind == VPT_SYNCKIND_STREAM ? lane : 0;
	vpt_collect_put(im->out, VPT_SYNC, lane, &row);
	vpt_nsight_note(im, cell[OP_END].number);
	return VPT_OK;
}

enum { E_EVENT = OP_FIELDS, E_SYNC_ID };

/* The device's time of an event is collected only on demand; older exports lack the column. */
static const struct vpt_nsight_field event_fields[] = {
	FIELDS_OF_LANES,
	[OP_START] = {"timestamp", VPT_CELL_TIME, VPT_OPTIONAL, 0},
	[OP_END] = {"timestamp", VPT_CELL_TIME, VPT_OPTIONAL, 0},
	[E_EVENT] = {"eventId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[E_SYNC_ID] = {"eventSyncId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
};

static int event_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_event row = {.time_ns = (uint64_t)cell[OP_START].number,
		.event = valid_id(&cell[E_EVENT], 1),
		.sync_id = valid_id(&cell[E_SYNC_ID], 0),
		.correlation = (uint64_t)cell[OP_CORRELATION].number};

	vpt_collect_put(im->out, VPT_EVENT, stream_lane(im, cell), &row);
	im->rows++;
	return VPT_OK;
}

/* ---- unified memory ---- */

static const struct vpt_nsight_field fault_fields[] = {FIELDS_OF_OPS};

/* The GPU waits for pages, in a kernel. */
static int fault_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_overhead row = {.start_ns = (uint64_t)cell[OP_START].number,
		.duration_ns = duration(cell),
		.overhead_kind = VPT_OVERHEADKIND_PAGE_FAULTS};

	vpt_collect_put(im->out, VPT_OVERHEAD, migration_lane(im, cell), &row);
	vpt_nsight_note(im, cell[OP_END].number);
	return VPT_OK;
}

/* ---- calls ---- */

enum { A_START, A_END, A_THREAD, A_CORRELATION, A_NAME, A_RESULT };

static const struct vpt_nsight_field call_fields[] = {
	[A_START] = {"start", VPT_CELL_TIME, VPT_NEEDED, 0},
	[A_END] = {"end", VPT_CELL_TIME, VPT_NEEDED, 0},
	[A_THREAD] = {"globalTid", VPT_CELL_BITS, VPT_NEEDED_IF_THERE, -1},
	[A_CORRELATION] = {"correlationId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[A_NAME] = {"nameId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[A_RESULT] = {"returnValue", VPT_CELL_BITS, VPT_OPTIONAL, 0},
};

/* A call in calls.def needs no text, whatever endings the tool added to its name. */
static void name_call(struct vpt_nsight *im, const struct vpt_cell *id, struct vpt_call *row)
{
	struct vpt_nsight_name *name = vpt_nsight_find_string(im, id);
	struct vpt_text text;

	if (!name) {
		im->unnamed++;
		return;
	}
	text = vpt_nsight_name_text(&im->strings, name);
	if (name->number < 0)
		name->number = (int32_t)vpt_call_find(text.text, text.len);
	row->id = (uint64_t)name->number;
	if (!row->id)
		row->name = vpt_nsight_string(im, name);
}

static int call_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	uint64_t lane;
	struct vpt_call row = {.start_ns = (uint64_t)cell[A_START].number,
		.duration_ns = (uint64_t)cell[A_END].number - (uint64_t)cell[A_START].number,
		.correlation = (uint64_t)cell[A_CORRELATION].number,
		.result = (uint64_t)(int64_t)(int32_t)(uint32_t)(uint64_t)cell[A_RESULT].number};

	if (vpt_nsight_thread(im, cell[A_THREAD].number, &lane))
		return VPT_ENOMEM;
	name_call(im, &cell[A_NAME], &row);
	vpt_collect_put(im->out, VPT_CALL, lane, &row);
	vpt_nsight_note(im, cell[A_END].number);
	return VPT_OK;
}

/* ---- overhead and losses of tracing ---- */

enum { O_START, O_END, O_THREAD, O_CORRELATION, O_NAME, O_KIND };

static const struct vpt_nsight_field overhead_fields[] = {
	[O_START] = {"start", VPT_CELL_TIME, VPT_NEEDED, 0},
	[O_END] = {"end", VPT_CELL_TIME, VPT_NEEDED, 0},
	[O_THREAD] = {"globalTid", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[O_CORRELATION] = {"correlationId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[O_NAME] = {"nameId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[O_KIND] = {"overheadType", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
};

static int overhead_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_nsight_name *name = vpt_nsight_find_string(im, &cell[O_NAME]);
	uint64_t lane = 0;
	struct vpt_overhead row = {.start_ns = (uint64_t)cell[O_START].number,
		.duration_ns = (uint64_t)cell[O_END].number - (uint64_t)cell[O_START].number,
		.correlation = (uint64_t)cell[O_CORRELATION].number};

	if (name)
		row.overhead_kind = (uint64_t)vpt_nsight_match(
			VPT_NSIGHT_OVERHEAD, vpt_nsight_name_text(&im->strings, name));
	if (!row.overhead_kind)
		row.overhead_kind = word_of(im, VPT_NSIGHT_OVERHEAD, &cell[O_KIND]);
	if (cell[O_THREAD].known && vpt_nsight_thread(im, cell[O_THREAD].number, &lane))
		return VPT_ENOMEM;
	vpt_collect_put(im->out, VPT_OVERHEAD, lane, &row);
	vpt_nsight_note(im, cell[O_END].number);
	return VPT_OK;
}

enum { D_TIME, D_TEXT, D_SEVERITY };

static const struct vpt_nsight_field diagnostic_fields[] = {
	[D_TIME] = {"timestamp", VPT_CELL_STAMP, VPT_NEEDED, 0},
	[D_TEXT] = {"text", VPT_CELL_TEXT, VPT_NEEDED, 0},
	[D_SEVERITY] = {"severity", VPT_CELL_COUNT, VPT_OPTIONAL, 2},
};

enum { SEVERITY_WARNING = 2, SEVERITY_ERROR = 3 }; /* the same in all versions */

/* Keeps the first of the most severe texts about CUDA: the tool's own reason for what is missing. A text
 * that only says what "might" be is the least severe. */
static void note_diagnostic(struct vpt_nsight *im, struct vpt_text text, int64_t severity)
{
	size_t len = text.len < sizeof(im->diagnostic) ? text.len : sizeof(im->diagnostic) - 1;

	if (severity < SEVERITY_WARNING || severity > SEVERITY_ERROR)
		return;
	severity = vpt_nsight_has_word(text, "might") ? 1 : severity;
	if (severity <= im->severity)
		return;
	while (len && text.len > len && ((unsigned char)text.text[len] & 0xc0) == 0x80)
		len--;
	memcpy(im->diagnostic, text.text, len);
	im->diagnostic[len] = '\0';
	im->severity = severity;
}

/* The first number of a text, ~0 if there is none. */
static uint64_t first_number(struct vpt_text text)
{
	uint64_t value = 0;
	size_t i = 0, first;

	while (i < text.len && (text.text[i] < '0' || text.text[i] > '9'))
		i++;
	for (first = i;
		i < text.len && i < first + 18 && text.text[i] >= '0' && text.text[i] <= '9'; i++)
		value = value * 10 + (uint64_t)(text.text[i] - '0');
	return i > first ? value : UINT64_MAX;
}

/* The tool warns in nearly every trace that events "might" be missing. Only a definite statement
 * that CUDA records were lost counts. */
static int diagnostic_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_text text = cell[D_TEXT].text;
	uint64_t count = first_number(text);
	int is_loss;

	if (!vpt_nsight_has_word(text, "cuda") && !vpt_nsight_has_word(text, "cupti"))
		return VPT_OK;
	is_loss = vpt_nsight_has_word(text, "dropped") || vpt_nsight_has_word(text, "lost");
	if (!count || (is_loss && vpt_nsight_has_word(text, "no cuda")))
		return VPT_OK;
	note_diagnostic(im, text, cell[D_SEVERITY].number);
	if (!is_loss || vpt_nsight_has_word(text, "might"))
		return VPT_OK;
	if (vpt_grow(&im->losses, &im->loss_cap, im->loss_count + 1, sizeof(*im->losses)))
		return VPT_ENOMEM;
	im->losses[im->loss_count++] = (struct vpt_nsight_loss){
		cell[D_TIME].number > 0 ? (uint64_t)cell[D_TIME].number : 0,
		count == UINT64_MAX ? 0 : count};
	return VPT_OK;
}

void vpt_nsight_put_losses(struct vpt_nsight *im)
{
	size_t i;

	for (i = 0; i < im->loss_count; i++) {
		struct vpt_loss row = {.start_ns = im->losses[i].time_ns,
			.loss_kind = VPT_LOSSKIND_DROPPED,
			.count = im->losses[i].count};

		/* Written when the session ended, perhaps on another clock. */
		if (row.start_ns > im->last_ns)
			row.start_ns = im->last_ns;
		vpt_collect_put(im->out, VPT_LOSS, 0, &row);
	}
}

/* ---- the tables ---- */

#define TABLE(name, fields, row)                                                                   \
	{                                                                                          \
		name, fields, COUNT(fields), 1, row, NULL                                          \
	}

const struct vpt_nsight_table vpt_nsight_tables[] = {
	TABLE("CUPTI_ACTIVITY_KIND_KERNEL", kernel_fields, kernel_row),
	TABLE("CUPTI_ACTIVITY_KIND_MEMCPY", copy_fields, copy_row),
	TABLE("CUPTI_ACTIVITY_KIND_MEMSET", memset_fields, memset_row),
	TABLE("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_fields, graph_row),
	TABLE("CUDA_UM_GPU_PAGE_FAULT_EVENTS", fault_fields, fault_row),
	TABLE("CUPTI_ACTIVITY_KIND_RUNTIME", call_fields, call_row),
	TABLE("CUPTI_ACTIVITY_KIND_DRIVER", call_fields, call_row),
	TABLE("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_fields, sync_row),
	TABLE("CUPTI_ACTIVITY_KIND_CUDA_EVENT", event_fields, event_row),
	TABLE("CUPTI_ACTIVITY_KIND_OVERHEAD", overhead_fields, overhead_row),
	TABLE("PROFILER_OVERHEAD", overhead_fields, overhead_row),
	{"DIAGNOSTIC_EVENT", diagnostic_fields, COUNT(diagnostic_fields), 0, diagnostic_row, NULL},
	{0},
};
