#!/bin/sh
# Marks: a program that knows nothing of vptrace gets its requests, stages, steps and blocks. sitecustomize, which watches for them;
# a whole pipeline on the simulated GPU, whose report equals what that GPU did, to the nanosecond; schedules; the rules of marks; each
# preset on a program with the modules and names of its project.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
command -v python3 >/dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "python3 is older than 3.8"
[ -e "$bin/libvptrace.so" ] || skip "$bin/libvptrace.so is not built"
cd "$work" || exit 1
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK PMIX_RANK
PYTHONDONTWRITEBYTECODE=1
VPTRACE_LIBRARY=$bin/libvptrace.so
export PYTHONDONTWRITEBYTECODE VPTRACE_LIBRARY
site=$source/tracer/python/site

# python RULE ARGUMENTS...: a program, which must end well.
python() {
	rule=$1
	shift
	cases=$((cases + 1))
	python3 "$@" >out 2>err </dev/null || fail "$rule: expected exit code 0"
}

# ---- sitecustomize ----

export PYTHONPATH
PYTHONPATH=$site
VPTRACE_MARK=none python "none does nothing" -c 'import sys, json; assert not [m for m in sys.modules if "vptrace" in m]'
python "without the variable nothing is done" -c 'import sys, json; assert not [m for m in sys.modules if "vptrace" in m]'
cat >quiet.py <<'PY'
import os, subprocess, sys
assert not [m for m in sys.modules if m.startswith("vptrace")], "something was loaded"
assert os.environ["VPT_SITE"] not in sys.path and os.environ["VPT_SITE"] in os.environ["PYTHONPATH"]
import json, decimal
assert not [m for m in sys.modules if m.startswith("vptrace")], "something was loaded"
child = "import sys; print(sorted(type(f).__name__ for f in sys.meta_path if 'sitecustomize' in type(f).__module__))"
assert subprocess.run([sys.executable, "-c", child], stdout=subprocess.PIPE).stdout == b"['_Watch']\n"
import vptrace, vptrace_marks
assert vptrace.__file__.startswith(os.path.dirname(os.environ["VPT_SITE"])), vptrace.__file__
PY
VPT_SITE=$site VPTRACE_MARK=auto python "nothing is loaded for a program without a marked package; children are watched too" quiet.py
silent err

mkdir -p next installed/vptrace
cat >next/sitecustomize.py <<'PY'
import builtins, sys
builtins.chained = sys.modules["sitecustomize"].__file__
PY
echo 'mine = True' >installed/vptrace/__init__.py
for mark in auto none; do
	PYTHONPATH=$site:$work/next VPTRACE_MARK=$mark python "the next sitecustomize is run, VPTRACE_MARK=$mark" -c "
import sitecustomize, sys
assert chained == sitecustomize.__file__ == '$work/next/sitecustomize.py', chained"
done
PYTHONPATH=$site:$work/installed VPTRACE_MARK=auto python "an installed vptrace is not hidden" -c 'import vptrace; assert vptrace.mine'
echo 'raise ZeroDivisionError("of the next")' >next/sitecustomize.py
PYTHONPATH=$site:$work/next VPTRACE_MARK=auto python "the next one fails as it would without us" -c 'pass'
says err "ZeroDivisionError: of the next"

# A project of the user's own.
mkdir -p own
cat >own/my_model.py <<'PY'
class Sampler:
    def sample(self, steps):
        for i in range(steps):
            self.denoise(i)
        return steps
    def denoise(self, i):
        pass
PY
cat >own/generate.py <<'PY'
import my_model
assert my_model.Sampler().sample(3) == 3
PY
cat >own.marks <<'MARKS'
my_model:Sampler.sample = request frames=4*steps
my_model:Sampler.denoise = step index=i   # its number
MARKS
PYTHONPATH=$site VPTRACE_MARK=$work/own.marks python "a file of the user's" own/generate.py
silent err
cat >>own.marks <<'MARKS'
my_model:Sampler.decode = stage vae_decode
your_model:Sampler.sample = request
MARKS
PYTHONPATH=$site VPTRACE_MARK=own.marks,diffusers python "what was of no use is said once, at the end" own/generate.py
says err "vptrace: marks: own.marks:3: my_model:Sampler.decode: there is no such function in $work/own/my_model.py; own.marks:4: your_model:Sampler.sample: the module was never imported"
same "in one line" 1 "$(wc -l <err)"
echo 'my_model:Sampler.denoise = stepp' >wrong.marks
PYTHONPATH=$site VPTRACE_MARK=wrong.marks python "a mistake in the file is one line, and the program runs" own/generate.py
says err 'vptrace: wrong.marks:1: expected one of block, '
says err 'found "stepp"; nothing is marked'
same "in one line" 1 "$(wc -l <err)"
PYTHONPATH=$site VPTRACE_MARK=absent.marks python "a file that is not there is one line, and the program runs" own/generate.py
same "in one line" 1 "$(wc -l <err)"

