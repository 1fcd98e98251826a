#!/bin/sh
# A capture that is being recorded: what reports say of it, `watch`, and `vptrace run --live`.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"
. "$VPT_SOURCE_DIR/tests/support/captures/demo.sh"
has_demo "captures that grow" || exit 77
grow=$VPT_SOURCE_DIR/tests/support/grow.py
cd "$work" || exit 1

# Seven blocks of 12 frames; the third part of the file and what follows are in later chunks.
VPTRACE_FLUSH_MS=50 VPT_STANDIN_TIME=real demo whole --scale 0.2
expect 0 "a whole capture" info whole.zst
says out "ends with a clean stop"
chunks=$(sed -n 's/^chunks *\([0-9]*\),.*/\1/p' out)
[ "$chunks" -ge 5 ] || fail "expected 5 chunks or more, found $chunks"
expect 0 "its JSON" whole.zst --format json
fps=$(python3 -c 'import json; print("%.1f" % json.load(open("out"))["requests"][0]["blocks"]["fps"])')

# ---- it is not "killed" ----

python3 "$grow" whole.zst growing.zst 4 40 --cut &
writer=$!
until [ -s growing.zst ]; do sleep 0.05; done
expect 3 "report of a capture that is being recorded" growing.zst
says out "the capture is still being recorded"
! grep -q "killed\|ends inside a chunk" out || fail "$rule: expected no word of its end"
expect 3 "info of it" info growing.zst
says out "still being recorded"
expect 3 "info of it" info growing.zst --format json
says out '"being_recorded": true'
expect 0 "one line of it" watch growing.zst --once
says out "SIMULATED"
same "lines of --once" 1 "$(wc -l <out)"
kill $writer
wait $writer 2>/dev/null

# ---- one that was cut off ----

touch -d '1 minute ago' growing.zst
expect 3 "watching what was killed" watch growing.zst
says err "its process exited or was killed"
expect 3 "report of it" growing.zst
! grep -q "being recorded" out || fail "$rule: nobody records it"

# Its last chunk says that it is the last as soon as its head is there: the file ends in it.
demo short --blocks 2
head -c -20 short.zst >cut.zst
touch -d '1 minute ago' cut.zst
expect 3 "watching a capture whose last chunk is cut" watch cut.zst
says err "its process exited or was killed"

# ---- to the end ----

"$VPT_ANALYZE" watch whole.zst >out 2>err || fail "watching a whole capture ended with $?"
same "lines of a whole capture" 1 "$(wc -l <out)"
rule="the line of a whole capture"
says out "SIMULATED  $fps FPS"
says out "7 blocks, last"

# Iterations of a profiler are not called steps.
python3 -c '
import json
work = [dict(ph="X", cat=cat, name=name, pid=1, tid=1, ts=1000 * i + at, dur=us, args=dict(correlation=i + 1, device=0, stream=7))
        for i in range(5) for cat, name, at, us in (("user_annotation", "ProfilerStep#%d" % i, 0, 1000),
                                                    ("cuda_runtime", "cudaLaunchKernel", 10, 5), ("kernel", "gemm", 20, 900))]
json.dump(dict(schemaVersion=1, traceEvents=work), open("loop.json", "w"))'
expect 0 "the line of iterations" watch loop.json --once --prometheus metrics
says out "  1,000.00 iterations/s  4 iterations, last 1.00 ms  "
same "their metrics" "vptrace_iterations_per_second 1000.000000
vptrace_iterations_total 4.000000
vptrace_last_iteration_seconds 0.001000" "$(grep '^vptrace_.*iteration' metrics)"

# Nobody reads its line: no complaint.
{ sleep 0.2; "$VPT_ANALYZE" watch whole.zst 2>err; echo $? >code; } | :
same "the reader of a line went away" 1 "$(cat code)"
silent err

# Lines until it ends; what they count only rises, and is right at the end. The first lines may be of a file without a chunk.
python3 "$grow" whole.zst slow.zst 12 6 &
until [ -s slow.zst ]; do sleep 0.05; done
timeout 60 "$VPT_ANALYZE" watch slow.zst --every 100ms --target 100000 --prometheus metrics >out 2>err ||
	fail "watching a growing capture ended with $?"
wait
rule="watching a growing capture"
cases=$((cases + 1))
python3 - out <<'EOF' || fail "$rule: the counts of blocks"
import re, sys
lines = open(sys.argv[1]).read().splitlines()
counts = [int(m.group(1)) if (m := re.search(r"(\d+) blocks?,", line)) else 0 for line in lines]
if len(lines) < 3 or counts != sorted(counts) or counts[-1] != 7 or "(late)" not in lines[-1]:
    sys.exit("\n".join(lines))
