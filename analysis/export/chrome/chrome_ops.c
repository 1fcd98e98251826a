/* chrome_ops.c - kernels, copies and calls as events of PyTorch's profiler, with the arrows between them. */
#include "analysis/export/chrome/chrome_rows.h"

#include "analysis/model/launch_shape.h"
#include "analysis/names/demangle.h"
#include "formats/base/saturate.h"
#include "formats/calls.h"

#include <ctype.h>

/* ---- kernels ---- */

static void put_triple(struct vpa_line *l, const char *label, const struct vpt_section *s,
	unsigned column, uint32_t row)
{
	vpa_chrome_natural(l, label, s->col[column][row]);
	vpa_chrome_natural(l, ",", s->col[column + 1][row]);
	vpa_chrome_natural(l, ",", s->col[column + 2][row]);
	vpa_line_words(l, "]");
}

static void put_config(struct vpa_line *l, const struct vpt_section *s, uint32_t row)
{
	uint64_t fixed = s->col[VPT_CONFIG_STATIC_SHARED][row],
		 dynamic = s->col[VPT_CONFIG_DYNAMIC_SHARED][row];

	vpa_chrome_natural(l, ",\"registers per thread\":", s->col[VPT_CONFIG_REGISTERS][row]);
	vpa_chrome_natural(l, ",\"shared memory\":", fixed + dynamic);
	put_triple(l, ",\"grid\":[", s, VPT_CONFIG_GRID_X, row);
	put_triple(l, ",\"block\":[", s, VPT_CONFIG_BLOCK_X, row);
	vpa_chrome_optional(l, ",\"dynamic shared memory\":", dynamic);
	vpa_chrome_optional(l, ",\"local memory per thread\":", s->col[VPT_CONFIG_LOCAL][row]);
	if (s->col[VPT_CONFIG_CLUSTER_X][row])
		put_triple(l, ",\"cluster\":[", s, VPT_CONFIG_CLUSTER_X, row);
	vpa_chrome_optional(l, ",\"graph id\":", s->col[VPT_CONFIG_GRAPH][row]);
}

static void put_figure(struct vpa_line *l, const char *label, double value)
{
	vpa_line_words(l, label);
	vpa_line_double(l, (double)(uint64_t)(value * 1000 + 0.5) / 1000);
}

/* Estimates that the profiler makes too, and TensorBoard shows. */
static void put_figures(
	struct vpa_line *l, const struct vpa_gpu *gpu, const struct vpt_section *s, uint32_t row)
{
	const struct vpa_launch_shape shape = vpa_launch_shape_of(s, row);
	struct vpa_launch_figures f;

	if (!gpu || !vpa_launch_figures(gpu, &shape, &f))
		return;
	put_figure(l, ",\"blocks per SM\":", f.blocks_per_sm);
	put_figure(l, ",\"warps per SM\":", f.warps_per_sm);
	vpa_chrome_natural(
		l, ",\"est. achieved occupancy %\":", (uint64_t)(100 * f.occupancy + 0.5));
}

static int is_mangled(struct vpt_text t)
{
	return t.len > 2 && !memcmp(t.text, "_Z", 2);
}

/* The demangled name, as the profiler writes it. */
static void put_kernel_name(struct vpa_line *l, struct vpt_text t)
{
	struct vpa_arena arena = {0};
	const char *text, *name;

	if (!is_mangled(t)) {
		vpa_line_json(l, t.text, t.len);
		return;
	}
	text = vpa_arena_text(&arena, t.text, t.len);
	name = vpa_demangle(&arena, text);
	vpa_line_json(l, name, strlen(name));
	l->failed |= arena.failed;
	vpa_arena_free(&arena);
}

static struct vpt_text config_name(const struct vpa_chrome *x, uint64_t config)
{
	return vpt_batch_text(x->batch, x->configs->col[VPT_CONFIG_NAME][config]);
}

static void kernel_name(struct vpa_chrome *x, uint64_t config)
{
	struct vpa_pieces *p = &x->kernel_names;
	size_t at;

	if (config >= p->count) {
		vpa_chrome_words(x, "\"?\"");
		return;
	}
	if (vpa_pieces_put(p, config, &x->out))
		return;
	at = vpa_pieces_begin(p);
	put_kernel_name(&p->text, config_name(x, config));
	vpa_pieces_end(p, config, at, &x->out);
}

static void kernel_args(struct vpa_chrome *x, uint64_t config)
{
	struct vpa_pieces *p = &x->kernel_args;
	size_t at;

	if (config >= p->count || vpa_pieces_put(p, config, &x->out))
		return;
	at = vpa_pieces_begin(p);
	put_config(&p->text, x->configs, (uint32_t)config);
	put_figures(&p->text, vpa_common_gpu(x->c->view.report), x->configs, (uint32_t)config);
	if (is_mangled(config_name(x, config))) {
		vpa_line_words(&p->text, ",\"mangled name\":");
		vpa_line_json(&p->text, config_name(x, config).text, config_name(x, config).len);
	}
	vpa_pieces_end(p, config, at, &x->out);
}

