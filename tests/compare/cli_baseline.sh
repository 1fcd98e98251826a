#!/bin/sh
# cli_baseline.sh - a capture beside the report of the same capture: nothing differs, whatever the capture has.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1
compared=0

# nothing_differs FILE: its report, then both compared. Captures without work on a GPU cannot be compared, and files that are no
# captures have no report.
nothing_differs() {
	name=$(basename "$1")
	"$VPT_ANALYZE" "$1" --format json >report.json 2>err
	case $? in
	0 | 3) ;;
	*) return ;;
	esac
	cases=$((cases + 1))
	"$VPT_ANALYZE" compare --no-pager --baseline report.json "$1" >out 2>err
	code=$?
	# The file lacks that (1), or it is not what was asked for (2).
	case $code in
	1 | 2) grep -q 'has no work on a GPU' err && return ;;
	esac
	case $code in
	0 | 3) ;;
	*) fail "$name beside its report: expected exit code 0 or 3, found $code" ;;
	esac
	compared=$((compared + 1))
	grep -q '^VERDICT SAME' out || fail "$name is not the same as its report"
	grep -q '^SET-UP  The same' out || fail "$name has another set-up than its report"
	grep -q '^WHY     Every part of the mean [a-z]* is equal' out || fail "$name has other parts than its report"
}

for file in "$source"/tests/corpus/*-*; do
	nothing_differs "$file"
done
[ "$compared" -ge 50 ] || fail "compared $compared files of the corpus, expected 50 or more"

lines_trace 2 >lines.json
small_trace >small.json
steps_trace 6 100 >steps.json
for file in lines.json small.json steps.json; do
	nothing_differs "$PWD/$file"
done
"$VPT_ANALYZE" lines.json --format json >report.json 2>err
if [ -s report.json ]; then
	cases=$((cases + 1))
	grep -q '"function": "post"' report.json || fail "the report has no line of Python"
fi

folder=${VPT_SHARED:-$source/../shared}/traces
found=0
for file in "$folder"/*.json.gz "$folder"/*.sqlite; do
	[ -f "$file" ] || continue
	found=1
	nothing_differs "$file"
done
[ "$found" = 1 ] || echo "SKIPPED: real traces: no folder $folder"
finish
