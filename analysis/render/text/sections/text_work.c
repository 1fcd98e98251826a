/* text_work.c - what the devices did: attention, kernels, copies, syncs and ranges; then notes, and
 * next steps.
 *
 * A table prints nothing without data and shows its largest rows; --top and the JSON report have the
 * others. */
#include "analysis/names/range_names.h"
#include "analysis/render/fields/fields.h"
#include "analysis/render/text/sections/text_sections.h"
#include "formats/base/count.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { /* rows of each table */
	KERNELS = 5,
	BACKENDS = 6,
	EAGER = 3,
	FALLBACKS = 4,
	SYNCS = 4,
	RANGES = 5,
	NOTES = 12
};

/* ---- kernels, attention, copies, syncs, ranges ---- */

/* Gives different kernels different labels in the room that the numbers leave. A long table compares each
 * VPA_LABELS_MAX kernels among themselves. A kernel with a source has a row for it after its own. A table without memory for its rows
 * is not printed. */
static void tell_apart(const struct vpa_page *p, struct vpa_table *t,
	const struct vpa_kernel_row *kernels, size_t kernel_count)
{
	const char *names[VPA_LABELS_MAX];
	struct vpa_label labels[VPA_LABELS_MAX];
	size_t room = vpa_page_label_columns(p, t), row = 0, i, at, count;

	if (t->failed)
		return;
	for (at = 0; at < kernel_count; at += count) {
		size_t prefix = sizeof(" K ") - 1 + strlen(vpa_scaled(at + 1, 1, 0).text);
		size_t columns = room > prefix ? room - prefix : 0;

		count = vpa_least(kernel_count - at, VPA_LABELS_MAX);
		for (i = 0; i < count; i++)
			names[i] = kernels[at + i].name;
		vpa_kernel_labels(names, count, columns, labels);
		for (i = 0; i < count; i++) {
			struct vpa_label *label = &vpa_table_at(t, row)->label;

			if (strcmp(labels[i].text, vpa_kernel_label(names[i], columns).text))
				snprintf(label->text, sizeof(label->text), "K%zu %.480s",
					at + i + 1, labels[i].text);
			row += kernels[at + i].source ? 2 : 1;
		}
	}
}

void vpa_text_kernels(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_column columns[VPA_TABLE_COLUMNS];
	struct vpa_table t;
	size_t i, shown = 0, count = vpa_text_columns(r, vpa_view_of("kernels"), columns);

	/* Rows under a hundredth of the busy time are shown only on request. */
	while (shown < vpa_least(r->kernel_count, vpa_rows(r, KERNELS)) &&
		(!shown || r->top || r->kernels[shown].exclusive_ns >= d->busy_ns / 100))
		shown++;
	if (!shown)
		return;
	vpa_table_init(&t, columns, count, "TOP KERNELS, %zu of %zu", shown,
		r->kernel_names < shown ? shown : r->kernel_names);
	for (i = 0; i < shown; i++) {
		const struct vpa_kernel_row *k = &r->kernels[i];
		const struct vpa_at at = {r, k, NULL};
		struct vpa_row *row = vpa_table_row(&t, 1, "K%zu %s", i + 1,
			vpa_kernel_label(k->name, VPA_COLUMNS_MAX - 8).text);

		vpa_text_fill_columns(row, columns, count, &at, &vpa_fields_kernel, d);
		if (k->source)
			vpa_text_row(&t, 3, "%s", k->source);
	}
	tell_apart(p, &t, r->kernels, shown);
	vpa_page_table(p, &t);
}

