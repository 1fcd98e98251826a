#!/bin/sh
# The JSON report is what `schema --of report` documents: in every report each key of the schema is there, none is undocumented,
# and types, words and nulls are as it says; together the reports show each key with a value.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/..}" && pwd)
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || skip "no python3 of 3.8 or later"
cd "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

expect 0 "the report's schema" schema --of report --format json
silent err
cp out schema.json
expect 0 "the same for people" --schema --of report
silent err
cp out schema.txt
# fits RULE WORDS...: the validator's verdict
fits() {
	rule=$1
	shift
	cases=$((cases + 1))
	python3 "$source/tests/support/report_schema.py" "$@" >out 2>err || fail "$rule"
	grep SKIPPED out
	tail -n 1 out
}

# Both list the same keys in the same order.
python3 - schema.json >keys.json <<'PY'
import json, sys
root = json.load(open(sys.argv[1]))
for name, table in [("report", root)] + list(root["$defs"].items()):
    print(name, *table["properties"])
PY
awk '/^[a-z_]+: / { if (line) print line; line = $1; sub(":", "", line); next }
	/^  [^ ]/ { line = line " " $1 }
	END { print line }' schema.txt >keys.txt
same "both list the same keys" "$(cat keys.json)" "$(cat keys.txt)"

# ---- reports made by hand, which have everything ----
goldens=$(ls "$source"/tests/golden/render_*.json)
fits "goldens" schema.json $goldens
for name in blocks host_limited; do
	fits "the validator finds each fault of $name" --refuses schema.json "$source/tests/golden/render_$name.json"
done

# ---- real ones ----
small_trace >small.json
kernels_trace 1000 >kernels.json
reports=
# report NAME FILE OPTIONS...: one that a capture of any quality gives
report() {
	name=$1.report
	shift
	cases=$((cases + 1))
	"$VPT_ANALYZE" "$@" --format json >"$name" 2>err </dev/null
	case $? in
	0 | 3) reports="$reports $name" ;;
	*) rm "$name" ;; # nothing that could be read
	esac
}
report small small.json
report kernels kernels.json --top 3
steps_trace 9 100 >steps.json
sed 's/"step /"request /' steps.json >requests.json
report steps steps.json
report requests requests.json
for file in "$source"/tests/corpus/*-*; do
	report "corpus-${file##*/}" "$file"
done
same "reports of the corpus" 1 "$([ "$(echo $reports | wc -w)" -ge 20 ] && echo 1)"
fits "small traces and the corpus" schema.json $reports

demo=${VPT_BIN:-}/vptrace-demo
if [ -x "$demo" ] && [ -e "${VPT_BIN:-}/libvptrace.so" ]; then
	unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS
	for knobs in "" "--sync-per-layer --eager" "--vae-at-end --requests 2" "--graph --two-streams"; do
		CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so \
			VPTRACE_OUTPUT=$work/demo.zst "$demo" --blocks 4 --steps 2 --layers 2 $knobs >out 2>err ||
			fail "the demo with $knobs ended with $?"
		report "demo$(echo $knobs | tr -d ' ')" demo.zst --target 16
		report "demo-window$(echo $knobs | tr -d ' ')" demo.zst --from 1ms --top 2
		rm -f demo.zst
	done
	VPTRACE_COUNTERS=100ms VPTRACE_OVERWRITE=1 LD_LIBRARY_PATH=$VPT_BIN/standin \
		VPT_STANDIN_NVML="power=300;sm_clock=1980,1400@4500;reasons=0,4@4500" \
		"$VPT_BIN/host_counters" counters.zst video 10 >out 2>err || fail "host_counters ended with $?"
	report counters counters.zst
	fits "all together, with traced runs of the demo" --covers schema.json $goldens $reports
else
	echo "SKIPPED: traced runs: no demo or no libvptrace.so was built"
fi
finish
