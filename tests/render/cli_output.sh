#!/bin/sh
# Where the answer goes: files are never replaced unasked nor left half-written, a full or closed standard
# output is a failure, colours are for terminals.
# shellcheck disable=SC1091,SC2046,SC2005,SC2154,SC2012,SC2010,SC2094,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
cd "$work" || exit 1
need_trace "$work/trace.zst" small_trace
rm -f need.json

for command in analyze cat convert; do
	expect 0 "$command to a new file" $command trace.zst -o new
	silent out
	[ -s new ] || fail "$command wrote nothing"
	echo mine >new
	expect 2 "$command to an existing file" $command trace.zst -o new
	says err "new: exists already; use --force to replace it"
	same "$command leaves it alone" mine "$(cat new)"
	expect 0 "$command --force" $command trace.zst -o new --force
	[ "$(head -c 4 new)" != mine ] || fail "$command --force did not replace"
	rm new
	expect 1 "$command into a folder that is not there" $command trace.zst -o nowhere/new
	says err "nowhere/new: cannot open its folder"
	expect 2 "$command over a folder" $command trace.zst -o "$work"
	mkdir folder && chmod 500 folder
	if [ ! -w folder ]; then
		expect 1 "$command into a folder that may not be written" $command trace.zst -o folder/new
	fi
	chmod 700 folder && rmdir folder
done
# ---- the output is an input ----
cp trace.zst input.zst
ln -s input.zst link.zst
ln input.zst twin.zst
mkdir folder
ln -s ../input.zst folder/far.zst
printf 'range block\tb\n' >rules.tsv
cp rules.tsv rules.copy
same_file() { # same_file RULE COMMAND...: refused, also with --force, and the input is whole
	rule=$1
	shift
	expect 2 "$rule" "$@" --force
	grep -q "an input of this command" err || fail "$rule: another reason"
	cmp -s trace.zst input.zst && [ -L link.zst ] && [ twin.zst -ef input.zst ] && [ -L folder/far.zst ] || fail "$rule: the input was replaced"
	cmp -s rules.tsv rules.copy || fail "$rule: the rules were replaced"
}
while IFS='|' read -r command; do
	for output in input.zst ./input.zst folder/../input.zst "$work/input.zst" link.zst twin.zst folder/far.zst; do
		same_file "$command to its input as $output" $command input.zst -o "$output"
	done
	same_file "$command of a link to its file" $command link.zst -o input.zst
done <<'COMMANDS'
analyze
analyze --format html
analyze --format json
cat
convert
export
export --format chrome
stacks
stacks --format folded
compare trace.zst
compare --format html trace.zst
compare --format json trace.zst --
COMMANDS
for command in analyze cat convert export stacks; do
	rule="$command of standard input to its file"
	cases=$((cases + 1))
	"$VPT_ANALYZE" $command - -o input.zst --force <input.zst >out 2>err
	same "$rule: exit code" 2 $?
	says err "input.zst: is an input of this command, standard input: write to another file"
	rule="$command of /dev/stdin to its file"
	"$VPT_ANALYZE" $command /dev/stdin -o ./input.zst --force <input.zst >out 2>err
	same "$rule: exit code" 2 $?
	says err "an input of this command, /dev/stdin"
	rule="$command appended to its input"
	"$VPT_ANALYZE" $command input.zst -o - >>input.zst 2>err
	same "$rule: exit code" 2 $?
	says err "standard output: leads into an input of this command, input.zst: write to another file"
	cmp -s trace.zst input.zst || fail "$rule: the input has changed"
done
same_file "A of a comparison" compare input.zst trace.zst -o input.zst
same_file "a rules file" analyze trace.zst --rules rules.tsv -o rules.tsv
same_file "a rules file of an export" export trace.zst --rules rules.tsv -o ./rules.tsv
same_file "a baseline" compare --baseline trace.zst --baseline input.zst trace.zst -o link.zst
expect 0 "a folder to replace" export trace.zst --format csv -o tables
cp trace.zst tables/kernel.csv
same_file "the folder of an input" export tables/kernel.csv --format csv -o tables
same_file "the same from inside" export ./tables/kernel.csv --format jsonl -o "$work/tables"
cmp -s trace.zst tables/kernel.csv || fail "an input in the folder to replace is lost"
expect 0 "two commands of one input" analyze input.zst -o other
"$VPT_ANALYZE" analyze - <trace.zst >other2 2>err || fail "a redirection to another file: exit code $?"
same "a redirection to another file has the whole report" "$(wc -l <other)" "$(wc -l <other2)"
"$VPT_ANALYZE" check - </dev/null >/dev/null 2>err
same "devices are no files" 1 $?
rm -r input.zst link.zst twin.zst folder rules.tsv rules.copy tables other other2

expect 1 "a target for a file that is no trace" missing.zst -o new
[ ! -e new ] || fail "a failed command left its target behind"
same "nothing but the trace is left" "err out trace.zst" "$(echo $(ls -A))"

if [ -w /dev/full ]; then
	for arguments in "analyze trace.zst" "trace.zst --format json" "info trace.zst" "check trace.zst" \
		"cat trace.zst" "convert trace.zst -o -" --help --version schema "cat --help"; do
		cases=$((cases + 1))
			"$VPT_ANALYZE" $arguments >/dev/full 2>err
		same "a full standard output: $arguments" 1 $?
		says err "standard output: cannot write: No space left on device"
	done
	echo kernel | "$VPT_ANALYZE" classify >/dev/full 2>err
	same "a full standard output: classify" 1 $?
