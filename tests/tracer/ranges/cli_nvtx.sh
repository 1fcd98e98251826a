#!/bin/sh
# NVTX for real: programs compiled against its headers, the tracer loaded by NVTX, alone and after another tool.
# And vptrace_nvtx.h in C and C++, with NVTX, without it, and with nobody listening.
set -u
cd "$VPT_SOURCE_DIR" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc} cxx=${CXX:-c++}
command -v "$cc" >/dev/null || { echo "SKIPPED: no C compiler"; exit 77; }
[ -f "$VPT_BIN/libtracer.a" ] || { echo "SKIPPED: the tracer was not built"; exit 77; }
warnings="-Wall -Wextra -Wconversion -Wpedantic -Werror"
nvtx=
for folder in ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/local/cuda/include; do
	[ -f "$folder/nvtx3/nvToolsExtPayload.h" ] && nvtx="-isystem $folder" && break
done
# What is built with a sanitizer can be loaded only into what is.
sanitize=
nm "$VPT_BIN/libtracer.a" 2>/dev/null | grep -q __asan_ && sanitize="-fsanitize=address,undefined"
export ASAN_OPTIONS=detect_leaks=0
failed=0

fail() {
	echo "FAILED: $1"
	failed=1
}

# same NAME EXPECTED FOUND
same() {
	[ "$2" = "$3" ] && return
	fail "$1"
	printf '%s\n--- expected above, found below ---\n%s\n' "$2" "$3"
}

marks='range DOMAIN text encoding note 2 -1 -1 -1 -1
range DOMAIN step 2 note 4 2 -1 -1 750.5
range DOMAIN context pass note 5 13 -1 -1 -1
range DOMAIN block 13 note 3 13 12 3 -1
mark DOMAIN frames ready note 6 13 12 -1 -1
range DOMAIN stage note 2 -1 -1 -1 -1
range DOMAIN a cat note 1 -1 -1 -1 -1'
in_nvtx=$(echo "$marks" | sed 's/DOMAIN/vptrace/')
in_library=$(echo "$marks" | sed 's/DOMAIN/-/')
plain='range library registered payload 2: 0 bytes
mark - wide
range library registered payload 2: 0 bytes
range - outer'

# library NAME SONAME SOURCE FLAGS...
library() {
	name=$1 soname=$2 source=$3
	shift 3
	# shellcheck disable=SC2086
	$cc -std=gnu11 -D_GNU_SOURCE=1 -I. -O1 -fPIC -shared $sanitize -o "$work/$name" "$source" \
		-Wl,-soname,"$soname" -Wl,-z,nodelete "$@" -lpthread -ldl || fail "$name: does not compile"
}

# host NAME COMPILER FLAGS...
host() {
	name=$1
	shift
	# shellcheck disable=SC2086
	"$@" -I. -O1 $warnings $sanitize -o "$work/$name" tests/tracer/ranges/nvtx_host.c -ldl || fail "$name: does not compile"
}

# run HOST VARIABLE=...: what it prints, without what it would inherit
run() {
	name=$1
	shift
	env -u NVTX_INJECTION64_PATH -u VPTRACE_NVTX_CHAIN "$@" "$work/$name" 2>&1 || echo "exit code $?"
}

library libvptrace.so libvptrace.so.0 tests/tracer/ranges/nvtx_recorder.c -Wl,-u,InitializeInjectionNvtx2 \
	-Wl,-u,InitializeInjectionNvtxExtension -Wl,-u,vptrace_note_push "$VPT_BIN/libtracer.a" "$VPT_BIN/libformats.a"
injection=NVTX_INJECTION64_PATH=$work/libvptrace.so
[ $failed = 0 ] || exit 1

host c_bare "$cc" -std=c11 -DVPTRACE_NO_NVTX
same "C without NVTX, nobody listens" "" "$(run c_bare)"
same "C without NVTX, the library is loaded" "$in_library" "$(run c_bare "HOST_LOADS=$work/libvptrace.so")"
command -v "$cxx" >/dev/null || echo "SKIPPED: no C++ compiler"
if command -v "$cxx" >/dev/null; then
	host cxx_bare "$cxx" -std=c++11 -DVPTRACE_NO_NVTX -x c++
	same "C++ without NVTX" "$in_library" "$(run cxx_bare "HOST_LOADS=$work/libvptrace.so")"
