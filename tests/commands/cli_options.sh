#!/bin/sh
# What is misused is refused with exit code 2 and a sentence on standard error; what asks for help gets it on
# standard output with exit code 0.
# shellcheck disable=SC1091,SC2046,SC2005,SC2154,SC2012,SC2010,SC2116,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"

expect 2 "without a word"
says err "expected a trace file or a command"
silent out

# RULE | ARGUMENTS | what standard error says
while IFS='|' read -r name arguments words; do
	[ -n "$name" ] || continue
	expect 2 "$name" $arguments
	says err "$words"
	silent out
done <<'CASES'
an unknown option|--bogus x|unknown option --bogus
a mistyped option names the one that was meant|--formt text x|did you mean --format?
an unknown letter|-z x|unknown option -z
the hint names the command|cat --bogus x|see vptrace-analyze cat --help
a mistyped command names the one that was meant|chekc x|did you mean "check"?
a word that is no command|blend a b|blend: neither a command nor a file
a word of other programs|stats x|stats: neither a command nor a file; did you mean "analyze"?
a word of other programs|dump x|did you mean "cat"?
help of no command|help chekc|did you mean "check"?
help of two commands|help info cat|help: expected one command, found "cat" as well
a missing argument|./x --top|--top: expected a number after it
an empty number|--top= x|expected a whole number from 1 to 1000000, found ""
a number below its range|--top 0 x|expected a whole number from 1 to 1000000, found "0"
a number above 64 bits|--top 99999999999999999999999 x|from 1 to 1000000
a number with a tail|--top 5x x|found "5x"
a negative number|--top=-1 x|found "-1"
a flag with an argument|--force=yes x|--force takes no argument
a word that is no choice|--format xml x|expected one of text|json|md|html, found "xml"
half a choice|--format tex x|expected one of text|json
a time without a unit|--from 5 x|expected a time with a unit
a time of a unit alone|--from s x|expected a time with a unit
a time that ends in its point|--from 1.s x|expected a time with a unit
a time that begins with its point|--from .5s x|expected a time with a unit
a negative time|--from=-1s x|expected a time with a unit
a time with an exponent|--from 1e3s x|expected a time with a unit
a time finer than the clock|--from 0.5ns x|finer than a nanosecond
a time of 600 years|--from 18446744074s x|longer than 584 years
a time of more than 64 bits|--from 99999999999999999999ns x|longer than 584 years
a window that is empty|--from 2s --to 1s x|the window is empty
a window chosen twice|--range a --from 1s x|cannot be combined
no file|info|expected a file, found none
two files|info a b|expected one file, found "b" as well
a file where none is expected|schema x|expected no file, found "x"
an option after the dashes is a file|info a -- --format|expected one file, found "--format" as well
convert without a target|convert x|expected -o FILE
two formats|-f json x --format text|--format: given twice, as "json" and "text": expected one value
the same format twice|./x -f json -fjson|--format: given twice
two numbers|--top 5 --top=6 x|--top: given twice, as "5" and "6"
the default after another value|--top 5 x --color never --color auto|--color: given twice
two outputs|-o a x -o b|--output: given twice, as "a" and "b"
two starts|--from 1s --from 2s x|--from: given twice
two rules files|compare --rules a x y --rules b|--rules: given twice
two formats of an export|export x --format csv --to perfetto|--format: given twice, as "csv" and "perfetto"
two ends of an export|export x --to 1s --to 2s|--to: given twice, as "1s" and "2s"
a limit of infinity|--fail-if fps<9999999999999999 x.zst|expected a number such as 16
a margin of infinity|compare a b --margin 99999999999|expected percent below 100
a window up to its start|--to 0 x|--to 0 is the start of the trace: the window is empty
a window up to its start, with a beginning|cat --from 0 --to 0ns x|the window is empty
the same of an export|export --to 0s x|the window is empty
CSV of all kinds|cat x --format csv|expected one --kind
CSV of two kinds|cat x --format csv --kind kernel --kind call|expected one --kind
an unknown kind|cat x --kind kernl|did you mean "kernel"?
CASES

# Options may stand anywhere, joined or apart. The file is missing: exit code 1, and that
# tells that the words were understood.
while IFS='|' read -r name arguments; do
	expect 1 "$name" $arguments
	says err "/nowhere/at/all: cannot open: No such file or directory"
done <<'CASES'
a long option with =|--top=5 /nowhere/at/all
a long option with a space|--top 5 /nowhere/at/all
a letter with its argument joined|-n5 /nowhere/at/all
a letter with its argument apart|-n 5 /nowhere/at/all
options after the file|/nowhere/at/all --top 5
the file after the dashes|--top 5 -- /nowhere/at/all
a number with zeros before it|--top 0005 /nowhere/at/all
a value that is the default|--format text --color auto /nowhere/at/all
a flag given twice|--force --force /nowhere/at/all
an option that may be repeated|cat --kind kernel --kind call /nowhere/at/all
conditions, of which each counts|--fail-if fps<1 --fail-if busy<1% /nowhere/at/all
an older spelling beside an end|export --to csv --to 1s -o /nowhere/x.tables /nowhere/at/all
the command that may be left out|analyze /nowhere/at/all
times in each unit|--from 0 --to 1.5s --min-gap 10us /nowhere/at/all
minutes and hours|--from 2m --to 1.5h --min-gap 0.5min /nowhere/at/all
a fraction to the nanosecond|--from 1.000000001s --to 0.1min /nowhere/at/all
CASES

for arguments in --help -h help "help help"; do
	expect 0 "$arguments" $arguments
	says out "usage: vptrace-analyze FILE"
	silent err
done
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$work/out")
same "the overview lists the commands" "analyze compare ranks summarize merge trend watch info check cat convert export stacks classify schema" \
	"$(echo $commands)"
for command in $commands; do
	expect 0 "help of $command" "$command" --help
	grep '.\{101\}' "$work/out" >/dev/null && fail "help of $command is wider than 100 columns: $(grep '.\{101\}' "$work/out" | head -n 1)"
	says out "usage: vptrace-analyze $command"
	silent err
	cp "$work/out" "$work/help"
	expect 0 "help as a word: $command" help "$command"
	cmp -s "$work/out" "$work/help" || fail "help $command and $command --help differ"
	expect 0 "help wins over a missing file: $command" "$command" -h
done
expect 0 "the version" --version
says out "vptrace-analyze "

expect 0 "the schema as a command" schema
cp "$work/out" "$work/schema"
expect 0 "the schema as an option" --schema
cmp -s "$work/out" "$work/schema" || fail "schema and --schema differ"
expect 0 "the schema as JSON" schema --format json
same "both list the same kinds" "$(grep -c '^[a-z]*, kind [0-9]*:' "$work/schema")" \
	"$(grep -c '"kind":' "$work/out")"
finish
