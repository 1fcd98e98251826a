/* perfetto_export.c - a trace in Perfetto's format: the pass that drives its parts.
 *
 * Ops, calls and ranges are written from the chunks' rows, in full detail; their meaning comes from the
 * resolver. Left out for lack of records: how a multiprocessor's cache was split, and barriers, which
 * limit occupancy too. */
#include "analysis/export/perfetto/perfetto_parts.h"
#include "analysis/export/perfetto/lanes/launch_links.h"
#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/export/perfetto/lanes/result_tracks.h"
#include "analysis/join/call_waits.h"
#include "formats/base/saturate.h"

enum { GROUP_BYTES = 640 << 10, RESTART_BYTES = 64 << 20, SEQUENCE_GPU = 2 };

struct perfetto {
	struct vpa_ex_out x;
	struct vpa_op_waits *waits;
	struct vpa_ex_ops *ops;
	struct vpa_ex_host *host;
	struct vpa_ex_counters *counters;
	struct vpa_ex_stacks *stacks;
	uint64_t boot_shift_ns; /* CLOCK_BOOTTIME = trace clock + this */
	uint64_t residual_ns;   /* how far the clocks have drifted apart since the first row */
};

/* ---- clocks ---- */

static void read_clock(struct perfetto *p, const struct vpt_section *s)
{
	uint32_t row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t boot = s->col[VPT_CLOCK_BOOTTIME][row];

		if (boot)
			p->residual_ns =
				vpt_distance(boot, s->col[VPT_CLOCK_TRACE][row] + p->boot_shift_ns);
	}
}

/* The first clock row of a chunk that has CLOCK_BOOTTIME. Returns whether there is one. */
static int find_clock(const struct vpt_batch *b, struct vpt_clock *out)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_CLOCK);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++) {
		*out = (struct vpt_clock){.trace_ns = s->col[VPT_CLOCK_TRACE][row],
			.realtime_ns = s->col[VPT_CLOCK_REALTIME][row],
			.monotonic_ns = s->col[VPT_CLOCK_MONOTONIC][row],
			.boottime_ns = s->col[VPT_CLOCK_BOOTTIME][row]};
		if (out->boottime_ns)
			return 1;
	}
	return 0;
}

/* One moment on several clocks, to convert all times: the capture's first, else its end. A trace
 * without one keeps its own time. */
static struct vpt_clock choose_clock(const struct vpt_trace *trace)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	size_t count = vpt_trace_chunks(trace);
	struct vpt_clock clock = {0};
	struct vpt_batch batch;

	vpt_batch_init(&batch);
	if (decoder && count && vpt_trace_reader(trace)) {
		int found = !vpt_trace_chunk(trace, decoder, 0, &batch, NULL) &&
			    find_clock(&batch, &clock);

		if (!found && count > 1 &&
			!vpt_trace_chunk(trace, decoder, count - 1, &batch, NULL))
			find_clock(&batch, &clock);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return clock;
}

/* ---- the pass ---- */

static int take_group(void *ctx, const void *data, size_t size)
{
	const struct vpa_export_context *c = ((struct perfetto *)ctx)->x.c;

	return vpa_groups_put(c->groups, data, size, c->err);
}

/* Where sequences begin: nothing is earlier, except in a damaged file. */
static uint64_t earliest(const struct vpa_ex_out *x)
{
	uint64_t t = vpt_trace_times_from(x->c->trace, 0), window = x->model->window_start_ns;

	return t < window || !window ? (t == UINT64_MAX ? 0 : t) : window;
}

/* The first packets. A clock that is not the machine's own counts from 1970, also as the time since
 * the boot: Perfetto drops what is before that of any machine. */
