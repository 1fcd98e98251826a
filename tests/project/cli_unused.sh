#!/bin/sh
# No function of the product is there for nobody: each is called, or is one of those below, which only tests call.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
have nm "which functions are called" || exit 77

# What tests ask a part about itself, or put in its place.
for_tests() {
	cat <<'FUNCTIONS'
vpt_io_use
vtr_budget_held
vtr_budget_of
vtr_names_count
vtr_nvtx_attached
vtr_threads_seen
FUNCTIONS
}

cd "$bin" || exit 1
# Of sources that are there: a build folder keeps the objects of files that have moved.
find . -path '*.dir/*.o' | grep -E '\.dir/(formats|tracer|analysis)/' | while read -r object; do
	file=${object#*.dir/}
	[ ! -e "$source/${file%.o}" ] || echo "$object"
done >"$work/objects"
[ "$(wc -l <"$work/objects")" -gt 300 ] || skip "no object files of the product in $bin"
xargs nm -P <"$work/objects" 2>/dev/null >"$work/symbols"
awk '$2 == "U" { called[$1] } $2 == "T" { defined[$1] } END { for (s in defined) if (!(s in called)) print s }' "$work/symbols" |
	grep -v -e '^main$' -e '^vptrace_' -e '^InitializeInjection' | sort >"$work/uncalled"
same "object files were read" 1 "$([ "$(awk '$2 == "T"' "$work/symbols" | wc -l)" -gt 1000 ] && echo 1)"
for_tests >"$work/for_tests"
while read -r function; do
	cases=$((cases + 1))
	count=$(grep -rhow --include='*.c' "$function" "$source/formats" "$source/tracer" "$source/analysis" | wc -l)
	if [ "$count" -gt 1 ]; then
		grep -qx "$function" "$work/for_tests" && fail "$function is called: it is no function for tests alone"
	elif ! grep -qx "$function" "$work/for_tests"; then
		fail "$function is called by nobody"
	else
		grep -rqw "$function" "$source/tests" "$source/bench" || fail "$function is called by no test either"
	fi
done <"$work/uncalled"
finish
