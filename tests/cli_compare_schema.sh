#!/bin/sh
# The JSON of `compare` is what `schema --of compare` documents: in every comparison each key of the schema is there, none is
# undocumented, and types, words and nulls are as it says; together the comparisons show each key with a value.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/..}" && pwd)
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || skip "no python3 of 3.8 or later"
cd "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

expect 0 "the comparison's schema" schema --of compare --format json
silent err
cp out schema.json
says schema.json '"$id": "vptrace.compare/1"'
expect 0 "the same for people" schema --of compare
silent err
cp out schema.txt
says schema.txt "vptrace comparison schema, vptrace.compare/1"
fits() { # fits RULE WORDS...: the validator's verdict
	rule=$1
	shift
	cases=$((cases + 1))
	python3 "$source/tests/support/report_schema.py" "$@" >out 2>err || fail "$rule"
	grep SKIPPED out
	tail -n 1 out
}
python3 - schema.json >keys.json <<'PY'
import json, sys
root = json.load(open(sys.argv[1]))
for name, table in [("comparison", root)] + list(root["$defs"].items()):
    print(name, *table["properties"])
PY
awk '/^[a-z_]+: / { if (line) print line; line = $1; sub(":", "", line); next }
	/^  [^ ]/ { line = line " " $1 }
	END { print line }' schema.txt >keys.txt
same "both list the same keys" "$(cat keys.json)" "$(cat keys.txt)"

# ---- comparisons of any captures ----
small_trace >small.json
kernels_trace 1000 >kernels.json
comparisons=
# comparison NAME WORDS...: one that captures of any quality give
comparison() {
	name=$1.compared
	shift
	cases=$((cases + 1))
	"$VPT_ANALYZE" compare "$@" --format json >"$name" 2>err </dev/null
	case $? in
	0 | 3) comparisons="$comparisons $name" ;;
	*) rm "$name" ;; # nothing to compare
	esac
}
comparison same small.json small.json
comparison other small.json kernels.json
comparison runs small.json small.json small.json small.json -- kernels.json kernels.json kernels.json kernels.json
for file in "$source"/tests/corpus/*-*; do
	comparison "corpus-${file##*/}" small.json "$file"
done
same "comparisons with the corpus" 1 "$([ "$(echo $comparisons | wc -w)" -ge 8 ] && echo 1)"
fits "small traces and the corpus" schema.json $comparisons
fits "the validator finds each fault" --refuses schema.json other.compared

if [ -x "${VPT_BIN:-}/vptrace-demo" ] && [ -e "${VPT_BIN:-}/libvptrace.so" ]; then
	unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS
	demo() { # demo NAME KNOBS...
		name=$1
		shift
		CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
			VPTRACE_OUTPUT=$work/$name.zst "$VPT_BIN/vptrace-demo" --blocks 4 --steps 2 --layers 2 "$@" >out 2>err ||
			fail "the demo with $* ended with $?"
	}
	counters() { # counters NAME POWER
		LD_LIBRARY_PATH=$VPT_BIN/standin VPTRACE_COUNTERS=100ms VPT_STANDIN_NVML="power=$2;memory=10000000000" \
			"$VPT_BIN/host_counters" "$work/$1.zst" video 6 >out 2>err || fail "host_counters ended with $?"
	}
	demo plain
	demo sync --sync-per-layer --eager
	demo graph --graph
	comparison blocks plain.zst sync.zst
	comparison graphs plain.zst graph.zst
	comparison between plain.zst plain.zst plain.zst plain.zst -- sync.zst sync.zst sync.zst sync.zst
	counters one 300
	counters two 400
	comparison counters one.zst two.zst
	fits "all together, with traced runs of the demo" --covers schema.json $comparisons
else
	echo "SKIPPED: traced runs: no demo or no libvptrace.so was built"
fi
finish
