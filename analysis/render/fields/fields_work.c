/* fields_work.c - what ran: kernels by family and name, attention, copies, waits, ranges. */
#include "analysis/render/fields/fields.h"

#define ROW struct vpa_family_row
static const struct vpa_field family_fields[] = {
	{"family", .look = VPA_LOOK_SINGLE | VPA_LOOK_FAMILY, FAMILY(family), NULL,
		"kernel family; \"memcpy\", \"memset\"; \"unknown\""},
	{"calls", U64(calls), "ops", "its kernels, copies or memsets"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations, overlaps included"},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k; all families sum to busy time"},
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"exclusive_ns of all devices' busy time; null: not known"},
};
TABLE(vpa_fields_family, "family", "kernels of one family", family_fields);
#undef ROW

#define ROW struct vpa_kernel_row
static const struct vpa_field kernel_fields[] = {
	{"name", .look = VPA_LOOK_KERNEL, TEXT(name), NULL, "the kernel, demangled where possible"},
	{"family", .look = VPA_LOOK_SINGLE | VPA_LOOK_FAMILY, FAMILY(family), NULL, "its family"},
	{"calls", U64(time.count), "ops", "how often it ran"},
	{"total_ns", U64(time.total_ns), "ns", "sum of its durations"},
	{NULL, SAME(vpa_fields_spread_values, time), NULL, NULL},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k"},
	{"backend", .look = VPA_LOOK_SINGLE, BACKEND_OR_NULL(backend), NULL,
		"its attention back-end; null: not attention"},
	{"blocks_mean", POSITIVE(blocks_mean), "blocks",
		"thread blocks of the grid, mean of all calls; null: not known"},
	{"blocks_per_sm", RATE(blocks_per_sm), "blocks",
		"thread blocks of the grid for each multiprocessor, mean of its time; null: not "
		"known",
		.head = "blocks per SM"},
	{"warps_per_sm", RATE(warps_per_sm), "warps", "the same of warps; null: not known",
		.head = "warps per SM"},
	{"occupancy", RATE(occupancy), "fraction",
		"estimate by grid and block: warps that a multiprocessor holds at once, of the "
		"most that it can, mean of its time; null: not known"},
	{"sm_efficiency", RATE(sm_efficiency), "fraction",
		"estimate by grid: multiprocessors that have a block, of all, mean of its time; "
		"null: not known",
		.head = "SM efficiency"},
	{"tensor_cores", FLAG(tensor_cores), NULL,
		"its name says that it multiplies with tensor cores, or matrix cores"},
	{"source", .look = VPA_LOOK_SINGLE, TEXT_OR_NULL(source), NULL,
		"file and line that TorchInductor wrote it in; null: none is in its cache on this "
		"machine, or the trace is of another one"},
};
TABLE(vpa_fields_kernel, "kernel", "kernels of one name", kernel_fields);
#undef ROW

#define ROW struct vpa_backend_row
static const struct vpa_field backend_fields[] = {
	{"backend", .look = VPA_LOOK_SINGLE, BACKEND(backend), NULL,
		"the implementation of attention"},
	{"calls", U64(calls), "ops", "main kernels, forward and backward"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"aux_calls", U64(aux_calls), "ops", "helpers: combining, converting, preprocessing",
		.head = "helper calls"},
	{"aux_ns", U64(aux_ns), "ns", "sum of their durations", .head = "time of helpers"},
	{"before_kernels", U64(before_kernels), "ops",
		"copies between layouts and quantisations right before its calls"},
	{"before_ns", U64(before_ns), "ns", "sum of their durations"},
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"exclusive time of both, of all devices' busy time; null: not known"},
};
static TABLE(backend, "attention_backend", "fused attention of one back-end", backend_fields);
#undef ROW

#define ROW struct vpa_eager_row
static const struct vpa_field eager_fields[] = {
	{"range", TEXT_OR_NULL(range), NULL, "the range around them; null: outside all ranges"},
	{"gemm", .look = VPA_LOOK_KERNEL, TEXT(gemm), NULL,
		"the matrix product before the softmax"},
	{"softmax", .look = VPA_LOOK_KERNEL, TEXT(softmax), NULL, "the softmax"},
	{"count", U64(count), "count", "sequences of GEMM, softmax, GEMM"},
	{"total_ns", U64(total_ns), "ns", "sum of all their kernels' durations"},
	{"softmax_ns", U64(softmax_ns), "ns", "of it: the softmax", .head = "of it softmax"},
};
static TABLE(eager, "eager_attention", "attention that is not fused, in one place", eager_fields);
#undef ROW

