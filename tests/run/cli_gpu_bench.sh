#!/bin/sh
# What waits for a machine with a GPU works as far as it goes without: the comparing scripts on made-up data; bench/gpu/run.sh with
# its phases on the simulated GPU, with other steps, and as on a GPU machine, whose tools are made up; two clients of CUPTI; the
# PyTorch pipeline on the CPU where python3 has PyTorch.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=${VPT_BIN:?expected the build folder}
python=${PYTHON:-python3}
command -v "$python" >/dev/null || skip "there is no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "$python is older than 3.8"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
unset VPTRACE_LIBRARY VPTRACE_OUTPUT VPTRACE_PROFILE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS RANK WORLD_SIZE

cases=$((cases + 1))
"$python" "$source/bench/gpu/test_scripts.py" >"$work/out" 2>"$work/err" || fail "the comparing scripts: $(tail -n 1 "$work/err")"

# The sources are Python 3.8, PyTorch or not.
cases=$((cases + 1))
"$python" -c '
import ast, sys
for file in sys.argv[1:]:
    ast.parse(open(file).read(), file, feature_version=(3, 8))
' "$source"/bench/gpu/*.py "$source"/bench/pipelines/*.py >"$work/out" 2>"$work/err" || fail "sources are not Python 3.8: $(tail -n 1 "$work/err")"

# ---- run.sh: what it says before it runs anything ----

run_sh=$source/bench/gpu/run.sh
# plan WORDS...: run.sh where there is neither a GPU nor anything to build with; $found is the exit code
plan() {
	rule="run.sh $*"
	cases=$((cases + 1))
	OUT=$work/untouched sh "$run_sh" "$@" >"$work/out" 2>"$work/err" </dev/null
	found=$?
}
plan --list
same "$rule: exit code" 0 "$found"
same "what matters most comes first" "works complete capture variants cost questions" \
	"$(awk '{ print $1 }' "$work/out" | head -n 6 | tr '\n' ' ' | sed 's/ $//')"
same "no phase takes more than 8 minutes" "" "$(awk '$2 > 480' "$work/out")"
plan --dry-run all --minutes 9
same "$rule: exit code" 0 "$found"
says out "at most 9 min"
same "$rule: it begins with" "works prepare sequence demo-plain" \
	"$(awk 'NR <= 4 { print $1 }' "$work/out" | tr '\n' ' ' | sed 's/ $//')"
same "no step is there twice" "" "$(sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p' "$work/out" | grep -v '^prepare$' | sort | uniq -d)"
same "steps and prepare add up" "" "$(awk '
	/^[a-z]/ { sum = 0 }
	/^  [a-z]/ { sum += $2 }
	/ in total$/ && ($1 != sum || sum > 480) { print $1, sum }' "$work/out")"
plan --dry-run questions
same "whole graphs come last: a process may never undo them" whole-graphs "$(sed -n 's/^  \([a-z][a-z0-9-]*\) .*/\1/p' "$work/out" | tail -n 1)"
cases=$((cases + 1))
[ ! -e "$work/untouched" ] || fail "a dry run has written something"
for words in "" --wrong nonsense "works nonsense" "works --minutes" "works --minutes x" "works --minutes 1.2.3"; do
	# shellcheck disable=SC2086
	plan $words
	same "$rule: exit code" 2 "$found"
done
rule="no GPU"
cases=$((cases + 1))
mkdir -p "$work/fake"
printf '#!/bin/sh\nexit 9\n' >"$work/fake/nvidia-smi"
chmod +x "$work/fake/nvidia-smi"
PATH=$work/fake:$PATH VPT_BUILD=$bin sh "$run_sh" --out "$work/none" works >"$work/out" 2>"$work/err" </dev/null
same "$rule: exit code" 3 $?
says err "not run: no NVIDIA GPU found"

# ---- run.sh on the simulated GPU ----

# simulated WORDS...: results in $work/gpu, copies in $work/copies
simulated() {
	rule="run.sh --simulated $*"
	cases=$((cases + 1))
	OUT=$work/copies VPT_BUILD=$bin VPT_GPU_TORCH=0 PYTHON=$python sh "$run_sh" --simulated --out "$work/gpu" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	found=$?
}
says_row() { # says_row STEP TEXT: a row of the step has the text
	cases=$((cases + 1))
	awk -v step="$1" '/^[^ ]/ { inside = index($0, step " [") == 1 } inside' "$work/out" | grep -qF -- "$2" ||
		fail "$rule: expected \"$2\" under $1"
}
status_of() { # status_of STEP: those of its rows, each once
	awk -F '\t' -v step="$1" '$1 == step { print $4 }' "$work/gpu/rows.tsv" | sort -u | tr '\n' ' ' | sed 's/ $//'
}