fi
"$VPT_ANALYZE" info trace.zst >&- 2>err
same "a closed standard output" 1 $?
says err "standard output: cannot write"

# A reader that has seen enough: no complaint.
kernels_trace 2000 >long.json
{ "$VPT_ANALYZE" cat long.json 2>err; echo $? >code; } | head -n 1 >out
same "the reader went away" 1 "$(cat code)"
silent err
kernels_trace 70000 >long.json
expect 0 "a trace of several chunks" convert long.json -o long.zst
{ "$VPT_ANALYZE" cat long.zst 2>err; echo $? >code; } | head -n 1 >out
same "the reader went away before the last chunk" 1 "$(cat code)"
silent err
rm long.json long.zst

# ---- colours ----
escape=$(printf '\033')
expect 0 "no colours into a file" trace.zst
grep -q "$escape" out && fail "colours into a file"
expect 0 "colours on demand" trace.zst --color always
grep -q "$escape" out || fail "--color always has no colours"
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	on_terminal() {
		TERM=xterm script -qec "$1" /dev/null </dev/null >out 2>&1
	}
	on_terminal "'$VPT_ANALYZE' trace.zst"
	grep -q "$escape" out || fail "no colours on a terminal"
	on_terminal "'$VPT_ANALYZE' trace.zst --color never"
	grep -q "$escape" out && fail "colours with --color never"
	on_terminal "NO_COLOR=1 '$VPT_ANALYZE' trace.zst"
	grep -q "$escape" out && fail "colours in spite of NO_COLOR"
	on_terminal "NO_COLOR= '$VPT_ANALYZE' trace.zst"
	grep -q "$escape" out || fail "an empty NO_COLOR counts as none"
	on_terminal "TERM=dumb '$VPT_ANALYZE' trace.zst"
	grep -q "$escape" out && fail "colours on a dumb terminal"
	if built "${VPT_BIN:-/nowhere}/bench_generate" "progress on a terminal"; then
		"$VPT_BIN/bench_generate" 400000 -c 1 -o long.zst >out 2>err || fail "a long stream"
		on_terminal "'$VPT_ANALYZE' export long.zst --level 9 -j 1 -o long.pftrace"
		grep -q "reading: .* % of .* chunks" out || fail "no progress of an export"
		on_terminal "'$VPT_ANALYZE' export long.zst --level 9 -j 1 -o long.pftrace --force --no-progress"
		grep -q "reading:" out && fail "progress in spite of --no-progress"
	fi
	# Names that a terminal would obey or hide are shown, in the same way everywhere.
	printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a\\u202eb\\u009bc\\u200bd", "pid": 0, "tid": 7, "ts": 1, "dur": 1}]}' >odd.json
	on_terminal "'$VPT_ANALYZE' cat odd.json --kind kernel"
	says out 'a\u202eb\u009bc\u200bd'
	on_terminal "'$VPT_ANALYZE' cat odd.json --kind kernel --format csv"
	says out 'a\u202eb\x9bc\u200bd'
	on_terminal "'$VPT_ANALYZE' odd.json --format json"
	says out 'a\u202eb\u009bc\u200bd'
	printf 'x\377\342\200\256y\033z\n' >odd.txt
	on_terminal "'$VPT_ANALYZE' classify <odd.txt"
	says out 'x\xff\u202ey\x1bz'
	on_terminal "'$VPT_ANALYZE' convert trace.zst -o -"
	grep -q "not written to a terminal" out || fail "a capture on a terminal"
else
	echo "SKIPPED: terminals: no script(1), or no terminal to be had"
fi

# ---- several formats in one call ----
expect 0 "several formats" "$source/tests/corpus/good-small.zst" --format text,json,md,html -o several --top 50
silent out
same "a file for each" "several.html several.json several.md several.txt" "$(find . -maxdepth 1 -name 'several*' | sed 's|./||' | sort | tr '\n' ' ' | sed 's/ $//')"
for form in text:txt json:json md:md html:html; do
	"$VPT_ANALYZE" "$source/tests/corpus/good-small.zst" --format ${form%:*} -o "one.${form#*:}" --top 50 2>err
	# The page alone says with which command it was made.
	sed 's/<pre class="command">.*//' "several.${form#*:}" >these
	sed 's/<pre class="command">.*//' "one.${form#*:}" | diff - these >differ || fail "--format ${form%:*}: $(head -n 3 differ)"
	cases=$((cases + 1))
done
# Text alone is analyzed without the tables that only others have.
for capture in "$source"/tests/corpus/good-*; do
	"$VPT_ANALYZE" "$capture" -o screen.txt --force 2>err
	"$VPT_ANALYZE" "$capture" --format text,json -o whole --force 2>err
	diff whole.txt screen.txt >differ || fail "the first screen of $(basename "$capture"): $(head -n 3 differ)"
	cases=$((cases + 1))
done
expect 2 "they need a name" "$source/tests/corpus/good-small.zst" --format text,json
says err "several formats are several files: use -o NAME"
expect 2 "one of them is there already" "$source/tests/corpus/good-small.zst" --format text,json -o several
says err "several.txt"
expect 2 "no such format" "$source/tests/corpus/good-small.zst" --format text,pdf -o none
says err 'expected one of text|json|md|html, found "pdf"'
expect 2 "one twice" "$source/tests/corpus/good-small.zst" --format text,json,text -o none
expect 2 "an empty one" "$source/tests/corpus/good-small.zst" --format text, -o none
[ ! -e none.txt ] || fail "a refused call wrote a file"
finish
