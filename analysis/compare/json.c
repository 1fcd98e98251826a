/* json.c - a comparison for programs, "vptrace.compare/1".
 *
 * Keys keep their name, meaning and order, new ones come last in their object. Every difference is b - a;
 * delta_ns of the parts add up to the delta_ns above them. Unknown values are null. */
#include "analysis/compare/compare.h"

#include "formats/json.h"

#include <string.h>

static void put_known(struct vpt_json *j, const char *key, int known, double value)
{
	if (known)
		vpt_json_fixed(j, key, value, 6);
	else
		vpt_json_null(j, key);
}

static void put_side(struct vpt_json *j, const char *key, const struct vpa_side *s)
{
	size_t i;

	vpt_json_array(j, key);
	for (i = 0; i < s->count; i++)
		vpt_json_string(j, NULL, s->reports[i]->path);
	vpt_json_end(j);
}

static void put_verdict(struct vpt_json *j, const struct vpa_comparison *c)
{
	int has_interval = c->level > 0;
	size_t i;

	vpt_json_object(j, "verdict");
	vpt_json_string(j, "change", vpa_change_name(c->verdict));
	vpt_json_string(j, "unit", c->per_frame ? "frame" : vpa_unit_kind_name(c->unit));
	vpt_json_string(j, "rate", c->rate_name);
	vpt_json_fixed(j, "a_rate", c->a_rate, 6);
	vpt_json_fixed(j, "b_rate", c->b_rate, 6);
	vpt_json_fixed(j, "rate_change", c->rate_change, 6);
	put_known(j, "rate_change_low", has_interval, c->rate_low);
	put_known(j, "rate_change_high", has_interval, c->rate_high);
	vpt_json_fixed(j, "time_change", c->time_change, 6);
	put_known(j, "time_change_low", has_interval, c->time_low);
	put_known(j, "time_change_high", has_interval, c->time_high);
	put_known(j, "level", has_interval, c->level);
	put_known(j, "detectable", c->detectable >= 0, c->detectable);
	put_known(j, "a_noise", c->a_noise >= 0, c->a_noise);
	put_known(j, "b_noise", c->b_noise >= 0, c->b_noise);
	put_known(j, "a_run_noise", c->a_run_noise >= 0, c->a_run_noise);
	put_known(j, "b_run_noise", c->b_run_noise >= 0, c->b_run_noise);
	vpt_json_bool(j, "between_runs", c->between_runs);
	put_known(j, "p", c->p >= 0, c->p);
	put_known(j, "margin", 1, c->margin);
	vpt_json_u64(j, "pairs", c->pairs);
	vpt_json_u64(j, "a_units", c->a_units);
	vpt_json_u64(j, "b_units", c->b_units);
	vpt_json_bool(j, "complete", c->complete);
	vpt_json_array(j, "notes");
	for (i = 0; i < c->note_count; i++)
		vpt_json_string(j, NULL, c->notes[i]);
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_facts(struct vpt_json *j, const struct vpa_comparison *c)
{
	size_t i;

	vpt_json_array(j, "setup");
	for (i = 0; i < c->fact_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_string(j, "name", c->facts[i].name);
		vpt_json_string(j, "a", c->facts[i].a);
		vpt_json_string(j, "b", c->facts[i].b);
		vpt_json_bool(j, "work", c->facts[i].is_work);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static const char *kind_name(enum vpa_block_part_kind kind)
{
	return kind == VPA_PART_BUSY ? "busy" : kind == VPA_PART_IDLE ? "idle" : "paused";
}

static void put_times(struct vpt_json *j, const struct vpa_account_part *t)
{
	vpt_json_u64(j, "a_ns", t->a_ns);
	vpt_json_u64(j, "b_ns", t->b_ns);
	vpt_json_i64(j, "delta_ns", t->delta_ns);
}

/* The totals a_ns and b_ns are over a_over and b_over units; delta_ns is of the mean one. */
static void put_parts(struct vpt_json *j, const struct vpa_comparison *c)
{
	size_t i;

	vpt_json_object(j, "mean");
	vpt_json_u64(j, "a_over", c->a_over);
	vpt_json_u64(j, "b_over", c->b_over);
	vpt_json_u64(j, "a_ns", c->a_total_ns);
	vpt_json_u64(j, "b_ns", c->b_total_ns);
	vpt_json_i64(j, "delta_ns", c->delta_ns);
	vpt_json_i64(j, "busy_delta_ns", c->busy_delta_ns);
	vpt_json_i64(j, "idle_delta_ns", c->idle_delta_ns);
	vpt_json_array(j, "parts");
	for (i = 0; i < c->part_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_string(j, "kind", kind_name(c->parts[i].kind));
		vpt_json_string(j, "name", c->parts[i].name);
		put_times(j, &c->parts[i].times);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_stages(struct vpt_json *j, const struct vpa_comparison *c)
{
	size_t i;

	vpt_json_array(j, "stages");
	for (i = 0; i < c->stage_count; i++) {
		const struct vpa_compared_stage *s = &c->stages[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "name", s->name);
		vpt_json_string(j, "kind", s->kind);
		put_known(j, "a_per_block", s->a_per_unit >= 0, s->a_per_unit);
		put_known(j, "b_per_block", s->b_per_unit >= 0, s->b_per_unit);
		put_known(j, "a_mean_ns", s->a_ns >= 0, s->a_ns);
		put_known(j, "b_mean_ns", s->b_ns >= 0, s->b_ns);
		put_known(j, "p_holm", s->p >= 0, s->p);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static void put_rows(struct vpt_json *j, const struct vpa_comparison *c)
{
	size_t i;

	vpt_json_object(j, "window");
	vpt_json_u64(j, "a_over", c->a_window_over);
	vpt_json_u64(j, "b_over", c->b_window_over);
	vpt_json_i64(j, "delta_ns", c->window_delta_ns);
	vpt_json_bool(j, "a_lists_all_kernels", !c->a_cut);
	vpt_json_bool(j, "b_lists_all_kernels", !c->b_cut);
	vpt_json_array(j, "rows");
	for (i = 0; i < c->row_count; i++) {
		const struct vpa_compared_row *r = &c->rows[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "kind", kind_name(r->kind));
		vpt_json_string(j, "name", r->name);
		vpt_json_string(j, "family", r->family);
		vpt_json_string(j, "range", r->range);
		vpt_json_string(j, "call", r->call);
		vpt_json_u64(j, "a_count", r->a_count);
		vpt_json_u64(j, "b_count", r->b_count);
		put_times(j, &r->times);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_counts(struct vpt_json *j, const struct vpa_comparison *c)
{
	size_t i;

	vpt_json_array(j, "counts");
	for (i = 0; i < c->count_count; i++) {
		const struct vpa_compared_count *n = &c->counts[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "group", n->group);
		vpt_json_string(j, "name", n->name);
		vpt_json_string(j, "unit", *n->unit ? n->unit : "count");
		vpt_json_fixed(j, "a", n->a, 6);
		vpt_json_fixed(j, "b", n->b, 6);
		vpt_json_end(j);
	}
	vpt_json_end(j);
	vpt_json_array(j, "counters");
	for (i = 0; i < c->counter_count; i++) {
		const struct vpa_compared_counter *n = &c->counters[i];

		vpt_json_object(j, NULL);
		vpt_json_string(j, "name", n->name);
		vpt_json_string(j, "unit", n->unit);
		vpt_json_i64(j, "device", n->device);
		put_known(j, "a_mean", n->a_mean >= 0, n->a_mean);
		put_known(j, "b_mean", n->b_mean >= 0, n->b_mean);
		put_known(j, "a_max", n->a_max >= 0, n->a_max);
		put_known(j, "b_max", n->b_max >= 0, n->b_max);
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

static void put_findings(struct vpt_json *j, const struct vpa_comparison *c)
{
	size_t i;

	vpt_json_array(j, "findings");
	for (i = 0; i < c->finding_count; i++) {
		vpt_json_object(j, NULL);
		vpt_json_string(j, "id", c->findings[i].id);
		vpt_json_string(j, "title", c->findings[i].title);
		vpt_json_string(j, "only_in", c->findings[i].in_b ? "b" : "a");
		vpt_json_end(j);
	}
	vpt_json_end(j);
}

int vpa_compare_json(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpt_json j;

	vpt_json_init(&j, sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "schema", "vptrace.compare/1");
	put_side(&j, "a", &c->a);
	put_side(&j, "b", &c->b);
	put_verdict(&j, c);
	put_facts(&j, c);
	put_parts(&j, c);
	put_stages(&j, c);
	put_rows(&j, c);
	put_counts(&j, c);
	put_findings(&j, c);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, err);
}