# ---- a pipeline on the simulated GPU ----

mkdir -p gpu
python "unpacking" -c "
import sys; sys.path.insert(0, '$source/tests/support/marks')
import marked; marked.unpack('$source/tests/data/marks/end_to_end.txt', 'gpu')"
if built "$bin/standin/libcuda.so.1" "a pipeline on the simulated GPU"; then
	# The tracer's own calls come earlier or later, as the machine is busy: they cost nothing here.
	export VPT_STANDIN_TIME=first-thread
	rule="a pipeline on the simulated GPU"
	cases=$((cases + 1))
	LD_PRELOAD=$bin/standin/libcuda.so.1 LD_LIBRARY_PATH=$bin/standin VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13 VPT_STANDIN_LOG=log \
		CUDA_INJECTION64_PATH=$VPTRACE_LIBRARY VPTRACE_OUTPUT=gpu.zst PYTHONPATH=$site VPTRACE_MARK=auto \
		python3 gpu/generate.py begin >out 2>err </dev/null || fail "$rule: expected exit code 0"
	silent err
	"$VPT_ANALYZE" gpu.zst --format json >report 2>err || fail "$rule: no report"
	python "its report is what the simulated GPU did" "$source/tests/support/marks/marked_check.py" report log begin
	"$VPT_ANALYZE" gpu.zst --full >out 2>err
	says out "1 request, 81 frames, 4 steps"

	rule="a request of several chunks, whose frames are known at its end"
	cases=$((cases + 1))
	rm -f log
	LD_PRELOAD=$bin/standin/libcuda.so.1 LD_LIBRARY_PATH=$bin/standin VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13 VPT_STANDIN_LOG=log \
		CUDA_INJECTION64_PATH=$VPTRACE_LIBRARY VPTRACE_OUTPUT=slow.zst PYTHONPATH=$site VPTRACE_MARK=auto VPTRACE_FLUSH_MS=10 \
		python3 gpu/generate.py begin slow >out 2>err </dev/null || fail "$rule: expected exit code 0"
	"$VPT_ANALYZE" cat slow.zst --kind open >out 2>err
	[ "$(grep -c WanPipeline out)" -gt 1 ] || fail "$rule: it was open at the end of one chunk or none"
	"$VPT_ANALYZE" slow.zst --format json >report 2>err || fail "$rule: no report"
	python "its report is what the simulated GPU did" "$source/tests/support/marks/marked_check.py" report log begin

	rule="the same under vptrace run --report"
	cases=$((cases + 1))
	rm -f log
	env -u PYTHONPATH -u VPTRACE_LIBRARY "$bin/vptrace" run --report -o run.zst -- env LD_PRELOAD="$bin/standin/libcuda.so.1" \
		LD_LIBRARY_PATH="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" VPT_STANDIN_LOG=log \
		python3 gpu/generate.py begin >out 2>err </dev/null || fail "$rule: expected exit code 0"
	says out "1 request, 81 frames, 4 steps"
	says out "FPS end to end. 81 frames in "
	says err "run.zst"
	"$VPT_ANALYZE" run.zst --format json >report 2>err || fail "$rule: no report"
	python "its report is what the simulated GPU did" "$source/tests/support/marks/marked_check.py" report log begin

	rule="CUDA is first used inside the request"
	cases=$((cases + 1))
	rm -f log
	env -u PYTHONPATH -u VPTRACE_LIBRARY "$bin/vptrace" run -o lazy.zst -- env LD_PRELOAD="$bin/standin/libcuda.so.1" \
		LD_LIBRARY_PATH="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" VPT_STANDIN_LOG=log \
		python3 gpu/generate.py begin lazy >out 2>err </dev/null || fail "$rule: expected exit code 0"
	"$VPT_ANALYZE" lazy.zst --format json >report 2>err || fail "$rule: no report"
	python "its report is what the simulated GPU did" "$source/tests/support/marks/marked_check.py" report log begin
	unset VPT_STANDIN_TIME
