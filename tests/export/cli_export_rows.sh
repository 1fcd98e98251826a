#!/bin/sh
# Exports as tables: a reader that knows nothing but schema.json finds all rows, and the sums of the report in them, in both formats,
# packed or not; and the folder appears whole or not at all, and takes nobody's own files away.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
cd "$work" || exit 1
need_trace trace.zst small_trace

# tables FILE NAME [OPTIONS...]: exports it in the formats $formats, and has them read
formats="csv jsonl"
tables() {
	trace=$1
	what=$2
	shift 2
	"$VPT_ANALYZE" "$trace" --format json --top 100000 --no-progress >report.json 2>err
	wanted=$?
	for kind in $formats; do
		expect $wanted "$what as $kind" export "$trace" --format $kind -o tables --force "$@"
		cases=$((cases + 1))
		python3 "$source/tests/support/outputs/tables.py" tables report.json >found 2>wrong ||
			fail "$what as $kind: $(tail -n 3 wrong)"
	done
}

# ---- the form ----
expect 0 "a folder in the current folder" export trace.zst --format csv
silent out
says err "wrote 3 kernels, 1 copy, 4 calls, 1 range, 5 gaps: "
says err "to trace.csv.d"
says err "schema.json describes"
same "only its owner may read it" "drwx------" "$(ls -ld trace.csv.d | cut -c1-10)"
same "and its files" "-rw-------" "$(ls -l trace.csv.d/kernel.csv | cut -c1-10)"
same "the header" "pid,device,context,stream,start_ns,duration_ns,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,static_shared,dynamic_shared,registers,local,cluster_x,cluster_y,cluster_z,graph,correlation,graph_node,flags,demangled,family,backend,call,call_start_ns,call_duration_ns,call_pid,call_tid,thread,range,stage,block,step" \
	"$(head -n 1 trace.csv.d/kernel.csv)"
same "a kernel, its launch and its range" '-1,0,1,7,1010500,10000,"=sum ""a""",4,2,1,128,1,1,0,0,0,0,0,0,0,0,1,0,0x0,"=sum ""a""",unknown,,cudaLaunchKernel,1005000,5000,11,12,,"step, one",,,' \
	"$(sed -n 2p trace.csv.d/kernel.csv)"
same "a copy" '-1,0,1,7,1100000,50000,DtoH,device,pageable,0,0,0x0,4,1048576,0,memcpy,,cudaMemcpyAsync,1020000,5000,11,12,,"step, one",,,' \
	"$(sed -n 2p trace.csv.d/copy.csv)"
same "a gap" '0,1020500,9500,scheduling,cudaLaunchKernel,"step, one",11,12,"=sum ""a""",gemm,2,"step, one",,,,' \
	"$(sed -n 3p trace.csv.d/gap.csv)"
same "idle time of a place" '0,scheduling,"step, one",cudaLaunchKernel,17000,2,,,,,0' "$(grep '^0,scheduling,.*Launch' trace.csv.d/idle.csv)"
same "a range on the GPU" '11,12,"step, one",,1000000,200000,,,4,0,1010500,139500,110000,4,0' "$(sed -n 2p trace.csv.d/range_gpu.csv)"
expect 0 "JSON lines" export trace.zst --format jsonl
same "a call" '{"pid":11,"tid":12,"start_ns":1005000,"duration_ns":5000,"id":"cudaLaunchKernel","name":"","correlation":1,"result":0,"range":"step, one","stage":null,"block":null,"step":null}' \
	"$(head -n 1 trace.jsonl.d/call.jsonl)"
same "an empty table" 0 "$(wc -c <trace.jsonl.d/mark.jsonl)"

# ---- sums ----
tables trace.zst "a small trace"
tables "$source/tests/corpus/good-samples.zst" "samples of stacks"
same "each stack once" 1 "$(grep -c '^stacks [1-9]' found)"
need_trace many.zst kernels_trace 66000
if have zstd "packed tables"; then
	tables trace.zst "packed" --compress zstd
	[ -f tables/kernel.jsonl.zst ] || fail "no kernel.jsonl.zst"
	formats=jsonl
	tables many.zst "several chunks, packed" --compress zstd --level 1
	same "one frame a file" 1 "$(zstd -lv tables/kernel.jsonl.zst 2>/dev/null | sed -n 's/.*Frames: *\([0-9]*\).*/\1/p;s/^# Zstandard Frames: \([0-9]*\)/\1/p' | head -n 1)"
else
	formats=jsonl
	tables many.zst "several chunks"
fi
formats=csv
exports=0
for trace in "$source"/tests/corpus/good-*.zst "$source"/tests/corpus/bad-*.zst; do
	"$VPT_ANALYZE" "$trace" --format json >report.json 2>err
	[ $? = 1 ] && continue
	"$VPT_ANALYZE" export "$trace" --format csv -o corpus --force 2>err
	code=$?
	[ $code = 0 ] || [ $code = 3 ] || fail "$(basename "$trace"): the export ended with $code"
	cases=$((cases + 1))
	exports=$((exports + 1))
