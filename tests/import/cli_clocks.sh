#!/bin/sh
# Clocks of GPU and host that disagree: no cause of idle time rests on a launch then, in the trace, in a copy of it, and in an
# export of Nsight Systems; and a disagreement that rounding explains, or that few ops have, changes nothing. Times from 0 are times, and
# an event days away from all others is not part of the window.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
need_python 3.8
cd "$work" || exit 1

cat >make.py <<'PY'
"""make.py FILE LANE...: a trace of lanes "PID:DEVICE:COUNT:EARLY:LEAD_US": COUNT launches, 100 us apart, and kernels of 80 us that
begin 20 us after their launch, but the first EARLY of them LEAD_US before it. FILE.sqlite: as Nsight Systems exports it."""
import json, sqlite3, sys

lanes = [[float(n) for n in lane.split(":")] for lane in sys.argv[2:]]
rows = []
for pid, device, count, early, lead in lanes:
    for i in range(int(count)):
        call = 1000 + 100 * i
        rows.append((int(pid), int(device), int(device) * 1000 + i + 1, call, call - lead if i < early else call + 20))
if sys.argv[1].endswith(".sqlite"):
    db = sqlite3.connect(sys.argv[1])
    db.execute("create table StringIds(id integer primary key, value text)")
    db.executemany("insert into StringIds values(?, ?)", [(1, "cudaLaunchKernel_v7000"), (2, "gemm")])
    db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName)")
    db.execute("create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId, returnValue)")
    for pid, device, id, call, op in rows:
        at, whose = [int(t * 1000) for t in (call, call + 5, op, op + 80)], pid << 24
        db.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?, ?, ?, ?, 1, 0)", (at[0], at[1], whose + 1, id))
        db.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values(?, ?, ?, 1, 7, ?, ?, 2, 2)", (at[2], at[3], device, id, whose))
    db.commit()
else:
    events = []
    for pid, device, id, call, op in rows:
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": pid, "ts": call, "dur": 5,
                       "args": {"correlation": id}})
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": device, "tid": 7, "ts": op, "dur": 80,
                       "args": {"device": device, "context": 1, "stream": 7, "correlation": id}})
    json.dump({"schemaVersion": 1, "traceEvents": events}, open(sys.argv[1], "w"))
PY
cat >causes.py <<'PY'
"""causes.py: which causes hold idle time of a report, "known" if none is unknown; its state of gaps; and its check of launches."""
import json, sys

report = json.load(sys.stdin)
rows = [c["cause"] for d in report["devices"] for c in d["causes"] + d["before_first_work"] if c["ns"]]
causes = sorted(set(rows) - {"before first work", "after last work"})
check = {c["id"]: c["status"] for c in report["checklist"]["checks"]}["launching"]
known = causes and not [c for c in causes if "unknown" in c]
print("known" if known else ", ".join(causes), report["verdict"]["gaps"], check, sep="; ")
PY
found() { # found FILE [OPTION...]: what causes.py says of it
	"$VPT_ANALYZE" "$@" --format json 2>err | python3 causes.py 2>>err
}
sentences() { # sentences FILE: how often the report says that clocks disagree, and by how much
	"$VPT_ANALYZE" "$1" --full --no-pager 2>err | tr '\n' ' ' | tr -s ' ' |
		grep -o 'operations begin before their launch, up to [^:]*: the clocks of GPU and host disagree by at least that' |
		sed 's/.*up to \([^:]*\):.*/\1/'
}
disagree="unknown (clocks disagree); unavailable; unknown"
agree="known; ok; warn"

