/* archive_members.c - reads each trace once for what all need to know of each other.
 *
 * Members share a clock if they are of one boot of one machine, or if collectives lay the clocks of their machines onto one. Others
 * lie by their own times of day, if all know it and were recorded at the same time. Perfetto drops what it would have to show before
 * the start of a machine's clock, so what is left begins together instead. */
#include "analysis/export/perfetto/archive_members.h"

#include "analysis/export/trace_clocks.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char by_time_of_day[] =
	"machines have no collective in common. Their own times of day lay them beside each other, "
	"which may differ by more than a collective takes";
static const char without_collective[] =
	"machines have no collective in common. Each begins at the start of the file";
static const char at_other_times[] =
	"they were recorded at different times, on machines or boots that have no clock in common. "
	"Each begins at the start of the file";
static const char timeless[] =
	"not all of them have the time of day. Each begins at the start of the file";

/* Ranks of a job start within this of each other. */
#define MEETING_NS     (UINT64_C(60) * 1000000000)
#define LEAST_START_NS (UINT64_C(1000) * 1000000000) /* room for what is before the start */

/* ---- names of members ---- */

static int is_taken(const struct vpa_archive *a, size_t before, const char *name)
{
	size_t i;

	for (i = 0; i < before; i++)
		if (!strcmp(a->members[i].name, name))
			return 1;
	return 0;
}

/* "dir/trace-r0.zst" becomes "trace-r0.pftrace"; a name that is taken gets a number. */
static void name_member(struct vpa_archive *a, size_t index, const char *suffix)
{
	static const char *const endings[] = {".gz", ".json", ".zst", ".sqlite"};
	enum { STEM_MAX = 64 };
	const char *path = vpt_file_name(a->members[index].path);
	char stem[STEM_MAX + 1], *name = a->members[index].name;
	size_t len, i, n;

	len = strlen(path);
	for (i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		n = strlen(endings[i]);
		if (len > n && !strncmp(path + len - n, endings[i], n))
			len -= n;
	}
	len = len < STEM_MAX ? len : STEM_MAX;
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		stem[i] = c > ' ' && c < 0x7f ? (char)c : '_';
	}
	stem[len] = '\0';
	snprintf(name, VPT_TAR_NAME_MAX + 1, "%s%s", len ? stem : "trace", suffix);
	for (n = 2; is_taken(a, index, name); n++)
		snprintf(name, VPT_TAR_NAME_MAX + 1, "%s-%zu%s", len ? stem : "trace", n, suffix);
}

/* ---- reading ---- */

static void copy(char *out, size_t size, struct vpt_text text)
{
	snprintf(out, size, "%.*s", text.len < size ? (int)text.len : (int)size - 1, text.text);
}

static void take_meta(struct vpa_archive_member *m, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_META);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++) {
		struct vpt_text key = vpt_batch_text(b, s->col[VPT_META_KEY][row]);
		struct vpt_text value = vpt_batch_text(b, s->col[VPT_META_VALUE][row]);

		if (vpt_text_is(key, vpt_metadata_key(VPT_METADATA_HOST)))
			copy(m->host, sizeof(m->host), value);
		else if (vpt_text_is(key, vpt_metadata_key(VPT_METADATA_BOOT_ID)))
			copy(m->boot, sizeof(m->boot), value);
	}
}

static struct vpa_gpu *gpu_of(const struct vpa_archive_member *m, int64_t device)
{
	size_t i;

	for (i = 0; i < m->gpu_count; i++)
		if (m->gpus[i].device == device)
			return &m->gpus[i];
	return NULL;
}

static void forget_gpu(struct vpa_gpu *g)
{
	vpt_free((void *)(uintptr_t)g->name);
	vpt_free((void *)(uintptr_t)g->uuid);
	vpt_free((void *)(uintptr_t)g->pci);
}

/* Adds a GPU or replaces what was known of it. */
static int put_gpu(struct vpa_archive_member *m, const struct vpa_gpu *gpu, struct vpt_text name,
	struct vpt_text uuid, struct vpt_text pci)
{
	struct vpa_gpu *g = gpu_of(m, gpu->device);

