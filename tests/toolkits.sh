#!/bin/sh
# Builds vptrace beside one or more CUDA toolkits and holds its declarations of CUPTI and NVTX against their headers:
#
#   sh tests/toolkits.sh FOLDER...
#
# A FOLDER is a toolkit, or any folder that has cupti.h, cuda.h, nvtx3/nvToolsExt.h and libcupti somewhere below it, for example
# a few of NVIDIA's packages unpacked into one place. First it is built as users build it, then with the checks. Then the sizes of
# CUPTI's records by its headers are compared with those by its library. Builds go to build-toolkits/.
#
# Exits with 0 where all of it succeeded, with 1 otherwise; the output of a build is in the log beside it.
set -u
[ $# -gt 0 ] || { echo "usage: sh tests/toolkits.sh FOLDER..." >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck disable=SC1091
. "$top/tests/setup.sh"
failures=0

fail() { # fail TEXT [LOG]
	failures=$((failures + 1))
	echo "  FAIL: $1"
	[ -z "${2-}" ] || grep -E ' error:|CMake Error|expected|differs' "$2" | head -n 5 | sed 's/^/    /'
}

# gather FOLDER ROOT: links a folder's headers and libraries into one toolkit.
gather() {
	rm -rf "$2"
	mkdir -p "$2/include" "$2/lib64"
	find -L "$1" \( -name cupti.h -o -name cuda.h -o -path '*/nvtx3/nvToolsExt.h' \) -type f | while read -r header; do
		folder=$(dirname "$header")
		case $header in */nvtx3/*) folder=$(dirname "$folder") ;; esac
		cp -rs "$(cd "$folder" && pwd)/." "$2/include/" 2>/dev/null
	done
	find -L "$1" -name 'libcupti.so.[0-9]*' -type f | while read -r library; do
		ln -sf "$(cd "$(dirname "$library")" && pwd)/$(basename "$library")" "$2/lib64/"
	done
	[ -e "$2/include/cupti.h" ] && [ -e "$2/include/cuda.h" ] && [ -e "$2/include/nvtx3/nvToolsExt.h" ]
}

# make_targets BUILD ROOT CHECKS TARGET...: CHECKS is ON or OFF
make_targets() {
	made=$1 root=$2 checks=$3
	shift 3
	rm -f "$made/CMakeCache.txt"
	(configure "$made" -DVPT_CUDA_ROOT="$root" -DVPT_TESTS=OFF -DVPT_LAYOUT_CHECKS="$checks") >"$made.out" 2>&1 &&
		build "$made" --target "$@" >"$made.out" 2>&1
}

cd "$top" || exit 1
mkdir -p build-toolkits
for folder in "$@"; do
	name=$(basename "$folder")
	base=$top/build-toolkits/$name
	echo "$folder"
	if ! gather "$folder" "$base"; then
		fail "expected cupti.h, cuda.h and nvtx3/nvToolsExt.h below it"
		continue
	fi
	if ! make_targets "$base-build" "$base" OFF libvptrace vptrace-demo; then
		fail "a user's build" "$base-build.out"
		continue
	fi
	if ! make_targets "$base-build" "$base" ON vptrace-demo layout_checks layout_sizes; then
		fail "a build with checks" "$base-build.out"
		continue
	fi
	grep -q "^CUPTI_INCLUDE:PATH=$base/include$" "$base-build/CMakeCache.txt" || fail "the checks did not use its headers"
	for library in "$base"/lib64/libcupti.so.*; do
		[ -e "$library" ] || { fail "expected libcupti.so.* below it"; continue; }
		"$base-build/tests/layout/layout_sizes" "$library" >"$base.sizes" 2>&1 || fail "sizes of records" "$base.sizes"
		sed 's/^/  /' "$base.sizes"
	done
done
[ $failures = 0 ] && echo "all toolkits: no difference" || echo "$failures failures"
[ $failures = 0 ]
