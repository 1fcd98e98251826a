/* json_blocks.c - requests, their blocks and steps, and stages in the report for programs. The rules of
 * json.c hold. What a number means stands beside its member in report.h; in short:
 *
 *	requests[]  frames, fps_end_to_end, ttfb_ns, blocks, steps, name and source of its range (null: the
 *	            whole window), start_ns, end_ns, ttff_ns (null without frames-ready marks)
 *	blocks      count, warmup (not measured), and of the measured ones: frames, fps, fps_includes,
 *	            bps, fps_busy, fps_denoise, period and latency, series, ...; fps is null and
 *	            denoise_rate set where the VAE or the copies of frames come after the blocks
 *	series[]    every block: times; busy_ns + idle_ns + paused_ns = period_ns * devices
 *	parts[]     the measured periods: kernel families (busy), causes of idle time, pauses
 *	steps       denoising steps, context passes apart
 *	stages[]    steps, passes and other named parts, of all requests
 *	incomplete  in each of them: records that are missing may change its figures */
#include "analysis/render/json.h"

static void put_rate(struct vpt_json *j, const char *key, double rate)
{
	enum { RATE_DECIMALS = 6 };

	if (rate < 0)
		vpt_json_null(j, key);
	else
		vpt_json_fixed(j, key, rate, RATE_DECIMALS);
}

static void put_known(struct vpt_json *j, const char *key, uint64_t value)
{
	if (value)
		vpt_json_u64(j, key, value);
	else
		vpt_json_null(j, key);
}

static void put_signed(struct vpt_json *j, const char *key, int64_t value)
{
	if (value < 0)
		vpt_json_null(j, key);
	else
		vpt_json_i64(j, key, value);
}

static void put_some_spread(struct vpt_json *j, const char *key, const struct vpa_spread *s)
{
	if (s->count)
		vpa_json_spread(j, key, s);
	else
		vpt_json_null(j, key);
}

static void put_block(struct vpt_json *j, const struct vpa_block_row *b, int has_target)
{
	vpt_json_object(j, NULL);
	put_signed(j, "index", b->index);
	put_known(j, "frames", b->frames);
	vpt_json_u64(j, "start_ns", b->start_ns);
	vpt_json_u64(j, "end_ns", b->end_ns);
	vpt_json_u64(j, "latency_ns", b->latency_ns);
	vpt_json_u64(j, "period_ns", b->period_ns);
	vpt_json_u64(j, "busy_ns", b->busy_ns);
	vpt_json_u64(j, "idle_ns", b->idle_ns);
	vpt_json_u64(j, "paused_ns", b->paused_ns);
	vpt_json_u64(j, "devices", b->devices);
	vpt_json_u64(j, "attention_ns", b->attention_ns);
	put_known(j, "latents", b->latents);
	vpt_json_bool(j, "warmup", b->warmup);
	vpt_json_bool(j, "ready_mark", b->ready_mark);
	if (has_target)
		vpt_json_bool(j, "missed", b->missed);
	else
		vpt_json_null(j, "missed");
	vpt_json_bool(j, "incomplete", b->touched);
	vpt_json_end(j);
}

static void put_part(struct vpt_json *j, const struct vpa_block_part *p)
{
	static const char *const kinds[] = {
		[VPA_PART_BUSY] = "busy", [VPA_PART_IDLE] = "idle", [VPA_PART_PAUSED] = "paused"};

	vpt_json_object(j, NULL);
	vpt_json_string(j, "kind", kinds[p->kind]);
	vpt_json_string(j, "name", p->name);
	vpt_json_u64(j, "ns", p->ns);
	vpt_json_u64(j, "count", p->count);
	vpt_json_end(j);
}

static void put_outlier(struct vpt_json *j, const struct vpa_outlier_row *o)
{
	vpt_json_object(j, NULL);
	vpt_json_u64(j, "row", o->block);
	vpt_json_i64(j, "delta_ns", o->delta_ns);
	vpt_json_string(j, "part", o->part);
	vpt_json_i64(j, "part_delta_ns", o->part_delta_ns);
	vpt_json_string(j, "stage", o->stage);
	vpt_json_i64(j, "stage_delta_ns", o->stage_delta_ns);
	vpt_json_end(j);
}

static void put_drift(struct vpt_json *j, const struct vpa_blocks *b)
{
	if (!b->has_drift) {
		vpt_json_null(j, "drift");
		return;
	}
	vpt_json_object(j, "drift");
	vpt_json_fixed(j, "period_ns_per_block", b->period_drift_ns, 3);
	vpt_json_fixed(j, "attention_ns_per_block", b->attention_drift_ns, 3);
	put_signed(j, "saturated_at_row", b->saturated_at);
	vpt_json_end(j);
}

