/* nsight_metrics.c - samples of the GPUs' own counters, which nsys profile --gpu-metrics-devices takes.
 *
 * A sample is a row for each of some 30 metrics, ten thousand times a second. Those that say how busy multiprocessors, tensor cores
 * and memory were become series of ours, by their names without the unit: "SMs Active [Throughput %]" is "SMs Active", in %.
 *
 * Left out: all other metrics, and those of a GPU that the file does not name as a CUDA device. */
#include "formats/base/count.h"
#include "formats/base/text.h"
#include "formats/import/nsight/nsight_import.h"

#include <string.h>

/* The lower byte of a metric's type is the GPU. */
enum { GPU_MASK = 0xff };

static const char *const wanted[] = {"GR Active", "SM Active", "SMs Active", "SM Issue",
	"Tensor Active", "Compute Warps in Flight", "DRAM Read Bandwidth", "DRAM Write Bandwidth"};

/* The name without the unit, if it is one of those wanted and in percent; else without length. */
static struct vpt_text name_of(struct vpt_text metric)
{
	static const struct vpt_text none = {"", 0};
	const char *unit = metric.len ? memmem(metric.text, metric.len, " [", 2) : NULL;
	struct vpt_text name = {metric.text, unit ? (size_t)(unit - metric.text) : 0};
	size_t i;

	if (!unit || metric.text[metric.len - 1] != ']' || metric.text[metric.len - 2] != '%')
		return none;
	for (i = 0; i < COUNT(wanted); i++)
		if (vpt_text_is(name, wanted[i]))
			return name;
	return none;
}

/* ---- what the metrics are ---- */

enum { I_TYPE, I_METRIC, I_NAME };

static const struct vpt_nsight_field info_fields[] = {
	[I_TYPE] = {"typeId", VPT_CELL_BITS, VPT_NEEDED, 0},
	[I_METRIC] = {"metricId", VPT_CELL_BITS, VPT_NEEDED, 0},
	[I_NAME] = {"metricName", VPT_CELL_TEXT, VPT_NEEDED, 0},
};

/* The series of a GPU's metric; 0: none. A GPU of several processes is that of the first. */
static uint64_t series_of(struct vpt_nsight *im, int64_t gpu, struct vpt_text name)
{
	int64_t pid = -1, device = gpu;
	size_t i;

	for (i = 0; i < im->ordinal_count && im->ordinals[i].gpu != gpu; i++)
		;
	if (i < im->ordinal_count) {
		pid = im->ordinals[i].pid;
		device = im->ordinals[i].ordinal;
	} else if (im->ordinal_count) {
		return 0;
	}
	return vpt_collect_series(im->out, pid, device, vpt_nsight_text(im, name),
		vpt_nsight_text(im, vpt_text_from("%")));
}

static int info_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_text name = name_of(cell[I_NAME].text);
	struct vpt_nsight_metric *m;

	if (!name.len || im->metric_count == VPT_NSIGHT_METRICS_MAX)
		return VPT_OK;
	m = &im->metrics[im->metric_count];
	m->type = cell[I_TYPE].number;
	m->metric = cell[I_METRIC].number;
	m->lane = series_of(im, m->type & GPU_MASK, name);
	im->metric_count += m->lane != 0;
	return VPT_OK;
}

/* ---- samples ---- */

enum { S_TIME, S_TYPE, S_METRIC, S_VALUE };

static const struct vpt_nsight_field sample_fields[] = {
	[S_TIME] = {"timestamp", VPT_CELL_TIME, VPT_NEEDED, 0},
	[S_TYPE] = {"typeId", VPT_CELL_BITS, VPT_NEEDED, 0},
	[S_METRIC] = {"metricId", VPT_CELL_BITS, VPT_NEEDED, 0},
	[S_VALUE] = {"value", VPT_CELL_COUNT, VPT_NEEDED, 0},
};

static int sample_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_counter row = {.time_ns = (uint64_t)cell[S_TIME].number};
	double value = (double)cell[S_VALUE].number;
	size_t i;

	for (i = 0; i < im->metric_count; i++)
		if (im->metrics[i].metric == cell[S_METRIC].number &&
			im->metrics[i].type == cell[S_TYPE].number)
			break;
	if (i == im->metric_count)
		return VPT_OK;
	memcpy(&row.value, &value, sizeof(value));
	vpt_collect_put(im->out, VPT_COUNTER, im->metrics[i].lane, &row);
	vpt_nsight_note(im, cell[S_TIME].number);
	return VPT_OK;
}

const struct vpt_nsight_table vpt_nsight_metrics[] = {
	{"TARGET_INFO_GPU_METRICS", info_fields, COUNT(info_fields), 0, info_row, NULL},
	{"GPU_METRICS", sample_fields, COUNT(sample_fields), 0, sample_row, NULL},
	{0},
};
