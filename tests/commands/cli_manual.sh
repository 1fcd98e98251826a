#!/bin/sh
# The manual pages name every command, option, function and variable, and man and mandoc find nothing to complain of; completion in
# bash and zsh offers what the commands take.
# shellcheck disable=SC1091,SC2016,SC2046,SC2086,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
manual=$bin/manual
[ -f "$manual/made" ] || skip "the manual pages were not made"
cd "$work" || exit 1

# ---- pages ----
expect 0 "help" --help
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
plain() { # plain PAGE: its text without fonts
	sed 's/\\f[BIR]//g; s/\\-/-/g; s/^\.[A-Z]* //; s/"//g' "$1"
}
same "the overview lists commands" 1 "$([ "$(echo $commands | wc -w)" -ge 10 ] && echo 1)"
for command in $commands; do
	expect 0 "help of $command" "$command" --help
	sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\) .*/\2/p' out | sort >options
	plain "$manual/man1/vptrace-analyze-$command.1" >page
	same "options of $command" "$(cat options)" "$(sed -n 's/^\(-[a-z], \)\{0,1\}\(--[a-z-]*\)\( .*\)\{0,1\}$/\2/p' page | sort)"
	grep -q "^vptrace-analyze-$command (1)" "$manual/man1/vptrace-analyze.1" ||
		plain "$manual/man1/vptrace-analyze.1" | grep -q "^vptrace-analyze-$command (1)" || fail "vptrace-analyze(1) does not name $command"
done
for command in run doctor; do
	"$bin/vptrace" $command --help >out 2>err || fail "vptrace $command --help"
	sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\)\([ [].*\)\{0,1\}$/\2/p' out | sort >options
	plain "$manual/man1/vptrace-$command.1" >page
	same "options of vptrace $command" "$(cat options)" "$(sed -n 's/^\(-[a-z], \)\{0,1\}\(--[a-z-]*\)\([ [].*\)\{0,1\}$/\2/p' page | sort)"
done
for command in run doctor analyze export; do
	cases=$((cases + 1))
	plain "$manual/man1/vptrace.1" | grep -q "^vptrace-.*$command (1)" || fail "vptrace(1) does not name $command"
done
for header in vptrace vptrace_nvtx; do
	plain "$bin/man3/$header.3" | tr -d ' ' >page
	sed -n 's/^VPTRACE_API //p; s/^static inline \(void .*);\)$/\1/p' "$source/tracer/$header.h" | tr -d ' ' >prototypes
	[ -s prototypes ] || fail "$header.h has no functions"
	while read -r prototype; do
		cases=$((cases + 1))
		grep -qxF "$prototype" page || fail "$header(3) has not $prototype"
		function=$(echo "$prototype" | sed 's/(.*//; s/.*\(vptrace_\)/\1/')
		same "$function(3)" ".so man3/$header.3" "$(cat "$bin/man3/$function.3")"
	done <prototypes
done
before=$cases
for variable in $(grep -oh 'VPTRACE_[A-Z0-9_]*[=,:]' "$source/tracer/vptrace.h" | tr -d '=,:' | grep -v '^VPTRACE_\(API\|VERSION\|SONAME\|E[A-Z]*\)' | sort -u); do
	cases=$((cases + 1))
	grep -qx "\.B $variable" "$bin/man3/vptrace.3" || fail "vptrace(3) has not $variable"
done
same "vptrace.h names variables" 1 "$([ $((cases - before)) -ge 10 ] && echo 1)"

lint() { # lint NAME COMMAND...: what it says of each page; that pages have no date is meant
	name=$1
	shift
	if ! command -v "$name" >/dev/null; then
		echo "SKIPPED: no $name to check the pages with"
		return
	fi
	for page in "$manual"/man1/*.1 "$bin/man3/vptrace.3" "$bin/man3/vptrace_nvtx.3"; do
		same "$name says nothing of ${page##*/}" "" "$("$@" "$page" 2>&1 >/dev/null | grep -v 'missing date')"
	done
}
lint man env MANROFFSEQ= man --warnings=w -l
mandoc_lint() {
	mandoc -Tlint -Wwarning "$1" >&2
}
command -v mandoc >/dev/null && lint mandoc mandoc_lint

# ---- bash ----
# completes RULE EXPECTED WORDS...: the last word is being typed; what is offered, sorted
completes() {
	rule=$1
	expected=$2
	shift 2
	same "bash: $rule" "$expected" "$(bash --norc --noprofile -c '
		. "$0" || exit
		COMP_WORDS=("${0##*/}" "$@") COMP_CWORD=$#
		function=_${0##*/}
		"${function//-/_}"
		printf "%s\n" "${COMPREPLY[@]}"' "$manual/bash/$program" "$@" | sort | tr '\n' ' ' | sed 's/^ *//; s/ $//')"
}
program=vptrace-analyze
if command -v bash >/dev/null; then
	: >here.zst
	mkdir folder
	for command in $commands; do
		expect 0 "help of $command" "$command" --help
		options=$(sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\) .*/\2/p' out | sort | tr '\n' ' ')
		completes "options of $command" "${options% }" "$command" --
	done
	completes "commands" "cat check classify compare convert" c
	completes "a file or a command" "help here.zst" he
	completes "a choice" "json text" info --format ""
	completes "a choice of a letter" "csv jsonl" cat -f ""
	completes "a choice after =" "json" --format = j
	completes "a choice of another command's option of that name" "perfetto" export x.zst --format pe
	completes "kinds of rows" "kernel" cat --kind ke
	completes "no word after a time" "" cat --from ""
	completes "a file after -o" "here.zst" convert -o here
	completes "an operand" "here.zst" check here
	completes "commands after help" "schema stacks summarize" help s
	program=vptrace
	completes "vptrace: commands" "ranks report run" r
	completes "vptrace: doctor" "doctor" d
	completes "vptrace: options of doctor" "--json" doctor --j
	completes "vptrace: options of run" "--mark --max-bytes --memory --memory-history --memory-peaks" run --m
	completes "vptrace: a flight recorder" "--ring" run --ri
	completes "vptrace: a choice" "coarse" run --profile c
	completes "vptrace: an option of vptrace-analyze" "perfetto" export x.zst --format pe
	completes "vptrace: report is analyze" "--brief" report --br
	completes "vptrace: a command to run" "here.zst" run here
else
	echo "SKIPPED: no bash to complete in"
fi

# ---- zsh ----
if command -v zsh >/dev/null && command -v python3 >/dev/null; then
	same "zsh" "classify
cat --kind=kernel x
--format=json
export x --compress=zstd
cat -f csv
help schema
check here.zst" "$(python3 "$source/tests/support/zsh_complete.py" "$manual/zsh" 'cla<TAB>' 'cat --ki<TAB>kern<TAB> x' '--form<TAB>j<TAB>' \
		'export x --compr<TAB>zs<TAB>' 'cat -f c<TAB>' 'help sch<TAB>' 'check he<TAB>')"
else
	echo "SKIPPED: no zsh, or no python3 to type at it"
fi
finish
