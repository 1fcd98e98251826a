/* json.c - the report for programs: "vptrace.report/1".
 *
 * A public contract: keys keep their name, meaning and order, new ones only ever come last in their
 * object, and a key is always there. What is unknown is null, and the verdict's reasons say why.
 * Units stand in names; shares are fractions with six decimals.
 *
 * Requests and stages are in json_blocks.c. Left out until their analysis exists: counters, an empty
 * array. */
#include "analysis/render/json.h"

#include "analysis/gpu_arch.h"
#include "analysis/limit.h"

#include "formats/strings.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { SHARE_DECIMALS = 6, NUMBER_DECIMALS = 3 };

static const char *state_name(enum vpa_metric_state state)
{
	return state == VPA_OK ? "ok" : state == VPA_DEGRADED ? "degraded" : "unavailable";
}

static void put_known_u64(struct vpt_json *j, const char *key, uint64_t value)
{
	if (value)
		vpt_json_u64(j, key, value);
	else
		vpt_json_null(j, key);
}

static void put_share(struct vpt_json *j, const char *key, double share)
{
	if (share < 0)
		vpt_json_null(j, key);
	else
		vpt_json_fixed(j, key, share, SHARE_DECIMALS);
}

static void put_strings(struct vpt_json *j, const char *key, const char **texts, size_t count)
{
	size_t i;

	vpt_json_array(j, key);
	for (i = 0; i < count; i++)
		vpt_json_string(j, NULL, texts[i]);
	vpt_json_end(j);
}

static void put_spread_values(struct vpt_json *j, const struct vpa_spread *s)
{
	vpt_json_u64(j, "p50_ns", s->p50_ns);
	vpt_json_u64(j, "p90_ns", s->p90_ns);
	vpt_json_u64(j, "p95_ns", s->p95_ns);
	vpt_json_u64(j, "p99_ns", s->p99_ns);
	vpt_json_u64(j, "min_ns", s->min_ns);
	vpt_json_u64(j, "max_ns", s->max_ns);
	vpt_json_fixed(j, "mean_ns", s->mean_ns, NUMBER_DECIMALS);
	vpt_json_fixed(j, "deviation_ns", s->deviation_ns, NUMBER_DECIMALS);
	vpt_json_bool(j, "approximate", s->approximate);
}

void vpa_json_spread(struct vpt_json *j, const char *key, const struct vpa_spread *s)
{
	vpt_json_object(j, key);
	vpt_json_u64(j, "count", s->count);
	vpt_json_u64(j, "total_ns", s->total_ns);
	put_spread_values(j, s);
	vpt_json_end(j);
}

/* ---- input, system ---- */

static void put_input(struct vpt_json *j, const struct vpa_report *r)
{
	vpt_json_object(j, "input");
	vpt_json_string(j, "path", r->path);
	vpt_json_string(j, "format", r->format);
	if (r->simulated < 0)
		vpt_json_null(j, "simulated");
	else
		vpt_json_bool(j, "simulated", r->simulated);
	vpt_json_u64(j, "window_ns", vpa_window_ns(r));
	vpt_json_u64(j, "window_start_ns", r->window_start_ns);
	if (r->has_realtime)
		vpt_json_i64(j, "unix_offset_ns", (int64_t)r->unix_offset_ns);
	else
		vpt_json_null(j, "unix_offset_ns");
	vpt_json_string(j, "window_note", r->window_note);
	vpt_json_u64(j, "min_gap_ns", r->min_gap_ns);
	vpt_json_end(j);
}

static void put_gpu(struct vpt_json *j, const struct vpa_gpu *g)
{
	char capability[24];

	/* Two unsigned numbers: the locale has no say in them. */
	snprintf(capability, sizeof(capability), "%u.%u", g->compute_major, g->compute_minor);
	vpt_json_object(j, NULL);
	vpt_json_i64(j, "device", g->device);
	vpt_json_string(j, "name", g->name);
	vpt_json_string(j, "uuid", g->uuid);
	vpt_json_string(j, "pci", g->pci);
	vpt_json_string(j, "compute_capability",
		g->compute_major && !vpa_gpu_is_amd(g) ? capability : NULL);
	put_known_u64(j, "sm_count", g->sm_count);
	put_known_u64(j, "memory_bytes", g->memory_bytes);
	vpt_json_bool(j, "simulated", g->simulated);
	vpt_json_end(j);
}

