#!/bin/sh
# What each command says of a trace from which something is missing: one table, each row made by causing the trouble. COMPLETE
# stands only where that is known. A copy, and a copy of the copy, say what the original says.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
bin=${VPT_BIN:?expected the build folder}
for program in vptrace-demo host_beside host_count host_endless; do
	[ -x "$bin/$program" ] || skip "$program is not built"
done
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS VPTRACE_MEMORY
need_trace kineto.zst small_trace

# ---- captures: each function leaves $1 ----

demo() { # demo FILE [NAME=VALUE...]
	demo_file=$1
	shift
	env CUDA_INJECTION64_PATH="$bin/libvptrace.so" NVTX_INJECTION64_PATH="$bin/libvptrace.so" \
		VPTRACE_OUTPUT="$work/$demo_file" "$@" "$bin/vptrace-demo" >log 2>&1
}
host() { # host FILE NAME=VALUE...: 40 threads of launches
	host_file=$1
	shift
	env "$@" timeout 60 "$bin/host_count" "$work/$host_file" 400 40 >log 2>&1
}
for _ in 1 2 3 4 5 6 7 8; do # a machine that is busy with other things writes more chunks
	rm -f whole.zst
	demo whole.zst || fail "the demo"
	# Chunks begin where zstd frames begin; the first frame is the header.
	# shellcheck disable=SC2046
	set -- $(grep -abo "$(printf '\050\265\057\375')" whole.zst | cut -d: -f1)
	[ $# != 3 ] || break
done
[ $# = 3 ] || fail "expected a header and two chunks, found $# zstd frames"
first=$2 second=$3
flip() { # flip FILE OFFSET: another byte in a copy of whole.zst
	cp whole.zst "$1"
	printf '\125' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>log
}
killed() {
	"$bin/host_endless" "$work/$1" acknowledged 2 >log 2>&1 &
	child=$!
	for _ in $(seq 600); do # until it has written a chunk
		! head -c 8 acknowledged 2>/dev/null | tr -d '\0' | grep -q . || break
		sleep 0.1
	done
	kill -9 $child
	wait $child 2>log
}
full_disk() {
	(
		ulimit -f $((second / 512 + 4))
		demo "$1"
	)
}
cut_while_written() { head -c $((second + 2000)) whole.zst >"$1"; }
before_last_chunk() { head -c "$second" whole.zst >"$1"; }
first_chunk_damaged() { flip "$1" $((first + 3000)); }
last_chunk_damaged() { flip "$1" $((second + 1000)); }
header_damaged() { tail -c +$((first + 1)) whole.zst >"$1"; }
chunk_cut_out() { { head -c "$first" whole.zst; tail -c +$((second + 1)) whole.zst; } >"$1"; }
memory_limit() { host "$1" VPTRACE_MEMORY=16M VPT_STANDIN_BUFFERS=thread; }
refused() { host "$1" VPT_STANDIN_FAULTS=denied; }
taken() { host "$1" VPT_STANDIN_FAULTS=busy; }
stolen() { host "$1" VPT_STANDIN_FAULTS=stolen VPTRACE_STOP_MS=500; }
beside() { # beside FILE VERSION inside|around [end]: another client of CUPTI takes a profile
	beside_file=$1
	version=$2
	shift 2
	env VPT_STANDIN_CUPTI="$version" timeout 60 "$bin/host_beside" "$work/$beside_file" "$@" >log 2>&1
}
profile_inside() { beside "$1" 130001 inside; }
profile_inside_and_over() { beside "$1" 130001 inside end; }
profile_inside_13_2() { beside "$1" 130200 inside; }
profile_around() { beside "$1" 130001 around; }
profile_around_13_2() { beside "$1" 130200 around; }
ranges_asked() { host "$1" VPTRACE_PROFILE=none; }
whole() { cp whole.zst "$1"; }

# ---- traces of other tools ----

events() { # events FILE: a profiler's trace of the events on standard input, a line each
	sed '$!s/$/,/; 1s/^/{"schemaVersion": 1, "traceEvents": [/; $s/$/]}/' >"$1"
}
# e PHASE CATEGORY NAME TIME DURATION ARGS
e() {
	printf '{"ph": "%s", "cat": "%s", "name": "%s", "pid": 1, "tid": 2, "ts": %s, "dur": %s, "args": {%s}}\n' "$@"
}
launch() { e X "${2:-cuda_runtime}" cudaLaunchKernel "$1" 2 "\"correlation\": $1"; }
kernel() { e X "${3:-kernel}" gemm "$2" 10 "\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": $1"; }
work() { launch 100 && kernel 100 120 && launch 200 && kernel 200 220; }
profiler() { work | events "$1"; }
all_malformed() { work | sed 's/"ts": [0-9]*, //' | events "$1"; }
one_malformed() { { work; kernel 300 320 | sed 's/"ts": [0-9]*, //'; } | events "$1"; }
all_unknown() { { launch 1 gizmo; kernel 1 20 gadget; } | events "$1"; }
one_unknown() { { work; e X gizmo x 300 1 ""; } | events "$1"; }
# Before torch 2.0: other categories, streams named in words.
old_form() {
	{
		e X Operator aten::mm 90 40 '"External id": 2'
		launch 100 Runtime
		kernel 100 120 Kernel | sed 's/"pid": 1, "tid": 2/"pid": 0, "tid": "stream 7"/'
		e X Runtime cudaMemcpyAsync 150 2 '"correlation": 150'
		e X Memcpy "Memcpy DtoH (Device -> Pageable)" 160 5 '"device": 0, "context": 1, "stream": 7, "correlation": 150, "bytes": 64'
		e X Runtime cudaMemsetAsync 170 2 '"correlation": 170'
		e X Memset "Memset (Device)" 180 5 '"device": 0, "context": 1, "stream": 7, "correlation": 170, "bytes": 64'
		e X Python "f" 80 90 ""
	} | events "$1"
}
cut_json() {
	work | events "$1"
	head -c 400 "$1" >half && mv half "$1"
}
no_launch() { { work; kernel 201 260; } | events "$1"; }
at_work_before() { { kernel 7 95; work; } | events "$1"; }
kernel_lost() { { work; launch 230; launch 240; kernel 240 250; } | events "$1"; }
kernels_lost_at_the_end() {
	{
		work
		launch 230
		launch 240
		e X cuda_runtime cudaDeviceSynchronize 250 100 '"correlation": 250'
	} | events "$1"
}
cut_off() { { work; launch 230; launch 240; } | events "$1"; }
in_capture() {
	{
		e X cuda_runtime cudaStreamBeginCapture 10 2 '"correlation": 10'
		launch 20
		e X cuda_runtime cudaStreamEndCapture 30 2 '"correlation": 30'
		work
	} | events "$1"
}
no_memset() { { work; e X cuda_runtime cudaMemsetAsync 300 2 '"correlation": 300'; } | events "$1"; }
empty_memset() {
	{
		work
		e X cuda_runtime cudaMemsetAsync 300 2 '"correlation": 300'
		e X gpu_memset "Memset (Device)" 310 0 '"device": 0, "context": 1, "stream": 7, "correlation": 300, "bytes": 0'
	} | events "$1"
}
host_alone() { e X cuda_runtime cudaGetDevice 10 2 '"correlation": 10' | events "$1"; }
launches_alone() { launch 100 | events "$1"; }
views() {
	python3 - "$1" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""
create table StringIds(id integer primary key, value text);
insert into StringIds values (1, 'cudaLaunchKernel_v7000'), (2, 'gemm');
create table CUPTI_ACTIVITY_KIND_RUNTIME(start int, end int, globalTid int, correlationId int, nameId int);
insert into CUPTI_ACTIVITY_KIND_RUNTIME values (100, 110, 16777217, 1, 1);
create table kernels(start int, end int, deviceId int, contextId int, streamId int, correlationId int, globalPid int, shortName int);
insert into kernels values (200, 300, 0, 1, 7, 1, 16777216, 2);
create view CUPTI_ACTIVITY_KIND_KERNEL as select * from kernels;
""")
db.commit()
PYTHON
}
long_text() {
	python3 - "$1" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""
create table StringIds(id integer primary key, value text);
insert into StringIds values (1, 'cudaLaunchKernel_v7000'), (2, 'gemm'), (3, hex(zeroblob(9 << 20)));
create table CUPTI_ACTIVITY_KIND_RUNTIME(start int, end int, globalTid int, correlationId int, nameId int);
insert into CUPTI_ACTIVITY_KIND_RUNTIME values (100, 110, 16777217, 1, 1);
create table CUPTI_ACTIVITY_KIND_KERNEL(start int, end int, deviceId int, contextId int, streamId int, correlationId int, globalPid int, shortName int);
insert into CUPTI_ACTIVITY_KIND_KERNEL values (200, 300, 0, 1, 7, 1, 16777216, 2);
""")
db.commit()
PYTHON
}

# ---- the table ----

flat() { tr '\n' ' ' <out | tr -s ' '; }
# verdict FILE: what a copy must keep: complete, why, what to do, simulated
verdict() {
	"$VPT_ANALYZE" "$1" --format json >json 2>err
	echo "exit code $?"
	sed -n '/^ *"complete": /p; /^ *"simulated": /p; /^ *"reasons": \[/,/\]/p; /^ *"remedies": \[/,/\]/p' json
}

trouble() { # trouble NAME FILE WORD FILE-CODE SENTENCE
	name=$1 file=$2 word=$3 code=$4 sentence=$5
	analyzed=3
	[ "$word" = COMPLETE ] && analyzed=0
	# In a pipe the program names no width: sentences are looked for without line breaks.
	expect $analyzed "$name: analyze" "$file" --full
	flat >text
	grep -q " $word " text || fail "$name: expected $word"
	[ -z "$sentence" ] || grep -qF "$sentence" text || fail "$name: expected \"$sentence\""
	expect $analyzed "$name: check" check "$file"
	expect "$code" "$name: info" info "$file"
	expect "$code" "$name: cat" cat "$file"
	expect "$code" "$name: convert" convert "$file" -o copy.zst --force
	expect $analyzed "$name: check of the copy" check copy.zst
	expect $analyzed "$name: the copy again" copy.zst --full
	expect "$code" "$name: convert twice" convert copy.zst -o twice.zst --force
	expect $analyzed "$name: export" export "$file" --format perfetto -o out.pftrace --force
	verdict "$file" >before
	verdict copy.zst >after
	cmp -s before after || fail "$name: the copy says something else: $(diff before after | head -n 6)"
	verdict twice.zst >after
	cmp -s before after || fail "$name: the second copy says something else: $(diff before after | head -n 6)"
}

# Causing it, the file's kind, what `analyze` and `check` say (exit code 3 for INCOMPLETE), the exit code of those that do not
# join records (info, cat, convert), and a sentence of the report.
while IFS='|' read -r make kind word code sentence; do
	[ -n "$make" ] || continue
	$make "$make.$kind"
	[ -s "$make.$kind" ] || fail "$make made nothing: $(cat log)"
	trouble "$make" "$make.$kind" "$word" "$code" "$sentence"
done <<'TABLE'
whole|zst|COMPLETE|0|84,172 events received, 0 dropped
killed|zst|INCOMPLETE|3|ends without a stop: its process exited or was killed, or the file could no longer be written
full_disk|zst|INCOMPLETE|3|check for free disk space
before_last_chunk|zst|INCOMPLETE|3|ends without a stop
cut_while_written|zst|INCOMPLETE|3|the file ends inside a chunk
first_chunk_damaged|zst|INCOMPLETE|3|PERHAPS SIMULATED
last_chunk_damaged|zst|INCOMPLETE|3|1 damaged chunk left out (chunk 1 at offset
header_damaged|zst|INCOMPLETE|3|start, process and clock are unknown
chunk_cut_out|zst|INCOMPLETE|3|a chunk is missing from the middle of the file
memory_limit|zst|INCOMPLETE|3|record with VPTRACE_MEMORY=32M (it was 16M)
refused|zst|INCOMPLETE|3|recording of GPU work was refused: the driver does not allow this user to trace
taken|zst|INCOMPLETE|3|another profiler holds CUPTI in this process
stolen|zst|INCOMPLETE|3|has taken the records of GPU work
profile_inside|zst|INCOMPLETE|3|GPU work is missing for a time: another client of CUPTI
profile_inside_and_over|zst|INCOMPLETE|3|do not use torch.profiler and vptrace at the same time
profile_inside_13_2|zst|INCOMPLETE|3|has taken the records of GPU work or disabled them
profile_around|zst|INCOMPLETE|3|had its own buffers in use
profile_around_13_2|zst|INCOMPLETE|3|another client of CUPTI is recording in this process
ranges_asked|zst|COMPLETE|0|VPTRACE_PROFILE=none records ranges only
profiler|json|COMPLETE|0|
all_malformed|json|INCOMPLETE|3|4 malformed events were left out
one_malformed|json|INCOMPLETE|3|1 malformed event was left out
all_unknown|json|INCOMPLETE|3|2 events of unknown categories left out (gizmo, gadget), and the others include no GPU work
one_unknown|json|COMPLETE|0|1 event of unknown categories left out
old_form|json|COMPLETE|0|1 kernel, 1 copy, 1 memset, 3 CUDA calls
cut_json|json|INCOMPLETE|3|events after that point are missing
no_launch|json|INCOMPLETE|0|1 operation has no launch record
at_work_before|json|COMPLETE|0|1 operation was launched before the recording began: its launch is unknown
kernel_lost|json|INCOMPLETE|0|1 kernel is missing: its launch is recorded
kernels_lost_at_the_end|json|INCOMPLETE|0|2 kernels are missing: their launches are recorded
cut_off|json|COMPLETE|0|2 launches have no op
in_capture|json|COMPLETE|0|
no_memset|json|COMPLETE|0|
empty_memset|json|COMPLETE|0|
host_alone|json|COMPLETE|0|Check that the program used the GPU
launches_alone|json|COMPLETE|0|though the host launched some
TABLE

if have python3 "views in an export" && views views.sqlite; then
	expect 3 "views: analyze" views.sqlite --full
	flat | grep -qF "a table of the export is an SQL view, which is not read" || fail "views are not named"
	trouble views views.sqlite INCOMPLETE 3 "or convert them to tables"
fi
if have python3 "long texts in an export" && long_text long.sqlite; then
	expect 3 "long text: analyze" long.sqlite --full
	flat | grep -qF "a table of the export has a text or row longer than 16 MiB" || fail "a long text is not named"
	flat | grep -qF "ends in the middle" && fail "a long text is called a file that ends"
	trouble long_text long.sqlite INCOMPLETE 3 "delete or shorten those rows"
fi

# ---- a part without GPU work says nothing of the rest ----
printf '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 1, "dur": 5}, {"ph": "X", "cat' >start.json
expect 3 "only the start: analyze" start.json --full
flat | grep -qF "No GPU work in what could be read: the trace is incomplete, see DATA." || fail "a cut trace is called one without GPU work"

# ---- what the loss touches carries a mark, what it cannot touch does not ----
# Eight blocks of half a second, 24,000 events each, in three chunks; the last one is missing. All that is older than a flush, one
# second, was in the file.
awk 'BEGIN {
	for (b = 0; b < 8; b++) {
		printf "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"block %d\", \"pid\": 1, \"tid\": 2, \"ts\": %d, \"dur\": 499000}\n", b, b * 500000
		for (i = 1; i <= 12000; i++) {
			c = b * 12000 + i; t = b * 500000 + i * 40
			printf "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 2, \"ts\": %d, \"dur\": 2, \"args\": {\"correlation\": %d}}\n", t, c
			printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 20, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d}}\n", t + 5, c
		}
	}
}' | events blocks.json
"$VPT_ANALYZE" convert blocks.json -o whole.zst --force 2>err || fail "the trace of blocks"
head -c "$(grep -abo "$(printf '\050\265\057\375')" whole.zst | cut -d: -f1 | tail -n 1)" whole.zst >before_last_chunk.zst
expect 3 "marks" before_last_chunk.zst --full --target 16 --frames-per-block 12
for words in "RESULT  [!] " "CAUSE   [!] " "RATES   [!] "; do
	says out "$words"
