#!/bin/sh
# Exports as Chrome's JSON: read back, they give the report of their input, text and JSON, to the byte; but for the lines that name
# the file and what kind of file it is. Captures of each variant of the demo, and the corpus; test_export_chrome.c has captures by hand and real traces.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1
need_trace trace.zst small_trace
"$VPT_ANALYZE" export trace.zst --format chrome -o zlib.gz 2>err || skip "vptrace-analyze was built without zlib"

# report FILE KIND OUT: a report without what names the file: its path, its format, and how its rows were got.
report() {
	"$VPT_ANALYZE" "$1" --format "$2" $([ "$2" = text ] && echo --full) --top 100000 --no-progress >"$3.raw" 2>"$3.err"
	code=$?
	sed 's/ in [a-z]* trace .*/ in a trace/; s/ events received, 0 dropped,/ events read,/
		/^ *"path": /d; /^ *"format": /d; s/^\(NEXT *vptrace-analyze\) .* --format/\1 FILE --format/' "$3.raw" >"$3"
	echo "exit code $code" >>"$3"
}

# round_trip FILE NAME [SED]: what SED deletes from both reports, the form cannot carry.
round_trip() {
	"$VPT_ANALYZE" export "$1" --format chrome -o trip.json.gz --force 2>err
	code=$?
	[ "$code" = 0 ] || [ "$code" = 3 ] || fail "$2: the export ended with $code"
	for kind in text json; do
		cases=$((cases + 1))
		report "$1" $kind before
		report trip.json.gz $kind after
		if [ -n "${3:-}" ]; then
			sed -i "$3" before after
		fi
		diff before after >differ || fail "$2: the $kind reports differ: $(head -n 5 differ)"
	done
}

# ---- the form ----
expect 0 "an export into the current folder" export trace.zst --format chrome
silent out
says err "wrote 3 kernels, 1 copy, 4 calls, 1 range, "
says err "to trace.pt.trace.json.gz"
says err "https://ui.perfetto.dev or chrome://tracing"
same "only its owner may read it" "-rw-------" "$(ls -l trace.pt.trace.json.gz | cut -c1-10)"
expect 2 "is not overwritten" export trace.zst --format chrome
expect 0 "plain" export trace.zst --format chrome --compress none
gzip -dc trace.pt.trace.json.gz >unpacked.json
cmp -s unpacked.json trace.pt.trace.json || fail "plain and gzip differ"
expect 0 "to standard output" export trace.zst --format chrome --compress none -o -
cmp -s out trace.pt.trace.json || fail "the same export differs on standard output"
expect 2 "another container" export trace.zst --format chrome --compress zstd
says err "use gzip"
for line in '"cat":"kernel","name":"=sum \"a\"","pid":0,"tid":7,"ts":1010.500,"dur":10.000,"args":{"device":0,"context":1,"stream":7,"correlation":1,"registers per thread":0,"shared memory":0,"grid":[4,2,1],"block":[128,1,1]}' \
	'"cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":0,"tid":7,"ts":1100.000,"dur":50.000,' \
	'"cat":"cuda_runtime","name":"cudaLaunchKernel","pid":11,"tid":12,"ts":1005.000,"dur":5.000,"args":{"correlation":1}' \
	'"cat":"user_annotation","name":"step, one","pid":11,"tid":12,"ts":1000.000,"dur":200.000,' \
	'"cat":"gpu_user_annotation","name":"step, one","pid":0,"tid":7,"ts":1010.500,"dur":139.500' \
	'{"ph":"s","id":2,"pid":11,"tid":12,"ts":1011.000,"cat":"ac2g","name":"ac2g"}' \
	'{"ph":"f","id":2,"pid":0,"tid":7,"ts":1030.000,"cat":"ac2g","name":"ac2g","bp":"e"}' \
	'"distributedInfo":{"rank":3}' '"deviceProperties":[' '"name":"Test GPU"'; do
	cases=$((cases + 1))
	grep -qF -- "$line" trace.pt.trace.json || fail "no $line"
done
if have python3 "what other readers of JSON find"; then
	cases=$((cases + 1))
	python3 - <<'PY' || fail "other readers of JSON"
