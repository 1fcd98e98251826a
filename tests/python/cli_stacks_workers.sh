#!/bin/sh
# Idle time of a pipeline has its lines of Python wherever the pipeline runs: on the main thread, in a thread, in a pool, under asyncio, one
# or two at a time.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
. "$source/tests/support/pythons.sh"
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
cp "$source/tests/stacks/workers.py" "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH=$bin/standin VPTRACE_LIBCUPTI=$bin/standin/libcupti.so.13 VPT_STANDIN_TIME=real
export PYTHONDONTWRITEBYTECODE LD_LIBRARY_PATH VPTRACE_LIBCUPTI VPT_STANDIN_TIME
unset VPTRACE_STACKS VPTRACE_OUTPUT VPTRACE_LIBRARY
cd "$work" || exit 1
found=$(pythons | tail -n 1)
[ -n "$found" ] || skip "no Python found"
python=${found#* }
cat >share.py <<'PY'
"""The share of the idle time between ops for which there is no line, in percent, and the file of the line with most of it."""
import json
rows = [row for row in json.load(open("report"))["lines"]["idle"] if row["cause"] not in ("before first work", "after last work")]
none = sum(row["ns"] for row in rows if row["function"] is None)
print("%.0f" % (100 * none / sum(row["ns"] for row in rows)))
best = max(rows, key=lambda row: row["ns"])
print(best["file"].rpartition("/")[2])
PY
for where in main thread pool asyncio served; do
	rule="a pipeline, $where"
	cases=$((cases + 1))
	timeout 60 "$bin/vptrace" run -o "$where.zst" "$python" workers.py "$where" >said 2>err </dev/null || fail "$rule: exit status $?"
	"$VPT_ANALYZE" "$where.zst" --format json >report 2>err || fail "$rule: no report"
	"$python" share.py >out 2>err || fail "$rule: $(tail -n 1 err)"
	share=$(sed -n 1p out)
	echo "$rule: $share % of the idle time between ops without a line"
	cases=$((cases + 1))
	[ "${share:-100}" -le 20 ] || fail "$rule: expected 20 % without a line at most, found $share"
	same "$rule: where most of it was" workers.py "$(sed -n 2p out)"
done
finish
