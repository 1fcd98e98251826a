#!/bin/sh
# --config reads options from TOML and YAML, --dry-run says where each value is from. Each rule of the file's language is compared with
# Python's own reader, where that is.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
vptrace=$(cd "${VPT_BIN:-.}" && pwd)/vptrace
[ -x "$vptrace" ] || skip "vptrace is not built"
unset VPTRACE_OUTPUT VPTRACE_CAPTURE VPTRACE_COUNTERS VPTRACE_STOP_MS VPTRACE_TAGS VPTRACE_MARK VPTRACE_STACKS
cd "$work" || exit 1

# runs CODE RULE WORDS...
runs() {
	wanted=$1
	rule=$2
	shift 2
	cases=$((cases + 1))
	timeout 60 "$vptrace" run "$@" >out 2>err </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit code $wanted, found $found"
}
# option NAME: its value and origin, with single blanks
option() {
	sed -n "s/^$1  *//p" out | tr -s ' '
}

cat >run.toml <<'TOML'
# what a team shares
capture = "request:1-3"	# three of them
max_bytes = '500M'
stacks = 100
overwrite = true
simulate = false
report = true
counters = "gpu:100ms,temperature:off"
tag = [
  "model=wan", # a comment
  'steps=50',
]
VPTRACE_FLUSH_MS = 500
VPTRACE_STOP_MS = 7000
TOML
runs 0 "a file" --config run.toml --dry-run -- sh -c "echo ran"
silent err
same "the command" "sh -c echo ran" "$(sed -n "s|^command .*/\([^ ]*\) -c|\1 -c|p" out)"
same "from the file" "request:1-3 run.toml:2" "$(option capture)"
same "an underscore is a dash" "500M run.toml:3" "$(option max-bytes)"
same "a number" "100 run.toml:4" "$(option stacks)"
same "a flag" "true run.toml:5" "$(option overwrite)"
same "a flag that is not set" "false run.toml:6" "$(option simulate)"
same "an option whose argument may be left out" "true run.toml:7" "$(option report)"
same "an array over several lines" "model=wan,steps=50 run.toml:10" "$(option tag)"
same "a variable that is no option" "500 run.toml:13" "$(option VPTRACE_FLUSH_MS)"
same "a default" "256 MiB default" "$(option memory)"
same "no default" "- default" "$(option ring)"
same "each option once" "" "$(cut -d' ' -f1 out | sort | uniq -d)"
for name in $("$vptrace" run --help | sed -n 's/^  \(-.,\)\{0,1\} *--\([a-z-]*\).*/\2/p'); do
	[ "$name" = help ] || grep -q "^$name " out || fail "--dry-run omits --$name"
done
cases=$((cases + 1))
[ "$(wc -l <out)" -ge 25 ] || fail "--dry-run prints $(wc -l <out) lines"

# ---- what wins ----
export VPTRACE_STACKS=50 VPTRACE_STOP_MS=9000
runs 0 "who wins" --config run.toml --dry-run --capture now --tag model=ltx true
same "the command line over the file" "now command line" "$(option capture)"
same "the command line over the file's array" "model=ltx command line" "$(option tag)"
same "the environment over the file" "50 environment, VPTRACE_STACKS" "$(option stacks)"
same "the environment, of a variable" "9000 environment, VPTRACE_STOP_MS" "$(option VPTRACE_STOP_MS)"
runs 0 "the command line over all" --config run.toml --dry-run --stacks 7 true
same "$rule" "7 command line" "$(option stacks)"
unset VPTRACE_STACKS VPTRACE_STOP_MS
# shellcheck disable=SC2016
runs 0 "the command sees it" --config run.toml -- sh -c 'echo "$VPTRACE_CAPTURE|$VPTRACE_FLUSH_MS|$VPTRACE_TAGS|$VPTRACE_COUNTERS|$VPTRACE_OVERWRITE|$VPTRACE_SIMULATE"'
same "$rule" "request:1-3|500|model=wan,steps=50|gpu:100ms,temperature:off|1|" "$(head -n 1 out)"
runs 0 "a dry run runs nothing" --dry-run -- sh -c "touch ran"
same "$rule" "" "$(ls ran 2>/dev/null)"
runs 127 "and finds what a run would" --dry-run -- nothing-of-that-name
runs 2 "and checks values" --dry-run --capture later -- true
silent out

