#!/bin/sh
# No stack is shown that never was: threads call, return, raise, run generators and coroutines, import, compile and end, while their
# stacks are read as fast as possible and compared with the list of all legal ones. Lines of instructions are those of the library's
# own code objects, as Python itself decodes them. VPT_STACK_SAMPLES=10000000 for a long run.
# Argument: a version of Python, such as 3.11; none: all.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
probe=$(cd "${VPT_BIN:-.}" && pwd)/libstack_probe.so
[ -e "$probe" ] || skip "the build without sanitizers tries it"

pythons "${1:-}" >"$work/pythons"
[ -s "$work/pythons" ] || skip "no Python ${1:-} found (VPT_PYTHONS names others)"
[ -n "${1:-}" ] || missing_pythons "$work/pythons"
while read -r version python; do
	cases=$((cases + 1))
	"$python" "$source/tests/stacks/lines.py" "$probe" >"$work/out" 2>"$work/err" </dev/null || fail "lines of Python $version"
	cat "$work/out"
	for threads in 3 32; do
		cases=$((cases + 1))
		"$python" "$source/tests/stacks/storm.py" "$probe" 1.5 "$threads" "$threads" >"$work/out" 2>"$work/err" </dev/null ||
			fail "Python $version, $threads threads"
		head -n 1 "$work/out"
	done
done <"$work/pythons"
finish
