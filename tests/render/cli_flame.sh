#!/bin/sh
# Flame graphs hold exactly the time of the report, in forms that their readers accept, and names stay text.
# shellcheck disable=SC1091,SC2154
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

python3 --version >/dev/null 2>&1 || skip "no python3 to check with"
cd "$work" || exit 1

flames() { # flames NAME TRACE [EXIT]
	for of in idle sync launches all; do
		drawn "${3:-0}" "$1: stacks of $of" stacks "$2" --of $of --format folded --no-merge
		cp out $of.folded
	done
	drawn "${3:-0}" "$1: merged stacks" stacks "$2" --of all --format folded
	cp out merged.folded
	drawn "${3:-0}" "$1: for speedscope" stacks "$2" --format speedscope
	cp out speedscope.json
	drawn "${3:-0}" "$1: a picture" stacks "$2"
	cp out picture.svg
	drawn "${3:-0}" "$1: the report" "$2" --format json
	[ $drawn = expect ] || return 0
	python3 "$VPT_SOURCE_DIR/tests/support/outputs/flames.py" out idle.folded sync.folded launches.folded all.folded merged.folded \
		speedscope.json picture.svg >names 2>err || fail "$1: $(tail -n 1 err)"
	cases=$((cases + 1))
}

# drawn CODE RULE COMMAND...: what flames() asks for
drawn=expect
drawn() {
	$drawn "$@"
}

# Two kernels, 100 us apart; the host is in step() for 60 us of it, in helper() for 30.
cat >hand.json <<'JSON'
{"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 100, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 250, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 7, "ts": 95, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 7, "ts": 240, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "python_function", "name": "run.py(3): main", "pid": 5, "tid": 7, "ts": 90, "dur": 300, "args": {}},
{"ph": "X", "cat": "python_function", "name": "model.py(40): step", "pid": 5, "tid": 7, "ts": 150, "dur": 60, "args": {}},
{"ph": "X", "cat": "python_function", "name": "util;s.py(7): <b>helper</b>", "pid": 5, "tid": 7, "ts": 210, "dur": 30, "args": {}}
]}
JSON
flames "the trace made by hand" hand.json
grep -q '<b>helper</b>' names || fail "the picture does not show a name with markup"
same "idle time of step()" "main (run.py:3);step (model.py:40);[host code] 60000" "$(grep 'step' idle.folded)"
same "idle time of helper()" "main (run.py:3);<b>helper</b> (util:s.py:7);[host code] 30000" "$(grep 'helper' idle.folded)"
same "work" 'main (run.py:3);[work on the GPU] 100000' "$(cat launches.folded)"

# Ten layers, each with its own attention and one of two norms; a head that is no layer; functions that only look alike.
python3 - >layers.json <<'PY'
import json
events, ts = [], 1000
def call(name, start, end):
    events.append({"ph": "X", "cat": "python_function", "name": name, "pid": 5, "tid": 7, "ts": start, "dur": end - start, "args": {}})
def kernel(start, number):
    events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": start, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": number}})
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 7, "ts": start - 5, "dur": 5, "args": {"correlation": number}})
kernel(ts - 10, 1)
for layer in range(10):
    wait = 90 if layer == 3 else 40
    call(f"nn.Module: Layer_{layer}", ts, ts + wait + 60)
    call(f"nn.Module: Attention_{layer}", ts, ts + wait)
    call(f"nn.Module: Norm_{layer % 2}", ts + wait, ts + wait + 60)
    kernel(ts + wait + 50, 2 + layer)
    ts += wait + 60
for name in ("nn.Module: Head_0", "model.py(40): step_1", "model.py(50): step_2"):
    call(name, ts, ts + 20)
    ts += 20
kernel(ts, 20)
call("run.py(3): main", 900, ts + 50)
print(json.dumps({"traceEvents": events}))
PY
flames "numbered layers" layers.json
grep -qx 'nn.Module: Layer_\* (10)' names || fail "ten layers are not one"
same "layers, merged" "main (run.py:3);nn.Module: Layer_*;nn.Module: Attention_*;[launch rate] 360000" \
	"$(grep -F 'Attention_*;[launch' merged.folded)"
