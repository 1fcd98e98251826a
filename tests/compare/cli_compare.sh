#!/bin/sh
# Two captures are compared: the verdict comes first, what differs leads the explanation, and its parts add up; what cannot be
# compared is refused with the reason.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/captures/demo.sh"
cd "$work" || exit 1

# ---- small traces ----
need_trace a.zst small_trace
slower_trace() {
	small_trace | sed 's/"ts": 1060, "dur": 30/"ts": 1060, "dur": 36/; s/"dur": 200/"dur": 206/'
}
need_trace b.zst slower_trace
rm need.json

expect 0 "a capture with itself" compare a.zst a.zst
says out "VERDICT SAME"
says out "Every part of the mean window is equal."
silent err
expect 0 "a slower kernel" compare a.zst b.zst
says out "VERDICT INCONCLUSIVE"
says out "one window a run"
says out "gemm +0.006 ms"
expect 0 "JSON" compare a.zst b.zst --format json
says out '"schema": "vptrace.compare/1"'
says out '"change": "inconclusive"'

# ---- kernels that differ, at equal time ----
small_trace | sed 's/"gemm/"other_gemm/' >renamed.json
expect 0 "renamed kernels are named" compare a.zst renamed.json
says out "KERNELS differ: "
says out "other_gemm"
grep -q '^BECAUSE' out && fail "nothing changed, and has a reason: $(grep BECAUSE out)"
expect 0 "renamed kernels on the page" compare a.zst renamed.json --format html
says out "The kernels differ: "
grep -q 'A and B did the same work' out && fail "other kernels are called the same work"

# ---- lines of Python ----
lines_trace 1 >one.json
lines_trace 2 >two.json
expect 0 "a line of Python" compare one.json two.json
says out "BECAUSE idle: host code +19.000 ms at pipe/post.py:7."
says out "IDLE TIME BY LINE OF PYTHON (whole window)"
grep -q '^ pipe/post.py:7, host code  *[0-9.]*  *[0-9.]*  *+19.000$' out || fail "a line's row: $(grep post.py out)"
expect 0 "a line of Python, JSON" compare one.json two.json --format json
says out '"file": "pipe/post.py"'
expect 0 "a line of Python, Markdown" compare one.json two.json --format md
says out "| pipe/post.py:7, host code |"
expect 0 "a line of Python, page" compare one.json two.json --format html
says out "Idle time by line"

expect 0 "Markdown" compare a.zst b.zst --format md
says out "- **VERDICT** INCONCLUSIVE"
says out "| WHY THE MEAN WINDOW CHANGED | A ms | B ms | change ms | % of A |"

slower_trace | sed 's/"traceEvents"/"with_stack": 1, "traceEvents"/' >stacks.json
expect 0 "one side recorded with stacks" compare a.zst stacks.json
says out "only B was recorded with with_stack=True, which slows the host"
expect 0 "both sides recorded with stacks" compare stacks.json stacks.json
grep -q "with_stack" out && fail "both: a note about stacks"

# ---- misuse ----
while IFS='|' read -r name arguments message; do
	expect 2 "$name" compare $arguments
	says err "$message"
	silent out
