/* compare_verdict.c - a comparison in words: the verdict, what is compared and how, what limits it, why. */
#include "analysis/compare/render/compare_pages.h"

#include "analysis/compare/render/change_numbers.h"
#include "analysis/pipeline/unit_limit.h"
#include "analysis/render/digest.h"
#include "formats/base/saturate.h"

enum { LEADING = 3 };

const char *vpa_compared_unit(const struct vpa_comparison *c)
{
	return c->per_frame ? "frame" : vpa_unit_kind_name(c->unit);
}

static void put_side(struct vpa_page *p, const char *name, const struct vpa_side *s)
{
	struct vpa_label path = vpa_fit(s->reports[0]->path, p->width - 30);

	if (s->count > 1)
		vpa_page_words(p, name, VPA_BOLD, "%s and %zu more", path.text, s->count - 1);
	else
		vpa_page_words(p, name, VPA_BOLD, "%s", path.text);
}

static enum vpa_style style_of(enum vpa_verdict_change change)
{
	return change == VPA_CHANGE_SLOWER   ? VPA_RED
	       : change == VPA_CHANGE_FASTER ? VPA_GREEN
					     : VPA_YELLOW;
}

/* Whether there is no rate: windows are not units of work. */
static int is_time_only(const struct vpa_comparison *c)
{
	return c->unit == VPA_UNIT_WINDOW && !c->is_fps;
}

static void put_headline(struct vpa_page *p, const struct vpa_comparison *c)
{
	static const char *const words[] = {[VPA_CHANGE_SAME] = "SAME",
		[VPA_CHANGE_FASTER] = "FASTER",
		[VPA_CHANGE_SLOWER] = "SLOWER",
		[VPA_CHANGE_INCONCLUSIVE] = "INCONCLUSIVE"};
	struct vpa_words w = {.used = 0};

	if (!is_time_only(c))
		vpa_words_add(&w, "", "%s: %s %s -> %s, %s", words[c->verdict], c->rate_name,
			vpa_compared_rate(c->a_rate).text, vpa_compared_rate(c->b_rate).text,
			vpa_compared_percent(c->rate_change).text);
	else
		vpa_words_add(&w, "", "%s: time of the window %s", words[c->verdict],
			vpa_compared_percent(c->time_change).text);
	if (c->level > 0)
		vpa_words_add(&w, "", " (%s %% interval: %s to %s)",
			vpa_fixed(100 * c->level, 0).text,
			vpa_compared_percent(is_time_only(c) ? c->time_low : c->rate_low).text,
			vpa_compared_percent(is_time_only(c) ? c->time_high : c->rate_high).text);
	vpa_words_end(&w);
	if (c->verdict == VPA_CHANGE_INCONCLUSIVE && c->units_needed && c->resembles)
		vpa_words_add(&w, " ",
			"Neighbouring %ss resemble each other: it takes %zu a side to tell a "
			"change from noise that changes slowly.",
			vpa_unit_kind_name(c->unit), c->units_needed);
	vpa_page_answer(p, "VERDICT", style_of(c->verdict), &w);
}

static void put_mean(struct vpa_page *p, const struct vpa_comparison *c)
{
	vpa_page_words(p, "MEAN", VPA_PLAIN, "The mean %s takes %s -> %s ms: %s ms.",
		vpa_compared_unit(c), vpa_compared_plain_ms(c->a_total_ns, c->a_over, 3).text,
		vpa_compared_plain_ms(c->b_total_ns, c->b_over, 3).text,
		vpa_compared_change_ms(c->delta_ns, 3).text);
}

static struct vpa_unit_limit limit_of(const struct vpa_comparison *c, int of_b)
{
	uint64_t family_ns[VPA_FAMILY_COUNT] = {0}, cause_ns[VPA_CAUSES] = {0}, busy_ns = 0,
		 idle_ns = 0;
	size_t i;

	for (i = 0; i < c->part_count; i++) {
		const struct vpa_compared_part *part = &c->parts[i];
		uint64_t ns = of_b ? part->times.b_ns : part->times.a_ns;

		if (part->kind == VPA_PART_PAUSED)
			continue;
		vpt_sat_add_to(part->kind == VPA_PART_IDLE ? &idle_ns : &busy_ns, ns);
		if (part->part < VPA_OVERVIEW_IDLE)
			vpt_sat_add_to(&family_ns[part->part], ns);
		else if (part->part < VPA_OVERVIEW_PARTS)
			vpt_sat_add_to(&cause_ns[part->part - VPA_OVERVIEW_IDLE], ns);
	}
	return vpa_unit_limit_of_part(
		of_b ? c->b.reports[0] : c->a.reports[0], family_ns, cause_ns, busy_ns, idle_ns);
}

/* Only where the change moves the limit: else both reports say the same. */
static void put_limits(struct vpa_page *p, const struct vpa_comparison *c)
{
	struct vpa_unit_limit a = limit_of(c, 0), b = limit_of(c, 1);

	if (!c->by_part || (a.bound == b.bound && a.idle.group == b.idle.group) ||
		(a.bound == b.bound && vpa_device_limit_is_bound(a.bound)))
		return;
	vpa_page_words(p, "", VPA_PLAIN, "A is %s. B is %s.", vpa_limit_sentence(&a).text,
		vpa_limit_sentence(&b).text);
}

