#!/bin/sh
# --format html: one page that a browser shows without a message or a request. It is well-formed, its policy names its own style
# and script, its links land, names stay text, each number is that of the JSON report, its size and cost are bounded. All of it is
# checked without a browser; where there is a Chromium, also in it.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
. "$source/tests/support/outputs/page.sh"
need_python 3.9
cd "$work" || exit 1

# makes NAME FILE OPTIONS...: NAME.html and NAME.report of it
makes() {
	name=$1
	shift
	cases=$((cases + 1))
	timeout 60 "$VPT_ANALYZE" "$@" --format html --force -o "$name.html" >out 2>err </dev/null
	code=$?
	[ $code = 124 ] && fail "the page of ${1##*/} takes a minute"
	[ $code = 0 ] || [ $code = 3 ] || return 1
	"$VPT_ANALYZE" "$@" --format json --top 100 --force -o "$name.report" 2>>err
	as_plain_file "$name.html" "$@" --format html --force -o "$name.html"
	as_plain_file "$name.report" "$@" --format json --top 100 --force -o "$name.report"
	pages=$((pages + 1))
}
# page NAME FILE OPTIONS...: the same, checked against the JSON report
page() {
	makes "$@" || return 1
	holds "the page of ${2##*/}" check "$name.html"
	holds "the numbers of ${2##*/}" numbers "$name.html" "$name.report"
}
pages=0
small_trace >small.json
page small small.json || fail "no page of a small trace"
holds "colours" colours small.html "$source"
grep -q '<td class="t s v-unknown"><span>unknown<' small.html || fail "a checklist whose verdicts have no class"
# All at once: to start a Python for each takes longer than to look at the page.
mkdir corpus
for file in "$source"/tests/corpus/*-* "$source"/../shared/traces/*.gz "$source"/../shared/traces/*.sqlite; do
	[ -f "$file" ] && makes "corpus/${file##*/}" "$file" --target 16