same "two norms" 1 "$(grep -cF 'Layer_*;nn.Module: Norm_*;[launch rate] 405000' merged.folded)"
same "one head has its name" 1 "$(grep -cF 'main (run.py:3);nn.Module: Head_0;[' merged.folded)"
same "other lines stay apart" 2 "$(grep -c 'step_[12] (model.py:[45]0);\[launch rate' merged.folded)"
same "layers apart" 10 "$(grep -c 'Attention_[0-9];\[' all.folded)"
tr '\n' ' ' <picture.svg | grep -q 'Layer_\* (10) [^<]* 10 numbered ones together, mean 95.0 us; the longest nn.Module: Layer_3, 140 us<' ||
	fail "ten layers do not name the longest: $(tr '\n' ' ' <picture.svg | grep -o 'Layer_\* (10)[^<]*')"

# Random calls on three threads, which launch kernels. From here on the tests of the build without sanitizers have looked at the same bytes.
[ -z "${VPT_PLAIN:-}" ] || drawn=as_plain
cat >kernels.py <<'PY'
import json, random, sys
rng = random.Random(int(sys.argv[1]))
trace = json.load(open(sys.argv[2]))
at = 20
for number in range(1, 30):
    at += rng.randrange(2, 25)
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": rng.choice((7, 8, 9)), "ts": at, "dur": 1}
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at + 2, "dur": rng.randrange(1, 12)}
    trace["traceEvents"] += [dict(launch, args={"correlation": number}), dict(kernel, args={"device": 0, "stream": 7, "correlation": number})]
    at += 2 + kernel["dur"]
json.dump(trace, open(sys.argv[2], "w"))
PY
for seed in 1 2 3 4 5 6; do
	python3 "$VPT_SOURCE_DIR/tests/support/model/python_calls.py" make $seed made.json || fail "seed $seed: no trace"
	python3 kernels.py $seed made.json || fail "seed $seed: no kernels"
	flames "seed $seed" made.json
done
for name in h100_video_eager_attention h100_missing_launches b200_overlapping_kernels; do
	real=$VPT_SOURCE_DIR/../shared/traces/$name.json.gz
	[ -e "$real" ] || {
		echo "SKIPPED: $name: the reference traces are not here"
		continue
	}
	"$VPT_ANALYZE" check "$real" >out 2>err
	flames "$name" "$real" $?
done

# A picture fits the window that shows it.
cp picture.svg wide.svg
cases=$((cases + 1))
if [ $drawn = expect ]; then
	python3 "$VPT_SOURCE_DIR/tests/support/outputs/page_browser.py" wide.svg >out 2>err
	case $? in
	0) ;;
	77) echo "SKIPPED: the width of a picture: no Chromium is installed" ;;
	*) fail "a picture in a window" ;;
	esac
fi

# The page shows the picture of idle time; a window is obeyed; a trace without stacks says how to have them.
expect 0 "the page" hand.json --format html
grep -q '<section id="lines">' out || fail "the page has no flame graph"
expect 0 "a window" stacks hand.json --from 0 --to 100us --format folded
same "idle time of the window, 10 us before the kernel and 40 after it" 50000 "$(awk '{ sum += $NF } END { print sum }' out)"
sed '/python_function/d; s/"correlation": 2}},/"correlation": 2}}/' hand.json >plain.json
expect 1 "no stacks" stacks plain.json
says err "has no Python stacks"
grep -v -e '"kernel"' -e '"cuda_runtime"' hand.json >host.json
expect 1 "a trace without GPU work" stacks host.json -o host.svg
says err "nothing to draw: host.json has no work on a GPU, so no stack delayed or launched any"
[ ! -e host.svg ] || fail "an empty picture was written"
expect 1 "a window without GPU work" stacks hand.json --from 80us --to 100us
says err "nothing to draw: hand.json has no work on a GPU in this window"
expect 0 "to a file" stacks hand.json -o out.svg
expect 2 "to the same file" stacks hand.json -o out.svg
expect 0 "to the same file by force" stacks hand.json -o out.svg --force
expect 2 "other words" stacks hand.json --of everything
finish