/* Facts with a key of their own, and what tools call them, best first. */
enum { FACT_HOST, FACT_COMMAND, FACT_DRIVER, FACT_CUPTI, FACT_RANK, FACTS };
static const char *const fact_names[FACTS][3] = {
	[FACT_HOST] = {"host", "hostname"},
	[FACT_COMMAND] = {"command"},
	[FACT_DRIVER] = {"cuda_driver", "driver", "driver_version"},
	[FACT_CUPTI] = {"cupti", "cupti_version"},
	[FACT_RANK] = {"rank"},
};
static const char tag_prefix[] = "tag.";

/* The key that a fact has here; NULL: not recorded. */
static const char *fact_key(const struct vpa_report *r, unsigned fact)
{
	size_t name;

	for (name = 0; name < COUNT(fact_names[0]) && fact_names[fact][name]; name++)
		if (vpa_meta(r, fact_names[fact][name]))
			return fact_names[fact][name];
	return NULL;
}

static const char *fact_value(const struct vpa_report *r, unsigned fact)
{
	const char *key = fact_key(r, fact);

	return key ? vpa_meta(r, key) : NULL;
}

/* A number where it is one, as ranks are compared and sorted by those who read this. */
static void put_rank(struct vpt_json *j, const char *text)
{
	size_t len = strspn(text ? text : "", "0123456789"), i;
	uint64_t rank = 0;

	if (!len || text[len] || len > 18) {
		vpt_json_string(j, "rank", text);
		return;
	}
	for (i = 0; i < len; i++)
		rank = rank * 10 + (uint64_t)(text[i] - '0');
	vpt_json_u64(j, "rank", rank);
}

static int is_fact(const struct vpa_report *r, const char *key)
{
	unsigned fact;

	for (fact = 0; fact < FACTS; fact++) {
		const char *name = fact_key(r, fact);

		if (name && !strcmp(name, key))
			return 1;
	}
	return 0;
}

static int is_tag(const char *key)
{
	return strncmp(key, tag_prefix, sizeof(tag_prefix) - 1) == 0;
}

/* The pairs without a place of their own: `tags` those with the prefix, otherwise the others.
 * Metadata is repeated along a capture; the first of each key counts, so that no key stands twice.
 */
static int put_pairs(struct vpt_json *j, const char *key, const struct vpa_report *r, int tags)
{
	const size_t prefix = tags ? sizeof(tag_prefix) - 1 : 0;
	struct vpt_strings seen = {0};
	int rc = VPT_OK;
	size_t i;

	vpt_json_object(j, key);
	for (i = 0; i < r->meta_count && !rc; i++) {
		const struct vpa_pair *p = &r->meta[i];
		size_t before = seen.count;

		if (!p->key || is_tag(p->key) != tags || is_fact(r, p->key))
			continue;
		if (vpt_strings_put(&seen, p->key, strlen(p->key)) == VPT_NO_ID)
			rc = VPT_ENOMEM;
		else if (seen.count > before)
			vpt_json_string(j, p->key + prefix, p->value);
	}
	vpt_json_end(j);
	vpt_strings_free(&seen);
	return rc;
}

static int put_system(struct vpt_json *j, const struct vpa_report *r)
{
	size_t i;
	int rc;

	vpt_json_object(j, "system");
	vpt_json_string(j, "host", fact_value(r, FACT_HOST));
	vpt_json_string(j, "command", fact_value(r, FACT_COMMAND));
	vpt_json_array(j, "gpus");
	for (i = 0; i < r->gpu_count; i++)
		put_gpu(j, &r->gpus[i]);
	vpt_json_end(j);
	vpt_json_string(j, "driver", fact_value(r, FACT_DRIVER));
	vpt_json_string(j, "cupti", fact_value(r, FACT_CUPTI));
	rc = put_pairs(j, "versions", r, 0);
	put_rank(j, fact_value(r, FACT_RANK));
	if (!rc)
		rc = put_pairs(j, "tags", r, 1);
	vpt_json_end(j);
	return rc;
}

