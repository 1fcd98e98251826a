#!/bin/sh
# A trace of another tool and the capture made of it say the same, by every command that prints rows.
# shellcheck disable=SC1091,SC2046,SC2116,SC2154,SC2012,SC2005,SC2013,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

need_trace "$work/trace.zst" small_trace
says err "wrote 9 events, "
says err " B/event) to $work/trace.zst"
same "only its owner may read it" "-rw-------" "$(ls -l trace.zst | cut -c1-10)"

if have zstd "the capture as zstd reads it"; then
	zstd -qt trace.zst || fail "zstd -t refuses the capture"
	same "zstd -dc finds the magic" VPTRACE "$(zstd -qdc trace.zst | head -c 7)"
fi

expect 0 "check" check trace.zst
says out "trace.zst: good: 1 chunks, 9 events; 0 damaged, 0 torn, 0 with a wrong header, 0 out of sequence"
silent err
same "one line" 1 "$(wc -l <out | tr -d ' ')"
expect 0 "check of the other tool's file" check need.json
says out "need.json: good: kineto trace, 9 records, 9 events"

# ---- info ----
expect 0 "info" info trace.zst
for words in "format    vptrace 1.0, " "events    9 over 0.000200000 s" "device 0  Test GPU, 80 SMs" \
	"lanes     1 streams, 1 threads, 0 series" "rank = 3" "ends with a clean stop" "damage    none"; do
	says out "$words"
done
expect 0 "info of the other tool's file" info need.json
says out "format    kineto, "
says out "import    9 records"
expect 0 "info as JSON" info trace.zst --format json
for words in '"schema": "vptrace.info/1"' '"events": 9' '"length_ns": 200000' '"kernel": 3' '"copy": 1' \
	'"sm_count": 80' '"clean_stop": true' '"damaged_chunks": 0'; do
	says out "$words"
done

# ---- cat ----
expect 0 "cat" cat need.json
cp out from-json
expect 0 "cat of the capture" cat trace.zst
cmp -s out from-json || fail "the capture's rows differ from those of its source"
same "a row an event" 9 "$(wc -l <out | tr -d ' ')"
expect 0 "cat of kernels" cat trace.zst --kind kernel
same "in full" \
	'{"kind":"kernel","pid":-1,"device":0,"context":1,"stream":7,"start_ns":1010500,"duration_ns":10000,"name":"=sum \"a\"","grid_x":4,"grid_y":2,"grid_z":1,"block_x":128,"block_y":1,"block_z":1,"static_shared":0,"dynamic_shared":0,"registers":0,"local":0,"cluster_x":0,"cluster_y":0,"cluster_z":0,"graph":0,"correlation":1,"graph_node":0,"flags":"0x0"}' \
	"$(head -n 1 out)"
expect 0 "cat of two kinds" cat trace.zst --kind range -k copy
same "both, in the file's order" "copy range" "$(echo $(sed 's/{"kind":"\([a-z]*\)".*/\1/' out | sort))"
says out '"pid":11,"tid":12,"start_ns":1000000,"duration_ns":200000,"range_kind":"push/pop","end_thread":null,"name":"step, one"'
says out '"copy_kind":"DtoH","source_memory":"device","target_memory":"pageable"'
expect 0 "cat of a table" cat trace.zst --kind device
says out '"sm_count":80'

expect 0 "CSV" cat trace.zst --kind range --format csv
same "text with a comma is quoted" \
	'11,12,1000000,200000,push/pop,,"step, one",,0,0x0,none,0x0,0,0' "$(tail -n 1 out)"
expect 0 "CSV of kernels" cat trace.zst --kind kernel --format csv
says out ',"=sum ""a""",4,2,1,'
expect 0 "CSV for spreadsheets" cat trace.zst --kind kernel --format csv --safe
says out ',"'"'"'=sum ""a""",4,2,1,'
says out '-1,0,1,7,1030000,20000,gemm,'
expect 0 "CSV of a kind without rows is its header" cat trace.zst --kind mark --format csv
same "one line" 1 "$(wc -l <out | tr -d ' ')"

# The header is the schema: the lane, then the columns, a kernel's configuration in its place.
expect 0 "the schema" schema
cp out schema
columns() {
	awk -v kind="$1" '$2 == "kind" { on = $1 == kind "," ; next } on && $1 ~ /^[0-9]+$/ { print $2 }' schema
}
config=$(columns config)
kinds=$(sed -n 's/^\([a-z]*\), kind .*/\1/p' schema | grep -v '^string$')
same "the schema lists kinds" 1 "$([ "$(echo $kinds | wc -w)" -ge 15 ] && echo 1)"
for kind in $kinds; do
	case $(grep -A 1 "^$kind, kind" schema | sed -n 's/^  .*lane: //p') in
	STREAM) lane="pid device context stream" ;;
	THREAD) lane="pid tid" ;;
	SERIES) lane="series unit" ;;
	ANY) lane="lane" ;;
	*) lane="" ;;
	esac
	header="$lane $(columns "$kind" | while read -r c; do
		[ "$c" = config ] && echo $config || echo "$c"
	done)"
	expect 0 "CSV header of $kind" cat trace.zst --kind "$kind" --format csv
	same "CSV header of $kind" "$(echo $header | tr ' ' ,)" "$(head -n 1 out)"
	same "as many fields a row: $kind" 1 \
		"$(sed 's/"[^"]*"/x/g; s/"[^"]*"/x/g' out | awk -F, '{ print NF }' | sort -u | wc -l | tr -d ' ')"
done

