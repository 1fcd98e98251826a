#!/bin/sh
# A C compiler and libzstd are enough: without zlib, SQLite and libdeflate everything builds without a warning, captures
# are read and exported, and what is missing is named. The same build makes the static library, which pkg-config and find_package
# hand to programs.
# shellcheck disable=SC1091,SC2046,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
. "$source/tests/support/consumers.sh"
. "$source/tests/setup.sh"
only_in_plain_build
command -v cmake >/dev/null || skip "cmake is not installed"
command -v gcc >/dev/null || skip "there is no gcc"
cd "$work" || exit 1

need_trace small.zst small_trace
expect 0 "the report of a whole build" small.zst
cp out whole.out
[ -s whole.out ] || fail "an empty report"

# Objects that the libraries do not change are the other build's: Ninja knows them again in a folder beside it.
build=$bin-smallest
rm -rf "$build"
trap 'rm -rf "$work" "$build"' EXIT
cached() { # cached VARIABLE: how that build was configured
	sed -n "s/^$1:[A-Z]*=//p" "$bin/CMakeCache.txt"
}
take_objects "$build" "$bin"
cmake -G "$(cached CMAKE_GENERATOR)" -S "$source" -B "$build" -DCMAKE_C_COMPILER_LAUNCHER="$(cached CMAKE_C_COMPILER_LAUNCHER)" \
	-DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)" -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" -DVPT_TESTS=OFF -DVPT_WERROR=ON \
	-DVPT_STATIC=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON -DLIBDEFLATE_INCLUDE= -DLIBDEFLATE_LIBRARY= \
	>out 2>err || fail "cmake ended with $?"
for word in "no zlib: PyTorch" "no SQLite" "no libdeflate or zlib"; do
	grep -q "$word" out || fail "cmake does not say: $word"
done
cases=$((cases + 1))
cmake --build "$build" -j 2 >out 2>err || { grep -E 'error|FAILED' out | head -n 5; fail "it does not build"; finish; }
same "libraries of the analyzer" "" "$(ldd "$build/vptrace-analyze" | grep -E 'libz\.|sqlite|deflate')"

VPT_ANALYZE=$build/vptrace-analyze
expect 0 "the report of a capture" small.zst
cmp -s out whole.out || fail "the report of a capture is another one"
expect 0 "an export for Perfetto" export small.zst -o small.pftrace.zst --compress zstd
small_trace >small.json
expect 1 "a trace that needs zlib" small.json
says err "built without"

cmake --install "$build" --prefix "$work/usr" >out 2>err || fail "cmake --install ended with $?"
lib=$(dirname "$(find usr -name libvptrace.a)")
write_consumer
if have nm "the functions of the archive"; then
	same "the archive defines the public functions alone" "" \
		"$(nm -g --defined-only "$lib/libvptrace.a" | sed -n 's/^[0-9a-f]* [A-Z] //p' | grep -v -e '^vptrace_' -e '^InitializeInjection')"
fi
rm "$lib"/libvptrace.so* # what is linked now is the archive
if have pkg-config "the archive by pkg-config"; then
	cases=$((cases + 1))
	gcc consumer.c $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --static --cflags --libs vptrace) -o by-pkg-config >out 2>err ||
		fail "pkg-config --static: does not build"
	records "pkg-config --static" ./by-pkg-config
fi
cmake --install "$build" --prefix "$work/usr" >out 2>err || fail "cmake --install ended with $?"
find_package_consumer "find_package, static" vptrace::vptrace_static "$work/usr"
same "find_package, static: the archive was linked" "" "$(ldd consumer-build/consumer | grep vptrace)"
finish