import json
trace = json.load(open("trace.pt.trace.json"))
events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
assert len(events) == 10, len(events)
assert all(isinstance(e["pid"], int) and isinstance(e["tid"], int) and e["dur"] >= 0 for e in events)
starts = {e["id"] for e in trace["traceEvents"] if e["ph"] == "s"}
ends = {e["id"] for e in trace["traceEvents"] if e["ph"] == "f"}
assert starts == ends == {1, 2, 3, 4}
PY
fi

# ---- captures of a few lines ----
round_trip trace.zst "a small trace"
need_trace many.zst kernels_trace 68000
round_trip many.zst "several chunks"

# ---- Python: the stacks that are known at every moment come back, as rows and in the report ----
for seed in 1 2 3 4 5 6; do
	command -v python3 >/dev/null || break
	python3 "$source/tests/support/model/python_calls.py" make $seed python.json || fail "seed $seed: no trace"
	round_trip python.json "stacks by seed $seed"
	expect 0 "their rows" cat python.json --kind sample
	cp out rows
	expect 0 "and on the way back" cat trip.json.gz --kind sample
	cmp -s rows out || fail "seed $seed: the stacks differ"
done
expect 0 "one thread" export many.zst --format chrome -j 1 -o one.gz
expect 0 "and four" export many.zst --format chrome -j 4 -o four.gz
cmp -s one.gz four.gz || fail "four threads give other bytes than one"

# ---- the demo: every knob, two ranks ----
bin=${VPT_BIN:-/nowhere}
if [ -x "$bin/vptrace-demo" ]; then
	traced() {
		name=$1
		shift
		CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$name.zst \
			"$bin/vptrace-demo" --blocks 2 --steps 2 --layers 2 "$@" >out 2>err || fail "$name: the demo ended with $?"
		[ ! -f "$name.zst" ] || round_trip "$name.zst" "$name"
	}
	for knob in sync-per-layer offload eager two-streams graph vae-at-end threads; do
		traced $knob --$knob
	done
	traced plain
	cases=$((cases + 1))
	"$VPT_ANALYZE" export plain.zst --format chrome -o named-host.json.gz >out 2>err || fail "the machine's name: exit code $?"
	same "the machine's name" "$(uname -n)" "$(python3 -c 'import gzip, json; print(json.load(gzip.open("named-host.json.gz")).get("hostname"))')"
	traced host --slow-host 60000 --requests 2
	traced rank%r --ranks 2
	for rank in 0 1; do
		round_trip rank$rank.zst "rank $rank"
	done
else
	echo "SKIPPED: captures of the demo, which was not built"
fi

# ---- the corpus: those that end without a stop say so on the way back too. Where chunks are missing in time the form cannot
# carry, so that good-skippable, whose second chunk has the number of the first, is none of them ----
for file in empty killed small kineto kineto-exported kineto-python; do
	for trace in "$source"/tests/corpus/good-$file.*; do
		[ "$trace" = "${trace%.gz}" ] || continue
		round_trip "$trace" "$(basename "$trace")"
	done
done
# Nine of ten rows of this one are nonsense: a call's number that its name belies. The form has no samples of Python stacks.
round_trip "$source/tests/corpus/good-every-kind.zst" every-kind '/launches_without_op/d; / no op: /d; /more under NOTES/d; s/6 dropped",$/6 dropped"/; /^    "samples": /d; /^  "lines": {/,/^  },/d; /^ a name: a name  /d; /^  "ranges": \[/,/^  \],/d'

# ---- processes keep their names, also as texts ----
cat >named.json <<'TRACE'
{"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 100, "args": {"name": "trainer"}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 7, "ts": 1, "dur": 1, "args": {"correlation": 1}},
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": "[TP01] 100", "tid": 7, "ts": 1, "dur": 1},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 3, "dur": 4, "args": {"device": 0, "correlation": 1}}]}
TRACE
expect 0 "a trace with names of processes" export named.json -f chrome --compress none -o named.out
for name in trainer '\[TP01\] 100'; do
	grep -q "\"process_name\",\"pid\":[0-9]*,\"tid\":0,\"args\":{\"name\":\"$name\"}" named.out ||
		fail "process $name has lost its name"
done
round_trip named.json named
expect 0 "the same for Perfetto" export named.json --compress none -o named.pftrace
for name in trainer '\[TP01\] 100'; do
	grep -aq "$name" named.pftrace || fail "process $name has lost its name for Perfetto"
done

finish
