#!/bin/sh
# The first screen: what the text report prints by default. It has at most 40 lines, keeps what one reads it for, cuts no
# option of the command, and gives a noun one number.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
need_python 3.6
cd "$work" || exit 1

# screens WIDTH|full LEAST FILE...: checks them, or full reports, together; at least LEAST figures have another one to be compared with.
screens() {
	width=$1 least=$2
	shift 2
	: >all
	for file in "$@"; do
		[ -f "$file" ] || continue
		if [ "$width" = full ]; then
			"$VPT_ANALYZE" "$file" --full >out 2>err </dev/null
		else
			COLUMNS=$width "$VPT_ANALYZE" "$file" --target 16 >out 2>err </dev/null
		fi
		code=$?
		[ $code = 0 ] || [ $code = 3 ] || continue
		{ echo "=== ${file##*/}" && cat out; } >>all
	done
	cases=$((cases + $(grep -c '^=== ' all)))
	python3 "$source/tests/support/outputs/screens.py" "$width" <all >said 2>err || fail "$width columns: $(cat err)"
	sed '$d' said >faults
	[ ! -s faults ] || fail "$width columns: $(cat faults)"
	compared=$(sed -n 's/.*, \([0-9]*\) figures compared$/\1/p' said)
	[ "${compared:-0}" -ge "$least" ] || fail "$width columns: expected $least figures compared or more, found $compared"
}

# numbered FILE: the numbers of its fixes.
numbered() {
	sed -n '/^FIX FIRST/,/^ at most/s/^ \([1-5]\) .*/\1/p' "$1" | tr -d '\n'
}

# alike FILE OPTIONS...: the first screen, Markdown and the page have the same RESULT, CAUSE and FIX FIRST.
alike() {
	cases=$((cases + 1))
	COLUMNS=120 "$VPT_ANALYZE" "$@" >screen.txt 2>err </dev/null
	"$VPT_ANALYZE" "$@" --format md >screen.md 2>err </dev/null
	"$VPT_ANALYZE" "$@" --format html >screen.html 2>err </dev/null
	python3 "$source/tests/support/outputs/screens.py" same screen.txt screen.md screen.html >said 2>err || fail "forms of $1: $(cat err)"
	sed '$d' said >faults
	[ ! -s faults ] || fail "forms of $1: $(cat faults)"
	parts=$((parts + $(sed -n 's/ parts compared$//p' said)))
}
parts=0

