#!/bin/sh
# Every file of the corpus through every command that reads: in seconds, with a documented exit code, a sentence where it failed,
# and JSON that another parser takes.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

command -v python3 >/dev/null || skip "no python3 to read the JSON with"

mkdir "$work/json"

reads() { # reads COMMAND...: with the file as the last word; in 20 s of a processor's time, however busy the machine is
	(ulimit -t 20 && exec timeout 300 "$VPT_ANALYZE" "$@" "$file") >"$work/out" 2>"$work/err"
	code=$?
	case $code in
	0 | 3) ;;
	1)
		[ -s "$work/err" ] || fail "$1 $name: exit code 1 and no sentence"
		[ ! -s "$work/out" ] || [ "$1" = cat ] || [ "$1" = check ] || fail "$1 $name: exit code 1 and output"
		;;
	*) fail "$1 $name: exit code $code" ;;
	esac
	cases=$((cases + 1))
}

# What "bad" means is each file's own affair; that good ones are good is everybody's.
for file in "$VPT_SOURCE_DIR"/tests/corpus/good-* "$VPT_SOURCE_DIR"/tests/corpus/bad-*; do
	name=${file##*/}
	reads analyze
	case $name$code in good-*1) fail "$name is refused" ;; esac
	LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$work/out" && fail "analyze $name: control bytes in the report"
	reads analyze --format json
	[ $code = 1 ] || mv "$work/out" "$work/json/$name-report"
	reads info
	reads check
	reads cat
	[ $code = 1 ] || mv "$work/out" "$work/json/$name-rows"
done

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
