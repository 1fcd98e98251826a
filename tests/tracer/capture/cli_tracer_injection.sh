# A program that knows nothing of the tracer is traced all the same: CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH do it.
. "$VPT_SOURCE_DIR/tests/support/cli.sh"

# A process that exits may be anywhere: the tracer frees nothing then, on purpose. Leaks are looked for where captures are stopped.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

host=$VPT_BIN/host_plain
library=$VPT_BIN/libvptrace.so
[ -x "$host" ] && [ -e "$library" ] || skip "host_plain or libvptrace.so is not built"
cd "$work" || exit 1

# runs RULE EXPECTED-STATUS NAME=VALUE... -- LAUNCHES
runs() {
	rule=$1 wanted=$2
	shift 2
	rm -f ./*.zst
	set -- "$@"
	env "$@" timeout 60 "$host" "$launches" >"$work/out" 2>"$work/err" </dev/null
	found=$?
	[ "$found" = "$wanted" ] || fail "$rule: expected exit status $wanted, found $found"
	cases=$((cases + 1))
	captures=$(find . -name '*.zst' | wc -l)
}
count() { # count KEY: of the report's counts
	sed -n "s/^    \"$1\": \([0-9]*\),*$/\1/p" "$work/report" | head -n 1
}

launches=50
runs "nothing asked for" 0 VPT_NOTHING=1
same "nothing asked for: captures" 0 "$captures"

runs "the driver loads the library" 0 CUDA_INJECTION64_PATH="$library" VPTRACE_OUTPUT=cuda.zst
same "the driver loads the library: captures" 1 "$captures"
silent err
"$VPT_ANALYZE" --format json cuda.zst >"$work/report" 2>"$work/err" || fail "$rule: no report"
same "every kernel is there" 50 "$(count kernels)"

for fault in '' dump-in-init; do
	runs "devices, ${fault:-no fault}" 0 CUDA_INJECTION64_PATH="$library" VPTRACE_OUTPUT=devices.zst VPT_STANDIN_FAULTS=$fault
	expect 0 "$rule: rows" cat devices.zst --kind device -f csv
	says out "Simulated H100"
done

runs "a profile that cannot be" 0 CUDA_INJECTION64_PATH="$library" VPTRACE_PROFILE=everything
says err "VPTRACE_PROFILE"
same "a bad variable: captures" 0 "$captures"

one_line() { # one_line TEXT: this and nothing else is said
	says err "$1"
	same "$rule: one fault, one line" 1 "$(wc -l <"$work/err")"
}
one_line "VPTRACE_PROFILE"
runs "two libraries load it, and one variable is bad" 0 CUDA_INJECTION64_PATH="$library" NVTX_INJECTION64_PATH="$library" \
	VPTRACE_PROFILE=everything
one_line "VPTRACE_PROFILE"
runs "a variable that is misspelt" 0 CUDA_INJECTION64_PATH="$library" NVTX_INJECTION64_PATH="$library" VPTRACE_OUTPT=a.zst
one_line "VPTRACE_OUTPT is not a variable of vptrace and is ignored; did you mean VPTRACE_OUTPUT?"
runs "two letters of a short name are swapped" 0 CUDA_INJECTION64_PATH="$library" VPTRACE_RNIG=8M
one_line "VPTRACE_RNIG is not a variable of vptrace and is ignored; did you mean VPTRACE_RING?"
runs "a variable of somebody else" 0 CUDA_INJECTION64_PATH="$library" VPTRACE_RUN=7 VPTRACE_OUTPUT=%q{VPTRACE_RUN}.zst
silent err
runs "an injection that is not there" 0 CUDA_INJECTION64_PATH="$library" NVTX_INJECTION64_PATH="$work/libvptrace.so"
one_line "NVTX_INJECTION64_PATH: $work/libvptrace.so does not exist"

runs "the default name" 0 CUDA_INJECTION64_PATH="$library" RANK=3
find . -name 'vptrace-host_plain-r3-*.zst' -o -name 'vptrace-host_plain-*-r3.zst' | grep -q . ||
	fail "$rule: expected vptrace-host_plain-...-r3.zst, found $(ls)"

runs "a taken name" 0 CUDA_INJECTION64_PATH="$library" VPTRACE_OUTPUT=a.zst
cp a.zst b.zst
env CUDA_INJECTION64_PATH="$library" VPTRACE_OUTPUT=a.zst "$host" 50 >"$work/out"
cmp -s a.zst b.zst || fail "an earlier capture was overwritten"
[ -e a-2.zst ] || fail "expected a-2.zst, found $(ls)"

if "$host" 0 | grep "ranges 1" >"$work/out"; then
	runs "NVTX and the driver load the library" 0 NVTX_INJECTION64_PATH="$library" CUDA_INJECTION64_PATH="$library" VPTRACE_OUTPUT=both.zst
	same "both: captures" 1 "$captures"
	"$VPT_ANALYZE" --format json both.zst >"$work/report" 2>"$work/err" || fail "$rule: no report"
	same "both: kernels" 50 "$(count kernels)"
	same "both: ranges" 1 "$(count ranges)"

	launches=0
	runs "a program without CUDA" 0 NVTX_INJECTION64_PATH="$library" VPTRACE_OUTPUT=ranges.zst
	same "without CUDA: captures" 1 "$captures"
	"$VPT_ANALYZE" --format json ranges.zst >"$work/report" 2>"$work/err" || fail "$rule: no report"
	same "without CUDA: ranges" 1 "$(count ranges)"

	runs "a program that does nothing" 0 CUDA_INJECTION64_PATH="$library" NVTX_INJECTION64_PATH=
	same "does nothing: captures" 0 "$captures"
else
	echo "SKIPPED: no NVTX headers, so host_plain has no ranges"
fi
finish
