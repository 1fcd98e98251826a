#!/bin/sh
# The text report says what a trace has in words that hold: versions as people write them, no columns that cannot have a figure,
# no word cut in two where a line may end at a blank, and how many rows are left out.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1
need_trace small.zst small_trace

# lacks TEXT: the last output does not contain it.
lacks() {
	grep -qF -- "$1" out && fail "$rule: found \"$1\""
}

# ---- versions ----
printf '{"cuda_runtime_version": 12040, "cuda_driver_version": 13000, "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 30, "dur": 5}]}' >versions.json
expect 3 "numbers of CUDA versions" versions.json --only summary
says out "driver for CUDA 13.0, CUDA 12.4"
lacks 12040

# ---- lines ----
file=$source/tests/corpus/good-kineto-python.json
expect 0 "exact stacks have no samples" "$file" --only lines
says out "GPU IDLE BY INNERMOST LINE OF PYTHON"
lacks samples
long=scaled_dot_product_attention_forward
sed "s|wan..model.py(40): forward|transformers/integrations/sdpa_attention.py(118): $long|" "$file" >long.json
expect 0 "a long line of Python" long.json --only lines
says out "transformers/integrations/sdpa_attention.py:118"
says out "   $long"

# ---- compiled code ----
compiled() { # compiled RANGES
	printf '{"traceEvents": [%s
	{"ph": "X", "cat": "user_annotation", "name": "Torch-Compiled Region: 0/1", "pid": 1, "tid": 2, "ts": 3, "dur": 9},
	{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 30, "dur": 5}]}' "$1" >compiled.json
}
compiled ""
expect 3 "compiled before the trace" compiled.json --only graphs
says out "run of the compiler was recorded"
lacks "0 times"
compiled '{"ph": "X", "cat": "user_annotation", "name": "entire_frame_compile (dynamo_timed)", "pid": 1, "tid": 2, "ts": 1, "dur": 1.5},'
expect 3 "compiled in the trace" compiled.json --only graphs
says out "the compiler ran 1 time, 1.50 us"

# ---- operators inside one another ----
# NVTX ranges of operators, as torch.autograd.profiler.emit_nvtx() makes them, are marks to the importer.
printf '{"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "aten::item", "pid": 1, "tid": 2, "ts": 5, "dur": 90},
{"ph": "X", "cat": "user_annotation", "name": "aten::_local_scalar_dense", "pid": 1, "tid": 2, "ts": 6, "dur": 80},
{"ph": "X", "cat": "user_annotation", "name": "load", "pid": 1, "tid": 2, "ts": 7, "dur": 70},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 2, "ts": 10, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": 7, "ts": 30, "dur": 9, "args": {"correlation": 1, "bytes": 8}}]}' >item.json
expect 0 "operators that are all of one another are one row" item.json --only ranges
says out aten::item
says out load
lacks _local_scalar_dense

# ---- calls that wait ----
printf '{"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 2, "ts": 10, "dur": 5000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 2, "ts": 6000, "dur": 1},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 30, "dur": 9000}]}' >syncs.json
expect 3 "a call too short for a row" syncs.json --only syncs
says out "S1 cudaDeviceSynchronize"
says out "and 1 more in the JSON report"
lacks cudaStreamSynchronize
expect 3 "all rows on demand" syncs.json --only syncs --top 5
says out "S2 cudaStreamSynchronize"
lacks "more in the JSON report"

# ---- work that starts late for an unknown reason ----
late='{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 10, "dur": 1, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 12, "dur": 9, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 13, "dur": 1, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 512, "dur": 9, "args": {"correlation": 2}}'
printf '{"traceEvents": [%s]}' "$late" >late.json
expect 0 "what to record" late.json --full
says out "IDLE, AND THE TRACE DOES NOT SAY WHY"
says out "_ExperimentalConfig(enable_cuda_sync_events=True)"
expect 0 "a copy" convert late.json -o late.zst
expect 0 "the copy says the same" late.zst --full
says out "_ExperimentalConfig(enable_cuda_sync_events=True)"
printf '{"traceEvents": [%s,
{"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": 7, "ts": 20, "dur": 1, "args": {"cuda_sync_kind": "Event Sync"}}]}' \
	"$late" >synced.json
expect 0 "it was recorded" synced.json --full
says out "IDLE, AND THE TRACE DOES NOT SAY WHY"
lacks enable_cuda_sync_events