# ---- what is refused, with its line ----
bad=bad.toml
refuses() { # refuses TEXT SENTENCE
	printf '%b' "$1" >$bad
	runs 2 "$1" --config $bad -- sh -c "touch ran"
	says err "$bad:$2"
	same "$1: nothing ran" "" "$(ls ran 2>/dev/null)"
}
refuses '# one\ncaptur = "now"' '2: unknown option captur; did you mean capture?'
refuses 'config = "x"' '1: unknown option config'
refuses 'dry-run = true' '1: unknown option dry-run'
refuses 'VPTRACE_CAPTURE = "now"' '1: unknown option VPTRACE_CAPTURE'
refuses 'VPTRACE_FLUSH_M = 1' '1: unknown option VPTRACE_FLUSH_M; did you mean VPTRACE_FLUSH_MS?'
refuses '\ncapture = "later"' '2: --capture: expected now'
refuses 'stacks = 5000' '1: --stacks: expected 1 to 1000 or off, found "5000"'
refuses 'counters = "gpus:1s"' '1: --counters: expected a time'
refuses 'VPTRACE_FLUSH_MS = 1' '1: VPTRACE_FLUSH_MS: expected 10 ms to 3600000 ms, found "1"'
refuses 'profile = "deep"' '1: --profile: expected one of default|lite|full|coarse|none, found "deep"'
refuses 'tag = ["a"]' '1: --tag'
refuses 'overwrite = "yes"' '1: overwrite: expected true or false, found yes'
refuses 'capture = true' '1: capture: expected a string or a number, found true'
refuses 'capture = ["now"]' '1: capture: expected one value, found [now]'
refuses 'stacks = 1\nstacks = 2' '2: expected each key once, found stacks, which line 1 has'
refuses '[run]\n' '1: expected KEY = VALUE without tables, found: [run]'
refuses 'run.capture = "now"' '1: expected = after a key, found: .capture'
refuses '= 1' '1: expected KEY = VALUE'
refuses 'stacks' '1: expected = after a key, found the end of the file'
refuses 'stacks = \n' '1: expected a string in quotes'
refuses 'stacks = 5 6' '1: expected the end of the line after a value, found: 6'
refuses 'capture = now' '1: expected a string in quotes, a number, true, false or an array, found: now'
refuses 'capture = "now' '1: expected a quote at the end of a string, found the end of the file'
refuses 'capture = """now"""' '1: expected a string of one line'
refuses 'capture = "\\q"' '1: expected an escape such as'
refuses 'capture = "\\ud800"' '1: expected an escape such as'
refuses 'tag = ["a=1" "b=2"]' '1: expected , or ] after a value'
refuses 'tag = ["a=1",\n["b=2"]]' '2: expected a value in the array'
refuses 'tag = {a = 1}' '1: expected a string in quotes'
refuses 'tag = [' '1: expected a string in quotes'
refuses 'stacks = 0x10' '1: expected a string in quotes'
refuses 'stacks = 010' '1: expected a string in quotes'
printf 'stacks = 1\0' >zero.toml
runs 2 "a byte of 0" --config zero.toml true
says err "zero.toml: expected text, found a byte of 0"
runs 2 "no file" --config nothing.toml true
says err "nothing.toml: cannot open: No such file"
runs 2 "a folder" --config . true
says err "cannot read: Is a directory"
head -c 1048577 /dev/zero | tr '\0' '#' >large.toml
runs 2 "a large file" --config large.toml true
says err "large.toml: expected at most 1048576 bytes"
: >empty.toml
runs 0 "an empty file" --config empty.toml --dry-run true
printf '\r\nstacks = 9\r\n# end' >crlf.toml
runs 0 "lines that end as on Windows" --config crlf.toml --dry-run true
same "$rule" "9 crlf.toml:2" "$(option stacks)"

