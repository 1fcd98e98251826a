#!/bin/sh
# compare of two jobs of several ranks: a planted fault is what differs between them, the parts of a unit sum to its change, and JSON
# is as its schema says.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/outputs/schema.sh"
. "$source/tests/support/outputs/page.sh"
need_python 3.9
cd "$work" || exit 1

job() { # job NAME OPTION...
	folder=$1
	shift
	python3 "$source/tests/support/ranks_job.py" "$folder" "$@"
	rm "$folder/truth.json"
}
job one ranks=1 kernel=0:1600000
mv one/rank0.json one.json
job was kernel=5:300000 jitter=60000 setup=0:gloo
job is jitter=60000

# ---- what differs ----
expect 0 "two jobs" compare was is --base one.json --format json
silent err
cp out faster.json
cases=$((cases + 1))
python3 - >wrong <<'PY' || fail "two jobs: $(cat wrong)"
import json, sys
c = json.load(open("out"))
a, b = c["a"], c["b"]
parts = {p["part"]: p for p in c["parts"]}
def check(holds, what):
    if not holds:
        sys.exit(print(what, c) or 1)
check(c["verdict"] == "faster" and abs(c["speedup"] - a["unit_ns"] / b["unit_ns"]) < 0.001, "the verdict")
for side in "ab":
    check(sum(p[side + "_ns"] for p in c["parts"]) == c[side]["unit_ns"], "the parts of " + side)
check(all(p["delta_ns"] == p["b_ns"] - p["a_ns"] for p in c["parts"] + c["late_by"]), "the changes")
check((a["late"], a["late_ranks"], a["late_by"]) == ("one", "5", "gemm") and b["late"] == "all", "who is late")
# 4 kernels of rank 5 are 300 us longer in a step: the mean of 8 ranks, and what 7 wait for, but for the jitter
check(abs(parts["compute"]["delta_ns"] + 150000) < 3000 and abs(parts["waits"]["delta_ns"] + 1050000) < 250000, "the fault")
gemm = [l for l in c["late_by"] if l["what"] == "gemm"]
check(len(gemm) == 1 and abs(gemm[0]["delta_ns"] + 7 * 4 * 300000) < 250000 and c["late_by"][0] == gemm[0], "what ranks were later by")
check(c["setup"] == [{"name": "backend", "a": "gloo", "b": "nccl"}], "the set-up")
check(0 < a["efficiency"] < b["efficiency"] < 1, "the efficiency")
PY
expect 0 "in words" compare was is --base one.json
says out "FASTER: an iteration takes 2."
says out "A: rank 5 is late: gemm in ProfilerStep#*."
says out "Efficiency "
says out "backend: gloo -> nccl"
says out "waiting for other ranks"
expect 0 "as Markdown" compare was is --format md
says out "| **in all** |"
expect 0 "as a page" compare was is --base one.json --format html -o faster.html
silent err
holds "the page is sound" check faster.html
holds "its numbers are those of the JSON" numbers faster.html faster.json
same "its sections" "summary waterfall parts late-by setup help" "$(sections faster.html)"
rule="what people must see"
says faster.html 'class="badge green">FASTER'
says faster.html '<h1><span class="brand">vptrace</span> 8 ranks → 8 ranks'
says faster.html "rank 5 is late: gemm in ProfilerStep#*"
says faster.html "vptrace-analyze compare was is --base one.json --format html"
in_browser faster.html
expect 0 "a job with itself" compare was was --format json
cp out same.json
says out '"verdict": "same"'
same "nothing changed" 0 "$(grep delta_ns out | grep -vc ' 0,*$')"

# ---- the same of summaries, archives and lists ----
expect 0 "a summary" summarize was -o was.vps
expect 0 "beside a folder" compare was.vps is --base one.json --format json
same "the same bytes" "" "$(cmp out faster.json 2>&1)"
expect 0 "sides of several operands" compare was.vps -- is/rank[0-3].json is/rank[4-7].json --base one.json --format json
same "the same bytes of sides" "" "$(cmp out faster.json 2>&1)"

# ---- conditions ----
while IFS='|' read -r code condition words; do
	expect "$code" "$condition" compare is was --base one.json --fail-if "$condition"
	[ -z "$words" ] || says err "$words"
done <<'CASES'
4|period+2%|--fail-if period+2%: period 2.
4|waits+10%|--fail-if waits+10%: waits
4|waits>5%|--fail-if waits>5%: waits
4|efficiency-1%|--fail-if efficiency-1%: efficiency
4|efficiency<40%|--fail-if efficiency<40%: efficiency
0|period-2%|
0|period+90%|
0|waits-1%|
0|efficiency+1%|
2|fps-2%|the frames per second of a job are not known
2|busy-2%|expected fps, period, efficiency or waits
2|period2%|expected fps, period, efficiency or waits
2|waits<|expected efficiency, waits, busy or idle
CASES
expect 2 "an efficiency without a base" compare is was --fail-if 'efficiency-1%'
says err "the efficiency needs --base"

# ---- what cannot be compared ----
cp -r is short
sed -i '/user_annotation/d' short/*.json
expect 0 "other units" compare short is --format json
cp out unlike.json
expect 0 "other units in words" compare short is
if grep -q '"verdict": "unlike"' unlike.json; then
	says out "UNLIKE: A counts in windows, B in iterations"
else
	fail "other units: expected the verdict unlike"
fi
expect 2 "an option of captures" compare was is --top 3
says err "--top does not apply to jobs of several ranks"
expect 2 "a base without jobs" compare is/rank0.json is/rank1.json --base one.json
says err "--base applies to jobs of several ranks"
expect 2 "one job" compare was
mkdir empty
expect 2 "an empty side" compare was empty
says err "empty: "
cp -r is broken
echo "no trace" >broken/rank3.json
expect 3 "a side with a broken file" compare was broken --format json
cp out broken.json
says err "rank3.json"

schema_of compare-ranks
says schema.json '"$id": "vptrace.compare-ranks/1"'
fits "answers are as the schema says" schema.json faster.json same.json unlike.json broken.json
finish