static void put_blocks(struct vpt_json *j, const struct vpa_blocks *b)
{
	size_t i;

	vpt_json_object(j, "blocks");
	vpt_json_u64(j, "count", b->count);
	vpt_json_u64(j, "warmup", b->warmup);
	put_known(j, "frames", b->frames);
	put_rate(j, "fps", b->fps);
	vpt_json_array(j, "fps_includes");
	for (i = 0; i < b->include_count; i++)
		vpt_json_string(j, NULL, b->includes[i]);
	vpt_json_end(j);
	put_rate(j, "bps", b->bps);
	put_rate(j, "fps_busy", b->fps_busy);
	put_rate(j, "fps_denoise", b->fps_denoise);
	put_known(j, "period_p50_ns", b->period.p50_ns);
	put_known(j, "period_p95_ns", b->period.p95_ns);
	put_known(j, "period_p99_ns", b->period.p99_ns);
	vpt_json_array(j, "series");
	for (i = 0; i < b->count; i++)
		put_block(j, &b->series[i], b->misses >= 0);
	vpt_json_end(j);
	vpt_json_u64(j, "measured", b->measured);
	vpt_json_u64(j, "left_out", b->left_out);
	put_known(j, "span_ns", b->span_ns);
	put_rate(j, "denoise_rate", b->denoise_rate);
	put_rate(j, "latent_fps", b->latent_fps);
	put_some_spread(j, "period", &b->period);
	put_some_spread(j, "latency", &b->latency);
	put_some_spread(j, "attention", &b->attention);
	if (b->measured)
		vpt_json_u64(j, "jitter_ns", b->jitter_ns);
	else
		vpt_json_null(j, "jitter_ns");
	put_signed(j, "deadline_misses", b->misses);
	put_signed(j, "longest_miss_run", b->longest_miss_run);
	put_signed(j, "prebuffer_frames", b->prebuffer_frames);
	put_drift(j, b);
	vpt_json_u64(j, "busy_ns", b->busy_ns);
	vpt_json_u64(j, "idle_ns", b->idle_ns);
	vpt_json_u64(j, "paused_ns", b->paused_ns);
	vpt_json_u64(j, "devices", b->devices);
	vpt_json_array(j, "parts");
	for (i = 0; i < b->part_count; i++)
		put_part(j, &b->parts[i]);
	vpt_json_end(j);
	vpt_json_array(j, "outliers");
	for (i = 0; i < b->outlier_count; i++)
		put_outlier(j, &b->outliers[i]);
	vpt_json_end(j);
	vpt_json_bool(j, "incomplete", b->touched);
	vpt_json_end(j);
}

static void put_steps(struct vpt_json *j, const struct vpa_step_times *t)
{
	vpt_json_object(j, "steps");
	vpt_json_u64(j, "count", t->count);
	put_some_spread(j, "time", &t->time);
	put_rate(j, "per_block", t->per_block);
	put_rate(j, "steps_per_s", t->steps_per_s);
	put_rate(j, "s_per_it", t->s_per_it);
	vpt_json_u64(j, "context_count", t->context_count);
	put_some_spread(j, "context", &t->context);
	vpt_json_end(j);
}

void vpa_json_request(struct vpt_json *j, const struct vpa_request *r)
{
	vpt_json_object(j, NULL);
	put_known(j, "frames", r->frames);
	put_rate(j, "fps_end_to_end", r->fps_end_to_end);
	put_known(j, "ttfb_ns", r->ttfb_ns);
	put_blocks(j, &r->blocks);
	put_steps(j, &r->steps);
	vpt_json_string(j, "name", r->name);
	vpt_json_string(j, "source", r->source);
	vpt_json_u64(j, "start_ns", r->start_ns);
	vpt_json_u64(j, "end_ns", r->end_ns);
	put_known(j, "ttff_ns", r->ttff_ns);
	vpt_json_bool(j, "incomplete", r->touched);
	vpt_json_end(j);
}

void vpa_json_stage(struct vpt_json *j, const struct vpa_stage_row *s)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "name", s->name);
	vpt_json_string(j, "kind", s->kind);
	vpt_json_string(j, "source", s->source);
	vpt_json_u64(j, "count", s->count);
	vpt_json_u64(j, "in_measured_blocks", s->in_blocks);
	vpt_json_fixed(j, "per_block", s->per_block, 6);
	vpt_json_bool(j, "nested", s->nested);
	put_some_spread(j, "time", &s->time);
	vpt_json_u64(j, "busy_ns", s->busy_ns);
	vpt_json_u64(j, "idle_ns", s->idle_ns);
	vpt_json_u64(j, "attention_ns", s->attention_ns);
	vpt_json_u64(j, "top_ns", s->top_ns);
	vpt_json_fixed(j, "share", s->share, 6);
	vpt_json_bool(j, "incomplete", s->touched);
	vpt_json_end(j);
}