/* ---- verdict, counts ---- */

/* What can be done, when records are missing, and whether that touches the figures of the window: devices, gaps, families,
 * kernels, ranges, copies, syncs. */
static void put_losses(struct vpt_json *j, const struct vpa_report *r)
{
	const struct vpa_verdict *v = &r->verdict;
	size_t i;

	vpt_json_array(j, "remedies");
	for (i = 0; i < v->reason_count; i++)
		if (v->remedies && v->remedies[i])
			vpt_json_string(j, NULL, v->remedies[i]);
	vpt_json_end(j);
	vpt_json_array(j, "losses");
	for (i = 0; i < v->loss_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_u64(j, "start_ns", v->losses[i].start_ns);
		if (v->losses[i].end_ns == UINT64_MAX)
			vpt_json_null(j, "end_ns");
		else
			vpt_json_u64(j, "end_ns", v->losses[i].end_ns);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_bool(j, "window_incomplete", r->touched);
	vpt_json_u64(j, "early_ops", v->early_ops);
}

static void put_verdict(struct vpt_json *j, const struct vpa_report *r)
{
	const struct vpa_verdict *v = &r->verdict;

	vpt_json_object(j, "verdict");
	vpt_json_bool(j, "complete", v->complete);
	put_strings(j, "reasons", v->reasons, v->reason_count);
	vpt_json_u64(j, "received", v->received);
	vpt_json_u64(j, "written", v->written);
	vpt_json_u64(j, "dropped", v->dropped);
	vpt_json_u64(j, "ops_without_launch", v->ops_without_launch);
	vpt_json_u64(j, "invalid", v->reversed + v->zero_time);
	put_share(j, "tracing_cost_share", v->tracing_cost_share);
	vpt_json_u64(j, "launches_without_op", v->launches_without_op);
	vpt_json_u64(j, "late_ops", v->late_ops);
	vpt_json_u64(j, "zero_duration", v->zero_duration);
	vpt_json_u64(j, "reversed", v->reversed);
	vpt_json_u64(j, "zero_time", v->zero_time);
	vpt_json_u64(j, "unmatched_ranges", v->unmatched_ranges);
	vpt_json_u64(j, "late_ranges", v->late_ranges);
	vpt_json_u64(j, "damaged_chunks", v->damaged_chunks);
	vpt_json_u64(j, "torn_chunks", v->torn_chunks);
	vpt_json_u64(j, "unknown_sections", v->unknown_sections);
	vpt_json_u64(j, "overhead_ns", v->overhead_ns);
	vpt_json_string(j, "gaps", state_name(v->gaps));
	put_losses(j, r);
	vpt_json_end(j);
}

static void put_counts(struct vpt_json *j, const struct vpa_report *r)
{
	const struct vpa_counts *c = &r->counts;

	vpt_json_object(j, "counts");
	vpt_json_u64(j, "kernels", c->kernels);
	vpt_json_u64(j, "memcpy", c->memcpy);
	vpt_json_u64(j, "memset", c->memset);
	vpt_json_u64(j, "calls", c->calls);
	vpt_json_u64(j, "ranges", c->ranges);
	vpt_json_u64(j, "cpu_ops", c->cpu_ops);
	vpt_json_u64(j, "marks", c->marks);
	vpt_json_u64(j, "syncs", c->syncs);
	vpt_json_u64(j, "counters", c->counters);
	vpt_json_u64(j, "other", c->other);
	vpt_json_u64(j, "kernel_names", r->kernel_names);
	vpt_json_u64(j, "range_names", r->range_names);
	vpt_json_u64(j, "gaps_of_min_gap", r->gaps_listed_of);
	vpt_json_end(j);
}

/* ---- devices, gaps ---- */

static void put_idle_parts(
	struct vpt_json *j, const char *key, const struct vpa_idle_part *parts, size_t count)
{
	size_t i;

	vpt_json_array(j, key);
	for (i = 0; i < count; i++) {
		const struct vpa_idle_part *p = &parts[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "cause", vpa_cause_text(p->cause));
		vpt_json_string(j, "range", p->range);
		vpt_json_string(j, "call", p->call);
		vpt_json_u64(j, "ns", p->ns);
		vpt_json_u64(j, "gaps", p->gaps);
		vpt_json_string(j, "inside_call", p->inside);
		vpt_json_u64(j, "inside_ns", p->inside_ns);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static void put_gains(struct vpt_json *j, const struct vpa_device *d)
{
	size_t i;

	vpt_json_array(j, "gains");
	for (i = 0; i < d->gain_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_string(j, "cause", vpa_cause_text(d->gains[i].cause));
		vpt_json_u64(j, "at_most_ns", d->gains[i].ns);
		vpt_json_u64(j, "shared_ns", d->gains[i].shared_ns);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static void put_device(struct vpt_json *j, const struct vpa_report *r, const struct vpa_device *d)
{
	struct vpa_load load = vpa_load_of_device(r, d);
	size_t i;

	vpt_json_object(j, NULL);
	vpt_json_i64(j, "device", d->device);
	vpt_json_u64(j, "ops", d->ops);
	vpt_json_u64(j, "streams", d->streams);
	vpt_json_u64(j, "active_ns", d->active_ns);
	vpt_json_u64(j, "busy_ns", d->busy_ns);
	vpt_json_u64(j, "idle_ns", d->idle_ns);
	vpt_json_u64(j, "gaps", d->gaps);
	vpt_json_u64(j, "longest_gap_ns", d->longest_gap_ns);
	vpt_json_object(j, "histogram");
	for (i = 0; i < VPA_GAP_BUCKETS; i++)
		vpt_json_u64(j, vpa_gap_bucket_names[i], d->histogram[i]);
	vpt_json_end(j);
	vpt_json_u64(j, "kernel_ns", d->kernel_ns);
	vpt_json_u64(j, "same_stream_overlaps", d->same_stream_overlaps);
	vpt_json_u64(j, "compute_ns", d->compute_ns);
	vpt_json_u64(j, "exposed_copy_ns", d->exposed_copy_ns);
	vpt_json_u64(j, "exposed_comm_ns", d->exposed_comm_ns);
	vpt_json_u64(j, "window_idle_ns", d->window_idle_ns);
	put_idle_parts(j, "causes", d->causes, d->cause_count);
	put_gains(j, d);
	put_idle_parts(j, "before_first_work", d->before_first_work, d->before_first_work_count);
	vpt_json_u64(j, "small_grid_ns", d->small_grid_ns);
	vpt_json_u64(j, "comm_ns", d->comm_ns);
	vpt_json_u64(j, "comm_wait_ns", d->comm_wait_ns);
	vpt_json_u64(j, "first_use_ns", d->first_use_ns);
	vpt_json_string(j, "limit", vpa_limit_text(vpa_limit_of(&load)));
	vpt_json_end(j);
}

static void put_thread(struct vpt_json *j, const struct vpa_gap_row *g)
{
	if (g->tid < 0) {
		vpt_json_null(j, "thread");
		return;
	}
	vpt_json_object(j, "thread");
	vpt_json_i64(j, "pid", g->pid);
	vpt_json_i64(j, "tid", g->tid);
	vpt_json_end(j);
}

static void put_gap(struct vpt_json *j, const struct vpa_gap_row *g)
{
	size_t i;

	vpt_json_object(j, NULL);
	vpt_json_string(j, "id", g->id);
	vpt_json_i64(j, "device", g->device);
	vpt_json_u64(j, "start_ns", g->start_ns);
	vpt_json_u64(j, "duration_ns", g->duration_ns);
	vpt_json_string(j, "cause", vpa_cause_text(g->cause));
	vpt_json_string(j, "call", g->call);
	vpt_json_string(j, "range", g->range);
	put_thread(j, g);
	vpt_json_string(j, "after", g->after);
	vpt_json_string(j, "before", g->before);
	vpt_json_array(j, "pieces");
	for (i = 0; i < g->piece_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_string(j, "cause", vpa_cause_text(g->pieces[i].cause));
		vpt_json_u64(j, "ns", g->pieces[i].ns);
		vpt_json_string(j, "call", g->pieces[i].call);
		vpt_json_string(j, "range", g->pieces[i].range);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

/* ---- what ran ---- */

static void put_family(struct vpt_json *j, const struct vpa_family_row *f)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "family", f->family);
	vpt_json_u64(j, "calls", f->calls);
	vpt_json_u64(j, "total_ns", f->total_ns);
	vpt_json_u64(j, "exclusive_ns", f->exclusive_ns);
	put_share(j, "share_of_busy", f->share_of_busy);
	vpt_json_end(j);
}

static void put_kernel(struct vpt_json *j, const struct vpa_kernel_row *k)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "name", k->name);
	vpt_json_string(j, "family", k->family);
	vpt_json_u64(j, "calls", k->time.count);
	vpt_json_u64(j, "total_ns", k->time.total_ns);
	put_spread_values(j, &k->time);
	vpt_json_u64(j, "exclusive_ns", k->exclusive_ns);
	vpt_json_string(j, "backend", k->backend);
	vpt_json_end(j);
}

static void put_backend(struct vpt_json *j, const struct vpa_backend_row *b)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "backend", b->backend);
	vpt_json_u64(j, "calls", b->calls);
	vpt_json_u64(j, "total_ns", b->total_ns);
	vpt_json_u64(j, "aux_calls", b->aux_calls);
	vpt_json_u64(j, "aux_ns", b->aux_ns);
	put_share(j, "share_of_busy", b->share_of_busy);
	vpt_json_end(j);
}

static void put_eager(struct vpt_json *j, const struct vpa_eager_row *e)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "range", e->range);
	vpt_json_string(j, "gemm", e->gemm);
	vpt_json_string(j, "softmax", e->softmax);
	vpt_json_u64(j, "count", e->count);
	vpt_json_u64(j, "total_ns", e->total_ns);
	vpt_json_u64(j, "softmax_ns", e->softmax_ns);
	vpt_json_end(j);
}

