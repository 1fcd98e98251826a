#!/bin/sh
# FORMAT.md's tables of kinds, columns and words say what the program reads and writes. With VPT_RECORD=1 the
# tables that it should have are printed instead.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
formats=${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/formats

# A heading, a sentence and a table for each kind, made of what `schema` prints.
expect 0 "the schema" schema
awk '/^[a-z]+, kind [0-9]+: / {
	kind = $1; number = $3; help = $0
	sub(",", "", kind); sub(":", "", number); sub(/^[^:]*: /, "", help)
	getline; sub(/^ */, ""); sub(/, lane:/, "; lane:"); sub(/^lane:/, "; lane:"); sub(/^; /, "")
	printf "### %s %s\n\n%s (%s)\n\n", number, kind, help, $0
	print "| id | column | encoding | unit | meaning |\n|---:|---|---|---|---|"
	in_kind = 1; next
}
in_kind && /^ *[0-9]+  / {
	id = $1; name = $2; encoding = $3; unit = $4
	for (i = 1; i <= 4; i++) sub(/^ *[^ ]+ +/, "")
	printf "| %s | %s | %s | %s | %s |\n", id, name, encoding, unit, $0
	next
}
in_kind && /^$/ { print "" }' "$work/out" >"$work/kinds"

# A line for each set of words, made of events.def; the sets have the names of their units there.
awk -F '[(,)]' '/^VPT_WORDS/ { unit = $2 }
/^VPT_NAME/ {
	set = unit; number = $4; text = $0
	sub(/^[^"]*"/, "", text); sub(/".*/, "", text); gsub(/ /, "", number)
	if (set != last) printf "%s| %s | ", last ? " |\n" : "", set
	else printf ", "
	printf "%s %s", number, text
	last = set
} END { print " |" }' "$formats/events.def" >"$work/words"

if [ "${VPT_RECORD:-}" ]; then
	cat "$work/kinds" "$work/words"
	exit 0
fi

awk '/^## / { on = 0 } /^### [0-9]/ { on = 1 } on' "$formats/FORMAT.md" | sed '/^$/d' >"$work/said-kinds"
sed '/^$/d' "$work/kinds" >"$work/have-kinds"
grep '^| [A-Z_]* | 0 ' "$formats/FORMAT.md" >"$work/said-words"

for table in kinds words; do
	[ -f "$work/have-$table" ] || cp "$work/$table" "$work/have-$table"
	cases=$((cases + 1))
	[ -s "$work/have-$table" ] || fail "no $table were found in the program"
	diff "$work/said-$table" "$work/have-$table" >"$work/out" ||
		fail "FORMAT.md's $table (<) are not those of the program (>)"
done
same "every kind is there" "$(grep -c '^VPT_KIND(' "$formats/events.def")" "$(grep -c '^###' "$work/said-kinds")"
same "every column is there" "$(grep -c '^VPT_COLUMN(' "$formats/events.def")" \
	"$(grep -c '^| [0-9]' "$work/said-kinds")"
finish
