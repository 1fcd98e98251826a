# Without a GPU, and without CUDA at all, ranges are recorded and the capture says why nothing else is.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

host=$VPT_BIN/host_ranges
[ -x "$host" ] || skip "host_ranges is not built"

value() {
	sed -n "s/^$1 //p" "$work/said"
}
ranges_only() { # ranges_only RULE REASON [NAME=VALUE...]
	rule=$1 reason=$2
	shift 2
	rm -f "$work"/*.zst
	env "$@" timeout 20 "$host" "$work/t.zst" >"$work/said" 2>"$work/err" || fail "$rule: the host failed"
	same "$rule: start" -6 "$(value start)"
	same "$rule: status" 2 "$(value status)"
	same "$rule: stop" 0 "$(value stop)"
	same "$rule: rows" "3 3" "$(value received) $(value written)"
	same "$rule: path" "$work/t.zst" "$(value path)"
	value error | grep -q "$reason" || fail "$rule: expected a reason with '$reason', found '$(value error)'"
	expect 0 "$rule: the report" "$work/t.zst"
	says out "block 0"
	says out "no GPU work"
	tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q "$reason" || fail "$rule: the report does not give the reason"
}

ranges_only "a libcupti that is not there" "cannot open" VPTRACE_LIBCUPTI=/nonexistent/libcupti.so.13
ranges_only "a libcupti that is none" "libcupti" VPTRACE_LIBCUPTI=/bin/true
# As CUDA 13.2's does where there is no driver.
if [ -e /dev/nvidiactl ] || ! sed -n 's/^	X([a-z_0-9]*, \(cupti[A-Za-z_0-9]*\),.*/int \1(void) { __builtin_trap(); }/p' \
	"$VPT_SOURCE_DIR/tracer/cupti_abi.h" >"$work/dies.c" ||
	! ${CC:-cc} -shared -fPIC -o "$work/libdies.so" "$work/dies.c" 2>"$work/err"; then
	echo "SKIPPED: there is a GPU here, or no compiler"
else
	grep -q cuptiGetVersion "$work/dies.c" || fail "no library that dies was made"
	ranges_only "a libcupti that dies without a driver" "no CUDA driver" VPTRACE_LIBCUPTI="$work/libdies.so"
fi
real=
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64"; do
	[ -e "$folder/libcupti.so.13" ] && real=$folder/libcupti.so.13
done
if [ -z "$real" ]; then
	echo "SKIPPED: no libcupti of a CUDA toolkit here"
elif [ -e /dev/nvidiactl ]; then
	echo "SKIPPED: there is a GPU here"
else
	ranges_only "the real libcupti without a driver" "no CUDA driver" VPTRACE_LIBCUPTI="$real"
fi
finish