void vpa_text_attention(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("attention.backends");
	const struct vpa_attention *a = &r->attention;
	size_t backends = vpa_least(a->backend_count, vpa_rows(r, BACKENDS)),
	       eager = vpa_least(a->eager_count, vpa_rows(r, EAGER)),
	       fallbacks = vpa_least(a->fallback_count, vpa_rows(r, FALLBACKS)), i;
	struct vpa_table t;

	if (!a->calls && !a->backend_count && !a->eager_count && !a->fallback_count)
		return;
	if (a->share_of_busy >= 0.9995)
		vpa_table_init(&t, v->columns, v->column_count, "ATTENTION, all of busy");
	else
		vpa_table_init(&t, v->columns, v->column_count, "ATTENTION, %s %% of busy",
			vpa_share(a->share_of_busy).text);
	for (i = 0; i < backends; i++) {
		const struct vpa_backend_row *b = &a->backends[i];
		struct vpa_row *row =
			vpa_table_row(&t, 1, "%s", vpa_text_or(vpa_backend_name(b->backend), "?"));

		vpa_text_fill(row, v, b, d);
	}
	for (i = 0; i < eager; i++) {
		const struct vpa_eager_row *e = &a->eager[i];
		struct vpa_label softmax = vpa_kernel_label(e->softmax, 60);
		struct vpa_row *row = vpa_table_row(&t, 1, "EAGER: GEMM, %.*s, GEMM%s%s",
			(int)strcspn(softmax.text, "<("), softmax.text, e->range ? " in " : "",
			vpa_fit(e->range, 40).text);

		row->style = VPA_YELLOW;
		vpa_text_fill(row, vpa_view_of("attention.eager"), e, d);
	}
	for (i = 0; i < fallbacks; i++)
		vpa_text_row(&t, 1, "FALLBACK: %s", vpa_text_or(a->fallbacks[i], "?"))->style =
			VPA_YELLOW;
	vpa_table_more(&t, a->backend_count - backends + a->eager_count - eager +
				   a->fallback_count - fallbacks);
	vpa_page_table(p, &t);
}

void vpa_text_syncs(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("syncs");
	struct vpa_table t;
	char line[320];
	size_t i, shown = 0;

	if (!r->sync_count || !r->device_count)
		return;
	vpa_table_init(&t, v->columns, v->column_count, "SYNCS, by the idle time they cause");
	for (i = 0; i < vpa_least(r->sync_count, vpa_rows(r, SYNCS)); i++) {
		const struct vpa_sync_row *s = &r->syncs[i];
		struct vpa_row *row;

		/* Neither idle time nor time of the host worth a line. */
		if (!r->top && s->idle_ns < d->windows_ns / 1000 &&
			s->total_ns < d->windows_ns / 100)
			continue;
		shown++;
		row = vpa_table_row(&t, 1, "S%zu %s", i + 1,
			vpa_fit(vpa_text_or(s->call, "?"), VPA_COLUMNS_MAX - 8).text);
		vpa_text_fill(row, v, s, d);
		if (vpa_top_line_text(line, sizeof(line), vpa_top_line_of_call(r, s->call))[0])
			vpa_text_row(&t, 4, "%s", line);
	}
	if (shown)
		vpa_table_more(&t, r->sync_count - shown);
	vpa_page_table(p, &t);
}

/* An imported profiler trace has thousands of operators; they are shown only if there are no other
 * ranges. */
static int has_marks(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->range_count; i++)
		if (!r->ranges[i].is_imported)
			return 1;
	return 0;
}

/* An operator of PyTorch's profiler, or the NVTX range of one. */
static int is_operator(const struct vpa_range_row *g)
{
	const char *name = vpa_text_or(g->name, "");

	return g->is_imported || vpa_range_names_operator(name, strlen(name));
}

/* Whether an operator is all that one further up the table does: aten::item of aten::is_nonzero. */
static int is_inside_another(const struct vpa_report *r, size_t at)
{
	const struct vpa_range_row *g = &r->ranges[at];
	size_t i;

	for (i = 0; i < at && is_operator(g) && g->ops; i++) {
		const struct vpa_range_row *other = &r->ranges[i];

		if (is_operator(other) && other->host.count == g->host.count &&
			other->ops == g->ops && other->launches == g->launches &&
			other->busy_ns == g->busy_ns)
			return 1;
	}
	return 0;
}

