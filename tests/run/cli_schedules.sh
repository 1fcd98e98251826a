#!/bin/sh
# Random windows over a host that runs ahead of the simulated GPU: what was launched in them is in the capture, or the verdict names it
# as missing. Nothing here is a measurement of a GPU.
# shellcheck disable=SC1091
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
host=$(cd "${VPT_BIN:-.}" && pwd)/host_schedules
# The tracer's own calls come earlier or later, as the machine is busy: they cost nothing here.
export VPT_STANDIN_TIME=first-thread
unset VPTRACE_OUTPUT VPTRACE_CAPTURE VPTRACE_DURATION VPTRACE_MAX_BYTES VPTRACE_SYNC RANK
[ -x "$host" ] || skip "host_schedules is not built"
command -v python3 >/dev/null || skip "there is no python3 to compare captures with"

# compares RULE SEED COUNT [gives-up]: COUNT captures, and what was launched; the sums are in out
compares() {
	rule=$1
	mkdir -p "$work/captures"
	timeout 100 "$host" "$2" "$3" "$work/captures" >"$work/captures/out" 2>"$work/err" </dev/null ||
		fail "$rule: the host ended with $?"
	same "$rule: captures" "$3" "$(grep -c schedule "$work/captures/out")"
	# shellcheck disable=SC2086
	python3 "$source/tests/support/captures/schedules.py" "$VPT_ANALYZE" "$work/captures" $4 >"$work/out" 2>>"$work/err" ||
		fail "$rule: not compared"
	same "$rule: differences" "" "$(grep -v '^launched ' "$work/out" | head -n 3)"
}
sums() { # launched there named others
	sed -n 's/^launched \([0-9]*\) there \([0-9]*\) named \([0-9]*\) others \([0-9]*\)$/\1 \2 \3 \4/p' "$work/out"
}

compares "random schedules" 7 100 ""
# shellcheck disable=SC2046
set -- $(sums)
same "$rule: all is there" "${1:-none}" "${2:-}"
cases=$((cases + 1))
[ "${1:-0}" -gt 2000 ] || fail "$rule: only $1 operations"
# The GPU was late often enough: it began a good part of other work inside windows.
[ "${4:-0}" -gt 200 ] || fail "$rule: only $4 others"

VPT_GIVE_UP=1 compares "the stop does not wait" 8 50 gives-up
# shellcheck disable=SC2046
set -- $(sums)
same "$rule: there and named" "${1:-none}" "$((${2:-0} + ${3:-0}))"
cases=$((cases + 1))
[ "${3:-0}" -gt 200 ] || fail "$rule: only $3 are named"

# Buffers of all threads together, records of other lengths, ids that begin again, buffers that come back one by one.
for setting in VPT_STANDIN_BUFFERS=global VPT_STANDIN_CUPTI=18 VPT_STANDIN_FAULTS=correlation=4294967290 VPT_STANDIN_COMPLETE=after \
	VPTRACE_FLUSH_MS=10; do
	export "${setting?}"
	compares "$setting" 11 20 ""
	unset "${setting%%=*}"
done
finish