# ---- YAML ----
cat >run.yaml <<'YAML'
---
# what a team shares
capture: request:1-3	# three of them
max_bytes: '500M'
stacks: 100
overwrite: True
simulate: false
report: true
"counters": gpu:100ms,temperature:off
tag:
- model=wan  # a comment

# another
- 'it''s=#1'
profile:   lite
mark: [auto,
  "modules:2",
]
VPTRACE_FLUSH_MS: 500
YAML
runs 0 "a file of YAML" --config run.yaml --dry-run -- true
silent err
same "a text with a colon" "request:1-3 run.yaml:3" "$(option capture)"
same "a text in quotes" "500M run.yaml:4" "$(option max-bytes)"
same "a number of YAML" "100 run.yaml:5" "$(option stacks)"
same "a flag of YAML" "true run.yaml:6" "$(option overwrite)"
same "a flag that YAML does not set" "false run.yaml:7" "$(option simulate)"
same "an option without its argument" "true run.yaml:8" "$(option report)"
same "a text with commas, a key in quotes" "gpu:100ms,temperature:off run.yaml:9" "$(option counters)"
same "a list of lines" "model=wan,it's=#1 run.yaml:11" "$(option tag)"
same "a key after a list" "lite run.yaml:15" "$(option profile)"
same "a list in brackets" "auto,modules:2 run.yaml:16" "$(option mark)"
same "a variable in YAML" "500 run.yaml:19" "$(option VPTRACE_FLUSH_MS)"
runs 0 "the command sees a file of YAML" --config run.yaml -- sh -c 'echo "$VPTRACE_CAPTURE|$VPTRACE_FLUSH_MS|$VPTRACE_TAGS|$VPTRACE_OVERWRITE|$VPTRACE_SIMULATE"'
same "$rule" "request:1-3|500|model=wan,it's=#1|1|" "$(head -n 1 out)"
printf '\r\ntag:\r\n  - a=1\r\n  - b=2\r\nstacks: off # none\r\n' >short.yml
runs 0 "lines as on Windows, .yml" --config short.yml --dry-run true
same "$rule" "a=1,b=2 short.yml:3" "$(option tag)"
same "off is a text" "off short.yml:5" "$(option stacks)"
printf -- '--- # nothing' >empty.yaml
runs 0 "a document of nothing" --config empty.yaml --dry-run true
printf 'stacks: 7' >last.yaml
runs 0 "a last line without an end" --config last.yaml --dry-run true
same "$rule" "7 last.yaml:1" "$(option stacks)"

