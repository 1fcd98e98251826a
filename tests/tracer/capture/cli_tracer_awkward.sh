# Hosts that do what no library expects get on as they would untraced, and nothing is lost from the count.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

# A process that exits may be anywhere: the tracer frees nothing then, on purpose. Leaks are looked for where captures are stopped.
# Without a signal stack: AddressSanitizer trips over its own when it ends that of a thread that was cancelled.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:use_sigaltstack=0
export ASAN_OPTIONS

host=$VPT_BIN/host_awkward
[ -x "$host" ] || skip "host_awkward is not built"

gets_on() { # gets_on CASE [NAME=VALUE...]
	rule=$1
	shift
	rm -f "$work"/*.zst
	env VPT_STANDIN_TIME=real "$@" timeout 60 "$host" "$work/t.zst" "$rule" >"$work/out" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = 0 ] || fail "$rule: expected exit status 0, found $found"
	says out fine
	cases=$((cases + 1))
}

for round in 1 2 3; do
	gets_on exit-in-a-handler
done
gets_on cancelled-in-a-range VPTRACE_PROFILE=none
"$VPT_ANALYZE" cat "$work/t.zst" --kind range -f csv | grep -c ',not cancelled,' >"$work/out"
same "threads that were cancelled take no other thread's ranges with them" 1000 "$(cat "$work/out")"
gets_on cancelled-in-a-start VPTRACE_PROFILE=none
gets_on cancelled-in-a-stop VPT_STANDIN_FAULTS=stolen=100 VPTRACE_STOP_MS=500
gets_on child-unannounced
gets_on clock-set-back VPTRACE_PROFILE=none
gets_on disk-hangs VPTRACE_PROFILE=none
written=$(sed -n 's/^written //p' "$work/out")
expect 3 "the file of a disk that hangs" cat "$work/t.zst" --kind mark -f csv
same "the file holds what the stop counted as written" "$written" "$(($(wc -l <"$work/out") - 1))"
gets_on driver-comes-in-a-pause
gets_on driver-comes-in-a-stop CUDA_INJECTION64_PATH="$VPT_BIN/libvptrace.so"
gets_on many-open-at-the-end VPTRACE_PROFILE=none
gets_on many-series VPTRACE_PROFILE=none
gets_on nobody-reads-the-errors
gets_on no-such-folder
gets_on toggled-in-a-handler VPTRACE_PROFILE=none
gets_on misspelt VPTRACE_PROFILE=none VPTRACE_MEMRY=16M
same "a misspelt variable is said once" 1 "$(grep -c "VPTRACE_MEMRY .* did you mean VPTRACE_MEMORY?" "$work/err")"
gets_on another-client-before VPTRACE_LIBCUPTI="$VPT_BIN/standin/libcupti.so.13"
expect 3 "the report of records in another client's buffers" "$work/t.zst" --full
tr '\n' ' ' <"$work/out" | tr -s ' ' >"$work/flat"
says flat "another client of CUPTI in this process"
gets_on hundred-captures VPTRACE_PROFILE=none
gets_on stop-with-work-queued
unfinished=$(sed -n 's/^unfinished //p' "$work/out")
[ "${unfinished:-0}" -gt 50 ] || fail "$rule: expected most of 100 kernels to be unfinished, found '$unfinished'"
expect 3 "a stop with work queued says so in the capture" cat "$work/t.zst" --kind loss -f csv
same "one row of loss, of the stream that had work" "stream,unfinished,$unfinished" \
	"$(sed '1d; s/^[^,]* \(stream\) [0-9]*,[0-9]*,[0-9]*,/\1,/' "$work/out")"
expect 3 "the report of a stop with work queued" "$work/t.zst" --full
says out INCOMPLETE
finish
