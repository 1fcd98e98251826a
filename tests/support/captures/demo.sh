# demo.sh - traced runs of the demo pipeline on the simulated GPU; sourced after cli.sh, used in $work.
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS

# has_demo WHAT: whether it and the tracer were built; if not, WHAT is skipped.
has_demo() {
	[ -x "${VPT_BIN:-}/vptrace-demo" ] && [ -e "$VPT_BIN/libvptrace.so" ] && return
	echo "SKIPPED: $1: no demo or no libvptrace.so was built"
	return 1
}

# demo NAME KNOBS...: makes NAME.zst.
demo() {
	name=$1
	shift
	CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
		VPTRACE_OUTPUT=$work/$name.zst "$VPT_BIN/vptrace-demo" "$@" >out 2>err || fail "the demo with $* ended with $?"
}

# counters NAME SAMPLES NVML: makes NAME.zst, with samples of the GPU that NVML describes. Leaks are looked for elsewhere: the host ends
# beside threads, whose memory the checker misreads now and then.
counters() {
	LD_LIBRARY_PATH=$VPT_BIN/standin VPTRACE_COUNTERS=100ms VPT_STANDIN_NVML=$3 \
		ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		timeout 60 "$VPT_BIN/host_counters" "$work/$1.zst" video "$2" >out 2>err || fail "host_counters ended with $?"
}