bad=bad.yaml
refuses '# one\ncaptur: now' '2: unknown option captur; did you mean capture?'
refuses 'stacks: 5000' '1: --stacks: expected 1 to 1000 or off, found "5000"'
refuses '\ncapture: later' '2: --capture: expected now'
refuses 'VPTRACE_FLUSH_MS: 1' '1: VPTRACE_FLUSH_MS: expected 10 ms to 3600000 ms, found "1"'
refuses 'overwrite: yes' '1: overwrite: expected true or false, found yes'
refuses 'overwrite: "true"' '1: overwrite: expected true or false, found true'
refuses 'capture: [now]' '1: capture: expected one value, found [now]'
refuses 'stacks: 1\nstacks: 2' '2: expected each key once, found stacks, which line 1 has'
refuses 'stacks = 1' '1: expected : and a blank after a key, found: = 1'
refuses 'stacks:1' '1: expected : and a blank after a key, found: :1'
refuses 'stacks:' '1: expected a value after the key, or lines of - VALUE, found the end of the file'
refuses 'stacks:\nprofile: lite' '1: expected a value after the key, or lines of - VALUE, found the end of the line'
refuses 'stacks: ~' '1: expected a text of one line'
refuses 'capture: null' '1: expected a text of one line'
refuses 'run:\n  stacks: 1' '1: expected a value after the key, or lines of - VALUE'
refuses '  stacks: 1' '1: expected KEY: VALUE that is not indented'
refuses 'capture: now\n  or later' '2: expected KEY: VALUE that is not indented'
refuses 'capture: now: later' '1: expected the end of the line after a value, found: : later'
refuses 'capture: {a: 1}' '1: expected a text of one line, a number, true, false or a list, found: {a: 1}'
refuses 'capture: |\n  now' '1: expected a text of one line'
refuses 'capture: &name now' '1: expected a text of one line'
refuses 'capture: !!str now' '1: expected a text of one line'
refuses 'capture: "now' '1: expected a quote at the end of a text of one line'
refuses 'capture: "\\q"' '1: expected an escape such as'
refuses 'capture: "now"#' '1: expected the end of the line after a value, found: #'
refuses 'tag: [a=1' '1: expected , or ] after a value of a list'
refuses 'tag: [a=1, -]' '1: expected a text of one line'
refuses 'tag: [a=1:, b=2]' '1: expected , or ] after a value of a list, found: :, b=2]'
refuses 'tag: [[a=1]]' '1: expected a text of one line'
refuses 'tag:\n  - a=1\n - b=2' '3: expected KEY: VALUE that is not indented'
refuses 'tag:\n- - a=1' '2: expected a text of one line'
refuses 'tag:\n- a=1\n-' '3: expected a text of one line'
refuses '- a=1' '1: expected KEY: VALUE, found: - a=1'
refuses 'capture: :now' '1: expected a text of one line'
refuses '%%YAML 1.2' '1: expected KEY: VALUE'
refuses '--- now' '1: expected KEY: VALUE, found: --- now'

# ---- Python's reader says the same ----
cat >compare.py <<'PY'
import sys
path, said = sys.argv[1:]
if path.endswith(".toml"):
    import tomllib
    read = tomllib.load(open(path, "rb"))
else:
    import yaml
    read = yaml.safe_load(open(path, "rb"))
found = {}
for line in open(said, encoding="utf-8"):
    found[line.split()[0]] = line[23:].rsplit(" %s:" % path, 1)[0].rstrip(" ")
for key, value in read.items():
    value = ",".join(value) if isinstance(value, list) else str(value)
    value = value.replace("\t", "\\x09").replace("\x1b", "\\x1b")
    if found[key] != value:
        print(key, repr(value), repr(found[key]))
print("compared", len(read))
PY
cat >texts.toml <<'TOML'
"output" = "a \u00e4\U0001f600\t\"b\" \\ c.zst"
'profile' = 'lite'
ring   =	'30s'   #
duration=0.25
memory = "64M" # "x"
tag = ["a=#1", 'b=\n', "c=]",]
TOML
cat >texts.yaml <<'YAML'
"output": "a \xe4\u00e4\U0001f600\t\e\"b\" \\ c.zst"
'profile' : 'lite'
ring:   30s   #
duration: 0.25
memory: "64M" # "x"
mark:  [auto, 'modules:2' , ]
tag:
    - a=it's [one] {x} "y"#z   # "x"
    - 'b=''\n'
    -   "c= \x2d ."
YAML
for reader in tomllib:texts.toml:6 yaml:texts.yaml:7; do
	module=${reader%%:*} file=${reader#*:}
	count=${file#*:} file=${file%:*}
	if python3 -c "import $module" 2>/dev/null; then
		runs 0 "texts" --config $file --dry-run true
		mv out said
		python3 compare.py $file said >out 2>err || fail "texts: $file is not compared: $(cat err)"
		same "texts of $file as Python reads them" "compared $count" "$(cat out)"
	else
		echo "SKIPPED: no $module in python3: the language of $file is not compared with it"
	fi
done
finish
