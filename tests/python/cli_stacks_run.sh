#!/bin/sh
# vptrace run samples the Python stacks of a program that knows nothing of it: hot lines have their share, threads sleep, compute and
# wait for a processor, fork, end and go too deep. There is no sampler where there is no Python, and one fact where it is unknown.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
cp "$source/tests/stacks/run.py" "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$bin/standin VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13
export PYTHONDONTWRITEBYTECODE LD_LIBRARY_PATH VPTRACE_LIBCUPTI
unset VPTRACE_STACKS VPTRACE_OUTPUT VPTRACE_LIBRARY
cd "$work" || exit 1

# record RULE WORDS...: vptrace run with these; what the program said is in ./said, facts about stacks in ./facts.
record() {
	rule=$1
	shift
	cases=$((cases + 1))
	rm -f t.zst
	timeout 60 "$bin/vptrace" run -o t.zst "$@" >said 2>err </dev/null || fail "$rule: exit status $?"
	"$VPT_ANALYZE" check t.zst >out 2>err || fail "$rule: the capture is damaged"
	"$VPT_ANALYZE" cat t.zst -k meta 2>err | sed -n 's/.*"key":"\(stacks[^"]*\)","value":"\(.*\)"}/\1=\2/p' >facts
	"$VPT_ANALYZE" cat t.zst -k sample >samples 2>err
}

has_fact() {
	cases=$((cases + 1))
	grep -qx -- "$1" facts || fail "$rule: expected $1, found $(tr '\n' ' ' <facts)"
}

# ---- other processes ----
if command -v "${CC:-cc}" >/dev/null; then
	cases=$((cases + 1))
	${CC:-cc} -I"$source" -o none "$source/tests/stacks/other_python.c" -ldl 2>err || fail "other_python.c does not compile"
	${CC:-cc} -I"$source" -DMINOR=99 -rdynamic -o unknown "$source/tests/stacks/other_python.c" -ldl 2>err || fail "other_python.c does not compile"
	record "a process without Python" ./none
	same "$rule: no sampler while it runs" "0 0" "$(cat said)"
	same "$rule: no fact" "" "$(cat facts)"
	record "an unknown Python" ./unknown
	same "$rule: the sampler ends" "0" "$(cut -d' ' -f2 said)"
	same "$rule: one fact" "stacks.unavailable=the memory of Python 3.99.0 is not known: 3.9 to 3.13 are" "$(cat facts)"
	same "$rule: no samples" "" "$(cat samples)"
else
	echo "SKIPPED: there is no C compiler"
fi

# ---- the program ----
found=$(pythons | tail -n 1)
[ -n "$found" ] || skip "no Python found for the rest"
version=${found%% *} python=${found#* }
echo "Python $version, $python"
record "a program that knows nothing of vptrace" "$python" run.py 2.5
has_fact "stacks.python=$version"
has_fact "stacks.hz=200"
has_fact "stacks.deep=[1-9][0-9]*"
same "the samples of the facts are in the file" "$(sed -n 's/^stacks.samples=//p' facts)" "$(wc -l <samples | tr -d ' ')"
cases=$((cases + 1))
"$python" "$source/tests/support/captures/stack_run.py" run.py said samples >out 2>err || fail "$rule: $(grep FAILED out)"
cat out
# More calls and ops than a chunk takes, before the writer first looks at samples.
cat >many.py <<'PY'
import ctypes
import time
cuda = ctypes.CDLL("libcudart.so.13")
pointer = ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(64))
end = time.monotonic() + 2
while time.monotonic() < end:
    for _ in range(500):
        cuda.cudaMemset(pointer, 0, ctypes.c_size_t(64))
    time.sleep(.002)
cuda.cudaDeviceSynchronize()
PY
export VPT_STANDIN_TIME=real
record "samples of the first second come in time" "$python" many.py
unset VPT_STANDIN_TIME
expect 0 "$rule: a report" t.zst --full
same "$rule: none is too late" "" "$(grep 'too late' out)"
cases=$((cases + 1))
ops=$("$VPT_ANALYZE" cat t.zst -k copy 2>err | wc -l)
[ "$(wc -l <samples)" -ge 20 ] && [ "$ops" -ge 65536 ] ||
	fail "$rule: expected 20 samples and 65536 ops, found $(wc -l <samples) and $ops"

# Two lines take turns in the rhythm of the ticks: a sampler in step with them would see only one.
cat >beats.py <<'PY'
import ctypes
import time
cuda = ctypes.CDLL("libcudart.so.13")
pointer = ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(64))
time.sleep(.15)
turn = time.monotonic()
for _ in range(200):
    turn += .01
    while time.monotonic() < turn: pass
    turn += .01
    while time.monotonic() < turn: pass
PY
record "a rhythm like that of the ticks" --stacks 50 "$python" beats.py
cases=$((cases + 1))
first=$(grep -c 'beats.py:10)"' samples) second=$(grep -c 'beats.py:12)"' samples)
echo "lines that take turns every 10 ms, at a tick every 20 ms: $first and $second samples"
[ $((first + second)) -ge 40 ] && [ $((3 * first)) -ge "$second" ] && [ $((3 * second)) -ge "$first" ] ||
	fail "$rule: $first and $second samples"

record "stacks are off" --stacks off "$python" run.py .1
same "$rule: no fact" "" "$(cat facts)"
same "$rule: no thread" "" "$(grep '^threads.*vptrace-stacks' said)"
record "another rate" --stacks 20 "$python" run.py .3
has_fact "stacks.hz=20"

# ---- no way to read memory ----
cp "$source/tests/stacks/seccomp_filter.py" . || exit 1
cat >refused.py <<'PY'
import seccomp_filter
seccomp_filter.install()
import sys
sys.argv = ["run.py", ".1"]
exec(open("run.py").read())
PY
if env VPT_SECCOMP=errno "$python" -c 'import seccomp_filter; seccomp_filter.install()' 2>/dev/null; then
	export VPT_SECCOMP=all
	record "no way to read memory" "$python" refused.py
	same "$rule: one fact" \
		"stacks.unavailable=the system refuses process_vm_readv() and /proc/self/mem, by which this process would read its own memory" \
		"$(cat facts)"
	same "$rule: no samples" "" "$(cat samples)"
	same "$rule: the sampler ends" "" "$(grep '^threads.*vptrace-stacks' said)"
	export VPT_SECCOMP="kill"
	record "a filter that kills" "$python" refused.py
	has_fact "stacks.samples=[1-9][0-9]*"
else
	echo "SKIPPED: seccomp filters cannot be installed here"
fi
finish
