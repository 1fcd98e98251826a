# However a traced program ends, its capture can be read up to then, and a forked child leaves it alone.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

# A process that exits may be anywhere: the tracer frees nothing then, on purpose. Leaks are looked for where captures are stopped.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

[ -x "$VPT_BIN/host_ending" ] || skip "host_ending is not built"
capture=$work/trace.zst

ends() { # ends HOW STATUS: the program ends with this status and leaves one readable capture
	rule="a host that ends by $1"
	rm -f "$work"/*.zst
	timeout 60 "$VPT_BIN/host_ending" "$capture" "$1" >"$work/out" 2>"$work/err"
	found=$?
	[ "$found" = "$2" ] || fail "$rule: expected exit status $2, found $found"
	found=$(ls "$work" | grep -c 'zst$')
	[ "$found" = 1 ] || fail "$rule: expected one capture, found $found"
	"$VPT_ANALYZE" --format json "$capture" >"$work/report" 2>"$work/err" || [ $? = 3 ] || fail "$rule: no report"
	kernels=$(sed -n 's/^    "kernels": \([0-9]*\),$/\1/p' "$work/report")
	[ "${kernels:-0}" -ge "${3:-100}" ] || fail "$rule: expected at least ${3:-100} kernels, found '$kernels'"
	grep -q '"block 0"' "$work/report" || fail "$rule: the open range is not in the capture"
	! grep -q 'in the child' "$work/report" || fail "$rule: a child's range is in the parent's capture"
	! grep -q 'of the parent' "$work/report" || fail "$rule: a parent's range is in the child's capture"
	cases=$((cases + 1))
}

for round in 1 2 3; do
	ends return 0
	ends exit 0
	ends _exit 0
	ends quick_exit 0
	ends abort 134
	ends segv 139
	ends term 143
	ends exec 0
	ends exit-in-thread 0
	ends pthread_exit 0 0 # traced without CUPTI
	ends fork 0
	ends fork-before 0
	ends dlclose 0
	ends stop 0
done
finish
