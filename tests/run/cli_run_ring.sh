#!/bin/sh
# A flight recorder: what it keeps, compared with the stand-in's log of every operation; what makes it write; how its process may die.
# Nothing here is a measurement of a GPU.
# shellcheck disable=SC1091,SC2012,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
# The quarantine of freed memory would count as growth.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16
export ASAN_OPTIONS
unset VPTRACE_OUTPUT VPTRACE_RING VPTRACE_SNAPSHOT_ON VPTRACE_RING_SOCKET RANK
vptrace=$bin/vptrace
host=$bin/host_ring
[ -x "$vptrace" ] && [ -x "$host" ] || skip "vptrace or host_ring is not built"
command -v python3 >/dev/null || skip "there is no python3 to compare rows with"
mkdir "$work/temporary"
TMPDIR=$work/temporary VPT_STANDIN_TIME=real VPT_STANDIN_LOG_LINES=1 VPTRACE_FLUSH_MS=50
export TMPDIR VPT_STANDIN_TIME VPT_STANDIN_LOG_LINES VPTRACE_FLUSH_MS
cd "$work" || exit 1
kills=${VPT_KILLS:-40}
room=4096 # KiB that memory may grow
if ldd "$bin/libvptrace.so" | grep -q 'lib[atu]b*san'; then
	kills=${VPT_KILLS:-8}
	room=65536
fi

# records STATUS RULE WORDS...: runs it; what it prints is in out and err
records() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	rm -f ./*.zst log
	VPT_STANDIN_LOG=$work/log timeout 120 "$vptrace" run "$@" >out 2>err </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit status $wanted, found $found"
	[ -z "$(ls temporary)" ] || fail "$rule: a temporary file is left: $(ls temporary)"
}
holds() { # holds FILE: every kernel of the log in its time; intact, complete, a flight recorder's
	cases=$((cases + 1))
	"$VPT_ANALYZE" check "$1" >checked 2>&1 || fail "$rule: check: $(head -n 3 checked)"
	"$VPT_ANALYZE" --format json "$1" >report 2>&1 || fail "$rule: no report"
	for kind in kernel clock meta; do
		"$VPT_ANALYZE" cat "$1" --kind $kind
	done >rows 2>&1
	python3 "$source/tests/support/captures/ring.py" log rows report >compared 2>&1 || fail "$rule: $(head -n 5 compared)"
	"$VPT_ANALYZE" "$1" --full 2>&1 | tr -s '\n ' '  ' | grep -q 'flight recorder of' || fail "$rule: the report does not say what it is"
}
cause() { # cause FILE TEXT
	same "$rule: why" "$2" "$("$VPT_ANALYZE" cat "$1" --kind meta | sed -n 's/.*"ring.cause","value":"\(.*\)"}/\1/p')"
}
files() {
	same "$rule: files" "$1" "$(ls ./*.zst 2>/dev/null | wc -l | tr -d ' ')"
}
length() { # ms of the file that was compared
	sed -n 's/.* \([0-9]*\) ms$/\1/p' compared
}
lasts() { # lasts LEAST MOST
	ms=$(length)
	cases=$((cases + 1))
	[ "${ms:-0}" -ge "$1" ] && [ "$ms" -le "$2" ] || fail "$rule: expected $1 to $2 ms, found $ms"
}

# ---- random moments ----
random_moments() {
	whole=0
	for moment in $(seq $((5 * kills))); do # and later ones, until enough had something to show
		[ "$moment" -le "$kills" ] || [ $whole -le $((kills / 2)) ] || break
		records 137 "kill -9 at moment $moment" --ring 1M -o a.zst "$host" die $((moment * 7919 % 1000 * ((moment + kills - 1) / kills)))
		[ -e a.zst ] || continue # before the first chunk
		holds a.zst
		# Moments before CUPTI first gave all back prove nothing.
		grep -q ' 0 expected' compared || whole=$((whole + 1))
	done
	cases=$((cases + 1))
	[ $whole -gt $((kills / 2)) ] || fail "only $whole of $moment left a file"
}
aside random_moments

# ---- snapshots ----
snapshots() {
	records 0 "vptrace_snapshot()" --ring 30s -o a.zst "$host" take - b-%p.zst - sub/c.zst
	same "$rule: the three that can be" 3 "$(grep -c '^snapshot 0 ' out)"
	says out "snapshot -5"
	says out "sub/c.zst: cannot create: No such file or directory"
	files 4
	for capture in ./*.zst; do
		holds "$capture"
	done
	records 0 "a full disk" --ring 30s -o a.zst "$host" full b.zst
	says out "snapshot -5"
	says out "cannot write: File too large"
	says out "snapshot 0 $work/b.zst"
	files 2
	holds b.zst
	holds a.zst
	records 0 "snapshots at full speed" --ring 64M -o a.zst "$host" busy b.zst 4
	same "$rule: all are there" 4 "$(grep -c '^snapshot 0 ' out)"
	says out "dropped 0"
	files 5
	for capture in ./*.zst; do
		holds "$capture"
	done
	same "$rule: the end has all" "$(grep -c kernel log)" "$("$VPT_ANALYZE" cat a.zst --kind kernel | wc -l | tr -d ' ')"
}
aside snapshots

# ---- memory ----
memory() {
	seconds=${VPT_RING_SECONDS:-4}
	for ring in 2M 1s; do
		# Where the drain gets no processor for a while, buffers pile up once; a leak grows in every run.
		for try in 1 2 3; do
			VPTRACE_MEMORY=64M records 0 "memory over a long run with $ring, try $try" --ring $ring -o a.zst "$host" long "$seconds"
			early=$(sed -n 's/^early \([0-9]*\) .*/\1/p' out)
			late=$(sed -n 's/^late \([0-9]*\) .*/\1/p' out)
			[ "$late" -gt $((early + room)) ] || break
		done
		cases=$((cases + 1))
		[ "$late" -le $((early + room)) ] || fail "$rule: grew from $early to $late KiB"
		files 1
		holds a.zst
	done
}
aside memory

