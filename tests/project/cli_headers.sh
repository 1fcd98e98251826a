#!/bin/sh
# The public headers compile alone, in every C and C++ that they promise, without a warning, and a program of two files
# that include both of them links. No line is wider than 100 columns, and the version's numbers are the program's.
# shellcheck disable=SC1091,SC2015,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
only_in_plain_build
cd "$work" || exit 1
cp "$source/tracer/vptrace.h" "$source/tracer/vptrace_nvtx.h" .
version=$(sed -n 's/^#define VPTRACE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' vptrace.h | tr '\n' . | sed 's/\.$//')
expect 0 "the version" --version
says out "vptrace-analyze $version,"

for header in vptrace.h vptrace_nvtx.h; do
	same "$header fits 100 columns" "" "$(expand -t8 $header | grep -n '.\{101\}')"
	name=${header%.h}
	printf '#include <%s>\n#include <%s>\n' $header $header >$name.c
done
cat >two.c <<'C'
#include <vptrace_nvtx.h>
int elsewhere(void);
int main(void)
{
	vptrace_step_push(0, 937.5);
	vptrace_pop();
	return elsewhere() || VPTRACE_VERSION_NUMBER < 100;
}
C
cat >elsewhere.c <<'C'
#include <vptrace_nvtx.h>
int elsewhere(void);
int elsewhere(void)
{
	vptrace_request_push(0);
	vptrace_stage_push(0);
	vptrace_block_push(0, -1, -1);
	vptrace_context_push(0);
	vptrace_frames_ready(0, -1);
	vptrace_pop();
	return 0;
}
C

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
tried=
nvtx=
for folder in ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/local/cuda/include; do
	[ -f "$folder/nvtx3/nvToolsExtPayload.h" ] && nvtx="-isystem $folder" && break
done
# compiles COMPILER LANGUAGE STANDARD FLAGS...
compiles() {
	compiler=$1 language=$2 standard=$3
	shift 3
	tried="$tried $compiler"
	for file in vptrace.c vptrace_nvtx.c two.c elsewhere.c; do
		cases=$((cases + 1))
		"$compiler" -x "$language" -std="$standard" -I. $warnings "$@" -fsyntax-only "$file" >out 2>err ||
			fail "$compiler -std=$standard $*: $file does not compile"
	done
}
links() { # links COMPILER LANGUAGE FLAGS...
	compiler=$1 language=$2
	shift 2
	cases=$((cases + 1))
	"$compiler" -x "$language" -I. "$@" two.c elsewhere.c -ldl -o two >out 2>err && ./two ||
		fail "$compiler $*: does not link or run"
}
for compiler in gcc clang; do
	command -v $compiler >/dev/null || { echo "SKIPPED: no $compiler"; continue; }
	for standard in c99 c11 c17; do
		compiles $compiler c $standard -Wstrict-prototypes -DVPTRACE_NO_NVTX
		[ -z "$nvtx" ] || compiles $compiler c $standard $nvtx
	done
	links $compiler c -DVPTRACE_NO_NVTX
	[ -z "$nvtx" ] || links $compiler c $nvtx
done
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { echo "SKIPPED: no $compiler"; continue; }
	for standard in c++11 c++17 c++20; do
		compiles $compiler c++ $standard -DVPTRACE_NO_NVTX
		[ -z "$nvtx" ] || compiles $compiler c++ $standard $nvtx
	done
	links $compiler c++ -DVPTRACE_NO_NVTX
	[ -z "$nvtx" ] || links $compiler c++ $nvtx
done
[ -n "$nvtx" ] || echo "SKIPPED: no NVTX headers: vptrace_nvtx.h was compiled without them alone"
[ -n "$tried" ] || skip "there is neither gcc nor clang"

finish
