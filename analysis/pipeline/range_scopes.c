/* range_scopes.c - what annotations make of ranges, and what a scope is inside others. */
#include "analysis/pipeline/range_scopes.h"

#include "analysis/pipeline/annotation.h"
#include "formats/base/count.h"
#include "formats/base/text.h"

/* The kind of a word; "range" is none. Returns whether it is one. */
static int kind_of_word(struct vpt_text word, enum vpa_scope_kind *out)
{
	unsigned i;

	for (i = VPA_SCOPE_NONE + 1; i < VPA_SCOPE_KINDS; i++)
		if (vpt_text_is(word, vpa_scope_kind_name((enum vpa_scope_kind)i)))
			break;
	if (i == VPA_SCOPE_KINDS && !vpt_text_is(word, "range"))
		return 0;
	*out = i == VPA_SCOPE_KINDS ? VPA_SCOPE_NONE : (enum vpa_scope_kind)i;
	return 1;
}

/* ---- annotations ---- */

struct annotation {
	struct vpa_scope_label label;
	struct vpa_fact fact;
	int64_t context, component;
	int has_kind;
};

static void take_text(struct annotation *a, const struct vpa_annotation_member *m)
{
	if (vpt_text_is(m->key, "kind") && kind_of_word(m->text, &a->label.kind))
		a->has_kind = 1;
	if (vpt_text_is(m->key, "name"))
		a->fact.name = m->text;
	else if (vpt_text_is(m->key, "value"))
		a->fact.value = m->text;
}

static void take_number(struct annotation *a, const struct vpa_annotation_member *m)
{
	const struct {
		const char *key;
		int64_t *value;
	} numbers[] = {{"index", &a->label.index}, {"frames", &a->label.frames},
		{"latents", &a->label.latents}, {"timestep", &a->label.timestep},
		{"context", &a->context}, {"component", &a->component}};
	size_t i;

	for (i = 0; i < COUNT(numbers); i++)
		if (vpt_text_is(m->key, numbers[i].key))
			*numbers[i].value = m->number;
}

/* 0, or VPT_EDATA: no such object, or no known kind. */
static int read_annotation(const char *text, size_t len, struct annotation *a)
{
	struct vpa_annotation_reader r = vpa_annotation_begin((struct vpt_text){text, len});
	struct vpa_annotation_member m;

	*a = (struct annotation){.context = -1};
	a->label = vpa_no_scope();
	while (vpa_annotation_next(&r, &m))
		if (m.is_text)
			take_text(a, &m);
		else
			take_number(a, &m);
	return r.failed || !a->has_kind ? VPT_EDATA : VPT_OK;
}

int vpa_fact_read(const char *text, size_t len, struct vpa_fact *out)
{
	struct annotation a;

	*out = (struct vpa_fact){{"", 0}, {"", 0}};
	if (read_annotation(text, len, &a) || a.label.kind != VPA_SCOPE_FACT || !a.fact.name.len ||
		!a.fact.value.len)
		return VPT_EDATA;
	*out = a.fact;
	return VPT_OK;
}

int vpa_scope_read(const char *text, size_t len, struct vpa_scope_label *out)
{
	struct annotation a;

	*out = vpa_no_scope();
	if (read_annotation(text, len, &a))
		return VPT_EDATA;
	if (a.label.kind == VPA_SCOPE_STEP && a.context > 0)
		a.label.kind = VPA_SCOPE_CONTEXT;
	a.label.source = VPA_SOURCE_ANNOTATION;
	a.label.is_component = a.component > 0;
	a.label.is_diffusion = a.label.kind == VPA_SCOPE_STEP ||
			       a.label.kind == VPA_SCOPE_CONTEXT ||
			       a.label.kind == VPA_SCOPE_BLOCK || a.label.kind == VPA_SCOPE_FRAMES;
	*out = a.label;
	return VPT_OK;
}

/* ---- scopes in their context ---- */

int vpa_scope_is_misplaced(const struct vpa_scope_label *label, unsigned inside, int nests)
{
	if (label->source != VPA_SOURCE_RULE)
		return 0;
	switch (label->kind) {
	case VPA_SCOPE_REQUEST:
		/* A class may be called a pipeline because it prepares a step's data. */
		return inside & VPA_INSIDE_REQUEST ||
		       (label->work == VPA_WORK_WHOLE && inside & VPA_INSIDE_STEP);
	case VPA_SCOPE_BLOCK:
		return inside & (VPA_INSIDE_STEP | VPA_INSIDE_STAGE) ||
		       (nests && inside & VPA_INSIDE_BLOCK);
	case VPA_SCOPE_STEP:
	case VPA_SCOPE_CONTEXT:
	case VPA_SCOPE_ITERATION:
		return (inside & VPA_INSIDE_STEP) != 0;
	default:
		return 0;
	}
}

/* Sets `bit` if `holds`, else clears it; a name does not override an annotation. */
static unsigned set_inside(unsigned inside, const struct vpa_scope_label *label, unsigned bit,
	unsigned annotated, int holds)
{
	int is_annotation = label->source == VPA_SOURCE_ANNOTATION;

	if (inside & annotated && !is_annotation)
		return inside;
	return (inside & ~(bit | annotated)) | (holds ? bit : 0) | (is_annotation ? annotated : 0);
}

unsigned vpa_scope_inside(const struct vpa_scope_label *label, unsigned inside, int nests)
{
	switch (label->kind) {
	case VPA_SCOPE_REQUEST:
		return inside | VPA_INSIDE_REQUEST;
	case VPA_SCOPE_BLOCK:
		/* What is inside a block is not inside the steps and parts around it. */
		inside &= VPA_INSIDE_REQUEST | VPA_INSIDE_BLOCK | VPA_INSIDE_ANNOTATED_BLOCK;
		return set_inside(
			inside, label, VPA_INSIDE_BLOCK, VPA_INSIDE_ANNOTATED_BLOCK, nests);
	case VPA_SCOPE_STEP:
	case VPA_SCOPE_CONTEXT:
		return inside | VPA_INSIDE_STEP;
	case VPA_SCOPE_STAGE:
		return set_inside(inside, label, VPA_INSIDE_STAGE, VPA_INSIDE_ANNOTATED_STAGE,
			label->work != VPA_WORK_WHOLE);
	default:
		return inside;
	}
}