	if (g) {
		forget_gpu(g);
	} else if (vpt_grow(&m->gpus, &m->gpu_cap, m->gpu_count + 1, sizeof(*m->gpus))) {
		return VPT_ENOMEM;
	} else {
		g = &m->gpus[m->gpu_count++];
	}
	*g = *gpu;
	g->name = vpt_strndup(name.text, name.len);
	g->uuid = vpt_strndup(uuid.text, uuid.len);
	g->pci = vpt_strndup(pci.text, pci.len);
	return g->name && g->uuid && g->pci ? VPT_OK : VPT_ENOMEM;
}

static int take_gpus(struct vpa_archive_member *m, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_DEVICE);
	uint32_t row;
	int rc = VPT_OK;

	for (row = 0; s && row < s->row_count && !rc; row++) {
		struct vpa_gpu g = {.device = (int64_t)s->col[VPT_DEVICE_DEVICE][row],
			.compute_major = (uint32_t)s->col[VPT_DEVICE_COMPUTE_MAJOR][row],
			.compute_minor = (uint32_t)s->col[VPT_DEVICE_COMPUTE_MINOR][row],
			.sm_count = (uint32_t)s->col[VPT_DEVICE_SM_COUNT][row],
			.memory_bytes = s->col[VPT_DEVICE_MEMORY][row],
			.simulated = s->col[VPT_DEVICE_SIMULATED][row] != 0};

		rc = put_gpu(m, &g, vpt_batch_text(b, s->col[VPT_DEVICE_NAME][row]),
			vpt_batch_text(b, s->col[VPT_DEVICE_UUID][row]),
			vpt_batch_text(b, s->col[VPT_DEVICE_PCI][row]));
	}
	return rc;
}

static int is_used(const struct vpa_archive_member *m, int64_t device)
{
	size_t i;

	for (i = 0; i < m->used_count; i++)
		if (m->used[i] == device)
			return 1;
	return 0;
}

static int take_streams(struct vpa_archive_member *m, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_LANE);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++) {
		int64_t device = (int64_t)s->col[VPT_LANE_DEVICE][row];

		if (s->col[VPT_LANE_LANE_TYPE][row] != VPT_LANETYPE_STREAM || is_used(m, device))
			continue;
		if (vpt_grow(&m->used, &m->used_cap, m->used_count + 1, sizeof(*m->used)))
			return VPT_ENOMEM;
		m->used[m->used_count++] = device;
	}
	return VPT_OK;
}

static void take_clock(struct vpa_archive_member *m, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_CLOCK);
	uint32_t row;

	for (row = 0; s && row < s->row_count; row++)
		m->has_boottime |= s->col[VPT_CLOCK_BOOTTIME][row] != 0;
}

static int take_chunk(struct vpa_archive_member *m, const struct vpt_batch *b)
{
	take_meta(m, b);
	take_clock(m, b);
	if (b->t_max_ns > m->end_ns)
		m->end_ns = b->t_max_ns;
	return take_gpus(m, b) || take_streams(m, b) ? VPT_ENOMEM : VPT_OK;
}

/* What work ran on, of which nothing else is known. */
static int add_undescribed(struct vpa_archive_member *m)
{
	const struct vpt_text name = {"GPU", 3}, none = {"", 0};
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < m->used_count && !rc; i++)
		if (!gpu_of(m, m->used[i]))
			rc = put_gpu(m, &(struct vpa_gpu){.device = m->used[i]}, name, none, none);
	return rc;
}

static void read_start(struct vpa_archive_member *m, const struct vpt_trace *trace)
{
	const struct vpt_header *h = vpt_trace_header(trace);

	m->start_ns = vpt_trace_times_from(trace, 0);
	if (m->start_ns == UINT64_MAX)
		m->start_ns = vpt_trace_start(trace);
	if (m->end_ns < m->start_ns)
		m->end_ns = m->start_ns;
	/* The time of an import's own boot is none that others have. */
	m->has_boottime &= vpt_trace_reader(trace) != NULL;
	m->has_realtime = h->t0_unix_ns != 0 && !vpt_trace_start_is_doubted(trace);
	m->unix_offset_ns = m->has_realtime ? h->t0_unix_ns - h->t0_ns : 0;
}

