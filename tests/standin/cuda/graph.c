/* graph.c - graphs: captured from streams, cloned into executable ones, launched whole.
 *
 *	BeginCapture(s)   s collects nodes; each depends on s's frontier and becomes it
 *	EventRecord(e,s)  e remembers the frontier;  StreamWaitEvent(t,e): t collects too, from there
 *	EndCapture(s)     all streams stop collecting
 *
 * Nodes stand in the order of capture, which is an order of their dependencies, so a launch is one
 * pass over them. */
#include "tests/standin/cuda/device_state.h"

#include <stdlib.h>
#include <string.h>

static uint32_t graph_count;

/* CUDA's numbers of node types. */
static const int node_types[SIM_TYPES] = {
	[SIM_KERNEL] = 0, [SIM_COPY] = 1, [SIM_MEMSET] = 2, [SIM_HOST] = 3};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static CUgraph graph_new(void)
{
	CUgraph g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	sim_may_stay(g);
	g->magic = SIM_GRAPH_MAGIC;
	g->id = ++graph_count;
	return g;
}

static void graph_free(CUgraph g)
{
	for (unsigned i = 0; i < g->count; i++) {
		free(g->nodes[i]->dependencies);
		free(g->nodes[i]);
	}
	free(g->nodes);
	g->magic = 0;
	free(g);
}

/* A node with the given dependencies; they are copied. NULL: no memory. */
static CUgraphNode add_node(
	CUgraph g, const struct sim_work *work, CUgraphNode const *dependencies, unsigned count)
{
	CUgraphNode n = calloc(1, sizeof(*n));
	CUgraphNode *d = calloc(count + 1, sizeof(CUgraphNode));

	if (n && d && g->count == g->capacity) {
		unsigned capacity = g->capacity ? g->capacity * 2 : 64;
		CUgraphNode *nodes = realloc(g->nodes, capacity * sizeof(CUgraphNode));

		if (nodes) {
			g->nodes = nodes;
			g->capacity = capacity;
		}
	}
	if (!n || !d || g->count == g->capacity) {
		free(n);
		free(d);
		return NULL;
	}
	if (count)
		memcpy(d, dependencies, count * sizeof(CUgraphNode));
	*n = (struct CUgraphNode_st){.graph = g,
		.id = ((uint64_t)g->id << 32) + g->count,
		.index = g->count,
		.work = *work,
		.dependency_count = count,
		.dependencies = d};
	g->nodes[g->count++] = n;
	return n;
}

static void tell_node(enum sim_resource_id id, CUgraphNode n, CUgraphNode original, CUgraphNode on)
{
	sim_tell(&(struct sim_resource){.id = id,
		.graph = n->graph,
		.original_graph = original ? original->graph : NULL,
		.node = n,
		.original_node = original,
		.node_type = node_types[n->work.type],
		.dependency = on});
}

static void tell_new_node(CUgraphNode n)
{
	tell_node(SIM_NODE_CREATED, n, NULL, NULL);
	for (unsigned i = 0; i < n->dependency_count; i++)
		tell_node(SIM_DEPENDENCY_CREATED, n, NULL, n->dependencies[i]);
}

/* ---- capture ---- */

static void each_capturing(CUcontext context, CUgraph g, void (*act)(CUstream))
{
	for (CUstream s = context->streams; s; s = s->next)
		if (s->capture && (!g || s->capture == g))
			act(s);
}

static void leave(CUstream s)
{
	s->capture = NULL;
	s->capture_origin = 0;
	s->frontier.count = 0;
}

static void spoil(CUstream s)
{
	s->capture->invalid = 1;
}

