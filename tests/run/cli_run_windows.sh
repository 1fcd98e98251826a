#!/bin/sh
# What a capture's window lets through, to the nanosecond of the simulated clock: the rows of the whole run that begin inside, and the
# work that was launched inside. Limits of time and size end a capture in good order. Nothing here is a measurement of a GPU.
# shellcheck disable=SC1091,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
# The quarantine of freed memory would count as growth.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16
export ASAN_OPTIONS
# The tracer's own calls come earlier or later, as the machine is busy: they cost nothing here.
export VPT_STANDIN_TIME=first-thread
unset VPTRACE_OUTPUT VPTRACE_CAPTURE VPTRACE_DURATION VPTRACE_MAX_BYTES RANK
vptrace=$bin/vptrace
host=$bin/host_windows
[ -x "$vptrace" ] && [ -x "$host" ] || skip "vptrace or host_windows is not built"
command -v python3 >/dev/null || skip "there is no python3 to compare rows with"
cd "$work" || exit 1

# records RULE WORDS...: a capture of the host's run, part.zst; its rows are in part, what the host says is in out
records() {
	rule=$1
	shift
	cases=$((cases + 1))
	rm -f part.zst
	timeout 60 "$vptrace" run -o part.zst "$@" >out 2>err </dev/null || fail "$rule: exit status $?"
	"$VPT_ANALYZE" cat part.zst >part 2>>err || fail "$rule: no rows"
	"$VPT_ANALYZE" cat --kind meta part.zst >>part 2>>err || fail "$rule: no facts"
}
windows_of() { # windows_of NAME: begin and end of each, in one line
	sed -n "s/^$1 //p" out | tr '\n' ' '
}
lets_through() { # lets_through BEGIN END...
	python3 "$source/tests/support/captures/windows.py" whole part "$@" >differs 2>&1 || fail "$rule: not compared: $(cat differs)"
	[ ! -s differs ] || fail "$rule: $(head -n 3 differs)"
}
keeps_whole() { # the verdict is good, and no time outside the windows is called idle
	says err "part.zst: "
	says err "good, "
	expect 0 "$rule: the report" --format json part.zst
}

ends_by_itself() { # ends_by_itself WHY: before the program did
	same "$rule: stopped" "status 0" "$(grep status out)"
	same "$rule: a pause of it" "pause 0" "$(grep pause out)"
	same "$rule: the program's stop" "stop 0" "$(grep stop out)"
	same "$rule: a second stop" "again -3" "$(grep again out)"
	same "$rule: it says why" "\"value\":\"$1\"" "$("$VPT_ANALYZE" cat part.zst --kind meta | sed -n 's/.*"key":"capture.ended",\(.*\)}$/\1/p')"
	keeps_whole
	says out '"complete": true'
	"$VPT_ANALYZE" part.zst --full >out 2>err
	says out "ended by $2"
}

