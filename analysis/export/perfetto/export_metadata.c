/* export_metadata.c - metadata of an export: the run, its GPUs, and the totals it must contain. */
#include "analysis/export/perfetto/perfetto_parts.h"

#include "analysis/export/perfetto/lanes/machine.h"
#include "analysis/model/gpu_arch.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1, GPU_IDS_MAX = 64 };

/* ---- attributes ---- */

static void put_text(struct vpa_ex_out *x, const char *key, const char *value)
{
	struct vpt_pb *b = &x->pf.out;

	if (!value || !*value)
		return;
	vpt_pb_begin(b, VPT_PF_ATTRIBUTES_ATTRIBUTES);
	vpt_pb_string(b, VPT_PF_ATTRIBUTE_KEY, key);
	vpt_pb_text(b, VPT_PF_ATTRIBUTE_TEXT, value, strlen(value), VPT_PF_TEXT_MAX);
	vpt_pb_end(b);
}

static void put_number(struct vpa_ex_out *x, const char *key, uint64_t value)
{
	struct vpt_pb *b = &x->pf.out;

	vpt_pb_begin(b, VPT_PF_ATTRIBUTES_ATTRIBUTES);
	vpt_pb_string(b, VPT_PF_ATTRIBUTE_KEY, key);
	vpt_pb_uint(b, VPT_PF_ATTRIBUTE_INT, value);
	vpt_pb_end(b);
}

/* Writes text that is a whole number as a number. */
static void put_count(struct vpa_ex_out *x, const char *key, const char *value)
{
	char *end;
	unsigned long long number;

	if (!value || *value < '0' || *value > '9')
		return;
	number = strtoull(value, &end, 10);
	if (!*end)
		put_number(x, key, number);
}

static void begin_attributes(struct vpa_ex_out *x)
{
	vpt_pf_begin(&x->pf, &x->meta, vpa_ex_time(x, x->start_ns));
	vpt_pb_begin(&x->pf.out, VPT_PF_PACKET_ATTRIBUTES);
}

static void end_attributes(struct vpa_ex_out *x)
{
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

static void put_run(struct vpa_ex_out *x)
{
	begin_attributes(x);
	put_number(x, "vptrace.format", FORMAT_VERSION);
	put_text(x, "vptrace.version", vpa_ex_fact(x, VPT_METADATA_TRACER));
	put_text(x, "vptrace.source", x->view.report->format);
	put_text(x, "vptrace.pipeline", vpa_ex_fact(x, VPT_METADATA_PIPELINE));
	put_text(x, "vptrace.model", vpa_ex_fact(x, VPT_METADATA_MODEL));
	put_count(x, "vptrace.rank", vpa_ex_fact(x, VPT_METADATA_RANK));
	put_count(x, "vptrace.world_size", vpa_ex_fact(x, VPT_METADATA_WORLD_SIZE));
	put_text(x, "vptrace.hostname", vpa_ex_fact(x, VPT_METADATA_HOST));
	put_text(x, "vptrace.cuda_driver",
		vpa_ex_either(x, VPT_METADATA_DRIVER, VPT_METADATA_CUDA_DRIVER));
	put_text(x, "vptrace.cmdline", vpa_ex_fact(x, VPT_METADATA_COMMAND));
	put_number(x, "vptrace.gap_threshold_ns", x->options->min_gap_ns);
	if (x->options->clock.is_unaligned)
		put_number(x, "vptrace.unaligned", 1);
	if (x->options->clock.kind == VPA_CLOCK_PLACED)
		put_number(
			x, "vptrace.clock_uncertainty_ns", x->options->clock.placed.uncertainty_ns);
	end_attributes(x);
}

/* The machine, as far as META knows it. */
static void put_system(struct vpa_ex_out *x)
{
	static const enum vpt_metadata names[] = {VPT_METADATA_OS_SYSNAME, VPT_METADATA_OS_VERSION,
		VPT_METADATA_OS_RELEASE, VPT_METADATA_OS_MACHINE};
	const char *host = vpa_ex_fact(x, VPT_METADATA_HOST);
	uint64_t cpus = vpa_ex_fact_number(x, VPT_METADATA_CPUS);
	uint64_t ram = vpa_ex_fact_number(x, VPT_METADATA_RAM);
	struct vpt_pb *b = &x->pf.out;
	unsigned i;

	vpt_pf_begin(&x->pf, &x->meta, vpa_ex_time(x, x->start_ns));
	vpt_pb_begin(b, VPT_PF_PACKET_SYSTEM);
	vpt_pb_begin(b, VPT_PF_SYSTEM_UTSNAME);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = vpa_ex_fact(x, names[i]);

		if (value)
			vpt_pb_text(b, VPT_PF_UTSNAME_SYSNAME + i, value, strlen(value), 200);
	}
	vpt_pb_end(b);
	if (cpus)
		vpt_pb_uint(b, VPT_PF_SYSTEM_CPUS, cpus);
	if (ram)
		vpt_pb_uint(b, VPT_PF_SYSTEM_RAM, ram);
	if (host && *host)
		vpt_pb_text(b, VPT_PF_SYSTEM_MACHINE, host, strlen(host), 200);
	vpt_pb_end(b);
	vpt_pf_end(&x->pf);
}

/* ---- GPUs ---- */

/* Reads "GPU-01234567-..." as 16 bytes. Returns the number of digit pairs. */
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
	vpt_pb_begin(b, VPT_PF_GPU_EXTRA);
	vpt_pb_string(b, VPT_PF_EXTRA_KEY, key);
	vpt_pb_string(b, VPT_PF_EXTRA_VALUE, value);
	vpt_pb_end(b);
}