static void put_change(struct vpt_json *j, const struct vpa_backend_change *c)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "fast", c->fast);
	vpt_json_string(j, "slow", c->slow);
	vpt_json_u64(j, "places", c->places);
	vpt_json_u64(j, "fast_calls", c->fast_calls);
	vpt_json_u64(j, "fast_ns", c->fast_ns);
	vpt_json_u64(j, "slow_calls", c->slow_calls);
	vpt_json_u64(j, "slow_ns", c->slow_ns);
	vpt_json_fixed(j, "gain_ns", c->gain_ns, NUMBER_DECIMALS);
	vpt_json_end(j);
}

static void put_precision(struct vpt_json *j, const struct vpa_precision_row *p)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "precision", p->precision);
	vpt_json_u64(j, "calls", p->calls);
	vpt_json_u64(j, "total_ns", p->total_ns);
	vpt_json_u64(j, "exclusive_ns", p->exclusive_ns);
	vpt_json_end(j);
}

static void put_attention(struct vpt_json *j, const struct vpa_attention *a)
{
	size_t i;

	vpt_json_object(j, "attention");
	put_share(j, "share_of_busy", a->share_of_busy);
	vpt_json_u64(j, "calls", a->calls);
	vpt_json_array(j, "backends");
	for (i = 0; i < a->backend_count; i++)
		put_backend(j, &a->backends[i]);
	vpt_json_end(j);
	vpt_json_array(j, "eager");
	for (i = 0; i < a->eager_count; i++)
		put_eager(j, &a->eager[i]);
	vpt_json_end(j);
	put_strings(j, "fallbacks", a->fallbacks, a->fallback_count);
	vpt_json_array(j, "changes");
	for (i = 0; i < a->change_count; i++)
		put_change(j, &a->changes[i]);
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_range(struct vpt_json *j, const struct vpa_range_row *g)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "name", g->name);
	vpt_json_string(j, "domain", g->domain);
	vpt_json_u64(j, "count", g->host.count);
	vpt_json_u64(j, "unmatched", g->unmatched);
	vpa_json_spread(j, "host", &g->host);
	vpt_json_u64(j, "ops", g->ops);
	vpt_json_u64(j, "launches", g->launches);
	vpt_json_u64(j, "envelope_ns", g->envelope_ns);
	vpt_json_u64(j, "busy_ns", g->busy_ns);
	vpt_json_u64(j, "foreign_ns", g->foreign_ns);
	vpt_json_u64(j, "idle_ns", g->idle_ns);
	vpa_json_spread(j, "lag", &g->lag);
	vpa_json_spread(j, "gpu", &g->gpu);
	vpt_json_u64(j, "idle_host_ns", g->idle_host_ns);
	vpt_json_end(j);
}