# ---- the end of a process ----
records 0 "a normal end" --ring 30s -o a.zst "$host" steps 40 99
files 1
holds a.zst
cause a.zst end
records 0 "the last second" --ring 1s -o a.zst "$host" take - -
files 3
for try in 1 2 3; do # a writer that gets no turn makes longer chunks, and keeps one more
	records 137 "kill -9, try $try" --ring 1s -o a.zst "$host" die 2500
	files 1
	holds a.zst
	[ "$(length)" -gt 2000 ] || break
done
cause a.zst death
lasts 800 2000
says err "a.zst: "
says err "good, "
# Its records do not fill a buffer in that time.
records 137 "kill -9 beside a GPU that works on few kernels" --ring 30s -o a.zst "$host" ahead now 50000 2500
files 1
cause a.zst death
says err "s is missing: it had not been delivered when the file was written"
expect 3 "$rule: the report" a.zst --full
says out "s is missing: it had not been delivered"
# What is lost is the time between two writes, and an eighth of it in CUPTI's buffers; half a second is for a busy machine, which may
# take longer, but not each time.
for ring in "--ring 30s" ""; do
	for try in 1 2 3; do
		VPTRACE_FLUSH_MS=1000 records 137 "kill -9 beside a GPU that is never idle${ring:+, }$ring, try $try" $ring -o a.zst "$host" ahead now 1000 2800
		files 1
		"$VPT_ANALYZE" cat a.zst --kind kernel >rows 2>err
		python3 - log rows <<'PY' >compared && break
import json
import sys
ran = [int(line.split()[1]) for line in open(sys.argv[1]) if line.split()[3] == "kernel"]
kept = [row["start_ns"] + row["duration_ns"] for row in map(json.loads, open(sys.argv[2]))]
lost_s = (max(ran) - max(kept)) / 1e9
print("%d of %d kernels, the last %.2f s are missing" % (len(kept), len(ran), lost_s))
sys.exit(lost_s > 1.625)
PY
		[ $try -lt 3 ] || fail "$rule: $(cat compared)"
	done
	cases=$((cases + 1))
