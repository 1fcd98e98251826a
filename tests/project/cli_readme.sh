#!/bin/sh
# What README.md and the other documents say about the command line is so: every command and option that they name exists,
# and none is missing in README.md's table; its example is what the program prints, where that trace is at hand; files, links
# and keys of the JSON report that they name are there; and reports are equal byte for byte for any number of threads, locale
# and time zone.
# shellcheck disable=SC1091,SC2154,SC2086,SC2013,SC2046,SC2005
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/readme_blocks.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
readme=$source/README.md
reports=$source/analysis/README.md
documents="README.md tracer/README.md analysis/README.md analysis/DEFINITIONS.md tests/PROMISES.md .github/CONTRIBUTING.md .github/CHANGELOG.md"
cd "$work" || exit 1

expect 0 "help" --help
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' out)
same "the table has each command" "$(echo $commands | tr ' ' '\n' | sort)" \
	"$(sed -n 's/^| `\([a-z-]*\)[ `].*/\1/p' "$reports" | sort)"
same "the table of exit codes" "0 1 2 3 4" "$(sed -n 's/^| \([0-9]\) |.*/\1/p' "$reports" | tr '\n' ' ' | sed 's/ $//')"
for code in $(sed -n 's/^| \([0-4]\) |.*/\1/p' "$reports"); do
	grep -q "[ ,]$code [a-z]" out || fail "exit code $code is not in --help"
