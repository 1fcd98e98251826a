#!/bin/sh
# A reader made of FORMAT.md alone (support/decode.py) finds the rows that the program finds, and FORMAT.md's example
# is what the program writes.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
for program in python3 zstd; do
	"$program" --version >/dev/null 2>&1 || skip "no $program"
done
cd "$work" || exit 1

expect 0 "the schema" schema
kinds=$(sed -n 's/^\([a-z]*\), kind .*/--kind \1/p' out | grep -v ' string$')

# same_rows CODE CAPTURE: rows of every kind, tables too.
same_rows() {
	expect "$1" "cat of $2" cat "$2" $kinds
	cp out rows
	python3 "$source/tests/support/decode.py" "$source/formats" "$2" rows >out 2>err ||
		fail "FORMAT.md and the program read $2 differently"
}

need_trace small.zst small_trace
same_rows 0 small.zst
need_trace chunks.zst kernels_trace 70000
same_rows 0 chunks.zst
# Those that were not stopped, or say that something was lost, are read as well; the exit code says what they are.
for capture in "$source"/tests/corpus/good-*.zst; do
	case $capture in
	*/good-four-chunks.zst | */good-hostile-names.zst | */good-samples.zst | */good-small.zst) same_rows 0 "$capture" ;;
	*) same_rows 3 "$capture" ;;
	esac
done
same_rows 3 "$source/tests/corpus/bad-torn.zst"

# The check itself notices a row that is missing and a number that is wrong.
expect 0 "cat of two ranges" cat "$source/tests/corpus/good-small.zst" --kind range
cp out rows
python3 "$source/tests/support/decode.py" "$source/formats" "$source/tests/corpus/good-small.zst" rows >out 2>err &&
	fail "rows that are missing were not noticed"
cases=$((cases + 1))

# ---- the example ----
sed -n '/^```json$/,/^```$/p' "$source/formats/FORMAT.md" | sed '1d;$d' >example.json
sed -n '/^## An example/,$p' "$source/formats/FORMAT.md" |
	sed -n 's/^[0-9a-f][0-9a-f][0-9a-f]  \([0-9a-f ]*[0-9a-f]\) *|.*/\1/p' | tr -s ' \n' '\n\n' >said
expect 0 "the example" convert example.json -o example.zst
zstd -qdc example.zst | od -An -v -tx1 | tr -s ' ' '\n' | grep . >found
cmp -s said found || {
	diff said found | head -n 5 >out
	fail "FORMAT.md's example is not what the program writes"
}
same "its offsets add up" "$(wc -l <found | tr -d ' ')" "$(zstd -qdc example.zst | wc -c | tr -d ' ')"
finish
