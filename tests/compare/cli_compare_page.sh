#!/bin/sh
# compare --format html: one page that keeps the rules of the report's page. Its verdict is that of the text, each number that of
# the JSON, the bars of both sides stand where their times say, the parts add up, and names stay text. All of it is checked without
# a browser; where there is a Chromium, also in it.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
. "$source/tests/support/outputs/page.sh"
need_python 3.9
cd "$work" || exit 1

pages=0
cells=0
makes() { # makes NAME WORDS...: NAME.html and NAME.compared of a comparison
	name=$1
	shift
	cases=$((cases + 1))
	"$VPT_ANALYZE" compare "$@" --format html --force -o "$name.html" >out 2>err </dev/null
	code=$?
	[ $code = 0 ] || [ $code = 3 ] || return 1
	"$VPT_ANALYZE" compare "$@" --format json --force -o "$name.compared" 2>>err
	as_plain_file "$name.html" compare "$@" --format html --force -o "$name.html"
	as_plain_file "$name.compared" compare "$@" --format json --force -o "$name.compared"
	pages=$((pages + 1))
}
page() { # page NAME WORDS...: the same, the page checked against the JSON
	makes "$@" || return 1
	holds "the page $name" compared "$name.html" "$name.compared"
	count_cells
}
count_cells() {
	cells=$((cells + $(awk '/ cells$/ { sum += $1 } END { print sum + 0 }' out)))
}

# ---- small traces, and the corpus ----
small_trace >small.json
small_trace | sed 's/"ts": 1060, "dur": 30/"ts": 1060, "dur": 36/; s/"dur": 200/"dur": 206/' >slower.json
page own small.json small.json || fail "no page of a capture with itself"
page small small.json slower.json || fail "no page of small traces"
page runs small.json small.json small.json small.json -- slower.json slower.json slower.json slower.json || fail "no page of runs"
# All at once: to start a Python for each takes longer than to look at the page.
mkdir corpus
for file in "$source"/tests/corpus/*-*; do
	makes "corpus/${file##*/}" small.json "$file"
done
set --
for file in corpus/*.html; do
	set -- "$@" -- "$file" "${file%.html}.compared"
done
shift
looked_at corpus/*.html || {
	holds "the pages of the corpus" compared "$@"
	count_cells
}
same "pages were made" 1 "$([ $pages -ge 8 ] && echo 1)"
rule="what people must see"
says own.html 'class="badge green">SAME'
says own.html "The same, as far as it was recorded."
says small.html 'class="badge yellow">INCONCLUSIVE'
says small.html 'class="badge green">COMPLETE'
says runs.html 'class="badge red">SLOWER'
says runs.html "small.json and 3 more"
says runs.html "vptrace-analyze compare small.json small.json small.json small.json -- slower.json"
"$VPT_ANALYZE" compare small.json slower.json >text 2>err
words=$(sed -n 's/^VERDICT *INCONCLUSIVE: //p' text)
grep -qF ": ${words%.*}" small.html || fail "the page has other words than the text: $words"
incomplete=
for file in "$source"/tests/corpus/*-*; do
	"$VPT_ANALYZE" compare small.json "$file" --format html >out 2>err </dev/null
	[ $? = 3 ] || continue
	rule="an incomplete trace"
	says out 'class="badge red">INCOMPLETE'
	incomplete=$file
	break
done
[ "$incomplete" ] || fail "the corpus has no incomplete trace"
expect 2 "no page over another" compare small.json slower.json --format html -o small.html
says err "small.html"

# ---- names ----
python3 "$source/tests/support/corpus/hostile.py" hostile.json
page hostile small.json hostile.json || fail "no page of hostile names"
holds "hostile names stay text" names hostile.html ZQX 10
cp hostile.json '"><script>ZQX<.json'
page hostile_path './"><script>ZQX<.json' small.json || fail "no page of a hostile path"
holds "a hostile path stays text" names hostile_path.html ZQX 10

# ---- a pipeline ----
if has_demo "a page with blocks"; then
	demo plain
	demo sync --sync-per-layer --eager
	page demo plain.zst sync.zst || fail "no page of the demo"
	same "sections in their order" "summary setup waterfall parts stages kernels places counts findings help" \
		"$(sections demo.html)"
	rule="the demo"
	says demo.html 'SIMULATED: no GPU ran'
	says demo.html '<h1><span class="brand">vptrace</span> plain.zst'
	says demo.html "The kernels differ: "
	demo short --blocks 5
	page different plain.zst short.zst || fail "no page of different work"
	says different.html "A and B did different work: blocks, context passes."
	"$VPT_ANALYZE" plain.zst --format json -o plain.report 2>err
	page baseline --baseline plain.report sync.zst || fail "no page against a baseline"
fi
looked_at corpus/*.html || same "their numbers were compared" 1 "$([ $cells -ge 2000 ] && echo 1)"

# ---- the name of the page ----
mkdir -p main branch/deep
small_trace >main/run.json
cp main/run.json branch/run.json
cp main/run.json branch/deep/other.json
while IFS='|' read -r a b name; do
	expect 0 "the name of $a and $b" compare "$a" "$b" --format html
	same "$rule" "vptrace $name" "$(sed -n 's/.*<h1>\(.*\)<\/h1>.*/\1/p' out | sed 's/<[^>]*>//g')"
done <<'CASES'
main/run.json|branch/run.json|main/run.json → branch/run.json
main/run.json|branch/deep/other.json|run.json → other.json
main/run.json|main/run.json|run.json → run.json
main/run.json|./main/run.json|main/run.json → ./main/run.json
CASES

# ---- in a browser ----
in_browser small.html runs.html hostile.html demo.html baseline.html
finish
