/* memory_labels.c - what an allocator held at the moments that the program gave a label.
 *
 * The moments are marks whose name is the label, with an annotation {"kind":"memory","allocated":N,"reserved":N,"peak":N},
 * see vptrace.h. A label in a loop is one row: the newest values count, of peaks the largest. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/pipeline/annotation.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum { LABELS_MAX = 4096 };

struct label {
	struct vpa_memory_label row;
	uint64_t newest_ns;
	int64_t allocated, reserved, peak; /* as annotations say them; below 0: they do not */
	int64_t first_allocated;
	uint64_t said; /* how often that is known */
};

struct state {
	struct vpa_index index; /* (name, device + 1) */
	struct label *labels;
	size_t cap;
};

struct said {
	int is_memory;
	int64_t allocated, reserved, peak, device, exact;
};

static int read_said(struct vpt_text text, struct said *out)
{
	struct vpa_annotation_reader r = vpa_annotation_begin(text);
	struct vpa_annotation_member m;
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {{"allocated", &out->allocated}, {"reserved", &out->reserved},
		{"peak", &out->peak}, {"device", &out->device}, {"exact", &out->exact}};
	size_t i;

	*out = (struct said){0, -1, -1, -1, -1, -1};
	while (vpa_annotation_next(&r, &m)) {
		if (m.is_text)
			out->is_memory |=
				vpt_text_is(m.key, "kind") &&
				vpt_text_is(m.text, vpa_scope_kind_name(VPA_SCOPE_MEMORY));
		for (i = 0; !m.is_text && i < COUNT(numbers); i++)
			if (vpt_text_is(m.key, numbers[i].key))
				*numbers[i].value = m.number;
	}
	return !r.failed && out->is_memory;
}

static void add(struct label *l, uint64_t time_ns, const struct said *said)
{
	struct vpa_memory_label *row = &l->row;

	row->count++;
	if (said->peak >= 0 &&
		(said->peak > l->peak || (said->peak == l->peak && said->exact > 0))) {
		l->peak = said->peak;
		row->peak_exact = said->exact > 0;
	}
	if (said->allocated >= 0 && (!l->said++ || time_ns < row->first_ns))
		l->first_allocated = said->allocated;
	row->first_ns = time_ns < row->first_ns ? time_ns : row->first_ns;
	if (time_ns < l->newest_ns)
		return;
	l->newest_ns = time_ns;
	l->allocated = said->allocated;
	l->reserved = said->reserved;
}

static int fold_mark(void *state, const struct vpa_fold_context *c, const struct vpa_mark *mark)
{
	struct state *s = state;
	size_t before = s->index.count;
	uint64_t device;
	struct said said;
	uint32_t at;

	if (!read_said(vpa_name(c->model, mark->payload), &said))
		return VPT_OK;
	device = (uint64_t)said.device + 1;
	if (!vpa_index_has_room(&s->index, LABELS_MAX, mark->name, device))
		return VPT_OK;
	at = vpa_index_row(&s->index, mark->name, device, &s->labels, &s->cap, sizeof(*s->labels));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	if (s->index.count > before)
		s->labels[at] = (struct label){
			.row = {.device = said.device, .first_ns = UINT64_MAX}, .peak = -1};
	add(&s->labels[at], mark->time_ns, &said);
	return VPT_OK;
}

static int by_first(const void *pa, const void *pb)
{
	const struct vpa_memory_label *a = pa, *b = pb;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return a->device < b->device ? -1 : a->device > b->device;
}

static struct vpa_memory_label row_of(const struct label *l, const char *name)
{
	struct vpa_memory_label row = l->row;

	row.label = name ? name : "(no name)";
	row.allocated_bytes = (uint64_t)l->allocated; /* -1 becomes ~0 */
	row.reserved_bytes = (uint64_t)l->reserved;
	row.peak_bytes = (uint64_t)l->peak;
	row.unused_share = l->allocated >= 0 && l->reserved >= l->allocated && l->reserved
				   ? 1 - (double)l->allocated / (double)l->reserved
				   : -1;
	if (l->allocated >= 0)
		row.growth_bytes = l->allocated - l->first_allocated;
	return row;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_said *said = &out->said;
	struct state *s = state;
	size_t i, count = s->index.count;

	if (!count)
		return VPT_OK;
	said->memory_labels = vpa_arena_alloc(&out->arena, count, sizeof(*said->memory_labels));
	if (!said->memory_labels)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		said->memory_labels[i] = row_of(&s->labels[i],
			vpa_fold_name(out, c->model, (uint32_t)s->index.entries[i].a));
	qsort(said->memory_labels, count, sizeof(*said->memory_labels), by_first);
	said->memory_labels_used = count;
	said->memory_label_count = count < c->top ? count : c->top;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->labels);
}

const struct vpa_fold vpa_fold_memory_labels = {
	.name = "memory_labels",
	.help = "what an allocator held at moments with a label",
	.state_bytes = sizeof(struct state),
	.mark = fold_mark,
	.finish = finish,
	.free = free_state,
};
