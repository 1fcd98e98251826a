# schema.sh - a schema that the program prints, and JSON that must be as it says; sourced after cli.sh, used in $work.

# schema_of WHAT: schema.json, and the same for people in schema.txt; both must list the same keys in the same order.
schema_of() {
	expect 0 "the schema of $1" schema --of "$1" --format json
	silent err
	cp out schema.json
	prints_as_plain schema.json schema --of "$1" --format json
	expect 0 "the same for people" schema --of "$1"
	silent err
	cp out schema.txt
	python3 - schema.json "$1" >keys.json <<'PY'
import json, sys
root = json.load(open(sys.argv[1]))
name = {"compare": "comparison", "what-if": "what_if", "compare-ranks": "compare_ranks"}.get(sys.argv[2], sys.argv[2])
for name, table in [(name, root)] + list(root["$defs"].items()):
    print(name, *table["properties"])
PY
	awk '/^[a-z_]+: / { if (line) print line; line = $1; sub(":", "", line); next }
		/^  [^ ]/ { line = line " " $1 }
		END { print line }' schema.txt >keys.txt
	same "both list the same keys" "$(cat keys.json)" "$(cat keys.txt)"
}

# answers FILE COMMAND...: keeps in FILE what the program prints of a capture of any quality. Fails if it prints nothing.
answers() {
	answer=$1
	shift
	cases=$((cases + 1))
	"$VPT_ANALYZE" "$@" --format json >"$answer" 2>err </dev/null
	case $? in
	0 | 3) ;;
	*) rm "$answer" && return 1 ;;
	esac
	prints_as_plain "$answer" "$@" --format json
}

# fits RULE WORDS...: the validator's verdict. The build without sanitizers has asked for it where all files have the same bytes.
fits() {
	rule=$1
	shift
	! looked_at "$@" || return 0
	cases=$((cases + 1))
	python3 "$source/tests/support/outputs/report_schema.py" "$@" >out 2>err || fail "$rule"
	grep SKIPPED out
	tail -n 1 out
}
