#!/bin/sh
# Mistakes in mark files: `vptrace run` lets the command's Python judge them before the command runs, and refuses in its words.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
command -v python3 >/dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "python3 is older than 3.8"
[ -e "$bin/libvptrace.so" ] || skip "$bin/libvptrace.so is not built"
cd "$work" || exit 1
for variable in $(env | sed -n 's/^\(VPTRACE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
PYTHONPATH=$source/tracer/python
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

# refused RULE WORDS MARKS: nothing runs
refused() {
	rule=$1
	cases=$((cases + 1))
	rm -f ran
	"$bin/vptrace" run --mark "$3" -o none.zst -- touch ran >out 2>err </dev/null
	found=$?
	[ "$found" = 2 ] || fail "$rule: expected exit code 2, found $found"
	[ ! -e ran ] || fail "$rule: the command has run"
	same "$rule" "vptrace: $2" "$(cat err)"
}

printf '# mine\nm:f = stepp\n' >my.marks
words='expected one of block, block begin, block end, context, frames, none, pass, request, stage, step, step begin, step end, found "stepp"'
refused "a mark file" "my.marks:2: $words" my.marks
refused "a mark file after a preset" "./my.marks:2: $words" wan,./my.marks
printf 'm:f = step\n# \304\n' >latin.marks
refused "a mark file in another encoding" "latin.marks:2: expected UTF-8, found the byte 0xc4" latin.marks
rule="Python says the same"
cases=$((cases + 1))
same "$rule" "latin.marks:2: expected UTF-8, found the byte 0xc4" "$(python3 -c 'from vptrace_marks import lines; lines.read("latin.marks")' 2>&1 | sed -n 's/.*MarkError: //p')"
refused "a rule" "mark_calls():1: $words" "m:f = stepp"
rule="the Python of the command judges"
cases=$((cases + 1))
mkdir pythons
printf '#!/bin/sh\necho asked >>asked\nexec %s "$@"\n' "$(command -v python3)" >pythons/python9
printf '#!/usr/bin/env python9\nopen("ran", "w")\n' >script
chmod +x pythons/python9 script
rm -f ran asked
PATH=$PWD/pythons:$PATH "$bin/vptrace" run --mark my.marks -o none.zst -- ./script >out 2>err </dev/null
same "$rule: exit code" 2 $?
[ ! -e ran ] || fail "$rule: the command has run"
same "$rule" "asked" "$(cat asked)"
same "$rule" "vptrace: my.marks:2: $words" "$(cat err)"
rule="nobody judges where there is no Python, or one that fails"
for python in none false; do
	cases=$((cases + 1))
	mkdir -p bare
	rm -f ran bare/python3
	ln -sf "$(command -v touch)" bare/touch
	[ "$python" = none ] || ln -s "$(command -v false)" bare/python3
	PATH=$PWD/bare "$bin/vptrace" run --mark my.marks -o "$python.zst" -- touch ran >out 2>err </dev/null || fail "$rule ($python): expected exit code 0"
	[ -e ran ] || fail "$rule ($python): the command has not run"
done
rule="modules of the current folder and the user's variables do not take part"
cases=$((cases + 1))
echo 'raise SystemExit(3)' >ast.py
echo 'print("mine"); raise SystemExit(3)' >sitecustomize.py
PYTHONPATH=$PWD PYTHONSTARTUP=$PWD/ast.py "$bin/vptrace" run --mark "m:f = step index=i+1" -o own.zst -- touch ran >out 2>err </dev/null || fail "$rule: expected exit code 0"
rm -f ast.py sitecustomize.py
for preset in "$source"/tracer/python/vptrace_marks/presets/*.marks; do
	cases=$((cases + 1))
	"$bin/vptrace" run --mark "$preset" -o preset.zst -- true >out 2>err </dev/null || fail "$(basename "$preset") is refused"
done
rule="a pipe is read by the command, not before"
cases=$((cases + 1))
mkfifo pipe
printf 'm:f = step\n' >pipe &
timeout 20 "$bin/vptrace" run --mark ./pipe -o pipe.zst -- cat pipe >out 2>err </dev/null || fail "$rule: expected exit code 0"
says out "m:f = step"
wait
finish