static int read_member(struct vpa_archive_member *m, struct vpt_err *err)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_trace *trace = NULL;
	struct vpt_batch batch;
	int rc = decoder ? VPT_OK : VPT_ENOMEM;
	size_t i;

	vpt_batch_init(&batch);
	batch.packs = 1; /* no ops are read */
	if (!rc)
		rc = vpt_trace_open(m->path, &trace, err);
	for (i = 0; !rc && i < vpt_trace_chunks(trace); i++)
		if (!vpt_trace_chunk(trace, decoder, i, &batch, NULL) && take_chunk(m, &batch))
			rc = VPT_ENOMEM;
	if (!rc) {
		read_start(m, trace);
		rc = add_undescribed(m);
	}
	vpt_trace_close(trace);
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return rc == VPT_ENOMEM ? vpt_fail(err, rc, "no memory to read a trace") : rc;
}

/* ---- machines ---- */

static int is_same_machine(const struct vpa_archive_member *a, const struct vpa_archive_member *b)
{
	return *a->boot && *b->boot ? !strcmp(a->boot, b->boot) : !strcmp(a->host, b->host);
}

static void find_machine(struct vpa_archive *a, size_t index)
{
	size_t i = 0;

	while (!is_same_machine(&a->members[i], &a->members[index]))
		i++;
	a->members[index].machine = i < index ? a->members[i].machine : index;
}

int vpa_archive_has_machines(const struct vpa_archive *a)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (a->members[i].machine)
			return 1;
	return 0;
}

/* ---- clocks ---- */

struct span {
	uint64_t from_ns, to_ns;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *p = a, *q = b;

	return (p->from_ns > q->from_ns) - (p->from_ns < q->from_ns);
}

/* Whether the members were recorded at the same time, each beginning before all earlier ones ended
 * or soon after. Without memory they were not. */
static int have_met(const struct vpa_archive *a)
{
	struct span *spans = vpt_alloc(a->count + 1, sizeof(*spans));
	uint64_t to_ns;
	size_t i;

	if (!spans)
		return 0;
	for (i = 0; i < a->count; i++) {
		const struct vpa_archive_member *m = &a->members[i];

		spans[i] = (struct span){
			m->start_ns + m->unix_offset_ns, m->end_ns + m->unix_offset_ns};
	}
	qsort(spans, a->count, sizeof(*spans), compare_spans);
	to_ns = spans[0].to_ns;
	for (i = 1; i < a->count && spans[i].from_ns <= vpt_sat_add(to_ns, MEETING_NS); i++)
		if (spans[i].to_ns > to_ns)
			to_ns = spans[i].to_ns;
	vpt_free(spans);
	return i == a->count;
}

static size_t count_realtime(const struct vpa_archive *a)
{
	size_t count = 0, i;

	for (i = 0; i < a->count; i++)
		count += (size_t)a->members[i].has_realtime;
	return count;
}

static int all_boottime(const struct vpa_archive *a)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (!a->members[i].has_boottime)
			return 0;
	return 1;
}

/* A start for members that share no clock: the first known time of day. */
static uint64_t common_start(const struct vpa_archive *a)
{
	uint64_t first_ns = UINT64_MAX, start_ns;
	size_t i;

	for (i = 0; i < a->count; i++) {
		start_ns = a->members[i].start_ns + a->members[i].unix_offset_ns;
		if (a->members[i].has_realtime && start_ns < first_ns)
			first_ns = start_ns;
	}
	return first_ns == UINT64_MAX || first_ns < LEAST_START_NS ? LEAST_START_NS : first_ns;
}

static void set_clocks(struct vpa_archive *a, const struct vpa_export_clock *clock)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		a->members[i].clock = *clock;
}

