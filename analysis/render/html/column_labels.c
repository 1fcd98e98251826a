/* column_labels.c - the words at the head of a column, where its key says too little, and the form of its texts. */
#include "analysis/render/html/column_labels.h"

#include "analysis/render/html/cell_number.h"
#include "analysis/render/html/html.h"
#include "formats/base/count.h"

#include <string.h>

/* What the field itself cannot say: its key is only a unit, or it is part of several objects. */
static const char *head_of(const char *key, const struct vpa_field *f)
{
	static const struct {
		const char *key, *words;
	} heads[] = {{"ns", "time"}, {"time.count", "measured"},
		{"blocks.period.mean_ns", "period mean"}, {"blocks.period.p95_ns", "period p95"}};
	size_t i;

	for (i = 0; i < COUNT(heads); i++)
		if (!strcmp(heads[i].key, key))
			return heads[i].words;
	return f->head;
}

void vpa_html_label(
	struct vpa_html *h, const char *key, const struct vpa_field *f, int is_comparison)
{
	static const char *const units[] = {"_ns", "_ms", "_wh", "_mhz"};
	const char *head = head_of(key, f);
	struct vpa_label text = {{0}};
	size_t len = strlen(key), i;

	if (head) {
		vpa_html_raw(h, head);
		return;
	}
	for (i = 0; i < COUNT(units); i++) {
		size_t unit = strlen(units[i]);

		if (len > unit && !strcmp(key + len - unit, units[i]))
			len -= unit;
	}
	for (i = 0; i < len && i + 1 < sizeof(text.text); i++)
		text.text[i] = key[i] == '_' || key[i] == '.' ? ' ' : key[i];
	if (is_comparison && (text.text[0] == 'a' || text.text[0] == 'b') &&
		(text.text[1] == ' ' || !text.text[1]))
		text.text[0] = (char)(text.text[0] - 'a' + 'A');
	vpa_html_text(h, text.text);
}

static int is_among(const char *const *words, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return 1;
	return 0;
}

int vpa_html_label_has_unit(const char *key, const char *unit)
{
	static const char *const plain[] = {"id", "index", "count", "value", "probability", "ops",
		"calls", "ranges", "gaps", "samples", "instances/block"};

	return unit && !vpa_html_is_unit_of_cells(unit) && !is_among(plain, COUNT(plain), unit) &&
	       !strstr(key, unit);
}

const char *vpa_html_text_class(const char *path, const char *key)
{
	static const char *const single[] = {"id", "kind", "backend", "source", "target", "state",
		"group", "family", "cause", "role", "what", "precision", "unit", "only_in"};
	static const char *const kernels[] = {"kernel", "softmax", "gemm", "after", "before"};

	if (is_among(single, COUNT(single), key))
		return " s";
	if (is_among(kernels, COUNT(kernels), key) ||
		(!strcmp(key, "name") &&
			(!strcmp(path, "kernels") || !strcmp(path, "window.rows"))))
		return " k";
	return "";
}
