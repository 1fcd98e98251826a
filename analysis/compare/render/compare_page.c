/* compare_page.c - a comparison as one page for browsers: the verdict, what differs in the set-up, where the time of the
 * mean unit went on both sides, and tables made from the keys of the JSON. */
#include "analysis/compare/render/compare_pages.h"

#include "analysis/render/html/page_tables.h"
#include "formats/base/count.h"
#include "formats/base/text.h"

/* ---- the head ---- */

/* The end of a path that tells it from the other one: of files of one name in two folders the folder too. */
static const char *name_of(const char *path, const char *other)
{
	size_t len = path ? strlen(path) : 0, of_other = other ? strlen(other) : 0, same = 0;
	const char *name;

	if (!len)
		return "trace";
	while (same < len && same < of_other && path[len - 1 - same] == other[of_other - 1 - same])
		same++;
	if (same == len && same == of_other)
		return vpt_file_name(path);
	if (same == len || same == of_other)
		return path;
	for (name = path + len - same; name > path && name[-1] != '/'; name--)
		;
	return name;
}

static void put_side_name(
	struct vpa_html *h, const struct vpa_side *s, const struct vpa_side *other)
{
	vpa_html_text(h, name_of(s->reports[0]->path, other->reports[0]->path));
	if (s->count > 1)
		vpa_html_print(h, " and %zu more", s->count - 1);
}

static void put_name(struct vpa_html *h, const void *ctx)
{
	const struct vpa_comparison *c = ctx;

	put_side_name(h, &c->a, &c->b);
	vpa_html_raw(h, " \xe2\x86\x92 "); /* an arrow */
	put_side_name(h, &c->b, &c->a);
}

static int is_simulated(const struct vpa_side *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->reports[i]->simulated > 0)
			return 1;
	return 0;
}

static void put_badges(struct vpa_html *h, const void *ctx)
{
	static const char *const badges[] = {[VPA_CHANGE_SAME] = "green\">SAME",
		[VPA_CHANGE_FASTER] = "green\">FASTER",
		[VPA_CHANGE_SLOWER] = "red\">SLOWER",
		[VPA_CHANGE_INCONCLUSIVE] = "yellow\">INCONCLUSIVE"};
	const struct vpa_comparison *c = ctx;

	vpa_html_print(h, "<span class=\"badge %s</span> ", badges[c->verdict]);
	if (is_simulated(&c->a) || is_simulated(&c->b))
		vpa_html_raw(h, "<span class=\"badge red\">SIMULATED: no GPU ran</span> ");
	vpa_html_print(h, "<span class=\"badge %s\">%s</span>", c->complete ? "green" : "red",
		vpa_verdict_word(c->complete));
}

/* ---- the verdict ---- */

static void put_words(struct vpa_page *p, const void *ctx)
{
	vpa_compare_put_result(p, ctx);
	vpa_compare_put_because(p, ctx);
	vpa_compare_put_prediction(p, ctx);
	vpa_compare_put_notes(p, ctx);
}

/* ---- tables ---- */

/* A section with a table of the comparison's keys. */
struct list {
	const char *id, *title,
		*lead; /* the lead goes on with the unit if the figures are per unit; NULL: none */
	int is_per_unit;
	const char *folded; /* says what is folded away; NULL: the table is open */
	const char *kind;   /* of the rows; NULL: all */
	struct vpa_view view;
};

static const struct list lists[] = {
	{"parts", "Parts", NULL, 0,
		"The bars as a table; the changes add up to that of the mean, to the nanosecond",
		NULL,
		{"mean.parts", "Parts of the mean",
			.first = "kind name host host_range a_mean_ns b_mean_ns delta_ns change"}},
	{"stages", "Stages", NULL, 0, NULL, NULL,
		{"stages", "Mean of an instance",
			.first = "name a_mean_ns b_mean_ns delta_ns change a_per_block b_per_block "
				 "p_holm"}},
	{"kernels", "Kernels", "Exclusive time and calls in the whole window", 1, NULL, "busy",
		{"window.rows", "Kernels, copies, memsets",
			.first = "name family a_per_unit b_per_unit a_mean_ns b_mean_ns delta_ns "
				 "change"}},
	{"places", "Idle time", "Idle time and gaps in the whole window", 1, NULL, "idle",
		{"window.rows", "Idle time by cause and place",
			.first = "name range similar call host host_range a_per_unit b_per_unit "
				 "a_mean_ns b_mean_ns delta_ns change"}},
	{"lines", "Idle time by line", "Idle time by line of Python, in the whole window", 1, NULL,
		NULL,
		{"lines", "Idle time by cause and line",
			.first = "cause function file line a_mean_ns b_mean_ns delta_ns"}},
	{"counts", "Counts", "In the whole window", 1, NULL, NULL,
		{"counts", "Events, copies, calls", .first = "group name unit a b change"}},
	{"counters", "Samples", NULL, 0, NULL, NULL,
		{"counters", "Memory, clocks, power",
			.first = "name unit device a_mean b_mean change a_max b_max"}},
	{"findings", "Findings", NULL, 0, NULL, NULL,
		{"findings", "Only on one side", .first = "only_in title id"}},
};

