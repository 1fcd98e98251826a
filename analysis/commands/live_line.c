/* live_line.c - the line of a capture that is being recorded, and the same as metrics. */
#include "analysis/commands/live.h"

#include "analysis/base/numbers.h"
#include "formats/io/print.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- the line ---- */

/* What a line that is too long leaves out, the last of these first. */
enum rank { ALWAYS, LAST, BUSY, MEMORY, POWER, RATE, TEMPERATURE, CPU };

struct part {
	enum rank rank;
	char text[96], brief[96]; /* brief: where the line is too long; empty: as text */
};

struct parts {
	struct part rows[10]; /* two of ALWAYS, FPS, and one of each other rank */
	size_t count;
};

VPT_PRINTF(3, 4)
static void add(struct parts *parts, enum rank rank, const char *fmt, ...)
{
	struct part *part = &parts->rows[parts->count++];
	va_list list;

	*part = (struct part){.rank = rank};
	va_start(list, fmt);
	vsnprintf(part->text, sizeof(part->text), fmt, list);
	va_end(list);
}

/* The brief form of the part that was added last. */
VPT_PRINTF(2, 3)
static void brief(struct parts *parts, const char *fmt, ...)
{
	struct part *part = &parts->rows[parts->count - 1];
	va_list list;

	va_start(list, fmt);
	vsnprintf(part->brief, sizeof(part->brief), fmt, list);
	va_end(list);
}

