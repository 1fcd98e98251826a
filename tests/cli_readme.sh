#!/bin/sh
# What README.md says about the command line is so: every command and option that it names exists, and none is missing
# in its table; its example is what the program prints, where that trace is at hand; and reports are equal byte for
# byte for any number of threads, locale and time zone.
# shellcheck disable=SC1091,SC2154,SC2086,SC2013,SC2046,SC2005
. "${VPT_SOURCE_DIR:-$(dirname "$0")/..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/..}" && pwd)
readme=$source/README.md
cd "$work" || exit 1

expect 0 "help" --help
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
same "the table has each command" "$(echo $commands | tr ' ' '\n' | sort)" \
	"$(sed -n 's/^| `\([a-z]*\)[ `].*/\1/p' "$readme" | sort)"
for code in $(sed -n 's/^| \([0-4]\) |.*/\1/p' "$readme"); do
	grep -q "[ ,]$code [a-z]" out || fail "exit code $code is not in --help"
done
for command in $commands; do
	expect 0 "help of $command" "$command" --help
	sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\) .*/\2/p' out | grep -v -e '^--help$' | sort >"$command.options"
	same "options of $command" "$(cat "$command.options")" \
		"$(sed -n "s/^| \`$command[ \`].*|\([^|]*\)|\$/\1/p" "$readme" | tr ' ' '\n' | sed -n 's/^`\(--.*\)`$/\1/p' | sort)"
done

# Command lines in code blocks: the word behind the program's name, and each option.
sed -n '/^```/,/^```/s/^\(\$ \)\{0,1\}\(build\/\)\{0,1\}vptrace-analyze /&/p' "$readme" |
	sed 's/^.*vptrace-analyze //; s/ #.*//; s/"[^"]*"/x/g' >lines
[ "$(wc -l <lines)" -ge 5 ] || fail "README.md's commands were not found"
while read -r first rest; do
	cases=$((cases + 1))
	[ -f "$first.options" ] || first=analyze
	for word in $rest; do
		case $word in
		--*) grep -qx -e "${word%%=*}" "$first.options" || fail "README.md: $first has no option $word" ;;
		-o) grep -qx -e --output "$first.options" || fail "README.md: $first has no option -o" ;;
		esac
	done
done <lines

# Files that it names.
for file in $(grep -o '`[a-z_]*\.\(sh\|c\)`' "$readme" | tr -d '`' | sort -u); do
	[ -f "$source/tests/$file" ] || [ -f "$source/analysis/$file" ] || fail "README.md names $file"
done
for file in $(sed -n 's/.*](\([A-Za-z/]*\.*[a-z]*\)).*/\1/p' "$readme" | sort -u); do
	[ -e "$source/$file" ] || fail "README.md links to $file"
done

# ---- the same bytes ----
need_trace trace.zst kernels_trace 300000
for format in text json; do
	expect 0 "one thread" trace.zst --format $format --jobs 1
	cp out one
	for jobs in 2 4 8; do
		expect 0 "$jobs threads" trace.zst --format $format --jobs $jobs
		cmp -s out one || fail "$format differs with $jobs threads"
	done
	for environment in LC_ALL=de_DE.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Pacific/Chatham; do
		cases=$((cases + 1))
		env "$environment" "$VPT_ANALYZE" trace.zst --format $format >out 2>err
		cmp -s out one || fail "$format differs with $environment"
	done
done

# ---- the demo's report ----
said_lines() { # said_lines WHAT LEAST: each line of `said` is one of `out`
	while IFS= read -r line; do
		grep -qxF -e "$line" out || fail "README.md's $1 says what the program does not: $line"
	done <said
	cases=$((cases + 1))
	[ "$(wc -l <said)" -ge "$2" ] || fail "README.md's $1 was not found"
}
bin=${VPT_BIN:-}
if [ -n "$bin" ] && [ -x "$bin/vptrace-demo" ] && [ -e "$bin/libvptrace.so" ]; then
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/demo.zst \
		"$bin/vptrace-demo" --sync-per-layer >out 2>err || fail "the demo ended with $?"
	expect 0 "the demo's report" demo.zst --target 16
	sed -n '/^RESULT .*target/,/^```/p' "$readme" | sed '/^```/,$d' | grep . >said
	said_lines "first report" 10
else
	echo "SKIPPED: README.md's first report: no demo was built"
fi

# ---- the example ----
trace=$(sed -n 's/^\$ vptrace-analyze \([^ ]*\)$/\1/p' "$readme" | head -n 1)
folder=${VPT_SHARED:-$source/../shared}/traces
if [ -f "$folder/$trace" ]; then
	cd "$folder" || exit 1
	expect 0 "the example" "$trace"
	cd "$work" || exit 1
	sed -n '/^\$ vptrace-analyze /,/^```/p' "$readme" | sed '1d;$d' | grep -v '^\[\.\.\.\]$' | grep . >said
	said_lines example 20
else
	echo "SKIPPED: README.md's example: no $trace"
fi
finish
