#!/bin/sh
# --top is the number of rows in every table of the report, and numbers are never cut from it.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

# 30 kernels of different names, a range around each: 31 gaps with those before the first and after the last.
many_names() {
	awk 'BEGIN {
		printf "{\"traceEvents\":[";
		for (i = 1; i <= 30; i++) {
			at = 1000 * i;
			printf "%s{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"range%d\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":900},", (i > 1 ? ",\n" : ""), i, at;
			printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},", at + 5, i;
			printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}", i, at + 10, 100 + 5 * i, i;
		}
		printf "]}";
	}'
}
need_trace trace.zst many_names

rows() { # rows PATTERN: number of matching lines of the report
	grep -c -- "$1" out
}
expect 0 "without --top" trace.zst --full --min-gap 10us
same "a page has five kernels" 5 "$(rows '^ K[0-9]')"
same "and five gaps" 5 "$(rows '^ G[0-9]')"
for top in 1 3 12 50; do
	most=$top
	[ $most -le 30 ] || most=30
	gaps=$top
	[ $gaps -le 31 ] || gaps=31
	expect 0 "--top $top" trace.zst --full --top $top --min-gap 10us
	same "--top $top: kernels" $most "$(rows '^ K[0-9]')"
	same "--top $top: gaps" $gaps "$(rows '^ G[0-9]')"
	same "--top $top: ranges" $most "$(rows '^ range[0-9]')"
	grep -q "^TOP KERNELS, $most of 30 " out || fail "--top $top: the title"
done
expect 0 "JSON has 20" trace.zst --format json
same "JSON has 20" 20 "$(grep -o '"name": "kernel[0-9]*"' out | sort -u | wc -l)"
expect 0 "JSON with --top" trace.zst --format json --top 25
same "JSON with --top" 25 "$(grep -o '"name": "kernel[0-9]*"' out | sort -u | wc -l)"
finish