done
same "exports of the corpus" 1 "$([ $exports -ge 60 ] && echo 1)"
# Places, lines and their shares are the report's.
for seed in 1 2 3; do
	python3 "$source/tests/support/model/python_calls.py" make $seed python.json || fail "seed $seed: no trace"
	tables python.json "stacks by seed $seed"
	same "seed $seed has stacks" 1 "$(grep -c '^stacks [1-9]' found)"
done
bin=${VPT_BIN:-/nowhere}
if [ -x "$bin/vptrace-demo" ]; then
	for knob in --graph --threads; do
		CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=demo$knob.zst \
			"$bin/vptrace-demo" --blocks 3 --steps 2 --layers 2 $knob >out 2>err || fail "the demo ended with $?"
		tables demo$knob.zst "the demo with $knob"
		same "its blocks" "blocks [0, 1, 2]" "$(grep blocks found)"
		same "its steps" "steps [0, 1]" "$(grep steps found)"
		cases=$((cases + 1))
		grep -q "stages .*'denoise'.*'vae_decode'" found || fail "its stages: $(grep stages found)"
	done
else
	echo "SKIPPED: captures of the demo, which was not built"
fi
if [ -d "$source/../shared/traces" ]; then
	for name in b200_overlapping_kernels.json.gz a100_event_sync.json.gz h100_missing_launches.json.gz h100_video_eager_attention.json.gz; do
		tables "$source/../shared/traces/$name" $name
	done
else
	echo "SKIPPED: real traces, which are not beside the source tree"
fi

# ---- windows ----
expect 0 "a window" export trace.zst --format csv --from 25us --to 95us -o window
same "the rows that touch it" 3 "$(wc -l <window/kernel.csv)"
expect 0 "gaps from 10 us on" export trace.zst --format csv --export-min-gap 10us -o gaps
same "one less" 5 "$(wc -l <gaps/gap.csv)"
expect 0 "no calls" export trace.zst --format csv --no-api -o no-api
same "but the header" 1 "$(wc -l <no-api/call.csv)"

# ---- some tables ----
files_of() {
	find "$1" -type f | sed 's|.*/||' | sort | tr '\n' ' '
}
expect 0 "two tables alone" export trace.zst --format csv --only kernel,gap -o only
same "are all there is" "gap.csv kernel.csv schema.json " "$(files_of only)"
same "and are the whole tables" "" "$(diff trace.csv.d/kernel.csv only/kernel.csv && diff trace.csv.d/gap.csv only/gap.csv)"
expect 0 "all but some" export trace.zst --format jsonl --without sample,call,kernel -o without
same "the rest is there" "copy.jsonl idle.jsonl range.jsonl" \
	"$(files_of without | tr ' ' '\n' | grep -E '^(kernel|call|sample|copy|range|idle)\.' | tr '\n' ' ' | sed 's/ $//')"
same "with the copy's row" "$(cat trace.jsonl.d/copy.jsonl)" "$(cat without/copy.jsonl)"
expect 0 "kernels without copies" export trace.zst --format csv --without copy -o no-copies
same "have all their cells" "$(cat trace.csv.d/kernel.csv)" "$(cat no-copies/kernel.csv)"
expect 2 "a name of no table" export trace.zst --format csv --only kernel,kernels -o refused
says err '--only: expected names of tables, such as kernel,call, found "kernels"; vptrace-analyze export --help lists them'
expect 2 "an empty name" export trace.zst --format csv --without kernel,,call -o refused
expect 2 "both lists" export trace.zst --format csv --only kernel --without call -o refused
says err "cannot be combined"
expect 2 "a format without tables" export trace.zst --format chrome --only kernel -o refused
says err "--format chrome has no tables"
[ ! -e refused ] || fail "a refused export left a folder"

# ---- tables of the report: every value of its JSON, wherever it is in it ----
report=$("$VPT_ANALYZE" export --help | sed -n '/^Tables of the report/,/^$/p' | sed 1d | tr -s ' \n' ',,' | sed 's/^,//;s/,$//')
same "are more than fifty" 1 "$([ "$(echo "$report" | tr ',' '\n' | wc -l)" -gt 50 ] && echo 1)"
same "and none is among the usual ones" "" "$(find trace.csv.d -name 'report*')"
for trace in trace.zst python.json "$source"/tests/corpus/good-small.zst "$source"/tests/corpus/good-one-block.zst "$source"/tests/corpus/good-samples.zst; do
	"$VPT_ANALYZE" "$trace" --format json --no-predict --top 1000 --no-progress >report.json 2>err
	expect $? "tables of the report" export "$trace" --format jsonl --only "$report" -o tables --force
	same "$(basename "$trace"): its values" "" "$(python3 "$source/tests/support/outputs/report_tables.py" tables report.json 2>&1 >found | tail -n 1)"
	grep -q 'tables, [0-9]\{3,\} values' found || fail "$(basename "$trace"): $(cat found)"
done

