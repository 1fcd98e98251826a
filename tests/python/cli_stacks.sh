#!/bin/sh
# Calls of Python functions in a profiler's trace become the stacks that a slow model finds (support/model/python_calls.py), in random
# traces and, where they are at hand, in real ones; and samples survive a conversion.
# shellcheck disable=SC1091,SC2154
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

python3 --version >/dev/null 2>&1 || skip "no python3 for the model"
calls=$VPT_SOURCE_DIR/tests/support/model/python_calls.py
cd "$work" || exit 1

same_stacks() { # same_stacks NAME TRACE
	expect 0 "cat of $1" cat "$2" --kind sample
	cp out rows
	python3 "$calls" check "$2" rows >out 2>err || fail "$1: other stacks than the model finds"
	cases=$((cases + 1))
}

for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	python3 "$calls" make $seed made.json || fail "seed $seed: no trace"
	same_stacks "seed $seed" made.json
done

# The model notices a stack that is missing, and one that is wrong.
sed '$d' rows >fewer
python3 "$calls" check made.json fewer >out 2>err && fail "a missing sample was not noticed"
sed 's/step_1/step_9/' rows >wrong
cmp -s rows wrong || ! python3 "$calls" check made.json wrong >out 2>err || fail "a wrong frame was not noticed"

# A capture made of the trace has the same rows.
expect 0 "the conversion" convert made.json -o made.zst
expect 0 "cat of the capture" cat made.zst --kind sample
cmp -s rows out || fail "the capture has other samples than the trace"
expect 0 "the check" check made.zst

# In Perfetto's format a stack weighs as long as it holds, from the capture's start on, or within a window.
python=$VPT_SOURCE_DIR/tests/corpus/good-kineto-python.json
weights() { # weights OPTIONS...
	expect 0 "the export" export "$python" --format perfetto --compress none -o python.pftrace --force "$@"
	python3 "$VPT_SOURCE_DIR/tests/support/outputs/pftrace.py" python.pftrace --slices >found 2>err || fail "the export cannot be read"
	sed -n 's/^stack: vptrace.python.calls pid 5 tid 7: [0-9]* +\([0-9]*\) .*/\1/p' found | paste -sd ' ' - >weights
}
weights --from 1us --to 5us
same "weights in a window" "2750 1250" "$(cat weights)"
weights
same "weights" "3750 17250 58003" "$(cat weights)"
grep -q '+3750 <module> (run.py:5);nn.Module: Linear_3;forward (wan.model.py:44);<built-in method item of Tensor object>$' found ||
	fail "the frames of a stack"

real=0
for trace in "${VPT_SHARED:-$VPT_SOURCE_DIR/../shared}"/traces/*.json.gz; do
	[ -f "$trace" ] || continue
	gzip -dc "$trace" | grep -q '"cat": *"python_function"' || continue
	name=${trace##*/}
	real=$((real + 1))
	"$VPT_ANALYZE" cat "$trace" --kind sample >rows 2>err
	python3 "$calls" check "$trace" rows >out 2>err || fail "$name: other stacks than the model finds"
	cases=$((cases + 1))
done
[ $real -gt 0 ] || echo "SKIPPED: no real traces with Python functions beside the source tree"
finish
