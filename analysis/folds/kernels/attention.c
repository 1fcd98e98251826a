/* attention.c - identifies the attention that ran, and slow fallbacks.
 *
 * Fused attention is identified by kernel names. Eager attention has no kernel of its own: it is the
 * sequence GEMM, softmax, GEMM on one stream, with only elementwise, copy, reduce or index kernels
 * between, at most eight apart. A softmax without both GEMMs (a sampler's, a router's) is not
 * attention. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/names/demangle.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/domains.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 8 };

/* A stream's progress in a sequence. */
struct progress {
	uint64_t gemm_ns, softmax_ns; /* durations of the first GEMM and of the softmax */
	uint64_t between_ns;          /* of the kernels between them so far */
	uint32_t gemm_name, softmax_name, range;
	uint8_t seen;   /* 0: nothing, 1: GEMM seen, 2: softmax seen */
	uint8_t passed; /* kernels since the last of them */
};

struct eager {
	uint64_t count, total_ns, softmax_ns;
};

struct backend {
	uint64_t calls, total_ns, aux_calls, aux_ns;
};

struct state {
	struct progress *streams;
	size_t stream_cap;
	struct vpa_index eager_index; /* (range, first GEMM), softmax */
	struct eager *eager;
	size_t eager_cap;
	struct backend *backends; /* by kernel */
	size_t backend_cap;
	uint64_t softmax_ns; /* of all eager softmax kernels */
};

VPA_RARE static int add_eager(struct state *s, const struct progress *p, uint64_t second_gemm_ns)
{
	uint32_t row = vpa_index_row(&s->eager_index, (uint64_t)p->range << 32 | p->gemm_name,
		p->softmax_name, &s->eager, &s->eager_cap, sizeof(*s->eager));
	struct eager *e;

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	e = &s->eager[row];
	e->count++;
	e->softmax_ns += p->softmax_ns;
	e->total_ns += p->gemm_ns + p->between_ns + p->softmax_ns + second_gemm_ns;
	return VPT_OK;
}

/* The place of an op's launch: the outermost imported operator inside the innermost range, since the
 * operators below it are PyTorch's own steps. */
static uint32_t place_of(const struct vpa_fold_context *c, const struct vpa_ops *ops, size_t i)
{
	size_t k = 0;
	const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);
	const struct vpa_range *range = vpa_inner_range(stretch->range, stretch->process_range);
	const struct vpa_range *place = range;
	uint64_t at_ns = ops->launch_start_ns[i];

	if (range && range->end_ns <= at_ns)
		range = vpa_range_around(range, at_ns);
	for (; range; range = vpa_range_around(range, at_ns)) {
		if (!vpt_domain_is(vpa_name(c->model, range->domain), VPT_DOMAIN_OPERATORS))
			break;
		place = range;
	}
	return place ? place->name : 0;
}

/* A GEMM or a softmax. */
static int follow_sequence(struct state *s, const struct vpa_fold_context *c, struct progress *p,
	const struct vpa_ops *ops, size_t i, enum vpa_role role)
{
	uint64_t ns = ops->end_ns[i] - ops->start_ns[i];
	uint32_t name = c->model->kernels[ops->kernel[i]].name;
	int rc = VPT_OK;

	if (role == VPA_ROLE_GEMM) {
		if (p->seen == 2 && p->passed < NEAR)
			rc = add_eager(s, p, ns);
		p->seen = 1;
		p->passed = 0;
		p->between_ns = 0;
		p->gemm_ns = ns;
		p->gemm_name = name;
		return rc;
	}
	s->softmax_ns += ns;
	p->seen = p->seen == 1 && p->passed < NEAR ? 2 : 0;
	p->passed = 0;
	p->softmax_ns = ns;
	p->softmax_name = name;
	p->range = place_of(c, ops, i);
	return VPT_OK;
}

VPA_RARE static int make_room(struct state *s, const struct vpa_model *m)
{
	if (vpt_grow_zeroed(&s->streams, &s->stream_cap, m->stream_count, sizeof(*s->streams)) ||
		vpt_grow_zeroed(
			&s->backends, &s->backend_cap, m->kernel_count, sizeof(*s->backends)))
		return VPT_ENOMEM;
	return VPT_OK;
}

static void add_backend(struct backend *b, enum vpa_role role, uint64_t ns)
{
	if (role == VPA_ROLE_FUSED) {
		b->calls++;
		b->total_ns += ns;
	} else {
		b->aux_calls++;
		b->aux_ns += ns;
	}
}