try_phases() {
	simulated works questions blame
	same "exit code of $rule" 0 "$found"
	says out "RESULTS of cpu, simulated: NOTHING HERE WAS MEASURED ON A GPU"
	says out " 0 failed, 0 not run"
	says_row sequence "records of kernels 8 (>= 8)"
	says_row demo-plain "checks that hold 11 (= 11)"
	says_row kinds "kernel.added"
	says_row unload "names of kernels that are gone 20 (= 20)"
	says_row sessions "checks that hold 11 (= 11)"
	says_row whole-graphs "nodes_reported.before 10 of 10"
	says_row coexist-after "VPT_GPU_TORCH=0"
	says_row blame-demo "the fault is found"
	same "places in the table" "cpu simulated" "$(cut -f 2 "$work/gpu/rows.tsv" | sort -u | tr '\n' ' ' | sed 's/ $//')"
	same "files" "blame.tar.gz questions.tar.gz results.txt rows.tsv summary.txt work works.tar.gz" \
		"$(cd "$work/gpu" && echo *)"
	same "few files to bring home" "archives-1.tar results.txt rows.tsv summary.txt" "$(cd "$work/copies" && echo *)"
	mkdir "$work/bundle"
	tar xf "$work/copies/archives-1.tar" -C "$work/bundle"
	cp "$work"/copies/*.t[xs]* "$work/bundle/"
	for file in rows.tsv summary.txt results.txt works.tar.gz questions.tar.gz blame.tar.gz; do
		cmp -s "$work/gpu/$file" "$work/bundle/$file" || fail "$rule: the copy of $file is another"
	done
	same "what the sequence tells of" yes "$(mkdir "$work/unpacked" && tar xzf "$work/gpu/works.tar.gz" -C "$work/unpacked" &&
		grep -q 'record kind 10,' "$work/unpacked/captures/sequence.txt" && echo yes)"

	# What is known is not asked again, also where only the copies were brought back.
	cp "$work/gpu/rows.tsv" "$work/before"
	rm -rf "$work/gpu"
	cp -r "$work/copies" "$work/gpu"
	simulated works
	same "exit code of $rule" 0 "$found"
	says out "works/sequence: ok already"
	same "rows of results that were brought back" "$(grep -vE '	skipped	|^prepare	' "$work/before")" \
		"$(grep -vE '	skipped	|^prepare	' "$work/gpu/rows.tsv")"
	says_row demo-plain "checks that hold 11 (= 11)"
	same "its files came with them" yes "$([ -e "$work/gpu/work/works/captures/demo-plain.zst" ] && echo yes)"
	simulated --again sequence
	same "exit code of $rule" 0 "$found"
	says out "works/sequence [simulated] ok"
	same "nothing else was asked" "prepare sequence" \
		"$(sed -n 's|^[0-9:]* works/\([a-z-]*\) .*|\1|p' "$work/out" | tr '\n' ' ' | sed 's/ $//')"
	same "rows of the step" "$(grep -c '^sequence	' "$work/before")" "$(grep -c '^sequence	' "$work/gpu/rows.tsv")"

	# Without time, a step is not begun; what was found before stays.
	simulated --again --minutes 2 sequence memory
	same "exit code of $rule" 3 "$found"
	says_row memory "no time left: it may take 330 s"
	same "the other one" "measured ok" "$(status_of sequence)"
	simulated --again --minutes 0 sequence
	same "what was known, without time" "measured ok" "$(status_of sequence)"

	# A step that fails: the others go on.
	VPT_STANDIN_FAULTS=busy
	export VPT_STANDIN_FAULTS
	simulated --again sequence whole-graphs unload
	unset VPT_STANDIN_FAULTS
	same "exit code of $rule" 1 "$found"
	says_row sequence "error 39"
	says_row unload "failed"
	simulated sequence
	same "exit code of $rule, failed before" 1 "$found"
	says out "works/sequence: failed already"
}

# ---- the runner itself, with other steps ----

with_plan() { # with_plan LINES WORDS...
	printf '%s\n' "$1" >"$work/plan"
	shift
	VPT_GPU_PLAN=$work/plan
	export VPT_GPU_PLAN
	simulated "$@"
	unset VPT_GPU_PLAN
}

try_runner() {
	rm -rf "$work/gpu" "$work/copies"
	with_plan "works hangs 3 cpu run hangs 9 sleep 60
works first 5 cpu run first 5 echo
works crashes 5 cpu run crashes 5 sh -c exec\${IFS}false
works gone 9 gpu-cpu run gone 9 echo
works last 5 cpu run last 5 echo" works
	same "exit code with a step that hangs" 1 "$found"
	says_row hangs "stopped after " # what is left of 3 s
	says_row crashes "exit code 1"
	says_row gone "it needs a real GPU"
	same "statuses" "ok failed failed skipped ok" \
		"$(status_of first) $(status_of hangs) $(status_of crashes) $(status_of gone) $(status_of last)"

	# Killed, it has lost no more than the step that ran.
	rm -rf "$work/gpu" "$work/copies"
	printf '%s\n' "works first 5 cpu run first 5 echo" "works second 9 cpu run second 9 sleep 8" \
		"works third 5 cpu run third 5 echo" >"$work/plan"
	cases=$((cases + 1))
	OUT=$work/copies VPT_BUILD=$bin VPT_GPU_TORCH=0 PYTHON=$python VPT_GPU_PLAN=$work/plan setsid \
		sh "$run_sh" --simulated --out "$work/gpu" works >"$work/out" 2>"$work/err" </dev/null &
	runner=$!
	waited=0
	while [ ! -e "$work/gpu/work/works/logs/second.out" ] && [ $waited -lt 60 ]; do
		sleep 0.5
		waited=$((waited + 1))
	done
	kill -s KILL -- -$runner
	wait $runner 2>/dev/null
	same "after a kill: first" ok "$(status_of first)"
	same "after a kill: second" "" "$(status_of second)"
	cmp -s "$work/gpu/rows.tsv" "$work/copies/rows.tsv" || fail "after a kill the copies are others"
	with_plan "works first 5 cpu run first 5 false
works second 5 cpu run second 5 echo
works third 5 cpu run third 5 echo" works
	same "exit code after a kill" 0 "$found"
	says out "works/first: ok already"
	same "after a kill: third" ok "$(status_of third)"
}

# Carried packages are unpacked into the build folder, and only CMake uses them.
try_carried() {
	if ! command -v dpkg-deb >/dev/null; then
		echo "SKIPPED: there is no dpkg-deb to make a package with"
		return
	fi
	mkdir -p "$work/package/DEBIAN" "$work/package/usr/include" "$work/carried" "$work/build"
	printf 'Package: carried\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: a header\n' \
		>"$work/package/DEBIAN/control"
	echo '/* carried */' >"$work/package/usr/include/carried.h"
	dpkg-deb --build "$work/package" "$work/carried/carried.deb" >"$work/out" 2>&1 || fail "no package could be made"
	for file in "$bin"/vptrace-analyze "$bin"/libvptrace.so "$bin"/vptrace-demo "$bin"/standin; do
		ln -s "$file" "$work/build/"
	done
	rm -rf "$work/gpu" "$work/copies"
	built=$bin bin=$work/build
	VPT_CARRIED=$work/carried
	export VPT_CARRIED
	with_plan "works environment 5 cpu run environment 5 env" works
	unset VPT_CARRIED
	bin=$built
	same "exit code with carried packages" 0 "$found"
	same "the header" "/* carried */" "$(cat "$work/build/carried/usr/include/carried.h")"
	same "the path given to CMake" "$work/build/carried/usr" \
		"$(sed -n 's/^CMAKE_PREFIX_PATH=\([^:]*\).*/\1/p' "$work/gpu/work/works/logs/environment.out")"
	cases=$((cases + 1))
	! grep -E '^(LD_LIBRARY_PATH|LIBRARY_PATH|CPATH)=.*/carried/' "$work/gpu/work/works/logs/environment.out" ||
		fail "a compiler or the loader uses carried packages"
}

