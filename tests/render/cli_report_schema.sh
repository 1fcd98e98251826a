#!/bin/sh
# The JSON report is what `schema --of report` documents: in every report each key of the schema is there, none is undocumented,
# and types, words and nulls are as it says; together the reports show each key with a value.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
. "$source/tests/support/outputs/schema.sh"
need_python 3.8
cd "$work" || exit 1

schema_of report
expect 0 "the command as an option" --schema --of report
same "its words" "$(cat schema.txt)" "$(cat out)"

# ---- reports made by hand, which have everything ----
goldens=$(ls "$source"/tests/golden/render_*.json)
fits "goldens" schema.json $goldens
for name in blocks host_limited; do
	fits "the validator finds each fault of $name" --refuses schema.json "$source/tests/golden/render_$name.json"
done

# ---- real ones ----
small_trace >small.json
kernels_trace 1000 >kernels.json
reports=
report() { # report NAME FILE OPTIONS...: one that a capture of any quality gives
	name=$1.report
	shift
	answers "$name" "$@" && reports="$reports $name"
}
report small small.json
report kernels kernels.json --top 3
steps_trace 9 100 >steps.json
sed 's/"step /"request /' steps.json >requests.json
report steps steps.json
report requests requests.json
# Marks without work on a GPU.
cat >marked.json <<'JSON'
{"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "block 0", "pid": 1, "tid": 1, "ts": 1, "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "vae_decode", "pid": 1, "tid": 1, "ts": 2, "dur": 50}
]}
JSON
report marked marked.json
# Sections in which a library tries kernels, and a process that a CPU quota stops.
python3 - >stops.json <<'PYTHON'
import json
events, t = [], 1000.0
def event(cat, name, at, us, tid=1, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": at, "dur": us, "args": args})
def run(kernel, call=10):
    global t
    event("cuda_runtime", "cudaLaunchKernel", t, call, correlation=len(events) + 1)
    event("kernel", kernel, t + call, 50, 7, correlation=len(events), device=0, stream=7)
    t += call + 51
for section in range(6):
    begin, until = t, 100000.0 * (section + 1)
    for tried in "abcd":
        run("sm80_xmma_fprop_implicit_gemm_" + tried)
        event("cuda_runtime", "cudaEventSynchronize", t - 50, 60)
        t += 20
    run("sm80_xmma_fprop_implicit_gemm_b")
    for _ in range(140):
        run("gemm")
    # The process stands still until then: in a launch, in a wait, in its own code.
    if section % 3 == 0:
        run("gemm", until - t)
    elif section % 3 == 1:
        event("cuda_runtime", "cudaStreamSynchronize", t, until - t)
    t = until + 100
    run("gemm")
    event("user_annotation", "section %d" % section, begin, t - begin - 1)
print(json.dumps({"traceEvents": events}))
PYTHON
report stops stops.json
# Iterations of which every third takes longer.
awk 'function event(category, name, length_us, args) {
	printf "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, ", comma, category, name
	printf "\"tid\": 1, \"ts\": %d, \"dur\": %d, \"args\": {%s}}", at, length_us, args
	comma = ",\n"
}
BEGIN {
	printf "{\"traceEvents\": [\n"
	for (i = at = 0; i < 12; i++) {
		length_us = i % 3 == 2 ? 900 : 100
		event("user_annotation", "ProfilerStep#" i, length_us, "")
		event("cuda_runtime", "cudaLaunchKernel", 5, "\"correlation\": " i + 1)
		event("kernel", "gemm", 90, "\"device\": 0, \"stream\": 7, \"correlation\": " i + 1)
		at += length_us + 1
	}
	print "]}"
}' >cycles.json
report cycles cycles.json
# Steps that nothing marks, of which the first takes twice as long as the others; then rounds of three with a decoder after each.
python3 - <<'PYTHON'
import json
layer = ["layer_norm", "gemm_qkv", "flash_fwd_kernel", "gemm_out", "gemm_mlp", "gelu"]
step = ["embed"] + 8 * layer + ["head", "euler"]
def write(path, turn):
    events, t = [], 1000
    for number in range(6):
        for kernel in turn:
            for cat, name, dur in (("cuda_runtime", "cudaLaunchKernel", 5), ("kernel", kernel, 90)):
                events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1 if dur == 5 else 7, "ts": t + (dur == 90) * 6,
                               "dur": dur, "args": {"correlation": t, "device": 0, "stream": 7}})
            t += 200 if number == 0 else 100
    with open(path, "w") as out:
        json.dump({"traceEvents": events}, out)
write("unmarked.json", step)
write("rounds.json", 3 * step + 4 * ["conv2d", "group_norm", "silu", "upsample"])
PYTHON
report unmarked unmarked.json
report rounds rounds.json
# A kernel that Inductor wrote, in its cache on this machine.
mkdir -p cache/ab
echo "def triton_poi_fused_add_0(in_ptr0, xnumel):" >cache/ab/cab.py
printf '{"host_name": "%s", "baseTimeNanoseconds": 2000000000000000000, "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_0", "pid": 0, "tid": 7, "ts": 30, "dur": 5}]}' "$(uname -n)" >inductor.json
export TORCHINDUCTOR_CACHE_DIR="$work/cache"
report inductor inductor.json
unset TORCHINDUCTOR_CACHE_DIR
for file in "$source"/tests/corpus/*-*; do
	report "corpus-${file##*/}" "$file"
done
same "reports of the corpus" 1 "$([ "$(echo $reports | wc -w)" -ge 20 ] && echo 1)"
fits "small traces and the corpus" schema.json $reports

if has_demo "traced runs"; then
	for knobs in "" "--sync-per-layer --eager" "--vae-at-end --requests 2" "--graph --two-streams" "--sync-per-layer --layers 12" \
		"--blocks 1 --steps 4 --layers 4 --sync-per-layer"; do
		demo demo --blocks 4 --steps 2 --layers 2 $knobs
		report "demo$(echo $knobs | tr -d ' ')" demo.zst --target 16
		report "demo-window$(echo $knobs | tr -d ' ')" demo.zst --from 1ms --top 2
		rm -f demo.zst
	done
	counters counters 10 "power=300;sm_clock=1980,1400@4500;reasons=0,4@4500"
	report counters counters.zst
	# Kinds of places are of ranges that are called "before X" or "(other)": test_baseline.c has them.
	kinds=cuda_graph.range_kind,gap.range_kind,gap_piece.host_range_kind,gap_piece.instead_range_kind,gap_piece.range_kind
	kinds=$kinds,host_did.host_range_kind,host_did.range_kind,idle_part.range_kind,trials.range_kind
	fits "all together, with traced runs of the demo" --covers=$kinds schema.json $goldens $reports
fi
finish