done
records 137 "kill -9 with a ring of bytes" --ring 1M -o a.zst "$host" die 1500
files 1
holds a.zst
size=$(wc -c <a.zst)
cases=$((cases + 1))
[ "$size" -le 1100000 ] || fail "$rule: the file has $size bytes"
records 0 "several processes die" --ring 5s -o a.zst "$host" many 12
files 12
for capture in ./*.zst; do
	"$VPT_ANALYZE" check "$capture" >checked 2>&1 || fail "$rule: $capture: $(head -n 3 checked)"
done
records 0 "a command that removes temporary files" --ring 5s -o a.zst sh -c "'$host' steps 20 99; rm -rf '$work'/temporary/*"
files 1
holds a.zst
records 137 "a process that dies without the launcher's socket" --ring 5s -o a.zst sh -c "rm -rf '$work'/temporary/vptrace-ring-*; exec '$host' die 300"
files 0
records 0 "a process that outlives the command" --ring 30s -o a.zst sh -c "'$host' endless >ready & echo \$! >pid; until [ -s ready ]; do sleep 0.1; done"
kill -9 "$(cat pid)"
files 1
cause a.zst leave
"$VPT_ANALYZE" check a.zst >checked 2>&1 || fail "$rule: check: $(head -n 3 checked)"
VPTRACE_FLUSH_MS=30000 records 137 "a process that dies before the first write" --ring 60s -o a.zst "$host" die 300
files 0
says err "ended without a stop, and had written nothing: at most the records of its last 30000 ms (VPTRACE_FLUSH_MS) are missing, and of the GPU's work an eighth more"
cases=$((cases + 1))
! grep -q "nothing was launched" err || fail "$rule: $(cat err)"
rule="the command's own limit of descriptors"
same "$rule" 200 "$(ulimit -Sn 200 && "$vptrace" run --ring 5s -o a.zst sh -c "'$host' steps 20 99 && ulimit -Sn" 2>err)"
rule="without the launcher"
rm -f ./*.zst
CUDA_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/a.zst VPTRACE_RING=5s "$host" die 300 2>err
same "$rule: the ring dies with its process" 137 $?
files 0

# ---- Python ----
if [ $room = 4096 ]; then # an interpreter without sanitizers cannot load a library with them
	rule="vptrace.snapshot()"
	rm -f ./*.zst
	PYTHONPATH=$source/tracer/python VPTRACE_LIBRARY=$bin/libvptrace.so VPTRACE_RING=5s VPTRACE_OUTPUT=$work/p.zst \
		python3 -W error - >out 2>err <<'PY' || fail "$rule: exit status $?"
import vptrace

vptrace.start(profile="none")
for _ in range(3):
    with vptrace.range("x"):
        pass
print(vptrace.snapshot(), vptrace.snapshot("q.zst"))
try:
    vptrace.snapshot("absent/q.zst", strict=True)
except vptrace.VptraceError as error:
    print(error.code.name)
vptrace.stop()
PY
	same "$rule: what it returns" "$work/p.zst $work/q.zst EFILE" "$(tr '\n' ' ' <out | sed 's/ $//')"
	files 3
	for capture in ./*.zst; do
		expect 0 "$rule: $capture" check "$capture"
		same "$rule: its ranges" 3 "$("$VPT_ANALYZE" cat "$capture" --kind range | wc -l | tr -d ' ')"
	done
fi

# ---- what triggers them ----
records 0 "a mark" --ring 30s --snapshot-on mark:now -o a.zst "$host" mark now
files 1
holds a.zst
cause a.zst mark:now
records 0 "another mark" --ring 30s --snapshot-on mark:now -o a.zst "$host" mark later
files 0
says err "no file was written: no event of --snapshot-on occurred"
# In simulated time, where a busy machine makes no step slow.
export VPT_STANDIN_TIME=virtual
for how in steps calls; do
	# Where CUPTI's buffers do not come back within a second, the file lacks the newest work and says so.
	for try in 1 2 3; do
		records 0 "a slow step of $how, try $try" --ring 30s --snapshot-on slow:5 -o a.zst "$host" $how 60 40
		grep -q "had not been delivered" err || break
	done
	files 1
	holds a.zst
	cause a.zst slow:5
done
records 0 "no step so slow" --ring 30s --snapshot-on slow:11 -o a.zst "$host" steps 60 40
files 0
records 0 "a slow step too early to tell" --ring 30s --snapshot-on slow:8 -o a.zst "$host" steps 20 3
files 0
export VPT_STANDIN_TIME=real
records 0 "a signal" --ring 30s --snapshot-on signal:USR2 -o a.zst "$host" signal
files 1
holds a.zst
cause a.zst signal:USR2
says out "own signals 1"
# CUPTI keeps a buffer while it has a record without an end: one that is full comes back, one that is not in time is a loss.
records 0 "a mark beside a GPU that is never idle" --ring 30s --snapshot-on mark:now -o a.zst "$host" ahead now 50
files 1
holds a.zst
lasts 950 2500
records 0 "another mark beside it, and fewer kernels" --ring 30s --snapshot-on mark:now -o a.zst "$host" ahead now 1000
files 1
holds a.zst
records 0 "a mark whose work has not been delivered" --ring 30s --snapshot-on mark:now -o a.zst "$host" ahead now 50000
files 1
says err "a.zst: "
says err " incomplete: GPU work of its last "
says err "s is missing: it had not been delivered when the file was written"
expect 3 "$rule: the report" a.zst --full
says out "INCOMPLETE"
says out "s is missing: it had not been delivered"
same "$rule: a loss" undelivered "$("$VPT_ANALYZE" cat a.zst --kind loss | sed -n 's/.*"loss_kind":"\([a-z]*\)".*/\1/p')"
records 0 "no signal is taken unless asked for" --ring 30s -o a.zst "$host" signal
files 1
cause a.zst end
says out "own signals 1"
records 0 "two events" --ring 30s --snapshot-on mark:now,slow:1000 -o a.zst "$host" mark now
files 1