done
same "pages were made" 1 "$([ $pages -ge 20 ] && echo 1)"
set --
for file in corpus/*.html; do
	set -- "$@" -- "$file"
done
shift
looked_at corpus/*.html || holds "the pages of the corpus" check "$@"
set --
for file in corpus/*.html; do
	set -- "$@" -- "$file" "${file%.html}.report"
done
shift
looked_at corpus/*.html || {
	holds "the numbers of the corpus" numbers "$@"
	same "their numbers were compared" 1 "$([ "$(awk '/ cells$/ { sum += $1 } END { print sum }' out)" -ge 5000 ] && echo 1)"
}

# ---- what people must see ----
holds "a small page is small" check small.html
grep -q 'class="badge green">COMPLETE' small.html || fail "a page that does not say COMPLETE"
incomplete=
for file in "$source"/tests/corpus/*-*; do
	"$VPT_ANALYZE" "$file" --full >out 2>err </dev/null
	[ $? = 3 ] || continue
	expect 3 "an incomplete trace" "$file" --format html
	says out 'class="badge red">INCOMPLETE'
	incomplete=$file
	break
done
[ "$incomplete" ] || fail "the corpus has no incomplete trace"
expect 0 "the command" small.json --format html --top 7 --target 23.976 --range "step, one"
says out "vptrace-analyze small.json --format html --top 7 --target 23.976 --range &#39;step, one&#39;"
expect 2 "no page over another" small.json --format html -o small.html
says err "small.html"

# ---- names ----
python3 "$source/tests/support/corpus/hostile.py" hostile.json
page hostile hostile.json || fail "no page of hostile names"
holds "hostile names stay text" names hostile.html ZQX
cp hostile.json '"><script>ZQX<.json'
page hostile_path './"><script>ZQX<.json' || fail "no page of a hostile path"
holds "a hostile path stays text" names hostile_path.html ZQX

# ---- a pipeline; counters ----
if has_demo "a page with blocks"; then
	demo demo --sync-per-layer
	page demo demo.zst --target 16 || fail "no page of the demo"
	for id in summary blocks waterfall fix-first overview stages attention kernels gaps copies syncs ranges help block-chart timeline; do
		grep -q " id=\"$id\"" demo.html || fail "the demo's page has no $id"
	done
	same "sections in their order" "summary blocks waterfall fix-first overview stages attention checklist kernels gaps copies syncs ranges said graphs devices more help" \
		"$(sections demo.html)"
	same "what to fix first is on the first screen" "fix-1 fix-2 fix-3 fix-first" \
		"$(sed -n '/ id="summary"/,/^<\/section/s/.* href="#\(fix-[a-z0-9]*\)".*/\1/p' demo.html | tr '\n' ' ' | sed 's/ $//')"
	# The command below before and after, as a reader would copy it, predicts what the page shows; the stages add up to it.
	sed -n '/id="before-after"/,/^<\/section/p' demo.html | sed "s/&#39;/'/g; s/&gt;/>/g" >before_after
	command=$(sed -n 's/^<pre class="command">vptrace-analyze \(.*\)<\/pre>$/\1/p' before_after)
	eval "\"\$VPT_ANALYZE\" $command --format json" >out 2>err || fail "the command below before and after: $command"
	predicted=$(sed -n 's/.*"predicted_ms": \([0-9.]*\),.*/\1/p' out | head -n 1)
	sed -n 's/^<tr\( class="sum"\)\{0,1\}>.*<td class="n" data-v="\([0-9]*\)">.*<td class="n" data-v="\([0-9]*\)">.*/\2 \3/p' before_after |
		awk 'NR == 1 { a = $1; b = $2; next } { a -= $1; b -= $2 }
			END { exit !(NR >= 5 && a < NR && a > -NR && b < NR && b > -NR) }' || fail "before and after: the stages do not add up"
	whole=$(sed -n 's/^<tr class="sum">.*data-v="\([0-9]*\)">.*/\1/p' before_after)
	awk -v ms="$predicted" -v ns="$whole" 'BEGIN { off = ms - ns / 1e6; exit !(ms > 0 && off < 0.001 && off > -0.001) }' ||
		fail "before and after has $whole ns, the command predicts $predicted ms"
	grep -q 'SIMULATED: no GPU ran' demo.html || fail "the demo's page does not say SIMULATED"
fi
if [ -x "${VPT_BIN:-}/host_counters" ] && [ -d "${VPT_BIN:-}/standin" ]; then
	counters counters 6 "power=100@0,1100@10000;memory=10000000000@0,80000000000@12000"
	page counters counters.zst || fail "no page with counters"
	[ "$(grep -c '<figure class="counter">' counters.html)" -ge 2 ] || fail "a page without charts of its counters"
	grep -q 'Power' counters.html || fail "a page without power"
	# With their charts open, the pages of half of the demos would have more than 5,000 pixels before everything else.
	same "charts of counters are folded" 1 "$(sed -n '/ id="counters"/,/^<\/section/p' counters.html | grep -c '^<details class="rows">')"
else
	echo "SKIPPED: a page with counters: no host_counters was built"
fi

# ---- an hour on eight GPUs; a million events ----
python3 "$source/tests/support/traces/hour.py" hour.json
page hour hour.json --target 13.4 --frames-per-block 12 || fail "no page of an hour"
[ "$(wc -c <hour.html)" -le 1500000 ] || fail "the page of an hour has $(wc -c <hour.html) bytes"
rm -f hour.json hour.report
if grep -qs -e '-fsanitize' "${VPT_BIN:-.}/compile_commands.json"; then
	echo "SKIPPED: cost of a page: this is the build with sanitizers"
else
	kernels_trace 1000000 >million.json
	"$VPT_ANALYZE" convert million.json -o million.zst 2>err || fail "a million events"
	rm -f million.json
	holds "a page of a million events costs a second at most" cost "$VPT_ANALYZE" "$work/million.zst"
	cat out
	[ "$(wc -c <cost.html)" -le 1500000 ] || fail "the page of a million events has $(wc -c <cost.html) bytes"
fi

# ---- in a browser ----
in_browser small.html hostile.html hour.html demo.html counters.html
finish