void vpa_text_ranges(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("ranges");
	struct vpa_table t;
	int marked = has_marks(r);
	size_t i;

	vpa_table_init(&t, v->columns, r->device_count ? v->column_count : 3, "RANGES");
	for (i = 0; i < r->range_count && t.row_count < vpa_rows(r, RANGES); i++) {
		const struct vpa_range_row *g = &r->ranges[i];
		const char *domain = vpa_text_or(g->domain, "");
		struct vpa_row *row;

		if ((marked && g->is_imported) || is_inside_another(r, i))
			continue;
		row = vpa_table_row(&t, 1, "%s%s%s", vpa_fit(domain, 24).text, *domain ? ": " : "",
			vpa_fit(vpa_text_or(g->name, "?"), VPA_COLUMNS_MAX - 8).text);
		vpa_text_fill(row, v, g, d);
	}
	vpa_table_of(&t, t.row_count, r->range_names);
	vpa_page_table(p, &t);
}

/* ---- NOTES, NEXT ---- */

struct notes {
	struct vpa_page *page;
	size_t count;
};

static void note(struct notes *n, const char *number, const char *text)
{
	if (!n->count)
		vpa_page_blank(n->page);
	if (n->count < NOTES)
		vpa_page_item(n->page, n->count ? "" : "NOTES", "%s%s%s", number,
			number[0] ? " " : "", text);
	n->count++;
}

/* The title with what was measured. */
static void note_finding(struct notes *n, const struct vpa_finding *f)
{
	struct vpa_words w = {.used = 0};

	vpa_words_add(&w, "", "%.400s", vpa_text_or(f->title, "?"));
	if (f->measured)
		vpa_words_add(&w, " ", "(%.400s)", vpa_grouped(f->measured).text);
	note(n, "", w.text);
}

void vpa_text_notes(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_verdict *v = &r->verdict;
	const struct {
		uint64_t number;
		const char *text;
	} oddities[] = {
		{v->zero_duration,
			"kernels, copies and memsets have no duration: counted, with time 0"},
	};
	struct notes n = {.page = p};
	size_t i;

	(void)d;
	p->touched = 0;
	for (i = VPA_REASONS; i < v->reason_count; i++)
		note(&n, "", vpa_grouped(vpa_text_or(v->reasons[i], "?")).text);
	for (i = 0; i < COUNT(oddities); i++)
		if (oddities[i].number)
			note(&n, vpa_count(oddities[i].number).text, oddities[i].text);
	for (i = 0; i < r->finding_count; i++)
		if (vpa_is_note(&r->findings[i]))
			note_finding(&n, &r->findings[i]);
	if (n.count > NOTES)
		vpa_page_item(p, "", "%s more in the JSON report", vpa_count(n.count - NOTES).text);
}

const char *vpa_path_for_shell(const struct vpa_page *p, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._/+=,@:%-";

	if (!path || !*path || *path == '-' || path[strspn(path, plain)] ||
		strlen(path) + 50 > p->width)
		return "FILE";
	return path;
}

/* Whether there are steps, or ranges that are called "block 3" or "step 7", more or less. */
static int has_blocks(const struct vpa_report *r)
{
	static const char *const words[] = {"block", "step"};
	size_t i, k;

	for (i = 0; i < r->request_count; i++)
		if (r->requests[i].steps.count)
			return 1;
	for (i = 0; i < r->range_count; i++) {
		for (k = 0; k < COUNT(words); k++) {
			size_t len = strlen(words[k]);
			const char *name = r->ranges[i].name;

			if (name && !strncasecmp(name, words[k], len) && name[len] &&
				strchr(" _#-0123456789", name[len]))
				return 1;
		}
	}
	return 0;
}

int vpa_text_lacks_marks(const struct vpa_report *r)
{
	return r->device_count && !vpa_unit_trains(r) && !vpa_has_blocks(r) && !has_blocks(r);
}

void vpa_text_next(struct vpa_page *p, const struct vpa_report *r)
{
	vpa_page_blank(p);
	vpa_page_words(p, "NEXT", VPA_PLAIN, "vptrace-analyze %s --format html -o report.html",
		vpa_path_for_shell(p, r->path));
	if (vpa_text_lacks_marks(r))
		vpa_page_words(p, "MARK", VPA_PLAIN,
			"to see videos, stages and denoising steps in this report, record with "
			"\"vptrace run\", which marks diffusers and other projects; or put "
			"torch.cuda.nvtx.range_push(\"block 3\") ... range_pop() around each "
			"block, \"step 7\" around each step.");
}