# ---- what cannot be ----
while IFS='|' read -r words expected; do
	rule="$words"
	rm -f a.zst
	"$vptrace" run -o a.zst $words true >out 2>err
	same "$rule: exit status" 2 $?
	says err "$expected"
done <<'CASES'
--ring 100K|--ring: expected seconds or bytes to keep
--ring 0s|--ring: expected seconds or bytes to keep
--ring 5|--ring: expected seconds or bytes to keep
--ring 5x|--ring: expected seconds or bytes to keep
--ring 1000B|--ring: expected seconds or bytes to keep
--ring 1MB|--ring: expected at least 1M, which holds a few chunks
--ring 200h|--ring: expected seconds or bytes to keep
--snapshot-on mark:a|--snapshot-on: expected a ring (VPTRACE_RING)
--ring 5s --snapshot-on mark:|expected mark:NAME
--ring 5s --snapshot-on slow:0.5|expected mark:NAME
--ring 5s --snapshot-on slow:1e3|expected mark:NAME
--ring 5s --snapshot-on signal:KILL|expected mark:NAME
--ring 5s --snapshot-on slow:2,slow:3|one of each
--ring 5s --snapshot-on mark:a,slow:3,mark:b|one of each
--ring 5s --ring 6s|--ring: given twice, as "5s" and "6s": expected one value
--ring 5s --max-bytes 5M|expected no limit of the file with a ring
CASES
rule="a ring shorter than one chunk"
VPTRACE_FLUSH_MS=5000 "$vptrace" run -o a.zst --ring 2s true >out 2>err
same "$rule: exit status" 2 $?
says err "--ring: expected at least one chunk, which is filled for 5000 ms"
finish
