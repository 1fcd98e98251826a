#!/bin/sh
# A window that cannot be is refused in each command that takes one, and the sentence says what could be asked for.
# shellcheck disable=SC1091,SC2154,SC2086,SC2046,SC2005
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1
need_trace trace.zst small_trace
rm need.json

for command in analyze cat "export -o new"; do
	expect 2 "$command: an empty window" $command trace.zst --from 2s --to 1s
	says err "--from 2s is not before --to 1s: the window is empty"
	silent out
	expect 2 "$command: beyond the end" $command trace.zst --from 5s
	says err "--from: expected a time within the trace, which ends 200 us after its start, found 5.00 s"
	expect 2 "$command: beyond the end, with an end" $command trace.zst --from 5s --to 6s
	says err "ends 200 us after its start"
	expect 0 "$command: the last microsecond" $command trace.zst --from 199us
	rm -f new
done
same "nothing else was written" "err out trace.zst" "$(echo $(ls -A))"

# ---- ranges ----
many_ranges() {
	awk 'BEGIN {
		printf "{\"traceEvents\":[";
		split("block block block step step warm_up Other", names, " ");
		for (i = 1; i <= 7; i++)
			printf "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"%s\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":9}", (i > 1 ? ",\n" : ""), names[i], 1000 * i;
		printf "]}";
	}'
}
need_trace many.zst many_ranges
expect 0 "a range that is there" many.zst --full --range block
expect 2 "no such range: the most frequent" many.zst --range nosuch
says err '--range: no range is called "nosuch"; the trace has 4 names, such as "block" (3), "step" (2), "warm_up" (1), "Other" (1)'
expect 2 "no such range: those called alike come first" many.zst --range warmup
says err '"warmup"; the trace has 4 names, such as "warm_up" (1), "block" (3), "step" (2), "Other" (1)'
expect 2 "whatever the case" many.zst --range other
says err '"other"; the trace has 4 names, such as "Other" (1), "block" (3)'
expect 2 "in an export" export many.zst --range blok -o new
says err '"blok"; the trace has 4 names, such as "block" (3), "step" (2)'
[ ! -e new ] || fail "a refused export left a file"
kernels_trace 100 >plain.json
expect 2 "a trace without ranges" plain.json --range block
says err '--range: no range is called "block": the trace has no ranges'
finish
