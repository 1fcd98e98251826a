#!/bin/sh
# --fail-if 'predicted:CHANGE>5%': the exit code is 4 where a replay with the change makes the mean block shorter by more than that.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../../support/cli.sh"
. "$(dirname "$0")/../../support/captures/demo.sh"
cd "$work" || exit 1

# ---- what is refused before the trace is read ----
while IFS='|' read -r condition message; do
	expect 2 "analyze --fail-if $condition" /nowhere/at/all --fail-if "$condition"
	says err "$message"
done <<'CASES'
predicted:delete small-reads|expected a change, < or >, and percent, as in predicted:delete small-reads>5%
predicted:delete small-reads>5|expected a change, < or >, and percent
predicted:delete small-reads>-5%|expected a change, < or >, and percent
predicted:delete small-reads+5%|expected a change, < or >, and percent
predicted:>5%|has no change, see what-if --help
predicted: >5%|has no change, see what-if --help
predicted:hots 0.5>5%|change "hots 0.5": expected drop, delete
predicted>5%|expected a condition such as
CASES
expect 2 "predictions are left out" /nowhere/at/all --no-predict --fail-if 'predicted:host 0>5%'
says err "--no-predict and --fail-if predicted:... cannot be combined"
expect 2 "compare has two captures" compare /nowhere/a /nowhere/b --fail-if 'predicted:host 0>5%'
says err "is a prediction for one capture: see analyze"
conditions=
for i in 1 2 3 4 5 6 7 8 9; do
	conditions="$conditions --fail-if predicted:drop!x$i>5%"
done
# shellcheck disable=SC2046,SC2086 # a word for each, a blank for each "!"
IFS=' '
set -- $conditions
n=$#
while [ "$n" -gt 0 ]; do
	word=$1
	shift
	set -- "$@" "$(echo "$word" | tr '!' ' ')"
	n=$((n - 1))
done
unset IFS
expect 2 "too many" /nowhere/at/all "$@"
says err "--fail-if: expected at most 8 predictions"

# ---- a trace by hand: the host works 100 us, launches, and waits; twice ----
cat >hand.json <<'JSON'
{"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 1000, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1010, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 2, "ts": 1010, "dur": 410},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 1600, "dur": 5, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "conv2d", "pid": 0, "tid": 7, "ts": 1610, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 2}}]}
JSON
# The time from the first op to the last is 1,000 us, of which gemm is 400: half of that is a fifth.
while IFS='|' read -r code condition message; do
	expect "$code" "$condition" hand.json --fail-if "$condition"
	if [ "$message" ]; then
		says err "--fail-if $condition$message"
	else
		silent err
	fi
done <<'CASES'
4|predicted:scale gemm 0.5>19.9%|: the time from the first op to the last would take 20.00 % less time
0|predicted:scale gemm 0.5>20%|
0|predicted:scale gemm 0.5>20.1%|
4|predicted:scale gemm 0.5<20.1%|: the time from the first op to the last would take 20.00 % less time
0|predicted:scale gemm 0.5<19.9%|
0|predicted:scale gemm 2>0%|
4|predicted:scale gemm 2<0.1%|: the time from the first op to the last would take 40.00 % more time
0|predicted:scale nccl_ring 0.5>0%| does not hold: the change is about no call and no op of this capture
4|predicted:scale nccl_ring 0.5<1%|: the change is about no call and no op of this capture
4|predicted:scale gemm 0.5; scale conv2d 0.5>39%|: the time from the first op to the last would take 40.00 % less time
2|predicted:pin PtoP>5%|: unavailable: no copy of this kind
CASES
expect 4 "one of several holds" hand.json --fail-if 'predicted:scale gemm 0.5>50%' --fail-if 'predicted:scale gemm 0.5>10%'
same "only that one is named" 1 "$(grep -c . err)"
# All conditions of a call are one replay: what cannot be made leaves the others as they are.
expect 4 "one of several cannot be made" hand.json --fail-if 'predicted:scale gemm 0.5>19.9%' \
	--fail-if 'predicted:pin PtoP>5%' --fail-if 'predicted:scale conv2d 0.5; scale nccl 0.5>21%' \
	--fail-if 'predicted:scale gemm 0.5; scale conv2d 0.5>39%'
says err "predicted:scale gemm 0.5>19.9%: the time from the first op to the last would take 20.00 % less time"
says err "predicted:pin PtoP>5%: unavailable: no copy of this kind"
says err "scale conv2d 0.5>39%: the time from the first op to the last would take 40.00 % less time"
same "no condition but these" 3 "$(grep -c fail-if err)"
expect 4 "hits of each" hand.json --fail-if 'predicted:scale gemm 0.5; scale conv2d 0.5>39%' \
	--fail-if 'predicted:scale nccl_ring 0.5<1%' --fail-if 'predicted:scale gemm 0.5>90%'
says err "predicted:scale nccl_ring 0.5<1%: the change is about no call and no op of this capture"
same "no condition but these" 2 "$(grep -c fail-if err)"
# Of ops without a launch nothing can be predicted; they make the capture incomplete.
sed -e '/cuda_runtime/s/"correlation": [12]/"correlation": 9/' hand.json >lost.json
expect 3 "no prediction of what is incomplete" lost.json --fail-if 'predicted:scale gemm 0.5>5%'
says err "unavailable: the launch of"

# ---- the demo, beside what-if ----
if has_demo "conditions on a run"; then
	demo sync --blocks 4 --layers 6 --sync-per-layer
	expect 0 "the same change" what-if sync.zst -c 'delete small-reads' --format json
	percent=$(awk -F': ' '/"recorded_ms"/ { was = $2 + 0 } /"predicted_ms"/ { printf "%.2f\n", 100 * (1 - $2 / was); exit }' out)
	expect 4 "a gain of a run" sync.zst --fail-if 'predicted:delete small-reads>1%'
	says err "--fail-if predicted:delete small-reads>1%: the mean block would take $percent % less time"
	expect 0 "less than that" sync.zst --fail-if 'predicted:delete small-reads>90%'
	silent err
fi
# ---- of a large trace only parts are replayed, which is said ----
if [ -x "${VPT_BIN:-}/bench_generate" ]; then
	"$VPT_BIN/bench_generate" 3000000 -o large.zst >/dev/null
	expect 0 "a large trace" large.zst --format json
	share=$(python3 -c 'import json; print(json.load(open("out"))["forecast"]["replayed_share"])')
	python3 -c 'import sys; sys.exit(not 0 < float(sys.argv[1]) < 1)' "$share" || fail "$rule: expected a share below 1, found $share"
	expect 0 "a condition on it" large.zst --fail-if 'predicted:scale nccl_ring 0.5>0%'
	says err "about no call and no op of the $(awk "BEGIN { printf \"%.1f\", 100 * $share }") % of this capture that were replayed"
	expect 0 "its page" large.zst --format html
	if grep -q "Before and after" out; then says out "% of the trace, in parts"; fi
fi

finish
