# Whatever CUPTI does, the host lives, every record is accounted for, and the outcome is the documented one.
#
# host_count says what the tracer counted and what the stand-in's own books say.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

[ -x "$VPT_BIN/host_count" ] || skip "host_count is not built"
heap=$VPT_BIN/standin/libstandin_heap.so
[ -e "$heap" ] || heap=
# Only a stop that cannot succeed waits as long as it may.
hopeless=VPTRACE_STOP_MS=1000

# traced RULE [NAME=VALUE...]: 4,000 launches on $threads threads under these settings.
threads=2
traced() {
	rule=$1
	shift
	rm -f "$work"/*.zst
	env LD_PRELOAD="$heap" "$@" timeout 60 "$VPT_BIN/host_count" "$work/t.zst" 4000 $threads >"$work/out" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = 0 ] || fail "$rule: expected the host to end with 0, found $found"
}
value() { # value NAME: a number of the last run
	sed -n "s/^$1 //p" "$work/out"
}
holds() { # holds A OPERATOR B, of names or numbers, each a sum "a+b"
	cases=$((cases + 1))
	left=0 right=0
	for term in $(echo "$1" | tr + ' '); do left=$((left + $(case $term in [0-9]* | -*) echo "$term" ;; *) value "$term" ;; esac))); done
	for term in $(echo "$3" | tr + ' '); do right=$((right + $(case $term in [0-9]* | -*) echo "$term" ;; *) value "$term" ;; esac))); done
	[ "$left" "$2" "$right" ] || fail "$rule: expected $1 $2 $3, found $left and $right"
}
balanced() { # what every run must show
	holds received -eq written+dropped
	holds received+filtered -eq cupti_records+ranges
	holds records -eq delivered+lost+held
	holds cupti_dropped -eq lost
	[ -z "$heap" ] || holds heap_calls -eq 0
}
code() { # code START STOP: what vptrace_start() and vptrace_stop() returned
	holds start -eq "$1"
	holds stop -eq "$2"
}
complete() { # nothing was lost anywhere
	code 0 0
	balanced
	holds cupti_records -eq delivered
	holds delivered -eq records
	holds dropped -eq 0
	holds unfinished -eq 0
	expect 0 "$rule: the report" --format json "$work/t.zst"
	for name in kernels memset; do
		found=$(sed -n "s/^    \"$name\": \([0-9]*\),*$/\1/p" "$work/out" | head -n 1)
		[ "$name" = kernels ] && wanted=4000 || wanted=2
		[ "$found" = $wanted ] || fail "$rule: expected $wanted $name in the report, found $found"
	done
}

for version in 18 22 130001; do
	for buffers in thread global; do
		for by in worker caller after; do
			traced "API $version, $buffers buffers, completed by $by" VPT_STANDIN_CUPTI=$version \
				VPT_STANDIN_BUFFERS=$buffers VPT_STANDIN_COMPLETE=$by
			complete
		done
	done
done
for fault in out-of-order unmap-names reuse-names foreign-buffer correlation=4294967290 late \
	no-symbols=cuptiSubscribe_v2:cuptiActivityEnableRuntimeApi:cuptiGetGraphNodeId; do
	traced "$fault" VPT_STANDIN_FAULTS=$fault
	complete
done
# Kernel names are unmapped before the writer can have looked.
traced "names gone at once" VPT_STANDIN_FAULTS=unmap-names=1 VPT_STANDIN_TIME=real VPTRACE_FLUSH_MS=20
code 0 0
balanced
holds dropped -eq 0

for fault in zero-times reversed; do
	traced "$fault" VPT_STANDIN_FAULTS=$fault
	code 0 0
	balanced
	holds cupti_records -eq records
	holds invalid -eq 400
	holds unfinished -eq 0
done
for fault in unknown-kind truncated-tail; do
	traced "$fault" VPT_STANDIN_FAULTS=$fault
	code 0 0
	balanced
	holds cupti_records -lt delivered
	expect 3 "$fault: the report says what is missing" "$work/t.zst" --full
done

# Four buffers for forty threads: most records find no place. Old versions of CUPTI crash when a buffer is refused.
threads=40
for version in 22 130001; do
	traced "a pool that runs dry, API $version" VPTRACE_MEMORY=16M VPT_STANDIN_BUFFERS=thread VPT_STANDIN_CUPTI=$version
	code 0 0
	balanced
	holds dropped+cupti_dropped -gt 1000
	expect 3 "the report says how many" "$work/t.zst" --full
done
threads=2

traced "another profiler is there" VPT_STANDIN_FAULTS=busy
code -7 0
balanced
holds received -eq ranges
expect 3 "the report of ranges" "$work/t.zst" --full
says out "another profiler holds CUPTI"
# The library that the program is linked with starts first. The other copy still records when the process ends.
mkdir "$work/other"
cp -L "$VPT_BIN/libvptrace.so" "$work/other/libvptrace.so"
traced "another copy of libvptrace is there" CUDA_INJECTION64_PATH="$work/other/libvptrace.so" \
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_odr_violation=0:detect_leaks=0"
code 0 0
says err "another copy of libvptrace records in this process"
traced "the driver does not allow it" VPT_STANDIN_FAULTS=denied
code -8 0
balanced
traced "another client takes the callbacks away" VPT_STANDIN_FAULTS=stolen $hopeless
code 0 -7
balanced
holds held -gt 0
grep -q "stop_error .*has taken the records of GPU work" "$work/out" || fail "$rule: the reason is not given"
expect 3 "the report says that records are missing" "$work/t.zst" --full
tr '\n' ' ' <"$work/out" | tr -s ' ' >"$work/flat"
grep -q "has taken the records of GPU work" "$work/flat" || fail "$rule: the report does not give the reason"
traced "CUPTI fails permanently" VPT_STANDIN_FAULTS=fatal $hopeless
code 0 -9
balanced
expect 3 "the report says that CUPTI failed" "$work/t.zst" --full
says out "CUPTI failed"
traced "a flush hangs" VPT_STANDIN_FAULTS=hang-flush $hopeless
code 0 -9
balanced
expect 3 "the report says that records are missing" "$work/t.zst" --full
# "No stream" is another number from CUDA 13.2 on: what is allocated without one lands where it did, and no lane is made up.
threads=1
for version in 130001 130200; do
	traced "memory without a stream, API $version" VPT_STANDIN_CUPTI=$version VPTRACE_PROFILE=full
	code 0 0
	balanced
	# Without the columns that tell of the process's id.
	expect 0 "$rule: rows" cat "$work/t.zst" --kind memory -f csv
	cut -d, -f2- "$work/out" >"$work/memory.$version"
	expect 0 "$rule: lanes" cat "$work/t.zst" --kind lane -f csv
	cut -d, -f2,5-8 "$work/out" | sort >"$work/lane.$version"
done
for kind in memory lane; do
	cases=$((cases + 1))
	[ "$(wc -l <"$work/$kind.130001")" -ge 2 ] || fail "$rule: no $kind to compare"
	cmp -s "$work/$kind.130001" "$work/$kind.130200" || fail "$rule: a $kind differs"
done
# PyTorch's profiler leaves a counter of ticks as CUPTI's clock: all times are the same as without.
threads=1
for fault in "" foreign-clock; do
	traced "another tool's clock, ${fault:-not yet}" VPT_STANDIN_FAULTS=$fault
	code 0 0
	balanced
	holds dropped -eq 0
	clock=$rule
	for kind in kernel call copy range; do
		expect 0 "$clock: rows" cat "$work/t.zst" --kind $kind -f csv
		cut -d, -f3- "$work/out" >"$work/$kind.$fault" # the process has another id
	done
done
for kind in kernel call copy range; do
	cases=$((cases + 1))
	[ "$(wc -l <"$work/$kind.")" -gt 2 ] || fail "$clock: no $kind to compare"
	cmp -s "$work/$kind." "$work/$kind.foreign-clock" || fail "$clock: a $kind differs"
done
expect 0 "$clock: the report" "$work/t.zst" --full
tr '\n' ' ' <"$work/out" | tr -s ' ' >"$work/flat"
grep -q "replaced CUPTI's clock: device times were converted, accurate to 0 ns" "$work/flat" || fail "$rule: the report does not say so"
traced "another tool's clock near ours" VPT_STANDIN_FAULTS=clock-ahead=3
expect 3 "$rule: the report" check "$work/t.zst"
says out "another tool replaced CUPTI's clock, 3000000 ns from ours: device times and ranges are not comparable"
# As on a busy machine: time passes between any two readings of the clocks, which is no other tool's.
if built "$VPT_BIN/host_launched" "time between readings of the clocks"; then
	rule="time passes between readings of the clocks"
	rm -f "$work/t.zst"
	env CUDA_INJECTION64_PATH="$VPT_BIN/libvptrace.so" VPTRACE_OUTPUT="$work/t.zst" VPTRACE_FLUSH_MS=10 \
		timeout 60 "$VPT_BIN/host_launched" race 4000 2>"$work/err"
	expect 0 "$rule" check "$work/t.zst"
fi
finish