done
for command in $commands; do
	expect 0 "help of $command" "$command" --help
	sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z-]*\) .*/\2/p' out | grep -v -e '^--help$' | sort >"$command.options"
	same "options of $command" "$(cat "$command.options")" \
		"$(sed -n "s/^| \`$command[ \`].*|\([^|]*\)|\$/\1/p" "$reports" | tr ' ' '\n' | sed -n 's/^`\(--.*\)`$/\1/p' | sort)"
done

# Command lines in code blocks: the word after the program's name, and each option.
for file in $documents; do
	sed -n '/^```/,/^```/s/^\(\$ \)\{0,1\}\(build\/\)\{0,1\}vptrace-analyze /&/p' "$source/$file"
done |
	sed 's/^.*vptrace-analyze //; s/ #.*//; s/"[^"]*"/x/g' >lines
[ "$(wc -l <"$readme")" -le 200 ] || fail "README.md has more than 200 lines"
[ "$(wc -l <lines)" -ge 5 ] || fail "README.md's commands were not found"
while read -r first rest; do
	cases=$((cases + 1))
	[ -f "$first.options" ] || first=analyze
	for word in $rest; do
		case $word in
		--) ;; # between two lists of files
		--*) grep -qx -e "${word%%=*}" "$first.options" || fail "a document: $first has no option $word" ;;
		-o) grep -qx -e --output "$first.options" || fail "a document: $first has no option -o" ;;
		esac
	done
done <lines

# Defaults in the help that DEFINITIONS.md explains too.
words=$(tr '\n' ' ' <"$source/analysis/DEFINITIONS.md")
expect 0 "help" analyze --help
min_gap=$(tr '\n' ' ' <out | tr -s ' ' | sed -n 's/.*list gaps at least this long (\([^)]*\)).*/\1/p')
[ -n "$min_gap" ] || fail "--min-gap has no default in --help"
case $words in
*"by default $min_gap."*) ;;
*) fail "DEFINITIONS.md does not say of --min-gap: by default $min_gap." ;;
esac

# Where an export for Perfetto is to be opened, wherever that stands.
need_trace small.zst small_trace
expect 0 "an export" export small.zst -o small.pftrace
link=$(sed -n 's/^vptrace-analyze: open it at //p' err)
for file in README.md analysis/README.md bench/README.md bench/demo.sh; do
	grep 'ui\.perfetto\.dev' "$source/$file" | grep -vF "$link" | grep -v 'chrome:' >lines
	[ ! -s lines ] || fail "$file: expected $link, found $(cat lines)"
done
grep -qF "$link" "$reports" || fail "analysis/README.md has not the link $link"

# Its commands, each as it is printed, in a home of their own with what this build installs. Left out are those that build (tests/fresh.sh runs
# them, in a fresh Debian), and pip's, for which there is cli_pip.sh; the demos' captures are cli_demo.sh's.
commands_of "$readme" >commands
library=${VPT_BIN:-/nowhere}/libvptrace.so
if ! command -v cc >/dev/null || ! command -v cmake >/dev/null || ! command -v python3 >/dev/null || ! [ -e "$library" ] ||
	ldd "$library" | grep -q 'lib[atu]b*san'; then
	echo "SKIPPED: README.md's commands: no cc, cmake, python3 or libvptrace.so, or one with sanitizers"
else
	mkdir -p home/vptrace/build/demo/plain-1 home/vptrace/build/demo/sync-per-layer-1
	for folder in home/vptrace/build/demo/*; do
		small_trace >small.json
		"$VPT_ANALYZE" convert small.json -o "$folder/trace.zst" >out 2>err
	done
	block_of c "$readme" >home/vptrace/generate.c
	block_of python "$readme" >home/vptrace/generate.py
	grep -v -e '^sh \(bench\|tests\)/' -e '^cmake -S' -e '^cmake --build' -e vptrace-venv commands |
		sed "s|^cmake --install build |cmake --install $VPT_BIN |" >home/some
	same "commands that are left out" "2 2 2" "$(grep -c '^sh \(bench\|tests\)/' commands) $(grep -c '^cmake \(-S\|--build\)' commands) $(grep -c vptrace-venv commands)"
	[ "$(wc -l <home/some)" -ge 11 ] || fail "README.md's commands were not found: $(cat home/some)"
	(
		HOME=$work/home
		unset VPTRACE_LIBRARY VPTRACE_OUTPUT PYTHONPATH LD_LIBRARY_PATH
		export HOME
		cd home/vptrace && run_commands ../some ../output
	) >said 2>&1 || fail "README.md's commands: $(grep -A 9 FAIL said)"
	cases=$((cases + $(grep -c '^ *[0-9]* *[0-9]* s ' said)))
	same "each command was run" "$(wc -l <home/some)" "$(grep -c '^ *[0-9]* *[0-9]* s ' said)"
	for capture in home/vptrace/run.zst home/vptrace/mine.zst home/vptrace/vptrace-generate-*.zst; do
		"$VPT_ANALYZE" cat "$capture" --kind range >out 2>err
		grep -q '"name":"block' out || fail "README.md's program recorded no block in ${capture##*/}"
	done
	[ -s home/vptrace/build/demo/page.html ] || fail "README.md's commands wrote no page"
fi

# What the documents name: files by name or path, links from where they stand, options, variables, keys of the report.
for document in $documents; do
	text=$source/$document
	for file in $(grep -o '`[a-z_/]\{1,\}\.\(sh\|c\|h\|def\|py\)`' "$text" | tr -d '`' | sort -u); do
		cases=$((cases + 1))
		[ -e "$source/$file" ] || [ -n "$(find "$source/tests" "$source/analysis" "$source/tracer" "$source/formats" -name "$file")" ] ||
			fail "$document names $file"
	done
	for file in $(grep -o '](\([^)]*\))' "$text" | sed 's/^](//; s/)$//' | grep -v '^http' | sort -u); do
		cases=$((cases + 1))
		[ -e "$(dirname "$text")/$file" ] || fail "$document links to $file"
	done
	for variable in $(grep -o '`VPT[A-Z]*_[A-Z_]*' "$text" | tr -d '`' | sort -u); do
		cases=$((cases + 1))
		grep -rqw "$variable" "$source/CMakeLists.txt" "$source/tracer" "$source/tests" "$source/analysis/commands" ||
			fail "$document names $variable"
	done