/* "2:07", "1:02:07" */
static void add_time(struct parts *parts, uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (s >= 3600)
		add(parts, ALWAYS, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60,
			s % 60);
	else
		add(parts, ALWAYS, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
}

static void add_rates(struct parts *parts, const struct vpa_live *l)
{
	const struct vpa_live_units *u = &l->units;
	int is_blocks = l->kind == VPA_UNIT_BLOCK;
	const char *unit = vpa_unit_kind_name(l->kind),
		   *late = is_blocks && l->is_late ? " (late)" : "";
	struct vpa_num rate = vpa_fixed(l->units_per_s, 2), last = vpa_duration(u->last_ns);

	if (l->fps > 0 && l->target_millifps)
		add(parts, ALWAYS, "%s FPS of %s", vpa_fixed(l->fps, 1).text,
			vpa_scaled(l->target_millifps, 1000, 1).text);
	else if (l->fps > 0)
		add(parts, ALWAYS, "%s FPS", vpa_fixed(l->fps, 1).text);
	if (l->units_per_s > 0)
		add(parts, RATE, "%s %ss/s", rate.text, unit);
	if (l->units_per_s > 0 && is_blocks)
		brief(parts, "%s BPS", rate.text);
	if (u->done) {
		add(parts, LAST, "%s %s%s, last %s%s", vpa_count(u->done).text, unit,
			vpa_plural(u->done), last.text, late);
		brief(parts, "last %s%s", last.text, late);
	}
}

/* What the GPUs are together: the mean of what they do, the sum of what they use. */
struct all_gpus {
	double busy, least, most, used, total, power_w, temperature_c;
	size_t worked;
};

static struct all_gpus sum_up(const struct vpa_live *l)
{
	struct all_gpus a = {0, 1, 0, -1, -1, -1, -1, 0};
	size_t i;

	for (i = 0; i < l->gpu_count; i++) {
		const struct vpa_live_gpu *g = &l->gpus[i];

		if (g->busy >= 0) {
			a.worked++;
			a.busy += g->busy;
			a.least = g->busy < a.least ? g->busy : a.least;
			a.most = g->busy > a.most ? g->busy : a.most;
		}
		if (g->memory_used > a.used) {
			a.used = g->memory_used;
			a.total = g->memory_total;
		}
		if (g->power_w >= 0)
			a.power_w = (a.power_w < 0 ? 0 : a.power_w) + g->power_w;
		if (g->temperature_c > a.temperature_c)
			a.temperature_c = g->temperature_c;
	}
	return a;
}

static void add_gpus(struct parts *parts, const struct vpa_live *l)
{
	struct all_gpus a = sum_up(l);
	struct vpa_num used = vpa_bytes(vpt_sat_u64(a.used));

	if (a.worked) {
		struct vpa_num busy = vpa_fixed(100 * a.busy / (double)a.worked, 1);

		if (a.worked == 1) {
			add(parts, BUSY, "GPU %s %% busy", busy.text);
			brief(parts, "GPU %s %%", busy.text);
		} else {
			add(parts, BUSY, "%zu GPUs %s %% busy (%s-%s)", a.worked, busy.text,
				vpa_fixed(100 * a.least, 1).text, vpa_fixed(100 * a.most, 1).text);
			brief(parts, "%zu GPUs %s %%", a.worked, busy.text);
		}
	} else if (!l->ops) {
		add(parts, BUSY, "no GPU work");
	}
	if (a.used >= 0 && a.total > 0)
		add(parts, MEMORY, "%s of %s", used.text, vpa_bytes(vpt_sat_u64(a.total)).text);
	else if (a.used >= 0)
		add(parts, MEMORY, "%s", used.text);
	if (a.used >= 0)
		brief(parts, "%s", used.text);
	if (a.power_w >= 0)
		add(parts, POWER, "%s W", vpa_fixed(a.power_w, 0).text);
	if (a.temperature_c >= 0)
		add(parts, TEMPERATURE, "%s C", vpa_fixed(a.temperature_c, 0).text);
}

/* The parts up to a rank. Whether they fit. */
static int join(const struct parts *parts, int is_brief, enum rank most, size_t columns,
	struct vpa_live_line *line)
{
	size_t used = 0, i;

	for (i = 0; i < parts->count; i++) {
		const struct part *part = &parts->rows[i];
		const char *text = is_brief && *part->brief ? part->brief : part->text;

		if (part->rank <= most && used < sizeof(line->text))
			used += (size_t)snprintf(line->text + used, sizeof(line->text) - used,
				"%s%s", used ? "  " : "", text);
	}
	return used <= columns;
}

struct vpa_live_line vpa_live_line(const struct vpa_live *l, size_t columns)
{
	struct vpa_live_line line = {""};
	struct parts parts = {.count = 0};
	enum rank most = CPU;

	add_time(&parts, vpt_sat_sub(l->now_ns, l->start_ns));
	if (l->is_simulated)
		add(&parts, ALWAYS, "SIMULATED");
	add_rates(&parts, l);
	add_gpus(&parts, l);
	if (l->cpu_percent >= 0)
		add(&parts, CPU, "CPU %s %%", vpa_fixed(l->cpu_percent, 0).text);
	if (join(&parts, 0, CPU, columns, &line))
		return line;
	while (!join(&parts, 1, most, columns, &line) && most > ALWAYS)
		most--;
	return line;
}

/* ---- metrics ---- */

static void put_head(struct vpt_print *m, const char *name, const char *type, const char *help)
{
	vpt_print(m, "# HELP vptrace_%s %s\n# TYPE vptrace_%s %s\n", name, help, name, type);
}

/* `label`: "{gpu=\"0\"}", or "". */
static void put_value(struct vpt_print *m, const char *name, const char *label, double value)
{
	struct vpa_num number = vpa_fixed(value, 6);
	char *to = number.text;
	const char *from;

	for (from = number.text; *from; from++)
		if (*from != ',')
			*to++ = *from;
	*to = '\0';
	vpt_print(m, "vptrace_%s%s %s\n", name, label, number.text);
}

static void put_one(
	struct vpt_print *m, const char *name, const char *type, const char *help, double value)
{
	put_head(m, name, type, help);
	put_value(m, name, "", value);
}

/* A gauge of the GPUs, at `offset` in struct vpa_live_gpu; one that is below 0 is not known. */
static const struct gpu_gauge {
	const char *name, *help;
	size_t offset;
} gpu_gauges[] = {
	{"gpu_busy_ratio", "Part of the window in which the GPU ran kernels, copies or memsets.",
		offsetof(struct vpa_live_gpu, busy)},
	{"gpu_memory_used_bytes", "Most memory in use in the window.",
		offsetof(struct vpa_live_gpu, memory_used)},
	{"gpu_memory_total_bytes", "Memory of the GPU.",
		offsetof(struct vpa_live_gpu, memory_total)},
	{"gpu_power_watts", "Mean power draw in the window.",
		offsetof(struct vpa_live_gpu, power_w)},
	{"gpu_temperature_celsius", "Highest temperature in the window.",
		offsetof(struct vpa_live_gpu, temperature_c)},
};

static double gauge_of(const struct vpa_live_gpu *g, const struct gpu_gauge *gauge)
{
	return *(const double *)(const void *)((const char *)g + gauge->offset);
}

static void put_gpus(struct vpt_print *m, const struct vpa_live *l, const struct gpu_gauge *gauge)
{
	size_t i, known = 0;
	char label[40];

	for (i = 0; i < l->gpu_count; i++) {
		double value = gauge_of(&l->gpus[i], gauge);

		if (value < 0)
			continue;
		if (!known++)
			put_head(m, gauge->name, "gauge", gauge->help);
		snprintf(label, sizeof(label), "{gpu=\"%" PRId64 "\"}", l->gpus[i].device);
		put_value(m, gauge->name, label, value);
	}
}

static void put_units(struct vpt_print *m, const struct vpa_live *l)
{
	const char *unit = vpa_unit_kind_name(l->kind);
	char rate[40], total[40], last[40];

	snprintf(rate, sizeof(rate), "%ss_per_second", unit);
	snprintf(total, sizeof(total), "%ss_total", unit);
	snprintf(last, sizeof(last), "last_%s_seconds", unit);
	if (l->units_per_s > 0)
		put_one(m, rate, "gauge", "Rate of the last ones.", l->units_per_s);
	put_one(m, total, "counter", "How many have ended.", (double)l->units.done);
	put_one(m, last, "gauge", "How long the last one took.", (double)l->units.last_ns / 1e9);
}

int vpa_live_metrics(
	const struct vpa_live *l, int is_recorded, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpt_print m = {sink, err, 0};
	size_t i;

	put_one(&m, "recording", "gauge", "1 while the capture is being recorded, then 0.",
		is_recorded != 0);
	put_one(&m, "capture_seconds", "gauge", "Length of the capture so far.",
		(double)vpt_sat_sub(l->now_ns, l->start_ns) / 1e9);
	put_one(&m, "simulated", "gauge", "1 if a stand-in made up the device times, else 0.",
		l->is_simulated);
	if (l->fps > 0)
		put_one(&m, "fps", "gauge", "Frames per second in the last blocks.", l->fps);
	if (l->target_millifps)
		put_one(&m, "target_fps", "gauge", "Frames per second that are required.",
			(double)l->target_millifps / 1e3);
	if (l->units.done)
		put_units(&m, l);
	if (l->cpu_percent >= 0)
		put_one(&m, "process_cpu_ratio", "gauge", "Cores that the process used.",
			l->cpu_percent / 100);
	for (i = 0; i < sizeof(gpu_gauges) / sizeof(gpu_gauges[0]); i++)
		put_gpus(&m, l, &gpu_gauges[i]);
	return m.rc;
}