static void begin_file(struct perfetto *p)
{
	struct vpa_ex_out *x = &p->x;
	const struct vpa_report *r = x->view.report;
	const struct vpa_export_clock *given = &x->options->clock;
	struct vpt_pf_clocks clocks = {0};
	struct vpt_clock clock = choose_clock(x->c->trace);

	x->start_ns = earliest(x);
	if (clock.boottime_ns)
		p->boot_shift_ns = clock.boottime_ns - clock.trace_ns;
	x->ppb = given->placed.ppb;
	x->even_ns = given->placed.origin_ns;
	x->shift_ns = given->kind == VPA_CLOCK_OWN           ? p->boot_shift_ns
		      : given->kind == VPA_CLOCK_TIME_OF_DAY ? r->unix_offset_ns
		      : given->kind == VPA_CLOCK_PLACED
			      ? given->start_ns + (uint64_t)given->placed.offset_ns - x->even_ns
			      : given->start_ns - x->start_ns;
	clocks.boottime_ns = clocks.realtime_ns = vpa_ex_time(x, x->start_ns);
	if (given->kind == VPA_CLOCK_OWN) {
		if (clock.monotonic_ns)
			clocks.monotonic_ns = x->start_ns + clock.monotonic_ns - clock.trace_ns;
		clocks.realtime_ns = r->has_realtime ? x->start_ns + r->unix_offset_ns : 0;
	}
	vpt_pf_clocks(&x->pf, &x->meta, &clocks);
	vpa_ex_identify(x);
	vpa_ex_meta_begin(x);
	vpt_pf_sequence(&x->pf, &x->gpu, SEQUENCE_GPU, vpa_ex_time(x, x->start_ns), 0);
}

static int make_parts(struct perfetto *p)
{
	struct vpa_ex_out *x = &p->x;

	p->waits = vpa_op_waits_new(x->view.resolver);
	if (!p->waits)
		return VPT_ENOMEM;
	x->call_waits = vpa_call_waits_new(x->view.resolver, p->waits);
	if (!x->call_waits || vpa_ex_machine_new(x) || vpa_ex_links_new(x) ||
		vpa_ex_tracks_new(x) || vpa_ex_gaps_new(x))
		return VPT_ENOMEM;
	p->ops = vpa_ex_ops_new(x, p->waits);
	p->host = vpa_ex_host_new(x);
	p->counters = vpa_ex_counters_new(x);
	p->stacks = vpa_ex_stacks_new(x);
	return p->ops && p->host && p->counters && p->stacks ? VPT_OK : VPT_ENOMEM;
}

static int begin(void *state, const struct vpa_export_context *c)
{
	const struct vpa_export_options *o = c->options;
	struct perfetto *p = state;
	struct vpa_ex_out *x = &p->x;

	x->c = c;
	x->options = o;
	x->view = c->view;
	x->model = c->view.context->model;
	x->expected.first_gpu_ns = UINT64_MAX;
	vpt_pf_init(&x->pf, o->group_bytes ? o->group_bytes : GROUP_BYTES, take_group, p);
	x->pf.restart_bytes = o->restart_bytes ? o->restart_bytes : RESTART_BYTES;
	x->pf.restart_at = x->pf.restart_bytes;
	if (make_parts(p))
		return VPT_ENOMEM;
	vpa_ex_string(x, ""); /* the first text is number 0 */
	if (!x->pf.failed)
		begin_file(p);
	return x->pf.failed;
}

static int take_chunk(void *state, const struct vpt_batch *b, uint64_t times_from_ns)
{
	struct perfetto *p = state;
	size_t i;
	int rc = vpa_ex_ops_lanes(p->ops, b);

	if (!rc)
		rc = vpa_ex_host_add(p->host, b);
	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_KERNEL || s->kind == VPT_COPY)
			rc = vpa_ex_ops_add(p->ops, b, s);
		else if (s->kind == VPT_EVENT || s->kind == VPT_SYNC)
			rc = vpa_ex_ops_syncs(p->ops, s);
		else if (s->kind == VPT_CLOCK)
			read_clock(p, s);
	}
	if (!rc)
		rc = vpa_ex_counters_add(p->counters, b);
	if (!rc)
		rc = vpa_ex_stacks_add(p->stacks, b);
	if (!rc)
		rc = vpa_ex_ops_release(p->ops, times_from_ns);
	if (!rc)
		rc = vpa_ex_host_release(p->host, times_from_ns);
	return rc ? rc : p->x.pf.failed;
}