int sim_capture_begin(struct sim_call *call, CUstream stream, int mode)
{
	int error = sim_stream_find(&stream);

	if (error)
		return error;
	if (stream->capture || stream == &stream->context->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	stream->capture = graph_new();
	if (!stream->capture)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->capture_mode = mode;
	stream->capture_origin = 1;
	stream->frontier.count = 0;
	sim_spend(call);
	sim_tell(&(struct sim_resource){
		.id = SIM_GRAPH_CREATED, .context = stream->context, .graph = stream->capture});
	return 0;
}

int sim_capture_work(CUstream stream, const struct sim_work *work)
{
	CUgraph g = stream->capture;
	CUgraphNode n;

	if (g->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	sim_tell(&(struct sim_resource){
		.id = SIM_NODE_STARTING, .graph = g, .node_type = node_types[work->type]});
	n = add_node(g, work, stream->frontier.nodes, stream->frontier.count);
	if (!n)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->frontier.nodes[0] = n;
	stream->frontier.count = 1;
	tell_new_node(n);
	return 0;
}

void sim_capture_join(CUstream stream, const struct CUevent_st *event)
{
	struct sim_frontier *f = &stream->frontier;

	if (!stream->capture) {
		stream->capture = event->capture;
		f->count = 0;
	}
	for (unsigned i = 0; i < event->frontier.count; i++) {
		unsigned k = 0;

		while (k < f->count && f->nodes[k] != event->frontier.nodes[i])
			k++;
		if (k < f->count)
			continue;
		if (f->count == SIM_FRONTIER_MAX) {
			stream->capture->invalid = 1;
			return;
		}
		f->nodes[f->count++] = event->frontier.nodes[i];
	}
}

int sim_capture_end(struct sim_call *call, CUstream stream, CUgraph *out)
{
	int error = sim_stream_find(&stream);
	CUgraph g;

	*out = NULL;
	if (error)
		return error;
	g = stream->capture;
	if (!g || !stream->capture_origin)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	sim_spend(call);
	each_capturing(stream->context, g, leave);
	if (g->invalid) {
		graph_free(g);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	*out = g;
	return 0;
}

int sim_capture_status(CUstream stream, int *status)
{
	int error = sim_stream_find(&stream);

	if (error)
		return error;
	*status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
	if (stream != &stream->context->legacy)
		return 0;
	for (CUstream s = stream->context->streams; s; s = s->next)
		if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING))
			return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	return 0;
}

int sim_exchange_mode(int *mode)
{
	static __thread int own;
	int before = own;

	own = *mode;
	*mode = before;
	return 0;
}

int sim_capture_forbids(CUcontext context, CUstream stream)
{
	int found = 0;

	for (CUstream s = context->streams; s; s = s->next) {
		int touched = !stream || stream == s ||
			      (stream == &context->legacy && !(s->flags & CU_STREAM_NON_BLOCKING));

		if (!s->capture || !touched)
			continue;
		spoil(s);
		found = stream == &context->legacy ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
						   : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return found;
}

/* ---- executable graphs ---- */

static int clone_nodes(CUgraph to, CUgraph from)
{
	for (unsigned i = 0; i < from->count; i++) {
		CUgraphNode old = from->nodes[i], n;

		n = add_node(to, &old->work, old->dependencies, old->dependency_count);
		if (!n)
			return CUDA_ERROR_OUT_OF_MEMORY;
		for (unsigned k = 0; k < n->dependency_count; k++)
			n->dependencies[k] = to->nodes[old->dependencies[k]->index];
		tell_new_node(n);
		tell_node(SIM_NODE_CLONED, n, old, NULL);
	}
	return 0;
}

int sim_instantiate(struct sim_call *call, CUgraphExec *out, CUgraph graph)
{
	CUgraphExec e;

	*out = NULL;
	if (!graph || graph->magic != SIM_GRAPH_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	sim_tell(&(struct sim_resource){.id = SIM_EXEC_STARTING, .graph = graph});
	e = calloc(1, sizeof(*e));
	if (e)
		e->graph = graph_new();
	if (!e || !e->graph) {
		free(e);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_spend(call);
	sim_tell(&(struct sim_resource){
		.id = SIM_GRAPH_CLONED, .graph = e->graph, .original_graph = graph});
	if (clone_nodes(e->graph, graph)) {
		graph_free(e->graph);
		free(e);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_may_stay(e);
	e->magic = SIM_EXEC_MAGIC;
	sim_tell(&(struct sim_resource){
		.id = SIM_EXEC_CREATED, .graph = graph, .exec = e, .original_graph = graph});
	*out = e;
	return 0;
}

/* Gives every node its time, and *end_ns that of the last one. */
static int schedule(CUgraph g, struct sim_op op, uint64_t first_ns, uint64_t *end_ns)
{
	*end_ns = first_ns;

	for (unsigned i = 0; i < g->count; i++) {
		CUgraphNode n = g->nodes[i];
		struct sim_met met;
		int error;

		op.start_ns = first_ns;
		for (unsigned k = 0; k < n->dependency_count; k++)
			op.start_ns = later(op.start_ns, n->dependencies[k]->end_ns);
		op.work = &n->work;
		op.graph_node = n->id;
		error = sim_run(&op, &met);
		if (error)
			return error;
		n->end_ns = op.end_ns;
		*end_ns = later(*end_ns, op.end_ns);
		sim_op_done(&op, &met);
	}
	return 0;
}

int sim_graph_launch(struct sim_call *call, CUgraphExec exec, CUstream stream)
{
	struct sim_graph_run run;
	struct sim_op op;
	int error = sim_stream_find(&stream);
	CUcontext context;

	if (error)
		return error;
	if (!sim_is_exec(exec))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	context = stream->context;
	sim_queue_wait(call, context);
	op = (struct sim_op){.device = (uint32_t)context->device,
		.context = context->id,
		.stream = stream->id,
		.correlation = call->correlation,
		.graph = exec->graph->id};
	run = (struct sim_graph_run){.start_ns = sim_earliest(stream, standin_now()),
		.device = op.device,
		.context = op.context,
		.stream = op.stream,
		.correlation = op.correlation,
		.graph = op.graph};
	error = schedule(exec->graph, op, run.start_ns, &run.end_ns);
	if (error)
		return error;
	sim_stream_done(stream, run.end_ns);
	sim_queue_put(context, run.end_ns);
	if (sim_watcher())
		sim_watcher()->graph(&run);
	return 0;
}

int sim_exec_destroy(CUgraphExec exec)
{
	if (!sim_is_exec(exec))
		return CUDA_ERROR_INVALID_VALUE;
	sim_tell(
		&(struct sim_resource){.id = SIM_EXEC_DESTROY, .graph = exec->graph, .exec = exec});
	graph_free(exec->graph);
	exec->magic = 0;
	free(exec);
	return 0;
}

int sim_graph_destroy(CUgraph graph)
{
	if (!graph || graph->magic != SIM_GRAPH_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < graph->count; i++)
		tell_node(SIM_NODE_DESTROY, graph->nodes[i], NULL, NULL);
	sim_tell(&(struct sim_resource){.id = SIM_GRAPH_DESTROY, .graph = graph});
	graph_free(graph);
	return 0;
}

int sim_graph_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	if (!graph || graph->magic != SIM_GRAPH_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	if (nodes && *count > graph->count)
		*count = graph->count;
	if (nodes)
		memcpy(nodes, graph->nodes, *count * sizeof(CUgraphNode));
	else
		*count = graph->count;
	return 0;
}

int sim_is_exec(CUgraphExec exec)
{
	return exec && exec->magic == SIM_EXEC_MAGIC;
}

uint32_t sim_graph_id(CUgraph graph)
{
	return graph->id;
}

uint32_t sim_exec_id(CUgraphExec exec)
{
	return exec->graph->id;
}

uint64_t sim_node_id(CUgraphNode node)
{
	return node->id;
}
