#!/bin/sh
# An op that begins at 0 of a trace that counts from 0, and ends with the last of 40,000 others, in a later chunk: it is busy
# time from 0 on, also in captures made from the trace, and in copies of these.
# shellcheck disable=SC1091
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
command -v python3 >/dev/null || skip "there is no python3 to write the trace with"
cd "$work" || exit 1

cat >zero.py <<'PY'
import json, sys
start, events = int(sys.argv[1]), []

def launch(number, stream, ts, length):
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 1,
                   "args": {"correlation": number}})
    events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": stream, "ts": ts, "dur": length,
                   "args": {"correlation": number, "device": 0, "stream": stream}})

for i in range(40000):
    launch(i + 2, 7, start + 5 + 5 * i, 3)
launch(1, 9, start, 200005)
print(json.dumps({"traceEvents": events}))
PY
is_busy() { # is_busy RULE FILE
	expect 0 "$1" --format json "$2"
	says out '"busy_ns": 200005000,'
	says out '"kernels": 40001,'
	says out '"late_ops": 0,'
	says out '"complete": true'
}
for start in 100 0; do
	python3 zero.py $start >trace.json || fail "no trace"
	is_busy "a trace from $start on" trace.json
	expect 0 "converted" convert -o a$start.zst trace.json
	is_busy "the capture, from $start on" a$start.zst
	expect 0 "copied" convert -o b$start.zst a$start.zst
	is_busy "its copy, from $start on" b$start.zst
	expect 0 "its chunks" check b$start.zst
done
finish