fi
# The host's NVTX is older than the payload extension that lies in another folder: the two cannot be mixed.
mkdir -p "$work/old/nvtx3" "$work/other/nvtx3"
echo '#define NVTX_VERSION 3' >"$work/old/nvtx3/nvToolsExt.h"
echo '#error of another version' >"$work/other/nvtx3/nvToolsExtPayload.h"
printf '%s\n' '#include <nvtx3/nvToolsExt.h>' '#include "tracer/vptrace_nvtx.h"' 'int main(void) { return 0; }' >"$work/mixed.c"
# shellcheck disable=SC2086
$cc -I. -I"$work/old" -I"$work/other" $sanitize -o "$work/mixed" "$work/mixed.c" -ldl || fail "NVTX of two versions: does not compile"

if [ -z "$nvtx" ]; then
	[ $failed = 0 ] && echo "SKIPPED: no NVTX headers, so only vptrace_nvtx.h without them was tested" && exit 77
	exit 1
fi

# shellcheck disable=SC2086
host c_nvtx "$cc" -std=c11 $nvtx
same "NVTX, nobody listens" "" "$(run c_nvtx)"
same "NVTX, no such tool" "" "$(run c_nvtx "NVTX_INJECTION64_PATH=$work/none.so")"
same "NVTX" "$in_nvtx
$plain" "$(run c_nvtx "$injection")"
same "NVTX has no tool, but the library is loaded" "$in_library" "$(run c_nvtx "HOST_LOADS=$work/libvptrace.so")"
if command -v "$cxx" >/dev/null; then
	# shellcheck disable=SC2086
	host cxx_nvtx "$cxx" -std=c++11 $nvtx -x c++
	same "NVTX in C++" "$in_nvtx
$plain" "$(run cxx_nvtx "$injection")"
fi

library tool.so tool.so tests/tracer/ranges/nvtx_tool.c
library refuses.so refuses.so tests/tracer/ranges/nvtx_tool.c -DTOOL_REFUSES
everything="$in_nvtx
$plain
tool: 8 pushes 8 pops 1 starts 1 ends 2 marks 0 wrong"
same "after another tool" "$(echo "$everything" | sort)" \
	"$(run c_nvtx "$injection" "VPTRACE_NVTX_CHAIN=$work/tool.so" | sort)"
same "after a tool that refuses" "$(printf '%s\n' "$in_nvtx" "$plain" \
	"tool: 0 pushes 0 pops 0 starts 0 ends 0 marks 0 wrong" | sort)" \
	"$(run c_nvtx "$injection" "VPTRACE_NVTX_CHAIN=$work/refuses.so" | sort)"
for chain in "" "$work/none.so" "$work/libvptrace.so" /dev/null; do
	same "after \"$chain\", which is no other tool" "$in_nvtx
$plain" "$(run c_nvtx "$injection" "VPTRACE_NVTX_CHAIN=$chain")"
done

# NVTX 2 is a library of CUDA 12 and before, with the same slots.
v2=$(find ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda /usr/lib -name 'libnvToolsExt.so.1' 2>/dev/null | head -1)
if [ -n "$v2" ]; then
	cat >"$work/v2.c" <<-'END'
		extern int nvtxRangePushA(const char *), nvtxRangePop(void);
		int main(void) { nvtxRangePushA("two"); nvtxRangePop(); return 0; }
	END
	# shellcheck disable=SC2086
	$cc $sanitize -o "$work/v2" "$work/v2.c" "$v2" -Wl,-rpath,"$(dirname "$v2")" || fail "v2: does not compile"
	same "NVTX 2" "range - two" "$(run v2 "$injection")"
else
	echo "SKIPPED: no libnvToolsExt.so.1, NVTX 2"
fi
exit $failed