small_trace >small.json
kernels_trace 500 >kernels.json
steps_trace 12 900 400 >steps.json
for width in 60 80 120; do
	screens $width 2 small.json kernels.json steps.json "$source"/tests/corpus/*-*
done

for file in small.json kernels.json steps.json; do
	alike $file
done

# ---- a pipeline ----
if has_demo "screens of each knob"; then
	captures=
	n=0
	for knob in "" --sync-per-layer "--slow-host 90000 --sync-per-layer" --offload --eager --two-streams --graph --vae-at-end \
		--threads "--requests 5" "--blocks 1" "--steps 1"; do
		n=$((n + 1))
		demo knob$n --blocks 5 --steps 2 --layers 4 $knob
		captures="$captures knob$n.zst"
	done
	screens 60 28 $captures
	screens 80 44 $captures
	screens full 20 $captures
	for file in $captures; do
		alike $file --target 16
	done
	# Nothing that one reads it for is left out, however narrow: FIX FIRST has every line.
	for file in $captures; do
		COLUMNS=120 "$VPT_ANALYZE" $file >wide 2>/dev/null
		COLUMNS=60 "$VPT_ANALYZE" $file >narrow 2>/dev/null
		same "the fixes of $file in 60 columns" "$(numbered wide)" "$(numbered narrow)"
	done
	# A fix after which something else takes the time is not listed: here the host waits for copies while it could build a graph.
	demo vanishes --slow-host 90000 --graph
	for file in $captures vanishes.zst; do
		rule="$file: each fix that is listed is predicted to bring something"
		"$VPT_ANALYZE" $file >out 2>err || fail "$rule: ended with $?"
		awk '/^FIX FIRST, now/ {now = $4; predicted = /predicted/} /^$/ {now = 0}
			now && predicted && /^ [1-9] / && match(substr($0, 48), /[0-9.]+/) {
				gain = substr($0, 48); gain = substr(gain, match(gain, /[0-9.]+/), RLENGTH) + 0; if (gain <= now) print}' out >none
		[ -s none ] && fail "$rule: $(cat none)"
		cases=$((cases + 1))
	done
	expect 0 "what vanishes is said" vanishes.zst
	tr -s ' \n' '  ' <out >line
	grep -qF "non_blocking=True; alone it saves nothing" line || fail "$rule: found $(cat line)"
	expect 0 "late blocks" knob2.zst --target 200
	says out "TOO SLOW"
	says out "blocks are late, from block"
	grep -q '^ at 200 FPS .* late' out || fail "$rule: no row of late blocks"
	expect 0 "the default has a name" knob2.zst --target 200 --brief
	cp out brief
	expect 0 "the same without it" knob2.zst --target 200
	cmp -s brief out || fail "$rule: --brief prints something else"

	# ---- the command ----
	options="--blocks 2 --steps 1 --layers 1 --requests 1 --slow-host 6000 --scale 1.0 --two-streams --offload"
	demo command $options
	for width in 60 80; do
		COLUMNS=$width "$VPT_ANALYZE" command.zst >out 2>err
		rule="the options in $width columns"
		sed -n '/^RUN/,/^RESULT/p' out | tr -s ' \n' '  ' >run
		grep -qF -- "vptrace-demo $options" run || fail "$rule: found $(cat run)"
		cases=$((cases + 1))
	done
fi

# ---- units ----
expect 0 "a trace without marks says how to mark" kernels.json
says out "nothing marks blocks or steps"
expect 0 "steps" steps.json
says out "steps/s. A step takes"
says out "A STEP"

# ---- both limit ----
# A step launches 200 kernels, one each 13 us, that take 12 us: the GPU is busy for 92 % of it, and waits for launches else.
python3 -c '
rows = []
for i in range(1200):
    step, at = i // 200, 1000 + 13 * i
    if i % 200 == 0:
        rows.append("""{"ph": "X", "cat": "user_annotation", "name": "denoising step %d", "pid": 1, "tid": 2, "ts": %d, "dur": 2590}""" % (step, at))
    rows.append("""{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": %d, "dur": 5, "args": {"correlation": %d}}""" % (at, i + 1))
    rows.append("""{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %d, "dur": 12, "args": {"device": 0, "stream": 7, "correlation": %d}}""" % (at + 8, i + 1))
print("{\"traceEvents\": [%s]}" % ",\n".join(rows))' >both.json
expect 0 "both limit" both.json
says out "GPU-BOUND: the GPU works 2.40 ms of a step and waits 200 us."
says out "alone would need 2.60 ms, so less GPU work alone saves nothing."

# ---- the head of the only iteration ----
# The host works for 6 ms before its first op, and the GPU for 4 ms: it waits for the host.
printf '{"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#6", "pid": 1, "tid": 2, "ts": 1000, "dur": 10000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 6990, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 7000, "dur": 4000, "args": {"device": 0, "stream": 7, "correlation": 1}}]}' >head.json
expect 0 "a unit has its head" head.json
says out "The only iteration takes 10.0 ms. Its first op begins after 6.00 ms."
says out "HOST-BOUND: the GPU works 4.00 ms of an iteration and waits 6.00 ms."
says out "only iterations are marked, no blocks or steps"
grep -q GPU-BOUND out && fail "$rule: GPU-BOUND, though the host takes longer"
says out "1 less host code before the first op"
grep -q "Largest gain first" out && fail "$rule: CAUSE and FIX FIRST differ, though both begin with the host code before the first op"
# A range that has most of it is named; the iteration itself would say nothing.
sed 's/^{"ph": "X", "cat": "cuda_runtime"/{"ph": "X", "cat": "user_annotation", "name": "text_encode", "pid": 1, "tid": 2, "ts": 1100, "dur": 5000},\
&/' head.json >encoder.json
expect 0 "the place of the head" encoder.json
says out "1 less host code in text_encode before the first op"
# An op of before runs for the first 3 ms, then nothing for 3 ms: what is idle is no earlier work.
sed 's/^{"traceEvents": \[/&\
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 500, "dur": 5, "args": {"correlation": 9}},\
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 600, "dur": 3400, "args": {"device": 0, "stream": 7, "correlation": 9}},/' \
	head.json >earlier.json
expect 0 "a unit waits before its first op, once what came before is done" earlier.json
says out "the GPU works 4.00 ms of an iteration and waits 3.00 ms."
says out "3.00 ms it still did earlier work."
sed 's/ProfilerStep#6/load/' head.json >window.json
expect 0 "a window that is mostly before its first op" window.json
says out "RESULT  The GPU works 4.00 ms of 10.0 ms."
says out "CAUSE   IDLE BEFORE ITS FIRST OP: the GPU waits 6.00 ms."
says out "For 6.00 ms nothing"
grep -q GPU-BOUND out && fail "$rule: GPU-BOUND, though it hardly worked"

# ---- what the unit says little about ----
# Three steps of 100 us, one after the other. Before the first 6 ms of host code, after the last 4 ms in which the VAE works, and 5 ms
# of host code.
cat >rest.py <<'END'
import json, sys
gap = int(sys.argv[1]) # between two parts of the VAE's work
at, corr, events = 7000, 0, []
def event(cat, name, start, length, tid=2, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length, "args": args})
def work(name, start, length):
    global corr
    corr += 1
    event("cuda_runtime", "cudaLaunchKernel", start - 10, 5, correlation=corr)
    event("kernel", name, start, length, 7, device=0, stream=7, correlation=corr)
event("user_annotation", "load", 1000, 5900)
for step in range(3):
    event("user_annotation", "step %d" % step, at - 20, 99)
    work("gemm", at, 90)
    at += 100
event("user_annotation", "vae_decode", at - 20, 4000)
work("conv", at, 3000)
work("conv", at + 3000 + gap, 1000 - gap)
event("user_annotation", "save", at + 4000, 5000)
print(json.dumps({"traceEvents": events}))
END
python3 rest.py 0 >rest.json
python3 rest.py 500 >waits.json
expect 0 "most of the window is in no step" rest.json
says out "A step takes 100 us, the mean of 2."
tr -s ' \n' '  ' <out >line
grep -qF "Of the window's 15.3 ms, 6.00 ms are before the first op, 4.00 ms in vae_decode, 5.00 ms after the last op." line ||
	fail "$rule: found $(cat line)"
grep -qF "Beside them vae_decode has 4.00 ms of work (unknown (conv) 4.00 ms) and no waits." line ||
	fail "$rule: no work of the rest in $(cat line)"
grep -qF "the GPU had no work for 6.00 ms at the start: shorten or overlap what the host does first in load" line ||
	fail "$rule: no time of the head in $(cat line)"
expect 0 "what is in no step waits" waits.json
tr -s ' \n' '  ' <out >line
grep -qF "Beside them vae_decode has 3.50 ms of work (unknown (conv) 3.50 ms) and 500 us of waits (host code 490 us)." line ||
	fail "$rule: no waits of the rest in $(cat line)"
expect 0 "steps are most of it" steps.json
grep -q "Of the window" out && fail "$rule: the rest is named"

# ---- places that are the units ----
# In each of four steps the host allocates for 1 ms after 1 ms of work.
python3 - >alike.json <<'END'
import json
corr, events = 0, []
def event(cat, name, start, length, tid=2, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length, "args": args})
for step in range(4):
    at = 1000 + 2000 * step
    event("user_annotation", "step %d" % step, at, 1999)
    event("cuda_runtime", "cudaLaunchKernel", at, 5, correlation=step + 1)
    event("kernel", "gemm", at + 6, 994, 7, device=0, stream=7, correlation=step + 1)
    event("cuda_runtime", "cudaMalloc", at + 990, 1008)
print(json.dumps({"traceEvents": events}))
END
expect 0 "steps wait in steps" alike.json
tr -s ' \n' '  ' <out >line
grep -q "the host allocated or freed memory, cudaMalloc\." line || fail "$rule: found $(cat line)"
grep -q "allocate before the loop, in step 0\.\.2" line || fail "$rule: found $(cat line)"
# How many of them it is takes a second line rather than the place's middle.
sed 's/"step \([0-9]*\)"/"step 1\10"/g' alike.json >tens.json
expect 0 "steps in tens" tens.json
tr -s ' \n' '  ' <out >line
grep -q "allocate before the loop, in step .*100\.\.120 (3 of them)" line || fail "$rule: found $(cat line)"

# ---- words ----
# Each id of the table is one that a finding has.
sed -n 's/^VPA_FINDING_ID(\([A-Z0-9_]*\),.*/\1/p' "$source/analysis/report/rows/finding_ids.def" >ids
while read -r id; do
	cases=$((cases + 1))
	[ "$id" = NONE ] || cat "$source"/analysis/advice/*.[ch] "$source"/analysis/advice/*/*.c | grep -qw "VPA_FOUND_$id" || fail "finding_ids.def: no finding is called $id"
done <ids
[ "$(wc -l <ids)" -ge 40 ] || fail "finding_ids.def was not read"

# ---- real traces ----
real=$(ls "${VPT_SHARED:-$source/../shared}"/traces/*.json.gz "${VPT_SHARED:-$source/../shared}"/traces/*.sqlite 2>/dev/null)
if [ "$real" ]; then
	screens 60 9 $real
	screens 80 17 $real
	screens full 15 $real
	for file in $real; do
		alike $file
	done
else
	echo "SKIPPED: no real traces beside the source tree"
fi
[ $parts -ge 12 ] || fail "only $parts parts of forms were compared"
finish
