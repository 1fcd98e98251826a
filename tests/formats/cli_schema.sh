#!/bin/sh
# FORMAT.md's tables of kinds, columns, words and keys say what the program reads and writes. With VPT_RECORD=1 the
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

# A line for each key of META, made of metadata.def.
sed -n 's/^VPT_METADATA([A-Z0-9_]*, "\([^"]*\)", "\(.*\)")$/| `\1` | \2 |/p' "$formats/metadata.def" >"$work/keys"

if [ "${VPT_RECORD:-}" ]; then
	cat "$work/kinds" "$work/words" "$work/keys"
	exit 0
fi

awk '/^## / { on = 0 } /^### [0-9]/ { on = 1 } on' "$formats/FORMAT.md" | sed '/^$/d' >"$work/said-kinds"
sed '/^$/d' "$work/kinds" >"$work/have-kinds"
grep '^| [A-Z_]* | 0 ' "$formats/FORMAT.md" >"$work/said-words"
awk '/^## / { on = 0 } /^The keys of META/ { on = 1 } on' "$formats/FORMAT.md" | grep '^| `' >"$work/said-keys"

for table in kinds words keys; do
	[ -f "$work/have-$table" ] || cp "$work/$table" "$work/have-$table"
	cases=$((cases + 1))
	[ -s "$work/have-$table" ] || fail "no $table were found in the program"
	diff "$work/said-$table" "$work/have-$table" >"$work/out" ||
		fail "FORMAT.md's $table (<) are not those of the program (>)"
done
same "every kind is there" "$(grep -c '^VPT_KIND(' "$formats/events.def")" "$(grep -c '^###' "$work/said-kinds")"
same "every column is there" "$(grep -c '^VPT_COLUMN(' "$formats/events.def")" \
	"$(grep -c '^| [0-9]' "$work/said-kinds")"
same "every key is there" "$(grep -c '^VPT_METADATA(' "$formats/metadata.def")" "$(wc -l <"$work/said-keys" | tr -d ' ')"

# What the module and the marks record.
cat "$formats"/../tracer/python/*/*.py | grep -v '"""' | sed -n 's/.*[^a-z]metadata(b*"\([a-z.]*[a-z]\)".*/\1/p' | sort -u >"$work/python"
while read -r key; do
	cases=$((cases + 1))
	grep -q "^VPT_METADATA([A-Z0-9_]*, \"$key\"" "$formats/metadata.def" || fail "metadata.def lacks $key, which a module records"
done <"$work/python"
[ "$(wc -l <"$work/python")" -ge 3 ] || fail "no keys were found in tracer/python"
finish
