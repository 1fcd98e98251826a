#!/bin/sh
# The numbers of reports, in every golden report and in those of real traces, where they are at hand: none has an exponent, and an amount
# with a unit has at most four digits that count, as "1.70 s" has, or is whole.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
need_python 3.8
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
traces=${VPT_SHARED:-$source/../shared}/traces

cat >"$work/numbers.py" <<'PY'
"""numbers.py FILE...: the numbers of reports that no person reads well, each with its file, and, last, how many amounts all have."""
import json, re, sys

def sentences(value):
    if isinstance(value, dict):
        return [s for v in value.values() for s in sentences(v)]
    if isinstance(value, list):
        return [s for v in value for s in sentences(v)]
    return [value] if isinstance(value, str) else []

def look(path):
    """How many amounts the report has."""
    text = open(path, errors="replace").read()
    if path.endswith(".json"):
        text = "\n".join(sentences(json.loads(text)))
    is_page = "<html" in text[:200]
    if is_page:
        text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.S)
    for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+(?!\w)", text):
        print("%s: an exponent: %s" % (path, found))
    amounts = re.findall(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) (ns|us|ms|s|kB|MB|GB|TB|%)(?![\w/])", text)
    for number, unit in amounts:
        digits = number.replace(",", "").replace(".", "").lstrip("0")
        # A page says to the microsecond where its pictures begin and end.
        if "." in number and len(digits) > 4 and unit != "%" and not is_page:
            print("%s: too many digits: %s %s" % (path, number, unit))
    return len(amounts)

print(sum(map(look, sys.argv[1:])))
PY
# read_well LEAST FILE...: by the program above; they have so many amounts. One Python looks at all: to start it takes longer.
read_well() {
	least=$1
	shift
	cases=$((cases + $# - 1))
	python3 "$work/numbers.py" "$@" >"$work/out" 2>"$work/err" || fail "a report cannot be read"
	same "numbers that no person reads well" "" "$(sed '$d' "$work/out" | head -n 5)"
	[ "$(sed -n '$p' "$work/out")" -gt "$least" ] || fail "expected more than $least amounts, found $(sed -n '$p' "$work/out")"
}

read_well 1000 "$source"/tests/golden/*.txt "$source"/tests/golden/*.json "$source"/tests/golden/*.md
same "an exponent is found" "$work/bad.txt: an exponent: 1.7e+03" "$(printf '556 of 1.7e+03 ms' >"$work/bad.txt" && python3 "$work/numbers.py" "$work/bad.txt" | sed '$d')"

# readable TRACE: whether this build reads its kind.
readable() {
	"$VPT_ANALYZE" info "$1" >"$work/out" 2>"$work/err"
	[ $? != 1 ] || {
		grep -q 'built without' "$work/err" || fail "$1 is not read"
		return 1
	}
}

mkdir "$work/reports"
# Times a thousand times as long as usual, which fixed units do not fit.
for ms in 5 5000 5000000; do
	lines_trace $ms >"$work/long.json"
	readable "$work/long.json" || continue
	for format in text md json html; do
		expect 0 "a report as $format" "$work/long.json" --format $format -o "$work/reports/long.$ms.$format"
	done
done
[ -d "$traces" ] || echo "SKIPPED: real traces: there is no $traces"
for trace in "$traces"/*.json.gz "$traces"/*.sqlite; do
	[ -f "$trace" ] || continue
	readable "$trace" || continue
	for format in text md json; do
		"$VPT_ANALYZE" "$trace" --format $format >"$work/reports/${trace##*/}.$format" 2>"$work/err"
	done
done
[ -z "$(ls "$work/reports")" ] || read_well 100 "$work"/reports/*
finish
