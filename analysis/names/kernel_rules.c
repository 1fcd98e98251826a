/* kernel_rules.c - tries a user's kernel rules one after another, in the order of their lines. */
#include "analysis/names/kernel_rules.h"

#include "analysis/names/nvcc_file_names.h"
#include "analysis/names/rule_file.h"

/* A list and nothing else: a type of its own, so that the compiler tells the kinds apart. */
struct vpa_rules {
	struct vpa_rule_list list;
};

/* A target is an enum vpa_family. */
static int read_target(struct vpt_text text, void *target)
{
	return !vpa_family_find(text.text, text.len, target);
}

static const struct vpa_rule_kind kernels = {
	.prefix = "",
	.read = read_target,
	.target_bytes = sizeof(enum vpa_family),
	.flags = REG_NOSUB,
	.expected = "a family, a tab and a pattern",
	.expected_target = "a family such as \"attention\" or \"gemm\"",
};

struct vpa_rules *vpa_rules_read(const char *text, size_t len, struct vpt_err *err)
{
	return (struct vpa_rules *)vpa_rule_list_read(&kernels, text, len, err);
}

void vpa_rules_free(struct vpa_rules *r)
{
	vpa_rule_list_free((struct vpa_rule_list *)r);
}

void vpa_rules_classify(
	const struct vpa_rules *r, const char *name, size_t len, struct vpa_kernel_class *out)
{
	const enum vpa_family *family;
	char text[4096];

	vpa_classify(name, len, out);
	if (!r || !r->list.count)
		return;
	vpa_kernel_name_plain(text, sizeof(text), name, len);
	family = vpa_rule_list_find(&r->list, text);
	if (!family)
		return;
	out->family = *family;
	out->marks &= ~(1u << VPA_MARK_NAMELESS);
	if (!vpa_family_has_backend(out->family))
		out->backend = VPA_BACKEND_NONE;
	else if (!out->backend)
		out->backend = VPA_BACKEND_USER;
}