# ---- a database ----
if "$VPT_ANALYZE" export --help | grep -q '^sqlite '; then
	for trace in trace.zst python.json "$source/tests/corpus/good-small.zst" "$source/tests/corpus/good-every-kind.zst" \
		"$source/tests/corpus/good-hostile-names.zst"; do
		"$VPT_ANALYZE" "$trace" --format json --no-predict --top 1000 --no-progress >report.json 2>err
		wanted=$?
		expect $wanted "a database of $(basename "$trace")" export "$trace" --format sqlite -o tables.sqlite --force
		"$VPT_ANALYZE" export "$trace" --format jsonl -o tables --force 2>err
		python3 "$source/tests/support/outputs/database.py" tables.sqlite tables report.json >found 2>wrong ||
			fail "the database of $(basename "$trace"): $(tail -n 1 wrong)"
		grep -q '^[0-9]\{2\} tables of the report, [0-9]* values, [0-9]\{2\} indexes' found || fail "what was compared: $(cat found)"
	done
	expect 0 "the usual name" export trace.zst --format sqlite
	same "only its owner may read it" "-rw-------" "$(ls -l trace.sqlite | cut -c1-10)"
	expect 0 "standard output has the same bytes" export trace.zst --format sqlite -o -
	cmp -s "$work/out" trace.sqlite || fail "$rule"
	expect 2 "it is not overwritten" export trace.zst --format sqlite
	expect 0 "some tables alone" export trace.zst --format sqlite --only kernel,report_stages -o some.sqlite
	same "and the view of what is there" "kernel report_stages stages" \
		"$(python3 -c 'import sqlite3; print(*sorted(r[0] for r in sqlite3.connect("some.sqlite").execute("select name from sqlite_master where type != \"index\" and name not in (\"columns\", \"export\")")))')"
	expect 2 "no packing" export trace.zst --format sqlite --compress zstd -o packed.sqlite
	cases=$((cases + 1))
	(
		trap '' XFSZ
		ulimit -f 1000
		exec "$VPT_ANALYZE" export many.zst --format sqlite -o full.sqlite 2>err
	) && fail "a full disk was not noticed"
	grep -q 'cannot write the database' err || fail "a full disk: $(cat err)"
	same "a full disk leaves nothing" "" "$(find . -name 'full*' -o -name '.vptrace-*' -o -name '.full*')"
else
	echo "SKIPPED: databases, for which this build has no SQLite"
fi

# ---- the folder ----
nothing_else() {
	cases=$((cases + 1))
	[ -z "$(find . -name '*.tmp-*' -o -name '.*tmp*' | head -n 1)" ] || fail "$1: left $(find . -name '*tmp*' | head -n 3)"
}
expect 2 "it is not overwritten" export trace.zst --format csv
says err "exists already"
expect 0 "but with --force" export trace.zst --format jsonl -o trace.csv.d --force
[ -f trace.csv.d/kernel.jsonl ] || fail "it was not replaced"
[ ! -e trace.csv.d/kernel.csv ] || fail "the old files are there still"
nothing_else "replacing"
echo mine >trace.csv.d/notes.txt
expect 2 "a folder that holds somebody's file" export trace.zst --format csv -o trace.csv.d --force
says err "not the folder of an export"
same "which stays" mine "$(cat trace.csv.d/notes.txt)"
echo mine >file
expect 2 "a file" export trace.zst --format csv -o file --force
same "it stays, too" mine "$(cat file)"
mkdir empty
expect 0 "an empty folder may be taken" export trace.zst --format csv -o empty/ --force
[ -f empty/schema.json ] || fail "no schema in it"
expect 2 "no standard output" export trace.zst --format csv -o -
expect 1 "no such place" export trace.zst --format csv -o nowhere/at/all
expect 2 "no such packing" export trace.zst --format csv --compress gzip -o packed
expect 2 "no such range" export trace.zst --format csv --range nothing -o none
[ ! -e none ] || fail "a failed export left a folder"
nothing_else "failing"

# A disk that is full: the limit stands for it.
cases=$((cases + 1))
(
	trap '' XFSZ
	ulimit -f 1000
	exec "$VPT_ANALYZE" export many.zst --format csv -o full 2>err
) && fail "a full disk was not noticed"
[ ! -e full ] || fail "a full disk left a folder"
nothing_else "a full disk"

# Ended while it works: at no moment is there half a folder under the name.
for signal in TERM KILL; do
	for wait in 0 0.03 0.1; do
		cases=$((cases + 1))
		"$VPT_ANALYZE" export many.zst --format jsonl -o ended 2>err &
		pid=$!
		sleep $wait
		kill -s $signal $pid 2>/dev/null
		wait $pid 2>/dev/null
		if [ -e ended ]; then
			python3 -c 'import json; s = json.load(open("ended/schema.json")); assert sum(1 for _ in open("ended/kernel.jsonl")) == 33000' ||
				fail "SIG$signal after $wait s left half an export"
			rm -r ended
		fi
		[ $signal = KILL ] || nothing_else "SIG$signal after $wait s"
		rm -rf ended.tmp-*
	done
done
finish