#define ROW struct vpa_backend_change
static const struct vpa_field change_fields[] = {
	{"fast", BACKEND(fast), NULL, "the fastest back-end there"},
	{"slow", BACKEND(slow), NULL, "another one that sometimes runs the same attention"},
	{"places", U64(places), "count", "places: k-th attention calls of similar denoising steps"},
	{"fast_calls", U64(fast_calls), "ops", "calls of the fast one there"},
	{"fast_ns", U64(fast_ns), "ns", "sum of their durations"},
	{"slow_calls", U64(slow_calls), "ops", "calls of the slow one there"},
	{"slow_ns", U64(slow_ns), "ns", "sum of their durations"},
	{"gain_ns", REAL(gain_ns), "ns",
		"extra time of the slow calls, compared with the fast ones"},
};
static TABLE(change, "attention_change",
	"attention in denoising steps that runs on more than one back-end", change_fields);
#undef ROW

#define ROW struct vpa_attention
static const struct vpa_field attention_fields[] = {
	{"share_of_busy", RATE(share_of_busy), "fraction",
		"attention of all devices' busy time, eager sequences included; null: not known"},
	{"calls", U64(calls), "count", "fused calls and eager sequences"},
	{"backends", ROWS(backend, backends, backend_count), NULL, "fused attention by back-end"},
	{"eager", ROWS(eager, eager, eager_count), NULL, "attention that is not fused"},
	{"fallbacks", TEXTS(fallbacks, fallback_count), NULL,
		"a sentence each: a slower back-end than the GPU allows"},
	{"changes", ROWS(change, changes, change_count), NULL,
		"places with more than one back-end; by slow_ns, descending"},
};
TABLE(vpa_fields_attention, "attention", "attention of all devices", attention_fields);
#undef ROW

#define ROW struct vpa_range_instance
static const struct vpa_field instance_fields[] = {
	{"device", UNSIGNED(device), "id", "which of the devices, from 0"},
	{"first_ns", U64(first_ns), "ns", "start of its first op, on the trace clock"},
	{"envelope_ns", U64(envelope_ns), "ns",
		"first op's start to last op's end, without pauses"},
	{"idle_ns", U64(idle_ns), "ns", "of envelope_ns: the device runs nothing"},
};
static TABLE(instance, "instance", "an instance of a range on a device", instance_fields);
#undef ROW

#define ROW struct vpa_range_row
static const struct vpa_field range_fields[] = {
	{"name", TEXT(name), NULL, "name of the range"},
	{"domain", TEXT(domain), NULL,
		"NVTX domain, empty for the default one; \"cpu_op\" for PyTorch's operators"},
	{"count", U64(host.count), "ranges", "instances with a start and an end"},
	{"nested", U64(nested), "ranges",
		"instances that began inside one of the same name: not in count, part of that one"},
	{"unmatched", U64(unmatched), "ranges", "instances without one of them"},
	{"host", SPREAD(host), NULL, "from start to end on the host"},
	{"ops", U64(ops), "ops", "ops that were launched in it"},
	{"launches", U64(launches), "calls", "calls that launched them"},
	{"envelope_ns", U64(envelope_ns), "ns",
		"first op's start to last op's end, summed over devices and instances"},
	{"busy_ns", U64(busy_ns), "ns", "of envelope_ns: its own ops run"},
	{"foreign_ns", U64(foreign_ns), "ns", "of envelope_ns: only others' ops run"},
	{"idle_ns", U64(idle_ns), "ns", "of envelope_ns: the device runs nothing"},
	{"lag", SPREAD(lag), NULL, "start of the range to the start of its first op"},
	{"gpu", SPREAD(gpu), NULL, "the envelopes"},
	{"idle_host_ns", U64(idle_host_ns), "ns",
		"idle time in envelopes and between start and end on the host, each gap once",
		.head = "GPU idle"},
	{"instances", ROWS(instance, instances, instance_count), NULL,
		"the first 256, of ranges that have a tenth of the devices' time, 16 at most: a "
		"comparison may pair them"},
};
TABLE(vpa_fields_range, "range", "NVTX ranges, or operators, of one name", range_fields);
#undef ROW

/* Of a series `count` is that of its ranges on the GPU, and an instance reaches to the next one. */
#define ROW struct vpa_range_instance
static const struct vpa_field member_fields[] = {
	{"device", UNSIGNED(device), "id", "which of the devices, from 0"},
	{"start_ns", .look = VPA_LOOK_MOMENT, U64(first_ns), "ns",
		"start of its first op, on the trace clock"},
	{"period_ns", U64(envelope_ns), "ns",
		"to the start of the next one's first op, without pauses"},
	{"idle_ns", U64(idle_ns), "ns", "of period_ns: the device runs nothing"},
};
static TABLE(member, "series_member", "a range of a series, from its first op to that of the next",
	member_fields);