void vpa_chrome_put_kernel(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t config = s->col[VPT_KERNEL_CONFIG][row];
	uint64_t correlation = s->col[VPT_KERNEL_CORRELATION][row];

	vpa_chrome_begin(x, "{\"ph\":\"X\",\"cat\":\"kernel\"");
	kernel_name(x, config);
	vpa_chrome_place(x);
	vpa_chrome_times(x, s, row);
	vpa_chrome_begin_args(x);
	vpa_chrome_natural(&x->out, "\"correlation\":", correlation);
	kernel_args(x, config);
	vpa_chrome_optional(&x->out, ",\"graph node id\":", s->col[VPT_KERNEL_GRAPH_NODE][row]);
	vpa_chrome_end_args(x);
	vpa_chrome_flow_ends(x, correlation, s->col[VPT_KERNEL_START][row]);
	x->c->totals->kernels++;
}

/* ---- copies ---- */

/* "pageable" as the profiler writes it: "Pageable". */
static void put_memory(struct vpa_line *l, uint64_t memory)
{
	const char *word = vpt_word(VPT_UNIT_MEMORY_KIND, memory);
	char first;

	word = word ? word : "unknown";
	first = (char)toupper((unsigned char)*word);
	vpa_line_put(l, &first, 1);
	vpa_line_words(l, word + 1);
}

static void copy_name(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t kind = s->col[VPT_COPY_COPY_KIND][row];
	const char *word = vpt_word(VPT_UNIT_COPY_KIND, kind);

	if (kind == VPT_COPYKIND_MEMSET) {
		vpa_chrome_words(x, "\"Memset (");
	} else {
		vpa_chrome_words(x, "\"Memcpy ");
		vpa_chrome_words(x, word ? word : "unknown");
		vpa_chrome_words(x, " (");
		put_memory(&x->out, s->col[VPT_COPY_SOURCE_MEMORY][row]);
		vpa_chrome_words(x, " -> ");
	}
	put_memory(&x->out, s->col[VPT_COPY_TARGET_MEMORY][row]);
	vpa_chrome_words(x, ")\"");
}

void vpa_chrome_put_copy(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t correlation = s->col[VPT_COPY_CORRELATION][row];
	uint64_t bytes = s->col[VPT_COPY_BYTES][row], ns = s->col[VPT_COPY_DURATION][row];
	int is_memset = s->col[VPT_COPY_COPY_KIND][row] == VPT_COPYKIND_MEMSET;

	vpa_chrome_begin(x, is_memset ? "{\"ph\":\"X\",\"cat\":\"gpu_memset\""
				      : "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\"");
	copy_name(x, s, row);
	vpa_chrome_place(x);
	vpa_chrome_times(x, s, row);
	vpa_chrome_begin_args(x);
	vpa_chrome_natural(&x->out, "\"correlation\":", correlation);
	vpa_chrome_natural(&x->out, ",\"bytes\":", bytes);
	if (ns && ns <= INT64_MAX) {
		vpa_chrome_words(x, ",\"memory bandwidth (GB/s)\":");
		/* Three decimals take the writer's fast path. */
		vpa_line_double(&x->out, (double)vpt_sat_scale(bytes, 1000, ns) / 1000);
	}
	vpa_chrome_optional(&x->out, ",\"graph node id\":", s->col[VPT_COPY_GRAPH_NODE][row]);
	vpa_chrome_optional(&x->out, ",\"asynchronous\":", s->col[VPT_COPY_ASYNCHRONOUS][row]);
	vpa_chrome_optional(&x->out, ",\"value\":", s->col[VPT_COPY_VALUE][row]);
	if (s->col[VPT_COPY_PEER][row])
		vpa_chrome_natural(&x->out, ",\"peer device\":", s->col[VPT_COPY_PEER][row] - 1);
	vpa_chrome_end_args(x);
	vpa_chrome_flow_ends(x, correlation, s->col[VPT_COPY_START][row]);
	x->c->totals->copies++;
}

/* ---- calls ---- */

static int is_driver(const char *name, size_t len)
{
	return len > 2 && !memcmp(name, "cu", 2) && isupper((unsigned char)name[2]);
}

void vpa_chrome_put_call(struct vpa_chrome *x, const struct vpt_section *s, uint32_t row)
{
	uint64_t id = s->col[VPT_CALL_ID][row], own = s->col[VPT_CALL_NAME][row];
	uint64_t correlation = s->col[VPT_CALL_CORRELATION][row];
	const char *known = vpt_call_name(id > UINT32_MAX ? 0 : (uint32_t)id);
	struct vpt_text name = {known ? known : "", known ? strlen(known) : 0};

	if (own)
		name = vpt_batch_text(x->batch, own);
	vpa_chrome_begin(x, is_driver(name.text, name.len)
				    ? "{\"ph\":\"X\",\"cat\":\"cuda_driver\""
				    : "{\"ph\":\"X\",\"cat\":\"cuda_runtime\"");
	if (own) {
		vpa_chrome_string(x, &x->out, own);
	} else {
		vpa_chrome_words(x, "\"");
		vpa_line_put(&x->out, name.text, name.len);
		vpa_chrome_words(x, "\"");
	}
	vpa_chrome_place(x);
	vpa_chrome_times(x, s, row);
	vpa_chrome_begin_args(x);
	vpa_chrome_natural(&x->out, "\"correlation\":", correlation);
	if (s->col[VPT_CALL_RESULT][row])
		vpa_chrome_integer(&x->out, ",\"result\":", s->col[VPT_CALL_RESULT][row]);
	vpa_chrome_end_args(x);
	if (correlation && known && vpt_call_launches(vpt_call_class((uint32_t)id)))
		vpa_chrome_flow(x, "{\"ph\":\"s\",\"id\":", correlation,
			s->col[VPT_CALL_START][row], ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}");
	x->c->totals->calls++;
}
