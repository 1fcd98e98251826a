#!/bin/sh
# Exports, as Perfetto itself takes them: runs only where VPT_TRACE_PROCESSOR names a trace_processor_shell, of v52 or later. It
# must load each without a complaint, and find in SQL what an independent decoder found in the file, which are the
# totals that the analyzer counted. What came with a later version is left out, and said so.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
perfetto=${VPT_TRACE_PROCESSOR:-}
[ -n "$perfetto" ] || skip "VPT_TRACE_PROCESSOR names no trace_processor_shell"
need_python 3.8
version=$("$perfetto" --version 2>/dev/null | sed -n 's/^Perfetto v\([0-9]*\).*/\1/p')
[ "${version:-0}" -ge 52 ] || skip "$perfetto: expected v52 or later, found \"$("$perfetto" --version 2>&1 | head -n 1)\""
folder=${VPT_SHARED:-$source/../shared}/traces
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS

# What stats must not hold: losses and errors, and those that Perfetto files under "info".
cat >complaints.sql <<'SQL'
select name, severity, value from stats where value > 0 and (severity in ('error', 'data_loss', 'notice') or name in
 ('track_event_parser_errors', 'track_event_tokenizer_errors', 'tokenizer_skipped_packets', 'track_hierarchy_missing_uuid',
  'interned_data_tokenizer_errors', 'misplaced_end_event'))
SQL

# An op is a gpu_slice of a stage, or a slice of a category.
cat >ops_gpu.sql <<'SQL'
with ops as (select id, ts, dur, extract_arg(arg_set_id, 'description') as kind from gpu_slice),
SQL
cat >ops_trackevent.sql <<'SQL'
with ops as (select id, ts, dur, category as kind from slice where category in ('kernel', 'memcpy', 'memset')),
SQL
cat >totals.sql <<'SQL'
roots as (select id, name from track where name like 'GPU % - video pipeline'),
places as (select 'Pipeline stages' as name, 0 as rank union all select 'Denoising steps', 1 union all select 'Video blocks', 2
 union all select 'Attention kernels', 3 union all select 'Idle gaps', 4)
select 'kernels' as key, count(*) as value from ops where kind = 'kernel' and dur > 0
union all select 'memcpys', count(*) from ops where kind = 'memcpy' and dur > 0
union all select 'memsets', count(*) from ops where kind = 'memset' and dur > 0
union all select 'kernel_ns', ifnull(sum(dur), 0) from ops where kind = 'kernel'
union all select 'zero_length', count(*) from ops where dur = 0
union all select 'first_gpu_ts', min(ts) from ops where dur > 0 having count(*) > 0
union all select 'last_gpu_end', max(ts + dur) from ops where dur > 0 having count(*) > 0
union all select 'api_calls', count(*) from slice where category = 'cuda_api'
union all select 'api_ns', ifnull(sum(dur), 0) from slice where category = 'cuda_api'
union all select 'nvtx_ranges and instants', count(*) from slice where category = 'nvtx'
union all select 'nvtx_ns', ifnull(sum(dur), 0) from slice where category = 'nvtx'
union all select 'cpu_ops', count(*) from slice where category = 'cpu_op'
union all select 'cpu_op_ns', ifnull(sum(dur), 0) from slice where category = 'cpu_op'
union all select 'gaps', count(*) from slice where category = 'idle'
union all select 'gap_ns', ifnull(sum(dur), 0) from slice where category = 'idle'
union all select 'attention_kernels', count(*) from slice where category = 'attention'
union all select 'counter_samples', count(*) from counter
union all select 'submissions and waits', count(*) from flow
union all select 'arrows that end at no op', count(*) from flow where slice_in not in (select id from ops)
union all select 'arrows from neither call nor op', count(*) from flow join slice on slice.id = slice_out
 where category is not 'cuda_api' and slice_out not in (select id from ops)
union all select 'slices without end', count(*) from slice where dur < 0
union all select 'our tracks out of place', count(*) from track join places using (name)
 where parent_id not in (select id from roots) or extract_arg(source_arg_set_id, 'sibling_order_rank') is not rank
union all select 'roots without explicit order', count(*) from track where id in (select id from roots)
 and extract_arg(source_arg_set_id, 'child_ordering') is not 'explicit'
SQL

cat >stacks.sql <<'SQL'
select count(*), count(callsite_id), count(utid) from stack_sample left join stack_sample_task_context as task
 on task.id = task_context_id
SQL

# What SQL must answer, of what the decoder printed.
cat >expect.py <<'PYTHON'
import sys
found = dict(line.split() for line in open("found"))
number = lambda key: int(found.get(key, 0))
for key in ("kernels", "memcpys", "memsets", "kernel_ns", "zero_length", "first_gpu_ts", "last_gpu_end", "api_calls", "api_ns"):
    if key in found:
        print(key, found[key])
