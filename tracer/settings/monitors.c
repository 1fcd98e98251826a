/* monitors.c - a table of names, each of one monitor or several. */
#include "tracer/settings/monitors.h"

#include "formats/base/count.h"
#include "tracer/settings/amounts.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum vtr_monitor first, last;
} names[] = {
	{"all", VTR_MONITOR_MEMORY, VTR_MONITOR_FAULTS},
	{"gpu", VTR_MONITOR_MEMORY, VTR_MONITOR_TEMPERATURE},
	{"memory", VTR_MONITOR_MEMORY, VTR_MONITOR_MEMORY},
	{"utilization", VTR_MONITOR_UTILIZATION, VTR_MONITOR_UTILIZATION},
	{"power", VTR_MONITOR_POWER, VTR_MONITOR_POWER},
	{"clocks", VTR_MONITOR_CLOCKS, VTR_MONITOR_CLOCKS},
	{"temperature", VTR_MONITOR_TEMPERATURE, VTR_MONITOR_TEMPERATURE},
	{"host", VTR_MONITOR_CPU, VTR_MONITOR_FAULTS},
	{"cpu", VTR_MONITOR_CPU, VTR_MONITOR_CPU},
	{"ram", VTR_MONITOR_RAM, VTR_MONITOR_RAM},
	{"disk", VTR_MONITOR_DISK, VTR_MONITOR_DISK},
	{"faults", VTR_MONITOR_FAULTS, VTR_MONITOR_FAULTS},
};

void vtr_monitors_all(struct vtr_monitors *m, int64_t ms)
{
	int i;

	*m = (struct vtr_monitors){.wanted = ms > 0};
	for (i = 0; i < VTR_MONITORS; i++)
		m->ms[i] = ms < 0 ? 0 : ms ? (uint32_t)ms : VTR_MONITOR_MS;
}

/* -1 is off. */
static int read_time(const char *text, int64_t *ms, struct vpt_err *err)
{
	const struct vtr_word *word = vtr_word_find(vtr_never, text);

	if (word)
		*ms = word->value;
	else if (vtr_amount_read(vtr_milliseconds, text, ms) || *ms < VTR_MONITOR_MS_MIN ||
		 *ms > VTR_MONITOR_MS_MAX)
		return vpt_fail(err, VPT_EINVAL, "expected %d ms to %d ms or off, found \"%.100s\"",
			VTR_MONITOR_MS_MIN, VTR_MONITOR_MS_MAX, text);
	return VPT_OK;
}

static int fail_name(const char *item, struct vpt_err *err)
{
	char known[160] = "";
	size_t i, used = 0;

	for (i = 0; i < COUNT(names); i++)
		used += (size_t)snprintf(
			known + used, sizeof(known) - used, "%s%s", i ? ", " : "", names[i].name);
	return vpt_fail(err, VPT_EINVAL,
		"expected a time, off, or a list such as gpu:100ms,temperature:off of %s; found "
		"\"%.60s\"",
		known, item);
}

/* "NAME:TIME" */
static int read_item(char *item, struct vtr_monitors *m, struct vpt_err *err)
{
	char *colon = strchr(item, ':');
	int64_t ms;
	size_t i;
	int k, rc;

	if (!colon)
		return fail_name(item, err);
	*colon = '\0';
	for (i = 0; i < COUNT(names) && strcmp(names[i].name, item) != 0; i++)
		;
	if (i == COUNT(names))
		return fail_name(item, err);
	rc = read_time(colon + 1, &ms, err);
	if (rc)
		return vpt_err_at(err, item), rc;
	for (k = (int)names[i].first; k <= (int)names[i].last; k++)
		m->ms[k] = ms < 0 ? 0 : (uint32_t)ms;
	m->wanted |= ms > 0;
	return VPT_OK;
}

int vtr_monitors_read(const char *text, struct vtr_monitors *out, struct vpt_err *err)
{
	char items[VTR_MONITORS_TEXT_MAX], *item, *rest = items;
	int64_t ms;
	int rc;

	vtr_monitors_all(out, 0);
	if (!strpbrk(text, ":,") &&
		(strchr("-0123456789", *text) || vtr_word_find(vtr_never, text))) {
		rc = read_time(text, &ms, err);
		if (!rc)
			vtr_monitors_all(out, ms);
		return rc;
	}
	if (strlen(text) >= sizeof(items))
		return vpt_fail(err, VPT_EINVAL, "expected at most %zu bytes, found %zu",
			sizeof(items) - 1, strlen(text));
	snprintf(items, sizeof(items), "%s", text);
	do {
		item = strsep(&rest, ",");
		rc = read_item(item, out, err);
	} while (!rc && rest);
	snprintf(out->text, sizeof(out->text), "%s", text);
	return rc;
}

int vtr_monitors_any(const struct vtr_monitors *m)
{
	int i, any = 0;

	for (i = 0; i < VTR_MONITORS; i++)
		any |= m->ms[i] != 0;
	return any;
}

uint32_t vtr_monitors_same(const struct vtr_monitors *m)
{
	int i;

	for (i = 1; i < VTR_MONITORS && m->ms[i] == m->ms[0]; i++)
		;
	return i == VTR_MONITORS ? m->ms[0] : 0;
}
