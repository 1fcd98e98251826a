#!/bin/sh
# --only prints a section of the report as it stands on the page, and all of them make the page; the first screen has at most 40 lines,
# which begin as the page does.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/demo.sh"
cd "$work" || exit 1

names=$(sed -n 's/^VPA_SECTION("\([a-z-]*\)".*/\1/p' "$source/analysis/render/text/text_sections.def")
same "sections.def was read" 1 "$([ "$(echo $names | wc -w)" -gt 10 ] && echo 1)"

small_trace >small.json
kernels_trace 500 >kernels.json

# page FILE CODE: all sections that have something are the page up to NEXT, but for empty lines between them.
page() {
	expect "$2" "the page of $1" "$1" --full
	sed '/^NEXT  /,$d; /^$/d' out >page
	: >joined
	filled=0
	for name in $names; do
		expect "$2" "--only $name of $1" "$1" --only "$name"
		grep -q ": nothing to show\$" out && continue
		filled=$((filled + 1))
		[ -n "$(head -n 1 out)" ] || fail "--only $name of $1 begins with an empty line"
		sed '/^$/d' out >>joined
	done
	cases=$((cases + 1))
	diff page joined >out || fail "the sections of $1 (>) are not its page (<)"
}
page small.json 0
same "sections of the small trace" 1 "$([ "$filled" -ge 6 ] && echo 1)"
page kernels.json 0
if has_demo "a page with blocks"; then
	demo demo --blocks 4 --steps 2 --layers 2 --sync-per-layer --requests 2
	page demo.zst 0
	same "sections of a pipeline" 1 "$([ "$filled" -ge 12 ] && echo 1)"
fi

# ---- brief ----
briefs=0
for file in small.json kernels.json demo.zst "$source"/tests/corpus/*-*; do
	[ -f "$file" ] || continue
	"$VPT_ANALYZE" "$file" --full >full 2>/dev/null </dev/null
	code=$?
	[ $code = 0 ] || [ $code = 3 ] || continue
	briefs=$((briefs + 1))
	expect $code "--brief of ${file##*/}" "$file" --brief
	lines=$(wc -l <out)
	[ "$lines" -le 40 ] || fail "--brief of ${file##*/} has $lines lines"
	[ "$(head -n 6 out)" = "$(head -n 6 full)" ] || fail "--brief of ${file##*/} begins unlike the page"
	# Whatever is wrong with the file, each fix is there.
	sed -n '/^FIX FIRST/,/^ \* /s/^ \([1-5]\) .*/\1/p' full >numbers
	sed -n '/^FIX FIRST/,/^ \* /s/^ \([1-5]\) .*/\1/p' out >brief
	cmp -s numbers brief || fail "--brief of ${file##*/} lacks what to fix"
	! sed -n '/^FIX FIRST/,$p' out | grep -q 'more lines$' || fail "--brief of ${file##*/} cuts what to fix"
done
# Nor does a narrow terminal or a fault of the pipeline take one away.
# numbered FILE: the numbers of its fixes, to standard output.
numbered() {
	sed -n '/^FIX FIRST/,/^ \* /s/^ \([1-5]\) .*/\1/p' "$1"
}
knobs=0
if has_demo "briefs of each knob"; then
	for knob in --sync-per-layer "--slow-host 90000" --offload --eager --two-streams --graph --vae-at-end --threads "--requests 5"; do
		demo knob --blocks 5 --steps 2 --layers 4 $knob
		for COLUMNS in 40 60 80; do
			export COLUMNS
			expect 0 "the page of $knob, $COLUMNS columns" knob.zst --full
			numbered out >numbers
			expect 0 "--brief of $knob, $COLUMNS columns" knob.zst --brief
			numbered out >brief
			cmp -s numbers brief || fail "--brief of $knob, $COLUMNS columns, lacks what to fix"
			[ "$(wc -l <out)" -le 40 ] || fail "--brief of $knob, $COLUMNS columns, is longer than 40 lines"
			[ ! -s brief ] || knobs=$((knobs + 1))
		done
		unset COLUMNS
	done
	[ $knobs -ge 20 ] || fail "expected 20 briefs of knobs with something to fix, found $knobs"
fi
[ $briefs -ge 60 ] || fail "expected 60 reports or more, found $briefs"
COLUMNS=60
export COLUMNS
expect 0 "--brief on a narrow page" small.json --brief --top 100
[ "$(wc -l <out)" -le 40 ] || fail "--brief on a narrow page has $(wc -l <out) lines"
unset COLUMNS
real=0
for file in "${VPT_SHARED:-$source/../shared}"/traces/*.json.gz "${VPT_SHARED:-$source/../shared}"/traces/*.sqlite; do
	[ -f "$file" ] || continue
	real=$((real + 1))
	"$VPT_ANALYZE" "$file" --brief >out 2>/dev/null </dev/null
	grep -q '^No GPU work\|RESULT .*No GPU work\|^ 1 ' out || fail "--brief of ${file##*/} lacks what to fix"
done
[ $real -gt 0 ] || echo "SKIPPED: no real traces beside the source tree"
# 40 GPUs with idle time of several causes have more to say than fits.
awk 'BEGIN {
	printf "{\"traceEvents\":["
	for (i = 0; i < 40; i++) for (k = 0; k < 2; k++) {
		n = 2 * i + k + 1; at = 1000 + 500 * k + i
		printf "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},", (n > 1 ? ",\n" : ""), at, n
		printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":%d,\"stream\":7,\"correlation\":%d}}", n, at + 10, 100 + i, i, n
	}
	printf "]}"
}' >many.json
COLUMNS=60 "$VPT_ANALYZE" many.json --brief >out 2>err </dev/null
cases=$((cases + 1))
[ "$(wc -l <out)" -le 40 ] || fail "many GPUs on a narrow page have $(wc -l <out) lines"
same "the end is what to fix" 1 "$(tail -n 4 out | grep -c '^ \* if nothing else')"

# ---- misuse ----
expect 2 "a section that does not exist" small.json --only kernel
says err "expected one of summary "
says err 'found "kernel"'
expect 2 "--only as JSON" small.json --only kernels --format json
says err "--only applies to the text report"
expect 2 "--brief as JSON" small.json --brief --format json
says err "--brief applies to the text report"
expect 2 "both" small.json --full --only kernels
says err "cannot be combined"
finish
