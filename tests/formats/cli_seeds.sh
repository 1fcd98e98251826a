#!/bin/sh
# Tables are hashed with a key that differs in each run: all outputs have the same bytes in each.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1

# outputs FILE: everything that the program says of it, and its exit codes
outputs() {
	for form in text json md html; do
		"$VPT_ANALYZE" "$1" --format $form --top 100000 --no-progress -j2
		echo "report as $form: $?"
	done
	"$VPT_ANALYZE" info "$1"
	"$VPT_ANALYZE" cat "$1"
	"$VPT_ANALYZE" compare "$1" "$1" --format json
	"$VPT_ANALYZE" compare "$1" other.zst --format html
	for form in svg folded speedscope; do
		"$VPT_ANALYZE" stacks "$1" --of all --format $form
	done
	for form in perfetto chrome csv jsonl; do
		rm -rf exported
		"$VPT_ANALYZE" export "$1" --format $form --compress none -o exported --force
		echo "export as $form: $?"
		find exported -type f | sort | xargs cat
	done
	"$VPT_ANALYZE" convert "$1" -o converted --force
	cat converted
}

need_trace lines.zst lines_trace 2
need_trace steps.zst steps_trace 300 40 15
need_trace many.zst kernels_trace 6000
cp steps.zst other.zst
for trace in "$work"/need.json lines.zst steps.zst many.zst "$source"/tests/corpus/good-*; do
	cases=$((cases + 1))
	outputs "$trace" >first 2>&1 </dev/null
	[ "$(wc -c <first)" -gt 10000 ] || fail "${trace##*/}: outputs of only $(wc -c <first) bytes"
	outputs "$trace" >again 2>&1 </dev/null
	cmp -s first again || fail "${trace##*/}: the second run differs: $(cmp first again)"
done
finish
