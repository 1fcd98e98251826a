/* device_limit.c - what keeps a device from finishing sooner. */
#include "analysis/report/device_limit.h"

#include "analysis/names/families.h"
#include "formats/base/saturate.h"

static const struct {
	const char *text, *words;
} limits[] = {
	[VPA_LIMIT_IDLE] = {"idle", NULL},
	[VPA_LIMIT_UNUSED] = {"unused", "HARDLY USED in this window"},
	[VPA_LIMIT_WORK] = {"gpu", "GPU-BOUND"},
	[VPA_LIMIT_COPIES] = {"copies", "COPY-BOUND"},
	[VPA_LIMIT_COMM] = {"communication", "COMM-BOUND"},
	[VPA_LIMIT_PEERS] = {"other ranks", "WAITS FOR OTHER RANKS"},
	[VPA_LIMIT_FAULTS] = {"page faults", "WAITS FOR UNIFIED MEMORY"},
};

const char *vpa_device_limit_text(enum vpa_device_limit limit)
{
	return limits[limit].text;
}

const char *vpa_device_limit_words(enum vpa_device_limit limit)
{
	return limits[limit].words;
}

int vpa_device_limit_is_of_part(const struct vpa_load *l)
{
	return l->window_ns > l->active_ns && l->window_ns - l->active_ns >= l->window_ns / 10;
}

int vpa_device_limit_is_bound(enum vpa_device_limit limit)
{
	return limit >= VPA_LIMIT_WORK;
}

static uint64_t idle_of(const struct vpa_load *l)
{
	return l->active_ns > l->busy_ns ? l->active_ns - l->busy_ns : 0;
}

static int leads(const struct vpa_load *l, uint64_t ns)
{
	return ns && ns >= l->active_ns / 4 && ns > idle_of(l) && ns > l->family_ns;
}

enum vpa_device_limit vpa_device_limit_of(const struct vpa_load *l)
{
	uint64_t idle = idle_of(l);

	if (!l->busy_ns)
		return VPA_LIMIT_IDLE;
	if (l->busy_ns < l->window_ns / 4 && l->window_ns > l->active_ns &&
		l->window_ns - l->active_ns > idle)
		return VPA_LIMIT_UNUSED;
	if (leads(l, l->copy_ns) && l->copy_ns >= l->comm_ns)
		return VPA_LIMIT_COPIES;
	if (leads(l, l->comm_ns))
		return l->wait_ns >= l->comm_ns / 2 ? VPA_LIMIT_PEERS : VPA_LIMIT_COMM;
	/* Waiting for other ranks is not work. */
	return vpt_sat_sub(l->busy_ns, l->wait_ns) >= l->active_ns - l->active_ns / 10
		       ? (l->fault_ns && l->fault_ns >= l->kernel_ns / 2 ? VPA_LIMIT_FAULTS
									 : VPA_LIMIT_WORK)
	       : idle < l->wait_ns ? VPA_LIMIT_PEERS
				   : VPA_LIMIT_IDLE;
}

/* ---- loads ---- */

static int is_compute(enum vpa_family family)
{
	return family != VPA_FAMILY_MEMCPY && family != VPA_FAMILY_MEMSET &&
	       family != VPA_FAMILY_COMM;
}

uint64_t vpa_family_ns(const struct vpa_report *r, enum vpa_family family)
{
	size_t i;

	for (i = 0; i < r->family_count; i++)
		if (r->families[i].family == family)
			return r->families[i].exclusive_ns;
	return 0;
}

static uint64_t largest_family(const struct vpa_report *r)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < r->family_count; i++)
		if (is_compute(r->families[i].family) && r->families[i].exclusive_ns > most)
			most = r->families[i].exclusive_ns;
	return most;
}

uint64_t vpa_work_ns(const struct vpa_device *d)
{
	return d->busy_ns > d->exposed_comm_ns ? d->busy_ns - d->exposed_comm_ns : 0;
}

uint64_t vpa_most_work_ns(const struct vpa_report *r)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		if (vpa_work_ns(&r->devices[i]) > most)
			most = vpa_work_ns(&r->devices[i]);
	return most;
}

int vpa_device_matters(const struct vpa_report *r, const struct vpa_device *d)
{
	return vpt_sat_mul(vpa_work_ns(d), 4) >= vpa_most_work_ns(r);
}

int vpa_devices_take_turns(const struct vpa_report *r)
{
	static const double together = 0.9, at_once = 0.1;
	uint64_t first_ns = UINT64_MAX, last_ns = 0, busy_ns = 0;
	size_t i, count = 0;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		first_ns = d->first_ns < first_ns ? d->first_ns : first_ns;
		last_ns = d->last_ns > last_ns ? d->last_ns : last_ns;
		vpt_sat_add_to(&busy_ns, d->busy_ns);
		count += (size_t)vpa_device_matters(r, d);
	}
	return count > 1 && r->any_busy_ns &&
	       (double)r->any_busy_ns >= together * (double)(last_ns - first_ns) &&
	       (double)vpt_sat_sub(busy_ns, r->any_busy_ns) <= at_once * (double)r->any_busy_ns;
}