static void put_list(struct vpa_html *h, const struct vpa_comparison *c, const struct list *list)
{
	const struct vpa_html_source source = {&vpa_fields_comparison, NULL, c, list->kind};
	struct vpa_words lead = {.used = 0};

	if (!vpa_html_source_rows(&source, &list->view))
		return;
	if (list->lead)
		vpa_words_add(&lead, "", "%s", list->lead);
	if (list->is_per_unit && c->unit != VPA_UNIT_WINDOW)
		vpa_words_add(&lead, "", ", per %s, warm-up included", vpa_compared_unit(c));
	if (lead.used)
		vpa_words_add(&lead, "", ".");
	vpa_html_begin(h, list->id, list->title, lead.used ? lead.text : NULL);
	if (list->folded)
		vpa_html_print(h, "<details><summary>%s</summary>\n", list->folded);
	vpa_html_put_source(h, &source, &list->view);
	if (list->folded)
		vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}

/* What differs; first, whether both sides did the same work. */
static void put_setup(struct vpa_html *h, const struct vpa_comparison *c)
{
	static const struct vpa_view view = {"setup", "What differs", .first = "name a b"};
	const struct vpa_html_source source = {&vpa_fields_comparison, NULL, c, NULL};
	struct vpa_words lead = {.used = 0}, kernels = {.used = 0};
	size_t i;

	for (i = 0; i < c->fact_count; i++)
		if (c->facts[i].is_work)
			vpa_words_add(&lead, lead.used ? ", " : "", "%s%s",
				lead.used ? "" : "A and B did different work: ", c->facts[i].name);
	vpa_compare_add_kernels(&kernels, c);
	if (lead.used)
		vpa_words_add(&lead, "", ".");
	else if (!kernels.used)
		vpa_words_add(&lead, "", "%s",
			c->fact_count ? "A and B did the same work, as far as it was recorded."
				      : "The same, as far as it was recorded.");
	if (kernels.used)
		vpa_words_add(&lead, " ", "The kernels differ: %s.", kernels.text);
	vpa_html_begin(h, "setup", "Set-up", NULL);
	vpa_html_raw(h, "<p class=\"lead\">");
	vpa_html_text(h, lead.text);
	vpa_html_raw(h, "</p>\n");
	vpa_html_put_source(h, &source, &view);
	vpa_html_end(h);
}

/* ---- help ---- */

static const struct vpa_html_word words[] = {
	{"A, B, B - A", "A is what was, B what is. B - A is the change: times below 0 are saved."},
	{"change in %",
		"Of stages, counts and samples it is a share of their own A. Of parts of the mean, "
		"kernels and idle time it is a share of the whole A, so that they add up."},
	{"the mean", "The mean of the paired blocks (or steps, or windows) of a side. If a unit "
		     "has several GPUs, it is the mean of a GPU."},
	{"busy, idle", "A GPU is busy while at least one kernel, copy or memset runs on it, on any "
		       "stream; otherwise it is idle."},
	{"exclusive time", "While k kernels run at once, each counts 1/k of the time."},
	{"interval", "Holds the true change with the named probability: of these runs only, unless "
		     "a side has three runs or more."},
	{"p (Holm)", "How likely a difference as large would be if both sides were the same, after "
		     "Holm's correction for the number of stages."},
};

static void put_help(struct vpa_html *h, const struct vpa_comparison *c)
{
	enum vpa_cause causes[VPA_CAUSES];
	uint32_t listed = 1u << VPA_CAUSE_NOT_IDLE;
	size_t count = 0, i;

	for (i = 0; i < c->part_count; i++) {
		enum vpa_cause cause = vpa_compared_cause(&c->parts[i]);

		if (listed >> cause & 1)
			continue;
		listed |= 1u << cause;
		causes[count++] = cause;
	}
	vpa_html_how_to_read(h, words, COUNT(words), causes, count);
}

/* ---- the whole ---- */

static void put_sections(struct vpa_html *h, const void *ctx)
{
	const struct vpa_comparison *c = ctx;
	size_t i;

	vpa_html_begin(h, "summary", "Verdict", NULL);
	vpa_html_words(h, put_words, c);
	vpa_html_end(h);
	put_setup(h, c);
	vpa_compare_put_unit_parts(h, c);
	for (i = 0; i < COUNT(lists); i++)
		put_list(h, c, &lists[i]);
	put_help(h, c);
}

int vpa_compare_html(const struct vpa_comparison *c, const char *command, struct vpt_sink *sink,
	struct vpt_err *err)
{
	const struct vpa_html_page page = {.kind = "comparison",
		.command = command,
		.put_name = put_name,
		.put_badges = put_badges,
		.put_sections = put_sections,
		.ctx = c};

	return vpa_html_page(&page, sink, err);
}
