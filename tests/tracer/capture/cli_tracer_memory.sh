# The whole tracer stays below VPTRACE_MEMORY, and 16 MiB for what does not grow, when its host makes far more than can be
# written; and each record is written or counted.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

host=$VPT_BIN/host_storm
[ -x "$host" ] || skip "host_storm is not built"
nm "$host" | grep -q '__[at]san_' && skip "a sanitizer needs memory of its own"
beside_kib=16384
export VPT_STANDIN_TIME=real VPTRACE_STOP_MS=60000

value() { # value NAME: a number of the last run
	sed -n "s/^$1 //p" "$work/host"
}
storm() { # storm CAPTURE KINDS...
	rm -f "$work"/*.zst
	timeout 120 "$host" "$@" >"$work/host" 2>"$work/err" </dev/null
	found=$?
	[ $found != 77 ] || skip "peaks of memory cannot be measured here"
	[ $found = 0 ] || fail "$*: the host ended with $found"
}

# holds MEBIBYTES KINDS...
holds() {
	limit=$1
	shift
	setting="$limit MiB, $*"
	storm - "$@"
	own=$(value growth_kib)
	VPTRACE_MEMORY=${limit}M storm "$work/t.zst" "$@"
	grown=$(($(value growth_kib) - own))
	cases=$((cases + 1))
	[ $grown -le $((limit * 1024 + beside_kib)) ] || fail "$setting: expected at most $((limit * 1024 + beside_kib)) KiB, found $grown"
	[ -z "${VPT_VERBOSE-}" ] || echo "$setting: $grown KiB, $own KiB of the host"
	same "$setting: records" "$(value received)" $(($(value written) + $(value dropped)))
	same "$setting: CUPTI's records" "$(value records)" $(($(value cupti_records) + $(value lost)))
	same "$setting: stopped" 0 "$(value stop)"
	case "$*" in *graphs*) return ;; esac
	same "$setting: ranges and marks" "$(value made)" $(($(value received) + $(value filtered) - $(value cupti_records)))
}

holds 16 ranges
holds 64 ranges graphs
holds 16 graphs
holds 64 threads
holds 128 ranges graphs threads names
finish