static uint64_t wait_of(const struct vpa_device *d)
{
	return d->comm_wait_ns < d->exposed_comm_ns ? d->comm_wait_ns : d->exposed_comm_ns;
}

/* Communication beside compute. */
static uint64_t hidden_comm_ns(const struct vpa_report *r, const struct vpa_device *d)
{
	const struct vpa_expert *e = &r->expert;
	size_t i;

	for (i = 0; i < e->overlap_count; i++)
		if (e->overlaps[i].device == d->device)
			return e->overlaps[i].ns[VPA_OVERLAP_COMPUTE | VPA_OVERLAP_COMM] +
			       e->overlaps[i].ns[VPA_OVERLAPS - 1];
	return 0;
}

uint64_t vpa_hidden_wait_ns(const struct vpa_report *r, const struct vpa_device *d, int *all)
{
	uint64_t hidden = hidden_comm_ns(r, d),
		 exposed = d->comm_ns > hidden ? d->comm_ns - hidden : 0;

	/* Calls that run at once are exposed twice; calls that the window cuts are not in comm_ns. */
	exposed = exposed > d->exposed_comm_ns ? exposed : d->exposed_comm_ns;
	*all = d->comm_wait_ns && !d->exposed_comm_ns && hidden;
	if (*all)
		return d->comm_wait_ns;
	return d->comm_wait_ns > exposed ? d->comm_wait_ns - exposed : 0;
}

/* Without what an op of impossible length may cover alone. */
static uint64_t sure_busy_ns(const struct vpa_device *d)
{
	return d->busy_ns > d->doubted_ns ? d->busy_ns - d->doubted_ns : 0;
}

struct vpa_load vpa_load_of_device(const struct vpa_report *r, const struct vpa_device *d)
{
	return (struct vpa_load){.window_ns = vpa_device_window_ns(d),
		.active_ns = d->active_ns,
		.busy_ns = sure_busy_ns(d),
		.kernel_ns = d->kernel_ns,
		.fault_ns = d->fault_ns,
		.copy_ns = d->exposed_copy_ns,
		.comm_ns = d->exposed_comm_ns,
		.wait_ns = wait_of(d),
		.family_ns = vpa_portion(largest_family(r), d->busy_ns, vpa_busy_ns(r))};
}

static struct vpa_load sum_loads(const struct vpa_report *r, int only_that_matter)
{
	struct vpa_load all = {0};
	size_t i;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		if (only_that_matter && !vpa_device_matters(r, d))
			continue;
		vpt_sat_add_to(&all.window_ns, vpa_device_window_ns(d));
		vpt_sat_add_to(&all.active_ns, d->active_ns);
		vpt_sat_add_to(&all.busy_ns, sure_busy_ns(d));
		vpt_sat_add_to(&all.kernel_ns, d->kernel_ns);
		vpt_sat_add_to(&all.fault_ns, d->fault_ns);
		vpt_sat_add_to(&all.copy_ns, d->exposed_copy_ns);
		vpt_sat_add_to(&all.comm_ns, d->exposed_comm_ns);
		vpt_sat_add_to(&all.wait_ns, wait_of(d));
	}
	all.family_ns = vpa_portion(largest_family(r), all.busy_ns, vpa_busy_ns(r));
	return all;
}

struct vpa_load vpa_load_of_all(const struct vpa_report *r)
{
	return sum_loads(r, 1);
}

struct vpa_load vpa_load_of_part(
	const struct vpa_report *r, const uint64_t *families, uint64_t busy_ns, uint64_t idle_ns)
{
	uint64_t copies = vpt_sat_add(families[VPA_FAMILY_MEMCPY], families[VPA_FAMILY_MEMSET]);
	struct vpa_load all = sum_loads(r, 0), out = {0};
	size_t i;

	out.window_ns = out.active_ns = vpt_sat_add(busy_ns, idle_ns);
	out.busy_ns = vpa_portion(busy_ns, all.busy_ns, vpa_busy_ns(r));
	out.kernel_ns = all.kernel_ns;
	out.fault_ns = all.fault_ns;
	out.copy_ns = vpa_portion(copies, all.copy_ns,
		vpt_sat_add(
			vpa_family_ns(r, VPA_FAMILY_MEMCPY), vpa_family_ns(r, VPA_FAMILY_MEMSET)));
	out.comm_ns = vpa_portion(
		families[VPA_FAMILY_COMM], all.comm_ns, vpa_family_ns(r, VPA_FAMILY_COMM));
	out.wait_ns = vpa_portion(out.comm_ns, all.wait_ns, all.comm_ns);
	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		if (is_compute((enum vpa_family)i) && families[i] > out.family_ns)
			out.family_ns = families[i];
	return out;
}
