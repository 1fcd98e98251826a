#!/bin/sh
# Where nothing marks steps they are inferred: of runs of the demo without their ranges as many, and as long, as the ranges said;
# of real traces those of the profiler's iterations, or none. Where anything is marked the report knows nothing of it.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=${VPT_BIN:?expected the build folder}
need_python 3.8
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS

# json NAME FILE OPTIONS...: NAME.json
json() {
	name=$1
	shift
	"$VPT_ANALYZE" "$@" --format json >"$name.json" 2>err
	case $? in
	0 | 3) ;;
	*) fail "$name: $(cat err)" ;;
	esac
}

cat >compare.py <<'PY'
import json, sys
marked, bare = (json.load(open(path)) for path in sys.argv[1:3])
assert "steps_inferred" not in marked, "a marked trace has inferred steps"
steps = [q["steps"] for q in marked["requests"]]
row, = bare["steps_inferred"]
assert row["source"] == "inferred" and row["count"] == len(row["series"])
assert row["count"] == sum(s["count"] for s in steps), f"{row['count']} steps of {sum(s['count'] for s in steps)}"
passes = row["context_passes"] + row["cut"]
assert passes == sum(s["context_count"] for s in steps), f"{passes} context passes"
assert row["explained"] > 0.99 and row["confidence"] > 0.9, (row["explained"], row["confidence"])
assert row["layers"] == int(sys.argv[3]) and row["passes_per_step"] == 1
# A step's time ends with its last op, its period when the next pass begins: with the host's time between.
least, most = steps[0]["time"]["p50_ns"], steps[0]["time"]["p50_ns"] * 1.01
assert least * 0.9999 <= row["period"]["p50_ns"] <= most, f"{row['period']['p50_ns']} ns, not {least}"
for step in row["series"]:
    assert step["busy_ns"] + step["idle_ns"] == step["period_ns"], step
# What comes between two blocks is no part of a step's period.
least = sum(s["time"]["total_ns"] for s in steps) / sum(s["count"] for s in steps) / 1e9
assert least * 0.9999 <= row["s_per_it"] <= least * 1.01, f"{row['s_per_it']} s/it, not {least}"
PY

# knobs LAYERS WORDS...: the demo with its marks, and without them
knobs() {
	layers=$1
	shift
	cases=$((cases + 1))
	rm -f marked.zst bare.zst
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/marked.zst \
		"$bin/vptrace-demo" "$@" >out 2>err || fail "the demo with $* ended with $?"
	"$bin/strip_ranges" marked.zst bare.zst 2>err || fail "$(cat err)"
	json marked marked.zst --warmup 0
	json bare bare.zst
	python3 compare.py marked.json bare.json "$layers" 2>err || fail "demo $*: $(tail -n 1 err)"
	"$VPT_ANALYZE" bare.zst --full >page 2>err
	"$VPT_ANALYZE" bare.zst --only steps >steps 2>err
	says steps "inferred from the kernel sequence"
	cases=$((cases + 1))
	! grep -qi 'fps' page || fail "demo $*: an FPS without frames"
	"$VPT_ANALYZE" marked.zst --full >page 2>err
	cases=$((cases + 1))
	! grep -q inferred page || fail "demo $*: inferred steps beside marked ones"
}
if [ -x "$bin/vptrace-demo" ] && [ -e "$bin/libvptrace.so" ]; then
	knobs 30
	knobs 30 --graph
	knobs 30 --sync-per-layer
	knobs 30 --offload
	knobs 30 --eager
	knobs 30 --two-streams
	knobs 30 --vae-at-end
	knobs 30 --threads
	knobs 30 --reference
	knobs 30 --blocks 3 --requests 2
	knobs 30 --blocks 1 --steps 50
	knobs 30 --slow-host 90000 --scale 0.5
	knobs 30 --slow-host 90000 --scale 0.5 --graph
	knobs 8 --steps 2 --layers 8
	knobs 30 --two-streams --offload --sync-per-layer --eager
else
	echo "SKIPPED: steps of the demo: no demo or no libvptrace.so was built"
fi

# ---- a copy of 5 s in each step: longer than 32 bits of nanoseconds ----

cat >long.py <<'PY'
import json
events, at, number = [], 0, 0
for step in range(6):
    for name, us in [(n, 50) for _ in range(30) for n in ("norm", "qkv", "attn", "out", "up", "down")] + [("vae", 5_000_000), ("scheduler", 20)]:
        number += 1
        events += [
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at, "dur": 2,
             "args": {"correlation": number}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 4, "dur": us,
             "args": {"correlation": number, "device": 0, "stream": 7, "grid": [1, 1, 1], "block": [1, 1, 1]}}]
        at += us + 10