done <<'CASES'
no file||expected a file, found none
one file|a.zst|expected files of two sides, found those of one
three files without dashes|a.zst b.zst a.zst|expected "--" between the files of A and B, since there are 3
nothing before the dashes|-- a.zst b.zst|expected a file before "--", found none
nothing after the dashes|a.zst b.zst --|expected files of two sides, found those of one
dashes twice|a.zst -- b.zst -- a.zst|expected one "--", found another one
a margin without a number|a.zst b.zst --margin much|--margin: expected percent below 100 such as 0.5, found "much"
an empty window|a.zst b.zst --from 2s --to 1s|the window is empty
an unknown option|a.zst b.zst --formt json|did you mean --format?
CASES
expect 1 "a file that is not there" compare a.zst nowhere.zst
says err "nowhere.zst: cannot open"
expect 2 "nowhere to write" compare a.zst b.zst -o a.zst
says err "a.zst"
echo '{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"x","pid":1,"tid":2,"ts":1,"dur":5}]}' >none.json
expect 2 "no work on a GPU" compare a.zst none.json
says err "nothing to compare: none.json has no work on a GPU"
corpus=$VPT_SOURCE_DIR/tests/corpus
expect 1 "no work on a GPU, as far as an incomplete file shows" compare a.zst "$corpus/bad-bomb.zst"
says err "nothing to compare: "
for sides in "" "$corpus/bad-torn.zst --"; do
	for format in text md json html; do
		expect 3 "the same capture again" compare "$corpus/bad-torn.zst" $sides "$corpus/bad-torn.zst" --format $format
		same "each note once: $format" "$(tr -d '\n' <out | grep -o 'is incomplete: [^.<"]*' | sort -u | wc -l)" \
			"$(tr -d '\n' <out | grep -o 'is incomplete: [^.<"]*' | wc -l)"
		says out "is incomplete: "
	done
done

# ---- options after the dashes, several runs a side ----
expect 0 "runs on both sides" compare a.zst a.zst a.zst a.zst -- b.zst b.zst b.zst b.zst --format json
says out '"between_runs": true'
says out '"p": 0.028571'
says out '"change": "slower"'
expect 0 "runs of one kind" compare a.zst a.zst a.zst a.zst -- a.zst a.zst a.zst a.zst
says out "VERDICT SAME"
expect 0 "three against three cannot tell" compare a.zst a.zst a.zst -- b.zst b.zst b.zst
says out "VERDICT INCONCLUSIVE"
says out "3 against 3 runs cannot show a difference at the 5 % level; 4"

# ---- marked steps, also of an earlier report ----
need_trace marked.zst steps_trace 12 100
need_trace longer.zst steps_trace 12 120
rm need.json
expect 0 "marked steps" compare marked.zst longer.zst
says out "VERDICT SLOWER: steps/s"
grep -v '^A  ' out >of.capture
expect 0 "a report to keep" marked.zst --format json -o marked.json
expect 0 "the same steps" compare --baseline marked.json marked.zst
says out "VERDICT SAME"
says out "Every part of the mean step is equal."
expect 0 "marked steps of a report" compare --baseline marked.json longer.zst
grep -v '^A  ' out >of.report
same "a report explains as its capture does" "$(cat of.capture)" "$(cat of.report)"
need_trace more.zst steps_trace 20 120
expect 0 "a report with fewer steps" compare --baseline marked.json more.zst
says out "left out, without a counterpart: 0 of A's steps, 8 of B's"
sed '/^  "marked_steps"/,$d' marked.json | sed '$s/,$//' >old.json
echo '}' >>old.json
expect 0 "a report without the times of its steps" compare --baseline old.json longer.zst
says out "not compared by step: old.json has none to measure"

# ---- several requests without blocks ----
requests_trace() {
	steps_trace "$@" | sed 's/"step /"request /'
}
need_trace videos.zst requests_trace 6 100
need_trace slow.zst requests_trace 6 120
need_trace few.zst requests_trace 3 120
rm need.json
expect 0 "requests" compare videos.zst slow.zst
says out "VERDICT SLOWER: requests/s"
says out "Within these runs: 4 requests, paired by request and index"
says out "the first request of each run is left out"
grep -v '^A  ' out >of.capture
expect 0 "a report to keep" videos.zst --format json -o videos.json
expect 0 "requests of a report" compare --baseline videos.json slow.zst
grep -v '^A  ' out >of.report
same "a report explains as its capture does" "$(cat of.capture)" "$(cat of.report)"
expect 0 "too few requests" compare videos.zst few.zst
says out "VERDICT INCONCLUSIVE: requests/s"
says out "fewer than 3 requests to pair: nothing says how much they differ"
# The first request takes 0.52 ms: it sets up what the others reuse, as RESULT has it.
warming_trace() {
	requests_trace 6 100 | sed '1,5s/"ts":11/"ts":7/;1,5s/"ts":12/"ts":8/'
}
need_trace warming.zst warming_trace
expect 0 "a first request that is longer" warming.zst
says out "A request takes 120 us"
expect 0 "a first request that is longer" compare warming.zst slow.zst
says out "The mean request takes 0.120 -> 0.140 ms: +0.020 ms."
# What the host does after a request's last op belongs to it: the GPU's work is the same.
need_trace apart.zst requests_trace 6 100 60
expect 0 "requests with more time after them" compare videos.zst apart.zst
says out "VERDICT SLOWER: requests/s"
says out "The mean request takes 0.120 -> 0.180 ms: +0.060 ms."
expect 0 "requests with work instead of that time" compare apart.zst videos.zst
says out "VERDICT FASTER: requests/s"

# ---- damage ----
need_trace many.zst kernels_trace 200000
rm need.json
head -c $(($(wc -c <many.zst) * 2 / 3)) many.zst >torn.zst
expect 3 "a torn capture keeps its caveat" compare many.zst torn.zst
says out "torn.zst is incomplete"

# ---- memory ----
# memory ALLOCATED [RESERVED]: a trace with one sample of PyTorch's allocator.
memory() {
	small_trace | sed "s/^ \"traceEvents\": \[/&{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 11, \"tid\": 12, \"ts\": 1100, \
\"args\": {\"Device Type\": 1, \"Device Id\": 0, \"Total Allocated\": $1${2:+, \"Total Reserved\": $2}}},/"
}
memory 1000000 >little.json
memory 3000000 5000000 >much.json
expect 0 "memory of both sides" compare little.json much.json
says out "MEMORY, CLOCKS AND OTHER SAMPLES THAT CHANGED"
grep -q '^ PyTorch allocated  *1\.00 MB  *3\.00 MB  *+200\.0 %' out || fail "bytes have their unit once: $(grep PyTorch out)"
grep -q 'PyTorch reserved' out && fail "what one side did not sample is called changed"

# ---- the demo: what its knob changes leads the explanation ----
has_demo "traced runs" || finish
demo plain
expect 0 "the same run" compare plain.zst plain.zst
says out "VERDICT SAME"
says out "Every part of the mean block is equal."
# leads KNOBS... VERDICT FIRST: the verdict, and the part named first.
while IFS='|' read -r knobs verdict first; do
	demo other $knobs
	expect 0 "$knobs" compare plain.zst other.zst
	says out "VERDICT $verdict: FPS"
	says out "BECAUSE $first"
	expect 0 "$knobs, JSON" compare plain.zst other.zst --format json
	if have python3 "the sums of a comparison"; then
		cases=$((cases + 1))
		python3 - out >sums 2>&1 <<'PY' || fail "$knobs: $(cat sums)"
import json, sys
c = json.load(open(sys.argv[1]))
m, w = c["mean"], c["window"]
assert sum(p["delta_ns"] for p in m["parts"]) == m["delta_ns"] == m["busy_delta_ns"] + m["idle_delta_ns"]
assert sum(p["a_ns"] for p in m["parts"]) == m["a_ns"]
assert sum(r["delta_ns"] for r in w["rows"]) == w["delta_ns"]
exact = m["b_ns"] / m["b_over"] - m["a_ns"] / m["a_over"]
assert abs(m["delta_ns"] - exact) < 1, exact
PY
	fi
	rm -f other.zst
done <<'CASES'
--sync-per-layer|SLOWER|idle: blocking copy +
--eager|SLOWER|gemm +
--offload|SLOWER|memcpy +
--slow-host 90000 --scale 0.5|FASTER|gemm -
--scale 1.05|SLOWER|gemm +
--steps 6|SLOWER|gemm +
--graph|SLOWER|idle: graph build +
CASES
# ---- two frameworks: a capture, and the same as PyTorch's profiler writes it ----
expect 0 "the other framework's trace" export plain.zst --format chrome --compress none -o kineto.json
"$VPT_ANALYZE" info kineto.json >/dev/null 2>err
if grep -q 'built without' err; then
	echo "SKIPPED: traces of PyTorch's profiler: $(cat err)"
else
	expect 0 "two frameworks" compare plain.zst kineto.json
	says out "VERDICT SAME: FPS "
	says out "recorded as: vptrace -> kineto"
	says out "Every part of the mean block is equal."
fi

# ---- CUDA graphs ----
demo graph --graph
expect 0 "launches of graphs are counted" compare plain.zst graph.zst --format json
if have python3 "launches of graphs"; then
	cp out graph.compared
	"$VPT_ANALYZE" graph.zst --format json >graph.report 2>err
	cases=$((cases + 1))
	python3 - graph.compared graph.report >sums 2>&1 <<'PY' || fail "launches of graphs: $(cat sums)"
import json, sys
c, r = (json.load(open(path)) for path in sys.argv[1:])
blocks = sum(q["blocks"]["count"] for q in r["requests"])
counts = {n["name"]: n for n in c["counts"] if n["group"] == "graphs"}
for name in ("launches", "nodes"):
    assert counts[name]["a"] == 0 and counts[name]["change"] is None, counts
    assert r["cuda_graphs"][name] > 0 and abs(counts[name]["b"] - r["cuda_graphs"][name] / blocks) < 1e-6, counts
PY
fi
expect 0 "also in the text" compare plain.zst graph.zst
says out "graphs: launches"
rm graph.zst

# ---- a baseline ----
expect 0 "a report to keep" plain.zst --format json -o plain.json
expect 0 "the same run" compare --baseline plain.json plain.zst
says out "VERDICT SAME"
says out "SET-UP  The same, as far as it was recorded."
says out "Every part of the mean block is equal."
demo sync --sync-per-layer
expect 0 "a capture" compare plain.zst sync.zst
grep -v '^A  ' out | sed -n '1,/^STAGES/p' >of.capture
expect 0 "its report" compare --baseline plain.json sync.zst
grep -v '^A  ' out | sed -n '1,/^STAGES/p' >of.report
same "a report explains as its capture does" "$(cat of.capture)" "$(cat of.report)"
grep -E ' (new|gone)$' out | grep -v '^ mem' >lines
same "a report that lists some kernels claims no new ones" "" "$(cat lines)"
expect 4 "a condition against it" compare --baseline plain.json sync.zst --fail-if fps-2%
expect 0 "several" compare --baseline plain.json --baseline plain.json --baseline plain.json --baseline plain.json \
	sync.zst sync.zst sync.zst sync.zst --format json
says out '"between_runs": true'
expect 2 "with dashes" compare --baseline plain.json a.zst -- sync.zst
says err 'with --baseline all files are B'
expect 2 "without a file" compare --baseline plain.json
says err "expected a file, found none"
expect 1 "that is not there" compare --baseline nowhere.json sync.zst
says err "nowhere.json: cannot open"
expect 1 "that is a capture" compare --baseline plain.zst sync.zst
says err "plain.zst: expected a report of vptrace-analyze --format json, with the schema vptrace.report/1"
head -c 5000 plain.json >cut.json
expect 1 "that is cut" compare --baseline cut.json sync.zst
says err "cut.json: byte "
rm sync.zst

# ---- conditions ----
demo sync --sync-per-layer
while IFS='|' read -r code condition message; do
	expect "$code" "compare --fail-if $condition" compare plain.zst sync.zst --fail-if "$condition"
	[ -z "$message" ] || says err "$message"
	[ "$code" = 2 ] || [ -z "$message" ] || says out "VERDICT SLOWER"
done <<'CASES'
4|fps-2%|--fail-if fps-2%: fps changed by -14.45 %
0|fps-20%|
0|fps+2%|
4|period+16%|period changed by +16.90 %
4|idle:blocking-copy+5%|idle:blocking copy changed by +8.69 %
4|idle:blocking_copy+5%|
0|idle:sync>5%|
4|fps<16|fps is 15.710
0|fps<15.7|
4|bps<1.31|bps is 1.309
4|busy<90%|busy is 82.96 %
2|fps|expected a condition such as fps-2%, idle:sync+5% or fps<16, found "fps"
2|fpz<3|found "fpz<3"
2|idle:foo>3%|"foo" is not a cause of idle time: before first work; after last work
2|busy:sync>3%|"sync" is not a kernel family: unknown; attention
2|fps:sync>3%|"fps:sync>3%": only busy and idle have parts, as in idle:sync>5%
2|fps<3%|expected a number such as 16 after "<" in "fps<3%"
2|fps-2|expected percent such as 2% after "-"
2|period>7|expected a time such as 750ms
4|steps/s<9|steps/s is 8.
4|steps/s-5%|steps/s changed by -
4|s/it>100ms|s/it is 1
4|fps-end-to-end<16|fps end to end is 15.
4|latents/s-2%|latents/s changed by -14.
CASES
expect 0 "no change" compare plain.zst plain.zst --fail-if fps-0% --fail-if idle+0%
expect 4 "one of several" compare plain.zst sync.zst --fail-if 'fps<1' --fail-if idle+1%
while IFS='|' read -r code condition message; do
	expect "$code" "analyze --fail-if $condition" plain.zst --fail-if "$condition"
	[ -z "$message" ] || says err "$message"
done <<'CASES'
4|fps<18.5|--fail-if fps<18.5: fps is 18.364
0|fps<16|
0|idle:sync>5%|
4|idle>3%|idle is 3.08 %
4|period>600ms|period is 653.439 ms
2|fps-2%|"fps-2%" is a change, which needs two captures
CASES
expect 2 "a figure that there is not" a.zst --fail-if 'fps<16'
says err "--fail-if fps<16: unavailable, the captures have no measured blocks with frames"
expect 4 "a condition that holds wins over damage" many.zst --fail-if 'busy<100%'
expect 4 "the same of a torn capture" torn.zst --fail-if 'period>1ns'
rm sync.zst

demo late --vae-at-end
expect 0 "a VAE after the blocks only in B is not a gain" compare plain.zst late.zst --fail-if fps+2%
says out "VERDICT INCONCLUSIVE: FPS end to end 18.39 -> 18.39"
says out "not compared by block: the VAE's work"
expect 2 "nor in blocks per second" compare plain.zst late.zst --fail-if bps+2%
says err "the captures have no measured blocks with equal frames and work"
expect 0 "nor is one only in A a loss" compare late.zst plain.zst --fail-if fps-2%
expect 0 "a VAE after the blocks of both" compare late.zst late.zst
says out "VERDICT SAME: denoise rate 23.32 -> 23.32"
says out "FPS end to end 18.39 -> 18.39"
expect 4 "the condition reads FPS as RESULT has it" late.zst --fail-if 'fps<22'
says err "fps is 18.388"
expect 0 "the same limit of the denoise rate" late.zst --fail-if 'denoise-rate<22'
expect 4 "steps in blocks" plain.zst --fail-if 'steps/s<10'
rm late.zst

demo steps --steps 6
expect 0 "other steps are said first" compare plain.zst steps.zst
says out "steps: 4 per block -> 6 per block"
demo blocks --blocks 9
expect 0 "more blocks" compare plain.zst blocks.zst
says out "VERDICT SAME"
says out "left out, without a counterpart: 0 of A's blocks, 2 of B's"
expect 0 "a capture without blocks" compare plain.zst a.zst
says out "not compared by block: a.zst has none to measure"
finish