/* "idle: host code in post_process, after cudaMemcpyAsync +7.800 ms (counted as blocking copy)" */
static void add_instead(struct vpa_words *w, const struct vpa_compared_part *part)
{
	vpa_words_add(w, ", ", "idle: %s%s%s %s ms (counted as %s)",
		vpa_compared_instead(part->host, part->host_call, &part->host_place).text,
		part->call ? ", after " : "", vpa_fit(vpa_text_or(part->call, ""), 48).text,
		vpa_compared_change_ms(part->times.delta_ns, 3).text, part->name);
}

/* " at pipe/sched.py:30", where at least half of a part's change is. */
static void add_line(
	struct vpa_words *w, const struct vpa_comparison *c, const struct vpa_compared_part *part)
{
	const struct vpa_code_line *line =
		c->by_part && part->kind == VPA_PART_IDLE
			? vpa_compare_line_of(c, vpa_compared_cause(part), part->times.delta_ns)
			: NULL;
	char text[128];

	if (line)
		vpa_words_add(w, " ", "at %s", vpa_line_text(text, sizeof(text), line));
}

void vpa_compare_add_kernels(struct vpa_words *w, const struct vpa_comparison *c)
{
	static const struct {
		enum vpa_row_state state;
		const char *what;
	} states[] = {{VPA_ROW_GONE, "gone"}, {VPA_ROW_NEW, "new"},
		{VPA_ROW_OTHER_SHAPE, "of another shape"}};
	size_t i, k;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		size_t count = vpa_compare_kernels(c, states[i].state), shown = 0;

		for (k = 0; k < c->row_count && count && !shown; k++)
			if (c->rows[k].kind == VPA_PART_BUSY &&
				c->rows[k].state == states[i].state) {
				vpa_words_add(w, ", ", "%s", vpa_fit(c->rows[k].name, 40).text);
				shown = 1;
			}
		if (count > 1)
			vpa_words_add(w, " ", "and %zu more", count - 1);
		if (count)
			vpa_words_add(w, " ", "%s %s", count > 1 ? "are" : "is", states[i].what);
	}
}

void vpa_compare_put_kernels(struct vpa_page *p, const struct vpa_comparison *c)
{
	struct vpa_words w = {.used = 0};

	vpa_compare_add_kernels(&w, c);
	if (w.used)
		vpa_page_words(p, "KERNELS", VPA_PLAIN, "differ: %s.", w.text);
}

/* The parts that changed most, in the direction of the whole. */
void vpa_compare_put_because(struct vpa_page *p, const struct vpa_comparison *c)
{
	struct vpa_compared_part leading[LEADING];
	struct vpa_words w = {.used = 0};
	size_t i, count = vpa_compare_leading(c, leading, LEADING);

	if (!vpa_compare_is_change(c))
		return;
	for (i = 0; i < count; i++) {
		if (c->by_part && leading[i].host) {
			add_instead(&w, &leading[i]);
			add_line(&w, c, &leading[i]);
			continue;
		}
		vpa_words_add(&w, ", ", "%s%s %s ms",
			c->by_part && leading[i].kind == VPA_PART_IDLE ? "idle: " : "",
			c->by_part || leading[i].kind == VPA_PART_PAUSED ? leading[i].name
			: leading[i].kind == VPA_PART_IDLE               ? "GPU idle"
									 : "GPU busy",
			vpa_compared_change_ms(leading[i].times.delta_ns, 3).text);
		add_line(&w, c, &leading[i]);
	}
	if (w.used)
		vpa_page_words(p, "BECAUSE", VPA_PLAIN, "%s.", w.text);
}

static void put_method(struct vpa_page *p, const struct vpa_comparison *c)
{
	struct vpa_words w = {.used = 0};

	if (c->between_runs)
		vpa_words_add(&w, ". ",
			"Between runs: %zu against %zu medians of the period, Mann-Whitney p = %s, "
			"Hodges-Lehmann shift",
			c->a.count, c->b.count, vpa_fixed(c->p, 4).text);
	else if (c->level > 0)
		vpa_words_add(&w, ". ", "Within these runs: %zu %ss, paired by request and index",
			c->pairs, vpa_unit_kind_name(c->unit));
	if (c->a_noise >= 0)
		vpa_words_add(&w, ". ", "Spread of the %ss within a side: A %s, B %s",
			vpa_unit_kind_name(c->unit), vpa_compared_size_of(c->a_noise).text,
			vpa_compared_size_of(c->b_noise).text);
	if (c->a_run_noise >= 0 && c->b_run_noise >= 0)
		vpa_words_add(&w, ". ", "Spread of the runs' medians: A %s, B %s",
			vpa_compared_size_of(c->a_run_noise).text,
			vpa_compared_size_of(c->b_run_noise).text);
	if (c->detectable >= 0)
		vpa_words_add(&w, ". ", "Smallest change that this would show: %s",
			vpa_compared_size_of(c->detectable).text);
	if (w.used)
		vpa_page_words(p, "", VPA_PLAIN, "%s.", w.text);
}

void vpa_compare_put_notes(struct vpa_page *p, const struct vpa_comparison *c)
{
	size_t i;

	for (i = 0; i < c->note_count; i++)
		vpa_page_words(p, i ? "" : "NOTES", VPA_PLAIN, "%s%s", p->form ? "" : "- ",
			vpa_grouped(c->notes[i]).text);
}

void vpa_compare_put_result(struct vpa_page *p, const struct vpa_comparison *c)
{
	put_headline(p, c);
	put_side(p, "A", &c->a);
	put_side(p, "B", &c->b);
	put_mean(p, c);
	put_limits(p, c);
	put_method(p, c);
}
