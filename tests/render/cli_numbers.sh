#!/bin/sh
# The numbers of reports, in every golden report and in those of real traces, where they are at hand: none has an exponent, and an amount
# with a unit has at most four digits that count, as "1.70 s" has, or is whole.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
need_python 3.8
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
traces=${VPT_SHARED:-$source/../shared}/traces

cat >"$work/numbers.py" <<'PY'
"""numbers.py FILE: the numbers of a report that no person reads well, and, last, how many amounts it has."""
import json, re, sys

def sentences(value):
    if isinstance(value, dict):
        return [s for v in value.values() for s in sentences(v)]
    if isinstance(value, list):
        return [s for v in value for s in sentences(v)]
    return [value] if isinstance(value, str) else []

text = open(sys.argv[1], errors="replace").read()
if sys.argv[1].endswith(".json"):
    text = "\n".join(sentences(json.loads(text)))
is_page = "<html" in text[:200]
if is_page:
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.S)
for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+(?!\w)", text):
    print("an exponent: " + found)
amounts = re.findall(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) (ns|us|ms|s|kB|MB|GB|TB|%)(?![\w/])", text)
for number, unit in amounts:
    digits = number.replace(",", "").replace(".", "").lstrip("0")
    # A page says to the microsecond where its pictures begin and end.
    if "." in number and len(digits) > 4 and unit != "%" and not is_page:
        print("too many digits: %s %s" % (number, unit))
print(len(amounts))
PY
amounts=0
# read_well WHAT FILE: by the program above.
read_well() {
	python3 "$work/numbers.py" "$2" >"$work/out" 2>"$work/err" || fail "$1 cannot be read"
	same "numbers of $1" "" "$(sed '$d' "$work/out" | head -n 5)"
	amounts=$((amounts + $(sed -n '$p' "$work/out")))
}

for golden in "$source"/tests/golden/*.txt "$source"/tests/golden/*.json "$source"/tests/golden/*.md; do
	[ -f "$golden" ] && read_well "${golden##*/}" "$golden"
done
[ $amounts -gt 1000 ] || fail "expected more than 1,000 amounts in the golden reports, found $amounts"
same "an exponent is found" "an exponent: 1.7e+03" "$(printf '556 of 1.7e+03 ms' >"$work/bad.txt" && python3 "$work/numbers.py" "$work/bad.txt" | sed '$d')"

# readable TRACE: whether this build reads its kind.
readable() {
	"$VPT_ANALYZE" info "$1" >"$work/out" 2>"$work/err"
	[ $? != 1 ] || {
		grep -q 'built without' "$work/err" || fail "$1 is not read"
		return 1
	}
}

# Times a thousand times as long as usual, which fixed units do not fit.
for ms in 5 5000 5000000; do
	lines_trace $ms >"$work/long.json"
	readable "$work/long.json" || continue
	for format in text md json html; do
		expect 0 "a report as $format" "$work/long.json" --format $format -o "$work/long.$ms.$format"
		mv "$work/long.$ms.$format" "$work/report.$format"
		read_well "gaps of $ms ms as $format" "$work/report.$format"
	done
done
[ -d "$traces" ] || echo "SKIPPED: real traces: there is no $traces"
for trace in "$traces"/*.json.gz "$traces"/*.sqlite; do
	[ -f "$trace" ] || continue
	readable "$trace" || continue
	for format in text md json; do
		"$VPT_ANALYZE" "$trace" --format $format >"$work/report.$format" 2>"$work/err"
		read_well "${trace##*/} as $format" "$work/report.$format"
	done
done
finish