# ---- what says nothing ----
# Three operators around one copy are one row; the copy of one of them only is another.
awk 'BEGIN {
	printf "{\"traceEvents\": ["
	for (i = 0; i < 4; i++) {
		t = 1000 * (i + 1)
		split("aten::is_nonzero aten::item aten::_local_scalar_dense", names, " ")
		for (k = i < 3 ? 1 : 3; k <= 3; k++)
			printf "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 1, \"tid\": 2, \"ts\": %d, \"dur\": %d},\n", (i < 3 ? names[k] : "aten::other"), t + k, 100 - 2 * k
		printf "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaMemcpyAsync\", \"pid\": 1, \"tid\": 2, \"ts\": %d, \"dur\": 20, \"args\": {\"correlation\": %d}},\n", t + 10, i + 1
		printf "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH (Device -> Pageable)\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 5, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %d, \"bytes\": 8}}%s\n", t + 20, i + 1, i < 3 ? "," : ""
	}
	print "]}"
}' >nested.json
expect 0 "nested operators" nested.json --only ranges
says out "aten::is_nonzero"
says out "aten::other"
lacks "aten::item"
lacks "aten::_local"
expect 0 "a check without a figure" nested.json --only checklist
lacks "unknown"

# ---- shapes ----
printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "volta_sgemm_128x64_nn", "pid": 0, "tid": 7, "ts": 30, "dur": 5}]}' >gemm.json
expect 3 "a matrix product without shapes" gemm.json --only flop-rates
says out "TFLOP/s are unknown"
says out "record_shapes=True"
expect 3 "no matrix product" versions.json --only flop-rates
lacks SHAPES

# ---- where Inductor wrote a kernel ----
# compiled HOST: a trace of that machine, of the year 2033
compiled() {
	printf '{"host_name": "%s", "baseTimeNanoseconds": 2000000000000000000, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_0", "pid": 0, "tid": 7, "ts": 30, "dur": 5}]}' "$1"
}
definition='import triton

def triton_poi_fused_add_0(in_ptr0, xnumel):
    pass
'
mkdir -p cache/ab cache/cd
echo "$definition" >cache/ab/cab.py
echo "x = async_compile.triton('triton_poi_fused_add_0', '''
$definition''')" >cache/cd/ccd.py
echo "$definition" | sed 's/add_0/add_01/' >cache/cd/cce.py
compiled "$(uname -n)" >here.json
compiled "another-than-$(uname -n)" >elsewhere.json
export TORCHINDUCTOR_CACHE_DIR="$work/cache"
expect 3 "a kernel of Inductor" here.json --only kernels
says out "/cache/ab/cab.py:3"
lacks newest
expect 3 "a kernel of Inductor, JSON" here.json --format json
says out "\"source\": \"$work/cache/ab/cab.py:3\""
expect 3 "a kernel of Inductor, page" here.json --format html
says out "/cache/ab/cab.py:3"
expect 3 "a trace of another machine" elsewhere.json --only kernels
lacks cab.py
{
	echo "# again"
	echo "$definition"
} >cache/cd/cda.py
touch -d '2030-01-01' cache/cd/cda.py
expect 3 "two kernels of one name" here.json --only kernels
says out "/cache/cd/cda.py:4, the newest of 2"
touch -d '2034-01-01' cache/cd/cda.py
expect 3 "a kernel written later" here.json --only kernels
says out "/cache/ab/cab.py:3"
lacks cda.py
export TORCHINDUCTOR_CACHE_DIR="$work/nowhere"
expect 3 "no cache" here.json --only kernels
lacks .py
# Rows of files stand between those of kernels, of which two have names that begin alike.
mkdir -p several/ab
name=triton_poi_fused_add_native_layer_norm_add_native_layer_norm_add_native
for last in 0 1; do
	printf 'import triton\ndef %s_%s(in_ptr0):\n' $name $last >several/ab/c$last.py
done
printf '{"host_name": "%s", "baseTimeNanoseconds": 2000000000000000000, "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "%s_0", "pid": 0, "tid": 7, "ts": 30, "dur": 9},
{"ph": "X", "cat": "kernel", "name": "other", "pid": 0, "tid": 7, "ts": 40, "dur": 8},
{"ph": "X", "cat": "kernel", "name": "%s_1", "pid": 0, "tid": 7, "ts": 50, "dur": 7}]}' "$(uname -n)" $name $name >inductor.json
export TORCHINDUCTOR_CACHE_DIR=several
expect 3 "kernels with the files of Inductor" inductor.json --only kernels
same "$rule" "K1 triton_poi_fused_add_native...rm_add_native_0 several/ab/c0.py:2 K2 other K3 triton_poi_fused_add_native...rm_add_native_1 several/ab/c1.py:2" "$(sed -n 's/^  *\(K[0-9] [^ ]*\) .*/\1/p; s/^  *\(several.*\)/\1/p' out | paste -sd' ' -)"
finish