while IFS='|' read -r what file lanes lead; do
	# shellcheck disable=SC2086
	python3 make.py "$file" $lanes || fail "$what: no trace"
	"$VPT_ANALYZE" info "$file" >out 2>err
	! grep -q 'built without' err || { echo "SKIPPED: $(cat err)" && continue; }
	says=$agree
	[ -z "$lead" ] || says=$disagree
	same "$what" "$says" "$(found "$file")"
	same "$what: the sentence" "$lead" "$(sentences "$file")"
	"$VPT_ANALYZE" convert --force "$file" -o copy.zst 2>err || fail "$what: convert"
	same "$what: a copy" "$says" "$(found copy.zst)"
done <<'TABLE'
all ops begin 50 us before their launch|all.json|1:0:20:20:50|50.0 us
the same of Nsight Systems|all.sqlite|1:0:20:20:50|50.0 us
2.5 us are more than rounding|small.json|1:0:20:20:2.5|2.50 us
1 us is rounding|rounded.json|1:0:20:20:1|
the same of Nsight Systems|rounded.sqlite|1:0:20:20:1|
a tenth of the ops|tenth.json|1:0:40:4:50|50.0 us
5 % of the ops|few.json|1:0:40:2:50|
5 % of many ops|few_of_many.json|1:0:200:10:50|
the same of Nsight Systems|few_of_many.sqlite|1:0:200:10:50|
one of two devices|device.json|1:0:200:0:50 1:1:20:20:50|50.0 us
one of two devices of Nsight Systems|device.sqlite|1:0:200:0:50 1:1:20:20:50|50.0 us
one of two processes|process.json|1:0:200:0:50 2:1:20:20:50|50.0 us
one of two processes of Nsight Systems|process.sqlite|1:0:200:0:50 2:1:20:20:50|50.0 us
one of two processes, by 1 us|both.json|1:0:200:0:50 2:1:20:20:1|
TABLE

# The whole trace is judged: a window without any such op knows no more.
same "a window of other ops" "$disagree" "$(found tenth.json --from 2ms)"

# counted FILE: whether it is complete, its window, its busy time and its kernels.
counted() {
	"$VPT_ANALYZE" "$1" --format json 2>err | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["verdict"]["complete"], r["input"]["window_ns"], r["devices"][0]["busy_ns"], r["counts"]["kernels"])' 2>>err
}
while IFS='|' read -r what from event expected; do
	awk -v from="$from" -v event="$event" 'BEGIN {
		print "{\"schemaVersion\": 1, \"traceEvents\": ["
		for (i = 0; i < 10; i++) {
			printf "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": %.0f, \"dur\": 5, \"args\": {\"correlation\": %d}},\n", from + 100 * i, i + 1
			printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": %.0f, \"dur\": 10, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d}}%s\n", from + 100 * i, i + 1, i < 9 ? "," : ""
		}
		printf "%s]}", event
	}' >times.json
	"$VPT_ANALYZE" info times.json >out 2>err
	! grep -q 'built without' err || { echo "SKIPPED: $(cat err)" && continue; }
	same "$what" "$expected" "$(counted times.json)"
	"$VPT_ANALYZE" convert --force times.json -o copy.zst 2>err
	same "$what: a copy" "$expected" "$(counted copy.zst)"
done <<'TABLE'
a first kernel at 0|0||True 910000 100000 10
the same, later|5000||True 910000 100000 10
a range ten days later|5000|,{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 864000005000, "dur": 5}|False 910000 100000 10
a range ten days later among others|5000|,{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 5000, "dur": 5},{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 864000005000, "dur": 5}|False 910000 100000 10
a call ten days later|5000|,{"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 1, "tid": 1, "ts": 864000005000, "dur": 5, "args": {"correlation": 77}}|False 910000 100000 10
a sample of memory ten days later|5000|,{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5000, "args": {"Total Reserved": 9, "Total Allocated": 8, "Bytes": 8, "Addr": 1, "Device Id": 0, "Device Type": 1}},{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 864000005000, "args": {"Total Reserved": 9, "Total Allocated": 8, "Bytes": 8, "Addr": 1, "Device Id": 0, "Device Type": 1}}|False 910000 100000 10
TABLE
finish