fi

# ---- modules called like blocks ----

mkdir -p named/torch/nn/modules
for package in torch torch/nn torch/nn/modules; do
	echo >"named/$package/__init__.py"
done
echo 'import torch.nn' >named/torch/__init__.py
echo 'from torch.nn.modules.module import Module' >named/torch/nn/__init__.py
cat >named/torch/nn/modules/module.py <<'PY'
class Module:
    def __call__(self, *args):
        return self.forward(*args)

    def named_modules(self):
        yield "", self
        for name, item in vars(self).items():
            if isinstance(item, Module):
                yield name, item
PY
cat >named/generate.py <<'PY'
import ctypes, os
import torch.nn.modules.module
folder = os.environ["VPT_STANDIN"]
ctypes.CDLL(folder + "/libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(folder + "/libcudart.so.13", mode=ctypes.RTLD_GLOBAL)
memory = ctypes.c_void_p()
assert not cuda.cudaMalloc(ctypes.byref(memory), 4096)

class Layer(torch.nn.modules.module.Module):
    def forward(self):
        assert not cuda.cudaMemset(memory, 0, ctypes.c_size_t(4096))

class DenoiserBlock(torch.nn.modules.module.Module):
    def forward(self, x, t):
        pass

class Denoiser(torch.nn.modules.module.Module):
    def forward(self, x, timestep=None):
        pass

class Model(torch.nn.modules.module.Module):
    def __init__(self):
        self.block1, self.block_2, self.step3, self.vae_decode = Layer(), Layer(), Layer(), Layer()

    def forward(self):
        for layer in (self.block1, self.block_2, self.step3, self.vae_decode):
            layer()

model = Model()
for _ in range(5):
    model()
assert not cuda.cudaDeviceSynchronize()
PY
if built "$bin/standin/libcuda.so.1" "modules called like blocks"; then
	rule="modules called like blocks, steps and stages are none"
	cases=$((cases + 1))
	env -u PYTHONPATH -u VPTRACE_LIBRARY VPT_STANDIN="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" \
		VPT_STANDIN_TIME=real "$bin/vptrace" run --mark modules:2 -o named.zst -- python3 named/generate.py >out 2>err </dev/null ||
		fail "$rule: expected exit code 0"
	expect 0 "$rule" cat named.zst --kind range -f csv
	same "$rule: their ranges" 5 "$(grep -c ',block1,' out)"
	"$VPT_ANALYZE" named.zst --format json >report 2>err || fail "$rule: no report"
	python "$rule" -c '
import json
report = json.load(open("report"))
found = report["requests"], report["stages"], [r["count"] for r in report["ranges"] if r["name"] == "block1"]
assert found == ([], [], [5]), found'
	[ "$failures" = 0 ] || cat out err
	for mark in modules:2 auto; do
		rule="a denoiser that no mark knows, --mark $mark"
		cases=$((cases + 1))
		env -u PYTHONPATH -u VPTRACE_LIBRARY VPT_STANDIN="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" \
			VPT_STANDIN_TIME=real "$bin/vptrace" run --overwrite --mark $mark -o denoiser.zst -- python3 named/generate.py >out 2>err </dev/null ||
			fail "$rule: expected exit code 0"
		expect 0 "$rule" denoiser.zst --format json
		says out "\"no steps are marked; if this is the denoiser, a line of a mark file finds them: \\\"__main__:Denoiser.forward = pass\\\"\""
	done
	rule="a program whose steps are known is told nothing"
	cases=$((cases + 1))
	env -u PYTHONPATH -u VPTRACE_LIBRARY VPT_STANDIN="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" VPT_STANDIN_TIME=real \
		"$bin/vptrace" run --overwrite --mark '__main__:Model.forward = step' -o denoiser.zst -- python3 named/generate.py >out 2>err </dev/null
	expect 0 "$rule" denoiser.zst --full
	says out "5 steps"
	! grep -q "denoiser, a line" out || fail "$rule"
	printf 'range block\t^block([0-9])$\n' >named.rules
	"$VPT_ANALYZE" named.zst --rules named.rules --format json >report 2>err || fail "$rule: no report with rules"
	python "rules make blocks of them" -c '
import json
request, = json.load(open("report"))["requests"]
assert request["blocks"]["count"] == 5, request["blocks"]["count"]'
fi

# ---- when marks are loaded, and what is said if they are not ----

# launches RULE MARKS COMMAND...: under vptrace run, each Python here of the simulated GPU
launches() {
	rule=$1
	mark=$2
	shift 2
	cases=$((cases + 1))
	rm -f launched*.zst
	env -u PYTHONPATH -u VPTRACE_LIBRARY VPT_STANDIN="$bin/standin" VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" VPTRACE_STACKS=off \
		"$bin/vptrace" run --mark "$mark" -o launched.zst -- "$@" >out 2>err </dev/null || {
		fail "$rule: expected exit code 0"
		cat err
	}
}
said() { # said TEXT: the line about marks; "" for none
	same "$rule" "$1" "$(sed -n 's/^vptrace: marks: //p' err | sed 's/process [0-9][0-9]* /process N /')"
}
cat >use.py <<'PY'
import ctypes, os, sys
for module in sys.argv[1:]:
    __import__(module)