static int take_ops(void *state, const struct vpa_ops *ops)
{
	return vpa_ex_tracks_ops(&((struct perfetto *)state)->x, ops);
}

static int take_gap(void *state, const struct vpa_gap *gap)
{
	return vpa_ex_gaps_add(&((struct perfetto *)state)->x, gap);
}

static int take_range(void *state, const struct vpa_range *range)
{
	return vpa_ex_tracks_range(&((struct perfetto *)state)->x, range);
}

static void sum_up(const struct vpa_ex_out *x, struct vpa_export_totals *t)
{
	t->kernels = x->expected.kernels;
	t->copies = x->expected.memcpys + x->expected.memsets;
	t->calls = x->expected.api_calls;
	t->ranges = x->expected.nvtx_ranges + x->expected.cpu_ops;
	t->gaps = x->expected.gaps;
	t->packets = x->pf.packets;
	t->raw_bytes = x->pf.bytes;
}

static int end(void *state)
{
	struct perfetto *p = state;
	struct vpa_ex_out *x = &p->x;
	int rc = vpa_ex_ops_release(p->ops, UINT64_MAX);

	if (!rc)
		rc = vpa_ex_host_end(p->host);
	if (!rc)
		rc = vpa_ex_counters_end(p->counters);
	if (!rc)
		rc = vpa_ex_stacks_end(p->stacks);
	if (rc)
		return rc;
	vpa_ex_gaps_end(x);
	vpa_ex_meta_end(x, p->residual_ns);
	rc = vpt_pf_finish(&x->pf);
	sum_up(x, x->c->totals);
	return rc;
}

static void free_state(void *state)
{
	struct perfetto *p = state;
	struct vpa_ex_out *x = &p->x;

	vpa_ex_ops_free(p->ops);
	vpa_ex_host_free(p->host);
	vpa_ex_counters_free(p->counters);
	vpa_ex_stacks_free(p->stacks);
	vpa_ex_gaps_free(x->gaps);
	vpa_ex_tracks_free(x->tracks);
	vpa_ex_links_free(x->links);
	vpa_ex_machine_free(x->machine);
	vpa_call_waits_free(x->call_waits);
	vpa_op_waits_free(p->waits);
	vpt_pf_sequence_free(&x->meta);
	vpt_pf_sequence_free(&x->gpu);
	vpt_pf_sequence_free(&x->annotations);
	vpt_pf_free(&x->pf);
	vpt_strings_free(&x->texts);
	vpt_free(x->text_of_name);
	vpt_free(x->short_names);
	vpa_arena_free(&x->arena);
}

const struct vpa_exporter vpa_exporter_perfetto = {
	.name = "perfetto",
	.help = "GPU work with launch parameters and the calls that launched it, and NVTX\n"
		"ranges on their threads. For each GPU also tracks of stages, denoising steps,\n"
		"video blocks, attention, and idle gaps by cause, with the report's ids and\n"
		"lines of Python. Samples of Python stacks, which Perfetto v58 or later shows\n"
		"as flame graphs. The traces of several ranks become one archive (-o all.tar)\n"
		"on one clock, which Perfetto v58 or later opens as one trace.",
	.opens = "open it at https://ui.perfetto.dev/#!/"
		 "?enablePlugins=dev.perfetto.GpuByProcess,com.meta.GpuCompute",
	.packings = {{"packets", VPT_CONTAINER_PACKETS, ".pftrace"},
		{"zstd", VPT_CONTAINER_ZSTD, ".pftrace.zst"},
		{"gzip", VPT_CONTAINER_GZIP, ".pftrace.gz"},
		{"none", VPT_CONTAINER_NONE, ".pftrace"}},
	.takes = VPA_TAKES_GPU_ENCODING | VPA_TAKES_MIN_GAP,
	.min_gap_ns = VPA_EXPORT_MIN_GAP_US * 1000,
	.state_bytes = sizeof(struct perfetto),
	.begin = begin,
	.chunk = take_chunk,
	.ops = take_ops,
	.gap = take_gap,
	.range = take_range,
	.end = end,
	.free = free_state,
	.archive = vpa_export_ranks,
};
