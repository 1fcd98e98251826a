#!/bin/sh
# `vptrace-analyze trend`: reports of an archive in order of time, with the figures that each of them has; a change is found where it is,
# noise is none, and tags select. The reports are made from one by changing what is asked about.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
cd "$work" || exit 1
"$VPT_ANALYZE" "$source/tests/corpus/good-small.zst" --format json --no-predict >base.json 2>err || [ $? = 3 ] || skip "no report to begin with: $(cat err)"

# archive FOLDER FPS...: a report for each number, a day after the other; the files' names are in another order than their times.
archive() {
	python3 - "$@" <<'PY'
import json, os, sys
folder, values = sys.argv[1], sys.argv[2:]
os.makedirs(folder, exist_ok=True)
for i, value in enumerate(values):
    report = json.load(open("base.json"))
    fps, idle = (float(part) for part in (value + "/0.1").split("/")[:2])
    request = report["requests"][0]
    period = round(12e9 / fps)
    block = dict(start_ns=0, end_ns=period, period_ns=period, warmup=False)
    request["blocks"].update(count=3, fps=fps, bps=fps / 12, span_ns=3 * period, series=[block] * 3)
    day = 1772323200 + 86400 * i  # 2026-03-01
    report["input"]["unix_offset_ns"] = day * 10**9 - report["input"]["window_start_ns"]
    report["system"]["tags"] = {"model": "wan" if i % 2 else "other", "commit": "c%02d" % i}
    device = report["devices"][0]
    whole = device["busy_ns"] + device["window_idle_ns"]
    device["window_idle_ns"] = round(idle * whole)
    device["busy_ns"] = whole - device["window_idle_ns"]
    part = dict(device["causes"][0], cause="host code", ns=device["window_idle_ns"])
    device["causes"] = [part]
    json.dump(report, open("%s/%02d.json" % (folder, len(values) - i), "w"))
PY
}
# columns COLUMN...: these columns of the CSV, a line for each report
columns() {
	python3 -c '
import csv, sys
for row in csv.DictReader(open("out", newline="")):
    print(*(row[name] for name in sys.argv[1:]))' "$@"
}

# ---- a change ----
archive step 16.0 16.2 15.9 16.1 15.8 16.0 14.1/0.25 13.9/0.26 14.0/0.24 14.2/0.25 13.8/0.25 14.0/0.25
expect 0 "a fall of FPS" trend step
says out "TREND   12 reports, 2026-03-01 00:00 to 2026-03-12 00:00 (UTC)"
tr -s ' \n' '  ' <out >line
cases=$((cases + 1))
grep -qF 'FPS fell from 16.00 to 14.00 (-12.5 %), from step/06.json on, 2026-03-07 00:00, commit c06: 6 reports before, 6 after, p 0.00' line ||
	fail "the change: $(head -c 600 line)"
grep -qF 'Idle for host code went from 10.0 to 25.0 % of the window' line || fail "its cause: $(head -c 600 line)"
grep -qF 'idle time rose from 10.0 to 25.0 % (+150.0 %)' line || fail "idle time: $(head -c 600 line)"
same "one row is marked" 1 "$(grep -c '^ *> ' out)"
expect 0 "as CSV" trend step --format csv
same "in order of time" "c00 c01 c02 c03 c04 c05 c06 c07 c08 c09 c10 c11" "$(columns commit | tr '\n' ' ' | sed 's/ $//')"
same "with its figures" "2026-03-07 00:00 14.1 0.25 1 1 0" "$(columns time fps idle_share changed:fps changed:idle_share changed:steps_per_s | sed -n 7p)"
same "whose causes are shares" "0.25" "$(columns 'idle:host code' | sed -n 7p)"
expect 0 "as JSON" trend step --format json
same "the change" "fps step/06.json 6 16.0 14.0 host code" "$(python3 -c '
import json
t = json.load(open("out"))
c = next(c for c in t["changes"] if c["figure"] == "fps")
assert t["schema"] == "vptrace.trend/1" and t["by_time"] and len(t["reports"]) == 12 and c["p"] <= 0.05
print(c["figure"], c["file"], c["at"], c["before"], c["after"], c["cause"])' 2>&1)"
cp out first.json
"$VPT_ANALYZE" trend step --format json >again.json 2>err
same "the same in each run" "" "$(diff first.json again.json)"

# ---- two changes, and none ----
archive twice 10 10.1 9.9 10 10.2 9.8 20 20.2 19.9 20 20.1 19.8 5 5.1 4.9 5 5.2 4.8
expect 0 "two changes" trend twice --format csv
same "where they are" "c06 c12" "$(columns commit changed:fps | sed -n 's/ 1$//p' | tr '\n' ' ' | sed 's/ $//')"
archive noise 16.0 16.4 15.7 16.2 15.9 16.3 15.8 16.1 16.0 15.6 16.3 15.9
expect 0 "noise" trend noise
says out "none that chance does not explain"
archive few 10 10 10 20 20 20
expect 0 "few reports" trend few
says out "none can be told from chance: that takes seven reports or more"
archive level 7 7 7 7 7 7 7 7
expect 0 "no noise at all" trend level
says out "none that chance does not explain"