static void put_driver(struct vpa_ex_out *x)
{
	const char *driver = vpa_ex_either(x, VPT_METADATA_DRIVER, VPT_METADATA_CUDA_DRIVER);

	if (driver)
		put_extra(&x->pf.out, "driver", driver);
}

static void put_gpu(struct vpa_ex_out *x, const struct vpa_gpu *g, uint32_t gpu_id)
{
	struct vpt_pb *b = &x->pf.out;
	uint8_t uuid[16];
	char text[300], arch[VPA_ARCH_BYTES];

	vpt_pb_begin(b, VPT_PF_GPU_INFO_GPUS);
	if (!g) {
		vpt_pb_string(b, VPT_PF_GPU_NAME, "GPU");
		vpt_pb_end(b);
		return;
	}
	snprintf(text, sizeof(text), "%.250s #%u", g->name, gpu_id);
	vpt_pb_string(b, VPT_PF_GPU_NAME, text);
	vpt_pb_string(b, VPT_PF_GPU_VENDOR, vpa_gpu_is_amd(g) ? "AMD" : "NVIDIA");
	vpt_pb_string(b, VPT_PF_GPU_MODEL, g->name);
	vpa_gpu_arch(g, arch);
	if (arch[0])
		vpt_pb_string(b, VPT_PF_GPU_ARCH, arch);
	if (read_uuid(g->uuid, uuid) == sizeof(uuid))
		vpt_pb_bytes(b, VPT_PF_GPU_UUID, uuid, sizeof(uuid));
	if (*g->pci)
		vpt_pb_string(b, VPT_PF_GPU_PCI, g->pci);
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

/* The GPU of a number: the machine's, else the trace's. NULL: none. */
static const struct vpa_gpu *gpu_of(const struct vpa_ex_out *x, uint32_t id)
{
	const struct vpa_report *r = x->view.report;
	size_t i;

	if (x->options->gpus)
		return &x->options->gpus[id];
	for (i = 0; i < r->gpu_count && vpa_ex_gpu_place(x, &r->gpus[i]) != id; i++)
		;
	return i < r->gpu_count ? &r->gpus[i] : NULL;
}

/* The position in the list is the GPU's number. */
static void put_gpus(struct vpa_ex_out *x)
{
	size_t count = x->options->gpus ? x->options->gpu_count : x->view.report->gpu_count;
	uint32_t id;

	if (!count)
		return;
	vpt_pf_begin(&x->pf, &x->meta, vpa_ex_time(x, x->start_ns));
	vpt_pb_begin(&x->pf.out, VPT_PF_PACKET_GPU_INFO);
	for (id = 0; id < count && id < GPU_IDS_MAX; id++)
		put_gpu(x, gpu_of(x, id), id);
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

/* Orders processes by their own rank, not by activity. */
static void put_ordering(struct vpa_ex_out *x)
{
	vpt_pf_begin_timeless(&x->pf, &x->meta);
	vpt_pb_begin(&x->pf.out, VPT_PF_PACKET_TRACK);
	vpt_pb_uint(&x->pf.out, VPT_PF_TRACK_UUID, 0);
	vpt_pb_uint(&x->pf.out, VPT_PF_TRACK_PROCESS_ORDERING, 1);
	vpt_pb_end(&x->pf.out);
	vpt_pf_end(&x->pf);
}

/* ---- begin and end ---- */

void vpa_ex_meta_begin(struct vpa_ex_out *x)
{
	put_run(x);
	put_system(x);
	put_gpus(x);
	put_ordering(x);
}

/* A total of `expected` under its name. */
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

static void put_expected(struct vpa_ex_out *x)
{
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		uint64_t value;

		memcpy(&value, (const char *)&x->expected + expected[i].offset, sizeof(value));
		put_number(x, expected[i].key, value);
	}
	if (x->expected.stack_samples)
		put_number(x, "vptrace.expect.stack_samples", x->expected.stack_samples);
	if (x->expected.first_gpu_ns == UINT64_MAX)
		return;
	put_number(x, "vptrace.expect.first_gpu_ts", vpa_ex_time(x, x->expected.first_gpu_ns));
	put_number(x, "vptrace.expect.last_gpu_end", vpa_ex_time(x, x->expected.last_gpu_end_ns));
}

static uint64_t attention_kernels(const struct vpa_report *r)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < r->family_count; i++)
		if (vpa_family_is_attention(r->families[i].family))
			n += r->families[i].calls;
	return n;
}

void vpa_ex_meta_end(struct vpa_ex_out *x, uint64_t residual_ns)
{
	const struct vpa_report *r = x->view.report;
	struct vpa_ex_expected *e = &x->expected;
	uint64_t late_links;

	e->attention_kernels = attention_kernels(r);
	e->zero_length = r->verdict.zero_duration;
	/* Slices that were clamped to nest are shorter in the file. */
	e->api_ns = vpt_sat_sub(e->api_ns, x->bent.clamped_ns[EX_CUDA_API]);
	e->nvtx_ns = vpt_sat_sub(e->nvtx_ns, x->bent.clamped_ns[EX_NVTX]);
	e->cpu_op_ns = vpt_sat_sub(e->cpu_op_ns, x->bent.clamped_ns[EX_CPU_OP]);
	late_links = e->submissions > x->joined ? e->submissions - x->joined : 0;
	e->submissions = x->joined;
	begin_attributes(x);
	put_number(x, "vptrace.dropped_records", r->verdict.dropped);
	put_number(x, "vptrace.complete", r->verdict.complete != 0);
	put_number(x, "vptrace.clock_residual_ns", residual_ns);
	put_number(x, "vptrace.nest_clamps", x->bent.nest_clamps);
	put_number(x, "vptrace.late_links", x->options->no_api ? 0 : late_links);
	put_number(x, "vptrace.late_slices", x->bent.late_slices);
	put_expected(x);
	end_attributes(x);
}