static void put_copy(struct vpt_json *j, const struct vpa_copy_row *c)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "kind", c->kind);
	vpt_json_string(j, "source", c->source);
	vpt_json_string(j, "target", c->target);
	vpt_json_u64(j, "count", c->count);
	vpt_json_u64(j, "bytes", c->bytes);
	vpt_json_u64(j, "total_ns", c->total_ns);
	if (c->gb_per_s > 0)
		vpt_json_fixed(j, "gb_per_s", c->gb_per_s, NUMBER_DECIMALS);
	else
		vpt_json_null(j, "gb_per_s");
	vpt_json_end(j);
}

static void put_sync(struct vpt_json *j, const struct vpa_sync_row *s)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "call", s->call);
	vpt_json_u64(j, "count", s->count);
	vpt_json_u64(j, "total_ns", s->total_ns);
	vpt_json_u64(j, "gaps", s->gaps);
	vpt_json_u64(j, "idle_ns", s->idle_ns);
	vpt_json_end(j);
}

/* ---- the whole ---- */

#define PUT_TABLE(j, key, rows, count, put)                                                        \
	do {                                                                                       \
		size_t row_;                                                                       \
		vpt_json_array(j, key);                                                            \
		for (row_ = 0; row_ < (count); row_++)                                             \
			put(j, &(rows)[row_]);                                                     \
		vpt_json_end(j);                                                                   \
	} while (0)