# ---- reports that count in other units ----
mkdir loops
for i in 1 2 3 4 5 6 7 8; do
	python3 - $((i < 5 ? 1000 : 2000)) >loop.json <<'PY'
import json, sys
us = int(sys.argv[1])
print(json.dumps(dict(schemaVersion=1, traceEvents=[
    dict(ph="X", cat=cat, name=name, pid=1, tid=1, ts=us * i + at, dur=dur, args=dict(correlation=i + 1, device=0, stream=7))
    for i in range(5) for cat, name, at, dur in (("user_annotation", "ProfilerStep#%d" % i, 0, us),
                                                 ("cuda_runtime", "cudaLaunchKernel", 10, 5), ("kernel", "gemm", 20, us - 100))])))
PY
	"$VPT_ANALYZE" loop.json --format json --no-predict >loops/$i.json 2>err || fail "a report by iterations: $(cat err)"
done
expect 0 "reports by iterations" trend loops
says out " iteration period "
tr -s ' \n' '  ' <out >line
cases=$((cases + 1))
grep -qF 'iteration period rose from 1.00 ms to 2.00 ms (+100.0 %), from loops/5.json on' line || fail "their change: $(head -c 600 line)"
expect 0 "with one by blocks" trend loops step/01.json --format csv
same "has the period of most" "iteration 1000000 iteration 2000000 block " "$(columns unit period_ns | sed -n '4,5p;$p' | tr '\n' ' ' | sed 's/ $//')"
expect 0 "as JSON" trend step loops --format json
same "that of most" "block iteration None" "$(python3 -c '
import json
t = json.load(open("out"))
last = t["reports"][-1]
print(t["unit"], last["unit"], last["period_ns"])')"

# ---- the page ----
expect 0 "as a page" trend step --format html
cp out page.html
python3 - page.html >seen 2>err <<'PY' || fail "the page is not read"
import sys
from html.parser import HTMLParser

class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows, self.cell, self.charts, self.marks, self.points = [], None, [], [], []
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert "style" not in attrs and not any(a.startswith("on") for a in attrs), attrs
        if tag == "svg":
            self.charts.append(attrs["data-figure"])
            self.marks.append(0)
        elif tag == "path" and attrs["class"] == "target":
            self.marks[-1] += 1
            self.points.append(attrs["d"])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ""
    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None

page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
head = page.rows[0]
print("charts", *("%s:%d" % pair for pair in zip(page.charts, page.marks)))
print("marks", *page.points)
print("columns", *head[:6])
for row in (page.rows[1], page.rows[7]):
    print(*(dict(zip(head, row))[name] for name in ("time", "commit", "tags", "file", "FPS", "idle %", "idle most for")))
print("rows", len(page.rows) - 1)
PY
same "charts and changes" "charts fps:1 steps_per_s:0 period_ns:1 idle_share:1" "$(sed -n 1p seen)"
same "the change is at the seventh of twelve" "marks M545454 0V1000 M545454 0V1000 M545454 0V1000" "$(sed -n 2p seen)"
same "columns" "columns time commit tags file capture FPS" "$(sed -n 3p seen)"
same "a report" "2026-03-07 00:00 c06 model=other,commit=c06 06.json 14.10 25.0 host code" "$(sed -n 5p seen)"
same "all of them" "rows 12" "$(tail -n 1 seen)"
grep -q "FPS</b> fell from 16.00 to 14.00" page.html || fail "the page does not say the change"

# ---- which reports ----
expect 0 "a tag" trend step --tag model=wan --format csv
same "its reports" "c01 c03 c05 c07 c09 c11" "$(columns commit | tr '\n' ' ' | sed 's/ $//')"
expect 0 "two tags" trend step --tag model=wan --tag commit=c03 --format csv
same "the one that has both" c03 "$(columns commit)"
expect 2 "a tag that none has" trend step --tag model=wa
says err "expected reports of analyze --format json with these tags, found none"
expect 2 "half a tag" trend step --tag model
says err "expected KEY=VALUE"
echo '{"other": 1}' >step/other.json
expect 0 "a folder with another file" trend step --format csv
says err "step: 1 of 13 JSON files are no reports of vptrace-analyze: left out"
same "which is left out" 12 "$(columns file | wc -l | tr -d ' ')"
expect 1 "such a file by name" trend step/01.json step/other.json
says err "step/other.json: expected a report of vptrace-analyze --format json"
expect 1 "no file" trend nowhere.json
mkdir empty
expect 2 "an empty folder" trend empty
python3 -c '
import json
r = json.load(open("step/01.json"))
r["input"]["unix_offset_ns"] = None
json.dump(r, open("timeless.json", "w"))'
expect 0 "a report without a time of day" trend step/02.json timeless.json step/03.json
says out "in the order given"
expect 0 "whose time is empty" trend timeless.json --format csv
same "in CSV" " 14" "$(columns time fps)"
finish
