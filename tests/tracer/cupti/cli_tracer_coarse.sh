# After a capture with the profile coarse, CUPTI may not go back to recording the nodes of graphs. Where it does not, a later
# capture of the process says that they are missing.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

host=$VPT_BIN/host_coarse
[ -x "$host" ] || skip "host_coarse is not built"

# both FAULTS STOP PROFILE GRAPHS PROFILE GRAPHS: two captures; STOP is what the second stop returns, the first returns 0.
both() {
	rule="$*"
	rm -f "$work"/*.zst
	env VPT_STANDIN_FAULTS="$1" timeout 60 "$host" "$work/1.zst" "$3" "$4" "$work/2.zst" "$5" "$6" >"$work/host" 2>"$work/err" ||
		fail "$rule: the host ended with $?"
	same "$rule: the stops" "stop 0 stop $2" "$(tr '\n' ' ' <"$work/host" | sed 's/ $//')"
}
kernels() { # kernels NUMBER FILE CODE
	expect "$3" "$rule: the report of $2" --format json "$work/$2"
	same "$rule: kernels of $2" "$1" "$(sed -n 's/^    "kernels": \([0-9]*\),$/\1/p' "$work/out")"
}
fact() { # fact NUMBER: of lines that tell of it
	expect "${2:-0}" "$rule: the facts" cat "$work/2.zst" --kind meta -f csv
	same "$rule: the fact" "$1" "$(grep -c '^cupti.graphs,an earlier capture of this process used the profile coarse' "$work/out")"
}

both sticky-graphs -9 coarse 5 default 5
kernels 20 2.zst 3
expect 3 "$rule: the report" "$work/2.zst" --full
tr '\n' ' ' <"$work/out" | tr -s ' ' >"$work/flat"
says flat INCOMPLETE
says flat "CUPTI still does not record graph nodes: the work of graphs is missing. Record the two in separate processes"
grep -q VPTRACE_STOP_MS "$work/flat" && fail "$rule: to wait longer would not help"
fact 1 3
both sticky-graphs -9 coarse 0 lite 5
kernels 20 2.zst 3
# It may be missing, but nothing is.
both sticky-graphs 0 coarse 5 default 0
kernels 20 2.zst 0
fact 1
both sticky-graphs 0 coarse 5 coarse 5
fact 0
both sticky-graphs 0 default 5 coarse 5
kernels 70 1.zst 0
fact 0
# A CUPTI that goes back.
both "" 0 coarse 5 default 5
kernels 70 2.zst 0
fact 1
both "" 0 default 5 default 5
kernels 70 2.zst 0
fact 0
finish
