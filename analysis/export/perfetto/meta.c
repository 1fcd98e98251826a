/* meta.c - what an export is about: the run, its processes and GPUs, and the totals to be found again. */
#include "analysis/export/perfetto/parts.h"

#include "analysis/gpu_arch.h"
#include "formats/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1, GPU_IDS_MAX = 64 };

const char *vpa_ex_fact(const struct vpa_export *x, const char *key)
{
	const struct vpa_report *r = x->view.report;
	size_t i;

	for (i = 0; i < r->meta_count; i++)
		if (!strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

static const char *either(const struct vpa_export *x, const char *key, const char *other)
{
	const char *value = vpa_ex_fact(x, key);

	return value ? value : vpa_ex_fact(x, other);
}

/* ---- attributes ---- */

static void put_text(struct vpa_export *x, const char *key, const char *value)
{
	struct vpt_pb *b = &x->pf.out;

	if (!value || !*value)
		return;
	vpt_pb_begin(b, 1);
	vpt_pb_string(b, 1, key);
	vpt_pb_text(b, 3, value, strlen(value), VPT_PF_TEXT_MAX);
	vpt_pb_end(b);
}

static void put_number(struct vpa_export *x, const char *key, uint64_t value)
{
	struct vpt_pb *b = &x->pf.out;

	vpt_pb_begin(b, 1);
	vpt_pb_string(b, 1, key);
	vpt_pb_uint(b, 2, value);
	vpt_pb_end(b);
}

/* Text that is a whole number, as number. */
static void put_count(struct vpa_export *x, const char *key, const char *value)
{
	char *end;
	unsigned long long number;

	if (!value || *value < '0' || *value > '9')
		return;
	number = strtoull(value, &end, 10);
	if (!*end)
		put_number(x, key, number);
}

static void begin_attributes(struct vpa_export *x)
{
	vpt_pf_begin(&x->pf, &x->meta, x->start_ns + x->shift_ns);
	vpt_pb_begin(&x->pf.out, VPT_PF_ATTRIBUTES);
}

static void end_attributes(struct vpa_export *x)
{
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

static void put_run(struct vpa_export *x)
{
	begin_attributes(x);
	put_number(x, "vptrace.format", FORMAT_VERSION);
	put_text(x, "vptrace.version", vpa_ex_fact(x, "vptrace"));
	put_text(x, "vptrace.source", x->view.report->format);
	put_text(x, "vptrace.pipeline", vpa_ex_fact(x, "pipeline"));
	put_text(x, "vptrace.model", vpa_ex_fact(x, "model"));
	put_count(x, "vptrace.rank", vpa_ex_fact(x, "rank"));
	put_count(x, "vptrace.world_size", vpa_ex_fact(x, "world_size"));
	put_text(x, "vptrace.hostname", either(x, "host", "hostname"));
	put_text(x, "vptrace.cuda_driver", either(x, "driver", "cuda_driver"));
	put_text(x, "vptrace.cmdline", vpa_ex_fact(x, "command"));
	put_number(x, "vptrace.gap_threshold_ns", x->options->min_gap_ns);
	end_attributes(x);
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long number = text ? strtoull(text, &end, 10) : 0;

	return text && *text >= '0' && *text <= '9' && !*end ? number : 0;
}

/* The machine, as far as META knows it. */
static void put_system(struct vpa_export *x)
{
	enum { UTSNAME = 1, CPUS = 8, RAM = 16, MACHINE = 17 };
	static const char *const names[] = {"os.sysname", "os.version", "os.release", "os.machine"};
	const char *host = either(x, "host", "hostname");
	uint64_t cpus = number_of(vpa_ex_fact(x, "cpus"));
	uint64_t ram = number_of(vpa_ex_fact(x, "ram_bytes"));
	struct vpt_pb *b = &x->pf.out;
	unsigned i;

	vpt_pf_begin(&x->pf, &x->meta, x->start_ns + x->shift_ns);
	vpt_pb_begin(b, VPT_PF_SYSTEM_INFO);
	vpt_pb_begin(b, UTSNAME);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = vpa_ex_fact(x, names[i]);

		if (value)
			vpt_pb_text(b, i + 1, value, strlen(value), 200);
	}
	vpt_pb_end(b);
	if (cpus)
		vpt_pb_uint(b, CPUS, cpus);
	if (ram)
		vpt_pb_uint(b, RAM, ram);
	if (host && *host)
		vpt_pb_text(b, MACHINE, host, strlen(host), 200);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

/* ---- GPUs ---- */

const struct vpa_gpu *vpa_ex_gpu_row(const struct vpa_export *x, uint32_t device)
{
	const struct vpa_report *r = x->view.report;
	size_t i;

	for (i = 0; i < r->gpu_count; i++)
		if (r->gpus[i].device == x->model->devices[device])
			return &r->gpus[i];
	return NULL;
}

/* All GPUs that are known: of the machine, else those of the trace. */
static const struct vpa_gpu *all_gpus(const struct vpa_export *x, size_t *count)
{
	const struct vpa_report *r = x->view.report;

	*count = x->options->gpus ? x->options->gpu_count : r->gpu_count;
	return x->options->gpus ? x->options->gpus : r->gpus;
}

/* The place of a GPU among them, by PCI address: that is how the machine counts them. */
static uint32_t place_of(const struct vpa_export *x, const struct vpa_gpu *g)
{
	size_t count, i;
	const struct vpa_gpu *all = all_gpus(x, &count);
	uint32_t place = 0;
	int is_known = 0;

	for (i = 0; i < count; i++) {
		int order = strcmp(all[i].pci, g->pci);

		if (!order)
			order = strcmp(all[i].uuid, g->uuid);
		is_known |= !order;
		place += order < 0 || (!order && all[i].device < g->device);
	}
	return is_known ? place : (uint32_t)count + place;
}

static int is_taken(const struct vpa_export *x, uint32_t gpu_id)
{
	size_t i;

	for (i = 0; i < x->gpu_cap; i++)
		if (x->gpus[i].known && x->gpus[i].gpu_id == gpu_id)
			return 1;
	return 0;
}

struct vpa_ex_gpu *vpa_ex_gpu_of(struct vpa_export *x, uint32_t device)
{
	size_t before = x->gpu_cap;
	struct vpa_ex_gpu *g;
	const struct vpa_gpu *row;
	int64_t ordinal = x->model->devices[device];

	if (vpt_grow(&x->gpus, &x->gpu_cap, (size_t)device + 1, sizeof(*x->gpus))) {
		x->pf.failed = VPT_ENOMEM;
		return NULL;
	}
	if (x->gpu_cap > before)
		memset(x->gpus + before, 0, (x->gpu_cap - before) * sizeof(*x->gpus));
	g = &x->gpus[device];
	if (g->known)
		return g;
	row = vpa_ex_gpu_row(x, device);
	g->gpu_id = row ? place_of(x, row) : ordinal > 0 ? (uint32_t)ordinal : 0;
	while (is_taken(x, g->gpu_id))
		g->gpu_id++;
	g->known = 1;
	return g;
}

/* "GPU-01234567-..." as 16 bytes; how many digits pairs were there. */
static size_t read_uuid(const char *text, uint8_t *out)
{
	size_t digits = 0;
	const char *p = strncmp(text, "GPU-", 4) ? text : text + 4;

	for (; *p && digits < 32; p++) {
		static const char hex[] = "0123456789abcdef";
		const char *at = strchr(hex, *p | 0x20);

		if (*p == '-')
			continue;
		if (!at)
			return 0;
		if (!(digits & 1))
			out[digits / 2] = 0;
		out[digits / 2] |= (uint8_t)((at - hex) << (digits & 1 ? 0 : 4));
		digits++;
	}
	return digits / 2;
}

static void put_extra(struct vpt_pb *b, const char *key, const char *value)
{
	vpt_pb_begin(b, 6);
	vpt_pb_string(b, 1, key);
	vpt_pb_string(b, 2, value);
	vpt_pb_end(b);
}

static void put_driver(struct vpa_export *x)
{
	const char *driver = either(x, "driver", "cuda_driver");

	if (driver)
		put_extra(&x->pf.out, "driver", driver);
}

static void put_gpu(struct vpa_export *x, const struct vpa_gpu *g, uint32_t gpu_id)
{
	struct vpt_pb *b = &x->pf.out;
	uint8_t uuid[16];
	char text[300], arch[VPA_ARCH_BYTES];

	vpt_pb_begin(b, 1);
	if (!g) {
		vpt_pb_string(b, 1, "GPU");
		vpt_pb_end(b);
		return;
	}
	snprintf(text, sizeof(text), "%.250s #%u", g->name, gpu_id);
	vpt_pb_string(b, 1, text);
	vpt_pb_string(b, 2, vpa_gpu_is_amd(g) ? "AMD" : "NVIDIA");
	vpt_pb_string(b, 3, g->name);
	vpa_gpu_arch(g, arch);
	if (arch[0])
		vpt_pb_string(b, 4, arch);
	if (read_uuid(g->uuid, uuid) == sizeof(uuid))
		vpt_pb_bytes(b, 5, uuid, sizeof(uuid));
	if (*g->pci)
		vpt_pb_string(b, 7, g->pci);
	snprintf(text, sizeof(text), "%u", g->sm_count);
	put_extra(b, "sm_count", text);
	snprintf(text, sizeof(text), "%u.%u", g->compute_major, g->compute_minor);
	put_extra(b, "compute_capability", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)g->memory_bytes);
	put_extra(b, "memory_bytes", text);
	snprintf(text, sizeof(text), "%lld", (long long)g->device);
	put_extra(b, "cuda_ordinal", text);
	put_driver(x);
	if (g->simulated)
		put_extra(b, "simulated", "1");
	vpt_pb_end(b);
}

/* The place in the list is the GPU's number. */
static void put_gpus(struct vpa_export *x)
{
	size_t count, i;
	const struct vpa_gpu *all = all_gpus(x, &count);
	uint32_t id;

	if (!count)
		return;
	vpt_pf_begin(&x->pf, &x->meta, x->start_ns + x->shift_ns);
	vpt_pb_begin(&x->pf.out, VPT_PF_GPU_INFO);
	for (id = 0; id < count && id < GPU_IDS_MAX; id++) {
		for (i = 0; i < count && place_of(x, &all[i]) != id; i++)
			;
		put_gpu(x, i < count ? &all[i] : NULL, id);
	}
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

/* ---- processes ---- */

/* Where the process told last stands among all: those of several ranks by rank, as one of each is traced, and any
 * others behind it as they come. */
static uint64_t order_of_process(const struct vpa_export *x)
{
	const char *rank = vpa_ex_fact(x, "rank");
	uint64_t place = (rank ? number_of(rank) : 0) + x->pids.count - 1;

	return place < INT32_MAX ? place : INT32_MAX;
}

uint64_t vpa_ex_process(struct vpa_export *x, int64_t pid)
{
	size_t before = x->pids.count;
	const char *command = vpa_ex_fact(x, "command");
	struct vpt_pb *b = &x->pf.out;
	char path[64];
	uint64_t uuid;

	pid = vpa_ex_pid(x, pid);
	snprintf(path, sizeof(path), "process %lld", (long long)pid);
	uuid = vpa_ex_uuid(x, path);
	if (vpa_index_put(&x->pids, (uint64_t)pid, 0) == UINT32_MAX)
		x->pf.failed = VPT_ENOMEM;
	if (x->pids.count == before)
		return uuid;
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(b, VPT_PF_TRACK);
	vpt_pb_uint(b, 1, uuid);
	vpt_pb_begin(b, 3);
	vpt_pb_uint(b, 1, (uint64_t)pid);
	if (command) {
		vpt_pb_text(b, 2, command, strlen(command), VPT_PF_TEXT_MAX);
		vpt_pb_text(b, 6, command, strlen(command), 200);
	}
	vpt_pb_end(b);
	vpt_pb_uint(b, 12, order_of_process(x));
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
	return uuid;
}

/* Processes stand where they say, not by how much they did. */
static void put_ordering(struct vpa_export *x)
{
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(&x->pf.out, VPT_PF_TRACK);
	vpt_pb_uint(&x->pf.out, 1, 0);
	vpt_pb_uint(&x->pf.out, 19, 1);
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

/* ---- begin and end ---- */

void vpa_ex_meta_begin(struct vpa_export *x)
{
	const struct vpt_header *h = vpt_trace_header(x->trace);
	const char *host = either(x, "host", "hostname");
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
	put_run(x);
	put_system(x);
	put_gpus(x);
	put_ordering(x);
}

/* How much each number of expected is, under which name. */
#define EXPECTED(name)                                                                             \
	{                                                                                          \
		"vptrace.expect." #name, offsetof(struct vpa_ex_expected, name)                    \
	}
static const struct {
	const char *key;
	size_t offset;
} expected[] = {
	EXPECTED(kernels),
	EXPECTED(kernel_ns),
	EXPECTED(memcpys),
	EXPECTED(memsets),
	EXPECTED(zero_length),
	EXPECTED(api_calls),
	EXPECTED(api_ns),
	EXPECTED(nvtx_ranges),
	EXPECTED(nvtx_ns),
	EXPECTED(cpu_ops),
	EXPECTED(cpu_op_ns),
	EXPECTED(gaps),
	EXPECTED(gap_ns),
	EXPECTED(attention_kernels),
	EXPECTED(submissions),
	EXPECTED(counter_samples),
};
#undef EXPECTED

static void put_expected(struct vpa_export *x)
{
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		uint64_t value;

		memcpy(&value, (const char *)&x->expected + expected[i].offset, sizeof(value));
		put_number(x, expected[i].key, value);
	}
	if (x->expected.first_gpu_ns == UINT64_MAX)
		return;
	put_number(x, "vptrace.expect.first_gpu_ts", x->expected.first_gpu_ns + x->shift_ns);
	put_number(x, "vptrace.expect.last_gpu_end", x->expected.last_gpu_end_ns + x->shift_ns);
}

static uint64_t attention_kernels(const struct vpa_report *r)
{
	uint64_t n = 0;
	enum vpa_family family;
	size_t i;

	for (i = 0; i < r->family_count; i++)
		if (!vpa_family_find(
			    r->families[i].family, strlen(r->families[i].family), &family) &&
			vpa_family_is_attention(family))
			n += r->families[i].calls;
	return n;
}

void vpa_ex_meta_end(struct vpa_export *x)
{
	const struct vpa_report *r = x->view.report;
	struct vpa_ex_expected *e = &x->expected;
	uint64_t late_links;

	e->attention_kernels = attention_kernels(r);
	e->zero_length = r->verdict.zero_duration;
	/* What was clamped so that slices nest is shorter in the file. */
	e->api_ns -= x->clamped_ns[EX_CUDA_API];
	e->nvtx_ns -= x->clamped_ns[EX_NVTX];
	e->cpu_op_ns -= x->clamped_ns[EX_CPU_OP];
	late_links = e->submissions > x->joined ? e->submissions - x->joined : 0;
	e->submissions = x->joined;
	begin_attributes(x);
	put_number(x, "vptrace.dropped_records", r->verdict.dropped);
	put_number(x, "vptrace.complete", r->verdict.complete != 0);
	put_number(x, "vptrace.clock_residual_ns", x->residual_ns);
	put_number(x, "vptrace.nest_clamps", x->nest_clamps);
	put_number(x, "vptrace.late_links", x->options->no_api ? 0 : late_links);
	put_number(x, "vptrace.late_slices", x->late_slices);
	put_expected(x);
	end_attributes(x);
}
