#!/bin/sh
# "-" is standard input, a pipe or a file, in every command that reads a trace; the answer is that of the file.
# shellcheck disable=SC1091,SC2154,SC2086,SC2002
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
cd "$work" || exit 1
need_trace trace.zst small_trace
mv need.json trace.json
mkdir tmp
TMPDIR=$work/tmp
export TMPDIR

# piped CODE RULE FILE ARGUMENTS...: FILE through a pipe
piped() {
	wanted=$1
	rule=$2
	file=$3
	shift 3
	cases=$((cases + 1))
	found=$(cat "$file" | { "$VPT_ANALYZE" "$@" >out 2>err; echo $?; })
	[ "$found" = "$wanted" ] || fail "$rule: expected exit code $wanted, found $found"
	[ -z "$(ls -A tmp)" ] || fail "$rule: left $(ls -A tmp) behind"
}
named() { # the last output, but for what the input is called
	sed "s/standard input/INPUT/g; s/$file/INPUT/g; s/vptrace-analyze [A-Z]*INPUT/vptrace-analyze FILE/" out
}

for file in trace.zst trace.json; do
	for words in "" analyze info check cat "analyze --format json" "info --format json" "cat --kind kernel --format csv"; do
		piped 0 "$words of $file through a pipe" $file $words -
		named >piped.out
		expect 0 "$words $file" $words $file
		named >file.out
		cmp -s piped.out file.out || fail "$words of $file differs through a pipe: $(diff piped.out file.out | head -n 5)"
		cases=$((cases + 1))
		"$VPT_ANALYZE" $words - <$file >out 2>err || fail "$words - <$file: exit code $?"
		named >read.out
		cmp -s read.out file.out || fail "$words - <$file differs"
	done
	for words in convert "export --format perfetto" "export --format csv"; do
		piped 0 "$words of $file through a pipe" $file $words - -o piped
		expect 0 "$words $file" $words $file -o file
		[ ! -f piped/schema.json ] || sed -i "s/standard input/$file/" piped/schema.json # its source
		diff -r piped file >diff.out || fail "$words of $file differs through a pipe"
		rm -rf piped file
	done
	piped 0 "$file from pipe to pipe" $file convert - -o -
	cmp -s out trace.zst || fail "convert - -o - gave other bytes"
done
if have sqlite3 "an export of Nsight Systems"; then
	sqlite3 empty.sqlite 'create table x(a)'
	piped 1 "a database through a pipe" empty.sqlite info -
	says err "standard input: "
fi

piped 2 "an export of it needs a name" trace.zst export -
says err "standard input gives the export no name: use -o FILE"
: >nothing
piped 1 "an empty pipe" nothing info -
says err "standard input: the file is empty"
expect 1 "no trace" info -
head -c $(($(wc -c <trace.zst) - 40)) trace.zst >torn
piped 3 "a torn capture" torn check -
says out "standard input"
TMPDIR=$work/nowhere
piped 1 "nowhere to copy it to" trace.zst info -
says err "standard input: cannot create a file in $work/nowhere: No such file or directory; set TMPDIR to another folder"
"$VPT_ANALYZE" info - <&- >out 2>err
same "a closed standard input" 1 $?
says err "standard input: cannot"
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	script -qec "'$VPT_ANALYZE' info -" /dev/null </dev/null >out 2>&1
	says out "standard input is a terminal: expected a trace from a pipe or a file"
else
	echo "SKIPPED: a terminal as input: no script(1), or no terminal to be had"
fi
finish
