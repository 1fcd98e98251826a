#!/bin/sh
# With each Python that is here: marks of functions of the script itself; the library's functions for Python; `vptrace run` with
# such marks, whose capture has the ranges; and the ends of a Python process that exit() does not see.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
. "$source/tests/support/pythons.sh"
only_in_plain_build
[ -e "$bin/libvptrace.so" ] || skip "$bin/libvptrace.so is not built"
cd "$work" || exit 1
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK PMIX_RANK PYTHONPATH
PYTHONDONTWRITEBYTECODE=1
VPTRACE_LIBRARY=$bin/libvptrace.so
export PYTHONDONTWRITEBYTECODE VPTRACE_LIBRARY

cat >generate.py <<'PY'
import vptrace

class Sampler:
    def sample(self, steps):
        return [denoise(i) for i in range(steps)]

def denoise(i):
    return 2 * i

if __name__ == "__main__":
    vptrace.start(profile="none")
    assert Sampler().sample(3) == [0, 2, 4]
    vptrace.stop()
PY
cat >my.marks <<'MARKS'
__main__:Sampler.sample = request frames=4*steps-3
__main__:denoise = step index=i
MARKS
sed '$d' my.marks >absent.marks
echo '__main__:decode = stage vae_decode' >>absent.marks

cat >workers.py <<'PY'
import ctypes, multiprocessing, os, signal, sys

def use(copies):
    folder = os.environ["VPT_STANDIN"]
    ctypes.CDLL(folder + "/libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    cuda = ctypes.CDLL(folder + "/libcudart.so.13", mode=ctypes.RTLD_GLOBAL)
    memory = ctypes.c_void_p()
    assert not cuda.cudaMalloc(ctypes.byref(memory), 4096)
    for _ in range(copies):
        assert not cuda.cudaMemset(memory, 0, 4096)
    assert not cuda.cudaDeviceSynchronize()

if __name__ == "__main__":
    how, task = sys.argv[1], (use, 4)
    if how in ("interrupt", "inert"):
        use(4)
    if how == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    if how == "raw":  # and the children return through the calls that forked them
        work = [os.fork() or use(4) or sys.exit() for _ in range(3)]
        sys.exit(any(os.waitpid(process, 0)[1] for process in work))
    if how == "inert":  # workers of a parent that uses the GPU, and that do not
        how, task = "fork", (abs, 4)
    context = multiprocessing.get_context(how)
    work = [context.Process(target=task[0], args=task[1:]) for _ in range(3)]
    for process in work:
        process.start()
    for process in work:
        process.join()
    sys.exit(any(process.exitcode for process in work))
PY

cat >workers.marks <<'MARKS'
__main__:use = stage use
__main__:absent = stage absent
MARKS

# ends CODE FILES HOW MARKS: a program that Python ends in this way; each of its files has all that it did
ends() {
	rule="$3, --mark $4, Python $version"
	cases=$((cases + 1))
	rm -f ends*.zst err
	VPT_STANDIN=$bin/standin VPT_STANDIN_TIME=real VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13 VPTRACE_STACKS=off VPTRACE_FLUSH_MS=60000 \
		timeout 60 "$bin/vptrace" run --mark "$4" -o ends.zst -- "$python" workers.py "$3" >out 2>err </dev/null
	found=$?
	[ "$found" = "$1" ] || fail "$rule: expected exit code $1, found $found"
	ending=$rule
	same "files, $ending" "$2" "$(ls ends*.zst 2>/dev/null | wc -l | tr -d ' ')"
	for capture in ends*.zst; do
		same "memsets of $capture, $ending" 4 "$("$VPT_ANALYZE" cat "$capture" --kind copy 2>/dev/null | wc -l | tr -d ' ')"
		grep -q "/$capture: .* good, " err || fail "$ending: $capture is not good"
	done
}

# useless TEXT HOW: of marks that some processes hit and others do not, what none has hit is said in one line
useless() {
	rule="what is of no use is said once, $2, Python $version"
	cases=$((cases + 1))
	rm -f useless*.zst err # a process of a run before may still write to that one
	VPT_STANDIN=$bin/standin VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13 VPTRACE_STACKS=off \
		timeout 60 "$bin/vptrace" run --mark workers.marks -o useless.zst -- "$python" workers.py "$2" >out 2>err </dev/null ||
		fail "$rule: expected exit code 0"
	same "$rule" "vptrace: marks: $1" "$(grep 'vptrace: marks' err)"
}

# rows NAME: what the capture NAME.zst recorded, without times and threads
rows() {
	"$VPT_ANALYZE" export "$1.zst" --format chrome --compress none -o - 2>/dev/null |
		sed -n -e '/"name":"ProfilerStep#/d' -e 's/.*"cat":"user_annotation",.*\("name":"[^"]*",\).*\("args":.*\)},*$/\1\2/p'
}

pythons >list
missing_pythons list
[ -s list ] || skip "there is no Python from 3.9 to 3.13"
while read -r version python; do
	rule="a capture, Python $version"
	cases=$((cases + 1))
	rm -f run.zst absent.zst
	"$bin/vptrace" run --mark my.marks -o run.zst -- "$python" generate.py >out 2>err </dev/null || fail "$rule: expected exit code 0"
	"$VPT_ANALYZE" cat run.zst --kind range -f csv >rows 2>err
	same "ranges in the order of their ends, Python $version" "step step step Sampler" "$(sed 1d rows | grep -o 'Sampler\|step' | paste -sd ' ' -)"

	rule="what is not there is reported, Python $version"
	cases=$((cases + 1))
	"$bin/vptrace" run --mark absent.marks -o absent.zst -- "$python" generate.py >out 2>err </dev/null || fail "$rule: expected exit code 0"
	says err "vptrace: marks: $(pwd -P)/absent.marks:2: __main__:decode: there is no such function in $(pwd -P)/generate.py"

	rule="the library's own functions for Python $version"
	cases=$((cases + 1))
	rm -f builtins.zst ctypes.zst errors.zst
	PYTHONPATH=$source/tracer/python "$python" "$source/tests/support/marks/marks_functions.py" . >out 2>err </dev/null || {
		fail "$rule"
		cat out err
	}
	same "they record as much, Python $version" 16 "$(rows builtins | wc -l | tr -d ' ')"
	same "they record what ctypes does, Python $version" "$(rows ctypes)" "$(rows builtins)"

	if built "$bin/standin/libcuda.so.1" "the ends of processes"; then
		# Of a mark file Python loads the library at once, in the parent too.
		for mark in auto none workers.marks; do
			for how in fork forkserver; do
				ends 0 3 $how $mark
			done
			ends 0 3 raw $mark
			ends 130 1 interrupt $mark
		done
		for how in fork forkserver spawn; do
			useless "$(pwd -P)/workers.marks:2: __main__:absent: there is no such function in $(pwd -P)/workers.py" $how
		done
		ends 0 3 spawn auto
		ends 0 1 inert auto
	fi

	rule="the rules, Python $version"
	cases=$((cases + 1))
	"$python" "$source/tests/support/marks/marks_script.py" >out 2>err </dev/null || {
		fail "$rule"
		cat out err
	}
	says out " rules, 0 failed"

	rule="passes of a denoiser in loops of all kinds, Python $version"
	cases=$((cases + 1))
	PYTHONPATH=$source/tracer/python:$source/tests/support/marks "$python" "$source/tests/support/marks/marks_passes.py" >out 2>err </dev/null || {
		fail "$rule"
		cat out err
	}
	says out "73 loops"
done <list
finish
