#!/bin/sh
# Every file of the corpus through every command that reads: in seconds, with a documented exit code, a sentence where it failed,
# and JSON that another parser takes.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

command -v python3 >/dev/null || skip "no python3 to read the JSON with"

mkdir "$work/json"

# runs COMMAND...: with the file as the last word; in 20 s of a processor's time, however busy the machine is
runs() {
	(ulimit -t 20 && exec timeout 300 "$VPT_ANALYZE" "$@" "$file") >"$work/out" 2>"$work/err" </dev/null
	code=$?
	case $code in
	0 | 3) ;;
	1 | 2)
		[ -s "$work/err" ] || fail "$* $name: exit code $code and no sentence"
		[ ! -s "$work/out" ] || [ "$1" = cat ] || [ "$1" = check ] || [ "$2" = --fail-if ] || fail "$* $name: exit code $code and output"
		;;
	*) fail "$* $name: exit code $code" ;;
	esac
	cases=$((cases + 1))
}

# Content is no misuse.
reads() {
	runs "$@"
	[ $code != 2 ] || fail "$* $name: the content counts as misuse"
}

# asks STATE COMMAND...: for something that the file need not have. A complete file can refuse that as misuse; an incomplete one cannot,
# since what is missing may be that. STATE is the exit code that says which it is: $report, or $rows of the file alone.
asks() {
	state=$1
	shift
	runs "$@"
	[ $state = 0 ] || [ $state = $code ] || [ $code = 1 ] || fail "$* $name: exit code $code of a file with $state"
}

files=0
good=$VPT_SOURCE_DIR/tests/corpus/good-small.zst
# What "bad" means is each file's own affair; that good ones are good is everybody's.
for file in "$VPT_SOURCE_DIR"/tests/corpus/good-* "$VPT_SOURCE_DIR"/tests/corpus/bad-*; do
	name=${file##*/}
	files=$((files + 1))
	reads analyze
	report=$code
	case $name$code in good-*1) fail "$name is refused" ;; esac
	LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$work/out" && fail "analyze $name: control bytes in the report"
	reads analyze --format json
	[ $code = 1 ] || mv "$work/out" "$work/json/$name-report"
	reads info
	reads check
	reads cat
	rows=$code
	[ $code = 1 ] || mv "$work/out" "$work/json/$name-rows"
	reads export --format perfetto -o -
	reads export --format chrome --compress none -o -
	[ $code = 1 ] || mv "$work/out" "$work/json/$name-chrome-report"
	rm -rf "$work/tables"
	reads export --format csv -o "$work/tables"
	[ $code = 1 ] || [ -s "$work/tables/kernel.csv" ] || fail "export $name: no table of kernels"
	asks $report compare "$good"
	asks $report compare --format json "$good"
	[ $code = 1 ] || [ $code = 2 ] || mv "$work/out" "$work/json/$name-compare-report"
	reads stacks --format folded
	reads stacks --of all --format speedscope
	[ $code = 1 ] || mv "$work/out" "$work/json/$name-stacks-report"
	asks $report analyze --fail-if 'fps<0'
	asks $report analyze --fail-if 'bps<0' --fail-if 'steps/s<0' --fail-if 'busy>100%'
	asks $rows analyze --range 'a range that nobody has'
	asks $rows export --range 'a range that nobody has' -o -
	for command in analyze cat "export -o -"; do
		asks $rows $command --from 18446744073709551615ns
	done
done
[ $files -ge 90 ] || fail "expected 90 files of the corpus or more, found $files"

python3 - "$work"/json/* >"$work/out" 2>&1 <<'PYTHON' || fail "JSON that Python does not read"
import json, sys

def no_constant(text):
    raise ValueError("%s is no JSON" % text)

for path in sys.argv[1:]:
    data = open(path, "rb").read()
    try:
        text = data.decode("utf-8")
        for value in [text] if path.endswith("-report") else text.splitlines():
            json.loads(value, parse_constant=no_constant)
    except ValueError as why:
        sys.exit("%s: %s" % (path, why))
PYTHON
cases=$((cases + 1))
finish