/* A kernel that is not glue: it continues a sequence or ends it. */
static int add_other(struct state *s, const struct vpa_fold_context *c, struct progress *p,
	const struct vpa_ops *ops, size_t i, enum vpa_role role)
{
	if (role == VPA_ROLE_GEMM || role == VPA_ROLE_SOFTMAX)
		return follow_sequence(s, c, p, ops, i, role);
	p->seen = 0;
	if (role > VPA_ROLE_SOFTMAX)
		add_backend(&s->backends[ops->kernel[i]], role, ops->end_ns[i] - ops->start_ns[i]);
	return VPT_OK;
}

/* Follows ops [begin, end) of one stream. Skips copies, and glue outside a sequence. */
static int follow(struct state *s, const struct vpa_fold_context *c, struct progress *p,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i;
	int rc = VPT_OK;

	for (i = begin; i < end && !rc; i++) {
		enum vpa_role role = ops->role[i];

		if (role > VPA_ROLE_GLUE) {
			rc = add_other(s, c, p, ops, i, role);
		} else if (role == VPA_ROLE_GLUE && p->seen) {
			if (p->passed == NEAR) {
				p->seen = 0;
				continue;
			}
			p->passed++;
			p->between_ns += ops->end_ns[i] - ops->start_ns[i];
		}
	}
	return rc;
}

/* Where to begin following ops without a softmax: the last one that resets the sequence. */
static size_t last_that_counts(const struct vpa_ops *ops, size_t begin, size_t end)
{
	while (end > begin + 1 && ops->role[end - 1] <= VPA_ROLE_GLUE)
		end--;
	return end - 1;
}

static int fold_run(struct state *s, const struct vpa_fold_context *c, const struct vpa_ops *ops,
	size_t begin, size_t end, size_t *taken)
{
	struct progress *p = &s->streams[ops->stream[begin]];
	size_t first = *taken, k, i;
	unsigned softmaxes = 0;

	for (k = first; k < ops->special_count && ops->specials[k] < end; k++)
		softmaxes |= ops->role[ops->specials[k]] == VPA_ROLE_SOFTMAX;
	*taken = k;
	if (softmaxes || p->seen == 2)
		return follow(s, c, p, ops, begin, end);
	/* A sequence at its first GEMM can only restart or end here; none completes. */
	begin = last_that_counts(ops, begin, end);
	for (k = first; k < *taken; k++) {
		i = ops->specials[k];
		if (i < begin && ops->role[i] > VPA_ROLE_SOFTMAX)
			add_backend(&s->backends[ops->kernel[i]], ops->role[i],
				ops->end_ns[i] - ops->start_ns[i]);
	}
	return follow(s, c, p, ops, begin, end);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t r, taken = 0;
	int rc = make_room(s, c->model);

	for (r = 0; r < ops->run_count && !rc; r++)
		rc = fold_run(s, c, ops, ops->runs[r].begin, ops->runs[r].end, &taken);
	return rc;
}

/* Attention kernels that ran and took no time. A sequence of kernels needs their times. */
static int fold_instants(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i;
	int rc = make_room(s, c->model);

	for (i = 0; i < ops->special_count && !rc; i++) {
		size_t at = ops->specials[i];

		if (ops->role[at] > VPA_ROLE_SOFTMAX)
			add_backend(&s->backends[ops->kernel[at]], ops->role[at], 0);
	}
	return rc;
}

/* ---- writing down ---- */

static int compare_backends(const void *pa, const void *pb)
{
	const struct vpa_backend_row *a = pa, *b = pb;
	uint64_t ta = a->total_ns + a->aux_ns, tb = b->total_ns + b->aux_ns;

	if (ta != tb)
		return ta > tb ? -1 : 1;
	return strcmp(vpa_backend_name(a->backend), vpa_backend_name(b->backend));
}

static int compare_eager(const void *pa, const void *pb)
{
	const struct vpa_eager_row *a = pa, *b = pb;
	int order;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	order = vpt_text_order(a->range, b->range);
	return order ? order : strcmp(a->gemm, b->gemm);
}

static struct vpa_backend_row *backend_row(struct vpa_attention *a, enum vpa_backend backend)
{
	size_t i;

	for (i = 0; i < a->backend_count; i++)
		if (a->backends[i].backend == backend)
			return &a->backends[i];
	a->backends[a->backend_count].backend = backend;
	return &a->backends[a->backend_count++];
}