print("nvtx_ranges and instants", number("nvtx_ranges") + number("instants"))
if int(sys.argv[1]) < 58:  # knows no stack samples, and so not their weights
    found["counter_samples"] = number("counter_samples") - number("stack_weights")
for key in ("nvtx_ns", "cpu_ops", "cpu_op_ns", "gaps", "gap_ns", "attention_kernels", "counter_samples"):
    print(key, found[key])
print("submissions and waits", number("submissions") + number("waits"))
for key in ("arrows that end at no op", "arrows from neither call nor op", "slices without end", "our tracks out of place",
            "roots without explicit order"):
    print(key, 0)
PYTHON

ask() { # ask SQL-FILE EXPORT: rows of "key value" to ./answer
	"$perfetto" -q "$1" "$2" >answer.csv 2>err || fail "$name: trace_processor_shell ended with $?: $(grep -v '^$' err | tail -n 2)"
	sed -e 1d -e 's/"//g' -e 's/,/ /g' -e '/^ *$/d' answer.csv >answer
}

accept() { # accept NAME EXPORT ENCODING
	name=$1
	python3 "$source/tests/support/outputs/pftrace.py" "$2" >found 2>wrong || fail "$name: $(head -n 3 wrong)"
	python3 expect.py "$version" >expected
	ask complaints.sql "$2"
	same "$name: nothing is complained about" "" "$(cat answer)"
	cat "ops_$3.sql" totals.sql >query.sql
	ask query.sql "$2"
	cases=$((cases + 1))
	diff expected answer >differ || fail "$name: expected, and found in SQL: $(grep '^[<>]' differ | tr '\n' ' ')"
	stacks=$(sed -n 's/^stack_samples //p' found)
	[ "$version" -ge 58 ] && [ "$stacks" ] || return
	ask stacks.sql "$2"
	same "$name: stack samples, all with a stack and a thread" "$stacks $stacks $stacks" "$(cat answer)"
}

encodings="trackevent gpu"
containers="none packets gzip zstd"
if [ "$version" -lt 55 ]; then
	echo "v$version: before v55 ops are no slices of a GPU with calls; that encoding is left out"
	encodings=trackevent
fi
if [ "$version" -lt 58 ]; then
	echo "v$version: before v58 there is no zstd, and archives are merged by other rules; both are left out"
	containers="none packets gzip"
fi

both() { # both NAME TRACE
	for encoding in $encodings; do
		"$VPT_ANALYZE" export "$2" --format perfetto --gpu-encoding "$encoding" -o export.pftrace --force >out 2>err
		code=$?
		grep -q 'built without' err && return
		[ $code = 0 ] || [ $code = 3 ] || fail "$1: exit code $code"
		accept "$1, $encoding" export.pftrace "$encoding"
	done
}

need_trace small.zst small_trace
both "a few events" small.zst
for container in $containers; do
	expect 0 "$container" export small.zst --format perfetto --gpu-encoding trackevent --compress "$container" -o "small.$container"
	accept "as $container" "small.$container" trackevent
done

demo=${VPT_BIN:+$VPT_BIN/vptrace-demo}
knob() { # knob NAME KNOBS...
	knob=$1
	shift
	CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so VPTRACE_OUTPUT="$work/$knob-r%r.zst" \
		"$demo" --blocks 3 --steps 2 "$@" >out 2>err || fail "$knob: the demo"
	both "the demo, $knob" "$(echo "$knob"-r*.zst)"
}
if [ -x "$demo" ]; then
	knob plain --layers 4
	knob sync --layers 4 --sync-per-layer
	knob graph --graph
	knob two-streams --layers 4 --two-streams
	knob threads --layers 4 --threads
else
	echo "SKIPPED: captures of the demo, which was not built"
fi
for trace in "$folder"/*.json.gz "$folder"/*.sqlite; do
	[ ! -f "$trace" ] || both "${trace##*/}" "$trace"
done

if [ "$version" -lt 58 ]; then
	echo "SKIPPED: archives of ranks, which trace_processor_shell $version does not read"
elif built "$demo" "an archive of the demo's ranks"; then
	VPT_STANDIN_DEVICES=2 CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
		VPTRACE_OUTPUT=$work/rank%r.zst "$demo" --ranks 2 --blocks 2 --layers 4 >out 2>err || fail "the demo's ranks"
	expect 0 "ranks" export rank0.zst rank1.zst -o ranks.tar
	kernels=$(sed -n 's/.*wrote \([0-9]*\) kernels.*/\1/p' err)
	name="an archive of ranks"
	ask complaints.sql ranks.tar
	same "nothing is complained about in an archive" "" "$(cat answer)"
	echo "select count(*), count(distinct extract_arg(arg_set_id, 'upid')) from gpu_slice
where extract_arg(arg_set_id, 'description') = 'kernel'" >query.sql
	ask query.sql ranks.tar
	same "an archive holds the kernels of both ranks" "$kernels 2" "$(cat answer)"
fi
finish
