#!/bin/sh
# The order of FIX FIRST is that of the runs with one fix each: for all sets of faults that the demo plants, beside each way in which it
# runs, see fix_order.py.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../../support/cli.sh"
. "$(dirname "$0")/../../support/captures/demo.sh"
need_python 3.6
has_demo "the order of fixes" || exit 77
cd "$work" || exit 1

# 120 reports take a while with sanitizers, which find nothing there that they do not find in fewer.
if grep -qs -e '-fsanitize' "$VPT_BIN/compile_commands.json"; then
	echo "SKIPPED: the order of fixes: the build without sanitizers tries it"
else
	mkdir faults
	python3 "$VPT_SOURCE_DIR/tests/support/captures/fix_order.py" "$VPT_ANALYZE" "$VPT_BIN/vptrace-demo" \
		"$VPT_BIN/libvptrace.so" faults >out 2>err || fail "the order of fixes: $(grep WRONG out || tail -n 3 err)"
	says out '140 pairs, 0 wrong'
	cases=$((cases + 1))
fi

# Attention that no longer grows: each block takes what the measured one with the shortest cache does, to 0.5 %.
demo grow --blocks 9 --layers 12
expect 0 "attention that grows" grow.zst --format json
cp out grow.json
python3 - <<'PY' >said 2>&1 || fail "attention that no longer grows: $(cat said)"
import json
report = json.load(open("grow.json"))
growth = next(f for f in report["findings"] if f["id"] == "attention-growth")
blocks = [b for b in report["requests"][0]["blocks"]["series"] if not b["warmup"]]
least = min(blocks, key=lambda b: b["attention_ns"])
print(growth["change"], growth["predicted_ms"], least["period_ns"] / 1e6, growth["base_ms"])
assert growth["change"].startswith("scale attention 0.")
assert growth["base_ms"] > 1.05 * growth["predicted_ms"]
assert abs(growth["predicted_ms"] - least["period_ns"] / 1e6) < 0.005 * growth["predicted_ms"]
PY
cases=$((cases + 1))
finish
