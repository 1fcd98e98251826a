#!/bin/sh
# What the report blames on a thing that is wrong is never below what the run without it saves, and at most a tenth above: for each
# knob of the demo, mixtures of them, and each cause in their plans, on the simulated GPU. Where that cannot be kept, the table says why.
# shellcheck disable=SC1091,SC2154
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
VPT_ANALYZE=$(realpath "$VPT_ANALYZE")
VPT_BIN=$(realpath "${VPT_BIN:?expected the build folder}")
[ -x "$VPT_BIN/vptrace-demo" ] || skip "no demo was built"
need_python 3.10
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS
export VPT_ANALYZE VPT_BIN

cases=$((cases + 1))
python3 "$source/tests/support/captures/demo_knobs.py" "$source/tests/standin/standin.h" >table 2>err || fail "blame and savings differ"
cat table
[ ! -s err ] || cat err
[ "$(wc -l <table)" -gt 55 ] || fail "there is hardly a row in the table"
finish