done
same "one explanation" 1 "$(grep -c "marks sections and tables" out)"
cases=$((cases + 1))
marked=$(grep '^ may lack records' out | grep -o '\[!\]' | wc -l)
[ "$marked" -ge 1 ] && [ "$marked" -lt "$(sed -n 's/^BLOCK  *//p' out | wc -w)" ] || fail "blocks: found $marked marks"
expect 0 "no marks" whole.zst --full --target 16
! grep -qF '[!]' out || fail "a complete trace has marks"
# Nothing of the last second lies in a window before it.
expect 3 "a window before the loss" before_last_chunk.zst --full --to 1s
! grep -qF '[!]' out || fail "a window that the loss does not reach has marks"
if have python3 "the marks for programs"; then
	"$VPT_ANALYZE" before_last_chunk.zst --format json >json
	"$VPT_ANALYZE" whole.zst --format json >whole.json
	cases=$((cases + 1))
	python3 - >out 2>&1 <<'PYTHON' || fail "the marks for programs: $(cat out)"
import json
cut, whole = (json.load(open(name)) for name in ("json", "whole.json"))
loss, = cut["verdict"]["losses"]
assert loss["end_ns"] is None
assert cut["verdict"]["window_incomplete"] and not whole["verdict"]["window_incomplete"]
request, same = cut["requests"][0], whole["requests"][0]
assert request["incomplete"] and request["blocks"]["incomplete"] and not same["incomplete"]
marks = [block["incomplete"] for block in request["blocks"]["series"]]
assert True in marks and False in marks, marks
for block, full in zip(request["blocks"]["series"], same["blocks"]["series"]):
    assert block["incomplete"] == (block["end_ns"] > loss["start_ns"])
    if not block["incomplete"]:  # what is not marked is what the whole capture says, to the nanosecond
        assert block == full, (block, full)
assert all(f["incomplete"] for f in cut["findings"])
PYTHON
fi

# ---- what is not said ----
for file in refused taken ranges_asked; do
	expect "$([ $file = ranges_asked ] && echo 0 || echo 3)" "$file" $file.zst
	! flat | grep -q "Check that the program used the GPU" || fail "$file: the report asks whether the GPU was used"
done
finish