done
for key in $(grep -o '`[a-z]*_[a-z_]*`' "$source/analysis/DEFINITIONS.md" | tr -d '`' | sort -u); do
	cases=$((cases + 1))
	case $key in
	*_ns | *_ms | *_rate | *_to | *_precisions) tests= ;;
	*) tests=$source/tests ;; # perhaps the name of a range, which only a trace has
	esac
	grep -rqwF "$key" "$source/analysis" "$source/formats" $tests --include=*.c --include=*.h --include=*.def ||
		fail "DEFINITIONS.md names $key"
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

# ---- the reports, byte for byte; VPT_RECORD=1 rewrites them ----
# Sections of a report, "[...]" for the others: sections "DATA|RESULT" <report
sections() {
	awk -v wanted="^($1)" '
		/^[A-Z]/ { keep = $0 ~ wanted }
		keep { if (cut && was_blank) print ""; print; cut = 0 }
		!keep && !cut { print "[...]"; cut = 1 }
		{ was_blank = $0 == "" }'
}
# The code block of $document whose first line matches: block PATTERN
block() {
	awk -v pattern="$1" '
		inside && /^```/ { exit }
		inside { print }
		opened && $0 ~ pattern { inside = 1; print }
		{ opened = /^```$/ }' "$document"
}
replace_block() { # replace_block PATTERN FILE
	awk -v pattern="$1" -v file="$2" '
		inside && /^```/ { inside = 0 }
		opened && $0 ~ pattern { inside = 1; while ((getline line < file) > 0) print line }
		!inside { print }
		{ opened = /^```$/ }' "$document" >README.new && cat README.new >"$document"
}
same_block() { # same_block FILE WHAT PATTERN: the block is what `expected` holds
	document=$1
	shift
	[ "${VPT_RECORD:-}" != 1 ] || replace_block "$2" expected
	block "$2" >said
	cases=$((cases + 1))
	cmp -s expected said || fail "$document: the $1 is not what the program prints; VPT_RECORD=1 writes it: $(diff said expected)"
}
bin=${VPT_BIN:-}
if [ -n "$bin" ] && [ -x "$bin/vptrace-demo" ] && [ -e "$bin/libvptrace.so" ]; then
	CUDA_INJECTION64_PATH=$bin/libvptrace.so NVTX_INJECTION64_PATH=$bin/libvptrace.so VPTRACE_OUTPUT=$work/demo.zst \
		"$bin/vptrace-demo" --sync-per-layer >out 2>err || fail "the demo ended with $?"
	expect 0 "the demo's report" demo.zst --target 16
	# RUN names this machine.
	sections "DATA|RESULT|CAUSE|FIX FIRST|A BLOCK|BLOCK" <out >expected
	grep -q "^DATA    SIMULATED" expected || fail "the demo's report is not marked as simulated"
	same_block "$readme" "first report" "^DATA    SIMULATED"
else
	echo "SKIPPED: README.md's first report: no demo was built"
fi

trace=$(sed -n 's/^\$ vptrace-analyze \([^ ]*\) --full$/\1/p' "$reports" | head -n 1)
folder=${VPT_SHARED:-$source/../shared}/traces
if [ -f "$folder/$trace" ]; then
	cd "$folder" || exit 1
	sed -n 's/^echo "\([0-9a-f]\{64\}  .*\)" | sha256sum -c$/\1/p' "$reports" >"$work/sums"
	same "the example's checksum" "$trace: OK" "$(sha256sum -c "$work/sums" 2>&1)"
	expect 0 "the example" "$trace" --full
	cd "$work" || exit 1
	{ echo "\$ vptrace-analyze $trace --full" && sections "DATA|RUN|RESULT|CAUSE|FIX FIRST|THE WINDOW|ATTENTION" <out; } >expected
	same_block "$reports" example '^\$ vptrace-analyze '
else
	echo "SKIPPED: the example of analysis/README.md: no $trace"
fi
finish