#define PUT_NOTHING(j, key)                                                                        \
	do {                                                                                       \
		vpt_json_array(j, key);                                                            \
		vpt_json_end(j);                                                                   \
	} while (0)

int vpa_render_json(const struct vpa_report *r, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpt_json j;
	size_t i;

	vpt_json_init(&j, sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "schema", "vptrace.report/1");
	put_input(&j, r);
	if (put_system(&j, r))
		return vpt_fail(err, VPT_ENOMEM, "no memory for the keys of %zu metadata pairs",
			r->meta_count);
	put_verdict(&j, r);
	put_counts(&j, r);
	vpt_json_array(&j, "devices");
	for (i = 0; i < r->device_count; i++)
		put_device(&j, r, &r->devices[i]);
	vpt_json_end(&j);
	PUT_TABLE(&j, "gaps", r->gaps, r->gap_count, put_gap);
	PUT_TABLE(&j, "families", r->families, r->family_count, put_family);
	PUT_TABLE(&j, "kernels", r->kernels, r->kernel_count, put_kernel);
	put_attention(&j, &r->attention);
	PUT_TABLE(&j, "requests", r->requests, r->request_count, vpa_json_request);
	PUT_TABLE(&j, "stages", r->stages, r->stage_count, vpa_json_stage);
	PUT_TABLE(&j, "ranges", r->ranges, r->range_count, put_range);
	PUT_TABLE(&j, "copies", r->copies, r->copy_count, put_copy);
	PUT_TABLE(&j, "syncs", r->syncs, r->sync_count, put_sync);
	PUT_NOTHING(&j, "counters");
	PUT_TABLE(&j, "findings", r->findings, r->finding_count, vpa_json_finding);
	PUT_TABLE(&j, "gemm_precisions", r->precisions, r->precision_count, put_precision);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, err);
}