static int write_backends(struct state *s, const struct vpa_fold_context *c, struct vpa_report *out,
	uint64_t *attention_ns)
{
	struct vpa_attention *a = &out->attention;
	size_t i;

	a->backends = vpa_arena_alloc(&out->arena, c->model->kernel_count, sizeof(*a->backends));
	if (!a->backends)
		return VPT_ENOMEM;
	for (i = 0; i < c->model->kernel_count && i < s->backend_cap; i++) {
		const struct backend *b = &s->backends[i];
		enum vpa_backend backend = c->model->kernels[i].klass.backend;
		struct vpa_backend_row *row;

		if (!b->calls && !b->aux_calls)
			continue;
		row = backend_row(a, backend ? backend : VPA_BACKEND_UNKNOWN);
		row->calls += b->calls;
		row->total_ns += b->total_ns;
		row->aux_calls += b->aux_calls;
		row->aux_ns += b->aux_ns;
		a->calls += b->calls;
		*attention_ns += b->total_ns + b->aux_ns;
	}
	qsort(a->backends, a->backend_count, sizeof(*a->backends), compare_backends);
	return VPT_OK;
}

/* A kernel's name for people. Rows mostly have that of the row before, which `last` holds. */
struct shown {
	uint32_t name;
	const char *text;
};

static const char *show(
	struct vpa_report *out, const struct vpa_model *m, uint32_t name, struct shown *last)
{
	const char *text;

	if (last->text && last->name == name)
		return last->text;
	text = vpa_fold_name(out, m, name);
	*last = (struct shown){name, text ? vpa_demangle(&out->arena, text) : "(no name)"};
	return last->text;
}

static int write_eager(struct state *s, const struct vpa_fold_context *c, struct vpa_report *out,
	uint64_t *attention_ns)
{
	struct vpa_attention *a = &out->attention;
	uint64_t outside_ns = s->softmax_ns;
	struct shown gemm = {.text = NULL}, softmax = {.text = NULL};
	size_t i;

	a->eager = vpa_arena_alloc(&out->arena, s->eager_index.count, sizeof(*a->eager));
	if (!a->eager)
		return VPT_ENOMEM;
	for (i = 0; i < s->eager_index.count; i++) {
		const struct vpa_index_entry *e = &s->eager_index.entries[i];

		a->eager[a->eager_count++] = (struct vpa_eager_row){
			.range = vpa_fold_name(out, c->model, (uint32_t)(e->a >> 32)),
			.gemm = show(out, c->model, (uint32_t)e->a, &gemm),
			.softmax = show(out, c->model, (uint32_t)e->b, &softmax),
			.count = s->eager[i].count,
			.total_ns = s->eager[i].total_ns,
			.softmax_ns = s->eager[i].softmax_ns};
		a->calls += s->eager[i].count;
		*attention_ns += s->eager[i].total_ns;
		outside_ns -= s->eager[i].softmax_ns;
	}
	qsort(a->eager, a->eager_count, sizeof(*a->eager), compare_eager);
	/* Where attention is eager, a softmax too far from its GEMMs is counted as attention too. */
	*attention_ns += a->eager_count ? outside_ns : 0;
	return VPT_OK;
}

/* Of the time of attention kernels, how much is theirs alone, where kernels that overlap share it; 1: none does. */
static double exclusive_share(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->family_count; i++)
		if (r->families[i].family == VPA_FAMILY_ATTENTION && r->families[i].total_ns)
			return (double)r->families[i].exclusive_ns /
			       (double)r->families[i].total_ns;
	return 1;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_attention *a = &out->attention;
	uint64_t attention_ns = 0, busy = vpa_busy_ns(out);
	double exclusive = exclusive_share(out);
	size_t i;

	if (write_backends(state, c, out, &attention_ns) ||
		write_eager(state, c, out, &attention_ns))
		return VPT_ENOMEM;
	if (!busy)
		return VPT_OK;
	a->share_of_busy = exclusive * (double)attention_ns / (double)busy;
	for (i = 0; i < a->backend_count; i++)
		a->backends[i].share_of_busy =
			exclusive * (double)(a->backends[i].total_ns + a->backends[i].aux_ns) /
			(double)busy;
	if (a->share_of_busy > 1)
		a->share_of_busy = 1; /* a softmax of another family may overlap them */
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->eager_index);
	vpt_free(s->streams);
	vpt_free(s->eager);
	vpt_free(s->backends);
}

const struct vpa_fold vpa_fold_attention = {
	.name = "attention",
	.help = "attention kernels by back-end, and eager attention: GEMM, softmax, GEMM",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.instants = fold_instants,
	.finish = finish,
	.free = free_state,
};
