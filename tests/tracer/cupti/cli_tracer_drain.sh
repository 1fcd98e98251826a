# A stop loses nothing of what has been launched, waits no longer than it may, and does nothing to a stream that is captured.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

# A process that exits frees nothing, on purpose, and a wait that was given up has a thread that goes on.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

host=$VPT_BIN/host_drain
[ -x "$host" ] || skip "host_drain is not built"

value() { # value NAME: a number that the host said
	sed -n "s/^$1 //p" "$work/host"
}
holds() { # holds NAME OPERATOR NUMBER
	cases=$((cases + 1))
	found=$(value "$1")
	[ "${found:--1}" "$2" "$3" ] || fail "$rule: expected $1 $2 $3, found '$found'"
}
ends() { # ends CASE [NAME=VALUE...]: the host gets on
	rule="$*"
	name=$1
	shift
	rm -f "$work"/*.zst
	cases=$((cases + 1))
	env "$@" timeout 60 "$host" "$work/t.zst" "$name" >"$work/host" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = 0 ] || fail "$rule: expected exit status 0, found $found: $(cat "$work/host")"
}
# promptly MS CASE [NAME=VALUE...]: the stop, or else the process, takes less; of five tries, since a busy machine may be late
promptly() {
	limit=$1
	shift
	for try in 1 2 3 4 5; do
		before=$(date +%s%N)
		ends "$@"
		took=$(value ms)
		took=${took:-$((($(date +%s%N) - before) / 1000000))}
		[ "$took" -ge "$limit" ] || break
	done
	cases=$((cases + 1))
	[ "$took" -lt "$limit" ] || fail "$rule: took $took ms in try $try, expected less than $limit"
}
kernels() { # kernels FILE: in its report
	sed -n 's/^    "kernels": \([0-9]*\),$/\1/p' "$1"
}
complete() { # complete KERNELS [FILE]: all of them are there, with times, and nothing is missing
	expect 0 "$rule: the report" --format json "${2:-$work/t.zst}"
	same "$rule: kernels" "$1" "$(kernels "$work/out")"
	! grep -q '"invalid": [1-9]' "$work/out" || fail "$rule: some have no times"
	# The tracer's own wait is not the host's.
	"$VPT_ANALYZE" cat "${2:-$work/t.zst}" --kind call -f csv >"$work/calls" 2>"$work/err"
	! grep -q cuCtxSynchronize "$work/calls" || fail "$rule: the tracer's own call is in the capture"
}
nothing_lost() { # nothing_lost KERNELS
	holds stop -eq 0
	holds unfinished -eq 0
	holds invalid -eq 0
	holds kept -eq 0
	complete "$1"
}
lost() { # lost STOP UNFINISHED: reported by the stop and by the report
	holds stop -eq "$1"
	holds unfinished -eq "$2"
	expect 3 "$rule: the report" "$work/t.zst" --full
	says out INCOMPLETE
	tr '\n' ' ' <"$work/out" | tr -s ' ' >"$work/flat"
	says flat "not ended when recording stopped"
}

for time in real virtual; do
	for version in 18 130001 130200; do
		ends queued VPT_STANDIN_TIME=$time VPT_STANDIN_CUPTI=$version
		nothing_lost 200
	done
	for by in caller after; do
		ends queued VPT_STANDIN_TIME=$time VPT_STANDIN_COMPLETE=$by
		nothing_lost 200
	done
	for try in 1 2 3 4 5; do # a busy machine may be late to stop
		ends queued VPT_STANDIN_TIME=$time VPTRACE_SYNC=0
		[ "$(value unfinished)" -le 100 ] || break
	done
	[ "$(value unfinished)" -gt 100 ] || fail "$rule: expected most to be unfinished, found $(value unfinished)"
	lost 0 "$(value unfinished)"
	ends default-stream VPT_STANDIN_TIME=$time
	nothing_lost 200
	ends two-contexts VPT_STANDIN_TIME=$time VPT_STANDIN_DEVICES=2
	nothing_lost 400
	ends two-threads VPT_STANDIN_TIME=$time
	nothing_lost 400
	ends captured-and-ended VPT_STANDIN_TIME=$time
	nothing_lost 202
done

export VPT_STANDIN_TIME=real

promptly 2000 endless VPTRACE_STOP_MS=400
holds ms -ge 390
lost -9 1
says flat "VPTRACE_STOP_MS"
grep -qF "the GPU had 1 unfinished operation after 400 ms: its times are unknown" "$work/host" ||
	fail "$rule: the stop does not say why"
ends endless-then-another VPTRACE_STOP_MS=400 SECOND="$work/second.zst"
same "$rule: the second stop" 0 "$(sed -n 's/^stop //p' "$work/host" | tail -n 1)"
complete 200 "$work/second.zst"

# What comes while it waits is recorded as well; what runs at the very end has no times.
promptly 4000 launched-on
holds stop -eq 0
expect "$([ "$(value unfinished)" = 0 ] && echo 0 || echo 3)" "$rule: the report" "$work/t.zst"

for name in captured captured-blocking captured-before; do
	ends $name
	nothing_lost 200
	expect 0 "$rule: why" cat "$work/t.zst" --kind meta -f csv
	grep -q '^stop.wait,"for records alone' "$work/out" || fail "$rule: the capture does not say how it was waited"
done

ends host-function
nothing_lost 2
holds fact -eq 0

ends exits
complete 200
promptly 4000 exits-endless VPTRACE_STOP_MS=400
expect 3 "$rule: the report" "$work/t.zst" --full
promptly 4000 exits-while-it-waits VPTRACE_STOP_MS=5000
expect 3 "$rule: the report" "$work/t.zst" --full
finish
