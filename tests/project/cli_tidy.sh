#!/bin/sh
# clang-tidy finds nothing of what .clang-tidy asks for.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
command -v clang-tidy >/dev/null || skip "there is no clang-tidy"
[ -f "$bin/compile_commands.json" ] || skip "no compile_commands.json"
cd "$source" || exit 1

# A fault that it must find, so that an empty answer means something.
cat >"$work/bad.c" <<'C'
int twice(int a);
int twice(int a)
{
	if (a == 1 || a == 1)
		return 2;
	return a;
}
C
cases=$((cases + 1))
cp .clang-tidy "$work"
clang-tidy --quiet "$work/bad.c" -- >"$work/out" 2>"$work/err" && fail "a redundant comparison is not found"
find formats tracer analysis -name '*.c' | sort >"$work/files"
[ "$(wc -l <"$work/files")" -gt 100 ] || fail "the sources were not found"
cases=$((cases + $(wc -l <"$work/files")))
xargs -P 2 -n 8 clang-tidy -p "$bin" --quiet <"$work/files" >"$work/out" 2>"$work/err" ||
	fail "$(grep -E ' (warning|error): ' "$work/out" | sort -u | head -n 10)"
finish
