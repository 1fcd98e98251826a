#!/bin/sh
# bench/questions.ipynb: its cells answer what they ask, as the report does. Plain Python runs them; Jupyter too, where it is.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
bin=$(cd "${VPT_BIN:-.}" && pwd)
only_in_plain_build
need_python 3.8
[ -e "$bin/libvptrace_tables.so" ] || skip "libvptrace_tables.so was not built"
[ -e "$bin/standin/libcudart.so.13" ] || skip "there is no stand-in CUDA"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH VPTRACE_OUTPUT VPTRACE_CAPTURE VPTRACE_LIBRARY RANK
cd "$work" || exit 1
cp "$source/tests/data/migrate/pipeline.py" . || exit 1
cat >generate.py <<'PY'
import time
import vptrace
from pipeline import Model
model = Model()
with vptrace.request("clip"):
    for index in range(6):
        with vptrace.block(index, frames=12):
            with vptrace.stage("denoise"):
                model(index, layers=8)
            time.sleep(0.002 * index)
            with vptrace.stage("decode"):
                model(index, layers=2)
PY
VPT_STANDIN="$bin/standin" VPT_STANDIN_TIME=real VPTRACE_LIBCUPTI="$bin/standin/libcupti.so.13" VPTRACE_STACKS=off \
	"$bin/vptrace" run -o run.zst -- python3 generate.py >out 2>err || fail "no capture"
"$VPT_ANALYZE" run.zst --format json >report.json 2>err || fail "no report"

export PYTHONPATH="$source/tracer/python" VPTRACE_TABLES="$bin/libvptrace_tables.so" CAPTURE="$work/run.zst"
cases=$((cases + 1))
python3 - "$source/bench/questions.ipynb" >out 2>err <<'PY' || fail "the cells: $(tail -n 1 err)"
import json, sys

cells = json.load(open(sys.argv[1], encoding="utf-8"))["cells"]
assert not any(c.get("outputs") or c.get("execution_count") for c in cells), "outputs are kept in the notebook"
names = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
report = json.load(open("report.json"))
device = report["devices"][0]
assert sum(names["by_stage"].values()) == device["busy_ns"], "busy"
assert {stage for stage, _ in names["by_stage"]} == {"denoise", "decode"}, names["by_stage"]
assert sum(names["waits"].values()) == device["window_idle_ns"], "idle"
blocks = report["requests"][0]["blocks"]
assert len(names["periods"]) == blocks["measured"], blocks["measured"]
assert names["slope_ns"] > 1e6, names["slope_ns"]
PY
says out "run.zst is complete"
says out "denoise: "
says out " blocks, +"
if python3 -c 'import nbconvert, ipykernel' 2>/dev/null; then
	cases=$((cases + 1))
	python3 -m nbconvert --to notebook --execute --output "$work/done.ipynb" "$source/bench/questions.ipynb" >out 2>err ||
		fail "in Jupyter: $(tail -n 1 err)"
	grep -q 'is complete' done.ipynb || fail "in Jupyter: no output"
else
	echo "SKIPPED: no nbconvert with ipykernel: the notebook in Jupyter"
fi
finish