/* Where no collectives tell. */
static void choose_one_clock(struct vpa_archive *a)
{
	size_t known = count_realtime(a);
	int is_one_machine = !vpa_archive_has_machines(a);
	struct vpa_export_clock clock = {.kind = VPA_CLOCK_OWN};

	if (known == a->count && have_met(a)) {
		clock.kind = VPA_CLOCK_TIME_OF_DAY;
		clock.is_unaligned = !is_one_machine;
		a->unaligned = is_one_machine ? NULL : by_time_of_day;
	} else if (known || !is_one_machine || !have_met(a)) {
		/* Times of one machine that mean nothing else may still be of one clock. */
		clock = (struct vpa_export_clock){.kind = VPA_CLOCK_COMMON_START,
			.start_ns = common_start(a),
			.is_unaligned = 1};
		a->unaligned = known == a->count ? at_other_times : timeless;
	}
	set_clocks(a, &clock);
}

/* That of a member, or of a rank on its machine; NULL: no collective places it. */
static const struct vpa_clock *placed_clock(
	const struct vpa_archive *a, const struct vpa_trace_clocks *found, size_t member)
{
	const struct vpa_trace_clock *own = &found->items[member];
	size_t i;

	for (i = 0; i < a->count && !own->is_rank; i++)
		if (a->members[i].machine == a->members[member].machine && found->items[i].is_rank)
			own = &found->items[i];
	return own->is_rank && own->clock.is_placed ? &own->clock : NULL;
}

/* The job's time at which the first of the placed members begins. */
static int64_t first_start(const struct vpa_archive *a, const struct vpa_trace_clocks *found)
{
	int64_t first_ns = INT64_MAX;
	size_t i;

	for (i = 0; i < a->count; i++) {
		const struct vpa_clock *clock = placed_clock(a, found, i);
		int64_t at_ns = clock ? vpa_clock_time(clock, a->members[i].start_ns) : INT64_MAX;

		first_ns = at_ns < first_ns ? at_ns : first_ns;
	}
	return first_ns;
}

/* Lays the members of several machines onto the clock of the first rank's. */
static void place_members(struct vpa_archive *a, const struct vpa_trace_clocks *found)
{
	const int64_t first_ns = first_start(a, found);
	/* The job's time 0: as a time of day, if that is known. */
	const int has_day = found->base_ns && found->base_ns + (uint64_t)first_ns >= LEAST_START_NS;
	const uint64_t base_ns = has_day ? found->base_ns : LEAST_START_NS - (uint64_t)first_ns;
	const int is_by_day = has_day && count_realtime(a) == a->count && have_met(a);
	size_t i;

	a->aligned = found->machines - found->unplaced;
	a->uncertainty_ns = found->uncertainty_ns;
	for (i = 0; i < a->count; i++) {
		struct vpa_archive_member *m = &a->members[i];
		const struct vpa_clock *clock = placed_clock(a, found, i);

		if (clock) {
			m->clock = (struct vpa_export_clock){
				.kind = VPA_CLOCK_PLACED, .start_ns = base_ns, .placed = *clock};
			continue;
		}
		m->clock = (struct vpa_export_clock){
			.kind = is_by_day ? VPA_CLOCK_TIME_OF_DAY : VPA_CLOCK_COMMON_START,
			.start_ns = base_ns + (uint64_t)first_ns,
			.is_unaligned = 1};
		a->unaligned = is_by_day ? by_time_of_day : without_collective;
	}
}

/* Members of one boot have one clock. All others may be of several machines, whatever the names of their hosts are. */
static int choose_clocks(struct vpa_archive *a, const char *const *paths,
	const struct vpa_options *options, struct vpt_err *err)
{
	static const struct vpa_export_clock own = {.kind = VPA_CLOCK_OWN};
	struct vpa_trace_clocks found;
	int rc;

	set_clocks(a, &own);
	if (a->count < 2 || (!vpa_archive_has_machines(a) && all_boottime(a)))
		return VPT_OK;
	rc = vpa_trace_clocks_find(paths, a->count, options, &found, err);
	if (!rc && found.machines - found.unplaced > 1)
		place_members(a, &found);
	else if (!rc || rc == VPT_EINVAL) /* no ranks of one job */
		choose_one_clock(a);
	vpa_trace_clocks_free(&found);
	return rc == VPT_EINVAL ? VPT_OK : rc;
}

