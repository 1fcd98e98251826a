#!/bin/sh
# --format md: at most 60 lines for every trace, the words of the text report, tables that a reader of GitHub's Markdown
# understands, and names that stay text.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1

# tables FILE: each table has a line of dashes, and rows of as many cells as its head; "\|" is no border.
tables() {
	sed 's/\\\\/__/g; s/\\|/__/g' "$1" | awk '
		/^\|/ { n = gsub(/\|/, "|"); if (!rows++) head = n; else if (n != head) { print "line " NR ": " n " borders, not " head; bad = 1 }
			if (rows == 2 && $0 !~ /^\|---\|(--:\|)*$/) { print "line " NR ": no line of dashes"; bad = 1 } next }
		{ if (rows == 1) { print "line " NR ": a table of one line"; bad = 1 } rows = 0 }
		END { exit bad }'
}

# page FILE: its page is well-formed and short.
page() {
	"$VPT_ANALYZE" "$1" --format md --target 16 >md 2>err </dev/null
	code=$?
	[ $code = 0 ] || [ $code = 3 ] || return
	cases=$((cases + 1))
	lines=$(wc -l <md)
	[ "$lines" -le 60 ] || fail "the page of ${1##*/} has $lines lines"
	[ "$lines" -ge 3 ] || fail "the page of ${1##*/} has $lines lines"
	tables md >out || fail "the tables of ${1##*/}"
	[ "$(head -c 9 md)" = "- **DATA*" ] || fail "the page of ${1##*/} does not begin with DATA"
	iconv -f UTF-8 -t UTF-8 md >out 2>err || fail "the page of ${1##*/} is not UTF-8"
	pages=$((pages + 1))
}
pages=0
small_trace >small.json
kernels_trace 500 >kernels.json
for file in small.json kernels.json "$source"/tests/corpus/*-* "$source"/../shared/traces/*.gz "$source"/../shared/traces/*.sqlite; do
	[ -f "$file" ] && page "$file"
done
same "pages were made" 1 "$([ $pages -ge 20 ] && echo 1)"

# ---- the words are those of the text ----
expect 0 "the page" small.json --format md
sed -n 's/^- \*\*\([A-Z]*\)\*\* \(.*\)$/\1 \2/p; s/^  - //p' out | sed 's/\\//g' >words
COLUMNS=120 "$VPT_ANALYZE" small.json --full 2>/dev/null | tr -s ' \n' '  ' >text
while read -r line; do
	cases=$((cases + 1))
	grep -qF -- "$(printf %s "$line" | tr -s ' ')" text || fail "the text does not say \"$line\""
done <words
same "paragraphs were compared" 1 "$([ "$(wc -l <words)" -ge 5 ] && echo 1)"

# ---- what is missing is said ----
incomplete=
for file in "$source"/tests/corpus/*-*; do
	"$VPT_ANALYZE" "$file" --full >out 2>err </dev/null
	[ $? = 3 ] || continue
	expect 3 "an incomplete trace" "$file" --format md
	says out "INCOMPLETE"
	incomplete=$file
	break
done
[ "$incomplete" ] || fail "the corpus has no incomplete trace"

# ---- names ----
if ! python3 "$source/tests/support/corpus/hostile.py" hostile.json 2>err; then
	echo "SKIPPED: hostile names: no python3"
	finish
fi
expect 0 "hostile names" hostile.json --format md
tables out >borders || fail "hostile names break a table: $(cat borders)"
says out 'a\|b\\\|c \`ZQX\`'
says out '\<script>'
says out '@<!-- -->someone #<!-- -->12'
says out 'http:<!-- -->//x.y'
says out 'www<!-- -->.z.org'
# Each backslash, bracket, star ... of a name has an odd number of backslashes before it.
cases=$((cases + 1))
sed 's/<!-- -->//g; s/<br>//g' out | tr -d '\n' | sed 's/\\[][\\`*<|~&_]//g' | grep -q '[`<~&[]' && fail "a name has an effect"
finish
