/* nsight_lifetimes.c - the lifetimes of objects: CUDA graphs and their nodes, device memory.
 *
 * The export has these tables only with --cuda-graph-trace=node and --cuda-memory-usage=true.
 *
 * Left out: creation and instantiation of graphs, which the calls show; sizes of memory pools. */
#include "formats/base/count.h"
#include "formats/import/nsight/nsight_import.h"

/* ---- graphs ---- */

enum { G_START, G_NAME, G_THREAD, G_OBJECT, G_ORIGIN };

static const struct vpt_nsight_field node_fields[] = {
	[G_START] = {"start", VPT_CELL_TIME, VPT_NEEDED, 0},
	[G_NAME] = {"nameId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[G_THREAD] = {"globalTid", VPT_CELL_BITS, VPT_NEEDED_IF_THERE, -1},
	[G_OBJECT] = {"graphNodeId", VPT_CELL_BITS, VPT_NEEDED, 0},
	[G_ORIGIN] = {"originalGraphNodeId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
};

static const struct vpt_nsight_field graph_fields[] = {
	[G_START] = {"start", VPT_CELL_TIME, VPT_NEEDED, 0},
	[G_NAME] = {"nameId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[G_THREAD] = {"globalTid", VPT_CELL_BITS, VPT_NEEDED_IF_THERE, -1},
	[G_OBJECT] = {"graphId", VPT_CELL_BITS, VPT_NEEDED, 0},
};

/* The tool describes the operation in prose: "Graph Node Creation". */
static int is_end(struct vpt_nsight *im, const struct vpt_cell *cell)
{
	struct vpt_nsight_name *name = vpt_nsight_find_string(im, &cell[G_NAME]);

	return name && vpt_nsight_has_word(vpt_nsight_name_text(&im->strings, name), "destr");
}

static int put_graph(
	struct vpt_nsight *im, const struct vpt_cell *cell, const struct vpt_graph *row)
{
	uint64_t lane;

	if (vpt_nsight_thread(im, cell[G_THREAD].number, &lane))
		return VPT_ENOMEM;
	vpt_collect_put(im->out, VPT_GRAPH, lane, row);
	vpt_nsight_note(im, cell[G_START].number);
	return VPT_OK;
}

static int node_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_graph row = {.time_ns = (uint64_t)cell[G_START].number,
		.graph_op = is_end(im, cell)        ? VPT_GRAPHOP_NODE_DESTROYED
			    : cell[G_ORIGIN].number ? VPT_GRAPHOP_NODE_CLONED
						    : VPT_GRAPHOP_NODE_CREATED,
		.node = (uint64_t)cell[G_OBJECT].number,
		.origin = (uint64_t)cell[G_ORIGIN].number};

	return put_graph(im, cell, &row);
}

static int graph_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_graph row = {.time_ns = (uint64_t)cell[G_START].number,
		.graph_op = VPT_GRAPHOP_DESTROYED,
		.graph = (uint64_t)cell[G_OBJECT].number};

	if (is_end(im, cell))
		return put_graph(im, cell, &row);
	im->stats->skipped++;
	return VPT_OK;
}

/* ---- memory ---- */

enum {
	M_START,
	M_PID,
	M_DEVICE,
	M_CONTEXT,
	M_STREAM,
	M_ADDRESS,
	M_BYTES,
	M_KIND,
	M_OPERATION,
	M_CORRELATION,
	M_POOL
};

static const struct vpt_nsight_field memory_fields[] = {
	[M_START] = {"start", VPT_CELL_TIME, VPT_NEEDED, 0},
	[M_PID] = {"globalPid", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[M_DEVICE] = {"deviceId", VPT_CELL_COUNT, VPT_OPTIONAL, -1},
	[M_CONTEXT] = {"contextId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[M_STREAM] = {"streamId", VPT_CELL_COUNT, VPT_OPTIONAL, -1},
	[M_ADDRESS] = {"address", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[M_BYTES] = {"bytes", VPT_CELL_COUNT, VPT_NEEDED, 0},
	[M_KIND] = {"memKind", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[M_OPERATION] = {"memoryOperationType", VPT_CELL_COUNT, VPT_NEEDED, 0},
	[M_CORRELATION] = {"correlationId", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[M_POOL] = {"localMemoryPoolAddress", VPT_CELL_BITS, VPT_OPTIONAL, 0},
};

static int memory_row(void *ctx, const struct vpt_cell *cell)
{
	/* The tool's numbers, the same in all versions. */
	static const uint64_t operations[] = {VPT_MEMOP_ALLOCATE, VPT_MEMOP_RELEASE};
	struct vpt_nsight *im = ctx;
	uint64_t operation = (uint64_t)cell[M_OPERATION].number;
	struct vpt_memory row = {.time_ns = (uint64_t)cell[M_START].number,
		.memory_op =
			operation < COUNT(operations) ? operations[operation] : VPT_MEMOP_UNKNOWN,
		.memory_kind = vpt_nsight_word(
			VPT_NSIGHT_MEMORY, &im->words[VPT_NSIGHT_MEMORY], cell[M_KIND].number),
		.address = (uint64_t)cell[M_ADDRESS].number,
		.bytes = (uint64_t)cell[M_BYTES].number,
		.pool = (uint64_t)cell[M_POOL].number,
		.correlation = (uint64_t)cell[M_CORRELATION].number};
	uint64_t lane = vpt_collect_stream(im->out,
		cell[M_PID].known ? vpt_nsight_pid(cell[M_PID].number) : -1, cell[M_DEVICE].number,
		(uint64_t)cell[M_CONTEXT].number, cell[M_STREAM].number);

	vpt_collect_put(im->out, VPT_MEMORY, lane, &row);
	vpt_nsight_note(im, cell[M_START].number);
	return VPT_OK;
}

const struct vpt_nsight_table vpt_nsight_lifetimes[] = {
	{"CUDA_GRAPH_NODE_EVENTS", node_fields, COUNT(node_fields), 1, node_row, NULL},
	{"CUDA_GRAPH_EVENTS", graph_fields, COUNT(graph_fields), 1, graph_row, NULL},
	{"CUDA_GPU_MEMORY_USAGE_EVENTS", memory_fields, COUNT(memory_fields), 1, memory_row, NULL},
	{0},
};
