/* column_labels.c - the words at the head of a column, where its key says too little, and the form of its texts. */
#include "analysis/render/html/column_labels.h"

#include "analysis/render/html/cell_number.h"
#include "analysis/render/html/html.h"
#include "formats/base/count.h"

#include <string.h>

static const struct {
	const char *key, *words;
} labels[] =
	{
		{"ns", "time"},
		{"stage_ns", "all of the stage"},
		{"time.count", "measured"},
		{"blocks", "grid blocks"},
		{"softmax_ns", "of it softmax"},
		{"aux_calls", "helper calls"},
		{"aux_ns", "time of helpers"},
		{"gb_per_s", "rate"},
		{"tflops", "rate"},
		{"peak_tflops", "peak rate"},
		{"idle_host_ns", "GPU idle"},
		{"of_full", "ops of a full step"},
		{"second_half_ns", "second halves"},
		{"comm_ns", "communication"},
		{"copy_ns", "copies"},
		{"compute_comm_ns", "compute and comm."},
		{"compute_copy_ns", "compute and copies"},
		{"comm_copy_ns", "comm. and copies"},
		{"all_ns", "all three"},
		{"kernel_ns", "kernel time"},
		{"missed", "late"},
		{"warmup", "warm-up"},
		{"fps_end_to_end", "FPS end to end"},
		{"blocks.fps", "FPS steady"},
		{"blocks.bps", "blocks per second"},
		{"blocks.count", "blocks"},
		{"blocks.period.mean_ns", "period mean"},
		{"blocks.period.p95_ns", "period p95"},
		{"steps.count", "steps"},
		{"steps.s_per_it", "from step to step"},
		{"frames_asked", "frames asked"},
		{"steps_asked", "steps asked"},
		{"passes_per_step", "passes a step"},
		{"ttfb_ns", "first block after"},
		{"ttff_ns", "first frames after"},
		{"exposed_comm_ns", "exposed comm."},
},
  comparison_labels[] = {
	  {"a_per_unit", "A count"},
	  {"b_per_unit", "B count"},
	  {"delta_ns", "B - A"},
	  {"p_holm", "p (Holm)"},
};

static const char *label_of(const char *key, int is_comparison)
{
	size_t i;

	for (i = 0; i < COUNT(labels) && !is_comparison; i++)
		if (!strcmp(labels[i].key, key))
			return labels[i].words;
	for (i = 0; i < COUNT(comparison_labels) && is_comparison; i++)
		if (!strcmp(comparison_labels[i].key, key))
			return comparison_labels[i].words;
	return NULL;
}

void vpa_html_label(struct vpa_html *h, const char *key, int is_comparison)
{
	static const char *const units[] = {"_ns", "_ms", "_wh", "_mhz"};
	const char *label = label_of(key, is_comparison);
	struct vpa_label text = {{0}};
	size_t len = strlen(key), i;

	if (label) {
		vpa_html_raw(h, label);
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
