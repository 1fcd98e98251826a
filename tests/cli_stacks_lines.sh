#!/bin/sh
# Samples of Python stacks name slow lines: sleeps, calls that block or keep the GIL, a walk over modules, a lock that another
# thread holds, coroutines and handlers. Where the system refuses to read memory there are none, one fact says so, and the host lives.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/..}" && pwd)
. "$source/tests/support/pythons.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
command -v python3 >/dev/null || skip "there is no python3"

cp "$source/tracer/python/vptrace.py" "$source/tests/stacks/seccomp_filter.py" "$source/tests/stacks/slow_lines.py" "$work" || exit 1
PYTHONPATH=$work PYTHONDONTWRITEBYTECODE=1 VPTRACE_LIBRARY=$bin/libvptrace.so LD_LIBRARY_PATH=$bin/standin
VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13
export PYTHONPATH PYTHONDONTWRITEBYTECODE VPTRACE_LIBRARY LD_LIBRARY_PATH VPTRACE_LIBCUPTI
unset VPTRACE_STACKS VPT_SECCOMP
cd "$work" || exit 1

# record RULE PYTHON [VARIABLE=VALUE...]: records the program; facts about stacks are in ./facts afterwards.
record() {
	rule=$1
	python=$2
	shift 2
	cases=$((cases + 1))
	rm -f t.zst
	env "$@" "$python" slow_lines.py t.zst .5 >out 2>err </dev/null || fail "$rule: the program ended with $?"
	"$VPT_ANALYZE" check t.zst >out 2>err || fail "$rule: the capture is damaged"
	"$VPT_ANALYZE" cat t.zst -k meta 2>err | sed -n 's/.*"key":"\(stacks[^"]*\)","value":"\(.*\)"}/\1=\2/p' >facts
	"$VPT_ANALYZE" cat t.zst -k sample >samples 2>err
	"$VPT_ANALYZE" cat t.zst -k range >ranges 2>err
}

# lines_are_right SHARE
lines_are_right() {
	cases=$((cases + 1))
	python3 "$source/tests/support/slow_lines.py" slow_lines.py ranges samples "$1" >out 2>err || fail "$rule"
	[ -z "${VPT_VERBOSE:-}" ] || cat out
}

fact_is() {
	cases=$((cases + 1))
	grep -qx -- "$1" facts || fail "$rule: expected $1, found $(tr '\n' ' ' <facts)"
}

pythons >pythons
missing_pythons
[ -s pythons ] || skip "no Python found"
while read -r version python; do
	echo "Python $version, $python"
	record "Python $version" "$python"
	fact_is "stacks.python=$version"
	fact_is "stacks.hz=200"
	lines_are_right .3
done <pythons
first=$(head -n 1 pythons | cut -d ' ' -f 2)

record "stacks are off" "$first" VPTRACE_STACKS=0
same "no facts about stacks that are off" "" "$(cat facts)"
same "no samples of stacks that are off" "" "$(cat samples)"
record "another rate" "$first" VPTRACE_STACKS=50
fact_is "stacks.hz=50"
lines_are_right .12

if env VPT_SECCOMP=errno python3 -c 'import seccomp_filter; seccomp_filter.install()' 2>/dev/null; then
	while read -r version python; do
		record "Python $version without process_vm_readv()" "$python" VPT_SECCOMP=errno
		lines_are_right .05
	done <pythons
	record "a filter that kills" "$first" VPT_SECCOMP=kill
	lines_are_right .05
	record "no way to read memory" "$first" VPT_SECCOMP=all
	same "one fact: no way to read memory" \
		"stacks.unavailable=the system refuses process_vm_readv() and /proc/self/mem, by which this process would read its own memory" \
		"$(cat facts)"
	same "no samples: no way to read memory" "" "$(cat samples)"
else
	echo "SKIPPED: seccomp filters cannot be installed here"
fi
finish
