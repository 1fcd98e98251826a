#!/bin/sh
# Limits of the process: a stack too small for the programs is an error, and files that may not grow leave none behind.
# shellcheck disable=SC1091,SC2154,SC3045
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../../..}/tests/support/cli.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
cd "$work" || exit 1
mkdir in && cd in || exit 1
lines_trace 3 >t.json
"$VPT_ANALYZE" convert -o c.zst t.json >../out 2>../err || fail "no trace to try with"
"$VPT_ANALYZE" --format json t.json >base.json 2>../err
unset VPTRACE_OUTPUT VPTRACE_LIST VPTRACE_RING

# limited FLAG LIMIT STATUS WORDS...: a status of "-" is any but that of a signal
limited() {
	rule="ulimit $1 $2: $5 $6 $7 $8"
	cases=$((cases + 1))
	(
		ulimit "$1" "$2"
		shift 3
		exec timeout 60 "$@" >../to/out 2>../to/err </dev/null
	)
	found=$?
	[ "$found" = "$3" ] || { [ "$3" = - ] && [ "$found" -lt 124 ]; } || fail "$rule: expected exit status $3, found $found"
}
left() {
	same "$rule: files" "base.json c.zst t.json" "$(echo $(ls -A))"
}
# Standard output and error have no limit of their own here.
mkdir ../to && mkfifo ../to/out ../to/err
drain() {
	cat ../to/out >../out &
	cat ../to/err >../err &
	"$@"
	wait
}

# ---- files that may not grow ----
while read -r words; do
	for limit in 0 1; do
		# shellcheck disable=SC2086
		drain limited -f $limit 1 "$VPT_ANALYZE" $words
		left
		says err "File too large"
	done
done <<'CASES'
--format html -o x.html t.json
--format json -o x.json t.json
--format md -o x.md t.json
export --format perfetto -o x.pftrace t.json
export --format chrome -o x.chrome.json t.json
export --format csv -o x.csv t.json
export --format jsonl -o x.jsonl t.json
compare --format html -o x.html t.json t.json
stacks -o x.svg t.json
stacks --format speedscope -o x.speedscope.json t.json
--format html --force -o base.json t.json
CASES
drain limited -f 0 1 "$VPT_ANALYZE" convert -o x.zst t.json # which is short
left
says err "File too large"
same "what --force was to replace is there" "$("$VPT_ANALYZE" --format json t.json 2>/dev/null | cksum)" "$(cksum <base.json)"
# The program's own output is such a file.
for words in "t.json" "schema" "cat c.zst" "--help" "compare t.json t.json" "--format json t.json"; do
	rule="ulimit -f 0: $words >file"
	cases=$((cases + 1))
	(
		ulimit -f 0
		# shellcheck disable=SC2086
		exec "$VPT_ANALYZE" $words >../file 2>/dev/null
	)
	found=$?
	[ $found = 1 ] || fail "$rule: expected exit status 1, found $found"
done
if [ -x "$bin/vptrace" ]; then
	host=$bin/host_ring
	export VPT_STANDIN_TIME=real TMPDIR="$work/in"
	for limit in 0 1; do
		for words in "" "--ring 5s" "--report"; do
			# shellcheck disable=SC2086
			drain limited -f $limit - "$bin/vptrace" run $words -o x.zst "$host" steps 200 300
			cases=$((cases + 1))
			[ ! -s x.zst ] || "$VPT_ANALYZE" check x.zst >../out 2>&1 || [ $? = 3 ] || fail "$rule: $(cat ../out)"
			rm -f x.zst
			left
		done
		drain limited -f $limit - "$bin/vptrace" --help
		drain limited -f $limit - "$bin/vptrace" report t.json
		left
	done
	rule="the command has the signals that the launcher was started with"
	same "$rule" "$(sh -c 'grep SigIgn /proc/self/status')" "$("$bin/vptrace" run -o x.zst grep SigIgn /proc/self/status 2>/dev/null)"
	rule="a library whose messages go to such a file"
	cases=$((cases + 1))
	(
		ulimit -f 0
		VPTRACE_OUTPUT=/nosuch/x.zst CUDA_INJECTION64_PATH=$bin/libvptrace.so "$host" steps 20 99 2>../file
	) || fail "$rule: exit status $?"
fi

# ---- a small stack of the traced program ----
plain=1
! ldd "$VPT_ANALYZE" | grep -q 'lib[atu]b*san' || plain= # whose own frames are larger
host=$bin/host_small
if [ $plain ] && [ -x "$host" ]; then
	for where in stop exit; do
		rule="threads of 16 KiB, $where"
		rm -f x.zst
		"$host" x.zst $where >../out 2>../err || fail "$rule: exit status $?"
		expect 0 "$rule: check" check x.zst
		same "$rule: kernels" 100 "$("$VPT_ANALYZE" cat x.zst --kind kernel | wc -l | tr -d ' ')"
		same "$rule: ranges" 400 "$("$VPT_ANALYZE" cat x.zst --kind range | wc -l | tr -d ' ')"
	done
	for limit in 64 128 1024; do
		rule="a program with a stack of $limit KiB"
		rm -f x.zst
		(ulimit -s $limit && VPT_STANDIN_TIME=real VPTRACE_RING=5s VPTRACE_STACKS=50 VPTRACE_COUNTERS=100ms VPTRACE_OUTPUT=$work/in/x.zst \
			CUDA_INJECTION64_PATH=$bin/libvptrace.so "$bin/host_ring" steps 200 999 >../out 2>../err) || fail "$rule: exit status $?"
		expect 0 "$rule: check" check x.zst
	done
	rm -f x.zst
fi

# ---- a small stack of ours ----
if [ $plain ]; then
	for limit in 64 100 256 511; do
		for words in "t.json" "check c.zst" "compare t.json t.json" "export -o x.pftrace t.json" "--help"; do
			# shellcheck disable=SC2086
			drain limited -s $limit 1 "$VPT_ANALYZE" $words
			says err "expected a limit of the stack of at least 512 KiB, found $limit: raise it with ulimit -s"
			left
		done
		[ -x "$bin/vptrace" ] || continue
		for words in "run -o x.zst true" "doctor" "report t.json" "--help"; do
			# shellcheck disable=SC2086
			drain limited -s $limit 1 "$bin/vptrace" $words
			says err "expected a limit of the stack of at least 512 KiB, found $limit: raise it with ulimit -s"
			left
		done
	done
fi
# As small as it may be.
limit=$([ $plain ] && echo 512 || echo 4096)
while read -r words; do
	# shellcheck disable=SC2086
	drain limited -s "$limit" 0 "$VPT_ANALYZE" $words
	rm -rf x.*
done <<'CASES'
t.json
--format html -o x.html t.json
--format json t.json
--format md t.json
--format html t.json
compare t.json t.json
compare --format html -o x.html t.json t.json
compare --format json t.json t.json
export --format perfetto -o x.pftrace t.json
export --format chrome -o x.json t.json
export --format csv -o x.csv t.json
convert -o x.zst t.json
stacks t.json
stacks --format speedscope t.json
cat c.zst
check c.zst
info c.zst
schema
CASES
finish