json.dump({"traceEvents": events}, open("long.json", "w"))
PY
python3 long.py || fail "long.py"
json report long.json
if ! grep -q 'built without' err; then
	cases=$((cases + 1))
	python3 - 2>err <<'PY' || fail "a long op: $(tail -n 1 err)"
import json
s, = json.load(open("report.json"))["steps_inferred"]
assert s["count"] == 5, s["count"]  # the window's edge cuts the first one
for x in s["series"]:
    assert x["period_ns"] == 180 * 60_000 + 5_000_010_000 + 30_000, x
    assert x["busy_ns"] == 180 * 50_000 + 5_000_020_000, x
# The host's time after the last step is not in the trace: the rate is of the periods before it.
assert abs(s["s_per_it"] - (180 * 60_000 + 5_000_010_000 + 30_000) / 1e9) < 1e-6, s["s_per_it"]
PY
fi

# ---- one step of many takes long ----
# A pause of the host before step 3 makes a mean period that no step has.
cat >warm.py <<'PY'
import json, sys
events, at = [], 1000
for step in range(11):
    at += int(sys.argv[1]) if step == 3 else 0
    events += [
        {"ph": "X", "cat": "user_annotation", "name": f"denoising step {step}", "pid": 1, "tid": 1, "ts": at, "dur": 90},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 1, "dur": 2,
         "args": {"correlation": step + 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 4, "dur": 80,
         "args": {"correlation": step + 1, "device": 0, "stream": 7, "grid": [1, 1, 1], "block": [1, 1, 1]}}]
    at += 100
json.dump({"traceEvents": events}, open("warm.json", "w"))
PY
python3 warm.py 9000 || fail "warm.py"
json report warm.json
if ! grep -q 'built without' err; then
	cases=$((cases + 1))
	python3 - 2>err <<'PY' || fail "the periods of steps: $(tail -n 1 err)"
import json
q, = json.load(open("report.json"))["requests"]
period = q["steps"]["period"]
assert period["count"] == q["steps"]["periods"] == 10, period
assert (period["p50_ns"], period["max_ns"], period["mean_ns"]) == (100_000, 9_100_000, 1_000_000), period
PY
	expect 0 "one long step" warm.json --full
	tr -s ' \n' '  ' <out >words
	rule="a mean that no step has"
	grep -qF "A step takes 1.00 ms, the mean of 10; 1 of 10 takes 9.10 ms, the others 100 us." words || fail "$rule: $(grep -A3 RESULT out)"
	python3 warm.py 200 || fail "warm.py"
	expect 0 "a step that takes three times as long" warm.json --full
	tr -s ' \n' '  ' <out >words
	says words "A step takes 120 us, the mean of 10; 1 of 10 takes 300 us, the others 100 us."
fi

# ---- real traces ----
# real NAME EXPECTATION OPTIONS...: of the report r, and of s, its inferred steps (None: none)
real() {
	trace=${VPT_SHARED:-$source/../shared}/traces/$1
	[ -f "$trace" ] || {
		echo "SKIPPED: $1: not beside the source tree"
		return
	}
	expectation=$2
	shift 2
	json real "$trace" "$@"
	grep -q 'built without' err && return
	cases=$((cases + 1))
	python3 - "$expectation" 2>err <<'PY' || fail "$trace: $(tail -n 1 err)"
import json, sys
r = json.load(open("real.json"))
s = r.get("steps_inferred", [None])[0]
assert eval(sys.argv[1]), s and {k: v for k, v in s.items() if k != "series"}
PY
}
# Five iterations of training, which the profiler counts too.
real v100_training_19k.json.gz 's["count"] == 5 and abs(s["period"]["mean_ns"] / r["stages"][0]["time"]["mean_ns"] - 1) < 0.02'
# Ten iterations, the first with a check, 43 times; the 44th check ends the loop, and one more follows it.
printf 'range none\t^Step\n' >no_steps.rules
real t4_power_iteration.sqlite 's["count"] == 43 and s["cut"] == 2 and 40.3e6 < s["period"]["p50_ns"] < 41.5e6' \
	--rules no_steps.rules
real t4_power_iteration.sqlite '24.27 < s["steps_per_s"] < 24.29' --rules no_steps.rules
# Its ranges, "Step 0 to 10" to "Step 430 to 440", are steps.
real t4_power_iteration.sqlite 's is None and r["requests"][0]["steps"]["count"] == 44'
# One pass each, of 12, 34 and 36 layers.
real h100_video_eager_attention.json.gz 's is None'
real h100_missing_launches.json.gz 's is None'
real b200_overlapping_kernels.json.gz 's is None'
# Six products a layer of a text encoder, no loop around them.
real h100_2gpu_nvtx.sqlite 's is None'
real a100_event_sync.json.gz 's is None'
real a100_no_kernels.json.gz 's is None'
finish
