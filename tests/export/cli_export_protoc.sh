#!/bin/sh
# Exports for Perfetto as protoc reads them: with the field numbers in tests/support/outputs/pftrace.proto no field is unknown, and every total,
# duration and flow is found again; what our own decoder finds is the same, slice by slice.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
command -v protoc >/dev/null || skip "no protoc"
cd "$work" || exit 1
decoder=$source/tests/support/outputs/pftrace.py

# decoded TRACE NAME [OPTIONS...]: exports it, and has both decoders read it
decoded() {
	trace=$1
	name=$2
	shift 2
	"$VPT_ANALYZE" export "$trace" --format perfetto --compress none -o plain.pftrace --force "$@" 2>err
	code=$?
	grep -q 'built without' err && return
	[ $code = 0 ] || [ $code = 3 ] || fail "$name: the export ended with $code"
	cases=$((cases + 1))
	python3 "$decoder" plain.pftrace --slices --protoc >protoc.found 2>wrong || fail "$name: protoc: $(head -n 3 wrong)"
	python3 "$decoder" plain.pftrace --slices >own.found 2>wrong || fail "$name: $(head -n 3 wrong)"
	# How many bytes packets have protoc does not say.
	diff own.found protoc.found | grep '^[<>]' | grep -v ' kernel_bytes ' >differ && fail "$name: $(head -n 2 differ)"
}

need_trace trace.zst small_trace
decoded trace.zst "a small trace"
same "kernels" "kernels 3" "$(grep '^kernels ' protoc.found)"
same "their calls" "submissions 4" "$(grep '^submissions ' protoc.found)"
decoded trace.zst "ops as slices" --gpu-encoding trackevent

# It can fail: a packet with a field that the schema does not have.
cases=$((cases + 1))
cp plain.pftrace odd.pftrace
printf '\012\005\120\001\370\077\001' >>odd.pftrace # packet of 5 bytes: sequence 1, field 1023: 1
python3 "$decoder" odd.pftrace --protoc >found 2>wrong && fail "an unknown field was not noticed"
grep -q 'unknown field 1023' wrong || fail "protoc: $(head -n 3 wrong)"

# ---- the demo, and real traces ----
demo=${VPT_BIN:+$VPT_BIN/vptrace-demo}
if [ -x "$demo" ]; then
	for knob in "" --graph --two-streams --threads; do
		CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so VPTRACE_OUTPUT=demo$knob.zst \
			"$demo" --blocks 2 --steps 2 --layers 2 $knob >out 2>err || fail "the demo ended with $?"
		decoded demo$knob.zst "the demo $knob"
	done
else
	echo "SKIPPED: captures of the demo, which was not built"
fi
for name in a100_event_sync.json.gz b200_overlapping_kernels.json.gz t4_power_iteration.sqlite; do
	trace=${VPT_SHARED:-$source/../shared}/traces/$name
	[ ! -f "$trace" ] || decoded "$trace" $name
done
finish