folder = os.environ["VPT_STANDIN"]
ctypes.CDLL(folder + "/libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(folder + "/libcudart.so.13", mode=ctypes.RTLD_GLOBAL)
memory = ctypes.c_void_p()
assert not cuda.cudaMalloc(ctypes.byref(memory), 4096)
assert not cuda.cudaDeviceSynchronize()
PY
cat >late.py <<'PY'
import sys
assert not [m for m in sys.modules if m.startswith("vptrace")], "something was loaded"
sys.path.insert(0, "own")
import my_model
assert "vptrace_marks" in sys.modules
assert my_model.Sampler().sample(3) == 3
PY
sed 3,4d own.marks >late.marks
launches "a mark file is read when a module that it names is imported" late.marks python3 late.py
said ""
says err "request my_model:Sampler.sample, step my_model:Sampler.denoise"
launches "rules and modules:N too" 'my_model:Sampler.sample = request,modules:2' python3 late.py
said "modules: no torch.nn.Module was called"
if built "$bin/standin/libcuda.so.1" "marks of programs that use the GPU"; then
	launches "a mark file whose module nothing imports, in two processes" late.marks sh -c 'python3 use.py; python3 use.py'
	said "$(pwd -P)/late.marks:1: my_model:Sampler.sample: the module was never imported; $(pwd -P)/late.marks:2: my_model:Sampler.denoise: the module was never imported"
	# in_report TEXT: of the capture that launches() has left
	in_report() {
		expect "${2:-0}" "$rule: in the report" launched.zst --format json
		says out "\"marks that nothing hit: $1\""
		expect "${2:-0}" "$rule: on the first screen" launched.zst --only summary
		says out "marks that nothing hit"
	}
	rule="what nothing hit is in the report of each process"
	in_report "$(pwd -P)/late.marks:1: my_model:Sampler.sample: the module was never imported; $(pwd -P)/late.marks:2: my_model:Sampler.denoise: the module was never imported"
	launches "what nothing called" late.marks sh -c 'PYTHONPATH=$PYTHONPATH:own python3 use.py my_model'
	said "$(pwd -P)/late.marks:1: my_model:Sampler.sample was never called; $(pwd -P)/late.marks:2: my_model:Sampler.denoise was never called"
	in_report "$(pwd -P)/late.marks:1: my_model:Sampler.sample was never called; $(pwd -P)/late.marks:2: my_model:Sampler.denoise was never called"
	cat >guess.py <<'PY'
import use

class Model:
    def denoise(self, x, t):
        assert not use.cuda.cudaMemset(use.memory, 0, use.ctypes.c_size_t(4096))
        assert not use.cuda.cudaDeviceSynchronize()
        return object()

class Pipe:
    def __call__(self, model):
        for i in range(2):
            for t in range(3):
                x = model.denoise(object(), t)

class Loose:
    def __call__(self, model):
        def step(t):
            return model.denoise(object(), t)
        return step(object()), step(object())
PY
	cat >guess.marks <<'MARKS'
guess:Model.denoise = pass
guess:Pipe.__call__ = request
guess:Loose.__call__ = request
MARKS
	VPT_STANDIN_TIME=real launches "blocks and steps that may be something else" guess.marks python3 -c 'import guess; guess.Pipe()(guess.Model()); guess.Loose()(guess.Model())'
	steps='guess:Model.denoise: its calls are in no loop: those with the same latents, or the same timestep and another text, were taken for a step; a line "MODULE:FUNCTION = step" in a mark file decides'
	blocks='guess:Model.denoise: each turn of the loop at guess.py:11 was taken for a block; a line "MODULE:FUNCTION = block" in a mark file decides, or "guess:Model.denoise = pass key=0": no blocks'
	expect 0 "$rule: in the report" launched.zst --format json
	cases=$((cases + 1))
	python3 -c 'import json, sys
report = json.load(open("out"))
found = [r["text"] if isinstance(r, dict) else r for r in report["verdict"]["reasons"] if "marks that are" in str(r)]
assert found == ["marks that are a guess: %s; %s" % tuple(sys.argv[1:])], found
assert [(r["blocks"]["count"], r["steps"]["count"]) for r in report["requests"]] == [(2, 6), (0, 2)], report["requests"]' "$steps" "$blocks" >err 2>&1 ||
		fail "$rule: $(tail -n 1 err)"
	printf 'guess:Model.denoise = pass key=0\nguess:Pipe.__call__ = request\n' >sure.marks
	VPT_STANDIN_TIME=real launches "a line decides it" sure.marks python3 -c 'import guess; guess.Pipe()(guess.Model())'
	expect 0 "$rule: in the report" launched.zst --full
	says out "6 steps"
	cases=$((cases + 1))
	! grep -q "a guess\|[0-9] block" out || fail "$rule: a guess is left"

	launches "a preset that somebody asked for, and none of whose modules is imported" wan,causvid sh -c 'python3 use.py; python3 use.py'
	said "preset wan: none of its modules was imported; preset causvid: none of its modules was imported"
	launches "all presets, of which none is needed" auto python3 use.py
	said ""
	launches "a preset, in a process that is not recorded" wan sh -c 'python3 -c pass; true'
	said ""

	# shellcheck disable=SC2016
	replaced='PYTHONPATH was replaced; where that is done, write export PYTHONPATH="...:$PYTHONPATH"'
	launches "PYTHONPATH is replaced" auto sh -c 'export PYTHONPATH=own; python3 use.py my_model; python3 use.py'
	said "process N and 1 more recorded without marks: Python did not load them, since $replaced"
	launches "PYTHONPATH is removed" late.marks sh -c 'unset PYTHONPATH; python3 use.py'
	said "process N recorded without marks: Python did not load them, since $replaced"
	# The launcher writes its file after it.
	VPTRACE_FLUSH_MS=20 VPTRACE_RING=5s launches "PYTHONPATH is removed, and the process is killed beside its ring" auto \
		sh -c 'unset PYTHONPATH; python3 -c "exec(open(\"use.py\").read()); import time; time.sleep(2); os.kill(os.getpid(), 9)"; true'
	said "process N recorded without marks: Python did not load them, since $replaced"
	# shellcheck disable=SC2016
	launches "PYTHONPATH gets one more folder" auto sh -c 'PYTHONPATH=own:$PYTHONPATH python3 use.py my_model; PYTHONPATH=$PYTHONPATH:own python3 use.py my_model'
	said ""
	launches "marks that nobody wants" none sh -c 'unset PYTHONPATH; python3 use.py'
	said ""
	for option in -I -E -S; do
		launches "python $option" auto python3 $option use.py
		ignored=PYTHONPATH
		[ $option != -S ] || ignored=sitecustomize.py
		said "process N recorded without marks: Python did not load them, since it was started with $option, which ignores $ignored; start it without"
	done
	echo 'import sys' >next/sitecustomize.py
	# shellcheck disable=SC2016
	launches "another sitecustomize comes first" auto sh -c 'PYTHONPATH=next:$PYTHONPATH python3 use.py'
	said "process N recorded without marks: Python did not load them, since another sitecustomize.py comes before that of vptrace; append to PYTHONPATH what is now before it"
	ancient=0
	for old in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/2.7.*/bin/python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.[4567].*/bin/python; do
		[ -x "$old" ] || continue
		ancient=$((ancient + 1))
		echo 'import sys; sys.stdout.write("the next ")' >next/sitecustomize.py
		launches "$old" auto,late.marks sh -c "PYTHONPATH=\$PYTHONPATH:next '$old' use.py; PYTHONPATH=\$PYTHONPATH:next '$old' use.py"
		said "they need Python 3.8 or later, and a process ran Python $("$old" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
		same "$rule: nothing else" 3 "$(wc -l <err | tr -d ' ')"
		same "$rule: the next sitecustomize" "the next the next " "$(cat out)"
	done
	[ $ancient -gt 0 ] || echo "SKIPPED: no Python before 3.8, for which there are no marks"
fi

# ---- schedules, with the library itself ----

cat >schedule.py <<'PY'
import vptrace
s = vptrace.schedule(wait=1, warmup=1, active=3, repeat=2, skip_first=1)
assert "".join("+" if s(i) else "." for i in range(14)) == "...+++..+++...", [s(i) for i in range(14)]
assert all(vptrace.schedule()(i) for i in range(5))
for wrong in ({"wait": -1}, {"active": 0}, {"repeat": 1.5}):
    try:
        vptrace.schedule(**wrong)
        raise SystemExit("%r was taken" % wrong)
    except ValueError as error:
        assert "expected a whole number from" in str(error)
with vptrace.trace("schedule.zst", profile="none", schedule=vptrace.schedule(wait=1, warmup=1, active=2, repeat=1)) as capture:
    for i in range(7):
        assert (vptrace.status() == vptrace.State.PAUSED) == (i not in (2, 3)), i
        with vptrace.range("iteration %d" % i):
            pass
        assert capture.step() == (i + 1 in (2, 3))
assert capture.summary.stats.written == 2, capture.summary
with vptrace.trace("outer.zst", profile="none") as outer:
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with vptrace.trace("inner.zst", schedule=lambda i: False) as inner:
            assert vptrace.status() != vptrace.State.PAUSED and inner.step() is False
PY
PYTHONPATH=$source/tracer/python python "a schedule" schedule.py
expect 0 "its capture" cat schedule.zst --kind range -f csv
same "iterations 2 and 3" "iteration 2 iteration 3 " "$(grep -o 'iteration [0-9]' out | tr '\n' ' ')"
expect 0 "pauses" cat schedule.zst --kind loss -f csv
says out "paused"

# ---- rules ----

unset PYTHONPATH
cases=$((cases + 1))
python3 -c '
import ast, sys
for file in sys.argv[1:]:
    ast.parse(open(file).read(), file, feature_version=(3, 8))
' "$source"/tracer/python/vptrace_marks/*.py "$site/sitecustomize.py" "$source"/tracer/python/vptrace/*.py >out 2>err || fail "sources are not Python 3.8"
PYTHONPATH=$source/tracer/python:$source/tests/support/marks python "rules of marks" "$source/tests/support/marks/marks_rules.py"
[ "$failures" = 0 ] || cat out err
says out "rules"
PYTHONPATH=$source/tracer/python:$source/tests/support/marks python "rules of facts" "$source/tests/support/marks/facts_rules.py"
[ "$failures" = 0 ] || cat out err
says out "3 rules"
python "the table of pipelines is what marks_real.sh checks" "$source/tests/support/marks/marks_pipelines.py" table "$source/tracer/python/README.md"
says out "28 pipelines"

# ---- presets ----

for preset in "$source"/tracer/python/vptrace_marks/presets/*.marks; do
	preset=$(basename "$preset" .marks)
	program=$source/tests/data/marks/$preset.txt
	[ -e "$program" ] || fail "the preset $preset has no program that tries it"
	for mark in auto "$preset"; do
		rm -rf program && mkdir program
		PYTHONPATH=$site VPTRACE_MARK=$mark python "the preset $preset, VPTRACE_MARK=$mark" "$source/tests/support/marks/marked.py" "$program" program
		grep '^[-+]' out
		silent err
	done
done
finish