# ---- a rehearsal: as if there were a GPU, on the simulated libraries and with a PyTorch that is made up ----

# What a GPU machine answers with. The build is taken as it is.
make_up_a_machine() {
	mkdir -p "$work/fake"
	cat >"$work/fake/nvidia-smi" <<-'SCRIPT'
		#!/bin/sh
		case $* in
		*driver_version*) echo 0.0 ;;
		*) echo "No GPU" ;;
		esac
	SCRIPT
	printf '#!/bin/sh\nexit 0\n' >"$work/fake/cmake"
	cat >"$work/fake/python" <<-'SCRIPT'
		#!/bin/sh
		# The pipeline's recordings are those of the demo; everything else is as it is.
		case "$*" in
		*"import sys, torch"*)
			echo "3.0 2.0 0.0 0"
			exit
			;;
		*self_forcing.py*) ;;
		*cost.py*)
			printf 'default: slower by\tmeasured\t1\t%%\t\t\n'
			exit
			;;
		*) exec "$REAL_PYTHON" "$@" ;;
		esac
		events='{"requests": [{"name": "request 0", "total_ms": 1.0, "fps_end_to_end": 1.0, "blocks": []}]}'
		recorded=$VPTRACE_OUTPUT
		while [ $# -gt 0 ]; do
			case $1 in
			--trace) recorded=$2 ;;
			--events) echo "$events" >"$2" ;;
			--profiler) printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "dur": 1}]}' | gzip >"$2" ;;
			esac
			shift
		done
		[ -z "$recorded" ] || cp "$DEMO_CAPTURE" "$recorded"
	SCRIPT
	chmod +x "$work/fake/nvidia-smi" "$work/fake/cmake" "$work/fake/python"
}

