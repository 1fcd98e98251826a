#!/bin/sh
# `vptrace run --simulate`: the marks of a Python program on a machine without a GPU, with the host's times and no others.
# shellcheck disable=SC2086 # $with: words
. "$VPT_SOURCE_DIR/tests/support/cli.sh"
vptrace=${VPT_BIN:?expected the build folder}/vptrace
[ -x "$vptrace" ] && [ -e "$VPT_BIN/libvptrace.so" ] || skip "no vptrace or no libvptrace.so was built"
need_python 3.8
cd "$work" || exit 1
python=$(command -v python3)
# A library with the sanitizers needs their runtime first. Leaks are looked for elsewhere: a Python has many.
runtime=$(ldd "$VPT_BIN/libvptrace.so" | awk '/lib[at]san/ { print $3; exit }')
with=${runtime:+env LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0}
if [ -n "$runtime" ] && ! $with "$python" -c pass 2>err; then
	skip "a library with sanitizers built in cannot be loaded by $python: $(head -n 1 err)"
fi

# run CODE RULE ARGUMENT...: its output is in out and err.
run() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	timeout 60 "$vptrace" run "$@" >out 2>err </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit code $wanted, found $found"
}

# marks FILE: depth, kind, name and number of each row of marks, and whether their times fit into each other
marks() {
	"$VPT_ANALYZE" "$1" --format json >report.json
	python3 - <<'PY'
import json

rows, around = json.load(open("report.json"))["marked"], []
for row in rows:
    print(row["depth"], row["kind"], row["name"] or "-", row["host"]["count"])
    del around[row["depth"] :]
    if around and row["host"]["total_ns"] > around[-1]["host"]["total_ns"]:
        print("longer than what it is in")
    around.append(row)
PY
}

# ---- a program that knows nothing of vptrace ----

cat >generate.py <<'PY'
import time


def denoise(i):
    time.sleep(0.002)


def decode():
    time.sleep(0.001)


class Pipe:
    def __call__(self, blocks):
        for b in range(blocks):
            self.block(b)

    def block(self, b):
        for i in range(4):
            denoise(i)
        decode()


pipe = Pipe()
pipe(3)
pipe(2)
PY
cat >generate.marks <<'MARKS'
__main__:Pipe.__call__ = request
__main__:Pipe.block = block
__main__:denoise = step
__main__:decode = stage decode
MARKS
run 0 "a program with a mark file" --simulate --mark generate.marks -o a.zst -- $with "$python" generate.py
says err "a.zst: "
same "its marks" "0 request Pipe 2
1 block - 5
2 step - 20
2 stage decode 5" "$(marks a.zst)"
expect 0 "the first screen" a.zst
says out "Recorded without a GPU (vptrace run --simulate)"
says out "recorded without a GPU, by --simulate: all times are the host's own"
says out "MARKS, on the host"
! grep -q "FPS\." out || grep -q "so no FPS\." out || fail "$rule: a rate without a GPU"
for format in md html json; do
	expect 0 "as $format" a.zst --format $format
	says out "recorded without a GPU, by --simulate"
done

# ---- one that marks itself ----

cat >own.py <<'PY'
import time

import vptrace

with vptrace.request("clip"):
    for b in range(2):
        with vptrace.block(b, frames=12):
            with vptrace.stage("denoise"):
                for i in range(3):
                    with vptrace.step(i):
                        time.sleep(0.001)
            with vptrace.stage("vae_decode"):
                time.sleep(0.001)
PY
PYTHONPATH=$VPT_SOURCE_DIR/tracer/python
export PYTHONPATH
run 0 "a program that marks itself" --simulate -o own.zst -- $with "$python" own.py
unset PYTHONPATH
same "its marks" "0 request clip 1
1 block - 2
2 stage denoise 2
3 step - 6
2 stage vae_decode 2" "$(marks own.zst)"

# ---- nothing to record, wrong words ----

run 0 "nothing is marked" --simulate -o none.zst -- $with "$python" -c 'print(1)'
says err "nothing was recorded: no Python imported what is marked; see --mark"
run 3 "the command's exit status" --simulate -o none.zst -- $with "$python" -c 'raise SystemExit(3)'
run 2 "with a profile" --simulate --profile full -o none.zst -- true
says err "--simulate records no GPU work: use it without --profile full"

# ---- without it: what to type is said ----

# typed_again: the words that the message says to type, as they are
typed_again() {
	sed -n 's/.*\. To record the marks alone: vptrace run \(--simulate .*\)$/\1/p' err
}
run 0 "without it, what to type is said" --mark generate.marks --profile lite -o none.zst -- $with "$python" generate.py
says err "Marks were hit in process "
same "$rule" "--simulate --mark=generate.marks -o none.zst -- ${with:+$with }$python generate.py" "$(typed_again)"
cp own.py "own pipeline's.py"
run 3 "a program that marks itself, without it" -o none.zst -- $with "$python" -c 'exec(open("own pipeline'"'"'s.py").read()); exit(3)'
says err "Marks were hit in process "
says err ", but are kept only with CUDA calls: those of the module vptrace. "
says err "; the command ended with exit status 3. To record the marks alone: "
[ ! -e none.zst ] || fail "$rule: a file without marks"
again=$(typed_again)
cases=$((cases + 1))
eval "'$vptrace' run $again" >out 2>err </dev/null
same "what it says to type: its exit status" 3 $?
same "what it says to type: its marks" "0 request clip 1" "$(marks none.zst | head -n 1)"
rm -f none.zst
run 0 "a word that is empty" --tag a=b --tag c=d -o none.zst -- $with "$python" -c 'import vptrace; vptrace.mark("m")' ""
says err "vptrace run --simulate --tag=a=b --tag=c=d -o none.zst -- "
same "$rule" "''" "$(typed_again | sed 's/.* //')"
run 0 "one that imports the module alone" -o none.zst -- $with "$python" -c 'import vptrace; vptrace.block(1)'
says err "nothing was recorded: no process used CUDA or NVTX"

finish