# ---- text that a spreadsheet would compute ----
formulas() {
	printf '{"traceEvents": [\n'
	at=0
	for name in '=1' '+1' '-1' '@a' ' =1' '   -1' '\\t=1' '\\tx' '\\r\\n=1' 'a=1' ' a' '1'; do
		at=$((at + 1))
		printf '{"ph": "X", "cat": "kernel", "name": "%b", "pid": 0, "tid": 7, "ts": %d, "dur": 1},\n' "$name" $at
	done
	printf '{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "x"}}]}\n'
}
if command -v python3 >/dev/null; then
	need_trace formulas.zst formulas
	expect 0 "formulas" cat formulas.zst --kind kernel --format csv --safe
	cp out safe.csv
	expect 3 "formulas in an export, without launches" export formulas.zst --format csv --safe -o tables
	for file in safe.csv tables/kernel.csv; do
		same "$file: what is made text" "'=1 '+1 '-1 '@a '\\x20=1 '\\x20\\x20\\x20-1 '\\x09=1 '\\x09x '\\x0d\\x0a=1 a=1 \\x20a 1" \
			"$(python3 -c '
import csv, sys
print(" ".join("".join(c if c > " " else "\\x%02x" % ord(c) for c in row["name"])
               for row in csv.DictReader(open(sys.argv[1], newline=""))))' $file)"
	done
	expect 3 "without --safe they are as they are" export formulas.zst --format csv -o plain
	grep -q "'" plain/kernel.csv && fail "an apostrophe that nobody asked for"
else
	echo "SKIPPED: CSV for spreadsheets: there is no python3"
fi

# ---- the window: relative to the capture's start, which is 1000 us ----
while IFS='|' read -r name window rows; do
	expect 0 "$name" cat trace.zst --kind kernel $window
	same "$name" "$rows" "$(wc -l <out | tr -d ' ')"
done <<'CASES'
no window|--from 0|3
from the end of the first kernel, inclusive|--from 20500ns|3
one nanosecond later|--from 20501ns|2
until a kernel begins, exclusive|--to 30us|1
one nanosecond later|--to 30001ns|2
in the middle of one|--from 35us --to 0.00004s|1
after all kernels|--from 151us|0
CASES

# ---- a capture of a capture ----
expect 0 "convert a capture" convert trace.zst -o again.zst --level 19
expect 0 "cat of it" cat again.zst
cmp -s out from-json || fail "rows changed on the way from capture to capture"
expect 0 "convert to standard output" convert trace.zst -o -
cmp -s out trace.zst || fail "the same capture differs on standard output"
expect 0 "analyze the capture" trace.zst --full
cp out report
[ -s report ] || fail "an empty report"
expect 0 "analyze it by name" analyze trace.zst --full
cmp -s out report || fail "with and without the command's name reports differ"
expect 0 "analyze as JSON" trace.zst --format json
same "an object" "{" "$(head -c 1 out)"

# ---- the window stays: of every file of the corpus that is whole, and of exports of Nsight Systems without GPU work ----
window_of() { # window_of FILE: its window on the trace clock
	"$VPT_ANALYZE" "$1" --format json 2>err | sed -n 's/^ *"window_\(start_\)\{0,1\}ns": //p' | tr -d ',' | tr '\n' ' '
}
same_window() { # same_window FILE
	expected=$(window_of "$1")
	"$VPT_ANALYZE" convert --force "$1" -o copy.zst 2>err || fail "convert $1: exit code $?"
	same "the window of ${1##*/} and of its copy" "$expected" "$(window_of copy.zst)"
	[ "$expected" ] || fail "$1 has no window"
}
whole=0
for file in "$VPT_SOURCE_DIR"/tests/corpus/*; do
	"$VPT_ANALYZE" "$file" --full >out 2>err || continue
	same_window "$file"
	whole=$((whole + 1))
done
[ $whole -gt 10 ] || fail "expected more than 10 whole files of the corpus, found $whole"
if command -v sqlite3 >/dev/null && ! grep -q 'built without' err; then
	nsight() { # nsight TABLE COLUMNS VALUES: an export with one row
		rm -f one.sqlite
		sqlite3 one.sqlite "create table StringIds(id integer primary key, value text); insert into StringIds values(1, 'cudaFree'), (2, 'r');
			create table $1($2); insert into $1 values($3);"
	}
	while IFS='|' read -r table columns values window; do
		nsight "$table" "$columns" "$values"
		same_window one.sqlite
		same "the window of $table alone" "$window" "$expected"
	done <<'TABLES'
CUPTI_ACTIVITY_KIND_SYNCHRONIZATION|start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId|5000, 7000, 0, 1, 7, 1, 281474976710656, 1, 0|2000 5000 
CUPTI_ACTIVITY_KIND_SYNCHRONIZATION|start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId|5000, 7000, 0, 1, 7, 1, 281474976710656, 2, 3|2000 5000 
PROFILER_OVERHEAD|start, end, globalTid, correlationId, nameId, returnValue|5000, 7000, 281474976710657, 1, 2, 0|2000 5000 
NVTX_EVENTS|start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId|5000, NULL, 34, 0, 0, 0, 'm', 281474976710657, 0, NULL, 0|0 5000 
NVTX_EVENTS|start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId|5000, 7000, 59, 0, 0, 0, 'r', 281474976710657, 0, NULL, 0|2000 5000 
CUPTI_ACTIVITY_KIND_RUNTIME|start, end, globalTid, correlationId, nameId, returnValue|5000, 7000, 281474976710657, 1, 1, 0|2000 5000 
TABLES
else
	echo "SKIPPED: exports of Nsight Systems: no sqlite3 to make them with"
fi
finish
