#!/bin/sh
# Captures of the demo on the simulated GPU, each with something else about it, exported for Perfetto: an independent decoder finds
# every event again, each op its call, and the gaps of the report by their ids.
# shellcheck disable=SC1091,SC2154,SC2086
. "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}/tests/support/cli.sh"
only_in_plain_build
source=$(cd "${VPT_SOURCE_DIR:-$(dirname "$0")/../..}" && pwd)
need_python 3.8
demo=${VPT_BIN:?expected the build folder}/vptrace-demo
[ -x "$demo" ] || skip "no demo was built"
cd "$work" || exit 1
unset VPTRACE_LIBRARY RANK WORLD_SIZE VPT_STANDIN_TIME VPT_STANDIN_DEVICES VPT_STANDIN_FAULTS

total() {
	sed -n "s/^$1 //p" found
}

blocks=3
knob() { # knob NAME KNOBS...
	name=$1
	shift
	cases=$((cases + 1))
	CUDA_INJECTION64_PATH=$VPT_BIN/libvptrace.so NVTX_INJECTION64_PATH=$VPT_BIN/libvptrace.so VPTRACE_OUTPUT=$work/$name.zst \
		"$demo" --blocks 3 --steps 2 --layers 3 "$@" >out 2>err || fail "$name: the demo"
	expect 0 "$name" export $name.zst --format perfetto -o $name.out
	python3 "$source/tests/support/outputs/pftrace.py" $name.out --slices >found 2>wrong || fail "$name: $(head -n 3 wrong)"
	same "$name: every op found its call" "0 0" "$(total late_links) $(total late_slices)"
	same "$name: blocks" $blocks "$(grep -c '/ Video blocks: ' found)"
}

knob plain
"$VPT_ANALYZE" plain.zst --format json >report.json
# Gaps between ops have the report's ids; those before the first op and after the last are not shown.
python3 - report.json found >missing <<'PYTHON' || fail "the report cannot be read"
import json, sys
found = open(sys.argv[2]).read()
gaps = [g for g in json.load(open(sys.argv[1]))["gaps"] if g["after"] and g["before"]]
print(len(gaps) < 3, [g["id"] for g in gaps if f"+{g['duration_ns']} depth 0 idle \"{g['cause']}\" {{'id': '{g['id']}'" not in found])
PYTHON
same "gaps with the report's ids" "False []" "$(cat missing)"
knob sync-per-layer --sync-per-layer
knob slow-host --slow-host 60000
knob offload --offload
knob eager --eager
knob graph --graph
knob vae-at-end --vae-at-end
knob reference --reference
blocks=6
knob requests --requests 2
blocks=3
knob graph-two-streams --graph --two-streams
knob threads --threads
[ "$(total call_waits)" -gt 0 ] || fail "no call has waited for an op"
knob two-streams --two-streams
[ "$(total call_waits)" -gt 0 ] || fail "no call has waited for an op"
[ "$(total waits)" -gt 0 ] || fail "no op has waited for one of another stream"
finish
