#!/bin/sh
# clang builds everything that gcc builds, tests included, without a warning.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
only_in_plain_build
command -v cmake >/dev/null || skip "cmake is not installed"
command -v clang >/dev/null || skip "there is no clang"
cd "$work" || exit 1

need_trace small.zst small_trace
expect 0 "a report of the other build's" small.zst
cp out other.out
[ -s other.out ] || fail "an empty report"

CCACHE_NOHASHDIR=1
export CCACHE_NOHASHDIR
launcher=
command -v ccache >/dev/null && launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
generator=
command -v ninja >/dev/null && generator="-G Ninja"
# shellcheck disable=SC2086
cmake $generator -S "$source" -B build $launcher -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DVPT_WERROR=ON -DVPT_TESTS=ON \
	>out 2>err || { fail "cmake ended with $?"; finish; }
cases=$((cases + 1))
# Some 300 tests are compiled, but not linked where Ninja can leave that out: the linker is the same one.
if [ "$generator" ]; then
	ninja -C build -t targets all >targets 2>err
	sed -n 's/^\(.*\.c\.o\): .*/\1/p' targets >objects
	[ "$(wc -l <objects)" -gt 1000 ] || fail "expected more than 1,000 objects, found $(wc -l <objects)"
	echo vptrace-analyze >>objects
	xargs ninja -C build -j 2 <objects >out 2>err
else
	cmake --build build -j 2 >out 2>err
fi || { grep -E 'error|warning' out err | head -n 5; fail "clang does not build it"; }

# What it made reads what the other build made, and says the same.
VPT_ANALYZE=$work/build/vptrace-analyze
expect 0 "a report of clang's" small.zst
cmp -s out other.out || fail "the reports differ"
finish
