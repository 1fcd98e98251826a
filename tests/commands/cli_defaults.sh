#!/bin/sh
# The defaults that --help names are those that are used: each, given as the option's value, gives the same bytes.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1

# named COMMAND OPTION BEFORE: the number, with its unit, after this word in the help of an option.
named() {
	"$VPT_ANALYZE" $1 --help | tr -s ' \n' ' ' | sed -n "s/.* --$2 .*/&/; s/.* --$2 //; s/ --.*//; s/.*[( ]$3 (*\([0-9][0-9a-z]*\).*/\1/p"
}

# default NAME COMMAND OPTION BEFORE OTHER ARGUMENTS...: the same with and without that value, other bytes with another one.
default() {
	name=$1 command=$2 option=$3 other=$5 value=$(named $2 $3 "$4")
	shift 5
	[ "$value" ] || fail "$name: no default of --$option in the help of $command"
	expect 0 "$name" $command "$@"
	mv out plain
	expect 0 "$name: $value" $command "$@" --$option ${value:-1}
	cmp -s plain out || fail "$name: --$option $value gives other bytes"
	expect 0 "$name: $other" $command "$@" --$option $other
	! cmp -s plain out || fail "$name: --$option $other gives the same bytes"
}

# Of 50 names, so that tables are limited; in the other trace every kernel takes longer.
kernels_trace 300 | awk 'BEGIN { RS = ORS = "}"; FS = OFS = "\"name\":\"k" } NF > 1 { sub(/^[0-9]*/, NR % 100, $2) } { print }' >kernels.json
sed '/"kernel"/s/"dur":1/"dur":2/' kernels.json >slower.json
default "rows of JSON" analyze top json 21 kernels.json --format json
default "level of zstd" export level "zstd" 9 kernels.json --format perfetto --compress zstd -o -
for packing in packets gzip; do
	default "level of $packing" export level "others" 9 kernels.json --format perfetto --compress $packing -o -
done
default "level of chrome" export level "tables" 9 kernels.json --format chrome -o -
default "shortest gap of perfetto" export export-min-gap "perfetto" 1ms kernels.json --format perfetto -o -
default "rows of a comparison" compare top "per table" 3 kernels.json slower.json
finish