rehearse() { # rehearse WORDS...
	rule="rehearsal of $*"
	cases=$((cases + 1))
	PATH=$work/fake:$PATH REAL_PYTHON=$(command -v "$python") DEMO_CAPTURE=$work/demo.zst OUT=$work/copies VPT_BUILD=$bin \
		VPT_GPU_LIBRARIES=$bin/standin PYTHON=$work/fake/python sh "$run_sh" --out "$work/gpu" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	found=$?
}

try_rehearsal() {
	make_up_a_machine
	rm -rf "$work/gpu" "$work/copies"
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/demo.zst \
		"$bin/vptrace-demo" --blocks 2 --steps 2 --layers 2 >"$work/out" 2>"$work/err" || fail "no capture of the demo"
	rehearse sequence demo-plain
	same "exit code where the demo finds no GPU" 1 "$found"
	says_row sequence "records of kernels 8 (>= 8)"
	says_row demo-plain "it ran on the simulated GPU"
	says out "RESULTS of No GPU"
	rehearse complete capture cost-loop
	says_row against-profiler "kernels"
	says_row full-size "checks that hold"
	says_row cost-loop "default: slower by 1 %"
	same "one clean capture" yes "$(cmp -s "$work/demo.zst" "$work/copies/flash.zst" && echo yes)"
	same "few files" "archives-1.tar archives-2.tar flash.zst results.txt rows.tsv summary.txt" "$(cd "$work/copies" && echo *)"
	same "phases of the first run, and of the second" "works.tar.gz complete.tar.gz capture.tar.gz cost.tar.gz" \
		"$(for file in "$work"/copies/archives-*.tar; do tar tf "$file"; done | tr '\n' ' ' | sed 's/ $//')"
	tar xOf "$work/copies/archives-2.tar" capture.tar.gz | tar tz >"$work/files"
	rule="the archive of capture"
	for file in captures/flash.zst captures/flash.txt captures/flash.line captures/full-size.zst facts.txt; do
		says files "$file"
	done
	same "results of a simulated GPU are none of a real one" "failed" "$(status_of demo-plain)"
	simulated demo-plain
	says out "works/demo-plain [simulated] ok"
	VPT_GPU_TORCH=0
	export VPT_GPU_TORCH
	rehearse coexist-after
	unset VPT_GPU_TORCH
	same "exit code without PyTorch" 3 "$found"
	says_row coexist-after "not run"
}

# ---- two clients of CUPTI in one process ----

