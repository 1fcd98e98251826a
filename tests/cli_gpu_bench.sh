#!/bin/sh
# What waits for a machine with a GPU works as far as it goes without: the comparing scripts on made-up data, the probes and
# bench/gpu/run.sh on the simulated GPU, the PyTorch pipeline on the CPU where python3 has PyTorch.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/..}" && pwd)
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
for file in "$source"/bench/gpu/*.py "$source"/bench/pipelines/*.py; do
	"$python" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))' "$file" || fail "$file"
done

# ---- run.sh on the simulated GPU ----

# dry PHASES...: the table in $work/out, the same for programs in $work/gpu/NAME.json
dry() {
	rule="run.sh --dry-run $*"
	cases=$((cases + 1))
	OUT=$work/gpu VPT_BUILD=$bin VPT_GPU_TORCH=0 PYTHON=$python sh "$source/bench/gpu/run.sh" --dry-run "$@" >"$work/out" 2>"$work/err" </dev/null
	found=$?
}
says_row() { # says_row STEP TEXT: a row of the step has the text
	cases=$((cases + 1))
	awk -v step="$1" '/^[^ ]/ { inside = $0 == step } inside' "$work/out" | grep -qF -- "$2" ||
		fail "$rule: expected \"$2\" under $1"
}

sanitized=
nm -D "$bin/libvptrace.so" 2>/dev/null | grep -q __asan_init && sanitized=yes
if [ -x "$bin/vptrace-demo" ] && [ -e "$bin/libvptrace.so" ] && [ -z "$sanitized" ]; then
	dry works questions
	same "exit code of $rule" 0 "$found"
	rule="works questions"
	says out "RESULTS of cpu, simulated: NOTHING HERE WAS MEASURED ON A GPU"
	says out " 0 failed"
	says_row "injection [simulated]" "ok"
	says_row "demo-plain-check [simulated]" "checks that hold 11 (= 11)"
	says_row "kinds [simulated]" "kernel.added"
	says_row "unload [simulated]" "names of kernels that are gone 20 (= 20)"
	says_row "session-2-check [simulated]" "checks that hold 11 (= 11)"
	same "places in the table" "cpu simulated" \
		"$(sed -n 's/^ *"where": "\(.*\)",$/\1/p' "$work/gpu/works-questions.json" | sort -u | tr '\n' ' ' | sed 's/ $//')"
	same "what the sequence tells of" yes "$(tar xzf "$work/gpu/works-questions.tar.gz" -C "$work" &&
		grep -q 'record kind 10,' "$work/works-questions/captures/sequence.txt" && echo yes)"

	# A step that fails is a row, the others go on; without time left they are left out.
	rm -rf "$work/gpu"
	VPT_GPU_SECONDS=0
	export VPT_GPU_SECONDS
	dry questions
	unset VPT_GPU_SECONDS
	says out "no time left"
	[ "$found" = 1 ] || fail "$rule without time: expected exit code 1, found $found"
fi
rule="misuse"
for words in --wrong "works nonsense"; do
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	OUT=$work/gpu sh "$source/bench/gpu/run.sh" $words >"$work/out" 2>"$work/err"
	[ $? = 2 ] || fail "$words: expected exit code 2"
done

# ---- the pipeline without PyTorch, and with one that is too old ----

# pipeline_with RULE SENTENCE: with the modules in $work/modules
pipeline_with() {
	rule=$1
	cases=$((cases + 1))
	PYTHONPATH=$work/modules "$python" "$source/bench/pipelines/self_forcing.py" --tiny --device cpu \
		>"$work/out" 2>"$work/err" </dev/null
	same "$rule: the exit code" 1 $?
	rule=$1
	says err "self_forcing.py: PyTorch 2.5 or later is needed, $2"
	same "$rule: one line" 1 "$(wc -l <"$work/err")"
}
mkdir -p "$work/modules/torch/nn"
echo 'raise ModuleNotFoundError("No module named torch")' >"$work/modules/torch/__init__.py"
pipeline_with "no PyTorch" "and $("$python" -c 'import sys; print(sys.executable)') cannot import it: No module named torch"
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
