#!/bin/sh
# The slow model of idle time against another one: real traces and hand-computed cases, where they are at hand. Each trace's causes
# must agree to the nanosecond, and so must the headline of a case's longest gap.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}" && pwd)
model=$(cd "${VPT_BIN:-.}" && pwd)/model_causes
folder=${VPT_SHARED:-$source/../shared}/traces
[ -f "$folder/blame-cases.json" ] || skip "there are no cases in $folder"
command -v python3 >/dev/null || skip "there is no python3"
[ -x "$model" ] || { echo "FAIL: expected the program $model"; exit 1; }
printf '{"traceEvents": []}' >"$work/empty.json"
"$model" "$work/empty.json" >"$work/out" 2>"$work/err" || {
	grep -q 'built without' "$work/err" && skip "$(cat "$work/err")"
	fail "the model does not run"
	finish
}

cat >"$work/compare.py" <<'PY'
"""compare.py MODEL TRACE EXPECTED [HEADLINE]: what the model says of a trace, against causes as JSON and, of the longest gap of
a device, [device, cause, call, place]."""
import json, subprocess, sys

model, trace, expected = sys.argv[1:4]
says = json.loads(subprocess.run([model, trace], stdout=subprocess.PIPE, check=True).stdout)
have = {}
for device in says["devices"]:
    of = have.setdefault(str(device["device"]), {})
    for row in device["causes"]:
        of[row["cause"]] = of.get(row["cause"], 0) + row["ns"]
    if sum(of.values()) != device["idle_ns"]:
        sys.exit("causes do not sum to idle time")
want = json.loads(expected)
for device in sorted(set(have) | set(want)):
    a, b = have.get(device, {}), want.get(device, {})
    for cause in sorted(set(a) | set(b)):
        if a.get(cause) != b.get(cause):
            sys.exit("device %s, %s: expected %s ns, found %s" % (device, cause, b.get(cause), a.get(cause)))
if len(sys.argv) > 4:
    device, cause, call, place = json.loads(sys.argv[4])
    gap = max((g for g in says["gaps"] if str(g["device"]) == device), key=lambda g: g["end_ns"] - g["start_ns"])
    found = [gap["cause"], gap["call"] or "", gap["range"] or ""]
    if found != [cause, call, place]:
        sys.exit("headline: expected %s, found %s" % ([cause, call, place], found))
PY

# compare RULE TRACE EXPECTED [HEADLINE]
compare() {
	rule=$1
	shift
	cases=$((cases + 1))
	python3 "$work/compare.py" "$model" "$@" >"$work/out" 2>"$work/err" || fail "$rule"
}

# What is expected of a trace or case stands in one line each, with tabs between.
python3 - "$folder" "$work" >"$work/list" <<'PY'
import json, os, sys

folder, work = sys.argv[1:]
for line in open(os.path.join(folder, "blame-expected.jsonl")):
    want = json.loads(line)
    if os.path.exists(os.path.join(folder, want["trace"])):
        print(want["trace"], os.path.join(folder, want["trace"]),
              json.dumps({d: w["causes"] for d, w in want["devices"].items()}), "", sep="\t")
for n, case in enumerate(json.load(open(os.path.join(folder, "blame-cases.json")))):
    path = os.path.join(work, "case%d.json" % n)
    with open(path, "w") as out:
        json.dump({"traceEvents": case["events"]}, out)
    headline = json.dumps([case.get("device", "0")] + case["headline"]) if "headline" in case else ""
    print(case["name"], path, json.dumps(case["expect"]), headline, sep="\t")
PY
tab=$(printf '\t')
while IFS="$tab" read -r name path expected headline; do
	case $path in
	*.sqlite) "$VPT_ANALYZE" info "$path" >"$work/out" 2>&1 || { grep -q 'built without' "$work/out" && continue; } ;;
	esac
	compare "$name" "$path" "$expected" ${headline:+"$headline"}
done <"$work/list"
[ "$cases" -gt 30 ] || fail "expected more than 30 traces and cases"
finish