# coexist KINETO CASE OUTCOME: what is seen with such a torch.profiler is what is expected of it
coexist() {
	rule="coexist.py $2, Kineto $1"
	cases=$((cases + 1))
	rm -rf "$work/modules"
	cp -r "$source/tests/support/standin_torch" "$work/modules"
	mkdir "$work/modules/torch/lib"
	symbols='\0cuptiActivityRegisterCallbacks\0'
	[ "$1" = registers ] || symbols="$symbols"'cuptiSubscribe\0'
	# shellcheck disable=SC2059
	printf "$symbols" >"$work/modules/torch/lib/libtorch_cpu.so"
	STANDIN_KINETO=$1 PYTHONPATH=$work/modules VPTRACE_LIBRARY=$bin/libvptrace.so LD_LIBRARY_PATH=$bin/standin timeout 60 \
		"$python" "$source/bench/gpu/coexist.py" "$2" "$work/coexist.zst" --analyze "$VPT_ANALYZE" >"$work/out" 2>"$work/err" ||
		fail "$rule: it ended badly: $(tail -n 1 "$work/err")"
	says out "Kineto $1"
	same "$rule: as expected" "$3" "$(awk -F '\t' '$1 == "as expected" && $2 == "ok" { print $3 }' "$work/out" | tr '\n' ' ' |
		sed 's/ $//')"
	rm -f "$work"/coexist*.zst
}

try_clients() {
	coexist subscribes twice "whole whole"
	coexist subscribes after nothing
	coexist registers after whole
	coexist subscribes trace-during nothing
}

sanitized=
nm -D "$bin/libvptrace.so" 2>/dev/null | grep -q __asan_init && sanitized=yes
if [ -x "$bin/vptrace-demo" ] && [ -e "$bin/libvptrace.so" ] && [ -z "$sanitized" ]; then
	try_phases
	try_runner
	try_carried
	try_rehearsal
	try_clients
fi

# ---- the pipeline without PyTorch, and with one that is too old ----

# pipeline_with RULE SENTENCE: with the modules in $work/modules
pipeline_with() {
	rule=$1
	cases=$((cases + 1))
	PYTHONPATH=$work/modules "$python" "$source/bench/pipelines/self_forcing.py" --tiny --device cpu \
		>"$work/out" 2>"$work/err" </dev/null
	same "$rule: the exit code" 1 $?
	rule=$1
	says err "self_forcing.py: expected PyTorch 2.5 or later, $2"
	same "$rule: one line" 1 "$(wc -l <"$work/err")"
}
rm -rf "$work/modules"
mkdir -p "$work/modules/torch/nn"
echo 'raise ModuleNotFoundError("No module named torch")' >"$work/modules/torch/__init__.py"
pipeline_with "no PyTorch" "but $("$python" -c 'import sys; print(sys.executable)') cannot import it: No module named torch"
echo '__version__ = "2.1.0"' >"$work/modules/torch/__init__.py"
: >"$work/modules/torch/nn/__init__.py"
: >"$work/modules/torch/nn/functional.py"
pipeline_with "a PyTorch without torch.nn.attention" "found 2.1.0"
printf 'class SDPBackend: MATH = 0\ndef sdpa_kernel(): pass\n' >"$work/modules/torch/nn/attention.py"
pipeline_with "a PyTorch without cuDNN's attention" "found 2.1.0"

# ---- the pipeline on the CPU ----

if ! "$python" -c 'import torch' 2>/dev/null; then
	[ "$failures" = 0 ] || finish
	echo "$cases cases, 0 failed"
	skip "all of that is well; without PyTorch for $python the pipeline was not tried"
fi
VPTRACE_LIBRARY=$bin/libvptrace.so
VPTRACE_PROFILE=none
export VPTRACE_LIBRARY VPTRACE_PROFILE
cases=$((cases + 1))
"$python" "$source/bench/pipelines/self_forcing.py" --tiny --device cpu --trace "$work/tiny.zst" --events "$work/events.json" \
	>"$work/out" 2>"$work/err" || fail "the pipeline on the CPU"
rule="the pipeline"
says out "on a cpu: these numbers say nothing about a GPU"
expect 0 "the pipeline's capture" "$work/tiny.zst" --format json
for range in "video 0=1" block=3 step=6 "context pass=3" denoise=3 text_encode=1 vae_decode=3 to_host=3; do
	same "ranges: ${range%=*}" "${range#*=}" \
		"$("$VPT_ANALYZE" cat "$work/tiny.zst" --kind range --format csv | grep -c ",${range%=*},,0,")"
done
same "frames ready" 3 "$("$VPT_ANALYZE" cat "$work/tiny.zst" --kind mark --format csv | grep -c ',frames ready,,0,')"
finish
