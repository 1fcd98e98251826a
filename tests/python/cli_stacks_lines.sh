#!/bin/sh
# Samples of Python stacks name slow lines: sleeps, calls that block or keep the GIL, a walk over modules, a lock that another
# thread holds, coroutines and handlers; by each way of reading memory. Argument: a version of Python, such as 3.11; none: all.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
command -v python3 >/dev/null || skip "there is no python3"

cp -r "$source/tracer/python/vptrace" "$source/tests/stacks/seccomp_filter.py" "$source/tests/stacks/slow_lines.py" "$work" || exit 1
PYTHONPATH=$work PYTHONDONTWRITEBYTECODE=1 VPTRACE_LIBRARY=$bin/libvptrace.so LD_LIBRARY_PATH=$bin/standin
VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13
export PYTHONPATH PYTHONDONTWRITEBYTECODE VPTRACE_LIBRARY LD_LIBRARY_PATH VPTRACE_LIBCUPTI
unset VPTRACE_STACKS VPT_SECCOMP
cd "$work" || exit 1

# record RULE PYTHON SECONDS [VARIABLE=VALUE...]: records the program, each line for SECONDS; facts about stacks are in ./facts
# afterwards.
record() {
	rule=$1
	python=$2
	seconds=$3
	shift 3
	cases=$((cases + 1))
	rm -f t.zst
	env "$@" "$python" slow_lines.py t.zst "$seconds" >out 2>err </dev/null || fail "$rule: the program ended with $?"
	"$VPT_ANALYZE" check t.zst >out 2>err || fail "$rule: the capture is damaged"
	"$VPT_ANALYZE" cat t.zst -k meta 2>err | sed -n 's/.*"key":"\(stacks[^"]*\)","value":"\(.*\)"}/\1=\2/p' >facts
	"$VPT_ANALYZE" cat t.zst -k sample >samples 2>err
	"$VPT_ANALYZE" cat t.zst -k range >ranges 2>err
}

# lines_are_right RULE PYTHON [VARIABLE=VALUE...]: records the program until each line has the samples that naming it needs: the
# sampler takes as many as its share of a core pays for, and a busy machine needs longer for them.
lines_are_right() {
	rule=$1
	python=$2
	shift 2
	for seconds in .5 2 8; do
		record "$rule" "$python" "$seconds" "$@"
		cases=$((cases + 1))
		status=0
		python3 "$source/tests/support/captures/slow_lines.py" slow_lines.py ranges samples >out 2>err || status=$?
		[ "$status" -eq 2 ] || break
	done
	[ "$status" -eq 0 ] || fail "$rule, $seconds s for each line"
	torn=$(sed -n 's/^stacks.torn=//p' facts)
	[ "${torn:-0}" -le $(($(wc -l <samples) / 4)) ] || fail "$rule: $torn torn stacks"
	[ -z "${VPT_VERBOSE:-}" ] || cat out
}

fact_is() {
	cases=$((cases + 1))
	grep -qx -- "$1" facts || fail "$rule: expected $1, found $(tr '\n' ' ' <facts)"
}

pythons "${1:-}" >list
[ -s list ] || skip "no Python ${1:-} found (VPT_PYTHONS names others)"
[ -n "${1:-}" ] || missing_pythons list
filters=yes
env VPT_SECCOMP=errno python3 -c 'import seccomp_filter; seccomp_filter.install()' 2>/dev/null || filters=
former=
while read -r version python; do
	echo "Python $version, $python"
	lines_are_right "Python $version" "$python"
	fact_is "stacks.python=$version"
	fact_is "stacks.hz=200"
	# Two of a minor version have one layout: the second way is tried with one of them.
	if [ -z "$filters" ] || [ "${version%.*}" = "$former" ]; then
		continue
	fi
	former=${version%.*}
	lines_are_right "Python $version without process_vm_readv()" "$python" VPT_SECCOMP=errno
done <list
[ -n "$filters" ] || echo "SKIPPED: seccomp filters cannot be installed here"
finish
