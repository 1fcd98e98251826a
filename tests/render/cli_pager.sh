#!/bin/sh
# A long report on a terminal goes through a pager, as git's output does; nothing else does, and the exit status stays what it was.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
command -v python3 >/dev/null || skip "no python3 to make a terminal with"
cd "$work" || exit 1
unset VPTRACE_PAGER PAGER LESS LV
export TERM=xterm
need_trace "$work/trace.zst" small_trace

# on ROWS WORDS...: the program on a terminal of ROWS rows; what it shows is in `out`, its exit status in $found.
on() {
	rows=$1
	shift
	cases=$((cases + 1))
	python3 "$source/tests/support/terminal.py" "$rows" 80 "$VPT_ANALYZE" "$@" >out 2>err </dev/null
	found=$?
}

# shows RULE CODE FILE: the terminal shows exactly this.
shows() {
	[ "$found" = "$2" ] || fail "$1: expected exit code $2, found $found"
	cmp -s "$3" out || fail "$1: not the expected text"
}

# A pager that says that it was there, and which variables it has.
cat >pager <<'SH'
#!/bin/sh
echo "paged: LESS=$LESS LV=$LV $*"
cat
SH
chmod +x pager
on 500 trace.zst --full --no-pager
cp out plain
[ -s plain ] || fail "no report on a terminal"
lines=$(wc -l <plain)
{ echo "paged: LESS=FRX LV=-c "; cat plain; } >paged
{ echo "paged: LESS=FRX LV=-c two words"; cat plain; } >words

export VPTRACE_PAGER=./pager PAGER=false
on 10 trace.zst --full
shows "a long report" 0 paged
grep -q "$(printf '\033')" out || fail "a pager gets no colours"
on $((lines + 1)) trace.zst --full
shows "a report of a line less than the screen" 0 plain
on "$lines" trace.zst --full
shows "a report as long as the screen" 0 paged
on 0 trace.zst --full
shows "a terminal without a size" 0 plain
on 10 trace.zst --full --no-pager
shows "--no-pager" 0 plain
on 41 trace.zst
grep -q paged out && fail "the first screen fits a screen"
on 10 trace.zst --only kernels
grep -q paged out && fail "a section shorter than the screen"
on 10 trace.zst --format json
grep -q paged out && fail "JSON is paged"
on 10 trace.zst --format md
grep -q paged out && fail "Markdown is paged"
on 10 trace.zst --full -o file
grep -q paged out file && fail "a file is paged"
"$VPT_ANALYZE" trace.zst --full >out 2>err </dev/null
grep -q paged out && fail "a report that is not shown on a terminal is paged"
on 10 compare trace.zst trace.zst
grep -q paged out || fail "a long comparison is not paged"
on 10 compare trace.zst trace.zst --no-pager
grep -q paged out && fail "compare --no-pager"
TERM=dumb
on 10 trace.zst --full
grep -q paged out && fail "a dumb terminal has a pager"
TERM=xterm

# ---- which ----
VPTRACE_PAGER="./pager two  words"
on 10 trace.zst --full
shows "a pager with arguments" 0 words
# shellcheck disable=SC2016
VPTRACE_PAGER='./pager "$(echo two words)"'
on 10 trace.zst --full
shows "a pager for the shell" 0 words
for none in "" cat; do
	VPTRACE_PAGER=$none
	on 10 trace.zst --full
	shows "VPTRACE_PAGER=$none" 0 plain
done
unset VPTRACE_PAGER
PAGER=./pager
on 10 trace.zst --full
shows "PAGER" 0 paged
PAGER="cat"
on 10 trace.zst --full
shows "PAGER=cat" 0 plain
PAGER=./pager
LESS=S LV=1
export LESS LV
on 10 trace.zst --full
grep -q "paged: LESS=S LV=1" out || fail "the user's LESS is replaced"
unset LESS LV
unset PAGER
mkdir path
cp pager path/less
PATH="$work/path:$PATH" on 10 trace.zst --full
shows "less if nothing is set" 0 paged

# ---- failures ----
cases=$((cases + 1))
python=$(python3 -c 'import sys; print(sys.executable)')
PATH="$work" "$python" "$source/tests/support/terminal.py" 10 80 "$VPT_ANALYZE" trace.zst --full >out 2>err
found=$?
shows "no less on this machine" 0 plain
export PAGER="$work/nowhere"
on 10 trace.zst --full
{ echo "vptrace-analyze: cannot start the pager \"$work/nowhere\": No such file or directory"; cat plain; } >expected
shows "a pager that does not exist" 0 expected
PAGER="$work/nowhere | cat -n; exit 127"
on 10 trace.zst --full
sed '/nowhere.*not found$/d' out >out.rest
mv out.rest out
shows "a pager that the shell cannot find" 0 plain

# ---- exit status ----
PAGER="./pager; exit 9"
on 10 trace.zst --full
shows "the pager's own exit status" 0 paged
on 10 trace.zst --full --fail-if "busy>1%"
[ "$found" = 4 ] || fail "--fail-if with a pager: expected exit code 4, found $found"
grep -q paged out || fail "--fail-if: no pager"
PAGER="head -n 1"
awk 'BEGIN {
	printf "{\"traceEvents\":[";
	for (i = 1; i <= 3000; i++)
		printf "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel_%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":1}", (i > 1 ? ",\n" : ""), i, i * 2;
	printf "]}" }' >many.json
"$VPT_ANALYZE" many.json --full --top 3000 >out 2>err
[ "$(wc -c <out)" -gt 200000 ] || fail "the long report is no longer longer than a pipe holds"
code=$("$VPT_ANALYZE" many.json --full >out 2>err; echo $?)
on 10 many.json --full --top 3000
same "a pager that is quit early: exit status" "$code" "$found"
same "a pager that is quit early: lines" 1 "$(grep -c . out)"
if command -v less >/dev/null; then
	unset PAGER
	cases=$((cases + 1))
	python3 "$source/tests/support/terminal.py" 10 80 --keys q "$VPT_ANALYZE" many.json --full --top 3000 >out 2>err </dev/null
	same "less, and q" "$code" $?
	lines=$(grep -c . out)
	[ "$lines" -le 12 ] || fail "less shows $lines lines at once"
else
	echo "SKIPPED: no less"
fi
finish