for steps in '' calls; do
	export VPT_STEPS=$steps
	[ -n "$steps" ] || unset VPT_STEPS
	records "everything, steps by ${steps:-notes}" "$host"
	mv part whole
	lets_through_all=$(wc -l <whole)
	[ "$lets_through_all" -gt 90 ] || fail "the whole run has $lets_through_all rows"

	records "cudaProfilerApi" --capture cudaProfilerApi "$host"
	lets_through $(windows_of 'profiler\|driver' | sed 's/^//')
	keeps_whole
	records "a range" --capture nvtx:inside "$host"
	lets_through $(windows_of inside)
	keeps_whole
	records "a range, once" --capture nvtx:inside:1 "$host"
	lets_through $(windows_of inside | cut -d' ' -f1-2)
	keeps_whole
	records "a range, twice" --capture nvtx:inside:2 "$host"
	lets_through $(windows_of inside)
	records "a range of the process" --capture nvtx:process "$host"
	lets_through $(windows_of process)
	keeps_whole
	records "steps" --capture step:3-5 "$host"
	# A step without an end of its own lasts until the next one begins.
	lets_through $(windows_of step | cut -d' ' -f7) $(windows_of step | cut -d' ' -f$((${#steps} > 0 ? 13 : 12)))
	keeps_whole
	records "the first step" --capture step:0 "$host"
	lets_through $(windows_of step | cut -d' ' -f1-2)
	records "the last steps, and more" --capture step:8-99 "$host"
	lets_through $(windows_of step | cut -d' ' -f17) -
	keeps_whole
	records "a delay" --capture delay:0.0006 "$host"
	lets_through 1700000000000600000 -
	keeps_whole
	records "no delay" --capture delay:0 "$host"
	lets_through 1700000000000000000 -
done
unset VPT_STEPS

# ---- requests and blocks, and a schedule of them: iterations are units of that kind ----
for unit in request block; do
	export VPT_UNIT=$unit
	records "everything, with ${unit}s" "$host"
	mv part whole
	records "${unit}s" --capture $unit:1-3 "$host"
	lets_through $(windows_of step | cut -d' ' -f3) $(windows_of step | cut -d' ' -f8)
	keeps_whole
	records "a schedule of ${unit}s" --capture $unit:wait=1,active=2,repeat=2,skip_first=1 "$host" run linger
	set -- $(windows_of step)
	lets_through $5 $8 ${11} ${14}
	ends_by_itself window --capture
	records "a schedule without end" --capture $unit:warmup=2,active=3 "$host"
	set -- $(windows_of step)
	lets_through $5 ${10} ${15} ${20}
	keeps_whole
	rule="no step among ${unit}s"
	timeout 60 "$vptrace" run -o none.zst --capture step:wait=1 "$host" >out 2>err
	says err "the window step:wait=1 never opened"
done
unset VPT_UNIT
records "everything" "$host"
mv part whole
for how in start resume; do
	export VPT_API=$how
	records "the program's vptrace_$how()" --capture api "$host"
	lets_through $(windows_of api | cut -d' ' -f1) -
	keeps_whole
done
unset VPT_API

# ---- the host's own pause, and windows ----
export VPT_PAUSES=1
records "a pause without a window" "$host"
pause=$(windows_of paused)
lets_through 1700000000000000000 $pause -
records "a pause in a window" --capture step:7-9 "$host"
lets_through $(windows_of step | cut -d' ' -f15) $pause $(windows_of step | cut -d' ' -f20)
records "a pause outside the window" --capture nvtx:inside "$host"
lets_through $(windows_of inside)
unset VPT_PAUSES

# ---- work that runs when a window opens and closes ----
export VPT_QUEUES=1
records "everything, with a full queue" "$host"
mv part whole
records "a window with a full queue" --capture nvtx:inside "$host"
lets_through $(windows_of inside)
keeps_whole
"$VPT_ANALYZE" part.zst --full >out 2>err
says out "launched while recording was paused"
unset VPT_QUEUES
records "everything" "$host"
mv part whole

# ---- a window that never opens ----
rule="a window that never opens"
rm -f part.zst
timeout 60 "$vptrace" run -o part.zst --capture nvtx:nobody "$host" >out 2>err
same "$rule: exit status" 0 $?
same "$rule: no file" "" "$(ls ./part.zst 2>/dev/null)"
says err "the window nvtx:nobody never opened"
says err "nothing was recorded"
rule="a window that opens after the program's end"
timeout 60 "$vptrace" run -o part.zst --capture delay:3600 "$host" >out 2>err
says err "the window delay:3600 never opened"

# ---- limits ----
# Once the capture ends after the program's iterations, once between them.
for slow in '' slow; do
	[ -z "$slow" ] || export VPT_SLOW=1
	records "a duration${slow:+, slowly}" --duration 0.00065 "$host" run linger
	lets_through 1700000000000000000 1700000000000650000
	ends_by_itself duration --duration
	records "a duration within windows${slow:+, slowly}" --duration 0.0001 --capture nvtx:inside "$host" run linger
	begins=$(windows_of inside | cut -d' ' -f1)
	ends=$(windows_of inside | cut -d' ' -f2)
	second=$(windows_of inside | cut -d' ' -f3)
	lets_through $begins $ends $second $((second + 100000 - ends + begins))
	ends_by_itself duration --duration
	records "a duration after a delay${slow:+, slowly}" --duration 0.0001 --capture delay:0.0006 "$host" run linger
	lets_through 1700000000000600000 1700000000000700000
	ends_by_itself duration --duration
done
unset VPT_SLOW
records "a duration that is not reached" --duration 100 "$host"
lets_through 1700000000000000000 -
keeps_whole
records "the last window" --capture nvtx:inside:1 "$host" run linger
lets_through $(windows_of inside | cut -d' ' -f1-2)
ends_by_itself window --capture
records "the last step" --capture step:3-5 "$host" run linger
lets_through $(windows_of step | cut -d' ' -f7) $(windows_of step | cut -d' ' -f12)
ends_by_itself window --capture

# What was queued then and ran later is waited for.
export VPT_STANDIN_TIME=real
records "work queued at the end" --duration 1 "$bin/host_ring" ahead now 1000
VPT_STANDIN_TIME=first-thread
keeps_whole
says out '"complete": true'
says out '"launches_without_op": 0'
same "$rule: rows without times" 0 "$(grep -c '"kind":"kernel".*"start_ns":0,' part)"

for bytes in 1M 3M; do
	records "at most $bytes" --max-bytes $bytes "$host" many
	limit=$((${bytes%M} * 1048576))
	size=$(wc -c <part.zst)
	cases=$((cases + 1))
	[ "$size" -le $limit ] || fail "$rule: the file has $size bytes"
	[ "$size" -gt $((limit / 2)) ] || fail "$rule: the file has only $size bytes"
	ends_by_itself max-bytes --max-bytes
done
records "fewer bytes than that" --max-bytes 1M "$host"
lets_through 1700000000000000000 -
keeps_whole

# A limit makes chunks small: they end while rings hold ranges of the past, none of which may be missing.
for bytes in 1M 1500k; do
	records "blocks in small chunks, $bytes" --max-bytes $bytes "$host" blocks
	keeps_whole
	says out '"complete": true'
	says out '"late_ranges": 0'
	for range in block:6000 step:24000 asset:6000 load:6000 decode:6000; do
		same "$rule: rows of ${range%:*}" ${range#*:} "$(grep -c "\"kind\":\"range\".*\"name\":\"${range%:*}\"" part)"
	done
	for range in block:6000 step:24000; do
		same "$rule: ${range%:*} in the report" ${range#*:} "$(python3 -c "
import json
print(*[r['count'] for r in json.load(open('out'))['ranges'] if r['name'] == '${range%:*}'])")"
	done
done

# ---- growth ----
room=1024 # KiB
ldd "$bin/libvptrace.so" | grep -q 'lib[atu]b*san' && room=4096
grows_at_most() { # grows_at_most UNIT COUNT
	early=$(sed -n "s/^early.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p" out)
	late=$(sed -n "s/^late.*[^0-9]\([0-9][0-9]*\) $1.*/\1/p" out)
	cases=$((cases + 1))
	[ "${late:?}" -le $((${early:?} + $2)) ] || fail "$rule: grew from $early to $late $1"
}
grows_little() {
	grows_at_most KiB $room
	grows_at_most threads 0
	grows_at_most descriptors 0
}
records "a thousand windows" --capture cudaProfilerApi "$host" cycles
grows_little
same "$rule: each kernel inside" 1000 "$(grep -c '"kind":"kernel".*attention' part)"
same "$rule: none outside" 0 "$(grep -c '"kind":"kernel".*gemm' part)"
rule="a thousand captures"
timeout 120 "$host" captures >out 2>err || fail "$rule: exit status $?"
grows_little

# ---- what cannot be ----
while IFS='|' read -r words expected; do
	rule="--$words"
	rm -f part.zst
	"$vptrace" run -o part.zst "--${words%% *}" "${words#* }" true >out 2>err
	same "$rule: exit status" 2 $?
	says err "--${words%% *}: expected $expected"
done <<'CASES'
capture later|now, api, cudaProfilerApi, nvtx:RANGE, nvtx:RANGE:COUNT, delay:SECONDS, or one of step, block and request with :A-B or :wait=N,active=N,repeat=N, found
capture nvtx:|now, api
capture nvtx:a:0|now, api
capture nvtx:a:2-3|now, api, cudaProfilerApi, nvtx:RANGE, nvtx:RANGE:COUNT, delay:SECONDS, or one of
capture step:|now, api
capture step:5-3|now, api
capture step:a|now, api
capture frame:1|now, api
capture request:wait=1,active=0|now, api
capture block:repeat=x|now, api
capture delay:x|now, api
capture delay:1.|now, api
capture cudaProfilerApi:1|now, api
duration 0|seconds, as 10 or 0.25
duration -1|seconds, as 10 or 0.25
duration 1s|seconds, as 10 or 0.25
duration 0.0000000001|seconds, as 10 or 0.25
max-bytes 1000|at least 1 MiB
max-bytes many|at least 1 MiB
stacks 1001|1 to 1000 or off
stacks often|1 to 1000 or off
CASES
finish
