/* perfetto_names.c - names and numbers of a file in Perfetto's format. */
#include "analysis/export/perfetto/lanes/perfetto_names.h"

#include "analysis/names/demangle.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT_NAME_MAX = 96, SEQUENCE_ANNOTATIONS = 4 };

/* ---- facts of the run ---- */

const char *vpa_ex_fact(const struct vpa_ex_out *x, enum vpt_metadata fact)
{
	return vpa_meta(x->view.report, fact);
}

const char *vpa_ex_either(
	const struct vpa_ex_out *x, enum vpt_metadata fact, enum vpt_metadata other)
{
	const char *value = vpa_ex_fact(x, fact);

	return value ? value : vpa_ex_fact(x, other);
}

uint64_t vpa_ex_fact_number(const struct vpa_ex_out *x, enum vpt_metadata fact)
{
	const char *text = vpa_ex_fact(x, fact);
	char *end;
	unsigned long long number = text ? strtoull(text, &end, 10) : 0;

	return text && *text >= '0' && *text <= '9' && !*end ? number : 0;
}

/* ---- the process ---- */

void vpa_ex_identify(struct vpa_ex_out *x)
{
	const struct vpt_header *h = vpt_trace_header(x->c->trace);
	const char *host = vpa_ex_fact(x, VPT_METADATA_HOST);
	size_t i;

	x->pid = h->pid;
	for (i = 0; i < x->model->thread_count && !x->pid; i++)
		if (x->model->threads[i].pid > 0)
			x->pid = x->model->threads[i].pid;
	if (!x->pid)
		x->pid = 1;
	x->identity = vpt_pf_hash(0, host ? host : "", host ? strlen(host) : 0);
	x->identity = vpt_pf_hash(x->identity, &x->pid, sizeof(x->pid));
	x->identity = vpt_pf_hash(x->identity, &h->t0_ns, sizeof(h->t0_ns));
	x->op_salt = x->identity & 0xffffff;
	x->op_salt += !x->op_salt;
	x->op_salt_size =
		(uint8_t)(vpt_pb_varint_at(x->op_salt_bytes, x->op_salt << 4) - x->op_salt_bytes);
}

uint64_t vpa_ex_uuid(const struct vpa_ex_out *x, const char *path)
{
	return vpt_pf_hash(x->identity, path, strlen(path)) | 1;
}

int64_t vpa_ex_pid(const struct vpa_ex_out *x, int64_t pid)
{
	return pid > 0 ? pid : x->pid;
}

/* ---- names ---- */

uint32_t vpa_ex_text(struct vpa_ex_out *x, const char *text, size_t len)
{
	uint64_t id = vpt_strings_put(&x->texts, text, len);

	if (id > UINT32_MAX) {
		x->pf.failed = VPT_ENOMEM;
		return 0;
	}
	return (uint32_t)id;
}

uint32_t vpa_ex_string(struct vpa_ex_out *x, const char *text)
{
	return vpa_ex_text(x, text, strlen(text));
}

/* Grows *array to hold the element `index`; new elements are 0. */
static int grow_zeroed(struct vpa_ex_out *x, uint32_t **array, size_t *cap, uint32_t index)
{
	if (vpt_grow_zeroed(array, cap, (size_t)index + 1, sizeof(**array)))
		return x->pf.failed = VPT_ENOMEM;
	return VPT_OK;
}

uint32_t vpa_ex_name(struct vpa_ex_out *x, uint32_t model_name)
{
	struct vpt_text t;

	if (grow_zeroed(x, &x->text_of_name, &x->text_of_name_cap, model_name))
		return 0;
	if (!x->text_of_name[model_name]) {
		t = vpa_name(x->model, model_name);
		x->text_of_name[model_name] = 1 + vpa_ex_text(x, t.text, t.len);
	}
	return x->text_of_name[model_name] - 1;
}

/* "void ns::gemm<float, 4>(float *)" becomes "ns::gemm". Other names stay as they are. */
static size_t shorten(const char *name, char *out, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = 0, begin = 0, depth = 0;
	const char *p = name;

	for (; *p && n + 1 < size; p++) {
		if (!depth && !strncmp(p, anonymous, sizeof(anonymous) - 1)) {
			p += sizeof(anonymous) - 2;
			if (p[1] == ':' && p[2] == ':')
				p += 2;
		} else if (*p == '<') {
			depth++;
		} else if (*p == '>' && depth) {
			depth--;
		} else if (*p == '(' && !depth) {
			break;
		} else if (!depth) {
			if (*p == ' ')
				begin = n + 1;
			out[n++] = *p;
		}
	}
	/* Only a signature begins with a type. */
	if (*p != '(')
		begin = 0;
	if (begin >= n || depth) {
		n = strlen(name) < size ? strlen(name) : size - 1;
		memcpy(out, name, n);
		begin = 0;
	}
	memmove(out, out + begin, n - begin);
	return n - begin;
}

uint32_t vpa_ex_short_name(struct vpa_ex_out *x, uint32_t kernel)
{
	char text[SHORT_NAME_MAX + 1];
	struct vpt_text t;
	char *name;

	if (grow_zeroed(x, &x->short_names, &x->short_name_cap, kernel))
		return 0;
	if (x->short_names[kernel])
		return x->short_names[kernel] - 1;
	t = vpa_name(x->model, x->model->kernels[kernel].name);
	name = vpt_strndup(t.text, t.len);
	if (!name) {
		x->pf.failed = VPT_ENOMEM;
		return 0;
	}
	x->short_names[kernel] =
		1 +
		vpa_ex_text(x, text, shorten(vpa_demangle(&x->arena, name), text, sizeof(text)));
	vpt_free(name);
	return x->short_names[kernel] - 1;
}

/* ---- sequences ---- */

uint32_t vpa_ex_text_iid(
	struct vpa_ex_out *x, struct vpt_pf_sequence *s, unsigned table, uint32_t text)
{
	int is_new;
	uint32_t iid = vpt_pf_intern(&x->pf, s, table, text, &is_new);

	if (is_new) {
		struct vpt_text t = vpt_strings_get(&x->texts, text);

		vpt_pf_tell(&x->pf, s, table, iid, t.text, t.len);
	}
	return iid;
}

void vpa_ex_begin_interned(struct vpa_ex_out *x, struct vpt_pf_sequence *s)
{
	vpt_pf_begin_timeless(&x->pf, s);
	vpt_pb_begin(&x->pf.out, VPT_PF_PACKET_INTERNED);
}

void vpa_ex_end_interned(struct vpa_ex_out *x)
{
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

struct vpt_pf_sequence *vpa_ex_annotations(struct vpa_ex_out *x)
{
	if (!x->has_annotations)
		vpt_pf_sequence(&x->pf, &x->annotations, SEQUENCE_ANNOTATIONS,
			vpa_ex_time(x, x->start_ns), 0);
	x->has_annotations = 1;
	return &x->annotations;
}