#undef ROW

#define ROW struct vpa_range_row
static const struct vpa_field series_fields[] = {
	{"name", TEXT(name), NULL, "what their names have before the number: \"section\""},
	{"domain", TEXT(domain), NULL, "NVTX domain, empty for the default one"},
	{"noun", TEXT_OR_NULL(a_name), NULL,
		"as sentences call one: \"a section\"; null: the name is no plain word"},
	{"count", U64(gpu.count), "ranges", "that launched work"},
	{"envelope_ns", U64(envelope_ns), "ns",
		"first op's start to last op's end, summed over devices and ranges"},
	{"instances", ROWS(member, instances, instance_count), NULL,
		"those that another one follows, by device, then start"},
};
TABLE(vpa_fields_series, "series",
	"ranges with a number at the end of their names, one after the other", series_fields);
#undef ROW

static const char *copy_choice(size_t i)
{
	return vpt_word(VPT_UNIT_COPY_KIND, i);
}

static const char *memory_choice(size_t i)
{
	return vpt_word(VPT_UNIT_MEMORY_KIND, i);
}

VPA_KNOWN(reads_memory, struct vpa_copy_row, row->kind != VPT_COPYKIND_MEMSET);

#define ROW       struct vpa_copy_row
#define MEMORY(m) .choice = memory_choice, .null = VPA_NULL_TEXT, NUMBERED(m)
static const struct vpa_field copy_fields[] = {
	{"kind", .look = VPA_LOOK_SINGLE, .choice = copy_choice, NUMBERED(kind), NULL,
		"direction: HtoD, DtoH, DtoD ...; or memset"},
	{"source", .look = VPA_LOOK_SINGLE, MEMORY(source), NULL,
		"memory that is read: pageable, pinned, device ..., unknown; null: none",
		.known = reads_memory},
	{"target", .look = VPA_LOOK_SINGLE, MEMORY(target), NULL,
		"memory that is written; null: none"},
	{"count", U64(count), "ops", "copies"},
	{"bytes", U64(bytes), "bytes", "their bytes"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"gb_per_s", POSITIVE(gb_per_s), "GB/s",
		"10^9 bytes a second while copying; null: not known", .head = "rate"},
};
TABLE(vpa_fields_copy, "copy", "copies of one direction between two kinds of memory", copy_fields);
#undef ROW
#undef MEMORY

#define ROW struct vpa_sync_row
static const struct vpa_field sync_fields[] = {
	{"call", TEXT(call), NULL, "name of the CUDA call"},
	{"count", U64(count), "calls", "its calls"},
	{"total_ns", U64(total_ns), "ns", "time in the call, summed over all threads"},
	{"gaps", U64(gaps), "gaps", "gaps that it caused"},
	{"idle_ns", U64(idle_ns), "ns", "idle time that it caused"},
};
TABLE(vpa_fields_sync, "sync", "a CUDA call that waits for the GPU", sync_fields);
#undef ROW

#define ROW struct vpa_chains
static const struct vpa_field chain_fields[] = {
	{"count", U64(count), "count", "two or more of them in a row on a stream"},
	{"members", U64(kernels), "ops", "kernels in them"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"longest_ns", U64(longest_ns), "ns",
		"sum of the longest of each: what a fused kernel takes at least"},
	{"kernel", .look = VPA_LOOK_KERNEL, TEXT_OR_NULL(kernel), NULL,
		"the one that takes most time; null: no chain"},
};
TABLE(vpa_fields_chains, "chains",
	"elementwise kernels, and casts, reductions and norms beside them, not fused",
	chain_fields);
#undef ROW

#define ROW struct vpa_precision_row
static const struct vpa_field precision_fields[] = {
	{"precision", .look = VPA_LOOK_SINGLE, PRECISION(precision), NULL,
		"the numbers that are multiplied: fp32, 16 bit ..."},
	{"calls", U64(calls), "ops", "matrix products"},
	{"total_ns", U64(total_ns), "ns", "sum of their durations"},
	{"exclusive_ns", U64(exclusive_ns), "ns",
		"the same, but each of k concurrent ops counts 1/k"},
};
TABLE(vpa_fields_precision, "gemm_precision", "matrix products of one precision", precision_fields);
#undef ROW