int vpa_archive_read(struct vpa_archive *a, const char *const *paths, size_t count,
	const char *suffix, const struct vpa_options *options, struct vpt_err *err)
{
	size_t i;
	int rc = VPT_OK;

	*a = (struct vpa_archive){.members = vpt_calloc(count + 1, sizeof(*a->members))};
	if (!a->members)
		return vpt_fail(err, VPT_ENOMEM, "no memory to export traces");
	a->count = count;
	for (i = 0; i < count && !rc; i++) {
		a->members[i].path = paths[i];
		name_member(a, i, suffix);
		rc = read_member(&a->members[i], err);
		find_machine(a, i);
	}
	return rc ? rc : choose_clocks(a, paths, options, err);
}

void vpa_archive_free(struct vpa_archive *a)
{
	size_t i, k;

	for (i = 0; i < a->count; i++) {
		for (k = 0; k < a->members[i].gpu_count; k++)
			forget_gpu(&a->members[i].gpus[k]);
		vpt_free(a->members[i].gpus);
		vpt_free(a->members[i].used);
	}
	vpt_free(a->members);
}

/* ---- GPUs ---- */

struct owned {
	struct vpa_gpu gpu;
	size_t owner;
};

static int compare_owned(const void *a, const void *b)
{
	const struct owned *p = a, *q = b;
	int order = (p->owner < VPA_GPU_SHARED) - (q->owner < VPA_GPU_SHARED);

	if (!order && p->owner == VPA_GPU_SHARED)
		order = strcmp(p->gpu.pci, q->gpu.pci);
	if (!order && p->owner == VPA_GPU_SHARED)
		order = strcmp(p->gpu.uuid, q->gpu.uuid);
	if (!order)
		order = (p->owner > q->owner) - (p->owner < q->owner);
	return order ? order : (p->gpu.device > q->gpu.device) - (p->gpu.device < q->gpu.device);
}

/* Adds a GPU unless it is there. Those without an address that a member does not use are left out:
 * a profiler describes all of a host in each rank. */
static void add_gpu(
	struct owned *all, size_t *count, const struct vpa_gpu *gpu, size_t owner, int has_work)
{
	size_t i;

	if (vpa_gpu_has_address(gpu))
		owner = VPA_GPU_SHARED;
	else if (!has_work)
		return;
	for (i = 0; owner == VPA_GPU_SHARED && i < *count; i++)
		if (all[i].owner == owner && vpa_gpu_is_same(&all[i].gpu, gpu))
			return;
	all[(*count)++] = (struct owned){*gpu, owner};
}

int vpa_archive_gpus(const struct vpa_archive *a, size_t member, struct vpa_gpu **gpus,
	size_t **owners, size_t *count)
{
	struct owned *all;
	size_t room = 1, i, k;

	*count = 0;
	for (i = 0; i < a->count; i++)
		room += a->members[i].gpu_count;
	all = vpt_alloc(room, sizeof(*all));
	*gpus = vpt_alloc(room, sizeof(**gpus));
	*owners = vpt_alloc(room, sizeof(**owners));
	if (!all || !*gpus || !*owners) {
		vpt_free(all);
		vpt_free(*gpus);
		vpt_free(*owners);
		return VPT_ENOMEM;
	}
	for (i = 0; i < a->count; i++) {
		const struct vpa_archive_member *m = &a->members[i];

		for (k = 0; k < m->gpu_count && m->machine == a->members[member].machine; k++)
			add_gpu(all, count, &m->gpus[k], i, is_used(m, m->gpus[k].device));
	}
	qsort(all, *count, sizeof(*all), compare_owned);
	for (i = 0; i < *count; i++) {
		(*gpus)[i] = all[i].gpu;
		(*owners)[i] = all[i].owner;
	}
	vpt_free(all);
	return VPT_OK;
}
