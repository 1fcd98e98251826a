#!/bin/sh
# A report of 1,000 ranks with 16,000 collectives each has to take 2 seconds. Times differ with the machine, so what is checked is the
# work: instructions for each rank and collective more, which are as many for more ranks as for longer captures. 16 million times
# 1,700 are 27 G; `sh bench/ranks.sh` says how long they take.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
bin=${VPT_BIN:?expected the build folder}
have valgrind "the instructions of a report" || exit 77
built "$bin/bench_ranks" "the instructions of a report" || exit 77
cd "$work" || exit 1
most=2500

# instructions RANKS COLLECTIVES: nothing, if there is no report. valgrind does not know programs with sanitizers.
instructions() {
	rm -rf job
	mkdir job
	"$bin/bench_ranks" "$1" "$2" -o job &&
		valgrind --tool=callgrind --callgrind-out-file=/dev/null "${VPT_PLAIN:-$VPT_ANALYZE}" ranks job --jobs 1 >out 2>err &&
		grep -q "^RANKS   $1 of $1 on" out && sed -n 's/.*Collected : //p' err
}

# each NAME MORE LESS COUNT: what each of COUNT more ranks and collectives takes
each() {
	cases=$((cases + 1))
	found=$((($2 - $3) / $4))
	echo "$1: $found instructions for each rank and collective"
	{ [ "$found" -gt 100 ] && [ "$found" -lt "$most" ]; } || fail "$1: expected 100 to $most instructions for each, found $found"
}

base=$(instructions 50 400)
longer=$(instructions 50 1200)
wider=$(instructions 100 1200)
each "longer captures" "${longer:-0}" "${base:-0}" 40000
each "more ranks" "${wider:-0}" "${longer:-0}" 60000
finish