EOF
same "metrics of the end" "vptrace_recording 0.000000
vptrace_simulated 1.000000
vptrace_target_fps 100000.000000
vptrace_blocks_total 7.000000" "$(grep -E '^vptrace_(recording|simulated|target_fps|blocks_total) ' metrics)"
same "who may read the metrics" 644 "$(stat -c %a metrics)"
expect 0 "metrics that replace those of before" watch whole.zst --once --prometheus metrics
same "a number for each metric" "$(grep -c '^# TYPE' metrics)" "$(grep -vc '^#' metrics)"

# ---- on a terminal ----

if [ -e "$VPT_BIN/host_counters" ]; then
	shown() { # shown COLUMNS: the line on a terminal
		python3 "$VPT_SOURCE_DIR/tests/support/terminal.py" 10 "$1" "$VPT_ANALYZE" watch sampled.zst --once --target 16 2>err |
			tr -d '\r\n' | sed 's/^.\[K//'
	}
	counters sampled 10 "power=310;temperature=61"
	plain=$("$VPT_ANALYZE" watch sampled.zst --once --target 16)
	brief=$(echo "$plain" | sed 's| blocks/s| BPS|; s|[0-9,]* blocks, last|last|; s| % busy| %|; s| of [0-9.]* GB||')
	rule="the line of a capture with counters"
	echo "$plain" >out
	for text in SIMULATED " FPS of 16.0  " " blocks/s  " " blocks, last " " % busy  " " GB  310 W  61 C  CPU "; do
		says out "$text"
	done
	same "a terminal in which the line has room" "$plain" "$(shown $((${#plain} + 1)))"
	same "a terminal that is one column too narrow" "$brief" "$(shown ${#plain})"
	same "the same to the last column" "$brief" "$(shown $((${#brief} + 1)))"
	same "a terminal without room for it" "${brief%  CPU*}" "$(shown ${#brief})"
	same "a terminal of 40 columns" "$(echo "$brief" | sed 's/ FPS of 16.0 .*/ FPS of 16.0/')" "$(shown 40)"
else
	echo "SKIPPED: the line on a terminal: no host_counters"
fi

# ---- a signal ends it ----

python3 "$grow" whole.zst stopped.zst 4 40 --cut &
writer=$!
until [ -s stopped.zst ]; do sleep 0.05; done
"$VPT_ANALYZE" watch stopped.zst --every 30s >first 2>err &
watcher=$!
until [ -s first ]; do sleep 0.05; done
kill $watcher
wait $watcher
same "exit code after SIGTERM" 0 $?
kill $writer
wait $writer 2>/dev/null

# ---- wrong words ----

expect 2 "standard input" watch -
says err "standard input cannot be watched"
expect 2 "too often" watch whole.zst --every 99ms
says err "expected at least 100 ms"
expect 1 "no file" watch nothing.zst

# ---- vptrace run --live ----

run() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	LD_LIBRARY_PATH=$VPT_BIN/standin VPT_STANDIN_TIME=real "$VPT_BIN/vptrace" run "$@" >out 2>err </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit code $wanted, found $found"
}
run 0 "a line every 0.2 seconds" --live=0.2 -o live.zst -- "$VPT_BIN/vptrace-demo" --blocks 4 --scale 0.5
grep -q "blocks, last .* busy" err || fail "$rule: expected lines on standard error"
says err "live.zst: "
! grep -q busy out || fail "$rule: standard output is the command's"
run 0 "a target" --live=0.2 --target 99999 --report -o aimed.zst -- "$VPT_BIN/vptrace-demo" --blocks 3 --scale 0.2
grep -q "FPS of 99,999.0  .*(late)" err || fail "$rule: expected it in the line"
says out "TOO SLOW: "
says out ", target 99,999."
run 2 "a wrong target" --live --target fast -- true
says err "--target: expected frames per second such as 16 or 23.976, found \"fast\""
run 0 "metrics" --live=prometheus:live.prom -o metered.zst -- "$VPT_BIN/vptrace-demo" --blocks 2 --scale 0.2
! grep -q busy err || fail "$rule: expected no lines"
grep -q "^vptrace_blocks_total 2" live.prom || fail "$rule: expected 2 blocks in live.prom: $(cat live.prom)"
run 3 "a command that does not record" --live -- sh -c 'exit 3'
run 2 "a wrong time" --live=often -- true
says err "--live: expected seconds from 0.1 to 86400, or prometheus:FILE"
run 2 "with a ring" --live --ring 10s -- true
says err "--live and --ring cannot be combined"

finish
