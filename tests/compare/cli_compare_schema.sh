#!/bin/sh
# The JSON of `compare` is what `schema --of compare` documents: in every comparison each key of the schema is there, none is
# undocumented, and types, words and nulls are as it says; together the comparisons show each key with a value.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/captures/demo.sh"
. "$source/tests/support/outputs/schema.sh"
need_python 3.8
cd "$work" || exit 1

schema_of compare
says schema.json '"$id": "vptrace.compare/1"'
says schema.txt "vptrace comparison schema, vptrace.compare/1"

# ---- comparisons of any captures ----
small_trace >small.json
kernels_trace 1000 >kernels.json
# After a copy that it waits for, the host allocates for 100 or 120 us, before it launches again.
held_trace() {
	small_trace | sed "s/\"ts\": 1020, \"dur\": 5/\"ts\": 1020, \"dur\": 131/
/\"traceEvents\"/a\\
 {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaMalloc\", \"pid\": 11, \"tid\": 12, \"ts\": 1155, \"dur\": $1},\\
 {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 11, \"tid\": 12, \"ts\": 1300, \"dur\": 2, \"args\": {\"correlation\": 5}},\\
 {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": 1310, \"dur\": 20, \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": 5}},"
}
held_trace 100 >held.json
held_trace 120 >longer.json
comparisons=
comparison() { # comparison NAME WORDS...: one that captures of any quality give
	name=$1.compared
	shift
	answers "$name" compare "$@" && comparisons="$comparisons $name"
}
comparison same small.json small.json
comparison other small.json kernels.json
comparison held held.json longer.json
lines_trace 1 >one.json
lines_trace 2 >two.json
comparison lines one.json two.json
comparison runs small.json small.json small.json small.json -- kernels.json kernels.json kernels.json kernels.json
for file in "$source"/tests/corpus/*-*; do
	comparison "corpus-${file##*/}" small.json "$file"
done
same "comparisons with the corpus" 1 "$([ "$(echo $comparisons | wc -w)" -ge 8 ] && echo 1)"
fits "small traces and the corpus" schema.json $comparisons
fits "the validator finds each fault" --refuses schema.json other.compared

if has_demo "traced runs"; then
	small="--blocks 4 --steps 2 --layers 2"
	demo plain $small
	demo sync $small --sync-per-layer --eager
	demo graph $small --graph
	comparison blocks plain.zst sync.zst
	comparison predicted sync.zst plain.zst
	comparison graphs plain.zst graph.zst
	comparison between plain.zst plain.zst plain.zst plain.zst -- sync.zst sync.zst sync.zst sync.zst
	counters one 6 "power=300;memory=10000000000"
	counters two 6 "power=400;memory=10000000000"
	comparison counters one.zst two.zst
	# Kinds of places are of ranges that are called "before X" or "(other)".
	kinds=compared_part.host_range_kind,compared_row.host_range_kind,compared_row.range_kind
	fits "all together, with traced runs of the demo" --covers=$kinds schema.json $comparisons
fi
finish
