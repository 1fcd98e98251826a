#!/bin/sh
# --only prints a section of the full report as it stands there, and all of them make the report.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
cd "$work" || exit 1

names=$("$VPT_ANALYZE" analyze --help | sed -n '/^Sections of a text report/,/^$/s/^  //p')
same "the help names sections" 1 "$([ "$(echo $names | wc -w)" -gt 10 ] && echo 1)"

small_trace >small.json
kernels_trace 500 >kernels.json

# page FILE CODE: all sections that have something are the page up to NEXT, but for empty lines between them. Iterations one by one are
# printed for who asks for them only.
page() {
	expect "$2" "the page of $1" "$1" --full
	sed '/^NEXT  /,$d; /^$/d' out >page
	: >joined
	filled=0
	for name in $names; do
		expect "$2" "--only $name of $1" "$1" --only "$name"
		grep -q ": nothing to show\$" out && continue
		[ "$name" = iterations ] && continue
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
